// The table of sum(): sum() beside CUB, complete sums of the same ints on the same stream, one run of each in
// turn.
//
//     limit_table sum|strategies [--largest EXPONENT] [--runs R]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_reduce.cuh>
#include <string>
#include <vector>

#include "../../lessons/lesson30_a_sum_for_every_n/sum.cuh"
#include "harness/device.hpp"
#include "harness/exit_status.hpp"
#include "input.cuh"

namespace {

using limit::Contender, limit::Mode;
using take_home::Strategy, take_home::Workspace;

struct Case {
    std::size_t n, offset;
};

/// 2^8 to 2^largest, and the sizes between that a kernel may stumble over.
std::vector<Case> cases(unsigned int largest) {
    std::vector<Case> all;
    for (unsigned int e = 8; e <= largest; ++e) all.push_back({std::size_t{1} << e, 0});
    for (const std::size_t n :
         {std::size_t{1'000}, std::size_t{999'983}, (std::size_t{1} << 20) - 1, (std::size_t{1} << 20) + 1})
        all.push_back({n, 0});
    for (const unsigned int e : {10, 14, 17, 20, 24, 28, 30}) {
        for (const std::size_t offset : {1, 2, 3}) all.push_back({std::size_t{1} << e, offset});
    }
    const auto too_large = [&](const Case& one) { return one.n > std::size_t{1} << largest; };
    all.erase(std::remove_if(all.begin(), all.end(), too_large), all.end());
    return all;
}

class Table {
public:
    Table(const harness::Device& device, unsigned int largest, int runs)
        : device_(device), runs_(runs), bench_(device), largest_(largest),
          input_((std::size_t{1} << largest) + 64) {
        HARNESS_CHECK(take_home::detail::current_device(facts_));
        HARNESS_CHECK(cudaMemset(workspace_.data(), 0, workspace_.bytes()));
        HARNESS_CHECK(cudaMemset(meeting_.data(), 0, meeting_.bytes()));
        std::printf("n,offset,mode,contender,verified,time_us_median,time_us_min,time_us_runs,bandwidth_gbs,"
                    "peak_fraction\n");
    }

    void compare_with_cub() {
        for (const Case& one : cases(largest_)) {
            const std::vector<Contender> contenders = {ours("sum", one, Workspace::any),
                                                       ours("sum_zeroed", one, Workspace::zeros),
                                                       cub(one, "cub"), cub_int(one)};
            measure(one, contenders, {Mode::cold, Mode::warm, Mode::back_to_back});
        }
    }

    /// Each strategy wherever it is not hopeless.
    void compare_strategies() {
        for (unsigned int e = 8; e <= largest_; ++e) {
            const Case one{std::size_t{1} << e, 0};
            std::vector<Contender> contenders;
            if (e <= 13) contenders.push_back(by("one_block", one, Strategy::one_block, Workspace::zeros));
            if (e <= 21)
                contenders.push_back(by("one_cluster", one, Strategy::one_cluster, Workspace::zeros));
            contenders.push_back(by("one_launch", one, Strategy::one_launch, Workspace::any));
            contenders.push_back(by("one_launch_zeroed", one, Strategy::one_launch, Workspace::zeros));
            if (e >= 14) contenders.push_back(by("bulk_copies", one, Strategy::bulk_copies, Workspace::any));
            if (e >= 14)
                contenders.push_back(by("bulk_copies_zeroed", one, Strategy::bulk_copies, Workspace::zeros));
            contenders.push_back(cub(one, "cub"));
            measure(one, contenders, {Mode::cold, Mode::warm});
        }
    }

private:
    Contender ours(const char* name, Case one, Workspace state) {
        return {name, [this, one, state] {
                    std::size_t bytes = workspace_.bytes();
                    HARNESS_CHECK(take_home::sum(workspace_.data(), bytes, input_.data(one.offset),
                                                 bench_.result(), one.n, nullptr, state));
                }};
    }

