// Times the kernels of lessons/*/course/experiment.cuh beside those of their lessons: a line per kernel. The pages'
// experiments are made of them.
//
//     experiments          2^28 ints, medians of 31 runs, the L2 cache flushed before each
//     experiments once     each kernel once, and no time: for the checkers and for Nsight Compute
//
// Another number of ints is the last argument. Checks every sum but those that are wrong on purpose.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "../lessons/lesson00_interleaved_pairs/course/experiment.cuh"
#include "../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "../lessons/lesson01_strided_index/kernels.cuh"
#include "../lessons/lesson02_sequential_addressing/course/experiment.cuh"
#include "../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../lessons/lesson03_first_add_on_load/course/experiment.cuh"
#include "../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "../lessons/lesson04_unroll_last_warp/course/experiment.cuh"
#include "../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "../lessons/lesson05_unroll_the_tree/course/experiment.cuh"
#include "../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "../lessons/lesson06_algorithm_cascading/course/experiment.cuh"
#include "../lessons/lesson06_algorithm_cascading/kernels.cuh"
#include "../lessons/lesson07_warp_shuffles/course/experiment.cuh"
#include "../lessons/lesson07_warp_shuffles/kernels.cuh"
#include "../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "harness/device.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "limit/bench.hpp"
#include "limit/input.cuh"

namespace {

constexpr unsigned int block_size = 256;
constexpr int runs = 31;

/// How a kernel is launched, and how many partial sums it leaves: 0 if they are wrong on purpose.
struct Shape {
    unsigned int block, grid;
    std::size_t shared_bytes, partial_sums;
};

/// A kernel, launched in one way.
struct Row {
    std::string lesson, experiment, name;
    const char* function; ///< the kernel's own name, without template arguments
    Shape shape;
    std::size_t bytes_in_flight_per_sm; ///< 0 if the row is not about them
    std::function<void()> launch;
};

class Experiments {
public:
    explicit Experiments(std::size_t n)
        : n_(n), input_(n), partial_sums_(std::max<std::size_t>(n / 64 + 2, 8 * harness::multiprocessors())) {
        divergence();
        conflicts();
        block_starts();
        last_six_steps_of_reduce3();
        unrolling();
        cascading();
        trees();
        in_flight();
    }

    const std::vector<Row>& rows() const { return rows_; }

    /// Launches each kernel once. \throws std::logic_error if a sum is wrong
    void verify() {
        const auto expected = static_cast<unsigned int>(limit::Input::sum(0, n_));
        for (const Row& row : rows_) {
            partial_sums_.poison();
            row.launch();
            harness::check_launch(row.function);
            harness::synchronize(row.function);
            const std::vector<int> sums = partial_sums_.read(0, row.shape.partial_sums);
            if (!sums.empty() && std::accumulate(sums.begin(), sums.end(), 0U) != expected)
                throw std::logic_error(row.name + ": the sum is wrong");
        }
    }

private:
    template <class... More>
    void add(const std::string& name, const char* function, const Shape& shape,
             void (*kernel)(const int*, int*, std::size_t, More...), More... more) {
        const int* const input = input_.data(0);
        int* const partial_sums = partial_sums_.data();
        rows_.push_back({lesson_, experiment_, name, function, shape, bytes_in_flight_per_sm_, [=, n = n_] {
                             kernel<<<shape.grid, shape.block, shape.shared_bytes>>>(input, partial_sums, n,
                                                                                     more...);
                         }});
    }

    /// Of a kernel whose block sums a number of elements per thread, in shared memory.
    Shape tree(unsigned int elements_per_thread, unsigned int block = block_size) const {
        const std::size_t elements = std::size_t{block} * elements_per_thread;
        const auto grid = static_cast<unsigned int>((n_ + elements - 1) / elements);
        return {block, grid, block * sizeof(int), grid};
    }

    static Shape wrong(Shape shape) { return {shape.block, shape.grid, shape.shared_bytes, 0}; }

    void begin(const char* lesson, const char* experiment) { lesson_ = lesson, experiment_ = experiment; }

    void divergence();
    void conflicts();
    void block_starts();
    void last_six_steps_of_reduce3();
    void unrolling();
    void cascading();
    void trees();
    void in_flight();
    template <class Vector, unsigned int loads> void loads_of(const char* lesson, const char* width);

