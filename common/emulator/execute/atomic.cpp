/// Atomics: atom and red, on global and shared memory.
#include "emulator/execute/address_resolution.hpp"
#include "emulator/execute/families.hpp"
#include "emulator/execute/fp16.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/program/decoder.hpp"

#include <atomic>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

namespace emulator {

namespace {

using ptx::Space, ptx::Type;
using std::uint16_t, std::uint32_t, std::uint64_t, std::int32_t, std::int64_t;

// ---- what becomes of the old value ----

struct Add {
    static uint32_t apply(uint32_t old, uint32_t b) { return old + b; }
    static uint64_t apply(uint64_t old, uint64_t b) { return old + b; }
    static float apply(float old, float b) { return old + b; }
    static double apply(double old, double b) { return old + b; }
    template <class T> static T apply(T old, T b) {
        return from_double<T>(to_double(old) + to_double(b), FE_TONEAREST);
    }
};
/// The addition of f32 in global memory: subnormal operands and results become zeros of their sign.
struct AddFlushing {
    static float flush(float value) {
        return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
    }
    static float apply(float old, float b) { return flush(flush(old) + flush(b)); }
};
template <class T> struct Pair { T low, high; };
struct AddBoth {
    template <class T> static Pair<T> apply(Pair<T> old, Pair<T> b) {
        return {Add::apply(old.low, b.low), Add::apply(old.high, b.high)};
    }
};
struct Minimum {
    template <class T> static T apply(T old, T b) { return b < old ? b : old; }
};
struct Maximum {
    template <class T> static T apply(T old, T b) { return old < b ? b : old; }
};
struct And {
    template <class T> static T apply(T old, T b) { return old & b; }
};
struct Or {
    template <class T> static T apply(T old, T b) { return old | b; }
};
struct ExclusiveOr {
    template <class T> static T apply(T old, T b) { return old ^ b; }
};
struct Exchange {
    template <class T> static T apply(T, T b) { return b; }
};
struct Increment {
    static uint32_t apply(uint32_t old, uint32_t b) { return old >= b ? 0 : old + 1; }
};
struct Decrement {
    static uint32_t apply(uint32_t old, uint32_t b) { return old == 0 || old > b ? b : old - 1; }
};

// ---- handlers ----

/// The hardware has no exchange and no compare-and-swap without a result.
template <class Operation> AccessKind kind_of(const Instruction& instruction) {
    const bool has_red = !std::is_same_v<Operation, Exchange>;
    return has_red && instruction.destination == no_row ? AccessKind::red : AccessKind::atom;
}

/// Blocks run on several host threads, so what is atomic on the device must be atomic here. Returns the old
/// value.
template <class Operation, class T> T update(uint64_t address, T operand) {
    using Bits = UnsignedOf<sizeof(T)>;
    auto* const place = reinterpret_cast<Bits*>(address);
    Bits old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &old,
                                        std::bit_cast<Bits>(Operation::apply(std::bit_cast<T>(old), operand)),
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return std::bit_cast<T>(old);
}

/// One host thread executes all accesses to a block's shared memory.
template <class Operation, class T> T update_shared(uint64_t address, T operand) {
    T old;
    std::memcpy(&old, reinterpret_cast<const void*>(address), sizeof old);
    const T now = Operation::apply(old, operand);
    std::memcpy(reinterpret_cast<void*>(address), &now, sizeof now);
    return old;
}

/// Combines the operands of these lanes before the update: the result does not depend on the order.
template <class Operation, class T>
constexpr bool is_associative = std::is_integral_v<T> &&
                                (std::is_same_v<Operation, Add> || std::is_same_v<Operation, Minimum> ||
                                 std::is_same_v<Operation, Maximum> || std::is_same_v<Operation, And> ||
                                 std::is_same_v<Operation, Or> || std::is_same_v<Operation, ExclusiveOr>);

template <class Operation, class T>
void update_lanes(Warp& warp, const Instruction& instruction, LaneMask lanes, const Addresses& addresses) {
    const auto* const operand = warp.cells<Cell<T>>(instruction.sources[1]);
    const bool used = instruction.destination != no_row;
    if constexpr (is_associative<Operation, T>) {
        const uint64_t place = lanes != 0 ? addresses[std::countr_zero(lanes)] : 0;
        const LaneMask others = lanes & lanes_where([&](int lane) { return addresses[lane] != place; });
        if (!used && lanes != 0 && others == 0) {
            T together = from_cell<T>(operand[std::countr_zero(lanes)]);
            for_each_lane(lanes & (lanes - 1), [&](int lane) {
                together = Operation::apply(together, from_cell<T>(operand[lane]));
            });
            update<Operation, T>(place, together);
            return;
        }
    }
    auto* const result = used ? warp.cells<Cell<T>>(instruction.destination) : nullptr;
    const auto one_update =
        instruction.space == Space::shared ? &update_shared<Operation, T> : &update<Operation, T>;
    for_each_lane(lanes, [&](int lane) {
        const T old = one_update(addresses[lane], from_cell<T>(operand[lane]));
        if (used) result[lane] = to_cell(old);
    });
}

/// Lanes whose fault was absorbed get zeros.
LaneMask locate_or_clear(Warp& warp, const Instruction& instruction, LaneMask active, AccessKind kind,
                         Addresses& addresses) {
    const LaneMask resolved = resolve_addresses(warp, instruction, active, kind, addresses);
    if (resolved != active && instruction.destination != no_row) {
        const std::size_t cell = instruction.bytes == 8 ? 8 : 4;
        for_each_lane(active & ~resolved, [&](int lane) {
            std::memset(warp.cells<std::byte>(instruction.destination) +
                            static_cast<std::size_t>(lane) * cell,
                        0, cell);
        });
    }
    return resolved;
}

template <class Operation, class T, class Base>
void atomic(Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses addresses = effective_addresses<Base>(warp, instruction, active);
    active = locate_or_clear(warp, instruction, active, kind_of<Operation>(instruction), addresses);
    update_lanes<Operation, T>(warp, instruction, active, addresses);
}

template <class Base> void add_f32(Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses addresses = effective_addresses<Base>(warp, instruction, active);
    LaneMask in_global = instruction.space == Space::global ? active : 0;
    if (instruction.space == Space::generic)
        for_each_lane(active,
                      [&](int lane) { in_global |= LaneMask{(addresses[lane] & window_mask) == 0} << lane; });
    active = locate_or_clear(warp, instruction, active, kind_of<Add>(instruction), addresses);
    update_lanes<AddFlushing, float>(warp, instruction, active & in_global, addresses);
    update_lanes<Add, float>(warp, instruction, active & ~in_global, addresses);
}

/// Adds to each element with a separate atomic, as the device does: only f32, in global memory.
template <class Base> void add_vector(Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses addresses = effective_addresses<Base>(warp, instruction, active);
    const bool has_result = instruction.destination != no_row;
    const LaneMask resolved = resolve_addresses(warp, instruction, active,
                                                has_result ? AccessKind::atom : AccessKind::red, addresses);
    const std::vector<Row>& rows = instruction.detail_as<AccessDetail>().elements; // operands, then results
    const std::size_t count = instruction.bytes / sizeof(float);
    for_each_lane(active, [&](int lane) {
        for (std::size_t k = 0; k < count; ++k) {
            float old = 0;
            if ((resolved >> lane & 1) != 0)
                old = update<AddFlushing, float>(addresses[lane] + k * sizeof(float),
                                                 warp.cells<float>(rows[k])[lane]);
            if (has_result && rows[count + k] != no_row) warp.cells<float>(rows[count + k])[lane] = old;
        }
    });
}

template <class T, class Base>
void compare_and_swap(Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses addresses = effective_addresses<Base>(warp, instruction, active);
    active = locate_or_clear(warp, instruction, active, kind_of<Exchange>(instruction), addresses);
    const auto* const expected = warp.cells<Cell<T>>(instruction.sources[1]);
    const auto* const desired = warp.cells<Cell<T>>(instruction.sources[2]);
    const bool used = instruction.destination != no_row;
    auto* const result = used ? warp.cells<Cell<T>>(instruction.destination) : nullptr;
    for_each_lane(active, [&](int lane) {
        T old = from_cell<T>(expected[lane]);
        __atomic_compare_exchange_n(reinterpret_cast<T*>(addresses[lane]), &old, from_cell<T>(desired[lane]),
                                    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        if (used) result[lane] = to_cell(old);
    });
}

// ---- decoding ----

template <class Operation, class T> Handler for_base(bool wide) {
    return wide ? &atomic<Operation, T, uint64_t> : &atomic<Operation, T, uint32_t>;
}

Handler adding(Type type, bool wide) {
    switch (type) {
    case Type::u32:
    case Type::s32: return for_base<Add, uint32_t>(wide);
    case Type::u64:
    case Type::s64: return for_base<Add, uint64_t>(wide);
    case Type::f32: return wide ? &add_f32<uint64_t> : &add_f32<uint32_t>;
    case Type::f64: return for_base<Add, double>(wide);
    case Type::f16: return for_base<Add, Half>(wide);
    case Type::bf16: return for_base<Add, BFloat>(wide);
    case Type::f16x2: return for_base<AddBoth, Pair<Half>>(wide);
    case Type::bf16x2: return for_base<AddBoth, Pair<BFloat>>(wide);
    default: return nullptr;
    }
}

template <class Operation> Handler ordering(Type type, bool wide) {
    switch (type) {
    case Type::u32: return for_base<Operation, uint32_t>(wide);
    case Type::s32: return for_base<Operation, int32_t>(wide);
    case Type::u64: return for_base<Operation, uint64_t>(wide);
    case Type::s64: return for_base<Operation, int64_t>(wide);
    default: return nullptr;
    }
}

template <class Operation> Handler on_bits(Type type, bool wide) {
    if (type == Type::b32 || type == Type::u32 || type == Type::s32)
        return for_base<Operation, uint32_t>(wide);
    if (type == Type::b64 || type == Type::u64 || type == Type::s64)
        return for_base<Operation, uint64_t>(wide);
    return nullptr;
}

Handler swapping(Type type, bool wide) {
    switch (ptx::size_of(type)) {
    case 2: return wide ? &compare_and_swap<uint16_t, uint64_t> : &compare_and_swap<uint16_t, uint32_t>;
    case 4: return wide ? &compare_and_swap<uint32_t, uint64_t> : &compare_and_swap<uint32_t, uint32_t>;
    case 8: return wide ? &compare_and_swap<uint64_t, uint64_t> : &compare_and_swap<uint64_t, uint32_t>;
    default: return nullptr;
    }
}

Handler handler_for(std::string_view operation, Type type, bool wide) {
    if (operation == ".add") return adding(type, wide);
    if (operation == ".min") return ordering<Minimum>(type, wide);
    if (operation == ".max") return ordering<Maximum>(type, wide);
    if (operation == ".and") return on_bits<And>(type, wide);
    if (operation == ".or") return on_bits<Or>(type, wide);
    if (operation == ".xor") return on_bits<ExclusiveOr>(type, wide);
    if (operation == ".exch") return on_bits<Exchange>(type, wide);
    if (operation == ".cas") return swapping(type, wide);
    if (operation == ".inc" && type == Type::u32) return for_base<Increment, uint32_t>(wide);
    if (operation == ".dec" && type == Type::u32) return for_base<Decrement, uint32_t>(wide);
    return nullptr;
}

/// Whether ptxas lets one lane execute an atomic on one address for the whole warp, as seen in the machine
/// code of CUDA 13.0 for compute capability 9.0. It combines all operations on 32-bit integers whose result
/// is unused, additions whose result is used, and additions of 64-bit integers if all lanes add the same
/// value.
bool joins_lanes(std::string_view operation, Type type, bool has_result, bool operand_varies) {
    const bool is_integer = type == Type::u32 || type == Type::s32 || type == Type::b32;
    if (operation == ".add")
        return is_integer || ((type == Type::u64 || type == Type::s64) && !operand_varies);
    const bool combines = operation == ".min" || operation == ".max" || operation == ".and" ||
                          operation == ".or" || operation == ".xor";
    return combines && is_integer && !has_result;
}

/// `{…} d, [address], {…} b` of two or four f32.
void decode_vector(Decoding& statement, Space space, std::string_view vector, bool has_result) {
    const std::size_t count = vector == ".v2" ? 2 : 4, first = has_result ? 1 : 0;
    const Type type = statement.take_type();
    if (type != Type::f32 || space != Space::global) statement.no_such_type(type);
    statement.expect_operands(first + 2, first + 2);
    const auto elements = [&](const ptx::Operand& list) -> const std::vector<ptx::Operand>& {
        if (list.kind != ptx::Operand::Kind::list || list.elements.size() != count)
            statement.invalid(list.place,
                              "a vector of " + std::to_string(count) + " registers is needed here");
        return list.elements;
    };
    const bool wide = statement.address(statement.operand(first), space);
    statement.instruction.space = space;
    statement.instruction.bytes = static_cast<uint16_t>(4 * count);
    std::vector<Row> rows;
    for (const ptx::Operand& element : elements(statement.operand(first + 1)))
        rows.push_back(statement.source(element, type));
    if (has_result)
        for (const ptx::Operand& element : elements(statement.operand(0))) {
            rows.push_back(statement.never_read(element) ? no_row : statement.destination(element, type));
            if (rows.back() != no_row) statement.instruction.destination = rows.back();
        }
    statement.detail<AccessDetail>().elements = std::move(rows);
    statement.instruction.is_vector = true;
    statement.execute_with(wide ? &add_vector<uint64_t> : &add_vector<uint32_t>);
}

/// Operands are `[d,] [address], b [, c]`. An atom whose result nothing reads is a red, as ptxas makes it.
void decode_atomic(Decoding& statement, bool has_result) {
    statement.instruction.ordering =
        statement.take_ordering({".relaxed", ".acquire", ".release", ".acq_rel"});
    statement.instruction.scope = statement.take_scope(Scope::gpu); // by the PTX manual
    const Space space = statement.take_space();
    const std::string_view operation =
        statement.take_any({".add", ".min", ".max", ".and", ".or", ".xor", ".exch", ".cas", ".inc", ".dec"});
    if (operation.empty())
        statement.invalid(statement.statement().place, "this atomic needs an operation such as .add");
    statement.take(".noftz");
    const std::string_view vector = operation == ".add" ? statement.take_any({".v2", ".v4"}) : "";
    if (!vector.empty()) return decode_vector(statement, space, vector, has_result);
    const Type type = statement.take_type();
    if (type == Type::b128 && has_result) return decode_b128_atomic(statement, space, operation);
    const std::size_t first = has_result ? 1 : 0;
    const std::size_t count = first + (operation == ".cas" ? 3 : 2);
    statement.expect_operands(count, count);
    const bool wide = statement.address(statement.operand(first), space);
    const Handler handler = handler_for(operation, type, wide);
    if (!handler) statement.no_such_type(type);
    statement.instruction.space = space;
    statement.instruction.bytes = static_cast<uint16_t>(ptx::size_of(type));
    statement.instruction.sources[1] = statement.source(first + 1, type);
    if (operation == ".cas") statement.instruction.sources[2] = statement.source(first + 2, type);
    if (has_result && !statement.never_read(statement.operand(0)))
        statement.instruction.destination = statement.destination(0, type);
    statement.instruction.is_warp_aggregated =
        !statement.is_divergent(statement.operand(first)) &&
        joins_lanes(operation, type, statement.instruction.destination != no_row,
                    statement.is_divergent(statement.operand(first + 1)));
    statement.execute_with(handler);
}

void decode_atom(Decoding& statement) { decode_atomic(statement, true); }
void decode_red(Decoding& statement) {
    if (statement.take(".async")) return decode_red_async(statement);
    decode_atomic(statement, false);
}

} // namespace

std::span<const Opcode> atomic_opcodes() {
    static constexpr Opcode opcodes[] = {{"atom", decode_atom}, {"red", decode_red}};
    return opcodes;
}

} // namespace emulator
