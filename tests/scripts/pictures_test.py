"""scripts/tutorial/pictures.py: the pictures in the tree are those that it draws, and what they state is true."""

import math
import re
import unittest
import xml.etree.ElementTree

from tutorial import ROOT
from tutorial.pictures import PICTURES, strip_words
from tutorial.records import read_record

FIGURES = ROOT / "docs/figures"


def lines_of_figures():
    return [line.split() for line in (ROOT / "docs/figures.txt").read_text(encoding="utf-8").splitlines() if line[:1] not in "#"]


def elements(name):
    return xml.etree.ElementTree.parse(FIGURES / name).getroot().iter("{http://www.w3.org/2000/svg}text")


def texts(name):
    """What is written in a picture, in the order in which it is drawn."""
    return ["".join(text.itertext()) for text in elements(name)]


def after(shown, name, count):
    """`count` texts after one."""
    place = shown.index(name) + 1
    return shown[place:place + count]


class Pictures(unittest.TestCase):
    def test_in_the_tree_are_those_drawn_now(self):
        lines = [line for line in lines_of_figures() if line[2] in PICTURES]
        self.assertEqual({what for _, _, what in lines}, set(PICTURES))
        for name, record, what in lines:
            kept = (FIGURES / name).read_text(encoding="utf-8")
            self.assertTrue(kept == PICTURES[what](ROOT / record), f"docs/figures/{name} is not what is drawn now: make docs")

    def test_fit_a_phone(self):
        """A phone of 390 px shows 350 of a picture 400 wide, or seven eighths: 12 px become 10.5."""
        for name, record, what in lines_of_figures():
            if what in PICTURES or record == "live":
                picture = (FIGURES / name).read_text(encoding="utf-8")
                self.assertIn('viewBox="0 0 400 ', picture, name)
                self.assertGreaterEqual(min(map(float, re.findall(r'font-size="([\d.]+)"', picture))), 12, name)


    def test_cut_no_text(self):
        """Even in a wide font: DejaVu Sans, whose letters are 0.47 of their size wide on average, the bold ones 0.54."""
        for name, record, what in lines_of_figures():
            for text in elements(name) if what in PICTURES or record == "live" else ():
                words = "".join(text.itertext())
                width = len(words) * float(text.get("font-size")) * (0.6 if text.get("font-weight") else 0.52)
                left = float(text.get("x")) - width * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
                self.assertTrue(left >= 0 and left + width <= 400, f"{name}: {words}: {left:.0f} to {left + width:.0f}")


class LadderShort(unittest.TestCase):
    def test_shares_are_those_of_complete_sums(self):
        """4 bytes x 268,435,456 ints = 1,073,741,824 bytes over 4,814.304 GB/s are 223.03 us. Over the complete times in
        docs/measuring.md: 2,552.1 us 8.7 %, 1,228.1 18.2, 660.5 33.8, 288.0 77.5, 287.0 77.7, 238.4 93.5, 238.1 93.7."""
        shown = texts("ladder_short.svg")
        names = ["first kernel", "sequential addressing", "two elements per thread", "many elements per thread", "warp shuffles",
                 "vectorized loads", "NVIDIA's library CUB"]
        shares = [after(shown, name, 1)[0] for name in names]
        self.assertEqual(shares, ["8.7", "18.2", "33.8", "77.5", "77.7", "93.5", "93.7"])


class Ahead(unittest.TestCase):
    def test_means_are_those_of_the_recorded_times(self):
        shown = texts("ahead_h200.svg")
        for name, what, rival in (("softmax", "torch.softmax", "torch"), ("scan", "cub::DeviceScan", "cub"),
                                  ("reduce", "cub::DeviceReduce", "cub"), ("exact", "CUB's rounded sum", "cub"),
                                  ("transpose", "a copy", "copy"), ("histogram", "reading alone", "read")):
            _, rows = read_record(ROOT / f"docs/data/nvidia-h200/ahead_{name}.csv")
            logarithms = [math.log(float(row["rival_us"]) / float(row["ours_us"])) for row in rows
                          if row["mode"] == "cold" and re.split("[ .:]", row["rival"])[0] == rival]
            self.assertEqual(after(shown, what, 1), [f"{math.exp(sum(logarithms) / len(logarithms)):.2f}"], name)


