#!/usr/bin/python3
"""classroom_test.py BUILD: the workflow of scripts/classroom grades what a student has pushed.

Runs the steps of grade.yml as GitHub does, in a shell without this one's environment. A checkout is a git clone of a
repository in a temporary folder. apt-get is pretended. The course's build tree is BUILD, so that nothing is built anew.
Skipped where bwrap can make no sandboxes.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv[1]).absolute()
EXERCISE, OTHER = "lessons/lesson16_square_tile/exercise.cuh", "lessons/lesson17_square_tile_dynamic/exercise.cuh"
PAGE = "lessons/lesson16_square_tile/README.md"
RIGHT = (ROOT / "lessons/lesson16_square_tile/course/solution.cuh").read_text(encoding="utf-8")


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, "-c", "user.name=Anna", "-c", "user.email=anna@example.edu", *words],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def commit(folder, message):
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", message)


class Job:
    """A job of a workflow, and the machine on which it runs."""

    def __init__(self, folder, repository, repositories):
        self.folder, self.repository, self.repositories = folder, repository, repositories
        self.workspace, self.bin = folder / "workspace", folder / "bin"
        self.workspace.mkdir(parents=True)
        self.bin.mkdir()
        (self.bin / "apt-get").write_text(f'#!/bin/sh\necho "$*" >>{folder}/apt-get.log\n')
        (self.bin / "apt-get").chmod(0o755)
        self.workflow = yaml.safe_load((repository / ".github/workflows/grade.yml").read_text(encoding="utf-8"))
        self.log, self.summary = "", ""

    def value(self, text):
        """With its ${{ env.NAME }}."""
        return re.sub(r"\$\{\{ env\.(\w+) \}\}", lambda match: self.workflow["env"][match.group(1)], text)

    def run(self):
        """True if all steps pass."""
        for step in self.workflow["jobs"]["grade"]["steps"]:
            if "run" not in step:
                assert step["uses"] == "actions/checkout@v4", step
                self.checkout(**{name: self.value(text) for name, text in step["with"].items()})
            elif self.shell(step["run"]) != 0:
                return False
        return True

    def shell(self, script):
        file, summary = self.folder / "step.sh", self.folder / "summary.md"
        file.write_text(script)
        summary.touch()
        # In a container GitHub runs `sh -e`.
        done = subprocess.run(["sh", "-e", file], cwd=self.workspace, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={
            "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.folder), "CI": "true", "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.workspace), "GITHUB_STEP_SUMMARY": str(summary), **self.workflow["env"]})
        self.log += done.stdout
        self.summary = summary.read_text()
        return done.returncode

    def checkout(self, path, repository=None, ref=None):
        source = self.repositories[repository] if repository else self.repository
        git(self.folder, "clone", "--quiet", "--depth=1", *(["--branch", ref] if ref else []), f"file://{source}",
            self.workspace / path)
        if repository:
            course = self.workspace / path
            (course / "build").mkdir()
            (course / "build/default").symlink_to(BUILD)
            os.utime(course / "CMakePresets.json", (0, 0))  # older than the build tree


class Classroom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="classroom_test_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.course, template = cls.folder / "course", cls.folder / "template"
        shutil.copytree(ROOT, cls.course, ignore=lambda folder, names: {
            name for name in names if name in (".git", "__pycache__") or (Path(folder) == ROOT and name == "build")})
        git(cls.course, "init", "--quiet", "--initial-branch=main")
        commit(cls.course, "The course")
        # As the page says: the template is a copy of the course with the workflow, in which two values are changed.
        git(cls.folder, "clone", "--quiet", cls.course, template)
        cls.workflow = (ROOT / "scripts/classroom/grade.yml").read_text(encoding="utf-8")
        path = template / ".github/workflows/grade.yml"
        path.write_text(cls.workflow.replace("COURSE: OWNER/REPOSITORY", "COURSE: university/course").replace(
            "EXERCISES: 03 16", "EXERCISES: 16 17"), encoding="utf-8")
        commit(template, "An assignment")
        cls.template = template

    def setUp(self):
        self.student = self.folder / self.id() / "student"
        self.student.parent.mkdir()
        git(self.folder, "clone", "--quiet", self.template, self.student)

    def push(self, path, text):
        (self.student / path).write_text(text, encoding="utf-8")
        commit(self.student, "My work")

    def grade(self):
        """The job, run. Skips the test if there are no sandboxes."""
        count = len(list(self.student.parent.iterdir()))
        job = Job(self.student.parent / f"machine{count}", self.student, {"university/course": self.course})
        self.passed = job.run()
        if "bwrap cannot make a sandbox here" in job.log:
            self.skipTest(job.log)
        return job

    def assert_points(self, job, points):
        """Of exercises 16 and 17. All of them make the run green."""
        table = "".join(f"| {number} | {each} | 100 |\n" for number, each in zip((16, 17), points))
        self.assertTrue(job.summary.startswith(f"| exercise | points | of |\n|---|---|---|\n{table}"), job.summary + job.log)
        self.assertEqual(self.passed, points == (100, 100), job.log)

    def test_grades_the_pushed_exercises_before_and_after_a_pull_of_new_lessons(self):
        self.push(EXERCISE, RIGHT)
        wrong = (ROOT / OTHER).read_text(encoding="utf-8")
        self.push(OTHER, wrong.replace("out[idx] = tile[col * width + row]", "out[idx] = tile[row * width + col]"))
        job = self.grade()
        self.assert_points(job, (100, 0))
        self.assertIn("\n\nExercise 17:\n\n    right: no", job.summary)
        self.assertIn("\n    It happens again with: ./emulate --ptx build/classroom/grades/ptx/student/exercise17.ptx ",
                      job.summary)
        self.assertNotIn("Exercise 16:", job.summary)
        self.assertIn("install --yes --no-install-recommends ca-certificates git make",
                      (job.folder / "apt-get.log").read_text())

        shutil.copytree(self.course / "lessons/lesson14_one_block", self.course / "lessons/lesson99_new")
        (self.course / PAGE).write_text("A better page\n", encoding="utf-8")
        commit(self.course, "A new lesson")
        git(self.student, "pull", "--quiet", "--no-rebase", "--no-edit", f"file://{self.course}", "main")
        self.assertTrue((self.student / "lessons/lesson99_new").is_dir())
        self.push(OTHER, (ROOT / OTHER).with_name("course").joinpath("solution.cuh").read_text(encoding="utf-8"))
        self.assert_points(self.grade(), (100, 100))
        git(self.course, "reset", "--quiet", "--hard", "HEAD~1")

    def test_a_student_who_changes_the_course_changes_no_grade(self):
        (self.student / OTHER).unlink()
        for path in ("scripts/classroom/grade_push", "scripts/grade", "Makefile"):
            (self.student / path).write_text("#!/bin/sh\nexit 0\n")
        manifest = self.student / "lessons/lesson16_square_tile/course/lesson.json"
        manifest.write_text(re.sub(r'"goals": \[.*?\n    \]', '"goals": []', manifest.read_text(), flags=re.DOTALL))
        self.push("common/counters.json", "[]")
        job = self.grade()
        self.assert_points(job, (0, 0))
        self.assertIn("\n    submitted: not submitted\n", job.summary)

    def test_a_workflow_without_the_course_is_told_what_to_write(self):
        self.push(".github/workflows/grade.yml", self.workflow)
        job = self.grade()
        self.assertFalse(self.passed)
        self.assertEqual(job.log, "::error::COURSE in .github/workflows/grade.yml: write the owner and name of the course's "
                                  "public repository\n")

    def test_an_exercise_that_does_not_exist_has_no_points(self):
        path = ".github/workflows/grade.yml"
        self.push(path, (self.student / path).read_text().replace("EXERCISES: 16 17", "EXERCISES: 16 3"))
        job = self.grade()
        self.assertFalse(self.passed)
        self.assertIn("There is no exercise 3. Write them with two digits", job.log)
        self.assertEqual(job.summary, "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
