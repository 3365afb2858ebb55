/// \file
/// inclusive_scan() and exclusive_scan(): n prefixes by any associative operation, as one header without
/// dependencies but the CUDA toolkit's.
///
/// \code
///     std::size_t bytes = 0;
///     take_home::inclusive_scan(nullptr, bytes, input, output, n, op);            // how much workspace?
///     cudaMalloc(&workspace, bytes);
///     cudaMemset(workspace, 0, bytes);                                            // once
///     take_home::inclusive_scan(workspace, bytes, input, output, n, op, stream);  // queues it, does not wait
/// \endcode
///
/// Types of 1, 2, 4 or 8 bytes. The operation need not be commutative, and needs no neutral element. The order
/// of the operations depends on n, on where input and output start, and on the device: with floating point, the
/// same call gives the same bits each time. Any n, 0 included; output may be input, and both may start at any
/// element. All work goes to one stream: calls that share a workspace must not overlap. Needs compute
/// capability 7.0.
#pragma once

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace take_home {

/// How the blocks of a scan meet, or how they load. Which one is fastest depends on n: see choose_scan().
enum class ScanStrategy {
    one_block,   ///< no other block to meet
    one_cluster, ///< in distributed shared memory: compute capability 9.0
    rounds,      ///< at words of global memory
    bulk_rounds, ///< the same, and the copy engine loads: compute capability 9.0
};

namespace scan_detail {

constexpr unsigned int all_lanes = 0xffffffff;

// ---- The input and the output ----

template <class T> constexpr unsigned int per_vector = sizeof(uint4) / sizeof(T);

template <class T> struct Elements { // of a vector
    T at[per_vector<T>];
};

/// The head is what comes before the first vector of the input: up to an address that 128 divides, the memory's
/// unit.
template <class T, class Op> struct Problem {
    const T* input;
    T* output;
    std::size_t n;          ///< elements past the head: at least 1
    unsigned int head;      ///< elements
    unsigned int misplaced; ///< bytes from an address that 16 divides to the output past the head
    Op op;
    T init; ///< of an exclusive scan
};

template <class To, class From> __device__ To bits_as(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}

/// The vector's elements. Past the end: the last element again, which is as good as any.
template <class T, class Op>
__device__ uint4 load(const Problem<T, Op>& problem, std::size_t vector, bool is_whole) {
    const T* const body = problem.input + problem.head;
    if (is_whole || (vector + 1) * per_vector<T> <= problem.n) {
        return reinterpret_cast<const uint4*>(body)[vector];
    }
    Elements<T> elements;
#pragma unroll
    for (unsigned int j = 0; j < per_vector<T>; ++j) {
        const std::size_t i = vector * per_vector<T> + j;
        elements.at[j] = body[i < problem.n ? i : problem.n - 1];
    }
    return bits_as<uint4>(elements);
}

/// The 16 bytes from byte `first` on, 1 to 15, of two vectors.
__device__ inline uint4 join(uint4 low, uint4 high, unsigned int first) {
    unsigned int words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (unsigned int i = 0; i < 6; ++i) {
        words[i] = first & 8 ? words[i + 2] : words[i];
    }
#pragma unroll
    for (unsigned int i = 0; i < 5; ++i) {
        words[i] = first & 4 ? words[i + 1] : words[i];
    }
    const auto word = [&](unsigned int i) {
        return __funnelshift_r(words[i], words[i + 1], 8 * (first & 3));
    };
    return {word(0), word(1), word(2), word(3)};
}

/// Stores the vector, in each lane of a warp the next one. Where 16 does not divide their addresses, a lane stores
/// the end of the vector before and the beginning of its own.
/// \tparam apart false: 16 divides them
template <bool apart, class T, class Op>
__device__ void store_apart(const Problem<T, Op>& problem, std::size_t vector, bool is_whole,
                            const Elements<T>& elements) {
    T* const body = problem.output + problem.head;
    const auto own = bits_as<uint4>(elements);
    unsigned int first = 0, end = per_vector<T>; // those that are stored one by one
    if (apart && is_whole) {
        const unsigned int begins = sizeof(uint4) - problem.misplaced, lane = threadIdx.x % 32;
        const uint4 below{__shfl_up_sync(all_lanes, own.x, 1), __shfl_up_sync(all_lanes, own.y, 1),
                          __shfl_up_sync(all_lanes, own.z, 1), __shfl_up_sync(all_lanes, own.w, 1)};
        if (lane > 0) {
            char* const base = reinterpret_cast<char*>(body) - problem.misplaced;
            reinterpret_cast<uint4*>(base)[vector] = scan_detail::join(below, own, begins);
        }
        first = lane == 31 ? begins / sizeof(T) : 0;
        end = lane == 0 ? begins / sizeof(T) : lane == 31 ? per_vector<T> : 0;
    } else if (problem.misplaced == 0 && (vector + 1) * per_vector<T> <= problem.n) {
        reinterpret_cast<uint4*>(body)[vector] = own;
        return;
    }
#pragma unroll
    for (unsigned int j = 0; j < per_vector<T>; ++j) {
        const std::size_t i = vector * per_vector<T> + j;
        if (j >= first && j < end && i < problem.n) {
            body[i] = elements.at[j];
        }
    }
}

// ---- A warp ----

/// Hands exchange() each 32 bits of the value.
template <class T, class Exchange> __device__ T by_words(T value, const Exchange& exchange) {
    unsigned int words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (unsigned int& word : words) {
        word = exchange(word);
    }
    memcpy(&value, words, sizeof(T));
    return value;
}

template <class T> __device__ T from_below(T value, unsigned int distance) {
    return by_words(value, [&](unsigned int word) { return __shfl_up_sync(all_lanes, word, distance); });
}

template <class T> __device__ T from_above(T value, unsigned int distance) {
    return by_words(value, [&](unsigned int word) { return __shfl_down_sync(all_lanes, word, distance); });
}

template <class T> __device__ T from_lane(T value, unsigned int lane) {
    return by_words(value, [&](unsigned int word) { return __shfl_sync(all_lanes, word, lane); });
}

/// The sum of the values up to this lane's. 'Sum' here is what the operation makes of some, in their order.
template <class T, class Op> __device__ T scan_warp(T value, Op op) {
    const unsigned int lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned int distance = 1; distance < 32; distance *= 2) {
        const T below = from_below(value, distance);
        if (lane >= distance) {
            value = op(below, value);
        }
    }
    return value;
}

/// The sum of the first `count` lanes, in lane 0.
template <class T, class Op> __device__ T sum_of_lanes(T value, unsigned int count, Op op) {
    const unsigned int lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned int distance = 1; distance < 32; distance *= 2) {
        const T above = from_above(value, distance);
        if (lane + distance < count) {
            value = op(value, above);
        }
    }
    return value;
}

