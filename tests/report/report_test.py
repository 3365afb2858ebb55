#!/usr/bin/python3
"""scripts/report: with the real programs on the emulator (Emulated), and with some that only pretend (the others).

REPORT_BUILD names the build tree of the real ones.
"""

import contextlib
import csv
import dataclasses
import functools
import importlib.machinery
import importlib.util
import io
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from html.parser import HTMLParser
from pathlib import Path

from tutorial import ROOT, runs
from tutorial.lessons import read_lessons


def asking_for(report):
    """The lessons whose manifests request that."""
    return [lesson.name for lesson in read_lessons() if report in lesson.report]


LESSONS = asking_for("once")
REPORT = ROOT / "scripts/report"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
STORED = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
STORE_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
INSTRUCTIONS = "smsp__inst_executed.sum"

# A lesson that computes nothing. Its figures are its arguments' checksums: all different, and no card's.
PROGRAM = """#!PYTHON -SE
import json, os, sys, zlib
words, name = sys.argv[1:], os.path.basename(sys.argv[0])
given = {words[i]: words[i + 1] for i in range(len(words) - 1) if words[i].startswith("--")}
home = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
if "--verify" not in words:
    with open(os.path.join(home, "log"), "a") as log:
        log.write(" ".join([name, *words]) + "\\n")
fault = []
if os.path.exists(os.path.join(home, "faults")):
    with open(os.path.join(home, "faults")) as file:
        fault = file.read().split()
if name + "-crash" in fault:
    sys.exit("out of <memory> & luck (cudaErrorMemoryAllocation)")
if name + "-silent" in fault:
    sys.exit(0)
if name + "-slow" in fault:
    import signal
    signal.pause()
gpu = os.path.exists(os.path.join(home, "gpu")) and given.get("--device") != "emulator"
if gpu:
    with open(os.path.join(home, "gpu")) as file:
        gpu_name = file.read()
kernels = {"ladder": "reduce0 reduce0a reduce1 reduce2 reduce3 reduce4 reduce5 reduce6 reduce7 reduce8 reduce9",
           "lesson10": "reduceNeighboredGmem reduceNeighboredSmem reduceGmem reduceSmem",
           "lesson18": "setRowReadCol setRowReadColPad setRowReadColDynPad",
           "lesson21": "setRowReadCol setRowReadColPad setRowReadColDynPad"}.get(name, name + "_a " + name + "_b").split()
n = eval(given.get("--n", "4096").replace("^", "**"))
def figure(*what):
    return zlib.crc32(repr((name, n, given.get("--padding"), what)).encode()) % 1000000 + 1
def counters(kernel):
    ops = [f"l1tex__{kind}.sum" for kind in ("t_sectors_pipe_lsu_mem_global_op_ld", "t_requests_pipe_lsu_mem_global_op_ld",
        "t_sectors_pipe_lsu_mem_global_op_st", "t_requests_pipe_lsu_mem_global_op_st", "t_sectors_pipe_lsu_mem_global_op_atom",
        "t_sectors_pipe_lsu_mem_global_op_red", "data_pipe_lsu_wavefronts_mem_shared_op_ld",
        "data_bank_conflicts_pipe_lsu_mem_shared_op_ld", "data_pipe_lsu_wavefronts_mem_shared_op_st",
        "data_bank_conflicts_pipe_lsu_mem_shared_op_st")] + ["smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
        "smsp__sass_branch_targets_threads_divergent.sum"]
    return {op: figure(kernel, op) for op in ops}
def one(kernel):
    median = figure(kernel, "median") / 7
    wrong = name + "-wrong" in fault and kernel == kernels[-1]
    return {"name": kernel, "grid": [figure(kernel, "grid"), 1, 1], "block": [256, 1, 1], "dynamic_shared_bytes": 0,
            "verified": not wrong, "expected": 5, "actual": figure(kernel, "actual"), "bytes": 4 * n,
            "time_us": {"median": median, "min": median * 0.9, "runs": 50} if gpu else None,
            "complete_time_us": {"median": median * 1.25, "min": median, "runs": 50} if gpu and name == "ladder" else None,
            "bandwidth_gbs": figure(kernel, "bandwidth") / 100 if gpu else None,
            "peak_fraction": figure(kernel, "bandwidth") / 100 / 12345.5 if gpu else None,
            "counters": None if gpu else counters(kernel)}
if gpu:
    device = {"kind": "gpu", "name": gpu_name, "compute_capability": "99.0",
              "peak_bandwidth_gbs": 12345.5}
else:
    device = {"kind": "emulator", "name": "Pretended emulator <&>", "compute_capability": "9.0", "peak_bandwidth_gbs": None}
options = {}
if name in ("lesson18", "lesson21"):
    options = {"--width": 32, "--height": 32 if name == "lesson18" else 16, "--padding": int(given.get("--padding", 1))}
print(json.dumps({"lesson": name, "title": f"The pretended <{name}> & co", "device": device, "elements": n, "seed": 42,
                  "options": options, "kernels": [one(kernel) for kernel in kernels]}))
if name + "-wrong" in fault:
    sys.exit("the sum is wrong: 5 expected, 6 found")
""".replace("PYTHON", sys.executable)

