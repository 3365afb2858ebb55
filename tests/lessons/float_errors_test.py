#!/usr/bin/env python3
"""float_errors_test.py BUILD Errors: docs/data/float_errors.csv is what the program prints, and the page's tables are it.
float_errors_test.py BUILD LargeErrors: the first of these for larger sizes.
"""

import re
import sys
import unittest
from pathlib import Path

from tutorial import ROOT
from tutorial.errors_chart import COLUMNS, errors_of
from tutorial.lessons import read_lessons
from tutorial.records import read_record

BUILD = Path(sys.argv[1]).absolute()


class Record(unittest.TestCase):
    def setUp(self):
        _, self.rows = read_record(ROOT / "docs/data/float_errors.csv")

    def expect_recorded(self, data, exponent, kernels=()):
        recorded = [tuple(row[column] for column in COLUMNS) for row in self.rows
                    if row["data"] == data and row["n"] == str(2**exponent) and (not kernels or row["kernel"] in kernels)]
        self.assertEqual(len(recorded), len(kernels) or 7)
        self.assertEqual(errors_of(BUILD / "bin", data, exponent, kernels), recorded)


class Errors(Record):
    def test_the_record_is_what_the_program_prints(self):
        for data in ("", "--cancel"):
            for exponent in range(10, 21, 2):
                self.expect_recorded(data, exponent)

    def test_the_pages_tables_are_the_record(self):
        folder = next(lesson.folder for lesson in read_lessons() if "sum_reproducible" in lesson.kernels)
        lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
        found = []
        for at, line in enumerate(lines):
            head = re.fullmatch(r"\| n, `\./\w+ ?(.*)` \| (sum_.+) \|", line)
            if not head:
                continue
            column = "relative_error" if head.group(1) else "error_ulp"
            kernels = head.group(2).split(" | ")
            self.assertEqual(kernels, [row["kernel"] for row in self.rows[:6]])
            for row in lines[at + 2:at + 7]:
                cells = row.strip("| ").split(" | ")
                n = 2**int(re.fullmatch(r"2\^(\d+)", cells[0]).group(1))
                found.append((head.group(1), n))
                for kernel, cell in zip(kernels, cells[1:], strict=True):
                    error = [each[column] for each in self.rows
                             if each["data"] == head.group(1) and each["n"] == str(n) and each["kernel"] == kernel]
                    self.assertEqual([cell], error, f"{kernel}, {row}")
        self.assertEqual(found, [(data, 2**exponent) for data in ("", "--cancel") for exponent in (10, 14, 18, 22, 26)])


class LargeErrors(Record):
    """2^24 elements with all kernels of 2^26 would take half a minute."""

    def test_all_kernels(self):
        for data in ("", "--cancel"):
            self.expect_recorded(data, 22)

    def test_the_sequential_sum_stays_where_its_elements_are_lost(self):
        self.expect_recorded("", 26, ("sum_sequential",))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[2]])
