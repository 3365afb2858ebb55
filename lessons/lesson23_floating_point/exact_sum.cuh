/// \file
/// exact_sum(): the sum of n floats or doubles in device memory without any rounding but one at its end, as one
/// header without dependencies but the CUDA toolkit's. The same bits for each grid, device and order.
///
/// \code
///     std::size_t bytes = 0;
///     take_home::exact_sum(nullptr, bytes, input, result, n);            // how much workspace?
///     cudaMalloc(&workspace, bytes);
///     take_home::exact_sum(workspace, bytes, input, result, n, stream);  // queues the sum, and does not wait
/// \endcode
///
/// The nearest number to the exact sum, and the even one of two; a sum of 0 is +0. Infinities and NaN as in
/// IEEE 754, with one NaN for all. Any n, 0 included; `input` may start at any element. All work
/// goes to one stream: calls that share a workspace must not overlap. Needs compute capability 7.0, and a
/// compiler with __int128.
#pragma once

#include <cuda/atomic>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace take_home {
namespace exact {

/// What was among the elements besides finite numbers.
enum Found : unsigned int { infinity = 1, minus_infinity = 2, not_a_number = 4 };

/// How a thread adds elements of a type exactly: to bins, by the element's exponent. Bin 0 counts halves of the
/// smallest number above 0, and each further bin counts units that are 2^bits times as large. The bins of a
/// thread are `stride` apart.
template <class Real> struct Bins;

/// 16 exponents share a bin, a double. An element is a multiple of the bin's unit, and less than 2^39 of them.
/// A double holds each integer up to 2^53. So no addition rounds, in up to 2^14 of them. Infinities and NaN
/// meet in the last bin, by the rules of IEEE 754.
template <> struct Bins<float> {
    using Bin = double;
    using Vector = float4;
    static constexpr unsigned int count = 16, bits = 16;
    static constexpr unsigned int bins_per_digit = 2; ///< A digit of the sum has 32 bits.
    static constexpr unsigned int mantissa_bits = 24, exponents = 255;

    __device__ static void add(float value, Bin* bins, unsigned int stride, unsigned int*) {
        const unsigned int exponent = __float_as_uint(value) >> 23 & 0xff;
        bins[exponent / 16 * stride] += as_double(value);
    }
    __device__ static void add(float4 four, Bin* bins, unsigned int stride, unsigned int* found) {
        add(four.x, bins, stride, found);
        add(four.y, bins, stride, found);
        add(four.z, bins, stride, found);
        add(four.w, bins, stride, found);
    }
    /// Nothing is lost, not even a subnormal float where the compiler makes those 0 (--ftz=true).
    __device__ static double as_double(float value) {
        double same;
        asm("cvt.f64.f32 %0, %1;" : "=d"(same) : "f"(value));
        return same;
    }
    /// The bin as a number of its units, less than 2^51.
    __device__ static long long units(Bin bin, unsigned int k, unsigned int* found) {
        if (k == count - 1 && !isfinite(bin)) {
            *found |= isnan(bin) ? not_a_number : bin > 0 ? infinity : minus_infinity;
        }
        // 1.5 * 2^52 units: after it is added, the last bit of the double is one unit.
        const long long offset = ((925ll + 16 * k) << 52) | 1ll << 51;
        return __double_as_longlong(bin + __longlong_as_double(offset)) - offset;
    }
    __device__ static float number(unsigned long long bits) {
        return __uint_as_float(static_cast<unsigned int>(bits));
    }
};

/// 52 exponents share a bin, an integer. An element's 53 bits are shifted by up to 51: 52 of them go to one
/// bin, and the others, with the sign, to the next. That takes 2^11 additions.
template <> struct Bins<double> {
    using Bin = long long;
    using Vector = double2;
    static constexpr unsigned int count = 41, bits = 52;
    static constexpr unsigned int bins_per_digit = 1; ///< A digit of the sum has 52 bits.
    static constexpr unsigned int mantissa_bits = 53, exponents = 2047;

    __device__ static void add(double value, Bin* bins, unsigned int stride, unsigned int* found) {
        constexpr long long hidden = 1ll << 52, fraction_mask = hidden - 1;
        const long long number = __double_as_longlong(value), sign = number >> 63; // 0 or -1
        const long long fraction = number & fraction_mask;
        const auto exponent = static_cast<unsigned int>(number >> 52) & 0x7ff;
        if (((exponent + 1) & 0x7fe) == 0) { // 0 or 0x7ff
            if (exponent == 0) {
                bins[0] += 2 * ((fraction ^ sign) - sign); // no hidden bit; the last bit is two units
            } else {
                *found |= fraction != 0 ? not_a_number : sign != 0 ? minus_infinity : infinity;
            }
            return;
        }
        const unsigned int k = exponent * 80660 >> 22; // / 52, for exponents below 2^11
        const unsigned int shift = exponent - 52 * k;
        const long long mantissa = ((fraction | hidden) ^ sign) - sign;
        bins[k * stride] +=
            static_cast<long long>(static_cast<unsigned long long>(mantissa) << shift) & fraction_mask;
        bins[(k + 1) * stride] += mantissa >> (52 - shift);
    }
    __device__ static void add(double2 two, Bin* bins, unsigned int stride, unsigned int* found) {
        add(two.x, bins, stride, found);
        add(two.y, bins, stride, found);
    }
    __device__ static long long units(Bin bin, unsigned int, unsigned int*) { return bin; }
    __device__ static double number(unsigned long long bits) {
        return __longlong_as_double(static_cast<long long>(bits));
    }
};

/// A thread takes at most so many vectors: 4,000 floats or 2,000 doubles, and up to two elements of the edges.
inline constexpr std::size_t max_vectors = 1000;

/// The input in three parts: the head up to an address that 128 divides, whole vectors, and what is past them.
template <class Real> struct Parts {
    const Real* input;
    const typename Bins<Real>::Vector* body;
    std::size_t vectors;
    unsigned int head, tail;
};

template <class Real> Parts<Real> split(const Real* input, std::size_t n) {
    using Vector = typename Bins<Real>::Vector;
    constexpr std::size_t line = 128 / sizeof(Real), per_vector = sizeof(Vector) / sizeof(Real);
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(input) / sizeof(Real) % line;
    const std::size_t head = std::min((line - misplaced) % line, n);
    return {input, reinterpret_cast<const Vector*>(input + head), (n - head) / per_vector,
            static_cast<unsigned int>(head), static_cast<unsigned int>((n - head) % per_vector)};
}

/// Where the blocks of a grid meet, in global memory. Zero before a launch, and zero again after it.
template <class Real> struct Meeting {
    /// Of each bin the sum of the lower 32 bits; then of each the sum of what is above them, with its sign.
    unsigned long long totals[2 * Bins<Real>::count];
    unsigned int found, blocks_done;
};

template <class Word> using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>; // by the grid

template <class Real>
inline constexpr unsigned long long infinite_bits = static_cast<unsigned long long>(Bins<Real>::exponents)
                                                    << (Bins<Real>::mantissa_bits - 1);

/// The highest digits of a sum. Digit 0 counts units.
struct Digits {
    unsigned long long first, second, third; ///< the first one is not 0
    bool more;                               ///< whether a digit below the third one is not 0
    int place;                               ///< of the first one
};

/// The nearest number, and the even one of two. \param bits of a digit
template <class Real> __device__ Real rounded(const Digits& digits, unsigned int bits, bool negative) {
    using Format = Bins<Real>;
    using Window = unsigned __int128; // two digits and a bit of the third one: more than a mantissa
    const Window window =
        (static_cast<Window>(digits.first) << bits | digits.second) << 1 | digits.third >> (bits - 1);
    const bool more = digits.more || (digits.third & ((1ull << (bits - 1)) - 1)) != 0;
    const int place = (digits.place - 1) * static_cast<int>(bits) - 1; // of the window's last bit

    const auto high = static_cast<long long>(window >> 64), low = static_cast<long long>(window);
    const int width = high != 0 ? 128 - __clzll(high) : 64 - __clzll(low);
    // The last bit to keep is the smallest number above 0, which is two units, or a higher one.
    const int dropped = max(width - static_cast<int>(Format::mantissa_bits), 1 - place);
    const auto kept = static_cast<unsigned long long>(window >> dropped);
    const Window half = static_cast<Window>(1) << (dropped - 1), rest = window & (2 * half - 1);
    const bool up = rest > half || (rest == half && (more || kept % 2 == 1));

    // The hidden bit raises the exponent by one. Subnormal numbers have none, and the exponent 0.
    const auto exponent = static_cast<unsigned long long>(dropped + place - 1);
    const unsigned long long number =
        min((exponent << (Format::mantissa_bits - 1)) + kept + up, infinite_bits<Real>);
    return Format::number(number | static_cast<unsigned long long>(negative) << (8 * sizeof(Real) - 1));
}

/// Turns what is added to each digit, from the lowest one on, into digits, and keeps the highest ones.
struct Carry {
    __int128 above = 0; ///< In the end 0, or below 0 if the sum is negative.
    Digits highest{};
    unsigned long long before = 0, before_that = 0;
    bool more = false; ///< whether a digit below these two is not 0

