// inclusive_scan() and exclusive_scan() beside cub::DeviceScan: six types and operations, 2^8 to 2^30 elements.
// With --copies beside a copy of the same elements, from 2^20 on: by the strategy chosen, and by rounds alone.
//
//     ahead_scan [--copies] [--runs R] [--largest EXPONENT]

#include <cub/device/device_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

#include <array>
#include <cstring>

#include "../../lessons/lesson32_scan_in_rounds/scan.cuh"
#include "ahead.hpp"
#include "harness/device_buffer.hpp"

namespace {

using harness::DeviceBuffer;

// Those that CUB knows: it is faster with them than with functions of ours.
using Plus = cuda::std::plus<>;
using Max = cuda::maximum<>;

/// x -> a x + b
struct Affine {
    unsigned int a, b;
    __host__ __device__ bool operator==(const Affine& other) const { return a == other.a && b == other.b; }
};

/// First f, then g: associative, but not commutative.
struct Compose {
    __host__ __device__ Affine operator()(Affine f, Affine g) const { return {g.a * f.a, g.a * f.b + g.b}; }
};

template <class T> __host__ __device__ T element(std::size_t i) {
    unsigned long long hash = (i + 1) * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull;
    hash ^= hash >> 32;
    if constexpr (std::is_same_v<T, Affine>) {
        return {static_cast<unsigned int>(hash) | 1, static_cast<unsigned int>(hash >> 32)};
    } else {
        // From -1 to 1: their prefixes stay small, so each sum of floats is exact in every order.
        return static_cast<T>(static_cast<int>(hash % 3) - 1);
    }
}

template <class T> __global__ void fill(T* elements, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
        elements[i] = element<T>(i);
}

/// Counts the elements of a scan that do not follow from the one before.
template <bool inclusive, class T, class Op>
__global__ void count_wrong(const T* input, const T* output, std::size_t n, Op op, T init,
                            unsigned int* wrong) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
        T expected = inclusive ? input[0] : init;
        if (i > 0) expected = op(output[i - 1], input[inclusive ? i : i - 1]);
        if (!(output[i] == expected)) atomicAdd(wrong, 1u);
    }
}

__global__ void copy(const uint4* from, uint4* to, std::size_t vectors) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < vectors) to[i] = from[i];
}

/// A call in CUB's manner, with a workspace that was zeroed once.
class Call {
public:
    explicit Call(std::function<cudaError_t(void*, std::size_t&)> call) : call_(std::move(call)) {
        HARNESS_CHECK(call_(nullptr, bytes_));
        workspace_ = DeviceBuffer<unsigned char>(bytes_);
        HARNESS_CHECK(cudaMemset(workspace_.data(), 0, bytes_));
    }
    void operator()() { HARNESS_CHECK(call_(workspace_.data(), bytes_)); }

private:
    std::function<cudaError_t(void*, std::size_t&)> call_;
    std::size_t bytes_ = 0;
    DeviceBuffer<unsigned char> workspace_{0};
};

struct Options {
    bool copies = false;
    int runs = 21;
    unsigned int largest = 30;
};

