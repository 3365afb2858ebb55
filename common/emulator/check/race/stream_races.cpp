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
#include <utility>

namespace emulator {

namespace {

using Bits = StreamRaceChecker::Bits;
using User = StreamRaceChecker::User;
using Record = StreamRaceChecker::Record;
using Use = StreamRaceChecker::Use;

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
    if (earlier.stream != now.stream || !is_alike) return false;
    if (!now.bits) return true;
    if (!earlier.bits) return false;
    std::uint64_t left = 0;
    for (std::size_t k = 0; k < now.bits->size(); ++k) left |= (*earlier.bits)[k] &= ~(*now.bits)[k];
    return left == 0;
}

Record without_bits(const Record& record) {
    return {record.stream, record.number, record.device, record.user, nullptr};
}

bool are_conflicting(const Record& earlier, const Record& now) {
    if (earlier.user->use == Use::read && now.user->use == Use::read) return false;
    if (earlier.user->use != Use::atomic || now.user->use != Use::atomic) return true;
    const Scope needed = earlier.device == now.device ? Scope::gpu : Scope::system;
    return std::min(earlier.user->scope, now.user->scope) < needed;
}

/// "no wider than its device's threads": what a scope reaches.
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
          follows_others_(checker.has_released()) {}
    StreamRaceObserver(const StreamRaceObserver&) = delete;
    StreamRaceObserver& operator=(const StreamRaceObserver&) = delete;

    ~StreamRaceObserver() override {
        StreamRaceChecker::Pages used;
        const OperationOrder::Operation& current = checker_.current();
        for (auto& [instruction, one] : by_instruction_)
            for (auto& [page, bits] : one.pages)
                used[page].push_back(
                    {current.stream, current.number, current.device, one.user, compressed(std::move(bits))});
        checker_.add(std::move(used), std::move(acquired_), std::move(released_));
    }

    bool wants(EventKind kind) const override { return is_global_access(kind); }

    void block_started(Block& block) override {
        for (const auto& warp : block.warps()) warps_.erase(warp.get());
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        if (access.space != ptx::Space::global) return;
        const bool synchronizes = may_synchronize(instruction, access.kind);
        mark(user_of(warp, instruction, access, synchronizes), access);
        if (synchronizes) synchronize(warp, instruction, access);
    }

    void fenced(const Warp& warp, const Instruction& instruction, LaneMask) override {
        if (instruction.sync == SyncKind::proxy_fence) return;
        WarpState& state = warps_[&warp];
        state.fence = {instruction.scope, where(warp, instruction)};
        state.has_fence = true;
        for (StreamRaceChecker::Acquire& acquire : state.seen) {
            acquire.has_fence = true;
            acquire.fence = state.fence;
            acquired_.push_back(std::move(acquire));
        }
        state.seen.clear();
    }

    void block_ended(Block& block) override { // what was read without a fence
        for (const auto& warp : block.warps()) {
            const auto state = warps_.find(warp.get());
            if (state == warps_.end()) continue;
            std::move(state->second.seen.begin(), state->second.seen.end(), std::back_inserter(acquired_));
            warps_.erase(state);
        }
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
        std::vector<StreamRaceChecker::Acquire> seen{}; ///< what it has read since its last fence
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
            if (reads && follows_others_) acquire(warp, instruction, address);
            if (access.kind != AccessKind::load) release(warp, instruction, address);
        });
        if (access.kind == AccessKind::load || instruction.scope != Scope::system) return;
        const auto state = warps_.find(&warp);
        const bool releases =
            does_release(instruction) ||
            (state != warps_.end() && state->second.has_fence && state->second.fence.scope == Scope::system);
        if (!releases) return;
        const Allocation* const allocation = grid_.memory.find(last);
        if (allocation && allocation->device == Allocation::on_host) checker_.tells_host();
    }

    void acquire(const Warp& warp, const Instruction& instruction, std::uint64_t address) {
        const auto* const releases = checker_.released_at(address);
        if (!releases) return;
        const bool acquires = does_acquire(instruction);
        for (const auto& release : *releases) {
            StreamRaceChecker::Acquire acquire{.release = release,
                                               .read = {instruction.scope, where(warp, instruction)},
                                               .has_fence = acquires};
            (acquires ? acquired_ : warps_[&warp].seen).push_back(std::move(acquire));
        }
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
        if (release && (release->has_fence || !(has_fence || releases)) && release->fence.scope >= fence &&
            release->write.scope >= instruction.scope)
            return;
        release = std::make_shared<const StreamRaceChecker::Release>(StreamRaceChecker::Release{
            .write = {instruction.scope, where(warp, instruction)},
            .has_fence = has_fence || releases,
            .fence = {fence, has_fence && !releases ? state->second.fence.where : where(warp, instruction)}});
    }

    StreamRaceChecker& checker_;
    const Grid& grid_;
    const std::string operation_;
    const bool follows_others_;
    std::unordered_map<const Instruction*, ByInstruction> by_instruction_;
    std::unordered_map<const Instruction*, std::string> places_;
    const Instruction* last_instruction_ = nullptr;
    ByInstruction* last_ = nullptr;
    std::unordered_map<const Warp*, WarpState> warps_;
    std::vector<StreamRaceChecker::Acquire> acquired_;
    std::unordered_map<std::uint64_t, std::shared_ptr<const StreamRaceChecker::Release>> released_;
};

Scope needed_between(int one, int other) { return one == other ? Scope::gpu : Scope::system; }

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

