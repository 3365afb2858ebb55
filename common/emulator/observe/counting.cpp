#include "emulator/observe/counting.hpp"

#include "emulator/machine/code.hpp"
#include "emulator/observe/memory_traffic.hpp"

#include <bit>

namespace emulator {

void Counting::executed(const Warp&, const Code& code, std::uint32_t first, std::uint32_t count,
                        LaneMask active) {
    counters_[Metric::warp_instructions] += count;
    counters_[Metric::thread_instructions] +=
        std::uint64_t{count} * static_cast<std::uint32_t>(std::popcount(active));
    // A control instruction is the last of its run. Lanes of a warp may come to a barrier one after the
    // other: count lanes.
    if (count > 0 && code.instructions[first + count - 1].is_block_barrier)
        counters_[Metric::thread_barriers] += static_cast<std::uint32_t>(std::popcount(active));
}

void Counting::accessed(const Warp&, const Instruction& instruction, const Access& access) {
    if (access.space == ptx::Space::global)
        count_global(instruction, access);
    else if (access.space == ptx::Space::shared)
        count_shared(access);
}

void Counting::diverged(const Warp&, const Instruction&, LaneMask, LaneMask) {
    ++counters_[Metric::divergent_branches];
}

void Counting::count_global(const Instruction& instruction, const Access& access) {
    const std::uint32_t touched = sectors(access);
    const auto atomic = [&] { return instruction.is_joined && touched == 1 ? 1 : atomic_sectors(access); };
    switch (access.kind) {
    case AccessKind::load:
        counters_[Metric::global_load_sectors] += touched;
        ++counters_[Metric::global_load_requests];
        break;
    case AccessKind::store:
        counters_[Metric::global_store_sectors] += touched;
        ++counters_[Metric::global_store_requests];
        break;
    case AccessKind::atom: counters_[Metric::global_atom_sectors] += atomic(); break;
    case AccessKind::red: counters_[Metric::global_red_sectors] += atomic(); break;
    }
}

void Counting::count_shared(const Access& access) {
    const Wavefronts passes = wavefronts(access);
    if (access.kind == AccessKind::load) {
        counters_[Metric::shared_load_wavefronts] += passes.count;
        counters_[Metric::shared_load_bank_conflicts] += passes.count - passes.ideal;
    } else if (access.kind == AccessKind::store) {
        counters_[Metric::shared_store_wavefronts] += passes.count;
        counters_[Metric::shared_store_bank_conflicts] += passes.count - passes.ideal;
    }
}

} // namespace emulator
