"""The lessons' manifests: complete, and what they say is what the other files have. Run with PYTHONPATH=scripts."""

import json
import re
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from tutorial import ROOT, exercises, lessons
from tutorial.lessons import (
    COUNTED,
    Lesson,
    ManifestError,
    all_folders,
    read_all,
    read_lessons,
    readme_row,
    readme_table,
    tracks,
)

LESSON, OPEN = "lesson03_first_add_on_load", "openA_fewest_counters"


class Lessons(unittest.TestCase):
    """Those of the tree."""

    def setUp(self):
        self.lessons = read_all()

    def test_every_folder_is_a_lesson(self):
        self.assertGreater(len(self.lessons), 25)
        others = {"start"}
        folders = {path for path in (ROOT / "lessons").iterdir() if path.is_dir() and path.name not in others}
        self.assertEqual(folders, set(all_folders()), "lessons/lessonNN_name or lessons/openX_name")
        numbers = [lesson.number for lesson in self.lessons]
        self.assertEqual(len(numbers), len(set(numbers)), numbers)

    def test_the_programs_have_their_names_titles_and_kernels(self):
        for lesson in self.lessons:
            main = (lesson.folder / "main.cu").read_text(encoding="utf-8")
            for text in (lesson.name, lesson.title, *lesson.kernels):
                self.assertTrue(f'"{text}"' in main, f"{lesson.folder.name}/main.cu has no \"{text}\", as its manifest has it")

    def test_the_readme_has_a_row_for_each(self):
        rows = re.findall(r"^\| \[(?:\d\d|[A-Z])\]\(lessons/.*", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(sorted(rows), sorted(map(readme_row, self.lessons)))

    def test_the_readme_has_a_table_for_the_path_and_for_each_side_trip(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        tables = [readme_table(*track) for track in tracks(self.lessons)]
        for table in tables:
            self.assertIn(table, readme)
        self.assertEqual([readme.index(table) for table in tables], sorted(readme.index(table) for table in tables))
        on_path = [lesson.number for lesson in tracks(self.lessons)[0][2]]
        self.assertEqual(on_path[:13], [*(f"{number:02}" for number in range(10)), "24", "28", "30"])

    def test_the_pages_of_the_exercises_have_their_goals(self):
        for lesson in self.lessons:
            page = (lesson.folder / "exercise.md").read_text(encoding="utf-8")
            section = page.partition("\n## Goal\n")[2].partition("\n## ")[0]
            table = ["| kernel | run | counter | goal |", "|---|---|---|---|"]
            for goals in lesson.exercise["goals"]:
                run = f" `{goals['run']}`" if goals["run"] else ""
                table += [f"| {goals['kernel']} |{run} | {counter} | {goal} |" for counter, goal in goals["counters"].items()]
            self.assertEqual([line for line in section.splitlines() if line.startswith("|")], table, lesson.folder.name)

    def test_the_exercises_can_be_read(self):
        for lesson in self.lessons:
            exercise = exercises.Exercise(lesson.number)
            self.assertTrue(exercise.cases())
            score = lesson.exercise.get("score")
            self.assertEqual(exercise.scored and exercise.scored.counter, score, "the score is the counter of a goal")

    def test_have_a_page_each_or_share_one(self):
        for lesson in read_lessons():
            owner = next(other for other in read_lessons() if other.name == lesson.page_of)
            self.assertTrue(owner.has_page and lesson.name in owner.on_page and lesson.page.is_file(), lesson.name)
            if not lesson.has_page:  # Its folder says where the page is.
                here = (lesson.folder / "README.md").read_text(encoding="utf-8")
                self.assertTrue(here.startswith(f"# Lesson {lesson.number}: "), lesson.name)
                self.assertIn(f"](../{lesson.page.parent.name}/README.md)", here)

    def test_the_figures_are_there(self):
        recorded = re.findall(r"^(\S+\.svg) ", (ROOT / "docs/figures.txt").read_text(encoding="utf-8"), re.MULTILINE)
        drawn = [name for lesson in self.lessons for name in lesson.figures]
        self.assertEqual(sorted(recorded + drawn), sorted(path.name for path in (ROOT / "docs/figures").glob("*.svg")))

    def test_the_predictions_are_on_their_pages(self):
        """Each belongs to a question that a number answers, and its kernel is on the page."""
        count = 0
        for lesson in read_lessons():
            page = lesson.page.read_text(encoding="utf-8")
            part = page.partition("<summary>Predict first</summary>")[2].partition("</details>")[0]
            questions = re.findall(r"^\d\. (.*(?:\n   .*)*)", part, re.MULTILINE)
            for one in lesson.manifest.get("predict", []):
                with self.subTest(lesson.name, **one):
                    self.assertLessEqual(one["question"], len(questions))
                    self.assertRegex(questions[one["question"] - 1], r"(?i)how many|does the number|fewer, as many|\d, then\?")
                    self.assertTrue(f"`{one['kernel']}`" in page, "the page has no such kernel")
                count += 1
        self.assertGreater(count, 20)

    def test_nobody_else_knows_their_names(self):
        """Except those in examples, and the pictures of the ladder, which are one per lesson."""
        names = {lesson.name for lesson in self.lessons} - {"lesson02", "lesson03", "openA"}
        for file in [ROOT / "Makefile", ROOT / "lessons/CMakeLists.txt", ROOT / "bench/CMakeLists.txt", *ROOT.glob("docs/*.txt"),
                     *ROOT.glob("cmake/*"),
                     *ROOT.glob("scripts/*"), *ROOT.glob("scripts/tutorial/*.py")]:
            if file.is_file():
                known = re.findall(r"(?<!strip_)(?:lesson|open)(?:\d\d|[A-Z])(?![a-zA-Z\d])", file.read_text(encoding="utf-8"))
                self.assertEqual(set(known) & names, set(), file)


class Manifest(unittest.TestCase):
    """An error in a manifest is reported with its file and its key."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def manifest_of(self, name):
        return json.loads((ROOT / "lessons" / name / "course/lesson.json").read_text(encoding="utf-8"))

    def read(self, manifest, name=LESSON):
        """Of a dict, or of a file's text."""
        (self.folder / name / "course").mkdir(parents=True, exist_ok=True)
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        (self.folder / name / "course/lesson.json").write_text(text, encoding="utf-8")
        return Lesson(self.folder / name)

    def assert_wrong(self, message, manifest, name=LESSON):
        with self.assertRaises(ManifestError) as caught:
            self.read(manifest, name)
        self.assertEqual(f"{caught.exception}", f"{self.folder}/{name}/course/lesson.json: {message}")

    def test_a_right_one_is_read(self):
        for name in (LESSON, OPEN):
            self.assertEqual(self.read(self.manifest_of(name), name).manifest, self.manifest_of(name))

    def test_a_page_of_another_lesson(self):
        manifest = {**self.manifest_of(LESSON), "page": "lesson02"}
        with self.assertRaisesRegex(ManifestError, "lesson.json: page: there is no lesson02$"):
            self.read(manifest).page.is_file()
        (self.folder / "lesson02_x").mkdir()
        self.assertEqual(self.read(manifest).page, self.folder / "lesson02_x/README.md")

    def test_a_key_that_is_missing(self):
        for name in (LESSON, OPEN):
            for key in self.manifest_of(name).keys() - {"predict", "steps", "playground"}:
                manifest = self.manifest_of(name)
                del manifest[key]
                self.assert_wrong(f"'{key}' is a required property", manifest, name)
        manifest = self.manifest_of(LESSON)
        del manifest["exercise"]["goals"][1]["run"]
        self.assert_wrong("exercise.goals[1]: 'run' is a required property", manifest)
        del manifest["measure"]["sanitize"]
        self.assert_wrong("measure: 'sanitize' is a required property", manifest)

    def test_a_key_that_there_is_not(self):
        manifest = {"titel": "x", **self.manifest_of(LESSON)}
        self.assert_wrong("Additional properties are not allowed ('titel' was unexpected); there are: number, part, title, "
                          "path, page, idea, kernels, shows, check, measure, report, figures, predict, steps, playground, "
                          "exercise", manifest)
        manifest = self.manifest_of(LESSON)
        manifest["exercise"]["cases"]["size"] = [1]
        self.assert_wrong("exercise.cases: Additional properties are not allowed ('size' was unexpected); there are: sizes, "
                          "large, options, with_block, first, last", manifest)
        self.assert_wrong("Additional properties are not allowed ('measure' was unexpected); there are: number, part, title, "
                          "idea, kernels, exercise", {"measure": {}, **self.manifest_of(OPEN)}, OPEN)
        self.assert_wrong("the key 'title' is there 2 times", '{"title": "a", "title": "b"}')

    def test_a_value_of_another_kind(self):
        for key, value, message in (
                ("title", 7, "title: 7 is not of type 'string'"),
                ("kernels", "reduce3", "kernels: 'reduce3' is not of type 'array'"),
                ("kernels", ["reduce3", None], "kernels[1]: None is not of type 'string'"),
                ("figures", {"a.svg": 1}, "figures.a.svg: 1 is not of type 'string', 'array'"),
                ("report", ["often"],
                 "report[0]: 'often' is not one of ['once', 'size by size', 'padding by padding', 'emulated']"),
                ("part", "open",
                 "part: 'open' is not one of "
                 "['ladder', 'memory', 'principles', 'tiles', 'practice', 'limit', 'ahead', 'beyond']"),
                ("measure", {"sanitize": "", "launches": 0}, "measure.launches: 0 is less than the minimum of 1"),
                ("measure", {"sanitize": "", "launches": True}, "measure.launches: True is not of type 'integer'"),
                ("measure", {"sanitize": "", "kernels": {"sum": 1}},
                 "measure.kernels.sum: 1 is not of type 'string', 'null'"),
                ("predict", [{"question": 1, "kernel": "k", "run": "", "counter": "loads"}],
                 f"predict[0].counter: 'loads' is not one of {COUNTED}"),
                ("exercise", {"cases": "", "goals": []}, "exercise.cases: '' is not of type 'array', 'object'"),
                ("number", "04", "number: '04' is not the folder's: '03'")):
            self.assert_wrong(message, {**self.manifest_of(LESSON), key: value})
        with self.assertRaisesRegex(ManifestError, "lesson.json: title: '' (is too short|should be non-empty)$"):
            self.read({**self.manifest_of(LESSON), "title": ""})

    def test_what_is_wrong_with_a_manifest_for_teaching(self):
        path = self.folder / "teaching.json"
        path.write_text('{"exam": [{"kernel": "k", "counter": "loads", "draw": {}, "run": "--n 1", '
                        '"steps": [], "why": "It is."}]}', encoding="utf-8")
        with self.assertRaises(ManifestError) as caught:
            lessons.read_manifest(path, "teaching", counter=["blocks"])
        self.assertEqual(f"{caught.exception}", f"{path}: exam[0].counter: 'loads' is not one of ['blocks']")

    def test_a_kit_needs_no_jsonschema(self):
        with unittest.mock.patch.dict("sys.modules", {"jsonschema": None}):
            self.assertEqual(self.read(self.manifest_of(LESSON)).number, "03")

    def test_a_file_that_is_none(self):
        self.assert_wrong("is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)", "{")
        self.assert_wrong("[] is not of type 'object'", [])
        (self.folder / OPEN).mkdir()
        with self.assertRaisesRegex(ManifestError, "openA_fewest_counters/course/lesson.json: cannot be read: No such file or "
                                                   "directory; each folder of a lesson needs one"):
            Lesson(self.folder / OPEN)


if __name__ == "__main__":
    unittest.main()
