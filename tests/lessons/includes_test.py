#!/usr/bin/env python3
"""includes_test.py: a lesson builds on earlier lessons only."""

import re
import unittest
from pathlib import Path

LESSONS = Path(__file__).resolve().parents[2] / "lessons"


def read(path):
    return path.read_text(encoding="utf-8")


class Lessons(unittest.TestCase):
    def test_include_earlier_lessons_only(self):
        includes = [(path, included) for path in sorted(LESSONS.glob("lesson[0-9][0-9]_*/*.cu*"))
                    for included in re.findall(r'^#include "\.\./(.+)"', read(path), re.MULTILINE)]
        self.assertTrue(includes)
        for path, included in includes:
            with self.subTest(path.relative_to(LESSONS)):
                self.assertRegex(included, r"^lesson\d\d_")
                self.assertLess(included, path.parent.name)

    def test_padded_kernels_are_those_of_the_later_lesson(self):
        kernels = re.compile(r"^__global__ .*?^\}$", re.MULTILINE | re.DOTALL)
        for early, later in ((16, 18), (17, 18), (19, 21), (20, 21)):
            padded, published = (read(next(LESSONS.glob(name))) for name in (
                f"lesson{early}_*/padded.cuh", f"lesson{later}_*/kernels.cuh"))
            with self.subTest(early):
                self.assertEqual(len(kernels.findall(padded)), 1)
                self.assertIn(kernels.findall(padded)[0], kernels.findall(published))


if __name__ == "__main__":
    unittest.main()
