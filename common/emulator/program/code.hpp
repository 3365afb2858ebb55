/// Decoded instructions: what the machine executes.
#pragma once

#include "emulator/program/lanes.hpp"
#include "emulator/ptx/module.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace emulator {

class Warp;
struct Code;
struct Instruction;

/// Executes one instruction for the lanes in `active`, at least one. Straight-line instructions change only
/// registers and memory. Control instructions also move the running lanes' program counter, and may split,
/// stop or end them.
using Handler = void (*)(Warp& warp, const Instruction& instruction, LaneMask active);

/// A row of registers or a predicate mask, as an offset in bytes from the frame's first row.
using Row = std::uint32_t;
inline constexpr Row no_row = UINT32_MAX;

/// How `bar.red` combines the predicates of the threads.
enum BarrierReduction : std::uint32_t { barrier_popc, barrier_and, barrier_or };

/// The memory order of an access.
enum class Ordering : std::uint8_t { weak, as_volatile, relaxed, acquire, release, acquire_release };

/// The threads that an access or a fence orders memory for: those of the block, of the cluster, of the GPU,
/// or of all devices.
enum class Scope : std::uint8_t { block, cluster, gpu, system };

/// What an instruction synchronizes.
enum class SyncKind : std::uint8_t {
    none,
    warp_barrier,  ///< `bar.warp.sync`: exchanges no values, so its members may arrive at different places
    block_barrier, ///< `bar` or `barrier`
    cluster_barrier,
    mbarrier,    ///< an mbarrier instruction, or a copy that completes at one
    proxy_fence, ///< `fence.proxy.async`
};

/// The functions whose addresses a module takes.
using FunctionsByAddress = std::map<std::uint64_t, const Code*>;

/// What an instruction needs beyond the members of Instruction. Each family has its own kind; observers use
/// those defined here.
struct Detail {
    virtual ~Detail() = default;
};

/// For a vector, and for an ordered access.
struct AccessDetail : Detail {
    /// `no_row`: goes to no register. Of an atomic on a vector: operands, then results.
    std::vector<Row> elements;
    Handler inner = nullptr; ///< the handler that an ordered access wraps
};

struct CallDetail : Detail {
    const Code* callee = nullptr;
    /// For a call through a register: the functions it may reach.
    const FunctionsByAddress* callees = nullptr;
    /// In the caller's frame of local memory.
    std::vector<std::uint32_t> argument_offsets, argument_sizes, result_offsets, result_sizes;
};

/// Of `bar.red`.
struct BarrierDetail : Detail {
    BarrierReduction reduction = barrier_popc;
};

/// Where a warp can remember values of address registers.
inline constexpr std::uint8_t address_places = 8;

struct Instruction {
    Handler execute = nullptr;
    Row destination = no_row;
    Row second = no_row; ///< a second destination: the predicate of a shuffle, the other half of `setp p|q`
    Row sources[3] = {no_row, no_row, no_row};
    Row guard = no_row;
    bool guard_negated = false;
    bool is_control = false;
    SyncKind sync = SyncKind::none;
    /// An atomic that ptxas lets one lane execute for the whole warp, since all lanes have one address.
    bool is_warp_aggregated = false;
    bool is_branch = false;      ///< a control instruction that also moves the lanes that its guard excludes
    bool has_wide_cells = false; ///< of a load or store: its registers have 8-byte cells
    Ordering ordering : 4 = Ordering::weak; ///< of a memory access
    Scope scope : 4 = Scope::system;        ///< of a memory access that is not weak, or of a fence
    ptx::Space space = ptx::Space::generic; ///< of a memory access
    std::uint16_t bytes = 0;                ///< of one lane's memory access, vector elements together
    bool is_vector : 1 = false;             ///< a memory access whose registers are AccessDetail::elements
    bool is_argument : 1 = false;           ///< a memory access to a function's argument or result
    // Of a load or store, see share_addresses.
    std::uint8_t address_place : 3 =
        0; ///< where the warp remembers the address register; 0: no other reads it
    bool is_address_remembered : 1 = false; ///< and it has not been written since
    std::uint8_t negated = 0;               ///< bit k: source k is a predicate that is read negated
    std::uint32_t next_control = 0;         ///< index of the first control instruction from this one on
    union {
        /// A constant operand: the table of lop3, a number of groups, an alignment.
        std::uint64_t immediate = 0;
        std::uint64_t displacement; ///< of a memory access: added to the address in the first source
        std::uint64_t target;       ///< of a branch: an index in the code
    };
    const Detail* detail = nullptr;

