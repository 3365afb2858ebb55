"""Figures that were measured on a card, as pages show them and as docs/data has them.

A table is known by its head, `| NVIDIA H200, …`. Each kind is a function below: of a row's first cells it makes the others.
"""

import json
import math
import re
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from statistics import median

from tutorial import ROOT
from tutorial.counters import CONFLICTS, INSTRUCTIONS, NAMES
from tutorial.records import read_record

DATA = ROOT / "docs/data"
KINDS = []  # that table() adds


class NoRecord(Exception):
    """What no record has."""


class Card:
    """The records of a card, a folder of docs/data; `programs` run on the emulator."""

    def __init__(self, folder, programs=None):
        self.folder, self.programs = folder, programs

    def device(self, record):
        """Its name, as the record has it; empty if there is none."""
        path = self.folder / record
        return read_record(path)[0].get("device", "").split(",")[0] if path.is_file() else ""

    def rows(self, record, **wanted):
        """Those with these values."""
        rows = [row for row in read_rows(self.folder / record) if wanted.items() <= row.items()]
        if not rows:
            raise NoRecord(f"{record} has no {', '.join(f'{name} {value}' for name, value in wanted.items())}")
        return rows

    def row(self, record, **wanted):
        return self.rows(record, **wanted)[0]


@cache
def read_rows(path):
    return read_record(path)[1] if path.is_file() else []


def card_named(name, programs=None):
    """NVIDIA H200: docs/data/nvidia-h200"""
    return Card(DATA / name.lower().replace(" ", "-"), programs)


@dataclass
class Kind:
    head: re.Pattern  # of its head; its groups are the card's name, and what else the function needs
    keys: int  # a row's first cells, which say what was measured
    cells: object  # (card, lesson or None, the head's match, key…) -> the cells after them
    record: object = None  # (lesson or None) -> its file, if the site shows a table of every card


def table(head, keys=1, record=None):
    def add(cells):
        KINDS.append(Kind(re.compile(rf"\| (NVIDIA [^,|]+){head} \|"), keys, cells, record))
        return cells
    return add


@dataclass
class Table:
    kind: Kind
    head: re.Match
    first: int  # the index of its head in the page
    rows: list  # lines, without the head's two

    @property
    def end(self):
        return self.first + 2 + len(self.rows)

    def right_row(self, row, lesson, card):
        """The line as it should be. \\throws NoRecord"""
        cells, keys = cells_of(row), self.kind.keys
        if len(cells) < keys:
            raise NoRecord("a row without its first cells")
        made = self.kind.cells(card, lesson, self.head, *[key.strip("`") for key in cells[:keys]])
        shown = dict(enumerate(cells[keys:]))
        cells[keys:] = [shown.get(index, "") if cell is None else cell for index, cell in enumerate(made)]
        return f"| {' | '.join(cells)} |"

    def of_every_card(self, lesson, data):
        """The lines of a table for each card with such a record, or words in their place."""
        lines, columns = [], self.head.group().count("|") - 1
        for card in map(Card, sorted(data.iterdir())):
            made = {}
            for row in self.rows:
                try:
                    made[row] = self.right_row(row, lesson, card)
                except NoRecord:
                    made[row] = f"| {cells_of(row)[0]} | not measured yet |{' |' * (columns - 2)}"
            device = card.device(self.kind.record(lesson))
            if device and any("not measured yet" not in row for row in made.values()):
                lines += [self.head.group().replace(self.head.group(1), device, 1), "|" + "---|" * columns, *made.values(), ""]
        return lines or ["Not measured yet.", ""]


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables_of(lines):
    """Those of a page. One of no known kind has the kind None."""
    found = []
    for index, line in enumerate(lines):
        if line.startswith("| NVIDIA ") and lines[index + 1:index + 2] and lines[index + 1].startswith("|--"):
            end = next((end for end in range(index + 2, len(lines)) if not lines[end].startswith("|")), len(lines))
            matches = [(kind, kind.head.fullmatch(line)) for kind in KINDS]
            kind, head = next(((kind, head) for kind, head in matches if head), (None, None))
            found.append(Table(kind, head, index, lines[index + 2:end]))
    return found


# ---- the kinds of tables ----

def figure(row, column, decimals, factor=1.0):
    if not row.get(column):
        raise NoRecord(f"the record has no {column} of it")
    return f"{factor * float(row[column]):,.{decimals}f}"


def plain(number):
    """1,024 without its comma."""
    return number.replace(",", "")


