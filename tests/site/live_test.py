#!/usr/bin/python3
"""live_test.py FOLDER [TEST]...: figures that move (docs/site/live.js) in a browser. Its pages lie in FOLDER."""

import shutil
import sys
import unittest
from pathlib import Path

from browser import FAINT, InBrowser

from tutorial import ROOT
from tutorial.live import Live as Drawing
from tutorial.live import page_style, write_data, write_figure
from tutorial.live_traces import draw_banks, trees

PAGES = Path()  # set by main

PAGE = """<!DOCTYPE html>
<html lang="en" class="{mode}-mode"><head><meta charset="utf-8"><title>Live</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link href="file:///usr/share/doxygen-awesome-css/doxygen-awesome.css" rel="stylesheet">
<link href="{docs}/site/site.css" rel="stylesheet"><link href="live.css" rel="stylesheet">{script}</head>
<body><div id="doc-content"><div class="contents"><div class="textblock"><div style="height:{above}px"></div>
<figure><a href="live_{figure}.svg"><img src="live_{figure}.svg" alt="What it shows"/></a><figcaption>It.</figcaption></figure>
<p style="height:2000px">After.</p></div></div></div></body></html>
"""

STORY = """<!DOCTYPE html>
<html lang="en" class="light-mode"><head><meta charset="utf-8"><title>Story</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link href="{docs}/site/site.css" rel="stylesheet"><link href="live.css" rel="stylesheet"></head>
<body><div id="bar"></div><div id="doc-content"><div class="contents"><div class="textblock">
<figure><a href=""><img src="story_reduce0.svg" alt="The ladder"/></a></figure><p style="height:2000px">Before.</p>
<h1><a class="anchor" id="next"></a>Next</h1><p style="height:2000px">After.</p></div></div></div></body></html>
"""


def parts():
    """All that a drawing may have: frames to drag along x from 100 to 300, cells, what moves, and what leads to a frame."""
    drawing = Drawing("one", 100, "Parts")
    drawing.drag = [100, 300]
    for number in range(11):
        drawing.frame(f"frame {number}")
    with drawing.moving(20):
        drawing.line(100, 0, 100, 90)
    drawing.rows((10, 20, 2, 3, 0, 1), {"a": "#0072b2"}, ["aaaa a", " a  "])
    drawing.elements.append('<g data-go="7"><rect x="0" y="60" width="40" height="30" fill="#d55e00"/></g>')
    return drawing


def request(words, cost):
    return {"warp": 0, "active": (1 << len(words)) - 1, "cost": cost, "addresses": [4 * word for word in words]}


