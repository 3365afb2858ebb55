"""What an exercise is, and how a solution of it is checked.

The kernels to check are compiled to PTX behind the lesson's own main.cu, or behind course/exercise.cu if the exercise has a
task that the lesson's program cannot launch or verify. What runs is that program, built before, with `emulate --ptx`:
of a solution nothing runs on the host. The verdict comes from the program's exit status and from the report of
`emulate`, neither of which a kernel can write; what it prints is thrown away.
"""

import contextlib
import copy
import html
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tutorial import ROOT
from tutorial.counters import CATALOGUE
from tutorial.lessons import Lesson, ManifestError, all_folders, number_of

# Processor time, not wall-clock time, so that a busy machine gives the same verdict.
LONGEST = 10  # seconds per case; the slowest takes two
LONGEST_COMPILING = 120  # seconds per step of the compiler
PATIENCE = 30  # times as long in wall-clock time: then the machine is too busy to judge the solution
ORDERS = 5  # other orders of a run under `orders`
LUCK = ("mem", "init")  # checkers whose findings make a result depend on the memory's previous contents
CAUSES = ("race", "sync", "mem", "init")  # checkers, those first whose findings may cause the others'
CHECKERS = {"mem": "memory accesses", "init": "uninitialized reads", "race": "races", "sync": "barriers"}

# A goal's counters: as they are called in the pages' tables, and as Nsight Compute calls them; and what else the report
# has of a launch.
COUNTERS = {
    **{counter.short: counter.name for counter in CATALOGUE if counter.short},
    "static shared bytes": "static_shared_bytes",
}
# What a kernel may not count more of counts for it, where a card counts it elsewhere: an asynchronous copy stores, too.
COUNTED_TOO = {"shared store wavefronts": "copy wavefronts"}
# Traffic by which a kernel could avoid what goals count.
HIDDEN = ("atomic sectors", "reduction sectors", "local memory", "shared atomics")

# Which sizes and blocks are checked: sizes around warps and blocks, a prime, one more and one less than powers of two,
# a tail of every kind.
SIZES = (1, 2, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024, 1025, 4095, 4096, 4097)
LARGE = (65_537, 999_983, 2**20 - 1, 2**20 + 1)
BLOCKS = (32, 64, 128, 256, 512, 1024)


def reductions(sizes=SIZES, large=LARGE, options=("",), with_block=None, first=(), last=()):
    """Every size with the largest block that it fills and two in turn, the large ones, which take longer, with one in
    turn; and the options in turn. `with_block`: {block: options that go with it}; `first`, `last`: whole cases."""
    pairs = [(n, block) for i, n in enumerate(sizes) for block in blocks_for(n, i)]
    pairs += [(n, BLOCKS[(i + 3) % len(BLOCKS)]) for i, n in enumerate(large)]
    runs = [f"--n {n} --block {block} {options[i % len(options)]} {(with_block or {}).get(str(block), '')}"
            for i, (n, block) in enumerate(pairs)]
    return [*first, *runs, *last]


def blocks_for(n, turn):
    filled = max((block for block in BLOCKS if block <= n), default=BLOCKS[0])
    return sorted({filled, BLOCKS[turn % len(BLOCKS)], BLOCKS[(turn + 2) % len(BLOCKS)]})


class ExerciseError(Exception):
    """An error in an exercise itself, or in what its check needs."""


@dataclass
class Goal:
    kernel: str
    arguments: tuple
    counter: str
    text: str  # as the table has it: 32, at least 32 or exactly 32
    least: int = 0
    most: float = math.inf

    def __post_init__(self):
        words = re.fullmatch(r"(at least |exactly |)(\d{1,3}(?:,?\d{3})*)", self.text)
        if not words:
            raise ValueError(f"'{self.text}' is no goal; write 1,024 (no more than that), at least 1,024 or exactly "
                             "1,024")
        number = int(words.group(2).replace(",", ""))
        if words.group(1):
            self.least = number
        if words.group(1) != "at least ":
            self.most = number


