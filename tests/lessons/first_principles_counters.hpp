/// What the counters' tests of lessons 13 to 15 share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "../../lessons/lesson14_one_block/steps.hpp"
#include "harness/reduction.hpp"
#include "launch.hpp"

namespace first_principles_counters {

// Neighboring lanes that load neighboring ints: a warp's request is 128 bytes, 4 sectors. So n ints are
// ceil(n / 8) sectors and ceil(n / 32) requests. An atomic on one word is one sector for all lanes of its
// warp that take part: the compiler has them summed up first, and one lane add the sum (lesson 13 shows the
// machine code; the emulator counts accordingly).

using harness::ceil_div;
using testing::AllOf, testing::HasSubstr, testing::Not;

constexpr std::uint64_t mega = 1 << 20;

constexpr const char* barriers = "ptx__thread_inst_executed_op_bar";
constexpr const char* splits = "smsp__sass_branch_targets_threads_divergent";

struct Size {
    std::uint64_t n;
    unsigned int block;
    std::uint64_t blocks() const { return ceil_div(n, block); }
    std::uint64_t sectors() const { return ceil_div(n, 8); }
    std::uint64_t requests() const { return ceil_div(n, 32); }
};
// Full blocks; 28 full warps, one of 4 lanes and three without elements; two full warps and one of one lane.
constexpr Size sizes[] = {{mega, 256}, {900, 128}, {65, 32}};

inline Step total(const std::vector<Step>& steps) {
    Step sum;
    for (const Step& step : steps) {
        sum.threads += step.threads;
        sum.warps += step.warps;
        sum.loaded_sectors += step.loaded_sectors;
        sum.stored_sectors += step.stored_sectors;
    }
    return sum;
}

} // namespace first_principles_counters
