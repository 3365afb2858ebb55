/// \file
/// reduce(): the sum, minimum, argmax or any other reduction of n elements in device memory, and
/// reduce_rows(): one for each row of a matrix. One header without dependencies but the CUDA toolkit's.
///
/// \code
///     using Op = take_home::Sum<float>;
///     std::size_t bytes = 0;
///     take_home::reduce<Op>(nullptr, bytes, input, result, n);            // how much workspace?
///     cudaMalloc(&workspace, bytes);
///     take_home::reduce<Op>(workspace, bytes, input, result, n, stream);  // queues it, and does not wait
/// \endcode
///
/// The result has the same bits each time, of floats too: rows, columns, the size of an element and `input`'s
/// address modulo 128 decide which elements meet in which order, and the card does not. Any n, 0 included;
/// `input` may start at any element. The workspace may hold anything. Calls that share one must not overlap.
/// Needs compute capability 7.0.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace take_home {

// An operation Op has
//   Op::Value                       what is accumulated: a number, or a struct of some words
//   Op::identity()                  the value that changes no other one
//   Op::of(element, index)          the value of one element; the index within the row
//   Op()(a, b)                      two values in one: associative and commutative, but for rounding
// Elements are of any type that one of these takes: Sum<float> sums floats, and halves without rounding each
// sum to 11 bits.

/// The operations whose values are numbers like the elements.
template <class T> struct OfNumbers {
    using Value = T;
    __device__ static T of(T element, std::size_t) { return element; }
};

template <class T> struct Sum : OfNumbers<T> {
    __host__ __device__ static T identity() { return 0; }
    __device__ T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) { // Wraps around: the overflow of signed integers is undefined.
            using Unsigned = std::make_unsigned_t<T>;
            return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
        } else {
            return a + b;
        }
    }
};

/// The infinities of types that have them: no number is below the first one, or above the second.
template <class T, class Limits = std::numeric_limits<T>>
constexpr T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
template <class T, class Limits = std::numeric_limits<T>>
constexpr T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();

// NaNs are skipped: each element comes in as b, and a was the identity at first. Of NaNs alone that is the
// result.
template <class T> struct Min : OfNumbers<T> {
    __host__ __device__ static T identity() { return highest<T>; }
    __device__ T operator()(T a, T b) const {
        if constexpr (std::is_same_v<T, float>) return fminf(a, b); // one instruction
        return b < a ? b : a;
    }
};

template <class T> struct Max : OfNumbers<T> {
    __host__ __device__ static T identity() { return lowest<T>; }
    __device__ T operator()(T a, T b) const {
        if constexpr (std::is_same_v<T, float>) return fmaxf(a, b);
        return b > a ? b : a;
    }
};

/// An element, and where it was found.
template <class T> struct Found {
    T value;
    long long index;
};

/// The largest element and its index; of several the one with the lowest index.
template <class T> struct ArgMax {
    using Value = Found<T>;
    __host__ __device__ static Value identity() { return {lowest<T>, highest<long long>}; }
    __device__ static Value of(T element, std::size_t index) {
        return {element, static_cast<long long>(index)};
    }
    __device__ Value operator()(Value a, Value b) const {
        return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
    }
};

/// How the threads that share a row meet. Which one is fastest depends on the shape: see choose_reduce().
enum class ReduceStrategy {
    lanes,        ///< by shuffles: up to 32 threads per row
    one_block,    ///< in shared memory
    one_cluster,  ///< 8 blocks per row, in distributed shared memory: compute capability 9.0
    two_launches, ///< in global memory: the second launch reduces what the blocks of the first one leave
};

/// Threads and blocks decide which elements meet in which order: one_cluster and two_launches with as many of
/// both give the same bits.
struct ReducePlan {
    ReduceStrategy strategy;
    unsigned int threads; ///< per block; of `lanes`: per row
    unsigned int blocks;  ///< per row
};

