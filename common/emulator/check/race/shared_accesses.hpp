/// Several accesses per cell: all those that don't happen before another one.
#pragma once

#include "emulator/check/race/access_records.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace emulator {

/// Accesses that don't conflict with each other, such as reads: for each cell, those that don't happen before
/// another one.
///
/// The fast path keeps two per cell. With barriers of the whole block and of whole warps only, two by
/// different warps are enough: whatever conflicts with a third conflicts with one of them. With other
/// barriers the rest is kept too, which is slower.
template <class Actor> class SharedAccesses {
public:
    using Stamp = typename Actor::Stamp;
    using Record = AccessRecord<Stamp>;

    void divide(std::size_t parts) {
        first_.divide(parts);
        second_.divide(parts);
        std::unordered_map<std::size_t, std::vector<Record>> others;
        for (const auto& [cell, records] : others_)
            for (std::size_t k = 0; k < parts; ++k) others[cell * parts + k] = records;
        others_ = std::move(others);
    }

    void forget(std::size_t first, std::size_t end) {
        first_.forget(first, end);
        second_.forget(first, end);
        std::erase_if(others_, [&](const auto& entry) { return entry.first >= first && entry.first < end; });
    }

    /// Whether all of them happen before the actor's access to their cells, if a fast test can show it.
    bool happens_before(const Actor& actor, const Cells& cells) {
        return (first_.empty() || first_.happens_before(actor, cells)) &&
               (second_.empty() || second_.happens_before(actor, cells)) &&
               (others_.empty() || latest_other_ < actor.epoch());
    }

    /// Calls `visit(record)` for those of a cell, until it returns true. Returns whether a call did.
    template <class Visit> bool any_of(std::size_t cell, Visit visit) const {
        if (first_.empty()) return false;
        if (visit(first_[cell])) return true;
        if (!second_.empty() && visit(second_[cell])) return true;
        const auto others = others_.find(cell);
        return others != others_.end() && std::any_of(others->second.begin(), others->second.end(), visit);
    }

    /// `all` is the number of cells.
    void add(const Actor& actor, const Cells& cells, std::size_t all) {
        if (first_.empty()) first_.resize(all);
        if (first_.happens_before_or_same_stamp(actor, cells)) return first_.replace(actor, cells, true);
        add_one_by_one(actor, cells, all);
    }

private:
    [[gnu::noinline]] void add_one_by_one(const Actor& actor, const Cells& cells, std::size_t all) {
        first_.touch(actor, cells);
        if (second_.empty()) second_.resize(all);
        second_.touch(actor, cells);
        const auto add_one = [&](std::size_t cell, LaneMask lanes) { add(actor, cell, lanes); };
        if (cells.is_regular())
            cells.for_each_spaced(add_one);
        else
            cells.for_each(add_one);
    }

    void add(const Actor& actor, std::size_t cell, LaneMask lanes) {
        if (take_place_of(actor, first_, cell, lanes)) return;
        const Record first = first_[cell], second = second_[cell];
        const bool two_are_enough = !actor.needs_all();
        if (two_are_enough && actor.is_alive(second) && !Actor::same_group(first.stamp, second.stamp)) return;
        if (take_place_of(actor, second_, cell, lanes)) return;
        if (!two_are_enough || Actor::same_group(first.stamp, actor.stamp())) {
            if (latest_other_ < actor.epoch()) others_.clear();
            latest_other_ = actor.stamp();
            auto& others = others_[cell];
            std::erase_if(others,
                          [&](Record& other) { return (other.lanes = actor.unordered(other, lanes)) == 0; });
            others.push_back(second);
        }
        second_.set(cell, {actor.stamp(), lanes, actor.id()});
    }

    /// Drops an access that happens before this one: a later conflict with it also conflicts with this one.
    static bool take_place_of(const Actor& actor, AccessRecords<Stamp>& records, std::size_t cell,
                              LaneMask lanes) {
        Record record = records[cell];
        if (record.stamp == actor.stamp())
            lanes |= record.lanes;
        else if (actor.unordered(record, lanes) != 0)
            return false;
        records.set(cell, {actor.stamp(), lanes, actor.id()});
        return true;
    }

    AccessRecords<Stamp> first_, second_;
    std::unordered_map<std::size_t, std::vector<Record>> others_; // by cell
    Stamp latest_other_ = 0;
};

} // namespace emulator
