/// The ways to an all-reduce: each queues one, from every card's input to every card's output, in the cards' streams.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "all_cards.hpp"
#include "harness/check.hpp"
#include "kernels.cuh"

using Way = void (*)(AllCards& cards);

/// Down, added by the host, and up again. \param staging room for all cards' ints
inline void through_host(AllCards& cards, const PinnedInts& staging) {
    const std::size_t n = cards.n, bytes = n * sizeof(int);
    int* const sums = staging.data();
    cards.meet(); // The copies up of the call before have read the sums.
    cards.for_each([&](int card) {
        HARNESS_CHECK(cudaMemcpyAsync(sums + static_cast<std::size_t>(card) * n, cards[card].input.data(),
                                      bytes, cudaMemcpyDeviceToHost, cards[card].stream));
    });
    cards.for_each([&](int card) { HARNESS_CHECK(cudaStreamSynchronize(cards[card].stream)); });
    for (int card = 1; card < cards.count(); ++card) {
        const int* const summand = sums + static_cast<std::size_t>(card) * n;
        for (std::size_t i = 0; i < n; ++i)
            sums[i] =
                static_cast<int>(static_cast<unsigned int>(sums[i]) + static_cast<unsigned int>(summand[i]));
    }
    cards.for_each([&](int card) {
        HARNESS_CHECK(cudaMemcpyAsync(cards[card].output.data(), sums, bytes, cudaMemcpyHostToDevice,
                                      cards[card].stream));
    });
}

inline unsigned int sums_grid(AllCards& cards) { return cards.grid(sum_cards, cards.n / 4); }

/// Each card copies its peers' inputs, then adds what it has.
inline void peer_copies(AllCards& cards) {
    const unsigned int grid = sums_grid(cards);
    cards.meet(); // All inputs are ready.
    cards.for_each([&](int card) {
        Cards here = cards.seen_by(card);
        std::size_t slot = 0;
        for (int peer = 0; peer < cards.count(); ++peer) {
            if (peer == card) continue;
            int* const copy = cards[card].received.data() + slot++ * cards.stride();
            HARNESS_CHECK(cudaMemcpyPeerAsync(copy, card, here.inputs[peer], peer, cards.n * sizeof(int),
                                              cards[card].stream));
            here.inputs[peer] = copy;
        }
        sum_cards<<<grid, cards.block, 0, cards[card].stream>>>(here, cards.n);
        harness::check_launch("sum_cards");
    });
    cards.meet(); // All inputs are copied: they may change.
}

/// Each card loads its peers' inputs where they are.
inline void peer_loads(AllCards& cards) {
    const unsigned int grid = sums_grid(cards);
    cards.meet(); // All inputs are ready.
    cards.for_each([&](int card) {
        sum_cards<<<grid, cards.block, 0, cards[card].stream>>>(cards.seen_by(card), cards.n);
        harness::check_launch("sum_cards");
    });
    cards.meet(); // All inputs are loaded: they may change.
}

/// Queues the kernel of one card, which is current. It waits for its peers' kernels, so they have to be queued too.
/// \param meetings of each block
template <class Kernel>
void launch_on(AllCards& cards, int card, Kernel kernel, unsigned int grid, unsigned int meetings = 2) {
    kernel<<<grid, cards.block, 0, cards[card].stream>>>(cards.seen_by(card), cards.n, cards[card].round);
    harness::check_launch("all-reduce");
    cards[card].round += meetings;
}

inline unsigned int one_shot_grid(AllCards& cards) { return cards.grid(one_shot, cards.n / 4); }

/// No event: the kernels meet.
inline void one_shot_way(AllCards& cards) {
    const unsigned int grid = one_shot_grid(cards);
    cards.for_each([&](int card) { launch_on(cards, card, one_shot, grid); });
}

template <void (*kernel)(Cards, std::size_t, unsigned int)> unsigned int two_steps_grid(AllCards& cards) {
    return cards.grid(kernel, harness::ceil_div(cards.n / 4, static_cast<std::size_t>(cards.count())));
}

/// The same with less over the links.
inline void two_steps_way(AllCards& cards) {
    const unsigned int grid = two_steps_grid<two_steps>(cards);
    cards.for_each([&](int card) { launch_on(cards, card, two_steps, grid); });
}

/// The exercise's.
inline void two_steps_pull_way(AllCards& cards) {
    const unsigned int grid = two_steps_grid<two_steps_pull>(cards);
    cards.for_each([&](int card) { launch_on(cards, card, two_steps_pull, grid, 3); });
}
