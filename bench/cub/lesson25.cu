// The library's own sums of rows, beside the lesson's: for `make measure`.

#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "harness/check.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"

namespace {

/// Where a row begins.
struct FirstOfRow {
    std::int64_t columns;
    __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * columns; }
};

} // namespace

void add_cub(harness::Lesson& lesson) {
    lesson.add_kernel("cub::DeviceSegmentedReduce", [](harness::KernelRun& run) {
        const std::uint64_t rows = run.option("--rows"), columns = run.option("--columns");
        const harness::RandomInts& input = run.input();
        harness::DeviceBuffer<int> sums(rows);
        // Calculated, not loaded. The CUB of CUDA 13.0 has no overload for segments of one size.
        const auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}),
                                                           FirstOfRow{static_cast<std::int64_t>(columns)});
        std::size_t scratch_bytes = 0;
        const auto sum = [&](void* scratch) {
            HARNESS_CHECK(cub::DeviceSegmentedReduce::Sum(scratch, scratch_bytes, input.data(), sums.data(),
                                                          static_cast<std::int64_t>(rows), begin, begin + 1));
        };
        sum(nullptr);
        harness::DeviceBuffer<unsigned char> scratch(scratch_bytes);

        std::vector<int> expected;
        for (std::uint64_t row = 0; row < rows; ++row) expected.push_back(input.sum(row * columns, columns));
        // It chooses its grid and blocks: 0 here. Timed as a whole, with all the launches it needs.
        run.measure({.grid = dim3(0), .block = dim3(0), .bytes = (run.n() + rows) * sizeof(int)},
                    {.prepare = [&] { sums.poison(); },
                     .launch = [&] { sum(scratch.data()); },
                     .verify = [&] { return harness::compare_elements(expected, sums.read()); }});
    });
}
