#include "emulator/check/memory_checker.hpp"

#include "emulator/check/local_findings.hpp"
#include "emulator/machine/access_diagnosis.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>
#include <vector>

namespace emulator {

namespace {

/// Bytes from `first` up to `end`.
struct Range {
    std::uint64_t first = 0, end = 0;

    bool contains(std::uint64_t place, std::uint32_t bytes) const {
        return place >= first && place + bytes <= end;
    }
    bool overlaps(std::uint64_t place, std::uint32_t bytes) const {
        return place < end && first < place + bytes;
    }
};

/// Padding between two shared variables that aligns the second one.
struct Gap {
    Range bytes;
    std::string behind; ///< the variable before it
};

std::vector<Gap> gaps_in_shared_memory(const Grid& grid) {
    std::vector<Gap> gaps;
    std::uint64_t end = 0;
    for (const SharedVariable& variable : grid.kernel.shared_variables()) {
        if (variable.offset > end && end > 0)
            gaps.push_back({{end, variable.offset}, shared_variable(grid, end - 1)});
        end = std::max(end, std::uint64_t{variable.offset} + variable.bytes);
    }
    return gaps;
}

/// The variable of the running function, or of a caller, that holds the bytes; {} if there is none.
Range local_variable(const Warp& warp, std::uint64_t place, std::uint32_t bytes) {
    for (const Frame* frame = warp.running().frame; frame; frame = frame->caller) {
        for (const Code::LocalVariable& variable : frame->code->local_variables) {
            const std::uint64_t first = std::uint64_t{frame->local_base} + variable.offset;
            if (const Range range{first, first + variable.bytes}; range.contains(place, bytes)) return range;
        }
        const std::uint64_t behind = std::uint64_t{frame->local_base} + frame->code->local_bytes;
        if (const Range room{behind, behind + frame->room}; room.contains(place, bytes)) return room;
    }
    return {};
}

/// The most faults that a host thread absorbs. The next one ends the launch, as without a checker: absorbed
/// loads give zeros, which may keep a loop running forever, such as a search for the end of a list.
constexpr std::uint64_t max_absorbed = 1'000'000;

class MemoryObserver final : public Observer {
public:
    MemoryObserver(Findings& findings, const Grid& grid)
        : findings_(findings), shared_gaps_(gaps_in_shared_memory(grid)),
          heap_(grid.memory.heap(grid.configuration.device)) {}

    bool wants(EventKind kind) const override {
        return kind == EventKind::local_access ||
               (kind == EventKind::shared_access && !shared_gaps_.empty()) ||
               (is_global_access(kind) && heap_);
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        if (access.space == ptx::Space::local)
            check_local(warp, instruction, access);
        else if (access.space == ptx::Space::global)
            check_heap(warp, instruction, access);
        else
            check_shared(warp, instruction, access);
    }

    bool absorbs_fault(const Warp& warp, const Fault& fault, LaneMask lanes) override {
        if (!fault.access || ++absorbed_ > max_absorbed) return false;
        const GlobalMemory& memory = warp.block().grid().memory;
        const bool was_freed =
            fault.access->space == ptx::Space::global && memory.freed(fault.access->address);
        findings_.add({fault.instruction, fault.failure, fault.access->space, was_freed},
                      std::popcount(lanes), [&] {
                          return finding(warp, *fault.instruction, fault.lane,
                                         diagnose(warp.block(), fault.failure, *fault.access), *fault.access);
                      });
        return true;
    }

private:
    static Finding finding(const Warp& warp, const Instruction& instruction, int lane,
                           AccessDiagnosis diagnosis, const LaneAccess& access) {
        return {.checker = "mem",
                .kind = std::move(diagnosis.kind),
                .message = std::move(diagnosis.message),
                .kernel = warp.block().grid().kernel.readable_name(),
                .parties = {party(role_of(access.kind), warp, instruction, lane)},
                .allocation = std::move(diagnosis.allocation),
                .cause = std::move(diagnosis.cause)};
    }

    /// The access can be made: its bytes are in the heap, in the thread's frame or the block's shared memory.
    void found(const Warp& warp, const Instruction& instruction, const Access& access, LaneMask lanes,
               AccessDiagnosis diagnosis) {
        const int lane = std::countr_zero(lanes);
        findings_.add(
            {&instruction, Failure::illegal_address, access.space, access.space == ptx::Space::global},
            std::popcount(lanes), [&] {
                const LaneAccess one{access.space, access.kind, access.bytes, access.addresses[lane]};
                diagnosis.message = "illegal " + describe(one) + ": " + diagnosis.message;
                return finding(warp, instruction, lane, std::move(diagnosis), one);
            });
    }

    void check_local(const Warp& warp, const Instruction& instruction, const Access& access) {
        Range variable;
        LaneMask outside = 0;
        for_each_lane(access.active, [&](int lane) {
            const std::uint64_t place = access.addresses[lane];
            if (variable.contains(place, access.bytes)) return;
            variable = local_variable(warp, place, access.bytes);
            if (variable.end == 0) outside |= LaneMask{1} << lane;
        });
        if (outside != 0)
            found(warp, instruction, access, outside,
                  {"out of bounds", "the thread has no array there", "",
                   "An index runs past the end of a thread's local array."});
    }

