#pragma once

/// The tile's words in shared memory; 1,024 at most.
constexpr int words = 960;

/// The word, from 0 to words - 1, in which the element of this row and column lies: one for each.
__device__ constexpr int place(int row, int column) {
    // A warp stores 32 elements that are neighbors in row order. They keep their own 32 words, one in
    // each bank, and are only turned round within them: whatever the turns, the stores have no conflict.
    const int element = row * 24 + column;
    const int lane = element % 32;

    // 4 rows are 3 warps, so that a turn may differ from each 4 rows to the next. Without turns, 4 elements
    // of a column lie in the banks 0, 24, 16, 8 (plus the column), and the next 4 in the same ones again. A
    // warp loads 32 of a column: 8 times 4 rows, whose turns must differ modulo 8. It may load the last 4k
    // rows of a column and go on with the first of the next one, whose banks are all one further. With q =
    // row / 4, turn % 8 is
    //
    //     q         0  1  2  3  4  5  6  7  8  9
    //     column c  0  4  1  5  2  6  3  7  4  0
    //     c + 1     1  5  2  6  3  7  4  0
    //
    // and the five kinds of loads, q = 0 … 7, 8 9 0 … 5, 6 … 9 0 … 3, 4 … 9 0 1 and 2 … 9, have 0 to 7 each.
    const int turn = row / 4 * 4 + row / 8;
    return element - lane + (lane + turn) % 32;
}
