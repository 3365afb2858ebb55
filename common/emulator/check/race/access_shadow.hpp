/// The race checker's record of each memory location: its last reads, writes and atomics.
#pragma once

#include "emulator/check/race/access_records.hpp"
#include "emulator/check/race/shared_accesses.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace emulator {

/// How an access conflicts with others at the same location: two reads don't conflict, nor do two atomics.
enum class Role : std::uint8_t { read, write, atomic };

/// The shadow of a piece of memory: one cell per word, or per byte after the first access to single bytes.
///
/// `Actor` is a warp that makes an access now:
///   Stamp, stamp(), id(): of the access; epoch(): earlier accesses happen before everything that follows
///   latest(stamp, stamp): combines an earlier stamp with the next one, for is_over()
///   is_over(stamp): whether everything up to that stamp happens before the actor's access
///   may_be_concurrent(stamp, lanes, now): 0 if a fast test shows that the access happens before that of the
///     actor's lanes `now`
///   is_after(stamp): whether such an access, by any lanes, happens before that of any lanes of the actor
///   unordered(record, lanes): the lanes of the record that nothing orders with the access of these lanes
///   is_alive(record): it is not before the epoch
///   same_group(stamp, stamp): whether both belong to a group that may be ordered while others are not
///   needs_all(): whether two records per cell are not enough: see SharedAccesses
template <class Actor> class AccessShadow {
public:
    using Stamp = typename Actor::Stamp;
    using Record = AccessRecord<Stamp>;

    explicit AccessShadow(std::size_t bytes) : bytes_(bytes) {}

    /// Lanes access `bytes` bytes each at `addresses`, counted from the shadow's first byte. Calls
    /// `disturbs(lane, record, role)` for each lane and each conflicting earlier access that is not ordered
    /// with it, until it returns true, and `collides(lane, other)` for two lanes that now write to one
    /// location. Then records the access.
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

    /// The same for an access that a quick test shows to be free of conflicts. Otherwise does nothing and
    /// returns false.
    bool access_undisturbed(const Actor& actor, Role role, const LaneAddresses& addresses,
                            std::uint32_t bytes, LaneMask active) {
        if (bytes < std::size_t{1} << shift_) return false;
        const Cells cells = cells_of(addresses, bytes, active, shift_);
        if (!surely_undisturbed(actor, role, cells)) return false;
        add(actor, role, cells);
        return true;
    }

    void forget(std::size_t first, std::size_t bytes) {
        const std::size_t from = first >> shift_,
                          end = (first + bytes + (std::size_t{1} << shift_) - 1) >> shift_;
        writes_.forget(from, end);
        reads_.forget(from, end);
        atomics_.forget(from, end);
    }

    Record last_write(std::uint64_t address) const {
        return writes_.empty() ? Record{} : writes_[static_cast<std::size_t>(address >> shift_)];
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

    // Not inline, to keep the common path short.

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

    /// Lanes that have just written to one cell share its record.
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
