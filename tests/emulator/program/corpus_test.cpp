// Every statement that nvcc made of the corpus decodes: the intrinsics of the CUDA headers and of libcu++,
// for each compute capability that tests/emulator/CMakeLists.txt compiles it for.

#include "emulator/error.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/memory/global_memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string contents(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

} // namespace

TEST(Corpus, decodes_whole) {
    int kernels = 0;
    const char* other = std::getenv("EMULATOR_CORPUS");
    for (const auto& entry : std::filesystem::directory_iterator(other ? other : EMULATOR_CORPUS)) {
        SCOPED_TRACE(entry.path().filename());
        emulator::GlobalMemory memory;
        try {
            emulator::LoadedModule module(contents(entry.path()), memory, emulator::all_opcodes());
            for (const auto& function : module.ptx().functions) {
                if (!function->is_kernel) continue;
                ++kernels;
                try {
                    module.kernel(function->name);
                } catch (const emulator::Error& error) {
                    ADD_FAILURE() << error.what();
                }
            }
        } catch (const emulator::Error& error) {
            ADD_FAILURE() << error.what();
        }
    }
    EXPECT_GT(kernels, 50); // the files are not empty
}