class Strip(unittest.TestCase):
    """A lesson's picture of the ladder."""

    def test_shares_and_speeds_are_those_of_first_launches(self):
        """Over the first launches in docs/measuring.md. reduce2: (268,435,456 + 1,048,576) x 4 bytes / 1,216.0 us are 886.5 GB/s,
        18.4 % of 4,814.3. 1,572.7 / 1,216.0 = 1.29 and 2,532.6 / 1,216.0 = 2.08 times the speed. reduce9: 235.6 / 236.5 = 1.00
        and 2,532.6 / 236.5 = 10.7."""
        shown = texts("strip_lesson02.svg")
        self.assertEqual(shown[:2], ["reduce2: 18.4 % of the peak bandwidth",
                                     "1.29 times the speed of reduce1, 2.08 times that of reduce0"])
        self.assertEqual(after(shown, "2", 1), ["18.4"])
        self.assertEqual(texts("strip_lesson09.svg")[1], "1.00 times the speed of reduce8, 10.7 times that of reduce0")
        self.assertRegex(strip_words(ROOT / "docs/data/nvidia-h200", "09"), "lit: reduce9 94.3 %, 1.00 times .* that of reduce0$")

    def test_rungs_of_the_lesson_are_lit(self):
        """Bars are 120 px high for 100 %: reduce0 0.0884 x 120 = 10.6, reduce0a 0.1756 x 120 = 21.1."""
        picture = (FIGURES / "strip_lesson00.svg").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'height="([\d.]+)" fill="#0072b2"', picture), ["10.6", "21.1"])
        self.assertEqual(len(re.findall(r'width="24.0" height="[\d.]+" fill="#bbbbbb"', picture)), 9)


class LastBlock(unittest.TestCase):
    """What its blocks do, tests/pages/pictures_test.cpp observes. Here: the memory between them."""

    def test_memory_follows_the_stores_and_counts(self):
        """The blocks count in the order 2, 0, 3, 1 and store 5, 2, 11, 7 before they do. After three counts the fourth, to
        gridDim.x - 1 = 3, leaves 0."""
        cells = [text for text in texts("last_block.svg") if re.fullmatch(r"\d+|\?", text)]
        rows = [" ".join(cells[at:at + 5]) for at in range(0, 30, 5)]
        self.assertEqual(rows, ["? ? ? ? 0", "? ? 11 ? 0", "? ? 11 ? 1", "5 ? 11 7 3", "5 2 11 7 3", "5 2 11 7 0"])
        self.assertEqual(texts("last_block.svg")[-1], "So its sum is right: 5 + 2 + 11 + 7 = 25.")


class Latency(unittest.TestCase):
    def test_turns(self):
        """A load takes 8 turns. Two warps with one load each issue 2 loads in each 8 turns: 24 / 8 x 2 = 6. With 8 loads in
        flight a scheduler issues one in each turn."""
        shown = texts("latency.svg")
        self.assertEqual([text for text in shown if "in flight each" in text or text.startswith("issues")], [
            "2 warps, 1 load in flight each", "issues in 6 of 24 turns", "8 warps, 1 load in flight each",
            "issues in 24 of 24 turns", "2 warps, 4 loads in flight each", "issues in 24 of 24 turns"])
        self.assertIn("in flight, here 8 turns", shown)
        picture = (FIGURES / "latency.svg").read_text(encoding="utf-8")
        # Loads 12 high and busy turns 14 high, in blue: 6 + 24 + 24 each; idle turns: 24 - 6 = 18.
        self.assertEqual(len(re.findall(r'height="12.0" fill="#0072b2"', picture)), 54 + 1)  # and the legend's
        self.assertEqual(len(re.findall(r'height="14.0" fill="#0072b2"', picture)), 54)
        self.assertEqual(len(re.findall(r'height="14.0" fill="#f1f2f4"', picture)), 18)
        # In flight to the eighth turn: 8 x 13 - 1 = 103 wide. The picture ends before those issued after turn 16 arrive. Up to
        # there they are issued in turns 0, 1, 8, 9 and 16, and twice in 17 turns: 5 + 2 x 17 = 39.
        self.assertEqual(len(re.findall(r'width="103.0" height="4.0"', picture)), 39)


