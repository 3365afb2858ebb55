/// Lanes of a block that test an mbarrier for the end of a phase without success.
#pragma once

#include "emulator/machine/observer.hpp"
#include "emulator/program/lanes.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace emulator {

class Block;
struct Code;
struct Instruction;
class Warp;

/// A program waits at an mbarrier in its own loop, so its lanes never stop executing. An endless wait is
/// detected only in a loop that tests nothing else.
class MbarrierWaits {
public:
    struct Wait {
        const Code* code = nullptr;
        const Instruction* instruction = nullptr; ///< that asks
        Block* owner = nullptr;                   ///< whose shared memory the mbarrier is in
        std::uint64_t offset = 0;                 ///< where
        bool phase = false;                       ///< that has to end

        friend bool operator==(const Wait&, const Wait&) = default;
    };
    /// Lanes of a warp that wait for the same phase.
    struct Group {
        Wait wait;
        LaneMask lanes = 0;
    };

    void clear();
    bool empty() const { return warps_.empty(); } ///< no test has ever failed

    void asked_in_vain(const Warp& warp, const Instruction& instruction, int lane, Block& owner,
                       std::uint64_t offset, bool phase);
    void phase_is_over(const Warp& warp, int lane);

    // ---- mbarriers of this block that end while lanes wait there ----

    /// The mbarrier at `offset` ends in this phase. Lanes that wait for the phase before are released: they
    /// can no longer see that it has ended.
    void release_from(std::uint64_t offset, bool phase);
    /// Whether the lane was released from this wait; forgets it.
    bool take_release(const Warp& warp, int lane, const Wait& wait);
    /// `instruction` initializes or invalidates the one at `offset`. `was_valid`: there was one before.
    void note(std::uint64_t offset, bool was_valid, MbarrierUse use, const Code& code,
              const Instruction& instruction);
    /// "; it was initialized again while it was in use, at kernels.cu:7", or nothing.
    std::string last_note(std::uint64_t offset) const;

    /// Whether all of these lanes spin until the phase ends, it has not ended, and no copy in flight can end
    /// it. Then only another thread's arrival can release them.
    bool are_stuck(const Warp& warp, LaneMask lanes);
    std::vector<Group> of(const Warp& warp, LaneMask lanes) const;

private:
    struct LanesOfWarp {
        LaneMask asking = 0;   ///< the last answer was no
        LaneMask released = 0; ///< the next one is yes
        std::array<Wait, warp_size> waits;
    };

    struct Note {
        const Code* code = nullptr;
        const Instruction* instruction = nullptr;
        MbarrierUse use = MbarrierUse::initialize;
        bool was_in_use = false; ///< when it was initialized again
    };

    bool is_stuck(const Wait& wait);
    bool can_only_ask(const Wait& wait);
    template <class Visit> void for_each_waiting_lane(std::uint64_t offset, Visit visit);

    std::vector<LanesOfWarp> warps_;
    std::unordered_map<std::uint64_t, Note> notes_; ///< the last ones, by offset
    std::unordered_map<const Instruction*, bool> spins_on_phase_;
};

/// "at the mbarrier at 0x40 (bar, 8 bytes of shared memory), which lacks 1 of 2 arrivals"
std::string in_words(const MbarrierWaits::Wait& wait);

} // namespace emulator
