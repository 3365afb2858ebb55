/// Loads and stores: ld, ldu, st, membar, fence, griddepcontrol; and hints to caches: prefetch, prefetchu,
/// discard, applypriority, createpolicy.
#include "emulator/execute/address_resolution.hpp"
#include "emulator/execute/families.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/program/decoder.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace emulator {

namespace {

using ptx::Operand, ptx::Space, ptx::Type;
using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

/// Whether lane i's element lies i elements past lane 0's.
bool contiguous(const Addresses& addresses, uint32_t element_bytes) {
    if (addresses[warp_size - 1] - addresses[0] != uint64_t{warp_size - 1} * element_bytes) return false;
    uint64_t difference = 0;
    for (int lane = 0; lane < warp_size; ++lane)
        difference |= addresses[lane] ^ (addresses[0] + static_cast<uint64_t>(lane) * element_bytes);
    return difference == 0;
}

template <class T> T read(uint64_t address) {
    T value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
}

template <class T, class C>
[[gnu::always_inline]] inline void load_strided(const StridedPointers& pointers, LaneMask active, C* result) {
    const auto load_lane = [&](int lane, int steps) {
        result[lane] =
            static_cast<C>(read<T>(reinterpret_cast<uint64_t>(pointers.first + steps * pointers.stride)));
    };
    if (active == all_lanes && pointers.stride == sizeof(T)) {
        T values[warp_size];
        std::memcpy(values, pointers.first, sizeof values);
        for (int lane = 0; lane < warp_size; ++lane) result[lane] = static_cast<C>(values[lane]);
    } else if (active == all_lanes && pointers.stride == 0) {
        std::fill_n(result, warp_size, static_cast<C>(read<T>(reinterpret_cast<uint64_t>(pointers.first))));
    } else if (active == all_lanes) {
        for (int lane = 0; lane < warp_size; ++lane) load_lane(lane, lane);
    } else {
        const int first_lane = std::countr_zero(active);
        for_each_lane(active, [&](int lane) { load_lane(lane, lane - first_lane); });
    }
}

template <class T, class C>
[[gnu::always_inline]] inline void store_strided(const Warp& warp, const StridedPointers& pointers,
                                                 LaneMask active, const C* source) {
    const auto store_lane = [&](int lane, int steps) {
        const T value = static_cast<T>(source[lane]);
        std::memcpy(pointers.first + steps * pointers.stride, &value, sizeof value);
    };
    if (active == all_lanes && pointers.stride == sizeof(T)) {
        T values[warp_size];
        for (int lane = 0; lane < warp_size; ++lane) values[lane] = static_cast<T>(source[lane]);
        std::memcpy(pointers.first, values, sizeof values);
    } else if (pointers.stride == 0) {
        for_each_storing_lane(warp, active, [&](int lane) { store_lane(lane, 0); });
    } else if (active == all_lanes) {
        for (int lane = 0; lane < warp_size; ++lane) store_lane(lane, lane);
    } else {
        const int first_lane = std::countr_zero(active);
        for_each_lane(active, [&](int lane) { store_lane(lane, lane - first_lane); });
    }
}

/// `T` is the type in memory, `C` the register's cell: a signed `T` is sign-extended to it.
template <class T, class C, class Base>
void load(Warp& warp, const Instruction& instruction, LaneMask active) {
    if (const StridedPointers pointers = resolve_strided<Base>(warp, instruction, active, AccessKind::load);
        pointers.first)
        return load_strided<T>(pointers, active, warp.cells<C>(instruction.destination));
    Addresses addresses = effective_addresses<Base>(warp, instruction, active);
    const LaneMask resolved = resolve_addresses(warp, instruction, active, AccessKind::load, addresses);
    C* const result = warp.cells<C>(instruction.destination);
    if (resolved != active) {
        for_each_lane(active & ~resolved, [&](int lane) { result[lane] = 0; });
        active = resolved;
    }
    if (active == all_lanes && contiguous(addresses, sizeof(T))) {
        T values[warp_size];
        std::memcpy(values, reinterpret_cast<const void*>(addresses[0]), sizeof values);
        for (int lane = 0; lane < warp_size; ++lane) result[lane] = static_cast<C>(values[lane]);
    } else if (active == all_lanes) {
        for (int lane = 0; lane < warp_size; ++lane) result[lane] = static_cast<C>(read<T>(addresses[lane]));
    } else {
        for_each_lane(active, [&](int lane) { result[lane] = static_cast<C>(read<T>(addresses[lane])); });
    }
}

/// The vectors of all lanes, which are contiguous.
template <class T, class C, int count>
void load_adjacent_vectors(Warp& warp, const std::byte* first, const Row* elements) {
    T values[warp_size * count];
    std::memcpy(values, first, sizeof values);
    for (int k = 0; k < count; ++k) {
        if (elements[k] == no_row) continue;
        C* const result = warp.cells<C>(elements[k]);
        for (int lane = 0; lane < warp_size; ++lane) result[lane] = static_cast<C>(values[lane * count + k]);
    }
}

template <class T, class C, class Base>
void load_vector(Warp& warp, const Instruction& instruction, LaneMask active) {
    if (const StridedPointers pointers = resolve_strided<Base>(warp, instruction, active, AccessKind::load);
        pointers.first) {
        const auto& elements = instruction.detail_as<AccessDetail>().elements;
        if (active == all_lanes && elements.size() == 4 && pointers.stride == 4 * sizeof(T))
            return load_adjacent_vectors<T, C, 4>(warp, pointers.first, elements.data());
        if (active == all_lanes && elements.size() == 2 && pointers.stride == 2 * sizeof(T))
            return load_adjacent_vectors<T, C, 2>(warp, pointers.first, elements.data());
        StridedPointers element = pointers;
        for (const Row row : elements) {
            if (row != no_row) load_strided<T>(element, active, warp.cells<C>(row));
            element.first += sizeof(T);
        }
        return;
    }
    Addresses addresses = effective_addresses<Base>(warp, instruction, active);
    const LaneMask resolved = resolve_addresses(warp, instruction, active, AccessKind::load, addresses);
    const LaneMask left_out = active & ~resolved;
    active = resolved;
    uint64_t offset = 0;
    for (const Row row : instruction.detail_as<AccessDetail>().elements) {
        if (row != no_row) {
            C* const result = warp.cells<C>(row);
            for_each_lane(left_out, [&](int lane) { result[lane] = 0; });
            for_each_lane(
                active, [&](int lane) { result[lane] = static_cast<C>(read<T>(addresses[lane] + offset)); });
        }
        offset += sizeof(T);
    }
}

template <class T, class C, class Base>
void store(Warp& warp, const Instruction& instruction, LaneMask active) {
    if (const StridedPointers pointers = resolve_strided<Base>(warp, instruction, active, AccessKind::store);
        pointers.first)
        return store_strided<T>(warp, pointers, active, warp.cells<C>(instruction.sources[1]));
    Addresses addresses = effective_addresses<Base>(warp, instruction, active);
    active = resolve_addresses(warp, instruction, active, AccessKind::store, addresses);
    const C* const source = warp.cells<C>(instruction.sources[1]);
    if (active == all_lanes && contiguous(addresses, sizeof(T))) {
        T values[warp_size];
        for (int lane = 0; lane < warp_size; ++lane) values[lane] = static_cast<T>(source[lane]);
        std::memcpy(reinterpret_cast<void*>(addresses[0]), values, sizeof values);
    } else {
        for_each_storing_lane(warp, active, [&](int lane) {
            const T value = static_cast<T>(source[lane]);
            std::memcpy(reinterpret_cast<void*>(addresses[lane]), &value, sizeof value);
        });
    }
}

/// The same for stores.
template <class T, class C, int count>
void store_adjacent_vectors(const Warp& warp, std::byte* first, const Row* elements) {
    T values[warp_size * count];
    for (int k = 0; k < count; ++k) {
        const C* const source = warp.cells<C>(elements[k]);
        for (int lane = 0; lane < warp_size; ++lane) values[lane * count + k] = static_cast<T>(source[lane]);
    }
    std::memcpy(first, values, sizeof values);
}

template <class T, class C, class Base>
void store_vector(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& elements = instruction.detail_as<AccessDetail>().elements;
    const auto store_lane = [&](int lane, uint64_t address) {
        for (const Row row : elements) {
            const T value = static_cast<T>(warp.cells<C>(row)[lane]);
            std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
            address += sizeof(T);
        }
    };
    // Lane by lane: if lanes write to one address, one of them wins with its whole vector.
    if (const StridedPointers pointers = resolve_strided<Base>(warp, instruction, active, AccessKind::store);
        pointers.first) {
        const bool adjacent = active == all_lanes && pointers.stride == instruction.bytes;
        if (adjacent && elements.size() == 4)
            return store_adjacent_vectors<T, C, 4>(warp, pointers.first, elements.data());
        if (adjacent) return store_adjacent_vectors<T, C, 2>(warp, pointers.first, elements.data());
        const auto first = reinterpret_cast<uint64_t>(pointers.first);
        const int first_lane = std::countr_zero(active);
        return for_each_storing_lane(warp, active, [&](int lane) {
            store_lane(lane, first + static_cast<uint64_t>((lane - first_lane) * pointers.stride));
        });
    }
    Addresses addresses = effective_addresses<Base>(warp, instruction, active);
    active = resolve_addresses(warp, instruction, active, AccessKind::store, addresses);
    for_each_storing_lane(warp, active, [&](int lane) { store_lane(lane, addresses[lane]); });
}

/// A parameter of the kernel is the same for all lanes.
template <class T, class C> void load_parameter(Warp& warp, const Instruction& instruction, LaneMask active) {
    T value;
    std::memcpy(&value, warp.block().grid().parameters.data() + instruction.immediate, sizeof value);
    C* const result = warp.cells<C>(instruction.destination);
    if (active == all_lanes) {
        for (int lane = 0; lane < warp_size; ++lane) result[lane] = static_cast<C>(value);
    } else {
        for_each_lane(active, [&](int lane) { result[lane] = static_cast<C>(value); });
    }
}

void between_fences(Warp& warp, const Instruction& instruction, LaneMask active) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    instruction.detail_as<AccessDetail>().inner(warp, instruction, active);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// A strong vector access is single-copy atomic on every card. CUB relies on that: in its look-back, a vector
/// holds a value and whether it is valid.
void single_copy_atomic(Warp& warp, const Instruction& instruction, LaneMask active) {
    const std::lock_guard lock(vector_access_mutex());
    instruction.detail_as<AccessDetail>().inner(warp, instruction, active);
}

void memory_fence(Warp& warp, const Instruction& instruction, LaneMask active) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (Observer* const observer : warp.block().observers()) observer->fenced(warp, instruction, active);
}

