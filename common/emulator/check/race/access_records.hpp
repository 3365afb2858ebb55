/// \file
/// Who has accessed each cell of a shadow last.
#pragma once

#include "emulator/check/instruction_ids.hpp"
#include "emulator/check/race/cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace emulator {

/// Lanes of one warp that have accessed a place. A stamp says which warp and when; 0: nobody has.
template <class Stamp> struct AccessRecord {
    Stamp stamp = 0;
    LaneMask lanes = 0;
    InstructionId id = 0;
};

/// A record for each cell. Field by field, so that those of a whole warp are compared at once.
template <class Stamp> class AccessRecords {
public:
    using Record = AccessRecord<Stamp>;

    bool empty() const { return stamps_.empty(); }
    void resize(std::size_t cells) {
        stamps_.resize(cells + warp_size); // see Cells::for_each_in_row
        lanes_.resize(cells + warp_size);
        ids_.resize(cells + warp_size);
        latest_.resize(std::bit_ceil((cells >> Cells::line_shift) + 1)); // see Cells::lines
    }
    /// Each cell becomes `parts` cells that know the same.
    void divide(std::size_t parts) {
        repeat(stamps_, parts);
        repeat(lanes_, parts);
        repeat(ids_, parts);
        repeat(latest_, parts);
    }

    /// To be called before something is set in these cells.
    void touch(Stamp stamp, const Cells& cells) {
        cells.for_each_line([&](std::size_t line) { latest_[line] = stamp; });
    }

    Record operator[](std::size_t cell) const { return {stamps_[cell], lanes_[cell], ids_[cell]}; }
    void set(std::size_t cell, const Record& record) {
        stamps_[cell] = record.stamp;
        lanes_[cell] = record.lanes;
        ids_[cell] = record.id;
    }

    /// Whether all records come before the actor's access to their cells, as far as that is fast to say.
    template <class Actor> bool happens_before(const Actor& actor, const Cells& cells) const {
        return are_over(actor.epoch(), cells) || all_happen_before<false>(actor, cells);
    }
    /// … or have its stamp.
    template <class Actor> bool happens_before_or_same_stamp(const Actor& actor, const Cells& cells) const {
        return are_over(actor.epoch(), cells) || all_happen_before<true>(actor, cells);
    }

    /// The actor's access instead of all that was. Lanes at one cell stand there together; `with_same_stamp`:
    /// also with those of earlier accesses that have the same stamp.
    template <class Actor> void replace(const Actor& actor, const Cells& cells, bool with_same_stamp) {
        touch(actor.stamp(), cells);
        if (cells.shape != Cells::Shape::row) return replace_one_by_one(actor, cells, with_same_stamp);
        const Stamp stamp = actor.stamp();
        const InstructionId id = actor.id();
        Stamp* const stamps = stamps_.data() + cells.first;
        LaneMask* const lanes = lanes_.data() + cells.first;
        InstructionId* const ids = ids_.data() + cells.first;
        const LaneMask kept = with_same_stamp ? all_lanes : 0;
        cells.for_each_in_row([=](std::size_t k, LaneMask lane, LaneMask is_active) {
            const LaneMask alike = stamps[k] == stamp ? kept : 0;
            lanes[k] = (lanes[k] & (alike | ~is_active)) | (lane & is_active);
        });
        cells.for_each_in_row([=](std::size_t k, LaneMask, LaneMask is_active) {
            stamps[k] = is_active != 0 ? stamp : stamps[k];
        });
        cells.for_each_in_row([=](std::size_t k, LaneMask, LaneMask is_active) {
            ids[k] = (ids[k] & ~is_active) | (id & is_active);
        });
    }

private:
    template <class T> static void repeat(std::vector<T>& values, std::size_t parts) {
        std::vector<T> result(values.size() * parts);
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = values[i / parts];
        values = std::move(result);
    }

    /// Most often all that was is before the last barrier of the block: a look at the lines tells.
    bool are_over(Stamp epoch, const Cells& cells) const {
        if (cells.lines > 2 * warp_size) return false;
        for (std::size_t k = 0; k < cells.lines; ++k)
            if (latest_[cells.first_line + k] >= epoch) return false;
        return true;
    }

    // Not inline, to keep what is done most often short.

    template <bool or_same_stamp, class Actor>
    [[gnu::noinline]] bool all_happen_before(const Actor& the_actor, const Cells& cells) const {
        const Actor actor = the_actor;
        const Stamp own = actor.stamp();
        LaneMask may_be_concurrent = 0;
        const auto look_at = [&](Stamp stamp, LaneMask lanes, LaneMask now) __attribute__((always_inline)) {
            const LaneMask found = actor.may_be_concurrent(stamp, lanes, now);
            return or_same_stamp && stamp == own ? 0 : found;
        };
        if (cells.each == 1) {
            // Copies of all 32: then the loop needs no branches.
            std::array<Stamp, warp_size> stamps;
            std::array<LaneMask, warp_size> lanes;
            const bool is_row = cells.shape == Cells::Shape::row;
            if (is_row) {
                std::copy_n(stamps_.data() + cells.first, warp_size, stamps.begin());
                std::copy_n(lanes_.data() + cells.first, warp_size, lanes.begin());
            } else {
                const std::uint64_t* const addresses = cells.addresses.data();
                for (std::size_t k = 0; k < warp_size; ++k)
                    stamps[k] = stamps_.data()[addresses[k] >> cells.shift];
                for (std::size_t k = 0; k < warp_size; ++k)
                    lanes[k] = lanes_.data()[addresses[k] >> cells.shift];
            }
            const int from = is_row ? cells.first_lane() : 0;
            const LaneMask* const now = Cells::lane_bits.data() + from;
            const LaneMask active = cells.active >> from;
            for (std::size_t k = 0; k < warp_size; ++k)
                may_be_concurrent |= look_at(stamps[k], lanes[k], now[k]) & (0 - (active >> k & 1));
        } else {
            const auto collect = [&](std::size_t cell, LaneMask now) {
                may_be_concurrent |= look_at(stamps_[cell], lanes_[cell], now);
            };
            if (cells.shape == Cells::Shape::run)
                cells.for_each_in_run(collect);
            else
                cells.for_each(collect);
        }
        return may_be_concurrent == 0;
    }

    template <class Actor>
    [[gnu::noinline]] void replace_one_by_one(const Actor& actor, const Cells& cells, bool with_same_stamp) {
        const Stamp stamp = actor.stamp();
        const InstructionId id = actor.id();
        const LaneMask kept = with_same_stamp ? all_lanes : 0;
        const auto put = [&](std::size_t cell, LaneMask lane) {
            set(cell, {stamp, lane | (stamps_[cell] == stamp ? lanes_[cell] & kept : 0), id});
        };
        if (cells.shape == Cells::Shape::run) return cells.for_each_in_run(put);
        if (cells.shape == Cells::Shape::spaced) return cells.for_each_spaced(put);
        cells.for_each([&](std::size_t cell, LaneMask lanes) {
            const LaneMask others = stamps_[cell] == stamp ? lanes_[cell] : 0;
            set(cell, {stamp, others | lanes, id});
        });
    }

    std::vector<Stamp> stamps_;
    std::vector<LaneMask> lanes_;
    std::vector<InstructionId> ids_;
    std::vector<Stamp> latest_; // of each line
};

} // namespace emulator
