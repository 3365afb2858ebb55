#!/usr/bin/python3
"""workbench_test.py BUILD SITE [TEST]...: the editors of the docs site, served by scripts/serve, in browsers.

Chromium tests each thing that a reader does; Firefox edits, runs and reloads. BUILD has lesson 03, exercise03 and emulate, and
SITE/html the playground's scripts.
"""

import hashlib
import json
import re
import sys
import unittest
from pathlib import Path

from served import LESSON, ROOT, Served

sys.path[:0] = [str(ROOT / "tests/site"), str(ROOT / "scripts")]
from browser import FAINT, InBrowser  # noqa: E402
from firefox import InFirefox  # noqa: E402

from tutorial.grading import of_processes  # noqa: E402

BUILD, SITE = Path(), Path()  # set by main
RUN, TIME, CHECK, HINT, RESET = "Run", "Time", "Check", "Hint", "Reset"


class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.served = Served(BUILD, SITE / "html")
        cls.addClassCleanup(cls.served.end)
        cls.original = cls.served.text.read_text(encoding="utf-8")


class Workbench(Server, InBrowser):
    def setUp(self):
        self.served.text.write_text(self.original, encoding="utf-8")
        self.served.state.unlink(missing_ok=True)
        self.set_mode("", 1440, 1000, False)
        self.driver.get(self.served.link)
        self.driver.execute_script("localStorage.clear(); sessionStorage.clear()")
        self.driver.get_log("browser")

    def tearDown(self):
        self.assertEqual([entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"
                          and "409" not in entry["message"] and "ERR_INTERNET_DISCONNECTED" not in entry["message"]], [])

    def load(self, page="exercise03.html"):
        """Its exercise's editor."""
        self.driver.get(self.served.address + page)
        self.wait(lambda driver: driver.find_elements("css selector", ".workbench .editor"))
        self.editor = self.driver.find_elements("css selector", ".workbench .editor")[-1]
        self.driver.execute_script("arguments[0].scrollIntoView()", self.editor)
        self.wait(lambda driver: self.editor.find_elements("css selector", ".CodeMirror"))
        self.wait(lambda driver: self.typed())

    def in_editor(self, script, *arguments):
        return self.driver.execute_script(f"const text = arguments[0].querySelector('.CodeMirror').CodeMirror; {script}",
                                          self.editor, *arguments)

    def typed(self):
        return self.in_editor("return text.getValue()")

    def type(self, text):
        """In place of everything."""
        self.in_editor("text.setValue(arguments[1])", text)

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        chain = ActionChains(self.driver)
        for key in keys[:-1]:
            chain.key_down(key)
        chain.send_keys(keys[-1])
        for key in keys[:-1]:
            chain.key_up(key)
        chain.perform()

    def find(self, selector):
        return self.editor.find_element("css selector", selector)

    def texts(self, selector):
        return [element.text for element in self.editor.find_elements("css selector", selector)]

    def click(self, name):
        self.editor.find_element("xpath", f'.//button[text()="{name}"]').click()

    def state(self):
        return self.find(".state").text

    def wait_for(self, words, selector=".editor > .status"):
        self.wait(lambda driver: any(words in text for text in self.texts(selector)))

    def test_solve_lesson_03_from_its_page(self):
        """65,536 ints, 4 x 256 per block: 64 blocks. Each has 25 load wavefronts: 25 x 64 = 1,600. 65,536 / 8 = 8,192 sectors.
        The original loads half of that, and is wrong."""
        self.load("lesson03.html")
        self.type(self.original.replace("input[i] : 0", "input[j] : 0"))
        self.click(RUN)
        self.wait_for("It does not compile: 1 error, the first in line 14.")
        self.assertEqual(self.texts(".messages li"), ['line 14: identifier "j" is undefined'])
        below = self.in_editor("return text.lineInfo(13).widgets.map(one => one.node.innerText)")
        self.assertEqual(below, ['error: identifier "j" is undefined'])
        self.click("line 14")
        self.assertEqual(self.in_editor("return [text.hasFocus(), text.getCursor().line]"), [True, 13])
        self.click(CHECK)
        self.wait_for("Not solved yet.")
        self.assertEqual(self.texts(".verdict li > b"), ["✗ compiles"])
        self.wait(lambda driver: driver.execute_script(
            "const {top, bottom} = arguments[0].getBoundingClientRect(); return top >= 0 && bottom <= innerHeight",
            self.find(".verdict .end")))
        self.assertEqual(self.in_editor("return text.lineInfo(13).widgets.length"), 1)

        self.in_editor("text.undo()")
        self.click(RUN)
        self.wait_for("yours: wrong: expected", ".playground .status")
        self.assertEqual(self.texts(".messages li") + self.texts(".message"), [])
        self.click(CHECK)
        self.wait_for("Not solved yet.")
        self.assertEqual(self.texts(".verdict li > b"), ["✓ compiles", "✗ right"])
        self.click("Show a hint")
        self.wait_for("Hint 1 of 3", ".hints h4")

        barrier = "__syncthreads(); // Every sum of four"
        self.type(self.served.solution.replace(barrier, f"// {barrier}"))
        self.click(CHECK)
        self.wait_for("Not solved yet.")
        link = self.find(".verdict .lines .link")
        name, line = link.text.split(":")
        link.click()
        self.assertEqual((name, *self.in_editor("return [text.hasFocus(), text.getCursor().line]")),
                         ("exercise.cuh", True, int(line) - 1))

        self.type(self.served.solution)
        self.click(RUN)
        self.wait_for("yours: verified", ".playground .status")
        rows = {tuple(re.split(r"[\t ]", row)) for row in self.driver.execute_script(
            "return [...arguments[0].querySelectorAll('.counters tr')].map(row => row.innerText)", self.editor)}
        self.assertTrue({("blocks", "64", "64", ""), ("sectors", "4,096", "8,192", "x", "2.00"),
                         ("wavefronts", "1,600", "1,600", "")} <= rows, rows)
        self.click(CHECK)
        self.wait_for("Solved.")
        self.assertEqual(self.texts(".verdict li > b"), [f"✓ {step}" for step in ("compiles", "right", "clean", "traffic")])
        self.assertEqual(self.texts(".verdict .end a"), ["Next: exercise 00, the maximum, by interleaved pairs"])
        self.assertEqual(self.served.text.read_text(encoding="utf-8"), self.served.solution)
        state = json.loads(self.served.state.read_text(encoding="utf-8"))
        self.assertEqual((state["03"]["solved"], state["03"]["hints"]), (True, 1), "as make exercises shows it")
        self.assertEqual(self.driver.find_element("id", "tasks").text.split("\n")[0], "1 of 4 solved")
        self.click(RESET)
        self.wait_for("This is the original again.")
        self.assertEqual(self.served.text.read_text(encoding="utf-8"), self.original)

    def test_a_jump_to_the_editor_opens_it(self):
        """A browser may say at once that it was out of sight, and that it is in sight."""
        script = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": '''
            window.IntersectionObserver = class {
                constructor(told) { this.told = told; }
                observe() { setTimeout(() => this.told([{isIntersecting: false}, {isIntersecting: true}], this)); }
                disconnect() {}
            };'''})
        self.addCleanup(self.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", script)
        self.load()

    def test_time(self):
        """65,536 ints, 4 x 128 per block: 128 blocks."""
        self.load()
        self.click(TIME)
        self.wait_for("The estimate below is of a wrong kernel. reduce3: wrong result: expected ")
        self.type(self.served.solution)
        self.find(".arguments input").send_keys("--n 65536 --block 128")
        self.click(TIME)
        self.wait_for("The estimate is below.")
        self.assertEqual(self.texts(".times h4")[0], "reduce3, 128 blocks of 128 threads")
        self.find(".arguments input").clear()
        self.click(TIME)
        self.wait(lambda driver: self.texts(".times h4")[:1] == ["reduce3, 4,096 blocks of 256 threads"])
        self.wait_for("The estimate is below.")
        floors = [float(text.split()[0]) for text in self.texts(".times table:first-of-type .number")]
        self.assertEqual(floors, sorted(floors, reverse=True))
        self.assertEqual(len(self.texts(".times .highest")), 1)
        self.assertRegex(self.texts(".times .highest")[0], rf"{floors[0]} µs highest$")
        self.assertRegex(self.texts(".times p")[0], r"^\d+\.\d µs on an NVIDIA H200: an estimate\. The error found, of ")
        self.assertIn("long scoreboard", self.find(".times").text)
        self.assertGreater(self.find(".timeline img").get_attribute("naturalWidth"), "0")
        self.assertEqual(self.texts(".times select"), [])

        self.load("exercise00.html")
        self.click(TIME)
        self.wait(lambda driver: self.texts(".times option"))
        self.assertEqual(self.texts(".times option"), [f"{kernel}, 16,384 blocks of 256 threads"
                                                       for kernel in ("reduce0", "reduce0a")])
        self.assertRegex(self.find(".timeline img").get_attribute("alt"), "^reduce0:")
        self.find(".times option:last-child").click()
        self.assertRegex(self.find(".timeline img").get_attribute("alt"), "^reduce0a:")

    def test_nothing_is_lost(self):
        """Saved after two quiet seconds; undo after a reload; what the server could not save is in the browser."""
        from selenium.webdriver.common.keys import Keys
        self.load()
        self.find(".CodeMirror").click()
        self.press(Keys.CONTROL, Keys.HOME)
        self.press("/")
        self.wait(lambda driver: self.state() == "Saved.")
        self.assertEqual(self.served.text.read_text(encoding="utf-8"), "/" + self.original)
        self.load()
        self.assertEqual(self.typed(), "/" + self.original)
        self.find(".CodeMirror").click()
        self.press(Keys.CONTROL, "z")
        self.assertEqual(self.typed(), self.original)
        self.driver.execute_cdp_cmd("Network.enable", {})
        offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        self.press("x")
        self.press(Keys.CONTROL, "s")
        self.wait(lambda driver: "The server does not answer." in self.state())
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**offline, "offline": False})
        kept = self.typed()
        self.assertEqual(self.served.text.read_text(encoding="utf-8"), "/" + self.original)
        self.load()
        self.assertEqual(self.typed(), kept)
        self.wait(lambda driver: self.served.text.read_text(encoding="utf-8") == kept)

    def test_who_waits_is_told_how_many_are_before(self):
        """Two programs without an end take both places. They end when who asked for them leaves."""
        self.load()
        names = ["first-of-this-test", "second-of-this-test"]
        self.driver.execute_async_script('''
            const [names, done] = arguments, text = "int main() { for (volatile int i = 0;; i = 1 - i) {} }";
            window.control = new AbortController();
            fetch("/api/documents/own").then(answer => answer.json()).then(({version}) => {
                for (const name of names) {
                    const body = JSON.stringify({name: "own", text, version, arguments: [name]});
                    fetch("/api/run", {method: "POST", body, signal: control.signal}).catch(() => {});
                }
                done();
            });''', names)
        self.addCleanup((self.served.tree / "build/workbench/own.cu").unlink)
        self.wait(lambda driver: all(any(name.encode() in line for _, line in of_processes("cmdline")) for name in names))
        self.click(CHECK)
        self.wait_for("1 other before you: about ")
        self.driver.execute_script("control.abort()")
        self.wait_for("Not solved yet.")
        self.assertEqual(self.texts(".verdict li > b"), ["✓ compiles", "✗ right"])

    def test_the_verdict_and_the_hints_are_there_after_a_reload(self):
        self.load()
        self.type(self.original.replace("input[i] : 0", "input[j] : 0"))
        self.click(CHECK)
        self.wait_for("Not solved yet.")
        self.click(HINT)
        self.wait_for("Hint 1 of 3", ".hints h4")
        self.click(RUN)
        self.wait_for("It does not compile: ")
        self.assertEqual(self.texts(".hints h4"), ["Hint 1 of 3"], "hints stay, whatever is pressed")
        self.load()
        self.wait_for("Not solved yet.")
        self.assertEqual((self.texts(".verdict li > b"), self.texts(".hints h4")), (["✗ compiles"], ["Hint 1 of 3"]))
        self.assertEqual(self.in_editor("return text.lineInfo(13).widgets.length"), 1)
        self.served.text.write_text(self.original, encoding="utf-8")
        self.load()
        self.wait_for("Hint 1 of 3", ".hints h4")
        self.assertEqual(self.texts(".verdict li"), [], "that was about another text")

    def test_two_tabs(self):
        self.load()
        first = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        self.addCleanup(self.driver.switch_to.window, first)
        self.addCleanup(self.driver.close)
        self.load()
        self.served.text.write_text(self.original + "// theirs\n", encoding="utf-8")  # as another tab does
        self.type(self.original + "// mine\n")
        self.click(RUN)
        self.wait_for("Choose first which text to keep.")
        self.assertEqual(self.texts(".conflict mark"), ["// mine", "// theirs"])
        place = self.driver.execute_script("return document.querySelector('.conflict').getBoundingClientRect().top")
        self.assertTrue(0 <= place <= self.driver.execute_script("return innerHeight"), "the question is in view")
        self.assertEqual(self.served.text.read_text(encoding="utf-8"), self.original + "// theirs\n")
        self.click("Take the file's")
        self.assertEqual((self.typed(), self.state()), (self.original + "// theirs\n", "Saved."))
        self.assertNotIn("Choose first", self.driver.find_element("css selector", ".editor").text)
        self.in_editor("text.undo()")
        self.assertEqual(self.typed(), self.original + "// mine\n")

        self.served.text.write_text(self.original + "// again\n", encoding="utf-8")
        self.click(RUN)
        self.wait_for("Choose first which text to keep.")
        self.click("Keep mine")
        self.wait(lambda driver: self.state() == "Saved.")
        self.assertEqual(self.served.text.read_text(encoding="utf-8"), self.original + "// mine\n")
        self.in_editor("text.undo()")
        self.assertEqual(self.typed(), self.original + "// again\n")

    def test_shows_what_another_editor_has_saved(self):
        self.load()
        self.served.text.write_text("// by hand\n" + self.original, encoding="utf-8")
        self.driver.execute_script("dispatchEvent(new Event('focus'))")
        self.wait(lambda driver: self.typed().startswith("// by hand"))
        self.in_editor("text.undo()")
        self.assertEqual(self.typed(), self.original)

    def test_by_keyboard(self):
        from selenium.webdriver.common.keys import Keys
        self.load()
        self.driver.execute_script("""
            const before = document.createElement("button");
            arguments[0].prepend(before);
            before.focus();""", self.editor)
        self.press(Keys.TAB)
        label = self.driver.switch_to.active_element.accessible_name
        self.assertIn("exercise.cuh. Tab indents once you have typed; Escape, then Tab leaves the editor.", label)
        stops = []
        for _ in range(6):
            self.press(Keys.TAB)
            element = self.driver.switch_to.active_element
            stops.append(element.accessible_name)
            style = [element.value_of_css_property(f"outline-{part}") for part in ("style", "width")]
            self.assertEqual(style, ["solid", "3px"], stops)
        self.assertEqual(stops, [RUN, TIME, "Time it on this card", CHECK, HINT, RESET])
        for _ in range(6):
            self.press(Keys.SHIFT, Keys.TAB)
        self.press(Keys.CONTROL, Keys.HOME)
        self.press(Keys.TAB)
        self.assertEqual(self.typed(), "    " + self.original)
        self.press(Keys.ESCAPE)
        self.press(Keys.TAB)
        self.assertEqual(self.driver.switch_to.active_element.text, RUN)
        self.press(Keys.SHIFT, Keys.TAB)
        self.press(Keys.CONTROL, Keys.ENTER)
        self.wait_for("Compiled in")

    def test_narrow_and_dark(self):
        for is_dark in (False, True):
            self.set_mode("", 390, 844, is_dark)
            self.load()
            self.type(self.original.replace("input[i] : 0", "input[j] : 0"))
            self.click(RUN)
            self.wait_for("It does not compile")
            self.click(HINT)
            self.wait_for("Hint", ".hints h4")
            self.served.text.write_text(self.original + "// theirs\n", encoding="utf-8")
            self.in_editor("text.undo()")
            self.click(CHECK)
            self.wait_for("Choose first which text to keep.")
            self.assertEqual(self.driver.execute_script(FAINT, ".workbench"), [])
            self.assert_fits()
            self.click("Take the file's")
            for button in self.editor.find_elements("css selector", ".buttons :is(button, select)"):
                self.assertGreaterEqual(button.rect["height"], 44)
            self.served.text.write_text(self.original, encoding="utf-8")
            self.driver.execute_script("localStorage.clear()")
        self.load()
        self.click(TIME)
        self.wait_for("The estimate below is of")
        self.assertEqual(self.driver.execute_script(FAINT, ".workbench"), [])
        self.assert_fits()

    def assert_fits(self):
        self.assertEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), 390)

    def test_a_lessons_kernels(self):
        """A scratch copy, in the lesson's own panel. The lesson's file stays."""
        self.driver.get(self.served.address + "lesson03.html")
        self.wait(lambda driver: driver.find_elements("css selector", "details.workbench"))
        fold = self.driver.find_element("css selector", "details.workbench")
        self.driver.execute_script("arguments[0].open = true", fold)
        self.editor = fold.find_element("css selector", ".editor")
        self.wait(lambda driver: self.editor.find_elements("css selector", ".CodeMirror"))
        kernels = (self.served.tree / "lessons" / LESSON / "kernels.cuh").read_text(encoding="utf-8")
        self.assertEqual(self.typed(), kernels)
        self.type(kernels.replace("sum += input", "sum -= input"))
        self.click(RUN)
        self.wait_for("Compiled in")
        said = self.driver.find_element("css selector", "details.playground .status").text
        self.assertIn("yours: wrong", said)
        self.assertIn("sum -= input", self.driver.find_element("css selector", "details.playground .lines").text)
        self.assertEqual((self.served.tree / "lessons" / LESSON / "kernels.cuh").read_text(encoding="utf-8"), kernels)
        self.click(RESET)
        self.wait(lambda driver: "reduce3: verified" in driver.find_element("css selector", "details.playground .status").text)

    def test_of_two_kernels_the_changed_one_runs(self):
        """The originals store 0 in place of a maximum, which is below 0."""
        text = self.served.tree / "lessons/lesson00_interleaved_pairs/exercise.cuh"
        original = text.read_text(encoding="utf-8")
        self.addCleanup(text.write_text, original, encoding="utf-8")
        self.load("exercise00.html")
        for last, kernel in ((1, "reduce0"), (2, "reduce0a"), (2, "reduce0a"), (1, "reduce0")):
            pieces = re.split("(?<=if \\(tid == 0\\) {)", self.typed())
            pieces[last] = " // changed" + pieces[last]
            self.type("".join(pieces))
            self.click(RUN)
            self.wait_for(f"{kernel}, yours: wrong: expected", ".playground .status")
            self.wait_for("Compiled in")

    def test_own_programs_and_kernels(self):
        self.load("own.html")
        self.click(RUN)
        self.wait_for("It ran: exit status 0, 1 launch")
        self.assertEqual(self.texts(".output pre"), ["31 * 31 = 961"])
        self.assertEqual(self.texts(".output a"), ["Open its launches", "Save that page"])
        first = self.driver.current_window_handle
        self.find(".output a").click()
        self.driver.switch_to.window(self.driver.window_handles[-1])
        self.wait(lambda driver: "it ran." in driver.find_element("css selector", ".playground").text)
        self.driver.close()
        self.driver.switch_to.window(first)

        self.type(self.typed().replace("values[threadIdx.x] *=", "values[threadIdx.x + 1] *="))
        line = self.typed()[:self.typed().index("+ 1] *=")].count("\n")
        self.click(RUN)
        self.wait_for("It ran: exit status 0, 1 launch, of which 1 failed")
        self.assertRegex(self.texts(".messages li")[0], f"^line {line + 1}: illegal 4-byte load from global memory at ")
        self.assertEqual(self.in_editor("return text.lineInfo(arguments[1]).widgets.length", line), 1)
        self.assertIn(f", at own.cu:{line + 1}", self.find(".output").text)

        self.type("__global__ void twice(int* a, int n) {\n    if (threadIdx.x < n) a[threadIdx.x] = 2 * n;\n}\n")
        self.click(RUN)
        self.wait_for("Compiled in")
        self.assertIn("argument 1: 2,048 2,048", self.find(".playground").text.replace("  ", " "))

        self.type("// nothing\n")
        self.click(RUN)
        self.wait_for("It compiles, but it has no kernel")
        self.assertFalse(self.find(".playground").is_displayed(), "that was another kernel's")

    def test_board(self):
        scores = [{"time": "2026-01-02T03:04:05", "score": 300000}, {"time": "2026-01-03T03:04:05", "score": 250000}]
        self.served.state.parent.mkdir(parents=True, exist_ok=True)
        self.load()  # the server keeps the original
        self.served.text.write_text(self.original + "no", encoding="utf-8")
        digest = hashlib.sha256(self.served.text.read_bytes()).hexdigest()
        self.served.state.write_text(json.dumps({"A": {"scores": scores}, "03": {
            "hints": 2, "text": digest, "passed": [], "solved": False}}), encoding="utf-8")
        self.driver.get(self.served.address + "workbench.html")
        self.wait(lambda driver: driver.find_elements("css selector", ".board"))
        board = self.driver.find_element("css selector", ".workbench")
        rows = [row.text for row in board.find_elements("css selector", ".board tbody tr")]
        self.assertEqual([row.split()[0] for row in rows], ["00", "02", "03", "A"])
        self.assertRegex(rows[1], " not begun 0 of 3$")
        self.assertRegex(rows[2], "begun: does not compile 2 of 3$")
        golf = [row.text for row in board.find_elements("css selector", ".bars tr")]
        self.assertRegex(golf[0], "300,000$")
        self.assertRegex(golf[1], "250,000 best$")
        board.find_element("partial link text", "Next: exercise 00").click()
        self.wait(lambda driver: driver.current_url.endswith("/exercise00.html"))


class Class(InBrowser):
    def test_a_student_joins_and_the_teacher_sees_it(self):
        served = Served(BUILD, SITE / "html", "--class")
        self.addCleanup(served.end)
        self.driver.get(served.link)
        self.wait(lambda driver: driver.find_elements("css selector", ".join"))
        field, button = (self.driver.find_element("css selector", f".join {kind}") for kind in ("input", "button"))
        self.assertEqual(field.accessible_name, "Your name in this class")
        field.send_keys("/etc")
        button.click()
        self.wait(lambda driver: "a name has 1 to 40 letters" in driver.find_element("css selector", ".join [role=alert]").text)
        field.clear()
        field.send_keys("Ada")
        button.click()
        self.wait(lambda driver: driver.find_elements("id", "tasks"))
        self.driver.get(served.address + "exercise03.html")
        self.wait(lambda driver: driver.find_elements("css selector", ".workbench .editor"))
        self.driver.execute_script("document.querySelector('.workbench').scrollIntoView()")
        self.wait(lambda driver: "class/Ada/exercise03.cuh" in driver.find_element("css selector", ".workbench .path").text)
        self.driver.delete_all_cookies()
        self.driver.get(served.next_link())
        self.driver.get(served.address + "workbench.html")
        self.wait(lambda driver: driver.find_elements("css selector", ".class tbody"))
        self.assertEqual(self.driver.find_element("css selector", ".class tbody").text, "Ada 0")
        tables = self.driver.find_elements("css selector", ".workbench table")
        self.assertEqual([table.get_attribute("class") for table in tables], ["class", "board"])


class WorkbenchInFirefox(Server, InFirefox):
    def test_edit_run_and_reload(self):
        """64 blocks, as in Chromium."""
        firefox = self.firefox
        firefox.open(self.served.link)
        self.load()
        firefox.run("document.querySelector('.CodeMirror').CodeMirror.setValue(arguments[0])", self.served.solution)
        firefox.run("document.querySelector('.workbench .buttons button').click()")
        firefox.wait(lambda: "yours: verified" in self.text_of(".workbench .playground .status"))
        self.assertIn("blocks\t64", firefox.run("return document.querySelector('.counters').innerText"))
        self.assertEqual(self.served.text.read_text(encoding="utf-8"), self.served.solution)
        self.load()
        firefox.run("document.querySelector('.CodeMirror').CodeMirror.undo()")
        self.assertEqual(firefox.run("return document.querySelector('.CodeMirror').CodeMirror.getValue()"), self.original)

    def text_of(self, selector):
        return self.firefox.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def load(self):
        self.firefox.open(self.served.address + "exercise03.html")
        self.firefox.wait(lambda: self.firefox.run("""
            document.querySelector(".workbench").scrollIntoView();
            return Boolean(document.querySelector(".CodeMirror")?.CodeMirror.getValue());"""))


if __name__ == "__main__":
    BUILD, SITE = (Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
