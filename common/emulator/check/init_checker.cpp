#include "emulator/check/init_checker.hpp"

#include "emulator/check/local_findings.hpp"
#include "emulator/machine/access_diagnosis.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/program/source_location.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace emulator {

namespace {

/// "nobody has written bytes 96 to 99 of its 280", or only one byte, when `count` is 1.
std::string never_written(std::uint64_t first, std::uint64_t count, std::uint64_t size) {
    std::string text = "nobody has written byte" + std::string(count == 1 ? " " : "s ") + thousands(first);
    if (count != 1) text += " to " + thousands(first + count - 1);
    return text + " of its " + thousands(size);
}

std::uint32_t elements_of(const Instruction& instruction) {
    if (!instruction.is_vector) return 1;
    return static_cast<std::uint32_t>(instruction.detail_as<AccessDetail>().elements.size());
}

class InitObserver final : public Observer {
public:
    InitObserver(Findings& findings, InitChecker& checker) : findings_(findings), checker_(checker) {}

    bool wants(EventKind kind) const override {
        return kind == EventKind::shared_access || is_global_access(kind);
    }

    std::uint64_t findings_or_reads() const override { return findings_or_reads_; }

    void block_started(Block& block) override {
        if (block.shared().empty()) return;
        WrittenBytes& written = shared_[&block];
        written.reset(block.shared().size());
        // Cooperative groups clear the bits that they use, but not the others.
        written.fill(0, block.grid().kernel.reserved_shared_bytes());
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        if (access.space == ptx::Space::shared)
            follow_shared(warp, instruction, access);
        else if (access.space == ptx::Space::global)
            follow_global(warp, instruction, access);
    }

    void copy_ended(const AsyncCopy& copy) override {
        WrittenBytes& written = shared_of(*copy.target);
        for_each_lane(copy.lanes, [&](int lane) { written.fill(copy.addresses[lane], copy.bytes); });
    }
    void used_mbarrier(const Warp&, const Instruction&, int, MbarrierUse use, const Block& owner,
                       std::uint64_t offset) override {
        if (use == MbarrierUse::initialize) shared_of(owner).fill(offset, 8);
    }

    /// The host may allocate and free meanwhile.
    void launch_paused() override { stretch_ = other_stretch_ = {}; }

private:
    WrittenBytes& shared_of(const Block& block) {
        if (last_block_ != &block) {
            last_block_ = &block;
            last_shared_ = &shared_.find(&block)->second;
        }
        return *last_shared_;
    }

    void follow_shared(const Warp& warp, const Instruction& instruction, const Access& access) {
        WrittenBytes& written = shared_of(access.remote ? *access.remote : warp.block());
        if (written.is_complete()) return;
        if (access.kind != AccessKind::store) ask(warp, instruction, access, access.active, written, 0);
        if (access.kind != AccessKind::load)
            written.write_alone(access.addresses, 0, access.active, access.bytes, elements_of(instruction));
    }

    void follow_global(const Warp& warp, const Instruction& instruction, const Access& access) {
        // Kernels often alternate between two allocations.
        if (!all_in(stretch_, access)) std::swap(stretch_, other_stretch_);
        if (all_in(stretch_, access)) return follow_in_stretch(warp, instruction, access, access.active);
        // Lanes may access different allocations, and some that are not tracked.
        for (LaneMask left = access.active; left != 0;) {
            const std::uint64_t address = access.addresses[std::countr_zero(left)];
            if (!stretch_.contains(address)) stretch_ = checker_.stretch(address);
            LaneMask inside = 0;
            for_each_lane(left, [&](int lane) {
                inside |= LaneMask{stretch_.contains(access.addresses[lane])} << lane;
            });
            left &= ~inside;
            follow_in_stretch(warp, instruction, access, inside);
        }
    }

