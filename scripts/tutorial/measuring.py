"""What `make measure` records, and what a kit contains."""

import csv
import datetime
import json
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tutorial import ROOT
from tutorial.ahead import RACES, read_races, table
from tutorial.counters import CONFLICTS, NAMES, REQUESTS, SECTORS, WAVEFRONTS
from tutorial.programs import Failure, Programs, output_of, run

TESTS = ["lessons_test", "harness_device_test"]
SANITIZERS = ["memcheck", "racecheck", "initcheck", "synccheck"]
LADDER_SIZES = ["2^25", "2^28", "2^30"]
LADDER_COUNTED = [["--n", "4194304"], ["--n", "1000003"]]
# What the step `limit` times: a CSV, and the program that prints it.
LIMIT_TIMED = {
    "limit_sum": ["limit_table", "sum"],
    "limit_strategies": ["limit_table", "strategies"],
    "limit_in_flight": ["limit_curves", "in_flight"],
    "limit_steps": ["limit_curves", "steps"],
}
# What the step `ahead` times besides a race of each name of RACES.
AHEAD_TIMED = {
    "ahead_scan_copies": ["ahead_scan", "--copies"],
    "ahead_reduce_rows": ["ahead_reduce", "rows"],
    "ahead_reduce_meetings": ["ahead_reduce", "meetings"],
}
# The emulator must match these.
METRICS = [*SECTORS[:2], *REQUESTS, *WAVEFRONTS]
# Recorded if the card and its ncu have them.
MORE_METRICS = [
    *SECTORS[2:],
    *CONFLICTS,
    *(NAMES[counter] for counter in ("warp_instructions", "thread_instructions", "divergent_branches")),
    "gpu__time_duration.sum",  # in ns; caches are flushed before each launch, clocks are left as they are
]


def say(message):
    print(f"measure: {message}", file=sys.stderr, flush=True)


# Asynchronous copies. The counters of plain loads include cp.async's sectors and requests, but not those of bulk
# copies.
ASYNC_METRICS = [
    NAMES["copy_instructions"],
    "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum",
    NAMES["copy_wavefronts"],
    NAMES["bulk_instructions"],
    NAMES["bulk_sectors"],
    "l1tex__m_xbar2l1tex_read_sectors_mem_dshared.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "dram__bytes_read.sum",
]


# What the step `clock` times and counts: every kernel at CLOCK_SIZES, but lessons that have other sizes at theirs. The
# ladder also in each of CLOCK_BLOCKS. Kernels that would take minutes, of one thread, at CLOCK_SLOW_SIZE.
CLOCK_SIZES = ["--n 2^25", "--n 2^28"]
CLOCK_BLOCKS = [64, 128, 256, 512, 1024]
CLOCK_SLOW_SIZE = "--n 2^20"
CLOCK_METRICS = [
    *MORE_METRICS[:-1],
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",  # all passes, also those of accesses that no lane executes
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",  # of all accesses: those of shuffles and atomics, too
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "sm__cycles_elapsed.max",
    "sm__cycles_elapsed.avg.per_second",
    "launch__registers_per_thread",
    "sm__warps_active.avg.pct_of_peak_sustained_active",  # achieved occupancy
    "sm__issue_active.avg.pct_of_peak_sustained_elapsed",
    *(f"sm__pipe_{pipe}_cycles_active.avg.pct_of_peak_sustained_elapsed" for pipe in ("alu", "fma", "fmaheavy")),
    *(f"sm__inst_executed_pipe_{pipe}.avg.pct_of_peak_sustained_elapsed" for pipe in ("xu", "lsu", "adu", "uniform")),
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",
    *(f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in (
        "barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle", "long_scoreboard",
        "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
        "short_scoreboard", "wait")),
    *MORE_METRICS[-1:],
]


# What the step `experiments` counts and checks: every kernel once.
EXPERIMENTS_COUNTED = ["once", str(2**25)]
EXPERIMENTS_SANITIZED = ["once", "100003"]


