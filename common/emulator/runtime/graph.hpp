/// Graphs: work that is recorded now and done later, and the capture of streams into graphs.
#pragma once

#include "emulator/runtime/cuda_abi.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

namespace emulator {

struct Device;
class RunningLaunch;

/// The memory of an allocation node: it has one address, and is on the device from the node's run until it is freed.
struct GraphMemory {
    explicit GraphMemory(std::size_t size);
    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    std::size_t bytes;
    void* address;
    bool was_used = false; ///< its pages are there
};

struct GraphNode {
    static constexpr int any_device = -1; ///< that of the stream

    abi::cudaGraphNodeType type = abi::cudaGraphNodeTypeEmpty;
    std::function<void(Device&)> work; ///< null: nothing to do on the device
    /// The same of a kernel that may wait for others, piece by piece; null: it is none.
    std::function<std::unique_ptr<RunningLaunch>(Device&)> begin{};
    int device = any_device;    ///< of a kernel
    std::function<void()> host; ///< the program's own function, which runs without the API's lock
    std::vector<const GraphNode*> dependencies = {};
    void* event = nullptr;                 ///< that it records or waits for
    std::shared_ptr<GraphMemory> memory{}; ///< that it allocates
    void* freed = nullptr;                 ///< what it frees
    bool runs_at_once = false;             ///< the host may wait for it without a call
};

/// A graph that the program builds or captures. A node's address is its handle.
struct Graph {
    std::vector<std::unique_ptr<GraphNode>> nodes;

    const GraphNode* add(GraphNode node);
    /// Null if `handle` is not a node of this graph.
    GraphNode* find(const void* handle) const;
    /// The nodes, each after its dependencies. \throws ApiError if the dependencies have a cycle.
    std::vector<const GraphNode*> in_order() const;
    std::unique_ptr<Graph> clone() const;
};

/// An instantiated graph: a copy, since the graph may change or be destroyed.
struct GraphExec {
    struct Step {
        const GraphNode* node; ///< its handle in the graph; never dereferenced
        GraphNode copy;
        bool enabled = true;
    };
    std::vector<Step> steps;
    bool frees_on_launch = false; ///< cudaGraphInstantiateFlagAutoFreeOnLaunch

    explicit GraphExec(const Graph& graph);
    Step* find(const void* node);
};

/// The work of streams that are captured together, recorded instead of executed.
struct Capture {
    unsigned long long id = 0;
    const void* origin = nullptr; ///< the stream that began it
    abi::cudaStreamCaptureMode mode = abi::cudaStreamCaptureModeGlobal;
    std::thread::id thread{};
    bool is_invalid = false;
    std::unique_ptr<Graph> graph{};
    /// For each stream: the dependencies of its next node.
    std::unordered_map<const void*, std::vector<const GraphNode*>> streams{};

    void add(const void* stream, GraphNode node);
    /// Makes the stream's next node depend on these nodes too; the stream may be new in the capture.
    void wait(const void* stream, const std::vector<const GraphNode*>& nodes);
    /// Whether the work of all other streams precedes the end of the first stream.
    bool is_joined() const;
};

} // namespace emulator