    __device__ void take(__int128 units, unsigned int bits, int place) {
        above += units;
        const auto digit = static_cast<unsigned long long>(above) & ((1ull << bits) - 1);
        above >>= bits; // rounds down: no digit is negative
        if (digit != 0) {
            highest = {digit, before, before_that, more, place};
        }
        more |= before_that != 0;
        before_that = before;
        before = digit;
    }
};

/// The sum that the totals hold, in each lane of a warp.
template <class Real> __device__ Real sum_of(const long long* totals, unsigned int found) {
    using Format = Bins<Real>;
    if (found != 0) {
        constexpr unsigned long long minus = 1ull << (8 * sizeof(Real) - 1);
        return Format::number(found == infinity         ? infinite_bits<Real>
                              : found == minus_infinity ? infinite_bits<Real> | minus
                                                        : minus - 1); // also infinity - infinity
    }
    unsigned long long used = 0; // a bit per bin: most sums use few of them
    for (unsigned int first = 0; first < Format::count; first += 32) {
        const unsigned int k = first + threadIdx.x % 32;
        const bool is_used = k < Format::count && (totals[k] | totals[Format::count + k]) != 0;
        used |= static_cast<unsigned long long>(__ballot_sync(0xffffffff, is_used)) << first;
    }
    if (used == 0) {
        return 0;
    }
    constexpr unsigned int per_digit = Format::bins_per_digit, bits = Format::bits * per_digit;
    const auto lowest = static_cast<unsigned int>(__ffsll(static_cast<long long>(used)) - 1);
    const auto highest = static_cast<unsigned int>(63 - __clzll(static_cast<long long>(used)));
    Carry sum, negated; // One of them is not negative.
#pragma unroll 1        // Short code: what is executed once has to be fetched, too.
    for (unsigned int digit = lowest / per_digit; digit <= highest / per_digit + 3;
         ++digit) { // 3: its growth
        __int128 units = 0;
        for (unsigned int k = digit * per_digit; k < min((digit + 1) * per_digit, Format::count); ++k) {
            const __int128 total = (static_cast<__int128>(totals[Format::count + k]) << 32) + totals[k];
            units += total << (k % per_digit * Format::bits);
        }
        sum.take(units, bits, static_cast<int>(digit));
        negated.take(-units, bits, static_cast<int>(digit));
    }
    const bool negative = sum.above < 0;
    const Digits digits = negative ? negated.highest : sum.highest;
    return digits.first == 0 ? 0 : rounded<Real>(digits, bits, negative);
}

__device__ inline long long sum_of_warp(long long sum) {
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    }
    return sum;
}

