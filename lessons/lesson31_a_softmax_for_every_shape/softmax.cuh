/// \file
/// softmax(): the softmax of each row of a matrix of float or __half, as one header without dependencies but the
/// CUDA toolkit's.
///
/// \code
///     std::size_t bytes = 0;
///     take_home::softmax(nullptr, bytes, input, output, rows, columns);  // how much workspace?
///     cudaMalloc(&workspace, bytes);                                     // only the longest rows need any
///     take_home::softmax(workspace, bytes, input, output, rows, columns, stream);  // queues, and does not wait
/// \endcode
///
/// Any shape. A row follows the one before without a gap; `input` and `output` may start at any element, and may
/// be the same. An element of -inf becomes 0. A row with NaN or +inf, or of nothing but -inf, becomes NaN
/// throughout. If `logsumexp` is not null, logsumexp[row] becomes the logarithm of the row's sum of exp(element):
/// what log-softmax subtracts. Needs compute capability 7.0.
///
/// Relative to the softmax, a float's error is below (80 + 10 d) * 2^-24 where the finite elements of a row of up to
/// 262,144 lie at most d apart; most are far better. A half adds its own rounding. Floats below the smallest normal
/// one may be 0.
#pragma once

#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace take_home {

namespace softmax_detail { // Other headers to take home have functions of the same names.

/// Who shares a row. Which unit is fastest depends on the row's length: see choose().
enum class Unit {
    thread,  ///< a thread has several rows: a vector of 16 bytes holds them
    lanes,   ///< a part of a warp, or all of it
    block,   ///< the warps meet in shared memory
    cluster, ///< the blocks meet in distributed shared memory: compute capability 9.0
    grid,    ///< two launches: blocks meet in the workspace, and the row is read twice
};

constexpr unsigned int all_lanes = 0xffffffff;
/// What a thread keeps in registers, at most. By measurement: 8 vectors of floats, or 4 of halves.
constexpr unsigned int elements_per_thread = 32;
template <class T> constexpr unsigned int vector_width = 16 / sizeof(T);
constexpr unsigned int max_cluster = 8; ///< blocks: every device with clusters has those

template <class T> struct Matrix {
    const T* input;
    T* output;
    float* logsumexp; ///< or null
    std::size_t rows, columns;
};

/// A part of a row: its maximum, and the sum of exp(element - max) over its elements. One access moves it.
struct alignas(8) Part {
    float max, sum;
};

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__half value) { return __half2float(value); }
__device__ inline void from_float(float value, float& to) { to = value; }
__device__ inline void from_float(float value, __half& to) { to = __float2half_rn(value); }

/// exp(value - max), in three instructions. Below the smallest normal float it is 0.
__device__ inline float exp_below(float value, float max) {
    constexpr float log2_of_e = 1.442695041f;
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"((value - max) * log2_of_e));
    return result;
}

/// What to subtract: the maximum. Without a finite element it is 0, as -inf - -inf would be NaN.
__device__ inline float subtrahend(float max) { return max == -INFINITY ? 0 : max; }

/// By which a sum relative to `from` becomes one relative to `to`. A part without a finite element weighs nothing.
__device__ inline float weight(float from, float to) { return from == -INFINITY ? 0 : exp_below(from, to); }

/// Over each group of so many neighboring lanes, in every lane.
template <unsigned int lanes> __device__ float max_over(float value) {
#pragma unroll
    for (unsigned int distance = lanes / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(all_lanes, value, distance));
    }
    return value;
}

template <unsigned int lanes> __device__ float sum_over(float value) {
#pragma unroll
    for (unsigned int distance = lanes / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(all_lanes, value, distance);
    }
    return value;
}

template <unsigned int lanes> __device__ Part merge_over(Part part) {
    const float max = max_over<lanes>(part.max);
    return {max, sum_over<lanes>(part.sum * weight(part.max, max))};
}

