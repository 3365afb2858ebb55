"""The chart of `make ladder`: ladder.json, beside the figures published for a V100."""

from tutorial import ROOT
from tutorial.counters import INSTRUCTIONS, WAVEFRONTS
from tutorial.records import read_record
from tutorial.svg import BLUE, GRAY, INK, ORANGE, Svg

WIDTH, TOP, ROW, BOTTOM = 960, 118, 34, 104
NAMES = 130  # where the kernels' names end
PANELS = ((142, 330), (570, 280))  # left edge and width of the two panels' axes; the figures are to their right


class Panel:
    """Bars next to the other panel's: one row per kernel. An axis from 0 to `top`."""

    def __init__(self, svg, place, rows, top, unit):
        self.svg, (self.left, self.width), self.rows, self.top = svg, place, rows, top
        bottom = TOP + rows * ROW
        for tick in range(5):
            x = self.x(top * tick / 4)
            svg.line(x, TOP, x, bottom, INK if tick == 0 else "#dddddd")
            svg.text(x, bottom + 17, f"{top * tick / 4:g}", "middle", 12)
        svg.text(self.left + self.width / 2, bottom + 37, unit, "middle")

    def x(self, value):
        return self.left + self.width * value / self.top

    def bars(self, row, values, inside=False):
        """`values`: (number, its label, color); `inside`: within the bar, if that is long."""
        height = (ROW - 8) / len(values)
        for i, (value, label, color) in enumerate(values):
            y = TOP + row * ROW + 4 + i * height
            self.svg.rect(self.left, y, self.x(value) - self.left, height - 1, color)
            size = 11 if len(values) > 1 else 12
            if inside and value > self.top / 2:  # clear of the peak's line
                self.svg.text(self.x(value) - 5, y + height / 2 + 3.5, label, "end", size,
                              fill="white" if color == BLUE else INK)
            else:
                self.svg.text(self.x(value) + 4, y + height / 2 + 3.5, label, size=size)

    def peak(self, value, label):
        self.svg.line(self.x(value), TOP - 6, self.x(value), TOP + self.rows * ROW, INK, "5 3")
        self.svg.text(self.x(value), TOP - 10, label, "middle", 12)

    def title(self, words):
        self.svg.text(self.left, 62, words, size=14, font_weight="bold")

    def legend(self, entries):
        x = self.left
        for color, words in entries:
            self.svg.rect(x, 75, 11, 11, color)
            self.svg.text(x + 16, 85, words, size=12)
            x += 26 + 6.2 * len(words)


def read_published():
    """The facts of the published figures, and those by kernel."""
    facts, rows = read_record(ROOT / "docs/data/published/v100.csv")
    return facts, {row["kernel"]: row for row in rows}


def round_up(value):
    """Rounds up to an axis's end: 1, 2, 4 or 8 times a power of ten, or half of that."""
    power = 1
    while power * 10 <= value:
        power *= 10
    return next(power * step for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 4.8, 6, 8, 10) if power * step >= value)


def draw_counters(svg, report):
    kernels = report["kernels"]

    def percents(names):
        sums = [sum(kernel["counters"][name] for name in names) for kernel in kernels]
        return [100 * value / max(sums[0], 1) for value in sums]

    instructions, wavefronts = percents([INSTRUCTIONS]), percents(WAVEFRONTS)
    first = kernels[0]["name"]
    panel = Panel(svg, PANELS[0], len(kernels), round_up(max(instructions + wavefronts)), f"percent of {first}")
    panel.title("Emulated: counted, not timed")
    panel.legend([(BLUE, "instructions (PTX), per warp"), (ORANGE, "shared-memory wavefronts")])
    for row, pair in enumerate(zip(instructions, wavefronts)):
        panel.bars(row, [(value, f"{value:.3g}", color) for value, color in zip(pair, (BLUE, ORANGE))])
    return "Emulated GPU: counters of the first launch, which say nothing about time"


def draw_bandwidths(svg, report):
    kernels, device = report["kernels"], report["device"]
    peak = device["peak_bandwidth_gbs"]
    top = round_up(max([peak or 0, *(kernel["bandwidth_gbs"] for kernel in kernels)]))
    panel = Panel(svg, PANELS[0], len(kernels), top, "GB/s (1e9 bytes per second), median")
    panel.title(f"Measured: {device['name']}")
    if peak:
        panel.peak(peak, f"peak {peak:.0f}")
    has_complete = all(complete_time(kernel) for kernel in kernels)
    if has_complete:
        panel.legend([(BLUE, "first launch"), (ORANGE, "complete sum: all launches")])
    for row, kernel in enumerate(kernels):
        values = [(kernel["bandwidth_gbs"], BLUE)]
        if has_complete:  # Only the ints: the partial sums are the method's own traffic.
            values.append((4e-3 * report["elements"] / complete_time(kernel), ORANGE))
        panel.bars(row, [(value, f"{value:.0f}" + (f" ({100 * value / peak:.1f} %)" if peak else ""), color)
                         for value, color in values], inside=True)
    return (f"{device['name']}: effective bandwidth of the first launch{' and of complete sums' if has_complete else ''}, "
            "and its share of the card's peak")


def complete_time(kernel):
    """In us, of all launches; None where only the first one was timed, as in records of older programs."""
    return (kernel.get("complete_time_us") or {}).get("median")


def draw_published(svg, kernels, facts, rows):
    peak = float(facts["peak_bandwidth_gbs"])
    panel = Panel(svg, PANELS[1], len(kernels), round_up(peak), "GB/s (1e9 bytes per second)")
    panel.title(f"Published elsewhere: {facts['device']}")
    panel.peak(peak, f"peak {peak:.0f}")
    for row, kernel in enumerate(kernels):
        if kernel["name"] in rows:
            figures = rows[kernel["name"]]
            label = f"{figures['bandwidth_gbs']} ({figures['peak_percent']} %)"
            panel.bars(row, [(float(figures["bandwidth_gbs"]), label, GRAY)], inside=True)
        else:
            svg.text(panel.left + 4, TOP + row * ROW + 21, "not published", size=12)


def draw(report):
    """The chart, as SVG. `report`: ladder.json, or an object of the same form."""
    facts, rows = read_published()
    kernels = report["kernels"]
    on_gpu = all(kernel["bandwidth_gbs"] for kernel in kernels)
    if not kernels or not (on_gpu or all(kernel["counters"] for kernel in kernels)):
        raise ValueError("it has neither bandwidths nor counters (--verify leaves them out)")
    svg = Svg(WIDTH, TOP + ROW * len(kernels) + BOTTOM)
    svg.text(WIDTH / 2, 28, "The reduction ladder", "middle", 18, font_weight="bold")
    source = (draw_bandwidths if on_gpu else draw_counters)(svg, report)
    draw_published(svg, kernels, facts, rows)
    for row, kernel in enumerate(kernels):
        svg.text(NAMES, TOP + row * ROW + 21, kernel["name"], "end", font_weight="bold")
    below = TOP + ROW * len(kernels) + 66
    svg.text(20, below, f"Left: {source}. {report['elements']:,} ints, blocks of {kernels[0]['block'][0]}.", size=12)
    svg.text(20, below + 18, f"Right: published for a {facts['device']}, {facts['input']}: {facts['source']}", size=12)
    return str(svg)
