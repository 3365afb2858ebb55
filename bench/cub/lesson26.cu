// The library's own histogram beside the lesson's kernels: for `make measure`.

#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>
#include <vector>

#include "../../lessons/lesson26_histogram/data.hpp"
#include "harness/check.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"

namespace {

#if CUB_VERSION >= 300000
template <class T> using ArrayOfOne = cuda::std::array<T, 1>;
#else // CUDA 12
template <class T> using ArrayOfOne = T[1];
#endif

} // namespace

void add_cub(harness::Lesson& lesson) {
    lesson.add_kernel("cub::Histogram", [](harness::KernelRun& run) {
        constexpr int bins = 256;
        const SkewedInts input(run.input(), run.option("--skew"));
        harness::DeviceBuffer<int> histogram(bins);
        // An int is a pixel of four bytes, and the first one, its lowest, is the bin.
        const auto count = [&](void* scratch, std::size_t& scratch_bytes) {
            ArrayOfOne<int*> histograms = {histogram.data()};
            ArrayOfOne<int> levels = {bins + 1}, lowest = {0}, end = {bins};
            HARNESS_CHECK((cub::DeviceHistogram::MultiHistogramEven<4, 1>(
                scratch, scratch_bytes, reinterpret_cast<const unsigned char*>(input.data()), histograms,
                levels, lowest, end, static_cast<long long>(run.n()))));
        };
        std::size_t scratch_bytes = 0;
        count(nullptr, scratch_bytes);
        harness::DeviceBuffer<unsigned char> scratch(scratch_bytes);

        const std::vector<int> expected = input.histogram();
        const auto prepare = [&] { histogram.poison(); };
        const auto launch = [&] { count(scratch.data(), scratch_bytes); };
        const auto verify = [&] { return harness::compare_elements(expected, histogram.read()); };
        // It chooses its grid and blocks: 0 here. Timed as a whole, with all the launches it needs.
        run.measure({.grid = dim3(0), .block = dim3(0), .bytes = (run.n() + bins) * sizeof(int)},
                    {.prepare = prepare, .launch = launch, .verify = verify});
    });
}
