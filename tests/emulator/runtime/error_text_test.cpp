#include "emulator/runtime/api_error.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

namespace {

const std::string unknown = "unrecognized error code";

} // namespace

// The real library knows its error codes without a device. A different version of it may have more of them,
// or fewer.
TEST(ErrorText, is_that_of_the_real_library) {
    int compared = 0;
    for (int error = 0; error <= 10'100; ++error) {
        const auto code = static_cast<cudaError_t>(error);
        if (code == cudaErrorInvalidNormSetting && CUDART_VERSION < 12090) continue; // reworded after 12.6
        if (emulator::error_name(error) == unknown || cudaGetErrorName(code) == unknown) continue;
        EXPECT_STREQ(emulator::error_name(error), cudaGetErrorName(code)) << error;
        EXPECT_STREQ(emulator::error_text(error), cudaGetErrorString(code)) << error;
        ++compared;
    }
    EXPECT_GT(compared, 100);
}

TEST(ErrorText, says_so_for_numbers_that_are_no_error) {
    for (const int error : {-1, 11, 9'999, 1 << 30}) {
        EXPECT_EQ(emulator::error_name(error), unknown);
        EXPECT_EQ(emulator::error_text(error), unknown);
    }
}
