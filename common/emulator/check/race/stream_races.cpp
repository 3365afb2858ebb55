#include "emulator/check/race/stream_races.hpp"

#include "emulator/check/race/grid_order.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/program/source_location.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <utility>

namespace emulator {

namespace {

using Bits = StreamRaceChecker::Bits;
using User = StreamRaceChecker::User;
using Record = StreamRaceChecker::Record;
using Use = StreamRaceChecker::Use;
using Phase = StreamRaceChecker::Phase;
using Moment = StreamRaceChecker::Moment;
using Moments = StreamRaceChecker::Moments;
using Acquire = StreamRaceChecker::Acquire;
using Release = StreamRaceChecker::Release;
using Progress = StreamRaceChecker::Progress;

constexpr std::uint32_t most_phases = 256; ///< of one operation; what comes later counts as the last one

Moment moment_of(std::uint32_t operation, std::uint32_t phase) { return Moment{operation} << 32 | phase; }
Moment end_of(std::uint32_t operation) { return moment_of(operation, UINT32_MAX); }
std::uint32_t operation_of(Moment moment) { return static_cast<std::uint32_t>(moment >> 32); }

bool knows(const Moments& known, const Phase& phase) {
    return phase.stream < known.size() && phase.moment <= known[phase.stream];
}
void join(Moments& known, std::uint32_t stream, Moment moment) {
    known.resize(std::max(known.size(), std::size_t{stream} + 1));
    known[stream] = std::max(known[stream], moment);
}
void join(Moments& known, const Moments& other) {
    known.resize(std::max(known.size(), other.size()));
    for (std::size_t k = 0; k < other.size(); ++k) known[k] = std::max(known[k], other[k]);
}

/// The scope of fences and atomics that order threads of these devices.
Scope needed_between(int one, int other) { return one == other ? Scope::gpu : Scope::system; }

/// Whether it orders the two operations.
bool is_effective(const Acquire& acquire, int device) {
    const Release& release = *acquire.release;
    return release.has_fence && acquire.has_fence &&
           std::min({release.write.scope, release.fence.scope, acquire.read.scope, acquire.fence.scope}) >=
               needed_between(release.phase->device, device);
}
void learn(Moments& known, const Release& release) {
    join(known, release.phase->known);
    join(known, release.phase->stream, release.phase->moment);
}

/// Whether a flag that is stored again tells no less.
bool is_as_good(const Release& now, const Release& earlier) {
    return now.has_fence >= earlier.has_fence && now.fence.scope >= earlier.fence.scope &&
           now.write.scope >= earlier.write.scope;
}

const char* name_of(Use use) { return use == Use::read ? "read" : use == Use::write ? "write" : "atomic"; }
const char* verb_of(Use use) {
    return use == Use::read ? "reads" : use == Use::write ? "writes" : "changes by an atomic";
}

/// Sets `count` > 0 bits from `first` on, all in one page.
void set_bits(Bits& bits, std::uint64_t first, std::uint64_t count) {
    for (const std::uint64_t end = first + count; first < end;) {
        const std::uint64_t in_word = first % 64, here = std::min(64 - in_word, end - first);
        bits[first / 64] |= (~std::uint64_t{0} >> (64 - here)) << in_word;
        first += here;
    }
}

std::uint64_t word_of(const std::unique_ptr<Bits>& bits, std::size_t k) {
    return bits ? (*bits)[k] : ~std::uint64_t{0};
}

/// Without bits, if the whole page is in it.
std::unique_ptr<Bits> compressed(std::unique_ptr<Bits> bits) {
    const bool is_full =
        std::all_of(bits->begin(), bits->end(), [](std::uint64_t word) { return ~word == 0; });
    return is_full ? nullptr : std::move(bits);
}

/// Calls `visit(page, first, bytes)` for the part in each page.
template <class Visit> void for_each_page(std::uint64_t first, std::size_t bytes, Visit visit) {
    constexpr std::uint64_t page_bytes = StreamRaceChecker::page_bytes;
    for (const std::uint64_t end = first + bytes; first < end;) {
        const std::uint64_t in_page = first % page_bytes, here = std::min(page_bytes - in_page, end - first);
        visit(first / page_bytes, in_page, here);
        first += here;
    }
}

/// Takes from an earlier record of the same stream the bytes for which the later one does as well. Returns whether
/// none are left.
bool is_replaced(Record& earlier, const Record& now) {
    const bool is_alike = now.user->use == Use::write || earlier.user->use == Use::read;
    if (earlier.phase->stream != now.phase->stream || !is_alike) return false;
    if (!now.bits) return true;
    if (!earlier.bits) return false;
    std::uint64_t left = 0;
    for (std::size_t k = 0; k < now.bits->size(); ++k) left |= (*earlier.bits)[k] &= ~(*now.bits)[k];
    return left == 0;
}

Record without_bits(const Record& record) { return {record.phase, record.user, nullptr}; }

bool are_conflicting(const Record& earlier, const Record& now) {
    if (earlier.user->use == Use::read && now.user->use == Use::read) return false;
    if (earlier.user->use != Use::atomic || now.user->use != Use::atomic) return true;
    return std::min(earlier.user->scope, now.user->scope) <
           needed_between(earlier.phase->device, now.phase->device);
}

/// "The fence is for the threads of its device only": what a scope reaches.
const char* reach_of(Scope scope) {
    switch (scope) {
    case Scope::block: return "block";
    case Scope::cluster: return "cluster";
    case Scope::gpu: return "device";
    case Scope::system: break;
    }
    return "system";
}

/// One host thread's part of a kernel.
class StreamRaceObserver final : public Observer {
public:
    StreamRaceObserver(StreamRaceChecker& checker, const Grid& grid)
        : checker_(checker), grid_(grid), operation_(checker.name_of_current()),
          progress_(checker.progress()) {}
    StreamRaceObserver(const StreamRaceObserver&) = delete;
    StreamRaceObserver& operator=(const StreamRaceObserver&) = delete;

