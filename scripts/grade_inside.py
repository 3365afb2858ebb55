"""Checks one submission. Runs within the sandbox of scripts/grade; its only argument is what to do, as JSON.

On stdout goes a line of JSON for each step of the verdict as soon as it is known. The last line has all steps, the
command that repeats what failed, and the PTX. What is started here has another stdout.
"""

import functools
import json
import os
import resource
import sys
from pathlib import Path

from tutorial import exercises as checker

MIB = 2**20
MOST_PTX = 4 * MIB  # characters; larger PTX is not returned
LARGEST_FILE, MOST_PROCESSES = 64 * MIB, 4096


def bound(task):
    """Sets limits for this process, and for nvcc and the emulator, which inherit them."""
    for what, most in ((resource.RLIMIT_AS, task["memory"] * MIB), (resource.RLIMIT_CPU, task["seconds"]),
                       (resource.RLIMIT_FSIZE, LARGEST_FILE), (resource.RLIMIT_NPROC, task.get("processes", MOST_PROCESSES)),
                       (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # At its soft limit a process gets a signal that names the reason, SIGXCPU; at the hard one SIGKILL.
        resource.setrlimit(what, (most - 1 if what == resource.RLIMIT_CPU else most, most))
    # One processor: the emulator then runs block after block, and a racy kernel gives the same result everywhere.
    os.sched_setaffinity(0, {task["processor"]})
    checker.os.cpu_count = lambda: 1
    checker.LONGEST = task["case_seconds"]
    checker.run_case = functools.partial(run_case_in_time, task["seconds"], checker.run_case)


class TookTooLong(Exception):
    """The cases of a submission together."""


def run_case_in_time(seconds, run_case, *rest):
    run_case(*rest)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if used.ru_utime + used.ru_stime > seconds:
        raise TookTooLong


def grade(task):
    exercise, text, work = checker.Exercise(task["number"]), Path(task["text"]), Path(task["work"])

    def without_folders(line):
        return line.replace(str(text), text.name).replace(f"{work}/", "")

    def told(step):
        return {"step": step.name, "passed": step.passed,
                "what": [without_folders(line) for line in step.what if not line.startswith(checker.AGAIN)]}

    verdict = checker.check(exercise, text, Path(task["build"]), work, task["seed"], task["each_kernel"],
                            tell=lambda step: print(json.dumps(told(step)), flush=True))
    ptx = work / f"exercise{exercise.number}.ptx"
    again = [line for line in verdict.steps[-1].what if line.startswith(checker.AGAIN)]
    return {"steps": [told(step) for step in verdict.steps], "score": verdict.score, "sound": verdict.sound,
            "again": without_folders(again[0][len(checker.AGAIN):]) if again else "",
            "ptx": ptx.read_text(errors="replace") if ptx.is_file() and ptx.stat().st_size < MOST_PTX else ""}


def main():
    task = json.loads(sys.argv[1])
    bound(task)
    try:
        result = grade(task)
    except MemoryError:
        result = {"stopped": f"took more than {task['memory']} MiB of memory"}
    except TookTooLong:
        result = {"stopped": f"took more than {task['seconds']} s of the processor"}
    except checker.ExerciseError as error:
        result = {"trouble": str(error)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