// ---- A thread's part of a tile ----

/// The sum of what comes before something. An operation has no neutral element here: nothing is nothing.
template <class T> struct Prefix {
    T sum;
    bool is_empty;
};

template <class T, class Op> __device__ void append(Prefix<T>& prefix, T value, Op op) {
    prefix.sum = prefix.is_empty ? value : op(prefix.sum, value);
    prefix.is_empty = false;
}

/// A tile is threads * vectors vectors. A warp has adjacent ones, in rows of 32, and a lane one of each row.
template <class T, unsigned int vectors> struct Part {
    uint4 vector[vectors];
    T before
        [vectors]; ///< the sum of the warp's elements before the vector; before the warp's first one: unused
};

template <unsigned int vectors> __device__ unsigned int first_of_part() {
    return threadIdx.x / 32 * 32 * vectors + threadIdx.x % 32;
}

/// From part.vector, fills part.before. Returns the sum of the warp's elements, in all lanes.
template <class T, class Op, unsigned int vectors> __device__ T scan_part(Part<T, vectors>& part, Op op) {
    T up_to[vectors]; // the sum of the row's elements up to this lane's last
#pragma unroll
    for (unsigned int k = 0; k < vectors; ++k) {
        const auto elements = bits_as<Elements<T>>(part.vector[k]);
        T sum = elements.at[0];
#pragma unroll
        for (unsigned int j = 1; j < per_vector<T>; ++j) {
            sum = op(sum, elements.at[j]);
        }
        up_to[k] = scan_warp(sum, op); // Without the rows before: then no row waits for another.
    }
    part.before[0] = from_below(up_to[0], 1);
    T rows = from_lane(up_to[0], 31);
#pragma unroll
    for (unsigned int k = 1; k < vectors; ++k) {
        const T below = from_below(up_to[k], 1);
        part.before[k] = threadIdx.x % 32 > 0 ? op(rows, below) : rows;
        rows = op(rows, from_lane(up_to[k], 31));
    }
    return rows;
}

/// The prefixes of vector k. \param before the warp's elements
template <bool inclusive, class T, class Op, unsigned int vectors>
__device__ Elements<T> prefixes(const Part<T, vectors>& part, unsigned int k, const Prefix<T>& before,
                                Op op) {
    const auto elements = bits_as<Elements<T>>(part.vector[k]);
    const bool is_first = k == 0 && threadIdx.x % 32 == 0;
    T sum = part.before[k];
    if (!before.is_empty) {
        sum = is_first ? before.sum : op(before.sum, sum);
    }
    Elements<T> result;
#pragma unroll
    for (unsigned int j = 0; j < per_vector<T>; ++j) {
        if (!inclusive) {
            result.at[j] = sum;
        }
        sum = j == 0 && is_first && before.is_empty ? elements.at[0] : op(sum, elements.at[j]);
        if (inclusive) {
            result.at[j] = sum;
        }
    }
    return result;
}