/// Scans of one type by one operation.
template <bool inclusive, class T, class Op> class Races {
public:
    Races(ahead::Table& table, std::string what, std::size_t most, Op op, T init)
        : table_(table), what_(std::move(what)), op_(op), init_(init), input_(most), output_(most) {
        fill<<<256, 256>>>(input_.data(), most);
        harness::check_launch("fill");
    }

    /// \param from where the input starts \param to where the output starts
    void race_cub(std::size_t n, std::size_t from = 0, std::size_t to = 0) {
        place(from, to);
        Call ours([=](void* workspace, std::size_t& bytes) { return scan(workspace, bytes, n); });
        Call rival([=](void* workspace, std::size_t& bytes) {
            const auto count = static_cast<int>(n); // faster than 64 bits
            if constexpr (inclusive)
                return cub::DeviceScan::InclusiveScan(workspace, bytes, in_, out_, op_, count);
            else
                return cub::DeviceScan::ExclusiveScan(workspace, bytes, in_, out_, op_, init_, count);
        });
        table_.compare(what_ + (from != to ? " placed apart"
                                : from > 0 ? " placed anywhere"
                                           : ""),
                       n, contender("ours", n, ours), contender("cub", n, rival));
    }

    /// \param strategy of ours; without one, the header's choice
    void race_copy(std::size_t n, const take_home::ScanStrategy* strategy = nullptr) {
        place(0, 0);
        take_home::scan_detail::Device device;
        HARNESS_CHECK(take_home::scan_detail::current_device(device));
        Call ours([=](void* workspace, std::size_t& bytes) {
            if (strategy == nullptr || workspace == nullptr) return scan(workspace, bytes, n);
            return take_home::scan_by<inclusive>(*strategy, take_home::scan_detail::meeting_in(workspace),
                                                 in_, out_, n, op_, init_, nullptr, device);
        });
        const std::size_t vectors = n * sizeof(T) / 16;
        const auto copy_all = [=] {
            copy<<<static_cast<unsigned int>((vectors + 511) / 512), 512>>>(
                reinterpret_cast<const uint4*>(in_), reinterpret_cast<uint4*>(out_), vectors);
        };
        const auto is_copied = [=] {
            std::array<T, 2> ends;
            HARNESS_CHECK(cudaMemcpy(&ends[0], out_, sizeof(T), cudaMemcpyDeviceToHost));
            HARNESS_CHECK(cudaMemcpy(&ends[1], out_ + n - 1, sizeof(T), cudaMemcpyDeviceToHost));
            return ends[0] == element<T>(0) && ends[1] == element<T>(n - 1);
        };
        table_.compare(what_ + (strategy ? " by rounds" : ""), n, contender("ours", n, ours),
                       {"copy", copy_all, [=] { poison(n); }, is_copied});
    }

private:
    void place(std::size_t from, std::size_t to) {
        in_ = input_.data() + from;
        out_ = output_.data() + to;
    }

    cudaError_t scan(void* workspace, std::size_t& bytes, std::size_t n) {
        if constexpr (inclusive)
            return take_home::inclusive_scan(workspace, bytes, in_, out_, n, op_);
        else
            return take_home::exclusive_scan(workspace, bytes, in_, out_, n, op_, init_);
    }

    ahead::Contender contender(const std::string& name, std::size_t n, Call& call) {
        return {name, [&call] { call(); }, [=] { poison(n); }, [=] { return is_right(n); }};
    }

    void poison(std::size_t n) { HARNESS_CHECK(cudaMemset(out_, 0x5a, n * sizeof(T))); }

    bool is_right(std::size_t n) {
        DeviceBuffer<unsigned int> wrong(1);
        wrong.write(std::array{0u});
        count_wrong<inclusive><<<256, 256>>>(in_, out_, n, op_, init_, wrong.data());
        harness::check_launch("count_wrong");
        return wrong.read().front() == 0;
    }

    ahead::Table& table_;
    std::string what_;
    Op op_;
    T init_;
    DeviceBuffer<T> input_, output_;
    const T* in_ = nullptr;
    T* out_ = nullptr;
};

constexpr std::size_t room = 8; ///< elements past the largest size, for the offsets

template <bool inclusive, class T, class Op>
void race_type(ahead::Table& table, const char* what, unsigned int largest, Op op, T init) {
    Races<inclusive, T, Op> races(table, what, (std::size_t{1} << largest) + room, op, init);
    for (unsigned int e = 8; e <= largest; e += 2) races.race_cub(std::size_t{1} << e);
}

void race(const Options& options, ahead::Table& table) {
    const unsigned int largest = options.largest;
    {
        Races<true, int, Plus> races(table, "int sum", (std::size_t{1} << largest) + room, Plus{}, 0);
        if (options.copies) {
            constexpr auto rounds = take_home::ScanStrategy::rounds;
            for (unsigned int e = 20; e <= largest; ++e) {
                races.race_copy(std::size_t{1} << e);
                races.race_copy(std::size_t{1} << e, &rounds);
            }
            return;
        }
        for (unsigned int e = 8; e <= largest; ++e) races.race_cub(std::size_t{1} << e);
        for (unsigned int e = 10; e <= largest; e += 6) {
            races.race_cub((std::size_t{1} << e) + 1);
            races.race_cub(std::size_t{1} << e, 1, 1);
            races.race_cub(std::size_t{1} << e, 1, 2);
        }
    }
    race_type<false>(table, "int sum before", largest, Plus{}, 7);
    race_type<true>(table, "float sum", largest, Plus{}, 0.0F);
    race_type<true>(table, "long long sum", std::min(largest, 28u), Plus{}, 0LL);
    race_type<true>(table, "double maximum", std::min(largest, 28u), Max{}, 0.0);
    race_type<true>(table, "affine composition", std::min(largest, 28u), Compose{}, Affine{1, 0});
    race_type<true>(table, "short sum", largest, Plus{}, short{0});
    race_type<true>(table, "byte sum", largest, Plus{}, static_cast<signed char>(0));
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const bool has_value = i + 1 < argc;
        if (std::strcmp(argv[i], "--copies") == 0)
            options.copies = true;
        else if (std::strcmp(argv[i], "--runs") == 0 && has_value)
            options.runs = std::atoi(argv[++i]);
        else if (std::strcmp(argv[i], "--largest") == 0 && has_value)
            options.largest = static_cast<unsigned int>(std::atoi(argv[++i]));
        else
            return std::fprintf(stderr, "usage: ahead_scan [--copies] [--runs R] [--largest EXPONENT]\n"), 2;
    }
    ahead::Table table(harness::choose_device(harness::DeviceChoice::automatic, argv), options.runs);
    race(options, table);
}
