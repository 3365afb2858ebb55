#!/usr/bin/python3
"""notebooks_test.py BUILD [Made|Executed]: scripts/notebooks makes notebooks, and they run on the emulator of BUILD. Run with
PYTHONPATH=scripts."""

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
from tutorial.lessons import PARTS, read_all
from tutorial.site import with_address, with_notebook
from tutorial.site_pages import Page, Site

BUILD = Path(sys.argv.pop(1))
COLAB = "https://colab.research.google.com/github/someone/somewhere/blob/gh-pages/notebooks"
NOTEBOOKS = Path()  # set by setUpModule


def setUpModule():
    global NOTEBOOKS
    folder = tempfile.TemporaryDirectory(dir=BUILD)  # as far below the root as that of make
    unittest.addModuleCleanup(folder.cleanup)
    NOTEBOOKS = Path(folder.name)
    subprocess.run([ROOT / "scripts/notebooks", "someone/somewhere", "--out", NOTEBOOKS], check=True)


def read(part):
    return nbformat.read(NOTEBOOKS / f"{part}.ipynb", as_version=4)


class Made(unittest.TestCase):
    def test_there_is_one_of_each_part(self):
        self.assertEqual({path.name for path in NOTEBOOKS.iterdir()}, {f"{part}.ipynb" for part in PARTS})

    def test_they_have_what_is_on_the_pages(self):
        for lesson in read_all():
            texts = {cell.id: cell.source for cell in read(lesson.part).cells}
            exercise = (lesson.folder / "exercise.cuh").read_text(encoding="utf-8")
            self.assertEqual(texts[f"{lesson.name}-exercise"].partition("\n")[2], exercise.rstrip("\n"))
            if lesson.has_page:
                page = re.sub(r"\]\([^)]*\)", "]", lesson.page.read_text(encoding="utf-8"))
                change = re.sub(r"\]\([^)]*\)", "]", texts[f"{lesson.name}-change"]).partition("\n")[2].strip()
                self.assertIn(f"\n## The change\n\n{change}\n\n", page)

    def test_the_repository_is_theirs(self):
        for part in PARTS:
            text = (NOTEBOOKS / f"{part}.ipynb").read_text(encoding="utf-8")
            self.assertIn(f"({COLAB}/{part}.ipynb)", text)
            self.assertIn("git clone --depth 1 https://github.com/someone/somewhere tutorial", text)
            self.assertEqual(set(re.findall(r"github\.com/([^/]+/[^/ ]+)/blob/", text)), {"someone/somewhere"})

    def test_a_repository_that_is_none(self):
        for words in ([], [""], ["somewhere"], ["someone/some where"], ["https://github.com/someone/somewhere"], ["a/b)"]):
            command = [ROOT / "scripts/notebooks", *words, "--out", NOTEBOOKS / "none"]
            run = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(run.returncode, 2, words)
            self.assertEqual(run.stderr, f"notebooks: '{''.join(words)}' is no repository on GitHub. For example: make notebooks "
                                         "REPOSITORY=owner/name\n")
            self.assertFalse((NOTEBOOKS / "none").exists())

    def test_the_site_links_to_those_that_were_made(self):
        page = "# A page {#page}\n\n\\tableofcontents{HTML:2}\n\nIts text.\n"
        for lesson in read_all():
            for name in ("exercise.md", "README.md")[:2 if lesson.has_page else 1]:
                path = str((lesson.folder / name).relative_to(ROOT))
                link = f'\n<nav><a href="{COLAB}/{lesson.part}.ipynb">Open in Colab</a></nav>\n'
                self.assertIn(link, with_notebook(path, page, NOTEBOOKS))
                self.assertEqual(with_notebook(path, page, NOTEBOOKS / "none"), page)
        self.assertEqual(with_notebook("docs/measuring.md", page, NOTEBOOKS), page)

    def test_the_site_has_the_address_to_clone(self):
        start = Page("lessons/start/README.md")
        for page in ((ROOT / "docs/site/landing.md").read_text(encoding="utf-8"),
                     Site([start], ROOT / "docs/figures").render(start)):
            text = with_address(page, NOTEBOOKS)
            self.assertRegex(text, r"git clone https://github\.com/someone/somewhere tutorial(`|</code>)\.")
            self.assertNotIn("REPOSITORY", text)
            self.assertEqual(with_address(page, NOTEBOOKS / "none"), page)

    def test_they_are_notebooks(self):
        for part in PARTS:
            nbformat.validate(read(part))

    def test_links_lead_to_files(self):
        for part in PARTS:
            text = (NOTEBOOKS / f"{part}.ipynb").read_text(encoding="utf-8")
            paths = re.findall(r"/blob/main/([^)#]+)", text) + re.findall(r"%picture (\S+)", text)
            self.assertGreater(len(paths), 2)
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
        # A learner solves the first exercise, gets the second one wrong, and makes an error in the last one.
        solution = next((ROOT / "lessons").glob("lesson16_*/course/solution.cuh")).read_text(encoding="utf-8")
        first, second, last = (cls.cells[f"lesson{number}-exercise"] for number in (16, 17, 21))
        first.source = first.source.partition("\n")[0] + "\n" + solution
        second.source = second.source.replace("out[idx] = tile[col * width + row]", "out[idx] = tile[row * width + col]", 1)
        last.source = last.source.replace("#pragma once", "this is no C++", 1)
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # hides every GPU
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": NOTEBOOKS}}).execute()

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
        self.assertIn('alt="Lanes and banks with a padding of 1', self.pictures("lesson19-idea-picture2")[0])

    def test_an_exercise_is_checked_and_its_kernels_run(self):
        solved = self.text("lesson16-exercise")
        self.assertIn("Solved.", solved)
        self.assertRegex(solved, r"shared stores\n  wavefronts +1,024\n")  # its kernel ran: the lesson's stores by rows
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