    ~StreamRaceObserver() override {
        const std::lock_guard lock(checker_.mutex());
        if (knows_more_) begin_phase(); // What the last access has learned is for what comes later.
        end_phase();
        for (auto& [warp, state] : warps_) add_read(state);
        for (auto& [address, release] : released_) progress_.releasing[address].push_back(std::move(release));
    }

    bool wants(EventKind kind) const override { return is_global_access(kind); }

    void block_started(Block& block) override {
        for (const auto& warp : block.warps()) warps_.erase(warp.get());
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        if (access.space != ptx::Space::global) return;
        const bool synchronizes = may_synchronize(instruction, access.kind);
        if (knows_more_ || (has_told_ && !synchronizes)) begin_phase();
        mark(user_of(warp, instruction, access, synchronizes), access);
        if (synchronizes) synchronize(warp, instruction, access);
    }

    void fenced(const Warp& warp, const Instruction& instruction, LaneMask) override {
        if (instruction.sync == SyncKind::proxy_fence) return;
        WarpState& state = warps_[&warp];
        state.fence = {instruction.scope, where(warp, instruction)};
        state.has_fence = true;
        for (Acquire& acquire : state.seen) {
            acquire.has_fence = true;
            acquire.fence = state.fence;
            acquired(std::move(acquire));
        }
        state.seen.clear();
    }

    void block_ended(Block& block) override { // what was read without a fence
        for (const auto& warp : block.warps()) {
            const auto state = warps_.find(warp.get());
            if (state == warps_.end()) continue;
            add_read(state->second);
            warps_.erase(state);
        }
    }

