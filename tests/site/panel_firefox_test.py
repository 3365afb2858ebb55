#!/usr/bin/python3
"""panel_firefox_test.py FOLDER SITE [TEST]...: the playground's panel in Firefox.

Panel has pages of its own, in FOLDER. OnTheEmulator runs lesson 03 in the docs site, SITE/html.
"""

import sys
import unittest
from pathlib import Path

import panel_test
from firefox import InFirefox

SITE = Path()  # set by main
ENTER, TAB, ESCAPE = "\ue007", "\ue004", "\ue00c"  # as WebDriver names the keys


class InPage(InFirefox):
    def wait_for(self, words):
        self.firefox.wait(lambda: words in self.firefox.run(
            "return document.querySelector('.playground [role=status]')?.textContent ?? ''"))


class Panel(InPage):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        panel_test.write_scripts()

    def load(self, **fake):
        self.firefox.open(panel_test.make_page("firefox").as_uri())
        self.firefox.run("""
            window.setting = arguments[0];
            window.wrong = [];
            addEventListener("error", event => wrong.push(event.message));
            addEventListener("unhandledrejection", event => wrong.push(String(event.reason)));
            document.getElementById("search-field").focus();""", fake)
        self.firefox.press(TAB, TAB, ENTER)  # past the predictions

    def assert_quiet(self):
        self.assertEqual(self.firefox.run("return wrong"), [])
        self.assertFalse(self.firefox.run("return document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    def test_by_keyboard(self):
        """At the numbers of panel_test.py."""
        self.load()
        self.wait_for("reduce3: verified, 829,743. 10 of 13 numbers differ from reduce2.")
        rows = self.firefox.run("return [...document.querySelectorAll('.counters tbody tr')].map(row => row.innerText)")
        self.assertEqual(len(rows), 24)
        self.assertEqual(rows[5].split("\t"), ["blocks", "256", "128", "x 0.50"])
        self.assertEqual(rows[15].split("\t"), ["bank conflicts", "16", "2", "x 0.12"])
        self.firefox.press(TAB, TAB, TAB)
        self.assertEqual(self.firefox.run("""
            const style = getComputedStyle(document.activeElement);
            return [document.activeElement.type, style.outlineStyle, style.outlineWidth];"""), ["number", "solid", "3px"])
        self.firefox.run("document.activeElement.select()")
        self.firefox.press(*"1000", ENTER)
        self.firefox.wait(lambda: self.firefox.run("return fake.requests.at(-1).n === 1000"))
        self.assert_quiet()

    def test_stop(self):
        self.load(milliseconds=1000000)
        self.wait_for("Running reduce3")
        self.firefox.press(TAB, ESCAPE)
        self.wait_for("Stopped.")
        self.assert_quiet()

    def test_narrow_and_dark(self):
        """As narrow as its window gets."""
        self.firefox.call("WebDriver:SetWindowRect", width=390, height=900)
        self.addCleanup(self.firefox.call, "WebDriver:SetWindowRect", width=1280, height=900)
        self.load()
        self.wait_for("verified")
        self.assertLess(self.firefox.run("return innerWidth"), 768)
        self.assertFalse(self.firefox.run("return document.querySelector('.listing').open"))
        self.firefox.run("document.documentElement.className = 'dark-mode'")  # as the page's own switch does
        self.firefox.run("document.querySelector('.drawn').scrollIntoView()")
        self.firefox.save_screenshot(panel_test.PAGES / "firefox_dark.png")
        self.assertEqual(self.firefox.run(panel_test.FAINT, ".playground"), [])
        self.assertGreater(self.firefox.run("return document.querySelector('.drawn img').naturalWidth"), 0)
        self.assert_quiet()


class OnTheEmulator(InPage):
    def test_lesson_03(self):
        """128 blocks of 512 of the 65,536 ints, each with 25 load wavefronts: 25 x 128 = 3,200. Lesson 03 derives them."""
        self.firefox.open((SITE / "html/lesson03.html").as_uri())
        self.firefox.run('document.querySelector(".playground").open = true')
        self.wait_for("reduce3: verified, ")
        rows = self.firefox.run("return [...document.querySelectorAll('.counters tbody tr')].map(row => row.innerText)")
        self.assertIn("wavefronts\t6,400\t3,200\tx 0.50", rows)


if __name__ == "__main__":
    panel_test.PAGES, SITE = (Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
    panel_test.PAGES.mkdir(parents=True, exist_ok=True)
    unittest.main()