namespace reduce_detail {

/// One row in three parts: up to an address that `alignment` divides, whole vectors of 16 bytes, and less
/// than one vector past them.
/// \tparam Index counts elements: with 32 bits, where they are enough, it takes fewer instructions
template <class T, class Index> struct Parts {
    static constexpr unsigned int width = 16 / sizeof(T); // elements in a vector
    static_assert(16 % sizeof(T) == 0, "whole elements in a vector");

    const uint4* body;
    Index head, vectors, tail; ///< tail: where it begins

    __device__ Parts(const T* row, Index columns, unsigned int alignment) {
        const auto misplaced = static_cast<unsigned int>(reinterpret_cast<std::uintptr_t>(row)) % alignment;
        const Index to_boundary = (alignment - misplaced) % alignment / sizeof(T);
        head = to_boundary < columns ? to_boundary : columns;
        body = reinterpret_cast<const uint4*>(row + head);
        vectors = (columns - head) / width;
        tail = head + width * vectors;
        asm("" : "+l"(body)); // Keeps the compiler from computing it anew for each load.
    }
};

/// `value` with `width` elements, the first of which has this index.
template <class Op, class T, unsigned int width>
__device__ typename Op::Value take(Op op, typename Op::Value value, const T (&elements)[width],
                                   std::size_t index) {
#pragma unroll
    for (unsigned int j = 0; j < width; ++j) {
        value = op(value, Op::of(elements[j], index + j));
    }
    return value;
}

/// Of one vector's elements the indices differ by less than its width: they are compared and chosen as small
/// numbers.
template <class A, class T, unsigned int width>
__device__ Found<A> take(ArgMax<A> op, Found<A> value, const T (&elements)[width], std::size_t index) {
    A most = elements[0];
    unsigned int at = 0;
#pragma unroll
    for (unsigned int j = 1; j < width; ++j) {
        const A element = elements[j];
        if (element > most || most != most) { // more, or the first one that is no NaN
            most = element;
            at = j;
        }
    }
    return op(value, op.of(most, index + at));
}

/// What thread number `thread` of `threads` takes of a row. `loads` vectors are in flight at a time, each
/// with its own guard.
template <class Op, unsigned int loads, class Index, class T>
__device__ typename Op::Value reduce_share(const T* row, Index columns, Index thread, Index threads,
                                           unsigned int alignment) {
    const Parts<T, Index> parts(row, columns, alignment);
    typename Op::Value value = Op::identity();
#pragma unroll 1
    for (Index i = thread; i < parts.vectors; i += loads * threads) {
        uint4 vectors[loads];
#pragma unroll
        for (unsigned int k = 0; k < loads; ++k) {
            if (i + k * threads < parts.vectors) vectors[k] = parts.body[i + k * threads];
        }
#pragma unroll
        for (unsigned int k = 0; k < loads; ++k) {
            const Index at = i + k * threads;
            if (at < parts.vectors) {
                T elements[Parts<T, Index>::width];
                std::memcpy(elements, &vectors[k], sizeof elements);
                value = reduce_detail::take(Op(), value, elements,
                                            parts.head + std::size_t{Parts<T, Index>::width} * at);
            }
        }
    }
#pragma unroll 1 // Short code: what is executed once has to be fetched, too.
    for (Index i = thread; i < parts.head; i += threads) {
        value = Op()(value, Op::of(row[i], i));
    }
    if (parts.tail + thread < columns) { // Fewer are left than there are threads.
        value = Op()(value, Op::of(row[parts.tail + thread], parts.tail + thread));
    }
    return value;
}

/// The same of a row of at most loads x threads elements, each with its own load: there is nothing to align.
template <class Op, unsigned int loads, class T>
__device__ typename Op::Value reduce_few(const T* row, unsigned int columns, unsigned int thread,
                                         unsigned int threads) {
    T elements[loads];
#pragma unroll
    for (unsigned int k = 0; k < loads; ++k) {
        if (thread + k * threads < columns) elements[k] = row[thread + k * threads];
    }
    typename Op::Value value = Op::identity();
#pragma unroll
    for (unsigned int k = 0; k < loads; ++k) {
        const unsigned int i = thread + k * threads;
        if (i < columns) value = Op()(value, Op::of(elements[k], i));
    }
    return value;
}

constexpr unsigned int all_lanes = 0xffffffff;

/// __shfl_down_sync for any value, word by word. All lanes of the warp take part.
template <class Value> __device__ Value shuffle_down(Value value, unsigned int distance) {
    unsigned int words[(sizeof(Value) + 3) / 4] = {};
    std::memcpy(words, &value, sizeof value);
    for (unsigned int& word : words) {
        word = __shfl_down_sync(all_lanes, word, distance);
    }
    std::memcpy(&value, words, sizeof value);
    return value;
}

/// The value of each group of `lanes` lanes, a power of two, in its first one.
template <class Op> __device__ typename Op::Value reduce_lanes(typename Op::Value value, unsigned int lanes) {
#pragma unroll(sizeof(typename Op::Value) > 8 ? 1 : 5) // A larger value takes more instructions to fetch.
    for (unsigned int distance = lanes / 2; distance > 0; distance /= 2) {
        value = Op()(value, reduce_detail::shuffle_down(value, distance));
    }
    return value;
}

/// The warp's value, in its first lane. One instruction does it for integers of 32 bits.
template <class Op> __device__ typename Op::Value reduce_warp(typename Op::Value value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using Value = typename Op::Value;
    if constexpr (std::is_same_v<Value, int> || std::is_same_v<Value, unsigned int>) {
        if constexpr (std::is_base_of_v<Sum<Value>, Op>) return __reduce_add_sync(all_lanes, value);
        if constexpr (std::is_base_of_v<Min<Value>, Op>) return __reduce_min_sync(all_lanes, value);
        if constexpr (std::is_base_of_v<Max<Value>, Op>) return __reduce_max_sync(all_lanes, value);
    }
#endif
    return reduce_detail::reduce_lanes<Op>(value, 32);
}

/// The block's value, in thread 0. To be called once in a kernel, by whole warps.
template <class Op> __device__ typename Op::Value reduce_block(typename Op::Value value) {
    __shared__ typename Op::Value warp_values[32];
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    value = reduce_detail::reduce_warp<Op>(value);
    if (lane == 0) {
        warp_values[warp] = value;
    }
    __syncthreads(); // Every warp's value is stored before the first warp reads it.
    if (warp == 0) {
        value = reduce_detail::reduce_warp<Op>(lane < blockDim.x / 32 ? warp_values[lane] : Op::identity());
    }
    return value;
}

/// blockDim.x / lanes rows per block, each by a group of a warp's lanes. A row has at most 8 x lanes
/// elements, or `lanes` is 32.
template <class Op, class T>
__global__ void __launch_bounds__(256)
    lanes_per_row(const T* input, typename Op::Value* results, std::size_t rows, unsigned int columns,
                  unsigned int lanes) {
    const std::size_t row = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / lanes;
    const unsigned int lane = threadIdx.x % lanes;
    const T* const first = input + row * columns;
    typename Op::Value value = Op::identity();
    if (row < rows) { // Lanes without a row shuffle, too.
        value = lanes < 32 ? reduce_detail::reduce_few<Op, 8>(first, columns, lane, lanes)
                           : reduce_detail::reduce_share<Op, 4>(first, columns, lane, lanes, 16);
    }
    value = reduce_detail::reduce_lanes<Op>(value, lanes);
    if (row < rows && lane == 0) {
        results[row] = value;
    }
}

/// A block per row of at most loads x blockDim.x elements. It may be launched before the launch before it has
/// ended, and then waits for what that one stores.
template <class Op, unsigned int loads, class T>
__global__ void __launch_bounds__(1024)
    block_per_short_row(const T* input, typename Op::Value* results, unsigned int columns) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    const T* const row = input + std::size_t{blockIdx.x} * columns;
    const auto value = reduce_detail::reduce_block<Op>(
        reduce_detail::reduce_few<Op, loads>(row, columns, threadIdx.x, blockDim.x));
    if (threadIdx.x == 0) {
        results[blockIdx.x] = value;
    }
}

