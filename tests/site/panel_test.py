#!/usr/bin/python3
"""panel_test.py FOLDER [TEST]...: the playground's panel (docs/playground/panel) in a browser, on an engine of its own.

Its pages, and pictures of some, lie in FOLDER.
"""

import json
import re
import shutil
import sys
import unittest
from pathlib import Path

from browser import FAINT, InBrowser

from tutorial import ROOT
from tutorial.panel import panel_script

PAGES = Path()  # set by main
THEME = Path("/usr/share/doxygen-awesome-css")
[LESSON] = ROOT.glob("lessons/lesson03_*")

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Panel</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link href="{theme}/doxygen-awesome.css" rel="stylesheet">
<link href="{docs}/site/site.css" rel="stylesheet"><link href="{docs}/playground/panel.css" rel="stylesheet">
<script>
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.className = dark ? "dark-mode" : "light-mode";
</script>
<script src="{docs}/site/search.js"></script><script src="panel.js"></script></head>
<body><div id="doc-content"><div class="contents"><div class="textblock">
<p><input id="search-field"></p>
<div id="search-panel" hidden><p id="search-status"></p><p id="search-results"></p></div>
<details id="predict"><summary>Predict first</summary><ol><li>How many blocks?</li><li>And sectors?</li></ol></details>
<details class="playground" data-lesson="{lesson}" data-scripts="{scripts}"><summary>Run it here</summary></details>
<p>After.</p></div></div></div></body></html>
"""

def make_page(name, scripts="facts.js fake_engine.js", lesson="lesson03"):
    page = PAGES / f"{name}.html"
    text = PAGE.format(theme=THEME.as_uri(), docs=(ROOT / "docs").as_uri(), scripts=scripts, lesson=lesson)
    page.write_text(text, encoding="utf-8")
    return page


def write_scripts():
    """What a page loads: the panel, the engine, and the facts that `make playground` would bundle."""
    source = (LESSON / "kernels.cuh").read_text(encoding="utf-8")
    figures = {"banks": "banks_reduce1", "activity": "lanes_reduce3"}
    facts = {
        "counters": json.loads((ROOT / "common/counters.json").read_text(encoding="utf-8")),
        "text": source.splitlines(), "ptx": "of the lesson",
        "broken": [{"kernel": "reduce2", "options": {"n": 1000}, "name": "without a barrier", "change": "-    __syncthreads();\n",
                    "sources": {"kernels.cuh": source.replace("shared[tid] +=", "shared[tid] += /* broken */")}}],
        "solution": {"ptx": "of the solution", "kernels": ["reduce3"],
                     "sources": {"kernels.cuh": source.replace("shared[tid] +=", "shared[tid] += /* solved */")}},
        "sources": {"kernels.cuh": source},
        "times": {"of": "268,435,456 elements", "given": ["type"],
                  "us": {"reduce2": {"128": 1210.4, "256": 1208}, "reduce3": {"256": 64.16}}},
        "facts": {"figures": {"terminal_lesson03.svg": "", "lanes_reduce3.svg": "--kernel reduce3 --draw activity"},
                  "steps": "ints", "kernels": ["reduce3", "reduce_elsewhere"],
                  "predict": [
                      {"question": 1, "kernel": "reduce3", "run": "--n 4194304 --block 256 --offset 1", "counter": "blocks"},
                      {"question": 2, "kernel": "reduce2", "run": "--n 65536 --block 32", "counter": "global load sectors"}]},
        "pictures": {name: (ROOT / f"docs/figures/{figure}.svg").read_text(encoding="utf-8") for name, figure in figures.items()},
    }
    (PAGES / "facts.js").write_text(f"const fakeFacts = {json.dumps(facts)};\n", encoding="utf-8")
    (PAGES / "search_data.js").write_text("const searchData = [];\n", encoding="utf-8")
    (PAGES / "panel.js").write_text(panel_script(), encoding="utf-8")
    shutil.copy(ROOT / "tests/site/fake_engine.js", PAGES)


class Panel(InBrowser):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        write_scripts()

    def load(self, width=1280, is_dark=False, scripts="facts.js fake_engine.js", **fake):
        """The page, its panel not yet open."""
        self.set_mode("", width, 900, is_dark)
        self.driver.get_log("browser")  # what earlier tests left
        self.driver.get(make_page("panel", scripts).as_uri())
        self.driver.execute_script("window.setting = arguments[0]", fake)

    def start(self, **how):
        self.load(**how)
        self.driver.execute_script('document.querySelector(".playground").open = true')
        self.wait_for(r"\.$")
        if how.get("scripts") is None:
            self.wait_for_end()

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def said(self):
        found = self.driver.find_elements("css selector", ".playground [role=status]")
        return found[0].text if found else ""

    def wait_for(self, pattern):
        self.wait(lambda driver: re.search(pattern, self.said()))

    def field(self, label, kind="input[type=number]"):
        return self.driver.find_element("xpath", f"//label[span='{label}']").find_element("css selector", kind)

    def slider(self, label):
        return self.find(f'[aria-label="{label}, slider"]')

    def rows(self):
        """Read at once: a run may replace them any time."""
        return self.driver.execute_script("""
            return [...document.querySelectorAll(".counters tbody tr")].map(
                row => [row.className, ...[...row.cells].map(cell => cell.innerText.trim())]);""")

    def requests(self):
        return self.driver.execute_script("return fake.requests")

    def wait_for_request(self, **wanted):
        """Of the kernel, not of the one beside it."""
        self.wait(lambda driver: wanted.items() <= self.requests()[-2].items())
        self.wait_for_end()

    def move(self, label, *places):
        """The slider, as fast as it goes."""
        self.driver.execute_script("""
            for (const place of arguments[1]) {
                arguments[0].value = place;
                arguments[0].dispatchEvent(new Event("input"));
            }""", self.slider(label), places)

    def wait_for_end(self):
        self.wait(lambda driver: self.find(".playground").get_attribute("aria-busy") == "false")

    def run_again(self):
        self.find(".playground button").click()
        self.wait_for_end()

    def button_says(self, word):
        return self.find(".playground button").text == word

    def assert_quiet(self):
        """No error, nothing from elsewhere, nothing wider than the screen."""
        self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])
        loaded = self.driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
        self.assertEqual([name for name in loaded if not name.startswith(("file:", "data:"))], [])
        self.assertFalse(self.driver.execute_script(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    def test_a_kernel_of_the_readers(self):
        self.set_mode("", 390, 900, False)
        self.driver.get(make_page("own", lesson="emulate").as_uri())
        self.driver.execute_script('document.querySelector(".playground").open = true')
        self.wait(lambda driver: driver.find_elements("css selector", "textarea"))
        ptx = "\n".join([".entry first(.param .f32 x)", "{", "ret;", "}", ".visible .entry second(", "\t.param .u64 p,",
                         "\t.param .u32 n", ")", "{", "\tret;", "}"])
        self.find("textarea").send_keys("nonsense")
        self.assertEqual(self.said(), "This PTX has no .entry.")
        self.driver.execute_script("""
            const files = new DataTransfer();
            files.items.add(new File([arguments[1]], "kernel.ptx"));
            arguments[0].dispatchEvent(new DragEvent("drop", {dataTransfer: files, cancelable: true, bubbles: true}));
            """, self.find("textarea"), ptx)
        self.wait(lambda driver: self.find("textarea").get_attribute("value") == ptx)
        self.assertEqual(self.field("argument 1", "select").text.split(), ["f32"])
        self.field("kernel", "select").send_keys("second")
        self.assertEqual(self.field("argument 2", "select").text.split(), ["u32"])
        self.field("argument 1", "select").send_keys("ints")
        for label, value in (("blocks", "2 3"), ("threads per block", "64"), ("argument 2", "1000")):
            self.field(label, "input").clear()
            self.field(label, "input").send_keys(value)
        self.find(".playground button").click()
        self.wait_for("finding")
        [request] = self.requests()
        self.assertEqual((request["lesson"], request["kernel"], request["ptx"], request["options"]), ("emulate", "launch", ptx, {
            "name": "second", "grid": [2, 3], "block": [64], "shared": 0,
            "values": [{"kind": "ints", "value": 1024}, {"kind": "u32", "value": 1000}]}))
        self.assertEqual(self.said(), "1,234 warp instructions. 1 finding.")
        self.assertIn("argument 1: 5 -7 …", self.find(".contents .playground").text)
        self.assertIn(["", "blocks", "6"], [row[:3] for row in self.rows()])
        self.find(".findings a").click()
        self.assertIn("race: it races", self.driver.switch_to.active_element.text)
        self.assert_quiet()

    def test_a_broken_kernel_is_beside_the_whole_one(self):
        self.start()
        self.assertFalse(self.find("form pre").is_displayed())
        self.field("break", "select").send_keys("reduce2 w")
        self.wait_for("wrong")
        self.wait_for_end()
        self.assertEqual(self.said(), "reduce2 without a barrier: wrong: expected 829,743, actual 7. 1 finding. "
                         "0 of 13 numbers differ from reduce2.")
        self.assertEqual([(each["kernel"], each.get("broken"), each["n"]) for each in self.requests()[-2:]],
                         [("reduce2", "without a barrier", 1000), ("reduce2", None, 1000)])
        self.assertEqual(self.find("form pre").text, "-    __syncthreads();")
        self.find(".findings a").click()
        row = self.driver.switch_to.active_element
        self.assertIn("/* broken */", row.text, "the source of the broken kernel")
        self.assertIn("race: it races", row.text)
        self.field("kernel", "select").send_keys("reduce3")
        self.wait_for("reduce3: verified")
        self.wait_for_end()
        self.assertEqual(self.field("break", "select").get_attribute("value"), "nothing")
        self.assertFalse(self.find("form pre").is_displayed())
        self.assertNotIn("broken", self.requests()[-2])
        self.assert_quiet()

    def test_counters_beside_the_kernel_before(self):
        """n 65,536 and blocks of 256: reduce2 has 65,536 / 256 = 256 blocks, reduce3 has 65,536 / 512 = 128. Its ratios are 1/2,
        16/2 = 1/8 and 1600/100 = 1/16, which the terminal rounds to even."""
        self.start()
        self.assertEqual(self.said(), "reduce3: verified, 829,743. 10 of 13 numbers differ from reduce2.")
        self.assertEqual([head.text for head in self.driver.find_elements("css selector", ".counters thead th")],
                         ["reduce2", "reduce3", "change"])
        self.assertEqual(self.rows(), [
            ["group", "an H200 would take [us] (estimate)"], ["moved", "for 268,435,456 elements", "1,208", "64.2", "x 0.053"],
            ["group", "counted for 65,536 elements"],
            ["", "verified", "yes", "yes", ""], ["same", "result", "829,743", "829,743", ""],
            ["moved", "blocks", "256", "128", "x 0.50"], ["same", "threads per block", "256", "256", ""],
            ["group", "global loads"],
            ["same", "sectors", "8,192", "8,192", ""], ["same", "requests", "2,048", "2,048", ""],
            ["group", "global stores"],
            ["moved", "sectors", "256", "128", "x 0.50"], ["moved", "requests", "256", "128", "x 0.50"],
            ["group", "shared loads"],
            ["moved", "wavefronts", "6,400", "3,200", "x 0.50"], ["moved", "bank conflicts", "16", "2", "x 0.12"],
            ["group", "shared stores"],
            ["moved", "wavefronts", "5,120", "2,560", "x 0.50"], ["moved", "bank conflicts", "0", "7", "new"],
            ["group", "instructions (PTX)"],
            ["moved", "per warp", "10,240", "5,120", "x 0.50"], ["moved", "per thread", "1,600", "100", "x 0.062"],
            ["group", "branches (PTX)"], ["moved", "divergent", "6", "0", "gone"]])
        first, second = self.requests()
        self.assertEqual((first["kernel"], first["lines"], first["draw"], first["check"]), ("reduce3", True, True, True))
        self.assertEqual((second["kernel"], second["lines"], second["draw"], second["check"]), ("reduce2", False, False, False))
        self.assertEqual((first["lesson"], first["n"], first["block"], first["options"]),
                         ("lesson03", 65536, 256, {"padding": 1, "type": "int", "early_exit": False}))
        self.assert_quiet()

    def test_a_time_is_of_a_known_kernel_block_and_option(self):
        """Where there is none, a dash. Without any, for lack of nvdisasm, no row. An option that is a size changes nothing."""
        def assert_times(*cells):
            self.assertEqual(self.rows()[1][1:], ["for 268,435,456 elements", *cells])

        self.start()
        self.move("threads per block", 7)
        self.wait_for_request(block=128)
        assert_times("1,210", "-", "")
        self.move("threads per block", 8)
        self.move("padding", 2)
        self.wait_for_request(block=256, options={"padding": 2, "type": "int", "early_exit": False})
        assert_times("-", "-", "")
        self.move("padding", 1)
        self.field("type", "select").send_keys("half")
        self.wait_for_request(options={"padding": 1, "type": "half", "early_exit": False})
        assert_times("1,208", "64.2", "x 0.053")
        self.field("break", "select").send_keys("reduce2 w")
        self.wait_for("wrong")
        self.wait_for_end()
        assert_times("1,208", "-", "")
        self.start(without="times")
        self.assertEqual(self.rows()[0][1], "verified")
        self.assertNotIn("H200", self.find(".playground").text)
        self.assert_quiet()

    def tables_that_are_cut(self):
        return self.driver.execute_script("""
            return [...document.querySelectorAll(".playground .wide")].filter(
                table => table.scrollWidth > table.clientWidth).map(table => table.innerText);""")

    def test_each_field_is_beside_its_label(self):
        for width in (1280, 390):
            self.start(width=width)
            for label in self.driver.find_elements("css selector", ".playground label:has(> span)"):
                words, field = (label.find_element("css selector", part).rect for part in ("span", "input, select"))
                self.assertLess(field["x"] - words["x"] - words["width"], 80, label.text)
                self.assertLess(abs(field["y"] + field["height"] / 2 - words["y"] - words["height"] / 2), 4, label.text)

    def test_a_kernel_alone(self):
        """Has no column for a change. A counter that is no rare one has a row where it is 0, too."""
        from selenium.webdriver.support.ui import Select
        self.start()
        Select(self.field("beside", "select")).select_by_visible_text("reduce3")
        self.driver.execute_script("fake.requests.length = 0")
        self.run_again()
        self.assertEqual(self.said(), "reduce3: verified, 829,743.")
        self.assertEqual(self.rows()[-2:], [["group", "branches (PTX)"], ["", "divergent", "0"]])
        self.assertEqual(len(self.rows()), 24)

    def test_source_with_costs(self):
        """Lines 12, 14 and 21 of reduce3. Its function and the comment above it are lines 5 to 29."""
        self.start()
        rows = {row.find_element("class name", "line").text: [cell.text for cell in row.find_elements("tag name", "td")]
                for row in self.driver.find_elements("css selector", ".lines tbody tr")}
        self.assertEqual(list(rows), [str(line) for line in range(5, 30)])
        self.assertEqual([head.get_attribute("textContent") for head in self.driver.find_elements("css selector", ".lines th")],
                         ["instructions", "sectors", "wavefronts", "line", "source"])
        source, table = (self.driver.find_element("css selector", one).size["width"] for one in (".lines td.source", ".lines"))
        self.assertGreater(source, 0.85 * table, "in a page's column the counts stand below their line")
        self.assertEqual(rows["12"], ["16", "1,000", "", "12", "    int sum = i < n ? input[i] : 0;"])
        self.assertEqual(rows["14"], ["8", "500 ×2.5", "", "14", "        sum += input[i + blockDim.x];"])  # ideal: 200
        self.assertEqual(rows["21"], ["12", "", "3,200", "21", "            shared[tid] += shared[tid + stride];"])
        self.assertEqual([cell.text for cell in self.driver.find_elements("class name", "most")], ["16", "1,000", "3,200"])
        self.assertEqual(self.tables_that_are_cut(), [])

    def test_pictures(self):
        """First the one that the lesson's page has. What the reader chooses stays, whatever the options."""
        from selenium.webdriver.support.ui import Select

        def shown():
            return self.driver.execute_script('return document.querySelector(".drawn img").alt')

        self.start()
        self.assertIn("reduce3: active lanes", shown())
        Select(self.field("picture", "select")).select_by_visible_text("banks")
        self.wait(lambda driver: "reduce1: banks" in shown())
        self.run_again()
        self.assertIn("reduce1: banks", shown())

    def test_steps(self):
        """64 words of 1, then 32 of 2, then 16 of 4: by keys, and by touch on a phone."""
        from selenium.webdriver.common.keys import Keys
        for width in (1280, 390):
            self.start(width=width)
            self.assertFalse(self.requests()[0]["steps"])
            self.find(".steps summary").click()
            self.wait(lambda driver: self.find(".steps [role=status]").text)
            self.wait_for_end()
            self.assertTrue(self.requests()[-2]["steps"])
            words, slider = self.find('[aria-label="Words of shared memory"]'), self.find('[aria-label="step"]')
            back, play, forward = self.driver.find_elements("css selector", ".walk button")
            self.assertEqual([pre for pre in self.driver.find_elements("css selector", ".steps pre")
                              if pre.get_property("scrollWidth") > pre.get_property("clientWidth")], [], "banks off the screen")
            self.assertEqual(self.find(".steps [role=status]").text,
                             "Step 1 of 3: shared store at kernels.cuh:16, after 0 barriers. 64 lanes of 2 warps.")
            self.assertEqual(self.find(".steps code").text, "shared[tid] = sum;")
            for go, ones, twos, fours in ((forward, 32, 32, 0), (forward, 32, 16, 16), (forward, 32, 16, 16), (back, 32, 32, 0),
                                          (back, 64, 0, 0), (back, 64, 0, 0)):
                if width > 390:
                    slider.send_keys(Keys.ARROW_RIGHT if go is forward else Keys.ARROW_LEFT)
                else:
                    self.driver.execute_script('arguments[0].scrollIntoView({block: "center"})', go)
                    self.touch(go)
                self.assertEqual([words.text.split().count(value) for value in "124"], [ones, twos, fours])
                marked = len(words.find_elements("tag name", "mark"))
                self.assertEqual(marked, fours or twos or ones)
            slider.send_keys(Keys.END)
            self.assertEqual(self.find('[aria-label="Lanes"]').text,
                             f"warp  0  {16 * '█'}{16 * '·'}\nwarp  1  {32 * '░'}")
            said = ("Step 3 of 3: shared store at kernels.cuh:21, after 2 barriers. 16 lanes of 1 warp. "
                    "Warp 1 waits at the barrier of line 17.")
            self.assertEqual(self.find(".steps [role=status]").text, said)
            self.assertEqual(slider.get_attribute("aria-valuetext"), said)
            self.run_again()
            self.assertIn("Step 3 of 3", self.find(".steps [role=status]").text)
            self.play_the_steps(play, words)
            self.assert_quiet()

    def play_the_steps(self, play, words):
        """From the first one, as the last one is shown. It can be stopped, and stops at the end."""
        self.driver.execute_script("""
            window.setInterval = (tick, milliseconds) => {
                window.tick = tick;
                return milliseconds;
            };""")
        seen = []
        for act in (play.click, "tick()", play.click, play.click, "tick()"):
            if callable(act):
                self.driver.execute_script('arguments[0].scrollIntoView({block: "center"})', play)
                act()
            else:
                self.driver.execute_script(act)
            seen.append((words.text.split().count("4"), play.text.split()[-1]))
        self.assertEqual(seen, [(0, "Pause"), (0, "Pause"), (0, "Play"), (0, "Pause"), (16, "Play")])

    def test_warps_that_wait(self):
        """Lanes 16 to 31 of warp 0 and all of warp 1 are in the block. The words are about any warps."""
        every = 2**32 - 1
        self.start(waiting=[[7, every, 22], [1, every, 22], [4, every, 22], [5, 1, 22], [6, every, 22], [0, 2**32 - 2**16, 30]])
        self.find(".steps summary").click()
        self.wait(lambda driver: self.find(".steps [role=status]").text)
        self.find('[aria-label="step"]').send_keys("\ue010")  # End
        self.assertTrue(self.find(".steps [role=status]").text.endswith(
            " 1 warp. Warp 0 waits at the barrier of line 30. Warps 1, 4 to 7 wait at the barrier of line 22."))
        self.assertEqual(self.find('[aria-label="Lanes"]').text, f"warp  0  {16 * '█'}{16 * '░'}\nwarp  1  {32 * '░'}")

    def test_own_ptx(self):
        """Beside the lesson's kernel. Without it the lesson's two again."""
        from selenium.webdriver.common.keys import Keys
        (PAGES / "own.ptx").write_text(".version 8.0 // from a file", encoding="utf-8")
        self.start()
        self.find(".own summary").click()
        text, file = self.find(".own textarea"), self.find(".own input")

        def ran():
            self.wait_for_end()
            heads = [head.text for head in self.driver.find_elements("css selector", ".counters thead th")]
            return heads[:2], [(request["kernel"], request["ptx"]) for request in self.requests()[-2:]]

        text.send_keys("x")
        self.assertEqual(ran(), (["reduce3", "yours"], [("reduce3", "x"), ("reduce3", None)]))
        self.assertIn("yours: verified", self.said())
        file.send_keys(str(PAGES / "own.ptx"))
        self.wait(lambda driver: self.requests()[-2]["ptx"] == ".version 8.0 // from a file")
        self.assertEqual(ran()[0], ["reduce3", "yours"])
        text.send_keys(Keys.CONTROL, "a", Keys.DELETE)
        self.wait(lambda driver: not self.requests()[-2]["ptx"])
        self.assertEqual(ran(), (["reduce2", "reduce3"], [("reduce3", None), ("reduce2", None)]))
        self.assert_quiet()

    def test_the_solution_of_an_exercise(self):
        """In a panel of its own, beside the lesson's kernel. What acts on the lesson's kernels alone is not there."""
        self.load()
        self.driver.execute_script('''
            const place = document.querySelector(".playground");
            place.dataset.solution = "";
            place.open = true;''')
        self.wait_for("our solution: verified")
        self.wait_for_end()
        self.assertEqual([head.text for head in self.driver.find_elements("css selector", ".counters thead th")],
                         ["reduce3", "our solution", "change"])
        self.assertEqual([(each["kernel"], each["ptx"]) for each in self.requests()],
                         [("reduce3", "of the solution"), ("reduce3", None)])
        self.assertIn("/* solved */", self.find(".lines").text)
        self.assertEqual(self.driver.find_elements("xpath", "//label[span='kernel' or span='break']"), [])
        self.assertEqual(self.driver.find_elements("css selector", ".own"), [])
        self.assert_quiet()

    def run_own(self, ptx, kernel="reduce3"):
        """As an editor of the page does it: the heads of the columns, what ran, and the source beside the costs."""
        return self.driver.execute_async_script("""
            const [ptx, kernel, done] = arguments;
            const place = document.querySelector(".playground");
            playgroundPanel.of(place).then(async panel => {
                const first = fake.requests.length;
                const text = fakeFacts.text.join("\\n").replaceAll("int ", "long ");
                const why = await panel.runOwn({ptx, kernels: [kernel], sources: {"kernels.cuh": text}});
                place.open = true;
                const heads = [...document.querySelectorAll(".counters thead th")].map(head => head.innerText);
                const ran = fake.requests.slice(first).map(one => [one.kernel, one.ptx]);
                done([heads, ran, document.querySelector(".lines").innerText, why]);
            });""", ptx, kernel)

    def test_kernels_of_an_editor(self):
        """Beside the lesson's kernel, or, where the launch is no lesson's, beside what ran before. The source is the editor's."""
        self.load()
        heads, ran, source, why = self.run_own("one", "reduce2")
        self.assertEqual((heads[:2], ran, why), (["reduce2", "yours"], [["reduce2", "one"], ["reduce2", None]], ""))
        self.assertIn("long sum", source)
        _, ran, _, why = self.run_own("two", "reduce_over_a_link")
        self.assertEqual((ran, why), ([], "A page has no link."))
        self.assertEqual(self.said(), "A page has no link.")
        self.load(without="ptx")
        self.assertEqual(self.run_own("one")[:2], [["yours"], [["reduce3", "one"]]])
        self.assertEqual(self.run_own("two")[:2], [["before", "yours", "change"], [["reduce3", "two"], ["reduce3", "one"]]])
        self.assertEqual(self.run_own("two")[:2], [["before", "yours", "change"], [["reduce3", "two"], ["reduce3", "one"]]])
        self.load(without="ptx")
        self.driver.execute_script('document.querySelector(".playground").open = true')
        self.wait_for("^Run your kernel from the editor.$")
        self.assert_quiet()

    def test_by_keyboard(self):
        from selenium.webdriver.common.keys import Keys
        self.load()
        self.find("#search-field").send_keys(Keys.TAB)
        self.driver.switch_to.active_element.send_keys(Keys.TAB)  # past the predictions
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.wait_for("reduce3: verified")
        stops = []
        for _ in range(18):
            self.driver.switch_to.active_element.send_keys(Keys.TAB)
            element = self.driver.switch_to.active_element
            stops.append(element.accessible_name)
            width = element.value_of_css_property("outline-width")
            self.assertEqual((element.value_of_css_property("outline-style"), width), ("solid", "3px"), stops)
        self.assertEqual(stops, [
            "kernel", "beside", "n", "n, slider", "threads per block", "threads per block, slider", "padding", "padding, slider",
            "type", "early exit", "break", "Run", "picture", "Picture", "Step through",
            "Source, with costs by line", "Source, with costs by line", "Your own PTX"])
        self.field("n").send_keys(Keys.CONTROL, "a")
        self.field("n").send_keys("1000", Keys.ENTER)
        self.wait_for_request(n=1000)
        self.assertEqual(self.slider("n").get_attribute("aria-valuetext"), "1,000")
        self.slider("threads per block").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.field("threads per block").get_attribute("value"), "512")
        self.field("kernel", "select").send_keys(Keys.ARROW_UP)
        self.field("kernel", "select").send_keys(Keys.ARROW_UP)
        self.assertEqual(self.field("beside", "select").get_attribute("value"), "reduce2")
        self.field("padding").send_keys(Keys.ENTER)
        self.wait_for_request(kernel="reduce_with_a_long_name", block=512)
        self.assert_quiet()

    def test_refuses_what_is_no_choice(self):
        self.start()
        give = """
            arguments[0].value = arguments[1];
            arguments[0].dispatchEvent(new Event("input"));"""
        for label, wrong in (("threads per block", "100"), ("padding", "34"), ("n", "0"), ("n", "")):
            with self.subTest(label, wrong=wrong):
                self.run_again()
                field, count = self.field(label), len(self.requests())
                before = field.get_attribute("value")
                self.driver.execute_script(give, field, wrong)
                self.find(".playground button").click()
                self.assertEqual(self.driver.switch_to.active_element, field)
                self.assertTrue(field.get_property("validationMessage"))
                self.assertEqual(len(self.requests()), count)
                self.driver.execute_script(give, field, before)
                self.wait(lambda driver, count=count: len(self.requests()) == count + 2)
                self.wait_for_end()

    def test_a_fast_run_follows_the_slider(self):
        """Two kernels of 49 ms each: less than 100. The first time ten times as much."""
        self.start(took=499)
        self.driver.execute_script("fake.took = 49; fake.milliseconds = 200; fake.requests.length = 0")
        self.move("threads per block", 5, 6, 7)  # 2^5, 2^6, 2^7
        self.wait(lambda driver: len(self.requests()) >= 4)
        self.wait_for_end()
        # While the first one runs, the others wait: the last of them is enough.
        self.assertEqual([request["block"] for request in self.requests()], [32, 32, 128, 128])

    def test_a_slow_run_waits_for_the_button(self):
        """Two kernels of 50 ms each, and of 500 the first time."""
        self.start(took=500)
        self.driver.execute_script("fake.took = 50")
        self.move("threads per block", 5, 6)
        self.run_again()
        self.move("threads per block", 7, 8, 9)
        self.run_again()
        self.assertEqual([request["block"] for request in self.requests()], [256, 256, 64, 64, 512, 512])

    def test_stop(self):
        from selenium.webdriver.common.keys import Keys
        self.load(milliseconds=1000000)
        self.driver.execute_script('document.querySelector(".playground").open = true')
        self.wait_for("Running reduce3 …")
        self.assertTrue(self.button_says("Stop"))
        self.find(".playground button").click()
        self.wait_for("Stopped.")
        self.assertTrue(self.button_says("Run"))
        self.find(".playground button").click()
        self.wait_for("Running reduce3 …")
        self.field("n").send_keys(Keys.ESCAPE)
        self.wait_for("Stopped.")
        self.driver.execute_script("fake.milliseconds = 0")
        self.find(".playground button").click()
        self.wait_for("verified")

    def test_errors_are_sentences(self):
        self.start(error="stopped after 1,000,000 warp instructions, at kernels.cuh:21.")
        self.assertEqual(self.said(), "reduce3: stopped after 1,000,000 warp instructions, at kernels.cuh:21.")
        self.assertEqual(len(self.requests()), 1)
        self.assertEqual(self.rows(), [])
        self.driver.execute_script("delete fake.error")
        self.run_again()
        self.assertEqual(len(self.rows()), 24)

    def test_says_how_to_get_the_emulator(self):
        self.start(scripts="nowhere.js")
        self.assertEqual(self.said(), "The emulator is not here: make playground, and then make docs, adds it to these pages.")

    def test_wrong_result(self):
        self.start(actual=-1)
        self.assertIn("reduce3: wrong: expected 829,743, actual -1.", self.said())
        self.assertEqual(self.rows()[3][1:], ["verified", "NO", "NO", ""])
        self.start(actual=32735.666015625)  # a float, in nine digits
        self.assertIn("reduce3: wrong: expected 829,743, actual 32735.666.", self.said())

    def test_a_finding_leads_to_its_line(self):
        for width in (1280, 390):  # there the source is folded
            for motion in ("reduce", "no-preference"):
                self.start(width=width, findings=[{"check": "race", "message": "thread 3 reads what thread 35 stores"}])
                self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                            {"features": [{"name": "prefers-reduced-motion", "value": motion}]})
                self.assertIn("1 finding.", self.said())
                link = self.find(".findings a")
                self.assertEqual(self.find(".findings li").text, "race: thread 3 reads what thread 35 stores kernels.cuh:21")
                self.driver.execute_script("""
                    Element.prototype.scrollIntoView = function(how) { window.scrolled = how; };
                    arguments[0].click();""", link)
                row = self.driver.switch_to.active_element
                self.assertIn("shared[tid] += shared[tid + stride];\nrace: thread 3 reads what thread 35 stores",
                              row.find_element("class name", "source").text)
                behavior = self.driver.execute_script("return scrolled.behavior")
                self.assertEqual(behavior, "auto" if motion == "reduce" else "smooth")

    def test_by_touch(self):
        from selenium.webdriver.support.ui import Select
        self.load(width=390, actual=-12345678)
        self.touch(self.find(".playground summary"))
        self.wait_for("actual -12,345,678")
        self.assertIsNone(self.find(".listing").get_attribute("open"))
        targets = ".playground :is(summary, label, select, button, input:not([type=checkbox]))"  # the box has its label
        for target in self.driver.find_elements("css selector", targets):
            self.assertGreaterEqual(min(target.rect["height"], target.rect["width"]), 44, target.get_attribute("outerHTML"))
        slider = self.slider("threads per block")
        self.driver.execute_script('arguments[0].scrollIntoView({block: "center"})', slider)
        self.touch(slider, 0.98)
        self.assertEqual(self.field("threads per block").get_attribute("value"), "1024")
        Select(self.field("kernel", "select")).select_by_visible_text("reduce_with_a_long_name")
        self.touch(self.find(".playground button"))
        self.wait_for_request(kernel="reduce_with_a_long_name", block=1024)
        summary = self.find(".listing summary")
        self.driver.execute_script('arguments[0].scrollIntoView({block: "center"})', summary)
        self.touch(summary)
        self.assertTrue(self.find(".lines").is_displayed())
        for width in (390, 380):
            self.set_mode("", width, 900, False)
            self.assert_quiet()
            self.assertEqual(self.tables_that_are_cut(), [])

    def test_predictions(self):
        """4,194,304 / 512 = 8,192 blocks. 65,536 ints of 4 bytes are 65,536 / 8 = 8,192 sectors."""
        from selenium.webdriver.common.keys import Keys
        for width in (1280, 390):
            self.load(width=width)
            self.find("#predict summary").click()
            self.wait(lambda driver: len(driver.find_elements("css selector", ".predict")) == 2)
            for question, words in ((1, "reduce3 --n 4194304 --block 256 --offset 1: blocks"),
                                    (2, "reduce2 --n 65536 --block 32: global load sectors")):
                form = self.find(f"#predict li:nth-child({question}) .predict")
                field, answer = form.find_element("tag name", "input"), form.find_element("css selector", "[role=status]")
                self.assertEqual(field.accessible_name, words)
                for typed, said in (("x", "Type a number."), ("8191", "No: the run counts more than 8,191."),
                                    ("16,384", "No: the run counts fewer than 16,384."), ("8,192", "Yes: the run counts 8,192.")):
                    field.send_keys(Keys.CONTROL, "a")
                    field.send_keys(typed, Keys.ENTER)
                    self.wait(lambda driver, answer=answer, said=said: answer.text == said)
                self.assertGreaterEqual(min(field.rect["height"], form.find_element("tag name", "button").rect["height"]), 44)
            asked = [(request["kernel"], request["n"], request["block"], request["options"]) for request in self.requests()]
            self.assertEqual(asked, 3 * [("reduce3", 4194304, 256, {"offset": 1})] + 3 * [("reduce2", 65536, 32, {})])
            self.assert_quiet()

    def test_light_and_dark(self):
        """The picture's paper is #fff or #12161b, as its style sheet says."""
        for is_dark, paper in ((False, [255, 255, 255]), (True, [0x12, 0x16, 0x1b])):
            self.start(is_dark=is_dark, actual=1, findings=[{"check": "race", "message": "thread 3 reads what thread 35 stores"}])
            self.driver.save_screenshot(str(PAGES / f"{'dark' if is_dark else 'light'}.png"))
            self.find(".steps summary").click()
            self.wait(lambda driver: driver.find_elements("css selector", ".steps mark"))
            self.assertEqual(self.driver.execute_script(FAINT, ".playground"), [])
            picture = self.find(".drawn img")
            self.assertIn("reduce3: active lanes, step by step: 10 steps", picture.get_attribute("alt"))
            pixel = self.driver.execute_async_script("""
                const image = new Image(), context = document.createElement("canvas").getContext("2d");
                image.onload = () => {
                    context.drawImage(image, 0, 0);
                    arguments[1]([...context.getImageData(6, 6, 1, 1).data.slice(0, 3)]);
                };
                image.src = "data:image/png;base64," + arguments[0];""", picture.screenshot_as_base64)
            self.assertEqual(pixel, paper)


if __name__ == "__main__":
    PAGES = Path(sys.argv.pop(1)).resolve()
    PAGES.mkdir(parents=True, exist_ok=True)
    unittest.main()
