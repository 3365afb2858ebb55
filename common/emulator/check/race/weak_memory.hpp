/// Weak memory: other blocks may see a block's stores late.
#pragma once

#include "emulator/machine/observer.hpp"

#include <memory>

namespace emulator {

/// Lets loads from global memory get the value from before the last store, where PTX's memory model allows
/// that. It is part of a Schedule, and the one watcher that changes results. All of these must hold:
/// - Another block made the store, and the store does not happen before the load. See GridOrder.
/// - No other block has loaded the new value yet. The first one that does makes it visible to
///   all, so no thread reads an older value of a location after a newer one.
/// - The load is plain, or not both blocks executed a fence between the store and the load. So if two blocks
///   each store a flag, execute a fence and load the other's flag, one of them sees it.
/// - The load is plain, or the store was the first write to the word in this launch. A flag that is stored
///   twice may also announce something with its first value.
///
/// Atomics always read and write the last value, unless their scope is the block or the cluster: those may
/// miss stores and each other, as loads do. The blocks of a cluster count as one. So do the threads of a
/// block: a fence of one counts for all. This shows fewer outcomes than the model allows, and never one that
/// it forbids.
class WeakMemory final : public Watcher {
public:
    /// \pre The grid has a schedule, which makes all choices.
    std::unique_ptr<Observer> observer(const Grid& grid) override;
    bool wants_one_thread() const override { return true; }
};

} // namespace emulator
