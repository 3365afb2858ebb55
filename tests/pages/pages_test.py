#!/usr/bin/env python3
"""tests/pages/pages_test.py [CASE…] BUILD: scripts/quote finds and mends errors in copies of pages (Planted, Command); pages
link to what is there (Pages); and a lesson's page has the shape that all have (Shape)."""

import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

from tutorial import ROOT, page_shape, prose, quotes
from tutorial import recorded_tables as recorded
from tutorial.lessons import read_lessons
from tutorial.pictures import LADDER_ELEMENTS
from tutorial.records import read_record

PROGRAMS = quotes.Emulated(Path(sys.argv.pop()))
LESSONS = {lesson.name: str(lesson.page.relative_to(ROOT)) for lesson in read_lessons()}
LESSON, START, MEASURING = LESSONS["lesson08"], "lessons/start/README.md", "docs/measuring.md"
# A page, what to put in place of the first match, and what is said of it. Mended: the page is then as it was.
MENDED = (
    ("a changed line of code", MEASURING, r"(```cpp\n.*\n.*)", r"\1 // wrong", r"// wrong' is, by the file, '"),
    ("a line of code is left out", MEASURING, r"(```cpp\n.*\n).*\n", r"\1", "is, by the file, "),
    ("code of a lesson", LESSONS["lesson24"], r"(```cpp\n.*)", r"\1 // wrong", r"// wrong' is, by the file, '"),
    ("code of the errata", "docs/errata.md", r"(```cpp\n.*)", r"\1 // wrong", r"// wrong' is, by the file, '"),
    ("a changed line of a diff", LESSON, r"(```diff\n(?:.*\n){3,}?\+.*)", r"\1 // wrong", "// wrong' is, by the kernels, '"),
    ("a changed line around it", LESSON, r"(```diff\n(?:.*\n)+?  .*)", r"\1 // wrong", "// wrong' is, by the kernels, '"),
    ("a diff leaves a line out", LESSON, r"(```diff\n(?:.*\n){3,}?)\+.*\n", r"\1", r"is, by the kernels, '\+"),
    ("a number that a program prints", START, "by 4096 blocks", "by 4097 blocks", "4097 blocks .* is, by the program, '.* 4096 "),
    ("a row of a console", LESSON, r"(```console\n\$ ./lesson08\n)(?:.*\n)(.*\n)", r"\1\2", "is, by the program, '"),
    ("a line that no program prints", START, r"(all correct\n)", r"\1more\n", "'more' is, by the program, nothing more"),
    ("a share of the peak", LESSONS["lesson02"], r"reduce2 18\.4 %", "reduce2 18.5 %", "18.5 .* is, by the record, .* 18.4 "),
    ("a speed on the ladder", LESSONS["lesson02"], r"1\.29 times the speed", "1.92 times the speed", "is, by the record, "),
    ("a kernel of another lesson", LESSONS["lesson10"], r"(UnrollDyn \| )295", r"\1 294", "is, by the record, .*295.4"),
    ("a race", LESSONS["lesson24"], r"(\| 1,048,576 x 64 \| 1)2", r"\g<1>3", "13.* is, by the record, .* 12"),
    ("what was counted in a race", LESSONS["lesson26"], r"(<1> \| bins of one bank \| .* )98", r"\g<1>97", "97 .* is, by .* 98 "),
    ("a figure in a text", LESSONS["lesson30"], r"missed by 1\.", "missed by 2.", r"'.*2\.4 %.* is, by the record, '.*1\.4 %"),
    ("a rounding in a text", LESSONS["lesson30"], r"(came out at \d\.\d\d)\d", r"\1", "is, by the record, "),
)
FOUND = (
    ("code that is nowhere", LESSON, r"```cpp\n(.*\n)+?```", "```cpp\nclass Nowhere;\n```", "none of .*kernels.* has this"),
    ("code of another folder", LESSON, r"```cpp\n.*\n", "`common/harness/check.hpp`\n```cpp\n#pragma once\n", "check.hpp, .* no"),
    ("code of a file that is gone", MEASURING, "`(common/harness/detail)/measure.cpp`", r"`\1/gone.cpp`", "gone.cpp, .* is no"),
    ("a diff of no kernel", LESSON, r"\+__global__ void reduce8\(", "+__global__ void reduce33(", "there is no kernel reduce33"),
    ("a diff without kernels", LESSON, r"```diff\n.*\n.*\n", "```diff\n", "a diff begins with"),
    ("no diff", LESSON, r"```diff\n(.*\n)+?```", "", "quotes none of its diffs"),
    ("a line of the story", "docs/story.md", r"(\+.*tid < stride\) \{)", r"\1 // wrong", "reduce2 has no such lines"),
    ("a diff of the story without names", "docs/story.md", "@@ reduce0 -> reduce0a", "@@", "the first line of a diff outside"),
    ("a line of a lesson's excerpt", LESSONS["lesson09"], r"(\+.*atomicInc.*)", r"\1 // wrong", "reduce9 has no such lines"),
    ("no output", START, r"```console\n(.*\n)+?```", "", "quotes none of its outputs"),
    ("output of no lesson", START, r"```console\n", "```console\n$ make test\nall right\n", "'make test' runs no lesson"),
    ("a pipe", "docs/how_to_read.md", r"(\$ make start && ./start)", r"\1 | grep correct", "'make start .*' pipes its output"),
    ("output of nothing", START, r"```console\n", "```console\nall right\n", r"without a `\$ command` above it"),
    ("a sum", MEASURING, r"\n\n", "\n\n32 x 4 + 1 = 130\n\n", r"32 x 4 \+ 1 is not 130 but 129"),
    ("a sum in a table", START, r"\n\n", "\n\n| 1,000 / 8 = 126 |\n\n", "1,000 / 8 is not 126 but 125"),
    ("a remainder", START, r"\n\n", "\n\n1,000 / 3 = 333\n\n", "1,000 / 3 is no whole number"),
    ("a kernel without a record", LESSON, r"(ints \| time .*\n.*\n\| )\w+", r"\1reduce33", "ladder.csv has no .*reduce33"),
    ("a size without a record", LESSON, r"268,435,456 ints \| time", "268,435,457 ints | time", "ladder.csv has no .*268435457"),
    ("a size that is none", LESSONS["lesson28"], r"(in flight \| KiB.*\n.*\n\| \S+ \| )", r"\1no ", "limit_in_flight.csv has no"),
    ("a rival without a record", LESSONS["lesson24"], "`copy_restrict` .us", "`memcpy` [us", "ahead_transpose.csv has no memcpy"),
    ("an unknown table", LESSON, r"ints \| time \[us\]", "ints | hours", "no such table"),
    ("a sentence is gone", LESSONS["lesson30"], "missed by", "lost by", "does not contain: missed by 1.4 %"),
    ("a block of another kind", START, "```cpp", "```python", "unknown kind: ```python"),
    ("a block without an end", START, r"```\n(?!.*```)(?s:.*)", "", "this block is not closed"),
)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


