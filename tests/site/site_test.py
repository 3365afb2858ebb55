#!/usr/bin/python3
"""site_test.py FOLDER [TEST]...: the docs site in FOLDER/html is whole, valid and opens in a browser."""

import html.parser
import json
import re
import statistics
import subprocess
import sys
import unittest
import urllib.parse
from functools import cache
from pathlib import Path

from browser import FAINT, InBrowser

from tutorial import ROOT
from tutorial.lessons import read_all, read_lessons, tracks
from tutorial.site_pages import page_name
from tutorial.wrong import solution

SITE = Path()  # set by main


class Links(html.parser.HTMLParser):
    """A page's links, and its link targets."""

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
    """Those made from the project's pages; the others show files."""
    made = [path.stem for path in (SITE / "parts/pages").glob("*.md")]
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
                if url.fragment and path.suffix == ".html":
                    self.assertIn(url.fragment, links_of(path).anchors, f"{page.name} links to {target}")
                links += 1
        self.assertGreater(links, 1000)

    def test_what_the_search_finds_is_there(self):
        data = (SITE / "html/search_data.js").read_text(encoding="utf-8")
        entries = json.loads(data.removeprefix("const searchData = ").removesuffix(";\n"))
        kinds = [entry["kind"] for entry in entries]
        for kind, least in (("page", 300), ("term", 100), ("kernel", 30)):
            self.assertGreater(kinds.count(kind), least, kind)
        for entry in entries:
            name, _, anchor = entry["url"].partition("#")
            self.assertTrue(entry["title"], entry)
            self.assertTrue((SITE / "html" / name).is_file(), entry)
            if anchor:
                self.assertIn(anchor, links_of(SITE / "html" / name).anchors, entry)
            self.assertNotRegex(entry["title"] + entry["text"], r"</?(?:p|span|code|strong|div)\b|\\tableof", entry["url"])
            self.assertFalse(name.startswith("file_"), entry)

    def test_nothing_is_loaded_from_elsewhere(self):
        for page in (SITE / "html").glob("*.html"):
            text = page.read_text(encoding="utf-8")
            self.assertIsNone(re.search(r'(?:src|data)="(?:https?:)?//|<link[^>]*href="https?:', text), page.name)

    def test_a_page_is_light(self):
        """Less than 500 KB of HTML, style sheets, scripts and pictures, beside the playground's panel. The stills of figures that
        move are not loaded: a browser leaves them for later, and then the figure is in their place."""
        for page in (SITE / "html/index.html", SITE / "html/story.html", SITE / "html/lesson02.html"):
            stills = re.findall(r'<img src="live_[^>]*>', page.read_text(encoding="utf-8"))
            self.assertTrue(page.name == "index.html" or stills and all('loading="lazy"' in still for still in stills), stills)
            loaded = set(re.findall(r'(?:<link [^>]*href|src)="([^"#]+)"', page.read_text(encoding="utf-8")))
            self.assertTrue({"site.js", "site.css", "favicon.svg"} <= loaded, loaded)
            loaded = {re.sub(r"^(live_\w+?)(_[^_]+)?\.svg$", r"\1.js", name) for name in loaded}
            files = [page, *(page.parent / name for name in loaded if not name.startswith("playground/"))]
            self.assertLess(sum(file.stat().st_size for file in files), 500_000, files)

    def test_the_menu_has_all_pages_of_the_project(self):
        contents = (ROOT / "docs/contents.txt").read_text(encoding="utf-8")
        for page in (SITE / "html/index.html", SITE / "html/lesson02.html"):
            menu = re.search(r'<nav id="menu".*?</nav>', page.read_text(encoding="utf-8"), re.DOTALL)[0]
            parts = {title for title, _, _ in tracks(read_lessons())} | set(re.findall(r"^([^# @].*)$", contents, re.MULTILINE))
            self.assertEqual(set(re.findall(r"<summary>(.*)</summary>", menu)), parts)
            self.assertEqual(sorted(re.findall(r'href="(\S+)"', menu)), [page.name for page in own_pages()])

    def test_the_landing_page_has_two_doors(self):
        page = (SITE / "html/index.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'class="door[^"]*" href="(\S+)">(.*?)</a>', page),
                         [("story.html", "Read the story"), ("start.html", "Run it")])

    def test_every_page_of_the_project_is_there_in_order(self):
        pages = [path.name for path in own_pages()]
        order = [name for _, _, lessons in tracks(read_lessons()) for lesson in lessons
                 for name in [*(page_name(str(path.relative_to(ROOT))) for path in lesson.pages if lesson.has_page),
                              f"exercise{lesson.number}"]]
        for name, leads_to in zip(order, order[1:]):
            self.assertIn(f"{name}.html", pages)
            page = (SITE / f"html/{name}.html").read_text(encoding="utf-8")
            self.assertIn(f'class="next" href="{leads_to}.html"', page)

    def test_each_lesson_runs_in_its_page_or_says_how_to_get_that(self):
        for lesson in (lesson for lesson in read_lessons() if lesson.has_page):
            page = (SITE / f"html/{lesson.name}.html").read_text(encoding="utf-8")
            panels = re.findall(r'<details class="playground" data-lesson="(\w+)" data-scripts="([^"]*)"', page)
            if not panels:
                self.assertIn("type <code>make playground</code> and then <code>make docs</code>", page)
                continue
            self.assertEqual([name for name, _ in panels], lesson.on_page)
            scripts = " ".join(scripts for _, scripts in panels)
            self.assertLess(page.index(f'id="{lesson.name}_the-idea"'), page.index('class="playground"'))
            self.assertLess(page.index('class="playground"'), page.index(f'id="{lesson.name}_the-change"'))
            for script in [*scripts.split(), "playground/panel.js", "playground/panel.css"]:
                self.assertTrue((SITE / "html" / script).is_file(), f"{lesson.name}: {script}")

    def test_each_exercise_says_how_to_get_its_editor(self):
        """On its own page, and on its lesson's."""
        for lesson in read_all():
            for page in {f"exercise{lesson.number}", page_name(str(lesson.page.relative_to(ROOT)))}:
                text = (SITE / f"html/{page}.html").read_text(encoding="utf-8")
                [(documents, words)] = re.findall(r'<p class="workbench" data-documents="([^"]*)"[^>]*>(.*?)</p>', text, re.S)
                self.assertIn(f"exercise{lesson.number}", documents.split(), page)
                self.assertIn("type <code>make serve</code>", words)
                runs_solution = (SITE / "html/playground").is_dir() and page.startswith("exercise") and solution(lesson)
                self.assertEqual("data-solution" in text, bool(runs_solution), page)

    def test_emulates_page_runs_a_kernel_of_the_readers(self):
        page = (SITE / "html/emulate.html").read_text(encoding="utf-8")
        if (SITE / "html/playground").is_dir():
            self.assertIn('data-lesson="emulate" data-scripts="playground/engine.js playground/emulate.js"', page)
            self.assertTrue((SITE / "html/playground/emulate.js").is_file())
        else:
            self.assertIn("type <code>make playground</code> and then <code>make docs</code>", page)

    def test_no_block_of_markdown_is_left(self):
        for page in own_pages():
            text = re.sub(r"<(pre|code)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
            for leftover in ("```", "](", "| ---", "|---", "\\ref", "\\subpage", ">All lessons</a>"):
                self.assertNotIn(leftover, text, page.name)


class Moving(unittest.TestCase):
    """What the frames of figures state, recorded when the site was built."""

    def captions(self, figure, variant):
        text = (SITE / f"html/live_{figure}.js").read_text(encoding="utf-8")
        data = json.loads(text.partition(",")[2].removesuffix(");\n"))
        return [frame[0] for one in data["variants"] if one["name"] == variant for frame in one["frames"]]

    def test_the_queue_at_the_banks(self):
        """reduce1: words 2 x stride apart. Stride 1: warp 0 wants the 32 even words below 64, 2 in each even bank. Stride 4:
        8 words in every eighth bank. Stride 32: four words of bank 0. reduce2: neighbors, a word in each bank."""
        said = self.captions("banks", "reduce1")
        self.assertEqual(len(said), 8)
        for stride, words in ((1, "warps 0 to 3 add. Warp 0 stores words 0, 2, 4, ... 62: 16 banks, 2 wavefronts."),
                              (4, "warp 0 adds. Warp 0 stores words 0, 8, 16, ... 248: 4 banks, 8 wavefronts."),
                              (32, "warp 0 adds. Warp 0 stores words 0, 64, 128, 192: 1 bank, 4 wavefronts.")):
            self.assertIn(f"stride {stride}: {words}", said)
        self.assertIn("stride 128: warps 0 to 3 add. Warp 0 stores words 0, 1, 2, ... 31: 32 banks, 1 wavefront.",
                      self.captions("banks", "reduce2"))
        # In all: 4 x 2 + 2 x 4 + 8 + 8 + 8 + 4 + 2 + 1 = 47, and 4 + 2 + 1 x 6 = 12.
        for variant, total in (("reduce1", 47), ("reduce2", 12)):
            self.assertIn(f"sum {total}<", (SITE / "html/live_banks.js").read_text(encoding="utf-8"), variant)

    def test_the_warps_that_drop_out(self):
        """256 threads: the tree's first step has 128 adders. In reduce0a they are every second lane of 8 warps, in reduce1 and
        reduce3 4 whole warps. reduce7 exchanges values between all lanes."""
        for variant, words in (("reduce0a", "128 lanes in 8 warps work, no warp is idle."),
                               ("reduce1", "128 lanes in 4 warps work, 4 warps are idle."),
                               ("reduce3", "128 lanes in 4 warps work, 4 warps are idle."),
                               ("reduce7", "256 lanes in 8 warps work, no warp is idle.")):
            self.assertTrue(any(words in caption for caption in self.captions("warps", variant)), variant)

    def test_the_tile(self):
        """A column of 32 x 32 words has one bank. With one word of padding, or swizzled, it has a word in each."""
        self.assertIn("warp 2 loads column 2, words 2, 34, 66, ... 994: 1 bank, 32 wavefronts.", self.captions("tile", "square"))
        self.assertIn("warp 2 loads column 2, words 2, 35, 68, ... 1025: 32 banks, 1 wavefront.", self.captions("tile", "padded"))
        self.assertTrue(any("loads column 2" in caption and "32 banks, 1 wavefront." in caption
                            for caption in self.captions("tile", "swizzled")))


class Figures(unittest.TestCase):
    def test_are_those_in_the_tree(self):
        """Which people see who read the pages there. `make docs` makes both."""
        made, kept = ({path.name: path.read_bytes() for path in folder.glob("*.svg")}
                      for folder in (SITE / "parts/figures", ROOT / "docs/figures"))
        self.assertEqual(sorted(made), sorted(kept))
        for name in made:
            if name == "clock_reduce2.svg" or re.match("live_(floors|timeline|in_flight)_", name):
                continue  # its cycles are those of the machine code of this machine's ptxas
            self.assertTrue(made[name] == kept[name], f"docs/figures/{name} is not what is drawn now: make docs")

    def test_each_is_shown(self):
        pages = "".join(path.read_text(encoding="utf-8")
                        for path in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("lessons/*/*.md")])
        landing = (ROOT / "docs/site/landing.md").read_text(encoding="utf-8")
        for path in (ROOT / "docs/figures").glob("*.svg"):
            # Any still picture of a figure that moves leads to all of its variants.
            name = re.escape(path.name) if not path.name.startswith("live_") else rf"{path.stem.rpartition('_')[0]}_?\w*\.svg"
            self.assertTrue(re.search(rf"figures/{name}\)", pages) or re.search(rf'src="{name}"', landing), path.name)


class Valid(unittest.TestCase):
    def test_html(self):
        """Ours without a warning. Of Doxygen's own frame around it, errors alone are ours to fear."""
        for page in own_pages():
            source = SITE / f"parts/pages/{page.stem}.md"
            bodies = re.findall(r"^\\htmlonly\[block\]\n(.*?)^\\endhtmlonly$", source.read_text(encoding="utf-8"),
                                re.DOTALL | re.MULTILINE) if source.is_file() else []
            document = "<!DOCTYPE html><html lang=en><head><title>t</title></head><body>" + "\n".join(bodies) + "</body></html>"
            document = document.replace(' loading="lazy"', "")  # valid HTML, which Debian's tidy is too old to know
            complaints = subprocess.run(["tidy", "-errors", "-quiet", "-utf8", "--drop-empty-elements", "no"],
                                        input=document, capture_output=True, text=True).stderr
            self.assertEqual(complaints if bodies else "", "", page.name)
            frame = subprocess.run(["tidy", "-errors", "-quiet", "-utf8", page], capture_output=True, text=True)
            self.assertLess(frame.returncode, 2, f"{page.name}:\n{frame.stderr}")


class Spelled(unittest.TestCase):
    maxDiff = None

    def test_words(self):
        """Of the pages' prose; docs/words.txt has the field's own."""
        from markdown_it import MarkdownIt
        parser = MarkdownIt("commonmark").enable("table")
        prose = {}  # by page
        for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs/site/landing.md",
                     *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("lessons/*/*.md"))]:
            text = "\n".join(child.content for token in parser.parse(path.read_text(encoding="utf-8"))
                            for child in token.children or [] if child.type == "text")
            names = r"\\ref \w+|\\\w+|\{#\w+\}|https?://\S+|\b[a-z]+[A-Z]\w*\b|\b\w*[_\d]\w*\b|\w+\.(?:cuh?|[ch]pp|md|csv|txt)\b"
            prose[str(path.relative_to(ROOT))] = re.sub(names, " ", re.sub(r"'s\b", "", text))
        found = subprocess.run(["hunspell", "-l", "-d", "en_US", "-p", ROOT / "docs/words.txt"], text=True, check=True,
                               input="\n".join(prose.values()), capture_output=True).stdout.split()
        misspelled = {word: [path for path, text in prose.items() if word in text] for word in set(found)}
        self.assertEqual(misspelled, {}, "not in the dictionary, nor in docs/words.txt")


