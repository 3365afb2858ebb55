"""The page of scripts/report, made of the runs' records alone: tables, plots, and report.csv."""

import csv
import io
import re
from html import escape
from math import ceil, prod

from tutorial.counters import INSTRUCTIONS, REQUESTS, SECTORS, WAVEFRONTS, table
from tutorial.ladder_chart import complete_time
from tutorial.plots import bars, figures, lines

COUNTERS = table()
BANDWIDTH = "effective bandwidth, median [GB/s]"
DRAWN = ["reduce0", "reduce1", "reduce2", "reduce3", "reduce6", "reduce9"]  # of the ladder, where eleven are too many

MEASURED = (
    "Measured: medians of many runs, with the L2 cache flushed before each. Effective bandwidth is the bytes that a "
    "kernel has to move, divided by its time. 1 GB is 10⁹ bytes.")
EMULATED = (
    "Emulated: counted while the emulator executed the kernels' PTX. Nothing here is a time, and no counter shows which "
    "kernel is faster. Sectors and requests follow from the addresses, so a card counts the same. A card usually counts a "
    "few percent more wavefronts. Instructions and branches are those of PTX. A card runs machine code made from it, so "
    "it counts others.")


# --- numbers

def number(value, decimals=0):
    """1,234.5; a missing one is a dash, and a text is as it is. Without decimals: all that a sum of floats has."""
    if isinstance(value, str):
        return value
    return "–" if value is None else f"{value:,.{decimals}f}" if decimals else f"{value:,}"


def per_int(result, kernel, names):
    return sum(kernel["counters"].get(name, 0) for name in names) / result["elements"]


def change(first, second):
    """What became of a counter, as the lessons write it."""
    if first == second:
        return ""
    if not first or not second:
        return "gone" if first else "new"
    ratio = second / first
    return f"× {ratio:.2f}" if ratio >= 0.1 else f"× {ratio:.2g}"


# --- tables

def side_by_side(text):
    return f'<div class="side-by-side">{text}</div>\n' if text else ""


def framed(caption, text, style=""):
    """A table that can be scrolled where the page is narrow."""
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table{style}>'
            f"<caption>{escape(caption)}</caption>\n{text}</table></div>\n")


def heads(names):
    """Where there is little room, setRowReadCol may be broken into lines before each capital."""
    names = [re.sub("(?<=[a-z])(?=[A-Z])", "<wbr>", escape(name)) for name in names]
    return "<thead><tr>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr></thead>\n"


def table(caption, names, rows):
    """`rows`: the first cell names the row. Cells are text, escaped here."""
    def cell(text):
        return f'<td class="no">{text}</td>' if text == "NO" else f"<td>{escape(text)}</td>"
    body = "".join(f'<tr><th scope="row">{escape(row[0])}</th>{"".join(map(cell, row[1:]))}</tr>\n' for row in rows)
    return framed(caption, f"{heads(names)}<tbody>{body}</tbody>")


def measures(result):
    """What is told of each kernel of a run: (name, cells, changes or None)."""
    kernels = result["kernels"]
    told = [("verified", ["yes" if kernel["verified"] else "NO" for kernel in kernels], None),
            ("result", [number(kernel["actual"]) for kernel in kernels], None)]

    def add(name, values, decimals=0, with_change=False):
        moved = change(*values) if with_change and len(values) == 2 else None
        told.append((name, [number(value, decimals) for value in values], moved))
    emulated = result["device"]["kind"] == "emulator"
    add("blocks", [prod(kernel["grid"]) for kernel in kernels], with_change=emulated)
    add("threads per block", [prod(kernel["block"]) for kernel in kernels], with_change=emulated)
    if emulated:
        for group, label, name in COUNTERS:
            values = [(kernel["counters"] or {}).get(name, 0) for kernel in kernels]
            if any(values) or not ("atomics" in group or "copies" in group):  # most kernels have none
                add(f"{group}: {label}", values, with_change=True)
        return told
    times = [kernel["time_us"] or {"median": None, "min": None, "runs": None} for kernel in kernels]
    first = times[0]["median"]
    add("median time [µs]", [time["median"] for time in times], 1)
    add("least time [µs]", [time["min"] for time in times], 1)
    add("timed runs", [time["runs"] for time in times])
    add("bandwidth [GB/s]", [kernel["bandwidth_gbs"] for kernel in kernels], 1)
    if any(complete_time(kernel) not in (None, time["median"]) for kernel, time in zip(kernels, times)):
        add("complete sum [µs]", [complete_time(kernel) for kernel in kernels], 1)
    add("share of peak [%]", [kernel["peak_fraction"] and 100 * kernel["peak_fraction"] for kernel in kernels], 1)
    speed_ups = [first / time["median"] if first and time["median"] else None for time in times]
    add(f"speed-up over {kernels[0]['name']}", speed_ups, 2)
    return told


