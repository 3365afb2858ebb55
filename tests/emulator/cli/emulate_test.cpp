// The command `emulate` with real programs: programs/subject.cu lists what they do.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre, testing::EndsWith, testing::HasSubstr, testing::IsEmpty, testing::Not,
    testing::SizeIs, testing::StartsWith;

constexpr const char* load_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* store_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";

class Folder {
public:
    Folder() {
        std::string name = fs::temp_directory_path() / "emulate_test_XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made");
        path_ = name;
    }
    ~Folder() { fs::remove_all(path_); }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

fs::path bin() { return fs::read_symlink("/proc/self/exe").parent_path(); }

struct Result {
    int status = 0; ///< 128 + the signal, as a shell has it
    std::string out, err;
};

/// Runs `line` by a shell in bin/.
Result run(const std::string& line) {
    const Folder folder;
    const fs::path out = folder.path() / "out", err = folder.path() / "err";
    const int status = std::system(("cd '" + bin().string() + "' && ( " + line + "\n) >" + out.string() +
                                    " 2>" + err.string() + " </dev/null")
                                       .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(out), read(err)};
}

/// `arguments` are options of emulate, then the program and its own.
Result emulate(const std::string& arguments) { return run("./emulate " + arguments); }

/// The report in JSON.
json report(const std::string& arguments) {
    const Folder folder;
    const fs::path file = folder.path() / "report.json";
    emulate("--output " + file.string() + " " + arguments);
    return json::parse(read(file), nullptr, false);
}

// ---- the program hardly notices

TEST(Emulate, leaves_output_and_exit_status_as_they_are) {
    const Result plain = emulate("./emulate_subject 'two kernels' 5");
    EXPECT_EQ(plain.status, 5);
    EXPECT_EQ(plain.out, "42\n");
    EXPECT_EQ(plain.err, "on stderr\n");
    const Result counted = emulate("--counters ./emulate_subject 'two kernels' 5");
    EXPECT_EQ(counted.status, 5);
    EXPECT_EQ(counted.out, "42\n");
    EXPECT_THAT(counted.err, StartsWith("on stderr\nlaunch 0: "));
}

// ---- times

/// Runs `emulate` with ptxas and nvdisasm that do as these shell scripts do.
Result with_tools(const std::string& ptxas, const std::string& nvdisasm, const std::string& arguments) {
    const Folder folder;
    const fs::path bin = folder.path() / "bin";
    fs::create_directory(bin);
    for (const auto& [name, script] : {std::pair("ptxas", ptxas), std::pair("nvdisasm", nvdisasm)}) {
        std::ofstream(bin / name) << "#!/bin/sh\n" << script << "\n";
        fs::permissions(bin / name, fs::perms::owner_all);
    }
    return run("export CUDA_HOME='" + folder.path().string() + "' XDG_CACHE_HOME='" + folder.path().string() +
               "'; ./emulate " + arguments);
}

TEST(Emulate, estimates_the_time_of_each_launch_from_its_machine_code) {
    // Here PTX is the machine code, and nvdisasm finds one kernel in it, which ends at once.
    const std::string kernel = R"(name=$(grep -o '_Z[A-Za-z0-9_]*4fillEPii' "$2" | head -n 1))";
    const std::string listing =
        R"(printf '\n.text.%s:\n/*0000*/ EXIT ; /* 0x0 */\n/* 0x000fe20000000000 */\n' "$name")";
    const Result result = with_tools(R"(cp "$5" "$4")", kernel + "\n" + listing,
                                     "--time --counters ./emulate_subject 'two kernels' 5");
    EXPECT_EQ(result.status, 5);
    EXPECT_EQ(result.out, "42\n");
    // 2 blocks of 2 warps, each with one instruction
    EXPECT_THAT(result.err, HasSubstr("\n  machine code    instructions (sm_90)               4\n"
                                      "                  data pipe passes                   0\n"));
    EXPECT_THAT(result.err, HasSubstr("  error of such estimates for kernels that store much: "));
    EXPECT_THAT(result.err, HasSubstr(" %\n  and for kernels of no lesson: "));
    EXPECT_THAT(result.err, HasSubstr("  estimate for NVIDIA H200: 2.8 us\n")); // an empty launch
    EXPECT_THAT(result.err, HasSubstr("  no estimate for NVIDIA H200: nvdisasm lists no machine code of _Z"));
    // What is known all the same: 2 blocks.
    EXPECT_THAT(result.err, HasSubstr("\n  floors in us: block starts 0.0 (the highest)\n"));
}

TEST(Emulate, counts_machine_code_by_line) {
    // As above. The kernel's one instruction is made of its store, on line 20 of the program.
    const std::string listing =
        R"(name=$(grep -o '_Z[A-Za-z0-9_]*4fillEPii' "$2" | head -n 1)
line=$(awk '/entry .*4fillEPii/ {here = 1} here && /st.global/ {print NR; exit}' "$2")
printf '\n.text.%s:\n\t//## File ".nv_debug_ptx_txt", line %s\n' "$name" "$line"
printf '/*0000*/ EXIT ; /* 0x0 */\n/* 0x000fe20000000000 */\n')";
    const Result result =
        with_tools(R"(cp "$5" "$4")", listing, "--lines --format json ./emulate_subject 'two kernels' 5");
    const json report = json::parse(result.err.substr(result.err.find('{')), nullptr, false);
    // 2 blocks of 2 warps
    EXPECT_EQ(report["launches"][0]["instructions_sm_90"], 4);
    EXPECT_FALSE(report["launches"][0].contains("time_us_estimated")) << "that takes longer";
    EXPECT_EQ(report["lines"][0]["instructions_sm_90"], 4);
    const json& line = report["lines"][0]["functions"][0]["lines"][0]; // the only one of the function
    EXPECT_EQ(line["line"], 20);
    EXPECT_EQ(line["instructions_sm_90"], 4);
    EXPECT_THAT(report["lines"][1]["no_sm_90"].get<std::string>(),
                StartsWith("nvdisasm lists no machine code of _Z"));
}

TEST(Emulate, draws_the_time_of_each_kernel) {
    const Folder folder;
    // Both kernels end at once.
    const Result result =
        with_tools(R"(cp "$5" "$4")", R"(for name in $(grep -o '_Z[A-Za-z0-9_]*' "$2" | sort -u); do
    printf '\n.text.%s:\n/*0000*/ EXIT ; /* 0x0 */\n/* 0x000fe20000000000 */\n' "$name"; done)",
                   "--draw time --output '" + folder.path().string() + "' ./emulate_subject 'the same'");
    EXPECT_EQ(result.status, 0) << result.err;
    const fs::path file = folder.path() / "fill_time.svg";
    EXPECT_EQ(result.err, file.string() + ": a multiprocessor of an NVIDIA H200, estimated\n"
                                          "    the first 1 cycle: selected 100 %\n");
    EXPECT_THAT(read(file), HasSubstr("fill: the warps of a multiprocessor, estimated"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
    const Result refused = with_tools("exit 1", "exit 1", "--time ./emulate_subject 'huge block'");
    EXPECT_THAT(refused.err, Not(HasSubstr("no estimate for"))) << "of a launch that no card takes";
}

TEST(Emulate, estimates_a_launch_that_is_repeated_once) {
    const Folder folder;
    const std::string asked = (folder.path() / "asked").string();
    // Listings without the kernel are not kept.
    const Result result =
        with_tools(R"(cp "$5" "$4")", "echo >> '" + asked + "'", "--time ./emulate_subject 'the same'");
    EXPECT_THAT(result.err, HasSubstr("launch 4: "));
    std::ifstream lines(asked);
    EXPECT_EQ(std::count(std::istreambuf_iterator<char>(lines), {}, '\n'), 1);
}

TEST(Emulate, compiles_kernels_beside_calls_of_other_translation_units) {
    const Result result = with_tools(
        R"([ "$7" = --compile-only ] || { echo 'ptxas fatal: Unresolved extern'; exit 255; }; cp "$5" "$4")",
        "true", "--time ./emulate_subject 'two kernels' 5");
    EXPECT_THAT(result.err, HasSubstr("  no estimate for NVIDIA H200: nvdisasm lists no machine code of _Z"));
}

TEST(Emulate, says_which_launches_it_does_not_estimate) {
    const Result result = with_tools("exit 1", "exit 1", "--time ./emulate_subject together");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.err, HasSubstr("  no estimate for NVIDIA H200: blocks in clusters are not modeled\n"));
    EXPECT_THAT(
        result.err,
        HasSubstr("  no estimate for NVIDIA H200: blocks that wait for each other are not modeled\n"));
}