@dataclass
class ClockRun:
    """Kernels whose times a clock has to predict: all of a program but the slow ones, or only these."""

    program: str
    arguments: list
    is_counted: bool  # by Nsight Compute as well
    slow: set = field(default_factory=set)
    only_slow: bool = False
    kernels_behind: dict = field(default_factory=dict)

    def has(self, kernel):
        return (kernel in self.slow) == self.only_slow


class Course:
    """Everything to measure, as listed in the lessons' manifests."""

    def __init__(self, lessons):
        # These parts have their own step, or one together.
        self.limit, self.practice, self.ahead, self.beyond = (
            [lesson for lesson in lessons if lesson.part == part] for part in ("limit", "practice", "ahead", "beyond"))
        self.lessons = [lesson for lesson in lessons
                        if lesson not in self.limit + self.practice + self.ahead + self.beyond]

    def programs(self, steps):
        """The lessons that these steps run."""
        names, practice, limit, ahead = ([lesson.name for lesson in lessons] for lessons in (
            self.lessons, self.practice, self.limit, self.ahead + self.beyond))
        of_steps = {
            "verify": [*TESTS, "wrong_lesson", "start", "ladder", *names, *practice, *limit, *ahead],
            "sanitize": names,
            "ladder": ["ladder_with_cub"],
            "lessons": names,
            "practice": [*practice, *(lesson.timed_program for lesson in self.practice)],
            "limit": [*limit, "limit_table", "limit_curves"],
            "experiments": ["experiments"],
            "ahead": [*ahead, *(f"ahead_{name}" for name in RACES)],
            "counters": ["ladder", *names],
            "clock": ["calibrate", *(run.program for run in self.clock_runs())],
        }
        return list(dict.fromkeys(name for step in steps for name in of_steps[step]))

    def clock_runs(self):
        for size in CLOCK_SIZES:
            for block in CLOCK_BLOCKS:
                yield ClockRun("ladder", [*shlex.split(size), "--block", str(block)], is_counted=size == CLOCK_SIZES[0])
        for lesson in [*self.lessons, *self.practice, *self.limit, *self.ahead, *self.beyond]:
            sizes = lesson.manifest["measure"].get("clock", [] if lesson.part == "ladder" else CLOCK_SIZES)
            slow = {kernel for _, without in lesson.timed for kernel in without}
            for size in sizes:
                yield ClockRun(lesson.name, shlex.split(size), size == sizes[0], slow, False, lesson.kernels_behind)
            if slow:
                yield ClockRun(lesson.name, shlex.split(CLOCK_SLOW_SIZE), True, slow, True, lesson.kernels_behind)


def find_tool(name):
    """NVIDIA's tools are often installed next to nvcc but not on PATH."""
    beside_nvcc = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin"
    return shutil.which(name) or shutil.which(name, path=str(beside_nvcc))


def find_device():
    line = (output_of(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]) or "")
    lines = line.strip().split("\n")
    fields = [field.strip() for field in lines[0].split(",")]
    if len(fields) != 3:
        raise Failure(3, "there is no GPU here: nvidia-smi names none")
    return {**dict(zip(("name", "driver", "capability"), fields)), "count": len(lines)}


class BuiltPrograms(Programs):
    """The programs, built first if necessary."""

    def __init__(self, folder, needed):
        super().__init__(folder)
        if (folder / "build.ninja").exists():
            say(f"building in {folder}")
            targets = run(["cmake", "--build", folder, "--target", "all_emulators", *needed],
                          stdout=sys.stderr)
            if targets.returncode != 0:
                raise Failure(1, "the build failed")
        self.needed = needed
        missing = [name for name in needed if not (folder / "bin" / name).exists()]
        if missing:
            raise Failure(2, f"{folder} is neither a build tree nor a kit: there is no bin/{missing[0]}")

    def toolkit(self):
        return super().toolkit() or "not known"

    def run(self, command, **more):
        return run(command, env=self.environment, **more)


