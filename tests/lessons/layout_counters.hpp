/// What the counters' tests of lessons 16 to 21 share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

#include "launch.hpp"

namespace layout_counters {

// A warp stores once and loads once. Such a request takes as many wavefronts as the worst bank has different
// words; bank of word w = w % 32.
//
// 32 x 32, 32 warps. By rows, warp w takes the words 32 w + t: 32 banks, 1 wavefront, 32 x 1 = 32 in all. By
// columns 32 t + w: one bank, 32 wavefronts, 32 x 32 = 1024. With padding P the words are (32 + P) t + w: P t
// banks apart, in all banks for odd P; for P = 2 in 16 banks, 2 words in each.
//
// 32 x 16, 16 warps. By rows 16 x 1 = 16. By columns a warp has two columns of 16: the words 32 r + 2 w and
// 32 r + 2 w + 1 for r = 0 … 15: two banks of 16 words, 16 x 16 = 256. Padding 1: 33 r + c is bank r + c for
// columns c = 0, 1 (from bank 2 w on): the banks 1 to 15 are those of two words, 16 x 2 = 32. Padding 2:
// 34 r + c is bank 2 r + c: all 32 banks, 16 x 1 = 16.
//
// 16 x 16, 8 warps, two rows or two columns each. By columns 16 r + c: r is even or odd, c 0 or 1: 4 banks of
// 8 words, 8 x 8 = 64. Padding 2: 18 r + c, 16 even banks and those behind them: 8 x 1. By rows with padding
// 2: 16 words, and 16 from word 18 on: the words 32 and 33 are banks 0 and 1 again, 8 x 2 = 16.
//
// 16 wide, 32 high, 16 warps. By columns 16 r + c, one column: 2 banks of 16 words, 16 x 16 = 256. Padding 1:
// 17 r + c, all banks: 16; by rows 16 words, and 16 from word 17 on: word 32 is bank 0 again, 16 x 2 = 32.
//
// 31 x 31, 961 threads in 31 warps, the last of which is one lane. By columns 31 r + c, as long as c stays;
// at a column's foot, r = 30, the next word is c + 1, and 31 x 30 + 31 = 961 is bank 1: as if the column went
// on. 31 x t is -t in banks: 31 wavefronts, and as many by rows.
//
// 1024 x 1 and 1 x 1024: 1024 words in sequence. 1 x 1024 with padding 33: the words 34 t, in 16 banks: 32
// x 2.
struct Case {
    const char* lesson;
    const char* kernel;
    const char* arguments;
    std::uint64_t warps, load, store; // wavefronts
};

void expect_wavefronts(std::initializer_list<Case> cases);

} // namespace layout_counters
