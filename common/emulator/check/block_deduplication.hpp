/// Most blocks of a launch do the same to their shared memory, event by event. If the checkers found nothing
/// in one block, a block with the same events need not be checked again.
#pragma once

#include "emulator/machine/observer.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace emulator {

/// Stands between the machine and the checkers of watchers whose judges_blocks() is true.
///
/// The first block is checked, and its events are recorded: the reference trace. If the checkers found
/// nothing and read no values, the next block's events are only compared with the trace, which costs far less
/// than a check. At the first event that differs, the trace up to there is replayed to the checkers, and they
/// get every event from then on. So they find what they would have found.
///
/// Events are accesses to shared memory (warp, instruction, addresses), barriers of the whole block and of
/// whole warps, fences, and atomic or volatile accesses to global memory, which may synchronize threads.
/// Other accesses to global memory go to the checkers at once. A block that does anything else, such as an
/// asynchronous copy, is checked from there on and makes no trace.
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
