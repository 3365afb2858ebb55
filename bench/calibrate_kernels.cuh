/// The kernels of calibrate.cu. Each makes the card wait for one thing.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace calibrate {

inline constexpr unsigned int warp = 32, largest_block = 1024;

/// What a chain's operations work on. The compiler knows none of the values.
struct Operands {
    unsigned int a, b;
    unsigned long long ring; ///< address of a word that holds the address of the next
    unsigned int* word;
};

// ---- chains: each operation needs the result of the one before ----
//
// In assembly: the compiler knows the algebra of C++, and would shorten a chain. calibrate.cu measures two
// lengths, so that what surrounds the operations cancels.

struct OnRegisters {
    using Value = unsigned int;
    static constexpr int links = 128;
    static __device__ Value first(const Operands& operands, unsigned int) { return operands.a + threadIdx.x; }
};

/// Two additions in PTX, one with three operands in machine code.
struct Add : OnRegisters {
    static __device__ Value next(Value x, const Operands& o, unsigned int) {
        asm volatile("add.u32 %0, %0, %1;\n\tadd.u32 %0, %0, %2;" : "+r"(x) : "r"(o.a), "r"(o.b));
        return x;
    }
};

struct Shift : OnRegisters {
    static __device__ Value next(Value x, const Operands& o, unsigned int) {
        asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(o.a), "r"(o.b));
        return x;
    }
};

struct MultiplyAdd : OnRegisters {
    static __device__ Value next(Value x, const Operands& o, unsigned int) {
        asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(o.a), "r"(o.b));
        return x;
    }
};

/// Of two registers: if two of three are in the same bank, such a chain runs at half the rate.
struct Fma : OnRegisters {
    static __device__ Value next(Value x, const Operands& o, unsigned int) {
        asm volatile("{ .reg .f32 x, a; mov.b32 x, %0; mov.b32 a, %1; fma.rn.f32 x, x, a, a; mov.b32 %0, x; }"
                     : "+r"(x)
                     : "r"(o.a));
        return x;
    }
};

/// A new divisor each time, as in reduce0: the reciprocal of an old one would be kept.
struct Remainder : OnRegisters {
    static constexpr int links = 64;
    static __device__ Value next(Value x, const Operands& o, unsigned int) {
        asm volatile("{ .reg .u32 divisor; or.b32 divisor, %0, %2; rem.u32 %0, %1, divisor; }"
                     : "+r"(x)
                     : "r"(o.a), "r"(o.b));
        return x;
    }
};

/// The upper half of a product of 64 bits.
struct HighProduct : OnRegisters {
    static __device__ Value next(Value x, const Operands& o, unsigned int) {
        asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(o.a));
        return x;
    }
};

/// Two shifts behind it, which another pipe executes.
struct HighProductAndShifts : OnRegisters {
    static __device__ Value next(Value x, const Operands& o, unsigned int own_word) {
        x = HighProduct::next(x, o, own_word);
        asm volatile("shf.l.wrap.b32 %0, %0, %0, %1;\n\tshf.l.wrap.b32 %0, %0, %0, %1;" : "+r"(x) : "r"(o.b));
        return x;
    }
};

/// The lanes with the same value: none has it but the lane itself.
struct MatchAny : OnRegisters {
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("match.any.sync.b32 %0, %0, 0xffffffff;" : "+r"(x));
        return x;
    }
};

struct MatchAll : OnRegisters {
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("match.all.sync.b32 %0, %0, 0xffffffff;" : "+r"(x));
        return x;
    }
};

/// From the lane that the value names.
struct Shuffle : OnRegisters {
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("shfl.sync.idx.b32 %0, %0, %0, 31, 0xffffffff;" : "+r"(x));
        return x;
    }
};

struct Redux : OnRegisters {
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("redux.sync.add.s32 %0, %0, 0xffffffff;" : "+r"(x));
        return x;
    }
};

struct SyncWarp : OnRegisters {
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
        return x;
    }
};

struct Fence : OnRegisters {
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        __threadfence();
        return x;
    }
};

/// The word at an address in shared memory holds that address.
struct SharedLoad : OnRegisters {
    static __device__ Value first(const Operands&, unsigned int own_word) { return own_word; }
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(x)::"memory");
        return x;
    }
};

/// As words[i] is compiled: the address is made of an index.
struct SharedLoadByIndex : SharedLoad {
    static __device__ Value next(Value x, const Operands& o, unsigned int) {
        asm volatile("{ .reg .u32 address; shl.b32 address, %0, %1; ld.shared.u32 %0, [address]; }"
                     : "+r"(x)
                     : "r"(o.b) // 0
                     : "memory");
        return x;
    }
};

