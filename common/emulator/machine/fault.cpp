#include "emulator/machine/fault.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/program/source_location.hpp"

#include <bit>
#include <sstream>
#include <string>

namespace emulator {

bool is_absorbed(const Warp& warp, const Fault& fault, LaneMask lanes) {
    bool result = false;
    for (Observer* const observer : warp.block().observers())
        result = observer->absorbs_fault(warp, fault, lanes) || result;
    return result;
}

void report_fault(const Fault& fault, const Warp& warp) {
    const Block& block = warp.block();
    const Code& code = *warp.running().frame->code;
    const std::uint32_t pc = code.index_of(*fault.instruction);
    const Dim3 thread =
        coordinates(std::uint64_t{warp.index()} * warp_size + static_cast<std::uint32_t>(fault.lane),
                    block.grid().configuration.block);
    std::string message = fault.message + "\nin " + block.grid().kernel.readable_name() + ", block " +
                          triple(block.index()) + ", thread " + triple(thread);
    if (const std::string line = source_line(code, pc); !line.empty()) message += ", at " + line;
    throw Error(fault.failure, message + "\n" + ptx_line(code, pc));
}

void report_pending_copy(const Block& block, const AsyncCopies::Bulk& bulk) {
    const std::uint32_t pc = bulk.code->index_of(*bulk.instruction);
    std::string message = "block " + triple(block.index()) + " of " + block.grid().kernel.readable_name() +
                          " has ended before a bulk copy to its shared memory: one of its threads has to "
                          "wait at the copy's mbarrier";
    if (const std::string line = source_line(*bulk.code, pc); !line.empty()) message += ", at " + line;
    throw Error(Failure::launch_failure, message + "\n" + ptx_line(*bulk.code, pc));
}

void report_deadlock(const Block& block) {
    std::ostringstream message;
    message << "no thread of block " << triple(block.index()) << " of " << block.grid().kernel.readable_name()
            << " can go on: each waits for others that have exited or never arrive";
    for (const WaitingLanes& one : block.waiting()) {
        const int first = static_cast<int>(one.warp->index()) * warp_size;
        message << '\n'
                << std::popcount(one.lanes) << " threads of warp " << one.warp->index() << " (from thread "
                << first + std::countr_zero(one.lanes) << " to " << first + 31 - std::countl_zero(one.lanes)
                << ") wait ";
        if (one.mbarrier)
            message << in_words(*one.mbarrier);
        else if (one.converged->wait == Wait::block_barrier)
            message << "at barrier " << one.converged->barrier;
        else if (one.converged->wait == Wait::cluster_barrier)
            message << "at the cluster barrier";
        else
            message << "for the lanes that their mask names";
        if (const std::string line = source_line(*one.code, one.pc); !line.empty())
            message << ", at " << line;
        message << '\n' << ptx_line(*one.code, one.pc);
    }
    throw Error(Failure::launch_failure, message.str());
}

} // namespace emulator
