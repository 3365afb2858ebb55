#!/usr/bin/python3
"""new_lesson_test.py BUILD skeleton: what scripts/new_lesson makes compiles, and is not taken for a lesson.
new_lesson_test.py BUILD filled_in: no lesson has a skeleton's FILL left, and each has its launches for its page, once.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tutorial import page_shape
from tutorial.lessons import Lesson, read_lessons

ROOT = Path(__file__).resolve().parents[2]
BUILD, WHAT = Path(sys.argv[1]).absolute(), sys.argv[2]


def left_to_fill_in(tree):
    return sorted(f"{path.relative_to(tree)}: {line.strip()}" for path in tree.glob("lessons/**/*") if path.is_file()
                  for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if "FILL:" in line)


class Lessons(unittest.TestCase):
    def test_are_filled_in(self):
        left = left_to_fill_in(ROOT)
        self.assertFalse(left, "left to fill in:\n" + "\n".join(left))

    def test_run_in_their_pages(self):
        folders = [ROOT / "lessons/start", *ROOT.glob("lessons/lesson[0-9][0-9]_*")]
        in_manifest = {lesson.folder for lesson in read_lessons() if "playground" in lesson.manifest}
        self.assertEqual([folder.name for folder in folders
                          if (folder / "course/playground.js").is_file() == (folder in in_manifest)], [],
                         "these have both course/playground.js and the manifest's key playground, or neither")


class Skeleton(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="new_lesson_test_")
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name)
        for part in ("scripts", "common/harness"):
            shutil.copytree(ROOT / part, self.tree / part)
        shutil.copy(ROOT / "common/counters.json", self.tree / "common")
        for name in ("lesson02_sequential_addressing", "lesson09_one_launch"):
            shutil.copytree(ROOT / "lessons" / name, self.tree / "lessons" / name)

    def new_lesson(self, *words, status=0):
        run = subprocess.run([sys.executable, str(self.tree / "scripts/new_lesson"), *words], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, status, run.stdout)
        return run.stdout

    def test_it_gets_the_first_free_number_and_a_manifest(self):
        self.assertIn("make lesson03 builds it", self.new_lesson("double_buffering"))
        folder = self.tree / "lessons/lesson03_double_buffering"
        self.assertEqual(sorted(f"{path.relative_to(folder)}" for path in folder.rglob("*") if path.is_file()),
                         ["README.md", "course/lesson.json", "course/teaching.json", "exercise.cuh",
                          "exercise.md", "kernels.cuh", "main.cu"])
        lesson = Lesson(folder)
        self.assertEqual((lesson.number, lesson.title, lesson.kernels), ("03", "Double buffering", ["reduce03"]))
        page = (folder / "README.md").read_text(encoding="utf-8")
        self.assertTrue(page.startswith("# Lesson 03: double buffering\n"))
        self.assertIn("[lesson 02, sequential addressing](../lesson02_sequential_addressing/README.md)", page)
        headings = re.findall(r"^## (Why|.*)", page, re.MULTILINE)
        self.assertEqual(headings, list(page_shape.SECTIONS), "the parts that the lessons have")

    def test_a_second_one_follows_the_first(self):
        self.new_lesson("double_buffering")
        self.assertIn("make lesson04 builds it", self.new_lesson("triple_buffering"))
        self.assertIn("[lesson 03, double buffering]",
                      (self.tree / "lessons/lesson04_triple_buffering/README.md").read_text(encoding="utf-8"))

    def test_it_compiles_and_is_red(self):
        self.new_lesson("double_buffering")
        script = ("from pathlib import Path; from tutorial import exercises as checker\n"
                  "exercise, here = checker.Exercise('03'), Path.cwd()\n"
                  "for name in ('kernels.cuh', 'exercise.cuh'):\n"
                  f"    print(checker.compile_text(exercise, exercise.folder / name, Path({str(BUILD)!r}), here / 'work'))")
        run = subprocess.run([sys.executable, "-c", script], cwd=self.tree, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONPATH": "scripts"})
        self.assertEqual(run.stdout.count("exercise03.ptx'), '')"), 2, run.stdout)  # compiled without a word
        left = "\n".join(left_to_fill_in(self.tree))
        for name in ("README.md", "exercise.cuh", "exercise.md", "kernels.cuh", "main.cu", "course/lesson.json",
                     "course/teaching.json"):
            self.assertIn(f"lesson03_double_buffering/{name}: ", left)

    def test_its_page_needs_its_launches(self):
        self.new_lesson("double_buffering")
        manifest = self.tree / "lessons/lesson03_double_buffering/course/lesson.json"
        facts = json.loads(manifest.read_text(encoding="utf-8"))
        self.assertEqual(list(facts.pop("playground")), ["reduce2", "reduce03"])
        manifest.write_text(json.dumps(facts), encoding="utf-8")
        shutil.copytree(ROOT / "lessons/start", self.tree / "lessons/start")
        run = subprocess.run([sys.executable, str(self.tree / "scripts/playground")], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("playground: lessons/lesson03_double_buffering/course has no playground.js, "
                      "and its lesson.json no playground", run.stdout)

    def test_wrong_command_lines_change_nothing(self):
        for words, message in (([], "which name?"), (["Big"], "'Big' is no name"), (["../x"], "is no name"),
                               (["a", "b"], "which name?"), (["one_launch"], "there is lesson09_one_launch")):
            self.assertIn(message, self.new_lesson(*words, status=2))
        self.assertEqual(len(list(self.tree.glob("lessons/lesson*"))), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "Lessons" if WHAT == "filled_in" else "Skeleton"])