    void check_shared(const Warp& warp, const Instruction& instruction, const Access& access) {
        LaneMask outside = 0;
        const Gap* gap_touched = nullptr;
        for_each_lane(access.active, [&](int lane) {
            for (const Gap& gap : shared_gaps_) {
                if (!gap.bytes.overlaps(access.addresses[lane], access.bytes)) continue;
                outside |= LaneMask{1} << lane;
                if (!gap_touched) gap_touched = &gap;
            }
        });
        if (outside != 0)
            found(warp, instruction, access, outside,
                  {"out of bounds", "behind " + gap_touched->behind, gap_touched->behind,
                   "An index runs past the end of a shared array."});
    }

    void check_heap(const Warp& warp, const Instruction& instruction, const Access& access) {
        if (access.addresses.are_strided() &&
            !heap_->may_be_freed(access.addresses.lowest(), access.addresses.highest() + access.bytes - 1))
            return;
        LaneMask gone = 0;
        for_each_lane(access.active,
                      [&](int lane) { gone |= LaneMask{heap_->is_freed(access.addresses[lane])} << lane; });
        if (gone == 0) return;
        const std::uint64_t first = access.addresses[std::countr_zero(gone)], piece = heap_->freed(first);
        found(warp, instruction, access, gone,
              {"use after free",
               "byte " + thousands(first - piece) + " of a piece of the heap that device code has freed",
               "the heap of device code", "The memory was freed before its last use, or by another owner."});
    }

    using Key = std::tuple<const Instruction*, Failure, ptx::Space, bool>;
    LocalFindings<Key> findings_;
    const std::vector<Gap> shared_gaps_;
    const DeviceHeap* const heap_; ///< null: no kernel has used it yet
    std::uint64_t absorbed_ = 0;
};

/// Describes a pointer that cannot be freed.
AccessDiagnosis diagnose_free(const RejectedCall& call, const GlobalMemory& memory) {
    const std::string free = call.name + " of " + hexadecimal(call.address);
    const FreedAllocation* const freed = memory.freed(call.address);
    if (freed && freed->allocation.address == call.address)
        return {"double free", free + ", which " + freed->by + " has freed already",
                describe(freed->allocation) + ", freed by " + freed->by,
                "Two owners freed the same pointer: let one own it, or set it to nullptr when it is freed."};
    AccessDiagnosis result{"invalid free", "", "",
                           "Only the pointer that an allocating call returned can be freed."};
    if (const Allocation* const allocation = memory.find(call.address)) {
        result.allocation = describe(*allocation);
        if (allocation->address == call.address) {
            result.message = free + ", which is of " + allocation->origin;
            result.cause = "cudaFree frees memory from cudaMalloc and cudaMallocManaged, cudaFreeHost memory "
                           "from cudaMallocHost and cudaHostAlloc.";
        } else {
            result.message = free + ", which is byte " + thousands(call.address - allocation->address) +
                             " of " + describe(*allocation);
        }
    } else if (const auto host = host_memory_at(call.address)) {
        result.message = free + ", which is host memory" + (host->empty() ? "" : ", " + *host);
    } else {
        result.message = free + ", which no call has allocated";
    }
    return result;
}

/// Describes a pointer that a copy or a memset cannot use.
AccessDiagnosis diagnose_copy(const RejectedCall& call, const GlobalMemory& memory) {
    const char* const wrong_way = "The copy's arguments are in the wrong order, or its direction is wrong.";
    const std::string place = byte_count(call.bytes) + " at " + hexadecimal(call.address);
    if (call.wants_host) {
        const std::string allocation = describe(*memory.find(call.address));
        return {"device pointer",
                "copy whose direction says that " + place + " are host memory: they belong to " + allocation,
                allocation, wrong_way};
    }
    if (!call.variable.empty())
        return {"variable for a pointer",
                call.name + " of " + place + ": this is the host's shadow of the device variable " +
                    call.variable,
                "",
                "Use cudaMemcpyToSymbol and cudaMemcpyFromSymbol for __device__ and __constant__ variables, "
                "or the address from cudaGetSymbolAddress."};
    AccessDiagnosis result = diagnose(memory, call.address, call.bytes);
    result.message = call.name + " of " + place + ": " + result.message;
    if (result.kind == "out of bounds")
        result.cause =
            "The copy is larger than the allocation: its size is in the wrong unit, or is another array's.";
    if (result.kind == "host pointer") result.cause = wrong_way;
    return result;
}

} // namespace

std::unique_ptr<Observer> MemoryChecker::observer(const Grid& grid) {
    return std::make_unique<MemoryObserver>(findings_, grid);
}

void MemoryChecker::allocated(const Allocation& allocation, bool) {
    allocations_.emplace(allocation.address, describe(allocation));
}

void MemoryChecker::freed(const Allocation& allocation) { allocations_.erase(allocation.address); }

void MemoryChecker::rejected(const RejectedCall& call, const GlobalMemory& memory) {
    AccessDiagnosis diagnosis = call.bytes == 0 ? diagnose_free(call, memory) : diagnose_copy(call, memory);
    findings_.add({.checker = "mem",
                   .kind = std::move(diagnosis.kind),
                   .message = std::move(diagnosis.message),
                   .allocation = std::move(diagnosis.allocation),
                   .cause = std::move(diagnosis.cause)});
}

void MemoryChecker::lost(const Allocation& allocation) {
    lost_.push_back(describe(allocation));
    freed(allocation);
}

void MemoryChecker::program_ends() {
    if (!leaks_) return;
    for (const auto& [address, allocation] : allocations_) lost_.push_back(allocation);
    for (const std::string& allocation : lost_)
        findings_.add({.checker = "mem",
                       .kind = "leak",
                       .message = allocation + ", never freed",
                       .allocation = allocation,
                       .cause = "A cudaFree is missing on some path to the end of the program."});
}

} // namespace emulator