class Exercise:
    def __init__(self, number):
        folders = [folder for folder in all_folders() if number_of(folder) == number]
        if len(folders) != 1:
            raise ExerciseError(f"there is no exercise {number}; there are: {' '.join(all_numbers())}")
        self.number, self.folder = number, folders[0]
        self.text, self.page = self.folder / "exercise.cuh", self.folder / "exercise.md"
        if not self.page.is_file():
            raise ExerciseError(f"lesson {number} has no exercise yet; there are: {' '.join(all_numbers())}")
        try:
            self.lesson = Lesson(self.folder)
        except ManifestError as error:
            raise ExerciseError(f"{error}") from None
        # The task may differ from the lesson's step, so that the lesson's page does not solve it: then it has a solution
        # of its own. And a program of its own, if it needs one.
        own_main, own_solution = self.lesson.course / "exercise.cu", self.lesson.course / "solution.cuh"
        self.main = own_main if own_main.is_file() else self.folder / "main.cu"
        self.program = f"exercise{number}" if own_main.is_file() else self.lesson.name
        self.solution = own_solution if own_solution.is_file() else self.folder / "kernels.cuh"
        self.header = own_solution.name if own_main.is_file() else "kernels.cuh"  # what main includes for its kernels
        source = self.page.read_text(encoding="utf-8")
        title = re.match(rf"# Exercise {number}: (.+)\n", source)
        if not title:
            raise ExerciseError(f"{self.page.relative_to(ROOT)}: the first line is not '# Exercise {number}: …'")
        self.title = title.group(1)
        self.goals = self.read_goals()
        self.scored = next((goal for goal in self.goals if goal.counter == self.lesson.exercise.get("score")), None)
        self.hints = [html.unescape(text).strip() for text in re.findall(
            r"<details><summary>Hint \d</summary>\n(.*?)\n *</details>", source, re.DOTALL)]

    def read_goals(self):
        goals = []
        for index, entry in enumerate(self.lesson.exercise["goals"]):
            arguments = tuple(shlex.split(entry["run"]))
            try:
                for word in arguments:
                    if word[0].isdigit() and not word.isdigit():
                        raise ValueError(f"'{word}' in a goal's run: write it in digits alone")
                for counter, goal in entry["counters"].items():
                    if counter not in COUNTERS:
                        raise ValueError(f"unknown counter '{counter}'; there are: {', '.join(COUNTERS)}")
                    goals.append(Goal(entry["kernel"], arguments, counter, goal))
            except ValueError as error:
                raise ExerciseError(f"{self.lesson.wrong(f'exercise.goals[{index}]: {error}')}") from None
        return goals

    def kernels(self):
        return list(dict.fromkeys(goal.kernel for goal in self.goals))

    def of(self, kernel):
        """The exercise with only that kernel."""
        alone = copy.copy(self)
        alone.goals = [goal for goal in self.goals if goal.kernel == kernel]
        return alone

    def as_lesson(self):
        """The lesson's own kernels behind its own program, as if they were the solution."""
        own = copy.copy(self)
        own.main, own.program, own.header = self.folder / "main.cu", self.lesson.name, "kernels.cuh"
        return own

    def as_copy(self, text):
        """The exercise with another file to be solved in, if one is named."""
        own = copy.copy(self)
        own.text = text or self.text
        return own

    def cases(self):
        """The runs to check, as (arguments, kernels), small ones first. In a goal's runs each kernel runs alone, so
        that no other one does its work."""
        said, kernels = self.lesson.exercise["cases"], tuple(self.kernels())
        cases = [(tuple(shlex.split(run)), kernels)
                 for run in (reductions(**said) if isinstance(said, dict) else said)]
        middle = len(cases) // 2
        if "--repeat" not in cases[middle][0]:  # twice: what a kernel leaves behind must not spoil its next launch
            cases[middle] = ((*cases[middle][0], "--repeat", "2"), kernels)
        return list(dict.fromkeys([*cases, *((goal.arguments, (goal.kernel,)) for goal in self.goals)]))

    def cases_in_other_orders(self):
        """The same, with the orders."""
        return [(tuple(shlex.split(run)), tuple(self.kernels()), schedule)
                for run in self.lesson.exercise.get("orders", []) for schedule in range(1, ORDERS + 1)]


def all_numbers():
    return sorted(number_of(folder) for folder in all_folders() if (folder / "exercise.md").is_file())


# ---- compiling ----

