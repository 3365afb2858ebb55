/// \file
/// Weak memory: what a block stores, others may see late.
#pragma once

#include "emulator/machine/observer.hpp"

#include <memory>

namespace emulator {

/// Lets loads from global memory get the value from before the last store, where PTX's memory model allows
/// that. It is part of a Schedule, and the one watcher that changes results. All of this has to hold:
/// - Another block made the store, and the store does not happen before the load. See GridOrder.
/// - No other block has loaded the new value yet. The first one that does shows it to all, so no thread reads
///   an older value of a place after a newer one.
/// - The load is plain, or there is no fence of each block between the store and the load. So if two blocks
///   each store a flag, execute a fence and load the other's flag, one of them sees it.
/// - The load is plain, or the store was the first write to the word in this launch. A flag that is stored
///   twice may announce something with its first value, too.
///
/// Atomics always read and write the last value, unless their scope is the block or the cluster: those may
/// miss stores and each other, as loads do. The blocks of a cluster count as one. So do the threads of a
/// block: a fence of one of them counts for all. This shows less than the model allows, and never what it
/// forbids.
class WeakMemory final : public Watcher {
public:
    /// \pre The grid has a schedule, from which all choices are drawn.
    std::unique_ptr<Observer> observer(const Grid& grid) override;
    bool wants_one_thread() const override { return true; }
};

} // namespace emulator
