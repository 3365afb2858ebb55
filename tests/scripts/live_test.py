"""scripts/tutorial/live*.py: what the frames of figures state is true, and their stills show what a frame shows."""

import json
import re
import unittest

from tutorial import ROOT, live_rounds
from tutorial.live import Live, grouped
from tutorial.live_floors import draw as draw_floors
from tutorial.live_floors import floors_of
from tutorial.live_in_flight import in_flight, needed
from tutorial.live_lookback import SUMS, rounds
from tutorial.live_timeline import GROUP_OF, groups_of, state_at
from tutorial.live_timeline import draw as draw_timeline
from tutorial.live_traces import draw_banks, draw_warps, listed, trees


def captions(variant):
    return [frame[0] for frame in variant.frames]


def small():
    live = Live("one", 50, "Title")
    for caption in ("first", "second", "third"):
        live.frame(caption, 7)
    with live.during(0, 0):
        live.text(1, 2, "only at first")
    with live.during(1):
        live.text(3, 4, "from then on")
    with live.moving(5):
        live.line(0, 0, 0, 9)
    live.rows((10, 20, 2, 3, 0, 1), {"a": "#0072b2"}, ["aaaa a", " a  "])
    return live


class Frames(unittest.TestCase):
    def test_a_still_shows_one_of_them(self):
        live = small()
        self.assertNotIn("only at first", str(live))
        self.assertIn("from then on", str(live))
        self.assertIn("translate(10)", str(live))  # the third frame: 2 x 5
        live.still = 0
        self.assertIn("only at first", str(live))
        self.assertNotIn("from then on", str(live))

    def test_the_data_has_all(self):
        data = small().data()
        self.assertEqual(data["frames"], [["first", 7], ["second", 7], ["third", 7]])
        self.assertIn("<g data-f='0 0'>", data["svg"])
        self.assertIn("<g data-f='1 2'>", data["svg"])
        self.assertIn("<g data-step='5'>", data["svg"])
        self.assertEqual(json.loads(json.dumps(data["rows"])), [[[10, 20, 2, 3, 0, 1], {"a": "#0072b2"}, ["a4 a", " a  "]]])

    def test_rows_are_runs(self):
        """Cells of 2 x 3 from 10, 20 on, a gap of 1 below, so that strokes are 2 wide: the first row has four cells together
        and one, the second one."""
        self.assertIn('d="M10 21h8M20 21h2M12 24h2" fill="none" stroke="#0072b2" stroke-width="2"', str(small()))

    def test_looks_in_a_row_are_said_once(self):
        self.assertEqual(grouped('<text x="1.0" y="2" fill="red">a</text><text x="3" y="4" fill="red">b</text>'
                                 '<text x="5" y="6" fill="blue">c</text>'),
                         '<g fill="red"><text x="1" y="2">a</text><text x="3" y="4">b</text></g>'
                         '<text x="5" y="6" fill="blue">c</text>')