/// A row, or a piece of one: a head up to an address that a vector may have, whole vectors, and a tail.
template <class T> struct Row {
    const T* input;
    T* output;
    unsigned int head, vectors, tail;
};

/// \param edges whether there can be a head or a tail; without, `input` is aligned and `columns` divisible
template <unsigned int width, bool edges, class T>
__device__ Row<T> split(const T* input, T* output, unsigned int columns) {
    if constexpr (!edges) {
        return {input, output, 0, columns / width, 0};
    } else {
        const auto misplaced = static_cast<unsigned int>(reinterpret_cast<std::uintptr_t>(input) / sizeof(T));
        const unsigned int to_vector = (width - misplaced % width) % width;
        const unsigned int head = to_vector < columns ? to_vector : columns;
        return {input, output, head, (columns - head) / width, (columns - head) % width};
    }
}

/// A row's elements that one of its threads has, in registers: every `members`-th vector, and with edges at most
/// one element of head and tail. What lies past the row is -inf, which changes neither maximum nor sum.
template <class T, unsigned int width, unsigned int vectors, bool edges> class Share {
public:
    __device__ void load(const Row<T>& row, unsigned int member, unsigned int members) {
        edge_ = -INFINITY;
        if constexpr (edges) {
            const unsigned int at = edge_of(row, member, members);
            if (at != none) edge_ = to_float(row.input[at]);
        }
        const auto* from = reinterpret_cast<const Vector*>(row.input + row.head);
#pragma unroll
        for (unsigned int k = 0; k < vectors; ++k) {
            const unsigned int i = member + k * members;
            if (i < row.vectors) {
                const Vector vector = from[i];
#pragma unroll
                for (unsigned int e = 0; e < width; ++e) {
                    values_[k][e] = to_float(vector.of[e]);
                }
            } else {
#pragma unroll
                for (unsigned int e = 0; e < width; ++e) {
                    values_[k][e] = -INFINITY;
                }
            }
        }
    }

    __device__ float max() const {
        float result = edge_;
#pragma unroll
        for (unsigned int i = 0; i < vectors * width; ++i) {
            result = fmaxf(result, values_[i / width][i % width]);
        }
        return result;
    }

    /// Each element becomes exp(element - max). Returns their sum.
    __device__ float exponentiate(float max) {
        const float subtracted = subtrahend(max);
        float sum = 0;
        if constexpr (edges) sum = edge_ = exp_below(edge_, subtracted);
#pragma unroll
        for (unsigned int i = 0; i < vectors * width; ++i) {
            float& value = values_[i / width][i % width];
            value = exp_below(value, subtracted);
            sum += value;
        }
        return sum;
    }

    __device__ void store(const Row<T>& row, unsigned int member, unsigned int members, float scale) const {
        if constexpr (edges) {
            const unsigned int at = edge_of(row, member, members);
            if (at != none) from_float(edge_ * scale, row.output[at]);
        }
        auto* to = reinterpret_cast<Vector*>(row.output + row.head);
#pragma unroll
        for (unsigned int k = 0; k < vectors; ++k) {
            const unsigned int i = member + k * members;
            Vector vector;
#pragma unroll
            for (unsigned int e = 0; e < width; ++e) {
                from_float(values_[k][e] * scale, vector.of[e]);
            }
            if (i < row.vectors) to[i] = vector;
        }
    }

private:
    struct alignas(sizeof(T) * width) Vector {
        T of[width];
    };
    static constexpr unsigned int none = ~0u;

    /// The first threads have the head, the last ones the tail. There are at least 2 * (width - 1).
    __device__ static unsigned int edge_of(const Row<T>& row, unsigned int member, unsigned int members) {
        if (member < row.head) return member;
        const unsigned int from_end = members - member; // 1 is the row's last element
        return from_end <= row.tail ? row.head + row.vectors * width + row.tail - from_end : none;
    }

    float values_[vectors][width], edge_;
};

