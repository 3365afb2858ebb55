#include "emulator/machine/access_diagnosis.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <cstring>

namespace emulator {

namespace {

using ptx::Space;

constexpr std::uint64_t null_page = 0x1'0000; // no memory is ever below
constexpr std::uint64_t one_page = 4096;
constexpr std::uint64_t far_away = 1ull << 32;

constexpr const char* index_too_large = "An index runs past the end: a check such as `if (i < n)` is "
                                        "missing, or the allocation's size counts elements instead of bytes.";
constexpr const char* index_negative = "An index is negative, or is unsigned and has wrapped below zero.";
constexpr const char* never_set =
    "A pointer was never set, or its cudaMalloc failed and the error was not checked.";

const char* name_of(AccessKind kind) {
    switch (kind) {
    case AccessKind::load: return "load from";
    case AccessKind::store: return "store to";
    default: return "atomic on";
    }
}

const char* name_of(Space space) {
    switch (space) {
    case Space::shared: return "shared memory";
    case Space::local: return "local memory";
    case Space::param: return "the kernel's parameters";
    case Space::constant: return "constant memory";
    default: return "global memory";
    }
}

std::string place_of(const Allocation& allocation) {
    return "the " + byte_count(allocation.bytes) + " at " + hexadecimal(allocation.address) + " (" +
           allocation.origin + ")";
}

AccessDiagnosis outside(std::uint64_t address, std::uint64_t bytes, const Allocation& allocation) {
    AccessDiagnosis result{"out of bounds", "", describe(allocation), index_too_large};
    if (address == allocation.end()) {
        result.message = "right after the end of " + place_of(allocation);
    } else if (address > allocation.end()) {
        result.message = byte_count(address - allocation.end()) + " after the end of " + place_of(allocation);
    } else if (address >= allocation.address) {
        const std::uint64_t beyond = address + bytes - allocation.end();
        result.message = beyond == 1 ? "its last byte lies" : "its last " + byte_count(beyond) + " lie";
        result.message += " after the end of " + place_of(allocation);
    } else {
        result.message = byte_count(allocation.address - address) + " before " + place_of(allocation);
        result.cause = index_negative;
    }
    return result;
}

/// The kernel argument that points closest below an address. The access was probably meant for its memory.
struct Pointed {
    std::size_t argument = 0; ///< from 1; 0: no argument points anywhere below
    std::uint64_t address = 0;
    const Allocation* allocation = nullptr; ///< null: host memory
};

Pointed pointed_below(const Grid* grid, std::uint64_t address) {
    Pointed result;
    if (!grid) return result;
    std::size_t argument = 0;
    for (const Parameter& parameter : grid->kernel.parameters()) {
        ++argument;
        for (std::uint32_t offset = 0; offset + 8 <= parameter.bytes;
             offset += 8) { // a struct may hold several
            std::uint64_t word = 0;
            std::memcpy(&word, grid->parameters.data() + parameter.offset + offset, sizeof word);
            if (word < std::max(null_page, result.address) || word > address) continue;
            const Allocation* const allocation = grid->memory.around(word);
            if (allocation || host_memory_at(word)) result = {argument, word, allocation};
        }
    }
    return result;
}

AccessDiagnosis on_host(const std::string& what, const Pointed& pointed) {
    std::string message = "this is host memory";
    if (!what.empty()) message += ", " + what;
    if (pointed.argument != 0 && !pointed.allocation)
        message += ": argument " + std::to_string(pointed.argument) + " of the kernel points there";
    return {"host pointer", message, "",
            "The kernel was given a pointer to a variable of the host, or to memory from malloc or new: copy "
            "the data to memory from cudaMalloc, or allocate it with cudaMallocManaged."};
}

std::uint64_t distance(const Allocation& allocation, std::uint64_t address) {
    if (allocation.contains(address, 1)) return 0;
    return address < allocation.address ? allocation.address - address : address - allocation.end();
}

/// An address neither in an allocation nor in a freed one.
AccessDiagnosis in_no_allocation(const GlobalMemory& memory, const Grid* grid, std::uint64_t address,
                                 std::uint64_t bytes) {
    if (address < null_page)
        return {"null pointer", "no device memory is near it: is the pointer null?", "", never_set};
    const Allocation* const nearest = memory.nearest(address);
    if (nearest && (distance(*nearest, address) < one_page || memory.around(address)))
        return outside(address, bytes, *nearest);

    const Pointed pointed = pointed_below(grid, address);
    if (pointed.allocation && distance(*pointed.allocation, address) < far_away)
        return outside(address, bytes, *pointed.allocation);
    if (const auto host = host_memory_at(address)) return on_host(*host, pointed);
    if (!nearest) return {"wild pointer", "the program has allocated no device memory", "", never_set};
    if (distance(*nearest, address) < far_away) return outside(address, bytes, *nearest);
    return {"wild pointer", "no memory is near it: was the pointer never set?", "", never_set};
}

/// Memory of another device, which `device` may not access.
AccessDiagnosis in_peer_memory(const Allocation& allocation, int device) {
    const std::string own = std::to_string(device), peer = std::to_string(allocation.device);
    return {"no peer access",
            "device " + own + " runs the kernel, and has no access to " + place_of(allocation),
            describe(allocation),
            "A cudaDeviceEnablePeerAccess(" + peer + ", 0) is missing while device " + own +
                " is current. Memory from cudaMallocAsync needs cudaMemPoolSetAccess in its place."};
}

/// `launch`: null for accesses by the host.
AccessDiagnosis in_global_memory(const GlobalMemory& memory, const Grid* grid, std::uint64_t address,
                                 std::uint64_t bytes) {
    if (const Allocation* const allocation = memory.find(address)) {
        if (!allocation->contains(address, bytes)) return outside(address, bytes, *allocation);
        if (grid && !allocation->is_reached_by(grid->configuration.device))
            return in_peer_memory(*allocation, grid->configuration.device);
        return {"write to constant memory", allocation->origin + " is constant", describe(*allocation),
                "A const was cast away: kernels cannot write __constant__ variables."};
    }
    if (const FreedAllocation* const freed = memory.freed(address)) {
        const Allocation& allocation = freed->allocation;
        return {"use after free",
                "byte " + thousands(address - allocation.address) + " of " + place_of(allocation) +
                    ", which " + freed->by + " has freed",
                describe(allocation) + ", freed by " + freed->by,
                "The memory was freed before its last use, or by another owner."};
    }
    return in_no_allocation(memory, grid, address, bytes);
}

/// For a block that does not exist, or has exited.
AccessDiagnosis in_no_block(const Block& block, std::uint32_t rank) {
    const auto blocks = block.cluster().blocks();
    if (rank < blocks.size())
        return {"shared memory of an exited block",
                "all threads of block " + triple(blocks[rank]->index()) + " have exited", "shared memory",
                "A cluster.sync() is missing at the end: a block's shared memory ends with the block, so "
                "each block has to wait until the others no longer use its memory."};
    return {"no such block", "the cluster has " + std::to_string(blocks.size()) + " blocks", "shared memory",
            "The rank passed to map_shared_rank() or mapa must be less than the number of blocks in "
            "the cluster."};
}

AccessDiagnosis in_shared_memory(const Block& block, std::uint32_t rank) {
    const Grid& grid = block.grid();
    const std::uint32_t fixed = grid.kernel.static_shared_bytes();
    const std::uint32_t dynamic = grid.configuration.dynamic_shared_bytes;
    const std::string whose = rank == LaneAccess::own ? "this" : "that";
    AccessDiagnosis result{"out of bounds", whose + " block has " + byte_count(fixed + dynamic),
                           "shared memory, " + byte_count(fixed + dynamic), ""};
    if (dynamic != 0)
        result.allocation += ": " + thousands(fixed) + " static and " + thousands(dynamic) + " dynamic";
    const bool sized_at_launch =
        std::any_of(grid.kernel.shared_variables().begin(), grid.kernel.shared_variables().end(),
                    [](const SharedVariable& variable) { return variable.bytes == 0; });
    result.cause =
        sized_at_launch
            ? "The launch's third argument, <<<grid, block, bytes>>>, asks for less dynamic shared "
              "memory than the kernel uses."
            : "An index runs past the end of a shared array: is it sized for the block that was "
              "launched?";
    return result;
}

AccessDiagnosis in_parameters(const Grid& grid, const LaneAccess& access) {
    if (access.kind != AccessKind::load)
        return {"write to constant memory", "parameters are constant", "",
                "A const was cast away: kernels cannot write their parameters in place."};
    return {"out of bounds", "the kernel has " + byte_count(grid.parameters.size()), "",
            "An index runs past the end of an array in a parameter."};
}

AccessDiagnosis misaligned(const Block& block, const LaneAccess& access) {
    AccessDiagnosis result{"misaligned", "the address must be a multiple of " + std::to_string(access.bytes),
                           "",
                           "A pointer was cast to a wider type, such as int* to int4*, at an address that is "
                           "not a multiple of that type's size."};
    const bool global = access.space == Space::global || access.space == Space::constant;
    const Allocation* const allocation = global ? block.grid().memory.find(access.address) : nullptr;
    if (allocation) result.allocation = describe(*allocation);
    if (access.space == Space::shared) result.allocation = shared_variable(block.grid(), access.address);
    return result;
}

AccessDiagnosis reason(const Block& block, Failure failure, const LaneAccess& access) {
    if (failure == Failure::misaligned_address) return misaligned(block, access);
    switch (access.space) {
    case Space::shared:
        return failure == Failure::launch_failure ? in_no_block(block, access.rank)
                                                  : in_shared_memory(block, access.rank);
    case Space::param: return in_parameters(block.grid(), access);
    case Space::local:
        return {"out of bounds", "each thread has " + byte_count(block.grid().stack_bytes), "",
                "An index runs past the end of a thread's local array."};
    default: return in_global_memory(block.grid().memory, &block.grid(), access.address, access.bytes);
    }
}

} // namespace

std::string describe(const LaneAccess& access) {
    return std::to_string(access.bytes) + "-byte " + name_of(access.kind) + " " + name_of(access.space) +
           (access.rank != LaneAccess::own ? " of the cluster's block " + std::to_string(access.rank) : "") +
           " at " + hexadecimal(access.address);
}

AccessDiagnosis diagnose(const Block& block, Failure failure, const LaneAccess& access) {
    AccessDiagnosis result = reason(block, failure, access);
    const char* const adjective = failure == Failure::misaligned_address ? "misaligned " : "illegal ";
    result.message = adjective + describe(access) + ": " + result.message;
    return result;
}

AccessDiagnosis diagnose(const GlobalMemory& memory, std::uint64_t address, std::uint64_t bytes) {
    return in_global_memory(memory, nullptr, address, bytes);
}

} // namespace emulator