    static bool all_in(const InitChecker::Stretch& stretch, const Access& access) {
        if (access.addresses.are_strided())
            return stretch.contains(access.addresses.lowest()) &&
                   stretch.contains(access.addresses.highest());
        std::uint64_t outside = 0;
        for (int lane = 0; lane < warp_size; ++lane)
            outside |= stretch.contains(access.addresses[lane]) ? 0u : 1u;
        return outside == 0;
    }

    void follow_in_stretch(const Warp& warp, const Instruction& instruction, const Access& access,
                           LaneMask lanes) {
        if (!stretch_.written || stretch_.written->is_complete()) return;
        WrittenBytes& written = *stretch_.written;
        if (access.kind != AccessKind::store) ask(warp, instruction, access, lanes, written, stretch_.first);
        if (access.kind != AccessKind::load)
            written.write(access.addresses, stretch_.first, lanes, access.bytes, elements_of(instruction));
    }

    /// `lanes` read memory that starts at `base`.
    void ask(const Warp& warp, const Instruction& instruction, const Access& access, LaneMask lanes,
             const WrittenBytes& written, std::uint64_t base) {
        const LaneMask unwritten = written.unwritten(access.addresses, base, lanes, access.bytes);
        if (unwritten != 0) check(warp, instruction, access, unwritten, written, base);
    }

    /// Each of `lanes` reads some unwritten bytes. They may be padding, or the instruction may discard them.
    void check(const Warp& warp, const Instruction& instruction, const Access& access, LaneMask lanes,
               const WrittenBytes& written, std::uint64_t base) {
        if (access.space == ptx::Space::shared) ++findings_or_reads_;
        LaneMask guilty = 0;
        Missing missing;
        for_each_lane(lanes, [&](int lane) {
            const Missing found =
                missing_bytes(instruction, written, access.addresses[lane] - base, access.bytes);
            if (found.count == 0) return;
            if (guilty == 0) missing = found;
            guilty |= LaneMask{1} << lane;
        });
        if (guilty == 0 || is_merge_of_cub(warp, instruction)) return;
        findings_.add({&instruction, access.space}, std::popcount(guilty),
                      [&] { return finding(warp, instruction, access, std::countr_zero(guilty), missing); });
    }

    /// CUB merges two runs of keys in shared memory by reading a run's next key before it checks that the run
    /// has one. Programs that sort with their own comparison cannot avoid that.
    static bool is_merge_of_cub(const Warp& warp, const Instruction& instruction) {
        const Code& code = *warp.running().frame->code;
        constexpr std::string_view files[] = {"cub/block/block_merge_sort.cuh",
                                              "cub/agent/agent_merge_sort.cuh", "cub/agent/agent_merge.cuh"};
        return std::any_of(std::begin(files), std::end(files), [&](std::string_view file) {
            return comes_from(code, code.index_of(instruction), file);
        });
    }

    /// Bytes that are read but were never written.
    struct Missing {
        std::uint64_t first = 0, count = 0; ///< from the first to the last
    };

    static Missing missing_bytes(const Instruction& instruction, const WrittenBytes& written,
                                 std::uint64_t place, std::uint32_t bytes) {
        const std::uint32_t elements = elements_of(instruction);
        const auto is_read = [&](std::uint32_t k) { // a discarded element does not count
            return elements == 1 ||
                   instruction.detail_as<AccessDetail>().elements[k * elements / bytes] != no_row;
        };
        Missing result;
        bool any_written = false, all_padding = true;
        for (std::uint32_t k = 0; k < bytes; ++k) {
            const bool is_written = written.is_written(place + k);
            any_written = any_written || is_written;
            if (is_written || !is_read(k)) continue;
            if (result.count == 0) result.first = place + k;
            result.count = place + k + 1 - result.first;
            all_padding = all_padding && written.is_padding(place + k);
        }
        return any_written && all_padding ? Missing{} : result;
    }

