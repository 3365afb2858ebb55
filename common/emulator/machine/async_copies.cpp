#include "emulator/machine/async_copies.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/mbarrier.hpp"

#include <algorithm>
#include <cstring>

namespace emulator {

namespace {

void notify_end(const Block& block, const AsyncCopy& copy) {
    for (Observer* const observer : block.observers()) observer->copy_ended(copy);
}

} // namespace

void AsyncCopies::clear() {
    requests_.clear();
    committed_.clear();
    bulks_.clear();
    arrivals_.clear();
}

std::vector<AsyncCopies::Request>& AsyncCopies::of(const Warp& warp) {
    if (requests_.size() <= warp.index()) {
        requests_.resize(warp.index() + 1);
        committed_.resize(warp.index() + 1);
    }
    return requests_[warp.index()];
}

void AsyncCopies::start(const Warp& warp, Request request) {
    auto& requests = of(warp);
    request.group = committed_[warp.index()];
    request.number = next_number_++;
    requests.push_back(request);
}

void AsyncCopies::commit(const Warp& warp, LaneMask lanes) {
    of(warp);
    for_each_lane(lanes, [&](int lane) { ++committed_[warp.index()][static_cast<std::size_t>(lane)]; });
}

/// Ends the copies of the lanes that `selects(request)` returns.
template <class Selects> void AsyncCopies::finish_those(const Warp& warp, Selects selects) {
    std::byte* const shared = warp.block().shared().data();
    auto& requests = of(warp);
    for (Request& request : requests) {
        const LaneMask lanes = request.lanes & selects(request);
        if (lanes == 0) continue;
        for_each_lane(lanes, [&](int l) {
            const auto lane = static_cast<std::size_t>(l);
            std::byte* const to = shared + request.to[lane];
            if (request.from_bytes[lane] != 0) std::memcpy(to, request.from[lane], request.from_bytes[lane]);
            std::memset(to + request.from_bytes[lane], 0, request.bytes - request.from_bytes[lane]);
        });
        std::array<std::uint64_t, warp_size> addresses = request.to;
        for (std::size_t lane = 0; lane < warp_size; ++lane)
            if ((lanes >> lane & 1) == 0)
                addresses[lane] = request.to[static_cast<std::size_t>(std::countr_zero(lanes))];
        notify_end(warp.block(), {request.code, request.instruction, &warp, &warp.block(), request.bytes,
                                  lanes, addresses.data()});
        request.lanes &= ~lanes;
    }
    std::erase_if(requests, [](const Request& request) { return request.lanes == 0; });
}

void AsyncCopies::finish(const Warp& warp, LaneMask lanes, std::uint32_t groups) {
    of(warp);
    finish_those(warp, [&](const Request& request) {
        LaneMask over = 0;
        for_each_lane(lanes, [&](int l) {
            const auto lane = static_cast<std::size_t>(l);
            const std::uint64_t committed = committed_[warp.index()][lane];
            over |= LaneMask{request.group[lane] + std::uint64_t{groups} < committed} << lane;
        });
        return over;
    });
}

void AsyncCopies::finish_all(const Warp& warp, LaneMask lanes) {
    finish_those(warp, [&](const Request&) { return lanes; });
}

void AsyncCopies::arrive_after_copies(Warp& warp, const Instruction& instruction, int lane,
                                      std::uint64_t mbarrier) {
    arrivals_.push_back({&warp, &instruction, lane, mbarrier, next_number_});
}

bool AsyncCopies::may_arrive_at(std::uint64_t mbarrier) const {
    const auto waited_for = [&](const auto& one) { return one.mbarrier == mbarrier; };
    return std::any_of(bulks_.begin(), bulks_.end(), waited_for) ||
           std::any_of(arrivals_.begin(), arrivals_.end(), waited_for);
}

void AsyncCopies::settle(Block& block, std::uint64_t mbarrier) {
    const auto waited_for = [&](const auto& one) { return one.mbarrier == mbarrier; };
    for (const Bulk& bulk : bulks_) {
        if (!waited_for(bulk)) continue;
        std::memcpy(block.shared().data() + bulk.to, bulk.from, bulk.bytes);
        std::array<std::uint64_t, warp_size> addresses;
        addresses.fill(bulk.to);
        notify_end(block, {bulk.code, bulk.instruction, bulk.warp, &block, bulk.bytes,
                           LaneMask{1} << bulk.lane, addresses.data()});
        Mbarrier(block, mbarrier).complete_bytes(*bulk.warp, *bulk.instruction, bulk.lane, bulk.bytes);
    }
    std::erase_if(bulks_, waited_for);
    for (const Arrival& arrival : arrivals_) {
        if (!waited_for(arrival)) continue;
        finish_those(*arrival.warp, [&](const Request& request) {
            return request.number < arrival.number ? LaneMask{1} << arrival.lane : 0;
        });
        Mbarrier(block, mbarrier).arrive(*arrival.warp, *arrival.instruction, arrival.lane, 1);
    }
    std::erase_if(arrivals_, waited_for);
}

} // namespace emulator
