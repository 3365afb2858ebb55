#include "emulator/machine/fault.hpp"

#include "emulator/machine/block.hpp"

namespace emulator {

bool is_absorbed(const Warp& warp, const Fault& fault, LaneMask lanes) {
    bool result = false;
    for (Observer* const observer : warp.block().observers())
        result = observer->absorbs_fault(warp, fault, lanes) || result;
    return result;
}

} // namespace emulator
