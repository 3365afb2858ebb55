#pragma once

/// The tile's words in shared memory; 1,024 at most.
constexpr int words = 960;

/// The word, from 0 to words - 1, in which the element of this row and column lies: one for each.
__device__ constexpr int place(int row, int column) {
    // TODO, about 4 lines: a layout with which neither the stores, 32 neighbors in row order each, nor the
    // loads, 32 neighbors in column order each, have a bank conflict.
    return row * 24 + column;
}
