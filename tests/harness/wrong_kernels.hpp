/// Launches of reduce2, and of kernels with a mistake that the harness must find: reduce2 plus the mistake.
/// nvcc compiles these alone, and not the tests.
#pragma once

#include <cstddef>

#include "harness/reduction.hpp"

void launch_reduce2(const harness::Pass& pass);
void launch_drops_the_tail(const harness::Pass& pass);
void launch_lacks_a_barrier(const harness::Pass& pass);
void launch_leaves_one_out(const harness::Pass& pass);
void launch_sums_in_the_last_pass(const harness::Pass& pass);
void launch_sums_its_block_in_place(const harness::Pass& pass);
void launch_sums_in_place(int* data, std::size_t n);
void launch_writes_out_of_bounds(int* data, std::size_t far);

/// As harness::resident_blocks.
unsigned int resident_blocks_of_reduce2(unsigned int block, std::size_t shared_bytes);
