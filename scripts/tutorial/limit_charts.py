"""The charts of `make measure`'s records for lessons 28 to 31."""

import math

from tutorial.records import read_record
from tutorial.svg import BLUE, GRAY, GREEN, INK, ORANGE, PURPLE, Svg, power

WIDTH, LEFT, RIGHT = 960, 76, 930
EXPONENTS = (8, 32)
# Where choose() in sum.cuh changes the strategy, and to which; a test compares. And in softmax.cuh the unit.
CHOICES = ((8, "one block"), (13, "one cluster"), (17, "one launch"), (28, "bulk copies"))
UNITS = ((0, "thread"), (1, "lanes"), (10, "block"), (14, "cluster"), (18, "grid"))


def read_times(path):
    """The facts, and times in us by (n, offset, mode, contender)."""
    facts, rows = read_record(path)
    return facts, {(int(row["n"]), int(row["offset"]), row["mode"], row["contender"].split()[0]):
                   float(row["time_us_median"]) for row in rows}


def cub(times, n, offset, mode):
    """The faster of CUB's two forms: n of 64 bits and of 32."""
    return min(times[key] for key in times if key[:3] == (n, offset, mode) and key[3].startswith("cub"))


class Panel:
    """A part of the chart: n from left to right, on a logarithmic axis; values from bottom to top."""

    def __init__(self, svg, top, height, least, most, log=False, exponents=EXPONENTS, choices=CHOICES):
        self.svg, self.top, self.height, self.least, self.most, self.log = svg, top, height, least, most, log
        self.exponents, self.choices = exponents, choices

    def x(self, n):
        first, last = self.exponents
        share = (math.log2(n) - first + 0.25) / (last - first + 0.5)
        return LEFT + share * (RIGHT - LEFT)

    def y(self, value):
        scale = math.log if self.log else float
        share = (scale(value) - scale(self.least)) / (scale(self.most) - scale(self.least))
        return self.top + self.height * (1 - share)

    def axes(self, ticks, title, names_choices):
        bottom = self.top + self.height
        for tick in ticks:
            self.svg.line(LEFT, self.y(tick), RIGHT, self.y(tick), "#dddddd")
            self.svg.text(LEFT - 8, self.y(tick) + 4, f"{tick:,g}", "end", 12)
        for exponent in range(self.exponents[0], self.exponents[1] + 1, 2):
            x = self.x(2**exponent)
            self.svg.line(x, bottom, x, bottom + 4)
            self.svg.text(x, bottom + 18, power(exponent), "middle", 12)
        for exponent, name in self.choices:
            x = self.x(2**exponent) if exponent > self.exponents[0] else LEFT
            if x > LEFT:
                self.svg.line(x, self.top, x, bottom, INK, "2 4")
            if names_choices:
                self.svg.text(x + 5, self.top + 14, name, size=12, font_style="italic")
        self.svg.line(LEFT, self.top, LEFT, bottom)
        self.svg.line(LEFT, bottom, RIGHT, bottom)
        self.svg.text(LEFT, self.top - 12, title, size=14, font_weight="bold")

    def curve(self, points, color, dashes="none"):
        self.svg.polyline([(self.x(n), self.y(min(value, self.most))) for n, value in sorted(points)], color, dashes)

    def dots(self, points, color):
        for n, value in points:
            self.svg.dot(self.x(n), self.y(value), color)

    def legend(self, entries, x, y):
        for color, dashes, words in entries:
            self.svg.polyline([(x, y - 4), (x + 24, y - 4)], color, dashes)
            self.svg.text(x + 30, y, words, size=12)
            x += 54 + 6.1 * len(words)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def source(facts):
    return (f"{facts['device'].split(',')[0]}, driver {facts['driver']}, {facts['toolkit']}, {facts['date'][:10]}; complete "
            "sums on one stream, each the median of 41 runs.")