/// The part of the whole block, in every thread. To be called once in a kernel. `part`: of this warp
__device__ inline Part merge_block(Part part) {
    __shared__ Part of_warps[32];
    const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) {
        of_warps[warp] = part;
    }
    __syncthreads(); // Every warp's part is stored before a warp loads it.
    // Each warp does this for itself, so that every thread has the result without another barrier.
    return merge_over<32>(lane < blockDim.x / 32 ? of_warps[lane] : Part{-INFINITY, 0});
}

/// Rows that a vector holds several of. The thread past the last whole vector has the rows that are left.
template <class T, unsigned int columns, unsigned int block_size>
__global__ void __launch_bounds__(block_size) rows_by_thread(Matrix<T> matrix) {
    constexpr unsigned int width = vector_width<T>;
    static_assert(width % columns == 0, "no row crosses the end of a vector");
    const std::size_t n = matrix.rows * columns;
    const std::size_t first = (std::size_t{blockIdx.x} * block_size + threadIdx.x) * width;
    if (first >= n) return;
    const bool is_whole = n - first >= width;
    const auto count = is_whole ? width : static_cast<unsigned int>(n - first);

    struct alignas(16) Vector {
        T of[width];
    } vector{};
    if (is_whole) {
        vector = *reinterpret_cast<const Vector*>(matrix.input + first);
    } else {
#pragma unroll
        for (unsigned int i = 0; i < width; ++i) {
            if (i < count) vector.of[i] = matrix.input[first + i];
        }
    }
#pragma unroll
    for (unsigned int begin = 0; begin < width; begin += columns) {
        float values[columns], sum = 0, max = -INFINITY;
#pragma unroll
        for (unsigned int col = 0; col < columns; ++col) {
            values[col] = to_float(vector.of[begin + col]);
            max = fmaxf(max, values[col]);
        }
        const float subtracted = subtrahend(max);
#pragma unroll
        for (unsigned int col = 0; col < columns; ++col) {
            values[col] = exp_below(values[col], subtracted);
            sum += values[col];
        }
#pragma unroll
        for (unsigned int col = 0; col < columns; ++col) {
            from_float(values[col] * (1 / sum), vector.of[begin + col]);
        }
        if (matrix.logsumexp != nullptr && begin < count) {
            matrix.logsumexp[(first + begin) / columns] = max + logf(sum);
        }
    }
    if (is_whole) {
        *reinterpret_cast<Vector*>(matrix.output + first) = vector;
    } else {
#pragma unroll
        for (unsigned int i = 0; i < width; ++i) {
            if (i < count) matrix.output[first + i] = vector.of[i];
        }
    }
}

/// A power of two of lanes per row: a part of a warp, or all of it. columns <= lanes * vectors * width.
template <class T, unsigned int width, unsigned int lanes, unsigned int vectors, bool edges,
          unsigned int block_size>
__global__ void __launch_bounds__(block_size) rows_by_lanes(Matrix<T> matrix, unsigned int columns) {
    static_assert(lanes <= 32 && (!edges || lanes >= 2 * (width - 1)),
                  "a lane for each element of the edges");
    const std::size_t row = (std::size_t{blockIdx.x} * block_size + threadIdx.x) / lanes;
    const unsigned int lane = threadIdx.x % lanes;
    const bool is_row = row < matrix.rows; // The lanes past the last row shuffle, too.
    const std::size_t first = row * columns;
    const Row<T> mine =
        split<width, edges>(matrix.input + first, matrix.output + first, is_row ? columns : 0);

    Share<T, width, vectors, edges> share;
    share.load(mine, lane, lanes);
    const float max = max_over<lanes>(share.max());
    const float sum = sum_over<lanes>(share.exponentiate(max));
    share.store(mine, lane, lanes, 1 / sum);
    if (matrix.logsumexp != nullptr && is_row && lane == 0) {
        matrix.logsumexp[row] = max + logf(sum);
    }
}

