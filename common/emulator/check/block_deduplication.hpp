/// \file
/// Blocks of a launch mostly do the same to their shared memory, event by event. What one of them has done
/// without a finding need not be checked again when the next one does it.
#pragma once

#include "emulator/machine/observer.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace emulator {

/// Stands between the machine and checkers that judge blocks (Watcher::judges_blocks).
///
/// The first block is checked, and its events are recorded: the reference trace. If the checkers found
/// nothing in it and read no values, the next block's events are only compared with the trace, which is far
/// less work than a check. At the first event that differs, the trace up to there is replayed to the
/// checkers, and they get every event from then on: they find what they would have found.
///
/// Events are accesses to shared memory (who, which instruction, which addresses), barriers of the whole
/// block and of whole warps, fences, and atomic or volatile accesses to global memory, by which threads tell
/// each other something. Other accesses to global memory go to the checkers at once. Blocks that do anything
/// else, such as asynchronous copies, are checked from there on and make no trace.
class BlockDeduplication final : public Watcher {
public:
    void add(Watcher& checker) { checkers_.push_back(&checker); }
    bool has_checkers() const { return !checkers_.empty(); }

    std::unique_ptr<Observer> observer(const Grid& grid) override;
    bool wants_one_thread() const override {
        return std::any_of(checkers_.begin(), checkers_.end(),
                           [](const Watcher* checker) { return checker->wants_one_thread(); });
    }

private:
    std::vector<Watcher*> checkers_;
};

} // namespace emulator