def draw_sum(folder):
    facts, times = read_times(folder / "limit_sum.csv")
    torch = read_times(folder / "limit_torch.csv")[1]
    cases = sorted({key[:2] for key in times})
    powers = [n for n, offset in cases if offset == 0 and n & (n - 1) == 0]
    svg = Svg(WIDTH, 818)
    svg.text(WIDTH / 2, 26, "The sum of n ints: one header beside CUB and PyTorch", "middle", 18, font_weight="bold")

    panel = Panel(svg, 84, 330, 2, 10_000, log=True)
    panel.axes((2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000), "Time [us], cold", True)
    curves = ((GRAY, "none", "torch.sum", lambda n: torch[n, 0, "cold", "torch.sum"]),
              (ORANGE, "none", "CUB, the faster of its two forms", lambda n: cub(times, n, 0, "cold")),
              (GREEN, "5 3", "sum(), workspace zeroed once", lambda n: times[n, 0, "cold", "sum_zeroed"]),
              (BLUE, "none", "sum()", lambda n: times[n, 0, "cold", "sum"]))
    for color, dashes, _, time in curves:
        panel.curve([(n, time(n)) for n in powers], color, dashes)
    panel.legend([entry[:3] for entry in reversed(curves)], 250, 72)

    ratio = Panel(svg, 484, 210, 0.9, 1.8)
    ratio.axes((0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8), "CUB's time / time of sum()", False)
    svg.line(LEFT, ratio.y(1), RIGHT, ratio.y(1))
    entries, means = [], []
    for color, dashes, mode, name, words in ((PURPLE, "2 3", "warm", "sum", "warm"),
                                              (GREEN, "5 3", "cold", "sum_zeroed", "cold, workspace zeroed once"),
                                              (BLUE, "none", "cold", "sum", "cold")):
        ratios = {case: cub(times, *case, mode) / times[(*case, mode, name)] for case in cases}
        ratio.curve([(n, ratios[n, 0]) for n in powers], color, dashes)
        ratio.dots([(case[0], value) for case, value in ratios.items()], color)
        entries.append((color, dashes, words))
        means.append(f"{words} {geometric_mean(ratios.values()):.3f}, {min(ratios.values()):.3f}")
    ratio.legend(entries[::-1], 310, 472)
    svg.text((LEFT + RIGHT) / 2, 730, "n, the number of ints", "middle")
    for i, line in enumerate((
            source(facts),
            "Cold: the L2 cache was flushed by reading before each run. Dotted lines: where sum() changes its strategy.",
            f"Dots: all {len(cases)} cases, with awkward sizes and misaligned inputs. Geometric mean of the ratio, and the "
            "lowest:", "; ".join(means[::-1]) + ".")):
        svg.text(20, 756 + 18 * i, line, size=12)
    return str(svg)


def draw_strategies(folder):
    facts, times = read_times(folder / "limit_strategies.csv")
    contenders = ((PURPLE, "none", "one_block", "one block"), (ORANGE, "none", "one_cluster", "one cluster"),
                  (BLUE, "none", "one_launch", "memset + one launch"), (GREEN, "none", "bulk_copies", "memset + bulk copies"))
    sizes = sorted({key[0] for key in times})
    svg = Svg(WIDTH, 430)
    svg.text(WIDTH / 2, 26, "Which strategy is fastest, by n", "middle", 18, font_weight="bold")
    panel = Panel(svg, 84, 260, 0.98, 1.6)
    panel.axes((1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6), "Time / time of the fastest, cold", True)
    fastest = {n: min(times[n, 0, "cold", name] for _, _, name, _ in contenders if (n, 0, "cold", name) in times)
               for n in sizes}
    for color, dashes, name, _ in contenders:
        ratios = [(n, times[n, 0, "cold", name] / fastest[n]) for n in sizes if (n, 0, "cold", name) in times]
        kept = [(n, value) for n, value in ratios if value <= panel.most]
        panel.curve(kept, color, dashes)
        panel.dots(kept, color)
    panel.legend([(color, dashes, words) for color, dashes, _, words in contenders], 345, 72)
    svg.text((LEFT + RIGHT) / 2, 384, "n, the number of ints", "middle")
    svg.text(20, 406, source(facts), size=12)
    svg.text(20, 424, "Cold: the L2 cache was flushed by reading before each run. Dotted lines: where sum() changes its "
             "strategy.", size=12)
    return str(svg)