/// A block per row, or a cluster of up to 8. columns <= 32 * blockDim.x * blocks.
/// \param blocks of a cluster
template <class T, unsigned int width>
__global__ void __launch_bounds__(1024)
    rows_by_block(Matrix<T> matrix, unsigned int columns, unsigned int blocks) {
    constexpr bool edges = width > 1;
    const std::size_t row = blockIdx.x / blocks, first = row * columns;
    const unsigned int rank = blockIdx.x % blocks;
    const unsigned int member = rank * blockDim.x + threadIdx.x, members = blocks * blockDim.x;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    // No order is needed yet, so the arrival is relaxed.
    if (blocks > 1) asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif

    const Row<T> mine = split<width, edges>(matrix.input + first, matrix.output + first, columns);
    Share<T, width, elements_per_thread / width, edges> share;
    share.load(mine, member, members);
    const float warp_max = max_over<32>(share.max());
    Part part = {warp_max, sum_over<32>(share.exponentiate(warp_max))};
    part = merge_block(part);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (blocks > 1) {
        __shared__ Part of_blocks[max_cluster];
        const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
        // Every block has started: its shared memory can be written.
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
        if (threadIdx.x < blocks) {
            *cluster.map_shared_rank(&of_blocks[rank], threadIdx.x) = part;
        }
        cluster.sync(); // Every block's part is stored before a block loads it.
        const unsigned int lane = threadIdx.x % max_cluster;
        part = merge_over<max_cluster>(lane < blocks ? of_blocks[lane] : Part{-INFINITY, 0});
    }
#endif
    // What this warp has is relative to the warp's maximum.
    share.store(mine, member, members, weight(warp_max, part.max) / part.sum);
    if (matrix.logsumexp != nullptr && member == 0) {
        matrix.logsumexp[row] = part.max + logf(part.sum);
    }
}

/// A long row in pieces. Block b of a row has the pieces b, b + blocks, ...
struct Pieces {
    unsigned int blocks; ///< per row
    std::size_t pieces;  ///< per row
};
constexpr unsigned int grid_block_size = 256, piece_columns = grid_block_size * elements_per_thread;

template <unsigned int width, class T>
__device__ Row<T> piece_of(const Matrix<T>& matrix, std::size_t row, std::size_t piece) {
    const std::size_t begin = piece * piece_columns, left = matrix.columns - begin;
    const std::size_t first = row * matrix.columns + begin;
    const auto columns = static_cast<unsigned int>(left < piece_columns ? left : piece_columns);
    return split<width, (width > 1)>(matrix.input + first, matrix.output + first, columns);
}

/// The first of two launches: each block's part of its row. \param parts one per block
template <class T, unsigned int width>
__global__ void __launch_bounds__(grid_block_size)
    parts_of_rows(Matrix<T> matrix, Pieces pieces, Part* parts) {
    Part part = {-INFINITY, 0};
    for (std::size_t piece = blockIdx.x % pieces.blocks; piece < pieces.pieces; piece += pieces.blocks) {
        Share<T, width, elements_per_thread / width, (width > 1)> share;
        share.load(piece_of<width>(matrix, blockIdx.x / pieces.blocks, piece), threadIdx.x, grid_block_size);
        const float max = fmaxf(part.max, share.max());
        part.sum *= weight(part.max, max);
        part = {max, part.sum + share.exponentiate(max)};
    }
    part = merge_block(merge_over<32>(part));
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
    }
}

