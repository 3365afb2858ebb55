// Lesson 35's all-reduce beside NCCL's, if there is a libnccl.so.2, and beside peer copies of as many bytes, the link's rate.
//
//     ahead_cards [--smallest EXPONENT] [--largest EXPONENT] [--cards D] [--runs R]
//
// A host thread per device queues that device's part, as NCCL's users do it. Everything is in the caches that a call
// before has left. Two modes:
//
//     queued  calls in a row in each device's stream, by events of that device, per call. The slowest device counts. A
//             call comes before them, untimed, so that the devices start together.
//     alone   one call, by the host's clock: from the first thread that makes it to the last whose stream is done.
//
// ahead.hpp cannot time either: it knows one device and one host thread.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../../lessons/lesson35_several_cards/all_cards.hpp"
#include "../../lessons/lesson35_several_cards/nccl.hpp"
#include "../../lessons/lesson35_several_cards/ways.cuh"
#include "../median.hpp"
#include "harness/check.hpp"
#include "harness/device.hpp"
#include "harness/exit_status.hpp"
#include "harness/several_devices.hpp"
#include "harness/streams.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// Up to so many ints per card the one-shot all-reduce is taken: on two H200s both take as long for 2^16, and two steps less
/// from 2^18 on.
constexpr std::size_t most_of_one_shot = std::size_t{1} << 17;

constexpr unsigned int threads_per_block = 512;

bool is_emulated = false; ///< Then times mean nothing, and results do.