GPU = "Pretended GPU, no such card <&'>"

@functools.lru_cache
def report_module():
    """scripts/report, to be called in this process."""
    loader = importlib.machinery.SourceFileLoader("report", str(REPORT))
    report = importlib.util.module_from_spec(importlib.util.spec_from_loader("report", loader))
    loader.exec_module(report)
    return report


@functools.lru_cache
def compiled(program):
    return compile(program, "a fake program", "exec")


class InOneProcess:
    """subprocess, for fake programs: a report starts fifty, and Python takes longer to begin than they do."""

    DEVNULL, TimeoutExpired = subprocess.DEVNULL, subprocess.TimeoutExpired

    @staticmethod
    def run(command, **_):
        told, errors, status = io.StringIO(), io.StringIO(), 0
        code = compiled(Path(command[0]).read_text())
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(errors), \
                unittest.mock.patch.object(sys, "argv", list(map(str, command))):
            try:
                exec(code, {})
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
                errors.write("" if isinstance(end.code, int) else end.code)
        return subprocess.CompletedProcess(command, status, told.getvalue(), errors.getvalue())


class Page(HTMLParser):
    """The parts of index.html that the tests check."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.figures, self.tables, self.red, self.tags = [], [], [], [], [], set()
        self.words, self.section, self.sections = "", None, []
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        self.tags.add(tag)
        self.links += [value for name, value in pairs if name in ("href", "src", "xlink:href", "data", "poster", "srcset")]
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag == "section":
            self.section = attributes["id"]
            self.sections.append(self.section)
        if tag == "figure":
            self.figures.append("")
        if tag == "table":
            self.tables.append({"caption": "", "rows": [], "section": self.section})
        if tag == "tr":
            self.tables[-1]["rows"].append([])
            self.red += [""] if attributes.get("class") == "bad" else []
            self.in_red = attributes.get("class") == "bad"
        if tag in ("td", "th"):
            self.tables[-1]["rows"][-1].append("")
        self.place = tag if tag in ("td", "th", "caption", "style", "title") else self.place
        self.in_figure = tag == "figure" or self.in_figure and tag != "table"

    place, in_figure, in_red = None, False, False

    def handle_endtag(self, tag):
        self.place = None if tag == self.place else self.place
        self.in_figure = self.in_figure and tag != "figure"

    def handle_data(self, data):
        self.words += data if self.place != "style" else ""
        if self.in_figure:
            self.figures[-1] += data.strip() + "\n" if data.strip() else ""
        if self.place == "caption":
            self.tables[-1]["caption"] += data
        if self.place in ("td", "th"):
            self.tables[-1]["rows"][-1][-1] += data
            if self.in_red:
                self.red[-1] += data + " "

    def figure(self, *parts):
        """The one figure with these words."""
        found = [figure for figure in self.figures if all(part in figure for part in parts)]
        assert len(found) == 1, (parts, self.figures)
        return found[0].split("\n")

    def table(self, caption):
        """Cells by row and column, of all tables with this caption."""
        cells = {}
        for table in self.tables:
            if table["caption"] == caption:
                head, *rows = table["rows"]
                for row in rows:
                    cells.setdefault(row[0], {}).update(zip(head[1:], row[1:]))
        assert cells, (caption, [table["caption"] for table in self.tables])
        return cells


class Folder(unittest.TestCase):
    """A place for a report."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"

    def page(self):
        self.text = (self.out / "index.html").read_text(encoding="utf-8")
        return Page(self.text)

    def runs(self):
        return {run["name"]: run for run in json.loads((self.out / "report.json").read_text(encoding="utf-8"))["runs"]}

    def check_page(self, least_numbers=400):
        """It is valid and complete, and every number in its tables comes from the JSON next to it."""
        tidy = shutil.which("tidy")
        self.assertTrue(tidy, "there is no tidy to judge the HTML with")
        judged = subprocess.run([tidy, "-e", "-q", "-utf8", self.out / "index.html"], capture_output=True, text=True)
        self.assertEqual((judged.returncode, judged.stderr), (0, ""))
        page = self.page()
        self.assertLessEqual({link for link in page.links if not link.startswith("#")}, {"report.csv", "report.json"})
        self.assertEqual([link for link in page.links if link[0] == "#" and link[1:] not in page.ids], [])
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertNotRegex(self.text, r"url\(|@import|http")
        for figure in re.findall(r"<figure>.*?</figure>", self.text, re.DOTALL):
            self.assertNotRegex(figure, "#[0-9a-f]{6}|<style|font-family")  # of the page's own, light or dark
        self.assertFalse({"script", "iframe", "object", "img", "link"} & page.tags)
        self.assertNotIn("rgb(", self.text)  # a color that neither light nor dark chose
        runs = self.runs()
        self.check_lessons(page, runs)
        self.assertEqual((page.sections[0], page.sections[-1]), ("ladder", "runs"))
        self.assertEqual("runs failed</a></p>" in self.text.partition("<main>")[0], bool(page.red))
        known = set(self.derived(runs))
        numbers = [(table["caption"], cell) for table in page.tables for row in table["rows"][1:] for cell in row[1:]
                   if re.fullmatch(r"(× )?-?[\d,]+(\.\d+)?(e-\d+)?", cell)]
        self.assertGreater(len(numbers), least_numbers)
        self.assertEqual([number for number in numbers if number[1] not in known], [])
        return page

    def derived(self, runs):
        """Every number that a table may have, as it is to be written there."""
        def changed(first, second):
            return f"× {second / first:.2f}" if second / first >= 0.1 else f"× {second / first:.2g}"
        for run in runs.values():
            result = run["result"] or {"kernels": []}
            kernels = result["kernels"]
            yield from (f"{padding}" for padding in [result.get("options", {}).get("--padding")])
            for kernel in kernels:
                threads = kernel["block"][0] * kernel["block"][1]
                yield from (f"{value:,}" for value in (kernel["actual"], math.prod(kernel["grid"]), threads))
                if kernel["time_us"]:
                    yield from (f"{kernel['time_us'][name]:,.1f}" for name in ("median", "min"))
                    yield f"{kernel['time_us']['runs']}"
                    yield f"{(kernel['complete_time_us'] or kernel['time_us'])['median']:,.1f}"
                    yield f"{kernel['bandwidth_gbs']:,.1f}"
                    yield f"{100 * kernel['peak_fraction']:,.1f}"
                    yield f"{kernels[0]['time_us']['median'] / kernel['time_us']['median']:,.2f}"
                    continue
                counters = kernel["counters"]
                yield from (f"{value:,}" for value in counters.values())
                traffic = sum(value for name, value in counters.items() if "sectors" in name)
                for value in (traffic, counters[WAVEFRONTS] + counters[STORE_WAVEFRONTS], counters[INSTRUCTIONS]):
                    yield f"{value / result['elements']:,.3f}"
            if len(kernels) == 2 and kernels[0]["counters"]:
                first, second = kernels
                for name in first["counters"]:
                    if first["counters"][name] and second["counters"][name]:
                        yield changed(first["counters"][name], second["counters"][name])
                for name in ("grid", "block"):
                    yield changed(first[name][0], second[name][0])

    def check_lessons(self, page, runs):
        """Cell by cell."""
        for name in LESSONS:
            result = runs[name]["result"] if name in runs else None
            table = [table for table in page.tables if table["section"] == name]
            if not result:
                self.assertEqual(table, [])
                continue
            head, *rows = table[0]["rows"]
            if head[0] == "kernel":  # many: a row for each in place of a column, in several tables
                parts = [part["rows"] for part in table]
                rows = {figure: {row[0]: row[column] for row in rows} for head, *rows in parts
                        for column, figure in enumerate(head)}
            else:
                rows = {row[0]: dict(zip(head[1:], row[1:])) for row in rows}
            emulated = result["device"]["kind"] == "emulator"
            self.assertIn("emulated" if emulated else f"measured on {result['device']['name']}", table[0]["caption"])
            self.assertIn(f": {result['elements']:,} elements, ", table[0]["caption"])
            for kernel in result["kernels"]:
                cells = {row: columns[kernel["name"]] for row, columns in rows.items()}
                self.assertEqual(cells["verified"], "yes" if kernel["verified"] else "NO")
                self.assertEqual(cells["result"], f"{kernel['actual']:,}")
                self.assertEqual(any("[µs]" in row or "GB/s" in row or "speed" in row for row in cells), not emulated)
                if emulated:
                    self.assertEqual(cells["global loads: sectors"], f"{kernel['counters'][SECTORS]:,}")
                    self.assertEqual(cells["global stores: sectors"], f"{kernel['counters'][STORED]:,}")
                    self.assertEqual(cells["shared loads: wavefronts"], f"{kernel['counters'][WAVEFRONTS]:,}")
                    self.assertEqual(cells["shared stores: wavefronts"], f"{kernel['counters'][STORE_WAVEFRONTS]:,}")
                    self.assertEqual(cells["instructions (PTX): per warp"], f"{kernel['counters'][INSTRUCTIONS]:,}")
                else:
                    first = result["kernels"][0]
                    self.assertEqual(cells["median time [µs]"], f"{kernel['time_us']['median']:,.1f}")
                    self.assertEqual(cells["least time [µs]"], f"{kernel['time_us']['min']:,.1f}")
                    self.assertEqual(cells["bandwidth [GB/s]"], f"{kernel['bandwidth_gbs']:,.1f}")
                    self.assertEqual(cells["share of peak [%]"], f"{100 * kernel['peak_fraction']:,.1f}")
                    self.assertEqual(cells[f"speed-up over {first['name']}"],
                                     f"{first['time_us']['median'] / kernel['time_us']['median']:,.2f}")


