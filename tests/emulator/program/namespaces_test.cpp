#include "emulator/program/names.hpp"

#include "emulator/ptx/parser.hpp"

#include <gmock/gmock.h>

using namespace emulator;
using testing::ElementsAre;

namespace {

/// sum(int*) outside, in one::, which calls one::part(), and in two::; another kernel in each; and a function
/// that a variable names.
const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "a.cu"
.func _ZN3one4partEv();
.func _Z5namedv() { ret; }
.global .u64 table[1] = {_Z5namedv};
.func (.param .b32 result) _ZN3one5outerEi(.param .b32 a) { { ret; } }
.visible .entry _ZN3one3sumEPi(.param .u64 _ZN3one3sumEPi_param_0) .maxntid 32, 1, 1
{ { .reg .b64 %rd1; ld.param.u64 %rd1, [_ZN3one3sumEPi_param_0]; } call _ZN3one4partEv, (); ret; }
// between
.weak .entry _ZN3two3sumEPi(.param .u64 a) { ret; }
.visible .entry _ZN3one4restEv() { ret; }
.func _ZN3one4partEv() { ret; }
.visible .entry _Z3sumPi(.param .u64 a) { ret; }
.visible .entry _Z4restv() { ret; }
)";

std::vector<std::string> functions_of(const std::string& ptx) {
    std::vector<std::string> names;
    const auto module = ptx::parse(ptx);
    for (const auto& function : module->functions)
        if (function->has_body) names.push_back(function->name);
    return names;
}

TEST(Namespace, has_its_kernels_under_the_names_outside_and_what_they_call) {
    const std::string one = only_namespace(text, "one");
    EXPECT_THAT(functions_of(one), ElementsAre("_Z5namedv", "_Z3sumPi", "_Z4restv", "_ZN3one4partEv"));
    EXPECT_THAT(one, testing::StartsWith(text.substr(0, text.find(".func (.param"))));
    EXPECT_THAT(
        one, testing::HasSubstr("\n.visible .entry _Z3sumPi(.param .u64 _Z3sumPi_param_0) .maxntid 32, 1, 1\n"
                                "{ { .reg .b64 %rd1; ld.param.u64 %rd1, [_Z3sumPi_param_0]; } call "
                                "_ZN3one4partEv, (); ret; }\n// between\n\n"));
    EXPECT_THAT(functions_of(only_namespace(text, "two")), ElementsAre("_Z5namedv", "_Z3sumPi"));
    EXPECT_THAT(functions_of(only_namespace(text, "three")), ElementsAre("_Z5namedv"));
}

TEST(Namespace, leaves_out_kernels_by_their_readable_names) {
    EXPECT_THAT(functions_of(only_namespace(text, "one", "\\brest\\(")),
                ElementsAre("_Z5namedv", "_Z3sumPi", "_ZN3one4partEv"));
    EXPECT_THAT(functions_of(only_namespace(text, "", "one::|two::")),
                ElementsAre("_Z5namedv", "_Z3sumPi", "_Z4restv"));
    EXPECT_THAT(functions_of(only_namespace(text, "")),
                ElementsAre("_Z5namedv", "_ZN3one3sumEPi", "_ZN3two3sumEPi", "_ZN3one4restEv",
                            "_ZN3one4partEv", "_Z3sumPi", "_Z4restv"))
        << "nothing calls one::outer";
}

TEST(Namespace, keeps_the_names_that_nothing_outside_has) {
    const std::string alone = text.substr(0, text.find(".visible .entry _Z3sumPi"));
    EXPECT_THAT(functions_of(only_namespace(alone, "two")), ElementsAre("_Z5namedv", "_ZN3two3sumEPi"));
}

} // namespace
