/// The shadow of global memory.
#pragma once

#include "emulator/check/race/access_shadow.hpp"
#include "emulator/check/race/race_actors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace emulator {

/// A shadow for each page that was accessed.
class GlobalShadow {
public:
    void clear() {
        pages_.clear();
        last_ = {};
    }

    /// Forgets the accesses to these bytes: they are given to another owner.
    void forget(std::uint64_t first, std::size_t bytes) {
        for (const std::uint64_t end = first + bytes; first < end;) {
            const std::uint64_t place = first % page_bytes, here = std::min(page_bytes - place, end - first);
            if (const auto found = pages_.find(first / page_bytes); found != pages_.end())
                found->second.forget(place, here);
            first += here;
        }
    }

    /// As AccessShadow::access, page by page.
    template <class Disturbs, class Collides>
    [[gnu::noinline]] void access(const GridActor& actor, Role role, const LaneAddresses& all,
                                  std::uint32_t bytes, LaneMask active, Disturbs disturbs,
                                  Collides collides) {
        if (all.are_strided() && all.lowest() / page_bytes == all.highest() / page_bytes) {
            const LaneAddresses in_page(active, all.first() % page_bytes, all.stride());
            return page(all.first() / page_bytes)
                .access(actor, role, in_page, bytes, active, disturbs, collides);
        }
        const std::uint64_t* const addresses = all.data();
        for (LaneMask left = active; left != 0;) {
            const std::uint64_t first = addresses[std::countr_zero(left)], number = first / page_bytes;
            LaneMask group = 0;
            std::array<std::uint64_t, warp_size> in_page;
            for (int lane = 0; lane < warp_size; ++lane) {
                const bool is_here = (left >> lane & 1) != 0 && addresses[lane] / page_bytes == number;
                group |= LaneMask{is_here} << lane;
                in_page[static_cast<std::size_t>(lane)] = (is_here ? addresses[lane] : first) % page_bytes;
            }
            left &= ~group;
            page(number).access(actor, role, LaneAddresses(in_page.data()), bytes, group, disturbs, collides);
        }
    }

private:
    static constexpr std::uint64_t page_bytes = 4096;

    AccessShadow<GridActor>& page(std::uint64_t number) {
        if (!last_.second || last_.first != number)
            last_ = {number, &pages_.try_emplace(number, page_bytes).first->second};
        return *last_.second;
    }

    std::unordered_map<std::uint64_t, AccessShadow<GridActor>> pages_;
    std::pair<std::uint64_t, AccessShadow<GridActor>*> last_{};
};

} // namespace emulator
