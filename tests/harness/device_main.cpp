#include "device_main.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

namespace {

harness::Device device;

harness::DeviceChoice choice(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--device=gpu") return harness::DeviceChoice::gpu;
        if (std::string_view(argv[i]) == "--device=emulator") return harness::DeviceChoice::emulator;
    }
    return harness::DeviceChoice::automatic;
}

} // namespace

const harness::Device& test_device() { return device; }

int main(int argc, char** argv) {
    std::vector<char*> all_arguments(argv, argv + argc +
                                               1); // InitGoogleTest takes its own out; a new start needs all
    testing::InitGoogleTest(&argc, argv);
    // Tests are listed while building, when the emulator may not be there yet.
    if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    try {
        device = harness::choose_device(choice(argc, argv), all_arguments.data());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
    return RUN_ALL_TESTS();
}
