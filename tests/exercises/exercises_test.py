#!/usr/bin/env python3
"""exercises_test.py BUILD NN: exercise NN is as it should be, with every fifth case; of its wrong solutions one is checked.
exercises_test.py BUILD NN wrong: all its wrong solutions fail as they should, and our own solves it in every case.
exercises_test.py BUILD commands: scripts/exercise is as it should be.

The wrong solutions are in tests/lessons/lessonNN/wrong.diff; scripts/tutorial/wrong.py says how they are written. The kernels
that the lesson's page shows must not solve an exercise that has a solution of its own.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from solutions import Compiled, NotKept, wrong_solutions
from tutorial import exercises as checker
from tutorial.wrong import changed

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/exercise"
BUILD, WHAT = Path(sys.argv[1]).absolute(), sys.argv[2]
MOST_LINES, WIDTH = 24, 67  # of a check's output: one screen of 80 columns, of which 13 are for the steps' names


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="exercises_test_")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class WithFewCases(checker.Exercise):
    """An exercise with every fifth case, in other orders too, and all those of its goals."""

    def cases(self):
        cases = super().cases()
        of_goals = [(goal.arguments, (goal.kernel,)) for goal in self.goals]
        return [case for i, case in enumerate(cases) if i % 5 == 0 or case in of_goals]

    def cases_in_other_orders(self):
        return super().cases_in_other_orders()[::5]


class OrdersAlone(checker.Exercise):
    """An exercise with its cases in other orders, which otherwise run after all others."""

    def cases(self):
        return []


class Solutions(WithFolder):
    """Checks texts of an exercise that were compiled together."""

    def check(self, compiled, path, text, exercise=None):
        def compile_it(exercise, text, build, folder):
            ptx = folder / "solution.ptx"
            compiled.write(path, ptx)
            return ptx, "\n".join(line for line in compiled.said.splitlines() if path and line.startswith(f"{path}("))

        verdict = checker.check(exercise or compiled.exercise, text, BUILD, self.folder, seed=7, compile_it=compile_it)
        return verdict, self.told(verdict)

    def told(self, verdict):
        lines = [line for step in verdict.steps for entry in step.what for line in entry.splitlines()]
        rows = sum(max(1, -(-len(line) // WIDTH)) for line in lines)
        self.assertLess(rows, MOST_LINES, "more than a screen")
        return "\n".join(lines)

    def solve(self, compiled):
        """Expects that our own solution passes. Returns what is told of it."""
        verdict, told = self.check(compiled, None, compiled.exercise.solution)
        self.assertTrue(verdict.solved, told)
        self.assertEqual(verdict.points(), 3)
        return told

    def expect_wrong(self, wrong, compiled):
        # A wrong result may come in one case alone; findings and traffic come in all, or in the goals'.
        cases = WithFewCases if wrong.step in ("clean", "traffic") else checker.Exercise
        if wrong.step == "right" and self.fails_in_an_order(wrong, compiled):
            cases = OrdersAlone
        self.expect_fails(wrong, *self.check(compiled, wrong.path, None, cases(WHAT)))

    def fails_in_an_order(self, wrong, compiled):
        """Whether another order shows it: then the check needs no other case."""
        exercise = OrdersAlone(WHAT)
        if not exercise.cases_in_other_orders():
            return False
        ptx = self.folder / "in_an_order.ptx"
        compiled.write(wrong.path, ptx)
        return bool(checker.run_all(exercise, ptx, BUILD, seed=7)[-1].problem)

    def expect_fails(self, wrong, verdict, told):
        failed = [step.name for step in verdict.steps if not step.passed]
        self.assertEqual(failed, [wrong.step], told)
        self.assertRegex(told, wrong.words)


def texts_of(exercise, wrong):
    """The unsolved exercise and its wrong solutions, in the form that Compiled takes."""
    return {str(exercise.text): exercise.text.read_text(encoding="utf-8"), **{each.path: each.text for each in wrong}}


class OneExercise(Solutions):
    @classmethod
    def setUpClass(cls):
        cls.exercise = WithFewCases(WHAT)
        cls.wrong = [wrong for wrong in wrong_solutions(cls.exercise) if wrong.step != "compiles"]
        if len(cls.wrong) < 3:
            raise AssertionError(f"wrong.diff of exercise {WHAT} has {len(cls.wrong)} wrong solutions of at least three: see "
                                 "'Writing an exercise' in docs/teaching.md")
        # Not the first of each, so that the exercises together cover every step.
        cls.one_wrong = cls.wrong[checker.all_numbers().index(WHAT) % len(cls.wrong)]
        cls.texts = {str(cls.exercise.text): cls.exercise.text.read_text(encoding="utf-8"),
                     cls.one_wrong.path: cls.one_wrong.text}
        try:  # all of them, after the test of all has run
            cls.compiled = Compiled(cls.exercise, texts_of(cls.exercise, cls.wrong), BUILD, "all", if_kept=True)
        except NotKept:
            cls.compiled = Compiled(cls.exercise, cls.texts, BUILD, "some", with_program=False)

    def test_unsolved_it_compiles_and_fails(self):
        path = str(self.exercise.text)
        self.assertRegex(self.texts[path], r"// TODO, about \d+ lines?: ", "where, how many lines, and what to achieve")
        verdict, told = self.check(self.compiled, path, self.exercise.text)
        self.assertTrue(verdict.steps[0].passed, told)
        self.assertFalse(verdict.solved, "the exercise is solved already")
        self.assertEqual(verdict.warnings, "", "nvcc warns of the unsolved exercise")

    def test_solved_it_passes(self):
        told = self.solve(self.compiled)
        if self.exercise.solution.name == "solution.cuh":  # a goal's number is derived from it, but for instructions
            for counter, count, goal in re.findall(r"^(.+) of \w+: yours ([\d,]+), goal (?:exactly )?([\d,]+)$", told, re.M):
                if counter != "instructions":
                    self.assertEqual(count, goal, counter)

    def test_a_wrong_solution_fails_as_it_should(self):
        self.assertGreaterEqual(len(self.wrong), 3, "at least three wrong solutions")
        self.expect_wrong(self.one_wrong, self.compiled)

    def test_the_lessons_page_does_not_solve_it(self):
        kernels = self.exercise.folder / "kernels.cuh"
        if self.exercise.solution != kernels:
            self.assertIn(kernels.read_text(encoding="utf-8"), [each.text for each in self.wrong])

    def test_it_has_a_page_with_hints(self):
        source = self.exercise.page.read_text(encoding="utf-8")
        self.assertIn(f"make exercise{WHAT}", source)
        self.assertIn(f"{self.exercise.folder.name}/exercise.cuh", source)
        self.assertEqual(source.count("<summary>Hint "), 3)
        self.assertEqual(len(self.exercise.hints), 3)
        for hint in self.exercise.hints:
            self.assertGreater(len(hint.split()), 20, "a hint says something")
            self.assertLess(len(hint.splitlines()), MOST_LINES)

    def test_a_page_leads_to_it(self):
        page = ROOT / "README.md" if self.exercise.lesson.is_open else self.exercise.lesson.page
        link = os.path.relpath(self.exercise.page, page.parent)
        self.assertIn(f"]({link})", page.read_text(encoding="utf-8"))

    def test_the_goals_kernels_are_the_lessons(self):
        listed = subprocess.run([BUILD / "bin" / self.exercise.program, "--list"], stdout=subprocess.PIPE, text=True)
        for goal in self.exercise.goals:
            self.assertIn(goal.kernel, listed.stdout.split())

    @unittest.skipUnless(WHAT == "C", "is about exercise C")
    def test_its_bugs_are_those_of_the_wrong_solutions_and_hide_where_it_says(self):
        lines = (self.exercise.folder / "kernels.cuh").read_text(encoding="utf-8").splitlines()
        for wrong in wrong_solutions(self.exercise):
            lines = changed(lines, wrong.diff)
        text = self.exercise.text.read_text(encoding="utf-8")
        self.assertEqual("\n".join(lines) + "\n", re.sub(r"// TODO, .*\n(//.*\n)*\n", "", text))

        ptx = self.folder / "bugs.ptx"
        self.compiled.write(str(self.exercise.text), ptx)
        found = self.folder / "found.json"
        for words in ([], ["--check", "all", "--format", "json", "--output", found]):
            run = subprocess.run([BUILD / "bin/emulate", "--ptx", ptx, *words, BUILD / "bin/openC", "--device",
                                  "emulator", "--n", "2^20", "--verify"], stdout=subprocess.PIPE, text=True)
            self.assertEqual(run.stdout.count(": verified"), 5, run.stdout)
        self.assertEqual([(finding["checker"], checker.short_name(finding["kernel"]))
                          for finding in json.loads(found.read_text())["findings"]],
                         [("sync", "sum_tree"), ("race", "sum_last_warp")])


class WrongSolutions(Solutions):
    @staticmethod
    def compiled(exercise, wrong):
        return Compiled(exercise, texts_of(exercise, [each for each in wrong if each.step != "compiles"]), BUILD, "all")

    @unittest.skipUnless(WHAT == "09", "is about its fences")
    def test_a_missing_fence_makes_a_wrong_sum_in_some_order(self):
        exercise = checker.Exercise(WHAT)
        wrong = wrong_solutions(exercise)
        compiled = self.compiled(exercise, wrong)
        without_fence = [each.path for each in wrong if "no_fence" in each.name]
        self.assertEqual(len(without_fence), 3, "either one, and both")
        ptx = self.folder / "solution.ptx"
        # Of 10 blocks the last one reads 9 partial sums that it may miss, each in every other seed. It misses none in 1 of 512
        # seeds: 5 seeds miss that once in 10^13.
        for path, status in [(None, 0), *((path, 10) for path in without_fence)]:
            compiled.write(path, ptx)
            run = subprocess.run([BUILD / "bin/emulate", "--ptx", ptx, "--schedules", "5", BUILD / "bin/lesson09", "--device",
                                  "emulator", "--kernel", "reduce9", "--n", "40000", "--verify"], capture_output=True, text=True)
            with self.subTest(path):
                self.assertEqual(run.returncode, status, run.stdout + run.stderr)
                self.assertIn(": verified", run.stdout, "in the usual order")
                if path:
                    self.assertRegex(run.stderr, r"The order of seed \d+ changes what the program does")

    def test_all_fail_as_they_should(self):
        exercise = checker.Exercise(WHAT)
        wrong = wrong_solutions(exercise)
        compiled = self.compiled(exercise, wrong)
        for each in wrong:
            with self.subTest(each.name):
                if each.step == "compiles":
                    text = self.folder / "text.cuh"
                    text.write_text(each.text, encoding="utf-8")
                    verdict = checker.check(exercise, text, BUILD, self.folder, seed=7)
                    self.expect_fails(each, verdict, self.told(verdict))
                else:
                    self.expect_wrong(each, compiled)

    def test_our_own_passes_in_every_case(self):
        exercise = checker.Exercise(WHAT)
        self.solve(self.compiled(exercise, wrong_solutions(exercise)))


class Commands(WithFolder):
    """scripts/exercise in a copy of the parts of the tree that it needs."""

    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        for part in ("scripts", "common/harness"):
            shutil.copytree(ROOT / part, self.tree / part)
        shutil.copy(ROOT / "common/counters.json", self.tree / "common")
        for name in ("lesson02_sequential_addressing", "lesson03_first_add_on_load"):
            shutil.copytree(ROOT / "lessons" / name, self.tree / "lessons" / name)
        self.lesson = self.tree / "lessons/lesson03_first_add_on_load"
        self.text = self.lesson / "exercise.cuh"
        self.original = self.text.read_text(encoding="utf-8")

    def command(self, *words):
        build = [] if "--build" in words else ["--build", str(BUILD)]
        return [sys.executable, str(self.tree / "scripts/exercise"), *words, *build]

    def run_script(self, *words, status=0):
        run = subprocess.run(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, status, run.stdout)
        return run.stdout

    def solve(self):
        shutil.copy(self.lesson / "course/solution.cuh", self.text)

    def pretend(self, build, programs):
        """Makes a build tree of shell scripts: {its path: what it does}, among them nvcc."""
        (build / "bin").mkdir(parents=True, exist_ok=True)
        (build / "CMakeCache.txt").write_text(f"CMAKE_CUDA_COMPILER:FILEPATH={build}/nvcc\n")
        for path, does in programs.items():
            (build / path).write_text(f"#!/bin/sh\n{does}\n")
            (build / path).chmod(0o755)

    def test_check_says_what_is_wrong_and_what_to_do(self):
        told = self.run_script("03", "--seed", "7", status=1)
        self.assertLess(len(told.splitlines()), MOST_LINES)
        self.assertIn("  compiles   yes\n  right      no, with --n ", told)
        self.assertRegex(told, r"reduce3: wrong result: expected -?[\d,]+, got -?[\d,]+\n")
        again = re.search(r"again: (\./emulate --ptx build/exercises/lesson03/exercise03.ptx .*)\n", told).group(1)
        self.assertIn("  clean      not looked at yet\n  traffic    not looked at yet\n", told)
        self.assertIn("This is the original.", told)
        self.assertIn("Hint 1 of 3: make hint03.", told)
        self.assertIn(f"The same numbers again: scripts/exercise 03 --seed 7 --build {BUILD}\n", told)
        self.assertRegex(told, r"\n +reduce3: pass 1, block 0 \(elements 0 to ")
        self.assertEqual(told, self.run_script("--seed", "7", "03", status=1))

        wrong = re.search(r"reduce3: wrong result: .*\n", told).group(0)
        self.assertIn(wrong, self.repeat(again), "the command repeats the case")

    def repeat(self, command):
        for program in ("emulate", "exercise03"):
            (self.tree / program).symlink_to(BUILD / "bin" / program)
        return subprocess.run(command, shell=True, cwd=self.tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True).stdout

    def test_too_much_traffic_is_told_with_a_command_that_shows_its_line(self):
        four = " + ".join(f"(i + {k} < n ? input[i + {k}] : 0)" for k in range(4))
        text = re.sub(r"int sum = [^;]*;\n +if [^}]*}", f"int sum = {four};",
                      self.original.replace("(2 * blockDim.x) + tid;", "(4 * blockDim.x) + 4 * tid;"))
        self.text.write_text(text)
        told = self.run_script("03", status=1)
        self.assertIn("global load sectors of reduce3: yours 2,097,152, goal 524,288, with --n 4194304 --block 256", told)
        again = re.search(r"again: (.*)\n", told).group(1)
        by_line = self.repeat(again.replace("--lines", "--lines --format json"))
        shown = json.loads(by_line[by_line.index('\n{\n'):])
        lines = [line for kernel in shown["lines"] for function in kernel["functions"]
                 for line in function["lines"]]
        counts = {line["line"]: line["counters"].get(checker.COUNTERS["global load sectors"], 0) for line in lines
                  if "counters" in line}
        loads = text[:text.index("int sum = ")].count("\n") + 1
        self.assertEqual(counts[loads], 2_097_152, "of the first launch, as the goal")

    def test_of_several_kernels_it_says_which_are_right_and_clean(self):
        name = "openC_find_the_bug"
        shutil.copytree(ROOT / "lessons" / name, self.tree / "lessons" / name)
        text = self.tree / "lessons" / name / "exercise.cuh"
        bugs = text.read_text(encoding="utf-8")
        # Smaller, so that it takes less.
        check = self.tree / "scripts/tutorial/exercises.py"
        check.write_text(check.read_text().replace("LARGE = (65_537, 999_983, 2**20 - 1, 2**20 + 1)", "LARGE = ()"))
        self.assertIn("\n0 of 5 kernels are right and clean.\n", self.run_script("C", status=1))
        text.write_text(bugs.replace("i + blockDim.x <= n", "i + blockDim.x < n").replace(
            "            __syncthreads(); // This step's sums are stored before the next step reads them.\n        }\n",
            "        }\n        __syncthreads(); // This step's sums are stored before the next step reads them.\n"))
        self.assertIn("\n2 of 5 kernels are right and clean: sum_tree, sum_two_loads.\n",
                      self.run_script("C", status=1))

    def test_errors_of_the_compiler_name_the_file_and_its_line(self):
        self.text.write_text(self.original.replace("const unsigned int tid = threadIdx.x;", "int tid = threadIdx.y y;"))
        told = self.run_script("03", status=1)
        line = self.original[:self.original.index("const unsigned int tid")].count("\n") + 1
        self.assertIn(f"  compiles   no:\n             lessons/lesson03_first_add_on_load/exercise.cuh({line}): error: ", told)
        self.assertIn("  right      not looked at yet", told)

    def test_errors_of_the_compiler_fit_on_a_screen(self):
        for text, error in (('#include "solution.cuh"\n', "error: #include nested depth"),
                            (f'static_assert(false, "{"A" * 100_000}");\n', "static assertion failed")):
            self.text.write_text(text)
            told = self.run_script("03", status=1)
            self.assertIn(error, told)
            self.assertLess(len(told.splitlines()), MOST_LINES)
            self.assertLess(max(map(len, told.splitlines())), 320)

    def test_a_compiler_that_takes_too_long_is_stopped(self):
        self.text.write_text(self.original + "template <int n, int m> struct Bomb { Bomb<n - 1, 2 * m> a; Bomb<n - 1, 2 * m + "
                             "1> b; };\ntemplate <int m> struct Bomb<0, m> { int x; };\nBomb<26, 0> bomb;\n")
        check = self.tree / "scripts/tutorial/exercises.py"
        check.write_text(check.read_text().replace("LONGEST_COMPILING = 120", "LONGEST_COMPILING = 1"))
        told = self.run_script("03", status=1)
        self.assertRegex(told, "  compiles   no:\n .*(time|signal)")

    def test_a_kernel_that_is_gone_is_an_error(self):
        self.text.write_text(self.original.replace("reduce3", "reduce4"))
        told = self.run_script("03", status=1)
        self.assertIn("lessons/lesson03_first_add_on_load/course/exercise.cu(", told)
        self.assertIn('identifier "reduce3" is undefined', told)
        self.text.write_text(self.original.replace("reduce3", "reduce4") + "#define reduce3 reduce4\n")
        self.assertIn("exercise03.ptx: has no kernel reduce3(int const*, int*, unsigned long)",
                      " ".join(self.run_script("03", status=1).split()), "wherever the line is wrapped")

    def test_a_loop_without_end_is_ended(self):
        self.text.write_text(self.original.replace("stride > 0; stride /= 2", "stride >= 0; stride /= 2"))
        check = str(self.tree / "scripts/tutorial/exercises.py")
        Path(check).write_text(Path(check).read_text().replace("LONGEST = 10", "LONGEST = 2"))
        self.assertRegex(" ".join(self.run_script("03", status=1).split()),
                         r"did not end within 2 s of the processor: does the loop around \S+\.cuh:\d+ never end\?")

    def test_a_busy_machine_is_no_verdict(self):
        self.solve()
        check = self.tree / "scripts/tutorial/exercises.py"
        check.write_text(check.read_text().replace("PATIENCE = 30 ", "PATIENCE = 0.001 "))
        told = self.run_script("03", status=2)
        self.assertIn("the machine is too busy", told)
        self.assertFalse((self.tree / "build/exercises/state.json").exists())

    def test_what_is_ended_from_outside_is_no_verdict(self):
        self.solve()
        tools = self.folder / "build"
        ends = {"nvcc": "exit 0", "bin/emulate": "exit 1", "bin/exercise03": "exit 1"}
        for name, end, told in (
                ("nvcc", "echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\"; exit 9", "the compiler was ended"),
                ("nvcc", "kill -9 $$", "the compiler was ended from outside"),
                ("nvcc", "echo cicc: not found; exit 127", "the compiler could not be started: cicc: not found"),
                ("bin/emulate", "kill -9 $$", "emulate was ended from outside"),
                ("bin/emulate", "echo libfmt.so: file too short >&2; exit 127", "emulate could not be started: libfmt.so: "),
        ):
            self.pretend(tools, {**ends, name: end})
            self.assertIn(f"exercise: {told}", self.run_script("03", "--build", str(tools), status=2))
        for report, told in (({"exit_status": 137, "signal": 9}, "exercise03 was ended from outside"),
                             ({"exit_status": 127}, "exercise03 could not be started: libcudart.so.13: file too short")):
            with self.assertRaisesRegex(checker.ExerciseError, told):
                checker.judge(checker.Exercise("03"), checker.Case(("--n", "1"), 1, ("reduce3",)), report,
                              "libcudart.so.13: file too short")

    def test_what_a_kernel_prints_counts_for_nothing(self):
        self.text.write_text(self.original.replace(
            "#include <cstddef>", "#include <cstddef>\n#include <cstdio>").replace(
            "    if (tid == 0) {", '    if (tid == 0) {\n        printf("{\\"exit_status\\": 0}\\nreduce3: verified, 5\\n");'))
        self.assertIn("wrong result", self.run_script("03", status=1))

    def test_a_solved_one_is_told_and_remembered(self):
        text = (self.lesson / "course/solution.cuh").read_bytes()
        self.text.write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))  # as editors of other systems write it
        told = self.run_script("check", "03")
        self.assertRegex(told, r"  right      \d+ cases: n from 1 to 4,194,304, blocks of 32 to 1,024\n"
                               r"  clean      no findings: memory accesses, uninitialized reads, races, barriers\n"
                               r"  traffic    global load sectors of reduce3: yours 524,288, goal 524,288\n")
        self.assertIn("Solved.", told)
        board = self.run_script("board")
        self.assertRegex(board, r"02  sequential addressing, half the loads +-\n03  four elements per thread +solved\n")
        self.assertIn("1 of 2 solved. Next: make exercise02", board)
        self.text.write_text(self.text.read_text() + "\n// more\n")
        self.assertIn("changed since its last check: make exercise03", self.run_script("board"))

    def test_a_file_from_elsewhere_leaves_no_trace(self):
        other = self.folder / "other.cuh"
        other.write_text(self.original)
        self.assertIn(str(other), self.run_script("03", "--file", str(other), status=1))
        self.assertFalse((self.tree / "build/exercises/state.json").exists())

    def test_verdicts_are_colored_on_a_terminal_alone(self):
        tools = self.folder / "build"
        self.pretend(tools, {"nvcc": "echo nonsense; exit 1", "bin/emulate": "exit 1", "bin/exercise03": "exit 1"})
        terminal = [sys.executable, "-c", "import pty, sys; pty.spawn(sys.argv[1:])"]
        colors = {**os.environ, "TERM": "xterm", "NO_COLOR": ""}
        for start, environment, colored in ((terminal, colors, True), ([], colors, False),
                                            (terminal, {**colors, "NO_COLOR": "1"}, False),
                                            (terminal, {**colors, "TERM": "dumb"}, False)):
            command = [*start, *self.command("03", "--build", str(tools))]
            told = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=environment).stdout
            self.assertEqual("  compiles   \033[31mno:\033[0m\n" in told, colored, told)
            self.assertEqual("\033" in told, colored, told)

    def test_hints_come_one_by_one(self):
        for number in (1, 2, 3):
            told = self.run_script("hint", "03")
            self.assertTrue(told.startswith(f"Hint {number} of 3, exercise 03: four elements per thread\n\n"), told)
            self.assertEqual(told.count("Hint "), 1)
        self.assertEqual(self.run_script("hint", "03").count("Hint "), 3)
        self.assertIn("All hints again: make hint03.", self.run_script("03", status=1))
        self.assertIn("3 of 3 hints", self.run_script("board"))

    def test_a_reader_that_leaves_is_no_error(self):
        # Unbuffered, the write fails at each print; else at the end.
        for words, unbuffered, status in ((["board"], "", 0), (["board"], "1", 0), (["hint", "03"], "", 0),
                                          (["hint", "03"], "1", 0), (["03"], "", 1), (["watch", "03"], "", 0)):
            reads, writes = os.pipe()
            os.close(reads)
            run = subprocess.run(self.command(*words), stdout=writes, stderr=subprocess.PIPE, text=True,
                                 env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
            os.close(writes)
            self.assertEqual((run.returncode, run.stderr), (status, ""), words)

    def test_a_full_or_read_only_disk_costs_no_traceback(self):
        self.run_script("hint", "03")
        state = self.tree / "build/exercises/state.json"
        remembered = state.read_text()

        def run(*words, to=subprocess.PIPE, most=0):
            limits = most, resource.getrlimit(resource.RLIMIT_FSIZE)[1]  # no file can grow: as on a full disk
            run = subprocess.run(self.command(*words), stdout=to, stderr=subprocess.PIPE, text=True,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))
            self.assertEqual(run.returncode, 2)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            return run

        told = run("hint", "03")
        self.assertIn("Hint 2 of 3", told.stdout, "it is shown all the same")
        self.assertEqual(told.stderr, "exercise: build/exercises/state.json cannot be written: File too large\n")
        self.assertEqual(state.read_text(), remembered)
        for words in (["03"], ["board", "--state", str(self.folder / "empty")]):
            self.assertIn(": File too large\n", run(*words).stderr)
        for words in (["board"], ["hint", "03"], ["reset", "03"], ["--help"]):
            with open("/dev/full", "w") as full:
                told = run(*words, to=full, most=2**30).stderr
                self.assertIn("exercise: a file or the output: No space left on device\n", told)

    def test_reset_keeps_what_was_written(self):
        self.assertIn("is the original.", self.run_script("reset", "03"))
        for number in (1, 2):
            self.text.write_text(f"// mine {number}\n")
            told = self.run_script("reset", "03")
            self.assertIn(f"Your text is now lessons/lesson03_first_add_on_load/exercise.cuh.mine-{number}.", told)
            self.assertEqual(self.text.with_name(f"exercise.cuh.mine-{number}").read_text(), f"// mine {number}\n")
            self.assertEqual(self.text.read_text(), self.original)
        self.text.unlink()
        self.assertIn("make reset03 brings the original", self.run_script("03", status=2))
        self.run_script("reset", "03")
        self.assertEqual(self.text.read_text(), self.original)

    def test_reset_takes_the_original_from_git(self):
        for words in (["init", "-q"], ["add", "lessons"],
                      ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all"]):
            subprocess.run(["git", "-C", str(self.tree), *words], check=True)
        self.text.write_text("// mine\n")
        self.run_script("reset", "03")
        self.assertEqual(self.text.read_text(), self.original)

    def test_reset_says_when_nobody_has_the_original(self):
        self.text.write_text("// mine\n")
        self.assertIn("is nowhere", self.run_script("reset", "03", status=2))
        self.assertEqual(self.text.read_text(), "// mine\n")

    def test_watch_checks_again_on_each_save(self):
        process = subprocess.Popen(self.command("watch", "03"), stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        try:
            seen = self.read_to(process, "Watching ")
            self.assertIn("wrong result", seen)
            self.solve()
            self.assertIn("Solved.", self.read_to(process, "Watching "))
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(), 0)
        finally:
            process.kill()
            process.wait()

    def read_to(self, process, words):
        seen = ""
        for line in process.stdout:
            seen += line
            if words in line:
                return seen
        self.fail(f"it ended: {seen}")

    def test_what_is_wrong_with_a_goal_is_told(self):
        manifest = self.lesson / "course/lesson.json"
        before, key, goals = manifest.read_text().partition('"goals"')
        for right, wrong, told in (("--n 4194304", "--n 2^22", "'2^22' in a goal's run: write it in digits alone"),
                                   ("131,072", "at most 131,072", "'at most 131,072' is no goal; write 1,024 (no more"),
                                   ("131,072", "exactly", "'exactly' is no goal"),
                                   ("131,072", "13,1072", "'13,1072' is no goal"),
                                   ("load requests", "load request", "unknown counter 'global load request'; there are: ")):
            manifest.write_text(before + key + goals.replace(right, wrong, 1))
            self.assertIn(f"first_add_on_load/course/lesson.json: exercise.goals[0]: {told}", self.run_script("03", status=2))

    def traffic(self, goals, launches, uses=()):
        """Of reduce3, whose launches have these counts: {counter of a goal: count}."""
        exercise = checker.Exercise("03")
        case = checker.Case(("--n", "4194304"), 1, ("reduce3",), counters={
            "reduce3": [{checker.COUNTERS.get(name, name): count for name, count in launch.items()} for launch in launches]})
        exercise.lesson.exercise["uses"] = uses
        exercise.goals = [checker.Goal("reduce3", case.arguments, name, goal) for name, goal in goals.items()]
        ptx = self.folder / "exercise03.ptx"
        ptx.touch()
        problem, what = checker.traffic(exercise, ptx, [case], BUILD, 7)
        return not problem, "\n".join(problem or what)

    def test_a_goal_may_be_a_least_or_a_number(self):
        name = "global load requests"
        for goal, solved in (("131,072", True), ("131,073", True), ("131,071", False), ("at least 131,072", True),
                             ("at least 131,073", False), ("at least 131,071", True), ("exactly 131,072", True),
                             ("exactly 131,071", False), ("exactly 131,073", False)):
            told = self.traffic({name: goal}, [{name: 131_072}])
            self.assertEqual(told[0], solved, goal)
            self.assertIn(f"global load requests of reduce3: yours 131,072, goal {goal}", told[1])

    def test_a_goal_is_about_every_launch_of_its_kernel(self):
        name = "global load sectors"
        launches = [{name: 10}, {name: 100}, {name: 1}]
        self.assertTrue(self.traffic({name: "100"}, launches)[0])
        self.assertTrue(self.traffic({name: "at least 10"}, launches)[0], "the first is the largest pass")
        for goal in ("99", "exactly 10"):
            told = self.traffic({name: goal}, launches)
            self.assertFalse(told[0], goal)
            self.assertIn(f"global load sectors of reduce3: its launch 2 has 100, goal {goal} for each, with --n", told[1])

    def test_an_asynchronous_copy_is_a_store_to_shared_memory_too(self):
        launches = [{"shared store wavefronts": 10, "copy wavefronts": 5}]
        for goal, solved in (("15", True), ("14", False), ("exactly 15", True), ("exactly 10", False), ("at least 11", False)):
            told = self.traffic({"shared store wavefronts": goal}, launches)
            self.assertEqual(told[0], solved, f"{goal}: {told[1]}")

    def test_traffic_that_no_goal_counts_is_told(self):
        name = "global load sectors"
        launches = [{name: 1}, {name: 1, "uncounted": {"local memory": "ld.local.u32", "bulk copies": "cp.async.bulk"}}]
        solved, told = self.traffic({name: "1"}, launches)
        self.assertFalse(solved)
        for words in ("local memory of reduce3 (ld.local.u32), and no", "bulk copies of reduce3 (cp.async.bulk), and no"):
            self.assertIn(words, told)
        self.assertNotIn("bulk copies", self.traffic({name: "1"}, launches, uses=["bulk copies"])[1], "the exercise is about it")

    def test_atomics_are_no_loads_and_stores(self):
        loads, shared = "global load sectors", "shared load wavefronts"
        for what, goals, uses, solved in (
                ("atomic sectors", {loads: "1"}, (), False),
                ("atomic sectors", {loads: "1", "reduction sectors": "5"}, (), False),
                ("atomic sectors", {loads: "1", "atomic sectors": "7"}, (), True),
                ("reduction sectors", {loads: "1"}, (), False),
                ("reduction sectors", {loads: "1", "atomic sectors": "0"}, (), False),
                ("local memory", {loads: "1"}, (), False),
                ("local memory", {loads: "1"}, ("local memory",), True),
                ("shared atomics", {loads: "1", shared: "9"}, (), False),
                ("shared atomics", {loads: "1", shared: "9"}, ("shared atomics",), True),
                ("shared atomics", {loads: "1"}, (), True)):  # the exercise is not about shared memory
            told = self.traffic(goals, [{what: 0}, {what: 7}], uses)
            with self.subTest(what=what, goals=goals, uses=uses):
                self.assertEqual(told[0], solved, told[1])
                if not solved:
                    self.assertIn(f"{what} of reduce3: yours 7, and no goal allows that traffic: use loads and stores", told[1])

        self.assertTrue(self.traffic({loads: "1", "atomic sectors": "1"}, [{"reduction sectors": 1}])[0], "sets a counter back")

    def test_races_come_first_of_what_is_found(self):
        exercise, ptx = checker.Exercise("03"), self.folder / "exercise03.ptx"
        findings = [{"checker": name, "kind": f"a {name}", "kernel": "reduce3(int*)", "message": ""}
                    for name in ("init", "mem", "sync", "race")]
        for problem in ("the result is right by luck:", "reduce3: wrong result: expected 1, got 2"):
            case = checker.Case(("--n", "1"), 1, ("reduce3",), problem=problem, findings=findings)
            self.assertIn("race: a race, in reduce3", checker.not_right(exercise, ptx, [case]))
        self.assertIn("race: a race, in reduce3", checker.not_clean(exercise, ptx, [case]))

    def test_wrong_command_lines_are_told(self):
        self.assertIn("which exercise?", self.run_script("check", status=2))
        self.assertIn("there is no exercise 3; there are: 02 03", self.run_script("3", status=2))
        self.assertIn("is about all exercises", self.run_script("board", "03", status=2))
        self.assertIn("unknown command 'hnt'; there are: check, hint, watch, reset, board",
                      self.run_script("hnt", "03", status=2))
        (self.tree / "lessons/lesson04_x").mkdir()
        self.assertIn("lesson 04 has no exercise yet; there are: 02 03", self.run_script("04", status=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "Commands" if WHAT == "commands" else
                        "WrongSolutions" if "wrong" in sys.argv[3:] else "OneExercise"])
