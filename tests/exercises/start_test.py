#!/usr/bin/env python3
"""start_test.py BUILD some|wrong: scripts/exercise_start, with the unsolved and the solved program, or with wrong solutions.

A wrong solution, in tests/lessons/start/wrong.diff, is how it differs from the solved program.
The answers on the lesson's page are what these print.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from solutions import Wrong
from tutorial import ROOT
from tutorial.wrong import changed, parts

BUILD = Path(sys.argv[1]).absolute()
FOLDER = ROOT / "lessons/start"
UNSOLVED = (FOLDER / "start.cu").read_text(encoding="utf-8")
SOLVED = "\n".join(changed(UNSOLVED.splitlines(), (FOLDER / "course/solution.diff").read_text(encoding="utf-8"))) + "\n"


class Start(unittest.TestCase):
    def check(self, text):
        """The exit status, {step: what is said of it}, and all that is said."""
        with tempfile.TemporaryDirectory(prefix="start_test_") as folder:
            file = Path(folder) / "start.cu"
            file.write_text(text, encoding="utf-8")
            run = subprocess.run([sys.executable, ROOT / "scripts/exercise_start", "--build", BUILD, "--file", file],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return run.returncode, dict(re.findall(r"^  (\w+) +(.*(?:\n {13}.*)*)", run.stdout, re.MULTILINE)), run.stdout

    def expect_failed(self, step, words, text):
        status, steps, told = self.check(text)
        self.assertEqual(status, 1, told)
        self.assertEqual([name for name, what in steps.items() if what.startswith("no:")], [step], told)
        self.assertRegex(steps[step], words)


class Few(Start):
    def test_unsolved_it_runs_as_before(self):
        # 1,048,576 x 4 / 32 = 131,072
        self.expect_failed("traffic", "global load sectors: yours 131,072, goal 250,002", UNSOLVED)

    def test_solved_it_passes(self):
        status, steps, told = self.check(SOLVED)
        self.assertEqual(status, 0, told)
        self.assertEqual(list(steps), ["compiles", "launch", "right", "compares", "clean", "traffic"])
        # 3,907 = 1,000,003 / 256, rounded up
        self.assertIn("1000003 numbers multiplied by 3907 blocks of 256 threads: all correct", steps["right"])
        self.assertIn("Solved. Next: make exercise00.", told)

    def test_wrong_command_lines_are_told(self):
        for words, message in ((["--nonsense"], "unrecognized arguments"), (["--build", FOLDER], "there is no")):
            run = subprocess.run([sys.executable, ROOT / "scripts/exercise_start", *words], capture_output=True, text=True)
            self.assertEqual(run.returncode, 2)
            self.assertIn(message, run.stderr)


class AllWrong(Start):
    def test_what_does_not_compile_is_shown(self):
        self.expect_failed("compiles", r'start\.cu\(1\): error: .*"nothing" is undefined', "int x = nothing;")

    def test_all_fail_as_they_should(self):
        for part in parts("start", "exercise"):
            wrong = Wrong(part, SOLVED)
            with self.subTest(wrong.name):
                self.expect_failed(wrong.step, wrong.words, wrong.text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "AllWrong" if sys.argv[2] == "wrong" else "Few"])