    std::size_t n_;
    limit::Input input_;
    harness::DeviceBuffer<int> partial_sums_;
    std::string lesson_, experiment_;
    std::size_t bytes_in_flight_per_sm_ = 0;
    std::vector<Row> rows_;
};

void Experiments::divergence() {
    begin("lesson00", "divergence");
    Shape doubled = wrong(tree(1));
    doubled.shared_bytes *= 2;
    constexpr unsigned int each_thread = ~0U, each_warp = ~31U;
    add("reduce0", "reduce0", tree(1), reduce0);
    add("remainder_lanes_differ", "choose_adders", doubled, choose_adders<true>, each_thread);
    add("remainder_lanes_agree", "choose_adders", doubled, choose_adders<true>, each_warp);
    add("reduce0a", "reduce0a", tree(1), reduce0a);
    add("mask_lanes_differ", "choose_adders", doubled, choose_adders<false>, each_thread);
    add("mask_lanes_agree", "choose_adders", doubled, choose_adders<false>, each_warp);
}

void Experiments::conflicts() {
    begin("lesson02", "conflicts");
    add("reduce1", "reduce1", tree(1), reduce1);
    add("reduce1_doubled", "reduce1_doubled", tree(1), reduce1_doubled);
    add("either_order_reduce1", "either_order", tree(1), either_order, 1U, 1U, 1U);
    add("either_order_reduce2", "either_order", tree(1), either_order, 0U, block_size / 2, 31U);
    add("reduce2", "reduce2", tree(1), reduce2);
}

void Experiments::block_starts() {
    begin("lesson03", "block_starts");
    for (const unsigned int block : {64, 128, 256, 512, 1024}) {
        const Shape one = tree(1, block), two = tree(2, block);
        add("empty_as_reduce2", "empty_blocks", wrong(one), empty_blocks);
        add("empty_as_reduce3", "empty_blocks", wrong(two), empty_blocks);
        add("reduce2", "reduce2", one, reduce2);
        add("reduce2_two_tiles", "reduce2_two_tiles",
            {block, two.grid, two.shared_bytes, std::size_t{2} * two.grid}, reduce2_two_tiles);
        add("reduce3", "reduce3", two, reduce3);
    }
}

void Experiments::last_six_steps_of_reduce3() {
    begin("lesson04", "last_six_steps");
    add("reduce3", "reduce3", tree(2), reduce3);
    add("barriers_and_idle_accesses", "last_six_steps", tree(2), last_six_steps<true, true>);
    add("idle_accesses", "last_six_steps", tree(2), last_six_steps<false, true>);
    add("barriers", "last_six_steps", tree(2), last_six_steps<true, false>);
    add("neither", "last_six_steps", tree(2), last_six_steps<false, false>);
    add("reduce4", "reduce4", tree(2), reduce4);
}

void Experiments::unrolling() {
    begin("lesson05", "unrolling");
    add("reduce3", "reduce3", tree(2), reduce3);
    add("reduce3_unrolled", "reduce3_unrolled", tree(2), reduce3_unrolled<block_size>);
    add("reduce4", "reduce4", tree(2), reduce4);
    add("reduce5", "reduce5", tree(2), reduce5<block_size>);
    add("reduce5_no_tree", "reduce5_no_tree", wrong(tree(2)), reduce5_no_tree<block_size>);
}

void Experiments::cascading() {
    begin("lesson06", "cascading");
    Shape shape = tree(2);
    const unsigned int resident =
        harness::resident_blocks(reduce6<block_size>, block_size, shape.shared_bytes);
    add("reduce5", "reduce5", shape, reduce5<block_size>);
    add("reduce6_a_turn_each", "reduce6", shape, reduce6<block_size>);
    for (const unsigned int waves : {64, 16, 4, 1}) {
        shape.grid = std::min(tree(2).grid, waves * resident);
        shape.partial_sums = shape.grid;
        add("reduce6_" + std::to_string(waves) + "_waves", "reduce6", shape, reduce6<block_size>);
    }
}

void Experiments::trees() {
    begin("lesson07", "trees");
    Shape few = tree(2);
    few.grid =
        std::min(few.grid, harness::resident_blocks(reduce6<block_size>, block_size, few.shared_bytes));
    few.partial_sums = few.grid;
    add("reduce6", "reduce6", few, reduce6<block_size>);
    add("reduce7", "reduce7", few, reduce7<block_size>);
    add("reduce6_no_tree", "reduce6_no_tree", wrong(few), reduce6_no_tree<block_size>);
    add("reduce5", "reduce5", tree(2), reduce5<block_size>);
    add("reduce5_shuffles", "reduce5_shuffles", tree(2), reduce5_shuffles<block_size>);
    add("reduce5_no_tree", "reduce5_no_tree", wrong(tree(2)), reduce5_no_tree<block_size>);
}

/// With 1 to 8 blocks resident per multiprocessor: as few as fit beside each other's dynamic shared memory.
template <class Vector, unsigned int loads>
void Experiments::loads_of(const char* lesson, const char* width) {
    begin(lesson, "in_flight");
    const auto kernel = loads_in_flight<Vector, loads>;
    for (const unsigned int blocks : {1, 2, 4, 8}) {
        constexpr std::size_t largest = 227 * 1024, reserved = 1024; // compute capability 9.0
        const std::size_t shared_bytes = (largest / blocks - 2 * reserved) / 1024 * 1024;
        if (blocks == 1)
            harness::allow_shared_bytes(reinterpret_cast<const void*>(kernel), shared_bytes); // the most
        const unsigned int grid = harness::resident_blocks(kernel, block_size, shared_bytes);
        if (grid != blocks * harness::multiprocessors())
            throw std::logic_error("another number of blocks is resident than was meant");
        bytes_in_flight_per_sm_ = std::size_t{blocks} * block_size * loads * sizeof(Vector);
        add(std::to_string(loads) + "_" + width + "_" + std::to_string(blocks) + "_blocks", "loads_in_flight",
            {block_size, grid, shared_bytes, grid}, kernel);
    }
    bytes_in_flight_per_sm_ = 0;
}

void Experiments::in_flight() {
    loads_of<int, 1>("lesson06", "int");
    loads_of<int, 2>("lesson06", "int");
    loads_of<int, 4>("lesson06", "int");
    loads_of<int, 8>("lesson06", "int");
    loads_of<int4, 1>("lesson08", "int4");
    loads_of<int4, 2>("lesson08", "int4");
    loads_of<int4, 4>("lesson08", "int4");
}

void print(const Row& row, std::size_t n, const std::vector<double>& times) {
    std::printf("%s,%s,%s,%s,%u,%u,%zu,%zu,%zu", row.lesson.c_str(), row.experiment.c_str(), row.name.c_str(),
                row.function, row.shape.block, row.shape.grid, row.shape.shared_bytes, n,
                row.bytes_in_flight_per_sm);
    if (times.empty())
        std::printf(",,,0\n");
    else
        std::printf(",%.3f,%.3f,%zu\n", median(times), *std::min_element(times.begin(), times.end()),
                    times.size());
}

void run(bool once, std::size_t n, const harness::Device& device) {
    Experiments experiments(n);
    experiments.verify();
    std::vector<std::vector<double>> times(experiments.rows().size());
    if (!once) {
        std::vector<limit::Contender> contenders;
        for (const Row& row : experiments.rows()) contenders.push_back({row.function, row.launch, false});
        times = limit::Bench(device).time(contenders, limit::Mode::cold, runs, 0);
    }
    std::puts("lesson,experiment,kernel,function,block,grid,shared_bytes,n,bytes_in_flight_per_sm,"
              "time_us_median,time_us_min,time_us_runs");
    for (std::size_t i = 0; i < times.size(); ++i) print(experiments.rows()[i], n, times[i]);
}

} // namespace

int main(int argc, char** argv) {
    const bool once = argc > 1 && std::string(argv[1]) == "once";
    const char* const last = argc > 1 + once ? argv[1 + once] : "268435456";
    char* end = nullptr;
    const std::size_t n = std::strtoull(last, &end, 10);
    if (argc > 2 + once || n == 0 || *end != '\0') {
        std::fprintf(stderr, "Usage: experiments [once] [N]\n");
        return static_cast<int>(harness::ExitStatus::usage);
    }
    try {
        run(once, n, harness::choose_device(harness::DeviceChoice::automatic, argv));
    } catch (const harness::DeviceError& error) {
        std::fprintf(stderr, "experiments: %s\n", error.what());
        return static_cast<int>(harness::ExitStatus::device);
    } catch (const std::logic_error& error) {
        std::fprintf(stderr, "experiments: %s\n", error.what());
        return static_cast<int>(harness::ExitStatus::wrong_result);
    }
}