struct SharedAtomic : OnRegisters {
    static __device__ Value next(Value x, const Operands&, unsigned int own_word) {
        asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(x) : "r"(own_word) : "memory");
        return x;
    }
};

/// All lanes of a warp add to the word of its first.
struct SharedAtomicOneWord : SharedAtomic {
    static __device__ Value next(Value x, const Operands& o, unsigned int own_word) {
        return SharedAtomic::next(x, o, own_word - threadIdx.x % warp * sizeof(unsigned int));
    }
};

/// A word per thread: for one word the compiler would add within the warp first.
struct GlobalAtomic : OnRegisters {
    static __device__ Value next(Value x, const Operands& o, unsigned int) {
        asm volatile("atom.global.add.u32 %0, [%1], %0;"
                     : "+r"(x)
                     : "l"(o.word + 2 + threadIdx.x)
                     : "memory");
        return x;
    }
};

struct DoubleFma {
    using Value = unsigned long long;
    static constexpr int links = 128;
    static __device__ Value first(const Operands& o, unsigned int) { return o.a + threadIdx.x; }
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("{ .reg .f64 d; mov.b64 d, %0; fma.rn.f64 d, d, d, d; mov.b64 %0, d; }" : "+l"(x));
        return x;
    }
};

struct OnRing {
    using Value = unsigned long long;
    static constexpr int links = 128;
    static __device__ Value first(const Operands& operands, unsigned int) { return operands.ring; }
};

struct LoadL1 : OnRing {
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(x)::"memory");
        return x;
    }
};

/// Not through L1: from L2, or from memory if L2 does not hold it.
struct LoadL2 : OnRing {
    static __device__ Value next(Value x, const Operands&, unsigned int) {
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(x)::"memory");
        return x;
    }
};

/// The cycles of `links` operations, in one block. The first of two turns brings code and data closer.
template <class Link, int links> __global__ void chain(Operands operands, long long* cycles) {
    __shared__ unsigned int words[largest_block];
    const auto own_word = static_cast<unsigned int>(__cvta_generic_to_shared(&words[threadIdx.x]));
    words[threadIdx.x] = own_word;
    auto value = Link::first(operands, own_word);
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
        __syncthreads(); // all warps begin together
        const long long begin = clock64();
#pragma unroll
        for (int i = 0; i < links; ++i) value = Link::next(value, operands, own_word);
        if (value == 0x9E3779B9) operands.word[1] = 1; // hardly ever: the comparison waits for the chain
        __syncthreads();                               // until the last warp has ended
        if (threadIdx.x == 0) *cycles = clock64() - begin;
    }
}

// ---- constants ----

struct Parameters {
    unsigned int words[512];
};

/// The cycles of two additions of a parameter, whose line of constant memory is in no cache. The compiler gives the first one a
/// uniform register (ULDC) and the second one another (LDC).
__global__ void add_parameters(const __grid_constant__ Parameters parameters, unsigned int* sum,
                               long long* cycles) {
    unsigned int x = threadIdx.x;
    __syncthreads();
    const long long begin = clock64();
    asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(parameters.words[128]) : "memory");
    const long long between = clock64();
    asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(parameters.words[136]) : "memory");
    const long long end = clock64();
    if (threadIdx.x != 0) return;
    cycles[0] = between - begin;
    cycles[1] = end - between;
    *sum = x;
}

// ---- barriers ----

/// When a block began and ended, by the clock of its multiprocessor.
struct Stay {
    long long begin, end, multiprocessor;
};

inline constexpr int barriers_per_turn = 256;

__global__ void wait_at_barriers(int turns, Stay* stays) {
    unsigned int multiprocessor = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    const long long begin = clock64();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < barriers_per_turn; ++i) asm volatile("bar.sync 0;" ::: "memory");
    }
    const long long end = clock64();
    if (threadIdx.x == 0) stays[blockIdx.x] = {begin, end, multiprocessor};
}

// ---- the clock ----

struct Span {
    long long cycles, nanoseconds;
};

__device__ inline Span now() {
    Span span{clock64(), 0};
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(span.nanoseconds));
    return span;
}

/// Keeps each warp busy with multiply-adds.
__global__ void multiply(Operands operands, int turns, Span* spans) {
    const Span begin = now();
    unsigned int x = threadIdx.x;
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < MultiplyAdd::links; ++i) x = MultiplyAdd::next(x, operands, 0);
    }
    if (x == 0x9E3779B9) operands.word[1] = 1;
    const Span end = now();
    if (threadIdx.x == 0)
        spans[blockIdx.x] = {end.cycles - begin.cycles, end.nanoseconds - begin.nanoseconds};
}

// ---- memory ----

