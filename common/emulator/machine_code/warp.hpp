/// A warp of a sampled block: its registers, and what it shares with its block.
#pragma once

#include "emulator/machine/dim3.hpp"
#include "emulator/machine_code/instruction.hpp"
#include "emulator/timing/trace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace emulator::machine_code {

using Lanes = std::array<std::uint32_t, warp_size>;
using WideLanes = std::array<std::uint64_t, warp_size>;

/// The lowest of some lanes.
inline std::size_t first_lane(LaneMask lanes) {
    return static_cast<std::size_t>(std::countr_zero(lanes)) % warp_size;
}

/// How many different values these lanes have.
std::uint8_t distinct(const Lanes& values, LaneMask lanes);

/// The launch's memory, which is only read.
class MemorySource {
public:
    virtual ~MemorySource() = default;
    /// The bytes at an address, or null where there is no memory. They are valid until the next call.
    virtual const std::byte* bytes(std::uint64_t address, std::size_t count) const = 0;
    /// Where the allocation begins that an address is in. A card aligns it to a page of 2 MiB; here it may be anywhere.
    virtual std::uint64_t allocation_of(std::uint64_t /*address*/) const { return 0; }
};

/// The launch of the kernel, as its blocks see it.
struct LaunchView {
    Dim3 grid, block;
    std::span<const std::byte> parameters;
    std::uint32_t shared_bytes = 0;     ///< static and dynamic
    std::uint64_t cache_bytes = 65'536; ///< a block's part of the L1 cache
    std::size_t most_words = 4'000'000; ///< of global memory, that a block may write
    const MemorySource& memory;
    /// The address of a variable of the module; 0: there is none.
    std::function<std::uint64_t(const std::string&)> address_of = [](const std::string&) { return 0; };
};

/// A word of global memory that blocks count in: they use what an atomic addition returns.
struct Counter {
    std::uint32_t bytes = 4;
    std::uint64_t added = 0; ///< by a block
};
using Counters = std::unordered_map<std::uint64_t, Counter>; ///< by address

/// What an instruction has loaded from global memory, or stored there.
struct LoadedRange {
    std::uint64_t begin = UINT64_MAX, end = 0; ///< of all addresses
    std::uint64_t sectors = 0;                 ///< that its block had to fetch
    std::uint64_t widest = 0;                  ///< from begin to end, of one block

    void add(const LoadedRange& other) {
        begin = std::min(begin, other.begin);
        end = std::max(end, other.end);
        sectors += other.sectors;
        widest = std::max(widest, other.widest);
    }
};
using LoadedRanges = std::map<std::uint32_t, LoadedRange>; ///< by instruction

/// A sector that a block fetches from memory, or stores to for the first time.
struct Place {
    std::uint64_t sector = 0;
    std::uint32_t instruction = 0;
};

/// The upper half of generic addresses of shared memory. No address of global memory has it.
inline constexpr std::uint32_t shared_window = 0x00FF'0000;

/// What the threads of a block share. Global memory is seen through what the block itself has written.
class BlockState {
public:
    BlockState(const LaunchView& launch, const Constants& constants, std::uint64_t block);

    const LaunchView& launch() const { return launch_; }
    Dim3 index() const { return index_; }
    std::uint32_t constant(std::uint64_t bank, std::uint64_t offset) const;

    std::uint64_t load_global(std::uint64_t address, std::uint32_t bytes) const;
    void store_global(std::uint64_t address, std::uint64_t value, std::uint32_t bytes);
    std::uint64_t load_shared(std::uint64_t address, std::uint32_t bytes) const;
    void store_shared(std::uint64_t address, std::uint64_t value, std::uint32_t bytes);

    /// Whether a sector of global memory is not in the block's part of the L1 cache. Now it is.
    bool misses(std::uint64_t sector);

    /// Whether the block has not stored to a sector yet: in the end each one goes to memory once. Now it has.
    bool stores_first(std::uint64_t sector);

    /// Whether memory has already delivered it: together with its neighbor, for an earlier request.
    bool fetched_with_neighbor(std::uint64_t sector) const;
    void begin_request() { request_ = touches_; }

    /// The sectors of global memory that its atomics go to.
    std::unordered_set<std::uint64_t>& atomic_sectors() { return atomic_sectors_; }

    void note_place(std::uint64_t sector, std::uint32_t instruction);
    std::vector<Place>& places() { return places_; }