# What a page looks like: its name, width and height of the window, and whether the system prefers dark colors.
MODES = (("light", 1440, 1400, False), ("phone", 360, 1600, False), ("dark", 1440, 1400, True))

# Ends when every picture is loaded, or cannot be, and when two frames are drawn: in the first one the page hears that the
# system prefers other colors. Kernels and tables of up to four columns fit, on a phone too; other tables may scroll.
LOOK = """
    const done = arguments[0];
    const loaded = [...document.images].map(image => image.complete ? null : new Promise(ended => {
        image.loading = "eager";
        image.addEventListener("load", ended);
        image.addEventListener("error", ended);
    }));
    const drawn = new Promise(ended => requestAnimationFrame(() => requestAnimationFrame(ended)));
    Promise.all([...loaded, drawn]).then(() => done({
        broken: [...document.images].filter(image => !image.naturalWidth).map(image => image.src),
        mode: document.documentElement.className,
        scrolls: [...document.querySelectorAll(".contents :is(.wrapped, .wide)")].filter(one => one.scrollWidth > one.clientWidth
            && !(one.querySelector("tr")?.cells.length > 4)).map(one => one.textContent.slice(0, 80)),
        isTooWide: document.documentElement.scrollWidth > document.documentElement.clientWidth}));
"""

