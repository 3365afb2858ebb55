/// The last access to each cell of a shadow.
#pragma once

#include "emulator/check/instruction_ids.hpp"
#include "emulator/check/race/cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace emulator {

/// Lanes of one warp that have accessed a cell. The stamp holds the warp and the time; 0: no access yet.
template <class Stamp> struct AccessRecord {
    Stamp stamp = 0;
    LaneMask lanes = 0;
    InstructionId id = 0;
};

/// Lanes of one warp that have accessed all cells of a line in order: `first_lane` the first 2^shift cells,
/// the next lane the next ones.
template <class Stamp> struct LineRecord {
    Stamp stamp = 0; // 0: its cells have records of their own
    InstructionId id = 0;
    std::uint8_t first_lane = 0, shift = 0;

    bool has_lanes_of(const LineRecord& other) const {
        return first_lane == other.first_lane && shift == other.shift;
    }
    AccessRecord<Stamp> of_cell(std::size_t k) const {
        return {stamp, LaneMask{1} << (first_lane + (k >> shift)), id};
    }
};

/// A record per cell. Each field is an array, so that a whole warp's records are compared at once. A line
/// that was accessed as a whole, as nearly all of global memory is, has a single record. Records for its
/// cells are allocated when they are first needed.
template <class Stamp> class AccessRecords {
public:
    using Record = AccessRecord<Stamp>;

    bool empty() const { return latest_.empty(); }
    void resize(std::size_t cells) {
        cells_ = cells;
        // See Cells::lines.
        latest_.resize(std::bit_ceil((cells + Cells::line_cells - 1) >> Cells::line_shift));
        lines_.resize(latest_.size());
    }
    /// Splits each cell into `parts` cells with the same record.
    void divide(std::size_t parts) {
        if (empty()) return;
        have_cells();
        for (std::size_t line = 0; line < lines_.size(); ++line) split(line);
        cells_ *= parts;
        lines_.resize(lines_.size() * parts);
        repeat(stamps_, parts);
        repeat(lanes_, parts);
        repeat(ids_, parts);
        repeat(latest_, parts);
    }

    /// Call this before setting records in these cells.
    template <class Actor> void touch(const Actor& actor, const Cells& cells) {
        have_cells();
        cells.for_each_line([&](std::size_t line) {
            split(line);
            latest_[line] = Actor::latest(latest_[line], actor.stamp());
        });
    }

    /// Forgets the accesses to the cells up to `end`.
    void forget(std::size_t first, std::size_t end) {
        if (empty()) return;
        have_cells();
        for (std::size_t cell = first; cell < end; ++cell) {
            split(cell >> Cells::line_shift);
            set(cell, {});
        }
    }

    Record operator[](std::size_t cell) const {
        const std::size_t line = cell >> Cells::line_shift;
        if (lines_[line].stamp != 0) return lines_[line].of_cell(cell % Cells::line_cells);
        return stamps_.empty() ? Record{} : Record{stamps_[cell], lanes_[cell], ids_[cell]};
    }
    void set(std::size_t cell, const Record& record) {
        stamps_[cell] = record.stamp;
        lanes_[cell] = record.lanes;
        ids_[cell] = record.id;
    }

    /// Whether all records happen before the actor's access to their cells, if a fast test can show it.
    template <class Actor> bool happens_before(const Actor& actor, const Cells& cells) {
        return are_over(actor, cells) || all_happen_before<false>(actor, cells);
    }
    /// … or have its stamp.
    template <class Actor> bool happens_before_or_same_stamp(const Actor& actor, const Cells& cells) {
        return are_over(actor, cells) || all_happen_before<true>(actor, cells);
    }

    /// Replaces all records with the actor's access. Lanes that access one cell share a record;
    /// `with_same_stamp`: also with earlier accesses of the same stamp.
    template <class Actor> void replace(const Actor& actor, const Cells& cells, bool with_same_stamp) {
        if (replace_lines(actor, cells, with_same_stamp)) return;
        touch(actor, cells);
        if (cells.is_one()) {
            const Record before = (*this)[cells.first];
            const bool is_alike = with_same_stamp && before.stamp == actor.stamp();
            return set(cells.first,
                       {actor.stamp(), cells.active | (is_alike ? before.lanes : 0), actor.id()});
        }
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

    using Line = LineRecord<Stamp>;

    void have_cells() {
        if (!stamps_.empty()) return;
        stamps_.resize(cells_ + warp_size); // see Cells::for_each_in_row
        lanes_.resize(cells_ + warp_size);
        ids_.resize(cells_ + warp_size);
    }

    /// Gives the cells of the line their own records.
    void split(std::size_t line) {
        const Line whole = lines_[line];
        if (whole.stamp == 0) return;
        lines_[line].stamp = 0;
        const std::size_t first = line << Cells::line_shift;
        for (std::size_t k = 0; k < Cells::line_cells; ++k) set(first + k, whole.of_cell(k));
    }

    /// Calls `visit(line, record)` for each line that the actor's access fills, until it returns false.
    /// Returns whether no call did.
    template <class Actor, class Visit>
    static bool all_of_lines(const Actor& actor, const Cells& cells, Visit visit) {
        const int shift = std::min(std::countr_zero(cells.each), Cells::line_shift);
        int lane = cells.first_lane();
        for (std::size_t line = cells.first_line; line < cells.first_line + cells.lines; ++line) {
            const Line record{actor.stamp(), actor.id(), static_cast<std::uint8_t>(lane),
                              static_cast<std::uint8_t>(shift)};
            if (!visit(line, record)) return false;
            lane += static_cast<int>(Cells::line_cells >> shift);
        }
        return true;
    }

    /// Stores one record per line, if that is enough. Returns whether it is.
    template <class Actor> bool replace_lines(const Actor& actor, const Cells& cells, bool with_same_stamp) {
        if (!cells.fill_lines()) return false;
        // Otherwise other records with the same stamp would be lost.
        const auto may_replace = [&](std::size_t line, const Line& record) {
            const Line& before = lines_[line];
            return actor.is_over(latest_[line]) ||
                   (before.stamp != 0 && (before.stamp != record.stamp || before.has_lanes_of(record)));
        };
        if (with_same_stamp && !all_of_lines(actor, cells, may_replace)) return false;
        return all_of_lines(actor, cells, [&](std::size_t line, const Line& record) {
            lines_[line] = record;
            latest_[line] = record.stamp;
            return true;
        });
    }

    /// Usually all earlier accesses precede the block's last barrier: testing the lines is enough.
    template <class Actor> bool are_over(const Actor& actor, const Cells& cells) const {
        if (cells.lines > 2 * warp_size) return false;
        for (std::size_t k = 0; k < cells.lines; ++k)
            if (!actor.is_over(latest_[cells.first_line + k])) return false;
        return true;
    }

    /// Whether each line has one record, all of which happen before the actor's access. If the same lanes
    /// accessed the same cells, what holds for one lane holds for all.
    template <bool or_same_stamp, class Actor>
    bool all_lines_happen_before(const Actor& actor, const Cells& cells) const {
        return cells.fill_lines() && all_of_lines(actor, cells, [&](std::size_t line, const Line& now) {
                   if (actor.is_over(latest_[line])) return true;
                   const Line& before = lines_[line];
                   if (before.stamp == 0) return false;
                   if ((or_same_stamp && before.stamp == now.stamp) || actor.is_after(before.stamp))
                       return true;
                   const LaneMask lane = LaneMask{1} << now.first_lane;
                   return before.has_lanes_of(now) && actor.may_be_concurrent(before.stamp, lane, lane) == 0;
               });
    }

    // Not inline, to keep the common path short.

    template <bool or_same_stamp, class Actor>
    [[gnu::noinline]] bool all_happen_before(const Actor& the_actor, const Cells& cells) {
        if (cells.is_one()) {
            const Record before = (*this)[cells.first];
            return (or_same_stamp && before.stamp == the_actor.stamp()) ||
                   the_actor.may_be_concurrent(before.stamp, before.lanes, cells.active) == 0;
        }
        if (all_lines_happen_before<or_same_stamp>(the_actor, cells)) return true;
        have_cells();
        cells.for_each_line([&](std::size_t line) { split(line); });
        const Actor actor = the_actor;
        const Stamp own = actor.stamp();
        LaneMask may_be_concurrent = 0;
        const auto look_at = [&](Stamp stamp, LaneMask lanes, LaneMask now) __attribute__((always_inline)) {
            const LaneMask found = actor.may_be_concurrent(stamp, lanes, now);
            return or_same_stamp && stamp == own ? 0 : found;
        };
        if (cells.each == 1 && cells.shape != Cells::Shape::one_place) {
            // Copies of all 32, so that the loop needs no branches.
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

    std::size_t cells_ = 0;
    std::vector<Stamp> stamps_; // of each cell, as the next two; empty until one is needed
    std::vector<LaneMask> lanes_;
    std::vector<InstructionId> ids_;
    std::vector<Stamp> latest_; // of each line
    std::vector<Line> lines_;
};

} // namespace emulator
