/// \file
/// sum(): the sum of n ints in device memory, as one header without dependencies but the CUDA toolkit's.
///
/// \code
///     std::size_t bytes = 0;
///     take_home::sum(nullptr, bytes, input, result, n);            // how much workspace?
///     cudaMalloc(&workspace, bytes);
///     take_home::sum(workspace, bytes, input, result, n, stream);  // queues the sum, and does not wait
/// \endcode
///
/// The sum wraps around as unsigned arithmetic does. Any n, 0 included; `input` may start at any int. All
/// work goes to one stream: calls that share a workspace must not overlap. Needs compute capability 7.0.
#pragma once

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace take_home {

/// How the blocks of a sum meet, or how they load. Which one is fastest depends on n: see choose().
enum class Strategy {
    one_block,   ///< no other block to meet
    one_cluster, ///< in distributed shared memory: compute capability 9.0
    one_launch,  ///< at a word of global memory
    bulk_copies, ///< the same, and the copy engine loads: compute capability 9.0
};

/// What the caller knows about the workspace.
enum class Workspace {
    any,   ///< nothing: sum() zeroes it where it needs to
    zeros, ///< it is zero, since it was zeroed once and only sum() has used it since: each call leaves zeros
};

namespace detail {

/// The input in three parts: the head up to an address that 128 divides, whole vectors, and up to three ints
/// past the last one. A 16-byte load needs an address that 16 divides. The memory's unit is the line of 128
/// bytes: a body that starts within one costs a fifth sector for every four that the copy engine fetches.
struct Parts {
    const int* input;
    const int4* body;
    std::size_t vectors;
    unsigned int head, tail;
};

inline Parts split(const int* input, std::size_t n) {
    constexpr std::size_t line = 128 / sizeof(int);
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(input) / sizeof(int) % line;
    const std::size_t head = std::min((line - misplaced) % line, n);
    return {input, reinterpret_cast<const int4*>(input + head), (n - head) / 4,
            static_cast<unsigned int>(head), static_cast<unsigned int>((n - head) % 4)};
}

__device__ inline int sum_of_four(int4 four) { return four.x + four.y + four.z + four.w; }

/// Head and tail, an int each for the grid's first threads.
__device__ inline int sum_of_edges(const Parts& parts) {
    int sum = 0;
    if (blockIdx.x == 0 && threadIdx.x < parts.head) {
        sum += parts.input[threadIdx.x];
    }
    if (blockIdx.x == 0 && threadIdx.x < parts.tail) {
        sum += reinterpret_cast<const int*>(parts.body + parts.vectors)[threadIdx.x];
    }
    return sum;
}

/// This thread's part. `loads` of them are in flight at a time, each with its own guard.
/// \tparam Index counts vectors: where 32 bits hold them, it takes fewer instructions to
template <unsigned int loads, class Index> __device__ int sum_of_thread(const Parts& parts) {
    const Index threads = Index{gridDim.x} * blockDim.x, vectors = static_cast<Index>(parts.vectors);
    int sum = sum_of_edges(parts);
    for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += loads * threads) {
        int4 four[loads];
#pragma unroll
        for (unsigned int k = 0; k < loads; ++k) {
            const Index at = i + k * threads;
            four[k] = at < vectors ? parts.body[at] : make_int4(0, 0, 0, 0);
        }
#pragma unroll
        for (unsigned int k = 0; k < loads; ++k) {
            sum += detail::sum_of_four(four[k]);
        }
    }
    return sum;
}

__device__ inline int sum_of_warp(int sum) {
    constexpr unsigned int all_lanes = 0xffffffff;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, sum);
#else
    for (unsigned int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
    }
    return sum;
#endif
}

/// The sum over the block, in every lane of its first warp. To be called once in a kernel.
template <unsigned int block_size> __device__ int sum_of_block(int sum) {
    constexpr unsigned int warps = block_size / 32;
    static_assert(block_size % 32 == 0 && warps <= 32, "whole warps, and one warp can sum what they leave");
    __shared__ int warp_sums[warps];
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    sum = sum_of_warp(sum);
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads(); // Every warp's sum is stored before the first warp reads it.
    if (warp == 0) {
        sum = sum_of_warp(lane < warps ? warp_sums[lane] : 0);
    }
    return sum;
}

