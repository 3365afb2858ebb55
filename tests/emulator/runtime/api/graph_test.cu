// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well. Graphs, captured and
// built.

#include "cuda_test.hpp"

#include <thread>

#if CUDART_VERSION < 13000 // where the names without a number take no data for the edges
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#endif

namespace {

__global__ void add(int* values, int n, int summand) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += summand;
}

__device__ int summands[2];
__global__ void add_summand(int* value) { *value += summands[1]; }

class Stream {
public:
    explicit Stream(unsigned int flags = cudaStreamNonBlocking) {
        EXPECT_CUDA(cudaStreamCreateWithFlags(&stream_, flags));
    }
    ~Stream() { cudaStreamDestroy(stream_); }
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

class Event {
public:
    explicit Event(unsigned int flags = cudaEventDisableTiming) {
        EXPECT_CUDA(cudaEventCreateWithFlags(&event_, flags));
    }
    ~Event() { cudaEventDestroy(event_); }
    operator cudaEvent_t() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

/// Runs the graph `times` times, and destroys it.
void launch_and_destroy(cudaGraph_t graph, int times = 1) {
    const Stream stream;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_CUDA(cudaGraphDestroy(graph)); // the executable one is a copy
    for (int k = 0; k < times; ++k) EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
}

std::size_t count_nodes(cudaGraph_t graph) {
    std::size_t count = 0;
    EXPECT_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    return count;
}

void count_call(void* calls) { ++*static_cast<int*>(calls); }

cudaStreamCaptureStatus status_of(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    EXPECT_CUDA(cudaStreamIsCapturing(stream, &status));
    return status;
}

} // namespace

TEST(Capture, keeps_what_a_stream_is_given_and_replays_it) {
    const Stream stream;
    DeviceInts values(100);
    int result[100] = {}, calls = 0, summand = 5;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusActive);
    EXPECT_CUDA(cudaMemsetAsync(values.data(), 0, 100 * sizeof(int), stream));
    add<<<1, 128, 0, stream>>>(values.data(), 100, summand);
    summand = 1000; // too late
    add<<<1, 128, 0, stream>>>(values.data(), 50, 2);
    EXPECT_CUDA(cudaMemcpyAsync(result, values.data(), sizeof result, cudaMemcpyDeviceToHost, stream));
    EXPECT_CUDA(cudaLaunchHostFunc(stream, count_call, &calls));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusNone);
    EXPECT_EQ(calls, 0) << "nothing has happened yet";
    EXPECT_EQ(values.copy_back()[0], 0);

    EXPECT_EQ(count_nodes(graph), 5u);
    launch_and_destroy(graph, 3);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(result[0], 7); // 0 + 5 + 2, each time anew
    EXPECT_EQ(result[99], 5);
}

TEST(Capture, goes_on_in_streams_that_wait_for_its_events) {
    const Stream first, second;
    const Event fork, join;
    DeviceInts values(2);
    ASSERT_CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, first>>>(values.data(), 1, 1);
    EXPECT_CUDA(cudaEventRecord(fork, first));
    EXPECT_CUDA(cudaStreamWaitEvent(second, fork, 0));
    EXPECT_EQ(status_of(second), cudaStreamCaptureStatusActive);
    add<<<1, 1, 0, second>>>(values.data() + 1, 1, 10);
    add<<<1, 1, 0, first>>>(values.data(), 1, 100);
    EXPECT_CUDA(cudaEventRecord(join, second));
    EXPECT_CUDA(cudaStreamWaitEvent(first, join, 0));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(first, &graph));
    EXPECT_EQ(status_of(second), cudaStreamCaptureStatusNone);
    std::size_t roots = 0;
    EXPECT_CUDA(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT_EQ(roots, 1u);
    EXPECT_EQ(count_nodes(graph), 3u);
    launch_and_destroy(graph);
    EXPECT_EQ(values.copy_back(), (std::vector<int>{101, 10}));
}

TEST(Capture, is_lost_where_the_host_asks_for_its_event) {
    const Stream stream;
    const Event event;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaEventRecord(event, stream));
    EXPECT_EQ(cudaEventQuery(event), cudaErrorCapturedEvent);
    EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorStreamCaptureInvalidated);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
}

