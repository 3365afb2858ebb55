"""The page of scripts/report, made of the runs' records alone: tables, plots by gnuplot, and report.csv."""

import csv
import io
import re
import subprocess
from html import escape
from math import prod

SECTORS = [f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st", "atom", "red")]
REQUESTS = [f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st")]
WAVEFRONTS = [f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")]
CONFLICTS = [f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st")]
INSTRUCTIONS = "smsp__inst_executed.sum"
# As the lessons' own tables have them.
COUNTERS = [
    ("global loads", "sectors", SECTORS[0]), ("global loads", "requests", REQUESTS[0]),
    ("global stores", "sectors", SECTORS[1]), ("global stores", "requests", REQUESTS[1]),
    ("global atomics", "sectors", SECTORS[2]), ("global atomics, result unused", "sectors", SECTORS[3]),
    ("shared loads", "wavefronts", WAVEFRONTS[0]), ("shared loads", "bank conflicts", CONFLICTS[0]),
    ("shared stores", "wavefronts", WAVEFRONTS[1]), ("shared stores", "bank conflicts", CONFLICTS[1]),
    ("instructions (PTX)", "per warp", INSTRUCTIONS),
    ("instructions (PTX)", "per thread", "smsp__thread_inst_executed.sum"),
    ("branches (PTX)", "divergent", "smsp__sass_branch_targets_threads_divergent.sum"),
]
BANDWIDTH = "effective bandwidth, median [GB/s]"
DRAWN = ["reduce0", "reduce1", "reduce2", "reduce3", "reduce6", "reduce9"]  # of the ladder, where eleven are too many

EMULATED = ("Emulated: counted while the emulator executed the kernels' PTX, and not timed: it has no clock, and cannot tell "
            "which kernel is faster. Sectors and requests follow from addresses and are those of a card; of wavefronts "
            "a card counts up to a few percent more. Instructions and branches are those of PTX, from which a card's own "
            "code is made; that may differ.")


class NoPlot(Exception):
    """gnuplot failed."""


# --- numbers

def number(value, decimals=0):
    """1,234.5; a missing one is a dash."""
    return "–" if value is None else f"{value:,.{decimals}f}"


def short(value):
    """Three digits, as they stand beside a bar."""
    return f"{value:,.0f}" if value == 0 or abs(value) >= 100 else f"{value:#.3g}"


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


# --- plots

# Colours that no plot means: the page's own, light or dark, take their place.
INK, GRID = "#010101", "#020202"
POINTS, DASHES = (7, 4, 9, 12, 5, 8), (1, 2, 4, 5, 3, 6)  # so that the lines differ without colours too


def series_colour(i):
    return f"#0303{i:02x}"


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def gnuplot(script, words):
    """An SVG that goes into a page: it takes the page's colours and font, and has no ids of its own."""
    try:
        done = subprocess.run(["gnuplot", "-"], input=script, capture_output=True, encoding="utf-8")
    except OSError as error:
        raise NoPlot(f"gnuplot: {error.strerror}") from error
    if done.returncode != 0 or "</svg>" not in done.stdout:
        raise NoPlot(f"gnuplot could not draw '{words}': {done.stderr.strip()}")
    svg = done.stdout[done.stdout.index("<svg"):]
    size = re.search(r'viewBox="[^"]*"', svg)[0]
    svg = re.sub(r"^<svg[^>]*>\s*<title>.*?</title>\s*<desc>.*?</desc>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>.*?</defs>", "", svg, flags=re.DOTALL)  # POINT_SHAPES has them, once
    svg = re.sub(r"<title>.*?</title>", "", svg)
    svg = re.sub(r"""\s(id|font-family)=("[^"]*"|'[^']*')""", "", svg)
    svg = svg.replace("xlink:href", "href")
    names = {(1, 1, 1): "ink", (2, 2, 2): "grid", **{(3, 3, i): f"series{i}" for i in range(len(POINTS))}}

    def variable(match):
        return f"var(--{names[tuple(map(int, match.groups()))]})"
    svg = re.sub(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)", variable, svg)
    for _ in range(2):
        svg = re.sub(r"<g [^>]*>\s*</g>\s*", "", svg)
    return f'<svg {size} role="img" aria-label={quoted(escape(words, quote=True))}>{svg.strip()}'


def head(title, height, y_label, x_label):
    return f"""set encoding utf8
set terminal svg size 520,{height} font 'Helvetica,14'
set title {quoted(title)} noenhanced textcolor rgb '{INK}' font ',15'
set xlabel {quoted(x_label)} noenhanced textcolor rgb '{INK}'
set ylabel {quoted(y_label)} noenhanced textcolor rgb '{INK}'
set border 3 lc rgb '{INK}'
set tics nomirror out scale 0.6 textcolor rgb '{INK}'
set key noenhanced textcolor rgb '{INK}'
"""


def bars(title, unit, values, peak=None):
    """`values`: (name, value), a bar each, from the top down."""
    values = [(name, value) for name, value in values if value is not None]
    if not values:
        return ""
    end = 1.25 * max([value for _, value in values] + [peak or 0]) or 1
    rows = "".join(f"{value:.6g} {i}\n" for i, (_, value) in enumerate(values))
    script = head(title, 120 + 27 * len(values), "", unit)
    script += f"$bars << END\n{rows}END\nset border 1\nset xrange [0:{end:.6g}]\nset yrange [{len(values) - 0.4}:-0.6]\n"
    script += "set ytics noenhanced scale 0 (" + ", ".join(f"{quoted(name)} {i}" for i, (name, _) in enumerate(values)) + ")\n"
    script += f"set grid xtics lt 1 lw 0.5 lc rgb '{GRID}'\nset style fill solid noborder\n"
    for i, (_, value) in enumerate(values):
        script += f"set label {quoted(short(value))} at {value:.6g},{i} offset 0.6,0 noenhanced textcolor rgb '{INK}'\n"
    if peak:
        script += (f"set arrow from {peak:.6g},graph 0 to {peak:.6g},graph 1 nohead dt 2 lc rgb '{INK}' front\n"
                   f"set label {quoted(f'peak {peak:,.0f}')} at {peak:.6g},graph 1 offset 0,0.6 center textcolor rgb '{INK}'\n"
                   "set tmargin 4.5\n")
    script += (f"plot $bars using 1:2:(0):1:($2-0.36):($2+0.36) with boxxyerror lc rgb '{series_colour(0)}' notitle\n")
    return figure(script, title + f" [{unit}]: " + ", ".join(f"{name} {short(value)}" for name, value in values))


def lines(title, x_label, y_label, series, peak=None, x_axis=None, logarithmic=False):
    """`series`: {name: [(x, y), …]}."""
    series = {name: [(x, y) for x, y in points if y is not None] for name, points in series.items()}
    series = {name: points for name, points in series.items() if points}
    if not series:
        return ""
    top = max([y for points in series.values() for _, y in points] + [peak or 0])
    script = head(title, 400, y_label, x_label) + (x_axis or "set logscale x 2\nset format x '2^{%L}'\n")
    script += f"set logscale y 2\nset yrange [1:{2 * top:.6g}]\n" if logarithmic else f"set yrange [0:{1.1 * top or 1:.6g}]\n"
    script += f"set grid lt 1 lw 0.5 lc rgb '{GRID}'\nset offsets graph 0.03, graph 0.03, 0, 0\n"
    script += "set bmargin 6.2\nset key at screen 0.55,screen 0.01 center bottom horizontal Left reverse samplen 3 maxcols 3\n"
    for i, points in enumerate(series.values()):
        script += f"$s{i} << END\n" + "".join(f"{x:.10g} {y:.6g}\n" for x, y in points) + "END\n"
    plots = [f"$s{i} with linespoints lw 1.8 ps 0.6 pt {POINTS[i]} dt {DASHES[i]} lc rgb '{series_colour(i)}' title {quoted(name)}"
             for i, name in enumerate(series)]
    if peak:
        script += f"set label {quoted(f'peak {peak:,.0f}')} at graph 0.03,first {peak:.6g} offset 0,-0.7 textcolor rgb '{INK}'\n"
        plots.append(f"{peak:.6g} with lines dt 2 lc rgb '{INK}' notitle")
    words = f"{title}; {y_label} against {x_label}: " + "; ".join(
        f"{name} from {short(points[0][1])} to {short(points[-1][1])}" for name, points in series.items())
    return figure(script + "plot " + ", ".join(plots) + "\n", words)


def figure(script, words):
    return f"<figure>{gnuplot(script, words)}</figure>\n"


def figures(*those):
    those = [one for one in those if one]
    return f'<div class="figures">{"".join(those)}</div>\n' if those else "<p>No run left anything to draw.</p>\n"


# --- tables

def side_by_side(text):
    return f'<div class="side-by-side">{text}</div>\n' if text else ""


def table(caption, names, rows):
    """`rows`: the first cell names the row. Cells are text, escaped here."""
    body = "".join("<tr>" + f'<th scope="row">{escape(row[0])}</th>' + "".join(
        f'<td{NO if cell == "NO" else ""}>{escape(cell)}</td>' for cell in row[1:]) + "</tr>\n" for row in rows)
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption, quote=True)}"><table>'
            f"<caption>{escape(caption)}</caption>\n<thead><tr>{columns}</tr></thead>\n<tbody>{body}</tbody></table></div>\n")


NO = ' class="no"'


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
    add("threads a block", [prod(kernel["block"]) for kernel in kernels], with_change=emulated)
    if emulated:
        for group, label, name in COUNTERS:
            values = [(kernel["counters"] or {}).get(name, 0) for kernel in kernels]
            if any(values) or "atomics" not in group:
                add(f"{group}: {label}", values, with_change=True)
        return told
    times = [kernel["time_us"] or {"median": None, "min": None, "runs": None} for kernel in kernels]
    first = times[0]["median"] if times else None
    add("median time [µs]", [time["median"] for time in times], 1)
    add("least time [µs]", [time["min"] for time in times], 1)
    add("timed runs", [time["runs"] for time in times])
    add("bandwidth [GB/s]", [kernel["bandwidth_gbs"] for kernel in kernels], 1)
    add("share of peak [%]", [kernel["peak_fraction"] and 100 * kernel["peak_fraction"] for kernel in kernels], 1)
    add(f"speed-up over {kernels[0]['name']}", [first / time["median"] if time["median"] else None for time in times], 2)
    return told


def describe(result):
    """'4,194,304 ints, seed 42', 'Emulated'."""
    facts = [f"{result['elements']:,} ints"] + ([f"seed {result['seed']}"] if result["seed"] is not None else [])
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
    for part in (told[i:i + 6] for i in range(0, len(told), 6)):
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
    writer = csv.writer(text, lineterminator="\n")
    names = [name for _, _, name in COUNTERS]
    writer.writerow(["run", "command", "date", "exit_status", "error", "device_kind", "device_name", "elements", "kernel",
                     "blocks", "threads_a_block", "verified", "expected", "actual", "bytes", "time_us_median", "time_us_min",
                     "time_us_runs", "bandwidth_gbs", "peak_fraction", *names])
    for record in records:
        row = [record["name"], record["command"], record["date"], record["exit_status"], record["error"]]
        result = record["result"]
        for kernel in result["kernels"] if result else []:
            time, counters = kernel["time_us"] or {}, kernel["counters"] or {}
            writer.writerow([
                *row, result["device"]["kind"], result["device"]["name"], result["elements"], kernel["name"],
                prod(kernel["grid"]), prod(kernel["block"]), *(kernel[name] for name in ("verified", "expected", "actual", "bytes")),
                *(time.get(name) for name in ("median", "min", "runs")), kernel["bandwidth_gbs"], kernel["peak_fraction"],
                *(counters.get(name) for name in names)])
        if not result or not result["kernels"]:
            writer.writerow(row)
    return text.getvalue()


# --- the sections

class Report:
    def __init__(self, machine, runs, records):
        self.machine, self.runs, self.records = machine, runs, records
        self.is_gpu, self.peak = machine["kind"] == "gpu", machine["peak_bandwidth_gbs"]

    def result(self, name):
        """With the kernels that were right alone, for the plots; None if there are none."""
        result = self.records.get(name, {}).get("result")
        kernels = [kernel for kernel in result["kernels"] if kernel["verified"]] if result else []
        return {**result, "kernels": kernels} if kernels else None

    def results(self, prefix):
        return [result for name in sorted(self.records) if name.startswith(prefix) and (result := self.result(name))]

    def tables(self, name):
        """All that a run told, and what was wrong with it."""
        record = self.records.get(name)
        text = f'<p class="bad">{escape(trouble(record, name))}</p>\n' if not record or record["error"] else ""
        return text + (kernel_tables(record["result"]) if record and record["result"] and record["result"]["kernels"] else "")

    def title(self, words, emulated=None):
        emulated = not self.is_gpu if emulated is None else emulated
        return f"{'Emulated' if emulated else self.machine['name']}: {words}"

    def bandwidths(self, results):
        return {kernel["name"]: kernel["bandwidth_gbs"] for result in results for kernel in result["kernels"]}.items()

    def per_int_bars(self, words, results, names, unit):
        return bars(self.title(words, True), f"{unit} per int",
                    {kernel["name"]: per_int(result, kernel, names) for result in results for kernel in result["kernels"]}.items())

    def over_sizes(self, results, value, kernels=None):
        names = kernels or list(dict.fromkeys(kernel["name"] for result in results for kernel in result["kernels"]))
        return {name: [(result["elements"], value(result, kernel)) for result in results for kernel in result["kernels"]
                       if kernel["name"] == name] for name in names}

    def ladder(self):
        result, counted = self.result("ladder"), self.result("ladder-emulated" if self.is_gpu else "ladder")
        drawn = []
        if self.is_gpu and result:
            median = {kernel["name"]: kernel["time_us"]["median"] for kernel in result["kernels"]}
            first = next(iter(median))
            drawn += [bars(self.title("bandwidth of the ladder"), BANDWIDTH, self.bandwidths([result]), self.peak),
                      bars(self.title(f"speed-up over {first}"), f"time of {first} / time",
                           [(name, median[first] / time) for name, time in median.items()])]
        if counted:
            drawn += [self.per_int_bars("instructions (PTX)", [counted], [INSTRUCTIONS], "warp instructions (PTX)"),
                      self.per_int_bars("shared-memory wavefronts", [counted], WAVEFRONTS, "wavefronts"),
                      self.per_int_bars("requests to global memory", [counted], REQUESTS, "requests"),
                      self.per_int_bars("traffic to global memory", [counted], SECTORS, "sectors of 32 bytes")]
        return figures(*drawn) + self.tables("ladder") + (self.tables("ladder-emulated") if self.is_gpu else "")

    def sizes(self):
        text = ""
        for program, words, kernels in (("ladder", "the ladder", DRAWN), ("lesson15", "lesson15", None)):
            results = self.results(f"{program}-2to")
            if self.is_gpu:
                views = [(BANDWIDTH, lambda _, kernel: kernel["bandwidth_gbs"], 1, {"peak": self.peak}),
                         ("median time [µs]", lambda _, kernel: kernel["time_us"]["median"], 1, {"logarithmic": True})]
            else:
                views = [(f"{unit} per int", lambda result, kernel, names=names: per_int(result, kernel, names), 3, {})
                         for unit, names in ((("shared-memory wavefronts", WAVEFRONTS) if kernels else ("sectors of 32 bytes", SECTORS)),
                                             ("warp instructions (PTX)", [INSTRUCTIONS]))]
            text += f"<h3>{words}</h3>\n" + figures(*(
                lines(self.title(f"{words} over n"), "n [ints]", unit, self.over_sizes(results, value, kernels), **more)
                for unit, value, _, more in views))
            text += "".join(size_table(f"{self.title(words)}, {unit}", results, value, decimals)
                            for unit, value, decimals, _ in views)
        return text

    def shared_against_global(self):
        names = ("lesson10", "lesson11", "lesson12")
        measured = [result for name in names if (result := self.result(name))]
        counted = [result for name in names if (result := self.result(f"{name}-emulated"))] if self.is_gpu else measured
        drawn = [bars(self.title("shared against global memory"), BANDWIDTH, self.bandwidths(measured), self.peak)
                 ] if self.is_gpu else []
        return figures(*drawn, self.per_int_bars("global loads", counted, SECTORS[:1], "sectors of 32 bytes loaded"),
                       self.per_int_bars("global stores", counted, SECTORS[1:2], "sectors of 32 bytes stored"),
                       self.per_int_bars("shared-memory wavefronts", counted, WAVEFRONTS, "wavefronts")
                       ) + side_by_side("".join(self.tables(f"{name}-emulated") for name in names if self.is_gpu))

    def padding(self):
        drawn, tables = [], ""
        for program, shape in (("lesson18", "square"), ("lesson21", "rectangle")):
            results = self.results(f"{program}-padding")
            if not results:
                continue
            tile = f"{shape} of {results[0]['options']['--width']} × {results[0]['options']['--height']} ints"
            columns = {}
            for result in results:
                for kernel in result["kernels"]:
                    for words, name in zip(("loads", "stores"), WAVEFRONTS):
                        columns.setdefault(f"{kernel['name']}: {words}", {})[result["options"]["--padding"]] = kernel["counters"][name]
            drawn.append(lines(self.title(f"setRowReadColPad, {tile}", True), "padding [ints a row]", "wavefronts",
                               {f"shared {words}": list(columns.get(f"setRowReadColPad: {words}", {}).items())
                                for words in ("loads", "stores")}, x_axis="set xtics 0,4\nset xrange [-1:34]\n", logarithmic=True))
            columns = {name: column for name, column in columns.items() if "Pad" in name}
            tables += table(self.title(f"wavefronts in shared memory, {tile}", True), ["padding [ints a row]", *columns], [
                [number(padding), *(number(column.get(padding)) for column in columns.values())]
                for padding in sorted({padding for column in columns.values() for padding in column})])
        return figures(*drawn) + side_by_side(tables)

    def lessons(self):
        text = ""
        for name in [run.name for run in self.runs if run.name == run.group and run.name != "ladder"]:
            result = self.records.get(name, {}).get("result")
            text += (f'<section id="{name}"><h3>{name}{": " + escape(result["title"]) if result else ""}</h3>\n'
                     f"{self.tables(name)}</section>\n")
        return side_by_side(text)

    def overview(self):
        """A row for each lesson and each series of runs; red, with what went wrong, if one of them failed."""
        groups = {}
        wrong = [run for run in self.runs if not self.records.get(run.name) or self.records[run.name]["error"]]
        for run in self.runs:
            groups.setdefault(run.group, []).append(run)
        rows = ""
        for group, runs in groups.items():
            records = [self.records.get(run.name) for run in runs]
            results = [record["result"] for record in records if record and record["result"]]
            right = sum(bool(record) and not record["error"] for record in records)
            kernels = list(dict.fromkeys(kernel["name"] for result in results for kernel in result["kernels"]))
            name = f'<a href="#{group}">{group}</a>' if group in self.records and group != "ladder" else escape(group)
            state = "verified" if right == len(runs) else "FAILED"
            state += f", {right} of {len(runs)} runs" if len(runs) > 1 else ""
            rows += (f'<tr{"" if right == len(runs) else BAD}><th scope="row">{name}</th><td>{escape(results[0]["title"]) if results else "–"}'
                     f'</td><td>{escape(", ".join(kernels)) or "–"}</td><td>{"emulated" if runs[0].device == "emulator" else "measured"}'
                     f"</td><td>{state}</td></tr>\n")
            for run, record in zip(runs, records):
                if not record or record["error"]:
                    rows += f'<tr class="bad"><td colspan="5">{escape(trouble(record, run.name))}</td></tr>\n'
        columns = "".join(f'<th scope="col">{name}</th>' for name in ("run", "title", "kernels", "how", "state"))
        return (f'<div class="scroll" tabindex="0" role="region" aria-label="All runs"><table class="words">'
                f"<caption>{len(self.runs)} runs, {len(wrong)} of which failed</caption>\n"
                f"<thead><tr>{columns}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n")

    def device(self):
        machine = self.machine
        dates = sorted(record["date"].translate({ord("T"): " ", ord("Z"): " UTC"}) for record in self.records.values())
        facts = [("device", machine["name"]), ("compute capability", machine["compute_capability"]),
                 ("peak bandwidth of the memory", f"{number(self.peak, 1)} GB/s" if self.peak else None),
                 ("driver", machine["driver"] if self.is_gpu else None), ("toolkit", machine["toolkit"] or "not known"),
                 ("runs", f"{len(self.records)} of {len(self.runs)}, {dates[0]} to {dates[-1]}")]
        return "<dl>" + "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts if value) + "</dl>\n"


BAD = ' class="bad"'


def trouble(record, name=None):
    if not record:
        return f"{name + ': ' if name else ''}not run yet"
    status = f"exit status {record['exit_status']}" if record["exit_status"] is not None else "no exit status"
    return f"{record['command']}: {status}: {record['error']}"


def counter_names():
    return table("The counters, as Nsight Compute names them", ["here", "Nsight Compute"],
                 [[f"{group}: {label}", name] for group, label, name in COUNTERS])


def page(machine, runs, records):
    report = Report(machine, runs, records)
    sections = [
        ("device", "Device and toolkit", report.device()),
        ("runs", "All runs", report.overview()),
        ("ladder", "The ladder", "<p>The eleven kernels of lessons 00 to 09 on the same ints. All figures are of the first "
         "launch, which sums the n ints.</p>\n" + report.ladder()),
        ("sizes", "Bandwidth against size" if report.is_gpu else "Traffic against size",
         f"<p>Drawn of the ladder: {', '.join(DRAWN)}. The tables have all kernels.</p>\n" + report.sizes()),
        ("shared-global", "Shared against global memory", "<p>Lessons 10 to 12: the same sum with the tree in global memory, "
         "and in shared memory.</p>\n" + report.shared_against_global()),
        ("padding", "Padding against wavefronts", "<p>Lessons 18 and 21: the rows of a tile in shared memory are padded by "
         "unused ints; a block stores the tile by rows and loads it by columns.</p>\n" + report.padding()),
        ("lessons", "Every lesson", report.lessons()),
        ("counters", "The counters' names", counter_names()),
    ]
    contents = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in sections)
    body = "".join(f'<section id="{name}-section"><h2 id="{name}">{title}</h2>\n{text}</section>\n' for name, title, text in sections)
    title = f"CUDA reductions: {machine['name']}"
    note = (EMULATED if not report.is_gpu else "Times are medians; the L2 cache was flushed before each run. Effective bandwidth is "
            "the bytes that a kernel has to move, over its time; 1 GB is 10^9 bytes. What is titled 'Emulated' was not measured. " + EMULATED)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{POINT_SHAPES}