__global__ void fill(unsigned int* words, std::size_t count) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
        words[i] = static_cast<unsigned int>((i + 1) * 0x9E3779B97F4A7C15 >> 32);
}

/// Each warp loads 512 bytes, waits for them, and loads the next. \param cycles of one load, a mean per warp
__global__ void load_and_wait(const uint4* input, std::size_t count, Operands operands, float* cycles,
                              Span* spans) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const Span began = now();
    long long sum = 0;
    int loads = 0;
    for (std::size_t i = thread; i < count; i += threads, ++loads) {
        const long long begin = clock64();
        const uint4 v = __ldcg(input + i);
        if ((v.x ^ v.y ^ v.z ^ v.w) == operands.a) operands.word[1] = 1; // hardly ever: waits for the load
        sum += clock64() - begin;
    }
    const Span end = now();
    if (threadIdx.x % warp == 0)
        cycles[thread / warp] = loads ? static_cast<float>(sum) / static_cast<float>(loads) : 0;
    if (threadIdx.x == 0)
        spans[blockIdx.x] = {end.cycles - began.cycles, end.nanoseconds - began.nanoseconds};
}

/// Of a block's turns: how many, and the sums of what its warps waited for a line.
struct LineTimes {
    double turns, latency, spread;
};

inline constexpr unsigned int line_warps = 8;

/// In each turn, the warps of a block load at once: each `loads` lines. A warp's latency is that of its first line, and the
/// spread is from the first warp's to the last one's. \param stores whether they are then stored, too
template <int loads, bool stores>
__global__ void load_lines(const unsigned int* input, unsigned int* output, std::size_t tiles,
                           Operands operands, LineTimes* times) {
    extern __shared__ unsigned int latencies[]; // line_warps of them
    LineTimes sums{};
    for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const std::size_t first = tile * loads * blockDim.x + threadIdx.x;
        unsigned int values[loads], bits = 0;
        __syncthreads();
        const long long begin = clock64();
#pragma unroll
        for (int i = 0; i < loads; ++i)
            asm volatile("ld.global.u32 %0, [%1];"
                         : "=r"(values[i])
                         : "l"(input + first + i * blockDim.x)
                         : "memory");
        __syncwarp();                                      // All have begun.
        if (values[0] == operands.a) operands.word[1] = 1; // hardly ever: waits for the load
        const long long end = clock64();
        if (threadIdx.x % warp == 0) latencies[threadIdx.x / warp] = static_cast<unsigned int>(end - begin);
#pragma unroll
        for (int i = 0; i < loads; ++i) bits ^= values[i];
        if (bits == operands.a) operands.word[1] = 1; // Here it waits for all of them.
        if (stores)
#pragma unroll
            for (int i = 0; i < loads; ++i) output[first + i * blockDim.x] = values[i];
        __syncthreads();
        if (threadIdx.x != 0) continue;
        unsigned int least = latencies[0], most = latencies[0], sum = 0;
        for (unsigned int k = 0; k < line_warps; ++k) {
            least = min(least, latencies[k]);
            most = max(most, latencies[k]);
            sum += latencies[k];
        }
        sums.turns += 1;
        sums.latency += double(sum) / line_warps;
        sums.spread += most - least;
    }
    if (threadIdx.x == 0) times[blockIdx.x] = sums;
}

/// Loads the same vectors again and again, past the L1. \param count a multiple of four times the grid's threads
__global__ void load_from_l2(const uint4* input, std::size_t count, int turns, Operands operands) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    unsigned int bits = 0;
    for (int turn = 0; turn < turns; ++turn)
        for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += 4 * threads)
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const uint4 v = __ldcg(input + i + k * threads);
                bits ^= v.x ^ v.y ^ v.z ^ v.w;
            }
    if (bits == operands.a) operands.word[1] = 1;
}

inline constexpr unsigned int vectors_per_thread = 4;

/// The first of a thread's vectors. Its others follow, each a block further.
__device__ inline std::size_t first_vector() {
    return std::size_t{blockIdx.x} * blockDim.x * vectors_per_thread + threadIdx.x;
}