// ---- decoding ----

struct Form {
    Type type = Type::none;
    bool wide_cell = false, wide_base = false, vector = false;
};

template <class T, class C, template <class, class, class> class Family> Handler for_base(const Form& form) {
    using Narrow = Family<T, C, uint32_t>;
    using Wide = Family<T, C, uint64_t>;
    if (form.vector) return form.wide_base ? Wide::vector : Narrow::vector;
    return form.wide_base ? Wide::scalar : Narrow::scalar;
}

template <class T, class C, class Base> struct Load {
    static constexpr Handler scalar = &load<T, C, Base>, vector = &load_vector<T, C, Base>;
};
template <class T, class C, class Base> struct Store {
    static constexpr Handler scalar = &store<T, C, Base>, vector = &store_vector<T, C, Base>;
};
template <class T, class C, class> struct LoadParameter {
    static constexpr Handler scalar = &load_parameter<T, C>, vector = nullptr;
};

template <class T, template <class, class, class> class Family> Handler for_cell(const Form& form) {
    if constexpr (sizeof(T) == 8)
        return for_base<T, uint64_t, Family>(form);
    else
        return form.wide_cell ? for_base<T, uint64_t, Family>(form) : for_base<T, uint32_t, Family>(form);
}

template <template <class, class, class> class Family> Handler for_type(const Form& form) {
    switch (form.type) {
    case Type::s8: return for_cell<std::int8_t, Family>(form);
    case Type::s16: return for_cell<std::int16_t, Family>(form);
    case Type::s32: return for_cell<std::int32_t, Family>(form);
    default: break;
    }
    switch (ptx::size_of(form.type)) {
    case 1: return for_cell<uint8_t, Family>(form);
    case 2: return for_cell<uint16_t, Family>(form);
    case 4: return for_cell<uint32_t, Family>(form);
    case 8: return for_cell<uint64_t, Family>(form);
    default: return nullptr;
    }
}

