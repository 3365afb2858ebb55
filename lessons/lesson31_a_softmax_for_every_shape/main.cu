// Lesson 31: the softmax of each row of a matrix, by the unit that is fastest for its rows.
//
//     make lesson31 && ./lesson31 --rows 100 --columns 50257

#include <string>

#include "../lesson25_rows/data.hpp"
#include "../lesson25_rows/kernels.cuh"
#include "data.hpp"
#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"
#include "kernels.cuh"
#include "softmax.cuh"

namespace {

using harness::DeviceBuffer, harness::KernelRun;
using take_home::softmax_detail::Unit, take_home::softmax_detail::Matrix;

/// Measures a softmax. \param queue launches it. Grid and blocks of 0 are the header's own choice.
template <class Queue>
void measure_softmax(KernelRun& run, std::size_t grid, unsigned int block, double bound, const Queue& queue) {
    const std::size_t rows = run.option("--rows"), columns = run.option("--columns"),
                      offset = run.option("--offset");
    const Logits logits(run.input(), rows, columns);
    DeviceBuffer<float> input(offset + run.n()), output(offset + run.n());
    HARNESS_CHECK(
        cudaMemcpy(input.data() + offset, logits.data(), run.n() * sizeof(float), cudaMemcpyDefault));
    const Matrix<float> matrix = {input.data() + offset, output.data() + offset, nullptr, rows, columns};

    run.measure({.grid = dim3(static_cast<unsigned int>(grid)),
                 .block = dim3(block),
                 .bytes = 2 * run.n() * sizeof(float)},
                {.prepare = [&] { output.poison(); },
                 .launch = [&] { queue(matrix); },
                 .verify = [&] { return logits.verify(output.read(offset, run.n()), bound); }});
}

/// The elements of a row lie at most 32 apart: those of Logits are from -16 to 16 around a value.
double bound_of(const KernelRun& run) { return softmax_bound(run.option("--columns"), 32); }

void measure_online(KernelRun& run) {
    const std::size_t rows = run.option("--rows"), columns = run.option("--columns");
    const unsigned int block = run.block();
    // softmax() has its own grid and blocks. So that they are not compared, those of this kernel are 0, too.
    measure_softmax(run, 0, 0, softmax_error_bound(columns, block), [&](const Matrix<float>& m) {
        softmax_online<<<static_cast<unsigned int>(rows), block>>>(m.input, m.output, columns);
    });
}

void measure_in_registers(KernelRun& run) {
    if (run.option("--columns") > 1024)
        throw harness::UsageError(
            "--kernel softmax_in_registers has rows of up to 1,024. Write fewer --columns.");
    const std::size_t grid = harness::ceil_div(run.option("--rows") * 32, std::size_t{run.block()});
    measure_softmax(run, grid, run.block(), bound_of(run), [&](const Matrix<float>& m) {
        softmax_in_registers<<<static_cast<unsigned int>(grid), run.block()>>>(m.input, m.output, m.rows,
                                                                               m.columns);
    });
}

/// softmax(), or one of its units. \param queue takes workspace, matrix and device
template <class Queue> void measure_header(KernelRun& run, const Queue& queue) {
    take_home::softmax_detail::Device device;
    HARNESS_CHECK(take_home::softmax_detail::current_device(device));
    const Matrix<float> shape = {nullptr, nullptr, nullptr, run.option("--rows"), run.option("--columns")};
    DeviceBuffer<unsigned char> workspace(take_home::softmax_detail::workspace_bytes_of(shape, device));
    measure_softmax(run, 0, 0, bound_of(run),
                    [&](const Matrix<float>& m) { HARNESS_CHECK(queue(workspace, m, device)); });
}

template <Unit unit> void measure_unit(KernelRun& run) {
    if (unit == Unit::cluster) run.require_compute_capability(9, 0, "thread block clusters");
    measure_header(run, [&](auto& workspace, const Matrix<float>& m, const auto& device) {
        if (!take_home::softmax_detail::fits(unit, m, device))
            throw harness::UsageError(std::string("--kernel ") + run.kernel() +
                                      ": the rows are too long for it.");
        return take_home::softmax_detail::softmax_by(unit, workspace.data(), m, nullptr, device);
    });
}

} // namespace

int main(int argc, char** argv) {
    harness::Lesson lesson(
        {.name = "lesson31",
         .title = "A softmax for every shape",
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
                      .default_value = 1024},
                     {.name = "--offset",
                      .value = "K",
                      .help = "input and output start K floats into their allocations,\n"
                              "which are aligned to 256 bytes. Default: 0",
                      .largest = 1u << 20},
                     {.name = "--units",
                      .value = "",
                      .help = "a block, a cluster and the whole grid per row, too"}},
         .count_elements = [](const auto& size) { return size.at("--rows") * size.at("--columns"); }});

    lesson.add_kernel("softmax_online", measure_online);
    lesson.add_kernel("softmax", [](KernelRun& run) {
        measure_header(run, [](auto& workspace, const Matrix<float>& m, const auto&) {
            std::size_t bytes = workspace.size();
            return take_home::softmax(workspace.data(), bytes, m.input, m.output, m.rows, m.columns);
        });
    });
    lesson.add_kernel("softmax_in_registers", measure_in_registers, "--kernel softmax_in_registers");
    lesson.add_kernel("lanes", measure_unit<Unit::lanes>, "--kernel lanes");
    lesson.add_kernel("block", measure_unit<Unit::block>, "--units");
    lesson.add_kernel("cluster", measure_unit<Unit::cluster>, "--units");
    lesson.add_kernel("grid", measure_unit<Unit::grid>, "--units");

    return lesson.run(argc, argv);
}