def draw_in_flight(folder):
    facts, rows = read_record(folder / "limit_in_flight.csv")
    points = [(row["kernel"], int(row["bytes_in_flight_per_sm"]) / 1024, float(row["bandwidth_gbs"])) for row in rows]
    peak = float(rows[0]["bandwidth_gbs"]) / float(rows[0]["peak_fraction"])
    top, bottom, most = 84, 384, 5000
    least_kib, most_kib = 2, 256

    def x(kib):
        return LEFT + math.log(kib / least_kib) / math.log(most_kib / least_kib) * (RIGHT - LEFT)

    def y(gbs):
        return bottom - gbs / most * (bottom - top)

    svg = Svg(WIDTH, 470)
    svg.text(WIDTH / 2, 26, "More bytes in flight, more bandwidth", "middle", 18, font_weight="bold")
    svg.text(LEFT, top - 12, "GB/s", size=14, font_weight="bold")
    for gbs in range(0, most + 1, 1000):
        svg.line(LEFT, y(gbs), RIGHT, y(gbs), "#dddddd")
        svg.text(LEFT - 8, y(gbs) + 4, f"{gbs:,}", "end", 12)
    for exponent in range(1, 9):
        svg.line(x(2**exponent), bottom, x(2**exponent), bottom + 4)
        svg.text(x(2**exponent), bottom + 18, str(2**exponent), "middle", 12)
    svg.line(LEFT, y(peak), RIGHT, y(peak), INK, "5 4")
    svg.text(LEFT + 6, y(peak) + 16, f"peak {peak:,.0f}", size=12)
    # Little's law with the page's derived latency: a straight line, except for the logarithmic axis.
    few = min((kib, gbs) for kernel, kib, gbs in points if kernel == "reduce10")
    line = [(kib, few[1] * kib / few[0]) for kib in (least_kib * 2**(i / 8) for i in range(57))]
    svg.polyline([(x(kib), y(gbs)) for kib, gbs in line if gbs <= peak], GRAY, "2 3")
    for kernel, color in (("reduce11", ORANGE), ("reduce10", BLUE)):
        mine = [(kib, gbs) for name, kib, gbs in points if name == kernel]
        best = {kib: max(gbs for other, gbs in mine if other == kib) for kib, _ in mine}
        svg.polyline([(x(kib), y(gbs)) for kib, gbs in sorted(best.items())], color)
        for kib, gbs in mine:
            svg.dot(x(kib), y(gbs), color, 2)
    for i, (color, dashes, words) in enumerate(((BLUE, "none", "reduce10: cp.async"), (ORANGE, "none", "reduce11: bulk copies"),
                                                 (GRAY, "2 3", "bytes in flight / latency"))):
        svg.polyline([(300 + 200 * i, 68), (324 + 200 * i, 68)], color, dashes)
        svg.text(330 + 200 * i, 72, words, size=12)
    svg.line(LEFT, top, LEFT, bottom)
    svg.line(LEFT, bottom, RIGHT, bottom)
    svg.text((LEFT + RIGHT) / 2, 424, "KiB in flight per multiprocessor", "middle")
    svg.text(20, 446, f"{source(facts)} {int(rows[0]['n']):,} ints, cold.", size=12)
    svg.text(20, 464, "Dots: all rings that fit, of other stages and bytes per stage. Curves: the fastest one for these bytes. "
             "The latency is reduce10's with the fewest bytes.", size=12)
    return str(svg)