def nvcc_of(build):
    cache = build / "CMakeCache.txt"
    found = cache.is_file() and re.search(r"^CMAKE_CUDA_COMPILER:\w+=(.+)$", cache.read_text(), re.MULTILINE)
    if not found:
        raise ExerciseError(f"{build} is no build tree")
    return found.group(1)


# As lessons/CMakeLists.txt has them. A solution that needs C++20 is compiled again.
COMPILE_OPTIONS = ("-ptx", "-arch=compute_90", "-lineinfo", "-D_CG_LIMIT_INCLUDED_DEPENDENCIES", "-I", str(ROOT / "common"))
STANDARDS = ("-std=c++17", "-std=c++20")


def headers(exercise):
    """The files of lessons that a solution sees: what its program includes of earlier lessons, and the exercise's own
    other headers. The next lesson's kernels have the step in them."""
    own = {path for ending in ("cuh", "hpp") for path in exercise.folder.glob(f"*.{ending}")}
    found = sorted(own - {exercise.folder / "exercise.cuh", exercise.folder / "kernels.cuh"})
    for file in (exercise.main, *found):
        for path in included(file):
            if path.parent != exercise.folder and path not in found:
                found.append(path)
    return found


def included(file):
    """The lesson headers that the file includes, and those that they include; except its own lesson's kernels, and the
    solution."""
    found = []
    for name in re.findall(r'^#include "(.+)"$', file.read_text(encoding="utf-8"), re.MULTILINE):
        path = Path(os.path.normpath(file.parent / name))
        if path.is_file() and path not in (file.parent / "kernels.cuh", file.parent / "solution.cuh"):
            found += [path, *included(path)]
    return found


def lay_out(exercise, text, folder):
    """Makes the folder anew, with the program as main.cu, the file `text` as the kernels that it includes, and the headers
    that a solution sees. Returns the path of main.cu."""
    shadow = folder / exercise.folder.name
    shutil.rmtree(folder, ignore_errors=True)
    shadow.mkdir(parents=True)
    for header in headers(exercise):
        link = folder / header.parent.name / header.name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(header)
    # So that errors, findings and costs by line name the file that the learner edits. What main.cu includes comes first,
    # lest a solution's macros make something else of it.
    main = exercise.main
    first = "".join(f'#include "{path.name}"\n' for path in included(main) if path.parent == exercise.folder)
    for name, before, original in ((exercise.header, "", text), ("main.cu", first, main)):
        lines = original.read_text(encoding="utf-8-sig", errors="replace")  # an editor's byte-order mark is no text
        (shadow / name).write_text(f'{before}#line 1 "{original}"\n{lines}', encoding="utf-8")
    return shadow / "main.cu"


def compile_text(exercise, text, build, folder):
    """Compiles the file `text` as the kernels of the exercise's program. Returns the PTX file or None, and nvcc's messages."""
    main = lay_out(exercise, text, folder / "shadow")
    return run_nvcc(build, COMPILE_OPTIONS, main, folder / f"exercise{exercise.number}.ptx")


def run_nvcc(build, options, source, made):
    """Returns the file `made`, or None if there were errors, and nvcc's messages."""
    made.unlink(missing_ok=True)
    said_file = made.with_name("nvcc.txt")
    for standard in STANDARDS:
        command = [nvcc_of(build), *options, standard, "-o", str(made), str(source)]
        status = run_bounded(command, LONGEST_COMPILING, said_file, said_file)
        if not 0 < status < min(NOT_STARTED):  # it compiled, did not start, or was stopped
            break
    noise = re.compile(r"\d+ errors? detected in the compilation of |In file included from | {17}from |"
                       r" +(?:detected during|instantiation of )")
    said = "\n".join(line for line in read_start(said_file).replace(f"{ROOT}/", "").splitlines()
                     if not noise.match(line))
    # No limit ends a process with this signal: it comes from outside, such as from the system when memory runs out.
    if status == -signal.SIGKILL or (status != 0 and re.search(r"^nvcc error .* died due to signal 9 ", said,
                                                               re.MULTILINE)):
        raise ended_from_outside("the compiler")
    if status in NOT_STARTED:
        raise not_started("the compiler", said)
    if status != 0 and not said.strip():
        said = ("nvcc crashed, or was stopped for the time or the memory that it took: "
                f"{LONGEST_COMPILING} s are the most")
    return (made if status == 0 else None), said.strip()