/// The second launch, in the opposite order: what the first one has read last is still in the L2 cache.
template <class T, unsigned int width>
__global__ void __launch_bounds__(grid_block_size)
    quotients_of_rows(Matrix<T> matrix, Pieces pieces, const Part* parts) {
    const unsigned int block = gridDim.x - 1 - blockIdx.x, rank = block % pieces.blocks;
    const std::size_t row = block / pieces.blocks;
    Part part = {-INFINITY, 0};
    for (unsigned int i = threadIdx.x; i < pieces.blocks; i += grid_block_size) {
        const Part other = parts[row * pieces.blocks + i];
        const float max = fmaxf(part.max, other.max);
        part = {max, part.sum * weight(part.max, max) + other.sum * weight(other.max, max)};
    }
    part = merge_block(merge_over<32>(part));
    if (matrix.logsumexp != nullptr && rank == 0 && threadIdx.x == 0) {
        matrix.logsumexp[row] = part.max + logf(part.sum);
    }

    const std::size_t mine = (pieces.pieces - rank + pieces.blocks - 1) / pieces.blocks;
    for (std::size_t i = mine; i > 0; --i) {
        const Row<T> piece = piece_of<width>(matrix, row, rank + (i - 1) * pieces.blocks);
        Share<T, width, elements_per_thread / width, (width > 1)> share;
        share.load(piece, threadIdx.x, grid_block_size);
        share.exponentiate(part.max);
        share.store(piece, threadIdx.x, grid_block_size, 1 / part.sum);
    }
}

/// What the choice depends on.
struct Device {
    int multiprocessors = 0, capability_major = 0;
};

inline cudaError_t current_device(Device& device) {
    int id = 0;
    cudaError_t error = cudaGetDevice(&id);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device.multiprocessors, cudaDevAttrMultiProcessorCount, id);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device.capability_major, cudaDevAttrComputeCapabilityMajor, id);
    return error;
}

inline std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// A grid that is too large is an error of the launch.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), std::size_t grid, unsigned int block, unsigned int cluster,
                   cudaStream_t stream, Arguments... arguments) {
    if (grid > 0x7fffffff) return cudaErrorInvalidValue;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned int>(grid));
    config.blockDim = dim3(block);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cluster > 1 ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/// Where rows start, for vectors of 16 bytes.
enum class Placement {
    aligned,  ///< all at an address that a vector may have
    alike,    ///< a row of the output is as far from such an address as its row of the input
    different ///< no vector of the output fits one of the input
};

template <class T> Placement placement_of(const Matrix<T>& matrix) {
    const std::uintptr_t input = reinterpret_cast<std::uintptr_t>(matrix.input) % 16;
    const std::uintptr_t output = reinterpret_cast<std::uintptr_t>(matrix.output) % 16;
    if (input != output) return Placement::different;
    return input == 0 && matrix.columns % vector_width<T> == 0 ? Placement::aligned : Placement::alike;
}

template <class T, unsigned int columns>
cudaError_t launch_threads(const Matrix<T>& matrix, cudaStream_t stream) {
    constexpr unsigned int block = 256;
    const std::size_t grid = ceil_div(matrix.rows, block * vector_width<T> / columns);
    return launch(rows_by_thread<T, columns, block>, grid, block, 1, stream, matrix);
}

template <class T, unsigned int width, unsigned int lanes, unsigned int vectors, bool edges>
cudaError_t launch_lanes(const Matrix<T>& matrix, cudaStream_t stream) {
    constexpr unsigned int block = 128;
    return launch(rows_by_lanes<T, width, lanes, vectors, edges, block>, ceil_div(matrix.rows, block / lanes),
                  block, 1, stream, matrix, static_cast<unsigned int>(matrix.columns));
}