# The parts of a small sum's time, and the ways in which its blocks combine their results.
STEPS = (("events", GRAY, "two events"), ("empty_16_blocks", ORANGE, "launch"), ("block_sums", GREEN, "loads, sums of blocks"))
MEETINGS = ("counted_sum", "reduce12a", "atomic_per_block", "reduce12", "last_block", "two_launches")


def draw_steps(folder):
    facts, rows = read_record(folder / "limit_steps.csv")
    n = 2**14
    times = {row["step"]: float(row["time_us_median"]) for row in rows if int(row["n"]) == n and row["mode"] == "cold"}
    left, scale = 160, (RIGHT - 160 - 40) / 6.5
    svg = Svg(WIDTH, 442)
    svg.text(WIDTH / 2, 26, "Where the time of a small sum goes", "middle", 18, font_weight="bold")
    entry = left
    for color, words in [*((color, words) for _, color, words in STEPS), (BLUE, "the blocks meet")]:
        svg.rect(entry, 52, 12, 12, color)
        svg.text(entry + 18, 63, words, size=12)
        entry += 54 + 6.6 * len(words)
    for us in range(7):
        svg.line(left + us * scale, 84, left + us * scale, 84 + 44 * len(MEETINGS), "#dddddd")
        svg.text(left + us * scale, 102 + 44 * len(MEETINGS), f"{us}", "middle", 12)
    for i, name in enumerate(MEETINGS):
        top, at = 90 + 44 * i, 0
        svg.text(left - 10, top + 21, name, "end", 13, font_weight="bold")
        for step, color, _ in STEPS:
            svg.rect(left + at * scale, top, (times[step] - at) * scale, 32, color)
            at = times[step]
        svg.rect(left + at * scale, top, (times[name] - at) * scale, 32, BLUE)
        svg.text(left + times[name] * scale + 6, top + 21, f"{times[name]:.2f}", size=12)
    svg.text((left + RIGHT) / 2, 388, f"microseconds, cold: {n:,} ints in 16 blocks of 512 threads", "middle")
    svg.text(20, 414, source(facts), size=12)
    svg.text(20, 432, f"Two events with nothing between them are {times['events']:.2f} us apart. Cold: L2 was flushed by reading "
             "before each run. The meeting of atomic_per_block includes a memset.", size=12)
    return str(svg)


def draw_softmax(folder):
    facts, rows = read_record(folder / "ahead_softmax.csv")
    svg = Svg(WIDTH, 430)
    svg.text(WIDTH / 2, 26, "The softmax of 16,777,216 floats, in ever longer rows", "middle", 18, font_weight="bold")
    panel = Panel(svg, 84, 260, 20, 10_000, log=True, exponents=(0, 24), choices=UNITS)
    panel.axes((20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000), "Time [us], cold", True)
    curves = ((GRAY, "none", "torch.softmax", "rival_us"), (BLUE, "none", "softmax()", "ours_us"))
    shapes = [(int(row["case"].rpartition("x")[2]), row) for row in rows
              if row["mode"] == "cold" and row["case"].startswith("float") and int(row["n"]) == 2**24]
    for color, dashes, _, time in curves:
        points = [(columns, float(row[time])) for columns, row in shapes]
        panel.curve(points, color, dashes)
        panel.dots(points, color)
    panel.legend([entry[:3] for entry in reversed(curves)], 250, 72)
    svg.text((LEFT + RIGHT) / 2, 384, "columns: the elements of a row", "middle")
    svg.text(20, 406, f"{facts['device'].split(',')[0]}, driver {facts['driver']}, {facts['toolkit']}, {facts['date'][:10]}; "
             "medians, one run of each in turn, the L2 cache flushed by reading before each.", size=12)
    svg.text(20, 424, "Dotted lines: where softmax() gives a row to another unit.", size=12)
    return str(svg)


DRAWINGS = {"in_flight": draw_in_flight, "steps": draw_steps, "sum": draw_sum, "strategies": draw_strategies,
            "softmax": draw_softmax}
