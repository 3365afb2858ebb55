"""Compiles, runs or times one text for the workbench. Runs in a sandbox, as grade_inside.py does: its only argument is what
to do, as JSON, and it prints what came of it as a line of JSON."""

import json
import os
import re
import signal
import sys
from pathlib import Path

from grade_inside import MOST_PTX, bound
from tutorial import exercises as checker

PATIENCE = 2  # times the limit of processor time, in wall-clock time
MOST_SHOWN = 200_000  # bytes of a program's output
MOST_PICTURE, MOST_PAGE = 4 * 2**20, 40 * 2**20
MOST_TIMELINES = 8
OUT_OF_TIME = (None, -signal.SIGKILL, -signal.SIGXCPU, 128 + signal.SIGKILL, 128 + signal.SIGXCPU)
KERNEL_OPTIONS = ("-ptx", "-arch=compute_90", "-lineinfo")  # where there is no main
OWN_OPTIONS = ("-gencode", "arch=compute_90,code=compute_90", "-cudart", "shared", "-lineinfo")


class Task:
    def __init__(self, task):
        self.task, self.build, self.work = task, Path(task["build"]), Path(task["work"])
        self.text = Path(task["text"])
        self.work.mkdir(parents=True, exist_ok=True)
        self.exercise = task["number"] and checker.Exercise(task["number"])
        if task["number"] and task["lesson"]:
            self.exercise = self.exercise.as_lesson()

    def by_names(self, said):
        """Files are called by their names there: the reader knows no folder of the sandbox."""
        return said.replace(f"{self.text.parent}/", "").replace(f"{self.work}/", "")

    def compile(self):
        """(The PTX, or an own program; what nvcc said.)"""
        if self.exercise:
            return checker.compile_text(self.exercise, self.text, self.build, self.work)
        if re.search(r"\bmain\s*\(", read(self.text) or ""):
            return checker.run_nvcc(self.build, OWN_OPTIONS, self.text, self.work / "own")
        return checker.run_nvcc(self.build, KERNEL_OPTIONS, self.text, self.work / "own.ptx")

    def emulate(self, made, *options, more=()):
        """(The exit status, None if it took too long; what was printed.) `more`: for the program."""
        program, arguments, told = [str(made)], [*self.task["arguments"], *more], self.work / "told.txt"
        if self.exercise:
            options += ("--ptx", str(made))
            program = [str(self.build / "bin" / self.exercise.program), "--device", "emulator"]
            for kernel in [] if "--kernel" in arguments else self.task["kernels"]:
                program += ["--kernel", kernel]
        try:
            status, late = checker.run_bounded([str(self.build / "bin/emulate"), *options, *program, *arguments],
                                               self.task["seconds"], told, told), ""
        except checker.ExerciseError:
            status, late = None, f"\nstopped: it had not ended after {PATIENCE * self.task['seconds']} s\n"
        return status, self.by_names((read(told) or "")[:MOST_SHOWN]) + late

    def report(self, made, *options):
        """(The same, the launches.)"""
        file = self.work / "report.json"
        return (*self.emulate(made, *options, "--format", "json", "--output", str(file)),
                json.loads(read(file) or "{}").get("launches", []))

    def run(self, made, answer):
        answer["status"], answer["output"], answer["counters"] = self.report(made, "--counters")
        answer["messages"] += [found for launch in answer["counters"] if (found := self.accessed(launch.get("error", "")))]
        if answer["status"] in OUT_OF_TIME:
            most = self.task["seconds"]
            answer["stopped"] = f"was stopped: it took more than {most} s of the processor, or {PATIENCE * most} s in all"
        else:
            page = self.work / "page.html"
            told = self.emulate(made, "--export", str(page))[1]
            answer["html"] = read(page, MOST_PAGE)
            answer["reason"] = "" if answer["html"] else told[-2000:]

    def accessed(self, error):
        """A launch's bad access as a message at its line, or None."""
        if at := re.search(rf", at {re.escape(str(self.text))}:(\d+)$", error, re.MULTILINE):
            return {"line": int(at[1]), "column": None, "severity": "error", "text": error.splitlines()[0]}
        return None

    def time(self, made, answer):
        how = (f"--time={self.task['card']}", "--time-only")
        _, told, answer["launches"] = self.report(made, *how)
        answer["reason"] = "" if answer["launches"] else told[-2000:]
        kinds = {json.dumps([launch[key] for key in ("name", "grid", "block")]): launch["launch"]
                 for launch in reversed(answer["launches"])}  # the first of each
        for number in sorted(kinds.values())[:MOST_TIMELINES]:
            folder = self.work / f"timeline{number}"
            self.emulate(made, *how, "--launch", str(number), "--draw", "time", "--output", str(folder))
            answer["timelines"] += [{"launch": number, "svg": read(path, MOST_PICTURE)} for path in folder.glob("*.svg")]
        if self.exercise and answer["launches"]:
            answer["wrong"] = self.wrong(made)

    def wrong(self, made):
        """What is wrong with the results of that which was timed: an estimate runs nothing."""
        status, told = self.emulate(made, more=("--verify",))
        if status in OUT_OF_TIME:
            return "The estimate is below. Whether the results are right took too long to find out."
        lines = [line for line in told.splitlines() if "wrong result" in line] or told.strip().splitlines()[-1:]
        why = "".join(lines[:1]).removeprefix(f"{self.exercise.program}: ")
        return "" if status == 0 else f"The estimate below is of a wrong kernel. {why}."

    def answer(self):
        made, said = self.compile()
        is_ptx, is_run = made and made.suffix == ".ptx", self.task["do"] == "run"
        said = self.by_names(said)
        answer = {"said": said, "messages": checker.messages_of(said, self.text.name), "timelines": [],
                  "compiled": made is not None, "ptx": None}
        if is_ptx and (ptx := read(made, MOST_PTX)):
            answer["ptx"] = ptx.replace(str(self.text), self.task["name"]).replace(f"{checker.ROOT}/", "")
        if is_ptx and is_run:
            pass  # the page launches it
        elif is_ptx and not self.exercise:
            answer["reason"] = "A kernel alone has no launch to estimate: write a main() that launches it."
        elif made:
            (self.run if is_run else self.time)(made, answer)
        return answer


def read(path, most=2**26):
    """The file's text, or None if there is no such file or too much in it."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() and path.stat().st_size <= most else None


def main():
    task = json.loads(sys.argv[1])
    bound(task)
    checker.LONGEST_COMPILING, checker.PATIENCE = task["seconds"], PATIENCE
    os.environ["CUDA_HOME"] = str(Path(checker.nvcc_of(Path(task["build"]))).parent.parent)  # for ptxas and nvdisasm
    try:
        answer = Task(task).answer()
    except MemoryError:
        answer = {"stopped": f"took more than {task['memory']} MiB of memory"}
    except (checker.ExerciseError, OSError, ValueError) as error:
        answer = {"trouble": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
