#pragma once

#include <cuda/atomic>

#include <cstddef>

constexpr int most_cards = 8;

/// What a kernel on one card knows of all cards: pointers into the memory of each.
struct Cards {
    int count;                     ///< from 1 to most_cards
    int mine;                      ///< the card that runs the kernel, from 0
    const int* inputs[most_cards]; ///< aligned to 16 bytes, as the outputs are
    int* outputs[most_cards];
    /// For each card and each of its blocks the last round in which block b of card c was here: [b * most_cards + c].
    unsigned int* arrived[most_cards];
};

/// Block b of this card waits for block b of every other card. What the blocks have loaded and stored before comes before
/// what they load and store after. All threads of the block, and all of the grid at once: it has to be resident.
/// \param round one more for each meeting of a block. So nobody has to set a flag back.
__device__ void meet(const Cards& cards, unsigned int round) {
    __syncthreads();        // All of this block have done what comes before.
    if (threadIdx.x < 32) { // A warp together: each lane has a peer, and the last lanes have the same one.
        const int lane = static_cast<int>(threadIdx.x), peer = min(lane, cards.count - 1);
        using Round = cuda::atomic_ref<unsigned int, cuda::thread_scope_system>; // another card, too
        const Round told(cards.arrived[peer][blockIdx.x * most_cards + cards.mine]);
        const Round awaited(cards.arrived[cards.mine][blockIdx.x * most_cards + peer]);
        if (lane == peer) told.store(round, cuda::memory_order_release);
        const auto is_missing = [&] { // A peer in a later round is not.
            return static_cast<int>(awaited.load(cuda::memory_order_acquire) - round) < 0;
        };
        while (__any_sync(0xffffffff, is_missing())) {
        }
    }
    __syncthreads(); // All of this block know that the peers are here.
}

__device__ int4 operator+(const int4& a, const int4& b) {
    return make_int4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// The sum of element i, an int or a vector of four, over all cards.
template <class T> __device__ T sum_of(const Cards& cards, std::size_t i) {
    T values[most_cards] = {};
#pragma unroll // First the loads, so that several are on their way at once.
    for (int card = 0; card < most_cards; ++card) {
        if (card < cards.count) values[card] = reinterpret_cast<const T*>(cards.inputs[card])[i];
    }
    T sum = values[0];
#pragma unroll
    for (int card = 1; card < most_cards; ++card) sum = sum + values[card];
    return sum;
}

/// The sums of all n elements, to this card's output.
__device__ void sum_everything(const Cards& cards, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t vectors = n / 4;
    int* const output = cards.outputs[cards.mine];
    for (std::size_t i = thread; i < vectors; i += threads) {
        reinterpret_cast<int4*>(output)[i] = sum_of<int4>(cards, i);
    }
    if (thread < n % 4) {
        output[4 * vectors + thread] = sum_of<int>(cards, 4 * vectors + thread);
    }
}

/// The part of the n / 4 vectors that each card sums in two steps; the last ones may have less, or none.
__device__ std::size_t vectors_per_part(const Cards& cards, std::size_t n) {
    return (n / 4 + cards.count - 1) / cards.count;
}

/// The sums of this card's part, to the outputs of all cards.
__device__ void sum_part(const Cards& cards, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t vectors = n / 4, part = vectors_per_part(cards, n);
    for (std::size_t offset = thread; offset < part; offset += threads) {
        const std::size_t i = cards.mine * part + offset;
        if (i >= vectors) break;
        const int4 sum = sum_of<int4>(cards, i);
#pragma unroll
        for (int card = 0; card < most_cards; ++card) {
            if (card < cards.count) reinterpret_cast<int4*>(cards.outputs[card])[i] = sum;
        }
    }
    if (thread < n % 4) { // too few to share
        cards.outputs[cards.mine][4 * vectors + thread] = sum_of<int>(cards, 4 * vectors + thread);
    }
}
