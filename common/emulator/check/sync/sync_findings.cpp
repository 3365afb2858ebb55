#include "emulator/check/sync/sync_findings.hpp"

#include "emulator/machine/describe.hpp"
#include "emulator/text.hpp"

#include <bit>

namespace emulator {

Finding SyncFindings::finding(std::string kind, std::string message, std::vector<Party> parties,
                              std::string cause) const {
    return {.checker = "sync",
            .kind = std::move(kind),
            .message = std::move(message),
            .kernel = grid_.kernel.readable_name(),
            .parties = std::move(parties),
            .allocation = "",
            .cause = std::move(cause)};
}

Party SyncFindings::party_of(std::string role, const Block& block, const LaneGroup& group) const {
    const std::uint64_t thread =
        std::uint64_t{group.warp} * warp_size + static_cast<std::uint32_t>(std::countr_zero(group.lanes));
    return party(std::move(role), ids_.code(group.id), InstructionIds::pc(group.id), block.index(),
                 coordinates(thread, grid_.configuration.block));
}

std::string number_of(std::uint64_t count, const std::string& what) {
    return thousands(count) + " " + what + (count == 1 ? "" : "s");
}

std::string lanes_in_words(LaneMask lanes) {
    const int first = std::countr_zero(lanes), last = 31 - std::countl_zero(lanes),
              count = std::popcount(lanes);
    if (count == 1) return "lane " + std::to_string(first);
    if (count > 2 && last - first + 1 == count)
        return "lanes " + std::to_string(first) + " to " + std::to_string(last);
    std::string text = "lanes ";
    for_each_lane(lanes, [&](int lane) {
        text += (lane == first ? "" : lane == last ? " and " : ", ") + std::to_string(lane);
    });
    return text;
}

} // namespace emulator
