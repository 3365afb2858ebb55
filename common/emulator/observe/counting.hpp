/// \file
/// The observer that keeps the counters.
#pragma once

#include "emulator/observe/counters.hpp"
#include "emulator/observe/observer.hpp"

namespace emulator {

/// Counts what one host thread runs. Aligned to a cache line, so that threads do not wait for each other's
/// counters.
class alignas(64) Counting final : public Observer {
public:
    void executed(const Warp& warp, const Code& code, std::uint32_t first, std::uint32_t count,
                  LaneMask active) override;
    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override;
    void diverged(const Warp& warp, const Instruction& instruction, LaneMask active, LaneMask taken) override;

    const Counters& counters() const { return counters_; }

private:
    void count_global(const Instruction& instruction, const Access& access);
    void count_shared(const Access& access);

    Counters counters_;
};

} // namespace emulator