    /// The next turn may be that of a kernel to which this one has told something.
    void launch_paused() override {
        if (progress_.tells_host) checker_.tell_host();
    }

private:
    struct ByInstruction {
        std::shared_ptr<const User> user{};
        std::unordered_map<std::uint64_t, std::unique_ptr<Bits>> pages{};
        std::uint64_t last_page = ~std::uint64_t{0};
        Bits* last_bits = nullptr;
    };
    struct WarpState {
        bool has_fence = false;
        StreamRaceChecker::Sync fence{};
        std::vector<Acquire> seen{}; ///< what it has read since its last fence
        std::set<std::pair<const Release*, const Instruction*>> read{}; ///< once is enough
    };

    const std::string& where(const Warp& warp, const Instruction& instruction) {
        std::string& place = places_[&instruction];
        if (!place.empty()) return place;
        const Code& code = *warp.running().frame->code;
        place = source_line(code, code.index_of(instruction));
        if (place.empty()) place = ptx_statement(code, code.index_of(instruction));
        return place;
    }

    ByInstruction& user_of(const Warp& warp, const Instruction& instruction, const Access& access,
                           bool synchronizes) {
        if (&instruction == last_instruction_) return *last_;
        ByInstruction& one = by_instruction_[&instruction];
        last_instruction_ = &instruction;
        last_ = &one;
        if (one.user) return one;
        const Code& code = *warp.running().frame->code;
        const std::uint32_t pc = code.index_of(instruction);
        one.user = std::make_shared<const User>(User{.operation = operation_,
                                                     .kernel = grid_.kernel.readable_name(),
                                                     .where = source_line(code, pc),
                                                     .ptx = ptx_statement(code, pc),
                                                     .use = synchronizes                      ? Use::atomic
                                                            : access.kind == AccessKind::load ? Use::read
                                                                                              : Use::write,
                                                     .scope = instruction.scope});
        return one;
    }

    static Bits& bits_of(ByInstruction& one, std::uint64_t page) {
        if (page == one.last_page) return *one.last_bits;
        auto& bits = one.pages[page];
        if (!bits) bits = std::make_unique<Bits>();
        one.last_page = page;
        one.last_bits = bits.get();
        return *bits;
    }

    static void mark(ByInstruction& one, const Access& access) {
        const auto set = [&](std::uint64_t first, std::uint64_t bytes) {
            for_each_page(first, bytes, [&](std::uint64_t page, std::uint64_t place, std::uint64_t count) {
                set_bits(bits_of(one, page), place, count);
            });
        };
        const LaneAddresses& addresses = access.addresses;
        const auto bytes = static_cast<std::int64_t>(access.bytes);
        if (addresses.are_strided() && !has_gaps(access.active) &&
            (addresses.stride() == bytes || addresses.stride() == -bytes))
            return set(addresses.lowest(), addresses.highest() + access.bytes - addresses.lowest());
        std::uint64_t last = ~std::uint64_t{0};
        for_each_lane(access.active, [&](int lane) {
            if (addresses[lane] != last) set(addresses[lane], access.bytes);
            last = addresses[lane];
        });
    }

    [[gnu::noinline]] void synchronize(const Warp& warp, const Instruction& instruction,
                                       const Access& access) {
        const bool reads = access.kind == AccessKind::load || access.kind == AccessKind::atom;
        std::uint64_t last = ~std::uint64_t{0};
        for_each_lane(access.active, [&](int lane) {
            const std::uint64_t address = access.addresses[lane];
            if (address == last) return;
            last = address;
            if (reads && checker_.has_released()) acquire(warp, instruction, address);
            if (access.kind != AccessKind::load) release(warp, instruction, address);
        });
        if (access.kind == AccessKind::load || instruction.scope != Scope::system) return;
        const auto state = warps_.find(&warp);
        const bool releases =
            does_release(instruction) ||
            (state != warps_.end() && state->second.has_fence && state->second.fence.scope == Scope::system);
        if (!releases) return;
        const Allocation* const allocation = grid_.memory.find(last);
        if (allocation && allocation->device == Allocation::on_host) tells_host();
    }

    void tells_host() {
        const std::lock_guard lock(checker_.mutex());
        progress_.tells_host = true;
    }