TEST(Emulate, runs_what_it_cannot_estimate) {
    const Result result =
        with_tools("echo 'ptxas fatal: no' >&2; exit 1", "true", "--time ./emulate_subject 'two kernels' 5");
    EXPECT_EQ(result.status, 5);
    EXPECT_EQ(result.out, "42\n");
    EXPECT_THAT(result.err, HasSubstr("ptxas failed: ptxas fatal: no\n"));
}

TEST(Emulate, runs_the_program_where_a_tool_for_estimates_is_missing) {
    const Folder folder; // An emulate without a toolkit beside it, and a PATH with a ptxas that nothing runs.
    fs::create_directory(folder.path() / "bin");
    std::ofstream(folder.path() / "ptxas") << "#!/bin/sh\n";
    fs::permissions(folder.path() / "ptxas", fs::perms::owner_all);
    fs::copy_file(bin() / "emulate", folder.path() / "bin" / "emulate");
    fs::create_directory_symlink(bin() / "../emulator", folder.path() / "emulator");
    const auto emulate_alone = [&](const std::string& arguments) {
        return run("CUDA_HOME= PATH=" + folder.path().string() + " " +
                   (folder.path() / "bin" / "emulate").string() + " " + arguments);
    };
    const std::string missing =
        "no times can be estimated: there is no nvdisasm. In the tutorial's folder, type "
        "`scripts/setup time`; elsewhere, set CUDA_HOME to a CUDA toolkit that has it\n";
    const std::string subject = "./emulate_subject 'two kernels' 5";
    const Result timed = emulate_alone("--time " + subject);
    EXPECT_EQ(timed.status, 5);
    EXPECT_EQ(timed.out, "42\n");
    EXPECT_EQ(timed.err, "emulate: " + missing + "on stderr\n") << "and no more";
    const Result drawn = emulate_alone("--draw time " + subject);
    EXPECT_EQ(drawn.status, 5);
    EXPECT_EQ(drawn.err, timed.err);
    const Result counted = emulate_alone("--time --counters " + subject);
    EXPECT_EQ(counted.status, 5);
    EXPECT_EQ(counted.err, "emulate: " + missing + emulate("--counters " + subject).err);
    emulate_alone("--time --output " + (folder.path() / "report.json").string() + " " + subject);
    const json times = json::parse(read(folder.path() / "report.json"), nullptr, false);
    EXPECT_EQ(times["launches"][0]["no_estimate"], "ptxas or nvdisasm is missing");
    EXPECT_FALSE(times["launches"][0]["counters"].empty());
    const Result lines = emulate_alone("--lines " + subject);
    EXPECT_EQ(lines.status, 5);
    EXPECT_THAT(lines.err, StartsWith("on stderr\n"));
    EXPECT_THAT(lines.err, HasSubstr("\nNo machine code (sm_90) was counted: " +
                                     missing.substr(missing.find("there is no"))));
    const Result only = emulate_alone("--time-only " + subject);
    EXPECT_EQ(only.status, 125);
    EXPECT_EQ(only.out, "");
    EXPECT_EQ(only.err, "emulate: " + missing);
    EXPECT_EQ(emulate_alone("--time=a100 " + subject).status, 125);
}

TEST(Emulate, leaves_the_input_to_the_program) {
    EXPECT_EQ(run("printf 'one\\ntwo' | ./emulate --counters ./emulate_subject input").out, "one\ntwo");
}

TEST(Emulate, ends_by_the_signal_that_ended_the_program) {
    for (const int signal : {SIGSEGV, SIGABRT, SIGKILL, SIGTERM}) {
        // A program with AddressSanitizer would exit with a status of its own where a signal ends another
        // one.
        const Result result =
            run("ASAN_OPTIONS=handle_segv=0 ./emulate --counters ./emulate_subject signal " +
                std::to_string(signal));
        EXPECT_EQ(result.status, 128 + signal);
        EXPECT_THAT(result.err, HasSubstr("launch 0: ")) << "the report must not be lost";
        EXPECT_THAT(result.err, HasSubstr("\nSignal " + std::to_string(signal) + " ("));
        EXPECT_THAT(result.err, HasSubstr("ended the program; if a kernel was running"));
    }
}

/// Starts `emulate`, sends it `signal` once the program has written on stderr, and returns how it ended.
int status_after(int signal, const std::string& arguments) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        if (chdir(bin().c_str()) == 0)
            execl("/bin/sh", "sh", "-c", ("exec ./emulate " + arguments).c_str(), nullptr);
        _exit(99);
    }
    close(pipe_ends[1]);
    char text[16];
    if (::read(pipe_ends[0], text, sizeof text) <= 0) ADD_FAILURE() << "the program did not start";
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    alarm(600); // a program that outlives emulate keeps the pipe open
    while (::read(pipe_ends[0], text, sizeof text) > 0) {
    }
    alarm(0);
    close(pipe_ends[0]);
    return status;
}

TEST(Emulate, passes_signals_on_to_the_program) {
    const int handled = status_after(SIGUSR1, "./emulate_subject wait");
    EXPECT_TRUE(WIFEXITED(handled));
    EXPECT_EQ(WEXITSTATUS(handled), 42) << "the program ends so when it gets SIGUSR1";
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const int status = status_after(signal, "./emulate_subject wait");
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    }
}

TEST(Emulate, tells_where_a_kernel_is_that_does_not_end) {
    for (const std::string options : {"", "--check mem "}) {
        const Folder folder; // of the records, which say when emulate knows it
        const Result result =
            run("TMPDIR=" + folder.path().string() + " ./emulate " + options +
                "./emulate_subject endless & until grep -qs somebody " + folder.path().string() +
                "/emulate-* || ! kill -0 $!; do sleep 0.1; done; kill $!; wait $!");
        EXPECT_EQ(result.status, 128 + SIGTERM);
        EXPECT_THAT(result.err, HasSubstr("ended the program while (anonymous namespace)::wait_for(int const "
                                          "volatile*) ran. Shortly before that\n"
                                          "    was at  block (0,0,0), thread (0,0,0), at "));
        EXPECT_THAT(result.err, HasSubstr("subject.cu:"));
    }
}

TEST(Emulate, knows_a_crash_in_the_first_kernel) {
    const Result result =
        run("ASAN_OPTIONS=handle_segv=0 ./emulate --counters ./emulate_subject 'crash in a kernel'");
    EXPECT_EQ(result.status, 128 + SIGSEGV);
    EXPECT_THAT(result.err, HasSubstr("ended the program while (anonymous namespace)::set_and_wait(int "
                                      "volatile*) ran."));
    EXPECT_THAT(result.err, Not(HasSubstr("before it launched a kernel")));
}

