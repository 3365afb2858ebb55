#pragma once

#include <cstddef>

#include "given.cuh"

/// Each card loads everything.
__global__ void sum_cards(const __grid_constant__ Cards cards, std::size_t n) {
    sum_everything(cards, n); // Events keep the inputs as they are meanwhile.
}

/// One-shot all-reduce: the same, and the kernels of the cards meet by themselves.
__global__ void one_shot(const __grid_constant__ Cards cards, std::size_t n, unsigned int round) {
    meet(cards, round); // The peers' inputs are ready.
    sum_everything(cards, n);
    meet(cards, round + 1); // The peers have loaded this card's input: it may change.
}

/// Two-step all-reduce: each card sums its part of the vectors, and stores the sums to all cards.
__global__ void two_steps(const __grid_constant__ Cards cards, std::size_t n, unsigned int round) {
    meet(cards, round); // The peers' inputs are ready, and nobody needs their outputs any more.
    sum_part(cards, n);
    meet(cards, round + 1); // The peers' sums are here, and they have loaded this card's input.
}

/// The same, but each card stores its sums to its own output, and loads the others from there.
__global__ void two_steps_pull(const __grid_constant__ Cards cards, std::size_t n, unsigned int round) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t vectors = n / 4, part = vectors_per_part(cards, n);
    int4* const output = reinterpret_cast<int4*>(cards.outputs[cards.mine]);
    for (std::size_t offset = thread; offset < part; offset += threads) {
        const std::size_t i = cards.mine * part + offset;
        if (i < vectors) output[i] = sum_of<int4>(cards, i);
    }
    if (thread < n % 4) { // too few to share
        cards.outputs[cards.mine][4 * vectors + thread] = sum_of<int>(cards, 4 * vectors + thread);
    }
    // TODO, about 10 lines: load the peers' sums from their outputs. Let the cards meet in rounds `round`, `round + 1`
    // and `round + 2`, each where it is needed.
}
