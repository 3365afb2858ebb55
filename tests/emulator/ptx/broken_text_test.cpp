// Text that is broken somewhere must end in an Error or be understood: never crash, hang, or read where it
// must not (the sanitizers watch). The whole way is taken, from text to decoded kernels.

#include "emulator/execute/opcodes.hpp"
#include "emulator/ptx/lexer.hpp"

#include "../execute/reference.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace emulator::fixture;
using std::uint64_t;

namespace {

const std::string& reduction() {
    static const std::string text = [] {
        std::ifstream file(EMULATOR_TESTS "/ptx/reduction.ptx");
        std::stringstream content;
        content << file.rdbuf();
        return content.str();
    }();
    return text;
}

/// True when the text was understood.
bool load_and_decode(std::string text) {
    try {
        emulator::GlobalMemory memory;
        emulator::LoadedModule module(std::move(text), memory, emulator::all_opcodes());
        for (const auto& function : module.ptx().functions)
            if (function->is_kernel && function->has_body) (void)module.kernel(function->name);
        return true;
    } catch (const emulator::Error& error) {
        EXPECT_STRNE(error.what(), "");
        return false;
    }
}

} // namespace

TEST(BrokenText, the_whole_module_is_understood) {
    ASSERT_FALSE(reduction().empty());
    EXPECT_TRUE(load_and_decode(reduction()));
}

TEST(BrokenText, cut_off_anywhere) {
    for (std::size_t length = 0; length < reduction().size(); ++length)
        (void)load_and_decode(reduction().substr(0, length));
    EXPECT_FALSE(load_and_decode(reduction().substr(0, reduction().size() / 2)));
}

TEST(BrokenText, bytes_changed_at_random) {
    Numbers numbers;
    int understood = 0;
    for (int i = 0; i < 1500; ++i) {
        std::string text = reduction();
        for (uint64_t change = numbers.next() % 4 + 1; change > 0; --change) {
            char& byte = text[numbers.next() % text.size()];
            switch (numbers.next() % 3) {
            case 0: byte = static_cast<char>(numbers.next()); break;  // any byte
            case 1: byte = text[numbers.next() % text.size()]; break; // one that stands elsewhere
            default:
                byte = "0123456789.,;{}[]()!@|+-%<>$_xfd:"[numbers.next() % 33];
                break; // one that means something
            }
        }
        understood += load_and_decode(std::move(text));
    }
    EXPECT_GT(understood, 0); // some changes fall into comments and names
    EXPECT_LT(understood, 1500);
}

TEST(BrokenText, tokens_exchanged_at_random) {
    const auto tokens = emulator::ptx::tokenize(reduction());
    Numbers numbers;
    for (int i = 0; i < 3000; ++i) {
        const auto& target = tokens[numbers.next() % (tokens.size() - 1)];
        const auto& source = tokens[numbers.next() % (tokens.size() - 1)];
        std::string text = reduction();
        switch (numbers.next() % 4) {
        case 0: text.erase(target.offset, target.text.size()); break;
        case 1: text.insert(target.offset, ' ' + std::string(source.text) + ' '); break;
        default: text.replace(target.offset, target.text.size(), source.text); break;
        }
        (void)load_and_decode(std::move(text));
    }
}

TEST(BrokenText, of_no_kind_at_all) {
    Numbers numbers;
    for (int i = 0; i < 300; ++i) {
        std::string text = i % 2 == 0 ? "" : ".version 8.5\n.target sm_90\n";
        for (uint64_t length = numbers.next() % 300; length > 0; --length)
            text += static_cast<char>(numbers.next());
        EXPECT_FALSE(load_and_decode(std::move(text)) && i % 2 == 0);
    }
}

TEST(BrokenText, with_variables_larger_than_memory) {
    const auto module = [](const std::string& body, const std::string& declarations = "") {
        return ".version 8.5\n.target sm_90\n.address_size 64\n" + declarations +
               ".visible .entry k(.param .u64 p) {.reg .b32 %r<4>; .reg .b64 %rd<4>;" + body + "ret;}";
    };
    EXPECT_FALSE(load_and_decode(module("", ".global .b8 x[1000000000000];")));
    EXPECT_FALSE(load_and_decode(module("st.shared.u32 [x], %r1;", ".shared .b8 x[1000000000000];")));
    // 4294967312 is 2^32 + 16.
    EXPECT_FALSE(load_and_decode(module(".local .b8 x[4294967312]; st.local.u32 [x+4294967300], %r1;")));
    EXPECT_FALSE(load_and_decode(module(".local .b8 x[1000000000000]; st.local.u32 [x], %r1;")));
    EXPECT_FALSE(load_and_decode(".version 8.5\n.target sm_90\n.visible .entry k(.param .align 4 .b8 "
                                 "p[4294967300]) {.reg .b32 %r1; ld.param.u32 %r1, [p+8]; ret;}"));
}
