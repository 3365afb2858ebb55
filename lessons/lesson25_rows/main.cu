// Lesson 25: the sum and the softmax of each row of a matrix.
//
//     make lesson25 && ./lesson25 --rows 100 --columns 10000

#include <vector>

#include "data.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"
#include "rows.cuh"

#ifdef WITH_CUB
void add_cub(harness::Lesson& lesson);
#endif

namespace {

using harness::DeviceBuffer, harness::KernelRun;
using Sums = void (*)(const int* input, int* sums, std::size_t rows, std::size_t columns);
using Softmax = void (*)(const float* input, float* output, std::size_t columns);

enum class Unit { thread, warp, block };

/// Measures a kernel that has a thread, a warp or a block per row.
void measure_sums(KernelRun& run, Sums kernel, Unit unit) {
    const std::size_t rows = run.option("--rows"), columns = run.option("--columns");
    const unsigned int block = run.block();
    const std::size_t threads_per_row = unit == Unit::thread ? 1 : unit == Unit::warp ? 32 : block;
    const auto grid = static_cast<unsigned int>(harness::ceil_div(rows, block / threads_per_row));
    const harness::RandomInts& input = run.input();
    DeviceBuffer<int> sums(rows);

    std::vector<int> expected;
    for (std::size_t row = 0; row < rows; ++row) expected.push_back(input.sum(row * columns, columns));

    run.measure({.grid = dim3(grid), .block = dim3(block), .bytes = (run.n() + rows) * sizeof(int)},
                {.prepare = [&] { sums.poison(); },
                 .launch = [&] { kernel<<<grid, block>>>(input.data(), sums.data(), rows, columns); },
                 .verify = [&] { return harness::compare_elements(expected, sums.read()); }});
}

/// Measures a kernel that has a block per row.
void measure_softmax(KernelRun& run, Softmax kernel) {
    const std::size_t rows = run.option("--rows"), columns = run.option("--columns");
    const auto grid = static_cast<unsigned int>(rows);
    const unsigned int block = run.block();
    const Logits input(run.input(), rows, columns);
    DeviceBuffer<float> output(run.n());

    run.measure({.grid = dim3(grid), .block = dim3(block), .bytes = 2 * output.bytes()},
                {.prepare = [&] { output.poison(); },
                 .launch = [&] { kernel<<<grid, block>>>(input.data(), output.data(), columns); },
                 .verify = [&] { return input.verify(output.read(), softmax_error_bound(columns, block)); }});
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson25",
         .title = "Rows of a matrix",
         .options = {{.name = "--rows",
                      .value = "R",
                      .help = "rows of the matrix: 1 to 2^31 - 1. Default: 1024",
                      .smallest = 1,
                      .largest = (std::uint64_t{1} << 31) - 1, // blocks in a grid
                      .default_value = 1024},
                     {.name = "--columns",
                      .value = "C",
                      .help = "elements in a row: 1 to 2^32. Default: 1024",
                      .smallest = 1,
                      .largest = std::uint64_t{1} << 32,
                      .default_value = 1024}},
         .count_elements = [](const auto& size) { return size.at("--rows") * size.at("--columns"); }});

    lesson.add_kernel("rows_by_thread",
                      [](KernelRun& run) { measure_sums(run, rows_by_thread, Unit::thread); });
    lesson.add_kernel("rows_by_warp", [](KernelRun& run) { measure_sums(run, rows_by_warp, Unit::warp); });
    lesson.add_kernel("rows_by_block", [](KernelRun& run) { measure_sums(run, rows_by_block, Unit::block); });
#ifdef WITH_CUB
    add_cub(lesson);
#endif
    lesson.add_kernel("softmax_three_passes",
                      [](KernelRun& run) { measure_softmax(run, softmax_three_passes); });
    lesson.add_kernel("softmax_online", [](KernelRun& run) { measure_softmax(run, softmax_online); });

    return lesson.run(argc, argv);
}
