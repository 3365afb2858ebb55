#include "emulator/machine/counters.hpp"

namespace emulator {

const char* metric_name(Metric metric) {
    switch (metric) {
    case Metric::global_load_sectors: return "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
    case Metric::global_store_sectors: return "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
    case Metric::global_load_requests: return "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
    case Metric::global_store_requests: return "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
    case Metric::global_atom_sectors: return "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum";
    case Metric::global_red_sectors: return "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum";
    case Metric::shared_load_wavefronts: return "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    case Metric::shared_store_wavefronts: return "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
    case Metric::shared_load_bank_conflicts:
        return "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
    case Metric::shared_store_bank_conflicts:
        return "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";
    case Metric::copy_instructions: return "smsp__inst_executed_op_ldgsts.sum";
    case Metric::copy_wavefronts: return "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum";
    case Metric::bulk_instructions: return "smsp__inst_executed_op_tma_ld.sum";
    case Metric::bulk_sectors: return "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum";
    case Metric::warp_instructions: return "smsp__inst_executed.sum";
    case Metric::thread_instructions: return "smsp__thread_inst_executed.sum";
    case Metric::divergent_branches: return "smsp__sass_branch_targets_threads_divergent.sum";
    case Metric::thread_barriers: return "ptx__thread_inst_executed_op_bar.sum";
    case Metric::count: break;
    }
    return "";
}

} // namespace emulator
