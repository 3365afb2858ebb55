// Lesson 26's histogram beside reading alone, which is sum() of lesson 30, and beside CUB's and the lesson's
// other kernels.
//
//     ahead_histogram [--runs R] [--largest EXPONENT]
//     ahead_histogram --once [--largest EXPONENT]     each kernel once, for Nsight Compute and the checkers

#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>

#include <cstring>

#include "../../lessons/lesson26_histogram/kernels.cuh"
#include "../../lessons/lesson26_histogram/vectors.cuh"
#include "../../lessons/lesson30_a_sum_for_every_n/sum.cuh"
#include "ahead.hpp"
#include "harness/device_buffer.hpp"
#include "harness/launch_size.hpp"
#include "harness/reduction.hpp"

namespace {

using harness::DeviceBuffer;

#if CUB_VERSION >= 300000
template <class T> using ArrayOfOne = cuda::std::array<T, 1>;
#else // CUDA 12
template <class T> using ArrayOfOne = T[1];
#endif

/// What the elements are. Of `one_bank` the bins are multiples of 32: 8 words of one bank, if there is one
/// histogram.
enum class Data { random, skewed, equal, one_bank };
constexpr std::pair<Data, const char*> all_data[] = {{Data::random, "random"},
                                                     {Data::skewed, "90 % equal"},
                                                     {Data::equal, "all equal"},
                                                     {Data::one_bank, "bins of one bank"}};

__global__ void fill(int* elements, std::size_t n, Data data) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
        unsigned long long bits = (i + 1) * 0x9E3779B97F4A7C15ull;
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ull;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBull;
        const auto random = static_cast<unsigned int>(bits >> 32);
        const bool is_0 =
            data == Data::equal || (data == Data::skewed && static_cast<unsigned int>(bits) % 100 < 90);
        elements[i] = static_cast<int>(is_0 ? 0 : data == Data::one_bank ? random / 32 * 32 : random);
    }
}

class Races {
public:
    explicit Races(std::size_t most) : input_(most + 1) {}

    void begin(Data data) {
        fill<<<1024, 256>>>(input_.data(), input_.size(), data);
        harness::check_launch("fill");
    }

    /// The zeroing of its counts is a part of it.
    template <class Kernel>
    ahead::Contender counting(const char* name, Kernel kernel, unsigned int block, std::size_t n,
                              std::size_t offset = 0, std::size_t shared_bytes = 0) {
        const std::size_t blocks = harness::ceil_div(n, std::size_t{16} * block);
        const auto grid = static_cast<unsigned int>(
            std::min<std::size_t>(blocks, harness::resident_blocks(kernel, block, shared_bytes)));
        return counts(name, n, offset, [=] {
            HARNESS_CHECK(cudaMemsetAsync(histogram_.data(), 0, histogram_.bytes()));
            kernel<<<grid, block, shared_bytes>>>(input_.data() + offset, histogram_.data(), n);
        });
    }

    ahead::Contender ours(std::size_t n, std::size_t offset = 0) {
        return counting("histogram_vectors", histogram_vectors<block_copies>, 1024, n, offset);
    }

    ahead::Contender read(std::size_t n, std::size_t offset = 0) {
        std::size_t bytes = workspace_.bytes();
        HARNESS_CHECK(cudaMemset(workspace_.data(), 0, bytes));
        return {"read",
                [=]() mutable {
                    HARNESS_CHECK(take_home::sum(workspace_.data(), bytes, input_.data() + offset,
                                                 histogram_.data(), n, nullptr, take_home::Workspace::zeros));
                },
                [] {}, [] { return true; }}; // Its tests are lesson 30's.
    }

    ahead::Contender cub(std::size_t n) {
        // An int is a pixel of four bytes, and the first one, its lowest, is the bin.
        const auto count = [=](void* scratch, std::size_t& scratch_bytes) {
            ArrayOfOne<int*> histograms = {histogram_.data()};
            ArrayOfOne<int> levels = {bins + 1}, lowest = {0}, end = {bins};
            HARNESS_CHECK((cub::DeviceHistogram::MultiHistogramEven<4, 1>(
                scratch, scratch_bytes, reinterpret_cast<const unsigned char*>(input_.data()), histograms,
                levels, lowest, end, static_cast<long long>(n))));
        };
        std::size_t bytes = 0;
        count(nullptr, bytes);
        scratch_ = DeviceBuffer<unsigned char>(bytes);
        return counts("cub::DeviceHistogram", n, 0, [=]() mutable { count(scratch_.data(), bytes); });
    }

private:
    ahead::Contender counts(const char* name, std::size_t n, std::size_t offset,
                            std::function<void()> launch) {
        return {name, std::move(launch), [=] { histogram_.poison(); },
                [=] { return histogram_.read() == expected(n, offset); }};
    }

    /// Counted by the kernel whose tests compare it with the obvious loop.
    std::vector<int> expected(std::size_t n, std::size_t offset) {
        DeviceBuffer<int> histogram(bins);
        HARNESS_CHECK(cudaMemset(histogram.data(), 0, histogram.bytes()));
        histogram_shared<<<1024, 256>>>(input_.data() + offset, histogram.data(), n);
        harness::check_launch("histogram_shared");
        return histogram.read();
    }

    DeviceBuffer<int> input_, histogram_{bins};
    DeviceBuffer<unsigned char> workspace_{64}, scratch_{1};
};

} // namespace

int main(int argc, char** argv) {
    int runs = 41, largest = 30;
    bool once = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--once") == 0) once = true;
        if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) runs = std::atoi(argv[++i]);
        if (std::strcmp(argv[i], "--largest") == 0 && i + 1 < argc) largest = std::atoi(argv[++i]);
    }
    const harness::Device device = harness::choose_device(harness::DeviceChoice::automatic, argv);
    const std::size_t most = std::size_t{1} << largest;
    Races races(most);
    const auto others = [&](std::size_t n) {
        return std::vector<ahead::Contender>{
            races.cub(n), races.counting("histogram_shared", histogram_shared, 256, n),
            races.counting("histogram_private", histogram_private, 256, n, 0, 256 / 32 * bins * sizeof(int)),
            races.counting("histogram_vectors<1>", histogram_vectors<1>, 1024, n)};
    };
    if (once) {
        for (const auto& [data, name] : all_data) {
            races.begin(data);
            std::vector<ahead::Contender> all = others(most);
            all.insert(all.begin(), {races.ours(most), races.ours(most - 1, 1), races.read(most)});
            all[1].name += " from int 1 on";
            for (const ahead::Contender& one : all) {
                std::printf("%s,%s\n", name, one.name.c_str());
                one.launch();
                harness::check_launch(one.name.c_str());
                harness::synchronize(one.name.c_str());
            }
        }
        return 0;
    }
    ahead::Table table(device, runs);
    for (const auto& [data, name] : all_data) {
        races.begin(data);
        for (int exponent = 20; exponent <= largest; exponent += 2) {
            const std::size_t n = std::size_t{1} << exponent;
            table.compare(name, n, races.ours(n), races.read(n));
            if (exponent < 28) continue;
            for (const ahead::Contender& rival : others(n)) table.compare(name, n, races.ours(n), rival);
        }
        table.compare(std::string(name) + " from int 1 on", most - 1, races.ours(most - 1, 1),
                      races.read(most - 1, 1));
    }
}
