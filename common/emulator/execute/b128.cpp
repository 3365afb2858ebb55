/// Instructions on 128 bits: mov, ld, st, and atom with .exch and .cas. A cell has 16 bytes.
#include "emulator/execute/address_resolution.hpp"
#include "emulator/execute/families.hpp"

#include <cstring>

namespace emulator {

namespace {

using ptx::Operand, ptx::Space, ptx::Type;
using std::uint64_t;

using Wide = unsigned __int128;

Wide& cell(const Warp& warp, Row row, int lane) { return warp.cells<Wide>(row)[lane]; }

Wide read(uint64_t address) {
    Wide value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
}

void write(uint64_t address, Wide value) {
    std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

// ---- mov ----

void copy(Warp& warp, const Instruction& instruction, LaneMask active) {
    for_each_lane(active, [&](int lane) {
        cell(warp, instruction.destination, lane) = cell(warp, instruction.sources[0], lane);
    });
}

void join(Warp& warp, const Instruction& instruction, LaneMask active) {
    for_each_lane(active, [&](int lane) {
        cell(warp, instruction.destination, lane) = Wide{warp.cells<uint64_t>(instruction.sources[1])[lane]}
                                                        << 64 |
                                                    warp.cells<uint64_t>(instruction.sources[0])[lane];
    });
}

void split(Warp& warp, const Instruction& instruction, LaneMask active) {
    for_each_lane(active, [&](int lane) {
        const Wide value = cell(warp, instruction.sources[0], lane);
        const Row low = instruction.destination, high = instruction.second;
        if (low != no_row) warp.cells<uint64_t>(low)[lane] = static_cast<uint64_t>(value);
        if (high != no_row) warp.cells<uint64_t>(high)[lane] = static_cast<uint64_t>(value >> 64);
    });
}

// ---- memory ----

Addresses addresses_of(const Warp& warp, const Instruction& instruction, LaneMask active) {
    return instruction.has_wide_cells ? effective_addresses<uint64_t>(warp, instruction, active)
                                      : effective_addresses<std::uint32_t>(warp, instruction, active);
}

void load(Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses addresses = addresses_of(warp, instruction, active);
    const LaneMask resolved = resolve_addresses(warp, instruction, active, AccessKind::load, addresses);
    const std::lock_guard lock(vector_access_mutex());
    for_each_lane(active, [&](int lane) {
        cell(warp, instruction.destination, lane) = (resolved >> lane & 1) != 0 ? read(addresses[lane]) : 0;
    });
}

void store(Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses addresses = addresses_of(warp, instruction, active);
    active = resolve_addresses(warp, instruction, active, AccessKind::store, addresses);
    const std::lock_guard lock(vector_access_mutex());
    for_each_storing_lane(
        warp, active, [&](int lane) { write(addresses[lane], cell(warp, instruction.sources[1], lane)); });
}

/// With a third source: only if the old value equals the second one.
void exchange(Warp& warp, const Instruction& instruction, LaneMask active) {
    Addresses addresses = addresses_of(warp, instruction, active);
    const LaneMask resolved = resolve_addresses(warp, instruction, active, AccessKind::atom, addresses);
    const bool compares = instruction.sources[2] != no_row;
    const std::lock_guard lock(vector_access_mutex());
    for_each_lane(active, [&](int lane) {
        Wide old = 0;
        if ((resolved >> lane & 1) != 0) {
            old = read(addresses[lane]);
            const Wide operand = cell(warp, instruction.sources[1], lane);
            if (!compares)
                write(addresses[lane], operand);
            else if (old == operand)
                write(addresses[lane], cell(warp, instruction.sources[2], lane));
        }
        if (instruction.destination != no_row) cell(warp, instruction.destination, lane) = old;
    });
}

} // namespace

std::mutex& vector_access_mutex() {
    static std::mutex mutex;
    return mutex;
}

void decode_b128_mov(Decoding& statement) {
    const auto halves = [&](const Operand& list) -> const std::vector<Operand>& {
        if (list.elements.size() != 2) statement.invalid(list.place, "two 64-bit registers make 128 bits");
        return list.elements;
    };
    const Operand &target = statement.operand(0), &source = statement.operand(1);
    if (target.kind == Operand::Kind::list) {
        const auto row = [&](const Operand& half) {
            return half.kind == Operand::Kind::sink ? no_row : statement.destination(half, Type::b64);
        };
        statement.instruction.destination = row(halves(target)[0]);
        statement.instruction.second = row(halves(target)[1]);
        statement.instruction.sources[0] = statement.b128_register(source);
        return statement.execute_with(&split);
    }
    statement.instruction.destination = statement.b128_register(target);
    if (source.kind == Operand::Kind::list) {
        for (std::size_t k = 0; k < 2; ++k)
            statement.instruction.sources[k] = statement.source(halves(source)[k], Type::b64);
        return statement.execute_with(&join);
    }
    statement.instruction.sources[0] = statement.b128_register(source);
    statement.execute_with(&copy);
}

void decode_b128_access(Decoding& statement, Space space, bool is_load) {
    statement.instruction.has_wide_cells = statement.address(statement.operand(is_load ? 1 : 0), space);
    statement.instruction.space = space;
    statement.instruction.bytes = 16;
    if (is_load)
        statement.instruction.destination = statement.b128_register(statement.operand(0));
    else
        statement.instruction.sources[1] = statement.b128_register(statement.operand(1));
    statement.execute_with(is_load ? &load : &store);
}

void decode_b128_atomic(Decoding& statement, Space space, std::string_view operation) {
    const bool compares = operation == ".cas";
    if (!compares && operation != ".exch") statement.no_such_type(Type::b128);
    statement.expect_operands(compares ? 4 : 3, compares ? 4 : 3);
    statement.instruction.has_wide_cells = statement.address(statement.operand(1), space);
    statement.instruction.space = space;
    statement.instruction.bytes = 16;
    if (!statement.never_read(statement.operand(0)))
        statement.instruction.destination = statement.b128_register(statement.operand(0));
    statement.instruction.sources[1] = statement.b128_register(statement.operand(2));
    if (compares) statement.instruction.sources[2] = statement.b128_register(statement.operand(3));
    statement.execute_with(&exchange);
}

} // namespace emulator