# Where a page's parts are. A line of text begins where a word is not to the right of the one before it. (Two boxes: a
# word that was broken.) `full` are the lengths of lines that another line follows.
MEASURE = """
    const range = document.createRange(), box = element => element.getBoundingClientRect(), full = [];
    for (const block of document.querySelectorAll(".textblock > p, .textblock > ul > li > p")) {
        const nodes = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
        let line = "", left = 0;
        while (nodes.nextNode()) {
            for (const word of nodes.currentNode.data.matchAll(/\\S+\\s*/g)) {
                range.setStart(nodes.currentNode, word.index);
                range.setEnd(nodes.currentNode, word.index + word[0].trimEnd().length);
                const boxes = range.getClientRects(), place = boxes[boxes.length - 1];
                if (place && place.left <= left) full.push(line.trimEnd().length);
                line = place && place.left > left ? line + word[0] : word[0];
                left = place ? place.left : 0;
            }
        }
    }
    const contents = document.querySelector(".toc"), column = document.querySelector(".textblock");
    scrollTo(0, document.documentElement.scrollHeight);
    const place = contents && box(contents);
    const isBeside = contents && box(column).right <= place.left && place.top >= 0 && place.bottom <= innerHeight;
    scrollTo(0, 0);
    const menu = box(document.getElementById("menu")).right, titles = [...document.querySelectorAll("#menu a")];
    const blocks = [...document.querySelectorAll(".textblock > :is(p, figure, .code, .copied, .wide)")].filter(
        one => box(one).height);
    return {full, isBeside, titles: titles.length,
        cut: titles.filter(title => box(title).right > menu || title.scrollWidth > title.clientWidth).map(title => title.text),
        widths: [...new Set(blocks.map(one => Math.round(box(one).width)))],
        scrolls: [...document.querySelectorAll(".textblock :is(.console, figure)")].filter(
            one => one.checkVisibility() && one.scrollWidth > one.clientWidth).map(one => one.textContent),
        offCenter: Math.abs(box(column).left - menu - (innerWidth - box(column).right)),
        bare: [...document.querySelectorAll(".contents .fragment")].filter(
            block => !block.closest(".copied")).map(block => block.textContent)};
"""