/// Adds up the bins of the block's threads, and then, at *meeting, those of the grid. The last block to come
/// there rounds the sum, and leaves zeros. A single block meets nobody.
template <class Real, unsigned int block_size>
__device__ void meet(const typename Bins<Real>::Bin* bins, unsigned int found, Meeting<Real>* meeting,
                     Real* result) {
    using Format = Bins<Real>;
    constexpr unsigned int totals_count = 2 * Format::count;
    static_assert(block_size % 32 == 0 && totals_count <= block_size, "a warp per bin, a thread per total");
    __shared__ long long totals[totals_count];
    __shared__ unsigned int found_by_all;
    __shared__ bool is_last;
    const unsigned int tid = threadIdx.x, lane = tid % 32;

    if (tid == 0) {
        found_by_all = 0;
        is_last = true;
    }
    __syncthreads(); // All threads have added their elements.
    for (unsigned int k = tid / 32; k < Format::count; k += block_size / 32) {
        long long low = 0, high = 0;
#pragma unroll 4
        for (unsigned int thread = lane; thread < block_size; thread += 32) {
            const long long units = Format::units(bins[k * block_size + thread], k, &found);
            low += units & 0xffffffff;
            high += units >> 32;
        }
        if (__any_sync(0xffffffff, (low | high) != 0)) { // Most bins of most sums are empty.
            low = sum_of_warp(low);
            high = sum_of_warp(high);
        }
        if (lane == 0) {
            totals[k] = low;
            totals[Format::count + k] = high;
        }
    }
    if (found != 0) {
        atomicOr(&found_by_all, found);
    }
    __syncthreads(); // The block's totals are complete.
    if (gridDim.x > 1) {
        if (tid < totals_count && totals[tid] != 0) {
            atomicAdd(&meeting->totals[tid], static_cast<unsigned long long>(totals[tid]));
        }
        if (tid == 0 && found_by_all != 0) {
            atomicOr(&meeting->found, found_by_all);
        }
        __syncthreads(); // They are all on their way before the block is counted.
        if (tid == 0) {
            // Released and acquired: the last block sees the totals of all blocks.
            const Shared<unsigned int> blocks_done(meeting->blocks_done);
            is_last = blocks_done.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
        }
        __syncthreads(); // Every thread sees whether this block is the last one.
        if (is_last && tid < totals_count) {
            const Shared<unsigned long long> total(meeting->totals[tid]);
            totals[tid] = static_cast<long long>(total.load(cuda::memory_order_relaxed));
            meeting->totals[tid] = 0;
        }
        if (is_last && tid == 0) {
            found_by_all = Shared<unsigned int>(meeting->found).load(cuda::memory_order_relaxed);
            meeting->found = 0;
            meeting->blocks_done = 0;
        }
        __syncthreads(); // The grid's totals have replaced the block's.
    }
    if (is_last && tid < 32) {
        const Real sum = sum_of<Real>(totals, found_by_all);
        if (tid == 0) {
            *result = sum;
        }
    }
}