    void acquire(const Warp& warp, const Instruction& instruction, std::uint64_t address) {
        const auto* const releases = checker_.released_at(address);
        if (!releases) return;
        const bool acquires = does_acquire(instruction);
        WarpState& state = warps_[&warp];
        for (const auto& release : *releases) {
            if (release->phase->stream == progress_.phase->stream ||
                !state.read.emplace(release.get(), &instruction).second)
                continue;
            Acquire acquire{.release = release,
                            .read = {instruction.scope, where(warp, instruction)},
                            .has_fence = acquires};
            if (acquires)
                acquired(std::move(acquire));
            else
                state.seen.push_back(std::move(acquire));
        }
    }

    void acquired(Acquire acquire) {
        const std::lock_guard lock(checker_.mutex());
        if (is_effective(acquire, progress_.phase->device)) {
            // Also what the kernel has done before, unless it has phases.
            Moments& known = grid_.takes_turns ? next_known_ : progress_.phase->known;
            learn(known, *acquire.release);
            knows_more_ = grid_.takes_turns;
        }
        progress_.acquired->push_back(std::move(acquire));
    }

    void add_read(WarpState& state) {
        std::move(state.seen.begin(), state.seen.end(), std::back_inserter(*progress_.acquired));
        state.seen.clear();
    }

    void release(const Warp& warp, const Instruction& instruction, std::uint64_t address) {
        constexpr std::size_t most_without_fence = 64; // for what is said of a finding
        const auto state = warps_.find(&warp);
        const bool has_fence = state != warps_.end() && state->second.has_fence;
        const bool releases = does_release(instruction);
        if (!has_fence && !releases && released_.size() >= most_without_fence) return;
        auto& release = released_[address];
        // The widest one, of those that it has made.
        const Scope fence = releases    ? instruction.scope
                            : has_fence ? state->second.fence.scope
                                        : Scope::block;
        Release now{.phase = progress_.phase,
                    .write = {instruction.scope, {}},
                    .has_fence = has_fence || releases,
                    .fence = {fence, {}}};
        if (release && (release->phase == now.phase ? is_as_good(*release, now) : !is_as_good(now, *release)))
            return;
        now.write.where = where(warp, instruction);
        now.fence.where = has_fence && !releases ? state->second.fence.where : now.write.where;
        release = std::make_shared<const Release>(std::move(now));
        if (!grid_.takes_turns) return;
        checker_.publish(address, release);
        has_told_ = true;
    }

    // ---- phases ----

    /// What has been used until now belongs to the present one.
    void end_phase() {
        for (auto& [instruction, one] : by_instruction_) {
            for (auto& [page, bits] : one.pages)
                progress_.used[page].push_back({progress_.phase, one.user, compressed(std::move(bits))});
            one.pages.clear();
            one.last_page = ~std::uint64_t{0};
        }
    }

    void begin_phase() {
        has_told_ = knows_more_ = false;
        const bool is_last = static_cast<std::uint32_t>(progress_.phase->moment) >= most_phases;
        if (is_last) return join(progress_.phase->known, next_known_);
        end_phase();
        progress_.phase = std::make_shared<Phase>(*progress_.phase);
        ++progress_.phase->moment;
        join(progress_.phase->known, next_known_);
    }

