// A second opinion on pure arithmetic: every form of vectors.hpp, against __int128 and MPFR, and against what
// GPUs made of the same operands (vectors_*.txt, which record_vectors.cpp prints).

#include "../machine/ptx_fixture.hpp"
#include "vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace emulator::fixture;
using namespace emulator::vectors;
using std::uint64_t;

namespace {

std::vector<uint64_t> results_of(const Form& form, const std::vector<Operands>& operands) {
    Program program(module_text(form));
    auto* const in = program.allocate<Operands>(operands.size());
    auto* const out = program.allocate<uint64_t>(operands.size());
    std::copy(operands.begin(), operands.end(), in);
    program.launch(
        "k", grid_of(threads_per_block, static_cast<std::uint32_t>(operands.size() / threads_per_block)),
        {in, out});
    return {out, out + operands.size()};
}

} // namespace

TEST(Vectors, agree_with_the_reference) {
    for (const Form& form : forms()) {
        const auto operands = operands_of(form);
        const auto results = results_of(form, operands);
        int failures = 0;
        for (std::size_t i = 0; i < operands.size() && failures < 3; ++i) {
            const uint64_t expected = comparable(form, form.expected(operands[i]));
            if (comparable(form, results[i]) == expected) continue;
            ++failures;
            ADD_FAILURE() << form.instruction << std::hex << " of " << operands[i].a << ", " << operands[i].b
                          << ", " << operands[i].c << " gives " << results[i] << ", expected " << expected;
        }
    }
}

TEST(Vectors, are_thousands_of_each_form) {
    EXPECT_GE(forms().size(), 400u);
    for (const Form& form : forms()) EXPECT_GE(operands_of(form).size(), 2048u) << form.instruction;
}

// Lines: form, number of results, digest.
TEST(Vectors, agree_with_what_gpus_made_of_them) {
    std::map<std::string, uint64_t> own;
    for (const auto& entry : std::filesystem::directory_iterator(EMULATOR_TESTS "/execute")) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("vectors_") || entry.path().extension() != ".txt") continue;
        SCOPED_TRACE(name);
        if (own.empty())
            for (const Form& form : forms()) {
                const auto results = results_of(form, operands_of(form));
                own[form.instruction] = digest(form, results.data(), results.size());
            }
        std::ifstream lines(entry.path());
        std::size_t read = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line.empty() || line.starts_with("#")) continue;
            std::istringstream words(line);
            std::string instruction;
            std::size_t count = 0;
            uint64_t theirs = 0;
            words >> instruction >> count >> std::hex >> theirs;
            ASSERT_TRUE(words) << line;
            ASSERT_TRUE(own.contains(instruction)) << line;
            EXPECT_EQ(own[instruction], theirs) << instruction;
            ++read;
        }
        EXPECT_EQ(read, own.size()); // forms that were added later are to be recorded anew
    }
}