/// Where the blocks of a grid meet, in global memory. Zero before a launch, and zero again after it.
struct Meeting {
    unsigned long long
        sum_and_count; ///< the sum of the blocks that are done, and in the lower half their number
    unsigned long long tiles_taken; ///< of bulk copies: those that were not handed out from the start
};

using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;

/// One atomic per block adds its sum and counts it. The block that finds all others counted has the complete
/// sum in its hand. \param order relaxed, where the blocks share nothing but this word: then no fence is
/// needed
__device__ inline void meet(int sum, int* result, Meeting* meeting, cuda::memory_order order) {
    if (threadIdx.x == 0) {
        const auto mine = (static_cast<unsigned long long>(static_cast<unsigned int>(sum)) << 32) + 1;
        const unsigned long long all = Word(meeting->sum_and_count).fetch_add(mine, order) + mine;
        if (static_cast<unsigned int>(all) == gridDim.x) {
            *result = static_cast<int>(all >> 32);
            // Atomic, as a plain store would race with the other blocks' atomics.
            Word(meeting->sum_and_count).store(0, cuda::memory_order_relaxed);
            if (order != cuda::memory_order_relaxed) {
                meeting->tiles_taken = 0; // Every block has taken its tiles before.
            }
        }
    }
}

/// n <= block_size * loads: all loads are in flight at once. Plain ints: there is nothing to align.
template <unsigned int block_size, unsigned int loads>
__global__ void __launch_bounds__(block_size) sum_one_block(const int* input, int* result, unsigned int n) {
    int sum = 0;
#pragma unroll
    for (unsigned int k = 0; k < loads; ++k) {
        const unsigned int i = threadIdx.x + k * block_size;
        if (i < n) {
            sum += input[i];
        }
    }
    sum = sum_of_block<block_size>(sum);
    if (threadIdx.x == 0) {
        *result = sum;
    }
}

/// One cluster, the whole grid. Each block writes its sum to the first block's shared memory. Fewer
/// than 2^31 vectors.
template <unsigned int block_size, unsigned int blocks, unsigned int loads>
__global__ void __launch_bounds__(block_size) sum_one_cluster(Parts parts, int* result) {
    static_assert(blocks <= 8, "every device with clusters has those of up to 8 blocks");
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __shared__ int block_sums[blocks];
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const unsigned int rank = cluster.block_rank();

    // No order is needed yet, so the arrival is relaxed. barrier_arrive() would release, at the price of a
    // fence.
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    int sum = sum_of_block<block_size>(sum_of_thread<loads, unsigned int>(parts));
    // Every block has started: the first one's shared memory can be written.
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        *cluster.map_shared_rank(&block_sums[rank], 0) = sum;
    }
    cluster.sync(); // Every block's sum is stored before the first block reads it.

    if (rank == 0 && threadIdx.x < 32) {
        sum = sum_of_warp(threadIdx.x < blocks ? block_sums[threadIdx.x] : 0);
        if (threadIdx.x == 0) {
            *result = sum;
        }
    }
#endif
}