class Live(InBrowser):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        write_figure(PAGES, "tree", trees(None), "kernel")
        write_figure(PAGES, "banks", [draw_banks("reduce1", [(1, [request(range(0, 64, 2), 2)]), (2, [request(range(32), 1)])])],
                     "kernel")
        write_figure(PAGES, "parts", [parts()], "")
        style = (ROOT / "docs/site/live.css").read_text(encoding="utf-8") + page_style()
        (PAGES / "live.css").write_text(style, encoding="utf-8")
        shutil.copy(ROOT / "docs/figures/story_reduce0.svg", PAGES)

    def load(self, figure="tree_reduce1", width=1280, is_dark=False, still=True, above=0, script=True, is_shown=True):
        self.set_mode("", width, 900, is_dark)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}]})
        self.driver.get_log("browser")  # what earlier tests left
        page = PAGES / "page.html"
        docs = (ROOT / "docs").as_uri()
        page.write_text(PAGE.format(docs=docs, figure=figure, above=above, mode="dark" if is_dark else "light",
                                    script=f'<script src="{docs}/site/live.js"></script>' if script else ""), encoding="utf-8")
        self.driver.get(page.as_uri())
        if script and is_shown:
            self.wait(lambda driver: driver.find_elements("css selector", ".live-controls"))

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def caption(self):
        return self.find(".live-caption").text

    def place(self):
        return self.find(".live-place").text

    def press(self, label):
        self.find(f'.live button[aria-label="{label}"]').click()

    def test_it_takes_the_place_of_the_picture(self):
        self.load()
        self.assertEqual(self.driver.find_elements("css selector", "img"), [])
        figure = self.find("figure")
        self.assertEqual((figure.get_attribute("role"), figure.get_attribute("aria-label")), ("group", "What it shows"))
        self.assertEqual(self.find("figcaption").text, "It.")
        self.assertEqual(self.place(), "5/5")  # the frame of the still picture
        self.assertEqual(self.find(".live-caption").get_attribute("role"), "status")
        self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])

    def test_without_script_the_picture_stays(self):
        self.load(script=False)
        self.assertTrue(self.driver.execute_script("return document.querySelector('img').naturalWidth > 300"))
        self.assertEqual(self.driver.find_elements("css selector", ".live"), [])

    def test_without_data_the_picture_stays(self):
        """Either there is none, or the figure needs estimates, which the machine that built the site could not make."""
        picture = (PAGES / "live_tree_reduce1.svg").read_text(encoding="utf-8")
        write_data(PAGES, "empty", [], "kernel")
        for figure, errors in (("nothing_here", 1), ("empty_here", 0)):
            (PAGES / f"live_{figure}.svg").write_text(picture, encoding="utf-8")
            self.load(figure, is_shown=False)
            self.driver.execute_async_script("setTimeout(arguments[0], 100)")
            self.assertTrue(self.find("img").is_displayed())
            self.assertEqual(len(self.driver.get_log("browser")), errors, figure)

    def test_steps_and_shows_the_line_that_runs(self):
        """reduce1 on eight elements: with stride 1 threads 0 to 3 add, words 0, 2, 4, 6. Of four banks these are 0, 2, 0, 2: two
        wavefronts."""
        self.load()
        for _ in range(9):
            self.press("step back")
        self.assertEqual(self.place(), "1/5")
        self.press("step forward")
        self.assertEqual(self.caption(), "stride 1: t0 adds words 0 and 1, t1 adds words 2 and 3 and so on. In the toy "
                         "warp 0 works: 2 wavefronts.")
        self.assertEqual(self.find(".live-source .runs").text.strip(), "shared[index] += shared[index + stride];")
        self.assertEqual(self.find(".live-source .runs").get_attribute("aria-current"), "step")
        shown = self.driver.execute_script("""
            return [...document.querySelectorAll(".live svg text")].filter(text => !text.closest(".off")).map(
                text => text.textContent);""")
        self.assertIn("stride 1", shown)
        self.assertNotIn("stride 2", shown)

    def test_keys(self):
        from selenium.webdriver.common.keys import Keys
        self.load()
        slider = self.find(".live-controls input")
        slider.send_keys(Keys.ARROW_LEFT)
        self.assertEqual(self.place(), "4/5")
        self.assertEqual(slider.get_attribute("aria-valuetext"), self.caption())
        back = self.find('.live button[aria-label="step back"]')
        back.send_keys(Keys.ARROW_LEFT)
        self.assertEqual(self.place(), "3/5")
        slider.send_keys(Keys.SPACE)
        self.assertTrue(self.find('.live button[aria-label="pause"]'))
        slider.send_keys(Keys.SPACE)
        self.assertTrue(self.find('.live button[aria-label="play"]'))
        radio = self.find(".live-tabs input:checked")
        radio.send_keys(Keys.ARROW_RIGHT)
        self.assertIn("reduce2", self.find(".live svg").get_attribute("textContent"))
        self.driver.execute_script("arguments[0].focus()", slider)
        slider.send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.driver.execute_script("return getComputedStyle(arguments[0]).outlineStyle", slider), "solid")

    def test_toggles_keep_the_frame(self):
        self.load()
        self.press("step back")
        for tab, title in (("reduce0a", "reduce0a: growing strides"), ("reduce2", "reduce2: shrinking strides")):
            self.driver.find_element("xpath", f"//label[span='{tab}']").click()
            self.assertEqual(self.find(".live svg text").text, title)
            self.assertEqual(self.place(), "4/5")
            self.assertFalse(self.find("figcaption").is_displayed(), "it is of the kernel with which the page begins")
        self.driver.find_element("xpath", "//label[span='reduce1']").click()
        self.assertTrue(self.find("figcaption").is_displayed())

    def test_a_heading_lies_below_the_chart_that_stays(self):
        """The story's, to which a click in its contents leads."""
        for width, height in ((1280, 900), (390, 844)):
            self.set_mode("", width, height, False)
            page = PAGES / "story.html"
            page.write_text(STORY.format(docs=(ROOT / "docs").as_uri()), encoding="utf-8")
            self.driver.get(page.as_uri() + "#next")
            self.wait(lambda driver: driver.execute_script("return document.images[0].complete && scrollY > 1000"))
            bar, top, bottom, heading = self.driver.execute_script("""
                const at = selector => document.querySelector(selector).getBoundingClientRect();
                return [at("#bar").bottom, at("figure").top, at("figure").bottom, at("#next").top];""")
            self.assertEqual(top, bar, "it stays in view")
            self.assertGreater(bottom, top + 50)
            self.assertGreaterEqual(heading, bottom)

    def test_plays_once_when_seen(self):
        self.load(still=False, above=2000)
        self.driver.execute_script("live.figures.tree.variants.forEach(one => one.ms = 60)")
        self.assertEqual(self.place(), "5/5")
        self.driver.execute_script("""
            window.seen = [];
            new MutationObserver(() => seen.push(document.querySelector(".live-place").textContent)).observe(
                document.querySelector(".live-place"), {childList: true});
            document.querySelector("figure").scrollIntoView();""")
        self.wait(lambda driver: self.driver.execute_script("return seen.at(-1)") == "5/5")
        self.assertEqual(self.driver.execute_script("return seen"), ["1/5", "2/5", "3/5", "4/5", "5/5"])
        self.assertTrue(self.find('.live button[aria-label="play"]'), "it has stopped")

    def test_moves_only_when_told_where_that_is_wished(self):
        self.load(still=True)
        self.assertEqual(self.place(), "5/5")
        self.assertEqual(self.driver.execute_script(
            "return getComputedStyle(document.querySelector('.live [data-f]')).transitionDuration"), "0s")
        self.driver.execute_script("live.figures.tree.variants.forEach(one => one.ms = 60)")
        self.press("play")
        self.wait(lambda driver: self.place() == "5/5" and driver.find_elements("css selector", '[aria-label="play"]'))

    def test_drawings_have_cells_and_what_moves(self):
        self.load("parts_one")
        [path] = [path.get_attribute("d") for path in self.driver.find_elements("css selector", ".live [data-rows] path")]
        self.assertIn(f'd="{path}"', str(parts()), "as in the still picture")
        self.press("step back")
        self.assertEqual(self.find("[data-step]").get_attribute("transform"), "translate(180)")  # 9 x 20
        self.assertFalse(self.find(".live-tabs").is_displayed(), "nothing to toggle")

    def test_drags_along_the_picture(self):
        self.load("parts_one")
        point = """
            const [svg, x, y, event, buttons] = arguments, box = svg.getBoundingClientRect(), scale = box.width / 400;
            document.elementFromPoint(box.left + x * scale, box.top + y * scale).dispatchEvent(
                new PointerEvent(event, {bubbles: true, buttons, clientX: box.left + x * scale}));"""
        for x, y, event, buttons, place in ((200, 50, "pointerdown", 1, "6/11"), (240, 50, "pointermove", 1, "8/11"),
                                            (120, 50, "pointermove", 0, "8/11"), (390, 50, "pointerdown", 1, "11/11"),
                                            (20, 70, "pointermove", 0, "8/11")):  # leads to frame 7
            self.driver.execute_script(point, self.find(".live svg"), x, y, event, buttons)
            self.assertEqual(self.place(), place, (x, event))

    def test_fits_a_phone(self):
        """All 32 banks of 350 px: 32 columns of 11 of 400 are 308 px. No target is smaller than a finger."""
        for width in (390, 360):
            self.load("banks_reduce1", width=width)
            left, right, overflow = self.driver.execute_script("""
                const boxes = [...document.querySelectorAll(".live svg path")].map(path => path.getBoundingClientRect());
                return [Math.min(...boxes.map(box => box.left)), Math.max(...boxes.map(box => box.right)),
                        document.documentElement.scrollWidth > document.documentElement.clientWidth];""")
            self.assertGreaterEqual(left, 0)
            self.assertLessEqual(right, width)
            self.assertGreater(right - left, 0.7 * width)
            self.assertFalse(overflow)
            for target in self.driver.find_elements("css selector", ".live :is(button, input[type=range])"):
                self.assertGreaterEqual(target.rect["height"], 44)

    def test_light_and_dark(self):
        """A lane that works is #0072b2 on light paper, #56b4e9 on dark."""
        for is_dark, color in ((False, "rgb(0, 114, 178)"), (True, "rgb(86, 180, 233)")):
            self.load("banks_reduce1", is_dark=is_dark)
            self.assertEqual(self.driver.execute_script(
                """return getComputedStyle(document.querySelector('.live path[fill="#0072b2"]')).fill"""), color)
            self.load("tree_reduce1", is_dark=is_dark)
            self.driver.execute_script("document.querySelector('.live svg').remove()")  # its text has other colors
            self.assertEqual(self.driver.execute_script(FAINT, ".live"), [])


if __name__ == "__main__":
    PAGES = Path(sys.argv.pop(1)).resolve()
    PAGES.mkdir(parents=True, exist_ok=True)
    unittest.main()
