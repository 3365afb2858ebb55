// What the decoder rejects: it never skips anything. And which registers share a row.

#include "../machine/ptx_fixture.hpp"

#include "emulator/program/code.hpp"

#include <gmock/gmock.h>

#include <set>
#include <vector>

using namespace emulator::fixture;
using emulator::Error, emulator::Failure;
using testing::AllOf, testing::HasSubstr;

namespace {

/// The error of decoding a kernel with `body`, which starts at column 0 of its own line.
Error refused(const std::string& body, const std::string& declarations = "") {
    Program program(module_of(body, declarations));
    return error_of([&] { (void)program.module.kernel("k"); });
}

struct Row {
    const char* statement;
    Failure failure;
    const char* message;
    int caret; ///< column of the error, from 0
};

constexpr auto unsupported = Failure::unsupported;
constexpr auto invalid = Failure::invalid_ptx;

} // namespace

TEST(Decoder, points_at_what_it_does_not_know) {
    for (const Row& row : {
             Row{"wgmma.fence.sync.aligned;", unsupported, "the instruction 'wgmma' is not supported", 0},
             {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];", unsupported,
              "the instruction 'tex' is not supported, in k", 0},
             {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1, %fd2}, {%fd1}, {%fd1}, {%fd1, %fd2};",
              unsupported, "no tensor cores", 0},
             {"ld.global.b32 %r1, [%rd1, {%r1}];", unsupported, "several parts (tensors)", 26},
             {"hello %r1;", unsupported, "the instruction 'hello' is not supported", 0},
             {"add.cc.u16 %rs1, %rs2, %rs3;", unsupported, "not supported for this type", 0},
             {"add.sat.u16x2 %r1, %r2, %r3;", unsupported, "'.sat'", 3},
             {"fma.rn.relu.f32 %r1, %r2, %r3, %r4;", unsupported, "not supported for this type", 0},
             {"rcp.ftz.f64 %rd1, %rd2;", unsupported, "'.ftz'", 3},
             {"add.s32.s32 %r1, %r2, %r3;", unsupported, "'add' with '.s32' is not supported", 7},
             {"add.sat.u32 %r1, %r2, %r3;", unsupported, "'add' with '.sat' is not supported", 3},
             {"add.sat.s64 %rd1, %rd2, %rd3;", unsupported, "'.sat'", 3},
             {"add.ftz.f64 %rd1, %rd2, %rd3;", unsupported, "'add' with '.ftz' is not supported", 3},
             {"add.rz.f16 %rs1, %rs2, %rs3;", unsupported, "not supported for this type", 0},
             {"add.rz.f16x2 %r1, %r2, %r3;", unsupported, "not supported for this type", 0},
             {"add.u8 %rs1, %rs2, %rs3;", unsupported, "not supported for this type", 0},
             {"min.xorsign.abs.f32 %r1, %r2, %r3;", unsupported, "'.xorsign'", 3},
             {"mul.wide.u64 %rd1, %rd2, %rd3;", unsupported, "not supported for this type", 0},
             {"popc.u32 %r1, %r2;", unsupported, "not supported for this type", 0},
             {"lop3.b32 %r1, %r2, %r3, %r4, %r5;", unsupported, "only a constant is supported here", 29},
             {"prmt.b32.xyz %r1, %r2, %r3, %r4;", unsupported, "'.xyz'", 8},
             {"setp.lt.b32 %p1, %r1, %r2;", unsupported, "not supported for this type", 0},
             {"setp.lo.f32 %p1, %r1, %r2;", unsupported, "not supported for this type", 0},
             {"setp.ftz.eq.s32 %p1, %r1, %r2;", unsupported, "'.ftz'", 4},
             {"cvt.rna.tf32.f32 %r1, %r2;", unsupported, "'cvt' with '.rna' is not supported", 3},
             {"cvt.b32.s32 %r1, %r2;", unsupported, "not supported for this type", 0},
             {"cvt.rn.satfinite.f16x2.f32 %r1, %r2, %r3;", unsupported, "'.satfinite'", 6},
             {"cvta.u32 %r1, %r2;", unsupported, "not supported for this type", 0},
             {"isspacep.const %p1, %rd1;", unsupported, "not supported for this state space", 0},
             {"mov.u32 %r1, %is_explicit_cluster;", unsupported,
              "the special register '%is_explicit_cluster' is not supported here", 13},
             {"mapa.u32 %r1, %r2, 0;", unsupported, "not supported for this type", 0},
             {"getctarank.shared::cluster.b32 %r1, %r2;", unsupported, "not supported for this type", 0},
             {"ld.global.v8.f32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];", unsupported, "'.v8'", 9},
             {"ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];", unsupported, "more than 16 bytes", 17},
             {"red.async.shared::cluster.add.u32 [%rd1], %r1;", unsupported, "only .shared::cluster with", 0},
             {"st.async.global.u32 [%rd1], %r1;", unsupported, "only .shared::cluster with", 0},
             {"atom.add.noftz.v2.f16 %r1, [%rd1], %r2;", unsupported, "not supported for this type", 0},
             {"atom.global.inc.u64 %rd1, [%rd1], 1;", unsupported, "not supported for this type", 0},
             {"atom.min.f32 %r1, [%rd1], %r2;", unsupported, "not supported for this type", 0},
             {"shfl.up.b32 %r1, %r2, 1, 0;", unsupported, "only the form with '.sync' is supported", 0},
             {"shfl.sync.up.f32 %r1, %r2, 1, 0, -1;", unsupported, "not supported for this type", 0},
             {"vote.sync.all.b32 %r1, %p1, -1;", unsupported, "not supported for this type", 0},
             {"redux.sync.add.f32 %r1, %r2, -1;", unsupported, "not supported for this type", 0},
             {"bar.sync;", invalid, "takes 1 to 2 operands here, not 0", 0},
             {"barrier.cluster.sync;", invalid, "a cluster's barrier needs .arrive or .wait", 0},
             {"barrier.cluster.wait.relaxed;", unsupported, "'barrier' with '.relaxed' is not supported", 20},
             {"bar.cluster.arrive;", unsupported, "'bar' with '.cluster' is not supported", 3},
             {"bar.arrive 1;", invalid, "takes 2 operands here, not 1", 0},
             {"bar.red.xor.pred %p1, 0, %p2;", unsupported, "'bar' is not supported for this type", 0},
             {"brx.idx %r1, nowhere;", invalid, "there is no such list of branch targets", 13},
             {"bra nowhere;", invalid, "there is no such label in this function", 4},
             {"L: bra L+4;", invalid, "there is no such label in this function", 7},
             {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.bulk_group [%r1], [%rd1], %r2;",
              unsupported, "'.tensor'", 13},
             {"cp.async.bulk.prefetch.L2.global [%rd1], %r2;", unsupported, "'.prefetch'", 13},
             {"nanosleep.u64 %rd1;", unsupported, "not supported for this type", 0},
             {"exit 1;", invalid, "takes 0 operands here, not 1", 0},
         }) {
        const Error error = refused(std::string("\n") + row.statement);
        EXPECT_EQ(error.failure(), row.failure) << row.statement << '\n' << error.what();
        const std::string text(row.statement);
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr(row.message), HasSubstr(", in k\nPTX line "),
                          HasSubstr("\n    " + text + "\n    " +
                                    std::string(static_cast<std::size_t>(row.caret), ' ') + "^")))
            << row.statement;
    }
}

