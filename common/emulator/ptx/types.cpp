#include "emulator/ptx/types.hpp"

#include <unordered_map>

namespace emulator::ptx {

std::optional<Type> type_from(std::string_view dot_word) {
    static const std::unordered_map<std::string_view, Type> types = {
        {".pred", Type::pred},   {".b8", Type::b8},      {".b16", Type::b16},     {".b32", Type::b32},
        {".b64", Type::b64},     {".b128", Type::b128},  {".u8", Type::u8},       {".u16", Type::u16},
        {".u32", Type::u32},     {".u64", Type::u64},    {".s8", Type::s8},       {".s16", Type::s16},
        {".s32", Type::s32},     {".s64", Type::s64},    {".f16", Type::f16},     {".bf16", Type::bf16},
        {".f32", Type::f32},     {".f64", Type::f64},    {".f16x2", Type::f16x2}, {".bf16x2", Type::bf16x2},
        {".u16x2", Type::u16x2}, {".s16x2", Type::s16x2}};
    const auto found = types.find(dot_word);
    return found == types.end() ? std::nullopt : std::optional(found->second);
}

} // namespace emulator::ptx
