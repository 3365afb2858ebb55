/// Everything that an all-reduce needs on each card: buffers, a stream, and pointers to those of the peers.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "given.cuh"
#include "harness/check.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "harness/lesson.hpp"
#include "harness/random_input.hpp"
#include "harness/streams.hpp"
#include "harness/verification.hpp"

/// How many cards there are, but no more than the kernels take.
inline int count_cards() {
    int count = 0;
    HARNESS_CHECK(cudaGetDeviceCount(&count));
    return std::min(count, most_cards);
}

/// Pinned host memory.
class PinnedInts {
public:
    explicit PinnedInts(std::size_t size) { HARNESS_CHECK(cudaMallocHost(&data_, size * sizeof(int))); }
    PinnedInts(const PinnedInts&) = delete;
    PinnedInts& operator=(const PinnedInts&) = delete;
    ~PinnedInts() { cudaFreeHost(data_); }
    int* data() const { return data_; }

private:
    int* data_ = nullptr;
};

/// One card's. The stream comes last, so it ends first.
struct Card {
    /// Made while the card is current. \param received ints that peers' inputs are copied to
    Card(std::size_t n, std::size_t received, std::size_t blocks)
        : original(n), input(n), output(n), received(received), arrived(blocks * most_cards) {
        HARNESS_CHECK(cudaMemset(arrived.data(), 0, arrived.bytes()));
    }

    harness::DeviceBuffer<int> original, input, output, received;
    harness::DeviceBuffer<unsigned int> arrived;
    unsigned int round = 1; ///< of the next meeting: the same on all cards, since all launch the same kernels
    harness::Event event;
    harness::OwnStream stream;
};

class AllCards {
public:
    /// \param block threads per block \param copies whether there is room for the peers' inputs
    /// \throws DeviceError if memory is too small
    AllCards(int count, std::size_t n, unsigned int block, std::uint64_t seed, bool copies)
        : n(n), block(block) {
        if (n > SIZE_MAX / sizeof(int) / most_cards)
            throw harness::DeviceError("--n: no machine has as much memory");
        const auto peers = static_cast<std::size_t>(count - 1);
        const std::size_t resident =
            harness::multiprocessors() * std::size_t{32}; // the most that any card holds
        cards_.resize(static_cast<std::size_t>(count));
        for_each([&](int card) {
            std::unique_ptr<Card>& made = cards_[static_cast<std::size_t>(card)];
            made = std::make_unique<Card>(n, copies ? peers * stride() : 0, resident);
            fill(*made, seed, static_cast<std::uint64_t>(card) * n);
        });
        enable_peer_access();
    }

    const std::size_t n;
    const unsigned int block;
    std::size_t most_blocks = SIZE_MAX; ///< fewer than fit, if the caller likes

    /// From one copy of a peer's input to the next: as cudaMalloc aligns, so that sectors begin where they do there.
    std::size_t stride() const { return 64 * harness::ceil_div(n, 64); }

    int count() const { return static_cast<int>(cards_.size()); }
    Card& operator[](int card) { return *cards_[static_cast<std::size_t>(card)]; }

    /// Calls use(card) for each card, while it is current. Afterwards card 0 is.
    template <class Use> void for_each(const Use& use) {
        const struct FirstCard {
            ~FirstCard() { cudaSetDevice(0); }
        } afterwards;
        for (int card = 0; card < count(); ++card) {
            HARNESS_CHECK(cudaSetDevice(card));
            use(card);
        }
    }

    /// \param what needs that all cards can access each other's memory \throws UnsupportedKernel
    void require_peer_access(const std::string& what) const {
        if (!obstacle_.empty()) throw harness::UnsupportedKernel(what + " is left out: " + obstacle_);
    }

    /// What the kernel on this card gets.
    Cards seen_by(int card) {
        Cards cards{.count = count(), .mine = card, .inputs = {}, .outputs = {}, .arrived = {}};
        for (int peer = 0; peer < count(); ++peer) {
            cards.inputs[peer] = (*this)[peer].input.data();
            cards.outputs[peer] = (*this)[peer].output.data();
            cards.arrived[peer] = (*this)[peer].arrived.data();
        }
        return cards;
    }

    /// Blocks for so many vectors, all resident on every card. Loads the kernel on each one, too: done by its first
    /// launch, that might wait for a peer's kernel, which waits for this one.
    template <class Kernel> unsigned int grid(Kernel kernel, std::size_t vectors) {
        std::size_t blocks = std::clamp<std::size_t>(harness::ceil_div(vectors, block), 1, most_blocks);
        for_each(
            [&](int) { blocks = std::min<std::size_t>(blocks, harness::resident_blocks(kernel, block)); });
        return static_cast<unsigned int>(blocks);
    }

