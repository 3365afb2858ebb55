#!/usr/bin/python3
"""How scripts/tutorial/site_pages.py renders a page: quotes lead to their files, measured figures are those of every card."""

import re
import tempfile
import types
import unittest
from pathlib import Path

from tutorial import ROOT
from tutorial.site_pages import Page, PageError, Site, slug

LESSON = "lessons/lesson03_first_add_on_load/README.md"
RECORD = """# device: FAKE 1, compute capability 9.0
lesson,elements,name,time_us_median,bandwidth_gbs,peak_fraction
ladder,1024,reduce2,12345.67,2.04,0.5
"""


def page(source, path=LESSON):
    return types.SimpleNamespace(path=path, name="lesson03", title="T", source=f"# T\n\n{source}\n")


class Quotes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "data").mkdir()

    def render(self, source, path=LESSON):
        one = page(source, path)
        others = [Page("lessons/lesson02_sequential_addressing/README.md")]
        return Site([others[0], one], self.folder, self.folder / "data").render(one)

    def test_code_is_found_in_its_file(self):
        line = "    int sum = i < n ? input[i] : 0;"
        text = self.render(f"```cpp\n{line}\n```")
        number = (ROOT / "lessons/lesson03_first_add_on_load/kernels.cuh").read_text().splitlines().index(line) + 1
        self.assertIn(f"kernels.cuh</a>, line {number}</div>", text)

    def test_a_path_above_code_becomes_its_caption(self):
        text = self.render("Before.\n\n`common/harness/check.hpp`\n\n```cpp\n#pragma once\n```", "docs/measuring.md")
        self.assertIn(">common/harness/check.hpp</a>, line", text)
        self.assertNotIn("<code>common/harness/check.hpp</code>", text)
        self.assertIn("<p>Before.</p>", text)

    def test_lessons_that_share_a_page_are_in_order_and_have_a_panel_each(self):
        names = ("lesson10_*/README.md", "lesson13_*/README.md", "lesson1[0-3]_*/exercise.md")
        paths = [str(path.relative_to(ROOT)) for name in names for path in sorted(ROOT.glob(f"lessons/{name}"))]
        for name in ("engine", "panel", "lesson10", "lesson11", "lesson12", "lesson13"):
            (self.folder / f"{name}.js").touch()
        site = Site([Page(path) for path in paths], self.folder, playground=self.folder)
        self.assertEqual([page.name for page in site.order], ["lesson10", "exercise10", "exercise11", "exercise12", "lesson13",
                                                              "exercise13"])
        panels = re.findall(r'data-lesson="(\w+)".*<summary>(.*)</summary>', site.panel(site.order[0]))
        self.assertEqual(panels, [(name, f"Run {name} in this page") for name in ("lesson10", "lesson11", "lesson12")])

    def test_code_that_is_nowhere_is_an_error(self):
        with self.assertRaisesRegex(PageError, "none of .*kernels.cuh.* has this code"):
            self.render("```cpp\n    int sum = 1;\n```")

    def test_a_diff_is_made_from_the_kernels(self):
        first_lines = "\n".join(f"{sign}__global__ void {name}(const int* input, int* partial_sums, std::size_t n) {{"
                                for sign, name in (("-", "reduce2"), ("+", "reduce3")))
        text = self.render(f"```diff\n{first_lines}\n```")
        self.assertIn("<span class=\"gi\">+    if (i + blockDim.x &lt; n) {</span>", text)
        self.assertIn("<span class=\"gd\">-    shared[tid] = i &lt; n ? input[i] : 0;</span>", text)
        with self.assertRaisesRegex(PageError, "there is no kernel reduce33"):
            self.render(f"```diff\n{first_lines.replace('reduce3', 'reduce33')}\n```")

    def test_commands_stand_out_from_their_output(self):
        text = self.render("```console\n$ make lesson03 && ./lesson03 --n 5\n<1>\n$ make test\n```")
        self.assertIn('<b class="command">make lesson03 &amp;&amp; ./lesson03 --n 5</b>\n&lt;1&gt;\n', text)
        self.assertIn('<b class="command">make test</b>\n</pre>', text)

    def test_measured_figures_are_those_of_every_card(self):
        table = "| NVIDIA H200, 1,024 ints | time [us] | GB/s | % of peak |\n|---|---|---|---|\n" \
                "| reduce2 | 1 | 2 | 3 |\n| reduce3 | 1 | 2 | 3 |"
        self.assertIn("<p>Not measured yet.</p>", self.render(table))
        (self.folder / "data/fake-1").mkdir()
        (self.folder / "data/fake-1/ladder.csv").write_text(RECORD)
        text = self.render(table)
        self.assertIn("<th>FAKE 1, 1,024 ints</th>", text)
        self.assertIn("<td>reduce2</td>\n<td>12,345.7</td>\n<td>2.0</td>\n<td>50.0</td>", text)
        self.assertIn("<td>reduce3</td>\n<td>not measured yet</td>", text)
        self.assertNotIn("H200", text)

    def test_links_lead_to_pages_of_the_site(self):
        text = self.render("[a](../lesson02_sequential_addressing/README.md#the-change) [b](kernels.cuh) [c](https://x.y)")
        self.assertIn('<a href="lesson02.html#lesson02_the-change">a</a>', text)
        self.assertIn('<a href="file_lessons_lesson03_first_add_on_load_kernels_cuh.html">b</a>', text)
        self.assertIn('<a href="https://x.y">c</a>', text)
        with self.assertRaisesRegex(PageError, "a link to nowhere.md, which is not there"):
            self.render("[d](nowhere.md)")

    def test_figures_are_those_that_were_drawn(self):
        with self.assertRaisesRegex(PageError, "no line of docs/figures.txt makes it"):
            self.render("![words](../../docs/figures/f.svg)")
        (self.folder / "f.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 720 99'/>")
        self.assertIn('<figure style="--drawn: 720px"><a href="f.svg"><img src="f.svg" alt="&lt;words&gt;" width="720" '
                      'height="99" loading="lazy"/></a>',
                      self.render("![<words>](../figures/f.svg)"))
        (self.folder / "strip_f.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 400 99'/>")
        captions = self.render("![a](f.svg)\n\n![b](strip_f.svg)").count("<figcaption>")
        self.assertEqual(captions, 1, "the line below the ladder is its caption")
        with self.assertRaisesRegex(PageError, "a paragraph of its own"):
            self.render("in line: ![words](f.svg)")

    def test_blocks_and_headings_are_checked(self):
        with self.assertRaisesRegex(PageError, "a block of an unknown kind: ```python"):
            self.render("```python\n```")
        with self.assertRaisesRegex(PageError, "two headings of the same name: B"):
            self.render("## B\n\n## B")

    def test_anchors_are_those_of_github(self):
        self.assertEqual(slug("What `reduce3` does, and why"), "what-reduce3-does-and-why")


if __name__ == "__main__":
    unittest.main()