class WithoutPrograms(quotes.Page):
    """A page whose programs do not run: what they print is right, by Pages.quotes."""

    def check_console(self, block):
        self.checked["outputs"] += 1


class Planted(unittest.TestCase):
    def plant(self, path, pattern, wrong, words):
        """Returns the page with an error in it, as quotes see it. Of lessons' pages only that of LESSON gets one in an output."""
        source = read(path)
        planted = re.sub(pattern, wrong, source, count=1)
        self.assertNotEqual(planted, source)
        page = (WithoutPrograms if path in LESSONS.values() and path != LESSON else quotes.Page)(path, planted, PROGRAMS)
        self.assertTrue(any(re.search(words, fault.words) for fault in page.faults), page.faults)
        return page

    def test_errors_are_mended(self):
        for name, path, pattern, wrong, words in MENDED:
            with self.subTest(name):
                page = self.plant(path, pattern, wrong, words)
                self.assertEqual(page.mended(), read(path))
                [fault] = page.faults
                was, is_ = read(path).splitlines(), page.lines
                self.assertEqual(fault.line - 1, next(index for index, line in enumerate(was) if is_[index] != line))

    def test_errors_that_have_no_mending_are_found(self):
        for name, path, pattern, wrong, words in FOUND:
            with self.subTest(name):
                page = self.plant(path, pattern, wrong, words)
                self.assertEqual(page.mended(), page.source)

    def test_what_needs_a_disassembler_is_compared_where_there_is_one(self):
        told = "emulate: no times can be estimated: there is no nvdisasm"
        for words, errors, wrong in ((" --changed", told, 0), (" --time", told, 0), (" --changed", "", 1), ("", told, 1)):
            programs = types.SimpleNamespace(has_pages_ptx=True, printed=lambda command, errors=errors: ("real\n", errors),
                                             output=lambda command: "real\n")
            page = quotes.Page("docs/x.md", f"```console\n$ ./lesson02{words}\nours\n```\n", programs)
            self.assertEqual((len(page.faults), page.checked["outputs"]), (wrong, 1), page.faults)

    def test_each_figure_of_each_table_is_that_of_the_record(self):
        for path in quotes.all_pages():
            lines = read(path).splitlines()
            for table in recorded.tables_of(lines):
                lesson, card = quotes.lesson_of(path), recorded.card_named(table.head[1], PROGRAMS)
                cells = recorded.cells_of(table.rows[0])
                keys = [cell.strip("`") for cell in cells[:table.kind.keys]]
                figures = table.kind.cells(card, lesson, table.head, *keys)  # None: words, which no record has
                for column in (k + len(keys) for k, figure in enumerate(figures) if figure is not None):
                    for wrong in (cells[column] + "0", cells[column][:-1]):  # a rounding is not right either
                        row = f"| {' | '.join([*cells[:column], wrong, *cells[column + 1:]])} |"
                        self.assertEqual(recorded.cells_of(table.right_row(row, lesson, card)), cells, f"{path}: {row}")