/// Cache operators and hints do not change results.
void take_memory_modifiers(Decoding& statement) {
    while (!statement
                .take_any({".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt", ".nc", ".L1::evict_normal",
                           ".L1::evict_unchanged", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate",
                           ".L2::64B", ".L2::128B", ".L2::256B"})
                .empty()) {
    }
    statement.instruction.ordering =
        statement.take_ordering({".acquire", ".release", ".volatile", ".relaxed"});
    statement.take(".weak");
    statement.instruction.scope = statement.take_scope();
}

/// Takes registers of `type`: one, or a `{…}` of two or four.
void take_elements(Decoding& statement, const Operand& operand, bool is_load, Form& form) {
    const std::string_view vector = statement.take_any({".v2", ".v4"});
    const auto row = [&](const Operand& element) {
        bool wide = false;
        Row result = no_row;
        if (!is_load)
            result = statement.loose_source(element, form.type, wide);
        else if (!form.vector || !statement.never_read(element))
            result = statement.loose_destination(element, form.type, wide);
        else
            return no_row;
        form.wide_cell = wide;
        return result;
    };
    form.vector = !vector.empty();
    statement.instruction.bytes = static_cast<uint16_t>(ptx::size_of(form.type));
    if (!form.vector) {
        if (operand.kind == Operand::Kind::list)
            statement.check_all_taken(); // a vector of a length that is not known
        (is_load ? statement.instruction.destination : statement.instruction.sources[1]) = row(operand);
        return;
    }
    const std::size_t count = vector == ".v2" ? 2 : 4;
    if (operand.kind != Operand::Kind::list || operand.elements.size() != count)
        statement.invalid(operand.place,
                          "a vector of " + std::to_string(count) + " registers is needed here");
    statement.instruction.bytes = static_cast<uint16_t>(statement.instruction.bytes * count);
    if (statement.instruction.bytes > 16)
        statement.unsupported(operand.place, "accesses of more than 16 bytes are not supported");
    std::vector<Row> rows;
    bool narrow_seen = false, wide_seen = false;
    for (const Operand& element : operand.elements) {
        rows.push_back(row(element));
        if (rows.back() != no_row) (form.wide_cell ? wide_seen : narrow_seen) = true;
    }
    if (narrow_seen && wide_seen)
        statement.unsupported(operand.place, "registers of different widths are not supported here");
    form.wide_cell = wide_seen;
    statement.detail<AccessDetail>().elements = std::move(rows);
    statement.instruction.is_vector = true;
}