def ungrouped(case):
    """8,192 x 8,192 without its commas."""
    return re.sub(r"(?<=\d),(?=\d{3})", "", case)


def name_of(lesson):
    return lesson.name if lesson else ""


def is_on_ladder(lesson):
    return lesson is None or lesson.part == "ladder"


def record_of_times(lesson):
    return "ladder.csv" if is_on_ladder(lesson) else "lessons.csv"


@table(r", ([\d,]+) ints \| time \[us\] \| GB/s \| % of peak", record=record_of_times)
def times(card, lesson, head, kernel):
    programs = ["ladder"] if is_on_ladder(lesson) else lesson.on_page
    rows = card.rows(record_of_times(lesson), name=kernel, elements=plain(head[2]))
    row = next((row for row in rows if row["lesson"] in programs), None)
    if row is None:
        raise NoRecord(f"{record_of_times(lesson)} has no {kernel} of {', '.join(programs)}")
    return [figure(row, "time_us_median", 1), figure(row, "bandwidth_gbs", 1), figure(row, "peak_fraction", 1, 100)]


@table(r", `(lesson\d\d) ?([^`|]*)` \| time \[ns\]", record=lambda lesson: "ncu.csv")
def tiles(card, lesson, head, kernel):
    return [figure(card.row("ncu.csv", program=head[2], arguments=head[3], kernel=kernel), "gpu__time_duration.sum", 0)]


@table(r", ([\d,]+) \w+(?:, `([^`]*)`)? \| first pass \[us\] \| complete \[us\] \| (\S+) / complete")
def practice(card, lesson, head, kernel):
    def row_of(name):
        return card.row("practice.csv", lesson=name_of(lesson), name=name, elements=plain(head[2]), options=head[3] or "")

    row, complete = row_of(kernel), "complete_time_us_median"
    ratio = float(row_of(head[4])[complete]) / float(row[complete])
    # Two digits after the point, or two that are not 0.
    return [figure(row, "time_us_median", 1), figure(row, complete, 1), f"{ratio:.2g}" if ratio < 0.01 else f"{ratio:.2f}"]


@table(r" \[us\] \|((?: \S+ \|)* \S+)")
def by_shape(card, lesson, head, options):
    """Complete times, a row per shape of a matrix. PyTorch has a record of its own, of a cold cache."""
    shape = re.fullmatch(r"--rows (\d+) --columns (\d+).*", options)
    if not shape:
        raise NoRecord(f"{options} is no shape: --rows R --columns C")

    def time(kernel):
        if kernel == "torch.softmax":
            return figure(card.row("practice_torch.csv", rows=shape[1], columns=shape[2], mode="cold"), "time_us_median", 1)
        row = card.row("practice.csv", lesson=name_of(lesson), name=kernel, options=options)
        return figure(row, "complete_time_us_median", 1)

    return [time(kernel) for kernel in cells_of(head[2])]


@table(r", complete sums of ([\d,]+) ints \| first launch \[us\] \| all launches \[us\] \| CUB / all launches")
def complete_sums(card, lesson, head, kernel):
    row, complete = card.row("ladder.csv", name=kernel, elements=plain(head[2])), "complete_time_us_median"
    library = card.row("ladder.csv", name="cub::Sum", elements=plain(head[2]))
    return [figure(row, "time_us_median", 1), figure(row, complete, 1),
            f"{float(library[complete]) / float(row[complete]):,.3f}"]


@table(r", steps of ([\d,]+) ints \| cold \[us\] \| warm \[us\]")
def steps(card, lesson, head, step):
    return [figure(card.row("limit_steps.csv", n=plain(head[2]), mode=mode, step=step), "time_us_median", 2)
            for mode in ("cold", "warm")]


@table(r", (cold|warm) \[us\], n \| offset \| `sum` \| `sum_zeroed` \| CUB \| `torch.sum` \| CUB / `sum`", keys=2)
def sums(card, lesson, head, n, offset):
    case = {"n": expanded(n), "offset": offset, "mode": head[2]}
    ours, zeroed, cub = (sum_time(card, "limit_sum.csv", contender, case) for contender in ("sum", "sum_zeroed", "cub"))
    torch = sum_time(card, "limit_torch.csv", "torch.sum", case)
    return [*(f"{time:,.2f}" for time in (ours, zeroed, cub, torch)), f"{cub / ours:,.3f}"]