    LoadedRanges& loaded() { return loaded_; }
    LoadedRanges& stored() { return stored_ranges_; }
    std::size_t used_sectors() const { return touched_.size(); } ///< of global memory

    /// What it adds to counters; as if other blocks had already added so much.
    void count(std::uint64_t address, std::uint32_t bytes, std::uint64_t added);
    Counters& counters() { return counters_; }
    void add_to_counters(const Counters& counters, std::uint64_t blocks);

    /// At a barrier: the number of threads with a predicate, or whether all or any have it. It is known when the barrier passes.
    void reduce_at_barrier(std::string_view operation, LaneMask lanes, LaneMask set);
    void pass_barrier();
    std::uint32_t reduced_at_barrier() const { return reduced_; }

    /// A load that sees what other blocks store.
    /// \throws NotUnderstood if it waits for that
    void poll(std::uint64_t address);

private:
    std::size_t shared_place(std::uint64_t address, std::uint32_t bytes) const;

    std::uint64_t address_of(const std::string& variable) const;

    const LaunchView& launch_;
    const Constants& constants_;
    Dim3 index_;
    std::vector<std::byte> shared_;
    std::unordered_map<std::uint64_t, std::uint32_t> written_; ///< words of global memory by address / 4
    std::unordered_map<std::uint64_t, std::uint64_t>
        touched_; ///< sectors: how many touches were before the last
    std::uint64_t touches_ = 0, latest_ = 0, request_ = 0;
    std::unordered_set<std::uint64_t> stored_; ///< sectors
    std::unordered_set<std::uint64_t> atomic_sectors_;
    LoadedRanges loaded_, stored_ranges_;
    std::vector<Place> places_;
    Counters counters_;
    std::uint32_t all_hold_ = 1, some_hold_ = 0, holding_ = 0,
                  reduced_ = 0; ///< at the next barrier; at the latest
    std::string reduction_;
    std::uint64_t polled_ = 0, polls_ = 0; ///< where, and how often in succession
};

class Warp {
public:
    Warp(BlockState& block, std::uint32_t number);

    BlockState& block() const { return *block_; }
    std::uint32_t number() const { return number_; }
    LaneMask existing() const { return existing_; } ///< lanes that are threads of the block

    /// Operands: of 32 and 64 bits per lane, and of one.
    Lanes value(const Operand& operand) const;
    WideLanes wide(const Operand& operand) const;
    LaneMask predicate(const Operand& operand) const;
    WideLanes addresses(const Operand& operand) const;
    Lanes constant_offsets(const Operand& operand) const; ///< in the bank of a constant

    void write(const Operand& to, LaneMask lanes, const Lanes& values);
    void write_wide(const Operand& to, LaneMask lanes, const WideLanes& values);
    void write_predicate(const Operand& to, LaneMask lanes, LaneMask values);
    /// Of ISETP and its like: the lanes in `set`, and the others, each combined (& | ^) with a predicate.
    void write_comparison(const std::vector<Operand>& operands, LaneMask lanes, LaneMask set,
                          char combination);

    LaneMask guard(const Instruction& instruction) const {
        return instruction.guarded ? predicate(instruction.guard) : all_lanes;
    }

    /// P0 to P6 of a lane, one bit each.
    std::uint32_t predicates_of(int lane) const;
    void set_predicates(int lane, std::uint32_t bits, std::uint32_t mask);

    /// Whether a store to these sectors goes to the L2 together with the warp's store right before. None: it is no store.
    /// \param often whether several may, or else every second one if `sometimes`
    bool stores_together(const std::vector<std::uint64_t>& sectors, bool often, bool sometimes);

    /// Words of local memory, each of all lanes.
    Lanes& local(std::uint32_t word) { return local_[word]; }

    LaneMask active = all_lanes; ///< that execute the instruction
    timing::Step step{};         ///< the one that is being executed: actions of memory fill in what it costs

private:
    Lanes raw(const Operand& operand) const;
    void write_register(Operand::Kind kind, std::uint32_t index, LaneMask lanes, const Lanes& values);

    BlockState* block_;
    std::uint32_t number_;
    LaneMask existing_ = 0;
    std::vector<Lanes> registers_;
    std::unordered_map<std::uint32_t, Lanes> local_;
    std::vector<std::uint64_t> stored_; ///< sectors of the latest store, if nothing but stores followed
    std::array<std::uint32_t, 64> uniform_{};
    std::array<LaneMask, 8> predicates_{}, uniform_predicates_{};
};

} // namespace emulator::machine_code