class Measurement:
    def __init__(self, course, programs, device, out):
        self.course, self.programs, self.device, self.out = course, programs, device, out
        self.is_complete = True

    def miss(self, message):
        say(message)
        self.is_complete = False

    def write(self, name, command, header, rows):
        """One CSV. `command`: that of its rows, with … for the varying part."""
        if not rows:
            return
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / f"{name}.csv"
        now = datetime.datetime.now(datetime.timezone.utc)
        with path.open("w", newline="", encoding="utf-8") as file:
            file.write(f"# date: {now:%Y-%m-%dT%H:%M:%SZ}\n"
                       f"# device: {self.device['name']}, compute capability {self.device['capability']}\n"
                       f"# driver: {self.device['driver']}\n"
                       f"# toolkit: {self.programs.toolkit()}\n"
                       f"# command: {command}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)
        say(f"written: {path}")

    def verify(self):
        rows = []
        for name in TESTS:
            say(f"verify: {name}")
            done = self.programs.run([self.programs.path(name), "--device=gpu", "--gtest_brief=1",
                                      "--gtest_filter=-*OnEmulator*"],
                                     stdout=subprocess.PIPE)
            ran = re.search(r"(\d+) tests? from", done.stdout)
            if done.returncode != 0 or not ran:
                print(done.stdout, file=sys.stderr)
                self.miss(f"verify: {name} failed with status {done.returncode}")
            rows.append([name, ran[1] if ran else 0, done.returncode])
        self.write("verify", "… --device=gpu", ["program", "tests", "exit_status"], rows)

    def sanitize(self):
        self.sanitize_lessons("sanitize", self.course.lessons)

    def sanitize_lessons(self, name, lessons):
        self.sanitize_programs(name, [(lesson.name, ["--device", "gpu", *lesson.sanitized, "--verify"]) for lesson in lessons])

    def sanitize_programs(self, name, runs):
        """`runs`: (program, arguments)."""
        tool = find_tool("compute-sanitizer")
        if not tool:
            return self.miss("sanitize: skipped, there is no compute-sanitizer on PATH or beside nvcc")
        rows = []
        for program, arguments in runs:
            for check in SANITIZERS:
                say(f"sanitize: {check} {program}")
                done = self.programs.run([tool, "--tool", check, "--error-exitcode", "99",
                                          self.programs.path(program), *arguments],
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                summary = re.findall(r"=+ (\w+ SUMMARY: .*)", done.stdout)
                if done.returncode != 0 or not summary:
                    print(done.stdout, file=sys.stderr)
                    self.miss(f"sanitize: {check} is not content with {program}: status {done.returncode}")
                rows.append([program, check, shlex.join(arguments), done.returncode, summary[-1] if summary else ""])
        self.write(name, "compute-sanitizer --tool … --error-exitcode 99 …",
                   ["lesson", "tool", "arguments", "exit_status", "summary"], rows)

    def limit(self):
        for name, command in LIMIT_TIMED.items():
            self.record_output(name, [self.programs.path(command[0]), *command[1:]], shlex.join(command))
        self.time_torch("limit_torch", "torch_sum.py")
        self.count_kernels("limit_ncu", self.course.limit, MORE_METRICS[:-1] + ASYNC_METRICS + MORE_METRICS[-1:])
        self.sanitize_lessons("limit_sanitize", self.course.limit)

    def time_torch(self, name, script, *arguments):
        if output_of(["python3", "-c", "import torch; torch.cuda.init()"]) is None:
            say(f"{name.partition('_')[0]}: {script} is left out, as there is no PyTorch for a GPU")
        else:
            self.record_output(name, ["python3", ROOT / "scripts" / script, *arguments], f"scripts/{script}")

    def record_output(self, name, command, shown):
        """A program's CSV."""
        step = name.partition("_")[0]
        say(f"{step}: {shown}")
        environment = None if command[0] == "python3" else self.programs.environment
        done = run(command, env=environment, stdout=subprocess.PIPE)
        if done.returncode != 0:
            self.miss(f"{step}: nothing recorded of {shown}: status {done.returncode}")
            return []
        header, *rows = csv.reader(done.stdout.splitlines())
        for row in rows:
            if len(row) != len(header):
                self.miss(f"{step}: nothing recorded of {shown}: {len(row)} cells in {','.join(row)}, not {len(header)}")
                return []
        self.write(name, shown, header, rows)
        return [dict(zip(header, row)) for row in rows]

    def ahead(self):
        for name in RACES:
            if name == "cards" and self.device["count"] < 2:
                say("ahead: ahead_cards is left out: it needs two GPUs")
            elif name != "softmax":
                self.record_output(f"ahead_{name}", [self.programs.path(f"ahead_{name}")], f"ahead_{name}")
        for name, command in AHEAD_TIMED.items():
            self.record_output(name, [self.programs.path(command[0]), *command[1:]], shlex.join(command))
        self.time_torch("ahead_softmax", "ahead_softmax.py", self.programs.path("ahead_softmax"))
        self.count_kernels("ahead_ncu", self.course.ahead, MORE_METRICS[:-1] + ASYNC_METRICS + MORE_METRICS[-1:])
        self.time_lessons("ahead_lessons", self.course.beyond)
        self.sanitize_lessons("ahead_sanitize", [*self.course.ahead, *self.course.beyond])
        print("From a cold cache; the geometric mean over the cases:\n\n" + table(read_races(self.out)[1]), end="")

    def experiments(self):
        timed = self.record_output("experiments", [self.programs.path("experiments")], "experiments")
        self.count_experiments(timed)
        self.sanitize_programs("experiments_sanitize", [("experiments", EXPERIMENTS_SANITIZED)])

    def count_experiments(self, timed):
        """`timed`: the rows of the program, which launches their kernels in this order, after one that makes the ints."""
        tool = find_tool("ncu")
        if not tool:
            return self.miss("experiments: not counted, there is no ncu (Nsight Compute) on PATH or beside nvcc")
        metrics, counted = METRICS + CLOCK_METRICS, shlex.join(["experiments", *EXPERIMENTS_COUNTED])
        say(f"experiments: counts {counted}")
        launches = self.launches(tool, metrics, ["--launch-skip", 1, self.programs.path("experiments"), *EXPERIMENTS_COUNTED])
        keys = ["lesson", "experiment", "kernel"]
        rows = [[*(row[key] for key in keys), volume(launch, "Block Size"), volume(launch, "Grid Size"),
                 *(number(launch, metric) for metric in metrics)]
                for row, launch in zip(timed, launches) if re.search(rf"\b{row['function']}\b", launch["Kernel Name"])]
        if not len(rows) == len(timed) == len(launches):
            return self.miss(f"experiments: {len(launches)} launches were counted, {len(timed)} kernels timed: "
                             "are they the same?")
        self.write("experiments_ncu", f"ncu --clock-control none --metrics … --launch-skip 1 {counted}",
                   [*keys, "block", "grid", *metrics], rows)

    def ladder(self):
        runs = [(f"{size} ints", "ladder_with_cub", ["--n", size]) for size in LADDER_SIZES]
        self.record_saved("ladder", runs, "ladder_with_cub --device gpu --n …")

    def lessons(self):
        self.time_lessons("lessons", self.course.lessons)

    def practice(self):
        self.time_lessons("practice", self.course.practice)
        self.time_torch("practice_torch", "torch_softmax.py")
        self.count_kernels("practice_ncu", self.course.practice, MORE_METRICS)
        self.sanitize_lessons("practice_sanitize", self.course.practice)

    def time_lessons(self, name, lessons):
        runs = []
        for program, arguments, left_out in [(lesson.timed_program, *timed) for lesson in lessons for timed in lesson.timed]:
            chosen = [f"--kernel={kernel}" for kernel in self.kernels(program) if left_out and kernel not in left_out]
            runs.append((shlex.join([program, *arguments]), program, [*arguments, *chosen]))
        self.record_saved(name, runs, "lesson… --device gpu …")

    def record_saved(self, name, runs, command):
        """The CSVs that programs save, as one. `runs`: (what it is, program, arguments)."""
        header, rows = [], []
        for what, program, arguments in runs:
            say(f"{name}: {what}")
            with tempfile.TemporaryDirectory() as folder:
                done = self.programs.run([self.programs.path(program), "--device", "gpu", *arguments, "--save", folder])
                if done.returncode != 0:
                    self.miss(f"{name}: nothing recorded for {what}: status {done.returncode}")
                    continue
                with next(Path(folder).glob("*.csv")).open(newline="", encoding="utf-8") as file:
                    header, *these = csv.reader(file)
                rows += these
        self.write(name, command, header, rows)

    def kernels(self, program):
        return self.programs.run([self.programs.path(program), "--list"], stdout=subprocess.PIPE).stdout.split()

    def counters(self):
        self.count_kernels("ncu", self.course.lessons, MORE_METRICS, [("ladder", run, 1, {}) for run in LADDER_COUNTED])

    def clock(self):
        self.record_output("clock_constants", [self.programs.path("calibrate")], "calibrate")
        self.time_for_clock()
        counted = []
        for each in self.course.clock_runs():
            left_out = {kernel: None for kernel in self.kernels(each.program) if not each.has(kernel)}
            if each.is_counted:
                counted.append((each.program, each.arguments, 1, {**each.kernels_behind, **left_out}))
        self.count_kernels("clock_ncu", [], CLOCK_METRICS, counted)

    def time_for_clock(self):
        rows = []
        for each in self.course.clock_runs():
            what = " ".join([each.program, *each.arguments])
            say(f"clock: {what}")
            chosen = [f"--kernel={kernel}" for kernel in self.kernels(each.program) if each.slow and each.has(kernel)]
            done = self.programs.run([self.programs.path(each.program), "--device", "gpu", *each.arguments, *chosen,
                                      "--format", "json"], stdout=subprocess.PIPE)
            if done.returncode != 0:
                self.miss(f"clock: nothing recorded for {what}: status {done.returncode}")
                continue
            for kernel in json.loads(done.stdout)["kernels"]:
                times = kernel["time_us"]
                rows.append([each.program, " ".join(each.arguments), kernel["name"], math.prod(kernel["block"]),
                             math.prod(kernel["grid"]), kernel["dynamic_shared_bytes"], kernel["bytes"],
                             *(round(times[name], 3) for name in ("median", "min")), times["runs"]])
        self.write("clock_times", "PROGRAM --device gpu ARGUMENTS --format json",
                   ["program", "arguments", "kernel", "block", "grid", "dynamic_shared_bytes", "bytes", "time_us_median",
                    "time_us_min", "time_us_runs"], rows)

    def count_kernels(self, name, lessons, more_metrics, more_runs=()):
        """`more_runs`: (program, arguments, launches, kernels behind its names), before those of the lessons."""
        tool = find_tool("ncu")
        if not tool:
            return self.miss("counters: skipped, there is no ncu (Nsight Compute) on PATH or beside nvcc")
        rows = []
        runs = [(lesson.name, run, lesson.launches, lesson.kernels_behind) for lesson in lessons for run in lesson.counted]
        for program, arguments, launches, kernels_behind in [*more_runs, *runs]:
            for kernel in self.kernels(program):
                what = shlex.join([program, *arguments, "--kernel", kernel])
                say(f"counters: {what}")
                behind = kernels_behind.get(kernel, kernel)
                if behind is None:
                    continue
                row = self.count(tool, [program, *arguments], (kernel, behind), launches, more_metrics)
                if row:
                    rows.append([program, " ".join(arguments), kernel, *row])
                else:
                    self.miss(f"counters: none recorded for {what}")
        self.write(name, "ncu --clock-control none --metrics … --launch-count … PROGRAM --device gpu --verify ARGUMENTS "
                   "--kernel …", ["program", "arguments", "kernel", "block", "grid", *METRICS, *more_metrics], rows)

    def count(self, tool, command, names, launches, more_metrics):
        """The counters of a kernel's first launch, its first pass. `names`: the program's name for it, and its own."""
        counted = self.launches(tool, METRICS + more_metrics, [
            "--kernel-name", f"regex:^{names[1]}$", "--launch-count", launches, self.programs.path(command[0]), "--device", "gpu",
            "--verify", "--repeat", launches, *command[1:], "--kernel", names[0]])
        if len(counted) != launches:
            return None
        row = [*(volume(counted[0], name) for name in ("Block Size", "Grid Size")),
               *(number(counted[0], metric) for metric in METRICS + more_metrics)]
        if None in row[:2 + len(METRICS)]:
            print(counted, file=sys.stderr)
            return None
        times = [number(launch, "gpu__time_duration.sum") for launch in counted]
        row[-1] = None if None in times else statistics.median(times)
        return row

    def launches(self, tool, metrics, arguments):
        """Of each launch what Nsight Compute counted, by its names."""
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "ncu.csv"
            done = self.programs.run([tool, "--clock-control", "none", "--metrics", ",".join(metrics), "--csv", "--page", "raw",
                                      "--print-units", "base", "--log-file", log, *arguments], stdout=subprocess.PIPE)
            text = log.read_text(encoding="utf-8") if log.exists() else ""
        # The names, their units, and a row a launch.
        table = list(csv.reader(line for line in text.split("\n") if line.startswith('"')))
        if done.returncode != 0 or len(table) < 3:
            print(text, done.stdout, file=sys.stderr)
            return []
        return [dict(zip(table[0], row)) for row in table[2:]]


def number(launch, name):
    """'2,097,152' -> 2097152; '79.41' -> 79.41; 'n/a' -> None."""
    digits = re.search(r"\d+(\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", launch.get(name, "")))
    return None if not digits else float(digits[0]) if digits[1] else int(digits[0])


def volume(launch, name):
    """'(16,384, 1, 1)' -> 16384."""
    extents = re.findall(r"[\d,]*\d", launch.get(name, ""))
    return math.prod(int(extent.replace(",", "")) for extent in extents) if extents else None


def shared_libraries(path):
    """The libraries that a program is linked with and that a machine with only a driver may lack."""
    listing = output_of(["ldd", path]) or ""
    wanted = re.compile(r"^\s*(lib(?:cudart|fmt|zstd|lz4|gtest|gmock)\S*) => (/\S+)", re.MULTILINE)
    return dict(wanted.findall(listing))


def read_by_scripts():
    """The files of this tree that a kit needs: the scripts, and what they read or look for."""
    return [*(ROOT / "scripts" / name for name in ("measure", "torch_sum.py", "torch_softmax.py", "ahead_softmax.py", "report")),
            *ROOT.glob("scripts/tutorial/*.py"), *ROOT.glob("scripts/tutorial/*.json"), ROOT / "common/counters.json",
            *ROOT.glob("lessons/*/course/lesson.json"), *ROOT.glob("bench/cub/*.cu")]


def pack(programs, kit):
    if (programs.folder / "toolkit").exists():
        raise Failure(2, f"{programs.folder} is a kit already")
    if kit.exists() and any(kit.iterdir()) and not (kit / "toolkit").exists():
        raise Failure(2, f"--pack {kit}: the folder is there already, and is no kit")
    shutil.rmtree(kit, ignore_errors=True)
    for folder in ("bin", "lib"):
        (kit / folder).mkdir(parents=True)
    for name in programs.needed:
        shutil.copy2(programs.path(name), kit / "bin")
    shutil.copytree(programs.folder / "emulator", kit / "emulator")
    for file in read_by_scripts():
        copy = kit / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy)
    libraries = {}
    for file in [*(kit / "bin").iterdir(), *(path for path in (kit / "emulator").rglob("*") if path.is_file())]:
        libraries.update(shared_libraries(file))
    for name, path in libraries.items():
        shutil.copy2(path, kit / "lib" / name)
    (kit / "toolkit").write_text(programs.toolkit() + "\n")
    size = sum(path.stat().st_size for path in kit.rglob("*") if path.is_file())
    say(f"packed {kit}, {size / 2**20:.0f} MiB; on the GPU machine run {kit.name}/scripts/measure, or "
        f"{kit.name}/scripts/report --build {kit.name} --out report and bring report/runs home")