/// By measurement: more lanes for longer rows, and more vectors per lane for the longest.
template <class T> cudaError_t softmax_by_lanes(const Matrix<T>& matrix, cudaStream_t stream) {
    constexpr unsigned int width = vector_width<T>, most = 1024 / 32 / width;
    const std::size_t columns = matrix.columns, vectors = ceil_div(columns, width);
    const Placement placement = placement_of(matrix);
    if (placement == Placement::aligned) {
        if (vectors <= 1) return launch_lanes<T, width, 1, 1, false>(matrix, stream);
        if (vectors <= 2) return launch_lanes<T, width, 2, 1, false>(matrix, stream);
        if (vectors <= 4) return launch_lanes<T, width, 4, 1, false>(matrix, stream);
        if (vectors <= 8) return launch_lanes<T, width, 8, 1, false>(matrix, stream);
        if (vectors <= 16) return launch_lanes<T, width, 8, 2, false>(matrix, stream);
        if (vectors <= 32) return launch_lanes<T, width, 16, 2, false>(matrix, stream);
        if (vectors <= 64) return launch_lanes<T, width, 16, 4, false>(matrix, stream);
        if (vectors <= 128) return launch_lanes<T, width, 32, 4, false>(matrix, stream);
        return launch_lanes<T, width, 32, most, false>(matrix, stream);
    }
    // Rows of a few elements that lie anywhere have hardly a whole vector.
    if (columns <= 4) return launch_lanes<T, 1, 1, 4, false>(matrix, stream);
    if (columns <= 8) return launch_lanes<T, 1, 2, 4, false>(matrix, stream);
    if (columns <= 16) return launch_lanes<T, 1, 4, 4, false>(matrix, stream);
    if (columns <= 32) return launch_lanes<T, 1, 8, 4, false>(matrix, stream);
    if (placement == Placement::different) return launch_lanes<T, 1, 32, 32, false>(matrix, stream);
    if (vectors <= 16) return launch_lanes<T, width, 16, 1, true>(matrix, stream);
    if (vectors <= 32) return launch_lanes<T, width, 16, 2, true>(matrix, stream);
    if (vectors <= 64) return launch_lanes<T, width, 32, 2, true>(matrix, stream);
    if (vectors <= 128) return launch_lanes<T, width, 32, 4, true>(matrix, stream);
    return launch_lanes<T, width, 32, most, true>(matrix, stream);
}

/// As few threads as hold the row. \param blocks per row
template <unsigned int width, class T>
cudaError_t softmax_by_blocks(const Matrix<T>& matrix, unsigned int blocks, cudaStream_t stream) {
    const std::size_t warps = ceil_div(matrix.columns, std::size_t{32} * elements_per_thread * blocks);
    return launch(rows_by_block<T, width>, matrix.rows * blocks, static_cast<unsigned int>(32 * warps),
                  blocks, stream, matrix, static_cast<unsigned int>(matrix.columns), blocks);
}

template <class T> Pieces pieces_of(const Matrix<T>& matrix, const Device& device) {
    const std::size_t pieces = ceil_div(matrix.columns, piece_columns);
    const std::size_t wanted = ceil_div(std::size_t{8} * device.multiprocessors, matrix.rows);
    return {static_cast<unsigned int>(std::min(pieces, wanted)), pieces};
}

template <unsigned int width, class T>
cudaError_t softmax_by_grid(const Matrix<T>& matrix, Part* parts, cudaStream_t stream, const Device& device) {
    const Pieces pieces = pieces_of(matrix, device);
    const std::size_t grid = matrix.rows * pieces.blocks;
    const cudaError_t error =
        launch(parts_of_rows<T, width>, grid, grid_block_size, 1, stream, matrix, pieces, parts);
    if (error != cudaSuccess) return error;
    return launch(quotients_of_rows<T, width>, grid, grid_block_size, 1, stream, matrix, pieces, parts);
}

/// Whether a unit can have this matrix.
template <class T> bool fits(Unit unit, const Matrix<T>& matrix, const Device& device) {
    switch (unit) {
    case Unit::thread: {
        const bool aligned = reinterpret_cast<std::uintptr_t>(matrix.input) % 16 == 0 &&
                             reinterpret_cast<std::uintptr_t>(matrix.output) % 16 == 0;
        return aligned &&
               (matrix.columns == 1 || matrix.columns == 2 || (matrix.columns == 4 && vector_width<T> > 4));
    }
    case Unit::lanes: return matrix.columns <= 1024;
    case Unit::block: return matrix.columns <= 32 * 1024;
    case Unit::cluster: return matrix.columns <= 256 * 1024 && device.capability_major >= 9;
    case Unit::grid: return true;
    }
    return false;
}

