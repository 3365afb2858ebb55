#include "emulator/ptx/parser.hpp"

#include "../machine/ptx_fixture.hpp"
#include "emulator/ptx/diagnostic.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <map>

using namespace emulator::ptx;
using emulator::Failure;
using emulator::fixture::error_of;
using std::uint32_t, std::uint64_t;
using testing::HasSubstr;

namespace {

constexpr const char* header = ".version 8.5\n.target sm_90, debug\n.address_size 64\n";

std::unique_ptr<Module> parsed(const std::string& text) { return parse(header + text); }

/// A kernel with the registers %p<4>, %r<8> and %rd<8>, from line 6 on.
std::unique_ptr<Module> kernel(const std::string& body) {
    return parsed(".visible .entry k(.param .u64 a, .param .u32 b)\n{ .reg .pred %p<4>; .reg .b32 %r<8>; "
                  ".reg .b64 %rd<8>;\n" +
                  body + "\n}\n");
}

const Statement& statement(const Module& module, std::size_t k) {
    return module.functions.front()->statements.at(k);
}

std::string register_of(const Module& module, const Operand& operand) {
    return operand.kind == Operand::Kind::reg ? module.functions.front()->registers.at(operand.index).name
                                              : "no register";
}

template <class T> T initial(const Variable& variable, std::size_t k) {
    T value{};
    std::memcpy(&value, variable.initial.data() + k * sizeof(T), sizeof(T));
    return value;
}

} // namespace

TEST(Parser, reads_a_module_with_everything_around_the_code) {
    const auto module = parsed(".file 1 \"a.cu\", 1234, 99\n.file 2 \"b.h\"\n.extern .func (.param .b32 r) "
                               "vprintf(.param .b64 f, .param .b64 a);\n"
                               ".visible .func plain() .noreturn;\n.weak .entry k() .maxntid 128, 2, 1 "
                               ".minnctapersm 4 .maxnreg 32 { .pragma \"nounroll\"; ret; }\n"
                               ".section .debug_str\n{\n$L__info_string0:\n.b8 95, 90\n}\n");
    EXPECT_EQ(module->version, "8.5");
    EXPECT_EQ(module->target, "sm_90,debug");
    EXPECT_EQ(module->files.at(1), "a.cu");
    EXPECT_EQ(module->files.at(2), "b.h");
    ASSERT_NE(module->function("k"), nullptr);
    EXPECT_TRUE(module->function("k")->is_kernel);
    EXPECT_EQ(module->function("k")->max_threads, 256u);
    EXPECT_FALSE(module->function("vprintf")->has_body);
    EXPECT_EQ(module->function("vprintf")->parameters.size(), 2u);
    EXPECT_EQ(module->function("vprintf")->results.size(), 1u);
    EXPECT_EQ(module->function("nothing"), nullptr);
}

TEST(Parser, makes_one_module_of_the_units_of_a_program) {
    const std::string first = std::string(header) +
                              ".file 1 \"a.cu\"\n.file 2 \"b.h\"\n.extern .global .u32 shared_count;\n"
                              ".extern .func helper();\n.weak .global .u32 limit = 3;\n"
                              ".visible .entry k() { .loc 1 5 0 call helper, (); ret; }\n";
    const std::string second = std::string(header) +
                               ".file 1 \"c.cu\"\n.visible .global .u32 shared_count = 7;\n"
                               ".weak .global .u32 limit = 3;\n"
                               ".visible .func helper() { .loc 1 9 0 ret; }\n";
    for (const auto& text : {first + second, second + first}) {
        const auto module = emulator::ptx::parse(text);
        EXPECT_TRUE(module->function("helper")->has_body);
        EXPECT_FALSE(module->variable("shared_count")->external);
        EXPECT_EQ(initial<std::uint32_t>(*module->variable("shared_count"), 0), 7u);
        EXPECT_EQ(module->variables.size(), 2u) << "a weak variable is there once";
        const auto file_of = [&](const char* function) {
            return module->files.at(module->function(function)->statements.front().location->file);
        };
        EXPECT_EQ(file_of("k"), "a.cu");
        EXPECT_EQ(file_of("helper"), "c.cu");
    }
}

