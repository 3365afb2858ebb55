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
    meet(cards, round); // The peers' inputs are ready.
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
    meet(cards, round + 1); // The peers' sums are there: of the offsets that this block has, too.
    for (std::size_t offset = thread; offset < part; offset += threads) {
#pragma unroll
        for (int card = 0; card < most_cards; ++card) {
            const std::size_t i = card * part + offset;
            if (card < cards.count && card != cards.mine && i < vectors) {
                output[i] = reinterpret_cast<const int4*>(cards.outputs[card])[i];
            }
        }
    }
    meet(cards, round + 2); // The peers have loaded this card's input and sums: they may change.
}