bool is_parameter_of_kernel(const Decoding& statement, const Operand& base) {
    if (base.kind != Operand::Kind::symbol || !base.variable || !statement.function().is_kernel) return false;
    const auto& parameters = statement.function().parameters;
    return std::find(parameters.begin(), parameters.end(), base.variable) != parameters.end();
}

/// In a kernel, `.param` is the kernel's parameters, which are read-only; arguments and results of functions
/// lie in the frame's local memory.
Space resolve_parameter_space(const Decoding& statement, const Operand& address) {
    const Operand& base = address.elements.front();
    if (base.kind == Operand::Kind::symbol && base.variable && !is_parameter_of_kernel(statement, base))
        return Space::local;
    return statement.function().is_kernel ? Space::param : Space::local;
}

template <template <class, class, class> class Family> void decode_access(Decoding& statement, bool is_load) {
    take_memory_modifiers(statement);
    Space space = statement.take_space();
    Form form;
    form.type = statement.take_type();
    const std::size_t policy = statement.take(".L2::cache_hint") ? 1 : 0;
    statement.expect_operands(2 + policy, 2 + policy);
    if (form.type == Type::b128 && space != Space::param)
        return decode_b128_access(statement, space, is_load);
    const Operand& address = statement.operand(is_load ? 1 : 0);
    form.wide_base = statement.address(address, space);
    if (space == Space::param) {
        space = resolve_parameter_space(statement, address);
        statement.instruction.is_argument = space == Space::local;
    }
    statement.instruction.space = space;
    take_elements(statement, statement.operand(is_load ? 0 : 1), is_load, form);
    statement.instruction.has_wide_cells = form.wide_cell;

    Handler handler = for_type<Family>(form);
    if (!handler) statement.no_such_type(form.type);
    if (is_load && space == Space::param && !form.vector &&
        is_parameter_of_kernel(statement, address.elements.front())) {
        const Operand& base = address.elements.front();
        const uint64_t offset = statement.parameter_offset(base) + static_cast<uint64_t>(address.offset);
        uint32_t total = 0;
        parameter_offsets(statement.function(), total);
        if (offset > total || total - offset < statement.instruction.bytes)
            statement.invalid(address.place, "this lies outside the kernel's parameters");
        if (offset % statement.instruction.bytes != 0)
            statement.invalid(address.place, "misaligned: the parameter's offset must be a multiple of " +
                                                 std::to_string(statement.instruction.bytes));
        statement.instruction.immediate = offset;
        handler = for_type<LoadParameter>(form);
    }
    statement.execute_with(handler);
    if (statement.instruction.ordering == Ordering::weak) return;
    // One host thread executes all accesses to a block's shared memory.
    if (space == Space::shared && !form.vector) return;
    statement.detail<AccessDetail>().inner = handler;
    statement.execute_with(form.vector ? &single_copy_atomic : &between_fences);
}