TEST(Emulate, shows_control_characters_in_what_it_was_given) {
    for (const std::string line :
         {"'./no\x1b[31m\nprogram'", "--check 'no\x1b[31m\nchecker' true", "--ptx '/no\x1b[31m\nptx' true"}) {
        const Result result = emulate(line);
        EXPECT_THAT(result.err, HasSubstr("no\\x1b[31m\\x0a")) << line;
        EXPECT_THAT(result.err, Not(HasSubstr("\x1b"))) << line;
    }
}

TEST(Emulate, lets_programs_launch_when_their_first_thread_has_ended) {
    const Result result = emulate("./emulate_subject 'at exit'");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "7\n");
}

TEST(Emulate, runs_scripts_and_what_they_start) {
    const Folder folder;
    const fs::path script = folder.path() / "script";
    std::ofstream(script) << "#!/bin/sh\n./emulate_subject 'two kernels' 0 && ./emulate_subject 'the same'\n";
    fs::permissions(script, fs::perms::owner_all);
    const json of_script = report("--counters " + script.string());
    EXPECT_EQ(of_script["processes"].size(), 2u);
    EXPECT_EQ(of_script["launches"].size(), 7u);
}

TEST(Emulate, sees_programs_that_fork_or_become_others) {
    const json forked = report("--counters ./emulate_subject fork");
    ASSERT_THAT(forked["launches"], SizeIs(2));
    EXPECT_NE(forked["launches"][0]["process"], forked["launches"][1]["process"]);
    EXPECT_EQ(forked["launches"][0]["launch"], 0);
    EXPECT_EQ(forked["launches"][1]["launch"], 0) << "each process counts its own";

    const json later = report("--counters ./emulate_subject 'fork later'");
    ASSERT_THAT(later["launches"], SizeIs(2));
    EXPECT_EQ(later["launches"][1]["launch"], 0) << "also when it is not the first of the process before";

    const Result became = emulate("--counters --output /dev/stdout ./emulate_subject exec");
    EXPECT_EQ(became.status, 5);
    EXPECT_THAT(became.out, HasSubstr("fill(int*, int)"));
    EXPECT_THAT(became.out, HasSubstr("void (anonymous namespace)::scale<6>(int*)"));
}

TEST(Emulate, survives_a_program_that_closes_all_its_files) {
    EXPECT_THAT(report("--counters ./emulate_subject 'close all files'")["launches"], SizeIs(1));
}

// ---- the counters

TEST(Emulate, counts_each_launch) {
    const json launches = report("--counters ./emulate_subject 'two kernels' 0")["launches"];
    ASSERT_THAT(launches, SizeIs(2));
    const json &fill = launches[0], &scale = launches[1];
    EXPECT_EQ(fill["name"], "(anonymous namespace)::fill(int*, int)");
    EXPECT_EQ(fill["kernel"], "(anonymous namespace)::fill");
    EXPECT_THAT(fill["grid"], ElementsAre(2, 1, 1));
    EXPECT_THAT(fill["block"], ElementsAre(64, 1, 1));
    EXPECT_EQ(fill["static_shared_bytes"], 0);
    EXPECT_EQ(fill["dynamic_shared_bytes"], 0);
    // 128 ints of 4 B: 16 sectors.
    EXPECT_EQ(fill["counters"][store_sectors], 16);
    EXPECT_EQ(fill["counters"][load_sectors], 0);
    EXPECT_EQ(scale["kernel"], "(anonymous namespace)::scale<6>");
    EXPECT_THAT(scale["grid"], ElementsAre(1, 2, 1));
    EXPECT_THAT(scale["block"], ElementsAre(32, 2, 1));
    EXPECT_EQ(scale["dynamic_shared_bytes"], 256);
    // 2 blocks x 2 rows x 32 ints of 4 B: 16 sectors.
    EXPECT_EQ(scale["counters"][load_sectors], 16);
}

TEST(Emulate, shows_launches_that_are_alike_once) {
    const std::string text = emulate("--counters ./emulate_subject 'the same'").err;
    EXPECT_THAT(text, StartsWith("launches 0 to 4, each: (anonymous namespace)::fill(int*, int)\n"));
    EXPECT_THAT(report("--counters ./emulate_subject 'the same'")["launches"], SizeIs(5));
}

TEST(Emulate, writes_rows_for_spreadsheets) {
    const std::string csv = emulate("--counters --format csv ./emulate_subject 'the same'").err;
    EXPECT_THAT(csv, StartsWith("process,launch,kernel,grid_x,"));
    EXPECT_THAT(csv, HasSubstr(",4,\"(anonymous namespace)::fill(int*, int)\",1,1,1,32,1,1,0,"
                               "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,4\n"));
}

TEST(Emulate, shows_the_launches_that_were_asked_for) {
    const auto kernels = [](const std::string& options) {
        std::vector<std::string> names;
        const json told = report("--counters " + options + " ./emulate_subject exec");
        for (const json& launch : told["launches"]) names.push_back(launch["kernel"]);
        return names;
    };
    const std::string fill = "(anonymous namespace)::fill", scale = "(anonymous namespace)::scale<6>";
    EXPECT_THAT(kernels(""), ElementsAre(fill, fill, scale));
    EXPECT_THAT(kernels("--kernel scale"), ElementsAre(scale));
    EXPECT_THAT(kernels("--kernel 'f.*int\\)$'"), ElementsAre(fill, fill));
    EXPECT_THAT(kernels("--launch 0"), ElementsAre(fill, fill)) << "the first of each process";
    EXPECT_THAT(kernels("--launch 1 --kernel scale"), ElementsAre(scale));
}

TEST(Emulate, says_when_no_launch_was_asked_for) {
    const Result result = emulate("--counters --kernel sale ./emulate_subject 'the same'");
    EXPECT_EQ(result.status, 125);
    EXPECT_EQ(result.err, "emulate: ./emulate_subject: nothing was observed: of its 5 launches, --kernel and "
                          "--launch select none; its kernels are\n"
                          "  (anonymous namespace)::fill(int*, int)\n");
    EXPECT_THAT(report("--counters --kernel sale ./emulate_subject 'the same'")["program"], SizeIs(2))
        << "who asks for JSON gets it";
}

TEST(Emulate, shows_launches_that_fail) {
    const Result result = emulate("--counters ./emulate_subject 'illegal store'");
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.out, "cudaErrorIllegalAddress\n");
    EXPECT_THAT(result.err,
                HasSubstr("launch 0: (anonymous namespace)::store_through(int*)\n"
                          "  grid (1,1,1), block (1,1,1)\n  illegal 4-byte store to global memory at 0x0"));
    EXPECT_THAT(result.err, Not(HasSubstr("In Nsight Compute:"))) << "there is no table to explain";
    EXPECT_EQ(emulate("--check mem ./emulate_subject 'illegal store'").status, 10);
    EXPECT_EQ(emulate("--check mem ./emulate_subject 'illegal store' 6").status, 128 + SIGABRT)
        << "a signal says more than a finding";
    EXPECT_THAT(report("--check mem --kernel fill ./emulate_subject 'illegal store'")["findings"], IsEmpty())
        << "another kernel's";
    const json refused = report("--counters ./emulate_subject 'huge block'");
    EXPECT_EQ(refused["exit_status"], 4);
    const Result unchecked = emulate("--check mem ./emulate_subject 'huge block'");
    EXPECT_EQ(unchecked.status, 10) << "what did not run was not checked";
    EXPECT_THAT(unchecked.err, HasSubstr("no findings (mem)\n\n1 launch failed for the reason above"));
    const Result one_of_two = emulate("--check mem ./emulate_subject 'too much shared memory'");
    EXPECT_EQ(one_of_two.status, 10) << "refused before it began";
    EXPECT_THAT(one_of_two.err, HasSubstr("1048576 bytes of dynamic shared memory"));
    EXPECT_THAT(one_of_two.err, HasSubstr("no findings (mem)\n\n1 launch failed for the reason above"));
}

