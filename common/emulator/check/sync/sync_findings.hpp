/// What the parts of the checker `sync` share: groups of lanes, and building findings.
#pragma once

#include "emulator/check/instruction_ids.hpp"
#include "emulator/check/local_findings.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/finding.hpp"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace emulator {

/// Lanes of a warp, and the instruction where they are.
struct LaneGroup {
    std::uint32_t warp = 0;
    LaneMask lanes = 0;
    InstructionId id = 0;
};

class SyncFindings {
public:
    enum class Kind {
        deadlock,
        not_reached,
        divergent,
        different_numbers,
        wrong_barrier,
        mask_without_caller,
        passing,
        no_wait,
        no_mbarrier,
        exited_source,
        unnamed_source
    };

    SyncFindings(Findings& all, const Grid& grid) : findings_(all), grid_(grid) {}

    const Grid& grid() const { return grid_; }
    const InstructionIds& ids() const { return ids_; }
    InstructionId id(const Code& code, std::uint32_t pc) { return ids_(code, pc); }
    InstructionId id(const Warp& warp, const Instruction& instruction) {
        return ids_(*warp.running().frame->code, instruction);
    }

    /// `describe()` returns the finding when it is the first of its kind at these places.
    template <class Describe>
    void add(Kind kind, InstructionId first, InstructionId second, Describe describe) {
        findings_.add({kind, ids_.of_line(first), ids_.of_line(second)}, 1, describe);
    }

    Finding finding(std::string kind, std::string message, std::vector<Party> parties,
                    std::string cause) const;

    /// The first thread of the group.
    Party party_of(std::string role, const Block& block, const LaneGroup& group) const;

private:
    LocalFindings<std::tuple<Kind, InstructionId, InstructionId>> findings_;
    const Grid& grid_;
    InstructionIds ids_;
};

/// "1 thread", "2,048 threads"
std::string number_of(std::uint64_t count, const std::string& what);

/// "lane 5", "lanes 16 to 31", "lanes 0, 8 and 9"
std::string lanes_in_words(LaneMask lanes);

} // namespace emulator