/// Calls work(card) for each card at the same moment, in a host thread of its own where the card is current.
template <class Work> void at_once(int cards, const Work& work) {
    std::atomic<int> missing{cards};
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(cards));
    std::vector<std::thread> threads;
    for (int card = 0; card < cards; ++card)
        threads.emplace_back([&, card] {
            try {
                HARNESS_CHECK(cudaSetDevice(card));
                --missing;
                while (missing > 0) std::this_thread::yield();
                work(card);
            } catch (...) {
                missing = 0; // Nobody waits for this one.
                errors[static_cast<std::size_t>(card)] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

double microseconds(Clock::time_point start, Clock::time_point stop) {
    return std::chrono::duration<double, std::micro>(stop - start).count();
}

struct Contender {
    std::string name;
    std::function<void(int card)> queue; ///< one call's part of that card, in the card's stream
    std::function<bool()> is_right; ///< after one call, before which outputs and received ints were poisoned
};

enum class Mode { queued, alone };

class Table {
public:
    Table(AllCards& cards, int runs) : cards_(cards), runs_(runs) {}

    static void print_header() { std::printf("case,n,mode,ours_us,rival,rival_us,ratio,verified\n"); }

    static void print(const std::string& what, std::size_t n, const char* mode, double us,
                      const std::string& rival, double rival_us) {
        std::printf("%s,%zu,%s,%.3f,%s,%.3f,%.4f,true\n", what.c_str(), n, mode, us, rival.c_str(), rival_us,
                    rival_us / us);
        std::fflush(stdout);
    }

    /// A row. Ends the program when a result is wrong.
    void compare(const std::string& what, Mode mode, const Contender& ours, const Contender& rival) {
        cards_.prepare();
        std::array<std::vector<double>, 2> times;
        for (int run = -1; run < runs_; ++run) // the first one is the warm-up
            for (const std::size_t which : {0, 1}) {
                const Contender& one = which == 0 ? ours : rival;
                const double time = mode == Mode::queued ? time_queued(one) : time_alone(one);
                if (run >= 0) times[which].push_back(time);
            }
        for (const Contender* one : {&ours, &rival})
            verify(what, *one); // as the timed calls have left the rounds
        print(what, cards_.n, mode == Mode::queued ? "queued" : "alone", median(times[0]), rival.name,
              median(times[1]));
    }

private:
    void verify(const std::string& what, const Contender& one) {
        cards_.prepare();
        at_once(cards_.count(), [&](int card) { one.queue(card); });
        cards_.synchronize();
        if (one.is_right()) return;
        std::fprintf(stderr, "%s, n = %zu: the result of %s is wrong\n", what.c_str(), cards_.n,
                     one.name.c_str());
        std::exit(1);
    }

    double time_queued(const Contender& one) {
        const int calls = is_emulated ? 1 : cards_.n <= std::size_t{1} << 22 ? 20 : 4;
        std::array<double, most_cards> times{};
        at_once(cards_.count(), [&](int card) {
            harness::TimedEvent start, stop;
            const cudaStream_t stream = cards_[card].stream;
            one.queue(card);
            start.record(stream);
            for (int call = 0; call < calls; ++call) one.queue(card);
            stop.record(stream);
            HARNESS_CHECK(cudaStreamSynchronize(stream));
            times[static_cast<std::size_t>(card)] = stop.microseconds_since(start) / calls;
        });
        return *std::max_element(times.begin(), times.end());
    }

    double time_alone(const Contender& one) {
        std::array<Clock::time_point, most_cards> starts, stops;
        at_once(cards_.count(), [&](int card) {
            starts[static_cast<std::size_t>(card)] = Clock::now();
            one.queue(card);
            HARNESS_CHECK(cudaStreamSynchronize(cards_[card].stream));
            stops[static_cast<std::size_t>(card)] = Clock::now();
        });
        const auto count = cards_.count();
        return microseconds(*std::min_element(starts.begin(), starts.begin() + count),
                            *std::max_element(stops.begin(), stops.begin() + count));
    }

    AllCards& cards_;
    int runs_;
};

template <class Kernel>
Contender all_reduce(const std::string& name, AllCards& cards, Kernel kernel, unsigned int grid,
                     unsigned int meetings = 2) {
    return {name, [=, &cards](int card) { launch_on(cards, card, kernel, grid, meetings); },
            [&cards] { return cards.verify(1).passed; }};
}

Contender one_shots(AllCards& cards) { return all_reduce("one_shot", cards, one_shot, one_shot_grid(cards)); }
Contender in_two_steps(AllCards& cards) {
    return all_reduce("two_steps", cards, two_steps, two_steps_grid<two_steps>(cards));
}

Contender in_two_pulled_steps(AllCards& cards) {
    return all_reduce("two_steps_pull", cards, two_steps_pull, two_steps_grid<two_steps_pull>(cards), 3);
}

/// The loads of the one-shot all-reduce, and nothing that orders the cards: the inputs stay as they are.
Contender loads(AllCards& cards) {
    return {"peer_loads",
            [&cards, grid = sums_grid(cards)](int card) {
                sum_cards<<<grid, cards.block, 0, cards[card].stream>>>(cards.seen_by(card), cards.n);
                harness::check_launch("sum_cards");
            },
            [&cards] { return cards.verify(1).passed; }};
}

/// To each card from each of its peers as many bytes as two_steps moves: 2 / D of the ints.
Contender copies(AllCards& cards) {
    const std::size_t ints = std::max<std::size_t>(2 * cards.n / static_cast<std::size_t>(cards.count()), 1);
    const auto for_each_peer = [&cards](int card, const auto& use) { // and its place among the received ints
        std::size_t slot = 0;
        for (int peer = 0; peer < cards.count(); ++peer)
            if (peer != card) use(peer, slot++ * cards.stride());
    };
    return {"peer copies",
            [=, &cards](int card) {
                for_each_peer(card, [&](int peer, std::size_t place) {
                    HARNESS_CHECK(cudaMemcpyPeerAsync(cards[card].received.data() + place, card,
                                                      cards[peer].input.data(), peer, ints * sizeof(int),
                                                      cards[card].stream));
                });
            },
            [=, &cards] {
                bool right = true;
                cards.for_each([&](int card) {
                    for_each_peer(card, [&](int peer, std::size_t place) {
                        right = right &&
                                cards[card].received.read(place, ints) == cards[peer].input.read(0, ints);
                    });
                });
                return right;
            }};
}

Contender nccls(AllCards& cards, const Nccl& nccl) {
    return {"nccl",
            [&](int card) {
                nccl.all_reduce(card, cards[card].input.data(), cards[card].output.data(), cards.n,
                                cards[card].stream);
            },
            [&cards] { return cards.verify(1).passed; }};
}

void race(int count, std::size_t n, int runs, const std::optional<Nccl>& nccl) {
    AllCards cards(count, n, threads_per_block, n, true);
    Table table(cards, runs);
    const Contender first = one_shots(cards), second = in_two_steps(cards);
    const bool is_small = n <= most_of_one_shot;
    const Contender& chosen = is_small ? first : second;
    const std::string what = "all-reduce over " + std::to_string(count) + " cards: " + chosen.name;
    if (nccl)
        for (const Mode mode : {Mode::queued, Mode::alone})
            table.compare(what, mode, chosen, nccls(cards, *nccl));
    table.compare("one_shot", Mode::queued, first, second);
    table.compare("one_shot", Mode::queued, first, loads(cards));
    table.compare("two_steps", Mode::queued, second, in_two_pulled_steps(cards));
    table.compare("two_steps", Mode::queued, second, copies(cards));
}

/// How many blocks are best, of 512 threads.
void compare_grids(int count, std::size_t n, int runs) {
    AllCards cards(count, n, threads_per_block, n, false);
    Table table(cards, runs);
    unsigned int before = 0;
    for (const unsigned int blocks : {8, 16, 33, 66, 132, 264, 528}) {
        cards.most_blocks = blocks;
        if (one_shot_grid(cards) == before) break; // There is no work for more.
        before = one_shot_grid(cards);
        table.compare("one_shot with " + std::to_string(blocks) + " blocks", Mode::queued, one_shots(cards),
                      in_two_steps(cards));
    }
}

/// One block of each card meets the others `times` times.
__global__ void meet_often(const __grid_constant__ Cards cards, unsigned int round, unsigned int times) {
    for (unsigned int i = 0; i < times; ++i) meet(cards, round + i);
}

__global__ void nothing() {}

/// What a meeting costs: within a kernel, and by events of the host.
void compare_meetings(int count, int runs) {
    const unsigned int times = is_emulated ? 2 : 1000;
    AllCards cards(count, 1, threads_per_block, 1, false);
    cards.require_peer_access("the race");
    cards.grid(meet_often, 1); // loads the kernel
    std::vector<double> ours, rivals;
    for (int run = -1; run < runs; ++run) {
        std::array<double, most_cards> of_cards{};
        at_once(count, [&](int card) {
            harness::TimedEvent start, stop;
            const cudaStream_t stream = cards[card].stream;
            const auto launch = [&](unsigned int meetings) {
                meet_often<<<1, 32, 0, stream>>>(cards.seen_by(card), cards[card].round, meetings);
                harness::check_launch("meet_often");
                cards[card].round += meetings;
            };
            launch(1);
            start.record(stream);
            launch(times);
            stop.record(stream);
            HARNESS_CHECK(cudaStreamSynchronize(stream));
            of_cards[static_cast<std::size_t>(card)] = stop.microseconds_since(start) / times;
        });
        const Clock::time_point start = Clock::now();
        for (unsigned int i = 0; i < times; ++i) cards.meet();
        cards.synchronize();
        const Clock::time_point stop = Clock::now();
        if (run < 0) continue; // the warm-up
        ours.push_back(*std::max_element(of_cards.begin(), of_cards.end()));
        rivals.push_back(microseconds(start, stop) / times);
    }
    Table::print("a meeting of " + std::to_string(count) + " cards", 1, "queued", median(ours),
                 "events from one host thread", median(rivals));
}

/// What it takes to launch a kernel on each device: until the last launch has returned, and until all are done.
void compare_launches(int count, int runs) {
    AllCards cards(count, 1, threads_per_block, 1, false);
    const auto launch = [&](int card) {
        nothing<<<1, 32, 0, cards[card].stream>>>();
        harness::check_launch("nothing");
    };
    std::array<std::vector<double>, 2> returned, done; // a host thread per device, and one for all
    for (int run = -1; run < runs; ++run) {
        std::array<Clock::time_point, most_cards> starts, launched, stops;
        at_once(count, [&](int card) {
            const auto i = static_cast<std::size_t>(card);
            starts[i] = Clock::now();
            launch(card);
            launched[i] = Clock::now();
            HARNESS_CHECK(cudaStreamSynchronize(cards[card].stream));
            stops[i] = Clock::now();
        });
        const Clock::time_point start = Clock::now();
        cards.for_each(launch);
        const Clock::time_point middle = Clock::now();
        cards.for_each([&](int card) { HARNESS_CHECK(cudaStreamSynchronize(cards[card].stream)); });
        const Clock::time_point stop = Clock::now();
        if (run < 0) continue; // the warm-up
        const Clock::time_point first = *std::min_element(starts.begin(), starts.begin() + count);
        returned[0].push_back(
            microseconds(first, *std::max_element(launched.begin(), launched.begin() + count)));
        done[0].push_back(microseconds(first, *std::max_element(stops.begin(), stops.begin() + count)));
        returned[1].push_back(microseconds(start, middle));
        done[1].push_back(microseconds(start, stop));
    }
    const std::string what = "launches on " + std::to_string(count) + " devices by a host thread each";
    Table::print(what + ": returned", 1, "alone", median(returned[0]), "one host thread",
                 median(returned[1]));
    Table::print(what + ": done", 1, "alone", median(done[0]), "one host thread", median(done[1]));
}

void find_nccl(std::optional<Nccl>& nccl, int count) {
    if (is_emulated) return;
    try {
        nccl.emplace(count);
        std::fprintf(stderr, "ahead_cards: NCCL %d\n", nccl->version());
    } catch (const harness::UnsupportedKernel& error) {
        std::fprintf(stderr, "ahead_cards: %s\n", error.what());
    }
}

} // namespace

int main(int argc, char** argv) {
    unsigned int smallest = 0, largest = 28;
    int cards = 0, runs = 21;
    bool right = true;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        const int value = i + 1 < argc ? std::atoi(argv[i + 1]) : -1;
        if (name == "--smallest" && value >= 0 && value <= 32)
            smallest = static_cast<unsigned int>(value);
        else if (name == "--largest" && value >= 0 && value <= 32)
            largest = static_cast<unsigned int>(value);
        else if (name == "--cards" && value >= 2 && value <= most_cards)
            cards = value;
        else if (name == "--runs" && value >= 1)
            runs = value;
        else
            right = false;
    }
    if (!right) {
        std::fprintf(stderr,
                     "Usage: ahead_cards [--smallest EXPONENT] [--largest EXPONENT] [--cards D] [--runs R]\n"
                     "EXPONENT: of 2, the ints per card: 0 to 32. D: 2 to %d. Default: all.\n",
                     most_cards);
        return static_cast<int>(harness::ExitStatus::usage);
    }
    try {
        const harness::Device device = harness::choose_device(harness::DeviceChoice::automatic, argv);
        is_emulated = device.kind == harness::DeviceKind::emulator;
        const int present = count_cards();
        if (present < std::max(cards, 2))
            throw harness::DeviceError("needs " + std::to_string(std::max(cards, 2)) +
                                       " devices, and there is " + std::to_string(present) +
                                       " (cudaErrorInvalidDevice)");
        if (cards == 0) cards = present;
        std::optional<Nccl> nccl;
        find_nccl(nccl, cards);
        Table::print_header();
        compare_meetings(cards, runs);
        compare_launches(cards, runs);
        for (unsigned int e = smallest; e <= largest; e += 2) race(cards, std::size_t{1} << e, runs, nccl);
        for (const unsigned int e : {10u, 16u, 20u, 24u, 26u})
            if (e >= smallest && e <= largest) compare_grids(cards, std::size_t{1} << e, runs);
    } catch (const harness::DeviceError& error) {
        std::fprintf(stderr, "ahead_cards: %s\n", error.what());
        return static_cast<int>(harness::ExitStatus::device);
    }
}