class Emulated(Folder):
    """The real programs, with few ints."""

    def test_the_report_is_complete(self):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        whole_plan = runs.plan

        def plan(kind, lessons):
            sized = ["ladder", *(lesson.name for lesson in lessons if any("--n " in run for run in lesson.manifest["check"]))]
            return [run if run.program not in sized or run.arguments else dataclasses.replace(run, arguments=("--n", "1000"))
                    for run in whole_plan(kind, lessons)]

        for what, few in (("EXPONENTS", {"emulator": range(10, 13, 2)}), ("PADDINGS", range(3)), ("plan", plan)):
            patched = unittest.mock.patch.object(runs, what, few)
            patched.start()
            self.addCleanup(patched.stop)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
            status = report_module().main(["--build", os.environ["REPORT_BUILD"], "--out", str(self.out)])
        self.assertEqual(status, 0, told.getvalue())
        page = self.check_page()
        self.assertEqual(page.red, [])
        records = self.runs()
        self.assertEqual(len(records), len(LESSONS) + 1 + 2 + 2 + 3 + 3)
        for figure in page.figures:
            self.assertTrue(figure.startswith("Emulated: ") or "\nEmulated: " in figure, figure)
        for table in page.tables:
            if table["section"] not in ("runs", "counters"):
                self.assertRegex(table["caption"], "[Ee]mulated")
        self.assertNotRegex(page.words, r"µs|GB/s|speed-up|median")
        # 32 x 32: without padding all lanes of a load by columns meet in one bank, with padding 1 none do.
        table = page.table("Emulated: wavefronts in shared memory, square of 32 × 32 ints")
        self.assertEqual([table[padding]["setRowReadColPad: loads"] for padding in "012"], ["1,024", "32", "64"])
        self.assertIn("CUDA", page.words)


