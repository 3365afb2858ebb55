#include "emulator/check/race/race_finding.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/text.hpp"

#include <string>
#include <utility>

namespace emulator {

namespace {

const char* verb(Role role, const char* read, const char* write, const char* atomic) {
    return role == Role::read ? read : role == Role::write ? write : atomic;
}

bool contains(const Party& party, const char* text) { return party.ptx.find(text) != std::string::npos; }

bool initializes_mbarrier(const Party& party) { return contains(party, "mbarrier.init"); }
bool frees(const Party& party) { return contains(party, " free,"); }
/// Or initializes it. An asynchronous copy that ends uses one, too.
bool uses_mbarrier(const Party& party, Role role) {
    return contains(party, "mbarrier.") || (contains(party, "mbarrier::") && role == Role::atomic);
}

std::string does(const Party& now, Role role) {
    if (initializes_mbarrier(now)) return " initializes ";
    if (frees(now)) return " frees ";
    return uses_mbarrier(now, role) ? " uses " : verb(role, " reads ", " writes ", " changes by an atomic ");
}
std::string has_done(const Party& earlier, Role role) {
    if (initializes_mbarrier(earlier)) return " has initialized";
    if (frees(earlier)) return " has freed";
    return uses_mbarrier(earlier, role)
               ? " has used"
               : verb(role, " has read", " has written", " has changed by an atomic");
}

std::string message(const Race& race, const Party& now, const Party& other) {
    const std::string& thread = now.thread;
    const std::uint64_t address = race.access.addresses[race.lane];
    const bool is_mbarrier = uses_mbarrier(now, race.role) || uses_mbarrier(other, race.earlier.role);
    const std::string place = (is_mbarrier ? "the mbarrier in " : byte_count(race.access.bytes) + " of ") +
                              (race.access.space == ptx::Space::shared ? "shared" : "global") +
                              " memory at " + hexadecimal(address) +
                              (race.access.remote ? " of block " + triple(race.access.remote->index()) : "");
    if (race.earlier.at_once)
        return "threads " + other.thread + " and " + thread + " write different values to the same " + place +
               " at once";
    const std::string whose = race.earlier.block != race.block                   ? "of block " + other.block
                              : warp_of(race.earlier.stamp) == race.warp.index() ? "of the same warp"
                                                                                 : "of another warp";
    if (race.earlier.is_copy)
        return "thread " + thread + does(now, race.role) + place +
               ", to which an asynchronous copy of thread " + other.thread + " is still under way";
    if (race.earlier.lacks_proxy_fence)
        return "a bulk copy of thread " + thread + " reads " + place + ", which thread " + other.thread +
               " has written: no thread has executed a fence.proxy.async in between";
    return "thread " + thread + does(now, race.role) + place + ", which thread " + other.thread + " " +
           whose + has_done(other, race.earlier.role) + ": nothing orders the two";
}

std::string what_visits(const Block& block, const Visit& visit) {
    return "thread " + visit.thread.thread + " of block " + visit.thread.block +
           verb(visit.role, " reads", " writes", " changes by an atomic") + " shared memory of block " +
           triple(block.index()) + " at " + hexadecimal(visit.address);
}

/// Whether another lane writes to the same location with the same instruction, as in `*sum += value`: then no
/// barrier helps.
bool others_write_at_once(const Race& race) {
    int writers = 0;
    for_each_lane(race.access.active, [&](int lane) {
        if (race.access.addresses[lane] == race.access.addresses[race.lane]) ++writers;
    });
    return race.role == Role::write && writers > 1;
}

// ---- what is missing where two blocks meet at an atomic ----

/// One block's half of a hand-over: its access, the atomic at which it meets the other block, and the fence
/// between the two.
struct HandOver {
    const SyncEvent* atomic = nullptr;
    const SyncEvent* fence = nullptr; ///< the widest one

