"""The lessons and the open exercises, as their manifests have them: lessons/*/course/lesson.json. Their keys:
manifests.schema.json."""

import json
import re
import shlex

from tutorial import ROOT
from tutorial.counters import CATALOGUE

PARTS = {
    "ladder": "the ladder",
    "memory": "shared against global memory",
    "principles": "first principles",
    "tiles": "the layout of shared memory",
    "practice": "reductions in practice",
    "limit": "the limit of the card",
    "ahead": "ahead of the libraries",
    "beyond": "beyond one card",
    "open": "the open exercises, which belong to no lesson",
}
# The ladder, and lessons of other parts whose manifests put them there; then the other parts: when to take each.
PATH = "Each lesson builds on those before it. Take these first, in this order."
SIDE_TRIPS = {
    "memory": "Take this after lesson 04, to find out what shared memory gains: less than giving each thread more work.",
    "principles": "Take this after lesson 03, or earlier if you ask why a tree is allowed at all.",
    "tiles": "Take this before lesson 24, if bank conflicts are new to you. It has every case, with maps.",
    "practice": "Take this after lesson 09, when you need another type, another operation, or many sums at once.",
    "limit": "Take this after lesson 28, if your sums are small.",
    "ahead": "Take this after lesson 30, if you reduce other types than ints, or by other operations than the sum.",
    "beyond": "Take this after lesson 09, if your data start in host memory, in a file or on several cards, or don't fit on one.",
}
COUNTED = ["blocks", *(counter.short for counter in CATALOGUE if counter.short)]


class ManifestError(Exception):
    """An error in a manifest: what, where, and what is right instead."""


# ---- manifests ----

def read_manifest(path, kind, **words):
    """Of a kind in manifests.schema.json. `words`: those that its definitions of these names allow."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=without_doubles)
        check(manifest, kind, words)
    except ManifestError as error:
        raise wrong(path, f"{error}") from None
    except OSError as error:
        raise wrong(path, f"cannot be read: {error.strerror}; each folder of a lesson needs one") from None
    except ValueError as error:
        raise wrong(path, f"is no JSON: {error}") from None
    return manifest


def without_doubles(pairs):
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ManifestError(f"the key '{name}' is there {names.count(name)} times")
    return dict(pairs)


def check(manifest, kind, words):
    """Raises a ManifestError with the first error and its place, as in exercise.goals[0].counter"""
    try:
        from jsonschema import Draft7Validator
    except ImportError:  # as where a kit of `make measure-kit` runs: these manifests were checked when it was packed
        return
    schema = json.loads((ROOT / "scripts/tutorial/manifests.schema.json").read_text(encoding="utf-8"))
    for name, allowed in words.items():
        schema["definitions"][name]["enum"] = allowed
    for error in Draft7Validator({**schema, "$ref": f"#/definitions/{kind}"}).iter_errors(manifest):
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
        known = f"; there are: {', '.join(error.schema['properties'])}" if error.validator == "additionalProperties" else ""
        raise ManifestError(f"{place}: {error.message}{known}" if place else f"{error.message}{known}")


def wrong(path, message):
    return ManifestError(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}: {message}")


# ---- the lessons ----


class Lesson:
    """A lesson or an open exercise: its manifest's contents, and its paths."""

    def __init__(self, folder):
        self.folder = folder
        self.name, _, self.words = folder.name.partition("_")  # lesson03, first_add_on_load; also the program's name
        self.course = folder / "course"  # what the tutorial needs to know of it, and a learner does not
        self.path = self.course / "lesson.json"
        parts = ["open"] if self.is_open else [part for part in PARTS if part != "open"]
        manifest = read_manifest(self.path, "open" if self.is_open else "lesson", part=parts, counter=COUNTED)
        if manifest["number"] != number_of(folder):
            raise self.wrong(f"number: '{manifest['number']}' is not the folder's: '{number_of(folder)}'")
        self.manifest = manifest
        self.number, self.part, self.title = manifest["number"], manifest["part"], manifest["title"]
        self.kernels, self.exercise = manifest["kernels"], manifest["exercise"]
        self.report, self.figures = manifest.get("report", []), manifest.get("figures", {})
        self.page_of = manifest.get("page", self.name)  # the lesson that has its page
        self.is_on_path = self.part == "ladder" or manifest.get("path", False)
        self.on_page = [self.name]  # the lessons that its page is about; read_all() adds the others

    @property
    def kernel_files(self):
        """kernels.cuh, and what it shares with the exercise."""
        return [path for path in (self.folder / "kernels.cuh", self.folder / "given.cuh") if path.is_file()]

    @property
    def page(self):
        """Of its own, or shared with other lessons. An open exercise has none but the exercise's."""
        folders = sorted(self.folder.parent.glob(f"{self.page_of}_*"))
        if not folders:
            raise self.wrong(f"page: there is no {self.page_of}")
        return folders[0] / ("exercise.md" if self.is_open else "README.md")

    @property
    def exercise_panel(self):
        """The playground's script that launches the exercise's kernels: the lesson's, unless they have launches of their own."""
        return f"exercise{self.number}" if (self.course / "exercise.js").is_file() else self.name

    @property
    def pages(self):
        """Its page, and those to which it leads before the exercise."""
        others = {path.name for path in self.page.parent.glob("*.md")} - {"README.md", "exercise.md"}
        return [self.page, *(self.page.parent / name for name in sorted(others))]

    @property
    def has_page(self):
        return self.page_of == self.name and not self.is_open

    def wrong(self, message):
        return wrong(self.path, message)

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
    lessons = [Lesson(folder) for folder in all_folders(root)]
    for lesson in lessons:
        lesson.on_page = [other.name for other in lessons if other.page_of == lesson.page_of]
    return lessons


def read_lessons(root=ROOT):
    return [lesson for lesson in read_all(root) if not lesson.is_open]


# ---- the README's tables ----


def tracks(lessons):
    """[(title, when to take it, its lessons)]: the path, then side trips."""
    lessons = [lesson for lesson in lessons if not lesson.is_open]
    aside = {part: [lesson for lesson in lessons if lesson.part == part and not lesson.is_on_path] for part in SIDE_TRIPS}
    return [("The path", PATH, [lesson for lesson in lessons if lesson.is_on_path]),
            *((f"Side trip: {PARTS[part]}", words, aside[part]) for part, words in SIDE_TRIPS.items() if aside[part])]


def readme_table(title, words, lessons):
    rows = "".join(f"{readme_row(lesson)}\n" for lesson in lessons)
    return f"### {title}\n\n{words}\n\n| lesson | kernel | the one idea | what it shows |\n|---|---|---|---|\n{rows}\n"


def part_title(part):
    return PARTS[part][0].upper() + PARTS[part][1:]


def readme_row(lesson):
    """The lesson's row in the README's table of lessons, or the exercise's in that of the open exercises."""
    manifest = lesson.manifest
    cells = [f"[{lesson.number}](lessons/{lesson.page.parent.name}/{lesson.page.name})"]
    if not lesson.is_open:
        cells.append(", ".join(lesson.kernels))
    cells.append(manifest["idea"])
    if not lesson.is_open:
        cells.append(manifest["shows"])
    return f"| {' | '.join(cells)} |"
