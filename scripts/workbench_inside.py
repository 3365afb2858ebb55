"""Compiles, runs or times one text for the workbench. Runs in a sandbox, as grade_inside.py does: its only argument is what
to do, as JSON, and it prints what came of it as a line of JSON."""

import json
import os
import sys
from pathlib import Path

from grade_inside import MOST_PTX, bound
from tutorial import exercises as checker

PATIENCE = 2  # times the limit in wall-clock time
MOST_SHOWN = 200_000  # bytes of a program's output
MOST_PICTURE, MOST_PAGE = 4 * 2**20, 40 * 2**20
# As a reader types it, but without machine code, which emulate does not need.
OWN_OPTIONS = ("-gencode", "arch=compute_90,code=compute_90", "-cudart", "shared", "-lineinfo")


def read(path, most):
    """The file's text, or None if there is no such file or too much in it."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() and path.stat().st_size <= most else None


class Task:
    def __init__(self, task):
        self.task, self.build, self.work = task, Path(task["build"]), Path(task["work"])
        self.text = Path(task["text"])
        self.work.mkdir(parents=True, exist_ok=True)
        self.emulate = str(self.build / "bin/emulate")
        if task["number"]:
            exercise = checker.Exercise(task["number"])
            self.exercise = exercise.as_lesson() if task["lesson"] else exercise

    def compile(self):
        """(The PTX or the program, what nvcc said.)"""
        if self.task["number"]:
            return checker.compile_text(self.exercise, self.text, self.build, self.work)
        return checker.run_nvcc(self.build, OWN_OPTIONS, self.text, self.work / "own")

    def program(self, made):
        """What comes after emulate's own options."""
        if not self.task["number"]:
            return [str(made), *self.task["arguments"]]
        kernels = self.task["kernels"] if "--kernel" not in self.task["arguments"] else []
        return [str(self.build / "bin" / self.exercise.program), "--device", "emulator",
                *(word for kernel in kernels for word in ("--kernel", kernel)), *self.task["arguments"]]

    def run_emulate(self, made, *options):
        """(The exit status, what was printed.) What takes too long is ended."""
        ptx = ["--ptx", str(made)] if self.task["number"] else []
        told = self.work / "told.txt"
        try:
            status = checker.run_bounded([self.emulate, *options, *ptx, *self.program(made)], self.task["seconds"], told, told)
        except checker.ExerciseError:
            return None, (read(told, 2**30) or "") + f"\nstopped: it had not ended after {PATIENCE * self.task['seconds']} s"
        with told.open("rb") as file:
            return status, file.read(MOST_SHOWN).decode("utf-8", "replace")

    def report(self, made, *options):
        file = self.work / "report.json"
        status, told = self.run_emulate(made, *options, "--format", "json", "--output", str(file))
        try:
            report = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            report = {}
        return status, told, report


def compile_it(task):
    made, said = task.compile()
    answer = {"said": said, "ptx": None, "compiled": made is not None}
    if made and task.task["number"]:
        answer["ptx"] = read(made, MOST_PTX)
    return made, answer


def run(task):
    made, answer = compile_it(task)
    if made and not task.task["number"]:
        answer["status"], answer["output"], report = task.report(made, "--counters")
        answer["counters"] = report.get("launches", [])
    if made and task.task["page"]:
        page = task.work / "page.html"
        _, told = task.run_emulate(made, "--export", str(page))
        answer["html"] = read(page, MOST_PAGE)
        answer["reason"] = "" if answer["html"] else told[-2000:]
    return answer


def time(task):
    made, answer = compile_it(task)
    if made:
        how = (f"--time={task.task['card']}", "--time-only")
        _, told, report = task.report(made, *how)
        answer["launches"] = report.get("launches", [])
        answer["reason"] = "" if answer["launches"] else told[-2000:]
        pictures = task.work / "pictures"
        task.run_emulate(made, *how, "--draw", "time", "--output", str(pictures))
        answer["timeline"] = next((read(path, MOST_PICTURE) for path in sorted(pictures.glob("*.svg"))), None)
    return answer


def main():
    task = json.loads(sys.argv[1])
    bound(task)
    checker.LONGEST_COMPILING, checker.PATIENCE = task["seconds"], PATIENCE
    os.environ["CUDA_HOME"] = str(Path(checker.nvcc_of(Path(task["build"]))).parent.parent)  # ptxas and nvdisasm
    try:
        answer = {"run": run, "time": time}[task["do"]](Task(task))
    except MemoryError:
        answer = {"stopped": f"took more than {task['memory']} MiB of memory"}
    except checker.ExerciseError as error:
        answer = {"trouble": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
