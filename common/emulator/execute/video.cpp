/// Video instructions: vabsdiff2 and vabsdiff4, which nvcc generates for __vabsdiff... and __vsad....
#include "emulator/execute/lanewise.hpp"
#include "emulator/execute/opcodes.hpp"

namespace emulator {

namespace {

using ptx::Type;
using std::uint32_t;

/// |a - b| of each part; with `adds` c and the sum of all.
template <class T, bool adds> struct AbsoluteDifferences {
    constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        constexpr int bits = 8 * sizeof(T);
        constexpr uint32_t part_mask = (uint32_t{1} << bits) - 1;
        uint32_t result = adds ? c : 0;
        for (int shift = 0; shift < 32; shift += bits) {
            const int x = static_cast<T>(a >> shift), y = static_cast<T>(b >> shift);
            const auto difference = static_cast<uint32_t>(x < y ? y - x : x - y);
            result += adds ? difference : (difference & part_mask) << shift;
        }
        return result;
    }
};

template <class Signed, class Unsigned> void decode_absolute_differences(Decoding& statement) {
    const Type result = statement.take_type(), a = statement.take_type(), b = statement.take_type();
    const bool is_signed = a == Type::s32;
    if (a != b || (a != Type::u32 && a != Type::s32) || (result != Type::u32 && result != Type::s32))
        statement.no_such_type(a);
    const bool adds = statement.take(".add");
    take_operands(statement, Type::u32, 3);
    if (adds)
        statement.execute_with(is_signed
                                   ? same_type_handler<AbsoluteDifferences<Signed, true>{}, uint32_t, 3>()
                                   : same_type_handler<AbsoluteDifferences<Unsigned, true>{}, uint32_t, 3>());
    else
        statement.execute_with(
            is_signed ? same_type_handler<AbsoluteDifferences<Signed, false>{}, uint32_t, 3>()
                      : same_type_handler<AbsoluteDifferences<Unsigned, false>{}, uint32_t, 3>());
}

} // namespace

std::span<const Opcode> video_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"vabsdiff2", decode_absolute_differences<std::int16_t, std::uint16_t>},
        {"vabsdiff4", decode_absolute_differences<std::int8_t, std::uint8_t>}};
    return opcodes;
}

} // namespace emulator