TEST(Parser, what_units_call_the_same_is_their_own_unless_they_share_it) {
    const auto unit = [](const std::string& letter) {
        return std::string(header) + ".global .align 1 .b8 $str[1] = {" + letter +
               "};\n.global .u64 table[1] = {generic($str)};\n.visible .entry k" + letter +
               "() { .reg .b64 %rd<2>; mov.u64 %rd1, $str; mov.u64 %rd1, table; ret; }\n";
    };
    const auto module = parse(unit("97") + unit("98") + unit("99"));
    EXPECT_EQ(module->variables.size(), 6u);
    for (std::size_t k = 0; k < 3; ++k) {
        const auto name_in = [&](std::size_t statement) {
            return module->functions[k]->statements[statement].operands[1].name;
        };
        EXPECT_EQ(initial<char>(*module->variable(name_in(0)), 0), "abc"[k]);
        EXPECT_EQ(module->variable(name_in(1))->relocations[0].symbol, name_in(0));
    }
}

TEST(Parser, reads_a_kernels_body_when_it_is_asked_for) {
    const std::string text =
        std::string(header) +
        ".file 1 \"a.cu\"\n.visible .func f() { ret; }\n.entry later();\n.global .b8 braces[2] = {1, 2};\n"
        ".visible .entry k(.param .u64 a) .maxntid 64 { .reg .b64 %rd<2>; // }\n"
        ".loc 1 7 0 ld.param.u64 %rd1, [a]; { .pragma \"}\"; } /* } */ ret; }\n"
        ".visible .entry broken() { .reg .b32 %r<2>; .local .b32 v; ret; .surf x; }\n";
    const auto module = parse_around_kernels(text);
    Function& k = *module->functions.at(2);
    Function& broken = *module->functions.at(3);
    EXPECT_EQ(module->function("f")->statements.size(), 1u) << "no kernel";
    EXPECT_EQ(module->variable("braces")->bytes, 2u);
    EXPECT_TRUE(k.has_body && broken.has_body);
    EXPECT_EQ(k.max_threads, 64u);
    EXPECT_EQ(k.statements.size(), 0u);
    for (int time = 0; time < 2; ++time) {
        read_body(*module, k);
        ASSERT_EQ(k.statements.size(), 2u);
        EXPECT_EQ(k.statements[0].operands[1].elements[0].variable, k.parameters[0]);
        EXPECT_EQ(k.statements[0].location->line, 7u);
        EXPECT_EQ(k.statements[1].place, text.find("ret; }\n.visible .entry broken"));
    }
    const std::string expected = error_of([&] { parse(text); }).what();
    EXPECT_THAT(expected, HasSubstr("PTX line "));
    for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(error_of([&] { read_body(*module, broken); }).what(), expected);
        EXPECT_EQ(broken.registers.size() + broken.variables.size() + broken.statements.size(), 2u + 1u + 1u);
    }
    EXPECT_THAT(error_of([&] { parse_around_kernels(text + ".entry open() { { ret; }\n"); }).what(),
                HasSubstr("this block has no end"));
}