MESSAGE = re.compile(r"(.+?)(?:\((\d+)\)|:(\d+):(\d+)): (?:catastrophic |fatal )?(error|warning|remark)(?: #[\w-]+)?: (.*)")


def messages_of(said, name):
    """nvcc's messages: those about the file `name` with their line and column, if these are known."""
    found = []
    for line in said.splitlines():
        if match := MESSAGE.match(line):
            file, at, also_at, column, severity, text = match.groups()
            here = file == name
            found.append({"line": int(at or also_at) if here else None, "column": int(column) if here and column else None,
                          "severity": severity, "text": text if here else line})
        elif found and found[-1]["line"] and not found[-1]["column"] and line.strip() == "^":
            found[-1]["column"] = line.index("^") - 1  # nvcc indents the line by two
    return found


def ended_from_outside(what):
    return ExerciseError(f"{what} was ended from outside: is the machine out of memory? This says nothing of the solution")


# Exit statuses of a shell, of emulate and of the dynamic loader; neither nvcc nor a lesson uses them.
NOT_STARTED = (126, 127)


def not_started(what, said):
    said = " ".join(first_lines(said, 3)) or "nobody says why"
    return ExerciseError(f"{what} could not be started: {said}. Is the build being made anew? This says nothing of the "
                         "solution")


def run_bounded(command, seconds, out, err):
    """The exit status. No process of it gets more seconds of the processor. `out` and `err` are files."""
    # Only the soft limit: if the hard one is already lower, it applies.
    command = ["sh", "-c", 'ulimit -S -t "$0" 2>&-; exec "$@"', str(seconds), *command]
    for file in (out, err):
        open(file, "wb").close()
    with open(out, "ab") as out_file, open(err, "ab") as err_file:  # which may be the same file
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file,
                                   start_new_session=True)
    try:
        return process.wait(PATIENCE * seconds)
    except subprocess.TimeoutExpired:
        raise ExerciseError(f"the machine is too busy: after {PATIENCE * seconds} s a command had not had {seconds} s "
                            "of the processor. This says nothing of the solution") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def read_start(file):
    with file.open("rb") as opened:
        return opened.read(200_000).decode("utf-8", "replace")


# ---- running ----

@dataclass
class Case:
    """One run of the lesson's program with the solution's kernels, and its outcome."""
    arguments: tuple
    seed: int
    kernels: tuple  # those that run
    schedule: int = 0  # another order, if not 0
    problem: str = ""  # the error; empty if it is right
    findings: list = field(default_factory=list)
    counters: dict = field(default_factory=dict)  # of each kernel's launches, as lists


CHECKED = ("--check", "all", "--global-races")
BY_LINE = ("--lines", "--launch", "0")  # a goal is about a kernel's first launch


def emulate_command(exercise, ptx, case, how=CHECKED, programs=("./emulate", "./{}")):
    kernels = [word for kernel in case.kernels for word in ("--kernel", kernel)]
    seed = ["--seed", str(case.seed)] if takes_seed(exercise) else []
    order = ["--schedule", str(case.schedule)] if case.schedule else []
    return [programs[0], "--ptx", str(ptx), *how, *order, programs[1].format(exercise.program), "--device", "emulator",
            *kernels, *case.arguments, *seed, "--verify"]


def takes_seed(exercise):
    return exercise.lesson.exercise.get("data") != "thread numbers"  # its kernels have no input


