"""A server of the docs site, in a copy of the tree whose exercises a test may edit."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LESSON = "lesson03_first_add_on_load"
LESSONS = ("lesson00", "lesson02", "lesson03", "openA")


class Served:
    """With `link`, as the server printed it; `tree`, the copy; its `text`, exercise 03; and `state`, what is remembered."""

    def __init__(self, build, site, *words):
        self.folder = tempfile.TemporaryDirectory(prefix="workbench_test_")
        self.tree = Path(self.folder.name) / "tree"
        lessons = [str(path.relative_to(ROOT)) for name in LESSONS for path in ROOT.glob(f"lessons/{name}_*")]
        for part in ("common", "docs/site", "scripts", *lessons):
            shutil.copytree(ROOT / part, self.tree / part, ignore=shutil.ignore_patterns("__pycache__", "*.mine-*"))
        self.text = self.tree / "lessons" / LESSON / "exercise.cuh"
        self.state = self.tree / "build/exercises/state.json"
        self.solution = (self.tree / "lessons" / LESSON / "course/solution.cuh").read_text(encoding="utf-8")
        with (Path(self.folder.name) / "errors.txt").open("w+", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [self.tree / "scripts/serve", "--no-build", "--port", "0", "--build", build, "--site", site, *words],
                stdout=subprocess.PIPE, stderr=errors, text=True)
        self.link = self.next_link()
        self.address = re.match(r"http://[^/]+/", self.link)[0]

    def next_link(self):
        line = self.process.stdout.readline()
        if not line:
            told = (Path(self.folder.name) / "errors.txt").read_text(encoding="utf-8")
            self.end()
            raise unittest.SkipTest(told) if "bwrap" in told else RuntimeError(told)
        return re.search(r"http://\S+", line)[0]

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()
