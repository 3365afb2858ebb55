#include "harness/counters.hpp"

#include "emulator/cuda_emulator.h"

#include <algorithm>
#include <dlfcn.h>

namespace harness {
namespace {

using LastLaunchCounters = decltype(&emulator_last_launch_counters);

/// Looked up at run time: only the emulator's libcudart exports it.
LastLaunchCounters emulator_function() {
    return reinterpret_cast<LastLaunchCounters>(dlsym(RTLD_DEFAULT, "emulator_last_launch_counters"));
}

constexpr KnownCounter known[] = {
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global loads", "sectors"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global loads", "requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global stores", "sectors"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global stores", "requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "global atomics", "sectors", true},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "global atomics, result unused", "sectors", true},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "shared loads", "wavefronts"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "shared loads", "bank conflicts"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "shared stores", "wavefronts"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "shared stores", "bank conflicts"},
    {"smsp__inst_executed_op_ldgsts.sum", "asynchronous copies", "instructions", true},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", "asynchronous copies",
     "wavefronts", true},
    {"smsp__inst_executed_op_tma_ld.sum", "bulk copies", "instructions", true},
    {"l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", "bulk copies", "sectors", true},
    {"smsp__inst_executed.sum", "instructions (PTX)", "per warp"},
    {"smsp__thread_inst_executed.sum", "instructions (PTX)", "per thread"},
    {"smsp__sass_branch_targets_threads_divergent.sum", "branches (PTX)", "divergent"},
    {"ptx__thread_inst_executed_op_bar.sum", nullptr, nullptr},
};

} // namespace

std::span<const KnownCounter> known_counters() { return known; }

std::optional<std::uint64_t> find_counter(const Counters& counters, std::string_view name) {
    const auto found =
        std::find_if(counters.begin(), counters.end(), [&](const auto& c) { return c.first == name; });
    if (found == counters.end()) return std::nullopt;
    return found->second;
}

bool emulator_is_loaded() { return emulator_function() != nullptr; }

Counters last_launch_counters() {
    const LastLaunchCounters read = emulator_function();
    if (!read) return {};
    std::vector<emulator_counter> raw(read(nullptr, 0));
    raw.resize(std::min(raw.size(), read(raw.data(), raw.size())));
    Counters counters;
    for (const emulator_counter& counter : raw) counters.emplace_back(counter.name, counter.value);
    return counters;
}

} // namespace harness
