"""The texts that a reader may write, and what is remembered of them. Nothing else can be written."""

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from tutorial import exercises as checker
from tutorial import write_whole
from tutorial.exercise_commands import State, keep, name_of, original_of, restore

LARGEST_TEXT = 2**20  # bytes
OWN = """\
#include <cstdio>

__global__ void square(int* values) {
    values[threadIdx.x] *= values[threadIdx.x];
}

int main() {
    int values[32];
    for (int i = 0; i < 32; ++i) {
        values[i] = i;
    }
    int* device = nullptr;
    cudaMalloc(&device, sizeof values);
    cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice);
    square<<<1, 32>>>(device);
    cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost);
    std::printf("31 * 31 = %d\\n", values[31]);
    cudaFree(device);
}
"""


class Refused(Exception):
    """(The HTTP status, the reason in one sentence, further facts.)"""

    def __init__(self, status, why, **facts):
        super().__init__(why)
        self.status, self.facts = status, facts


def version_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def exercise_of(number):
    return checker.Exercise(number)


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
            raise Refused(409, f"{name_of(self.path)} is not in UTF-8: save it so in your editor, or restore the original with "
                          f"make reset{self.name[-2:]}") from None

    def save(self, text, version):
        """The new version. What the file had meanwhile become is never overwritten unseen."""
        if not isinstance(text, str) or not isinstance(version, str):
            raise Refused(400, "text and version have to be strings")
        try:
            if len(text.encode()) > LARGEST_TEXT:
                raise Refused(413, f"the text has more than {LARGEST_TEXT:,} bytes")
        except UnicodeEncodeError:
            raise Refused(400, "the text is not Unicode: it has half a surrogate pair") from None
        found = self.read()
        if text == found and self.path.is_file():
            return version_of(text)
        if version != version_of(found):
            raise Refused(409, f"{name_of(self.path)} has changed meanwhile, in another tab or by another editor",
                          text=found, version=version_of(found))
        write_whole(self.path, text)
        return version_of(text)

    def as_json(self):
        text = self.read()
        return {"name": self.name, "file": name_of(self.path), "text": text, "original": self.original,
                "version": version_of(text), "title": self.title, "kernels": list(self.kernels)}


class Desk:
    """One reader's documents. A student of a class has a folder with private copies."""

    def __init__(self, out, student=None):
        self.student = student
        self.folder = out / "class" / student if student else None
        self.scratch = self.folder / ".scratch" if student else out / "workbench"
        self.state_folder = self.folder / ".state" if student else out / "exercises"

    def state(self):
        return State(self.state_folder)

    def exercise(self, number):
        try:
            exercise = exercise_of(number)
        except checker.ExerciseError as error:
            raise Refused(404, f"{error}") from None
        if not self.folder:
            return exercise
        own = exercise.as_copy(self.folder / f"exercise{number}.cuh")
        if not own.text.is_file():
            write_whole(own.text, original_of(exercise, self.state()))
        return own

    def document(self, name):
        match = re.fullmatch(r"(exercise|lesson)(\d\d|[A-Z])|own", name)
        if not match:
            raise Refused(404, "there is no such document: write exercise03, lesson03 or own")
        kind, number = match.groups()
        if not kind:
            return Document(name, self.scratch / "own.cu", OWN, "Your own kernels")
        exercise = self.exercise(number)
        if kind == "exercise":
            return Document(name, exercise.text, original_of(exercise, self.state()), exercise.title, exercise,
                            tuple(exercise.kernels()))
        text = self.scratch / name / "kernels.cuh"
        lesson = exercise.lesson
        return Document(name, text, (lesson.folder / "kernels.cuh").read_text(encoding="utf-8"), lesson.title,
                        exercise.as_lesson(), tuple(lesson.kernels))

    def reset(self, document):
        if document.is_exercise:
            restore(document.exercise, self.state())
        elif document.path.is_file():
            keep(document.path)
            write_whole(document.path, document.original)

    # ---- the board ----

    def board(self):
        state, rows = self.state(), []
        for number in checker.all_numbers():
            exercise = self.exercise(number)
            standing, passed = state.standing(exercise)
            rows.append({"number": number, "title": exercise.title, "state": standing, "passed": passed,
                         "page": f"exercise{number}.html", "lesson": f"{exercise.lesson.name}.html",
                         "hints": [state.of(exercise).get("hints", 0), len(exercise.hints)]})
        todo = [row["number"] for row in rows if row["state"] != "solved"]
        return {"exercises": rows, "next": todo[0] if todo else None, "golf": self.golf(state)}

    def golf(self, state):
        """The open exercise with a score, and the scores so far."""
        for number in checker.all_numbers():
            exercise = exercise_of(number)
            if exercise.scored:
                return {"number": number, "counter": exercise.scored.counter, "history": state.of(exercise).get("scores", [])}
        return None

    def hint(self, document):
        if not document.is_exercise:
            raise Refused(404, "only an exercise has hints")
        state, hints = self.state(), document.exercise.hints
        shown = min(state.of(document.exercise).get("hints", 0) + 1, len(hints))
        state.update(document.exercise, hints=shown)
        return {"hint": hints[shown - 1], "number": shown, "of": len(hints)}


def path_in(folder, words):
    """The file of that name in the folder, or Refused: a name leads nowhere else, links included."""
    try:
        path = (folder / words).resolve()
        if path.is_relative_to(folder.resolve()) and path.is_file():
            return path
    except (OSError, ValueError):
        pass
    raise Refused(404, "there is no such page")