/// Scans the head, by a warp of the first block, which has the first tile. Returns what comes before that tile.
template <bool inclusive, class T, class Op> __device__ Prefix<T> scan_head(const Problem<T, Op>& problem) {
    const unsigned int lane = threadIdx.x % 32;
    const unsigned int head = blockIdx.x == 0 ? problem.head : 0;
    Prefix<T> before{problem.init, inclusive};
    for (unsigned int first = 0; first < head; first += 32) {
        const unsigned int count = min(head - first, 32u), i = first + min(lane, count - 1);
        const T up_to = scan_warp(problem.input[i], problem.op);
        Prefix<T> with = before;
        append(with, up_to, problem.op);
        const T below = from_below(with.sum, 1);
        __syncwarp(); // All lanes have read: the output may be the input.
        if (lane < count) {
            problem.output[i] = inclusive ? with.sum : lane > 0 ? below : before.sum;
        }
        before = {from_lane(with.sum, count - 1), false};
    }
    return before;
}

// ---- A block ----

/// What the warps of a block leave for each other.
template <class T, unsigned int warps> struct Shared {
    T of_warp[warps];       ///< the sums of the warps' elements
    T up_to_warp[2][warps]; ///< the same, scanned, of the tile that is finished and of the next one
    Prefix<T> before_all;   ///< what comes before the first vector
};

/// By the first warp, after a barrier. Returns the tile's sum.
template <class T, class Op, unsigned int warps>
__device__ T scan_warps(Shared<T, warps>& shared, unsigned int which, Op op) {
    const unsigned int lane = threadIdx.x % 32;
    const T up_to = scan_warp(shared.of_warp[min(lane, warps - 1)], op);
    if (lane < warps) {
        shared.up_to_warp[which][lane] = up_to;
    }
    return from_lane(up_to, warps - 1);
}

/// \param before what comes before the tile
template <bool inclusive, bool apart, class T, class Op, unsigned int vectors, unsigned int warps>
__device__ void store_prefixes(const Problem<T, Op>& problem, const Part<T, vectors>& part, std::size_t first,
                               bool is_whole, Prefix<T> before, const T (&up_to_warp)[warps]) {
    if (threadIdx.x >= 32) {
        append(before, up_to_warp[threadIdx.x / 32 - 1], problem.op);
    }
    if (is_whole && (!apart || problem.misplaced == 0)) { // nearly always
        uint4* const body = reinterpret_cast<uint4*>(problem.output + problem.head) + first;
#pragma unroll
        for (unsigned int k = 0; k < vectors; ++k) {
            body[32 * k] = bits_as<uint4>(prefixes<inclusive>(part, k, before, problem.op));
        }
        return;
    }
#pragma unroll
    for (unsigned int k = 0; k < vectors; ++k) {
        store_apart<apart>(problem, first + 32 * k, is_whole,
                           prefixes<inclusive>(part, k, before, problem.op));
    }
}

// ---- One block, or one cluster ----

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Leaves the sums of all blocks of the cluster in of_block. The first warp has this block's.
template <class T, unsigned int blocks> __device__ void meet_in_cluster(T (&of_block)[blocks], T sum) {
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    // Every block has started: its shared memory can be written.
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x < blocks) {
        *cluster.map_shared_rank(&of_block[blockIdx.x], threadIdx.x) = sum;
    }
    cluster.sync(); // Every sum is stored before it is read.
}
#endif