def sum_time(card, record, contender, case):
    """The contender's time in us, of its fastest form: CUB and PyTorch have several."""
    found = [float(row["time_us_median"]) for row in card.rows(record, **case)
             if row["contender"] == contender or (contender != "sum" and row["contender"].startswith(contender))]
    if not found:
        raise NoRecord(f"no record of {contender}, {case}")
    return min(found)


@table(r", ([^|]+) by `\w+`, n \| ours \[us\] \| (CUB|a copy) \[us\] \| times as fast")
def scans(card, lesson, head, n):
    record = "ahead_scan.csv" if head[3] == "CUB" else "ahead_scan_copies.csv"
    row = card.row(record, case=head[2], n=expanded(n), mode="cold")
    return [figure(row, "ours_us", 1), figure(row, "rival_us", 1), figure(row, "ratio", 2)]


@table(r", scans beside CUB's \| sizes \| times as fast, mean \| lowest \| at n =")
def scans_in_short(card, lesson, head, case):
    rows = card.rows("ahead_scan.csv", case=case, mode="cold")
    lowest = min(rows, key=lambda row: float(row["ratio"]))
    mean = geometric_mean([float(row["ratio"]) for row in rows])
    return [str(len(rows)), f"{mean:.2f}", figure(lowest, "ratio", 2), figure(lowest, "n", 0)]


@table(r", ([\d,]+) ints from the host by \| time \[us\] \| GB/s")
def ways_from_the_host(card, lesson, head, way):
    """`link`: a copy of the same bytes from pinned memory."""
    races = card.rows("ahead_host.csv", n=plain(head[2]), mode="cold")
    times = {race["rival"]: float(race["rival_us"]) for race in races}
    times["two_streams"] = next(float(race["ours_us"]) for race in races if race["rival"] == "link")
    time = times[way.strip("`")]
    return [f"{time:,.0f}", f"{4 * int(plain(head[2])) / time / 1000:.1f}"]


@table(r", `two_streams` beside the link, ints \| `two_streams` \[us\] \| link \[us\] \| share of the link's rate")
def shares_of_the_link(card, lesson, head, n):
    row = card.row("ahead_host.csv", n=expanded(n), mode="cold", rival="link")
    return [figure(row, "ours_us", 0), figure(row, "rival_us", 0), figure(row, "ratio", 3)]


@table(r", all-reduce over 2 cards, ints per card \| ours \[us\] \| NCCL \[us\] \| times as fast "
       r"\| one call: ours \[us\] \| NCCL \[us\] \| times as fast")
def all_reduces(card, lesson, head, n):
    rows = [card.row("ahead_cards.csv", n=expanded(n), mode=mode, rival="nccl") for mode in ("queued", "alone")]
    return [figure(row, *what) for row in rows for what in (("ours_us", 1), ("rival_us", 1), ("ratio", 2))]


@table(r", `two_steps` beside peer copies, ints per card \| `two_steps` \[us\] \| copies \[us\] \| share of their rate")
def shares_of_peer_copies(card, lesson, head, n):
    row = card.row("ahead_cards.csv", n=expanded(n), rival="peer copies")
    return [figure(row, "ours_us", 1), figure(row, "rival_us", 1), figure(row, "ratio", 2)]


@table(r", reductions beside CUB's \| sizes \| times as fast, mean \| lowest \| at n =")
def reductions_in_short(card, lesson, head, case):
    rows = [row for row in card.rows("ahead_reduce.csv", mode="cold") if case in ("all", row["case"])]
    if not rows:
        raise NoRecord(f"ahead_reduce.csv has no {case}")
    lowest = min(rows, key=lambda row: float(row["ratio"]))
    mean = geometric_mean([float(row["ratio"]) for row in rows])
    return [str(len(rows)), f"{mean:.2f}", figure(lowest, "ratio", 2), figure(lowest, "n", 0)]


@table(r", (2\^\d+) ints counted \| time \[us\] \| GB/s \| issue slots in use \| waits at barriers "
       r"\| for global memory")
def scans_counted(card, lesson, head, kernel):
    """Waits: shares of the warps' time."""
    row = card.row("ahead_scan_ncu.csv", arguments=f"--n {head[2]}", kernel=kernel)
    time, stalled = "gpu__time_duration.sum", "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    moved = sum(float(row[f"dram__bytes_{what}.sum"]) for what in ("read", "write"))
    waits = math.fsum(float(row[column]) for column in row if column.startswith(stalled.split("{")[0]) and row[column])
    return [figure(row, time, 0, 1e-3), f"{moved / float(row[time]):,.0f}",
            f"{figure(row, 'sm__issue_active.avg.pct_of_peak_sustained_elapsed', 0)} %",
            *(f"{figure(row, stalled.format(wait), 0, 100 / waits)} %" for wait in ("barrier", "long_scoreboard"))]