void decode_ld(Decoding& statement) { decode_access<Load>(statement, true); }
void decode_st(Decoding& statement) {
    if (statement.take(".async")) return decode_st_async(statement);
    decode_access<Store>(statement, false);
}

void decode_ldu(Decoding& statement) { decode_access<Load>(statement, true); }

/// griddepcontrol: launches never overlap here, so there is nothing to wait for.
void decode_griddepcontrol(Decoding& statement) {
    if (statement.take_any({".wait", ".launch_dependents"}).empty())
        statement.invalid(statement.statement().place, "griddepcontrol needs .wait or .launch_dependents");
    statement.expect_operands(0, 0);
    statement.execute_with(&no_effect);
}

/// fence.proxy: all proxies are the same here, but observers may tell the async proxy apart.
void decode_fence(Decoding& statement) {
    if (statement.take(".mbarrier_init")) {
        statement.take(".release");
        statement.take(".cluster");
        statement.expect_operands(0, 0);
        return statement.execute_with(&memory_fence);
    }
    if (statement.take(".proxy")) {
        const bool is_async = statement.take_any({".alias", ".async"}) == ".async";
        const bool is_of_global = statement.take_space() == ptx::Space::global;
        statement.expect_operands(0, 0);
        if (!is_async || is_of_global) return statement.execute_with(&no_effect);
        statement.instruction.sync = SyncKind::proxy_fence;
        return statement.execute_with(&memory_fence);
    }
    statement.take_any({".sc", ".acq_rel", ".acquire", ".release"});
    statement.instruction.scope = statement.take(".gl") ? Scope::gpu : statement.take_scope();
    statement.expect_operands(0, 0);
    statement.execute_with(&memory_fence);
}

void decode_prefetch(Decoding& statement) {
    statement.take_any({".global", ".local"});
    statement.take_any({".L1", ".L2", ".L2::evict_last", ".L2::evict_normal"});
    statement.expect_operands(1, 1);
    statement.execute_with(&no_effect);
}

void make_policy(Warp& warp, const Instruction& instruction, LaneMask active) {
    uint64_t* const result = warp.cells<uint64_t>(instruction.destination);
    for_each_lane(active, [&](int lane) { result[lane] = 0; });
}

/// createpolicy.fractional… policy [, fraction]: any value will do, since cache hints have no effect.
void decode_createpolicy(Decoding& statement) {
    if (!statement.take(".fractional"))
        statement.unsupported(statement.statement().place, "only 'createpolicy.fractional' is supported");
    while (
        !statement
             .take_any({".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged"})
             .empty()) {
    }
    if (const Type type = statement.take_type(); type != Type::b64) statement.no_such_type(type);
    statement.expect_operands(1, 2);
    statement.instruction.destination = statement.destination(0, Type::b64);
    if (statement.operand_count() == 2) statement.source(1, Type::f32);
    statement.execute_with(&make_policy);
}

/// discard and applypriority [a], 128: hints to the cache.
void decode_cache_advice(Decoding& statement) {
    statement.take(".global");
    statement.take_any({".L2", ".L2::evict_normal"});
    statement.expect_operands(2, 2);
    if (statement.constant(statement.operand(1)) != 128)
        statement.invalid(statement.operand(1).place, "a cache line has 128 bytes");
    statement.execute_with(&no_effect);
}

} // namespace

std::span<const Opcode> memory_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"ld", decode_ld},
        {"ldu", decode_ldu},
        {"st", decode_st},
        {"membar", decode_fence},
        {"fence", decode_fence},
        {"griddepcontrol", decode_griddepcontrol},
        {"createpolicy", decode_createpolicy},
        {"discard", decode_cache_advice},
        {"applypriority", decode_cache_advice},
        {"prefetch", decode_prefetch},
        {"prefetchu", decode_prefetch},
    };
    return opcodes;
}

} // namespace emulator