/// Any grid of at most 2^32 - 1 blocks.
template <unsigned int block_size, unsigned int blocks_per_sm, unsigned int loads>
__global__ void __launch_bounds__(block_size, blocks_per_sm)
    sum_one_launch(Parts parts, int* result, Meeting* meeting) {
    meet(sum_of_block<block_size>(sum_of_thread<loads, std::size_t>(parts)), result, meeting,
         cuda::memory_order_relaxed);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// One PTX instruction each, but for the wait.

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
#endif

inline constexpr unsigned int max_stages = 8;

/// A ring of stages in shared memory that the copy engine fills: bytes in flight without registers. A block
/// takes its first tiles by its number, and each further one when it has summed one: not all multiprocessors
/// are equally fast. Dynamic shared memory: stages * stage_vectors vectors.
template <unsigned int block_size, unsigned int stage_vectors>
__global__ void __launch_bounds__(block_size)
    sum_bulk_copies(Parts parts, int* result, Meeting* meeting, unsigned int stages) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    // The copy engine writes lines of 128 bytes. A ring that starts within one is slower.
    extern __shared__ __align__(128) int4 ring[];
    __shared__ std::uint64_t arrived[max_stages];
    __shared__ unsigned int vectors_in[max_stages]; // 0: there is no tile left
    const std::size_t tiles = (parts.vectors + stage_vectors - 1) / stage_vectors;

    const auto copy_tile = [&](std::size_t tile, unsigned int stage) { // by the first thread
        const std::size_t first = tile * stage_vectors, left = tile < tiles ? parts.vectors - first : 0;
        const unsigned int count = left < stage_vectors ? static_cast<unsigned int>(left) : stage_vectors;
        vectors_in[stage] = count; // A thread that waits for the phase sees it: the arrival comes after it.
        expect_bytes(&arrived[stage], count * sizeof(int4));
        if (count > 0) {
            detail::bulk_copy(&ring[stage * stage_vectors], &parts.body[first], count * sizeof(int4),
                              &arrived[stage]);
        }
    };
    const auto take_tile = [&] {
        return std::size_t{stages} * gridDim.x +
               Word(meeting->tiles_taken).fetch_add(1, cuda::memory_order_relaxed);
    };

    std::size_t next = 0; // of the first thread: the tile after those in the ring
    if (threadIdx.x == 0) {
#pragma unroll 1 // Short code: what is executed once has to be fetched, too.
        for (unsigned int stage = 0; stage < stages; ++stage) {
            init_barrier(&arrived[stage]);
        }
        fence_barrier_init();
#pragma unroll 1
        for (unsigned int stage = 0; stage < stages; ++stage) {
            copy_tile(blockIdx.x + std::size_t{stage} * gridDim.x, stage);
        }
        next = take_tile();
    }
    __syncthreads(); // No thread waits at a barrier that is not initialized.

    int sum = sum_of_edges(parts);
    unsigned int stage = 0, parity = 0; // The parity flips on each way around the ring.
    while (true) {
        wait_barrier(&arrived[stage], parity); // The whole tile has arrived.
        const unsigned int count = vectors_in[stage];
        if (count == 0) {
            break; // A block's tiles come in order: the further stages are empty, too.
        }
#pragma unroll 4
        for (unsigned int i = threadIdx.x; i < count; i += block_size) {
            sum += detail::sum_of_four(ring[stage * stage_vectors + i]);
        }
        __syncthreads(); // Every thread has read the stage before it is filled anew.
        if (threadIdx.x == 0) {
            fence_async_proxy(); // The threads' reads come before the copy engine's writes.
            copy_tile(next, stage);
            next = take_tile(); // It is needed after the next tile: until then the atomic is done.
        }
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
    // Released and acquired: no block takes a tile after the last one has reset their number.
    meet(sum_of_block<block_size>(sum), result, meeting, cuda::memory_order_acq_rel);
#endif
}

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

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), unsigned int grid, unsigned int block, unsigned int cluster,
                   std::size_t shared_bytes, cudaStream_t stream, Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(grid);
    config.blockDim = dim3(block);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cluster > 1 ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

inline unsigned int min_blocks(std::size_t blocks, int most) {
    return static_cast<unsigned int>(std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(most)));
}

} // namespace detail

/// The fastest strategy for n on an H200, by measurement, among those that the device has.
inline Strategy choose(std::size_t n, Workspace workspace, const detail::Device& device) {
    constexpr std::size_t Ki = 1024, Mi = 1024 * Ki;
    if (n <= 8 * Ki) return Strategy::one_block;
    if (device.capability_major >= 9) {
        // A cluster needs no zeroed word: it is ahead of one launch by what zeroing takes.
        if (workspace == Workspace::any && n <= 128 * Ki) return Strategy::one_cluster;
        // With less shared memory than 200 KiB for a block, too few bytes are in flight.
        if (n >= 256 * Mi && device.shared_bytes >= 200 * 1024) return Strategy::bulk_copies;
    }
    return Strategy::one_launch;
}