/// Dynamic shared memory: a bin k of each thread side by side, so that a thread has its own banks, whatever bin
/// it needs. `loads` vectors are added while the next ones are on their way.
template <class Real, unsigned int block_size, unsigned int blocks_per_sm, unsigned int loads>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    exact_sum(Parts<Real> parts, Real* result, Meeting<Real>* meeting) {
    using Format = Bins<Real>;
    using Vector = typename Format::Vector;
    extern __shared__ long long of_threads[];
    auto* const bins = reinterpret_cast<typename Format::Bin*>(of_threads);
    auto* const mine = bins + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * block_size;
    std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x;
    unsigned int found = 0;

    Vector next[loads];
    const auto load = [&] {
#pragma unroll
        for (unsigned int k = 0; k < loads; ++k) {
            const std::size_t at = i + k * threads;
            next[k] = at < parts.vectors ? parts.body[at] : Vector{};
        }
    };
    load();
    for (unsigned int k = 0; k < Format::count; ++k) {
        mine[k * block_size] = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x < parts.head) {
        Format::add(parts.input[threadIdx.x], mine, block_size, &found);
    }
    if (blockIdx.x == 0 && threadIdx.x < parts.tail) {
        Format::add(reinterpret_cast<const Real*>(parts.body + parts.vectors)[threadIdx.x], mine, block_size,
                    &found);
    }
    while (i < parts.vectors) {
        Vector now[loads];
#pragma unroll
        for (unsigned int k = 0; k < loads; ++k) {
            now[k] = next[k];
        }
        i += loads * threads;
        load();
#pragma unroll
        for (unsigned int k = 0; k < loads; ++k) {
            Format::add(now[k], mine, block_size, &found);
        }
    }
    meet<Real, block_size>(bins, found, meeting, result);
}

struct Device {
    int multiprocessors = 0, shared_bytes = 0; // shared: the most a block can have
};

inline cudaError_t current_device(Device& device) {
    int id = 0;
    cudaError_t error = cudaGetDevice(&id);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device.multiprocessors, cudaDevAttrMultiProcessorCount, id);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, id);
    return error;
}

template <class Real, unsigned int block_size>
inline constexpr std::size_t shared_bytes = block_size* Bins<Real>::count * sizeof(typename Bins<Real>::Bin);

/// As many blocks as are resident, but no more than have `per_thread` vectors per thread, and so many that no
/// thread has more than max_vectors.
inline unsigned int blocks_for(std::size_t vectors, unsigned int block_size, unsigned int resident,
                               unsigned int per_thread) {
    const auto ceil_div = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
    const std::size_t useful =
        std::max<std::size_t>(ceil_div(vectors, std::size_t{per_thread} * block_size), 1);
    const std::size_t rounds =
        std::max<std::size_t>(ceil_div(vectors, max_vectors * block_size * resident), 1);
    return static_cast<unsigned int>(std::min(useful, rounds * resident));
}