/// The grid is one block, or one cluster. At most a tile per block.
template <bool inclusive, unsigned int threads, unsigned int vectors, unsigned int blocks, class T, class Op>
__global__ void __launch_bounds__(threads) scan_one_cluster(Problem<T, Op> problem) {
    static_assert(blocks <= 8, "every device with clusters has those of up to 8 blocks");
    __shared__ Shared<T, threads / 32> shared;
    __shared__ T of_block[blocks];
    const unsigned int tile_vectors = threads * vectors, warp = threadIdx.x / 32, rank = blockIdx.x;
    const unsigned int first = rank * tile_vectors + first_of_part<vectors>();
    const bool is_whole = (rank + 1) * tile_vectors * per_vector<T> <= problem.n;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (blocks > 1) { // No order is needed yet, so the arrival is relaxed.
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    }
#endif

    Part<T, vectors> part;
#pragma unroll
    for (unsigned int k = 0; k < vectors; ++k) {
        part.vector[k] = load(problem, first + 32 * k, is_whole);
    }
    if (warp == 0) {
        shared.before_all = scan_head<inclusive>(problem);
    }
    const T warp_sum = scan_part(part, problem.op);
    if (threadIdx.x % 32 == 0) {
        shared.of_warp[warp] = warp_sum;
    }
    __syncthreads(); // The sums of the warps are stored before the first warp reads them.
    T sum = warp_sum;
    if (warp == 0) {
        Prefix<T> up_to{sum, true};
        if (rank == 0) {
            up_to = shared.before_all;
        }
        append(up_to, scan_warps(shared, 0, problem.op), problem.op);
        sum = up_to.sum;
    }
    Prefix<T> before{sum, true};
    if constexpr (blocks == 1) {
        __syncthreads(); // They are scanned before all warps read them.
    } else {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        meet_in_cluster(of_block, sum);
#endif
        for (unsigned int i = 0; i < rank; ++i) {
            append(before, of_block[i], problem.op);
        }
    }
    if (rank == 0) {
        before = shared.before_all;
    }
    store_prefixes<inclusive, true>(problem, part, first, is_whole, before, shared.up_to_warp[0]);
}

// ---- Rounds: where the blocks of a grid meet ----

using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;

constexpr unsigned int chunk_words = 32; ///< 256 bytes: as many tiles, whose sums a warp reads at once

/// In global memory. Zero before the first launch. Two regions take turns: a launch uses one, and zeroes what
/// the launch before has left in the other.
struct Meeting {
    unsigned long long
        turn_and_dirty; ///< bit 0: the next launch's region. Above: chunks to zero in the other
    unsigned long long unused[chunk_words - 1];
    unsigned long long
        words[2 * chunk_words]; ///< and on: the first chunk of both regions, the second of both, ...
};

/// The region of this launch. Its first chunk has one word: the number of tiles taken. The others have sums.
struct Region {
    Meeting* meeting;
    unsigned int turn;

    __device__ Word word(std::size_t chunk, unsigned int i) const {
        return Word(meeting->words[(2 * chunk + turn) * chunk_words + i]);
    }
};

/// The sum of a tile as its block announces it. A word has 32 bits of it, and the upper half says that they
/// are there: a thread that sees the one has the other. So no access needs an order, and a sum of 8 bytes has
/// two words.
template <class T> struct Announcement {
    static constexpr unsigned int words = (sizeof(T) + 3) / 4;
    static constexpr unsigned long long is_there = 1ull << 32;
    unsigned long long word[words] = {};

    static __device__ Word place(const Region& region, std::size_t tile, unsigned int i) {
        return region.word(1 + tile / chunk_words * words + i, tile % chunk_words);
    }
    static __device__ void write(const Region& region, std::size_t tile, T sum) {
        unsigned int parts[words] = {};
        memcpy(parts, &sum, sizeof(T));
#pragma unroll
        for (unsigned int i = 0; i < words; ++i) {
            place(region, tile, i).store(is_there | parts[i], cuda::memory_order_relaxed);
        }
    }
    __device__ void read(const Region& region, std::size_t tile) {
#pragma unroll
        for (unsigned int i = 0; i < words; ++i) {
            word[i] = place(region, tile, i).load(cuda::memory_order_relaxed);
        }
    }
    __device__ bool is_complete() const {
        bool is = true;
#pragma unroll
        for (unsigned int i = 0; i < words; ++i) {
            is = is && word[i] != 0;
        }
        return is;
    }
    __device__ T sum() const {
        unsigned int parts[words];
#pragma unroll
        for (unsigned int i = 0; i < words; ++i) {
            parts[i] = static_cast<unsigned int>(word[i]);
        }
        T sum;
        memcpy(&sum, parts, sizeof(T));
        return sum;
    }
};

/// Zeroes what the launch before has left in the other region.
__device__ inline void zero_other(const Region& region, unsigned long long dirty_chunks) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < dirty_chunks * chunk_words;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const std::size_t chunk = 2 * (i / chunk_words) + (region.turn ^ 1);
        region.meeting->words[chunk * chunk_words + i % chunk_words] = 0;
    }
}

constexpr unsigned int max_rows = 64; ///< chunks of sums between two barriers

/// What a block knows of the sums before its tiles. The chunks before `chunk` are in `up_to`, added one by one:
/// the sums of floating point do not depend on who took which tile.
template <class T> struct Known {
    Prefix<T> up_to;
    std::size_t chunk;
};