class Launch(unittest.TestCase):
    def test_times_are_recorded(self):
        shown = texts("launch_h200.svg")
        facts, rows = read_record(ROOT / "docs/data/nvidia-h200/limit_steps.csv")
        recorded = {row["step"]: float(row["time_us_median"]) for row in rows if (row["n"], row["mode"]) == ("16384", "cold")}
        for name, step in (("no kernel", "events"), ("an empty kernel", "empty_16_blocks"), ("two of them", "two_empty"),
                           ("sum, one launch", "last_block"), ("sum, two launches", "two_launches")):
            self.assertEqual(after(shown, name, 1), [f"{recorded[step]:.2f}"], step)
        # 2.688 - 1.248 = 1.440, 3.968 - 2.688 = 1.280
        self.assertIn("launches: 1.44 and 1.28", shown)
        self.assertIn(f"NVIDIA H200, driver {facts['driver']}, 2026-11-22, medians", shown)

    def test_bars_are_to_scale(self):
        """38 px per us, less 1 px between parts: the events 1.248 x 38 = 47.4, launches 1.44 x 38 = 54.7 and 1.28 x 38 = 48.6,
        the sums (5.152 - 2.688) x 38 = 93.6 and (6.08 - 3.968) x 38 = 80.3."""
        picture = (FIGURES / "launch_h200.svg").read_text(encoding="utf-8")
        widths = re.findall(r'width="([\d.]+)" height="24.0"', picture)
        self.assertEqual(widths, ["46.4", "46.4", "53.7", "46.4", "53.7", "47.6", "46.4", "53.7", "92.6", "46.4", "53.7", "47.6",
                                  "79.3"])


class BanksOfTwoStrides(unittest.TestCase):
    def test_words_lie_in_their_banks(self):
        """Word w lies in bank w % 32. Neighboring words: 32 banks, a round. Words 8 x t: 32 / 8 = 4 banks, 32 / 4 = 8 rounds,
        and thread t is in bank 8 x t % 32, round t / 4: thread 13 in bank 8, round 3 counted from 0."""
        root = xml.etree.ElementTree.parse(FIGURES / "banks_of_two_strides.svg").getroot()
        places = {}
        for rect in list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:]:  # the first one is the paper
            places.setdefault(rect.get("fill"), []).append((float(rect.get("x")), float(rect.get("y"))))
        near, far = places["#0072b2"], places["#e69f00"]
        banks = sorted({x for x, _ in near})
        rounds = sorted({y for _, y in far})
        self.assertEqual((len(near), len(banks), len({y for _, y in near})), (32, 32, 1))
        self.assertEqual(len(rounds), 8)
        self.assertEqual([(banks.index(x), rounds.index(y)) for x, y in far], [(8 * (t % 4), t // 4) for t in range(32)])
        self.assertEqual(far[13], (banks[8], rounds[3]))
        shown = texts("banks_of_two_strides.svg")
        threads = shown[shown.index("32 threads load every eighth word: 8 rounds") + 5:][:32]  # behind the numbers of four banks
        self.assertEqual(threads, [f"{t}" for t in range(32)])


if __name__ == "__main__":
    unittest.main()
