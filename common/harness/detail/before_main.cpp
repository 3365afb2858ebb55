/// Chooses the device of a program that does not call the harness. Linked with `--wrap=main`, the program
/// begins here.

#include "harness/detail/standard_streams.hpp"
#include "harness/device.hpp"
#include "harness/exit_status.hpp"

#include <filesystem>

extern "C" int __real_main(int argc, char** argv); // the linker's name for the program's own main

extern "C" int __wrap_main(int argc, char** argv);

int __wrap_main(int argc, char** argv) {
    try {
        harness::choose_device(harness::DeviceChoice::automatic, argv);
    } catch (const std::exception& error) {
        harness::write_message(std::filesystem::path(argv[0]).filename().string(), error.what());
        return static_cast<int>(harness::ExitStatus::device);
    }
    return __real_main(argc, argv);
}
