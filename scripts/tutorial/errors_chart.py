"""The errors of float sums: read from a lesson's output, and drawn against n."""

import math
import os
import subprocess

from tutorial.lessons import read_lessons
from tutorial.records import read_record
from tutorial.svg import BLUE, GRAY, GREEN, INK, ORANGE, PURPLE, Svg, power

COLUMNS = ("data", "n", "kernel", "sum", "error_ulp", "relative_error", "bound", "condition_number")
# What is drawn of each kind of data: a title, the smallest and the largest error, and whether the bounds are drawn.
PANELS = (("", "elements from 0 to 1", -9, 1, True), ("--cancel", "large elements that cancel", -9, 4, False))
STYLES = {"sum_sequential": (ORANGE, "none"), "sum_atomic": (PURPLE, "6 3"), "sum_tree": (BLUE, "none"),
          "sum_kahan": (GREEN, "6 3"), "sum_in_double": (INK, "2 3"), "sum_reproducible": (GRAY, "none")}
WIDTH, LEFT, RIGHT, HEIGHT, EXPONENTS = 960, 76, 770, 300, (10, 26)
ROUNDING = 2.0**-24


def errors_of(bin_folder, data, exponent, kernels=()):
    """The rows of one run, of all kernels if none is named. It uses one processor, which runs the blocks in order:
    the sum by atomics depends on it."""
    program = next(lesson.name for lesson in read_lessons() if "sum_reproducible" in lesson.kernels)
    command = [f"./{program}", "--device", "emulator", "--n", str(2**exponent), *data.split(),
               *(word for kernel in kernels for word in ("--kernel", kernel))]
    run = subprocess.run(command, cwd=bin_folder, capture_output=True, text=True,
                         preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    if run.returncode != 0:
        raise ValueError(f"{' '.join(command)}\n{run.stderr}")
    lines = iter(run.stdout.splitlines())
    condition = next(line.split()[-1] for line in lines if line.startswith("condition number "))
    next(lines)  # the table's head
    return [(data, str(2**exponent), *line.split(), condition) for line in table(lines)]


def table(lines):
    """The lines up to the first empty one after a row."""
    for line in lines:
        if line:
            yield line
        else:
            return


def draw(folder):
    """The chart of float_errors.csv."""
    _, rows = read_record(folder / "float_errors.csv")
    svg = Svg(WIDTH, len(PANELS) * (HEIGHT + 90) + 20)
    for index, (data, title, least, most, has_bounds) in enumerate(PANELS):
        top = 50 + index * (HEIGHT + 90)

        def at(n, error, top=top, least=least, most=most):
            x = LEFT + (math.log2(n) - EXPONENTS[0]) / (EXPONENTS[1] - EXPONENTS[0]) * (RIGHT - LEFT)
            height = math.log10(max(error, 10.0**least)) - least  # An error of 0 is drawn at the bottom.
            return x, top + HEIGHT * (1 - height / (most - least))

        svg.text(LEFT, top - 16, f"Relative error of a sum of n floats, {title}", size=14, font_weight="bold")
        for exponent in range(least, most + 1, 2):
            y = at(2, 10.0**exponent)[1]
            svg.line(LEFT, y, RIGHT, y, "#dddddd")
            svg.text(LEFT - 8, y + 4, power(exponent, 10), "end", 12)
        for exponent in range(EXPONENTS[0], EXPONENTS[1] + 1, 2):
            x = at(2**exponent, 1)[0]
            svg.line(x, top + HEIGHT, x, top + HEIGHT + 4)
            svg.text(x, top + HEIGHT + 18, power(exponent), "middle", 12)
        svg.line(LEFT, top, LEFT, top + HEIGHT)
        svg.line(LEFT, top + HEIGHT, RIGHT, top + HEIGHT)
        entries = []
        if has_bounds:
            sizes = [2**exponent for exponent in range(EXPONENTS[0], EXPONENTS[1] + 1)]
            for words, bound in (("n u", lambda n: n * ROUNDING), ("log2(n) u", lambda n: math.log2(n) * ROUNDING)):
                points = [at(n, bound(n)) for n in sizes]
                svg.polyline(points, INK, "1 4")
                svg.text(RIGHT + 6, points[-1][1] + 4, words, size=12, font_style="italic")
        for kernel, (color, dashes) in STYLES.items():
            points = [at(int(row["n"]), float(row["relative_error"])) for row in rows
                      if row["data"] == data and row["kernel"] == kernel]
            svg.polyline(points, color, dashes)
            for x, y in points:
                svg.dot(x, y, color)
            entries.append((color, dashes, kernel))
        for line, (color, dashes, words) in enumerate(entries):
            y = top + 56 + 20 * line
            svg.polyline([(RIGHT + 12, y - 4), (RIGHT + 42, y - 4)], color, dashes)
            svg.text(RIGHT + 48, y, words, size=12)
    return str(svg)
