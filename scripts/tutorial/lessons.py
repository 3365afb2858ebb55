"""The lessons and the open exercises, as their manifests have them: lessons/*/course/lesson.json.

  number    15, or A: as in the folder's name
  part      one of PARTS
  title     the program's, and the page's in other letters
  idea      the one idea: the README's table has it, and the next two
  shows     what the numbers show (a lesson's alone)
  kernels   those that the step is about
  check     arguments of the runs in which `--check all` must find nothing
  measure   for `make measure`:
    sanitize  arguments for compute-sanitizer
    time      runs to time: {"run": arguments, "without": kernels that would take minutes}
    count     arguments of the runs whose counters Nsight Compute records
    launches  the times of so many launches are recorded, as their median. Default: 1
    kernels   the kernel behind a name that is none, such as a function that launches it; null if that is not one kernel
  report    what `make report` runs: any of REPORTS
  predict   a field for a question of 'Predict first' on the site: which of its questions, and the kernel, the run and the counter
            that answer it: any of COUNTED (optional)
  steps     "ints": the site shows step by step what a block puts into shared memory, words of that kind (optional)
  figures   {file in docs/figures: arguments of the program that draws it, or of several runs: then their counters are plotted}
  exercise
    cases     arguments of the runs to check. Or {}: sizes and blocks of all kinds, with
      sizes, large   in place of the usual ones
      options        in turn
      with_block     {block: options that go with it}
      first, last    more runs, before and after
    orders    arguments of the runs to check in other orders as well, such as `emulate --schedule 1` has them: for kernels
              whose usual order hides what they do (optional)
    goals     what the counters of a kernel may be in a run: 1,024 (no more than that), at least 1,024 or exactly 1,024.
              They are the rows of the table on the exercise's page
    score     the goals' counter to make as small as one can, if there is one (optional)
    uses      traffic that no goal counts, and that its kernels may have: any of USES (optional)
    data      "thread numbers": what kernels without input put through shared memory. The check puts numbers in their
              place that no kernel can know (optional)
"""

import json
import re
import shlex
from dataclasses import dataclass, field

from tutorial import ROOT
from tutorial.counters import CATALOGUE

PARTS = {
    "ladder": "the ladder",
    "memory": "shared against global memory",
    "principles": "first principles",
    "tiles": "the layout of shared memory",
    "practice": "reductions in practice",
    "limit": "the limit of the card",
    "open": "the open exercises, which belong to no lesson",
}
USES = ("bulk copies", "distributed shared memory", "local memory")
REPORTS = ("once", "size by size", "padding by padding", "emulated")


class ManifestError(Exception):
    """An error in a manifest: what, where, and what is right instead."""


# ---- what a manifest looks like ----


@dataclass
class Text:
    """A text. `words`: the allowed ones."""

    words: tuple = ()
    may_be_empty: bool = False


@dataclass
class Number:
    """A whole number above 0."""


@dataclass
class ListOf:
    entry: object


@dataclass
class MapOf:
    """Any names, with values of one kind."""

    entry: object


@dataclass
class Keys:
    required: dict
    optional: dict = field(default_factory=dict)


@dataclass
class OneOf:
    """The first kind that has the value's type."""

    kinds: tuple


@dataclass
class Nothing:
    """null"""


# JSON's names for the values of each kind.
TYPES = {Text: (str, "a text"), Number: (int, "a whole number"), ListOf: (list, "a list"), MapOf: (dict, "an object"),
         Keys: (dict, "an object"), Nothing: (type(None), "null")}

RUN = Text(may_be_empty=True)  # a program's arguments
ARGUMENTS = ListOf(RUN)
GOAL = Keys({"kernel": Text(), "run": RUN, "counters": MapOf(Text())})
CASES = Keys({}, {"sizes": ListOf(Number()), "large": ListOf(Number()), "options": ARGUMENTS, "with_block": MapOf(Text()),
                  "first": ARGUMENTS, "last": ARGUMENTS})
EXERCISE = Keys({"cases": OneOf((ARGUMENTS, CASES)), "goals": ListOf(GOAL)},
                {"orders": ARGUMENTS, "score": Text(), "uses": ListOf(Text(USES)), "data": Text(("thread numbers",))})
MEASURE = Keys({"sanitize": RUN},
               {"time": ListOf(Keys({"run": RUN}, {"without": ListOf(Text())})), "count": ARGUMENTS,
                "launches": Number(), "kernels": MapOf(OneOf((Text(), Nothing())))})
COUNTED = ("blocks", *(counter.short for counter in CATALOGUE if counter.short))
PREDICTION = Keys({"question": Number(), "kernel": Text(), "run": RUN, "counter": Text(COUNTED)})
ON_THE_SITE = {"predict": ListOf(PREDICTION), "steps": Text(("ints",))}
OPEN = {"number": Text(), "part": Text(("open",)), "title": Text(), "idea": Text(), "kernels": ListOf(Text()),
        "exercise": EXERCISE}
LESSON = {**OPEN, "part": Text(tuple(part for part in PARTS if part != "open")), "shows": Text(), "check": ARGUMENTS,
          "measure": MEASURE, "report": ListOf(Text(REPORTS)), "figures": MapOf(OneOf((RUN, ARGUMENTS)))}


