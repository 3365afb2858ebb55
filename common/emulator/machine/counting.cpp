#include "emulator/machine/counting.hpp"

#include "emulator/program/code.hpp"

namespace emulator {

namespace {

void count_global(Counters& counters, AccessKind kind, std::uint32_t sectors) {
    counters[global_sectors(kind)] += sectors;
    if (kind == AccessKind::load) ++counters[Metric::global_load_requests];
    if (kind == AccessKind::store) ++counters[Metric::global_store_requests];
}

std::uint32_t sectors_taken(const Instruction& instruction, const Access& access) {
    const std::uint32_t touched = sectors(access);
    if (access.kind == AccessKind::load || access.kind == AccessKind::store) return touched;
    return instruction.is_warp_aggregated && touched == 1 ? 1 : atomic_sectors(access);
}

void count_shared(Counters& counters, AccessKind kind, const Wavefronts& passes) {
    if (kind == AccessKind::load) {
        counters[Metric::shared_load_wavefronts] += passes.count;
        counters[Metric::shared_load_bank_conflicts] += passes.count - passes.ideal;
    } else if (kind == AccessKind::store) {
        counters[Metric::shared_store_wavefronts] += passes.count;
        counters[Metric::shared_store_bank_conflicts] += passes.count - passes.ideal;
    } else {
        ++counters[Metric::shared_atomics];
    }
}

bool is_counted_as_shared(const Access& access) {
    return access.space == ptx::Space::shared && !access.remote; // an H200 counts no others either
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
        count_global(counters, access.kind, sectors_taken(instruction, access));
    else if (is_counted_as_shared(access))
        count_shared(counters, access.kind, wavefronts(access));
    else if (access.space == ptx::Space::local && access.kind == AccessKind::load && !instruction.is_argument)
        ++counters[Metric::local_loads];
}

void count_copy(Counters& counters, const AsyncCopy& copy) {
    if (copy.bulk_from) {
        ++counters[Metric::bulk_instructions];
        counters[Metric::bulk_sectors] +=
            bulk_sectors(reinterpret_cast<std::uintptr_t>(copy.bulk_from), copy.addresses[0], copy.bytes);
    } else if (copy.from) {
        const CopyTraffic traffic = copy_traffic(copy);
        counters[Metric::global_load_requests] += traffic.requests;
        counters[Metric::global_load_sectors] += traffic.sectors;
        ++counters[Metric::copy_instructions];
        counters[Metric::copy_wavefronts] += traffic.wavefronts.count;
    }
}

void count_ideal_copy(Counters& ideal, const AsyncCopy& copy) {
    if (copy.bulk_from) {
        ideal[Metric::bulk_sectors] += (copy.bytes + sector_bytes - 1) / sector_bytes;
    } else if (copy.from) {
        const CopyTraffic traffic = copy_traffic(copy);
        ideal[Metric::global_load_sectors] += traffic.ideal_sectors;
        ideal[Metric::copy_wavefronts] += traffic.wavefronts.ideal;
    }
}

void Counting::turn_ended(const Block&, const TurnCounts& executed) {
    counters_[Metric::warp_instructions] += executed.warp_instructions;
    counters_[Metric::thread_instructions] += executed.thread_instructions;
    counters_[Metric::thread_barriers] += executed.thread_barriers;
}

void Counting::accessed(const Warp&, const Instruction& instruction, const Access& access) {
    if (access.is_copy) return;
    if (is_counted_as_shared(access))
        count_shared(counters_, access.kind, last_wavefronts_.of(access));
    else
        count_access(counters_, instruction, access);
}

void Counting::diverged(const Warp&, const Instruction&, LaneMask, LaneMask) {
    ++counters_[Metric::divergent_branches];
}

} // namespace emulator