TEST(Parser, skips_around_kernels_what_is_not_supported) {
    const auto module = parse_around_kernels(
        std::string(header) +
        ".global .texref picture, other;\n.visible .global .align 4 .surfref plane[2] = {a, b};\n.novel x "
        "{ y; }\n.novel z\n.visible .func f (.reg .b32 %r) (.param .b64 g) { ret; }\n.global .u32 word = 5;\n"
        ".entry odd() .blocksareclusters { ret; }\n.entry k() { ret; }\n");
    ASSERT_NE(module->variable("word"), nullptr);
    EXPECT_EQ(module->variable("picture"), nullptr);
    EXPECT_TRUE(module->function("k")->has_body);
    for (const auto& [name, message] :
         std::map<std::string, const char*>{{"picture", "'.texref' is not a type"},
                                            {"other", "no textures"},
                                            {"plane", "'.surfref' is not a type"},
                                            {"x", "'.novel' is not a directive"},
                                            {"z", "'.novel' is not a directive"},
                                            {"f", "only .param parameters"},
                                            {"odd", "'.blocksareclusters'"}}) {
        ASSERT_TRUE(module->unsupported.contains(name)) << name;
        EXPECT_THAT(module->unsupported.at(name).what(), HasSubstr(message)) << name;
        EXPECT_THAT(module->unsupported.at(name).what(), HasSubstr("PTX line ")) << name;
    }
    for (const char* const name : {"y", "g", "word", "k"})
        EXPECT_FALSE(module->unsupported.contains(name)) << name;
    for (const char* const whole : {".address_size 32", "hello;", ".global .u32 x"})
        EXPECT_THROW(parse_around_kernels(header + std::string(whole)), emulator::Error) << whole;
}

TEST(Parser, resolves_other_names_of_functions) {
    const auto module = parsed(".func other();\n.func f() { ret; }\n.alias other, f;\n");
    EXPECT_EQ(module->function("other"), module->functions.back().get());
}

TEST(Parser, refuses_a_second_body_of_one_name_in_a_unit) {
    const std::string unit = std::string(header) + ".weak .entry k() { ret; }\n";
    EXPECT_THAT(error_of([&] { parse(unit + ".visible .entry k() { ret; }\n"); }).what(),
                HasSubstr("there is a function called 'k' already"));
    EXPECT_NO_THROW(parse(unit + unit)) << "each unit may have its own of a template";
    EXPECT_NO_THROW(parse(header + std::string(".visible .func f();\n.visible .func f() { ret; }\n")));
}

TEST(Parser, refuses_blocks_without_threads) {
    for (const std::string bound : {".reqntid 0", ".maxntid 32, 0", ".reqntid 65536, 65536, 0"})
        EXPECT_THAT(
            error_of([&] { parse(header + (".visible .entry k() " + bound + " { ret; }\n")); }).what(),
            HasSubstr("this number must be at least 1"))
            << bound;
}

TEST(Parser, a_definition_takes_the_place_of_a_weak_one) {
    const std::string weak = header + std::string(".weak .global .u32 limit = 3;\n"),
                      strong = header + std::string(".visible .global .u32 limit = 7;\n");
    for (const auto& text : {weak + strong, strong + weak, weak + weak + strong}) {
        const auto module = parse(text);
        EXPECT_EQ(module->variables.size(), 1u);
        EXPECT_EQ(initial<std::uint32_t>(*module->variable("limit"), 0), 7u);
    }
    EXPECT_THAT(error_of([&] { parse(strong + strong); }).what(),
                HasSubstr("there is a variable called 'limit' already"));
}

TEST(Parser, needs_no_white_space) {
    const auto module =
        parse(".version 8.5.target sm_90.address_size 64.global.align 4.b8 t[2]={1,2};.visible.entry "
              "k(.param.u64 a){.reg.pred%p<2>;.reg.b32%r<3>;"
              "mov.u32%r1,%tid.x;setp.ge.u32%p1,%r1,5;@%p1 bra $L;add.s32%r2,%r1,-1;$L:ret;}");
    EXPECT_EQ(module->functions.front()->statements.size(), 5u);
    EXPECT_EQ(statement(*module, 2).operands[0].kind, Operand::Kind::label);
    EXPECT_EQ(statement(*module, 2).operands[0].index, 4u);
    EXPECT_EQ(module->variable("t")->bytes, 2u);
}