def run_case(exercise, ptx, build, case, more=()):
    """`more`: further options of emulate."""
    with tempfile.TemporaryDirectory() as folder:
        report_file, told_file = Path(folder) / "report.json", Path(folder) / "stderr"
        how = (*CHECKED, *more, "--counters", "--format", "json", "--output", str(report_file))
        command = emulate_command(exercise, ptx, case, how, (str(build / "bin/emulate"), str(build / "bin/{}")))
        status = run_bounded(command, LONGEST, os.devnull, told_file)
        told = read_start(told_file)
        try:
            report = json.loads(report_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            if status == -signal.SIGKILL:
                raise ended_from_outside("emulate") from None
            if status in NOT_STARTED:
                raise not_started("emulate", told) from None
            case.problem = f"emulate: {told.strip() or f'no report, status {status}'}"
            return
    judge(exercise, case, report, told)


def judge(exercise, case, report, told):
    case.findings = report.get("findings", [])
    case.counters = counters_of(report)
    status = report.get("exit_status")
    if status == 0:
        missing = [kernel for kernel in case.kernels if kernel not in case.counters]
        if missing:
            case.problem = f"{missing[0]} was not launched"
        # The memory there may be right by luck, on this machine and today.
        elif any(finding["checker"] in LUCK for finding in case.findings):
            case.problem = "the result is right by luck:"
        return
    if report.get("signal") == signal.SIGKILL:
        raise ended_from_outside(exercise.program)
    if report.get("signal") == signal.SIGXCPU:
        where = report.get("running", {}).get("somebody", {}).get("where", "").replace(f"{ROOT}/", "")
        case.problem = (f"did not end within {LONGEST} s of the processor: does the loop "
                        + (f"around {where} never end?" if where else "never end?"))
        return
    if status in NOT_STARTED:
        raise not_started(exercise.program, told)
    lines = [line.partition(": ")[2] for line in told.splitlines() if line.startswith(exercise.program + ": ")]
    wrong = [line for line in lines if ": wrong result" in line]
    if wrong:  # with the next line if that has the location: the pass and the block
        kernel = wrong[0].partition(": ")[0]
        case.problem = "\n".join([line for line in lines if line.startswith(f"{kernel}: ")][:2])
        return
    errors = [error if isinstance(error, str) else error.get("text", "") for error in report.get("errors", [])]
    case.problem = ([error for error in errors if error] or lines or [f"exit status {status}"])[0]


def counters_of(report):
    """The launches by kernel."""
    counters = {}
    for launch in report.get("launches", []):
        counters.setdefault(short_name(launch["kernel"]), []).append({**launch, **launch.get("counters", {})})
    return counters


def short_name(kernel):
    """fewest, of fewest<256u>(int const*, int*, unsigned long)."""
    return re.split(r"[<(]", kernel)[0].rpartition("::")[2].rpartition(" ")[2]


MOST_SEED_BITS = 48  # too many for a kernel to try them all and infer the others from a few elements


def run_all(exercise, ptx, build, seed):
    """Runs the cases on all processors. Returns those before the first failure, and the failure."""
    numbers = random.Random(seed)
    cases = [Case(arguments, numbers.randrange(1, 2**MOST_SEED_BITS), kernels, schedule)
             for arguments, kernels, schedule in [*((*case, 0) for case in exercise.cases()), *exercise.cases_in_other_orders()]]
    lock, first_wrong = threading.Lock(), len(cases)

    def run(index):
        nonlocal first_wrong
        if index < first_wrong:
            run_case(exercise, ptx, build, cases[index])
        if cases[index].problem:
            with lock:
                first_wrong = min(first_wrong, index)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(run, range(len(cases))))
    return cases[:first_wrong + 1]


def sound_kernels(exercise, ptx, build, seed):
    """The kernels that are right and clean in every case. Each runs alone, so that none hides another's errors."""
    sound = []
    for kernel in exercise.kernels():
        if not any(case.problem or case.findings for case in run_all(exercise.of(kernel), ptx, build, seed)):
            sound.append(kernel)
    return sound


# ---- the verdict ----

STEPS = ("compiles", "right", "clean", "traffic")
AGAIN = "again: "  # begins the line of a failed step that has a command in it


@dataclass
class Step:
    name: str  # of STEPS
    passed: bool
    what: list  # lines: what was looked at, or what is wrong


@dataclass
class Verdict:
    exercise: Exercise
    steps: list = field(default_factory=list)  # up to the first that failed
    warnings: str = ""  # what nvcc said of a solution that it compiled
    score: object = None  # of a solved exercise that has one: the count to make small
    sound: object = None  # where one of several kernels is not right or not clean: those that are

    @property
    def solved(self):
        return len(self.steps) == len(STEPS) and self.steps[-1].passed

    def points(self):
        """A point each for right, clean and traffic; none for compiling alone."""
        return sum(step.passed for step in self.steps if step.name != "compiles")