    void pass(const SyncEvent& event) {
        if (event.is_fence() && (!fence || fence->scope < event.scope)) fence = &event;
    }
};

/// From the earlier access to an atomic that writes where the other block has read, and from there on.
std::pair<HandOver, HandOver> find_meeting(const Race& race) {
    HandOver release;
    for (const SyncEvent& event : race.earlier_history) {
        if (event.stamp >> 5 < race.earlier.stamp >> 5 || event.id == race.earlier.id) continue;
        release.pass(event);
        if (!event.writes) continue;
        for (auto other = race.history.rbegin(); other != race.history.rend(); ++other) {
            if (!other->reads || other->first_place > event.last_place ||
                other->last_place < event.first_place)
                continue;
            release.atomic = &event;
            HandOver acquire{.atomic = &*other};
            // A fence of another warp need not come after the atomic.
            for (auto later = race.history.rbegin(); later != other; ++later)
                if (warp_of(later->stamp) == warp_of(other->stamp)) acquire.pass(*later);
            return {release, acquire};
        }
    }
    return {};
}

std::string place_of(const InstructionIds& ids, InstructionId id) {
    const Party at = party("", ids.code(id), InstructionIds::pc(id), {}, {});
    return " at " + (at.where.empty() ? at.ptx : at.where);
}

std::string what_is_missing(const HandOver& half, bool has_order, Scope needed, const InstructionIds& ids,
                            const std::string& between) {
    const auto too_narrow = [&](const SyncEvent& event) {
        return std::string("The ") + event.what + place_of(ids, event.id) + " is for the threads of its " +
               (event.scope == Scope::block ? "block" : "cluster") +
               " only: use a wider scope, like that of __threadfence() and atomicAdd(). ";
    };
    if (half.atomic->scope < needed) return too_narrow(*half.atomic);
    if (has_order) return "";
    if (!half.fence) return "No fence between " + between + ": a __threadfence() is missing there. ";
    return half.fence->scope < needed ? too_narrow(*half.fence) : "";
}

/// Every block counts itself with one atomic after a fence, and the last one reads what the others have left.
bool is_last_block_without_fence(const Race& race, const HandOver& release, const HandOver& acquire) {
    const auto counts = [](const SyncEvent& event) { return event.reads && event.writes; };
    return race.earlier.role == Role::write && race.access.space == ptx::Space::global &&
           release.atomic->id == acquire.atomic->id && counts(*acquire.atomic) &&
           acquire.atomic->scope >= Scope::gpu && !acquire.atomic->acquires && !acquire.fence;
}

/// "": the blocks do not meet at an atomic.
std::string missing_between_blocks(const Race& race, const InstructionIds& ids) {
    const auto [release, acquire] = find_meeting(race);
    if (!release.atomic) return "";
    const Scope needed = race.access.space == ptx::Space::shared ? Scope::cluster : Scope::gpu;
    const auto named = [&](const char* what, InstructionId id) {
        return std::string("the ") + what + place_of(ids, id);
    };
    const std::string first = named(name_of(race.earlier.role), race.earlier.id) + " and " +
                              named(release.atomic->what, release.atomic->id);
    const std::string second = named(acquire.atomic->what, acquire.atomic->id) + " and " +
                               named(name_of(race.role), ids(race.instruction));
    std::string missing = what_is_missing(release, release.atomic->releases, needed, ids, first);
    if (missing.empty() && is_last_block_without_fence(race, release, acquire))
        return "The last-block pattern, without a fence on the reader's side. The atomic" +
               place_of(ids, acquire.atomic->id) + " orders nothing by itself: by the memory model, the " +
               name_of(race.role) + place_of(ids, ids(race.instruction)) +
               " may come too early. Cards forgive it as long as they don't load ahead of the branch on the "
               "atomic's result, which the model does not promise. Add a __threadfence() between the two, in "
               "the thread that executes the atomic. Or make it that of a cuda::atomic_ref, with "
               "memory_order_acq_rel.";
    missing += what_is_missing(acquire, acquire.atomic->acquires, needed, ids, second);
    if (!missing.empty()) missing.pop_back();
    return missing;
}

/// "": neither of the two initializes an mbarrier.
std::string cause_at_mbarrier(const Race& race, const Party& now, const Party& other) {
    const bool initializes = initializes_mbarrier(now), has_initialized = initializes_mbarrier(other);
    if (initializes && has_initialized)
        return "Several threads initialize the same mbarrier: let one thread do it.";
    if (!initializes && !has_initialized) return "";
    const std::string barrier = race.earlier.block != race.block ? "A cluster.sync()" : "A __syncthreads()";
    return barrier +
           (initializes
                ? " is missing before the initialization: another thread may still use the mbarrier."
                : " is missing after the initialization: another thread may use the mbarrier before.");
}

const char* usual_cause(const Race& race) {
    const RaceSort sort = sort_of(race.role, race.earlier.role);
    if (race.earlier.lacks_proxy_fence)
        return "Threads write through the generic proxy, and bulk copies read through the async proxy. After "
               "its writes each thread needs a fence.proxy.async, and then comes the barrier.";
    if (race.earlier.is_copy)
        return "A copy ends when its thread waits for it (__pipeline_wait_prior, or the copy's mbarrier). "
               "The wait is missing before the access; other threads also need a barrier after the wait.";
    if (race.earlier.at_once || (sort != RaceSort::with_atomic && others_write_at_once(race)))
        return "Several threads compute the same index: give each its own, or use an atomic.";
    if (race.earlier.block != race.block && race.access.space == ptx::Space::shared)
        return sort == RaceSort::with_atomic
                   ? "An atomic excludes only other atomics: a cluster.sync() is missing between the two."
                   : "A cluster.sync() is missing between the two: a __syncthreads() covers only one block.";
    if (race.role == Role::atomic && race.earlier.role == Role::atomic)
        return "A block-scope atomic does not exclude other blocks: use a wider scope, like that of "
               "atomicAdd().";
    if (race.earlier.block != race.block)
        return "The blocks of a launch run in any order, and at once. If several blocks change this memory, "
               "use an atomic; if one block needs another's result, use two launches.";
    if (sort == RaceSort::with_atomic)
        return "An atomic excludes only other atomics: make the plain access atomic too, or put a barrier "
               "between the two.";
    if (warp_of(race.earlier.stamp) == race.warp.index())
        return "A __syncwarp() is missing between the two, or a __syncthreads() if other warps use this "
               "memory too: the lanes of a warp need not run in lockstep.";
    if (sort == RaceSort::two_writes)
        return "Two threads compute the same index, or a __syncthreads() is missing between the two.";
    if (race.block_has_atomics)
        return "A __syncthreads() is missing between the two. If an atomic hands the data over, it needs a "
               "__threadfence_block() before it and one after it.";
    return "A __syncthreads() is missing between the two.";
}

std::string cause(const Race& race, const InstructionIds& ids, const Party& now, const Party& other) {
    if (const std::string at_mbarrier = cause_at_mbarrier(race, now, other); !at_mbarrier.empty())
        return at_mbarrier;
    if (frees(now) || frees(other))
        return "A thread frees memory that another one uses: a barrier, or the like, is missing between the "
               "two.";
    const bool is_of_two_blocks = race.earlier.block != race.block && !race.earlier.is_copy &&
                                  !race.earlier.at_once &&
                                  (race.role != Role::atomic || race.earlier.role != Role::atomic);
    const std::string missing = is_of_two_blocks ? missing_between_blocks(race, ids) : "";
    return missing.empty() ? usual_cause(race) : missing;
}

} // namespace

const char* name_of(Role role) {
    switch (role) {
    case Role::read: return "read";
    case Role::write: return "write";
    case Role::atomic: break;
    }
    return "atomic";
}

RaceSort sort_of(Role now, Role earlier) {
    if (now == Role::atomic || earlier == Role::atomic) return RaceSort::with_atomic;
    return now == earlier ? RaceSort::two_writes : RaceSort::read_and_write;
}

Finding finding(const Grid& grid, const InstructionIds& ids, const Race& race) {
    const std::uint64_t address = race.access.addresses[race.lane];
    const bool is_shared = race.access.space == ptx::Space::shared;
    const Allocation* const allocation = is_shared ? nullptr : grid.memory.find(address);
    const std::uint64_t thread = std::uint64_t{warp_of(race.earlier.stamp)} * warp_size +
                                 static_cast<std::uint32_t>(race.earlier.lane);
    const std::uint64_t now =
        std::uint64_t{race.warp.index()} * warp_size + static_cast<std::uint32_t>(race.lane);
    const InstructionId here = ids(race.instruction); // of a copy that ends, it is not the running one
    const Party first = party(name_of(race.role), ids.code(here), InstructionIds::pc(here),
                              race.warp.block().index(), coordinates(now, grid.configuration.block));
    const Party second =
        party(std::string("earlier ") + name_of(race.earlier.role), ids.code(race.earlier.id),
              InstructionIds::pc(race.earlier.id), coordinates(race.earlier.block, grid.configuration.grid),
              coordinates(thread, grid.configuration.block));
    return {.checker = "race",
            .kind = std::string(name_of(race.role)) + " after " + name_of(race.earlier.role),
            .message = message(race, first, second),
            .kernel = grid.kernel.readable_name(),
            .parties = {first, second},
            .allocation = is_shared    ? shared_variable(grid, address)
                          : allocation ? describe(*allocation)
                                       : "",
            .cause = cause(race, ids, first, second)};
}

Finding early_visit(const Grid& grid, const Block& block, const Visit& visit) {
    return {.checker = "race",
            .kind = std::string(name_of(visit.role)) + " before start",
            .message = what_visits(block, visit) + ": nothing shows that this block has started",
            .kernel = grid.kernel.readable_name(),
            .parties = {visit.thread, party("start", grid.kernel.code(), 0, block.index(), {0, 0, 0})},
            .allocation = shared_variable(grid, visit.address),
            .cause = "A cluster.sync() is missing before the first access to another block's shared memory: "
                     "that memory begins with the block, which may start later."};
}

Finding late_visit(const Grid& grid, const InstructionIds& ids, const Block& block, const LastExit& exit,
                   const Visit& visit) {
    const std::uint64_t thread = std::uint64_t{exit.warp} * warp_size + static_cast<std::uint32_t>(exit.lane);
    return {.checker = "race",
            .kind = std::string("exit after ") + name_of(visit.role),
            .message = what_visits(block, visit) + ": nothing keeps that block from exiting before",
            .kernel = grid.kernel.readable_name(),
            .parties = {visit.thread, party("exit", ids.code(exit.id), InstructionIds::pc(exit.id),
                                            block.index(), coordinates(thread, grid.configuration.block))},
            .allocation = shared_variable(grid, visit.address),
            .cause = "A cluster.sync() is missing at the end: a block's shared memory ends with the block."};
}

} // namespace emulator