class Command(unittest.TestCase):
    def quote(self, *arguments, root=ROOT):
        run = subprocess.run([root / "scripts/quote", *arguments], capture_output=True, text=True)
        return run.returncode, run.stdout, run.stderr

    def test_pages_are_checked_and_mended(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name in ("scripts", "docs"):
                shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            for name in ("lessons", "common", "tests"):
                (root / name).symlink_to(ROOT / name)
            page = root / "docs/profiling.md"
            text = page.read_text(encoding="utf-8")
            wrong = re.sub(r"(emulator \| Nsight Compute \|\n.*\n.*)\d \|\n", r"\1 |\n", text, count=1)
            page.write_text(wrong, encoding="utf-8")
            arguments = ("--build", PROGRAMS.folder.parent, page)
            status, out, _ = self.quote("--check", *arguments, root=root)
            self.assertRegex(out, r"^docs/profiling.md:\d+: '.*' is, by the record, '.*'\n1 page, .*: 1 wrong\n$")
            self.assertEqual((status, page.read_text(encoding="utf-8")), (1, wrong))
            status, out, _ = self.quote("--write", *arguments, root=root)
            self.assertRegex(out, r": mended\n1 page, .*: 1 mended, 0 wrong\n$")
            self.assertEqual((status, page.read_text(encoding="utf-8")), (1, text))
            self.assertEqual(self.quote("--check", *arguments, root=root)[0], 0)

    def test_wrong_arguments(self):
        self.assertEqual(self.quote("--help")[0], 0)
        for arguments, words in (((), "--check or --write"), (("--check", "--write"), "--check or --write"),
                                 (("--check", "LICENSE"), "LICENSE is not one of the project's pages"),
                                 (("--chekc",), "--chekc"),
                                 (("--check", "--build", "/nowhere", ROOT / START), "there is no /nowhere/bin/start")):
            status, _, error = self.quote(*arguments)
            self.assertIn(words, error)
            self.assertEqual(status, 2, error)


class Pages(unittest.TestCase):
    def tables(self, path, *kinds):
        """The numbers of rows of its tables of these kinds."""
        found = recorded.tables_of(read(path).splitlines())
        return sorted(len(table.rows) for table in found if table.kind.cells in kinds)

    def test_show_what_was_measured(self):
        card = recorded.card_named("NVIDIA H200")
        timed, practiced = ({row["lesson"] for row in card.rows(record)} for record in ("lessons.csv", "practice.csv"))
        for lesson in read_lessons():
            path, practice = LESSONS[lesson.name], (recorded.practice, recorded.by_shape)
            self.assertGreaterEqual(len(self.tables(path, recorded.times)), lesson.part == "ladder" or lesson.name in timed, path)
            self.assertEqual(bool(self.tables(path, *practice)), lesson.name in practiced, path)
            self.assertGreaterEqual(len(self.tables(path, recorded.tiles)), lesson.part == "tiles", path)
        for path in quotes.all_pages():
            self.assertTrue(all(rows >= 2 for rows in self.tables(path, recorded.times, recorded.practice)), path)
        for path, kind, rows in ((MEASURING, recorded.complete_sums, [15]), ("docs/profiling.md", recorded.counters, [9]),
                                 (LESSONS["lesson28"], recorded.in_flight, [10]),
                                 (LESSONS["lesson29"], recorded.steps, [9]),
                                 (LESSONS["lesson30"], recorded.sums, [10])):
            self.assertEqual(self.tables(path, kind), rows, path)

    def test_the_story_climbs_the_recorded_ladder(self):
        story = read("docs/story.md")
        rows = {row["name"]: row for row in recorded.card_named("NVIDIA H200").rows("ladder.csv")
                if int(row["elements"]) == LADDER_ELEMENTS}
        steps = re.split(r"^## \d+\. ", story, flags=re.MULTILINE)[1:]
        self.assertEqual(len(steps), 10)
        for step, name in zip(steps, rows):  # in the record's order
            time, share = (float(rows[name][key]) for key in ("time_us_median", "peak_fraction"))
            self.assertRegex(step, rf"^[^\n]*: {time:,.0f} µs\n")
            self.assertIn(f"{name} reaches {100 * share:.1f} % of the peak bandwidth](figures/story_{name}.svg)", step)
            self.assertEqual(len(re.findall(r"\(figures/live_\w+\.svg\)", step)), 1, name)
            self.assertRegex(step, r"\]\(\.\./lessons/lesson0\d")
            for diff in re.findall(r"```diff\n@@.*\n((?:.*\n)*?)```", step):
                self.assertLessEqual(len(diff.splitlines()), 8, name)
        self.assertLessEqual(prose.count(prose.read(story).core), 2000)

    def test_ask_for_the_same_bytes_in_flight(self):
        """4,287 GB/s x 1,320 cycles / 1.98 GHz / 132 multiprocessors: Little's law at the recorded latency under load."""
        found = {row["constant"]: float(row["value"]) for row in recorded.card_named("NVIDIA H200").rows("clock_constants.csv")}
        need = found["loaded_bandwidth_48_warps"] * found["loaded_latency_48_warps"] / 1.98 / 132
        rounded, kilobytes = f"{round(need, -2):,.0f}", f"{need / 1000:.1f}"
        figures = [f"docs/figures/live_in_flight_reduce{number}.svg" for number in (2, 4, 6, 8, 10)]
        for page, words in ((LESSONS["lesson06"], f"about {rounded} for each of 132"), (LESSONS["lesson28"], f"{rounded} bytes"),
                            (LESSONS["lesson08"], f"asks for\n{kilobytes}]"), (LESSONS["lesson08"], f"less than {kilobytes} KB"),
                            *((figure, f"{kilobytes} KB") for figure in figures)):
            self.assertTrue(words in read(page), f"{page}: {words}")

    def test_quote_what_was_published_for_a_v100(self):
        rows = read_record(ROOT / "docs/data/published/v100.csv")[1]
        shown = [line for line in read("docs/published.md").splitlines() if re.match(r"\| reduce\w+ \| [\d,]+ ns \|", line)]
        published = [(row["kernel"], f"{int(row['time_ns']):,} ns", row["bandwidth_gbs"], row["peak_percent"]) for row in rows]
        self.assertEqual([tuple(recorded.cells_of(line)) for line in shown], published)

    def test_take_the_times_in_a_text_about_an_experiment_from_its_tables(self):
        """But what a formula of them comes to, which scripts/quote checks."""
        kinds = (recorded.experiment, recorded.by_block, recorded.loads_in_flight)
        pages = [path for path in LESSONS.values() if self.tables(path, *kinds)]
        self.assertGreaterEqual(len(pages), 8)
        for path in pages:
            lines = read(path).splitlines()
            shown = {cell for table in recorded.tables_of(lines) for row in table.rows for cell in recorded.cells_of(row)}
            text = " ".join(line for line in quotes.read_blocks(lines)[1].values() if not line.startswith("|"))
            times = re.findall(r"(?<!= )(?<![\d,])(\d[\d,]*) us\b", text)
            self.assertEqual([time for time in times if time not in shown], [], path)

    def test_link_to_what_is_there(self):
        for path in quotes.all_pages():
            text = "\n".join(quotes.read_blocks(read(path).splitlines())[1].values())
            for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
                self.assertTrue("://" in target or (ROOT / path).parent.joinpath(target).exists(), f"{path}: {target}")

    def test_are_in_the_contents_of_the_site(self):
        contents = read("docs/contents.txt").splitlines()
        for page in ROOT.glob("docs/*.md"):
            self.assertEqual(contents.count(f"  docs/{page.name}"), 1, page.name)

    def test_offer_a_header_that_is_one_file(self):
        """A reader can copy the header: it includes nothing but the toolkit's and the standard library's."""
        for line in read(LESSONS["lesson30"].replace("README.md", "sum.cuh")).splitlines():
            if line.startswith("#include"):
                self.assertRegex(line, r"^#include <[a-z_/]+(\.h)?>$")

    def test_list_every_lesson(self):
        for page in LESSONS.values():
            self.assertIn(f"]({page})", read("README.md"))


SHAPED = """# Lesson 02: x

[All lessons](../../README.md) · next: [exercise 02](exercise.md)

![The ladder](../../docs/figures/strip_lesson02.svg)

The hook.

## The idea

Words.

<details><summary>Predict first</summary>

1. One?
2. Two?
3. Three?

</details>

## The change

```diff
+a
```

## Run it

```console
$ make lesson02 && ./lesson02 --changed
```

<details><summary>The answers to your predictions</summary>

1. One.
2. Two.
3. Three.

</details>

## Why it is faster

Words.

## Your turn

`make exercise02`

## Check yourself

1. Why?

   <details><summary>Answer</summary>

   So.
   </details>

## Deeper

<details><summary>More</summary>

```console
$ ./lesson02 --n 1
```

</details>
"""
# What to put in place of what, and what is said of it.
MISSHAPEN = (
    ("strip_lesson02", "strip_lesson03", "there is no strip_lesson02.svg"),
    ("The hook.", "- The hook.", "the hook is a paragraph"),
    ("The hook.", "word " * 90, "The hook: 90 words, 89 at most"),
    ("Words.\n\n<", "word " * 201 + "\n\n<", "The idea: 201 words, 200 at most"),
    ("Words.\n\n## Your", "word " * 351 + "\n\n## Your", "Why: 351 words, 350 at most"),
    ("1. Why?", "1. " + "word " * 900, "a core path of 90"),
    ("Why it is", "What is", "in place of: The idea, The change, Run it, Why, Your turn, Check yourself, Deeper"),
    ("## The change", "## Change", "sections: The idea, Change, "),
    ("3. Three?\n", "", "the fold 'Predict first' and its three questions"),
    ("## The change", "Words.\n\n## The change", "the fold 'Predict first' and its three questions"),
    ("```diff\n+a\n```", "<details><summary>a</summary>\n\n```diff\n+a\n```\n\n</details>", "no diff that is unfolded"),
    (" --changed", "", "Run it has no command with --changed"),
    ("3. Three.\n", "", "2 answers to 3 predictions"),
    ("`make exercise02`", "Words.", "Your turn has no `make exercise02`"),
    ("Words.\n\n<", "Words.\n\n```text\n" + "a" * 81 + "\n```\n\n<", "81 columns, 80 at most: aaa"),
)


class Shape(unittest.TestCase):
    def complaints(self, source):
        return page_shape.complaints(next(lesson for lesson in read_lessons() if lesson.name == "lesson02"), source)

    def test_is_that_of_all_lessons(self):
        for lesson, page in [(one, page) for one in read_lessons() if one.has_page for page in one.pages]:
            source = page.read_text(encoding="utf-8")
            found = page_shape.complaints(lesson, source)
            with self.subTest(lesson.name, page=page.name):
                self.assertEqual(found, [], "\n".join(found))

    def test_shows_the_time_of_a_kernel_that_runs_alone(self):
        alone, several = (next(lesson for lesson in read_lessons() if lesson.name == name) for name in ("lesson22", "lesson23"))
        source = re.sub(r"!\[.*\n\n", "", SHAPED).replace(" --changed", " --time")
        self.assertEqual(page_shape.complaints(alone, source.replace("exercise02", "exercise22")), [])
        self.assertEqual(page_shape.complaints(several, source.replace("exercise02", "exercise23")),
                         ["Run it has no command with --changed"])

    def test_what_is_wrong_is_found(self):
        self.assertEqual(self.complaints(SHAPED), [])
        self.assertEqual(self.complaints(SHAPED[:SHAPED.index("## Deeper")]), [])
        self.assertEqual(self.complaints(SHAPED.replace("1. Why?", "`code of words` " * 800)), [])  # each is a word
        for right, wrong, words in MISSHAPEN:
            with self.subTest(words):
                self.assertEqual(SHAPED.count(right), 1)
                found = self.complaints(SHAPED.replace(right, wrong))
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])


if __name__ == "__main__":
    unittest.main()