TEST(Emulate, writes_to_a_file_whose_name_tells_the_format) {
    const Folder folder;
    const std::string file = folder.path() / "counters.json";
    const Result result = emulate("--counters --output " + file + " ./emulate_subject 'the same'");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(json::parse(read(file))["launches"], SizeIs(5));
    EXPECT_THAT(json::parse(read(file))["program"], ElementsAre("./emulate_subject", "the same"));
    const Result failed = emulate("--counters --output /nowhere/file ./emulate_subject 'the same'");
    EXPECT_EQ(failed.status, 125);
    EXPECT_THAT(failed.err, HasSubstr("--output /nowhere/file: cannot be written: No such file"));
    for (const char* output : {"/nowhere/file", "/tmp"}) {
        const Result early =
            emulate(std::string("--counters --output ") + output + " ./emulate_subject 'two kernels' 0");
        EXPECT_EQ(early.status, 125);
        EXPECT_EQ(early.out, "") << "told before the program runs, which may take long";
    }
    EXPECT_THAT(emulate("--export /nowhere/page.html ./emulate_subject 'the same'").err,
                HasSubstr("--export /nowhere/page.html: cannot be written: No such file"));
    const Result late = emulate("--counters --output /dev/full ./emulate_subject 'the same'");
    EXPECT_EQ(late.status, 125);
    EXPECT_THAT(late.err, HasSubstr("--output /dev/full: cannot be written: No space left on device"));
    for (const char* words : {"--counters ./emulate_subject 'the same'", "--no-such-option"})
        EXPECT_EQ(run(std::string("./emulate ") + words + " 2>/dev/full").status, 125) << words;
}

TEST(Emulate, gives_no_part_of_a_report_for_all_of_it) {
    // Files may have 512 or 1,024 bytes: as on a full disk, and long before the five launches are written.
    const Result result =
        run("trap '' XFSZ; ulimit -f 1; ./emulate --check all ./emulate_subject 'the same'");
    EXPECT_EQ(result.status, 125);
    EXPECT_THAT(result.err,
                HasSubstr("emulator: the report for `emulate` cannot be written: File too large\n"));
    EXPECT_THAT(result.err, HasSubstr("emulate: what was observed cannot be written: is there room in "));
    EXPECT_THAT(result.err, Not(HasSubstr("no findings")));
}

TEST(Emulate, leaves_no_file_behind) {
    const Folder folder;
    run("TMPDIR=" + folder.path().string() + " ./emulate --counters ./emulate_subject 'the same'");
    run("TMPDIR=" + folder.path().string() + " ./emulate --schedules 2 ./emulate_subject 'the same'");
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Emulate, says_where_no_temporary_file_can_be_made) {
    const Result result = run("TMPDIR=/nowhere ./emulate --counters ./emulate_subject 'the same'");
    EXPECT_EQ(result.status, 125);
    EXPECT_THAT(result.err, StartsWith("emulate: no temporary file /nowhere/emulate-"));
}

// ---- what cannot be run, or not be observed

TEST(Emulate, says_what_is_no_program) {
    const auto expect = [](const std::string& program, int status, const std::string& message) {
        const Result result = emulate(program);
        EXPECT_EQ(result.status, status);
        EXPECT_THAT(result.err, StartsWith("emulate: " + message));
        EXPECT_EQ(result.out, "");
    };
    expect("./no_such_program", 127, "./no_such_program: there is no such program\n");
    expect("no_such_program", 127, "no_such_program: there is no such program in PATH\n");
    expect("emulate_subject", 127,
           "emulate_subject: there is no such program in PATH. Did you mean ./emulate_subject?\n");
    expect("/tmp", 126, "/tmp: is a folder, not a program\n");
    expect("/etc/passwd", 126, "/etc/passwd: is not executable (chmod +x /etc/passwd");
    const Folder folder;
    const std::string text = folder.path() / "text";
    std::ofstream(text) << "just words\n";
    fs::permissions(text, fs::perms::owner_all);
    expect(text, 126, text + ": neither a program for this machine nor a script that begins with #!\n");
}

TEST(Emulate, says_when_no_cuda_was_seen) {
    const Result result = emulate("--counters true");
    EXPECT_EQ(result.status, 125) << "a check that checked nothing must not look like success";
    EXPECT_EQ(result.err, "emulate: true: never called the CUDA runtime, so nothing was observed; is it "
                          "a CUDA program?\n");
    EXPECT_EQ(emulate("false").status, 1) << "but a failure is the program's own";
    const Result no_kernel = emulate("--counters ./emulate_subject 'no kernel'");
    EXPECT_EQ(no_kernel.status, 0);
    EXPECT_EQ(no_kernel.err, "no kernel ran to its end\n");
    EXPECT_EQ(emulate("--check mem ./emulate_subject 'no kernel'").err, "no findings (mem)\n");
    EXPECT_EQ(emulate("--check race ./emulate_subject 'no kernel'").err,
              "no findings (race)\n"
              "race checked shared memory; with --global-races it checks global memory, too\n");
    EXPECT_EQ(emulate("--check race --global-races ./emulate_subject 'no kernel'").err,
              "no findings (race)\n");
    for (const char* task : {"--check all", "--counters"}) {
        const Result refused = emulate(std::string(task) + " ./emulate_subject 'no kernel' 2");
        EXPECT_EQ(refused.status, 2);
        EXPECT_EQ(refused.err, "emulate: ./emulate_subject: ended with exit status 2 before it launched a "
                               "kernel, so nothing was observed\n");
    }
}

#ifdef __x86_64__
TEST(Emulate, finds_a_library_that_is_there_for_this_processor_alone) {
    // As `make lesson03` leaves it: only the best variant is built.
    const Folder folder;
    const fs::path &tree = folder.path(), variant = tree / "emulator/observing/glibc-hwcaps/x86-64-v3";
    fs::create_directories(tree / "bin");
    fs::create_directories(variant);
    fs::copy_file(bin() / "emulate", tree / "bin/emulate");
    const auto run_there = [&](const std::string& program) {
        return run(tree.string() + "/bin/emulate --counters ./" + program + " 'the same'");
    };
    constexpr const char* missing = "emulate: the emulator is missing: there is neither ";
    EXPECT_THAT(run_there("emulate_subject").err, StartsWith(missing));
    for (const auto& entry : fs::recursive_directory_iterator(bin() / "../emulator/observing"))
        if (entry.is_regular_file())
            fs::copy_file(entry, variant / entry.path().filename(), fs::copy_options::overwrite_existing);
    for (const char* const program : {"emulate_subject", "emulate_subject_with_old_rpath"})
        EXPECT_THAT(run_there(program).err,
                    StartsWith(__builtin_cpu_supports("avx2") ? "launches 0 to 4, each: " : missing))
            << program;
}
#endif

// Pages themselves: tests/emulator/playground/export_test.mjs, where emscripten is.
TEST(Emulate, says_how_to_get_what_pages_are_made_of) {
    const Folder folder;
    const fs::path tree = folder.path(), beside = tree / "emulator/observing";
    fs::create_directories(tree / "bin");
    fs::copy_file(bin() / "emulate", tree / "bin/emulate");
    fs::create_directories(beside.parent_path());
    fs::copy(bin() / "../emulator/observing", beside, fs::copy_options::recursive);
    fs::remove(beside / "export.html");
    const std::string page = tree / "page.html";
    const Result result =
        run(tree.string() + "/bin/emulate --export " + page + " ./emulate_subject 'two kernels' 5");
    EXPECT_EQ(result.status, 125);
    EXPECT_EQ(result.out, "") << "told before the program runs, which may take long";
    EXPECT_THAT(result.err,
                StartsWith("emulate: --export: " + (beside / "export.html").string() + " is missing"));
    EXPECT_THAT(result.err, HasSubstr("type make playground"));
    EXPECT_FALSE(fs::exists(page));
}

