#include "harness/detail/standard_streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/exit_status.hpp"

using namespace harness;
using testing::ExitedWithCode;

namespace {

// Each test runs in a separate process, whose streams it can close.

TEST(StandardStreamsDeathTest, no_later_file_takes_the_number_of_a_closed_stream) {
    EXPECT_EXIT(
        {
            close(STDIN_FILENO);
            close(STDERR_FILENO);
            prepare_standard_streams();
            _exit(open("/dev/zero", O_RDWR) > STDERR_FILENO ? 0 : 1);
        },
        ExitedWithCode(0), "");
}

TEST(StandardStreamsDeathTest, a_closed_stdout_is_an_error) {
    EXPECT_EXIT(
        {
            close(STDOUT_FILENO);
            try {
                prepare_standard_streams();
            } catch (const OutputError&) {
                _exit(7);
            }
            _exit(0);
        },
        ExitedWithCode(7), "");
}

TEST(StandardStreamsDeathTest, messages_go_to_stderr_with_the_programs_name) {
    EXPECT_EXIT(
        {
            write_message("lesson03", "a message");
            _exit(0);
        },
        ExitedWithCode(0), "^lesson03: a message\n$");
}

} // namespace