# What WCAG and Lighthouse ask for, beside contrast: fields have names, pictures have texts, fingers have room.
LACKING = """
    const seen = [...document.querySelectorAll("input, select, textarea, img, button, summary, #menu a, .door, nav.pages a")]
        .filter(element => element.checkVisibility());
    const said = element => element.outerHTML.slice(0, 120), box = element => element.getBoundingClientRect();
    const named = field => field.labels?.length || field.ariaLabel;
    return {nameless: seen.filter(one => one.matches("input, select, textarea") && !named(one)).map(said),
        withoutText: seen.filter(one => one.matches("img") && !one.alt).map(said),
        small: seen.filter(one => !one.matches("img") && Math.min(box(one).width, box(one).height) < 24).map(said),
        frame: box(document.getElementById("bar")).height + (document.querySelector("footer")?.offsetHeight ?? 0)};
"""
# Commands over which another element lies, at the right end of each of their lines.
COVERED = """
    return [...document.querySelectorAll(".command")].filter(command => {
        if (!command.checkVisibility()) return false;
        command.scrollIntoView({block: "center", behavior: "instant"});
        return [...command.getClientRects()].some(
            line => document.elementFromPoint(line.right - 2, line.top + line.height / 2) !== command);
    }).map(command => command.textContent);
"""
# How small the letters of the drawings are on the screen, in CSS pixels. A drawing has letters of 13 units and more.
SMALLEST = """
    const drawn = image => parseFloat(image.closest("figure").style.getPropertyValue("--drawn"));
    return Math.min(99, ...[...document.querySelectorAll(".textblock figure[style] img")].map(
        image => 13 * image.getBoundingClientRect().width / drawn(image)));
"""
# Runs a kernel in the page.
RUN = """
    const [request, done] = arguments;
    playground.engine().run(request).then(done, error => done({error: String(error)}));
"""
# Brings an element to the middle of the page, and waits until it moves no more: a touch is at a place.
# Ends when nothing that is still being drawn has moved the element for some frames.
SCROLL_TO = """
    const [element, done] = arguments;
    const look = (before, frames) => requestAnimationFrame(() => {
        element.scrollIntoView({block: "center", behavior: "instant"});
        const {top} = element.getBoundingClientRect();
        if (top !== before) look(top, 0);
        else if (frames < 6) look(top, frames + 1);
        else done();
    });
    look(null, 0);
"""


