#include "emulator/observe/counting.hpp"

#include "emulator/machine/code.hpp"
#include "emulator/observe/memory_traffic.hpp"

#include <bit>

namespace emulator {

namespace {

void count_global(Counters& counters, const Instruction& instruction, const Access& access) {
    const std::uint32_t touched = sectors(access);
    const auto atomic = [&] { return instruction.is_joined && touched == 1 ? 1 : atomic_sectors(access); };
    const bool is_atomic = access.kind == AccessKind::atom || access.kind == AccessKind::red;
    counters[global_sectors(access.kind)] += is_atomic ? atomic() : touched;
    if (access.kind == AccessKind::load) ++counters[Metric::global_load_requests];
    if (access.kind == AccessKind::store) ++counters[Metric::global_store_requests];
}

void count_shared(Counters& counters, const Access& access) {
    const Wavefronts passes = wavefronts(access);
    if (access.kind == AccessKind::load) {
        counters[Metric::shared_load_wavefronts] += passes.count;
        counters[Metric::shared_load_bank_conflicts] += passes.count - passes.ideal;
    } else if (access.kind == AccessKind::store) {
        counters[Metric::shared_store_wavefronts] += passes.count;
        counters[Metric::shared_store_bank_conflicts] += passes.count - passes.ideal;
    }
}

} // namespace

Metric global_sectors(AccessKind kind) {
    switch (kind) {
    case AccessKind::load: return Metric::global_load_sectors;
    case AccessKind::store: return Metric::global_store_sectors;
    case AccessKind::atom: return Metric::global_atom_sectors;
    case AccessKind::red: break;
    }
    return Metric::global_red_sectors;
}

void count_access(Counters& counters, const Instruction& instruction, const Access& access) {
    if (access.space == ptx::Space::global)
        count_global(counters, instruction, access);
    else if (access.space == ptx::Space::shared && !access.remote) // an H200 counts no others either
        count_shared(counters, access);
}

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
    if (!access.is_copy) count_access(counters_, instruction, access);
}

void Counting::diverged(const Warp&, const Instruction&, LaneMask, LaneMask) {
    ++counters_[Metric::divergent_branches];
}

} // namespace emulator