void StreamRaceChecker::use(std::uint64_t first, std::size_t bytes, Use use) {
    if (!is_needed() || current().number == 0) return;
    const auto user = std::make_shared<const User>(User{.operation = name_of_current(), .use = use});
    for_each_page(first, bytes, [&](std::uint64_t page, std::uint64_t in_page, std::uint64_t count) {
        auto bits = std::make_unique<Bits>();
        set_bits(*bits, in_page, count);
        now_[page].push_back(
            {current().stream, current().number, current().device, user, compressed(std::move(bits))});
    });
}

void StreamRaceChecker::add(Pages&& used, std::vector<Acquire>&& acquired,
                            std::unordered_map<std::uint64_t, std::shared_ptr<const Release>>&& released) {
    const std::lock_guard lock(mutex_);
    for (auto& [page, records] : used) {
        auto& all = now_[page];
        std::move(records.begin(), records.end(), std::back_inserter(all));
    }
    std::move(acquired.begin(), acquired.end(), std::back_inserter(acquired_));
    for (auto& [address, release] : released) releasing_[address].push_back(std::move(release));
}

const std::vector<std::shared_ptr<const StreamRaceChecker::Release>>*
StreamRaceChecker::released_at(std::uint64_t address) const {
    const auto found = released_.find(address);
    return found == released_.end() ? nullptr : &found->second;
}

// ---- when an operation ends ----

OperationOrder::Clock StreamRaceChecker::before_current() const {
    OperationOrder::Clock before = current().before;
    for (const Acquire& acquire : acquired_) {
        const Release& release = *acquire.release;
        const Scope needed = needed_between(release.device, current().device);
        const Scope narrowest =
            std::min({release.write.scope, release.fence.scope, acquire.read.scope, acquire.fence.scope});
        if (!release.has_fence || !acquire.has_fence || narrowest < needed) continue;
        before.resize(std::max(before.size(), release.clock.size()));
        for (std::size_t k = 0; k < release.clock.size(); ++k)
            before[k] = std::max(before[k], release.clock[k]);
    }
    return before;
}

void StreamRaceChecker::operation_ends() {
    const OperationOrder::Clock before = before_current();
    for (auto& [page, records] : now_) {
        auto& earlier = used_[page];
        std::erase_if(earlier, [&](const Record& one) {
            return !order_->has_waiting() && OperationOrder::knows(order_->host(), one.stream, one.number) &&
                   OperationOrder::knows(current().before, one.stream, one.number);
        });
        for (const Record& now : records) compare(page, earlier, now, before);
        // Whatever is unordered with an earlier operation of this stream is so with this one, too.
        for (const Record& now : records)
            std::erase_if(earlier, [&](Record& one) { return is_replaced(one, now); });
        std::move(records.begin(), records.end(), std::back_inserter(earlier));
    }
    for (auto& [address, releases] : releasing_)
        for (const auto& release : releases) {
            auto known = std::make_shared<Release>(*release);
            known->stream = current().stream;
            known->number = current().number;
            known->device = current().device;
            known->clock = before;
            known->clock.resize(std::max(before.size(), std::size_t{current().stream} + 1));
            known->clock[current().stream] = current().number;
            auto& all = released_[address];
            std::erase_if(all, [&](const auto& one) { return one->stream == current().stream; });
            all.push_back(std::move(known));
        }
    for (const auto& [users, conflict] : conflicts_) report(conflict);
    if (tells_host_) order_->host_waits_for_current();
    tells_host_ = false;
    now_.clear();
    acquired_.clear();
    releasing_.clear();
    conflicts_.clear();
}

void StreamRaceChecker::compare(std::uint64_t page, const std::vector<Record>& earlier, const Record& now,
                                const OperationOrder::Clock& before) {
    for (const Record& one : earlier) {
        if (one.stream == now.stream || OperationOrder::knows(before, one.stream, one.number) ||
            !are_conflicting(one, now))
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
    const Scope needed = needed_between(earlier.device, now.device);
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
    for (const Acquire& acquire : acquired_) { // they meet at a flag
        const Release& release = *acquire.release;
        if (release.stream != earlier.stream || release.number < earlier.number) continue;
        if (release.write.scope < needed) return too_narrow("store", release.write);
        if (acquire.read.scope < needed) return too_narrow("load", acquire.read);
        if (!release.has_fence)
            return "No fence between the " + std::string(name_of(earlier.user->use)) + " and the flag at " +
                   release.write.where + ": a __threadfence" + (needed == Scope::system ? "_system" : "") +
                   "() is missing there.";
        if (release.fence.scope < needed) return too_narrow("fence", release.fence);
        if (!acquire.has_fence)
            return "No fence between the flag at " + acquire.read.where + " and the " +
                   name_of(now.user->use) + ": a __threadfence" + (needed == Scope::system ? "_system" : "") +
                   "() is missing there.";
        if (acquire.fence.scope < needed) return too_narrow("fence", acquire.fence);
    }
    const bool is_within_device = earlier.device == now.device;
    return std::string(
               "Operations of different streams run in any order, and at once. Record an event after the "
               "earlier one, and make the other stream wait for it: cudaEventRecord, "
               "cudaStreamWaitEvent.") +
           (is_within_device && (order_->is_default(earlier.stream) || order_->is_default(now.stream))
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
    const OperationOrder::Clock& before = current().number != 0 ? current().before : order_->host();
    for (std::uint64_t page = allocation.address / page_bytes; page <= (allocation.end() - 1) / page_bytes;
         ++page) {
        const auto found = used_.find(page);
        if (found == used_.end()) continue;
        for (const Record& one : found->second) {
            if (OperationOrder::knows(before, one.stream, one.number) || one.stream == current().stream)
                continue;
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