TEST(Decoder, checks_operands) {
    for (const Row& row : {
             Row{"add.s32 %r1, %r2;", invalid, "'add' takes 3 operands here, not 2", 0},
             {"add.s32 %r1, %r2, %r3, %r4;", invalid, "'add' takes 3 operands here, not 4", 0},
             {"add.s32 %rd1, %r2, %r3;", invalid, "this register does not have the 32 bits", 8},
             {"add.s32 %r1, %rd2, %r3;", invalid, "this register does not have the 32 bits", 13},
             {"add.s64 %rd1, %r2, %rd3;", invalid, "this register has 32 bits; the instruction needs 64 bits",
              14},
             {"add.s32 %r1, %rs2, %r3;", invalid, "this register has 16 bits; the instruction needs 32 bits",
              13},
             {"add.s32 %r1, %p2, %r3;", invalid, "this is a predicate", 13},
             {"add.s32 5, %r2, %r3;", invalid, "a register to write to is needed here", 8},
             {"add.s32 _, %r2, %r3;", invalid, "a register to write to is needed here", 8},
             {"add.s32 %r1, _, %r3;", invalid, "a register or a constant is needed here", 13},
             {"add.s32 %r1, {%r2}, %r3;", invalid, "a register or a constant is needed here", 13},
             {"add.s32 %r1, nothing, %r3;", invalid, "nothing called 'nothing' has an address here", 13},
             {"add %r1, %r2, %r3;", invalid, "this instruction needs a type", 0},
             {"mul.s32 %r1, %r2, %r3;", invalid, "an integer mul needs .lo, .hi or .wide", 0},
             {"setp.s32 %p1, %r2, %r3;", invalid, "needs a comparison", 0},
             {"setp.eq.s32 %r1, %r2, %r3;", invalid, "a predicate register is needed here", 12},
             {"setp.eq.s32 _, %r2, %r3;", invalid, "a predicate register to write to is needed here", 12},
             {"setp.eq.s32 _|_, %r2, %r3;", invalid, "a predicate register to write to is needed here", 12},
             {"setp.eq.s32 !%p1, %r2, %r3;", invalid, "cannot be negated", 12},
             {"selp.b32 %r1, %r2, %r3, %r4;", invalid, "a predicate register is needed here", 24},
             {"ld.global.u32 %r1, %rd1;", invalid, "an address in brackets is needed here", 19},
             {"ld.global.u32 [%rd1], %r1;", invalid, "an address in brackets is needed here", 22},
             {"ld.global.u32 %r1, [0f3F800000];", invalid, "an address is a register, a variable or a number",
              20},
             {"ld.global.u32 _, [%rd1];", invalid, "a register to write to is needed here", 14},
             {"ld.global.u64 %r1, [%rd1];", invalid,
              "this register has 32 bits; the instruction needs 64 bits", 14},
             {"ld.global.v2.u32 %r1, [%rd1];", invalid, "a vector of 2 registers is needed here", 17},
             {"ld.global.v4.u32 {%r1, %r2}, [%rd1];", invalid, "a vector of 4 registers is needed here", 17},
             {"ld.param.u32 %r1, [p2+8];", invalid, "outside the kernel's parameters", 18},
             {"ld.param.u64 %rd1, [p1+1];", invalid, "multiple of 8", 19},
             {"st.global.v2.u32 [%rd1], {%r1, _};", invalid, "a register or a constant is needed here", 31},
             {"mov.b64 {%r1, %r2, %r3}, %rd1;", unsupported, "a vector of this size", 8},
             {"mov.b128 %rd1, {%rd2, %rd3};", invalid, "a register of 128 bits is needed here", 9},
             {"ld.global.b128 %rd1, [%rd1];", invalid, "a register of 128 bits is needed here", 15},
             {"atom.exch.b128 %rd1, [%rd1], %rd2;", invalid, "a register of 128 bits is needed here", 15},
             {"lop3.or.b32 %r1, %r2, %r3, %r4, 1, %p2;", invalid, "writes a register and a predicate", 12},
             {"mbarrier.init.b64 [%rd1], %rd2;", invalid, "does not have the 32 bits", 26},
             {"mbarrier.arrive.global.b64 _, [%rd1];", invalid, "an mbarrier lies in shared memory", 0},
             {"vote.sync.any.pred %p1, %r1, -1;", invalid, "a predicate register is needed here", 24},
             {"match.any.sync.b32 %r1|%p1, %r2, -1;", invalid, "only match.all", 19},
         }) {
        const Error error = refused(std::string("\n") + row.statement);
        EXPECT_EQ(error.failure(), row.failure) << row.statement << '\n' << error.what();
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr(row.message),
                          HasSubstr("\n    " + std::string(row.statement) + "\n    " +
                                    std::string(static_cast<std::size_t>(row.caret), ' ') + "^")))
            << row.statement;
    }
}