TEST(Parser, ignores_the_zeros_that_fat_binaries_pad_with) {
    EXPECT_NO_THROW(parse(std::string(header) + std::string(7, '\0')));
}

TEST(Parser, reads_parameters_in_all_their_forms) {
    const auto module = parsed(".visible .entry k(.param .u64 a, .param .align 8 .b8 b[12], .param .u64 .ptr "
                               ".align 16 c, .param .u64 .ptr .global .align 4 d, .param .f32 e)\n{ ret; }");
    const auto& parameters = module->functions.front()->parameters;
    ASSERT_EQ(parameters.size(), 5u);
    struct Expected {
        const char* name;
        uint64_t bytes;
        uint32_t alignment;
    };
    const Expected expected[] = {{"a", 8, 8},
                                 {"b", 12, 8},
                                 {"c", 8, 8},
                                 {"d", 8, 8},
                                 {"e", 4, 4}}; // .ptr speaks of what they point to
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(parameters[i]->name, expected[i].name);
        EXPECT_EQ(parameters[i]->bytes, expected[i].bytes) << expected[i].name;
        EXPECT_EQ(parameters[i]->alignment, expected[i].alignment) << expected[i].name;
    }
}

TEST(Parser, reads_variables_with_their_initial_values) {
    const auto module = parsed(
        ".global .align 16 .b8 bytes[6] = {1, 0xFF, -1};\n.global .u32 one = 7, two[2];\n.const .f32 "
        "floats[3] = {1.5, 0fBF800000, 2};\n"
        ".const .f64 wide = -2.5;\n.global .s16 grid[2][3] = {{1, 2, 3}, {4, 5, -6}};\n.global .b8 unsized[] "
        "= {1, 2, 3};\n"
        ".global .u64 pointers[3] = {bytes, generic(one)+4, bytes+2};\n.extern .shared .align 16 .b8 "
        "dynamic[];\n"
        ".shared .v4 .f32 quads[5];\n.global .attribute(.managed) .u64 managed;\n.global .b128 big = 5;\n");
    const auto& bytes = *module->variable("bytes");
    EXPECT_EQ(bytes.bytes, 6u);
    EXPECT_EQ(bytes.alignment, 16u);
    EXPECT_EQ(bytes.initial, (std::vector<std::byte>{std::byte{1}, std::byte{0xFF}, std::byte{0xFF}}));
    EXPECT_EQ(initial<uint32_t>(*module->variable("one"), 0), 7u);
    EXPECT_EQ(module->variable("two")->bytes, 8u);
    EXPECT_TRUE(module->variable("two")->initial.empty());
    EXPECT_EQ(initial<float>(*module->variable("floats"), 0), 1.5f);
    EXPECT_EQ(initial<float>(*module->variable("floats"), 1), -1.0f);
    EXPECT_EQ(initial<float>(*module->variable("floats"), 2), 2.0f);
    EXPECT_EQ(initial<double>(*module->variable("wide"), 0), -2.5);
    EXPECT_EQ(module->variable("grid")->bytes, 12u);
    EXPECT_EQ(initial<std::int16_t>(*module->variable("grid"), 5), -6);
    EXPECT_EQ(module->variable("unsized")->bytes, 3u);
    const auto& relocations = module->variable("pointers")->relocations;
    ASSERT_EQ(relocations.size(), 3u);
    EXPECT_EQ(relocations[1].symbol, "one");
    EXPECT_EQ(relocations[1].offset, 8u);
    EXPECT_EQ(relocations[1].addend, 4);
    EXPECT_EQ(relocations[2].addend, 2);
    EXPECT_EQ(module->variable("dynamic")->bytes, 0u);
    EXPECT_TRUE(module->variable("dynamic")->external);
    EXPECT_EQ(module->variable("quads")->bytes, 80u);
    EXPECT_EQ(module->variable("quads")->alignment, 16u);
    EXPECT_EQ(module->variable("managed")->bytes, 8u);
    EXPECT_EQ(initial<uint64_t>(*module->variable("big"), 0), 5u);
    EXPECT_EQ(module->variable("nothing"), nullptr);
}

