#include "emulator/cli/run.hpp"

#include "emulator/cli/exit_status.hpp"
#include "emulator/cli/program.hpp"
#include "emulator/cli/temporary_file.hpp"
#include "emulator/error.hpp"
#include "emulator/ptx/grading.hpp"
#include "emulator/ptx/parser.hpp"
#include "emulator/runtime/static_runtime.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

namespace emulate {
namespace {

namespace fs = std::filesystem;

/// The value of a variable that lists paths, with `path` in front.
std::string in_front(const fs::path& path, const char* variable) {
    const char* const rest = std::getenv(variable);
    return rest && *rest ? path.string() + ":" + rest : path.string();
}

/// "1 launch", "2 launches"
std::string count(std::size_t number, const char* what, const char* plural) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : plural);
}

constexpr const char* static_runtime =
    "{}: contains the static CUDA runtime. The emulator can replace it on x86-64 only, in a program that was "
    "not stripped and has the CUDA version of " EMULATE_LIBRARY ".\n"
    "Link the shared one: nvcc -cudart shared, or set(CMAKE_CUDA_RUNTIME_LIBRARY Shared) in CMake.";

constexpr const char* driver_functions =
    "{}: uses functions of the CUDA driver that the emulator does not have: {}.\n"
    "The emulator has those of the CUDA runtime (cuda...) and some of the driver's.";

/// The absolute path of --ptx, since the program may change its folder. Reads the file to report its errors
/// before the program runs.
std::string checked_ptx(const std::string& name) {
    const auto fail = [&](const std::string& why) {
        throw CommandError(ExitStatus::failed, fmt::format("--ptx {}: {}", emulator::printable(name), why));
    };
    if (fs::is_directory(name)) fail("is a folder, not a file of PTX");
    if (fs::exists(name) && !fs::is_regular_file(name)) fail("is a device or a pipe, not a file of PTX");
    std::ifstream file(name, std::ios::binary);
    if (!file) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    try {
        emulator::ptx::parse(std::string(std::istreambuf_iterator<char>(file), {}));
    } catch (const emulator::Error& error) { // what is not supported is an error of the kernels that need it
        if (error.failure() != emulator::Failure::unsupported) fail(error.what());
    }
    return fs::absolute(name);
}

} // namespace

void write_tagged_ptx(const std::string& ptx, std::uint64_t seed, const fs::path& to) {
    std::ifstream file(checked_ptx(ptx), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    try {
        std::ofstream tagged(to, std::ios::binary);
        if (!(tagged << emulator::ptx::with_tagged_numbers(text, seed)).flush())
            throw CommandError(ExitStatus::failed, fmt::format("{}: cannot be written", to.string()));
    } catch (const emulator::Error& error) {
        throw CommandError(ExitStatus::failed, fmt::format("--tag-numbers: {}", error.what()));
    }
}

Report run_on_emulator(const std::vector<std::string>& program, const emulator::Request& request,
                       const std::map<int, int>& descriptors) {
    const std::string& name = program.front();
    const fs::path file = find_program(name);
    const CudaLinkage linkage = cuda_linkage(file);
    const bool is_static = linkage.has_device_code && !linkage.imports_runtime;
    if (is_static && !(linkage.has_replaceable_runtime && emulator::redirects_static_runtime))
        throw CommandError(ExitStatus::not_runnable, fmt::format(static_runtime, emulator::printable(name)));

    emulator::Request passed_on = request;
    if (!request.ptx.empty()) passed_on.ptx = checked_ptx(request.ptx);

    const EmulatorLibrary library = emulator_library();
    if (const auto missing = missing_in(library.file, linkage.driver_functions); !missing.empty())
        throw CommandError(ExitStatus::not_runnable, fmt::format(driver_functions, emulator::printable(name),
                                                                 fmt::join(missing, ", ")));
    const TemporaryFile records;
    Command command{.file = file,
                    .arguments = program,
                    .environment = {{"LD_LIBRARY_PATH", in_front(library.folder, "LD_LIBRARY_PATH")},
                                    {emulator::request_variable, to_text(passed_on)},
                                    {emulator::report_variable, records.path()}},
                    .descriptors = descriptors};
    if (is_static) command.environment.emplace(emulator::static_runtime_variable, "1");
    // An old-style RPATH goes before LD_LIBRARY_PATH, and the static runtime asks for no library.
    if (linkage.has_old_style_rpath || is_static)
        command.environment.emplace("LD_PRELOAD", in_front(library.file, "LD_PRELOAD"));
    const Ending ending = run_child(command);
    Report report = read_report(records.path());
    if (!report.is_complete)
        throw CommandError(ExitStatus::failed,
                           fmt::format("what was observed cannot be written: is there room in {}?",
                                       records.path().parent_path().string()));
    report.program = program;
    report.ptx = passed_on.ptx;
    report.ending = ending;
    return report;
}

std::string why_nothing_was_observed(const Report& report) {
    const std::string name = emulator::printable(report.program.front());
    if (report.processes.empty())
        return fmt::format(
            "{}: never called the CUDA runtime, so nothing was observed; is it a CUDA program?", name);
    if (!report.launches.empty() || !report.findings.empty() || report.running) return "";
    if (!report.other_launches.empty()) {
        std::set<std::string> kernels;
        for (const Json& launch : report.other_launches) kernels.insert(launch.at("name"));
        return fmt::format(
            "{}: nothing was observed: of its {}, --kernel and --launch select none; its kernels "
            "are\n  {}",
            name, count(report.other_launches.size(), "launch", "es"), fmt::join(kernels, "\n  "));
    }
    if (!report.errors.empty()) // which the emulator has told on stderr
        return fmt::format("{}: no kernel ran, for the reason above, so nothing was observed", name);
    if (report.ending != Ending{}) // it may have refused its arguments
        return fmt::format("{}: ended with {} before it launched a kernel, so nothing was observed", name,
                           describe(report.ending));
    return "";
}

} // namespace emulate
