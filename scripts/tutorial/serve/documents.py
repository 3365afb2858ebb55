"""The texts that a reader may write, and what is remembered of them. Nothing else can be written."""

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from tutorial import ROOT, write_whole
from tutorial import exercises as checker
from tutorial.exercise_commands import State, keep, name_of, original_of, progress, restore

LARGEST_TEXT = 2**20  # bytes
OWN = ROOT / "docs/site/own.cu"  # where an own program begins


class Refused(Exception):
    """(The HTTP status, the reason in a sentence, further facts.)"""

    def __init__(self, status, why, **facts):
        super().__init__(why)
        self.status, self.facts = status, facts


def version_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


exercise_of = functools.cache(checker.Exercise)


@dataclass
class Document:
    name: str
    path: Path
    original: str
    title: str
    exercise: object = None  # how its text is compiled; None: as a program of its own
    kernels: tuple = ()

    @property
    def is_exercise(self):
        return self.name.startswith("exercise")

    def read(self):
        try:
            return self.path.read_text(encoding="utf-8") if self.path.is_file() else self.original
        except UnicodeDecodeError:
            raise Refused(409, f"{name_of(self.path)} is not in UTF-8: save it so in your editor, or reset it") from None

    def save(self, text, version):
        """The new version. What the file had meanwhile become is never overwritten unseen."""
        if not isinstance(text, str) or not isinstance(version, str):
            raise Refused(400, "text and version have to be strings")
        if len(text.encode(errors="replace")) > LARGEST_TEXT:
            raise Refused(413, f"the text has more than {LARGEST_TEXT:,} bytes")
        try:
            new, found = version_of(text), self.read()
        except UnicodeEncodeError:
            raise Refused(400, "the text has half a character in it (a lone surrogate)") from None
        if text != found and version != version_of(found):
            raise Refused(409, f"{name_of(self.path)} has changed meanwhile, in another tab or another editor", text=found,
                          version=version_of(found))
        if text != found or not self.path.is_file():
            write_whole(self.path, text)
        return new

    def as_json(self):
        text = self.read()
        return {"name": self.name, "file": name_of(self.path), "text": text, "original": self.original,
                "version": version_of(text), "title": self.title, "kernels": list(self.kernels),
                "arguments": " ".join(self.exercise.goals[0].arguments) if self.exercise else ""}


class Desk:
    """A reader's documents. A student of a class has private copies, as `make grade SUBMISSIONS=build/class` reads them."""

    def __init__(self, out, student=""):
        self.folder = out / "class" / student if student else None
        self.scratch = self.folder / ".scratch" if student else out / "workbench"
        self.state_folder = self.folder / ".state" if student else out / "exercises"
        self.state = State(self.state_folder)

    def exercise(self, number):
        try:
            return exercise_of(number).as_copy(self.folder and self.folder / f"exercise{number}.cuh")
        except checker.ExerciseError as error:
            raise Refused(404, f"{error}") from None

    def document(self, name):
        kind, number = re.fullmatch(r"(exercise|lesson)(\d\d|[A-Z])|.*", str(name), re.DOTALL).groups()
        if name == "own":
            return Document(name, self.scratch / "own.cu", OWN.read_text(encoding="utf-8"), "Your own program")
        if not kind:
            raise Refused(404, "there is no such document: there are exercise00, lesson00 and so on, and own")
        exercise = self.exercise(number)
        if kind == "exercise":
            return Document(name, exercise.text, original_of(exercise, self.state), exercise.title, exercise,
                            tuple(exercise.kernels()))
        lesson = exercise.lesson
        original = (lesson.folder / "kernels.cuh").read_text(encoding="utf-8")
        return Document(name, self.scratch / name / "kernels.cuh", original, lesson.title, exercise.as_lesson(),
                        tuple(lesson.kernels))

    def reset(self, document):
        """Where the other text is kept, or None."""
        if document.is_exercise:
            return restore(document.exercise, self.state)
        kept = keep(document.path) if document.path.is_file() else None
        write_whole(document.path, document.original)
        return kept

    def board(self):
        exercises = [self.exercise(number) for number in checker.all_numbers()]
        rows = [{**row, "page": f"exercise{row['number']}.html"} for row in progress(exercises, self.state)]
        golf = next((exercise for exercise in exercises if exercise.scored), None)
        return {"exercises": rows, "next": next((row["number"] for row in rows if row["state"] != "solved"), None),
                "golf": golf and {"number": golf.number, "counter": golf.scored.counter,
                         "history": self.state.of(golf).get("scores", [])}}

    def hint(self, document):
        if not document.is_exercise:
            raise Refused(404, "only an exercise has hints")
        hints = document.exercise.hints
        number = min(self.state.of(document.exercise).get("hints", 0) + 1, len(hints))  # after the last one that one again
        self.state.update(document.exercise, hints=number)
        return {"hint": hints[number - 1], "number": number, "of": len(hints)}