class Pretended(Folder):
    """A build tree of fake programs."""

    def setUp(self):
        super().setUp()
        self.build = self.folder / "build"
        (self.build / "bin").mkdir(parents=True)
        (self.build / "emulator").mkdir()
        (self.build / "emulator/libcudart.so.13").write_text("one")
        (self.build / "toolkit").write_text("CUDA 99.1\n")
        for name in [*LESSONS, "ladder"]:
            (self.build / "bin" / name).write_text(PROGRAM)
            (self.build / "bin" / name).chmod(0o755)
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        (self.tools / "nvidia-smi").write_text("#!/bin/sh\necho 580.99\n")
        (self.tools / "nvidia-smi").chmod(0o755)

    def has_gpu(self, name=GPU):
        (self.build / "gpu").write_text(name)

    def faults(self, *faults):
        (self.build / "faults").write_text(" ".join(faults))

    def report(self, *arguments, status=0, build=True, plots=True, whole=False):
        """`plots`: False to check only the runs. Without matplotlib they are kept, and there is no page. `whole`: as a command,
        which starts every program, and with all 34 paddings in place of 5, more than half of all runs."""
        (self.build / "log").write_text("")
        words = list(map(str, [*(["--build", self.build] if build else []), "--out", self.out, *arguments]))
        with unittest.mock.patch.dict(os.environ, PATH=f"{self.tools}:{os.environ['PATH']}"):
            ended, self.told = self.started(words) if whole else self.called(words, plots)
        self.assertEqual(ended, status if plots else 1, self.told)
        self.assertNotIn("Traceback", self.told)
        return (self.build / "log").read_text().splitlines()

    def started(self, words):
        done = subprocess.run([sys.executable, REPORT, *words], capture_output=True, text=True)
        return done.returncode, done.stderr

    def called(self, words, plots):
        """In this process, which loads matplotlib once."""
        main = report_module().main
        with contextlib.ExitStack() as changed:
            changed.enter_context(unittest.mock.patch.object(runs, "PADDINGS", range(5)))
            changed.enter_context(unittest.mock.patch.object(runs, "subprocess", InOneProcess))
            if not plots:
                changed.enter_context(unittest.mock.patch.dict(sys.modules, dict.fromkeys(
                    ["matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))])))
            changed.enter_context(contextlib.redirect_stdout(io.StringIO()))
            told = changed.enter_context(contextlib.redirect_stderr(io.StringIO()))
            try:
                status = main(words)
            except SystemExit as end:
                status = end.code
        return status, told.getvalue()

    def test_on_a_gpu_it_shows_times_and_what_the_emulator_counts(self):
        self.has_gpu()
        ran = self.report(whole=True)
        runs, page = self.runs(), self.check_page()
        self.assertEqual(len(ran), len(runs))
        self.assertIn("lesson03 --device gpu --format json", ran)
        self.assertIn("ladder --device gpu --n 2^28 --format json", ran)
        self.assertIn("lesson21 --device emulator --padding 33 --format json", ran)
        for fact in (GPU, "580.99", "CUDA 99.1", "12,345.5 GB/s", "99.0"):
            self.assertIn(fact, page.words)

        ladder = {kernel["name"]: kernel for kernel in runs["ladder"]["result"]["kernels"]}
        bandwidth = page.figure(f"{GPU}: bandwidth of the ladder", "effective bandwidth, median [GB/s]", "peak 12,346")
        for name, kernel in ladder.items():
            self.assertIn(name, bandwidth)
            value = kernel["bandwidth_gbs"]
            self.assertIn(f"{value:,.0f}" if value >= 100 else f"{value:#.3g}", bandwidth)
        complete = page.figure(f"{GPU}: complete sums, all launches", "effective bandwidth, median [GB/s]", "peak 12,346")
        for kernel in ladder.values():
            value = 4e-3 * runs["ladder"]["result"]["elements"] / kernel["complete_time_us"]["median"]
            self.assertIn(f"{value:,.0f}" if value >= 100 else f"{value:#.3g}", complete)
        [table] = [table for table in page.tables if "complete sum [µs]" in table["rows"][0]]
        self.assertEqual(table["section"], "ladder")
        column = table["rows"][0].index("complete sum [µs]")
        self.assertEqual({row[0]: row[column] for row in table["rows"][1:]},
                         {name: f"{kernel['complete_time_us']['median']:,.1f}" for name, kernel in ladder.items()})
        speed_up = page.figure(f"{GPU}: speed-up over reduce0", "time of reduce0 / time")
        value = ladder["reduce0"]["time_us"]["median"] / ladder["reduce5"]["time_us"]["median"]
        self.assertIn(f"{value:,.0f}" if value >= 100 else f"{value:#.3g}", speed_up)
        for axis in ("effective bandwidth, median [GB/s]", "median time [µs]"):
            for words in ("the ladder", *asking_for("size by size")):
                self.assertIn("n [ints]", page.figure(f"{GPU}: {words} over n", axis))
        page.figure(f"{GPU}: shared against global memory", "effective bandwidth, median [GB/s]", "peak 12,346",
                    "reduceNeighboredGmem")
        page.figure("Emulated: global loads", "sectors of 32 bytes loaded per int", "reduceNeighboredGmem")
        page.figure("Emulated: setRowReadColPad, square of 32 × 32 ints", "padding [ints per row]", "wavefronts", "shared loads")
        page.figure("Emulated: instructions (PTX)", "warp instructions (PTX) per int", "reduce9")

        sizes = page.table(f"{GPU}: the ladder, effective bandwidth, median [GB/s]")
        [sized] = asking_for("size by size")
        times = page.table(f"{GPU}: {sized}, median time [µs]")
        self.assertEqual(list(sizes), [f"{2**exponent:,}" for exponent in range(10, 29, 2)])
        for exponent in range(10, 29, 2):
            for kernel in runs[f"ladder-2to{exponent}"]["result"]["kernels"]:
                self.assertEqual(sizes[f"{2**exponent:,}"][kernel["name"]], f"{kernel['bandwidth_gbs']:,.1f}")
            for kernel in runs[f"{sized}-2to{exponent}"]["result"]["kernels"]:
                self.assertEqual(times[f"{2**exponent:,}"][kernel["name"]], f"{kernel['time_us']['median']:,.1f}")
        paddings = page.table("Emulated: wavefronts in shared memory, rectangle of 32 × 16 ints")
        for padding in range(34):
            kernel = runs[f"lesson21-padding{padding:02}"]["result"]["kernels"][1]
            self.assertEqual(paddings[str(padding)]["setRowReadColPad: loads"], f"{kernel['counters'][WAVEFRONTS]:,}")
            self.assertEqual(paddings[str(padding)]["setRowReadColPad: stores"], f"{kernel['counters'][STORE_WAVEFRONTS]:,}")

        with (self.out / "report.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), sum(len(run["result"]["kernels"]) for run in runs.values()))
        row = next(row for row in rows if row["run"] == "ladder" and row["kernel"] == "reduce5")
        self.assertEqual(float(row["time_us_median"]), ladder["reduce5"]["time_us"]["median"])
        self.assertEqual((row["device_name"], row["device_kind"], row[SECTORS]), (GPU, "gpu", ""))

    def test_a_gpus_runs_are_rendered_elsewhere(self):
        self.has_gpu()
        self.report()
        page = (self.out / "index.html").read_bytes()
        home = self.folder / "home"
        shutil.copytree(self.out / "runs", home / "runs")
        (self.build / "gpu").unlink()
        self.out = home
        self.assertEqual(self.report("--render-only", build=False), [])
        self.assertEqual((home / "index.html").read_bytes(), page)
        # Not rendered only, it would mix two machines, or lose the runs that were brought home.
        self.assertEqual(self.report(status=2), [])
        self.assertIn("--render-only makes their page", self.told)
        self.assertEqual(len(list((home / "runs").iterdir())), len(self.runs()))
        self.assertIn("ladder --device emulator --format json", self.report("--fresh"))

    def test_it_goes_on_from_where_it_was(self):
        ran = self.report()
        self.assertEqual(len(ran), len(self.runs()))
        page = self.check_page()
        self.assertEqual(page.red, [])
        before = self.text
        self.assertEqual(self.report(), [])
        self.page()
        self.assertEqual(self.text, before)
        (self.out / "runs/lesson03.json").unlink()
        (self.out / "runs/lesson04.json").write_text('{"half of a')
        self.assertEqual([line.split()[0] for line in self.report(plots=False)], ["lesson03", "lesson04"])
        with (self.build / "bin/lesson05").open("a") as program:
            program.write("# changed\n")
        self.assertEqual([line.split()[0] for line in self.report(plots=False)], ["lesson05"])
        record = json.loads((self.out / "runs/lesson06.json").read_text())
        (self.out / "runs/of_an_older_plan.json").write_text(json.dumps(record))
        self.assertEqual(self.report(plots=False), [])
        self.assertFalse((self.out / "runs/of_an_older_plan.json").exists())
        (self.build / "emulator/libcudart.so.13").write_text("another")
        self.assertEqual(len(self.report(plots=False)), len(ran))
        self.assertEqual(len(self.report("--fresh")), len(ran))

    def test_another_driver_repeats_what_ran_on_the_gpu(self):
        self.has_gpu()
        ran = self.report(plots=False)
        (self.tools / "nvidia-smi").write_text("#!/bin/sh\necho 590.00\n")
        self.assertEqual(self.report(), [line for line in ran if "--device gpu" in line])

    def test_a_lesson_that_fails_is_a_red_row_and_not_the_end(self):
        in_plots = ["ladder", *asking_for("emulated"), *asking_for("size by size")]
        self.faults("lesson05-crash", "lesson06-wrong", "lesson18-silent", *(f"{name}-crash" for name in in_plots))
        self.report(status=1)
        page, runs = self.check_page(), self.runs()
        self.assertIn("lesson05 failed: exit status 1: out of <memory> & luck (cudaErrorMemoryAllocation)", self.told)
        red = "\n".join(page.red)
        for words in ("lesson05", "FAILED", "./lesson05 --device emulator --format json: exit status 1: out of <memory> & luck",
                      "./lesson06 --device emulator --format json: exit status 1: the sum is wrong: 5 expected, 6 found",
                      "ladder, size by size", "0 of 7 runs", "its output has no verified kernel"):
            self.assertIn(words, red)
        for words in ("lesson04", "lesson07", "lesson21"):
            self.assertNotIn(words, red)
        rows = {row[0]: row for table in page.tables if table["section"] == "runs" for row in table["rows"]}
        self.assertEqual([rows[name][1] for name in ("lesson04", "lesson05", "lesson06", "lesson07")],
                         ["verified", "FAILED", "FAILED", "verified"])
        self.assertEqual([kernel["verified"] for kernel in runs["lesson06"]["result"]["kernels"]], [True, False])
        self.assertIsNone(runs["lesson05"]["result"])
        with (self.out / "report.csv").open(newline="", encoding="utf-8") as file:
            row = next(row for row in csv.DictReader(file) if row["run"] == "lesson05")
        self.assertIn("cudaErrorMemoryAllocation", row["error"])
        self.faults("lesson06-wrong")  # what failed is tried again, and only that
        ran = self.report(status=1)
        self.assertEqual({line.split()[0] for line in ran},
                         {"lesson05", "lesson06", "lesson18", *in_plots})
        runs = re.search(r": (\d+) runs,", self.told)[1]
        self.assertIn(f"1 of {runs} runs failed", self.told)
        self.faults()
        self.assertEqual([line.split()[0] for line in self.report()], ["lesson06"])

    def test_a_kernel_that_was_wrong_is_in_no_plot(self):
        self.has_gpu()
        self.faults("ladder-wrong")
        self.report(status=1)
        page = self.check_page()
        self.assertNotIn("reduce9", page.figure(f"{GPU}: bandwidth of the ladder"))
        self.assertNotIn("reduce9", page.figure(f"{GPU}: the ladder over n", "median time [µs]"))

    def test_a_program_that_is_missing_is_a_red_row(self):
        (self.build / "bin/lesson00").unlink()
        self.report(status=1)
        self.assertIn("cannot be started: No such file or directory", "\n".join(self.check_page().red))

    def test_what_was_stopped_goes_on_from_there(self):
        self.faults("lesson02-slow")
        (self.build / "log").write_text("")
        command = subprocess.Popen([sys.executable, REPORT, "--build", self.build, "--out", self.out], stderr=subprocess.PIPE,
                                   text=True)
        while "lesson02" not in (self.build / "log").read_text() and command.poll() is None:
            time.sleep(0.1)
        command.send_signal(signal.SIGINT)
        told = command.communicate()[1]
        self.assertEqual(command.returncode, 130, told)
        self.assertNotIn("Traceback", told)
        self.assertIn("the same command goes on from there", told)
        self.report("--render-only", status=1, build=False)
        self.assertIn("lesson02: not run yet", "\n".join(self.check_page(least_numbers=50).red))
        self.faults()
        ran = self.report()
        self.assertFalse([line for line in ran if line.startswith(("lesson00", "lesson01"))])
        self.assertEqual(ran[0].split()[0], "lesson02")

    def test_without_matplotlib_the_runs_are_kept(self):
        self.report(plots=False)
        self.assertIn("there is no matplotlib, so there are no plots: ", self.told)
        self.assertIn("--render-only makes the page", self.told)
        self.assertEqual(self.report("--render-only"), [])
        self.check_page()

    def test_shares_make_every_run_once(self):
        first, second = self.report("--share", "1/2"), self.report("--share", "2/2")
        self.assertFalse((self.out / "index.html").exists())
        self.assertEqual(set(first) & set(second), set())
        self.assertLessEqual(abs(len(first) - len(second)), 1)
        self.assertEqual(self.report("--share", "1/2"), [], "what is there is kept")
        self.assertEqual(self.report("--render-only"), [])
        self.assertEqual(self.report(), [], "nothing is missing")
        self.check_page()

    def test_when_nothing_works_it_says_so(self):
        self.faults(*(f"{name}-crash" for name in LESSONS))
        self.report(status=1)
        self.assertIn("no lesson works here", self.told)
        self.assertIn("cudaErrorMemoryAllocation", self.told)
        self.assertFalse((self.out / "index.html").exists())

    def test_rejects_a_wrong_command_line(self):
        for arguments, message in ((["--fast"], "--fast"), (["--build", self.tools], "there is no lesson in"),
                                   (["--render-only"], "there are no runs in"),
                                   (["--render-only", "--fresh"], "--fresh forgets the runs"),
                                   (["--share", "3/2"], "--share '3/2' is not a share, such as 1/8, …, 8/8"),
                                   (["--share", "1/2", "--fresh"], "--share goes with neither --fresh nor --render-only")):
            self.report(*arguments, status=2)
            self.assertIn(message, self.told)
        (self.out / "runs").mkdir(parents=True)
        (self.out / "runs/lesson00.json").write_text("[]")
        self.report("--render-only", status=2)
        self.assertIn("lesson00.json is not what a run leaves", self.told)
        self.out = self.folder / "faults"
        self.out.write_text("a file")
        self.report(status=2)
        done = subprocess.run([sys.executable, REPORT, "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("Exit status:", done.stdout)


if __name__ == "__main__":
    unittest.main()
