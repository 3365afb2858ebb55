/// Makes the calls that the exercise's kernel has listed, and finds what their events do not order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "given.cuh"
#include "harness/verification.hpp"
#include "ways.cuh"

class Player {
public:
    Player(Tiles& tiles, const int* host, std::size_t n, int expected)
        : tiles_(tiles), host_(host), n_(n), expected_(expected) {}

    /// First on two streams. Then one call after the other, in the two orders that are farthest apart of those that the events
    /// allow: each copy as early as it may be, and each kernel as early as it may be. A missing event makes one of
    /// them wrong.
    harness::Verification verify(std::vector<Call> calls) {
        calls.erase(std::find_if(calls.begin(), calls.end(),
                                 [](const Call& call) { return call.kind == Call::none; }),
                    calls.end());
        if (const std::string wrong = what_is_wrong(calls); !wrong.empty()) return failed(wrong);
        const harness::Verification queued = summed([&] { queue(calls); });
        if (!queued.passed) return queued;
        for (const Stream eager : {Stream::copies, Stream::kernels}) {
            std::vector<Call> order = order_with(calls, static_cast<int>(eager));
            harness::Verification verified = summed([&] { run(order); });
            if (!verified.passed) {
                verified.wrong_places.push_back(eager == Stream::copies
                                                    ? "when the copies run as early as the events allow"
                                                    : "when the kernels run as early as the events allow");
                return verified;
            }
            if (const std::string late = eager == Stream::copies ? late_copy(order) : ""; !late.empty())
                return failed(late);
        }
        return queued;
    }

private:
    std::size_t first(int tile) const { return static_cast<std::size_t>(tile) * tiles_.ints; }
    std::size_t count(int tile) const { return std::min(tiles_.ints, n_ - first(tile)); }
    bool is_tile(int tile) const { return tile >= 0 && first(tile) < n_; }
    static bool is_work(const Call& call) { return call.kind == Call::copy || call.kind == Call::add; }

    harness::Verification failed(const std::string& why) const {
        return {.passed = false, .expected = expected_, .wrong_places = {why}, .actual_text = "none"};
    }

    /// Arguments for which CUDA would return an error, or read past the end.
    std::string what_is_wrong(const std::vector<Call>& calls) const {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const Call& call = calls[i];
            const std::string where = "call " + std::to_string(i) + ": there is no ";
            if (call.stream < 0 || call.stream > 1) return where + "stream " + std::to_string(call.stream);
            if (is_work(call) && (call.which < 0 || call.which > 1))
                return where + "buffer " + std::to_string(call.which);
            if (is_work(call) && !is_tile(call.tile)) return where + "tile " + std::to_string(call.tile);
            if (!is_work(call) && (call.which < 0 || call.which >= events))
                return where + "event " + std::to_string(call.which);
        }
        return "";
    }

    template <class Work> harness::Verification summed(const Work& work) {
        HARNESS_CHECK(cudaMemset(tiles_.sum.data(), 0, sizeof(int)));
        for (auto& buffer : tiles_.buffers) buffer.poison();
        harness::synchronize("memset"); // The streams do not wait for the default stream.
        work();
        harness::synchronize("add_sum");
        return harness::compare_value(expected_, tiles_.sum.read().front());
    }

    /// As the host of a real program makes them.
    void queue(const std::vector<Call>& calls) {
        for (const Call& call : calls) {
            const cudaStream_t stream = tiles_.streams[static_cast<std::size_t>(call.stream)];
            const auto which = static_cast<std::size_t>(call.which);
            if (call.kind == Call::record) HARNESS_CHECK(cudaEventRecord(tiles_.events[which], stream));
            if (call.kind == Call::wait) HARNESS_CHECK(cudaStreamWaitEvent(stream, tiles_.events[which]));
            if (is_work(call)) make(call, stream);
        }
    }

    void run(const std::vector<Call>& order) {
        for (const Call& call : order) make(call, default_stream);
    }

    void make(const Call& call, cudaStream_t stream) {
        int* const buffer = tiles_.buffers[static_cast<std::size_t>(call.which)].data();
        if (call.kind == Call::copy) copy_tile(buffer, host_ + first(call.tile), count(call.tile), stream);
        if (call.kind == Call::add) add_tile(tiles_, buffer, count(call.tile), stream);
    }

    /// The copies and kernels in an order that a card may choose: `eager` goes on until it has to wait for the other stream.
    static std::vector<Call> order_with(const std::vector<Call>& calls, int eager) {
        std::vector<Call> order;
        std::array<std::size_t, 2> next{}; // of each stream
        std::vector<bool> done(calls.size());
        std::vector<std::size_t> awaited(calls.size(), calls.size()); // by a wait: the event as recorded last
        std::array<std::size_t, events> recorded;
        recorded.fill(calls.size());
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (calls[i].kind == Call::record) recorded[static_cast<std::size_t>(calls[i].which)] = i;
            if (calls[i].kind == Call::wait) awaited[i] = recorded[static_cast<std::size_t>(calls[i].which)];
        }
        const auto advance = [&](int stream) {
            std::size_t& i = next[static_cast<std::size_t>(stream)];
            while (i < calls.size() && calls[i].stream != stream) ++i;
            if (i == calls.size() || (awaited[i] < calls.size() && !done[awaited[i]])) return false;
            if (is_work(calls[i])) order.push_back(calls[i]);
            done[i++] = true;
            return true;
        };
        while (advance(eager) || advance(1 - eager)) {
        }
        return order;
    }

    /// The copy of a tile has to be able to run beside the kernel of the tile before.
    static std::string late_copy(const std::vector<Call>& order) {
        int added = -1; // the last tile whose kernel comes before
        for (const Call& call : order) {
            if (call.kind == Call::add) added = call.tile;
            if (call.kind == Call::copy && call.tile > 0 && added == call.tile - 1)
                return "the copy of tile " + std::to_string(call.tile) + " waits for the kernel of tile " +
                       std::to_string(added) + ": they cannot overlap";
        }
        return "";
    }

    Tiles& tiles_;
    const int* host_;
    std::size_t n_;
    int expected_;
};
