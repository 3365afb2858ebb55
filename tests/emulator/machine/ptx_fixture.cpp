#include "ptx_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <sstream>

namespace emulator::fixture {

namespace {

constexpr std::uint64_t wide_poison = std::uint64_t{poison} << 32 | poison;

std::string hexadecimal(std::uint64_t value) {
    std::ostringstream text;
    text << "0x" << std::hex << std::uppercase << value;
    return text.str();
}

/// How a result register is poisoned and widened to 64 bits.
struct ResultKind {
    std::string_view name;
    std::string_view poison, widen; ///< statements; the widened result goes to %rd40
    std::uint64_t poisoned;
};

constexpr ResultKind result_kinds[] = {
    {"%rs0", "mov.b16 %rs0, 0xA5A5;", "cvt.u64.u16 %rd40, %rs0;", 0xA5A5},
    {"%rd0", "mov.b64 %rd0, 0xA5A5A5A5A5A5A5A5;", "mov.b64 %rd40, %rd0;", wide_poison},
    {"%r0", "mov.b32 %r0, 0xA5A5A5A5;", "cvt.u64.u32 %rd40, %r0;", poison},
    {"%p0", "setp.eq.u32 %p0, %r60, %r60;", "selp.b64 %rd40, 1, 0, %p0;", 1},
};

const ResultKind& result_kind(std::string_view instruction) {
    for (const ResultKind& kind : result_kinds)
        if (instruction.find(kind.name) != std::string_view::npos) return kind;
    throw std::logic_error("no result register in " + std::string(instruction));
}

constexpr int variants = 4;
constexpr const char* variant_names[variants] = {"plain", "under @%p9", "under @!%p9", "behind a branch"};

/// Which lanes execute the instruction in a variant: %p9 holds in every third thread.
bool executes(int variant, std::size_t thread) {
    const bool p9 = thread % 3 == 0;
    return variant == 0 || (variant == 1 ? p9 : !p9);
}

std::string lane_body(std::string_view instruction) {
    const ResultKind& kind = result_kind(instruction);
    const std::string statement = std::string(instruction) + ";\n";
    std::ostringstream body;
    body << "cvt.u64.u32 %rd50, %r62; shl.b64 %rd51, %rd50, 5; add.s64 %rd52, %rd60, %rd51; add.s64 %rd53, "
            "%rd61, %rd51;\n";
    for (int k = 1; k <= 4; ++k)
        body << "ld.global.b64 %rd" << k << ", [%rd52+" << 8 * (k - 1) << "]; cvt.u32.u64 %r" << k << ", %rd"
             << k << "; cvt.u16.u64 %rs" << k << ", %rd" << k << "; and.b32 %r50, %r" << k
             << ", 1; setp.eq.u32 %p" << k << ", %r50, 1;\n";
    body << "rem.u32 %r51, %r62, 3; setp.eq.u32 %p9, %r51, 0;\n";
    const std::string forms[variants] = {statement, "@%p9 " + statement, "@!%p9 " + statement,
                                         "@%p9 bra SKIP;\n" + statement + "SKIP:\n"};
    for (int variant = 0; variant < variants; ++variant)
        body << kind.poison << '\n'
             << forms[variant] << kind.widen << " st.global.b64 [%rd53+" << 8 * variant << "], %rd40;\n";
    return body.str();
}

} // namespace

std::string module_of(std::string_view body, std::string_view declarations) {
    std::string text = ".version 8.5\n.target sm_90\n.address_size 64\n";
    text += declarations;
    text += "\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n"
            ".reg .pred %p<32>; .reg .b16 %rs<32>; .reg .b32 %r<64>; .reg .b64 %rd<64>;\n"
            "mov.u32 %r60, %tid.x; mov.u32 %r61, %ctaid.x; mov.u32 %r62, %ntid.x; mad.lo.u32 %r62, %r61, "
            "%r62, %r60;\n"
            "ld.param.u64 %rd60, [p0]; ld.param.u64 %rd61, [p1]; ld.param.u64 %rd62, [p2];\n";
    text += body;
    return text += "\nret;\n}\n";
}

LaunchConfiguration grid_of(std::uint32_t threads, std::uint32_t blocks, std::uint32_t dynamic_shared_bytes) {
    LaunchConfiguration configuration;
    configuration.grid = {blocks, 1, 1};
    configuration.block = {threads, 1, 1};
    configuration.dynamic_shared_bytes = dynamic_shared_bytes;
    return configuration;
}

void* Program::allocate_bytes(std::size_t bytes, std::string origin) {
    const Allocation& allocation = memory.allocate(bytes, std::move(origin));
    return std::memset(reinterpret_cast<void*>(allocation.address), 0, bytes);
}

Counters Program::launch(std::string_view kernel, LaunchConfiguration configuration,
                         std::initializer_list<const void*> parameters, unsigned int host_threads) {
    return launch(kernel, configuration, parameters, RunOptions{.host_threads = host_threads});
}

Counters Program::launch(std::string_view kernel, LaunchConfiguration configuration,
                         std::initializer_list<const void*> parameters, const RunOptions& options) {
    std::vector<const void*> values(parameters);
    const Kernel& code = module.kernel(kernel);
    values.resize(std::max(values.size(), code.parameters().size()), nullptr);
    return emulator::run(code, configuration, std::as_bytes(std::span(values)), memory, options);
}

std::vector<std::uint32_t> run(std::string_view body, std::uint32_t threads,
                               std::span<const std::uint32_t> input, std::string_view declarations,
                               std::uint32_t blocks, unsigned int host_threads) {
    const std::string text =
        "mul.wide.u32 %rd63, %r62, 4; add.s64 %rd60, %rd60, %rd63; ld.global.u32 %r1, [%rd60];\n" +
        std::string(body) + "\nst.global.u32 [%rd60], %r0;";
    Program program(module_of(text, declarations));
    const std::size_t count = std::size_t{threads} * blocks;
    // One buffer for both: the result replaces the input.
    auto* const words = program.allocate<std::uint32_t>(count);
    std::fill_n(words, count, poison);
    std::copy_n(input.begin(), std::min(count, input.size()), words);
    program.launch("k", grid_of(threads, blocks), {words, program.allocate<std::uint32_t>(64)}, host_threads);
    return {words, words + count};
}

void expect_lanes(std::string_view instruction, std::span<const LaneCase> cases) {
    SCOPED_TRACE(instruction);
    const ResultKind& kind = result_kind(instruction);
    constexpr std::uint32_t threads = 80; // the last warp is half full
    const auto blocks = static_cast<std::uint32_t>((cases.size() + threads - 1) / threads);
    const std::size_t lanes = std::size_t{blocks} * threads;
    std::optional<Program> program;
    try {
        program.emplace(module_of(lane_body(instruction)));
        auto* const in = program->allocate<std::uint64_t>(4 * lanes);
        auto* const out = program->allocate<std::uint64_t>(variants * lanes);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const LaneCase& lane = cases[i];
            const std::uint64_t operands[] = {lane.a, lane.b, lane.c, lane.d};
            std::copy_n(operands, 4, in + 4 * i);
        }
        program->launch("k", grid_of(threads, blocks), {in, out});
        int failures = 0;
        for (std::size_t i = 0; i < cases.size(); ++i)
            for (int variant = 0; variant < variants; ++variant) {
                const LaneCase& lane = cases[i];
                const std::uint64_t expected = executes(variant, i) ? lane.expected : kind.poisoned;
                const std::uint64_t actual = out[variants * i + static_cast<std::size_t>(variant)];
                if (actual == expected || ++failures > 5) continue;
                ADD_FAILURE() << variant_names[variant] << ", lane " << i << ": a = " << hexadecimal(lane.a)
                              << ", b = " << hexadecimal(lane.b) << ", c = " << hexadecimal(lane.c)
                              << ", d = " << hexadecimal(lane.d) << " gives " << hexadecimal(actual)
                              << ", expected " << hexadecimal(expected);
            }
    } catch (const Error& error) {
        ADD_FAILURE() << error.what();
    }
}

} // namespace emulator::fixture