def check(value, kind, place=""):
    """Raises a ManifestError unless the value is of that kind. `place`: as in exercise.goals[0].counter"""
    def wrong(message):
        return ManifestError(f"{place}: {message}" if place else message)

    if isinstance(kind, OneOf):
        fitting = [one for one in kind.kinds if is_a(value, one)]
        if not fitting:
            raise wrong(f"{shown(value)} is not {' or '.join(TYPES[type(one)][1] for one in kind.kinds)}")
        kind = fitting[0]
    if not is_a(value, kind):
        raise wrong(f"{shown(value)} is not {TYPES[type(kind)][1]}")
    if isinstance(kind, Text) and kind.words and value not in kind.words:
        raise wrong(f"{shown(value)} is unknown; write one of: {', '.join(kind.words)}")
    if isinstance(kind, Text) and not value and not kind.may_be_empty:
        raise wrong("is empty")
    if isinstance(kind, Number) and value < 1:
        raise wrong(f"{value} is not above 0")
    if isinstance(kind, ListOf):
        for index, entry in enumerate(value):
            check(entry, kind.entry, f"{place}[{index}]")
    if isinstance(kind, MapOf):
        for name, entry in value.items():
            check(entry, kind.entry, f"{place}.{name}")
    if isinstance(kind, Keys):
        known = {**kind.required, **kind.optional}
        for name in value:
            if name not in known:
                raise wrong(f"unknown key '{name}'; there are: {', '.join(known)}")
        for name in kind.required:
            if name not in value:
                raise wrong(f"the key '{name}' is missing")
        for name, entry in value.items():
            check(entry, known[name], f"{place}.{name}" if place else name)


def is_a(value, kind):
    return isinstance(value, TYPES[type(kind)][0]) and not isinstance(value, bool)


def shown(value):
    return json.dumps(value, ensure_ascii=False)


# ---- the lessons ----


class Lesson:
    """A lesson or an open exercise: its manifest's contents, and its paths."""

    def __init__(self, folder):
        self.folder = folder
        self.name, _, self.words = folder.name.partition("_")  # lesson03, first_add_on_load; also the program's name
        self.course = folder / "course"  # what the tutorial needs to know of it, and a learner does not
        self.path = self.course / "lesson.json"
        try:
            manifest = json.loads(self.path.read_text(encoding="utf-8"), object_pairs_hook=self.without_doubles)
            check(manifest, Keys(OPEN) if self.is_open else Keys(LESSON, ON_THE_SITE))
        except ManifestError as error:
            raise self.wrong(f"{error}") from None
        except OSError as error:
            raise self.wrong(f"cannot be read: {error.strerror}; each folder of a lesson needs one") from None
        except ValueError as error:
            raise self.wrong(f"is no JSON: {error}") from None
        if manifest["number"] != number_of(folder):
            raise self.wrong(f"number: {shown(manifest['number'])} is not the folder's: \"{number_of(folder)}\"")
        self.manifest = manifest
        self.number, self.part, self.title = manifest["number"], manifest["part"], manifest["title"]
        self.kernels, self.exercise = manifest["kernels"], manifest["exercise"]
        self.report, self.figures = manifest.get("report", []), manifest.get("figures", {})

    @staticmethod
    def without_doubles(pairs):
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise ManifestError(f"the key '{name}' is there {names.count(name)} times")
        return dict(pairs)

    def wrong(self, message):
        path = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return ManifestError(f"{path}: {message}")

    @property
    def is_open(self):
        return self.name.startswith("open")

    # What `make measure` does with it; arguments are lists of words.

    @property
    def sanitized(self):
        return shlex.split(self.manifest["measure"]["sanitize"])

    @property
    def timed_program(self):
        """The program to time: the one with the library's kernels, if it exists."""
        return f"{self.name}_with_cub" if (ROOT / f"bench/cub/{self.name}.cu").exists() else self.name

    @property
    def timed(self):
        """[(arguments, kernels that are left out)]"""
        return [(shlex.split(run["run"]), run.get("without", [])) for run in self.manifest["measure"].get("time", [])]

    @property
    def counted(self):
        return [shlex.split(run) for run in self.manifest["measure"].get("count", [])]

    @property
    def launches(self):
        return self.manifest["measure"].get("launches", 1)

    @property
    def kernels_behind(self):
        """{name: its kernel, or None if that is not a single one}"""
        return self.manifest["measure"].get("kernels", {})


def number_of(folder):
    """03 of lesson03_…, A of openA_…"""
    return re.sub("^(lesson|open)", "", folder.name).partition("_")[0]


def all_folders(root=ROOT):
    """The folders of the lessons, then of the open exercises, in their order."""
    return [folder for kind in ("lesson[0-9][0-9]", "open[A-Z]") for folder in sorted(root.glob(f"lessons/{kind}_*"))]


def read_all(root=ROOT):
    """The lessons and the open exercises, in their order."""
    return [Lesson(folder) for folder in all_folders(root)]


def read_lessons(root=ROOT):
    return [lesson for lesson in read_all(root) if not lesson.is_open]


# ---- the README's tables ----


def readme_head(part):
    """The heading and the table's head above a part's lessons in the README."""
    return f"### {part_title(part)}\n\n| lesson | kernel | the one idea | what it shows |\n|---|---|---|---|\n"


def part_title(part):
    return PARTS[part][0].upper() + PARTS[part][1:]


def readme_row(lesson):
    """The lesson's row in the README's table of lessons, or the exercise's in that of the open exercises."""
    manifest = lesson.manifest
    page = f"lessons/{lesson.folder.name}/{'exercise.md' if lesson.is_open else 'README.md'}"
    cells = [f"[{lesson.number}]({page})"]
    if not lesson.is_open:
        cells.append(", ".join(lesson.kernels))
    cells.append(manifest["idea"])
    if not lesson.is_open:
        cells.append(manifest["shows"])
    return f"| {' | '.join(cells)} |"