TEST(Decoder, names_the_function_that_a_statement_stands_in) {
    EXPECT_THAT(refused("call _Z4calcPi;", ".func _Z4calcPi() { sqrt.q32 %r1; ret; }\n").what(),
                HasSubstr(", in calc(int*)\nPTX line 4:"));
}

TEST(Decoder, refuses_more_local_memory_than_a_thread_may_have) {
    EXPECT_NO_THROW(Program(module_of(".local .b8 x[524288]; st.local.u8 [x], 1;")).module.kernel("k"));
    EXPECT_THAT(refused(".local .b8 x[524288]; .local .b8 y[16]; st.local.u8 [x], 1;").what(),
                HasSubstr("bytes of local memory"));
}

namespace {

/// The rows that the `not` instructions of a kernel with `body` write, in order.
std::vector<emulator::Row> rows_of_nots(const std::string& body) {
    Program program(module_of(body));
    const emulator::Code& code = program.module.kernel("k").code();
    std::vector<emulator::Row> rows;
    for (std::size_t i = 0; i < code.statements.size(); ++i)
        if (code.statements[i] && code.statements[i]->opcode == "not")
            rows.push_back(code.instructions[i].destination);
    return rows;
}

} // namespace

TEST(RowSharing, values_that_no_lane_needs_together_share_a_row) {
    // An operand and the result of one instruction don't: so of a chain, every second value has the same row.
    const auto chain =
        rows_of_nots("not.b32 %r2, %r60; not.b32 %r3, %r2; not.b32 %r4, %r3; not.b32 %r5, %r4;");
    EXPECT_NE(chain[0], chain[1]);
    EXPECT_EQ(chain[0], chain[2]);
    EXPECT_EQ(chain[1], chain[3]);
    // The two sides of a branch: a lane takes one of them.
    const auto sides = rows_of_nots(R"(
        setp.lt.u32 %p1, %r60, 9; @%p1 bra LOW; not.b32 %r2, %r60; mov.u32 %r0, %r2; bra END;
        LOW: not.b32 %r3, %r60; mov.u32 %r0, %r3; END:)");
    EXPECT_EQ(sides[0], sides[1]);
    // Rows of 64-bit registers are larger.
    const auto widths = rows_of_nots("not.b32 %r2, %r60; not.b64 %rd2, %rd60; not.b64 %rd3, %rd2;");
    EXPECT_NE(widths[0], widths[1]);
    EXPECT_NE(widths[0], widths[2]);
}

