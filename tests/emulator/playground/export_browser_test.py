#!/usr/bin/python3
"""export_browser_test.py emulate exported FOLDER: a page of `emulate --export` in Chromium, opened from its file. Its table, its
source and its pictures are there without a click, and the counters are those that the command prints."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "site"))
from browser import InBrowser  # noqa: E402

EMULATE, EXPORTED, FOLDER = (Path(word).absolute() for word in sys.argv[1:])


def emulated(*options, task=()):
    # On one processor, as a page: blocks that wait for others count how long they waited.
    one = str(min(os.sched_getaffinity(0)))
    subprocess.run(["taskset", "-c", one, EMULATE, *options, EXPORTED, *task], check=False, capture_output=True)


class Page(InBrowser):
    def open(self, *task):
        page = FOLDER / "page.html"
        page.unlink(missing_ok=True)
        emulated("--export", page, task=task)
        self.driver.get(page.as_uri())
        self.wait(lambda driver: self.texts(".status")[-1:] not in ([], ["Loading the emulator …"], [""])
                  and not self.texts(".status")[-1].startswith("Running"))

    def texts(self, selector):
        return [one.text for one in self.driver.find_elements("css selector", selector)]

    def test_shows_what_the_command_counts(self):
        self.open()
        self.assertEqual(self.driver.title, "Launches of exported")
        self.assertIn("launch 6: copy_padded: it ran.", self.texts(".status")[0])
        self.assertIn("It has no times: emulate --time estimates them", " ".join(self.texts("body > p")))
        report = FOLDER / "report.json"
        emulated("--counters", "--format", "json", "--output", report)
        counted = json.loads(report.read_text(encoding="utf-8"))["launches"]
        results = self.driver.execute_async_script("""
            const done = arguments[0], engine = playground.engine(), results = [];
            (async () => {
                for (const kernel of Object.keys(playground.lessons.replay.kernels))
                    results.push((await engine.run({lesson: "replay", kernel})).counters);
            })().then(() => done(results), error => done(String(error)));""")
        self.assertEqual(results, [launch["counters"] for launch in counted])
        [row] = [cells for cells in self.texts(".counters tr") if cells.startswith("per warp")]
        of_last_two = [f"{launch['counters']['smsp__inst_executed.sum']:,}" for launch in counted[-2:]]
        self.assertEqual(row.split()[2:4], of_last_two)
        self.assertIn("__global__ void", self.driver.find_element("css selector", ".lines").text)
        self.assertTrue(self.driver.find_element("css selector", "figure img").is_displayed())
        self.assertEqual(self.driver.execute_script("return performance.getEntriesByType('resource').map(one => one.name)"
                                                    ".filter(name => !/^(data|blob):/.test(name))"), [])

    def test_points_findings_at_their_lines(self):
        self.open("wrong")
        self.assertIn("findings", self.texts(".status")[0])
        self.assertIn("init: ", self.texts(".findings")[0])
        notes = self.texts(".lines .note")
        self.assertTrue(any(note.startswith("mem: ") for note in notes), notes)

    def test_fits_a_phone(self):
        for is_dark in (False, True):
            self.set_mode(None, 380, 800, is_dark)
            self.open()
            self.assertEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), 380)
        self.set_mode(None, 1200, 800, False)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