TEST(Capture, goes_on_where_the_host_asks_for_the_time_to_its_event) {
    const Stream stream;
    const Event before(cudaEventDefault), event(cudaEventDefault);
    ASSERT_CUDA(cudaEventRecord(before, stream));
    ASSERT_CUDA(cudaEventRecord(event, stream));
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    ASSERT_CUDA(cudaEventRecord(event, stream));
    float milliseconds = -1;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before, event), cudaErrorCapturedEvent);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, before), cudaErrorCapturedEvent);
    EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusActive);
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    ASSERT_CUDA(cudaGraphDestroy(graph));
    // Recorded anew, it is an event like others.
    ASSERT_CUDA(cudaEventRecord(event, stream));
    ASSERT_CUDA(cudaEventSynchronize(event));
    ASSERT_CUDA(cudaEventElapsedTime(&milliseconds, before, event));
    EXPECT_GE(milliseconds, 0);
}

TEST(Capture, of_a_stream_that_does_not_come_back_fails) {
    const Stream first, second;
    const Event fork;
    DeviceInts values(1);
    ASSERT_CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaEventRecord(fork, first));
    EXPECT_CUDA(cudaStreamWaitEvent(second, fork, 0));
    add<<<1, 1, 0, second>>>(values.data(), 1, 1);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureUnjoined);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status_of(second), cudaStreamCaptureStatusNone);
    cudaGetLastError();
}

TEST(Capture, ends_where_the_host_would_wait_for_it) {
    const Stream stream;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusInvalidated);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status_of(stream), cudaStreamCaptureStatusNone);
    cudaGetLastError();
}

TEST(Capture, forbids_allocating_unless_it_is_relaxed) {
    const Stream stream;
    void* memory = nullptr;
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(cudaMalloc(&memory, 64), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT_CUDA(cudaMalloc(&memory, 64));
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_CUDA(cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaFree(memory));
    cudaGetLastError();
}

TEST(Capture, of_a_blocking_stream_excludes_the_legacy_default_stream) {
    const Stream stream(cudaStreamDefault);
    DeviceInts values(1);
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    add<<<1, 1>>>(values.data(), 1, 1);
    EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(values.copy_back()[0], 0);
    cudaGetLastError();
}

TEST(Capture, begins_once_and_ends_where_it_began) {
    const Stream stream;
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
              cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(count_nodes(graph), 0u);
    EXPECT_CUDA(cudaGraphDestroy(graph));
    cudaGetLastError();
}

TEST(Capture, is_lost_where_another_thread_ends_it) {
    const Stream stream;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaGraph_t graph = nullptr;
    std::thread([&] {
        EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureWrongThread);
    }).join();
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    cudaGetLastError();
}