    /// Each card's stream waits for all that is in the others' so far.
    void meet() {
        for_each(
            [&](int card) { HARNESS_CHECK(cudaEventRecord((*this)[card].event, (*this)[card].stream)); });
        for_each([&](int card) {
            for (int peer = 0; peer < count(); ++peer)
                if (peer != card)
                    HARNESS_CHECK(cudaStreamWaitEvent((*this)[card].stream, (*this)[peer].event));
        });
    }

    /// The outputs become the inputs, and are poisoned: each card's in its own stream.
    void feed_back() {
        for_each([&](int card) {
            Card& own = (*this)[card];
            HARNESS_CHECK(cudaMemcpyAsync(own.input.data(), own.output.data(), own.output.bytes(),
                                          cudaMemcpyDeviceToDevice, own.stream));
            HARNESS_CHECK(
                cudaMemsetAsync(own.output.data(), harness::poison_byte, own.output.bytes(), own.stream));
        });
    }

    /// All streams wait for the default stream of card 0, which the caller uses.
    void start() {
        HARNESS_CHECK(cudaEventRecord(started_, harness::default_stream));
        for_each([&](int card) { HARNESS_CHECK(cudaStreamWaitEvent((*this)[card].stream, started_)); });
    }

    /// The default stream of card 0 waits for all streams.
    void finish() {
        for_each(
            [&](int card) { HARNESS_CHECK(cudaEventRecord((*this)[card].event, (*this)[card].stream)); });
        for (const auto& card : cards_)
            HARNESS_CHECK(cudaStreamWaitEvent(harness::default_stream, card->event));
    }

    /// The host waits for all cards, and sees their errors.
    void synchronize() {
        for_each([](int) { HARNESS_CHECK(cudaDeviceSynchronize()); });
    }

    /// Restores the inputs and poisons the outputs.
    void prepare() {
        for_each([&](int card) {
            (*this)[card].input.write((*this)[card].original);
            (*this)[card].output.poison();
            if ((*this)[card].received.size() > 0) (*this)[card].received.poison();
        });
        synchronize(); // The streams do not wait for the default streams.
    }

    /// Compares all outputs with the sums. \param calls so many all-reduces, each of the outputs before
    harness::Verification verify(std::uint64_t calls) {
        synchronize();
        constexpr std::size_t piece = std::size_t{1} << 22; // not all of it in host memory at once
        harness::Verification result = harness::compare_value(0, 0);
        for (std::size_t first = 0; first < n; first += piece) {
            const std::vector<int> expected = sums(first, std::min(piece, n - first), calls);
            for (int card = 0; card < count(); ++card) {
                HARNESS_CHECK(cudaSetDevice(card));
                const std::vector<int> actual = (*this)[card].output.read(first, expected.size());
                HARNESS_CHECK(cudaSetDevice(0));
                const std::string before = first == 0 ? "" : std::to_string(first) + " + ";
                const std::string element = "card " + std::to_string(card) + ", " + before + "element";
                result = harness::compare_elements(expected, actual, element.c_str());
                if (!result.passed) return result;
            }
        }
        return result;
    }

private:
    void fill(Card& card, std::uint64_t seed, std::uint64_t first) {
        seed_ = seed;
        constexpr std::size_t piece = std::size_t{1} << 22;
        std::vector<int> values;
        for (std::size_t done = 0; done < n; done += values.size()) {
            values.resize(std::min(piece, n - done));
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = harness::random_int(seed, first + done + i);
            card.original.write(values, done);
        }
    }

    /// The obvious loop. From the second call on each sum is `count` times the one before.
    std::vector<int> sums(std::size_t first, std::size_t size, std::uint64_t calls) const {
        unsigned int factor = 1;
        for (std::uint64_t call = 1; call < calls; ++call) factor *= static_cast<unsigned int>(cards_.size());
        std::vector<int> sums(size);
        for (std::size_t i = 0; i < size; ++i) {
            unsigned int sum = 0;
            for (std::size_t card = 0; card < cards_.size(); ++card)
                sum += static_cast<unsigned int>(harness::random_int(seed_, card * n + first + i));
            sums[i] = static_cast<int>(factor * sum);
        }
        return sums;
    }

    void enable_peer_access() {
        for_each([&](int card) {
            for (int peer = 0; peer < count(); ++peer) {
                if (peer == card) continue;
                int possible = 0;
                HARNESS_CHECK(cudaDeviceCanAccessPeer(&possible, card, peer));
                if (!possible) {
                    obstacle_ = "card " + std::to_string(card) + " cannot access the memory of card " +
                                std::to_string(peer) + " (cudaErrorPeerAccessUnsupported)";
                    continue;
                }
                static bool is_enabled[most_cards][most_cards]; // once per process: a second time is an error
                if (!std::exchange(is_enabled[card][peer], true))
                    HARNESS_CHECK(cudaDeviceEnablePeerAccess(peer, 0));
            }
        });
    }

    std::vector<std::unique_ptr<Card>> cards_;
    harness::Event started_;
    std::uint64_t seed_ = 0;
    std::string obstacle_; ///< why not all cards can access each other's memory
};
