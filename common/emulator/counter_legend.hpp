/// What the counters of the tables are called in Nsight Compute.
#pragma once

#include <counter_catalogue.hpp>

#include <string>

namespace emulator {

/// A heading that ends in a colon, and indented lines.
inline std::string counter_legend() {
    using namespace counter_name;
    const auto line = [](const char* label, const char* name, const char* note = "") {
        std::string text = std::string("  ") + label;
        text.resize(18, ' ');
        return text + name + note + "\n";
    };
    const std::string indent = "    ";
    return "Counters in Nsight Compute:\n  (of stores: _st in place of _ld)\n" +
           line("sectors", global_load_sectors) + line("requests", global_load_requests) +
           line("wavefronts", shared_load_wavefronts) + line("bank conflicts", shared_load_bank_conflicts) +
           line("atomics", global_atom_sectors) + line("  result unused", global_red_sectors) +
           line("instructions", warp_instructions, " (per warp)") +
           line("", thread_instructions, " (per thread)") + line("divergent", divergent_branches) +
           line("", "(branches at which a warp split)") +
           "  asynchronous copies: instructions, wavefronts\n" + indent + copy_instructions + "\n" + indent +
           copy_wavefronts + "\n" + "  bulk copies: instructions, sectors\n" + indent + bulk_instructions +
           "\n" + indent + bulk_sectors + "\n" +
           "  barriers: no such metric; how often threads come to one\n";
}

} // namespace emulator