/// gridDim.y blocks per row, each of which leaves a value. \tparam block_size the most threads in a block
template <class Op, unsigned int block_size, unsigned int blocks_per_sm, unsigned int loads, class Index,
          class T>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    blocks_per_row(const T* input, typename Op::Value* values, Index columns) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion(); // The next launch may start, if it waits for this one's values.
#endif
    const T* const row = input + std::size_t{blockIdx.x} * columns;
    const auto value = reduce_detail::reduce_block<Op>(reduce_detail::reduce_share<Op, loads, Index>(
        row, columns, Index{blockIdx.y} * blockDim.x + threadIdx.x, Index{gridDim.y} * blockDim.x, 128));
    if (threadIdx.x == 0) {
        values[std::size_t{blockIdx.x} * gridDim.y + blockIdx.y] = value;
    }
}

/// The operation once more, on values that it left.
template <class Op> struct Again : Op {
    __device__ static typename Op::Value of(typename Op::Value value, std::size_t) { return value; }
};

constexpr unsigned int cluster_blocks = 8;    // Every device with clusters has those of 8 blocks.
constexpr unsigned int resident_blocks = 264; // two for each multiprocessor of an H100

/// A cluster per row. Each block writes its value to the first block's shared memory.
template <class Op, class T>
__global__ void __launch_bounds__(1024)
    cluster_per_row(const T* input, typename Op::Value* results, unsigned int columns) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __shared__ typename Op::Value block_values[cluster_blocks];
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const unsigned int rank = cluster.block_rank(), row = blockIdx.x / cluster_blocks;

    // No order is needed yet, so the arrival is relaxed. barrier_arrive() would release, at the price of a
    // fence.
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    auto value = reduce_detail::reduce_block<Op>(reduce_detail::reduce_share<Op, 4>(
        input + std::size_t{row} * columns, columns, rank * blockDim.x + threadIdx.x,
        cluster_blocks * blockDim.x, 128));
    // Every block has started: the first one's shared memory can be written.
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        *cluster.map_shared_rank(&block_values[rank], 0) = value;
    }
    cluster.sync(); // Every block's value is stored before the first block reads it.

    if (rank == 0 && threadIdx.x < 32) {
        value = reduce_detail::reduce_warp<Op>(threadIdx.x < cluster_blocks ? block_values[threadIdx.x]
                                                                            : Op::identity());
        if (threadIdx.x == 0) {
            results[row] = value;
        }
    }
