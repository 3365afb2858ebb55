// exact_sum() beside CUB's sum, which rounds each addition.
//
//     ahead_exact [--smallest EXPONENT] [--largest EXPONENT] [--runs R] [--rival sum|gpu_to_gpu]
//
// gpu_to_gpu: CUB's sum with the same bits on each card, where the CCCL has it. The toolkit of CUDA 13.0 has not.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_reduce.cuh>
#include <random>
#include <string>
#include <vector>
#if __has_include(<cuda/__execution/determinism.h>)
#include <cuda/execution>
#define HAS_GPU_TO_GPU
#endif

#include "../../lessons/lesson23_floating_point/exact_sum.cuh"
#include "ahead.hpp"
#include "harness/device.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"

namespace {

template <class Real> constexpr int mantissa_bits = sizeof(Real) == 4 ? 24 : 53;
template <class Real> constexpr int lowest_bit = sizeof(Real) == 4 ? -149 : -1074;
/// Those of "all exponents", but for the highest 34: no sum here is infinite.
template <class Real> constexpr std::uint64_t exponents = sizeof(Real) == 4 ? 221 : 2013;

constexpr std::size_t period = std::size_t{1} << 20; ///< of the input, so that the host can sum it, too

template <class Real> std::vector<Real> pattern_of(bool all_exponents, std::size_t n) {
    constexpr int fraction_bits = mantissa_bits<Real> - 1;
    std::mt19937_64 random(23);
    std::vector<Real> values(n);
    for (Real& value : values) {
        const std::uint64_t bits = random();
        value = std::ldexp(static_cast<Real>(bits >> (64 - mantissa_bits<Real>)), -mantissa_bits<Real>);
        if (all_exponents) {
            const std::uint64_t number = (bits & 1) << (8 * sizeof(Real) - 1) |
                                         random() % exponents<Real> << fraction_bits |
                                         bits >> (64 - fraction_bits);
            std::memcpy(&value, &number, sizeof value);
        }
    }
    return values;
}

/// The exact sum, bit by bit: of the pattern, as often as it is in the input.
template <class Real> struct ExactSum {
    ExactSum(const std::vector<Real>& pattern, std::size_t times) {
        constexpr int fraction_bits = mantissa_bits<Real> - 1, most = sizeof(Real) == 4 ? 255 : 2047;
        std::vector<__int128> sums(
            most); // of the mantissas with each exponent, whose last bit is bit 0 and up
        for (const Real value : pattern) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof value);
            const auto exponent = static_cast<std::size_t>(bits >> fraction_bits & most);
            const auto fraction = static_cast<__int128>(bits & ((1ull << fraction_bits) - 1));
            const __int128 mantissa = exponent > 0 ? fraction + (1ll << fraction_bits) : fraction;
            sums[exponent > 0 ? exponent - 1 : 0] += std::signbit(value) ? -mantissa : mantissa;
            magnitude += std::abs(static_cast<long double>(value)) * static_cast<long double>(times);
        }
        std::vector<bool> digits(most + 128);
        __int128 carry = 0;
        for (std::size_t i = 0; i < digits.size(); ++i) {
            if (i < sums.size()) carry += sums[i] * static_cast<__int128>(times);
            digits[i] = (carry & 1) != 0;
            carry >>= 1;
        }
        const bool negative = carry < 0; // Then flip the bits above the lowest one.
        const auto lowest = std::find(digits.begin(), digits.end(), true);
        if (negative && lowest != digits.end())
            std::transform(lowest + 1, digits.end(), lowest + 1, std::logical_not<bool>());
        rounded = round(digits);
        if (negative) rounded = -rounded;
    }

    Real rounded = 0;
    long double magnitude = 0; ///< the sum of the absolute values

private:
    static Real round(const std::vector<bool>& digits) {
        const auto top =
            std::find(digits.rbegin(), digits.rend(), true).base() - digits.begin(); // 1 + its place
        const auto last = std::max<std::ptrdiff_t>(top - mantissa_bits<Real>, 0);
        std::uint64_t kept = 0;
        for (auto i = top; i > last; --i) kept = 2 * kept + digits[static_cast<std::size_t>(i - 1)];
        const auto half = digits.begin() + last - 1;
        if (last > 0 && *half && (kept % 2 == 1 || std::find(digits.begin(), half, true) != half)) ++kept;
        return std::ldexp(static_cast<Real>(kept), static_cast<int>(last) + lowest_bit<Real>);
    }
};

enum class Rival { sum, gpu_to_gpu };

