// What the API of CUDA 12 has otherwise than CUDA 13's: structures that programs pass, functions with fewer
// arguments or another name, and some that CUDA 13 dropped.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma nv_diag_suppress 1444 // the same in nvcc
#include <cstdio>
#include <cuda_runtime.h>

int failures = 0;

void expect(bool is_so, const char* what) {
    if (!is_so) ++failures;
    if (!is_so) std::printf("api.cu: not so: %s\n", what);
}
#define EXPECT(condition) expect(condition, #condition)
#define SUCCEEDS(call) expect((call) == cudaSuccess, #call)

int main() {
    // CUDA 13 dropped eight fields, which moved all fields after them.
    cudaDeviceProp device{};
    SUCCEEDS(cudaGetDeviceProperties(&device, 0));
    const auto attribute = [](cudaDeviceAttr which) {
        int value = 0;
        SUCCEEDS(cudaDeviceGetAttribute(&value, which, 0));
        return value;
    };
    EXPECT(device.clockRate == attribute(cudaDevAttrClockRate));
    EXPECT(device.memoryClockRate == attribute(cudaDevAttrMemoryClockRate));
    EXPECT(device.singleToDoublePrecisionPerfRatio == attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio));
    EXPECT(device.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
    EXPECT(device.maxTexture3DAlt[1] == attribute(cudaDevAttrMaxTexture3DHeightAlt));
    EXPECT(device.sharedMemPerBlockOptin ==
           static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
    EXPECT(device.clusterLaunch == 1);

    // CUDA 13 added fields at the end. Written here, they would overwrite what follows.
    struct {
        cudaPointerAttributes pointer;
        long next = 7;
    } attributes;
    int on_host = 0;
    SUCCEEDS(cudaPointerGetAttributes(&attributes.pointer, &on_host));
    EXPECT(attributes.pointer.hostPointer == &on_host);
    EXPECT(attributes.next == 7);

    // Without data for the edges.
    cudaGraph_t graph{};
    cudaGraphNode_t first{}, second{}, found{};
    SUCCEEDS(cudaGraphCreate(&graph, 0));
    SUCCEEDS(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
    SUCCEEDS(cudaGraphAddEmptyNode(&second, graph, nullptr, 0));
    SUCCEEDS(cudaGraphAddDependencies(graph, &first, &second, 1));
    size_t count = 1;
    SUCCEEDS(cudaGraphNodeGetDependencies(second, &found, &count));
    EXPECT(count == 1 && found == first);
    SUCCEEDS(cudaGraphRemoveDependencies(graph, &first, &second, 1));
    SUCCEEDS(cudaGraphNodeGetDependencies(second, nullptr, &count));
    EXPECT(count == 0);
    SUCCEEDS(cudaGraphDestroy(graph));

    cudaStream_t stream{};
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* last = nullptr;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SUCCEEDS(cudaMemsetAsync(nullptr, 0, 0, stream));
    count = 7;
    SUCCEEDS(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, &count));
    EXPECT(status == cudaStreamCaptureStatusActive && count <= 1);
    SUCCEEDS(cudaStreamEndCapture(stream, &graph));

    // Hints about managed memory, for a device and for a location.
    int* managed = nullptr;
    const cudaMemLocation location{cudaMemLocationTypeDevice, 0};
    SUCCEEDS(cudaMallocManaged(&managed, 8));
    SUCCEEDS(cudaMemAdvise(managed, 8, cudaMemAdviseSetReadMostly, 0));
    SUCCEEDS(cudaMemAdvise_v2(managed, 8, cudaMemAdviseSetReadMostly, location));
    SUCCEEDS(cudaMemPrefetchAsync(managed, 8, 0));
    SUCCEEDS(cudaMemPrefetchAsync_v2(managed, 8, location, 0));
    EXPECT(cudaMemAdvise_v2(managed, 800, cudaMemAdviseSetReadMostly, location) == cudaErrorInvalidValue);
    EXPECT(cudaMemPrefetchAsync_v2(managed, 800, location, 0) == cudaErrorInvalidValue);

    // Old names.
    size_t limit = 0;
    cudaFuncCache preference{};
    SUCCEEDS(cudaThreadSetLimit(cudaLimitStackSize, 4096));
    SUCCEEDS(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    EXPECT(limit == 4096);
    limit = 0;
    SUCCEEDS(cudaThreadGetLimit(&limit, cudaLimitStackSize));
    EXPECT(limit == 4096);
    SUCCEEDS(cudaThreadSetCacheConfig(cudaFuncCachePreferL1));
    SUCCEEDS(cudaThreadGetCacheConfig(&preference));
    EXPECT(preference == cudaFuncCachePreferL1);
    double one = 1;
    SUCCEEDS(cudaSetDoubleForDevice(&one));
    SUCCEEDS(cudaSetDoubleForHost(&one));
    EXPECT(one == 1);
    SUCCEEDS(cudaThreadSynchronize());
    SUCCEEDS(cudaThreadExit());
    EXPECT(cudaFree(managed) == cudaErrorInvalidValue);

    int version = 0;
    SUCCEEDS(cudaRuntimeGetVersion(&version));
    EXPECT(version == CUDART_VERSION);
    if (failures == 0) std::printf("api.cu: all as CUDA 12 has it\n");
    return failures != 0;
}