/// \param count a multiple of a block's vectors, as in the next two
__global__ void load(const uint4* input, Operands operands) {
    unsigned int bits = 0;
#pragma unroll
    for (unsigned int i = 0; i < vectors_per_thread; ++i) {
        const uint4 v = input[first_vector() + i * blockDim.x];
        bits ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (bits == operands.a) operands.word[1] = 1;
}

__global__ void store(uint4* output, Operands operands) {
#pragma unroll
    for (unsigned int i = 0; i < vectors_per_thread; ++i) {
        const auto index = static_cast<unsigned int>(first_vector() + i * blockDim.x);
        output[first_vector() + i * blockDim.x] = {index, index ^ operands.a, index * operands.a, ~index};
    }
}

__global__ void copy(const uint4* input, uint4* output) {
    uint4 v[vectors_per_thread];
#pragma unroll
    for (unsigned int i = 0; i < vectors_per_thread; ++i) v[i] = input[first_vector() + i * blockDim.x];
#pragma unroll
    for (unsigned int i = 0; i < vectors_per_thread; ++i) output[first_vector() + i * blockDim.x] = v[i];
}

inline constexpr unsigned int words_per_thread = 16;

/// The i-th word of this thread: `stride` words past that of its neighbor, in a ring of `count`, a power of
/// two.
__device__ inline std::size_t strided_word(unsigned int i, std::size_t count, std::size_t stride) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    return (i * threads + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * stride & (count - 1);
}

__global__ void store_words(unsigned int* output, std::size_t count, std::size_t stride) {
#pragma unroll
    for (unsigned int i = 0; i < words_per_thread; ++i) output[strided_word(i, count, stride)] = 1;
}

__global__ void load_words(const unsigned int* input, std::size_t count, std::size_t stride,
                           Operands operands) {
    unsigned int bits = 0;
#pragma unroll
    for (unsigned int i = 0; i < words_per_thread; ++i) bits ^= input[strided_word(i, count, stride)];
    if (bits == operands.a) operands.word[1] = 1;
}

// ---- random places ----

/// A number in which all bits of another one count.
__device__ inline std::size_t mixed(std::size_t x) {
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD;
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53;
    return x ^ x >> 33;
}

inline constexpr unsigned int places_per_thread = 64, places_at_once = 8, words_of_sector = 8;

/// Each lane loads a word of a sector of its own: any of `sectors`, a power of two.
__global__ void load_scattered(const unsigned int* words, std::size_t sectors, Operands operands) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    unsigned int bits = 0;
    for (unsigned int turn = 0; turn < places_per_thread; turn += places_at_once) {
        unsigned int values[places_at_once];
#pragma unroll
        for (unsigned int i = 0; i < places_at_once; ++i)
            values[i] =
                words[(mixed(thread * places_per_thread + turn + i) & (sectors - 1)) * words_of_sector];
#pragma unroll
        for (unsigned int i = 0; i < places_at_once; ++i) bits ^= values[i];
    }
    if (bits == operands.a) operands.word[1] = 1;
}

/// Eight lanes store a whole sector together.
__global__ void store_scattered(unsigned int* words, std::size_t sectors) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (unsigned int i = 0; i < places_per_thread; ++i) {
        const std::size_t place = thread / words_of_sector * places_per_thread + i;
        words[(mixed(place) & (sectors - 1)) * words_of_sector + threadIdx.x % words_of_sector] = i;
    }
}

inline constexpr unsigned int pieces_per_thread = 8;

/// A copy of pieces of `lanes` words, a matrix of `rows` by `columns` of them, powers of two. \param transposed whether the piece
/// in a row and a column is stored in that column and row
__global__ void copy_pieces(const unsigned int* input, unsigned int* output, unsigned int lanes,
                            std::size_t rows, std::size_t columns, bool transposed) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, lane = thread % lanes;
    const std::size_t first = thread / lanes * pieces_per_thread;
    unsigned int values[pieces_per_thread];
#pragma unroll
    for (unsigned int i = 0; i < pieces_per_thread; ++i) values[i] = input[(first + i) * lanes + lane];
#pragma unroll
    for (unsigned int i = 0; i < pieces_per_thread; ++i) {
        const std::size_t piece = first + i, row = piece / columns, column = piece % columns;
        output[(transposed ? column * rows + row : piece) * lanes + lane] = values[i];
    }
}

// ---- atomics ----

inline constexpr unsigned int atomics_per_thread = 64;

/// Adds without using the result. Each warp's `lanes` first lanes add to words chosen by a hash of their own:
/// any of `count`, a power of two. \param stride words from one to the next
/// \param floats whether what it adds is a float
__global__ void add_atomically(unsigned int* words, unsigned int count, unsigned int stride,
                               unsigned int lanes, bool floats) {
    if (threadIdx.x % warp >= lanes) return;
    unsigned int hash = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9E3779B9;
    for (unsigned int i = 0; i < atomics_per_thread; ++i) {
        hash = hash * 1664525 + 1013904223;
        unsigned int* const word = words + std::size_t{(hash >> 8) & (count - 1)} * stride;
        if (floats)
            asm volatile("red.global.add.f32 [%0], 0f00000001;" ::"l"(word) : "memory");
        else
            asm volatile("red.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
    }
}

// ---- launches ----

__global__ void empty() {}

} // namespace calibrate
