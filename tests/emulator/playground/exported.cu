// Launches for `emulate --export`: what a page must have to run them as they ran. Each test names what it
// needs.
//   exported           the launches below, in this order
//   exported wrong     one with something for three checkers
//   exported malloc, registered, large, many   one that no page can run, or too much of it

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

struct Scale {
    char first;
    double factor;
};

} // namespace

__constant__ int weights[8];
__device__ int launches_before;
__device__ int* chosen = &launches_before; // its address is an initial value

/// Follows pointers in memory: each block sums up an array of its own, whose length decides what it costs.
__global__ void sum_rows(int* const* rows, const int* lengths, Scale scale, double* sums) {
    if (threadIdx.x == 0) atomicAdd(chosen, 1);
    double sum = 0;
    for (int i = threadIdx.x; i < lengths[blockIdx.x] + weights[0]; i += blockDim.x)
        sum += rows[blockIdx.x][i] * weights[i % 8];
    for (int stride = 16; stride > 0; stride /= 2) sum += __shfl_down_sync(~0u, sum, stride);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum * scale.factor;
}

/// Costs what the launch before has left in a variable, which a pointer of the host's leads to.
__global__ void as_often_as_launched(const int* const* launches, const double* sums, int* result) {
    extern __shared__ int shared[];
    for (int k = 0; k < **launches; ++k) shared[k * blockDim.x + threadIdx.x] = static_cast<int>(sums[0]) + k;
    __syncthreads();
    result[threadIdx.x] = shared[threadIdx.x];
}

/// Reads elements that nobody wrote, writes one past the end, and races.
__global__ void wrong(const int* half_written, int* short_by_one) {
    volatile __shared__ int last;
    last = half_written[threadIdx.x];
    short_by_one[threadIdx.x] = last;
}

/// Reads structs whose padding nobody wrote: no error.
__global__ void copy_padded(const Scale* from, Scale* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void write_padded(Scale* to) {
    to[threadIdx.x].first = 1;
    to[threadIdx.x].factor = 2;
}

__global__ void in_step(int* counts) {
    counts[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0) counts[threadIdx.x] += counts[blockDim.x + threadIdx.x];
}

__global__ void __cluster_dims__(2) neighbors(int* result) {
    __shared__ int own;
    const auto cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) own = static_cast<int>(cluster.block_rank());
    cluster.sync();
    if (threadIdx.x == 0) result[blockIdx.x] = *cluster.map_shared_rank(&own, cluster.block_rank() ^ 1);
    cluster.sync();
}

__global__ void allocate(int** place) { *place = new int(5); }

namespace {

void launch_wrong() {
    int *half_written = nullptr, *short_by_one = nullptr;
    check(cudaMalloc(&half_written, 64 * sizeof(int)));
    check(cudaMemset(half_written, 0, 32 * sizeof(int)));
    check(cudaMalloc(&short_by_one, 63 * sizeof(int)));
    wrong<<<1, 64>>>(half_written, short_by_one);
}

template <class T> T* device_array(const std::vector<T>& values) {
    T* array = nullptr;
    check(cudaMalloc(&array, values.size() * sizeof(T)));
    check(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

void launch_all() {
    std::vector<int> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::vector<int> lengths{1000, 333, 7};
    std::vector<int*> rows;
    for (const int length : lengths)
        rows.push_back(device_array(std::vector<int>(numbers.begin(), numbers.begin() + length)));
    const int some_weights[8] = {-100, 2, 3, -4, 5, -6, 7, -8};
    check(cudaMemcpyToSymbol(weights, some_weights, sizeof some_weights));
    double* sums = nullptr;
    check(cudaMallocManaged(&sums, 3 * sizeof *sums));
    sum_rows<<<3, 32>>>(device_array(rows), device_array(lengths), {'x', 0.5}, sums);
    check(cudaDeviceSynchronize());
    sums[0] = 17;         // without a call
    int* freed = nullptr; // its address is not used again
    check(cudaMalloc(&freed, 5000));
    check(cudaFree(freed));
    int* result = nullptr;
    check(cudaMalloc(&result, 64 * sizeof *result));
    int* launches = nullptr;
    check(cudaGetSymbolAddress(reinterpret_cast<void**>(&launches), launches_before));
    as_often_as_launched<<<1, 64, 64 * 3 * sizeof(int)>>>(device_array(std::vector<const int*>{launches}),
                                                          sums, result);

    Scale *padded = nullptr, *copy = nullptr;
    check(cudaMalloc(&padded, 32 * sizeof(Scale)));
    check(cudaMalloc(&copy, 32 * sizeof(Scale)));
    write_padded<<<1, 32>>>(padded);
    copy_padded<<<1, 32>>>(padded, copy);

    int* counts = device_array(std::vector<int>(128));
    void* arguments[] = {&counts};
    check(cudaLaunchCooperativeKernel(in_step, 2, 64, arguments));
    neighbors<<<4, 32>>>(counts);

    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamCreate(&stream));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    copy_padded<<<1, 16, 0, stream>>>(padded, copy);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphLaunch(executable, stream));
    check(cudaDeviceSynchronize());
}

} // namespace

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "";
    int* memory = nullptr;
    if (std::strcmp(what, "wrong") == 0) {
        launch_wrong();
    } else if (std::strcmp(what, "malloc") == 0) {
        int** place = nullptr;
        check(cudaMalloc(&place, sizeof *place));
        allocate<<<1, 1>>>(place);
    } else if (std::strcmp(what, "registered") == 0) {
        static int host[1024];
        check(cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
        neighbors<<<4, 32>>>(host);
    } else if (std::strcmp(what, "large") == 0) {
        std::vector<int> numbers(10'000'000);
        std::iota(numbers.begin(), numbers.end(), 0);
        neighbors<<<4, 32>>>(device_array(numbers));
    } else if (std::strcmp(what, "many") == 0) {
        check(cudaMalloc(&memory, 4 * sizeof *memory));
        for (int k = 0; k < 101; ++k) neighbors<<<4, 32>>>(memory);
    } else {
        launch_all();
    }
    check(cudaDeviceSynchronize());
    return 0;
}