TEST(Parser, inner_blocks_shadow_names_and_end) {
    const auto module = kernel("mov.b32 %r1, 1; { .reg .b64 %r1; mov.b64 %r1, 2; { .reg .b16 %r<2>; mov.b16 "
                               "%r1, 3; mov.b32 %r2, 4; } mov.b64 %r1, 5; } mov.b32 %r1, 6; ret;");
    const auto type = [&](std::size_t k) {
        return module->functions.front()->registers.at(statement(*module, k).operands[0].index).type;
    };
    EXPECT_EQ(type(0), Type::b32);
    EXPECT_EQ(type(1), Type::b64);
    EXPECT_EQ(type(2), Type::b16);
    EXPECT_EQ(type(3), Type::b32); // %r2 of the outermost block
    EXPECT_EQ(type(4), Type::b64);
    EXPECT_EQ(type(5), Type::b32);
    EXPECT_EQ(statement(*module, 0).operands[0].index, statement(*module, 5).operands[0].index);
}

TEST(Parser, variables_of_sibling_blocks_are_different) {
    const auto module =
        kernel("{ .param .b32 x; st.param.b32 [x], %r1; } { .param .b64 x; st.param.b64 [x+0], %rd1; } ret;");
    const Operand& first = statement(*module, 0).operands[0].elements[0];
    const Operand& second = statement(*module, 1).operands[0].elements[0];
    ASSERT_NE(first.variable, nullptr);
    ASSERT_NE(second.variable, nullptr);
    EXPECT_NE(first.variable, second.variable);
    EXPECT_EQ(second.variable->bytes, 8u);
}

TEST(Parser, labels_belong_to_their_block) {
    const auto module = kernel("{ bra L; add.s32 %r1, %r1, 1; L: add.s32 %r1, %r1, 2; } { L: bra L; { bra L; "
                               "bra OUT; } } OUT: ret;");
    EXPECT_EQ(statement(*module, 0).operands[0].index, 2u); // forwards, in the first block
    EXPECT_EQ(statement(*module, 3).operands[0].index, 3u); // the second block's own
    EXPECT_EQ(statement(*module, 4).operands[0].index, 3u); // seen from an inner block
    EXPECT_EQ(statement(*module, 5).operands[0].index, 6u);
}

TEST(Parser, a_label_may_stand_at_the_end) {
    const auto module = kernel("bra END; END:");
    EXPECT_EQ(statement(*module, 0).operands[0].index, 1u);
}

TEST(Parser, lists_of_branch_targets_resolve_where_they_stand) {
    const auto module = kernel("{ A: T: .branchtargets A, B; brx.idx %r1, T; B: ret; } A: ret;");
    const auto& targets = module->functions.front()->branch_targets.at("T");
    ASSERT_EQ(targets.size(), 2u);
    EXPECT_EQ(targets[0].index, 0u); // the A of the same block
    EXPECT_EQ(targets[1].index, 1u);
}

