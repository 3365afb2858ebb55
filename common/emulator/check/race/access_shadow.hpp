/// \file
/// What the race checker remembers of each place in memory: who has read it, written to it, or changed it by
/// an atomic.
#pragma once

#include "emulator/check/instruction_ids.hpp"
#include "emulator/machine/observer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace emulator {

/// What an access is to others of the same place. Reads do not disturb reads, nor atomics atomics.
enum class Role : std::uint8_t { read, write, atomic };

/// Lanes of one warp that have accessed a place. A stamp says which warp and when; 0: nobody has.
template <class Stamp> struct AccessRecord {
    Stamp stamp = 0;
    LaneMask lanes = 0;
    InstructionId id = 0;
};

/// The cells that lanes of a warp access at once.
struct Cells {
    enum class Shape {
        row,       ///< each lane has one, right behind that of the lane before it; some lanes may be left out
        run,       ///< each lane has several, and the next lane the next ones
        spaced,    ///< each lane has one, equally far from that of the next lane
        one_place, ///< all lanes access the same
        scattered
    };
    Shape shape = Shape::scattered;
    std::size_t first = 0;                 ///< of the first lane
    std::size_t each = 1;                  ///< of one lane
    std::ptrdiff_t distance = 0;           ///< of a row or spaced: from one lane's cell to the next lane's
    std::size_t first_line = 0, lines = 1; ///< all lie in these
    LaneMask active = 0;
    const LaneAddresses& addresses;
    int shift = 0; ///< of an address to its cell

    static constexpr int line_shift = 5; ///< 32 cells are a line

    std::size_t of_lane(int lane) const { return addresses.data()[lane] >> shift; }

    /// Lanes from the first to the last active one.
    int first_lane() const { return std::countr_zero(active); }
    int lane_span() const { return warp_size - std::countl_zero(active) - first_lane(); }

    /// Calls `visit(cell, lanes)` for each of them, with those lanes that access it.
    template <class Visit> void for_each(Visit visit) const {
        if (shape == Shape::one_place) {
            for (std::size_t k = 0; k < each; ++k) visit(first + k, active);
        } else if (each == 1) {
            for_each_lane(active, [&](int lane) { visit(of_lane(lane), LaneMask{1} << lane); });
        } else {
            for_each_lane(active, [&](int lane) {
                for (std::size_t k = 0; k < each; ++k) visit(of_lane(lane) + k, LaneMask{1} << lane);
            });
        }
    }

    bool is_regular() const { return shape == Shape::row || shape == Shape::spaced; }

    /// Calls `visit(line)` for all lines that hold one of them. There may be others among them.
    template <class Visit> void for_each_line(Visit visit) const {
        if (lines <= 2 * warp_size)
            for (std::size_t k = 0; k < lines; ++k) visit(first_line + k);
        else
            for_each([&](std::size_t cell, LaneMask) { visit(cell >> line_shift); });
    }

    /// Of a row or spaced: calls `visit(cell, lane)` for each of them.
    template <class Visit> void for_each_spaced(Visit visit) const {
        const int from = first_lane(), span = lane_span();
        if (has_gaps(active))
            for_each_lane(active, [&](int lane) {
                visit(first + static_cast<std::size_t>((lane - from) * distance), LaneMask{1} << lane);
            });
        else
            for (int k = 0; k < span; ++k)
                visit(first + static_cast<std::size_t>(k * distance), LaneMask{1} << (from + k));
    }

    // ---- of a row ----

    /// Calls `visit(k, lane, is_active)` for 32 cells from the first one on, `is_active` being all ones or 0:
    /// loops that always have as many rounds, and no branches, are fast. There are as many cells behind the
    /// last one of the memory.
    template <class Visit> void for_each_in_row(Visit visit) const {
        const LaneMask* const lanes = lane_bits.data() + first_lane();
        const LaneMask from_first = active >> first_lane();
        for (std::size_t k = 0; k < warp_size; ++k) visit(k, lanes[k], 0 - (from_first >> k & 1));
    }

    // ---- of a run ----

    std::size_t count() const { return each * static_cast<std::size_t>(std::popcount(active)); }

    /// Calls `visit(cell, lane)` for each of them.
    template <class Visit> void for_each_in_run(Visit visit) const {
        std::size_t cell = first;
        for_each_lane(active, [&](int lane) {
            for (std::size_t k = 0; k < each; ++k) visit(cell++, LaneMask{1} << lane);
        });
    }

    /// Lane i's bit; none behind the last lane.
    static constexpr auto lane_bits = [] {
        std::array<LaneMask, 2 * warp_size> result{};
        for (std::size_t i = 0; i < warp_size; ++i) result[i] = LaneMask{1} << i;
        return result;
    }();
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

/// Accesses that do not disturb each other: of each cell, those of which none comes before another.
///
/// Two of them are kept where they are found fast. They are enough as long as there are but barriers of the
/// whole block, and of a warp: then what disturbs a third one disturbs one of two by different warps too.
/// Else the others are kept as well, which is slower.
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

    /// Whether all of them come before the actor's access to their cells, as far as that is fast to say.
    bool happens_before(const Actor& actor, const Cells& cells) const {
        return (first_.empty() || first_.happens_before(actor, cells)) &&
               (second_.empty() || second_.happens_before(actor, cells)) &&
               (others_.empty() || latest_other_ < actor.epoch());
    }

