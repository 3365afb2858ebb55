#!/usr/bin/python3
"""site_test.py FOLDER [TEST]...: the docs site in FOLDER/html is whole, valid and opens in a browser."""

import html.parser
import os
import re
import subprocess
import sys
import unittest
import urllib.parse
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = Path()  # set by main


class Links(html.parser.HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        self.targets += [attributes[name] for name in ("href", "src", "data") if attributes.get(name)]


@cache
def links_of(path):
    return Links(path)


def own_pages():
    """Those made from the project's pages; the others are Doxygen's, of the API."""
    made = [path.stem for path in (SITE / "work/pages").glob("*.md")]
    names = {stem if not stem.startswith(("lessons_", "tests_", "docs_", "common_")) else "" for stem in made}
    return sorted(SITE / "html" / f"{name}.html" for name in names if (SITE / "html" / f"{name}.html").is_file())


class Whole(unittest.TestCase):
    def test_every_link_and_picture_leads_somewhere(self):
        pages, links = sorted((SITE / "html").glob("*.html")), 0
        self.assertGreater(len(pages), 100)
        for page in pages:
            for target in links_of(page).targets:
                url = urllib.parse.urlparse(target)
                if url.scheme in ("http", "https", "javascript", "data"):
                    continue
                self.assertEqual(url.scheme, "", f"{page.name}: {target}")
                path = page.parent / urllib.parse.unquote(url.path) if url.path else page
                self.assertTrue(path.is_file(), f"{page.name} links to {target}, which is not there")
                # Doxygen links to a class's private nested classes, which it leaves out.
                if url.fragment and path.suffix == ".html" and url.fragment != "nested-classes":
                    self.assertIn(url.fragment, links_of(path).anchors, f"{page.name} links to {target}")
                links += 1
        self.assertGreater(links, 1000)

    def test_nothing_is_loaded_from_elsewhere(self):
        for page in (SITE / "html").glob("*.html"):
            text = page.read_text(encoding="utf-8")
            self.assertIsNone(re.search(r'(?:src|data)="(?:https?:)?//|<link[^>]*href="https?:', text), page.name)

    def test_every_page_of_the_project_is_there_in_order(self):
        pages = [path.name for path in own_pages()]
        for lesson in range(22):
            self.assertIn(f"lesson{lesson:02}.html", pages)
        for lesson in range(21):
            page = (SITE / f"html/lesson{lesson:02}.html").read_text(encoding="utf-8")
            self.assertIn(f'class="next" href="lesson{lesson + 1:02}.html"', page)

    def test_no_block_of_markdown_is_left(self):
        for page in own_pages():
            text = re.sub(r"<(pre|code)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
            for leftover in ("```", "](", "| ---", "|---", "\\ref", "\\subpage"):
                self.assertNotIn(leftover, text, page.name)


class Figures(unittest.TestCase):
    def test_are_those_in_the_tree(self):
        """Which people see who read the pages there. `make docs` makes both."""
        made, kept = ({path.name: path.read_bytes() for path in folder.glob("*.svg")}
                      for folder in (SITE / "work/figures", ROOT / "docs/figures"))
        self.assertEqual(sorted(made), sorted(kept))
        for name in made:
            self.assertTrue(made[name] == kept[name], f"docs/figures/{name} is not what is drawn now: make docs")

    def test_each_is_shown(self):
        pages = "".join(path.read_text(encoding="utf-8")
                        for path in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("lessons/*/README.md")])
        for path in (ROOT / "docs/figures").glob("*.svg"):
            self.assertIn(f"figures/{path.name})", pages)


class Valid(unittest.TestCase):
    def test_html(self):
        """Ours without a warning. Of Doxygen's own frame around it, errors alone are ours to fear."""
        for page in own_pages():
            source = SITE / f"work/pages/{page.stem}.md"
            bodies = re.findall(r"^\\htmlonly\[block\]\n(.*?)^\\endhtmlonly$", source.read_text(encoding="utf-8"),
                                re.DOTALL | re.MULTILINE) if source.is_file() else []
            document = "<!DOCTYPE html><html lang=en><head><title>t</title></head><body>" + "\n".join(bodies) + "</body></html>"
            complaints = subprocess.run(["tidy", "-errors", "-quiet", "-utf8", "--drop-empty-elements", "no"],
                                        input=document, capture_output=True, text=True).stderr
            self.assertEqual(complaints if bodies else "", "", page.name)
            frame = subprocess.run(["tidy", "-errors", "-quiet", "-utf8", page], capture_output=True, text=True)
            self.assertLess(frame.returncode, 2, f"{page.name}:\n{frame.stderr}")


class Spelled(unittest.TestCase):
    maxDiff = None

    def test_words(self):
        """Of the pages' prose; docs/words.txt has the field's own."""
        sys.path.insert(0, str(ROOT / "scripts"))
        from markdown_it import MarkdownIt
        parser = MarkdownIt("commonmark").enable("table")
        prose = {}  # by page
        for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("lessons/*/README.md"))]:
            text = "\n".join(child.content for token in parser.parse(path.read_text(encoding="utf-8"))
                            for child in token.children or [] if child.type == "text")
            names = r"https?://\S+|\b[a-z]+[A-Z]\w*\b|\b\w*[_\d]\w*\b|\w+\.(?:cuh?|[ch]pp|md|csv|txt)\b"
            prose[str(path.relative_to(ROOT))] = re.sub(names, " ", re.sub(r"'s\b", "", text))
        found = subprocess.run(["hunspell", "-l", "-d", "en_GB", "-p", ROOT / "docs/words.txt"], text=True, check=True,
                               input="\n".join(prose.values()), capture_output=True).stdout.split()
        misspelt = {word: [path for path, text in prose.items() if word in text] for word in set(found)}
        self.assertEqual(misspelt, {}, "not in the dictionary, nor in docs/words.txt")


