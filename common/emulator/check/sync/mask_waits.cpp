#include "emulator/check/sync/mask_waits.hpp"

#include "emulator/machine/describe.hpp"
#include "emulator/text.hpp"

#include <bit>
#include <string>
#include <utility>

namespace emulator {

namespace {

constexpr const char* even_if_unused = " A kernel that throws the value away can be right, but CUDA allows "
                                       "reads only from lanes that take part.";

} // namespace

void MaskWaits::arrive(OfBlock& of_block, const Warp& warp, const Instruction& instruction,
                       const WarpSyncArrival& arrival, const std::vector<LaneGroup>& exits) {
    note_passing(of_block, warp, instruction, arrival.lanes);
    for (LaneMask left = arrival.lanes; left != 0;) {
        const LaneMask named = arrival.members[std::countr_zero(left)];
        const LaneMask group = left & lanes_where([&](int lane) { return arrival.members[lane] == named; });
        left &= ~group;
        if ((group & ~named) != 0) found_mask_without_caller(warp, instruction, group & ~named, named);
        if ((named & ~warp.live()) != 0 && arrival.source)
            check_sources(warp, instruction, arrival.source, group, named, exits);
        if ((named & warp.live() & ~group) != 0) wait(of_block, warp, instruction, group, named);
        if (named != all_lanes && arrival.source)
            check_sources_are_named(warp, instruction, arrival.source, group & named, named);
    }
}

void MaskWaits::complete(OfBlock& of_block, const Warp& warp, const Instruction& instruction, LaneMask lanes,
                         bool is_barrier) {
    auto& waits = of_block[warp.index()];
    if (waits.empty()) return;
    for (MaskWait& wait : waits) {
        if ((wait.lanes & lanes) == 0 || (!is_barrier && wait.instruction != &instruction)) continue;
        const LaneMask passed = wait.passed & ~lanes & ~warp.live();
        if (passed != 0) found_passing(warp.block(), warp.index(), wait, passed);
        wait.lanes &= ~lanes;
    }
    std::erase_if(waits, [](const MaskWait& wait) { return wait.lanes == 0; });
    if (waits.empty()) --waiting_warps_;
}

void MaskWaits::forget(OfBlock& of_block) {
    for (auto& waits : of_block) waiting_warps_ -= std::exchange(waits, {}).empty() ? 0 : 1;
}

void MaskWaits::note_passing(OfBlock& of_block, const Warp& warp, const Instruction& instruction,
                             LaneMask lanes) {
    for (MaskWait& wait : of_block[warp.index()]) {
        const LaneMask passing = lanes & wait.named & ~wait.lanes & ~wait.passed;
        if (passing == 0) continue;
        const InstructionId here = findings_.id(warp, instruction);
        if (&findings_.ids().code(here) != &findings_.ids().code(wait.id) || here <= wait.id) continue;
        if (wait.passed == 0) wait.passed_at = here;
        wait.passed |= passing;
    }
}

/// A lane that has exited leaves no value behind, and the last warp of a block may have fewer than 32.
void MaskWaits::check_sources(const Warp& warp, const Instruction& instruction,
                              decltype(WarpSyncArrival::source) source_of, LaneMask group, LaneMask named,
                              const std::vector<LaneGroup>& exits) {
    LaneMask absent = named & ~warp.live();
    for (const LaneGroup& gone : exits) {
        if (gone.warp != warp.index()) continue;
        absent &= ~gone.lanes;
        for_each_lane(group, [&](int lane) {
            const int source = source_of(warp, instruction, lane);
            if (source >= 0 && (gone.lanes & named) >> source & 1)
                found_exited_source(warp, instruction, lane, gone, source);
        });
    }
    for_each_lane(absent != 0 ? group : 0, [&](int lane) {
        const int source = source_of(warp, instruction, lane);
        if (source >= 0 && absent >> source & 1) found_absent_source(warp, instruction, lane, source);
    });
}

void MaskWaits::check_sources_are_named(const Warp& warp, const Instruction& instruction,
                                        decltype(WarpSyncArrival::source) source_of, LaneMask group,
                                        LaneMask named) {
    for_each_lane(group, [&](int lane) {
        const int source = source_of(warp, instruction, lane);
        if (source >= 0 && (named >> source & 1) == 0)
            found_unnamed_source(warp, instruction, lane, named, source);
    });
}

void MaskWaits::wait(OfBlock& of_block, const Warp& warp, const Instruction& instruction, LaneMask group,
                     LaneMask named) {
    auto& waits = of_block[warp.index()];
    for (MaskWait& known : waits)
        if (known.instruction == &instruction && known.named == named) {
            known.lanes |= group;
            return;
        }
    if (waits.empty()) ++waiting_warps_;
    waits.push_back({&instruction, findings_.id(warp, instruction), group, named, 0, 0});
}

void MaskWaits::found_mask_without_caller(const Warp& warp, const Instruction& instruction, LaneMask lanes,
                                          LaneMask named) {
    const InstructionId here = findings_.id(warp, instruction);
    findings_.add(SyncFindings::Kind::mask_without_caller, here, here, [&] {
        return findings_.finding(
            "mask without its caller",
            lanes_in_words(lanes) + " of warp " + std::to_string(warp.index()) +
                " execute this with the mask " + hexadecimal(named) + ", which does not name " +
                (std::popcount(lanes) == 1 ? "it" : "them"),
            {party("is here", warp, instruction, std::countr_zero(lanes))},
            "The mask has to name every lane that executes this: is it another branch's mask?");
    });
}

void MaskWaits::found_passing(const Block& block, std::uint32_t warp, const MaskWait& wait, LaneMask passed) {
    findings_.add(SyncFindings::Kind::passing, wait.id, wait.passed_at, [&] {
        return findings_.finding(lanes_do_not_come,
                                 "the mask " + hexadecimal(wait.named) + " names " + lanes_in_words(passed) +
                                     " of warp " + std::to_string(warp) +
                                     ", which went on without arriving here",
                                 {findings_.party_of("waits here", block, {warp, wait.lanes, wait.id}),
                                  findings_.party_of("went on", block, {warp, passed, wait.passed_at})},
                                 cause_of_missing_lanes);
    });
}

void MaskWaits::found_exited_source(const Warp& warp, const Instruction& instruction, int lane,
                                    const LaneGroup& gone, int source) {
    const InstructionId here = findings_.id(warp, instruction);
    findings_.add(SyncFindings::Kind::exited_source, here, gone.id, [&] {
        return findings_.finding(
            "shuffle from an exited lane",
            "lane " + std::to_string(lane) + " of warp " + std::to_string(warp.index()) +
                " reads the value of lane " + std::to_string(source) +
                ", which has exited: what it gets is undefined",
            {party("reads", warp, instruction, lane),
             findings_.party_of("has exited", warp.block(), {warp.index(), LaneMask{1} << source, gone.id})},
            std::string("A return before the shuffle keeps lanes from it: let all lanes reach it.") +
                even_if_unused);
    });
}

void MaskWaits::found_absent_source(const Warp& warp, const Instruction& instruction, int lane, int source) {
    const InstructionId here = findings_.id(warp, instruction);
    findings_.add(SyncFindings::Kind::exited_source, here, here, [&] {
        return findings_.finding(
            "shuffle from a lane that does not exist",
            "lane " + std::to_string(lane) + " of warp " + std::to_string(warp.index()) +
                " reads the value of lane " + std::to_string(source) +
                ", for which the block has no thread: what it gets is undefined",
            {party("reads", warp, instruction, lane)},
            std::string(
                "The block's size is no multiple of 32. Launch whole warps, with a neutral value where there "
                "is none.") +
                even_if_unused);
    });
}

void MaskWaits::found_unnamed_source(const Warp& warp, const Instruction& instruction, int lane,
                                     LaneMask named, int source) {
    const InstructionId here = findings_.id(warp, instruction);
    findings_.add(SyncFindings::Kind::unnamed_source, here, here, [&] {
        return findings_.finding(
            "shuffle from a lane outside its mask",
            "lane " + std::to_string(lane) + " of warp " + std::to_string(warp.index()) +
                " reads the value of lane " + std::to_string(source) + ", which its mask " +
                hexadecimal(named) + " does not name: what it gets is undefined",
            {party("reads", warp, instruction, lane)},
            std::string(
                "Let all 32 lanes execute the shuffle, with a neutral value where there is none. Or keep the "
                "distance below the number of lanes in the mask, and pass that number as the width.") +
                even_if_unused);
    });
}

} // namespace emulator
