// What the API of CUDA 12 has otherwise than CUDA 13's: structures that programs pass, and functions with
// fewer arguments.
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

    int version = 0;
    SUCCEEDS(cudaRuntimeGetVersion(&version));
    EXPECT(version == CUDART_VERSION);
    if (failures == 0) std::printf("api.cu: all as CUDA 12 has it\n");
    return failures != 0;
}
