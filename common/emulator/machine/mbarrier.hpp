/// An mbarrier object: eight bytes of shared memory that threads and copies arrive at.
#pragma once

#include "emulator/machine/block.hpp"
#include "emulator/machine/warp.hpp"

#include <cstdint>
#include <optional>

namespace emulator {

/// The object at an offset of a block's shared memory. PTX leaves its bits opaque: a program that reads them
/// depends on this emulator.
class Mbarrier {
public:
    static constexpr std::uint32_t max_arrivals = (1u << 20) - 1;
    static constexpr std::uint32_t bytes = 8;

    Mbarrier(Block& owner, std::uint64_t offset) : owner_(owner), offset_(offset) {}

    // The operations of a lane, each by an instruction. \throws Fault for what PTX leaves undefined.

    void initialize(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t arrivals);
    void invalidate(const Warp& warp, const Instruction& instruction, int lane);

    /// Returns the previous state, for test().
    std::uint64_t arrive(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t arrivals,
                         bool drops = false, bool may_complete = true);
    /// Expects one more arrival in this phase: that of a thread whose copies have to end first.
    void expect_arrival(const Warp& warp, const Instruction& instruction, int lane);
    void expect_bytes(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t count);
    void complete_bytes(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t count);

    /// Whether the phase of `state` has ended.
    bool test(const Warp& warp, const Instruction& instruction, int lane, std::uint64_t state);
    /// Whether the phase of this parity, the current one or the one before, has ended.
    bool test_parity(const Warp& warp, const Instruction& instruction, int lane, std::uint32_t parity);

    /// What the current phase still needs.
    struct Missing {
        std::uint32_t arrivals = 0, of = 0;
        std::int64_t bytes = 0; ///< below 0: more have come than were expected
        bool phase = false;     ///< changes with each
    };
    /// Nothing: there is no mbarrier.
    std::optional<Missing> missing() const;
    /// Ends this phase, if it is the current one, as if everything had arrived.
    void end_phase(bool phase);

    /// Arrivals that a state still lacks.
    static std::uint32_t pending_count(std::uint64_t state);

private:
    struct State;

    std::optional<State> state() const; ///< nothing: there is no mbarrier
    State load(const Instruction& instruction, int lane) const;
    void store(State state);
    /// The object that is there, if any, ends by `use`: it is initialized again or invalidated.
    void end(const Warp& warp, const Instruction& instruction, MbarrierUse use) const;
    void tell(const Warp& warp, const Instruction& instruction, int lane, MbarrierUse use) const;

    Block& owner_;
    std::uint64_t offset_;
};

} // namespace emulator