TEST(RowSharing, a_value_keeps_its_row_as_long_as_any_path_needs_it) {
    const auto distinct = [](const std::string& body) {
        const auto rows = rows_of_nots(body);
        return std::set(rows.begin(), rows.end()).size() == rows.size();
    };
    // %r2 is needed in the next turn, after its last use in the text.
    EXPECT_TRUE(distinct(R"(
        not.b32 %r2, %r60;
        LOOP: add.u32 %r5, %r2, 1; not.b32 %r3, %r5; setp.lt.u32 %p1, %r3, 9; @%p1 bra LOOP;)"));
    // %r3 comes from the turn before, where a lane did not write it.
    EXPECT_TRUE(distinct(R"(
        mov.u32 %r3, 0; LOOP: setp.lt.u32 %p1, %r60, 9; @%p1 bra ON; not.b32 %r3, %r60;
        ON: add.u32 %r4, %r3, 1; not.b32 %r2, %r4; setp.lt.u32 %p2, %r2, 9; @%p2 bra LOOP;)"));
    // Under a guard, some lanes keep the value of the turn before.
    EXPECT_TRUE(distinct(R"(
        not.b32 %r2, %r60; LOOP: setp.lt.u32 %p1, %r60, 9; @%p1 mov.u32 %r2, 5; add.u32 %r4, %r2, 1;
        not.b32 %r3, %r4; setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;)"));
    // A table of targets leads back.
    EXPECT_TRUE(distinct(R"(
        not.b32 %r2, %r60; T: .branchtargets LOOP, END;
        LOOP: add.u32 %r5, %r2, 1; not.b32 %r3, %r5; brx.idx %r3, T; END:)"));
    // What is never written stays zero, for the next block too.
    EXPECT_EQ(run("mov.u32 %r0, %r9; not.b32 %r2, %r60; not.b32 %r3, %r2; not.b32 %r4, %r2;", 32, {}, "", 2),
              Words(64, 0));
}

namespace {

/// For each access: the place where its address register is remembered, and an r if it was before.
std::string uses_of_addresses(const std::string& body) {
    Program program(module_of(body));
    const emulator::Code& code = program.module.kernel("k").code();
    std::string uses;
    for (std::size_t i = 0; i < code.statements.size(); ++i)
        if (code.instructions[i].bytes != 0 && code.instructions[i].space != emulator::ptx::Space::param)
            uses += std::to_string(code.instructions[i].address_place) +
                    (code.instructions[i].is_address_remembered ? "r " : " ");
    return uses;
}

} // namespace

TEST(SharedAddresses, are_remembered_in_a_basic_block_until_the_register_is_written) {
    EXPECT_EQ(uses_of_addresses(
                  "ld.shared.u32 %r2, [%r3]; ld.global.u32 %r4, [%rd60+4]; bar.sync 0;"
                  "st.shared.u32 [%r3+8], %r2; ld.global.u32 %r4, [%rd60]; ld.shared.u32 %r2, [%r5];"),
              "1 2 1r 2r 0 ");
    // Written, by another instruction or by the load itself.
    EXPECT_EQ(uses_of_addresses("ld.shared.u32 %r2, [%r3]; add.u32 %r3, %r3, 4; ld.shared.u32 %r2, [%r3];"),
              "0 0 ");
    EXPECT_EQ(uses_of_addresses("ld.shared.v2.u32 {%r2, %r3}, [%r3]; ld.shared.u32 %r2, [%r3];"), "0 0 ");
    // With a guard it may not have been executed. At a label the first access may have been passed by.
    EXPECT_EQ(uses_of_addresses("@%p1 ld.shared.u32 %r2, [%r3]; ld.shared.u32 %r2, [%r3];"), "0 0 ");
    EXPECT_EQ(uses_of_addresses("ld.shared.u32 %r2, [%r3]; L: ld.shared.u32 %r2, [%r3]; @%p1 bra L;"),
              "0 0 ");
    // No load or store that looks at evenly spaced addresses.
    EXPECT_EQ(uses_of_addresses(".reg .b128 %q; ld.shared.b128 %q, [%r3]; ld.shared.u32 %r2, [%r3];"),
              "0 0 ");
}
