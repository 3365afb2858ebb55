"""scripts/plot_limit: the figures of lessons 28 to 31 match the records, and mark where sum() and softmax() change."""

import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

from tutorial import ROOT
from tutorial.limit_charts import CHOICES, DRAWINGS, UNITS

DATA = ROOT / "docs/data/nvidia-h200"


def plot(*words):
    return subprocess.run([sys.executable, "-B", ROOT / "scripts/plot_limit", *map(str, words)], capture_output=True, text=True)


class PlotLimit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_the_figures_in_the_tree_are_made_from_the_records_in_the_tree(self):
        for what in DRAWINGS:
            done = plot(what, DATA, self.folder / "drawn.svg")
            self.assertEqual(done.returncode, 0, done.stderr)
            drawn, kept = ((path).read_text(encoding="utf-8")
                           for path in (self.folder / "drawn.svg", ROOT / f"docs/figures/{what}_h200.svg"))
            xml.etree.ElementTree.fromstring(drawn)
            self.assertTrue(drawn == kept, f"docs/figures/{what}_h200.svg is not what scripts/plot_limit draws now")

    def test_a_changed_record_changes_the_figure(self):
        for name in ("limit_sum.csv", "limit_torch.csv"):
            text = (DATA / name).read_text(encoding="utf-8")
            (self.folder / name).write_text(text.replace("1048576,0,cold,sum,true,5.9200", "1048576,0,cold,sum,true,9.9200"))
        self.assertEqual(plot("sum", self.folder, self.folder / "drawn.svg").returncode, 0)
        self.assertNotEqual((self.folder / "drawn.svg").read_text(), (ROOT / "docs/figures/sum_h200.svg").read_text())

    def test_the_strategies_change_where_the_header_says(self):
        """`n <= 8 * Ki`: the line in the figure stands at 2^13."""
        header = (ROOT / "lessons/lesson30_a_sum_for_every_n/sum.cuh").read_text(encoding="utf-8")
        units = {"Ki": 10, "Mi": 20}
        in_header = {name: int(number).bit_length() - 1 + units[unit] for number, unit, name in re.findall(
            r"n [<>]= (\d+) \* (Ki|Mi)[^;]*?Strategy::(\w+);", header)}
        # A strategy's line is drawn where it begins: where the one before it ends.
        self.assertEqual([(name, exponent) for exponent, name in CHOICES],
                         [("one block", 8), ("one cluster", in_header["one_block"]), ("one launch", in_header["one_cluster"]),
                          ("bulk copies", in_header["bulk_copies"])])

    def test_the_units_change_where_the_page_says(self):
        """Up to 1,024 columns: the next unit begins at 2^10."""
        page = (ROOT / "lessons/lesson31_a_softmax_for_every_shape/README.md").read_text(encoding="utf-8")
        ends = [int(end.replace(",", "")).bit_length() - 1
                for end in re.findall(r"^\| (?:1 or|up to) ([\d,]+) \|", page, re.MULTILINE)]
        self.assertEqual([exponent for exponent, _ in UNITS], [0, *ends])

    def test_tells_what_is_wrong(self):
        self.assertEqual(plot("sum").returncode, 2)
        self.assertEqual(plot("product", DATA, self.folder / "x.svg").returncode, 2)
        done = plot("sum", self.folder, self.folder / "x.svg")
        self.assertEqual(done.returncode, 1)
        self.assertIn("limit_sum.csv", done.stderr)


if __name__ == "__main__":
    unittest.main()
