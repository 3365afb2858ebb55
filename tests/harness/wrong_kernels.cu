#include "wrong_kernels.hpp"

#include "../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "harness/launch_size.hpp"

using harness::Pass;

/// Sums only blocks that are full.
__global__ void drops_the_tail(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;

    shared[tid] = first + blockDim.x <= n ? input[first + tid] : 0; // wrong
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) shared[tid] += shared[tid + stride];
        __syncthreads();
    }
    if (tid == 0) partial_sums[blockIdx.x] = shared[0];
}

/// Reads sums that other warps may not have stored yet.
__global__ void lacks_a_barrier(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    // The last warps are late, so that the result is wrong on every device.
    int value = i < n ? input[i] : 0;
    for (unsigned int round = 0; round < 64 * (tid / 32); ++round)
        value = __shfl_xor_sync(0xFFFFFFFF, value, 0);
    shared[tid] = value;
    // wrong: no __syncthreads()

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) shared[tid] += shared[tid + stride];
        __syncthreads();
    }
    if (tid == 0) partial_sums[blockIdx.x] = shared[0];
}

/// Its last block forgets to write.
__global__ void leaves_one_out(const int* input, int* partial_sums, std::size_t n) {
    extern __shared__ int shared[];
    const unsigned int tid = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;

    shared[tid] = i < n ? input[i] : 0;
    __syncthreads();

    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) shared[tid] += shared[tid + stride];
        __syncthreads();
    }
    if (tid == 0 && (blockIdx.x + 1 < gridDim.x || gridDim.x == 1))
        partial_sums[blockIdx.x] = shared[0]; // wrong
}

static __device__ const int* first_input;
static __device__ std::size_t first_n;

/// Its first pass leaves all work to the last one, which then repairs the partial sums of the first.
__global__ void sums_in_the_last_pass(const int* input, int* partial_sums, std::size_t n) {
    if (threadIdx.x != 0) return;
    if (gridDim.x > 1) {
        first_input = input;
        first_n = n;
        partial_sums[blockIdx.x] = 0;
        return;
    }
    int total = 0;
    for (std::size_t first = 0; first < first_n; first += blockDim.x) {
        int sum = 0;
        for (std::size_t i = first; i < first + blockDim.x && i < first_n; ++i) sum += first_input[i];
        const_cast<int*>(input)[first / blockDim.x] = sum;
        total += sum;
    }
    partial_sums[0] = total;
}

/// Adds the elements of one block of data to its first, in place. Right once, but wrong on its own output.
__global__ void sums_in_place(int* data, std::size_t n) {
    if (threadIdx.x != 0) return;
    for (std::size_t i = 1; i < n; ++i) data[0] += data[i];
}

/// Not wrong, if its input is restored before each launch.
__global__ void sums_its_block_in_place(int* data, int* partial_sums, std::size_t n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    if (threadIdx.x != 0) return;
    for (std::size_t i = first + 1; i < first + blockDim.x && i < n; ++i) data[first] += data[i];
    partial_sums[blockIdx.x] = data[first];
}

/// Writes where nobody allocated.
__global__ void writes_out_of_bounds(int* data, std::size_t far) { data[far] = 1; }

template <auto kernel> static void launch(const Pass& pass) {
    kernel<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
}
void launch_reduce2(const Pass& pass) { launch<reduce2>(pass); }
void launch_drops_the_tail(const Pass& pass) { launch<drops_the_tail>(pass); }
void launch_lacks_a_barrier(const Pass& pass) { launch<lacks_a_barrier>(pass); }
void launch_leaves_one_out(const Pass& pass) { launch<leaves_one_out>(pass); }
void launch_sums_in_the_last_pass(const Pass& pass) {
    sums_in_the_last_pass<<<pass.grid, pass.block>>>(pass.input, pass.partial_sums, pass.n);
}
void launch_sums_its_block_in_place(const Pass& pass) {
    sums_its_block_in_place<<<pass.grid, pass.block>>>(pass.work, pass.partial_sums, pass.n);
}
void launch_sums_in_place(int* data, std::size_t n) { sums_in_place<<<1, 32>>>(data, n); }
void launch_writes_out_of_bounds(int* data, std::size_t far) { writes_out_of_bounds<<<1, 1>>>(data, far); }

unsigned int resident_blocks_of_reduce2(unsigned int block, std::size_t shared_bytes) {
    return harness::resident_blocks(reduce2, block, shared_bytes);
}