    Finding finding(const Warp& warp, const Instruction& instruction, const Access& access, int lane,
                    const Missing& missing) const {
        const Grid& grid = warp.block().grid();
        Finding result{
            .checker = "init",
            .kind = "uninitialized read",
            .message = describe(LaneAccess{access.space, access.kind, access.bytes, access.addresses[lane],
                                           access.remote ? access.remote->rank() : LaneAccess::own}) +
                       ": ",
            .kernel = grid.kernel.readable_name(),
            .parties = {party(role_of(access.kind), warp, instruction, lane)}};
        if (access.space == ptx::Space::shared) {
            result.message += "nobody has written it since the block began";
            result.allocation = shared_variable(grid, missing.first);
            result.cause = "Shared memory is not cleared when a block begins: a thread with nothing to load "
                           "has to store a neutral value instead.";
        } else {
            const Allocation& allocation = *grid.memory.find(access.addresses[lane]);
            result.message += never_written(missing.first, missing.count, allocation.bytes);
            result.allocation = describe(allocation);
            result.cause =
                "cudaMalloc does not clear memory: a copy or a cudaMemset is missing, or the kernel "
                "that fills it leaves elements out.";
        }
        return result;
    }

    LocalFindings<std::pair<const Instruction*, ptx::Space>> findings_;
    InitChecker& checker_;
    std::uint64_t findings_or_reads_ = 0;
    InitChecker::Stretch stretch_, other_stretch_;          // the last two
    std::unordered_map<const Block*, WrittenBytes> shared_; // the machine reuses Block objects
    const Block* last_block_ = nullptr;
    WrittenBytes* last_shared_ = nullptr;
};

} // namespace

std::unique_ptr<Observer> InitChecker::observer(const Grid&) {
    return std::make_unique<InitObserver>(findings_, *this);
}

InitChecker::Stretch InitChecker::stretch(std::uint64_t address) {
    const auto next = accounts_.upper_bound(address);
    Stretch result{0, next == accounts_.end() ? UINT64_MAX : next->first, nullptr};
    if (next == accounts_.begin()) return result;
    auto& [first, account] = *std::prev(next);
    const std::uint64_t end = first + account.written.size();
    if (address >= end) return {end, result.end, nullptr};
    return {first, end, &account.written};
}

void InitChecker::allocated(const Allocation& allocation, bool host_writes) {
    if (!host_writes)
        accounts_.emplace(allocation.address, Account{describe(allocation), WrittenBytes(allocation.bytes)});
}

void InitChecker::freed(const Allocation& allocation) { accounts_.erase(allocation.address); }

void InitChecker::written(std::uint64_t first, std::size_t bytes) {
    const Stretch to = stretch(first);
    if (to.written) to.written->fill(first - to.first, bytes);
}

void InitChecker::copied(std::uint64_t from, std::uint64_t to, std::size_t bytes) {
    const Stretch source = stretch(from), target = stretch(to);
    if (!target.written) return read(from, bytes); // the host may see it there
    if (source.written)
        target.written->copy(to - target.first, *source.written, from - source.first, bytes);
    else
        target.written->fill(to - target.first, bytes);
}

void InitChecker::read(std::uint64_t first, std::size_t bytes) {
    const Stretch from = stretch(first);
    if (!from.written) return;
    const auto unwritten = from.written->find_unwritten(first - from.first, bytes);
    if (!unwritten) return;
    findings_.add({.checker = "init",
                   .kind = "uninitialized copy",
                   .message = "copy of " + byte_count(bytes) + " at " + hexadecimal(first) +
                              " to the host: nobody has written " + thousands(unwritten->count) +
                              " of them, the first is byte " + thousands(unwritten->first) + " of " +
                              accounts_.at(from.first).allocation,
                   .allocation = accounts_.at(from.first).allocation,
                   .cause =
                       "The kernel that fills the memory leaves elements out, or the copy is longer than "
                       "its result."});
}

} // namespace emulator