TEST(Graph, is_built_of_nodes_in_any_order_that_their_dependencies_allow) {
    DeviceInts values(4);
    int result[4] = {}, calls = 0;
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t copy, launch, set, host;
    EXPECT_CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, result, values.data(), sizeof result,
                                         cudaMemcpyDeviceToHost));
    int* pointer = values.data();
    int n = 4, summand = 3;
    void* arguments[] = {&pointer, &n, &summand};
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(add);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(32);
    kernel.kernelParams = arguments;
    EXPECT_CUDA(cudaGraphAddKernelNode(&launch, graph, nullptr, 0, &kernel));
    cudaMemsetParams fill{};
    fill.dst = values.data();
    fill.value = 0x00010002;
    fill.elementSize = 4;
    fill.width = 4;
    fill.height = 1;
    EXPECT_CUDA(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
    cudaHostNodeParams call{count_call, &calls};
    EXPECT_CUDA(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    const cudaGraphNode_t from[] = {set, launch}, to[] = {launch, copy};
    EXPECT_CUDA(cudaGraphAddDependencies(graph, from, to, nullptr, 2)); // set, launch, copy
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    EXPECT_CUDA(cudaGraphNodeGetType(set, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeMemset);
    launch_and_destroy(graph);
    EXPECT_EQ(result[0], 0x00010002 + 3);
    EXPECT_EQ(result[3], 0x00010002 + 3);
    EXPECT_EQ(calls, 1);
}

TEST(Graph, can_be_cloned_and_changed) {
    DeviceInts values(1);
    const int one = 1, two = 2;
    cudaGraph_t graph = nullptr, clone = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t first, second;
    EXPECT_CUDA(cudaGraphAddMemcpyNode1D(&second, graph, nullptr, 0, values.data(), &two, sizeof two,
                                         cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaGraphAddMemcpyNode1D(&first, graph, nullptr, 0, values.data(), &one, sizeof one,
                                         cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
    ASSERT_CUDA(cudaGraphClone(&clone, graph));
    EXPECT_CUDA(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
    EXPECT_CUDA(cudaGraphDestroyNode(second));
    launch_and_destroy(graph);
    EXPECT_EQ(values.copy_back()[0], 1);
    std::size_t roots = 0;
    EXPECT_CUDA(cudaGraphGetRootNodes(clone, nullptr, &roots));
    EXPECT_EQ(roots, 1u);
    launch_and_destroy(clone); // first, then second
    EXPECT_EQ(values.copy_back()[0], 2);
}

TEST(Graph, can_be_a_node_of_another) {
    DeviceInts values(1);
    const Stream stream;
    cudaGraph_t inner = nullptr, outer = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(values.data(), 1, 1);
    ASSERT_CUDA(cudaStreamEndCapture(stream, &inner));
    ASSERT_CUDA(cudaGraphCreate(&outer, 0));
    cudaGraphNode_t first, second;
    EXPECT_CUDA(cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, inner));
    EXPECT_CUDA(cudaGraphAddChildGraphNode(&second, outer, &first, 1, inner));
    EXPECT_CUDA(cudaGraphDestroy(inner)); // the nodes have copies
    EXPECT_EQ(count_nodes(outer), 2u);
    launch_and_destroy(outer);
    EXPECT_EQ(values.copy_back()[0], 2);
}

TEST(Graph, is_no_work_for_a_captured_stream) {
    const Stream stream;
    DeviceInts values(1);
    cudaGraph_t inner = nullptr, outer = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(values.data(), 1, 1);
    ASSERT_CUDA(cudaStreamEndCapture(stream, &inner));
    cudaGraphInstantiateParams parameters{};
    ASSERT_CUDA(cudaGraphInstantiateWithParams(&exec, inner, &parameters));
    EXPECT_EQ(parameters.result_out, cudaGraphInstantiateSuccess);
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(stream, &outer), cudaErrorStreamCaptureInvalidated);
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(values.copy_back()[0], 1);
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    cudaGetLastError();
    EXPECT_CUDA(cudaGraphDestroy(inner));
}

TEST(Graph, that_waits_for_itself_is_refused) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t a, b;
    EXPECT_CUDA(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    EXPECT_CUDA(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    cudaGraphAddDependencies(graph, &b, &a, nullptr, 1); // reported here or at the instantiation
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaGraphDestroy(graph));
    cudaGetLastError();
}

TEST(Graph, takes_other_parameters_when_it_is_executable) {
    const Stream stream;
    DeviceInts values(2);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(values.data(), 1, 1);
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));

    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 2, 0, stream>>>(values.data(), 2, 10);
    cudaGraph_t other = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &other));
    cudaGraphExecUpdateResultInfo result{};
    EXPECT_CUDA(cudaGraphExecUpdate(exec, other, &result));
    EXPECT_EQ(result.result, cudaGraphExecUpdateSuccess);
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(values.copy_back(), (std::vector<int>{11, 10}));

    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaGraph_t empty = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(stream, &empty));
    EXPECT_EQ(cudaGraphExecUpdate(exec, empty, &result), cudaErrorGraphExecUpdateFailure);
    EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    for (const cudaGraph_t one : {graph, other, empty}) EXPECT_CUDA(cudaGraphDestroy(one));
    cudaGetLastError();
}