// nvcc's default: the emulator's functions replace the program's own.
TEST(Emulate, runs_a_program_that_contains_the_static_runtime) {
    if (!fs::exists(bin() / "emulate_subject_with_static_runtime"))
        GTEST_FAIL() << "this toolkit has no static runtime to test with";
    for (const char* const options : {"--counters", "--check all"})
        for (const char* const task :
             {"'two kernels' 5", "replaced variable", "'at exit'", "'illegal store'"}) {
            const auto run_with = [&](const std::string& program) {
                return emulate(std::string(options) + " ./" + program + " " + task);
            };
            const Result shared = run_with("emulate_subject"),
                         own = run_with("emulate_subject_with_static_runtime");
            EXPECT_EQ(own.status, shared.status) << task;
            EXPECT_EQ(own.out, shared.out) << task;
            EXPECT_EQ(own.err.substr(0, own.err.find("0x")), shared.err.substr(0, shared.err.find("0x")))
                << task;
        }
    EXPECT_EQ(emulate("./emulate_subject_with_static_runtime 'two kernels' 5").out, "42\n");
}

TEST(Emulate, refuses_a_static_runtime_without_names_and_says_how_to_link) {
    const Folder folder;
    const std::string stripped = folder.path() / "stripped";
    ASSERT_EQ(run("strip -o " + stripped + " emulate_subject_with_static_runtime").status, 0);
    const Result result = emulate("--counters " + stripped + " 'the same'");
    EXPECT_EQ(result.status, 126);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("contains the static CUDA runtime"));
    EXPECT_THAT(result.err, HasSubstr("nvcc -cudart shared"));
    EXPECT_THAT(result.err, HasSubstr("set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)"));
}

TEST(Emulate, says_which_machine_code_is_there_instead_of_ptx) {
    const Result result = emulate("--counters ./emulate_subject_without_ptx 'the same'");
    EXPECT_EQ(result.status, 125);
    EXPECT_THAT(result.err, StartsWith("emulator: this program holds machine code only (sm_80, sm_90)"));
    EXPECT_THAT(result.err, HasSubstr("-gencode arch=compute_90,code=compute_90"));
    EXPECT_THAT(result.err, EndsWith("emulate: ./emulate_subject_without_ptx: no kernel ran, for the reason "
                                     "above, so nothing was observed\n"));
    EXPECT_EQ(emulate("--counters ./emulate_subject_without_ptx 'two kernels' 5").status, 5);
}

TEST(Emulate, fails_after_a_launch_that_it_cannot_run) {
    const std::string why =
        "emulate: ./emulate_subject_without_ptx: ended with 0, but 5 launches could not be run, "
        "for the reason above\n";
    for (const std::string options : {"", "--schedules 1 "}) {
        const Result result = emulate(options + "./emulate_subject_without_ptx 'the same'");
        EXPECT_EQ(result.status, 125) << options;
        EXPECT_THAT(result.err, EndsWith(why)) << options;
    }
    EXPECT_EQ(emulate("--check all ./emulate_subject_without_ptx 'the same'").status, 125);
    EXPECT_THAT(report("--counters ./emulate_subject_without_ptx 'the same'")["errors"], SizeIs(1));
    const Result failed = emulate("./emulate_subject_without_ptx 'two kernels' 5");
    EXPECT_EQ(failed.status, 5) << "the program's own failure says more";
    EXPECT_THAT(failed.err, Not(HasSubstr("could not be run")));
    EXPECT_EQ(emulate("./emulate_subject 'too much shared memory'").status, 0) << "as a card's own error";
}

TEST(Emulate, fails_after_a_call_that_it_does_not_support) {
    const struct {
        std::string what, function;
    } rows[] = {
        {"texture", "cudaCreateTextureObject"},       {"surface", "cudaCreateSurfaceObject"},
        {"levels", "cudaMallocMipmappedArray"},       {"sparse", "cudaMallocArray"},
        {"cube of planes", "cudaMalloc3DArray"},      {"graph", "cudaUserObjectCreate"},
        {"capture", "cudaGraphReleaseUserObject"},    {"pool", "cudaMemPoolCreate"},
        {"kernel attribute", "cudaFuncSetAttribute"}, {"launch attribute", "cudaLaunchKernelExC"},
    };
    for (const auto& [what, function] : rows) {
        const Result result = emulate("./emulate_subject unsupported '" + what + "'");
        EXPECT_EQ(result.status, 125) << what;
        EXPECT_EQ(result.out, "cudaErrorNotSupported\n") << what << ": the answer of what waits, too";
        EXPECT_THAT(result.err, StartsWith("emulator: " + function)) << what;
        EXPECT_THAT(result.err, EndsWith("emulate: ./emulate_subject: ended with 0, but " + function +
                                         " could not be run, for the reason above\n"))
            << what;
    }
    const Result checked = emulate("--check all --format json ./emulate_subject unsupported texture");
    EXPECT_EQ(checked.status, 125) << "as without a report";
    EXPECT_THAT(report("--counters ./emulate_subject unsupported texture")["errors"],
                ElementsAre(StartsWith("cudaCreateTextureObject is not supported by the emulator\n"
                                       "The emulator has no textures and no surfaces: ")));
    EXPECT_EQ(emulate("--schedules 1 ./emulate_subject unsupported texture").status, 125);
    const Result advice = emulate("./emulate_subject unsupported advice");
    EXPECT_EQ(advice.status, 0) << "a program can do without it: " << advice.err;
    EXPECT_EQ(advice.out, "cudaSuccess\n");
    EXPECT_EQ(advice.err, "emulator: cudaGraphDebugDotPrint is not supported by the emulator\n");
}

TEST(Emulate, has_the_driver_where_it_has_the_runtime) {
    EXPECT_EQ(emulate("./emulate_subject driver").status, 0);
    EXPECT_EQ(emulate("./emulate_subject_with_static_runtime driver").status, 0);
}

TEST(Emulate, refuses_functions_of_the_driver_that_it_does_not_have) {
    const Result result = emulate("./emulate_subject_with_driver");
    EXPECT_EQ(result.status, 126);
    EXPECT_EQ(result.err,
              "emulate: ./emulate_subject_with_driver: uses functions of the CUDA driver that the "
              "emulator does not have: cuNoSuchFunction.\n"
              "The emulator has those of the CUDA runtime (cuda...) and some of the driver's.\n");
}

TEST(Emulate, says_which_library_needs_the_driver) {
    const Result result = emulate("./emulate_subject_with_cublas 'two kernels' 5");
    EXPECT_EQ(result.status, 5);
    EXPECT_EQ(result.out, "42\n") << "kernels of the program itself run";
    EXPECT_THAT(result.err, StartsWith("emulate: ./emulate_subject_with_cublas: is linked with cuBLAS, which "
                                       "needs NVIDIA's driver: its calls fail\n"
                                       "Kernels of the program's own run, and so do CUB and Thrust.\n"));
}

TEST(Emulate, gets_in_front_of_an_old_style_rpath) {
    EXPECT_THAT(report("--counters ./emulate_subject_with_old_rpath 'the same'")["launches"], SizeIs(5));
}

TEST(Emulate, emulates_as_many_devices_as_are_asked_for) {
    EXPECT_EQ(emulate("./emulate_subject devices").out, "1\n");
    EXPECT_EQ(emulate("--devices 4 ./emulate_subject devices").out, "4\n");
    EXPECT_EQ(run("EMULATE_DEVICES=3 ./emulate ./emulate_subject devices").out, "3\n");
    EXPECT_EQ(run("EMULATE_DEVICES=3 ./emulate --devices 2 ./emulate_subject devices").out, "2\n");
    for (const std::string wrong : {"0", "two", "17", "2x"}) {
        const Result result = run("EMULATE_DEVICES=" + wrong + " ./emulate ./emulate_subject devices");
        EXPECT_EQ(result.status, 125);
        EXPECT_EQ(result.out, "");
        EXPECT_EQ(result.err, "emulate: EMULATE_DEVICES=" + wrong +
                                  ": write a whole number from 1 to 16\nTry: emulate --help\n");
    }
}