class Figures(unittest.TestCase):
    def test_the_tree_of_the_toy(self):
        """Four banks, warps of four. reduce1: words 0 2 4 6 are in banks 0 2 0 2, and 0 4 in one. reduce2: neighbors. reduce0a
        has no toy: its readers know no banks yet."""
        first, *others = trees(None)
        self.assertEqual(captions(first)[4], "Thread 0 stores the sum of all: partial_sums[0] = 25.")
        self.assertNotRegex(" ".join(captions(first)), "toy|wavefront")
        for variant, each in zip(others, ((2, 2, 1), (1, 1, 1)), strict=True):
            said = [int(re.search(r"(\d+) wavefronts?\.$", caption)[1]) for caption in captions(variant)[1:4]]
            self.assertEqual(tuple(said), each, variant.name)
            self.assertIn(f"took {sum(each)} wavefronts", captions(variant)[4])
            self.assertIn("partial_sums[0] = 25", captions(variant)[4])  # 3 + 1 + 7 + 0 + 4 + 1 + 6 + 3

    def test_the_banks(self):
        """Words 0, 8, 16, … 248 are in banks 0, 8, 16 and 24: 32 / 4 = 8 in each."""
        words = [8 * lane for lane in range(32)]
        request = {"warp": 0, "active": 0xffffffff, "cost": 8, "addresses": [4 * word for word in words]}
        [caption] = captions(draw_banks("reduce1", [(4, [request])]))
        self.assertEqual(caption, "stride 4: warp 0 adds. Warp 0 stores words 0, 8, 16, ... 248: 4 banks, 8 wavefronts.")

    def test_the_still_of_the_banks_has_the_longest_queue(self):
        """Or where none is longer, as in reduce2, the first stride, whose 32 words fill all banks."""
        request = {"warp": 0, "active": 0xffffffff, "addresses": [4 * word for word in range(32)]}
        for costs, still in (((1, 1, 1), 0), ((2, 8, 8), 1)):
            steps = [(1, [{**request, "cost": cost}]) for cost in costs]
            self.assertEqual(draw_banks("reduce1", steps).still, still)

    def test_the_warps_have_steps_with_numbers(self):
        """Of two warps both work in the first two steps, then one, as in the fourth, of which the still is."""
        place = {"line": 1}
        steps = [{"active": active, "what": "a store", "place": place} for active in ([3, 3], [3, 3], [3, 0], [1, 0], [1, 0])]
        live = draw_warps("reduce1", steps)
        shown = re.findall(r">([^<>]*)</text>", str(live))
        self.assertIn("step 4: 1 of 32", shown)
        self.assertEqual([words for words in shown if words in tuple("12345")], [*"12345"])

    def test_floors_are_counts_times_constants(self):
        """1,000 blocks at 2 per ns are 0.5 µs; 80 passes of one multiprocessor at 2 cycles per ns are 0.04 µs. 1,200 µs at 1,000
        GB/s are 1,200 MB, and 268,435,456 ints 1,074."""
        constants = {"multiprocessors": 1, "clock": 2, "bandwidth_loads": 1000, "issue_alu": 2, "issue_xu": 8, "adu_warp": 2,
                     "block_starts": 2, "peak_bandwidth": 1100}
        launch = {"grid": [1000, 1, 1], "floors_us": {"memory": 1200, "instructions": 0.1, "alu": 0, "fma": 0, "xu": 0,
                                                      "data_pipe": 0.04, "barriers": 0.05, "block_starts": 0.5}}
        words = {name: words for name, _, _, words in floors_of(launch, constants)}
        self.assertEqual(words["block starts"], "1,000 blocks / 2 blocks per ns")
        self.assertEqual(words["data pipe"], "80 passes / (1 multiprocessors x 2 cycles per ns)")
        self.assertEqual(words["instructions"], "800 instructions / (1 multiprocessors x 2 cycles per ns x 4 schedulers)")
        self.assertEqual(words["memory"], "(1,074 MB of ints + 126 MB to store the blocks' sums) / 1,000 GB per s, "
                                          "which loads reach of a peak of 1,100")
        self.assertNotIn("integer ALU", words)  # too low to matter
        facts = {"device": "A card, x", "driver": "1", "date": "2026-11-22"}
        for recorded, longer in ((1500, "The time is 25 % longer; no floor explains the hatched part."),
                                 (1200, "The time is as long.")):
            shown = str(draw_floors("reduce0", launch, recorded, constants, facts))
            self.assertIn(f">{longer}<", shown)
            self.assertEqual("stroke-width=\"1.3\"" in shown, recorded > 1200, "hatched")

    def test_the_timeline_knows_all_that_warps_wait_for(self):
        source = (ROOT / "common/emulator/timing/multiprocessor.cpp").read_text(encoding="utf-8")
        names = re.search(r"wait_name\(Wait wait\) \{.*?\{(.*?)\}", source, re.DOTALL)[1]
        self.assertEqual(set(re.findall(r"\w+", names)), set(GROUP_OF))
        of_emulate = (ROOT / "common/emulator/cli/timeline.cpp").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r'\{"(\w+)", "\w*", "[^"]*"\}', of_emulate)), set(GROUP_OF))

    def test_the_timeline(self):
        warp = {"runs": [["selected", 0, 10], ["long_scoreboard", 10, 70], ["barrier", 70, 90]]}
        groups = groups_of([warp], 100)
        self.assertEqual([groups[cycle] for cycle in (5, 40, 80, 95)], ["execute", "wait for memory", "wait at a barrier", None])
        self.assertEqual([state_at([warp], cycle) for cycle in (5, 40, 89, 90)], ["selected", "long_scoreboard", "barrier", None])

    def test_the_timeline_says_what_a_slot_and_constants_are(self):
        runs = [["imc_miss", 0, 1500], ["selected", 1500, 2000]]
        launch = {"card": "H200", "timeline": {"cycles": 2000, "warps": [{"place": 0, "warp": 0, "runs": runs}]}}
        live = draw_timeline("reduce0", launch)
        shown = re.sub(r"<[^>]*>", "|", "".join(map(str, live.elements)))
        for words in ("slot 0", "wait for constants 75 %", "A slot: one block at a time", "Constants: arguments, fetched once",
                      "Shared memory: also threadIdx"):
            self.assertIn(words, shown)
        self.assertEqual(captions(live)[0], "cycle 0: 1 warps wait for constants. Warp 0 of slot 0: wait for constants.")

    def test_the_bytes_in_flight(self):
        """1,000 GB/s over 2 multiprocessors of 2 GHz: 250 bytes per cycle, x 100 cycles of latency = 25,000 bytes."""
        self.assertEqual(in_flight([[0, 10, 128], [5, 20, 32], [30, 40, 64]], 7), (2, 160))
        self.assertEqual(in_flight([[0, 10, 128]], 10), (0, 0))
        self.assertEqual(needed({"multiprocessors": 2, "clock": 2}, {"bandwidth": 1000, "latency": 100}), (250, 25000))

    def test_the_look_back_ends_with_all_prefixes(self):
        *_, (_, _, prefixes) = rounds()
        self.assertEqual([prefixes[tile] for tile in range(len(SUMS))], [sum(SUMS[:tile + 1]) for tile in range(len(SUMS))])

    def test_the_rounds_end_with_all_sums(self):
        steps = list(live_rounds.steps())
        sums, finished = live_rounds.SUMS, steps[-1][2]
        self.assertEqual(finished, {tile: sum(sums[:tile]) for tile in range(len(sums))})
        for _, announced, finished in steps:  # Each block has announced its next tile before it finishes one.
            following = {tile + live_rounds.BLOCKS for tile in finished} & set(range(len(sums)))
            self.assertLessEqual(following, announced)

    def test_lists(self):
        self.assertEqual(listed([0, 16]), "0, 16")
        self.assertEqual(listed(range(0, 64, 2)), "0, 2, 4, ... 62")


if __name__ == "__main__":
    unittest.main()