/// Queues the sum by this strategy, which the device must have.
/// \return cudaErrorInvalidValue for one_block and n > 2^13, for one_cluster and n > 2^33
inline cudaError_t sum_by(Strategy strategy, detail::Meeting* meeting, const int* input, int* result,
                          std::size_t n, cudaStream_t stream, Workspace state, const detail::Device& device) {
    using namespace detail;
    const Parts parts = split(input, n);
    const bool meets = strategy == Strategy::one_launch || strategy == Strategy::bulk_copies;
    if (meets && state == Workspace::any) {
        const bool takes_tiles = strategy == Strategy::bulk_copies;
        const std::size_t used = takes_tiles ? sizeof(*meeting) : sizeof(meeting->sum_and_count);
        const cudaError_t error = cudaMemsetAsync(meeting, 0, used, stream);
        if (error != cudaSuccess) return error;
    }

    switch (strategy) {
    case Strategy::one_block: {
        const auto count = static_cast<unsigned int>(n);
        if (n <= 256 * 4) return launch(sum_one_block<256, 4>, 1, 256, 1, 0, stream, input, result, count);
        if (n <= 512 * 4) return launch(sum_one_block<512, 4>, 1, 512, 1, 0, stream, input, result, count);
        if (n <= 1024 * 4) return launch(sum_one_block<1024, 4>, 1, 1024, 1, 0, stream, input, result, count);
        if (n <= 1024 * 8) return launch(sum_one_block<1024, 8>, 1, 1024, 1, 0, stream, input, result, count);
        return cudaErrorInvalidValue;
    }
    case Strategy::one_cluster:
        if (parts.vectors >= std::size_t{1} << 31) return cudaErrorInvalidValue;
        if (n <= std::size_t{64} * 1024)
            return launch(sum_one_cluster<512, 8, 4>, 8, 512, 8, 0, stream, parts, result);
        return launch(sum_one_cluster<1024, 8, 4>, 8, 1024, 8, 0, stream, parts, result);
    case Strategy::one_launch: {
        // A multiprocessor holds four blocks. A long sum has eight times as many: not all multiprocessors
        // are equally fast, and one that is done early gets another block.
        const int blocks_per_sm = n < (std::size_t{1} << 25) ? 4 : 32;
        const unsigned int grid =
            min_blocks((parts.vectors + 511) / 512, blocks_per_sm * device.multiprocessors);
        return launch(sum_one_launch<512, 4, 4>, grid, 512, 1, 0, stream, parts, result, meeting);
    }
    case Strategy::bulk_copies: {
        // 192 KiB in flight per multiprocessor. If a block cannot have so much, there are fewer stages.
        constexpr unsigned int stage_vectors = 4096, stages_wanted = 3;
        constexpr std::size_t stage_bytes = stage_vectors * sizeof(int4), static_bytes = 1024;
        const std::size_t fit = (static_cast<std::size_t>(device.shared_bytes) - static_bytes) / stage_bytes;
        const auto stages = static_cast<unsigned int>(std::min<std::size_t>(fit, stages_wanted));
        if (fit == 0) return cudaErrorInvalidValue;
        const unsigned int grid =
            min_blocks((parts.vectors + stage_vectors - 1) / stage_vectors, device.multiprocessors);
        const auto kernel = sum_bulk_copies<256, stage_vectors>;
        const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                       static_cast<int>(stages * stage_bytes));
        if (error != cudaSuccess) return error;
        return launch(kernel, grid, 256, 1, stages * stage_bytes, stream, parts, result, meeting, stages);
    }
    }
    return cudaErrorInvalidValue;
}

/// The workspace's first address that 8 divides.
inline detail::Meeting* meeting_in(void* workspace) {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace);
    return reinterpret_cast<detail::Meeting*>((address + 7) / 8 * 8);
}

/// Queues `*result = input[0] + … + input[n - 1]` on the stream.
/// \param workspace device memory; null: nothing is queued, and workspace_bytes becomes what is needed
/// \return cudaErrorInvalidValue when workspace_bytes is too little, and what the CUDA runtime reports
inline cudaError_t sum(void* workspace, std::size_t& workspace_bytes, const int* input, int* result,
                       std::size_t n, cudaStream_t stream = nullptr, Workspace state = Workspace::any) {
    constexpr std::size_t needed = sizeof(detail::Meeting) + 7; // wherever the workspace starts
    if (workspace == nullptr) {
        workspace_bytes = needed;
        return cudaSuccess;
    }
    if (workspace_bytes < needed) return cudaErrorInvalidValue;
    detail::Device device;
    const cudaError_t error = detail::current_device(device);
    if (error != cudaSuccess) return error;
    return sum_by(choose(n, state, device), meeting_in(workspace), input, result, n, stream, state, device);
}

} // namespace take_home