// 128 ints are 16 sectors. They are loaded twice, since the two pointers of the kernel may be equal, and stored once. The
// atomic of one thread touches one more. Then a kernel doubles 128 ints of the host: 16 sectors each way.
TEST(Emulate, counts_what_devices_transfer) {
    const json counted = report("--counters --devices 2 ./emulate_subject peers");
    ASSERT_THAT(counted["launches"], SizeIs(2));
    EXPECT_EQ(counted["launches"][0]["device"], 1);
    EXPECT_EQ(counted["launches"][1]["peers"], json::parse(R"([{"device": null, "load_sectors": 16,
        "store_sectors": 16, "atomic_sectors": 0}])"));
    EXPECT_EQ(counted["launches"][0]["peers"], json::parse(R"([{"device": 0, "load_sectors": 32,
        "store_sectors": 16, "atomic_sectors": 1}])"));
    EXPECT_EQ(counted["copies"], json::parse(R"([
        {"from": 0, "to": 1, "count": 1, "bytes": 512, "through_host": true},
        {"from": 0, "to": 1, "count": 1, "bytes": 512, "through_host": false},
        {"from": 1, "to": null, "count": 1, "bytes": 4, "through_host": false}])"));
    const Result text = emulate("--counters --devices 2 ./emulate_subject peers");
    EXPECT_EQ(text.out, "42\ncudaSuccess\n");
    EXPECT_THAT(text.err, StartsWith("launch 0 on device 1: "));
    EXPECT_THAT(text.err, HasSubstr("  peer memory     sectors, device 0                 32              16\n"
                                    "  peer atomics    sectors, device 0                  1\n"));
    EXPECT_THAT(text.err,
                HasSubstr("  host memory     sectors                           16              16\n"));
    const std::string csv = emulate("--counters --format csv --devices 2 ./emulate_subject peers").err;
    EXPECT_THAT(csv, StartsWith("process,launch,device,kernel,"));
    EXPECT_THAT(csv, HasSubstr(",0,1,\"(anonymous namespace)::add_to_peer("));
    EXPECT_THAT(csv, HasSubstr(",0,load_sectors_of_device_0,32\n"));
    EXPECT_THAT(csv, HasSubstr(",0,store_sectors_of_device_0,16\n"));
    EXPECT_THAT(csv, HasSubstr(",0,atomic_sectors_of_device_0,1\n"));
    EXPECT_THAT(csv, HasSubstr(",0,load_sectors_of_host,16\n"));
    EXPECT_THAT(text.err,
                HasSubstr("                                                copies           bytes\n"
                          "  through host    device 0 to device 1               1             512\n"
                          "                  device 0 to device 1               1             512\n"
                          "                  device 1 to host                   1               4\n"));
    const json alone = report("--counters ./emulate_subject 'the same'");
    EXPECT_FALSE(alone.contains("copies") || alone["launches"][0].contains("device"));
}

TEST(Emulate, refuses_wrong_options) {
    const Result result = emulate("--format json ./emulate_subject 'the same'");
    EXPECT_EQ(result.status, 125);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err,
              "emulate: nothing to report: add --counters, --lines, --check, --time, --draw or --export\n"
              "Try: emulate --help\n");
}

TEST(Emulate, answers_questions) {
    const Result help = emulate("--help");
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, StartsWith("emulate: runs a CUDA program"));
    EXPECT_THAT(emulate("--version").out, StartsWith("emulate 0."));
    EXPECT_EQ(run("./emulate --help >/dev/full").status, 125);
}

// ---- kernels from a file

/// replaced(int*) stores 40 plus the variable `offset`, in line 12 of other.cu.
constexpr const char* other_ptx = R"(
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 offset = 2;
.file 1 "/somewhere/other.cu"
.visible .entry _Z8replacedPi(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    .loc 1 12 5
    ld.global.u32 %r1, [offset];
    add.s32 %r2, %r1, 40;
    st.global.u32 [%rd2], %r2;
    ret;
}
)";

class OtherPtx {
public:
    explicit OtherPtx(const std::string& text = other_ptx) { std::ofstream(file()) << text; }
    std::string file() const { return folder_.path() / "other.ptx"; }
    Result emulate(const std::string& arguments) const {
        return ::emulate("--ptx " + file() + " " + arguments);
    }

private:
    Folder folder_;
};

std::string replace(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
}

TEST(OtherKernels, run_in_place_of_the_programs_own) {
    const OtherPtx other;
    EXPECT_EQ(emulate("./emulate_subject replaced").out, "8\ncudaSuccess\n");
    const Result result = other.emulate("./emulate_subject replaced");
    EXPECT_EQ(result.out, "42\ncudaSuccess\n");
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(other.emulate("./emulate_subject replaced variable").out, "43\ncudaSuccess\n")
        << "its variables too";
    EXPECT_EQ(other.emulate("./emulate_subject_without_ptx replaced").out, "42\ncudaSuccess\n")
        << "also where the program has no PTX";
    EXPECT_EQ(other.emulate("--schedules 2 ./emulate_subject replaced").out, "42\ncudaSuccess\n");
    EXPECT_EQ(run("cd " + fs::path(other.file()).parent_path().string() + " && " + bin().string() +
                  "/emulate --ptx other.ptx sh -c 'cd / && " + bin().string() + "/emulate_subject replaced'")
                  .out,
              "42\ncudaSuccess\n")
        << "wherever the program goes";
}

TEST(OtherKernels, are_the_only_ones) {
    const OtherPtx other;
    const Result result = other.emulate("--counters ./emulate_subject replaced too");
    EXPECT_EQ(result.out, "42\ncudaSuccess\n") << "only the launch fails, as without such a kernel";
    EXPECT_THAT(result.err, HasSubstr("emulator: " + other.file() +
                                      ": has no kernel replaced_too(int*) (_Z12replaced_tooPi); it has\n"
                                      "emulator:     replaced(int*)\n"));
    const OtherPtx none(".version 8.0\n.target sm_90\n.address_size 64\n");
    EXPECT_THAT(none.emulate("--counters ./emulate_subject replaced").err,
                HasSubstr("has no kernel replaced(int*) (_Z8replacedPi), and no other\n"));
    const OtherPtx without_variable(replace(replace(other_ptx, "offset", "other"), "[offset]", "[other]"));
    EXPECT_THAT(without_variable.emulate("./emulate_subject replaced variable").err,
                HasSubstr("other.ptx has no variable called 'offset'"));
}

TEST(OtherKernels, that_launch_kernels_fail_the_program) {
    const OtherPtx launching(
        replace(replace(other_ptx, ".visible", ".extern .func cudaLaunchDeviceV2();\n.visible"),
                "ld.global.u32 %r1, [offset];", "call cudaLaunchDeviceV2, ();"));
    const Result result = launching.emulate("./emulate_subject unsupported kernel");
    EXPECT_EQ(result.status, 125);
    EXPECT_THAT(result.err, HasSubstr("launches from kernels (dynamic parallelism) are not supported"));
    EXPECT_THAT(result.err, EndsWith("ended with 0, but 1 launch could not be run, for the reason above\n"));
}