    /// Calls `visit(record)` for those of a cell, until it returns true. Returns whether it did.
    template <class Visit> bool any_of(std::size_t cell, Visit visit) const {
        if (first_.empty()) return false;
        if (visit(first_[cell])) return true;
        if (!second_.empty() && visit(second_[cell])) return true;
        const auto others = others_.find(cell);
        return others != others_.end() && std::any_of(others->second.begin(), others->second.end(), visit);
    }

    /// `all` is how many cells there are.
    void add(const Actor& actor, const Cells& cells, std::size_t all) {
        if (first_.empty()) first_.resize(all);
        if (first_.happens_before_or_same_stamp(actor, cells)) return first_.replace(actor, cells, true);
        add_one_by_one(actor, cells, all);
    }

private:
    [[gnu::noinline]] void add_one_by_one(const Actor& actor, const Cells& cells, std::size_t all) {
        first_.touch(actor.stamp(), cells);
        if (second_.empty()) second_.resize(all);
        second_.touch(actor.stamp(), cells);
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

    /// An access that comes before this one need not be remembered: what is to come and disturbs it disturbs
    /// this one too.
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

/// The shadow of a piece of memory, a cell for each word of it; for each byte once bytes have been accessed.
///
/// `Actor` is a warp that makes an access now:
///   Stamp, stamp(), id(): of the access; epoch(): what is before it is over for everybody
///   may_be_concurrent(stamp, lanes, now): 0 if an access surely comes before that of the actor's lanes
///   `now`, as
///     far as that can be told at once
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
        const Cells cells = cells_of(addresses, bytes, active);
        if (!surely_undisturbed(actor, role, cells)) find_disturbed(actor, role, cells, disturbs);
        add(actor, role, cells);
        const bool may_collide =
            cells.shape == Cells::Shape::one_place || cells.shape == Cells::Shape::scattered;
        if (role == Role::write && may_collide) find_collisions(cells, collides);
    }

private:
    Cells cells_of(const LaneAddresses& addresses, std::uint32_t bytes, LaneMask active) const {
        Cells cells{.first = addresses[0] >> shift_, // inactive lanes repeat the first active one's
                    .each = bytes >> shift_,
                    .active = active,
                    .addresses = addresses,
                    .shift = shift_};
        if (const auto stride = stride_of(addresses, bytes, active); stride && *stride != 0) {
            if (cells.each > 1 && *stride == bytes && !has_gaps(active)) {
                cells.shape = Cells::Shape::run;
                return in_lines_of(cells, cells.first, cells.first + cells.count() - 1);
            }
            if (cells.each == 1) {
                cells.shape = *stride == bytes ? Cells::Shape::row : Cells::Shape::spaced;
                cells.distance = *stride >> shift_;
                const std::size_t last =
                    cells.first + static_cast<std::size_t>((cells.lane_span() - 1) * cells.distance);
                return in_lines_of(cells, std::min(cells.first, last), std::max(cells.first, last));
            }
        }
        const std::uint64_t* const each_address = addresses.data();
        std::uint64_t difference = 0;
        for (int lane = 1; lane < warp_size; ++lane) difference |= each_address[lane] ^ each_address[0];
        if (difference == 0) cells.shape = Cells::Shape::one_place;
        // The smallest number of lines that is a power of two and holds all, at a multiple of itself.
        cells.lines = std::size_t{1} << std::bit_width(difference >> shift_ >> Cells::line_shift);
        cells.first_line = cells.first >> Cells::line_shift & ~(cells.lines - 1);
        return cells;
    }

    /// From one lane's address to the next lane's, if that is the same for all; of a lane on its own,
    /// `bytes`.
    static std::optional<std::int64_t> stride_of(const LaneAddresses& addresses, std::uint32_t bytes,
                                                 LaneMask active) {
        if (std::has_single_bit(active)) return bytes;
        if (addresses.are_strided()) return addresses.stride();
        const int from_lane = std::countr_zero(active);
        const bool has_next = (active >> (from_lane + 1) & 1) != 0;
        const std::uint64_t distance = has_next ? addresses[from_lane + 1] - addresses[0] : bytes;
        if (!are_spaced(addresses.data(), distance, active)) return std::nullopt;
        return static_cast<std::int64_t>(distance);
    }

    static Cells in_lines_of(Cells cells, std::size_t first, std::size_t last) {
        cells.first_line = first >> Cells::line_shift;
        cells.lines = (last >> Cells::line_shift) - cells.first_line + 1;
        return cells;
    }

    /// Each active lane's address lies `distance` bytes behind that of the lane before it.
    static bool are_spaced(const std::uint64_t* addresses, std::uint64_t distance, LaneMask active) {
        std::uint64_t place = addresses[0] - distance * static_cast<unsigned>(std::countr_zero(active));
        std::uint64_t difference = 0;
        for (int lane = 0; lane < warp_size; ++lane, place += distance)
            difference |= (active >> lane & 1) != 0 ? addresses[lane] ^ place : 0;
        return difference == 0;
    }

    std::size_t cells() const { return (bytes_ + (std::size_t{1} << shift_) - 1) >> shift_; }

    void divide(std::uint32_t cell_bytes) {
        const std::size_t parts = (std::size_t{1} << shift_) / cell_bytes;
        writes_.divide(parts);
        reads_.divide(parts);
        atomics_.divide(parts);
        shift_ = std::countr_zero(cell_bytes);
    }

    bool surely_undisturbed(const Actor& actor, Role role, const Cells& cells) const {
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