/// Returns what comes before the tile, and advances `known` to its chunk. For the whole block.
/// \param first what the lane has read of the tile (known.chunk + warp) * 32 + lane
template <unsigned int warps, class T, class Op>
__device__ Prefix<T> sum_before(const Region& region, std::size_t tile, Known<T>& known,
                                Announcement<T> first, T (&of_row)[max_rows], Op op) {
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    while (true) {
        const std::size_t end = min(tile, (known.chunk + max_rows) * chunk_words);
        for (std::size_t chunk = known.chunk + warp; chunk * chunk_words < end; chunk += warps) {
            const std::size_t left = end - chunk * chunk_words;
            const unsigned int count = left < chunk_words ? static_cast<unsigned int>(left) : chunk_words;
            if (lane < count) {
                while (!first.is_complete()) { // Its block runs, and waits for earlier tiles alone.
                    first.read(region, chunk * chunk_words + lane);
                }
            }
            __syncwarp();
            const T sum = sum_of_lanes(first.sum(), count, op);
            if (lane == 0) {
                of_row[chunk - known.chunk] = sum;
            }
            first = {};
        }
        __syncthreads(); // The rows are stored before all threads read them.
        const auto whole = static_cast<unsigned int>(end / chunk_words - known.chunk);
        for (unsigned int row = 0; row < whole; ++row) {
            append(known.up_to, of_row[row], op);
        }
        known.chunk += whole;
        if (end == tile) {
            Prefix<T> before = known.up_to;
            if (tile % chunk_words > 0) {
                append(before, of_row[whole], op);
            }
            return before;
        }
        __syncthreads(); // The rows are read before they are stored anew.
    }
}

// One PTX instruction each, but for the wait: of compute capability 9.0.

__device__ inline std::uint32_t shared_address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

__device__ inline void init_barrier(std::uint64_t* barrier) { // for one arrival per phase
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
}