<header><h1>{escape(title)}</h1>
<p class="note">{escape(note)}</p>
<p>All of this as <a href="report.csv">CSV</a> and as <a href="report.json">JSON</a>.</p></header>
<nav aria-label="Contents"><ol>{contents}</ol></nav>
<main>
{body}</main>
</body>
</html>
"""


# gnuplot's shapes for POINTS.
POINT_SHAPES = """<svg class="shapes" aria-hidden="true"><defs>
<g id="gpPt3"><rect stroke-width=".3" stroke="currentColor" fill="none" x="-1" y="-1" width="2" height="2"/></g>
<g id="gpPt4"><rect fill="currentColor" x="-1" y="-1" width="2" height="2"/></g>
<g id="gpPt6"><circle fill="currentColor" r="1"/></g>
<g id="gpPt7"><path stroke-width=".3" stroke="currentColor" fill="none" d="M0,-1.33 L-1.33,.67 L1.33,.67 z"/></g>
<g id="gpPt8"><path fill="currentColor" d="M0,-1.33 L-1.33,.67 L1.33,.67 z"/></g>
<g id="gpPt11"><rect stroke-width=".3" stroke="currentColor" fill="none" x="-1" y="-1" width="2" height="2" transform="rotate(45)"/></g>
</defs></svg>"""

STYLE = """
:root { --paper: #fff; --ink: #1d2125; --soft: #5a6472; --grid: #d9dde2; --shade: #f4f6f8; --link: #0b5cad;
  --bad: #a8071a; --bad-shade: #fdecea; --series0: #0072b2; --series1: #c44e00; --series2: #00795a; --series3: #8f3f97;
  --series4: #8a6d00; --series5: #1d2125; }
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
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem 2rem; margin: 1rem 0; }
figure { margin: 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 40rem; }
figure svg text { font-family: inherit; }
.shapes { position: absolute; width: 0; height: 0; }
.scroll { overflow-x: auto; margin: 1rem 0 1.6rem; }
table { border-collapse: collapse; font-size: .86rem; line-height: 1.35; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .22rem .7rem; text-align: right; vertical-align: top; white-space: nowrap; }
thead th { vertical-align: bottom; white-space: normal; border-bottom: 1.5px solid var(--soft); }
tbody tr:nth-child(even) { background: var(--shade); }
th:first-child { text-align: left; font-weight: 600; position: sticky; left: 0; background: var(--paper); }
tbody tr:nth-child(even) th:first-child { background: var(--shade); }
.side-by-side { display: flex; flex-wrap: wrap; gap: 0 3.5rem; }
.side-by-side > * { max-width: 100%; }
.side-by-side > .scroll { flex: 1 1 24rem; }
.words th, .words td { text-align: left; white-space: normal; }
.words td:nth-child(3) { overflow-wrap: anywhere; min-width: 12rem; }
tbody tr.bad, tbody tr.bad th:first-child, p.bad, td.no { background: var(--bad-shade); color: var(--bad); font-weight: 600; }
tr.bad td[colspan] { font-weight: 400; white-space: pre-wrap; overflow-wrap: anywhere; }
p.bad { padding: .5rem .8rem; white-space: pre-wrap; max-width: none; }
@media (max-width: 40rem) { body { padding: .6rem .8rem 3rem; } dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; } h1 { font-size: 1.35rem; } }
@media print { @page { margin: 14mm; } body { padding: 0; max-width: none; font-size: 9.5pt; } nav, .scroll { break-inside: avoid; }
  .scroll { overflow: visible; } table { font-size: 7pt; } th, td { padding: .1rem .35rem; } th:first-child { position: static; }
  figure, tr, h2, h3, dl { break-inside: avoid; } h2, h3, caption { break-after: avoid; }
  .figures { grid-template-columns: 1fr 1fr; } a { color: inherit; } }
"""
