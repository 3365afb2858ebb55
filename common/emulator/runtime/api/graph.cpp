/// Graphs: built node by node or captured (capture_api.cpp), instantiated, launched.

#include "emulator/runtime/api/parts.hpp"
#include "emulator/runtime/api_call.hpp"
#include "emulator/runtime/transfers.hpp"

#include <algorithm>
#include <map>
#include <utility>

using namespace emulator;
using namespace emulator::abi;

namespace {

Graph& graph_at(Device& device, const void* handle) {
    if (const auto found = device.graphs.find(handle); found != device.graphs.end()) return *found->second;
    for (const auto& capture : device.captures)
        if (capture->graph.get() == handle) return *capture->graph;
    throw ApiError(cudaErrorInvalidValue);
}

GraphExec& exec_at(Device& device, const void* handle) {
    const auto found = device.graph_execs.find(handle);
    require(found != device.graph_execs.end());
    return *found->second;
}

/// Calls `use(graph, node)` for the node, whichever graph it belongs to.
template <class Use> void with_node(Device& device, const void* handle, Use use) {
    for (const auto& [graph_handle, graph] : device.graphs)
        if (GraphNode* const node = graph->find(handle)) return use(*graph, *node);
    throw ApiError(cudaErrorInvalidValue);
}

/// The nodes of `graph` with these `handles`.
std::vector<const GraphNode*> nodes_at(const Graph& graph, const void* const* handles, std::size_t count) {
    require(handles || count == 0);
    std::vector<const GraphNode*> nodes;
    for (std::size_t k = 0; k < count; ++k) {
        nodes.push_back(graph.find(handles[k]));
        require(nodes.back());
    }
    return nodes;
}

/// One call of cudaGraphAdd…Node: `make(device)` makes the node without its dependencies.
template <class Make>
cudaError_t add_node(const void** handle, void* graph, const void* const* dependencies, std::size_t count,
                     Make make) {
    return call_without_waiting([&](Device& device) {
        require(handle);
        Graph& target = graph_at(device, graph);
        auto nodes = nodes_at(target, dependencies, count);
        GraphNode node = make(device);
        node.dependencies = std::move(nodes);
        *handle = target.add(std::move(node));
    });
}

/// One call that changes the content of an executable graph's node.
template <class Make> cudaError_t replace_step(void* exec, const void* handle, Make make) {
    return call_without_waiting([&](Device& device) {
        GraphExec::Step* const step = exec_at(device, exec).find(handle);
        require(step);
        GraphNode node = make(device);
        require(node.type == step->copy.type);
        step->copy = std::move(node);
    });
}

/// The same for a node of a graph.
template <class Make> cudaError_t replace_node(const void* handle, Make make) {
    return call_without_waiting([&](Device& device) {
        with_node(device, handle, [&](Graph&, GraphNode& node) {
            GraphNode other = make(device);
            require(other.type == node.type);
            other.dependencies = node.dependencies;
            node = std::move(other);
        });
    });
}

/// Returns `values` the way CUDA returns lists: their number if there is no buffer, otherwise as many as fit
/// in the buffer, padded with nulls.
void give_out(const std::vector<const GraphNode*>& values, const void** places, std::size_t* count) {
    require(count);
    if (!places) {
        *count = values.size();
        return;
    }
    for (std::size_t k = 0; k < *count; ++k) places[k] = k < values.size() ? values[k] : nullptr;
    *count = std::min(*count, values.size());
}

cudaError_t instantiate(void** exec, void* graph, unsigned long long flags) {
    return call_without_waiting([&](Device& device) {
        require(exec);
        auto made = std::make_unique<GraphExec>(graph_at(device, graph));
        made->frees_on_launch = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
        *exec = made.get();
        device.graph_execs.emplace(*exec, std::move(made));
    });
}

GraphNode host_node(const cudaHostNodeParams* parameters) {
    require(parameters && parameters->fn);
    return {.type = cudaGraphNodeTypeHost,
            .work = nullptr,
            .host = [function = parameters->fn, data = parameters->userData] { function(data); }};
}

GraphNode kernel_node(Device& device, const cudaKernelNodeParams* parameters) {
    require(parameters && !parameters->extra);
    return kernel_node(device, parameters->func, parameters->gridDim, parameters->blockDim,
                       parameters->kernelParams, parameters->sharedMemBytes);
}

GraphNode copy_node(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return {.type = cudaGraphNodeTypeMemcpy,
            .work = [=](Device& device) { copy(device, to, bytes, from, single_row(bytes), kind); },
            .host = nullptr};
}

GraphNode copy_node(const Device& device, const cudaMemcpy3DParms* parameters) {
    require(parameters);
    box_of(device, *parameters); // fails now, and again at the launch if an array is gone by then
    return {.type = cudaGraphNodeTypeMemcpy,
            .work = [all = *parameters](Device& then) { copy(then, box_of(then, all)); },
            .host = nullptr};
}

GraphNode set_node(const cudaMemsetParams* parameters) {
    require(parameters);
    const auto size = parameters->elementSize;
    require(size == 1 || size == 2 || size == 4);
    return {.type = cudaGraphNodeTypeMemset,
            .work =
                [set = *parameters](Device& device) {
                    fill(device, set.dst, {set.pitch, set.width * set.elementSize, set.height}, set.value,
                         set.elementSize);
                },
            .host = nullptr};
}

/// Like all work, the work before the awaited event is already done.
GraphNode event_node(const Device& device, cudaGraphNodeType type, void* event) {
    require(device.events.contains(event));
    GraphNode node{.type = type, .work = nullptr, .host = nullptr, .event = event};
    if (type == cudaGraphNodeTypeEventRecord)
        node.work = [event](Device& then) {
            const auto found = then.events.find(event);
            require(found != then.events.end());
            found->second->capture = 0;
            found->second->recorded = std::chrono::steady_clock::now();
        };
    return node;
}

cudaError_t get_event(const void* handle, cudaGraphNodeType type, void** event) {
    return call_without_waiting([&](Device& device) {
        require(event);
        with_node(device, handle, [&](Graph&, GraphNode& node) {
            require(node.type == type);
            *event = node.event;
        });
    });
}

/// A node that runs a copy of all nodes of a graph. Host functions in it run under the API's lock.
GraphNode child_node(const GraphExec& graph) {
    return {.type = cudaGraphNodeTypeGraph,
            .work =
                [steps = graph.steps](Device& device) {
                    for (const GraphExec::Step& step : steps) {
                        if (!step.enabled) continue;
                        if (step.copy.work) step.copy.work(device);
                        if (step.copy.host) step.copy.host();
                    }
                },
            .host = nullptr};
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaGraphCreate(void** graph, unsigned int flags) {
    return call_without_waiting([&](Device& device) {
        require(graph && flags == 0);
        auto made = std::make_unique<Graph>();
        *graph = made.get();
        device.graphs.emplace(*graph, std::move(made));
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphClone(void** clone, void* graph) {
    return call_without_waiting([&](Device& device) {
        require(clone);
        auto made = graph_at(device, graph).clone();
        *clone = made.get();
        device.graphs.emplace(*clone, std::move(made));
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphDestroy(void* graph) {
    return api_call([&](Device& device) { require(device.graphs.erase(graph) == 1); });
}

// ---- nodes ----

EMULATOR_ENTRY cudaError_t cudaGraphAddEmptyNode(const void** node, void* graph,
                                                 const void* const* dependencies, std::size_t count) {
    return add_node(node, graph, dependencies, count, [](Device&) { return GraphNode{}; });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddKernelNode(const void** node, void* graph,
                                                  const void* const* dependencies, std::size_t count,
                                                  const cudaKernelNodeParams* parameters) {
    return add_node(node, graph, dependencies, count,
                    [&](Device& device) { return kernel_node(device, parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddMemcpyNode(const void** node, void* graph,
                                                  const void* const* dependencies, std::size_t count,
                                                  const cudaMemcpy3DParms* parameters) {
    return add_node(node, graph, dependencies, count,
                    [&](Device& device) { return copy_node(device, parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddMemcpyNode1D(const void** node, void* graph,
                                                    const void* const* dependencies, std::size_t count,
                                                    void* to, const void* from, std::size_t bytes,
                                                    cudaMemcpyKind kind) {
    return add_node(node, graph, dependencies, count,
                    [&](Device&) { return copy_node(to, from, bytes, kind); });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddMemsetNode(const void** node, void* graph,
                                                  const void* const* dependencies, std::size_t count,
                                                  const cudaMemsetParams* parameters) {
    return add_node(node, graph, dependencies, count, [&](Device&) { return set_node(parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddHostNode(const void** node, void* graph,
                                                const void* const* dependencies, std::size_t count,
                                                const cudaHostNodeParams* parameters) {
    return add_node(node, graph, dependencies, count, [&](Device&) { return host_node(parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddChildGraphNode(const void** node, void* graph,
                                                      const void* const* dependencies, std::size_t count,
                                                      void* child) {
    return add_node(node, graph, dependencies, count,
                    [&](Device& device) { return child_node(GraphExec(graph_at(device, child))); });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddMemcpyNodeToSymbol(const void** node, void* graph,
                                                          const void* const* dependencies, std::size_t count,
                                                          const void* symbol, const void* from,
                                                          std::size_t bytes, std::size_t offset,
                                                          cudaMemcpyKind kind) {
    return add_node(node, graph, dependencies, count, [&](Device& device) {
        return to_symbol_node(device, symbol, from, bytes, offset, kind);
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddMemcpyNodeFromSymbol(const void** node, void* graph,
                                                            const void* const* dependencies,
                                                            std::size_t count, void* to, const void* symbol,
                                                            std::size_t bytes, std::size_t offset,
                                                            cudaMemcpyKind kind) {
    return add_node(node, graph, dependencies, count, [&](Device& device) {
        return from_symbol_node(device, to, symbol, bytes, offset, kind);
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddEventRecordNode(const void** node, void* graph,
                                                       const void* const* dependencies, std::size_t count,
                                                       void* event) {
    return add_node(node, graph, dependencies, count,
                    [&](Device& device) { return event_node(device, cudaGraphNodeTypeEventRecord, event); });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddEventWaitNode(const void** node, void* graph,
                                                     const void* const* dependencies, std::size_t count,
                                                     void* event) {
    return add_node(node, graph, dependencies, count,
                    [&](Device& device) { return event_node(device, cudaGraphNodeTypeWaitEvent, event); });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddMemAllocNode(const void** node, void* graph,
                                                    const void* const* dependencies, std::size_t count,
                                                    cudaMemAllocNodeParams* parameters) {
    return add_node(node, graph, dependencies, count, [&](Device&) {
        require(parameters && parameters->bytesize != 0);
        const cudaMemPoolProps& properties = parameters->poolProps;
        require(properties.allocType == cudaMemAllocationTypePinned && properties.handleTypes == 0 &&
                properties.location.type == cudaMemLocationTypeDevice);
        require_device(properties.location.id);
        GraphNode made = allocation_node(parameters->bytesize);
        parameters->dptr = made.memory->address;
        return made;
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddMemFreeNode(const void** node, void* graph,
                                                   const void* const* dependencies, std::size_t count,
                                                   void* pointer) {
    return add_node(node, graph, dependencies, count,
                    [&](Device& device) { return free_node(device, pointer); });
}

EMULATOR_ENTRY cudaError_t cudaGraphMemAllocNodeGetParams(const void* node,
                                                          cudaMemAllocNodeParams* parameters) {
    return call_without_waiting([&](Device& device) {
        with_node(device, node, [&](Graph&, GraphNode& found) {
            require(parameters && found.memory);
            *parameters = {};
            parameters->poolProps.allocType = cudaMemAllocationTypePinned;
            parameters->poolProps.location.type = cudaMemLocationTypeDevice;
            parameters->bytesize = found.memory->bytes;
            parameters->dptr = found.memory->address;
        });
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphMemFreeNodeGetParams(const void* node, void* pointer) {
    return call_without_waiting([&](Device& device) {
        with_node(device, node, [&](Graph&, GraphNode& found) {
            require(pointer && found.freed);
            *static_cast<void**>(pointer) = found.freed;
        });
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphDestroyNode(const void* node) {
    return call_without_waiting([&](Device& device) {
        with_node(device, node, [&](Graph& graph, GraphNode&) {
            for (const auto& other : graph.nodes)
                std::erase(other->dependencies, static_cast<const GraphNode*>(node));
            std::erase_if(graph.nodes, [&](const auto& one) { return one.get() == node; });
        });
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphAddDependencies(void* graph, const void* const* from,
                                                    const void* const* to, const void*, std::size_t count) {
    return call_without_waiting([&](Device& device) {
        const Graph& target = graph_at(device, graph);
        const auto before = nodes_at(target, from, count), after = nodes_at(target, to, count);
        for (std::size_t k = 0; k < count; ++k) target.find(after[k])->dependencies.push_back(before[k]);
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphRemoveDependencies(void* graph, const void* const* from,
                                                       const void* const* to, const void*,
                                                       std::size_t count) {
    return call_without_waiting([&](Device& device) {
        const Graph& target = graph_at(device, graph);
        const auto before = nodes_at(target, from, count), after = nodes_at(target, to, count);
        for (std::size_t k = 0; k < count; ++k)
            require(std::erase(target.find(after[k])->dependencies, before[k]) != 0);
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphGetNodes(void* graph, const void** nodes, std::size_t* count) {
    return call_without_waiting([&](Device& device) {
        std::vector<const GraphNode*> all;
        for (const auto& node : graph_at(device, graph).nodes) all.push_back(node.get());
        give_out(all, nodes, count);
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphGetRootNodes(void* graph, const void** nodes, std::size_t* count) {
    return call_without_waiting([&](Device& device) {
        std::vector<const GraphNode*> roots;
        for (const auto& node : graph_at(device, graph).nodes)
            if (node->dependencies.empty()) roots.push_back(node.get());
        give_out(roots, nodes, count);
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphNodeGetDependencies(const void* node, const void** nodes, void*,
                                                        std::size_t* count) {
    return call_without_waiting([&](Device& device) {
        with_node(device, node,
                  [&](Graph&, GraphNode& found) { give_out(found.dependencies, nodes, count); });
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphNodeGetType(const void* node, cudaGraphNodeType* type) {
    return call_without_waiting([&](Device& device) {
        require(type);
        with_node(device, node, [&](Graph&, GraphNode& found) { *type = found.type; });
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphKernelNodeSetParams(const void* node,
                                                        const cudaKernelNodeParams* parameters) {
    return replace_node(node, [&](Device& device) { return kernel_node(device, parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphMemcpyNodeSetParams1D(const void* node, void* to, const void* from,
                                                          std::size_t bytes, cudaMemcpyKind kind) {
    return replace_node(node, [&](Device&) { return copy_node(to, from, bytes, kind); });
}

EMULATOR_ENTRY cudaError_t cudaGraphMemcpyNodeSetParams(const void* node,
                                                        const cudaMemcpy3DParms* parameters) {
    return replace_node(node, [&](Device& device) { return copy_node(device, parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphMemsetNodeSetParams(const void* node,
                                                        const cudaMemsetParams* parameters) {
    return replace_node(node, [&](Device&) { return set_node(parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphHostNodeSetParams(const void* node,
                                                      const cudaHostNodeParams* parameters) {
    return replace_node(node, [&](Device&) { return host_node(parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(const void* node, const void* symbol,
                                                                const void* from, std::size_t bytes,
                                                                std::size_t offset, cudaMemcpyKind kind) {
    return replace_node(
        node, [&](Device& device) { return to_symbol_node(device, symbol, from, bytes, offset, kind); });
}

EMULATOR_ENTRY cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(const void* node, void* to,
                                                                  const void* symbol, std::size_t bytes,
                                                                  std::size_t offset, cudaMemcpyKind kind) {
    return replace_node(
        node, [&](Device& device) { return from_symbol_node(device, to, symbol, bytes, offset, kind); });
}

EMULATOR_ENTRY cudaError_t cudaGraphEventRecordNodeGetEvent(const void* node, void** event) {
    return get_event(node, cudaGraphNodeTypeEventRecord, event);
}

EMULATOR_ENTRY cudaError_t cudaGraphEventRecordNodeSetEvent(const void* node, void* event) {
    return replace_node(
        node, [&](Device& device) { return event_node(device, cudaGraphNodeTypeEventRecord, event); });
}

EMULATOR_ENTRY cudaError_t cudaGraphEventWaitNodeGetEvent(const void* node, void** event) {
    return get_event(node, cudaGraphNodeTypeWaitEvent, event);
}

EMULATOR_ENTRY cudaError_t cudaGraphEventWaitNodeSetEvent(const void* node, void* event) {
    return replace_node(
        node, [&](Device& device) { return event_node(device, cudaGraphNodeTypeWaitEvent, event); });
}

// ---- executable graphs ----

EMULATOR_ENTRY cudaError_t cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags) {
    return instantiate(exec, graph, flags);
}

EMULATOR_ENTRY cudaError_t cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
    return instantiate(exec, graph, flags);
}

EMULATOR_ENTRY cudaError_t cudaGraphInstantiateWithParams(void** exec, void* graph,
                                                          cudaGraphInstantiateParams* parameters) {
    if (!parameters) return call_without_waiting([](Device&) { require(false); });
    const cudaError_t error = instantiate(exec, graph, parameters->flags);
    parameters->errNode_out = nullptr;
    parameters->result_out =
        error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateInvalidStructure;
    return error;
}
EMULATOR_PER_THREAD_TWIN(cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz);

EMULATOR_ENTRY cudaError_t cudaGraphExecDestroy(void* exec) {
    return api_call([&](Device& device) { require(device.graph_execs.erase(exec) == 1); });
}

EMULATOR_ENTRY cudaError_t cudaGraphUpload(void* exec, void* stream) {
    return call_without_waiting([&](Device& device) {
        require_stream(device, stream);
        exec_at(device, exec);
    });
}
EMULATOR_PER_THREAD_TWIN(cudaGraphUpload, cudaGraphUpload_ptsz);

namespace {

/// Nodes of a graph with kernels that may wait for others: each is an operation of a stream of its own, which waits for
/// those that the node depends on.
class NodesInTurns {
public:
    explicit NodesInTurns(const void* stream) : stream_(stream) {}

    /// Gives the node its place, and runs it once it is ready. A host function has the work of its dependencies done.
    void add(Device& device, const GraphExec::Step& step) {
        const GraphNode& node = step.copy;
        const int number = node.device == GraphNode::any_device ? device.number : node.device;
        OperationOrder& order = device.memory.operations();
        OperationQueue& queue = Runtime::instance().queue;
        const void* const handle = own_streams_.emplace_back(std::make_unique<char>()).get();
        order.created(handle, number, false, "a graph on device " + std::to_string(number));
        order.stream_waits_for(handle, number, order.recorded(stream_, device.number));
        for (const GraphNode* const one : node.dependencies)
            order.stream_waits_for(handle, number, after_.at(one));
        if (step.enabled && node.host) queue.run_until(order.recorded(handle, number));
        if (step.enabled && (node.work || node.begin))
            queue.add(device_at(number), order.place(handle, number, "node"),
                      {.work = node.work, .begin = node.begin});
        after_[step.node] = order.recorded(handle, number);
    }

    /// What comes next in the stream comes after all of them.
    void end(Device& device) {
        OperationOrder& order = device.memory.operations();
        for (const auto& [node, after] : after_) order.stream_waits_for(stream_, device.number, after);
        for (const auto& own : own_streams_) order.destroyed(own.get());
        OperationQueue& queue = Runtime::instance().queue;
        if (!queue.has_schedule()) queue.run_some();
        if (device.memory.host_can_store()) queue.run_in_background();
    }

private:
    const void* const stream_;
    std::map<const GraphNode*, OperationOrder::Clock> after_;
    std::vector<std::unique_ptr<char>> own_streams_; ///< their handles
};

cudaError_t launch_in_turns(const std::vector<GraphExec::Step>& steps, const void* stream) {
    NodesInTurns nodes(stream);
    for (const GraphExec::Step& step : steps) {
        const cudaError_t failed = call_without_waiting([&](Device& device) { nodes.add(device, step); });
        if (failed != cudaSuccess) return failed;
        if (step.enabled && step.copy.host) step.copy.host();
    }
    return call_without_waiting([&](Device& device) { nodes.end(device); });
}

cudaError_t launch_one_by_one(const std::vector<GraphExec::Step>& steps, const void* stream) {
    for (const GraphExec::Step& step : steps) {
        if (!step.enabled) continue;
        if (step.copy.host) step.copy.host();
        if (!step.copy.work) continue;
        const cudaError_t failed = call_without_waiting(
            [&](Device& device) { run_operation(device, stream, step.copy.type, step.copy.work); });
        if (failed != cudaSuccess) return failed;
    }
    return cudaSuccess;
}

} // namespace

/// Node by node, since a host function runs without the API's lock. Usually one after the other in the stream, though a
/// card may run some at once.
EMULATOR_ENTRY cudaError_t cudaGraphLaunch(void* exec, void* stream) {
    std::vector<GraphExec::Step> steps;
    const cudaError_t error = call_without_waiting([&](Device& device) {
        require_stream(device, stream);
        reject_if_captured(device, stream);
        const GraphExec& launched = exec_at(device, exec);
        steps = launched.steps;
        if (!launched.frees_on_launch) return;
        Runtime::instance().queue.run_all(); // its last launch may use the memory still
        for (const GraphExec::Step& step : steps)
            if (step.copy.memory && device.graph_memory.contains(step.copy.memory->address))
                free_on_device(device, step.copy.memory->address, "the graph's next launch");
    });
    if (error != cudaSuccess) return error;
    const bool any_may_wait = std::any_of(steps.begin(), steps.end(), [](const GraphExec::Step& step) {
        return step.enabled && step.copy.begin;
    });
    return (any_may_wait ? launch_in_turns : launch_one_by_one)(steps, stream);
}
EMULATOR_PER_THREAD_TWIN(cudaGraphLaunch, cudaGraphLaunch_ptsz);

EMULATOR_ENTRY cudaError_t cudaGraphExecKernelNodeSetParams(void* exec, const void* node,
                                                            const cudaKernelNodeParams* parameters) {
    return replace_step(exec, node, [&](Device& device) { return kernel_node(device, parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphExecMemcpyNodeSetParams1D(void* exec, const void* node, void* to,
                                                              const void* from, std::size_t bytes,
                                                              cudaMemcpyKind kind) {
    return replace_step(exec, node, [&](Device&) { return copy_node(to, from, bytes, kind); });
}

EMULATOR_ENTRY cudaError_t cudaGraphExecMemcpyNodeSetParams(void* exec, const void* node,
                                                            const cudaMemcpy3DParms* parameters) {
    return replace_step(exec, node, [&](Device& device) { return copy_node(device, parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphExecMemsetNodeSetParams(void* exec, const void* node,
                                                            const cudaMemsetParams* parameters) {
    return replace_step(exec, node, [&](Device&) { return set_node(parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphExecHostNodeSetParams(void* exec, const void* node,
                                                          const cudaHostNodeParams* parameters) {
    return replace_step(exec, node, [&](Device&) { return host_node(parameters); });
}

EMULATOR_ENTRY cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, const void* node,
                                                                    const void* symbol, const void* from,
                                                                    std::size_t bytes, std::size_t offset,
                                                                    cudaMemcpyKind kind) {
    return replace_step(exec, node, [&](Device& device) {
        return to_symbol_node(device, symbol, from, bytes, offset, kind);
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, const void* node, void* to,
                                                                      const void* symbol, std::size_t bytes,
                                                                      std::size_t offset,
                                                                      cudaMemcpyKind kind) {
    return replace_step(exec, node, [&](Device& device) {
        return from_symbol_node(device, to, symbol, bytes, offset, kind);
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphExecEventRecordNodeSetEvent(void* exec, const void* node, void* event) {
    return replace_step(
        exec, node, [&](Device& device) { return event_node(device, cudaGraphNodeTypeEventRecord, event); });
}

EMULATOR_ENTRY cudaError_t cudaGraphExecEventWaitNodeSetEvent(void* exec, const void* node, void* event) {
    return replace_step(
        exec, node, [&](Device& device) { return event_node(device, cudaGraphNodeTypeWaitEvent, event); });
}

EMULATOR_ENTRY cudaError_t cudaGraphNodeSetEnabled(void* exec, const void* node, unsigned int enabled) {
    return call_without_waiting([&](Device& device) {
        GraphExec::Step* const step = exec_at(device, exec).find(node);
        require(step);
        step->enabled = enabled != 0;
    });
}

EMULATOR_ENTRY cudaError_t cudaGraphNodeGetEnabled(void* exec, const void* node, unsigned int* enabled) {
    return call_without_waiting([&](Device& device) {
        const GraphExec::Step* const step = exec_at(device, exec).find(node);
        require(step && enabled);
        *enabled = step->enabled;
    });
}

/// The nodes of the other graph replace those of the executable one, if they have the same number and the
/// same types in the same order.
EMULATOR_ENTRY cudaError_t cudaGraphExecUpdate(void* exec, void* graph,
                                               cudaGraphExecUpdateResultInfo* result) {
    return call_without_waiting([&](Device& device) {
        require(result);
        GraphExec& updated = exec_at(device, exec);
        GraphExec other(graph_at(device, graph));
        *result = {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
        require(other.steps.size() == updated.steps.size(), cudaErrorGraphExecUpdateFailure);
        for (std::size_t k = 0; k < other.steps.size(); ++k) {
            if (other.steps[k].copy.type == updated.steps[k].copy.type) continue;
            *result = {cudaGraphExecUpdateErrorNodeTypeChanged, other.steps[k].node, nullptr};
            throw ApiError(cudaErrorGraphExecUpdateFailure);
        }
        for (std::size_t k = 0; k < other.steps.size(); ++k)
            updated.steps[k].copy = std::move(other.steps[k].copy);
        *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    });
}