template <class Real> class Race {
public:
    Race(ahead::Table& table, Rival rival, unsigned int smallest, unsigned int largest)
        : table_(table), rival_(rival), smallest_(smallest), largest_(largest),
          input_(std::size_t{1} << largest) {
        std::size_t bytes = 0;
        HARNESS_CHECK(cub::DeviceReduce::Sum(nullptr, bytes, input_.data(), result_.data(), input_.size()));
        scratch_ = harness::DeviceBuffer<unsigned char>(bytes);
        HARNESS_CHECK(take_home::exact_sum(nullptr, bytes, input_.data(), result_.data(), input_.size()));
        workspace_ = harness::DeviceBuffer<unsigned char>(bytes);
    }

    void run(const std::string& type) {
        for (const bool all_exponents : {false, true}) {
            // CUB 3.5's gpu_to_gpu is wrong for some very small and very large numbers: it would not pass.
            if (all_exponents && rival_ == Rival::gpu_to_gpu) continue;
            const std::vector<Real> pattern =
                pattern_of<Real>(all_exponents, std::min(period, input_.size()));
            for (std::size_t at = 0; at < input_.size(); at += pattern.size()) input_.write(pattern, at);
            for (unsigned int e = smallest_; e <= largest_; ++e)
                compare(type + (all_exponents ? " of all exponents" : " from 0 to 1"), pattern,
                        std::size_t{1} << e);
        }
    }

private:
    void compare(const std::string& what, std::vector<Real> pattern, std::size_t n) {
        pattern.resize(std::min(pattern.size(), n));
        const ExactSum<Real> exact(pattern, n / pattern.size());
        const auto poison = [&] { result_.poison(); };
        const auto result = [&] { return result_.read().front(); };
        const ahead::Contender ours{"exact_sum",
                                    [&] {
                                        std::size_t bytes = workspace_.size();
                                        HARNESS_CHECK(take_home::exact_sum(workspace_.data(), bytes,
                                                                           input_.data(), result_.data(), n));
                                    },
                                    poison, [&] { return result() == exact.rounded; }};
        // In any order an element passes at most n - 1 additions.
        const long double bound =
            std::expm1(static_cast<long double>(n) * std::ldexp(1.0L, -mantissa_bits<Real>));
        const ahead::Contender rival{rival_ == Rival::sum ? "cub" : "cub gpu_to_gpu",
                                     [&] { sum_by_rival(n); }, poison,
                                     [&] {
                                         return std::abs(static_cast<long double>(result()) -
                                                         exact.rounded) <= bound * exact.magnitude;
                                     }};
        table_.compare(what, n, ours, rival);
    }

    void sum_by_rival(std::size_t n) {
        if (rival_ == Rival::sum) {
            std::size_t bytes = scratch_.size();
            HARNESS_CHECK(cub::DeviceReduce::Sum(scratch_.data(), bytes, input_.data(), result_.data(), n));
            return;
        }
#ifdef HAS_GPU_TO_GPU
        HARNESS_CHECK(
            cub::DeviceReduce::Sum(input_.data(), result_.data(), n,
                                   cuda::execution::require(cuda::execution::determinism::gpu_to_gpu)));
#endif
    }

    ahead::Table& table_;
    Rival rival_;
    unsigned int smallest_, largest_;
    harness::DeviceBuffer<Real> input_, result_{1};
    harness::DeviceBuffer<unsigned char> scratch_{0}, workspace_{0};
};

} // namespace

int main(int argc, char** argv) {
    unsigned int smallest = 10, largest = 30;
    int runs = 21;
    Rival rival = Rival::sum;
    bool right = true;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i], text = i + 1 < argc ? argv[i + 1] : "";
        const int value = std::atoi(text.c_str());
        if (name == "--smallest" && value >= 0 && value <= 32)
            smallest = static_cast<unsigned int>(value);
        else if (name == "--largest" && value >= 0 && value <= 32)
            largest = static_cast<unsigned int>(value);
        else if (name == "--runs" && value >= 1)
            runs = value;
#ifdef HAS_GPU_TO_GPU
        else if (name == "--rival" && text == "gpu_to_gpu")
            rival = Rival::gpu_to_gpu;
#endif
        else
            right = right && name == "--rival" && text == "sum";
    }
    if (!right) {
        std::fprintf(stderr, "Usage: ahead_exact [--smallest EXPONENT] [--largest EXPONENT] [--runs R]\n"
                             "                   [--rival sum|gpu_to_gpu]\n"
                             "EXPONENT: 0 to 32, of 2. gpu_to_gpu needs a CCCL that has it.\n");
        return static_cast<int>(harness::ExitStatus::usage);
    }
    try {
        const harness::Device device = harness::choose_device(harness::DeviceChoice::automatic, argv);
        ahead::Table table(device, runs);
        Race<float>(table, rival, smallest, largest).run("floats");
        Race<double>(table, rival, smallest, largest).run("doubles");
    } catch (const harness::DeviceError& error) {
        std::fprintf(stderr, "ahead_exact: %s\n", error.what());
        return static_cast<int>(harness::ExitStatus::device);
    }
}
