/// \file
/// What the machine tells those who watch it. Observers never change a result.
#pragma once

#include "emulator/machine/lanes.hpp"
#include "emulator/ptx/types.hpp"

#include <cstdint>

namespace emulator {

struct Code;
struct Instruction;
class Warp;

enum class AccessKind : std::uint8_t {
    load,
    store,
    atom, ///< an atomic whose old value is used
    red,  ///< an atomic whose old value is not used
};

/// One warp-level memory instruction: what hardware calls a request.
struct Access {
    ptx::Space space = ptx::Space::global; ///< where the bytes really are: never generic
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 0; ///< of each lane's access: 1 to 16
    LaneMask active = 0;     ///< never none
    /// 32 addresses: of global memory as the program sees them, else offsets in the block's shared or the
    /// thread's local memory. An inactive lane repeats the address of the first active one, so that loops
    /// over all lanes need no mask.
    const std::uint64_t* addresses = nullptr;
};

/// Gets every event of the blocks that one host thread runs.
class Observer {
public:
    virtual ~Observer() = default;

    /// The lanes in `active` executed `count` instructions from `first` on, one after the other.
    virtual void executed(const Warp&, const Code&, std::uint32_t /*first*/, std::uint32_t /*count*/,
                          LaneMask /*active*/) {}

    virtual void accessed(const Warp&, const Instruction&, const Access&) {}

    /// Of the lanes in `active`, those in `taken` jumped: some, but not all.
    virtual void diverged(const Warp&, const Instruction&, LaneMask /*active*/, LaneMask /*taken*/) {}
};

} // namespace emulator