    Contender by(const char* name, Case one, Strategy strategy, Workspace state) {
        return {name, [this, strategy, one, state] {
                    HARNESS_CHECK(take_home::sum_by(strategy, meeting_.data(), input_.data(one.offset),
                                                    bench_.result(), one.n, nullptr, state, facts_));
                }};
    }

    Contender cub(Case one, const char* name) {
        return {name, [this, one] {
                    std::size_t bytes = scratch_.bytes();
                    HARNESS_CHECK(cub::DeviceReduce::Sum(scratch_.data(), bytes, input_.data(one.offset),
                                                         bench_.result(), one.n));
                }};
    }

    /// The same with an int for n, which CUB compiles to a kernel of its own. From 2^31 on, an int is too
    /// small.
    Contender cub_int(Case one) {
        if (one.n > 2'147'483'647) return cub(one, "cub_again");
        return {"cub_int", [this, one] {
                    std::size_t bytes = scratch_.bytes();
                    HARNESS_CHECK(cub::DeviceReduce::Sum(scratch_.data(), bytes, input_.data(one.offset),
                                                         bench_.result(), static_cast<int>(one.n)));
                }};
    }

    void measure(Case one, const std::vector<Contender>& contenders, const std::vector<Mode>& modes) {
        const int expected = limit::Input::sum(one.offset, one.n);
        const double bytes = static_cast<double>(one.n + 1) * sizeof(int);
        for (const Mode mode : modes) {
            // Long sums back to back are as long as one sum; they would take half of the time of all.
            if (mode == Mode::back_to_back && one.n > std::size_t{1} << 26) continue;
            const auto times = bench_.time(contenders, mode, runs_, expected);
            for (std::size_t i = 0; i < contenders.size(); ++i) {
                const double typical = median(times[i]);
                const double gbs = bytes / typical * 1e-3;
                std::printf("%zu,%zu,%s,%s,true,%.4f,%.4f,%zu,%.2f,%.4f\n", one.n, one.offset,
                            limit::name_of(mode), contenders[i].name.c_str(), typical,
                            *std::min_element(times[i].begin(), times[i].end()), times[i].size(), gbs,
                            gbs / device_.peak_bandwidth_gbs.value_or(1e9));
            }
            std::fflush(stdout);
        }
    }

    const harness::Device& device_;
    int runs_;
    limit::Bench bench_;
    unsigned int largest_;
    limit::Input input_;
    harness::DeviceBuffer<unsigned char> workspace_{64}, scratch_{1 << 20};
    harness::DeviceBuffer<take_home::detail::Meeting> meeting_{1};
    take_home::detail::Device facts_;
};

} // namespace

int main(int argc, char** argv) {
    unsigned int largest = 32;
    int runs = 41;
    const std::string what = argc > 1 ? argv[1] : "";
    bool right = what == "sum" || what == "strategies";
    for (int i = 2; i < argc; i += 2) {
        const std::string name = argv[i];
        const int value = i + 1 < argc ? std::atoi(argv[i + 1]) : 0;
        if (name == "--largest" && value >= 8 && value <= 34)
            largest = static_cast<unsigned int>(value);
        else if (name == "--runs" && value >= 1)
            runs = value;
        else
            right = false;
    }
    if (!right) {
        std::fprintf(stderr, "Usage: limit_table sum|strategies [--largest EXPONENT, 8 to 34] [--runs R]\n");
        return static_cast<int>(harness::ExitStatus::usage);
    }
    try {
        const harness::Device device = harness::choose_device(harness::DeviceChoice::automatic, argv);
        Table table(device, largest, runs);
        if (what == "sum")
            table.compare_with_cub();
        else
            table.compare_strategies();
    } catch (const harness::DeviceError& error) {
        std::fprintf(stderr, "limit_table: %s\n", error.what());
        return static_cast<int>(harness::ExitStatus::device);
    }
}
