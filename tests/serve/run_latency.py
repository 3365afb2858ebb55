#!/usr/bin/python3
"""run_latency.py BUILD SITE [RUNS]: how long a reader waits for the counters after pressing Run in lesson 03's page, in Chromium.

Each run has another text, so it is saved, compiled and run. The first one, which also starts the emulator in the page, is
reported by itself.
"""

import os
import statistics
import sys
from pathlib import Path

from served import ROOT, Served

sys.path.insert(0, str(ROOT / "tests/site"))
from browser import InBrowser  # noqa: E402

PRESS_RUN = """
const [text, done] = arguments, editor = [...document.querySelectorAll(".workbench .editor")].at(-1);
editor.querySelector(".CodeMirror").CodeMirror.setValue(text);
const counters = editor.querySelector(".playground"), began = performance.now();
const watch = new MutationObserver(() => {
    if (!/yours: verified/.test(counters.querySelector(".status")?.textContent) || !counters.querySelector(".counters")) return;
    watch.disconnect();
    done(performance.now() - began);
});
watch.observe(counters, {childList: true, subtree: true, characterData: true});
counters.querySelector(".status")?.replaceChildren();
[...editor.querySelectorAll("button")].find(one => one.textContent === "Run").click();
"""


def main():
    build, site, runs = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), int(sys.argv[3]) if len(sys.argv) > 3 else 21
    served = Served(build, site / "html")
    InBrowser.setUpClass()
    page = InBrowser()
    try:
        page.driver.get(served.link)
        page.driver.get(served.address + "lesson03.html")
        page.wait(lambda driver: driver.find_elements("css selector", ".workbench .editor"))
        page.driver.execute_script("[...document.querySelectorAll('.workbench')].at(-1).scrollIntoView()")
        page.wait(lambda driver: driver.find_elements("css selector", ".CodeMirror"))
        took = [page.driver.execute_async_script(PRESS_RUN, f"{served.solution}// {run}\n") / 1000 for run in range(runs)]
    finally:
        InBrowser.tearDownClass()
        served.end()
    print(f"from Run to counters: median {statistics.median(took[1:]):.2f} s, longest {max(took[1:]):.2f} s of {runs - 1} runs; "
          f"the first {took[0]:.2f} s. {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