#endif
}

/// Queues a launch. \param attribute null: an ordinary one
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), std::size_t rows, unsigned int blocks, unsigned int threads,
                   cudaStream_t stream, cudaLaunchAttribute* attribute, Arguments... arguments) {
    if (rows > std::numeric_limits<int>::max()) return cudaErrorInvalidValue;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned int>(rows), blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = attribute;
    config.numAttrs = attribute != nullptr;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

/// Whether this kernel was compiled for compute capability 9.0 or more, which the device then has.
template <class Kernel> cudaError_t is_for_9_0(Kernel* kernel, bool& is) {
    cudaFuncAttributes attributes{};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    is = attributes.ptxVersion >= 90;
    return error;
}

/// The smallest power of two that is not below `count`, between two others.
inline unsigned int power_of_two(std::size_t count, unsigned int least, unsigned int most) {
    unsigned int power = least;
    while (power < most && power < count) power *= 2;
    return power;
}

} // namespace reduce_detail

/// The fastest plan on an H100 and an H200, by measurement. It depends on nothing but the shape.
inline ReducePlan choose_reduce(std::size_t rows, std::size_t columns, std::size_t element_bytes) {
    using reduce_detail::power_of_two, reduce_detail::resident_blocks;
    constexpr std::size_t Ki = 1024, Mi = 1024 * Ki;
    const std::size_t bytes = columns * element_bytes, vectors = bytes / 16;
    const bool is_long = columns >= std::size_t{1} << 31; // Only two launches count with 64 bits.
    if (columns <= 64 || (columns <= Ki && rows >= Ki)) {
        return {ReduceStrategy::lanes, power_of_two((columns + 7) / 8, 1, 32), 1};
    }
    if (columns <= 2 * Ki) {
        return {ReduceStrategy::one_block, power_of_two((columns + 3) / 4, 64, 512), 1};
    }
    if ((columns <= 16 * Ki && bytes <= 64 * Ki) || (rows >= 128 && !is_long)) {
        return {ReduceStrategy::one_block, power_of_two((vectors + 3) / 4, 64, rows >= 256 ? 256 : 1024), 1};
    }
    if ((columns <= 128 * Ki && bytes <= 512 * Ki) || (rows >= 16 && !is_long)) {
        return {ReduceStrategy::one_cluster, bytes <= 256 * Ki ? 512u : 1024u, reduce_detail::cluster_blocks};
    }
    // One block for each of 132 multiprocessors, then two, which are all resident. A long row has 32 for
    // each: not all multiprocessors are equally fast, and one that is done early gets another block.
    const std::size_t few = std::min<std::size_t>((vectors + Ki - 1) / Ki, resident_blocks / 2);
    const std::size_t most = bytes < 512 * Mi ? resident_blocks : 16 * resident_blocks;
    const std::size_t blocks = std::max(few, std::min((vectors + 2 * Ki - 1) / (2 * Ki), most));
    return {ReduceStrategy::two_launches, 512, static_cast<unsigned int>(blocks)};
}