/// The fastest unit on an H100, by measurement, among those that fit.
template <class T> Unit choose(const Matrix<T>& matrix, const Device& device) {
    for (const Unit unit : {Unit::thread, Unit::lanes}) {
        if (fits(unit, matrix, device)) return unit;
    }
    // Beyond this, blocks are so large that a multiprocessor holds few of them: they load and store in turn.
    if (matrix.columns <= 16 * 1024) return Unit::block;
    if (fits(Unit::cluster, matrix, device)) return Unit::cluster;
    return fits(Unit::block, matrix, device) ? Unit::block : Unit::grid;
}

/// Where the parts of long rows are: the workspace's first address that 8 divides.
inline Part* parts_in(void* workspace) {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace);
    return reinterpret_cast<Part*>((address + 7) / 8 * 8);
}

template <unsigned int width, class T>
cudaError_t softmax_of_long_rows(Unit unit, void* workspace, const Matrix<T>& matrix, cudaStream_t stream,
                                 const Device& device) {
    if (unit == Unit::grid) return softmax_by_grid<width>(matrix, parts_in(workspace), stream, device);
    if (unit == Unit::block) return softmax_by_blocks<width>(matrix, 1, stream);
    const std::size_t blocks = std::clamp<std::size_t>(ceil_div(matrix.columns, 8 * 1024), 2, max_cluster);
    return softmax_by_blocks<width>(matrix, static_cast<unsigned int>(blocks), stream);
}

/// \param workspace for Unit::grid
/// \return cudaErrorInvalidValue if the unit cannot have this matrix
template <class T>
cudaError_t softmax_by(Unit unit, void* workspace, const Matrix<T>& matrix, cudaStream_t stream,
                       const Device& device) {
    if (!fits(unit, matrix, device)) return cudaErrorInvalidValue;
    switch (unit) {
    case Unit::thread:
        if (matrix.columns == 1) return launch_threads<T, 1>(matrix, stream);
        if (matrix.columns == 2) return launch_threads<T, 2>(matrix, stream);
        return launch_threads<T, 4>(matrix, stream);
    case Unit::lanes: return softmax_by_lanes(matrix, stream);
    default: break;
    }
    if (placement_of(matrix) == Placement::different)
        return softmax_of_long_rows<1>(unit, workspace, matrix, stream, device);
    return softmax_of_long_rows<vector_width<T>>(unit, workspace, matrix, stream, device);
}

template <class T> std::size_t workspace_bytes_of(const Matrix<T>& matrix, const Device& device) {
    return matrix.rows * pieces_of(matrix, device).blocks * sizeof(Part) + 7; // wherever the workspace starts
}

} // namespace softmax_detail

/// Queues the softmax of each row on the stream.
/// \tparam T float or __half
/// \param workspace device memory; null: nothing is queued, and workspace_bytes becomes what is needed
/// \param logsumexp one float per row, or null
/// \return cudaErrorInvalidValue when workspace_bytes is too little, and what the CUDA runtime reports
template <class T>
cudaError_t softmax(void* workspace, std::size_t& workspace_bytes, const T* input, T* output,
                    std::size_t rows, std::size_t columns, cudaStream_t stream = nullptr,
                    float* logsumexp = nullptr) {
    const softmax_detail::Matrix<T> matrix = {input, output, logsumexp, rows, columns};
    const bool is_empty = rows == 0 || columns == 0;
    softmax_detail::Device device;
    const cudaError_t error = softmax_detail::current_device(device);
    if (error != cudaSuccess) return error;
    const softmax_detail::Unit unit =
        is_empty ? softmax_detail::Unit::thread : softmax_detail::choose(matrix, device);
    const std::size_t needed =
        unit == softmax_detail::Unit::grid ? softmax_detail::workspace_bytes_of(matrix, device) : 1;
    if (workspace == nullptr) {
        workspace_bytes = needed;
        return cudaSuccess;
    }
    if (workspace_bytes < needed) return cudaErrorInvalidValue;
    return is_empty ? cudaSuccess : softmax_detail::softmax_by(unit, workspace, matrix, stream, device);
}

} // namespace take_home
