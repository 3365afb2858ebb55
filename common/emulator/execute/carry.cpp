/// Arithmetic over several words: add.cc, addc, sub.cc, subc, mad.cc, madc, through a condition code.
#include "emulator/execute/families.hpp"
#include "emulator/execute/lanewise.hpp"
#include "emulator/execute/opcodes.hpp"

namespace emulator {

namespace {

using ptx::Type;

using Wide = unsigned __int128;

enum class Part { low, high };

/// A result with its carry above the bits of T.
template <class T> struct Sum {
    static constexpr int operands = 2;
    static constexpr LaneMask first_carry = 0; ///< of an instruction that takes none in
    static Wide apply(T a, T b, T, bool carry) { return Wide{a} + b + carry; }
};
/// The sum a + ~b + 1, as in hardware, whose carry is 1 if nothing is borrowed. nvcc's division of __int128
/// relies on that: addc reads what subc.cc has left.
template <class T> struct Difference {
    static constexpr int operands = 2;
    static constexpr LaneMask first_carry = all_lanes;
    static Wide apply(T a, T b, T, bool carry) { return Wide{a} + static_cast<T>(~b) + carry; }
};
template <class T, Part part, bool is_signed> struct ProductAndSum {
    static constexpr int operands = 3;
    static constexpr LaneMask first_carry = 0;
    static Wide apply(T a, T b, T c, bool carry) {
        using Signed = std::make_signed_t<T>;
        const Wide product =
            is_signed ? static_cast<Wide>(__int128{static_cast<Signed>(a)} * static_cast<Signed>(b))
                      : Wide{a} * b;
        const T half = static_cast<T>(part == Part::low ? product : product >> (8 * sizeof(T)));
        return Wide{half} + c + carry;
    }
};

/// Bit 0 of the immediate: takes the carry in; bit 1: puts it out.
template <class Operation, class T>
void with_carry(Warp& warp, const Instruction& instruction, LaneMask active) {
    T* const result = warp.cells<T>(instruction.destination);
    const T* const a = warp.cells<T>(instruction.sources[0]);
    const T* const b = warp.cells<T>(instruction.sources[1]);
    const T* const c = Operation::operands == 3 ? warp.cells<T>(instruction.sources[2]) : a;
    LaneMask& carry = warp.predicate(instruction.second);
    const LaneMask in = (instruction.immediate & 1) != 0 ? carry : Operation::first_carry;
    LaneMask out = 0;
    for_each_lane(active, [&](int lane) {
        const Wide all = Operation::apply(a[lane], b[lane], c[lane], (in >> lane & 1) != 0);
        result[lane] = static_cast<T>(all);
        out |= LaneMask{(all >> (8 * sizeof(T)) & 1) != 0} << lane;
    });
    if ((instruction.immediate & 2) != 0) carry = (carry & ~active) | out;
}

template <class T, bool is_signed> Handler product_handler(std::string_view part) {
    return part == ".lo" ? &with_carry<ProductAndSum<T, Part::low, is_signed>, T>
                         : &with_carry<ProductAndSum<T, Part::high, is_signed>, T>;
}

template <template <class> class Operation> Handler for_width(Type type) {
    return ptx::size_of(type) == 8 ? &with_carry<Operation<std::uint64_t>, std::uint64_t>
                                   : &with_carry<Operation<std::uint32_t>, std::uint32_t>;
}

void decode_with(Decoding& statement, Type type, std::size_t operands, Handler handler, bool takes_in,
                 bool gives_out) {
    if (!ptx::is_integer(type) || ptx::size_of(type) < 4) statement.no_such_type(type);
    take_operands(statement, type, operands);
    statement.instruction.second = statement.carry_row();
    statement.instruction.immediate = (takes_in ? 1u : 0u) | (gives_out ? 2u : 0u);
    statement.execute_with(handler);
}

void decode_mad(Decoding& statement, bool takes_in, bool gives_out) {
    const std::string_view part = statement.take_any({".lo", ".hi"});
    if (part.empty()) statement.invalid(statement.statement().place, "a mad with a carry needs .lo or .hi");
    const Type type = statement.take_type();
    const bool is_signed = ptx::is_signed(type);
    const Handler narrow =
        is_signed ? product_handler<std::uint32_t, true>(part) : product_handler<std::uint32_t, false>(part);
    const Handler wide =
        is_signed ? product_handler<std::uint64_t, true>(part) : product_handler<std::uint64_t, false>(part);
    decode_with(statement, type, 3, ptx::size_of(type) == 8 ? wide : narrow, takes_in, gives_out);
}

template <template <class> class Operation> void decode_after(Decoding& statement) {
    const bool gives_out = statement.take(".cc");
    const Type type = statement.take_type();
    decode_with(statement, type, 2, for_width<Operation>(type), true, gives_out);
}

void decode_madc(Decoding& statement) { decode_mad(statement, true, statement.take(".cc")); }

} // namespace

bool decode_carry(Decoding& statement) {
    if (!statement.take(".cc")) return false;
    const std::string_view opcode = statement.statement().opcode;
    if (opcode == "mad") {
        decode_mad(statement, false, true);
        return true;
    }
    const Type type = statement.take_type();
    decode_with(statement, type, 2, opcode == "add" ? for_width<Sum>(type) : for_width<Difference>(type),
                false, true);
    return true;
}

std::span<const Opcode> carry_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"addc", decode_after<Sum>}, {"subc", decode_after<Difference>}, {"madc", decode_madc}};
    return opcodes;
}

} // namespace emulator