    StreamRaceChecker& checker_;
    const Grid& grid_;
    const std::string operation_;
    Progress& progress_;
    bool has_told_ = false, knows_more_ = false; ///< in this phase
    Moments next_known_;                         ///< in the next one
    std::unordered_map<const Instruction*, ByInstruction> by_instruction_;
    std::unordered_map<const Instruction*, std::string> places_;
    const Instruction* last_instruction_ = nullptr;
    ByInstruction* last_ = nullptr;
    std::unordered_map<const Warp*, WarpState> warps_;
    std::unordered_map<std::uint64_t, std::shared_ptr<const Release>> released_;
};

Party party_of(std::string role, const User& user) {
    return {.role = std::move(role), .where = user.where, .ptx = user.ptx, .operation = user.operation};
}

} // namespace

// ---- what operations use ----

std::unique_ptr<Observer> StreamRaceChecker::observer(const Grid& grid) {
    return std::make_unique<StreamRaceObserver>(*this, grid);
}

std::string StreamRaceChecker::name_of_current() const {
    return current().what + " in " + order_->name(current().stream);
}

void StreamRaceChecker::allocated(const Allocation& allocation, bool host_writes) {
    forget(allocation);
    allocations_[allocation.address] = describe(allocation);
    if (host_writes) pinned_.insert(allocation.address);
}

void StreamRaceChecker::freed(const Allocation& allocation) {
    forget(allocation);
    allocations_.erase(allocation.address);
    pinned_.erase(allocation.address);
}

void StreamRaceChecker::forget(const Allocation& allocation) {
    if (used_.empty() || allocation.bytes == 0) return;
    for (std::uint64_t page = allocation.address / page_bytes; page <= (allocation.end() - 1) / page_bytes;
         ++page)
        used_.erase(page); // no two allocations share one, except memory that the program has registered
}

void StreamRaceChecker::written(std::uint64_t first, std::size_t bytes) { use(first, bytes, Use::write); }
void StreamRaceChecker::read(std::uint64_t first, std::size_t bytes) { use(first, bytes, Use::read); }
void StreamRaceChecker::copied(std::uint64_t from, std::uint64_t to, std::size_t bytes) {
    use(from, bytes, Use::read);
    use(to, bytes, Use::write);
}

StreamRaceChecker::Progress& StreamRaceChecker::progress() {
    const auto [found, is_new] = progress_.try_emplace({current().stream, current().number});
    if (is_new)
        found->second.phase = std::make_shared<Phase>(Phase{.stream = current().stream,
                                                            .moment = moment_of(current().number, 0),
                                                            .device = current().device,
                                                            .known = known_by(current().before),
                                                            .read = found->second.acquired});
    return found->second;
}

Moments StreamRaceChecker::known_by(const OperationOrder::Clock& clock) const {
    Moments known = told_;
    for (std::uint32_t stream = 0; stream < clock.size(); ++stream) {
        if (clock[stream] == 0) continue;
        join(known, stream, end_of(clock[stream]));
        if (stream >= learned_.size()) continue;
        const auto later = learned_[stream].upper_bound(clock[stream]);
        if (later != learned_[stream].begin()) join(known, std::prev(later)->second);
    }
    return known;
}

void StreamRaceChecker::use(std::uint64_t first, std::size_t bytes, Use use) {
    if (!is_needed() || current().number == 0) return;
    Progress& now = progress();
    const auto user = std::make_shared<const User>(User{.operation = name_of_current(), .use = use});
    for_each_page(first, bytes, [&](std::uint64_t page, std::uint64_t in_page, std::uint64_t count) {
        auto bits = std::make_unique<Bits>();
        set_bits(*bits, in_page, count);
        now.used[page].push_back({now.phase, user, compressed(std::move(bits))});
    });
}

void StreamRaceChecker::tell_host() {
    const Phase& phase = *progress().phase;
    join(told_, phase.known);
    join(told_, phase.stream, phase.moment);
}

void StreamRaceChecker::publish(std::uint64_t address, std::shared_ptr<const Release> release) {
    auto& all = released_[address];
    std::erase_if(all, [&](const auto& one) { return one->phase->stream == release->phase->stream; });
    all.push_back(std::move(release));
}

const std::vector<std::shared_ptr<const StreamRaceChecker::Release>>*
StreamRaceChecker::released_at(std::uint64_t address) const {
    const auto found = released_.find(address);
    return found == released_.end() ? nullptr : &found->second;
}

// ---- when an operation ends ----

void StreamRaceChecker::operation_ends() {
    const auto found = progress_.find({current().stream, current().number});
    if (found == progress_.end()) return;
    Progress ended = std::move(found->second);
    progress_.erase(found);
    for (auto& [page, records] : ended.used) {
        auto& earlier = used_[page];
        std::erase_if(earlier, [&](const Record& one) {
            const std::uint32_t stream = one.phase->stream, number = operation_of(one.phase->moment);
            return !order_->has_waiting() && OperationOrder::knows(order_->host(), stream, number) &&
                   OperationOrder::knows(current().before, stream, number);
        });
        for (const Record& now : records) compare(page, earlier, now);
        // Whatever is unordered with an earlier operation of this stream is so with this one, too. One that has not
        // ended may be ordered with this one alone.
        if (!order_->has_waiting())
            for (const Record& now : records)
                std::erase_if(earlier, [&](Record& one) { return is_replaced(one, now); });
        std::move(records.begin(), records.end(), std::back_inserter(earlier));
    }
    for (auto& [address, releases] : ended.releasing)
        for (const auto& release : releases) publish(address, release);
    if (!ended.acquired->empty()) {
        learned_.resize(std::max(learned_.size(), std::size_t{current().stream} + 1));
        learned_[current().stream][current().number] = ended.phase->known;
    }
    for (const auto& [users, conflict] : conflicts_) report(conflict);
    if (ended.tells_host) order_->host_waits_for_current();
    conflicts_.clear();
}

void StreamRaceChecker::compare(std::uint64_t page, const std::vector<Record>& earlier, const Record& now) {
    for (const Record& one : earlier) {
        if (one.phase->stream == now.phase->stream || knows(now.phase->known, *one.phase) ||
            knows(one.phase->known, *now.phase) || !are_conflicting(one, now))
            continue;
        std::uint64_t first = page_bytes;
        std::size_t bytes = 0;
        for (std::size_t k = 0; k < page_bytes / 64; ++k) {
            const std::uint64_t both = word_of(one.bits, k) & word_of(now.bits, k);
            if (both != 0 && first == page_bytes)
                first = k * 64 + static_cast<std::uint64_t>(std::countr_zero(both));
            bytes += static_cast<std::size_t>(std::popcount(both));
        }
        if (bytes == 0) continue;
        const auto [conflict, is_new] = conflicts_.try_emplace({one.user.get(), now.user.get()});
        if (is_new) conflict->second = {.earlier = without_bits(one), .now = without_bits(now)};
        conflict->second.address = std::min(conflict->second.address, page * page_bytes + first);
        conflict->second.bytes += bytes;
    }
}

// ---- findings ----

std::string StreamRaceChecker::cause(const Record& earlier, const Record& now) const {
    const Scope needed = needed_between(earlier.phase->device, now.phase->device);
    const auto too_narrow = [&](const char* what, const Sync& sync) {
        return std::string("The ") + what + " at " + sync.where + " is for the threads of its " +
               reach_of(sync.scope) + " only: " +
               (needed == Scope::system
                    ? "between devices use __threadfence_system(), atomicAdd_system() and "
                      "the like, or cuda::thread_scope_system."
                    : "between kernels use a wider scope, like that of __threadfence() "
                      "and atomicAdd().");
    };
    if (earlier.user->use == Use::atomic && now.user->use == Use::atomic) {
        const User& narrow = earlier.user->scope < needed ? *earlier.user : *now.user;
        return too_narrow("atomic", {narrow.scope, narrow.where.empty() ? narrow.ptx : narrow.where});
    }
    // They meet at a flag, which either may have stored.
    const auto why = [&](const Record& storing, const Record& reading) -> std::string {
        for (const Acquire& acquire : *reading.phase->read) {
            const Release& release = *acquire.release;
            if (release.phase->stream != storing.phase->stream ||
                release.phase->moment < storing.phase->moment)
                continue;
            const std::string missing = std::string(": a __threadfence") +
                                        (needed == Scope::system ? "_system" : "") + "() is missing there.";
            if (release.write.scope < needed) return too_narrow("store", release.write);
            if (acquire.read.scope < needed) return too_narrow("load", acquire.read);
            if (!release.has_fence)
                return "No fence between the " + std::string(name_of(storing.user->use)) +
                       " and the flag at " + release.write.where + missing;
            if (release.fence.scope < needed) return too_narrow("fence", release.fence);
            if (!acquire.has_fence)
                return "No fence between the flag at " + acquire.read.where + " and the " +
                       name_of(reading.user->use) + missing;
            if (acquire.fence.scope < needed) return too_narrow("fence", acquire.fence);
        }
        return "";
    };
    if (std::string text = why(earlier, now); !text.empty()) return text;
    if (std::string text = why(now, earlier); !text.empty()) return text;
    for (const Record* const reading : {&now, &earlier})
        for (const Acquire& acquire : *reading->phase->read)
            if (acquire.release->phase->stream == (reading == &now ? earlier : now).phase->stream)
                return "The kernels meet at the flag that is stored at " + acquire.release->write.where +
                       " and read at " + acquire.read.where +
                       ", but not between these two accesses: let them meet once more.";
    const bool is_within_device = earlier.phase->device == now.phase->device;
    return std::string(
               "Operations of different streams run in any order, and at once. Record an event after the "
               "earlier one, and make the other stream wait for it: cudaEventRecord, "
               "cudaStreamWaitEvent.") +
           (is_within_device &&
                    (order_->is_default(earlier.phase->stream) || order_->is_default(now.phase->stream))
                ? " A stream that was created with cudaStreamNonBlocking does not wait for the default "
                  "stream."
                : "");
}

void StreamRaceChecker::report(const Conflict& conflict) {
    const auto& [earlier, now, address, bytes] = conflict;
    const auto next = allocations_.upper_bound(address);
    findings_.add({.checker = "race",
                   .kind = std::string(name_of(now.user->use)) + " after " + name_of(earlier.user->use),
                   .message = now.user->operation + " " + verb_of(now.user->use) + " " + byte_count(bytes) +
                              " of memory at " + hexadecimal(address) + ", which " + earlier.user->operation +
                              " " + verb_of(earlier.user->use) + ": nothing orders the two",
                   .kernel = now.user->kernel,
                   .parties = {party_of(name_of(now.user->use), *now.user),
                               party_of(std::string("earlier ") + name_of(earlier.user->use), *earlier.user)},
                   .allocation = next == allocations_.begin() ? "a variable, or memory of the program"
                                                              : std::prev(next)->second,
                   .cause = cause(earlier, now)});
}

void StreamRaceChecker::frees(const Allocation& allocation, const std::string& call) {
    if (!order_ || used_.empty()) return;
    const Moments before = known_by(current().number != 0 ? current().before : order_->host());
    for (std::uint64_t page = allocation.address / page_bytes; page <= (allocation.end() - 1) / page_bytes;
         ++page) {
        const auto found = used_.find(page);
        if (found == used_.end()) continue;
        for (const Record& one : found->second) {
            if (knows(before, *one.phase)) continue;
            const User free{.operation = current().number != 0 ? name_of_current() : call};
            findings_.add(
                {.checker = "race",
                 .kind = std::string("free after ") + name_of(one.user->use),
                 .message = free.operation + " frees " + describe(allocation) + ", while " +
                            one.user->operation + " " + verb_of(one.user->use) + " it",
                 .parties = {party_of("free", free),
                             party_of(std::string("earlier ") + name_of(one.user->use), *one.user)},
                 .allocation = describe(allocation),
                 .cause = current().number != 0
                              ? "cudaFreeAsync waits for its own stream only: record an event in the "
                                "other one, and wait for it with cudaStreamWaitEvent."
                              : "A cudaStreamSynchronize or cudaEventSynchronize is missing before the "
                                "call: it need not wait for streams that still use the memory."});
            return;
        }
    }
}

} // namespace emulator