@table(r", (\w+ \w+) by `reduce`, n \| ours \[us\] \| CUB \[us\] \| times as fast")
def reductions(card, lesson, head, n):
    row = card.row("ahead_reduce.csv", case=head[2], n=expanded(n), mode="cold")
    return [figure(row, "ours_us", 1), figure(row, "rival_us", 1), figure(row, "ratio", 2)]


@table(r", a sum of (2\^\d+) floats whose blocks meet \| time \[us\]")
def meetings(card, lesson, head, way):
    """The times of `reduce` beside each of the other ways: the median."""
    rows = card.rows("ahead_reduce_meetings.csv", n=expanded(head[2]), mode="cold")
    if way == "in an early second launch":
        return [f"{median(float(row['ours_us']) for row in rows):.1f}"]
    return [figure(row, "rival_us", 1) for row in rows if row["rival"] == way][:1] or [None]


@table(r", sums of rows of floats \| columns \| `reduce_rows` \[us\] \| CUB \[us\] \| times as fast")
def reductions_of_rows(card, lesson, head, rows):
    row = card.row("ahead_reduce_rows.csv", case=f"float sum of {plain(rows)} rows", mode="cold")
    return [f"{int(row['n']) // int(plain(rows)):,}", figure(row, "ours_us", 1), figure(row, "rival_us", 1),
            figure(row, "ratio", 2)]


@table(r", first launch of `reduce`, ([\d,]+) floats \| time \[us\] \| % of peak \| issue slots in use "
       r"\| waits for global memory")
def reductions_counted(card, lesson, head, operation):
    """Waits: a share of the warps' time."""
    row = card.row("ahead_reduce_ncu.csv", arguments=f"--kernel reduce --n {plain(head[2])} --op {operation}")
    stalled = "smsp__average_warps_issue_stalled_"
    waits = math.fsum(float(row[column]) for column in row if column.startswith(stalled) and row[column])
    return [figure(row, "gpu__time_duration.sum", 1, 1e-3),
            *(f"{figure(row, metric, 0)} %" for metric in ("dram__throughput.avg.pct_of_peak_sustained_elapsed",
                                                           "sm__issue_active.avg.pct_of_peak_sustained_elapsed")),
            f"{figure(row, stalled + 'long_scoreboard_per_issue_active.ratio', 0, 100 / waits)} %"]


@table(r", exact sums of (\w+), n \| CUB \[us\] \| `exact_sum` \[us\] \| `exact_sum` / CUB \| all exponents / CUB "
       r"\| GPU to GPU / CUB")
def exact_sums(card, lesson, head, n):
    def race(data, record="ahead_exact.csv"):
        return card.row(record, case=f"{head[2]} {data}", n=expanded(n), mode="cold")

    row, others = race("from 0 to 1"), [race("of all exponents"), race("from 0 to 1", "ahead_exact_gpu_to_gpu.csv")]
    ours, cub = float(row["ours_us"]), float(row["rival_us"])
    return [f"{cub:,.1f}", f"{ours:,.1f}", f"{ours / cub:.2f}", f"{1 / float(others[0]['ratio']):.2f}",
            f"{float(others[1]['rival_us']) / cub:.2f}"]


@table(r", ([\d,]+) (floats|doubles) (from 0 to 1|of all exponents) \| time \[us\] \| warp instructions \| issue slots \[%\] "
       r"\| data pipe \[%\]")
