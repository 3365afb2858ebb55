"""Many solutions of an exercise, compiled by one call of nvcc: it takes longer to begin than for all of them.

Each becomes a namespace of its own, with what the exercise's program launches behind it. The unsolved exercise and our own
solution have the whole program behind them, as a learner's text has. Of what comes out, a solution's PTX is what is in its
namespace, by the names that its kernels have outside of it. The build tree keeps what comes out until something that went
in changes.
"""

import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

from tutorial import ROOT
from tutorial import exercises as checker
from tutorial.wrong import parts


class Wrong:
    """A wrong solution: its text, and at which step and with which words it fails."""

    def __init__(self, part, right, kernels=""):
        """`right`: the right solution's text; `kernels`: what the diff `kernels.cuh` stands for."""
        expected = re.fullmatch(r"(\w+): (.+)", part.expected)
        if not expected:
            raise part.error("what to expect is not 'STEP: WORDS'")
        self.name, self.path, self.step = part.head, str(part.path.with_name(f"{part.head}.cuh")), expected.group(1)
        self.words = ".*".join(re.escape(words) for words in expected.group(2).split("{}"))
        self.diff = part.diff
        self.text = kernels if self.diff == "kernels.cuh" else part.text(right)


def wrong_solutions(exercise):
    right, kernels = (path.read_text(encoding="utf-8") for path in (exercise.solution, exercise.folder / "kernels.cuh"))
    return [Wrong(part, right, kernels) for part in parts(exercise.lesson.name, "exercise")]


class NotKept(Exception):
    """The build tree has no PTX of these solutions."""


class Compiled:
    """Solutions of an exercise that compile, as {path that errors and findings name: text}, and our own."""

    def __init__(self, exercise, texts, build, name, if_kept=False, with_program=True):
        """`if_kept`: raises NotKept rather than call nvcc. Without `with_program` no text has the whole program behind it, which
        takes half the time."""
        self.exercise, self.spaces = exercise, {path: f"solution_{i}" for i, path in enumerate(texts)}
        program, nvcc = exercise.main.read_text(encoding="utf-8"), checker.nvcc_of(build)
        launched = self.launched(program, build)
        source = self.source(texts, launched, program if with_program else launched)
        version = subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        included = sorted([*ROOT.glob("common/harness/**/*.hpp"), *ROOT.glob("lessons/**/*.[ch]*")])
        went_in = "\0".join([version, source, *(path.read_text(encoding="utf-8") for path in included)])
        kept = build / "tests/exercises" / f"{name}{exercise.number}.{hashlib.sha256(went_in.encode()).hexdigest()[:16]}.ptx"
        if if_kept and not kept.is_file():
            raise NotKept
        if not kept.is_file():
            for old in kept.parent.glob(f"{name}{exercise.number}.*"):
                old.unlink(missing_ok=True)
            self.compile(nvcc, source, kept)
        self.build, self.kept = build, kept
        self.said = kept.with_suffix(".txt").read_text(encoding="utf-8")

    def launched(self, program, build):
        """What kernels need of the program: the headers that have kernels, and which of their templates it launches. What else it
        includes takes nvcc longer than the kernels."""
        kernels = self.exercise.kernels()
        if any(f"void {kernel}(" in program for kernel in kernels):
            return program
        symbols = subprocess.run(["nm", "--demangle", build / "bin" / self.exercise.program], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout
        templates = [(name, of) for name, of in re.findall(r"^\w+ \w void (\w+<.*>)(\(.*\))$", symbols, re.MULTILINE)
                     if checker.short_name(name) in kernels]
        # Not instantiated by name: a template of given.cuh is outside of the solution's namespace.
        return "\n".join([*re.findall(r'^#include ".*\.cuh"$', program, re.MULTILINE),
                          *(f"void (*launched_{i}){of} = {name};" for i, (name, of) in enumerate(templates)), ""])

    def source(self, texts, launched, program):
        """Of each its includes, and the rest in its namespace: the unsolved exercise comes first, and sees just what a learner
        has it see. Our own solution comes last, lest a call in another one finds a function of it."""
        include = re.compile(r"^#(?:include .*|pragma once)$", re.MULTILINE)
        at_main = f'#line 1 "{self.exercise.main}"'
        parts = []
        for path, text in texts.items():
            main = program if path == str(self.exercise.text) else launched
            parts += [line for line in re.findall(r"^#include .*$", main + text, re.MULTILINE)
                      if line != f'#include "{self.exercise.header}"']
            parts += [f"namespace {self.spaces[path]} {{", f'#line 1 "{path}"', include.sub("", text),
                      at_main, include.sub("", main), "}"]
        return "\n".join([*parts, at_main, program])

    def compile(self, nvcc, source, kept):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            main = checker.lay_out(self.exercise, self.exercise.solution, Path(folder) / "shadow")
            main.write_text(source, encoding="utf-8")
            ptx = Path(folder) / "solutions.ptx"
            run = subprocess.run([nvcc, *checker.COMPILE_OPTIONS, checker.STANDARDS[0], "-o", ptx, main], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
            if run.returncode != 0:
                raise AssertionError(f"solutions of exercise {self.exercise.number} do not compile:\n{run.stdout}")
            kept.with_suffix(".txt").write_text(run.stdout, encoding="utf-8")
            os.replace(ptx, kept)  # last: what is there is whole

    def write(self, path, ptx):
        """Writes the PTX of the solution `path`, or of our own if `path` is None, without the lesson's kernels that the exercise
        is not about, and without templates of others: no case launches them, and each reads all that is there."""
        kernels = self.exercise.kernels()
        unused = sorted(set(self.exercise.lesson.kernels) - set(kernels))
        without = [rf"\b({'|'.join(unused)})[<(]"] if unused else []
        without += [rf"^void (?!([^<(]*::)?({'|'.join(kernels)})<)"]  # only templates' names begin with what they return
        without += [] if path else [r"\bsolution_\d+::"]
        space = self.spaces[path] if path else ""
        subprocess.run([self.build / "bin/ptx_of", self.kept, ptx, space, "|".join(without)], check=True)