TEST(OtherKernels, take_the_parameters_of_the_programs_own) {
    const OtherPtx other(replace(other_ptx, "(.param .u64 out)", "(.param .u64 out, .param .u64 more)"));
    const Result result = other.emulate("./emulate_subject replaced");
    EXPECT_THAT(result.err, HasSubstr("replaced(int*) takes parameters of other sizes, in bytes (8, 8), "
                                      "than the program gives it, (8)"));
    EXPECT_THAT(result.out, Not(StartsWith("42"))) << "it was not launched";
}

TEST(OtherKernels, are_told_wrong_before_the_program_runs) {
    const auto expect = [](const std::string& options, const std::string& message) {
        const Result result = emulate(options + " ./emulate_subject replaced");
        EXPECT_EQ(result.status, 125);
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr(message));
    };
    expect("--ptx /nowhere/file.ptx",
           "emulate: --ptx /nowhere/file.ptx: cannot be read: No such file or directory\n");
    expect("--ptx /tmp", "emulate: --ptx /tmp: is a folder, not a file of PTX\n");
    expect("--ptx /dev/zero", "emulate: --ptx /dev/zero: is a device or a pipe, not a file of PTX\n");
    const OtherPtx broken(replace(other_ptx, "%r1, 40", "%r1 40"));
    expect("--ptx " + broken.file(), "emulate: --ptx " + broken.file() + ": ");
    expect("--ptx " + broken.file(), "PTX line 15:\n    add.s32 %r2, %r1 40;\n                     ^\n");
}

TEST(OtherKernels, may_be_given_numbers_with_tags) {
    const OtherPtx other;
    EXPECT_EQ(other.emulate("--tag-numbers 7 ./emulate_subject replaced").out, "-1\ncudaSuccess\n")
        << "42 has not been in shared memory";
    const OtherPtx odd(replace(other_ptx, "st.global.u32", "st.volatile.u32"));
    const Result result = odd.emulate("--tag-numbers 7 ./emulate_subject replaced");
    EXPECT_EQ(result.status, 125);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err,
              "emulate: --tag-numbers: cannot follow st.volatile.u32: it is no plain store of an int\n");
    EXPECT_THAT(emulate("--tag-numbers 7 --ptx /nowhere/file.ptx ./emulate_subject replaced").err,
                HasSubstr("emulate: --ptx /nowhere/file.ptx: cannot be read"));
}

TEST(OtherKernels, are_told_to_move_what_no_counter_counts) {
    const auto launch_of = [](const OtherPtx& other) {
        return json::parse(
            other.emulate("--counters --format json ./emulate_subject replaced").err)["launches"][0];
    };
    EXPECT_FALSE(launch_of(OtherPtx()).contains("uncounted"));
    const OtherPtx local(replace(other_ptx, "ret;", "ret; ld.local.v2.u32 {%r1, %r2}, [%rd1];"));
    EXPECT_EQ(launch_of(local)["uncounted"], json({{"local memory", "ld.local.v2.u32"}}));
}

TEST(OtherKernels, name_their_file_where_they_cannot_be_run) {
    const OtherPtx other(replace(other_ptx, "add.s32", "dance.s32"));
    EXPECT_THAT(other.emulate("./emulate_subject replaced").err,
                HasSubstr("emulator: " + other.file() + ": "));
}

TEST(OtherKernels, are_found_wrong_in_their_own_source) {
    const OtherPtx other(replace(other_ptx, "[%rd2]", "[%rd2 + 2]"));
    EXPECT_THAT(other.emulate("--check mem ./emulate_subject replaced").err,
                HasSubstr("other.cu:12: mem: misaligned"));
}

// It is gone with the program, as on a card.
TEST(Emulate, drops_a_kernel_that_waits_when_the_program_ends) {
    for (const std::string argument : {"", "pinned"}) {
        const json left = report("--counters ./emulate_subject 'left waiting' " + argument);
        EXPECT_EQ(left["exit_status"], 0);
        ASSERT_THAT(left["launches"], SizeIs(2));
        EXPECT_EQ(left["launches"][0]["name"], "(anonymous namespace)::wait_for(int const volatile*)");
        EXPECT_EQ(left["launches"][1]["name"], "(anonymous namespace)::fill(int*, int)");
        EXPECT_EQ(left["launches"][0]["error"],
                  "given up: it would wait forever, or another kernel has failed");
    }
}

// ---- schedules

TEST(Schedules, find_the_missing_barrier_that_the_default_order_hides) {
    EXPECT_EQ(emulate("./emulate_subject 'missing barrier'").status, 0) << "the default order hides it";
    const Result result = emulate("--schedules 20 ./emulate_subject 'missing barrier'");
    EXPECT_EQ(result.status, 10);
    EXPECT_EQ(result.out, "sum\n6\n") << "what the default order prints, once";
    EXPECT_THAT(result.err, HasSubstr(" changes what the program does.\n"
                                      "The program ends with\n"
                                      "  default order   exit status 0\n"));
    EXPECT_THAT(result.err, HasSubstr("Line 2 of its output is\n"
                                      "  default order   6\n"));
    EXPECT_EQ(emulate("--schedules 20 --error-exitcode 77 ./emulate_subject 'missing barrier'").status, 77);

    const json told = report("--schedules 20 ./emulate_subject 'missing barrier'");
    const json& difference = told["difference"];
    ASSERT_TRUE(difference.is_object());
    EXPECT_EQ(told["agreed"], difference["seed"].get<int>() - 1);
    EXPECT_EQ(told["exit_status"], 0);
    EXPECT_EQ(difference["exit_status"], 1);
    EXPECT_EQ(difference["line"], 2);
    EXPECT_EQ(difference["default_order"], "6");
    const Result again =
        emulate("--schedule " + difference["seed"].dump() + " ./emulate_subject 'missing barrier'");
    EXPECT_EQ(again.status, 1) << "the seed shows it again";
    EXPECT_NE(again.out, "sum\n6\n");
}

// 2 * (0 + … + 127) = 16,256. If the kernel runs before the copy, the copy overwrites what it has doubled: 8,128.
TEST(Schedules, find_the_missing_event_between_two_streams) {
    const Result wrong = emulate("--schedules 20 ./emulate_subject 'missing event'");
    EXPECT_EQ(wrong.status, 10);
    EXPECT_EQ(wrong.out, "16256\n");
    EXPECT_THAT(wrong.err, HasSubstr("8128\n"));
    const Result right = emulate("--schedules 20 ./emulate_subject event");
    EXPECT_EQ(right.status, 0) << right.err;
    EXPECT_EQ(right.out, "16256\n");
}

TEST(Schedules, let_a_kernel_run_whose_store_the_host_waits_for) {
    EXPECT_EQ(run("timeout 30 ./emulate --schedules 3 ./emulate_subject polled").status, 0)
        << "124: the kernel has not run";
}

// On a device that has ended, it would find none of its memory.
TEST(Schedules, let_a_launch_run_before_its_device_is_reset) {
    const json found = report("--counters --check mem --schedule 1 ./emulate_subject reset");
    EXPECT_EQ(found["exit_status"], 0);
    ASSERT_THAT(found["launches"], SizeIs(1));
    EXPECT_TRUE(found["launches"][0].contains("counters")) << found["launches"][0];
    EXPECT_THAT(found["findings"], IsEmpty());
}

TEST(Schedules, find_the_missing_event_also_by_check) {
    for (const char* seed : {"1", "2", "3", "4"}) { // whichever of the two comes first
        const json found = report(std::string("--schedule ") + seed +
                                  " --check race ./emulate_subject 'missing event'")["findings"];
        EXPECT_THAT(found, Not(IsEmpty())) << seed;
        EXPECT_THAT(
            report(std::string("--schedule ") + seed + " --check race ./emulate_subject event")["findings"],
            IsEmpty())
            << seed;
    }
}