TEST(Graph, copies_to_variables_and_from_them) {
    const DeviceInts value(1);
    int in = 5, other = 40, out[2] = {};
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t copy_in = nullptr, kernel = nullptr, copy_out = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    EXPECT_CUDA(cudaGraphAddMemcpyNodeToSymbol(&copy_in, graph, nullptr, 0, summands, &in, sizeof in,
                                               sizeof(int), cudaMemcpyHostToDevice));
    int* data = value.data();
    void* arguments[] = {&data};
    cudaKernelNodeParams launch{};
    launch.func = reinterpret_cast<void*>(add_summand);
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = arguments;
    EXPECT_CUDA(cudaGraphAddKernelNode(&kernel, graph, &copy_in, 1, &launch));
    EXPECT_CUDA(cudaGraphAddMemcpyNodeFromSymbol(&copy_out, graph, &kernel, 1, &out[0], summands, sizeof(int),
                                                 sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT_EQ(cudaGraphAddMemcpyNodeToSymbol(&copy_out, graph, nullptr, 0, summands, &in, sizeof in,
                                             2 * sizeof(int), cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_CUDA(cudaGraphMemcpyNodeSetParamsFromSymbol(copy_out, &out[1], summands, sizeof(int), sizeof(int),
                                                       cudaMemcpyDeviceToHost));
    const Stream stream;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[1], 5);
    EXPECT_CUDA(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, copy_in, summands, &other, sizeof other,
                                                         sizeof(int), cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(out[1], 40);
    EXPECT_EQ(value.copy_back()[0], 45);
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(Graph, records_events_and_waits_for_them) {
    cudaEvent_t first = nullptr, second = nullptr, event = nullptr;
    ASSERT_CUDA(cudaEventCreate(&first));
    ASSERT_CUDA(cudaEventCreate(&second));
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t record = nullptr, wait = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    EXPECT_CUDA(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, first));
    EXPECT_CUDA(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, second));
    EXPECT_CUDA(cudaGraphEventWaitNodeGetEvent(wait, &event));
    EXPECT_EQ(event, second);
    EXPECT_EQ(cudaGraphEventRecordNodeGetEvent(wait, &event), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaGraphEventWaitNodeSetEvent(wait, first));
    EXPECT_CUDA(cudaGraphEventWaitNodeGetEvent(wait, &event));
    EXPECT_EQ(event, first);
    cudaGraphNodeType type{};
    EXPECT_CUDA(cudaGraphNodeGetType(record, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeEventRecord);

    const Stream stream;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaGraphExecEventRecordNodeSetEvent(exec, record, second));
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    float milliseconds = -1;
    EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, first, second)); // both were recorded, in this order
    EXPECT_GE(milliseconds, 0);
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    EXPECT_CUDA(cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaEventDestroy(first));
    EXPECT_CUDA(cudaEventDestroy(second));
}

namespace {

cudaMemAllocNodeParams memory_for(std::size_t ints) {
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location.type = cudaMemLocationTypeDevice;
    parameters.bytesize = ints * sizeof(int);
    return parameters;
}

/// A graph that allocates ints, sets them to 0, adds 5, copies them to `out`, and maybe frees them.
cudaGraph_t with_memory(int* out, std::size_t ints, bool frees, int** address) {
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t node = nullptr;
    cudaMemAllocNodeParams memory = memory_for(ints);
    EXPECT_CUDA(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
    *address = static_cast<int*>(memory.dptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.dptr) % 256, 0u);
    const auto then = [&](auto add_node) {
        const cudaGraphNode_t before = node;
        EXPECT_CUDA(add_node(&before));
    };
    cudaMemsetParams zeros{memory.dptr, 0, 0, 4, ints, 1};
    then([&](auto before) { return cudaGraphAddMemsetNode(&node, graph, before, 1, &zeros); });
    int n = static_cast<int>(ints), five = 5;
    void* arguments[] = {&memory.dptr, &n, &five};
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(&add);
    kernel.gridDim = kernel.blockDim = dim3(32);
    kernel.kernelParams = arguments;
    then([&](auto before) { return cudaGraphAddKernelNode(&node, graph, before, 1, &kernel); });
    then([&](auto before) {
        return cudaGraphAddMemcpyNode1D(&node, graph, before, 1, out, memory.dptr, ints * sizeof(int),
                                        cudaMemcpyDeviceToDevice);
    });
    if (frees)
        then([&](auto before) { return cudaGraphAddMemFreeNode(&node, graph, before, 1, memory.dptr); });
    return graph;
}

} // namespace

TEST(MemoryNode, gives_memory_from_its_allocation_to_its_end) {
    DeviceInts out(100);
    int* address = nullptr;
    launch_and_destroy(with_memory(out.data(), 100, true, &address), 2);
    EXPECT_EQ(out.copy_back(), std::vector<int>(100, 5));
    EXPECT_EQ(cudaFree(address), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(MemoryNode, leaves_its_memory_to_the_program) {
    const Stream stream;
    DeviceInts out(100);
    int* address = nullptr;
    const cudaGraph_t graph = with_memory(out.data(), 100, false, &address);
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_CUDA(cudaGraphDestroy(graph));
    cudaGraph_t frees = nullptr;
    cudaGraphNode_t node = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&frees, 0));
    EXPECT_CUDA(cudaGraphAddMemFreeNode(&node, frees, nullptr, 0, address));
    for (int time = 0; time < 3; ++time) {
        EXPECT_CUDA(cudaGraphLaunch(exec, stream));
        add<<<1, 100, 0, stream>>>(address, 100, 2);
        std::vector<int> values(100);
        EXPECT_CUDA(cudaMemcpyAsync(values.data(), address, 400, cudaMemcpyDefault, stream));
        EXPECT_CUDA(cudaStreamSynchronize(stream));
        EXPECT_EQ(values, std::vector<int>(100, 7));
        if (time < 2) EXPECT_CUDA(time == 0 ? cudaFreeAsync(address, stream) : cudaFree(address));
    }
    launch_and_destroy(frees, 1);
    EXPECT_EQ(cudaFree(address), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
}

TEST(MemoryNode, is_refused_while_the_last_launches_memory_is_there) {
    const Stream stream;
    DeviceInts out(100);
    int* address = nullptr;
    const cudaGraph_t graph = with_memory(out.data(), 100, false, &address);
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaFreeAsync(address, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    for (int time = 0; time < 3; ++time) EXPECT_CUDA(cudaGraphLaunch(exec, stream));
    EXPECT_CUDA(cudaFreeAsync(address, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(MemoryNodeOnEmulator, has_no_more_memory_than_there_is) {
    if (device_count() > 1) GTEST_SKIP() << "of several devices, each has a part of what the machine has";
    std::size_t available = 0, all = 0;
    ASSERT_CUDA(cudaMemGetInfo(&available, &all));
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t node = nullptr;
    // The system would promise it: it is less than the machine has.
    cudaMemAllocNodeParams memory = memory_for((all - (all - available) / 10) / sizeof(int));
    EXPECT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(MemoryNode, has_its_parameters) {
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t allocation = nullptr, end = nullptr;
    cudaMemAllocNodeParams memory = memory_for(10), found{};
    ASSERT_CUDA(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory));
    ASSERT_CUDA(cudaGraphAddMemFreeNode(&end, graph, &allocation, 1, memory.dptr));
    EXPECT_CUDA(cudaGraphMemAllocNodeGetParams(allocation, &found));
    EXPECT_EQ(found.dptr, memory.dptr);
    EXPECT_EQ(found.bytesize, 40u);
    void* freed = nullptr;
    EXPECT_CUDA(cudaGraphMemFreeNodeGetParams(end, &freed));
    EXPECT_EQ(freed, memory.dptr);
    cudaGraphNodeType type{};
    EXPECT_CUDA(cudaGraphNodeGetType(allocation, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeMemAlloc);
    EXPECT_CUDA(cudaGraphNodeGetType(end, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeMemFree);
    EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(Capture, takes_allocations_and_frees) {
    const Stream stream;
    DeviceInts out(100);
    int* memory = nullptr;
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaMallocAsync(&memory, 400, stream));
    EXPECT_CUDA(cudaMemsetAsync(memory, 0, 400, stream));
    add<<<1, 128, 0, stream>>>(memory, 100, 3);
    EXPECT_CUDA(cudaMemcpyAsync(out.data(), memory, 400, cudaMemcpyDeviceToDevice, stream));
    EXPECT_CUDA(cudaFreeAsync(memory, stream));
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(count_nodes(graph), 5u);
    EXPECT_EQ(out.copy_back(), std::vector<int>(100, 0)) << "not yet";
    std::uint64_t used = 1, most = 0;
    launch_and_destroy(graph, 2);
    EXPECT_EQ(out.copy_back(), std::vector<int>(100, 3));
    EXPECT_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    EXPECT_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most));
    EXPECT_EQ(used, 0u);
    EXPECT_GE(most, 400u);
    EXPECT_CUDA(cudaDeviceGraphMemTrim(0));
}
