"""The chart of a lesson's --sweep: on a GPU times against n; on the emulator, which has no time, what is counted per int.
Or of runs with matrices of one size and of many shapes: against the columns."""

import math
import re

from tutorial.counters import INSTRUCTIONS, SECTORS
from tutorial.plots import new_axes, new_figure, set_sizes, svg_of
from tutorial.records import read_record

# Distinguishable with every kind of color vision (Okabe and Ito's colors, and gray), and in print by the points.
STYLES = (("#000000", "s", "none"), ("#e69f00", "o", "none"), ("#56b4e9", "^", "none"), ("#009e73", "D", "none"),
          ("#d55e00", "s", "full"), ("#cc79a7", "v", "none"), ("#0072b2", "o", "full"), ("#777777", "^", "full"))
INK, GRID = "#222222", "#dddddd"
WIDTH, LEFT, RIGHT = 920, 104, 250  # of the picture, and beside the axes; the names stand on the right
HEADER, PANEL, BOTTOM = 80, 360, 62  # heights: of the title, of a panel's axes, of what is below them


def per_element(counters):
    def value(row):
        return sum(float(row[name] or 0) for name in counters) / int(row["elements"]) if row[counters[0]] else None
    return value


def microseconds(row):
    return float(row["time_us_median"]) if row["time_us_median"] else None


def columns_of(row):
    """The matrix's columns, or None if there is none."""
    columns = re.search(r"--columns (\d+)", row["options"])
    return columns and int(columns.group(1))


def size(row):
    return columns_of(row) or int(row["elements"])


def conditions(row, rows):
    """The conditions that all points share."""
    threads = max(int(row["block_x"]) for row in rows)  # a kernel may run in one thread
    if columns_of(row):
        return f"matrices of {int(row['elements']):,} elements, blocks of {threads} threads"
    return f"blocks of {threads} threads {row['options'].replace('--sweep', '')}".strip()


def draw(path):
    """The chart of FILE.csv, as SVG. Raises a ValueError if the file is not a sweep."""
    _, rows = read_record(path)
    if not rows or not {"device_kind", "elements", "name", "time_us_median"} <= set(rows[0]):
        raise ValueError("it has no rows of a sweep")
    first = rows[0]
    if first["device_kind"] == "emulator":
        title = f"{first['lesson']}, emulated: counted, not timed"
        what = "element" if columns_of(first) else "int"
        panels = ((f"warp instructions (PTX) per {what}", per_element([INSTRUCTIONS])),
                  (f"sectors of global memory per {what}", per_element(SECTORS)))
    else:
        title = f"{first['lesson']} on {first['device_name']}"
        panels = (("median time [µs]", microseconds),)
    height = HEADER + len(panels) * (PANEL + BOTTOM)
    figure = new_figure(WIDTH, height)
    figure.patch.set(visible=True, facecolor="white")
    figure.text(0.5, 1 - 26 / height, title, ha="center", va="center", size=17, color=INK)
    figure.text(0.5, 1 - 52 / height, conditions(first, rows), ha="center", va="center", size=14, color=INK)
    for index, (label, value) in enumerate(panels):
        top = HEADER + index * (PANEL + BOTTOM)
        axes = new_axes(figure, (LEFT, RIGHT, height - top - PANEL, top), INK, GRID)
        draw_panel(axes, label, value, rows)
        if index == 0:
            axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.02), frameon=False, labelcolor=INK, fontsize=14,
                        handlelength=3, labelspacing=0.6)
    return svg_of(figure, title)


def draw_panel(axes, label, value, rows):
    set_sizes(axes, [size(row) for row in rows])
    axes.set_yscale("log")
    axes.set_xlabel("columns" if columns_of(rows[0]) else "n [ints]")
    axes.set_ylabel(label)
    values = [number for row in rows if (number := value(row))]  # 0 has no logarithm
    least = math.floor(math.log10(min(values, default=1)))
    axes.set_ylim(10**least, 10**max(math.ceil(math.log10(max(values, default=1))), least + 1))
    axes.yaxis.set_major_formatter(lambda number, _: f"{number:,.0f}" if number >= 1 else f"{number:g}")
    axes.minorticks_off()
    for index, name in enumerate(dict.fromkeys(row["name"] for row in rows)):
        points = [(size(row), value(row)) for row in rows if row["name"] == name and value(row)]
        color, marker, fill = STYLES[index % len(STYLES)]
        axes.plot([n for n, _ in points], [number for _, number in points], color=color, linewidth=1.6, label=name,
                  # Smaller and smaller points, so that those below them stay visible.
                  marker=marker, fillstyle=fill, markersize=max(9 - 0.7 * index, 3.5))
