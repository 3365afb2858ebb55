#include "emulator/execute/opcodes.hpp"

namespace emulator {

const OpcodeTable& all_opcodes() {
    static const OpcodeTable table = [] {
        OpcodeTable result;
        for (const auto family :
             {integer_opcodes(), floating_point_opcodes(), logic_opcodes(), compare_opcodes(),
              convert_opcodes(), memory_opcodes(), atomic_opcodes(), warp_opcodes(), control_opcodes(),
              carry_opcodes(), video_opcodes(), async_copy_opcodes(), mbarrier_opcodes()})
            for (const Opcode& opcode : family) result.emplace(opcode.name, opcode.decode);
        return result;
    }();
    return table;
}

} // namespace emulator