TEST(Parser, reads_operands_of_every_kind) {
    const auto module = kernel("op.x.y %r1, %tid.x, -5, 0f3F800000, -1.5, name+8, [%rd1+-4], [name+16], "
                               "[64], {%r1, _, 3}, %r1|%p1, !%p2, WARP_SZ, [%rd1-8], [name + -2], %laneid;");
    const Statement& op = statement(*module, 0);
    EXPECT_EQ(op.opcode, "op");
    ASSERT_EQ(op.modifiers.size(), 2u);
    EXPECT_EQ(op.modifiers[1].text, ".y");
    ASSERT_EQ(op.operands.size(), 16u);
    using Kind = Operand::Kind;
    EXPECT_EQ(register_of(*module, op.operands[0]), "%r1");
    EXPECT_EQ(op.operands[1].kind, Kind::special);
    EXPECT_EQ(op.operands[1].name, "%tid.x");
    EXPECT_EQ(op.operands[2].bits, ~4ull);
    EXPECT_EQ(op.operands[3].kind, Kind::single_precision);
    EXPECT_EQ(op.operands[4].bits, 0xBFF8'0000'0000'0000);
    EXPECT_EQ(op.operands[5].kind, Kind::symbol);
    EXPECT_EQ(op.operands[5].name, "name");
    EXPECT_EQ(op.operands[5].offset, 8);
    EXPECT_EQ(op.operands[6].kind, Kind::address);
    EXPECT_EQ(register_of(*module, op.operands[6].elements[0]), "%rd1");
    EXPECT_EQ(op.operands[6].offset, -4);
    EXPECT_EQ(op.operands[7].elements[0].offset + op.operands[7].offset, 16);
    EXPECT_EQ(op.operands[8].elements[0].bits, 64u);
    EXPECT_EQ(op.operands[9].kind, Kind::list);
    ASSERT_EQ(op.operands[9].elements.size(), 3u);
    EXPECT_EQ(op.operands[9].elements[1].kind, Kind::sink);
    EXPECT_EQ(op.operands[10].kind, Kind::pair);
    EXPECT_EQ(register_of(*module, op.operands[10].elements[1]), "%p1");
    EXPECT_TRUE(op.operands[11].negated);
    EXPECT_EQ(op.operands[12].bits, 32u);
    EXPECT_EQ(op.operands[13].offset, -8);
    EXPECT_EQ(op.operands[14].offset, -2);
    EXPECT_EQ(op.operands[15].name, "%laneid");
}

TEST(Parser, reads_guards_and_calls_over_several_lines) {
    const auto module =
        kernel("@!%p3 ret;\n{ .param .b32 x; .param .b32 y;\ncall.uni (y),\nfunction,\n(\nx,\ny\n)\n;\n}");
    EXPECT_TRUE(statement(*module, 0).guarded);
    EXPECT_TRUE(statement(*module, 0).guard_negated);
    const Statement& call = statement(*module, 1);
    ASSERT_EQ(call.operands.size(), 3u);
    EXPECT_EQ(call.operands[0].elements.size(), 1u);
    EXPECT_EQ(call.operands[1].name, "function");
    EXPECT_EQ(call.operands[2].elements.size(), 2u);
}

TEST(Parser, statements_know_where_they_come_from) {
    const auto module = kernel("mov.b32 %r1, 0;\n.loc 1 10 3\nmov.b32 %r1, 1;\n.loc 2 20 4, function_name "
                               "$L__info_string0, inlined_at 1 10 3\nmov.b32 %r1, 2;\n"
                               ".loc 3 30 5, function_name $L__info_string1+7, inlined_at 2 20 4\nmov.b32 "
                               "%r1, 3;\n.loc 4 1 1, function_name $L__f, inlined_at 9 9 9\nmov.b32 %r1, 4;");
    EXPECT_EQ(statement(*module, 0).location, nullptr);
    EXPECT_EQ(statement(*module, 1).location->line, 10u);
    EXPECT_EQ(statement(*module, 1).location->inlined_at, nullptr);
    const Location* deep = statement(*module, 3).location;
    EXPECT_EQ(deep->file, 3u);
    EXPECT_EQ(deep->column, 5u);
    EXPECT_EQ(deep->inlined_at->line, 20u); // which itself was inlined
    EXPECT_EQ(deep->inlined_at->inlined_at->line, 10u);
    EXPECT_EQ(statement(*module, 4).location->inlined_at->file, 9u); // a place that no .loc has named before
}

namespace {

struct Wrong {
    const char* text; ///< after the header's three lines
    const char* message;
    Failure failure = Failure::invalid_ptx;
};

} // namespace

TEST(Parser, points_at_what_is_wrong_outside_of_functions) {
    for (const Wrong& wrong :
         {Wrong{".global .u32 x", "expected ';' here\nPTX line 4:\n    .global .u32 x\n                  ^"},
          {".global x;", "expected a type here\nPTX line 4:\n    .global x;\n            ^"},
          {".global .u32 [4];", "expected a variable's name here"},
          {".shared .u32 x = 5;", "only variables in global and constant memory have initial values"},
          {".global .u32 x; .global .u32 x;", "there is a variable called 'x' already"},
          {".extern .global .u32 x = 5;", "cannot have an initial value"},
          {".global .pred x[2] = {1, 0};", "a variable cannot be of this type"},
          {".global .align 3 .u32 x;", "an alignment is a power of two up to 4096\nPTX line 4:\n    .global "
                                       ".align 3 .u32 x;\n                   ^"},
          {".global .align 8192 .u32 x;", "power of two"},
          {".global .u32 x[2] = {1, 2, 3};",
           "more initial values than the variable has room for\nPTX line 4:\n    .global .u32 x[2] = {1, 2, "
           "3};\n                               ^"},
          {".global .u32 x = y;", "an address needs a 64-bit variable", Failure::unsupported},
          {".global .u32 x = 1.5;", "only whole numbers", Failure::unsupported},
          {".global .f32 x = ;", "expected a number here"},
          {".global .u8 x[99999999999999];", "this variable is too large"},
          {".global .u8 x[9999999][9999999];", "this variable is too large"},
          {".tex .u64 t;", "'.tex' is not a directive that this emulator supports", Failure::unsupported},
          {".local .u32 x;", "'.local' is not a directive", Failure::unsupported},
          {"hello", "'hello' is not a directive", Failure::unsupported},
          {".address_size 32", "only 64-bit addresses are supported", Failure::unsupported},
          {".section .debug {", "this block has no end"},
          {".file x \"a\"", "expected a number here"},
          {".file 1 a", "the file's name in quotes"},
          {".func (.reg .b32 %r) f(){ret;}", "only .param parameters are supported", Failure::unsupported},
          {".entry k(.param .q32 x){ret;}", "expected a type here"},
          {".entry k(.param .b8 x[32760], .param .b64 y){ret;}", "at most 32764 bytes of parameters"},
          {".entry k() .blocksareclusters {ret;}", "'.blocksareclusters' is not supported",
           Failure::unsupported},
          {".entry k() {ret;", "this block has no end\nPTX line 4:\n    .entry k() {ret;\n               ^"},
          {".entry (", "expected a parameter here"},
          {".entry 5", "expected the function's name here"}}) {
        const auto error = error_of([&] { parsed(wrong.text); });
        EXPECT_EQ(error.failure(), wrong.failure) << wrong.text << '\n' << error.what();
        EXPECT_THAT(error.what(), HasSubstr(wrong.message)) << wrong.text;
    }
    EXPECT_THAT(error_of([] { parse(""); }).what(), HasSubstr("expected '.version' here\nPTX line 1:"));
    EXPECT_THAT(error_of([] { parse("not PTX at all"); }).what(), HasSubstr("expected '.version' here"));
    EXPECT_THAT(error_of([] { parse(".version 8.5\n.address_size 64"); }).what(),
                HasSubstr("expected '.target' here\nPTX line 2:"));
}

TEST(Parser, points_at_what_is_wrong_in_a_body) {
    for (const Wrong& wrong :
         {Wrong{"add.s32 %r1, %r2", "expected ';' here"},
          {"mov.b32 %r1, ;", "expected an operand here\nPTX line 6:\n    mov.b32 %r1, ;\n                 ^"},
          {"  @%r1 ret;", "this is not a predicate register\nPTX line 6:\n    @%r1 ret;\n     ^"},
          {"@%p9 ret;", "this is not a predicate register"},
          {"@ret;", "this is not a predicate register"},
          {"add.s32 %r1, !%r2, %r3;", "this is not a predicate register"},
          {"add.s32 %r1, !5, %r3;", "expected a predicate register"},
          {"selp.b32 %r1, %r2, %r3, !!%p1;", "expected a predicate register"},
          {"L: L: ret;", "this label is defined twice in one block"},
          {".reg .q32 %r<4>;", "this register type is not supported", Failure::unsupported},
          {".reg .b32 %x<99999999>;", "too many registers"},
          {".reg .b32 5;", "expected a register's name here"},
          {".surf x;", "'.surf' is not supported here", Failure::unsupported},
          {".global .u32 x;", "'.global' is not supported here", Failure::unsupported},
          {"ld.global.b32 %r1, [%rd1;", "expected ']' here"},
          {"ld.global.b32 %r1, [[%rd1]];", "expected an operand here"},
          {"tex.1d.v4.f32.s32 {%r1}, [%rd1, {%r1};", "expected ']' here"},
          {"mov.b64 {%r1, %r2, %rd1;", "expected '}' here"},
          {".loc 1 2;", "expected a number here"},
          {".loc 1 2 99999999999", "more than 32 bits"},
          {"T: .branchtargets A;T: .branchtargets A;", "two lists of branch targets", Failure::unsupported},
          {"5;", "expected an instruction here"},
          {"ret; }\n}", "'}' is not a directive", Failure::unsupported}}) {
        const auto error = error_of([&] { kernel(wrong.text); });
        EXPECT_EQ(error.failure(), wrong.failure) << wrong.text << '\n' << error.what();
        EXPECT_THAT(error.what(), HasSubstr(wrong.message)) << wrong.text;
    }
}

TEST(Parser, survives_what_nests_without_end) {
    const auto repeated = [](const std::string& text, int count) {
        std::string result;
        for (int i = 0; i < count; ++i) result += text;
        return result;
    };
    constexpr int many = 200'000;
    for (const std::string& text :
         {repeated("{", many), "mov.b32 %r1, " + repeated("{", many), "mov.b32 %r1, " + repeated("(", many),
          "mov.b32 %r1, " + repeated("[", many), "mov.b32 %r1, " + repeated("!", many),
          "mov.b32 %r1, " + repeated("-", many)})
        EXPECT_EQ(error_of([&] { kernel(text); }).failure(), Failure::invalid_ptx) << text.substr(0, 20);
    EXPECT_EQ(error_of([&] { parsed(".global .u32 x = " + repeated("{", many)); }).failure(),
              Failure::invalid_ptx);
}

TEST(Diagnostic, shows_the_line_and_a_caret) {
    EXPECT_EQ(excerpt("a\n  b c\nd", 6), "PTX line 2:\n    b c\n      ^");
    EXPECT_EQ(excerpt("a\n  b c\nd", 0), "PTX line 1:\n    a\n    ^");
    EXPECT_EQ(excerpt("a\nb", 3), "PTX line 2:\n    b\n     ^");   // behind the end
    EXPECT_EQ(excerpt("a\nb", 900), "PTX line 2:\n    b\n     ^"); // far behind it
    EXPECT_EQ(excerpt("", 0), "PTX line 1:\n    \n    ^");
    EXPECT_EQ(excerpt("a\n", 2), "PTX line 2:\n    \n    ^");
    EXPECT_EQ(excerpt("x\ty\x01z", 4), "PTX line 1:\n    x y z\n        ^");
    // A very long line is cut, so that the error's position stays visible.
    const std::string cut = excerpt(std::string(5000, 'a') + 'b' + std::string(5000, 'c'), 5000);
    EXPECT_LT(cut.size(), 400u);
    const std::size_t caret = cut.rfind('\n') + 1 + cut.substr(cut.rfind('\n') + 1).find('^');
    const std::size_t line = cut.find("\n    ") + 1;
    EXPECT_EQ(cut[line + caret - cut.rfind('\n') - 1], 'b');
}
