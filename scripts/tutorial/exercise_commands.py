"""The commands of scripts/exercise: check, hint, state."""

import functools
import hashlib
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import textwrap
import time

from tutorial import ROOT, reader, write_whole
from tutorial import exercises as checker

TODO = "// TODO, about "
DEFAULTS = {"build": ROOT / "build/default", "state": ROOT / "build/exercises", "file": None}


# ---- what is remembered ----

class State:
    """The hints shown and the last check's result, in state.json of the folder; and the originals."""

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "state.json"
        try:
            self.exercises = json.loads(self.file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.exercises = {}

    def of(self, exercise):
        return self.exercises.setdefault(exercise.number, {})

    def update(self, exercise, **facts):
        """Remembers them. What others have written meanwhile stays: the terminal and the workbench share the file."""
        self.exercises = State(self.folder).exercises
        self.of(exercise).update(facts)
        write(self.file, json.dumps(self.exercises, indent=2) + "\n")

    def remember(self, exercise, text, verdict):
        """The verdict of a check of this text: its steps, and its score."""
        scores = self.of(exercise).get("scores", [])
        if verdict.score is not None and verdict.score not in [score["score"] for score in scores]:
            scores = [*scores, {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "score": verdict.score}]
        self.update(exercise, text=digest(text), passed=[step.name for step in verdict.steps if step.passed],
                    solved=verdict.solved, **({"scores": scores} if scores else {}))

    def original(self, exercise):
        """The unsolved text: as published, otherwise as it was on first use. None if there is neither."""
        kept, published = self.folder / exercise.lesson.name / "original.cuh", exercise.folder / "exercise.cuh"
        for text in (in_git("origin/HEAD", published), read_if_there(kept), in_git("HEAD", published),
                     read_if_there(published)):
            if text and TODO in text:
                if read_if_there(kept) != text:
                    write(kept, text)
                return text
        return None


@functools.cache
def in_git(commit, path):
    try:
        run = subprocess.run(["git", "-C", str(ROOT), "show", f"{commit}:{path.relative_to(ROOT)}"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return run.stdout if run.returncode == 0 else None


def write(path, text):
    """Replaces the file. If the disk is full, what was there stays."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise checker.ExerciseError(f"{name_of(path)} cannot be written: {error.strerror}") from None


def read_if_there(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def digest(text):
    return hashlib.sha256((text or "").encode()).hexdigest()


# ---- color ----

def red(text):
    return in_color(text, 31)


def green(text):
    return in_color(text, 32)


def in_color(text, color):
    """As the lessons do it: on a terminal, unless NO_COLOR is set or TERM is dumb."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return text if plain else f"\033[{color}m{text}\033[0m"


# ---- the commands ----

def check(exercise, options, state):
    text = options.file or exercise.text
    if not text.is_file():
        raise checker.ExerciseError(f"there is no {name_of(text)}; make reset{exercise.number} brings the original")
    record = options.file is None
    original = state.original(exercise) if record else None  # kept before it is edited away
    text_before = read_if_there(text)
    seed = random.randrange(1, 2**31) if options.seed is None else options.seed
    verdict = checker.check(exercise, text.absolute(), options.build, state.folder / exercise.lesson.name, seed,
                            each_kernel=True)
    if record:
        state.remember(exercise, text_before, verdict)
    print(f"exercise {exercise.number}: {exercise.title} ({name_of(text)})")
    for step in verdict.steps:
        for index, line in enumerate(line for entry in step.what for line in folded(step, entry)):
            shown = line if index else green(line) if step.passed else red(line)
            print(f"  {'' if index else step.name:10} {shown}")
    for name in checker.STEPS[len(verdict.steps):]:
        print(f"  {name:10} not looked at yet")
    if verdict.score is not None:
        marks = [f"{'ours' if kernel == exercise.scored.kernel else kernel} {count:,}"
                 for kernel, count in checker.marks(exercise, options.build)]
        print(f"  {'score':10} {exercise.scored.counter}: yours {verdict.score:,}; {', '.join(marks)}")
    if verdict.solved:
        print(f"{green('Solved.')} {next_exercise(exercise)}")
        return 0
    if verdict.sound is not None:
        print(f"{len(verdict.sound)} of {len(exercise.kernels())} kernels are right and clean"
              + (f": {', '.join(verdict.sound)}." if verdict.sound else "."))
    if original is not None and text_before == original:
        print(f"This is the original. The task: {name_of(exercise.page)}; the place: '{TODO}…' in the file.")
    others = [f"--{name} {shlex.quote(str(value))}" for name, value in (
        ("file", options.file), ("build", options.build), ("state", options.state)) if value != DEFAULTS[name]]
    print(f"{next_hint(exercise, state)} The same numbers again: "
          f"{' '.join(['scripts/exercise', exercise.number, '--seed', str(seed), *others])}")
    return 1


def folded(step, entry):
    """Its lines, as wide as the terminal. Commands are not broken, and nvcc's output is unchanged."""
    if step.name == "compiles" or entry.startswith(checker.AGAIN):
        return entry.splitlines()
    width = max(shutil.get_terminal_size((120, 24)).columns - 13, 40)
    return [part for line in entry.splitlines() for part in textwrap.wrap(line, width)]


def next_exercise(exercise):
    later = [number for number in checker.all_numbers() if number > exercise.number]
    return f"Next: make exercise{later[0]}, or make exercises for all." if later else "make exercises shows all."


def next_hint(exercise, state):
    shown, all_hints = state.of(exercise).get("hints", 0), len(exercise.hints)
    if shown >= all_hints:
        return f"All hints again: make hint{exercise.number}."
    return f"Hint {shown + 1} of {all_hints}: make hint{exercise.number}."


def hint(exercise, options, state):
    shown, hints = state.of(exercise).get("hints", 0), exercise.hints
    if shown < len(hints):
        print(f"Hint {shown + 1} of {len(hints)}, exercise {exercise.number}: {exercise.title}\n\n{hints[shown]}")
        state.update(exercise, hints=shown + 1)
    else:
        for number, text in enumerate(hints, 1):
            print(f"Hint {number} of {len(hints)}, exercise {exercise.number}: {exercise.title}\n\n{text}\n")
        print(f"These are all. The solution is {name_of(exercise.solution)}: try without it first.")
    return 0


def board(state):
    rows = []
    for each in progress(map(checker.Exercise, checker.all_numbers()), state):
        what, (shown, all_hints) = each["state"], each["hints"]
        if what == "changed":
            what = f"changed since its last check: make exercise{each['number']}"
        elif what == "begun" and each["checked"]:
            what = f"begun: {', '.join(each['passed']) or 'does not compile'}"
        rows.append((each["number"], each["title"], what, f"{shown} of {all_hints} hints" if shown else ""))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        line = "  ".join((*(f"{cell:{width}}" for cell, width in zip(row, widths)), row[3])).rstrip()
        print(green(line) if row[2] == "solved" else line)
    todo = [row[0] for row in rows if row[2] != "solved"]
    print(f"\n{len(rows) - len(todo)} of {len(rows)} solved." + (f" Next: make exercise{todo[0]}" if todo else ""))
    return 0


def progress(exercises, state):
    """A dict of each. Its state: solved, begun, changed (since its last check) or - (the original); the steps that this text
    has passed, if it was checked; its hints: those shown, all."""
    for exercise in exercises:
        memory, text = state.of(exercise), read_if_there(exercise.text)
        checked = memory.get("text") == digest(text)
        if checked and memory["solved"]:
            what = "solved"
        elif text in (None, state.original(exercise)):
            what = "-"
        else:
            what = "begun" if checked or "text" not in memory else "changed"
        yield {"number": exercise.number, "title": exercise.title, "state": what, "checked": checked,
               "passed": memory["passed"] if checked else [], "hints": [memory.get("hints", 0), len(exercise.hints)]}


def watch(exercise, options, state):
    before = None
    try:
        while not reader.has_left():
            now = read_if_there(exercise.text)
            if now != before:
                before = now
                if sys.stdout.isatty():
                    print("\033[2J\033[H", end="")
                try:
                    check(exercise, options, state)
                except checker.ExerciseError as error:
                    print(f"exercise: {error}")
                print(f"Watching {name_of(exercise.text)}; Ctrl-C ends it.", flush=True)
            time.sleep(0.3)
    except KeyboardInterrupt:
        print()
    return 0


def reset(exercise, options, state):
    if read_if_there(exercise.text) == original_of(exercise, state):
        print(f"{name_of(exercise.text)} is the original.")
        return 0
    kept = restore(exercise, state)
    if kept:
        print(f"Your text is now {name_of(kept)}.")
    print(f"{name_of(exercise.text)} is the original again.")
    return 0


def original_of(exercise, state):
    original = state.original(exercise)
    if original is None:
        raise checker.ExerciseError(f"the original of {name_of(exercise.text)} is nowhere: not in git, and none is kept")
    return original


def restore(exercise, state):
    """Restores the original. Returns where the other text is kept that stood there, if one did."""
    original, kept = original_of(exercise, state), None
    if read_if_there(exercise.text) not in (None, original):
        kept = keep(exercise.text)
    write(exercise.text, original)
    return kept


def keep(path):
    """Copies the file beside it, as exercise.cuh.mine-1, -2, …"""
    number = 1
    while (kept := path.with_name(f"{path.name}.mine-{number}")).exists():
        number += 1
    shutil.copyfile(path, kept)
    return kept


def name_of(path):
    path = path.absolute()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