TEST(Schedules, say_how_many_agree) {
    const Result result = emulate("--schedules 3 ./emulate_subject 'two kernels' 5");
    EXPECT_EQ(result.status, 5);
    EXPECT_EQ(result.out, "42\n");
    EXPECT_EQ(result.err,
              "on stderr\nThe program does the same in 3 other orders: same output, same exit status.\n");
}

TEST(Schedules, give_every_run_the_same_input) {
    const Folder folder;
    const std::string file = folder.path() / "input";
    std::ofstream(file) << "one\ntwo\n";
    const Result result = run("./emulate --schedules 3 ./emulate_subject input <" + file);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out, "one\ntwo\n");
    EXPECT_THAT(result.err, HasSubstr("does the same in 3 other orders"));
    EXPECT_EQ(run("(read line; ./emulate --schedules 3 ./emulate_subject input) <" + file).out, "two\n")
        << "each from where the first began";
}

TEST(Schedules, tell_lines_apart_that_differ_in_their_end) {
    EXPECT_THAT(emulate("--schedules 3 ./emulate_subject 'line end'").err,
                HasSubstr("Line 1 of its output is\n"
                          "  default order   7 (and no end of line)\n"
                          "  seed 1          7\n"));
    EXPECT_THAT(emulate("--schedules 3 ./emulate_subject 'line end' status").err,
                HasSubstr("The program ends with\n"
                          "  default order   exit status 0\n"
                          "  seed 1          exit status 3\n"));
}

TEST(Schedules, end_when_the_user_interrupts_one_of_them) {
    const int killed = status_after(SIGINT, "--schedules 3 ./emulate_subject wait");
    EXPECT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGINT);
    const int handled = status_after(SIGINT, "--schedules 3 sh -c 'trap \"exit 0\" INT; echo ready >&2; "
                                             "while :; do sleep 0.1; done'");
    EXPECT_TRUE(WIFEXITED(handled));
    EXPECT_EQ(WEXITSTATUS(handled), 125) << "not all orders were tried";
}

TEST(Schedules, know_a_program_that_never_does_the_same_twice) {
    const Result result = emulate("--schedules 5 ./emulate_subject random");
    EXPECT_EQ(result.status, 125);
    EXPECT_THAT(result.err, HasSubstr("gives two different results in the order of seed 1"));
}

// ---- color

TEST(Color, is_for_terminals) {
    const std::string terminal = "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' ",
                      checked = "./emulate --check all ./emulate_subject ";
    const auto has_escape = [](const Result& result) {
        return (result.out + result.err).find('\x1b') != std::string::npos;
    };
    EXPECT_THAT(run("TERM=xterm NO_COLOR= " + terminal + checked + "'the same'").out,
                HasSubstr("\x1b[32mno findings (mem, init, race, sync)\x1b[0m\r\n"));
    EXPECT_THAT(run("TERM=xterm NO_COLOR= " + terminal + checked + "'missing barrier'").out,
                HasSubstr("\x1b[31m1 finding\x1b[0m\r\n"));
    EXPECT_FALSE(has_escape(run("TERM=xterm NO_COLOR=1 " + terminal + checked + "'missing barrier'")));
    EXPECT_FALSE(has_escape(run("TERM=dumb NO_COLOR= " + terminal + checked + "'missing barrier'")));
    EXPECT_FALSE(has_escape(run("TERM=xterm NO_COLOR= " + checked + "'missing barrier'")));
    EXPECT_FALSE(has_escape(run("TERM=xterm NO_COLOR= " + terminal +
                                "./emulate --color never --check all "
                                "./emulate_subject 'missing barrier'")));
    EXPECT_TRUE(has_escape(emulate("--color always --check all ./emulate_subject 'missing barrier'")));
    EXPECT_FALSE(
        has_escape(emulate("--color always --check all --format json ./emulate_subject 'the same'")));
}

// ---- pictures

TEST(Pictures, are_drawn_for_each_kernel_from_its_first_launch) {
    const Folder folder;
    const fs::path there = folder.path() / "pictures";
    const Result result =
        emulate("--draw sectors --output " + there.string() + " ./emulate_subject 'two kernels' 5");
    EXPECT_EQ(result.status, 5);
    EXPECT_EQ(result.out, "42\n");
    EXPECT_THAT(result.err, HasSubstr(there.string() + "/fill_sectors.svg: global store at subject.cu:"));
    EXPECT_THAT(result.err, HasSubstr(there.string() + "/scale_6_sectors.svg: global load at subject.cu:"));
    EXPECT_THAT(read(there / "fill_sectors.svg"), StartsWith("<svg "));
    EXPECT_THAT(read(there / "fill_sectors.svg"), HasSubstr("__global__ void fill(int* out, int value)"));
    EXPECT_THAT(read(there / "scale_6_sectors.svg"), HasSubstr("scale&lt;6&gt;: sectors of a global load"));
    fs::remove_all(there);
    emulate("--draw activity --output " + there.string() + " ./emulate_subject 'the same'");
    EXPECT_EQ(std::distance(fs::directory_iterator(there), fs::directory_iterator()), 1);
}

TEST(Pictures, have_their_data_in_the_report) {
    const json data = report("--draw activity --format json ./emulate_subject 'the same'");
    ASSERT_EQ(data["accesses"].size(), 1U);
    const json& steps = data["accesses"][0]["steps"];
    ASSERT_EQ(steps.size(), 1U); // 32 threads store an int each: 4 sectors
    EXPECT_EQ(steps[0]["what"], "global store");
    EXPECT_EQ(steps[0]["active"], json({0xffffffff}));
    const json& request = steps[0]["requests"][0];
    EXPECT_EQ(request["cost"], 4);
    const json& addresses = request["addresses"];
    EXPECT_EQ(addresses[31].get<std::uint64_t>() - addresses[0].get<std::uint64_t>(), 4U * 31);
}

TEST(Pictures, lie_in_a_folder_of_their_own_that_is_made_if_needed) {
    const Folder folder;
    const std::string here = "bin=$PWD; cd " + folder.path().string() + "; $bin/";
    const Result result = run(here + "emulate --draw activity $bin/emulate_subject 'the same'");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("pictures/fill_activity.svg: block (0,0,0)\n"));
    EXPECT_THAT(read(folder.path() / "pictures/fill_activity.svg"), StartsWith("<svg "));
}

TEST(Pictures, are_the_same_on_each_run_and_on_any_number_of_cores) {
    for (const std::string kind : {"banks", "sectors", "activity", "tile"}) {
        const Folder one, all;
        const auto draw = [&](const std::string& run_by, const Folder& folder) {
            run(run_by + "./emulate --draw " + kind + " --output " + folder.path().string() +
                " ./emulate_subject 'missing barrier'");
            return read(folder.path() / ("sum_of_warps_" + kind + ".svg"));
        };
        const std::string picture = draw("taskset -c $(taskset -cp $$ | sed 's/.*[ ,-]//') ", one);
        EXPECT_THAT(picture, StartsWith("<svg ")) << kind;
        EXPECT_EQ(draw("", all), picture) << kind;
    }
}

TEST(Pictures, are_of_the_kernel_and_the_line_that_are_asked_for) {
    const Folder folder;
    const std::string there = " --output " + folder.path().string();
    emulate("--draw banks --kernel sum" + there + " ./emulate_subject 'missing barrier'");
    EXPECT_THAT(read(folder.path() / "sum_of_warps_banks.svg"), HasSubstr("1 wavefront, no bank conflict"));
    const Result other = emulate("--draw banks --line 1" + there + " ./emulate_subject 'missing barrier'");
    EXPECT_EQ(other.status, 0);
    EXPECT_THAT(other.err,
                HasSubstr("sum_of_warps: no access to shared memory on line 1; there are some on lines "));
    EXPECT_THAT(emulate("--draw tile ./emulate_subject 'the same'").err,
                HasSubstr("fill: no access to shared memory, no picture\n"));
}

} // namespace