/// Queues the sum by one kernel, for which the device must have the shared memory. A single block needs no
/// zeros. \param per_thread vectors for which a thread is useful
template <class Real, unsigned int block_size, unsigned int blocks_per_sm, unsigned int loads>
cudaError_t launch(Meeting<Real>* meeting, const Real* input, Real* result, std::size_t n,
                   cudaStream_t stream, bool is_zero, const Device& device, unsigned int per_thread) {
    const auto kernel = exact_sum<Real, block_size, blocks_per_sm, loads>;
    constexpr std::size_t bytes = shared_bytes<Real, block_size>;
    if (bytes > 48 * 1024) {
        const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                       static_cast<int>(bytes));
        if (error != cudaSuccess) return error;
    }
    const Parts<Real> parts = split(input, n);
    const unsigned int resident = static_cast<unsigned int>(device.multiprocessors) * blocks_per_sm;
    const unsigned int grid = blocks_for(parts.vectors, block_size, resident, per_thread);
    if (grid > 1 && !is_zero) {
        const cudaError_t error = cudaMemsetAsync(meeting, 0, sizeof(*meeting), stream);
        if (error != cudaSuccess) return error;
    }
    kernel<<<grid, block_size, bytes, stream>>>(parts, result, meeting);
    return cudaGetLastError();
}

/// Queues the sum by the fastest kernel for n on an H200, by measurement. A device with too little shared memory
/// for all of them gets one that needs less than 48 KiB.
template <class Real>
cudaError_t launch_fastest(Meeting<Real>* meeting, const Real* input, Real* result, std::size_t n,
                           cudaStream_t stream, bool is_zero, const Device& device) {
    constexpr std::size_t Ki = 1024, Mi = 1024 * Ki;
    constexpr unsigned int largest_block = sizeof(Real) == 4 ? 1024 : 512;
    const bool has_shared_memory =
        static_cast<std::size_t>(device.shared_bytes) >= shared_bytes<Real, largest_block> + Ki;
    const auto with = [&](auto launch, unsigned int per_thread) {
        return launch(meeting, input, result, n, stream, is_zero, device, per_thread);
    };
    if constexpr (sizeof(Real) == 4) {
        if (!has_shared_memory) return with(launch<float, 256, 2, 2>, 4);
        if (n <= 16 * Ki) return with(launch<float, 512, 2, 2>, 8); // a single block
        if (n < 512 * Ki) return with(launch<float, 256, 2, 2>, 4);
        if (n < 64 * Mi) return with(launch<float, 512, 2, 2>, 4);
        return with(launch<float, 1024, 1, 4>, 4);
    } else {
        if (!has_shared_memory) return with(launch<double, 128, 1, 4>, 4);
        if (n <= 8 * Ki) return with(launch<double, 256, 2, 4>, 16); // a single block
        if (n < 512 * Ki) return with(launch<double, 256, 2, 4>, 4);
        if (n < 32 * Mi) return with(launch<double, 256, 2, 4>, 8);
        return with(launch<double, 512, 1, 6>, 8);
    }
}

/// The workspace's first address that 8 divides.
template <class Real> Meeting<Real>* meeting_in(void* workspace) {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace);
    return reinterpret_cast<Meeting<Real>*>((address + 7) / 8 * 8);
}

} // namespace exact

/// Queues `*result = input[0] + … + input[n - 1]` on the stream. Real: float or double
/// \param workspace device memory; null: nothing is queued, and workspace_bytes becomes what is needed
/// \param workspace_is_zero it was zeroed once, and only exact_sum() of this type has used it since: each call
/// leaves zeros
/// \return cudaErrorInvalidValue when workspace_bytes is too little, and what the CUDA runtime reports
template <class Real>
cudaError_t exact_sum(void* workspace, std::size_t& workspace_bytes, const Real* input, Real* result,
                      std::size_t n, cudaStream_t stream = nullptr, bool workspace_is_zero = false) {
    using Meeting = exact::Meeting<Real>;
    constexpr std::size_t needed = sizeof(Meeting) + 7; // wherever the workspace starts
    if (workspace == nullptr) {
        workspace_bytes = needed;
        return cudaSuccess;
    }
    if (workspace_bytes < needed) return cudaErrorInvalidValue;
    Meeting* const meeting = exact::meeting_in<Real>(workspace);
    exact::Device device;
    const cudaError_t error = exact::current_device(device);
    if (error != cudaSuccess) return error;
    return exact::launch_fastest(meeting, input, result, n, stream, workspace_is_zero, device);
}

} // namespace take_home