def describe(result):
    """'lesson03, emulated: 4,194,304 elements, seed 42'"""
    facts = [f"{result['elements']:,} elements"] + ([f"seed {result['seed']}"] if result["seed"] is not None else [])
    facts += [name if value is True else f"{name} {value}" for name, value in result["options"].items()]
    origin = "emulated" if result["device"]["kind"] == "emulator" else f"measured on {result['device']['name']}"
    return f"{result['lesson']}, {origin}: {', '.join(facts)}"


def kernel_tables(result):
    """A column a kernel; where there are many, a row a kernel and tables that a page is wide enough for."""
    told, kernels = measures(result), result["kernels"]
    if len(kernels) <= 5:
        moved = any(row[2] is not None for row in told)
        return table(describe(result), ["", *(kernel["name"] for kernel in kernels), *(["change"] if moved else [])],
                     [[name, *cells, *([change or ""] if moved else [])] for name, cells, change in told])
    text = ""
    most = ceil(len(told) / ceil(len(told) / 10))
    for part in (told[i:i + most] for i in range(0, len(told), most)):
        text += table(describe(result), ["kernel", *(name for name, _, _ in part)],
                      [[kernel["name"], *(cells[i] for _, cells, _ in part)] for i, kernel in enumerate(kernels)])
    return text


def size_table(caption, results, value, decimals):
    """A row a size, a column a kernel."""
    names = list(dict.fromkeys(kernel["name"] for result in results for kernel in result["kernels"]))
    rows = []
    for result in results:
        found = {kernel["name"]: kernel for kernel in result["kernels"]}
        rows.append([number(result["elements"]), *(
            number(value(result, found[name]) if name in found else None, decimals) for name in names)])
    return table(caption, ["n [ints]", *names], rows) if rows else ""


def as_csv(records):
    """A row a kernel of each run; a run that failed without a result has a row all the same."""
    text = io.StringIO()
    names = [name for _, _, name in COUNTERS]
    plain = ["verified", "expected", "actual", "bytes", "bandwidth_gbs", "peak_fraction"]
    times = ["median", "min", "runs"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "command", "date", "exit_status", "error", "device_kind", "device_name", "elements",
                     "kernel", "blocks", "threads_a_block", *plain, *(f"time_us_{name}" for name in times), *names])
    for record in records:
        row = [record[name] for name in ("name", "command", "date", "exit_status", "error")]
        result = record["result"]
        for kernel in result["kernels"] if result else []:
            time, counters = kernel["time_us"] or {}, kernel["counters"] or {}
            device = result["device"]
            writer.writerow([*row, device["kind"], device["name"], result["elements"], kernel["name"],
                             prod(kernel["grid"]), prod(kernel["block"]), *(kernel[name] for name in plain),
                             *(time.get(name) for name in times), *(counters.get(name) for name in names)])
        if not result or not result["kernels"]:
            writer.writerow(row)
    return text.getvalue()


# --- the sections

