#!/usr/bin/python3
"""browser_test.py FOLDER_OF_BUNDLES RUNS.json: in Chromium, from files, each run of lessons_test.mjs counts what it counts under
Node, and so what the lesson's program prints. A run there happens in a worker."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "site"))
from browser import InBrowser  # noqa: E402

BUNDLES, RUNS = (Path(word).absolute() for word in sys.argv[1:])

RUN_ALL = """
const [requests, done] = arguments, engine = playground.engine(), results = [];
(async () => {
    for (const request of requests) {
        const {error, counters, grid, block, shared, verified} = await engine.run(request);
        results.push(error === null ? {counters, grid, block, shared, verified} : {error});
    }
    return results;
})().then(done, error => done([String(error)]));
"""


class Lessons(InBrowser):
    def test_count_as_under_node(self):
        runs = json.loads(RUNS.read_text(encoding="utf-8"))
        lessons = sorted({run["request"]["lesson"] for run in runs})
        self.assertIn("lesson03", lessons)
        page = BUNDLES / "all_lessons.html"
        page.write_text("<!doctype html>\n" + "".join(f'<script src="{name}.js"></script>\n' for name in ["engine", *lessons]),
                        encoding="utf-8")
        self.driver.get(page.as_uri())
        results = self.driver.execute_async_script(RUN_ALL, [run["request"] for run in runs])
        for run, result in zip(runs, results):
            with self.subTest(**run["request"]):
                self.assertEqual(result, run["result"])
        self.assertEqual(len(results), len(runs))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