/// Queues the reductions by this plan.
/// \param values room for rows x plan.blocks, if these blocks are more than one
template <class Op, class T>
cudaError_t reduce_by(ReducePlan plan, typename Op::Value* values, const T* input,
                      typename Op::Value* results, std::size_t rows, std::size_t columns,
                      cudaStream_t stream) {
    using namespace reduce_detail;
    const bool is_short = columns < std::size_t{1} << 31;
    if (plan.strategy != ReduceStrategy::two_launches && !is_short) return cudaErrorInvalidValue;
    if (plan.blocks > 8 * 1024) return cudaErrorInvalidValue; // one block reduces their values
    switch (plan.strategy) {
    case ReduceStrategy::lanes:
        return launch(lanes_per_row<Op, T>, (rows * plan.threads + 255) / 256, 1, 256, stream, nullptr, input,
                      results, rows, columns, plan.threads);
    case ReduceStrategy::one_block:
        if (columns <= 4 * plan.threads)
            return launch(block_per_short_row<Op, 4, T>, rows, 1, plan.threads, stream, nullptr, input,
                          results, columns);
        return launch(blocks_per_row<Op, 1024, 1, 4, unsigned int, T>, rows, 1, plan.threads, stream, nullptr,
                      input, results, columns);
    case ReduceStrategy::one_cluster: {
        bool is_there = false;
        const cudaError_t error = is_for_9_0(cluster_per_row<Op, T>, is_there);
        if (error != cudaSuccess) return error;
        if (!is_there) break;
        cudaLaunchAttribute cluster{};
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim = {cluster_blocks, 1, 1};
        return launch(cluster_per_row<Op, T>, rows * cluster_blocks, 1, plan.threads, stream, &cluster, input,
                      results, columns);
    }
    case ReduceStrategy::two_launches: break;
    }

    // Also in place of a cluster: as many values, in the same order.
    using Value = typename Op::Value;
    const auto second = block_per_short_row<Again<Op>, 8, Value>;
    bool can_wait = false;
    cudaError_t error = is_for_9_0(second, can_wait);
    if (error != cudaSuccess) return error;
    if (is_short && plan.blocks <= resident_blocks) {
        error = launch(blocks_per_row<Op, 1024, 1, 4, unsigned int, T>, rows, plan.blocks, plan.threads,
                       stream, nullptr, input, values, columns);
    } else { // more bytes in flight
        error = launch(blocks_per_row<Op, 512, 2, 8, std::size_t, T>, rows, plan.blocks, plan.threads, stream,
                       nullptr, input, values, columns);
    }
    if (error != cudaSuccess) return error;
    cudaLaunchAttribute early{}; // Without it, the second launch would start when the first one has ended.
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    return launch(second, rows, 1, power_of_two((plan.blocks + 1) / 2, 32, 1024), stream,
                  can_wait ? &early : nullptr, static_cast<const Value*>(values), results, plan.blocks);
}

/// Queues `results[r] = the reduction of the `columns` elements from input[r * columns] on`, for each row.
/// \param workspace device memory; null: nothing is queued, and workspace_bytes becomes what is needed
/// \return cudaErrorInvalidValue when workspace_bytes is too little, and what the CUDA runtime reports
template <class Op, class T>
cudaError_t reduce_rows(void* workspace, std::size_t& workspace_bytes, const T* input,
                        typename Op::Value* results, std::size_t rows, std::size_t columns,
                        cudaStream_t stream = nullptr) {
    using Value = typename Op::Value;
    const ReducePlan plan = choose_reduce(rows, columns, sizeof(T));
    const std::size_t values = plan.blocks > 1 ? rows * plan.blocks : 0;
    const std::size_t needed = values * sizeof(Value) + alignof(Value); // wherever the workspace starts
    if (workspace == nullptr) {
        workspace_bytes = needed;
        return cudaSuccess;
    }
    if (workspace_bytes < needed) return cudaErrorInvalidValue;
    if (rows == 0) return cudaSuccess;
    const auto address = reinterpret_cast<std::uintptr_t>(workspace);
    auto* const first =
        reinterpret_cast<Value*>((address + alignof(Value) - 1) / alignof(Value) * alignof(Value));
    return reduce_by<Op>(plan, first, input, results, rows, columns, stream);
}

/// Queues `*result = the reduction of input[0], …, input[n - 1]`. The rest is as for reduce_rows().
template <class Op, class T>
cudaError_t reduce(void* workspace, std::size_t& workspace_bytes, const T* input, typename Op::Value* result,
                   std::size_t n, cudaStream_t stream = nullptr) {
    return reduce_rows<Op>(workspace, workspace_bytes, input, result, 1, n, stream);
}

} // namespace take_home
