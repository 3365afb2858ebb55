#!/usr/bin/python3
"""The plots of the report, and of a sweep. Run with PYTHONPATH=scripts."""

import re
import subprocess
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree
from pathlib import Path

from tutorial import ROOT, plots

HEAD = ("lesson,device_kind,device_name,elements,options,name,block_x,time_us_median,"
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,"
        "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum,"
        "smsp__inst_executed.sum\n")


def words_of(svg):
    """The texts of an SVG, or of a figure of HTML."""
    return [text.text for text in xml.etree.ElementTree.fromstring(svg).iter() if text.tag.rpartition("}")[2] == "text"]


class Report(unittest.TestCase):
    def test_bars_have_names_and_values(self):
        figure = plots.bars("A card: it's <fast> & $5$", "GB/s", [("reduce0", 250.4), ("reduce1", 3.14159), ("reduce2", 0)],
                            peak=280)
        words = words_of(figure)
        for word in ("A card: it's <fast> & $5$", "GB/s", "reduce0", "reduce1", "reduce2", "250", "3.14", "0", "peak 280"):
            self.assertIn(word, words)
        self.assertIn('aria-label="A card: it\'s &lt;fast&gt; &amp; $5$ [GB/s]: reduce0 250, reduce1 3.14, reduce2 0"', figure)

    def test_curves_have_names_and_axes(self):
        series = {"a": [(1024, 3), (4096, 700)], "b": [(1024, 5)], "none": []}
        figure = plots.lines("T", "n [ints]", "time [µs]", series, peak=800)
        words = words_of(figure)
        for word in ("T", "n [ints]", "time [µs]", "a", "b", "2¹⁰", "2¹²", "0", "peak 800"):
            self.assertIn(word, words)
        self.assertNotIn("none", words)
        self.assertIn("a from 3.00 to 700; b from 5.00 to 5.00", figure)

    def test_axes_can_be_logarithmic_and_have_ticks_of_their_own(self):
        words = words_of(plots.lines("T", "padding", "wavefronts", {"a": [(0, 1024), (33, 32)]}, x_ticks=range(0, 34, 4),
                                     logarithmic=True))
        for word in ("0", "4", "32", "1", "1,024"):
            self.assertIn(word, words)

    def test_where_there_is_nothing_nothing_is_drawn(self):
        self.assertEqual(plots.bars("T", "u", []) + plots.lines("T", "x", "y", {"a": []}), "")
        self.assertIn("No run left anything", plots.figures("", ""))

    def test_colors_are_the_pages_and_names_are_nobody_elses(self):
        series = {name: [(1024, 3), (2048, 4)] for name in "abcdef"}
        both = plots.lines("T", "x", "y", series, peak=5) + plots.lines("U", "x", "y", series)
        self.assertNotRegex(both, r"#[0-9a-f]{6}|url\(|<style|http")
        self.assertEqual(set(re.findall(r"var\(--(\w+)\)", both)), {"ink", "grid", *(f"series{i}" for i in range(6))})
        names = re.findall(r' id="([^"]*)"', both)
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(re.findall(r' href="#([^"]*)"', both)), set(names))

    def test_the_same_is_drawn_again(self):
        draw = lambda: plots.bars("T", "u", [("a", 1.5), ("b", 2)])  # noqa: E731
        self.assertEqual(draw(), draw())

    def test_without_matplotlib_it_says_so(self):
        with unittest.mock.patch.dict("sys.modules", {"matplotlib.figure": None}), self.assertRaises(plots.NoPlot):
            plots.bars("T", "u", [("a", 1)])


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv = Path(folder.name) / "it's a sweep.csv"

    def plot(self, *words):
        return subprocess.run([ROOT / "scripts/plot_sweep", *words], capture_output=True, text=True)

    def words(self, rows):
        self.csv.write_text(HEAD + rows)
        done = self.plot(self.csv)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, f"written: {self.csv.with_suffix('.svg')}\n")
        self.text = self.csv.with_suffix(".svg").read_text(encoding="utf-8")
        return words_of(self.text)

    def test_shows_times_on_a_gpu(self):
        words = self.words('lesson42,gpu,"Card, large",1024,--coarsening 8 --sweep,slow,1,1024,,,,,\n'
                           'lesson42,gpu,"Card, large",1024,--coarsening 8 --sweep,quick,64,10,,,,,\n'
                           'lesson42,gpu,"Card, large",4096,--coarsening 8 --sweep,quick,64,12,,,,,\n')
        for word in ("lesson42 on Card, large", "median time [µs]", "n [ints]", "slow", "quick", "2¹⁰", "2¹²", "100", "1,000",
                     "blocks of 64 threads --coarsening 8"):
            self.assertIn(word, words)
        self.assertEqual([word for word in words if "emulated" in word], [])

    def test_shows_what_was_counted_on_the_emulator(self):
        words = self.words("lesson42,emulator,E,1024,--sweep,quick,64,,256,0,0,256,1024\n"
                           "lesson42,emulator,E,2048,--sweep,quick,64,,512,0,0,512,2048\n")
        for word in ("lesson42, emulated: counted, not timed", "blocks of 64 threads", "warp instructions (PTX) per int",
                     "sectors of global memory per int", "quick"):
            self.assertIn(word, words)
        self.assertEqual(words.count("n [ints]"), 2)
        self.assertEqual([word for word in words if "time [" in word], [])
        self.words("# quick is left out beyond 1,024 ints: they took 60 s\n"
                   "lesson42,emulator,E,1024,--sweep,quick,64,,256,0,0,256,1024\n")

    def test_shows_matrices_of_one_size_against_their_columns(self):
        words = self.words("lesson42,emulator,E,4096,--rows 4096 --columns 1,quick,64,,256,0,0,256,1024\n"
                           "lesson42,emulator,E,4096,--rows 64 --columns 64,quick,64,,512,0,0,512,2048\n")
        for word in ("matrices of 4,096 elements, blocks of 64 threads", "warp instructions (PTX) per element",
                     "sectors of global memory per element", "2⁰", "2⁶"):
            self.assertIn(word, words)
        self.assertEqual((words.count("columns"), words.count("n [ints]")), (2, 0))

    def test_tells_what_is_wrong(self):
        self.assertEqual(self.plot().returncode, 2)
        self.csv.write_text("a,b\n1,2\n")
        done = self.plot(self.csv)
        self.assertEqual((done.returncode, done.stderr), (1, f"plot_sweep: {self.csv}: it has no rows of a sweep\n"))
        self.assertIn("No such file", self.plot(self.csv.with_name("x.csv")).stderr)


if __name__ == "__main__":
    unittest.main()