__device__ inline void fence_barrier_init() { // The copy engine sees the initialized barriers.
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void fence_async_proxy() { // The threads' accesses come before the copy engine's.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// The phase ends when `bytes` have arrived.
__device__ inline void expect_bytes(std::uint64_t* barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

/// Waits for the end of the phase of this parity: 0, 1, 0, 1, ...
__device__ inline void wait_barrier(std::uint64_t* barrier, std::uint32_t parity) {
    asm volatile("{\n\t.reg .pred ended;\n"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n\t"
                 "@!ended bra again;\n\t}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

/// 16 divides both addresses and `bytes`.
__device__ inline void bulk_copy(void* shared, const void* global, std::uint32_t bytes,
                                 std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(shared)),
        "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

/// The tiles of a block, and the stages of shared memory that the copy engine loads them to. One thread, the
/// taker, takes tiles: the first ones by the block's number, and each further one when a stage is free. Not all
/// multiprocessors are equally fast.
template <unsigned int stages> struct Tiles { // stages = 0: the threads load
    static constexpr unsigned int places = stages > 0 ? stages : 2;
    std::uint64_t arrived[places];
    std::size_t tile_in[places]; ///< not below the number of tiles: there is none left
    unsigned long long turn_and_dirty;
};

/// Each round announces the sum of the block's next tile, then finishes the current one. All blocks of the grid
/// run at the same time. The block that holds the first unannounced tile waits only for announced ones, so no
/// block waits forever. Dynamic shared memory: the stages. At most one block per tile.
/// \tparam apart the output may be misplaced \tparam stages 0: the threads load
template <bool inclusive, bool apart, unsigned int threads, unsigned int vectors, unsigned int per_sm,
          unsigned int stages, class T, class Op>
__global__ void __launch_bounds__(threads, per_sm) scan_rounds(Problem<T, Op> problem, Meeting* meeting) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    constexpr bool is_bulk = stages > 0;
#else
    constexpr bool is_bulk = false; // The host launches no other one.
#endif
    constexpr unsigned int warps = threads / 32, tile_vectors = threads * vectors;
    constexpr unsigned int places = Tiles<stages>::places;
    constexpr std::size_t tile_elements = std::size_t{tile_vectors} * per_vector<T>;
    extern __shared__ __align__(128) uint4 ring[];
    __shared__ Tiles<stages> shared_tiles;
    __shared__ Shared<T, warps> shared;
    __shared__ T of_row[max_rows];
    const unsigned int warp = threadIdx.x / 32, grid = gridDim.x;
    const std::size_t whole_tiles = problem.n / tile_elements;
    const std::size_t tiles = (problem.n + tile_elements - 1) / tile_elements;
    const bool is_taker = threadIdx.x == threads - 32; // in the last warp: the first one announces
    const Op op = problem.op;

    const auto place_tile = [&](std::size_t tile, unsigned int stage) { // by the taker
        shared_tiles.tile_in[stage] = tile; // A thread that waits for the phase sees it.
        if constexpr (is_bulk) {
            const unsigned int bytes = tile < whole_tiles ? tile_vectors * sizeof(uint4) : 0;
            expect_bytes(&shared_tiles.arrived[stage], bytes);
            if (bytes > 0) {
                scan_detail::bulk_copy(&ring[stage * tile_vectors],
                                       reinterpret_cast<const uint4*>(problem.input + problem.head) +
                                           tile * tile_vectors,
                                       bytes, &shared_tiles.arrived[stage]);
            }
        }
    };
    const auto take_tile = [&](const Region& region) -> std::size_t {
        const std::size_t handed_out = std::size_t{places} * grid;
        return handed_out < tiles ? handed_out + region.word(0, 0).fetch_add(1, cuda::memory_order_relaxed)
                                  : tiles;
    };

    std::size_t taken = 0; // of the taker: the tile after those in the ring
    if (is_taker) {
        if constexpr (is_bulk) {
            for (unsigned int stage = 0; stage < stages; ++stage) {
                init_barrier(&shared_tiles.arrived[stage]);
            }
            fence_barrier_init();
        }
        for (unsigned int stage = 0; stage < places; ++stage) {
            place_tile(blockIdx.x + std::size_t{stage} * grid, stage);
        }
        shared_tiles.turn_and_dirty = Word(meeting->turn_and_dirty).load(cuda::memory_order_relaxed);
        taken = take_tile({meeting, static_cast<unsigned int>(shared_tiles.turn_and_dirty & 1)});
    }
    if (warp == 0) {
        shared.before_all = scan_head<inclusive>(problem);
    }
    if constexpr (is_bulk) {
        __syncthreads(); // No thread waits at a barrier that is not initialized.
    }

    Region region{meeting, 0};
    Known<T> known{{problem.init, true}, 0};
    Part<T, vectors> current, next;
    std::size_t tile = tiles, next_tile = blockIdx.x;
    unsigned int stage = 0, parity = 0; // The parity flips on each way around the ring.
    for (unsigned int round = 0; round == 0 || tile < tiles; ++round) {
        Announcement<T> first; // Read now, needed later.
        const std::size_t seen = (known.chunk + warp) * chunk_words + threadIdx.x % 32;
        if (round > 0 && seen < tile) {
            first.read(region, seen);
        }
        if constexpr (is_bulk) {
            wait_barrier(&shared_tiles.arrived[stage], parity); // The whole tile has arrived.
        }
        if (is_bulk || round > 0) {
            next_tile = shared_tiles.tile_in[stage];
        }
        const bool has_next = next_tile < tiles, is_whole = next_tile < whole_tiles;
        if (has_next) {
#pragma unroll
            for (unsigned int k = 0; k < vectors; ++k) {
                const unsigned int vector = first_of_part<vectors>() + 32 * k;
                next.vector[k] = is_bulk && is_whole
                                     ? ring[stage * tile_vectors + vector]
                                     : load(problem, next_tile * tile_vectors + vector, is_whole);
            }
            const T sum = scan_part(next, op);
            if (threadIdx.x % 32 == 0) {
                shared.of_warp[warp] = sum;
            }
        }
        __syncthreads(); // The sums of the warps are stored before the first warp reads them.
        if (round == 0) {
            region.turn = static_cast<unsigned int>(shared_tiles.turn_and_dirty & 1);
            zero_other(region, shared_tiles.turn_and_dirty >> 1);
        }
        if (has_next && warp == 0) {
            Prefix<T> up_to{problem.init, true};
            if (next_tile == 0) {
                up_to = shared.before_all;
            }
            append(up_to, scan_warps(shared, round % 2, op), op);
            if (threadIdx.x == 0) {
                Announcement<T>::write(region, next_tile, up_to.sum);
            }
        }
        if (is_taker) {
            if constexpr (is_bulk) {
                fence_async_proxy(); // The threads' reads come before the copy engine's writes.
            }
            place_tile(taken, stage);
            taken = take_tile(region); // It is needed after the next tile: until then the atomic is done.
        }

        if (round == 0) {
            __syncthreads(); // The first warp has read the warps' sums before they are stored anew.
        } else {
            Prefix<T> before = sum_before<warps>(region, tile, known, first, of_row, op);
            if (tile == 0) {
                before = shared.before_all;
            }
            store_prefixes<inclusive, apart>(problem, current, tile * tile_vectors + first_of_part<vectors>(),
                                             tile < whole_tiles, before, shared.up_to_warp[(round + 1) % 2]);
            // All other blocks have announced a tile: they have read whose turn it is.
            if (tile == tiles - 1 && threadIdx.x == 0) {
                const std::size_t chunks =
                    1 + (tiles + chunk_words - 1) / chunk_words * Announcement<T>::words;
                Word(meeting->turn_and_dirty)
                    .store(2 * chunks + (region.turn ^ 1), cuda::memory_order_relaxed);
            }
        }
        current = next;
        tile = next_tile;
        if (++stage == places) {
            stage = 0;
            parity ^= 1;
        }
    }
}

// ---- The host ----

/// What the choice depends on.
struct Device {
    int multiprocessors = 0, capability_major = 0, shared_bytes = 0; // shared: the most a block can have
};

inline cudaError_t current_device(Device& device) {
    int id = 0;
    const auto ask = [&](int& value, cudaDeviceAttr attribute) {
        return cudaDeviceGetAttribute(&value, attribute, id);
    };
    cudaError_t error = cudaGetDevice(&id);
    if (error == cudaSuccess) error = ask(device.multiprocessors, cudaDevAttrMultiProcessorCount);
    if (error == cudaSuccess) error = ask(device.capability_major, cudaDevAttrComputeCapabilityMajor);
    if (error == cudaSuccess) error = ask(device.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    return error;
}

template <class T, class Op>
Problem<T, Op> problem_of(const T* input, T* output, std::size_t n, Op op, T init) {
    constexpr std::size_t line = 128;
    const auto from = reinterpret_cast<std::uintptr_t>(input), to = reinterpret_cast<std::uintptr_t>(output);
    // One element is left for the body, where too few for a vector need no aligned address.
    const std::size_t head = std::min((line - from % line) % line / sizeof(T), n - 1);
    const auto misplaced = static_cast<unsigned int>((to + head * sizeof(T)) % sizeof(uint4));
    return {input, output, n - head, static_cast<unsigned int>(head), misplaced, op, init};
}

/// \param cluster blocks of a cluster; 0: no cluster, but all blocks run at the same time, or the launch fails
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), unsigned int grid, unsigned int block, unsigned int cluster,
                   std::size_t shared_bytes, cudaStream_t stream, Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    if (cluster == 0) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
    } else {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {cluster, 1, 1};
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(grid);
    config.blockDim = dim3(block);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cluster == 1 ? 0 : 1;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

template <bool inclusive, unsigned int threads, unsigned int vectors, unsigned int blocks, class T, class Op>
cudaError_t launch_cluster(const Problem<T, Op>& problem, cudaStream_t stream) {
    return launch(scan_one_cluster<inclusive, threads, vectors, blocks, T, Op>, blocks, threads, blocks, 0,
                  stream, problem);
}

template <bool inclusive, bool apart, unsigned int threads, unsigned int vectors, unsigned int per_sm,
          unsigned int stages, class T, class Op>
cudaError_t launch_rounds(const Problem<T, Op>& problem, Meeting* meeting, int multiprocessors,
                          cudaStream_t stream) {
    constexpr std::size_t tile_elements = std::size_t{threads} * vectors * per_vector<T>;
    constexpr int shared_bytes = stages * threads * vectors * sizeof(uint4);
    const auto kernel = scan_rounds<inclusive, apart, threads, vectors, per_sm, stages, T, Op>;
    const std::size_t tiles = (problem.n + tile_elements - 1) / tile_elements;
    const auto grid =
        static_cast<unsigned int>(std::min(tiles, static_cast<std::size_t>(multiprocessors) * per_sm));
    if (stages > 0) {
        const cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
        if (error != cudaSuccess) return error;
    }
    return launch(kernel, grid, threads, 0, shared_bytes, stream, problem, meeting);
}

constexpr std::size_t least_tile_vectors = 1024;            ///< of rounds
constexpr int bulk_shared_bytes = 2 * 1024 * 4 * 16 + 2048; ///< what bulk_rounds needs for a block

template <class T> std::size_t vectors_in(std::size_t n) {
    return n / per_vector<T> + (n % per_vector<T> > 0);
}

} // namespace scan_detail

/// The fastest strategy for so many vectors of 16 bytes on an H200, by measurement, among those that the
/// device has.
inline ScanStrategy choose_scan(std::size_t vectors, const scan_detail::Device& device) {
    constexpr std::size_t Ki = 1024;
    if (vectors <= 1 * Ki) return ScanStrategy::one_block;
    if (device.capability_major >= 9) {
        if (vectors <= 16 * Ki) return ScanStrategy::one_cluster;
        if (vectors >= 512 * Ki && device.shared_bytes >= scan_detail::bulk_shared_bytes)
            return ScanStrategy::bulk_rounds;
    }
    return ScanStrategy::rounds;
}

/// Queues the scan by this strategy, which the device must have.
/// \return cudaErrorInvalidValue for one_block and one_cluster of more than 1,024 and 16,384 vectors
template <bool inclusive, class T, class Op>
cudaError_t scan_by(ScanStrategy strategy, scan_detail::Meeting* meeting, const T* input, T* output,
                    std::size_t n, Op op, T init, cudaStream_t stream, const scan_detail::Device& device) {
    using namespace scan_detail;
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "whole elements fill a vector of 16 bytes, and two words announce a sum");
    static_assert(std::is_trivially_copyable<T>::value && std::is_trivially_default_constructible<T>::value,
                  "values are kept in shared memory, and copied by words");
    if (n == 0) return cudaSuccess;
    constexpr std::size_t Ki = 1024;
    const auto problem = problem_of(input, output, n, op, init);
    const std::size_t vectors = vectors_in<T>(problem.n);
    switch (strategy) {
    case ScanStrategy::one_block:
        if (vectors <= 128) return launch_cluster<inclusive, 128, 1, 1>(problem, stream);
        if (vectors <= 256) return launch_cluster<inclusive, 256, 1, 1>(problem, stream);
        if (vectors <= 1 * Ki) return launch_cluster<inclusive, 512, 2, 1>(problem, stream);
        return cudaErrorInvalidValue;
    case ScanStrategy::one_cluster:
        if (vectors <= 4 * Ki) return launch_cluster<inclusive, 512, 1, 8>(problem, stream);
        if (vectors <= 16 * Ki) return launch_cluster<inclusive, 512, 4, 8>(problem, stream);
        return cudaErrorInvalidValue;
    case ScanStrategy::rounds:
        if (vectors <= 256 * Ki)
            return launch_rounds<inclusive, true, 256, 4, 2, 0>(problem, meeting, device.multiprocessors,
                                                                stream);
        return launch_rounds<inclusive, true, 256, 8, 2, 0>(problem, meeting, device.multiprocessors, stream);
    case ScanStrategy::bulk_rounds:
        if constexpr (sizeof(T) <
                      8) { // With 1,024 threads there are few registers: too few for sums of 8 bytes.
            if (vectors >= 16 * Ki * Ki && problem.misplaced == 0)
                return launch_rounds<inclusive, false, 1024, 4, 1, 2>(problem, meeting,
                                                                      device.multiprocessors, stream);
        }
        return launch_rounds<inclusive, true, 512, 8, 1, 2>(problem, meeting, device.multiprocessors, stream);
    }
    return cudaErrorInvalidValue;
}

namespace scan_detail {

/// The workspace's first address that 256 divides.
inline Meeting* meeting_in(void* workspace) {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace);
    return reinterpret_cast<Meeting*>((address + 255) / 256 * 256);
}

template <bool inclusive, class T, class Op>
cudaError_t scan(void* workspace, std::size_t& workspace_bytes, const T* input, T* output, std::size_t n,
                 Op op, T init, cudaStream_t stream) {
    constexpr std::size_t tiles_per_chunk = least_tile_vectors * chunk_words;
    const std::size_t chunks = 2 + vectors_in<T>(n) / tiles_per_chunk;
    const std::size_t needed = 255 + 256 + 2 * 256 * chunks * Announcement<T>::words;
    if (workspace == nullptr) {
        workspace_bytes = needed;
        return cudaSuccess;
    }
    if (workspace_bytes < needed) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    Device device;
    const cudaError_t error = current_device(device);
    if (error != cudaSuccess) return error;
    const auto problem = problem_of(input, output, n, op, init);
    const ScanStrategy strategy = choose_scan(vectors_in<T>(problem.n), device);
    return scan_by<inclusive>(strategy, meeting_in(workspace), input, output, n, op, init, stream, device);
}

} // namespace scan_detail

/// Queues `output[i] = input[0] op … op input[i]` on the stream, for every i.
/// \param workspace device memory that was zeroed once, and that only these functions have used since. One that
/// is large enough for some n will do for every smaller one, and for any type of the same size or a smaller one.
/// Null: nothing is queued, and workspace_bytes becomes what is needed
/// \return cudaErrorInvalidValue when workspace_bytes is too little, and what the CUDA runtime reports
template <class T, class Op>
cudaError_t inclusive_scan(void* workspace, std::size_t& workspace_bytes, const T* input, T* output,
                           std::size_t n, Op op, cudaStream_t stream = nullptr) {
    return scan_detail::scan<true>(workspace, workspace_bytes, input, output, n, op, T{}, stream);
}

/// Queues `output[i] = init op input[0] op … op input[i - 1]` on the stream, for every i. Otherwise the same.
template <class T, class Op>
cudaError_t exclusive_scan(void* workspace, std::size_t& workspace_bytes, const T* input, T* output,
                           std::size_t n, Op op, T init, cudaStream_t stream = nullptr) {
    return scan_detail::scan<false>(workspace, workspace_bytes, input, output, n, op, init, stream);
}

} // namespace take_home
