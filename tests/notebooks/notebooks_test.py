#!/usr/bin/python3
"""notebooks_test.py BUILD [Made|Executed]: the notebooks are what scripts/notebooks makes, and run on the emulator of BUILD. Run
with PYTHONPATH=scripts."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tutorial import ROOT
from tutorial.lessons import PARTS

BUILD = Path(sys.argv.pop(1))


def read(part):
    return nbformat.read(ROOT / f"notebooks/{part}.ipynb", as_version=4)


class Made(unittest.TestCase):
    def test_they_are_what_the_script_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ROOT / "scripts/notebooks", "--out", folder], check=True)
            self.assertEqual({path.name for path in (ROOT / "notebooks").iterdir()}, {f"{part}.ipynb" for part in PARTS})
            for part in PARTS:
                made, there = (Path(where) / f"{part}.ipynb" for where in (folder, ROOT / "notebooks"))
                self.assertTrue(made.read_bytes() == there.read_bytes(), f"{there.name} is old: run scripts/notebooks")

    def test_they_are_notebooks(self):
        for part in PARTS:
            nbformat.validate(read(part))

    def test_links_lead_to_files(self):
        for part in PARTS:
            text = (ROOT / f"notebooks/{part}.ipynb").read_text(encoding="utf-8")
            paths = re.findall(r"/blob/main/([^)#]+)", text) + re.findall(r"%picture (\S+)", text)
            self.assertGreater(len(paths), 3)
            for path in paths:
                self.assertTrue((ROOT / path).is_file(), path)

    def test_make_has_what_they_build(self):
        targets = [target for part in PARTS for target in make_line(setup_of(read(part))).split()[1:] if target != "\\"]
        self.assertIn("lesson30", targets)
        subprocess.run(["make", "--dry-run", "--silent", *targets], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def setup_of(notebook):
    return next(cell for cell in notebook.cells if cell.id == "setup")


def make_line(setup):
    return re.search(r"^!make .*\Z", setup.source, re.MULTILINE | re.DOTALL)[0]


class Executed(unittest.TestCase):
    """The notebook of the tiles, with the programs of BUILD in place of those that its first cell makes."""

    @classmethod
    def setUpClass(cls):
        notebook = read("tiles")
        cls.cells = {cell.id: cell for cell in notebook.cells}
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        setup = setup_of(notebook)
        setup.source = setup.source.replace(make_line(setup), f"""from pathlib import Path
from tutorial import notebook
notebook.BUILD, notebook.STATE = Path({str(BUILD)!r}), Path({folder.name!r})""")
        # A learner solves the first exercise, leaves the others as they are, and makes an error in the last one.
        solution = next((ROOT / "lessons").glob("lesson16_*/kernels.cuh")).read_text(encoding="utf-8")
        first, last = cls.cells["lesson16-exercise"], cls.cells["lesson21-exercise"]
        first.source = first.source.partition("\n")[0] + "\n" + solution
        last.source = last.source.replace("#pragma once", "this is no C++", 1)
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # hides every GPU
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": ROOT / "notebooks"}}).execute()

    def text(self, name):
        return "".join(output.text for output in self.cells[name].outputs if output.output_type == "stream")

    def pictures(self, name):
        return [output.data["text/html"] for output in self.cells[name].outputs if output.output_type == "display_data"]

    def test_a_lesson_prints_its_counters(self):
        # A column of 32 x 32 ints is one bank: 32 warps x 32 wavefronts = 1,024. A row is in 32 banks: 32 x 1 = 32.
        self.assertRegex(self.text("lesson16-run0"), r"shared loads\n  wavefronts +32 +1,024 +1,024\n")

    def test_pictures_are_shown(self):
        self.assertEqual(len(self.pictures("lesson16-run1")), 1)  # --kernel setRowReadCol --draw tile
        self.assertIn('alt="setRowReadCol_tile"', self.pictures("lesson16-run1")[0])
        self.assertEqual(len(self.pictures("lesson16-run0")), 0)
        self.assertIn('alt="Lanes and banks with a padding of 1', self.pictures("lesson21-idea-picture1")[0])

    def test_an_exercise_is_checked_and_its_kernels_run(self):
        solved = self.text("lesson16-exercise")
        self.assertIn("Solved.", solved)
        self.assertRegex(solved, r"shared stores\n  wavefronts +32\n")  # the tile is stored by rows
        self.assertEqual(len(self.pictures("lesson16-exercise")), 1)

    def test_an_exercise_that_is_not_solved_is_so_called(self):
        self.assertRegex(self.text("lesson17-exercise"), r"right +no, with ")
        self.assertNotIn("Solved.", self.text("lesson17-exercise"))
        self.assertRegex(self.text("lesson17-exercise"), r"\nverified +NO\n")  # its kernel ran, not the lesson's

    def test_an_error_has_the_line_of_the_cell(self):
        # Line 1 is %%cuda. What does not compile does not run.
        self.assertRegex(self.text("lesson21-exercise"), r"cell\.cuh\(2\): error")
        self.assertNotIn("wavefronts", self.text("lesson21-exercise"))


if __name__ == "__main__":
    unittest.main()