def check(exercise, text, build, folder, seed=None, each_kernel=False, compile_it=compile_text, tell=lambda step: None):
    """Checks the file `text`. What is made on the way lies in `folder`. The same seed makes the same random data.
    With `each_kernel` the verdict says which of several kernels are sound, which takes longer. `tell` gets each step as
    soon as it is known."""
    folder.mkdir(parents=True, exist_ok=True)
    for program in ("emulate", exercise.program):
        if not (build / "bin" / program).is_file():
            raise ExerciseError(f"there is no {build / 'bin' / program}; make exercise{exercise.number} builds it")
    verdict = Verdict(exercise)

    def step(name, problem, what):
        verdict.steps.append(Step(name, not problem, problem or what))
        tell(verdict.steps[-1])
        return not problem

    ptx, said = compile_it(exercise, text, build, folder)
    verdict.warnings = said if ptx else ""
    if not step("compiles", ["no:", *first_lines(said, 12)] if ptx is None else [], ["yes"]):
        return verdict
    cases = run_all(exercise, ptx, build, seed)
    if not (step("right", not_right(exercise, ptx, cases), [what_was_run(cases)]) and
            step("clean", not_clean(exercise, ptx, cases), [f"no findings: {', '.join(CHECKERS.values())}"])):
        if each_kernel and len(exercise.kernels()) > 1:
            verdict.sound = sound_kernels(exercise, ptx, build, seed)
        return verdict
    step("traffic", *traffic(exercise, ptx, cases, build, seed))
    if verdict.solved and exercise.scored:
        verdict.score = counts_of(exercise.scored, cases)[0]
    return verdict


def what_was_run(cases):
    def values(option):
        return sorted({int(case.arguments[case.arguments.index(option) + 1]) for case in cases
                       if option in case.arguments})
    sizes, blocks = values("--n"), values("--block")
    text = "1 case" if len(cases) == 1 else f"{len(cases)} cases"
    if sizes:
        text += f": n from {sizes[0]:,} to {sizes[-1]:,}"
    if len(blocks) > 1:
        text += f", blocks of {blocks[0]} to {blocks[-1]:,}"
    return text


def again(exercise, ptx, case, how=CHECKED):
    """A command that repeats the case, for a shell in the root."""
    path = ptx.relative_to(ROOT) if ptx.is_relative_to(ROOT) else ptx
    return AGAIN + shlex.join(emulate_command(exercise, path, case, how))


def arguments_of(run):
    return " ".join(run.arguments) or "the program as it is"


def not_right(exercise, ptx, cases):
    wrong = next((case for case in cases if case.problem), None)
    if not wrong:
        return []
    lines = [f"no, with {arguments_of(wrong)}:", *first_lines(wrong.problem, 4)]
    # The finding that explains it: one in the wrong kernel, if that is known.
    kernel = wrong.problem.partition(": ")[0]
    findings = [finding for finding in wrong.findings
                if kernel not in exercise.kernels() or short_name(finding.get("kernel", "")) == kernel]
    if findings:
        lines += finding_lines(first_cause(findings))
    return lines + [again(exercise, ptx, wrong)]


def first_cause(findings):
    """A race reads what is not written yet: it comes before the uninitialized read."""
    return min(findings, key=lambda finding: CAUSES.index(finding["checker"]))


def not_clean(exercise, ptx, cases):
    unclean = next((case for case in cases if case.findings), None)
    if not unclean:
        return []
    return [f"no, with {arguments_of(unclean)}:", *finding_lines(first_cause(unclean.findings)),
            again(exercise, ptx, unclean)]


def finding_lines(finding):
    parties = [party for party in finding.get("parties", []) if party.get("where")]
    where = f" at {parties[0]['where']}" if parties else ""
    where += f", in {short_name(finding['kernel'])}" if finding.get("kernel") else ""
    lines = [f"{finding['checker']}: {finding['kind']}{where}", finding["message"]]
    return lines + ([f"usually: {finding['cause']}"] if finding.get("cause") else [])


