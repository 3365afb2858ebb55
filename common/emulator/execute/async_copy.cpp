/// Asynchronous copies: cp.async with its groups and arrivals, cp.async.bulk, cp.reduce.async.bulk.

#include "emulator/execute/address_resolution.hpp"
#include "emulator/execute/families.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/mbarrier.hpp"
#include "emulator/program/decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace emulator {

namespace {

using ptx::Operand, ptx::Space, ptx::Type;
using std::uint32_t, std::uint64_t;

struct CopyDetail : Detail {
    AddressOperand to, from, mbarrier;
    Row size = no_row; ///< bytes to copy; null for a cp.async that copies all
    bool ignores = false,
         ignores_negated = false; ///< `size` is a predicate: nothing is copied where it holds
    void (*combine)(std::byte* to, const std::byte* from, uint32_t bytes) = nullptr; ///< of a reduction
    std::vector<Row> values; ///< for st.async and red.async: the values to store
};

const CopyDetail& detail_of(const Instruction& instruction) { return instruction.detail_as<CopyDetail>(); }

/// Reports accesses to `bytes` bytes at each lane's address, in the largest pieces that an access allows.
void notify_accesses(const Warp& warp, const Instruction& instruction, Access access, uint32_t bytes) {
    std::array<uint64_t, warp_size> addresses;
    std::copy_n(access.addresses.data(), warp_size, addresses.begin());
    access.is_copy = true;
    const bool is_one = std::has_single_bit(access.active); // as in every bulk copy
    while (bytes != 0) {
        access.bytes = std::min(16u, std::bit_floor(bytes));
        access.addresses = is_one ? LaneAddresses(access.active, addresses[0], access.bytes)
                                  : LaneAddresses(addresses.data());
        for (Observer* const observer : warp.block().subscribers(event_of(instruction, access)))
            observer->accessed(warp, instruction, access);
        for (uint64_t& address : addresses) address += access.bytes;
        bytes -= access.bytes;
    }
}

// ---- cp.async ----

void notify_sources(const Warp& warp, const Instruction& instruction, const AsyncCopies::Request& request) {
    for (LaneMask left = request.lanes; left != 0;) {
        const auto first = static_cast<std::size_t>(std::countr_zero(left));
        LaneMask group = 0;
        std::array<uint64_t, warp_size> addresses;
        for (std::size_t lane = 0; lane < warp_size; ++lane) {
            const bool is_in =
                (left >> lane & 1) != 0 && request.from_bytes[lane] == request.from_bytes[first];
            group |= LaneMask{is_in} << lane;
            addresses[lane] = reinterpret_cast<std::uintptr_t>(request.from[is_in ? lane : first]);
        }
        left &= ~group;
        if (request.from_bytes[first] != 0)
            notify_accesses(warp, instruction,
                            {.space = Space::global,
                             .kind = AccessKind::load,
                             .active = group,
                             .addresses = addresses.data()},
                            request.from_bytes[first]);
    }
}

void start_copies(Warp& warp, const Instruction& instruction, LaneMask active) {
    const CopyDetail& detail = detail_of(instruction);
    AsyncCopies::Request request;
    request.code = warp.running().frame->code;
    request.instruction = &instruction;
    request.bytes = instruction.bytes;
    for_each_lane_absorbing_faults(warp, active, [&](int l) {
        const auto lane = static_cast<std::size_t>(l);
        uint32_t count = instruction.bytes;
        if (detail.ignores)
            count = (warp.predicate(detail.size) >> l & 1) != uint32_t{detail.ignores_negated} ? 0 : count;
        else if (detail.size != no_row)
            count = warp.cells<uint32_t>(detail.size)[l];
        if (count > instruction.bytes)
            throw Fault{Failure::launch_failure, l, &instruction,
                        "an asynchronous copy of " + std::to_string(count) + " bytes to a place of " +
                            std::to_string(instruction.bytes)};
        const auto to = resolve_address(warp, instruction, l, Space::shared, detail.to.of(warp, l),
                                        instruction.bytes, instruction.bytes, AccessKind::store);
        if (!to) return;
        if (count != 0) { // otherwise the address may be anything
            const auto from = resolve_address(warp, instruction, l, Space::global, detail.from.of(warp, l),
                                              count, instruction.bytes, AccessKind::load);
            if (!from) return;
            request.from[lane] = from->host_pointer;
        }
        request.to[lane] = to->address;
        request.from_bytes[lane] = count;
        request.lanes |= LaneMask{1} << lane;
    });
    if (request.lanes == 0) return;
    for (std::size_t lane = 0; lane < warp_size; ++lane)
        if ((request.lanes >> lane & 1) == 0)
            request.to[lane] = request.to[static_cast<std::size_t>(std::countr_zero(request.lanes))];
    notify_sources(warp, instruction, request);
    for (Observer* const observer : warp.block().observers())
        observer->copy_started({request.code, &instruction, &warp, &warp.block(), request.bytes,
                                request.lanes, request.to.data(), request.from.data(),
                                request.from_bytes.data()});
    warp.block().async_copies().start(warp, request);
}

void commit_group(Warp& warp, const Instruction&, LaneMask active) {
    warp.block().async_copies().commit(warp, active);
}

/// The immediate is the number of groups that may still be in flight.
void wait_group(Warp& warp, const Instruction& instruction, LaneMask active) {
    warp.block().async_copies().finish(warp, active, static_cast<uint32_t>(instruction.immediate));
}

void wait_all(Warp& warp, const Instruction&, LaneMask active) {
    warp.block().async_copies().finish_all(warp, active);
}

/// The immediate: whether the mbarrier counts this arrival in addition to those it was initialized for.
void arrive_after_copies(Warp& warp, const Instruction& instruction, LaneMask active) {
    const AddressOperand& address = detail_of(instruction).mbarrier;
    for_each_lane_absorbing_faults(warp, active, [&](int lane) {
        const auto place = resolve_address(warp, instruction, lane, address.space, address.of(warp, lane),
                                           Mbarrier::bytes, Mbarrier::bytes, AccessKind::atom);
        if (!place || !place->owner) return;
        if (place->owner != &warp.block())
            throw Fault{Failure::launch_failure, lane, &instruction,
                        "an mbarrier of another block cannot wait for asynchronous copies"};
        if (instruction.immediate != 0)
            Mbarrier(*place->owner, place->address).expect_arrival(warp, instruction, lane);
        warp.block().async_copies().arrive_after_copies(warp, instruction, lane, place->address);
    });
}

// ---- cp.async.bulk ----

constexpr uint32_t bulk_alignment = 16;

uint32_t bulk_size(const Warp& warp, const Instruction& instruction, int lane) {
    const uint32_t size = warp.cells<uint32_t>(detail_of(instruction).size)[lane];
    if (size % bulk_alignment != 0)
        throw Fault{Failure::misaligned_address, lane, &instruction,
                    "a bulk copy of " + std::to_string(size) + " bytes: the number must be a multiple of 16"};
    return size;
}

void notify_bulk(const Warp& warp, const Instruction& instruction, int lane, const ResolvedAddress& place,
                 AccessKind kind, uint32_t bytes) {
    std::array<uint64_t, warp_size> addresses;
    addresses.fill(place.address);
    notify_accesses(warp, instruction,
                    {.space = place.space,
                     .kind = kind,
                     .active = LaneMask{1} << lane,
                     .addresses = addresses.data(),
                     .remote = place.owner == &warp.block() ? nullptr : place.owner},
                    bytes);
}

/// To shared memory: the bytes are written when a thread tests the mbarrier.
void start_bulk(Warp& warp, const Instruction& instruction, LaneMask active) {
    const CopyDetail& detail = detail_of(instruction);
    for_each_lane_absorbing_faults(warp, active, [&](int lane) {
        const uint32_t bytes = bulk_size(warp, instruction, lane);
        const auto to = resolve_address(warp, instruction, lane, detail.to.space, detail.to.of(warp, lane),
                                        bytes, bulk_alignment, AccessKind::store);
        const auto from =
            resolve_address(warp, instruction, lane, detail.from.space, detail.from.of(warp, lane), bytes,
                            bulk_alignment, AccessKind::load);
        const auto mbarrier =
            resolve_address(warp, instruction, lane, detail.mbarrier.space, detail.mbarrier.of(warp, lane),
                            Mbarrier::bytes, Mbarrier::bytes, AccessKind::atom);
        if (!to || !from || !mbarrier || bytes == 0) return;
        if (!to->owner || to->owner != mbarrier->owner)
            throw Fault{Failure::launch_failure, lane, &instruction,
                        "a bulk copy's mbarrier lies in the shared memory that it copies to"};
        notify_bulk(warp, instruction, lane, *from, AccessKind::load, bytes);
        std::array<uint64_t, warp_size> addresses;
        addresses.fill(to->address);
        const AsyncCopies::Bulk bulk{
            warp.running().frame->code, &instruction, &warp, lane, to->address, from->host_pointer, bytes,
            mbarrier->address};
        for (Observer* const observer : warp.block().observers())
            observer->copy_started(
                {.code = bulk.code,
                 .instruction = &instruction,
                 .warp = &warp,
                 .target = to->owner,
                 .bytes = bytes,
                 .lanes = LaneMask{1} << lane,
                 .addresses = addresses.data(),
                 .bulk_from = from->space == Space::global ? from->host_pointer : nullptr});
        to->owner->async_copies().start(bulk);
    });
}

/// To global memory: done at once. CUDA allows it, since it does not define when the copy reads and writes
/// before the wait for its group.
void bulk_to_global(Warp& warp, const Instruction& instruction, LaneMask active) {
    const CopyDetail& detail = detail_of(instruction);
    for_each_lane_absorbing_faults(warp, active, [&](int lane) {
        const uint32_t bytes = bulk_size(warp, instruction, lane);
        const auto to = resolve_address(warp, instruction, lane, Space::global, detail.to.of(warp, lane),
                                        bytes, bulk_alignment, AccessKind::store);
        const auto from = resolve_address(warp, instruction, lane, Space::shared, detail.from.of(warp, lane),
                                          bytes, bulk_alignment, AccessKind::load);
        if (!to || !from || bytes == 0) return;
        notify_bulk(warp, instruction, lane, *from, AccessKind::load, bytes);
        notify_bulk(warp, instruction, lane, *to, detail.combine ? AccessKind::red : AccessKind::store,
                    bytes);
        if (detail.combine)
            detail.combine(to->host_pointer, from->host_pointer, bytes);
        else
            std::memcpy(to->host_pointer, from->host_pointer, bytes);
    });
}

// ---- reductions ----

struct Sum {
    template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Least {
    template <class T> T operator()(T a, T b) const { return std::min(a, b); }
};
struct Greatest {
    template <class T> T operator()(T a, T b) const { return std::max(a, b); }
};
struct And {
    template <class T> T operator()(T a, T b) const { return a & b; }
};
struct Or {
    template <class T> T operator()(T a, T b) const { return a | b; }
};
struct ExclusiveOr {
    template <class T> T operator()(T a, T b) const { return a ^ b; }
};

/// Changes each element with an atomic.
template <class Operation, class T> void combine(std::byte* to, const std::byte* from, uint32_t bytes) {
    using Bits = UnsignedOf<sizeof(T)>;
    for (uint32_t k = 0; k < bytes; k += sizeof(T)) {
        auto* const place = reinterpret_cast<Bits*>(to + k);
        T operand;
        std::memcpy(&operand, from + k, sizeof operand);
        Bits old = __atomic_load_n(place, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(place, &old,
                                            std::bit_cast<Bits>(Operation{}(std::bit_cast<T>(old), operand)),
                                            false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
    }
}

using Combine = void (*)(std::byte*, const std::byte*, uint32_t);

template <class Operation> Combine for_bits(Type type) {
    if (type == Type::b32) return &combine<Operation, uint32_t>;
    return type == Type::b64 ? &combine<Operation, uint64_t> : nullptr;
}
template <class Operation> Combine for_integers(Type type) {
    switch (type) {
    case Type::u32: return &combine<Operation, uint32_t>;
    case Type::s32: return &combine<Operation, std::int32_t>;
    case Type::u64: return &combine<Operation, uint64_t>;
    case Type::s64: return &combine<Operation, std::int64_t>;
    default: return nullptr;
    }
}

Combine reduction(std::string_view operation, Type type) {
    if (operation == ".add" && type == Type::f32) return &combine<Sum, float>;
    if (operation == ".add" && type == Type::f64) return &combine<Sum, double>;
    if (operation == ".add")
        return for_integers<Sum>(ptx::is_signed(type) ? (ptx::size_of(type) == 8 ? Type::u64 : Type::u32)
                                                      : type);
    if (operation == ".min") return for_integers<Least>(type);
    if (operation == ".max") return for_integers<Greatest>(type);
    if (operation == ".and") return for_bits<And>(type);
    if (operation == ".or") return for_bits<Or>(type);
    return operation == ".xor" ? for_bits<ExclusiveOr>(type) : nullptr;
}

// ---- decoding ----

void take_cache_hints(Decoding& statement) { statement.take_any({".L2::64B", ".L2::128B", ".L2::256B"}); }

// ---- st.async and red.async ----

/// What a lane stores, contiguously. Wide registers have 8-byte cells.
std::array<std::byte, 16> registers_of(const Warp& warp, const Instruction& instruction, int lane) {
    std::array<std::byte, 16> value{};
    const auto& rows = detail_of(instruction).values;
    const std::size_t each = instruction.bytes / rows.size(), cell = instruction.has_wide_cells ? 8 : 4;
    for (std::size_t k = 0; k < rows.size(); ++k)
        std::memcpy(value.data() + k * each,
                    warp.cells<std::byte>(rows[k]) + static_cast<std::size_t>(lane) * cell, each);
    return value;
}

/// Stores and completes at the mbarrier at once.
void store_and_complete(Warp& warp, const Instruction& instruction, LaneMask active) {
    const CopyDetail& detail = detail_of(instruction);
    const uint32_t bytes = instruction.bytes;
    for_each_lane_absorbing_faults(warp, active, [&](int lane) {
        const auto to = resolve_address(warp, instruction, lane, detail.to.space, detail.to.of(warp, lane),
                                        bytes, bytes, detail.combine ? AccessKind::red : AccessKind::store);
        const auto mbarrier =
            resolve_address(warp, instruction, lane, detail.mbarrier.space, detail.mbarrier.of(warp, lane),
                            Mbarrier::bytes, Mbarrier::bytes, AccessKind::atom);
        if (!to || !mbarrier || !mbarrier->owner) return;
        notify_bulk(warp, instruction, lane, *to, detail.combine ? AccessKind::red : AccessKind::store,
                    bytes);
        const std::array<std::byte, 16> value = registers_of(warp, instruction, lane);
        if (detail.combine)
            detail.combine(to->host_pointer, value.data(), bytes);
        else
            std::memcpy(to->host_pointer, value.data(), bytes);
        Mbarrier(*mbarrier->owner, mbarrier->address).complete_bytes(warp, instruction, lane, bytes);
    });
}

/// [to], value, [mbarrier]
void decode_async_store(Decoding& statement, bool reduces) {
    statement.take_any({".weak", ".relaxed"});
    statement.take(".cluster");
    const Space space = statement.take_space();
    if (space != Space::shared_cluster || !statement.take(".mbarrier::complete_tx::bytes"))
        statement.unsupported(statement.statement().place,
                              "only .shared::cluster with .mbarrier::complete_tx::bytes is supported");
    auto& detail = statement.detail<CopyDetail>();
    const std::string_view operation =
        reduces ? statement.take_any({".add", ".min", ".max", ".and", ".or", ".xor"}) : "";
    const std::string_view vector = reduces ? "" : statement.take_any({".v2", ".v4"});
    const Type type = statement.take_type();
    if (reduces) detail.combine = reduction(operation, type);
    if ((reduces && !detail.combine) || ptx::size_of(type) < 4) statement.no_such_type(type);
    statement.expect_operands(3, 3);
    detail.to = take_address(statement, 0, space);
    const Operand& value = statement.operand(1);
    const std::size_t count = vector == ".v2" ? 2 : vector == ".v4" ? 4 : 1;
    if (count != 1 && (value.kind != Operand::Kind::list || value.elements.size() != count))
        statement.invalid(value.place, "a vector of " + std::to_string(count) + " registers is needed here");
    for (std::size_t k = 0; k < count; ++k)
        detail.values.push_back(statement.source(count == 1 ? value : value.elements[k], type));
    detail.mbarrier = take_address(statement, 2, space);
    statement.instruction.bytes = static_cast<std::uint16_t>(ptx::size_of(type) * count);
    if (statement.instruction.bytes > 16)
        statement.unsupported(value.place, "accesses of more than 16 bytes are not supported");
    statement.instruction.has_wide_cells = ptx::size_of(type) == 8;
    statement.instruction.sync = SyncKind::mbarrier;
    statement.execute_with(&store_and_complete);
}

/// A number of groups: a constant.
uint64_t group_count(const Decoding& statement) { return statement.constant(statement.operand(0)); }

/// cp.async.{ca|cg}.shared.global [to], [from], bytes [, bytes to read | predicate to ignore] [, cache
/// policy]
void decode_copy(Decoding& statement) {
    const bool has_policy = statement.take(".L2::cache_hint");
    const std::string_view cache = statement.take_any({".ca", ".cg"});
    if (cache.empty()) statement.invalid(statement.statement().place, "cp.async needs .ca or .cg");
    take_cache_hints(statement);
    if (statement.take_space() != Space::shared || statement.take_space() != Space::global)
        statement.invalid(statement.statement().place, "cp.async copies from .global to .shared");
    const std::size_t policy = has_policy ? 1 : 0;
    statement.expect_operands(3 + policy, 4 + policy);
    auto& detail = statement.detail<CopyDetail>();
    detail.to = take_address(statement, 0, Space::shared);
    detail.from = take_address(statement, 1, Space::global);
    const uint64_t bytes = statement.constant(statement.operand(2));
    if (bytes != 16 && (cache == ".cg" || (bytes != 4 && bytes != 8)))
        statement.invalid(statement.operand(2).place, cache == ".cg" ? "cp.async.cg copies 16 bytes"
                                                                     : "cp.async.ca copies 4, 8 or 16 bytes");
    statement.instruction.bytes = static_cast<std::uint16_t>(bytes);
    if (statement.operand_count() == 4 + policy) {
        const Operand& size = statement.operand(3);
        detail.ignores =
            size.kind == Operand::Kind::reg && statement.function().registers[size.index].type == Type::pred;
        detail.size = detail.ignores ? statement.predicate(size, detail.ignores_negated)
                                     : statement.source(size, Type::u32);
    }
    statement.execute_with(&start_copies);
}

/// cp.async.bulk.<to>.<from>.{mbarrier::complete_tx::bytes | bulk_group} [to], [from], bytes [, [mbarrier]]
void decode_bulk(Decoding& statement, bool reduces) {
    const Space to = statement.take_space(), from = statement.take_space();
    const std::string_view completion = statement.take_any({".mbarrier::complete_tx::bytes", ".bulk_group"});
    const bool has_policy = statement.take(".L2::cache_hint");
    const bool by_mbarrier = completion == ".mbarrier::complete_tx::bytes";
    const std::size_t count = (by_mbarrier ? 4u : 3u) + (has_policy ? 1 : 0);
    auto& detail = statement.detail<CopyDetail>();
    if (reduces) {
        const std::string_view operation =
            statement.take_any({".add", ".min", ".max", ".and", ".or", ".xor"});
        const Type type = statement.take_type();
        detail.combine = reduction(operation, type);
        if (!detail.combine || by_mbarrier) statement.no_such_type(type);
    }
    statement.check_all_taken(); // prefetches, tensors and multicasts have additional operands
    statement.expect_operands(count, count);
    const bool to_global = to == Space::global;
    if (to_global ? from != Space::shared || by_mbarrier : !by_mbarrier)
        statement.invalid(statement.statement().place,
                          "a bulk copy to global memory comes from .shared::cta and completes a .bulk_group; "
                          "one to shared memory completes an mbarrier");
    detail.to = take_address(statement, 0, to);
    detail.from = take_address(statement, 1, from);
    detail.size = statement.source(2, Type::u32);
    if (by_mbarrier) detail.mbarrier = take_address(statement, 3, to);
    if (by_mbarrier) statement.instruction.sync = SyncKind::mbarrier;
    statement.execute_with(to_global ? &bulk_to_global : &start_bulk);
}

void decode_cp(Decoding& statement) {
    const bool reduces = statement.take(".reduce");
    if (!statement.take(".async"))
        statement.unsupported(statement.statement().place,
                              "only 'cp.async' and 'cp.reduce.async' are supported");
    const bool is_bulk = statement.take(".bulk");
    const std::string_view action =
        statement.take_any({".commit_group", ".wait_group", ".wait_all", ".mbarrier"});
    if (action == ".mbarrier") {
        if (!statement.take(".arrive"))
            statement.invalid(statement.statement().place, "cp.async.mbarrier needs .arrive");
        statement.instruction.immediate = statement.take(".noinc") ? 0 : 1;
        const Space space = statement.take_space();
        if (statement.take_type() != Type::b64)
            statement.invalid(statement.statement().place, "an mbarrier has the type .b64");
        statement.expect_operands(1, 1);
        statement.detail<CopyDetail>().mbarrier = take_address(statement, 0, space);
        statement.instruction.sync = SyncKind::mbarrier;
        return statement.execute_with(&arrive_after_copies);
    }
    if (action == ".wait_group") {
        if (is_bulk) statement.take(".read");
        statement.expect_operands(1, 1);
        statement.instruction.immediate = group_count(statement);
        return statement.execute_with(is_bulk ? &no_effect : &wait_group);
    }
    if (!action.empty()) {
        statement.expect_operands(0, 0);
        if (is_bulk) return statement.execute_with(&no_effect);
        return statement.execute_with(action == ".wait_all" ? &wait_all : &commit_group);
    }
    if (is_bulk) return decode_bulk(statement, reduces);
    decode_copy(statement);
}

} // namespace

void decode_st_async(Decoding& statement) { decode_async_store(statement, false); }
void decode_red_async(Decoding& statement) { decode_async_store(statement, true); }

std::span<const Opcode> async_copy_opcodes() {
    static constexpr Opcode opcodes[] = {{"cp", decode_cp}};
    return opcodes;
}

} // namespace emulator