class Report:
    def __init__(self, machine, runs, records, lessons):
        self.machine, self.runs, self.records, self.lessons_of_course = machine, runs, records, lessons
        self.is_gpu, self.peak = machine["kind"] == "gpu", machine["peak_bandwidth_gbs"]

    def result(self, name):
        """With the kernels that were right alone, for the plots; None if there are none."""
        result = self.records.get(name, {}).get("result")
        kernels = [kernel for kernel in result["kernels"] if kernel["verified"]] if result else []
        return {**result, "kernels": kernels} if kernels else None

    def results(self, names):
        return [result for name in names if (result := self.result(name))]

    def series(self, prefix):
        return self.results(run.name for run in self.runs if run.name.startswith(prefix))

    def tables(self, name):
        """All that a run told, and what was wrong with it."""
        record = self.records.get(name)
        result = record and record["result"]
        text = f'<p class="bad">{escape(trouble(record, name))}</p>\n' if is_bad(record) else ""
        return text + (kernel_tables(result) if result and result["kernels"] else "")

    def wanting(self, report):
        """The lessons whose manifests ask for that."""
        return [lesson.name for lesson in self.lessons_of_course if report in lesson.report]

    def title(self, words, emulated=False):
        return f"{self.machine['name'] if self.is_gpu and not emulated else 'Emulated'}: {words}"

    def bandwidth_bars(self, words, results):
        values = {kernel["name"]: kernel["bandwidth_gbs"] for result in results for kernel in result["kernels"]}
        return bars(self.title(words), BANDWIDTH, values.items(), self.peak)

    def per_int_bars(self, words, results, names, unit):
        values = {kernel["name"]: per_int(result, kernel, names) for result in results for kernel in result["kernels"]}
        return bars(self.title(words, emulated=True), f"{unit} per int", values.items())

    def ladder(self):
        measured = self.results(["ladder"]) if self.is_gpu else []
        counted = self.results(["ladder-emulated" if self.is_gpu else "ladder"])
        drawn = []
        if measured:
            median = {kernel["name"]: kernel["time_us"]["median"] for kernel in measured[0]["kernels"]}
            first = next(iter(median))
            complete = {kernel["name"]: 4e-3 * measured[0]["elements"] / complete_time(kernel)
                        for kernel in measured[0]["kernels"] if complete_time(kernel)}
            drawn = [self.bandwidth_bars("bandwidth of the ladder", measured),
                     bars(self.title("complete sums, all launches"), BANDWIDTH, complete.items(), self.peak),
                     bars(self.title(f"speed-up over {first}"), f"time of {first} / time",
                          [(name, median[first] / time) for name, time in median.items()])]
        return figures(
            *drawn,
            self.per_int_bars("instructions (PTX)", counted, [INSTRUCTIONS], "warp instructions (PTX)"),
            self.per_int_bars("shared-memory wavefronts", counted, WAVEFRONTS, "wavefronts"),
            self.per_int_bars("requests to global memory", counted, REQUESTS, "requests"),
            self.per_int_bars("traffic to global memory", counted, SECTORS, "sectors of 32 bytes"),
        ) + self.tables("ladder") + (self.tables("ladder-emulated") if self.is_gpu else "")

    def sizes(self):
        def counted(unit, names):
            return f"{unit} per int", lambda result, kernel: per_int(result, kernel, names), 3, {}
        text = ""
        for program, words, kernels in (("ladder", "the ladder", DRAWN),
                                        *((name, name, None) for name in self.wanting("size by size"))):
            results = self.series(f"{program}-2to")
            views = [  # the unit, the value, its decimals, the plot's options
                (BANDWIDTH, lambda _, kernel: kernel["bandwidth_gbs"], 1, {"peak": self.peak}),
                ("median time [µs]", lambda _, kernel: kernel["time_us"]["median"], 1, {"logarithmic": True}),
            ] if self.is_gpu else [
                counted("shared-memory wavefronts", WAVEFRONTS) if program == "ladder" else
                counted("sectors of 32 bytes", SECTORS),
                counted("warp instructions (PTX)", [INSTRUCTIONS])]
            drawn, tables = [], ""
            for unit, value, decimals, more in views:
                points = {}
                for result in results:
                    for kernel in result["kernels"]:
                        if kernels is None or kernel["name"] in kernels:
                            points.setdefault(kernel["name"], []).append((result["elements"], value(result, kernel)))
                drawn.append(lines(self.title(f"{words} over n"), "n [ints]", unit, points, **more))
                tables += size_table(f"{self.title(words)}, {unit}", results, value, decimals)
            text += f"<h3>{words}</h3>\n" + figures(*drawn) + tables
        return text

    def shared_against_global(self):
        names = self.wanting("emulated")
        counted = [f"{name}-emulated" for name in names] if self.is_gpu else names
        results = self.results(counted)
        return figures(
            self.bandwidth_bars("shared against global memory", self.results(names)) if self.is_gpu else "",
            self.per_int_bars("global loads", results, SECTORS[:1], "sectors of 32 bytes loaded"),
            self.per_int_bars("global stores", results, SECTORS[1:2], "sectors of 32 bytes stored"),
            self.per_int_bars("shared-memory wavefronts", results, WAVEFRONTS, "wavefronts"),
        ) + ("".join(map(self.tables, counted)) if self.is_gpu else "")

    def padding(self):
        drawn, tables = [], ""
        for program in self.wanting("padding by padding"):
            columns = {}
            for result in self.series(f"{program}-padding"):
                options = result["options"]
                shape = "square" if options["--width"] == options["--height"] else "rectangle"
                tile = f"{shape} of {options['--width']} × {options['--height']} ints"
                for kernel in result["kernels"]:
                    for words, name in zip(("loads", "stores"), WAVEFRONTS):
                        if "Pad" in kernel["name"]:
                            column = columns.setdefault(f"{kernel['name']}: {words}", {})
                            column[options["--padding"]] = kernel["counters"][name]
            if not columns:
                continue
            drawn.append(lines(
                self.title(f"setRowReadColPad, {tile}", emulated=True), "padding [ints per row]", "wavefronts",
                {f"shared {words}": list(columns.get(f"setRowReadColPad: {words}", {}).items())
                 for words in ("loads", "stores")},
                x_ticks=range(0, 34, 4), logarithmic=True))
            paddings = sorted({padding for column in columns.values() for padding in column})
            tables += table(
                self.title(f"wavefronts in shared memory, {tile}", emulated=True), ["padding [ints per row]", *columns],
                [[number(padding), *(number(column.get(padding)) for column in columns.values())]
                 for padding in paddings])
        return figures(*drawn) + side_by_side(tables)

    def lessons(self):
        text = ""
        for name in [run.name for run in self.runs if re.fullmatch(r"lesson\d+", run.name)]:
            result = self.records.get(name, {}).get("result")
            title = f"{name}: {result['title']}" if result else name
            text += f'<section id="{name}"><h3>{escape(title)}</h3>\n{self.tables(name)}</section>\n'
        return side_by_side(text)

    def overview(self):
        """A row for each lesson and each series of runs; red, with what went wrong, if one of them failed."""
        groups, rows, failed = {}, "", 0
        for run in self.runs:
            groups.setdefault(run.group, []).append(run)
        for group, runs in groups.items():
            records = [self.records.get(run.name) for run in runs]
            results = [record["result"] for record in records if record and record["result"]]
            bad = [(run, record) for run, record in zip(runs, records) if is_bad(record)]
            failed += len(bad)
            name = f'<a href="#{group}">{group}</a>' if re.fullmatch(r"lesson\d+", group) else group
            state = ("FAILED" if bad else "verified") + (
                f", {len(runs) - len(bad)} of {len(runs)} runs" if len(runs) > 1 else "")
            kernels = dict.fromkeys(kernel["name"] for result in results for kernel in result["kernels"])
            cells = [state, "emulated" if runs[0].device == "emulator" else "measured",
                     results[0]["title"] if results else "–", ", ".join(kernels) or "–"]
            rows += (f'<tr{BAD if bad else ""}><th scope="row">{name}</th>'
                     + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>\n")
            rows += "".join(f'<tr{BAD}><td colspan="5">{escape(trouble(record, run.name))}</td></tr>\n'
                            for run, record in bad)
        return framed(f"{len(self.runs)} runs, {failed} of which failed",
                      f'{heads(["run", "state", "how", "title", "kernels"])}<tbody>{rows}</tbody>', ' class="words"')

    def device(self):
        machine = self.machine
        dates = sorted(record["date"][:16].replace("T", " ") for record in self.records.values())
        facts = [("device", machine["name"]), ("compute capability", machine["compute_capability"]),
                 ("peak bandwidth of the memory", f"{number(self.peak, 1)} GB/s" if self.peak else None),
                 ("driver", machine["driver"] if self.is_gpu else None), ("toolkit", machine["toolkit"] or "not known"),
                 ("runs", f"{len(self.records)} of {len(self.runs)}, {dates[0]} to {dates[-1]} UTC")]
        return f'<dl>{"".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts if value)}</dl>\n'


BAD = ' class="bad"'


def is_bad(record):
    return not record or bool(record["error"])


def trouble(record, name):
    if not record:
        return f"{name}: not run yet"
    status = "no exit status" if record["exit_status"] is None else f"exit status {record['exit_status']}"
    return f"{record['command']}: {status}: {record['error']}"


def page(machine, runs, records, lessons):
    report = Report(machine, runs, records, lessons)
    sections = [
        ("ladder", "The ladder", "The eleven kernels of lessons 00 to 09 on the same ints. Figures are of the "
         "first launch, which sums the n ints, unless they are said to be of complete sums.", report.ladder()),
        ("sizes", "Bandwidth against size" if report.is_gpu else "Traffic against size",
         f"The plots show {', '.join(DRAWN)} of the ladder, the tables all kernels.", report.sizes()),
        ("shared-global", "Shared against global memory",
         "Lessons 10 to 12: the same sum, with the tree in global memory and in shared memory.",
         report.shared_against_global()),
        ("padding", "Padding against wavefronts", "Lessons 18 and 21: unused ints pad the rows of a tile in "
         "shared memory. A block stores the tile by rows and loads it by columns.", report.padding()),
        ("lessons", "Every lesson", "", report.lessons()),
        ("counters", "The counters' names", "", table(
            "The counters, as Nsight Compute names them", ["here", "Nsight Compute"],
            [[f"{group}: {label}", name] for group, label, name in COUNTERS])),
        ("device", "Device and toolkit", "", report.device()),
        ("runs", "All runs", "", report.overview()),
    ]
    failed = sum(is_bad(records.get(run.name)) for run in runs)
    warning = f'<p class="bad"><a href="#runs">{failed} of {len(runs)} runs failed</a></p>\n' if failed else ""
    title = escape(f"CUDA reductions: {machine['name']}")
    notes = [MEASURED, EMULATED] if report.is_gpu else [EMULATED]
    body = "".join(f'<section id="{name}"><h2>{heading}</h2>\n{f"<p>{words}</p>" if words else ""}{text}</section>\n'
                   for name, heading, words, text in sections)
    contents = "".join(f'<li><a href="#{name}">{heading}</a></li>' for name, heading, *_ in sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>{title}</h1>
{warning}{"".join(f'<p class="note">{escape(note)}</p>' for note in notes)}
<p>All of this as <a href="report.csv">CSV</a> and as <a href="report.json">JSON</a>.</p></header>
<nav aria-label="Contents"><ol>{contents}</ol></nav>
<main>
{body}</main>
</body>
</html>
"""


STYLE = """
:root { --paper: #fff; --ink: #1d2125; --soft: #5a6472; --grid: #d9dde2; --shade: #f4f6f8; --link: #0b5cad;
  --bad: #a8071a; --bad-shade: #fdecea; --series0: #0072b2; --series1: #c44e00; --series2: #00795a;
  --series3: #8f3f97; --series4: #8a6d00; --series5: #1d2125; }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e4e7ea; --soft: #a3adb8;
  --grid: #3a4149; --shade: #1e2328; --link: #7cbcff; --bad: #ff9c94; --bad-shade: #3a1a1a; --series0: #56b4e9;
  --series1: #ff9447; --series2: #3fd0a4; --series3: #e29be8; --series4: #e6c229; --series5: #e4e7ea; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 74rem; padding: 1rem 1.2rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: .6rem 0; }
h2 { font-size: 1.35rem; margin: 3rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--grid); }
h3 { font-size: 1.08rem; margin: 2rem 0 .4rem; }
p, dl { max-width: 46rem; }
a { color: var(--link); }
.note { padding: .6rem .9rem; background: var(--shade); border-left: 4px solid var(--series0); }
nav ol { margin: 1rem 0; padding-left: 1.4rem; columns: 16rem; max-width: 46rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; }
dt { color: var(--soft); }
dd { margin: 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem 2rem;
  margin: 1rem 0; }
figure { margin: 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 40rem; stroke-linejoin: round; }
figure svg text { font-family: inherit !important; }
.side-by-side { display: flex; flex-wrap: wrap; gap: 0 3.5rem; }
.side-by-side > * { max-width: 100%; }
.side-by-side > .scroll { flex: 1 1 24rem; }
.scroll { overflow-x: auto; margin: 1rem 0 1.6rem; }
table { border-collapse: collapse; font-size: .86rem; line-height: 1.35; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .22rem .7rem; text-align: right; vertical-align: top; white-space: nowrap; }
thead th { vertical-align: bottom; white-space: normal; border-bottom: 1.5px solid var(--soft); }
tbody tr:nth-child(even) { background: var(--shade); }
th:first-child { text-align: left; font-weight: 600; position: sticky; left: 0; background: var(--paper); }
tbody tr:nth-child(even) th:first-child { background: var(--shade); }
.words th, .words td { text-align: left; white-space: normal; }
.words td:nth-child(5) { overflow-wrap: anywhere; min-width: 12rem; }
tbody tr.bad, tbody tr.bad th:first-child, p.bad, td.no { background: var(--bad-shade); color: var(--bad);
  font-weight: 600; }
tr.bad td[colspan] { font-weight: 400; white-space: pre-wrap; overflow-wrap: anywhere; }
p.bad { padding: .5rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { padding: .6rem .8rem 3rem; } dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; } h1 { font-size: 1.35rem; } }
@media print { @page { margin: 14mm; } body { padding: 0; max-width: none; font-size: 9.5pt; } a { color: inherit; }
  .scroll { overflow: visible; break-inside: avoid; } table { font-size: 7pt; } th, td { padding: .1rem .35rem; }
  th:first-child { position: static; } figure, tr, dl { break-inside: avoid; } h2, h3, caption { break-after: avoid; }
  .figures { grid-template-columns: 1fr 1fr; } .side-by-side { gap: 0 1.5rem; }
  .side-by-side > .scroll { flex-basis: 12rem; } }
"""