class Browser(InBrowser):
    """Pages in Chromium. Pictures of some are kept in FOLDER/screenshots: they take as long as all that is looked at."""

    def open_all(self, pages, modes, look_closer=None):
        """Opens each page once, and looks at it in every mode. The panels stay closed: they have tests of their own."""
        closed = "window.IntersectionObserver = class { observe() {} disconnect() {} };"
        script = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": closed})
        self.addCleanup(self.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", script)
        for page in pages:
            self.set_mode(*modes[0])
            self.driver.get(page.as_uri())
            for mode in modes:
                with self.subTest(page=page.name, mode=mode[0]):
                    self.set_mode(*mode)
                    found = self.driver.execute_async_script(LOOK)
                    messages = [entry["message"] for entry in self.driver.get_log("browser")]
                    right = {"broken": [], "mode": "dark-mode" if mode[3] else "light-mode", "scrolls": [], "isTooWide": False}
                    self.assertEqual((found, messages), (right, []))
                    if look_closer:
                        look_closer(page.stem, mode[0])

    def test_some_pages(self):
        """One of each kind."""
        names = ("index", "lesson16", "exercise16", "glossary", "measuring")
        (SITE / "screenshots").mkdir(exist_ok=True)
        self.open_all([SITE / f"html/{name}.html" for name in names], MODES, self.look_closer)

    def look_closer(self, page, mode):
        self.driver.save_screenshot(str(SITE / "screenshots" / f"{page}_{mode}.png"))
        self.assertEqual(self.driver.execute_script(FAINT, "body"), [])
        if mode == "phone":
            self.look_closer_on_a_phone()
        elif mode == "light":
            found = self.driver.execute_script(MEASURE)
            if len(found["full"]) > 10:
                self.assertTrue(70 <= statistics.mean(found["full"]) <= 75, statistics.mean(found["full"]))
            self.assertEqual((found["cut"], found["bare"], found["scrolls"]), ([], [], []))
            self.assertEqual(found["titles"], len(own_pages()))
            self.assertEqual(found["isBeside"], None if page == "index" else True)
            if page != "index":
                self.assertEqual(len(found["widths"]), 1, found["widths"])
            self.assertLess(found["offCenter"], 2)
            if page == "lesson16":
                self.copy_the_first_commands(page)

    def look_closer_on_a_phone(self):
        field = self.driver.find_element("id", "search-field")
        touched = self.touch(field)
        self.assertEqual(self.driver.switch_to.active_element, field, f"touched: {touched}")
        self.driver.execute_script("document.activeElement.blur()")
        self.assertEqual(self.driver.execute_script(COVERED), [])
        self.assertGreater(self.driver.execute_script(SMALLEST), 9)
        self.driver.execute_script("scrollTo(0, 0)")
        self.touch(self.find("#menu-button"))
        self.wait(lambda driver: self.find("#menu [href='lesson02.html']").is_displayed())
        lacking = self.driver.execute_script(LACKING)
        self.assertLess(lacking.pop("frame"), 0.08 * 844)
        self.assertEqual(lacking, {"nameless": [], "withoutText": [], "small": []})
        self.touch(self.find("#menu-button"))
        self.wait(lambda driver: not self.find("#menu").is_displayed())

    def test_landing_in_one_screen(self):
        """What it is, the chart, the moving figure and both doors."""
        for width, height in ((1440, 900), (1280, 720)):
            self.set_mode("", width, height, False)
            self.driver.get((SITE / "html/index.html").as_uri())
            self.driver.execute_async_script(LOOK)
            self.driver.save_screenshot(str(SITE / "screenshots" / f"landing_{width}.png"))
            for part in (".title", ".lead", ".door.first", ".door:last-child", "figure:first-child img", ".live svg",
                         ".live button"):
                self.wait(lambda driver, part=part: driver.find_elements("css selector", part))
                box = self.find(f":is(.header, .landing) {part}").rect
                self.assertTrue(box["height"] > 10 and box["y"] + box["height"] < height, (part, box, height))

    def copy_the_first_commands(self, page):
        """The button of a terminal copies what is to be typed: no prompt, no output."""
        [path] = ROOT.glob(f"lessons/{page}_*/README.md")
        block = re.search(r"^```console\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE).group(1)
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        self.driver.execute_script("navigator.clipboard.writeText = text => { window.copied = text; }")
        self.driver.find_element("css selector", ".console ~ button").click()
        self.assertEqual(self.driver.execute_script("return window.copied"), "\n".join(commands))

    def test_pages(self):
        self.open_all(own_pages(), MODES)

    def test_playground(self):
        """A page opened from a file runs its kernels in a worker, and counts what the command counts."""
        page = SITE / "html/lesson03.html"
        program = [SITE.parent / "bin/lesson03", "--device", "emulator", "--format", "json", "--n", "65536"]
        printed = json.loads(subprocess.run(program, check=True, capture_output=True).stdout)["kernels"]
        self.driver.get(page.as_uri())
        self.assertFalse(self.find(".playground").get_property("open"))
        self.driver.execute_script('document.querySelector(".playground").scrollIntoView()')
        self.wait(lambda driver: driver.execute_script('return !!window.playground?.lessons.lesson03'))
        for kernel in printed:
            request = {"lesson": "lesson03", "kernel": kernel["name"], "n": 65536, "block": 256}
            ran = self.driver.execute_async_script(RUN, request)
            self.assertEqual((ran["error"], ran["verified"]), (None, True))
            self.assertEqual({name: ran["counters"][name] for name in kernel["counters"]}, kernel["counters"])
        self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])

    def tap(self, element, across=0.5):
        self.driver.execute_async_script(SCROLL_TO, element)
        self.touch(element, across)

    def test_lessons_by_touch(self):
        """Three lessons from start to end, on a phone. 4,194,304 ints are 4,194,304 / 8 = 524,288 sectors, and
        4,194,304 / 512 = 8,192 blocks. Halving 1,024 ints 10 times makes 10 steps, beside a store before and one after them."""
        for lesson, answer, slider, across, steps, waits in (
                ("lesson00", "524,288", "threads per block", 0.98, 12, "Warps 1 to 31 wait at the barrier of line "),
                ("lesson03", "8,192", "threads per block", 0.98, 12, "Warps 1 to 31 wait at the barrier of line "),
                ("lesson16", None, "width", 0.5, 2, "")):
            with self.subTest(lesson):
                self.set_mode("", 390, 844, False)
                self.driver.get((SITE / f"html/{lesson}.html").as_uri())
                self.wait_for_first_run()
                if answer:
                    self.predict_by_touch(answer)
                self.run_by_touch(slider, across)
                self.step_by_touch(steps, waits)
                self.break_by_touch()
                self.assertFalse(self.driver.execute_script(
                    "return document.documentElement.scrollWidth > document.documentElement.clientWidth"))
                self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])
                after = lesson.replace("lesson", "exercise")
                self.tap(self.find("nav.pages .next"))
                self.wait(lambda driver, after=after: f"/{after}.html" in driver.current_url)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def wait_for_run(self):
        self.wait(lambda driver: self.find(".playground").get_attribute("aria-busy") == "false")

    def wait_for_first_run(self):
        """What the panel shows when a reader gets there, and figures that move, push down all that is below."""
        self.wait(lambda driver: not driver.find_elements("css selector", 'img[src*="live_"]'))
        self.driver.execute_async_script(SCROLL_TO, self.find(".playground summary"))
        self.wait(lambda driver: driver.find_elements("css selector", ".counters tbody tr"))
        self.wait_for_run()

    def predict_by_touch(self, answer):
        self.tap(self.driver.find_element("xpath", "//summary[.='Predict first']"))
        self.wait(lambda driver: driver.find_elements("css selector", ".predict"))
        self.tap(self.find(".predict input"))
        self.driver.switch_to.active_element.send_keys(answer)
        self.tap(self.find(".predict button"))
        self.wait(lambda driver: self.find(".predict [role=status]").text == f"Yes: the run counts {answer}.")

    def run_by_touch(self, slider, across):
        def counted():
            return self.driver.execute_script("return document.querySelector('.counters tbody')?.innerText")

        before = counted()
        field = self.find(f'[aria-label="{slider}, slider"]')
        value = field.get_property("value")

        # What the first run draws may still move the page under the finger: then it taps again.
        def is_moved(driver):
            self.tap(field, across)
            return field.get_property("value") != value

        def is_running(driver):
            self.tap(self.find(".playground [type=submit]"))
            return self.find(".playground").get_attribute("aria-busy") == "true" or counted() != before

        self.wait(is_moved)
        self.wait(is_running)
        self.wait(lambda driver: counted() != before)
        self.wait_for_run()
        self.assertIn("verified", self.find(".playground .status").text)
        self.assertGreater(self.driver.execute_script("return document.querySelector('.drawn img').naturalWidth"), 0)

    def step_by_touch(self, steps, waits):
        self.tap(self.find(".steps summary"))
        self.wait(lambda driver: self.find(".steps [role=status]").text)
        self.wait_for_run()
        back, _, forward = self.driver.find_elements("css selector", ".walk button")

        def said():
            return self.find(".steps [role=status]").text

        for button, number in [(None, 1), *((forward, number) for number in range(2, steps + 1)), (back, steps - 1)]:
            if button:
                self.tap(button)
            self.wait(lambda driver, number=number: said().startswith(f"Step {number} of {steps}: "))
        self.assertIn(waits, said())

    def break_by_touch(self):
        """A list opens outside of the page, where no touch of a test gets."""
        from selenium.webdriver.support.ui import Select
        Select(self.driver.find_element("xpath", "//label[span='break']/select")).select_by_index(1)
        self.wait_for_run()
        self.tap(self.find(".playground [type=submit]"))
        self.wait(lambda driver: driver.find_elements("css selector", ".findings a"))
        self.wait_for_run()
        self.tap(self.find(".findings a"))
        self.wait(lambda driver: re.search(r"\n(race|init): ", driver.switch_to.active_element.text))
        self.tap(self.find(".own summary"))
        self.tap(self.find(".own textarea"))
        self.wait(lambda driver: driver.switch_to.active_element == self.find(".own textarea"))

    def search(self, words):
        """[(title, page)] of what is found; what the line above says."""
        field = self.driver.find_element("id", "search-field")
        field.clear()
        field.send_keys(words)
        self.wait(lambda driver: driver.find_element("id", "search-status").is_displayed())
        shown = self.driver.find_elements("css selector", "#search-results a")
        found = [[part.text.removeprefix(" · ") for part in link.find_elements("css selector", ".found-title, .found-page")]
                 for link in shown]
        return [(parts[0], parts[-1]) for parts in found], self.driver.find_element("id", "search-status").text

    def open_search(self, page="index.html", width=1280):
        (SITE / "screenshots").mkdir(exist_ok=True)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        self.driver.get("about:blank")
        self.driver.get((SITE / "html" / page).as_uri())

    def test_search(self):
        for width in (1280, 380):
            self.open_search(width=width)
            shared = "Shared memory, banks and conflicts"
            for words, first in {"coalescing": "Global memory, sectors and coalescing", "bank conf": shared,
                                 "reduce3": "Lesson 03: first add on load", "setRowReadCol": "Lessons 16 to 18: a square tile",
                                 "  Bank  CONFLICTS ": shared, "how do I avoid bank conflicts?": shared}.items():
                self.assertEqual(self.search(words)[0][0][1], first, words)
            self.assertEqual(self.search("what is a warp?")[0][0], ("warp", "Glossary"))
            table = ("How to read our table", "Global memory, sectors and coalescing")
            for words, one in {"__syncthreads": ("Barriers", "Threads, warps and blocks"),
                               "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": table, "l1tex__t_sect": table,
                               "occupancy": ("occupancy", "Glossary")}.items():
                found, said = self.search(words)
                self.assertIn(one, found[:3], words)
                self.assertLessEqual(len(found), 12)
                self.assertRegex(said, r"^\d+ places$|^The best 12 of \d+ places$")
                marks = self.driver.find_elements("css selector", "#search-results mark")
                self.assertIn(words, [mark.text for mark in marks])
            self.assertIn(("coalesced", "Glossary"), self.search("coalescing")[0][:3])
            self.assertTrue(self.search("how do I")[0])
            self.assertTrue(self.search("how do I qwertz install")[0])
            for unknown in ("hared", "<b>qwertz"):
                self.assertEqual(self.search(unknown), ([], f"Nothing found for ‘{unknown}’."))
            self.search("bank conf")
            panel = self.driver.find_element("id", "search-panel").rect
            self.assertLessEqual(panel["x"] + panel["width"], width)
            self.assertLessEqual(panel["y"] + panel["height"], 900)
            self.driver.save_screenshot(str(SITE / "screenshots" / f"search_{width}.png"))
            self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])

    def test_search_by_keys(self):
        from selenium.webdriver.common.keys import Keys
        self.open_search()
        self.driver.find_element("tag name", "body").send_keys("/")
        field = self.driver.switch_to.active_element
        self.assertEqual((field.get_attribute("id"), field.get_attribute("value")), ("search-field", ""))
        self.search("bank conf")
        links = self.driver.find_elements("css selector", "#search-results a")
        for key, chosen in ((Keys.ARROW_DOWN, 1), (Keys.ARROW_UP, 0), (Keys.ARROW_UP, len(links) - 1), (Keys.ARROW_DOWN, 0)):
            field.send_keys(key)
            self.assertEqual([link.get_attribute("aria-selected") for link in links].index("true"), chosen)
            self.assertEqual(field.get_attribute("aria-activedescendant"), links[chosen].get_attribute("id"))
        field.send_keys(Keys.ARROW_DOWN)
        target = links[1].get_attribute("href")
        field.send_keys(Keys.ENTER)
        self.wait(lambda driver: driver.current_url == target)
        anchor = self.driver.find_element("id", target.partition("#")[2])
        self.wait(lambda driver: 0 <= driver.execute_script("return arguments[0].getBoundingClientRect().top", anchor) < 900)
        field = self.driver.find_element("id", "search-field")
        self.search("warp")
        self.assertEqual(field.get_attribute("aria-expanded"), "true")
        field.send_keys(Keys.ESCAPE)
        self.assertEqual(field.get_attribute("aria-expanded"), "false")
        self.assertFalse(self.driver.find_element("id", "search-panel").is_displayed())
        self.assertNotEqual(self.driver.switch_to.active_element, field)


if __name__ == "__main__":
    SITE = Path(sys.argv.pop(1)).resolve()
    unittest.main()