    /// The detail of an instruction, which must be of this kind.
    template <class Kind> const Kind& detail_as() const { return static_cast<const Kind&>(*detail); }

    /// Source `k`, a predicate row with the mask `value`, as the instruction reads it.
    LaneMask as_read(std::size_t k, LaneMask value) const {
        return value ^ ((negated >> k & 1) != 0 ? all_lanes : 0);
    }
};

static_assert(sizeof(Instruction) == 64, "one cache line");

/// Registers of the machine that a program can only read.
enum class Special : std::uint8_t {
    tid_x,
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    warpid,
    nwarpid,
    smid,
    nsmid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    dynamic_smem_size,
    total_smem_size,
    clusterid_x,
    clusterid_y,
    clusterid_z,
    nclusterid_x,
    nclusterid_y,
    nclusterid_z,
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,
    cluster_nctaid_x,
    cluster_nctaid_y,
    cluster_nctaid_z,
    cluster_ctarank,
    cluster_nctarank,
    workspace_low, ///< the address of a cooperative launch's workspace, or 0
    workspace_high,
    reserved_shared,     ///< the address of the shared memory that CUDA reserves for itself
    is_explicit_cluster, ///< a predicate: the row's first cell is its mask
    zero,                ///< those that are always zero here
};

/// Whether the register differs between blocks. A block's rank in its cluster does not: storage is reused by
/// rank.
constexpr bool depends_on_block(Special special) {
    return special == Special::ctaid_x || special == Special::ctaid_y || special == Special::ctaid_z ||
           special == Special::clusterid_x || special == Special::clusterid_y ||
           special == Special::clusterid_z || special == Special::smid;
}

constexpr bool depends_on_lane(Special special) {
    return special <= Special::tid_z || special == Special::laneid ||
           (special >= Special::lanemask_eq && special <= Special::lanemask_gt);
}

/// A decoded function.
struct Code {
    /// What the value of a constant is relative to.
    enum class Base : std::uint8_t {
        none,
        local, ///< the frame's place in local memory
        shared ///< the block's start in the shared memory of its cluster
    };
    struct Constant {
        Row row = no_row;
        bool wide = false; ///< 8-byte cells
        Base base = Base::none;
        std::uint64_t value = 0;
    };
    struct SpecialRow {
        Row row = no_row;
        Special special = Special::zero;
    };

    struct LocalVariable {
        std::uint32_t offset = 0, bytes = 0; ///< in the frame
    };

    const ptx::Function* function = nullptr;
    const ptx::Module* module{};
    std::vector<Instruction> instructions; ///< the last one is always a control instruction
    /// One for each instruction; null for the implied last one.
    std::vector<const ptx::Statement*> statements;
    std::vector<std::unique_ptr<Detail>> details;
    std::vector<const Code*> callees; ///< that its calls may reach, in their order
    std::vector<Constant> constants;
    std::vector<SpecialRow> specials;       ///< the same for all blocks that a warp runs
    std::vector<SpecialRow> block_specials; ///< the others
    std::uint32_t frame_bytes = 0;          ///< of all rows
    std::uint32_t local_bytes = 0; ///< of a thread's frame in local memory: `.local` and `.param` variables
    bool allocates_stack = false;  ///< calls `alloca`
    std::vector<LocalVariable> local_variables;
    std::vector<std::uint32_t> argument_offsets, result_offsets; ///< of a function's parameters in its frame

    std::uint32_t index_of(const Instruction& instruction) const {
        return static_cast<std::uint32_t>(&instruction - instructions.data());
    }
    bool contains(const Instruction& instruction) const {
        const auto place = reinterpret_cast<std::uintptr_t>(&instruction);
        return place - reinterpret_cast<std::uintptr_t>(instructions.data()) <
               instructions.size() * sizeof(Instruction);
    }
};

} // namespace emulator
