#include "emulator/check/race/grid_clock.hpp"

#include <algorithm>
#include <utility>

namespace emulator {

GridClock::Tree GridClock::inner(Parts parts) { return std::make_shared<const Node>(Node{std::move(parts)}); }

void GridClock::raise_to(int levels) {
    for (; levels_ < levels; ++levels_) {
        Parts parts;
        parts[0] = std::move(root_);
        root_ = inner(std::move(parts));
    }
}

void GridClock::join(std::uint32_t block, const Clock& clock) {
    GridClock other;
    other.root_ = std::make_shared<const Node>(Node{clock});
    while (block >> (fan_out_bits * other.levels_) != 0) {
        Parts parts;
        parts[part_of(block, ++other.levels_)] = std::move(other.root_);
        other.root_ = inner(std::move(parts));
    }
    join(other);
}

void GridClock::join(const GridClock& other) {
    if (other.empty() || root_ == other.root_) return;
    if (empty()) {
        *this = other;
        return;
    }
    raise_to(other.levels_);
    if (other.levels_ == levels_) {
        root_ = joined(root_, other.root_);
        return;
    }
    GridClock raised = other;
    raised.raise_to(levels_);
    root_ = joined(root_, raised.root_);
}

/// If one of the two covers the other, return it, so that more is shared.
GridClock::Tree GridClock::joined(const Tree& a, const Tree& b) {
    if (!a || a == b) return b;
    if (!b) return a;
    if (const auto* const clock = std::get_if<Clock>(&a->content)) {
        const Clock& other = std::get<Clock>(b->content);
        Clock both = *clock;
        MemoryOrder::join(both, other);
        if (both == *clock) return a;
        return both == other ? b : std::make_shared<const Node>(Node{both});
    }
    const Parts &first = std::get<Parts>(a->content), &second = std::get<Parts>(b->content);
    Parts both;
    for (std::size_t k = 0; k < fan_out; ++k) both[k] = joined(first[k], second[k]);
    if (both == first) return a;
    return both == second ? b : inner(std::move(both));
}

const GridClock::Clock* GridClock::find(std::uint32_t block) const {
    if (!root_ || block >> (fan_out_bits * levels_) != 0) return nullptr;
    const Node* node = root_.get();
    for (int level = levels_; node && level > 0; --level)
        node = std::get<Parts>(node->content)[part_of(block, level)].get();
    return node ? &std::get<Clock>(node->content) : nullptr;
}

} // namespace emulator
