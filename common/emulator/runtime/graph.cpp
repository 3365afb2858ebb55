#include "emulator/runtime/graph.hpp"

#include "emulator/memory/global_memory.hpp"
#include "emulator/runtime/api_error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <unordered_set>
#include <utility>

namespace emulator {
namespace {

bool contains(const std::vector<const GraphNode*>& nodes, const GraphNode* node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

} // namespace

GraphMemory::GraphMemory(std::size_t size) : bytes(size) {
    GlobalMemory::require_available(size);
    constexpr std::size_t page = 4096;
    address = size <= SIZE_MAX - page ? std::aligned_alloc(page, (size + page - 1) / page * page) : nullptr;
    require(address, abi::cudaErrorMemoryAllocation);
}

GraphMemory::~GraphMemory() { std::free(address); }

const GraphNode* Graph::add(GraphNode node) {
    return nodes.emplace_back(std::make_unique<GraphNode>(std::move(node))).get();
}

GraphNode* Graph::find(const void* handle) const {
    const auto found =
        std::find_if(nodes.begin(), nodes.end(), [&](const auto& node) { return node.get() == handle; });
    return found == nodes.end() ? nullptr : found->get();
}

std::vector<const GraphNode*> Graph::in_order() const {
    std::vector<const GraphNode*> ordered;
    while (ordered.size() < nodes.size()) {
        const std::size_t before = ordered.size();
        for (const auto& node : nodes) {
            const auto& needed = node->dependencies;
            const bool may_run = std::all_of(needed.begin(), needed.end(),
                                             [&](const GraphNode* one) { return contains(ordered, one); });
            if (may_run && !contains(ordered, node.get())) ordered.push_back(node.get());
        }
        require(ordered.size() > before);
    }
    return ordered;
}

std::unique_ptr<Graph> Graph::clone() const {
    auto copy = std::make_unique<Graph>();
    std::unordered_map<const GraphNode*, const GraphNode*> copies;
    for (const auto& node : nodes) copies[node.get()] = copy->add(*node);
    for (const auto& node : copy->nodes)
        for (const GraphNode*& dependency : node->dependencies) dependency = copies.at(dependency);
    return copy;
}

GraphExec::GraphExec(const Graph& graph) {
    for (const GraphNode* node : graph.in_order()) steps.push_back({node, *node});
}

GraphExec::Step* GraphExec::find(const void* node) {
    const auto found =
        std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.node == node; });
    return found == steps.end() ? nullptr : &*found;
}

void Capture::add(const void* stream, GraphNode node) {
    auto& last = streams.at(stream);
    node.dependencies = last;
    last = {graph->add(std::move(node))};
}

void Capture::wait(const void* stream, const std::vector<const GraphNode*>& nodes) {
    auto& last = streams[stream];
    for (const GraphNode* node : nodes)
        if (!contains(last, node)) last.push_back(node);
}

bool Capture::is_joined() const {
    std::unordered_set<const GraphNode*> before;
    std::vector<const GraphNode*> left = streams.at(origin);
    while (!left.empty()) {
        const GraphNode* const node = left.back();
        left.pop_back();
        if (before.insert(node).second)
            left.insert(left.end(), node->dependencies.begin(), node->dependencies.end());
    }
    return std::all_of(streams.begin(), streams.end(), [&](const auto& stream) {
        return std::all_of(stream.second.begin(), stream.second.end(),
                           [&](const GraphNode* node) { return before.contains(node); });
    });
}

} // namespace emulator
