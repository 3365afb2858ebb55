/// What the emulator offers beyond the CUDA runtime API, as plain C. A program looks these functions up with
/// `dlsym(RTLD_DEFAULT, …)`: where it runs on a GPU they are simply absent.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One counter of a kernel launch, under the name that Nsight Compute gives it.
typedef struct emulator_counter {
    const char* name; ///< for example "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"; never freed
    uint64_t value;
} emulator_counter;

/// Copies the counters of this process's last kernel launch on the current device to `counters`, at most `capacity`
/// of them. Returns how many there are; 0 when no kernel has run there yet.
size_t emulator_last_launch_counters(emulator_counter* counters, size_t capacity);

/// What `emulate --time` estimated of this process's last kernel launch, as a JSON object with the members that a launch has
/// in its report: `time_us_estimated` and others, or `no_estimate`. Null if nothing was estimated. Valid until the
/// next launch.
const char* emulator_last_launch_estimate(void);

#ifdef __cplusplus
}
#endif
