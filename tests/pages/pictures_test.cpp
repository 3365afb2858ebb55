// The numbers in the pictures of docs/figures are those that the kernels load and store, observed on the
// emulated machine.

#include "../emulator/machine/ptx_fixture.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/observer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using emulator::Access, emulator::AccessKind, emulator::Observer;
using emulator::fixture::grid_of, emulator::fixture::Program;

namespace {

using Texts = std::vector<std::string>;

std::string read(const std::string& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// What is written in a picture, in the order in which it is drawn.
Texts texts_of(const std::string& picture) {
    const std::string svg = read(PROJECT_ROOT "/docs/figures/" + picture);
    const std::regex text("<text[^>]*>([^<]*)</text>");
    Texts found;
    for (std::sregex_iterator match(svg.begin(), svg.end(), text), end; match != end; ++match)
        found.push_back((*match)[1]);
    return found;
}

/// `count` of them after `name`.
Texts after(const Texts& texts, const std::string& name, std::size_t count) {
    const auto place = std::find(texts.begin(), texts.end(), name);
    if (texts.end() - place <= static_cast<std::ptrdiff_t>(count)) {
        ADD_FAILURE() << "no " << name;
        return {};
    }
    return {place + 1, place + 1 + static_cast<std::ptrdiff_t>(count)};
}

std::vector<int> numbers(const Texts& texts) {
    std::vector<int> found;
    for (const std::string& text : texts) found.push_back(std::stoi(text));
    return found;
}

template <class Function> void for_each_active_lane(const Access& access, Function function) {
    for (int lane = 0; lane < emulator::warp_size; ++lane)
        if ((access.active >> lane & 1) != 0) function(lane, access.addresses[lane]);
}

/// One host thread's events go to `observer`.
class Watched : public emulator::Watcher {
public:
    explicit Watched(Observer& observer) : observer_(observer) {}
    std::unique_ptr<Observer> observer(const emulator::Grid&) override {
        return std::make_unique<Forward>(observer_);
    }

private:
    struct Forward final : Observer {
        explicit Forward(Observer& to) : to(to) {}
        void accessed(const emulator::Warp& warp, const emulator::Instruction& instruction,
                      const Access& access) override {
            to.accessed(warp, instruction, access);
        }
        void fenced(const emulator::Warp& warp, const emulator::Instruction& instruction,
                    emulator::LaneMask lanes) override {
            to.fenced(warp, instruction, lanes);
        }
        void barrier_complete(emulator::Block& block,
                              const emulator::BarrierCompletion& completion) override {
            to.barrier_complete(block, completion);
        }
        Observer& to;
    };
    Observer& observer_;
};

void launch(Program& program, const std::string& kernel, emulator::LaunchConfiguration configuration,
            std::initializer_list<const void*> parameters, Observer& observer,
            std::optional<std::uint64_t> schedule = {}) {
    Watched watched(observer);
    emulator::Watcher* const watchers[] = {&watched};
    program.launch(kernel, configuration, parameters,
                   {.host_threads = 1, .watchers = watchers, .schedule = schedule});
}

Program kernels() { return Program(read(KERNELS_PTX)); }

const void* value(std::size_t number) { return reinterpret_cast<const void*>(number); }

/// The rows of a tree's picture, as the texts that they should have.
struct TreeRows final : Observer {
    void accessed(const emulator::Warp&, const emulator::Instruction&, const Access& access) override {
        if (access.space != emulator::ptx::Space::shared) return;
        for_each_active_lane(access, [&](int lane, std::uint64_t address) {
            if (access.kind == AccessKind::store)
                writers[address / 4] = lane;
            else if (lane == 0)
                loaded.insert(address / 4);
        });
    }
    void barrier_complete(emulator::Block& block, const emulator::BarrierCompletion&) override {
        const std::span<const int> words(reinterpret_cast<const int*>(block.shared().data()),
                                         block.shared().size() / 4);
        const bool is_first = texts.empty();
        const std::string count = std::to_string(writers.size());
        // Thread 0 loads its own word and the one at the stride.
        texts.push_back(is_first ? "elements"
                                 : "stride " + std::to_string(*loaded.rbegin() - *loaded.begin()));
        texts.push_back(count + (is_first ? " store" : " of " + std::to_string(words.size()) + " add"));
        for (const bool is_written : {false, true})
            for (std::size_t word = 0; word < words.size(); ++word)
                if (writers.contains(word) == is_written) texts.push_back(std::to_string(words[word]));
        for (const auto& [word, lane] : writers) texts.push_back("t" + std::to_string(lane));
        writers.clear();
        loaded.clear();
    }

    std::map<std::uint64_t, int> writers;
    std::set<std::uint64_t> loaded;
    Texts texts;
};

struct Tree {
    const char* picture;
    const char* kernel;
};
void PrintTo(const Tree& tree, std::ostream* out) { *out << tree.kernel; }
class Trees : public testing::TestWithParam<Tree> {};

} // namespace

TEST_P(Trees, show_shared_memory_after_each_step) {
    const Texts shown = texts_of(GetParam().picture);
    const std::vector<int> elements{3, 1, 7, 0, 4, 1, 6, 3};
    Program program = kernels();
    int* const input = program.allocate<int>(8);
    int* const sum = program.allocate<int>(1);
    std::ranges::copy(elements, input);
    TreeRows rows;
    launch(program, GetParam().kernel, grid_of(8, 1, 8 * 4), {input, sum, value(8)}, rows);

    // The title, `word` and eight numbers stand above the rows.
    ASSERT_GE(shown.size(), 10 + rows.texts.size());
    EXPECT_EQ(Texts(shown.begin() + 10, shown.begin() + 10 + static_cast<std::ptrdiff_t>(rows.texts.size())),
              rows.texts);
    EXPECT_EQ(*sum, 3 + 1 + 7 + 0 + 4 + 1 + 6 + 3);
    EXPECT_EQ(rows.texts[rows.texts.size() - 2], std::to_string(*sum));
}
INSTANTIATE_TEST_SUITE_P(Pictures, Trees,
                         testing::Values(Tree{"live_tree_reduce0a.svg", "_Z7reduce0PKiPim"},
                                         Tree{"live_tree_reduce0a.svg", "_Z8reduce0aPKiPim"},
                                         Tree{"live_tree_reduce1.svg", "_Z7reduce1PKiPim"},
                                         Tree{"live_tree_reduce2.svg", "_Z7reduce2PKiPim"}));

TEST(Pictures, index_is_that_of_the_element_that_each_thread_squares) {
    struct Stores final : Observer {
        void accessed(const emulator::Warp& warp, const emulator::Instruction&,
                      const Access& access) override {
            if (access.kind != AccessKind::store) return;
            for_each_active_lane(access, [&](int lane, std::uint64_t address) {
                index_of[4 * warp.block().index().x + static_cast<unsigned int>(lane)] =
                    static_cast<int>((address - output) / 4);
            });
        }
        std::uint64_t output = 0;
        std::map<unsigned int, int> index_of; // by the thread's place in the picture
    };
    const Texts shown = texts_of("index.svg");
    const std::vector<int> indices = numbers(after(shown, "i", 12)),
                           values = numbers(after(shown, "input[i]", 10));
    Program program = kernels();
    int* const input = program.allocate<int>(10);
    int* const output = program.allocate<int>(10);
    std::ranges::copy(values, input);
    Stores stores;
    stores.output = reinterpret_cast<std::uint64_t>(output);
    launch(program, "_Z6squarePKiPii", grid_of(4, 3), {input, output, value(10)}, stores);

    EXPECT_EQ(stores.index_of.size(), 10u); // The threads with i = 10 and 11 do nothing.
    for (const auto& [thread, index] : stores.index_of) EXPECT_EQ(indices.at(thread), index);
    EXPECT_EQ(indices.at(10), 10);
    EXPECT_EQ(indices.at(11), 11);
    EXPECT_EQ(numbers(after(shown, "output[i] = input[i] * input[i]", 10)),
              std::vector<int>(output, output + 10));
}

TEST(Pictures, last_block_orders_its_loads_as_the_kernel_does) {
    struct Steps final : Observer {
        void accessed(const emulator::Warp& warp, const emulator::Instruction&,
                      const Access& access) override {
            if (access.space != emulator::ptx::Space::global) return;
            const std::uint32_t block = warp.block().index().x;
            for_each_active_lane(access, [&](int, std::uint64_t address) {
                const int before = *reinterpret_cast<const int*>(address);
                const std::uint64_t partial = (address - partial_sums) / 4;
                if (access.kind == AccessKind::atom) {
                    counted.push_back(block);
                    steps[block].push_back("atomicInc: was " + std::to_string(before));
                } else if (access.kind == AccessKind::store && partial < 4) {
                    steps[block].emplace_back("store");
                } else if (partial < 4) {
                    if (loads.empty()) steps[block].emplace_back("load");
                    loads[partial] = before; // In this order of execution the lanes may come apart.
                }
            });
        }
        void fenced(const emulator::Warp& warp, const emulator::Instruction&, emulator::LaneMask) override {
            steps[warp.block().index().x].emplace_back("__threadfence()");
        }
        void barrier_complete(emulator::Block& block, const emulator::BarrierCompletion&) override {
            Texts& mine = steps[block.index().x];
            if (!mine.empty() && mine.back() != "load") mine.emplace_back("__syncthreads()");
        }
        std::uint64_t partial_sums = 0;
        std::vector<std::uint32_t> counted;
        std::map<std::uint64_t, int> loads; // by partial sum
        std::map<std::uint32_t, Texts> steps;
    };
    const Texts shown = texts_of("last_block.svg");
    Texts boxes;
    std::ranges::copy_if(shown, std::back_inserter(boxes), [](const std::string& text) {
        return std::regex_match(text, std::regex("(store|load|atomicInc:|__).*"));
    });

    // Four blocks of 32 threads: thread t of the grid loads the vector t, four ints. Those of threads 0, 32,
    // 64 and 96 have a block's sum in them.
    for (std::uint64_t schedule = 0; schedule < 1000; ++schedule) {
        Program program = kernels();
        int* const input = program.allocate<int>(4 * 128);
        int* const result = program.allocate<int>(1);
        int* const partial_sums = program.allocate<int>(4);
        input[0] = 5, input[4 * 32 + 1] = 2, input[4 * 64 + 2] = 11, input[4 * 96 + 3] = 7;
        Steps steps;
        steps.partial_sums = reinterpret_cast<std::uint64_t>(partial_sums);
        auto* const blocks_done = program.allocate<unsigned int>(1);
        launch(program, "_Z7reduce9ILj32EEvPKiPimS2_Pj", grid_of(32, 4),
               {input, result, value(4 * 128), partial_sums, blocks_done}, steps, schedule);
        EXPECT_EQ(*result, 5 + 2 + 11 + 7);
        EXPECT_EQ(*blocks_done, 0u); // as the picture's last row has it
        if (steps.counted != std::vector<std::uint32_t>{2, 0, 3, 1}) continue;

        Texts expected;
        for (const std::uint32_t block : {2, 1})
            for (std::string step : steps.steps.at(block)) {
                if (step == "store") step += " " + std::to_string(partial_sums[block]);
                if (step == "load")
                    for (const auto& [partial, sum] : steps.loads) step += " " + std::to_string(sum);
                expected.push_back(step);
                if (block == 2 && step.starts_with("atomicInc"))
                    break; // Nothing depends on what it does then.
            }
        EXPECT_EQ(boxes, expected);
        return;
    }
    FAIL() << "no schedule in which the blocks count in the picture's order";
}