class Browser(unittest.TestCase):
    """Each page in Chromium: light, dark, and on a phone. Pictures of it are kept in FOLDER/screenshots."""

    @classmethod
    def setUpClass(cls):
        try:
            from selenium import webdriver
        except ImportError:
            raise unittest.SkipTest("no Selenium here")
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.driver = webdriver.Chrome(options=options)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def open_all(self, pages, mode, width, height, dark, shots=True):
        driver = self.driver
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        (SITE / "screenshots").mkdir(exist_ok=True)
        for page in pages:
            with self.subTest(page=page.name, mode=mode):
                driver.get(page.as_uri())
                self.assertEqual([entry["message"] for entry in driver.get_log("browser")], [])
                broken = driver.execute_script(
                    "return [...document.images].filter(image => !image.naturalWidth).map(image => image.src)")
                self.assertEqual(broken, [], "pictures that do not load")
                self.assertEqual(driver.execute_script("return document.documentElement.className"),
                                 "dark-mode" if dark else "light-mode")
                too_wide = driver.execute_script("return document.documentElement.scrollWidth > innerWidth")
                self.assertFalse(too_wide, "wider than the window")
                if shots:
                    driver.save_screenshot(str(SITE / "screenshots" / f"{page.stem}_{mode}.png"))

    def test_light(self):
        self.open_all(own_pages(), "light", 1280, 1400, False)

    def test_dark(self):
        self.open_all(own_pages(), "dark", 1280, 1400, True)

    def test_phone(self):
        self.open_all(own_pages(), "phone", 380, 1600, False)

    def test_api(self):
        others = [page for page in sorted((SITE / "html").glob("*.html")) if page not in own_pages()]
        self.assertGreater(len(others), 100)
        self.open_all([page for page in others if not page.name.startswith("file_")], "api", 1280, 1400, False, shots=False)

    def test_search(self):
        from selenium.webdriver.common.by import By
        self.driver.get((SITE / "html/index.html").as_uri())
        self.driver.find_element(By.ID, "MSearchField").send_keys("lesson 03")
        self.driver.implicitly_wait(5)
        self.assertTrue(self.driver.find_elements(By.ID, "MSearchResults"))


if __name__ == "__main__":
    SITE = Path(sys.argv.pop(1)).resolve()
    unittest.main()