def exact_sums_counted(card, lesson, head, kernel):
    rows = card.rows("ahead_exact_ncu.csv", case=f"{head[3]} {head[4]}", n=plain(head[2]))
    row = next((row for row in rows if row["kernel"].startswith(kernel)), {})
    return [figure(row, "gpu__time_duration.sum", 1, 1e-3), figure(row, INSTRUCTIONS, 0),
            figure(row, "sm__issue_active.avg.pct_of_peak_sustained_elapsed", 0),
            figure(row, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active", 0)]


def expanded(n):
    """2^20 - 1: 1048575"""
    power = re.fullmatch(r"2\^(\d+)(?: ([+-]) 1)?", n)
    return str(2 ** int(power[1]) + {"+": 1, "-": -1, None: 0}[power[2]]) if power else plain(n)


@table(r", ([\d,]+) ints in flight \| KiB in flight \| stages \| KiB per stage \| blocks per SM \| GB/s \| % of peak", keys=2)
def in_flight(card, lesson, head, kernel, kib):
    size = str(1024 * int(kib)) if kib.isdigit() else kib
    rows = card.rows("limit_in_flight.csv", n=plain(head[2]), kernel=kernel, bytes_in_flight_per_sm=size)
    row = max(rows, key=lambda row: float(row["bandwidth_gbs"]))
    return [row["stages"], str(int(row["stage_bytes"]) // 1024), row["blocks_per_sm"], figure(row, "bandwidth_gbs", 1),
            figure(row, "peak_fraction", 1, 100)]


@table(r", (\w+), ([\d,]+) ints \| emulator \| Nsight Compute")
def counters(card, lesson, head, metric):
    kernel, elements = head[2], plain(head[3])
    row = card.row("ncu.csv", program="ladder", arguments=f"--n {elements}", kernel=kernel)
    run = json.loads(card.programs.output(f"./ladder --device emulator --format json --kernel {kernel} --n {elements}"))
    counted = run["kernels"][0]["counters"]
    if metric not in row or metric not in counted:
        raise NoRecord(f"there is no metric {metric}")
    is_exact = metric.startswith("l1tex") or card.programs.has_pages_ptx  # another nvcc writes other PTX
    return [f"{counted[metric]:,.0f}" if is_exact else None, figure(row, metric, 0)]


# Groups of the clock's estimates: words, and whether a row belongs to it.
ESTIMATES = {
    "the ladder, blocks of 256": lambda row: row["program"] == "ladder" and row["block"] == "256",
    "the ladder, other blocks": lambda row: row["program"] == "ladder" and row["block"] != "256",
    **{f"lessons {first} to {last}": lambda row, first=first, last=last: row["program"][6:].isdigit()
       and first <= int(row["program"][6:]) <= last for first, last in ((10, 15), (16, 21), (22, 27), (28, 29))},
    "all": lambda row: True}


def held_back(card, group):
    if group not in ESTIMATES:
        raise NoRecord(f"there is no group of estimates {group}; there are {', '.join(ESTIMATES)}")
    return [row for row in card.rows("clock.csv", use="held back") if ESTIMATES[group](row)]


def share(rows, condition):
    return f"{sum(map(condition, rows))} of {len(rows)}"


def in_order(rows):
    """Of the pairs of kernels of one run whose times differ by over 10 %: how many have the right order."""
    pairs = [(a, b) for a, b in combinations(rows, 2) if all(a[key] == b[key] for key in ("program", "arguments"))]
    times = [[[float(row[column]) for column in ("recorded_us", "estimated_us")] for row in pair] for pair in pairs]
    apart = [(a, b) for a, b in times if max(a[0], b[0]) > 1.1 * min(a[0], b[0])]
    return share(apart, lambda pair: (pair[0][0] < pair[1][0]) == (pair[0][1] < pair[1][1]))


@table(r", estimates \| median error \| largest error \| within 10 % \| within 25 % \| pairs in order")
def estimates(card, lesson, head, group):
    rows = held_back(card, group)
    errors = sorted((abs(float(row["error_percent"])), row["error_percent"], row["kernel"]) for row in rows)
    return [f"{median([error for error, _, _ in errors]):.1f} %", f"{errors[-1][1]} %, `{errors[-1][2]}`",
            *(share(errors, lambda error, most=most: error[0] <= most) for most in (10, 25)), in_order(rows)]


@table(r", far off \| error \| what it does")
def far_off(card, lesson, head, kernel):
    errors = sorted((row["error_percent"] for row in card.rows("clock.csv", use="held back", kernel=kernel)), key=float)
    return [f"{errors[0]} %" if errors[0] == errors[-1] else f"{errors[0]} to {errors[-1]} %", None]


OUTSIDE = {"first program, the model of before": ("1", "first_error_percent"), "first program, later": ("1", "error_percent"),
           "second program, before its times were known": ("2", "first_error_percent"),
           "second program, later": ("2", "error_percent"),
           "third program, before its times were known": ("3", "first_error_percent"),
           "third program, later": ("3", "error_percent"),
           "fourth program, before its times were known": ("4", "first_error_percent"),
           "fourth program, later": ("4", "error_percent"),
           "fifth program, before its times were known": ("5", "first_error_percent"),
           "sixth program, before its times were known": ("6", "first_error_percent"),
           "sixth program, later": ("6", "error_percent")}


@table(r", other kernels \| median error \| within 10 % \| within 25 % \| largest errors")
def outside(card, lesson, head, which):
    program, column = OUTSIDE[which]
    rows = sorted((row for row in card.rows("clock_outside.csv", program=program) if row[column]),
                  key=lambda row: float(row[column]))
    errors = [abs(float(row[column])) for row in rows]
    return [f"{median(errors):.1f} %", share(errors, lambda error: error <= 10), share(errors, lambda error: error <= 25),
            "; ".join(f"{float(row[column]):+.0f} %, `{row['kernel']}`" for row in (rows[0], rows[-1]))]


@table(r", waits \| the first is Nsight Compute's first \| or its second \| all shares within 12 points \| median difference")
def waits(card, lesson, head, group):
    rows = [row for row in held_back(card, group) if row["waits_off"]]
    ranks = [row["waits_ncu"].split()[::2].index(row["first_wait"]) if row["first_wait"] in row["waits_ncu"] else 99
             for row in rows]
    return [share(ranks, lambda rank: rank == 0), share(ranks, lambda rank: rank <= 1),
            share(rows, lambda row: float(row["waits_off"]) <= 12),
            f"{median(float(row['waits_off']) for row in rows):.0f} points"]


@table(r", ([\d,]+) ints, what warps wait for \| barriers \| global memory \| shared memory \| fixed latencies")
def warps_wait(card, lesson, head, kernel):
    """As Nsight Compute sampled it. What it does not list is below 1 %."""
    row = card.row("clock.csv", program=name_of(lesson), arguments=f"--n {plain(head[2])}", kernel=kernel)
    words = row["waits_ncu"].split()
    if not words:
        raise NoRecord(f"clock.csv has no samples of {kernel}")
    shares = dict(zip(words[::2], words[1::2]))
    return [f"{shares.get(name, 0)} %" for name in ("barrier", "long_scoreboard", "short_scoreboard", "wait")]


FLOORS = ("memory", "instructions", "data_pipe", "barriers", "alu", "fma", "block_starts")


@table(r", floors of ([\d,]+) ints in us \| memory \| instructions \| data pipe \| barriers \| ALU \| FMA \| block starts "
       r"\| estimate \| measured")
def floors(card, lesson, head, kernel):
    program, block = ("ladder", " --block 256") if is_on_ladder(lesson) else (lesson.name, "")  # which is the default there
    arguments = f"--n 2^{int(plain(head[2])).bit_length() - 1}{block}"
    row = card.row("clock.csv", program=program, arguments=arguments, kernel=kernel)
    cells = [figure(row, f"floor_{floor}_us", 0) for floor in FLOORS]
    if row["highest_floor"] not in FLOORS:
        raise NoRecord(f"{kernel}'s highest floor is {row['highest_floor']}, which the table lacks")
    highest = FLOORS.index(row["highest_floor"])
    cells[highest] = f"**{cells[highest]}**"
    return [*cells, figure(row, "estimated_us", 0), figure(row, "recorded_us", 0)]


# The floors of parts whose load Nsight Compute reports in percent of its peak.
PIPES = {"instructions": "sm__issue_active.avg.pct_of_peak_sustained_elapsed",
         "data_pipe": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",
         "barriers": "sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_elapsed",
         "alu": "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed",
         "fma": "sm__pipe_fmaheavy_cycles_active.avg.pct_of_peak_sustained_elapsed",
         "xu": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed"}


@table(r", floor / busy in % \| instructions \| data pipe \| barriers \| ALU \| FMA \| XU")
def pipes(card, lesson, head, kernel):
    """Of the time that Nsight Compute measured: the model's floor, and how busy the part was."""
    key = {"program": "ladder", "arguments": "--n 2^25 --block 256", "kernel": kernel}
    row, counted = card.row("clock.csv", **key), card.row("clock_ncu.csv", **key)
    of_time = 1e5 / float(counted["gpu__time_duration.sum"])
    return [f"{figure(row, f'floor_{floor}_us', 0, of_time)} / {figure(counted, metric, 0)}" for floor, metric in PIPES.items()]


@table(r", threads per empty block \| blocks per ns \| ([\d,]+) blocks \[us\]")
def block_starts(card, lesson, head, threads):
    row = card.row("clock_constants.csv", constant=f"block_starts_{plain(threads)}_threads_0_shared_bytes")
    time = re.match(rf"{plain(head[2])} empty blocks: ([\d.]+) us", row["how"])
    if not time:
        raise NoRecord(f"the record is of another number of blocks: {row['how']}")
    return [figure(row, "value", 3), time[1]]


SHARED_PASSES = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
# The columns of an experiment: the record that has it, and its figure in a row of it; None: words.
EXPERIMENT = {
    "what it does": None,
    "blocks": ("experiments.csv", lambda row: figure(row, "grid", 0)),
    "time [us]": ("experiments.csv", lambda row: figure(row, "time_us_median", 0)),
    "instructions per block": ("experiments_ncu.csv", lambda row: per_block(row, INSTRUCTIONS)),
    "conflicts per block": ("experiments_ncu.csv", lambda row: per_block(row, *CONFLICTS)),
    "shared passes per block": ("experiments_ncu.csv", lambda row: per_block(row, SHARED_PASSES)),
}


def per_block(row, *metrics):
    return f"{sum(float(row[metric]) for metric in metrics) / float(row['grid']):,.0f}"


@table(r", ([\d,]+) ints, experiment `(\w+)` \|((?: [^|]+ \|)* [^|]+)")
def experiment(card, lesson, head, kernel):
    """Kernels that change one thing each. Nsight Compute counted them for another n: what a block does is the same."""
    rows = {"experiments.csv": card.row("experiments.csv", experiment=head[3], kernel=kernel, n=plain(head[2]), block="256"),
            "experiments_ncu.csv": card.row("experiments_ncu.csv", experiment=head[3], kernel=kernel, block="256")}
    columns = cells_of(head[4])
    if unknown := [name for name in columns if name not in EXPERIMENT]:
        raise NoRecord(f"there is no column {unknown[0]}; there are {', '.join(EXPERIMENT)}")
    return [EXPERIMENT[name] and EXPERIMENT[name][1](rows[EXPERIMENT[name][0]]) for name in columns]


@table(r", ([\d,]+) ints, threads per block \| blocks of `reduce2` \|((?: `\w+` \[us\] \|)* `\w+` \[us\])")
def by_block(card, lesson, head, threads):
    key = {"experiment": "block_starts", "block": plain(threads), "n": plain(head[2])}
    rows = [card.row("experiments.csv", kernel=kernel, **key) for kernel in re.findall(r"`(\w+)`", head[3])]
    return [figure(rows[0], "grid", 0), *(figure(row, "time_us_median", 0) for row in rows)]


@table(r", ([\d,]+) ints, loads per thread \| bytes per load \|((?: \d+ blocks? \[us\] \|)* \d+ blocks? \[us\])", keys=2)
def loads_in_flight(card, lesson, head, loads, width):
    vector = {"4": "int", "16": "int4"}.get(width, width)
    return [figure(card.row("experiments.csv", experiment="in_flight", kernel=f"{loads}_{vector}_{blocks}_blocks",
                            n=plain(head[2])), "time_us_median", 0) for blocks in re.findall(r"(\d+) block", head[3])]


@table(r", softmax of (float|half), (cold|warm) \[us\] \| `softmax` \| torch.softmax \| times as fast")
def softmax_race(card, lesson, head, shape):
    """A row per shape, as 128 x 50,257, and what all shapes come to."""
    ratios = {row["case"]: float(row["ratio"]) for row in card.rows("ahead_softmax.csv", mode=head[3])
              if row["case"].startswith(f"{head[2]} ")}
    if shape == "geometric mean":
        return [f"{len(ratios)} shapes", "", f"{geometric_mean(ratios.values()):.2f}"]
    if shape == "lowest":
        case = min(ratios, key=ratios.get)
        rows, columns = map(int, case.split()[1].split("x"))
        return [f"{rows:,} x {columns:,}", "", f"{ratios[case]:.2f}"]
    row = card.row("ahead_softmax.csv", mode=head[3], case=f"{head[2]} {plain(shape).replace(' ', '')}")
    return [figure(row, "ours_us", 1), figure(row, "rival_us", 1), figure(row, "ratio", 2)]


@table(r", (\d[\d,]*) rows of (\d[\d,]*) floats \| time \[us\] \| warp instructions \| issue slots in use \[%\] "
       r"\| memory waits per instruction")
def softmax_counters(card, lesson, head, function):
    row = card.row("ahead_softmax_ncu.csv", arguments=f"--rows {plain(head[2])} --columns {plain(head[3])}", function=function)
    return [figure(row, "gpu__time_duration.sum", 1, 1e-3), figure(row, INSTRUCTIONS, 0),
            figure(row, "sm__issue_active.avg.pct_of_peak_sustained_elapsed", 1),
            figure(row, "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 1)]


# Whose times stand under ours_us in a record of races.
OURS = {"ahead_transpose": "transposeSectors", "ahead_histogram": "histogram_vectors"}


@table(r", `(ahead_(?:transpose|histogram))`(?:, ([\d,]+) ints)?, (cold|warm) \|((?: [^|]+ \|)* [^|]+)")
def races(card, lesson, head, case):
    """Columns: `kernel` [us], or `kernel` / `kernel`."""
    which = {"case": ungrouped(case), "mode": head[4]} | ({"n": plain(head[3])} if head[3] else {})
    rows = card.rows(f"{head[2]}.csv", **which)

    def time(name):
        times = [row["ours_us"] if name == OURS[head[2]] else row["rival_us"]
                 for row in rows if name in (OURS[head[2]], row["rival"])]
        if not times:
            raise NoRecord(f"{head[2]}.csv has no {name}, {case}")
        return float(times[0])

    names = [re.findall(r"`([^`]+)`", column) for column in cells_of(head[5])]
    return [f"{time(name[0]):.1f}" if len(name) == 1 else f"{time(name[0]) / time(name[1]):.2f}" for name in names]


# What Nsight Compute counted in these races: a metric, a factor, and decimals.
RACES_COUNTED = {
    "time [us]": ("gpu__time_duration.sum", 1e-3, 1),
    "sectors stored": (NAMES["global_store_sectors"], 1, 0),
    "sectors read from memory": ("lts__d_sectors_fill_device.sum", 1, 0),
    "memory busy [%]": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1, 0),
    "data pipe busy [%]": ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active", 1, 0),
    "warps at a barrier": ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 1, 1),
}


@table(r", `(ahead_\w+_ncu)` \| (?:matrix|data) \|((?: [^|]+ \|)* [^|]+)", keys=2)
def races_counted(card, lesson, head, kernel, case):
    row = card.row(f"{head[2]}.csv", case=ungrouped(case), kernel=kernel)
    return [figure(row, metric, decimals, factor) for metric, factor, decimals in map(RACES_COUNTED.get, cells_of(head[3]))]


# ---- figures in running text ----

def recorded_words(tables):
    """[(words with {} for each figure, the figures)] of a page with these tables: of times of sums, what they come to."""
    card = next((card_named(table.head[1]) for table in tables if table.kind and table.kind.cells is sums), None)
    if card is None:
        return []
    here, other = (SumRatios(card, record) for record in ("limit_sum.csv", "limit_sum_other_card.csv"))
    cold, warm, other_cold = here.of("cold", "sum"), here.of("warm", "sum"), other.of("cold", "sum")
    missed = 100 * (1.2 - geometric_mean(cold)) / 1.2
    return [(words, [f"{value:,.{decimals}f}" for value, decimals in figures]) for words, figures in (
        ("the lowest of {} cases is {} cold and {} warm", [(len(cold), 0), (min(cold), 3), (min(warm), 3)]),
        ("missed by {} %**: {}", [(missed, 1), (geometric_mean(cold), 3)]),
        ("zeroed once it is {}", [(geometric_mean(here.of("cold", "sum_zeroed")), 3)]),
        ("Warm, the means are {} and {}", [(geometric_mean(here.of("warm", name)), 3) for name in ("sum", "sum_zeroed")]),
        ("mean was {} cold and {} warm, and the lowest ratio {} cold",
         [(geometric_mean(other_cold), 3), (geometric_mean(other.of("warm", "sum")), 3), (min(other_cold), 3)]),
        ("came out at {}", [(min(other.of("cold", "sum_zeroed")), 3)]),
        ("on this card: {} %. Another H200 gave {} %, and CUB {} % there",
         [(here.peak("sum"), 1), (other.peak("sum"), 1), (other.peak("cub_int"), 1)]))]


class SumRatios:
    """Of a record of complete sums: CUB's times over ours, in all cases."""

    def __init__(self, card, record):
        self.card, self.record = card, record

    def of(self, mode, ours):
        return [sum_time(self.card, self.record, "cub", {name: row[name] for name in ("n", "offset", "mode")})
                / float(row["time_us_median"]) for row in self.card.rows(self.record, mode=mode, contender=ours)]

    def peak(self, contender):
        row = self.card.row(self.record, n=str(2**30), offset="0", mode="cold", contender=contender)
        return 100 * float(row["peak_fraction"])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))