def traffic(exercise, ptx, cases, build, seed):
    """(What is wrong, what is right.)"""
    problem, what, missed = [], [], []
    for goal in exercise.goals:
        counts = counts_of(goal, cases)
        line = f"{goal.counter} of {goal.kernel}: yours {counts[0]:,}, goal {goal.text}"
        what.append(line)
        if not goal.least <= counts[0] <= goal.most:
            problem.append(f"{line}, with {arguments_of(goal)}")
            missed.append(goal)
        elif max(counts) > goal.most:
            problem.append(f"{goal.counter} of {goal.kernel}: its launch {counts.index(max(counts)) + 1} has "
                           f"{max(counts):,}, goal {goal.text} for each, with {arguments_of(goal)}")
            missed.append(goal)
    if missed:
        first = missed[0]
        return ["no:", *problem, again(exercise, ptx, case_of(first, cases), BY_LINE)], what
    problem = beside_the_goals(exercise, cases) or beside_the_tile(exercise, ptx, build, seed)
    return (["no:", *problem], []) if problem else ([], what)


def beside_the_goals(exercise, cases):
    """Lines about traffic that no goal counts."""
    found, allowed = {}, exercise.lesson.exercise.get("uses", [])
    for kernel in exercise.kernels():
        launches = [launch for case in cases for launch in case.counters.get(kernel, [])]
        goals = {goal.counter for goal in exercise.goals if goal.kernel == kernel}
        # Who counts by atomics may set a counter back by one whose result nobody reads.
        free = {"reduction sectors": 1} if "atomic sectors" in goals else {}
        for what in HIDDEN:
            most = max((launch.get(COUNTERS[what], 0) for launch in launches), default=0)
            if most > free.get(what, 0) and what not in goals and (what != "shared atomics" or counts_shared(goals)):
                found[what] = f"{what} of {kernel}: yours {most:,}"
        for launch in launches:
            for what, instruction in launch.get("uncounted", {}).items():
                found[what] = f"{what} of {kernel} ({instruction})"
    return [f"{line}, and no goal allows that traffic: use loads and stores of global and shared memory"
            for what, line in found.items() if what not in allowed]


def counts_shared(goals):
    return any(counter.startswith("shared ") for counter in goals)


def beside_the_tile(exercise, ptx, build, seed):
    """What is wrong with where the results come from, as lines. A kernel without input knows its result: here each
    thread's number gets a tag on its way through shared memory that no kernel can know."""
    if exercise.lesson.exercise.get("data") != "thread numbers":
        return []
    not_through = "the result does not come from the tile, where each thread stores its own number once and reads one"
    tags = random.Random(seed).randrange(2**64)
    for arguments, kernel in dict.fromkeys((goal.arguments, goal.kernel) for goal in exercise.goals):
        case = Case(arguments, seed, (kernel,))
        run_case(exercise, ptx, build, case, ("--tag-numbers", str(tags)))
        cannot = re.search(r"--tag-numbers: cannot follow (\S+):", case.problem)
        if cannot:
            return [f"{not_through}: {cannot[1]} writes memory otherwise"]
        if case.problem:
            return [f"{not_through}. Here is what it leaves if no thread can know its number, with {arguments_of(case)}:",
                    *first_lines(case.problem, 2)]
    return []


def case_of(goal, cases):
    return next(case for case in cases if (case.arguments, case.kernels) == (goal.arguments, (goal.kernel,)))


def counts_of(goal, cases):
    """Of each launch of the goal's kernel. Where a goal is the most that may be, with what counts too."""
    names = [goal.counter, *([COUNTED_TOO[goal.counter]] if goal.counter in COUNTED_TOO and goal.most < math.inf else [])]
    return [sum(launch.get(COUNTERS[name], 0) for name in names)
            for launch in case_of(goal, cases).counters[goal.kernel]]


def marks(exercise, build):
    """What the kernels of the program itself count where a score is taken, as [(kernel, count)]: those of the lessons,
    and our solution under the name of the exercise's kernel."""
    goal = exercise.scored
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [str(build / "bin/emulate"), "--counters", "--format", "json", "--output", str(report),
                   str(build / "bin" / exercise.program), "--device", "emulator", *goal.arguments, "--verify"]
        if run_bounded(command, LONGEST, os.devnull, os.devnull) != 0:
            raise ExerciseError(f"{shlex.join(command)} fails")
        counters = counters_of(json.loads(report.read_text(encoding="utf-8")))
    return [(kernel, launches[0][COUNTERS[goal.counter]]) for kernel, launches in counters.items()]


def first_lines(text, count):
    lines = [line if len(line) <= 300 else line[:300] + "…" for line in text.splitlines() if line.strip()]
    return lines[:count] + (["…"] if len(lines) > count else [])
