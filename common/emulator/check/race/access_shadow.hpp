/// \file
/// What the race checker remembers of each place in memory: who has read it, written to it, or changed it by
/// an atomic.
#pragma once

#include "emulator/check/race/access_records.hpp"
#include "emulator/check/race/shared_accesses.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace emulator {

/// What an access is to others of the same place. Reads do not disturb reads, nor atomics atomics.
enum class Role : std::uint8_t { read, write, atomic };

/// The shadow of a piece of memory, a cell for each word of it; for each byte once bytes have been accessed.
///
/// `Actor` is a warp that makes an access now:
///   Stamp, stamp(), id(): of the access; epoch(): what is before it is over for everybody
///   latest(stamp, stamp): of those of accesses before, and of the next one, what is_over() can tell most of;
///     is_over(stamp): whether what has that stamp, and all before it, happens before the actor's access
///   may_be_concurrent(stamp, lanes, now): 0 if an access happens before that of the actor's lanes `now`, as
///     far as that can be told at once
///   is_after(stamp): whether such an access, by any lanes, happens before that of any lanes of the actor
///   unordered(record, lanes): those lanes of the record that nothing orders with the access of these lanes
///   is_alive(record): it is not before the epoch
///   same_group(stamp, stamp): whether both are of those that may be ordered while others are not
///   needs_all(): whether even less may be: see SharedAccesses
template <class Actor> class AccessShadow {
public:
    using Stamp = typename Actor::Stamp;
    using Record = AccessRecord<Stamp>;

    explicit AccessShadow(std::size_t bytes) : bytes_(bytes) {}

    /// Lanes access `bytes` bytes each at `addresses`, which count from the shadow's first byte. Calls
    /// `disturbs(lane, record, role)` for each lane and the earlier accesses that it is not ordered with,
    /// until it returns true; and `collides(lane, other)` for two lanes that write to one place now. Then the
    /// access counts among the earlier ones.
    template <class Disturbs, class Collides>
    void access(const Actor& actor, Role role, const LaneAddresses& addresses, std::uint32_t bytes,
                LaneMask active, Disturbs disturbs, Collides collides) {
        if (bytes < std::size_t{1} << shift_) divide(bytes);
        const Cells cells = cells_of(addresses, bytes, active, shift_);
        if (!surely_undisturbed(actor, role, cells)) find_disturbed(actor, role, cells, disturbs);
        add(actor, role, cells);
        const bool may_collide =
            cells.shape == Cells::Shape::one_place || cells.shape == Cells::Shape::scattered;
        if (role == Role::write && may_collide) find_collisions(cells, collides);
    }

    /// The same for an access that is found to disturb nothing by a quick look. Returns false if it is not,
    /// and does nothing then.
    bool access_undisturbed(const Actor& actor, Role role, const LaneAddresses& addresses,
                            std::uint32_t bytes, LaneMask active) {
        if (bytes < std::size_t{1} << shift_) return false;
        const Cells cells = cells_of(addresses, bytes, active, shift_);
        if (!surely_undisturbed(actor, role, cells)) return false;
        add(actor, role, cells);
        return true;
    }

private:
    std::size_t cells() const { return (bytes_ + (std::size_t{1} << shift_) - 1) >> shift_; }

    void divide(std::uint32_t cell_bytes) {
        const std::size_t parts = (std::size_t{1} << shift_) / cell_bytes;
        writes_.divide(parts);
        reads_.divide(parts);
        atomics_.divide(parts);
        shift_ = std::countr_zero(cell_bytes);
    }

    bool surely_undisturbed(const Actor& actor, Role role, const Cells& cells) {
        return (writes_.empty() || writes_.happens_before(actor, cells)) &&
               (role == Role::atomic || atomics_.happens_before(actor, cells)) &&
               (role == Role::read || reads_.happens_before(actor, cells));
    }

    // Not inline, to keep what is always done short.

    template <class Disturbs>
    [[gnu::noinline]] void find_disturbed(const Actor& actor, Role role, const Cells& cells,
                                          Disturbs disturbs) {
        for_each_lane(cells.active, [&](int lane) {
            const std::size_t first = cells.of_lane(lane);
            for (std::size_t cell = first; cell < first + cells.each; ++cell)
                if (is_disturbed(actor, role, cell, lane, disturbs)) return;
        });
    }

    template <class Disturbs>
    bool is_disturbed(const Actor& actor, Role role, std::size_t cell, int lane, Disturbs disturbs) {
        const auto check = [&](Role earlier) {
            return [&, earlier](const Record& record) {
                const LaneMask others = actor.unordered(record, LaneMask{1} << lane);
                return others != 0 && disturbs(lane, Record{record.stamp, others, record.id}, earlier);
            };
        };
        return (!writes_.empty() && check(Role::write)(writes_[cell])) ||
               (role != Role::atomic && atomics_.any_of(cell, check(Role::atomic))) ||
               (role != Role::read && reads_.any_of(cell, check(Role::read)));
    }

    void add(const Actor& actor, Role role, const Cells& accessed) {
        switch (role) {
        case Role::read: return reads_.add(actor, accessed, cells());
        case Role::atomic: return atomics_.add(actor, accessed, cells());
        case Role::write:
            if (writes_.empty()) writes_.resize(cells());
            writes_.replace(actor, accessed, false);
        }
    }

    /// Lanes that have just written to one cell stand there together.
    template <class Collides> [[gnu::noinline]] void find_collisions(const Cells& cells, Collides collides) {
        for_each_lane(cells.active, [&](int lane) {
            const LaneMask before = cells.active & ((LaneMask{1} << lane) - 1);
            LaneMask others = writes_[cells.of_lane(lane)].lanes & before;
            while (others != 0 && cells.addresses[std::countr_zero(others)] != cells.addresses[lane])
                others &= others - 1;
            if (others != 0) collides(lane, std::countr_zero(others));
        });
    }

    std::size_t bytes_;
    int shift_ = 2; // a cell stands for 2^shift_ bytes
    AccessRecords<Stamp> writes_;
    SharedAccesses<Actor> reads_, atomics_;
};

} // namespace emulator
