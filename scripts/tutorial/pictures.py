"""The pictures that pages explain things with. They are narrow, so that a phone shows them readably."""

from tutorial.records import read_record
from tutorial.svg import BLUE, GRAY, INK, Svg

WIDTH = 400

# What the short ladder shows: kernels, and the idea that each adds to those above it.
STEPS = (("reduce0", "first kernel"), ("reduce2", "sequential addressing"), ("reduce3", "two elements per thread"),
         ("reduce6", "many elements per thread"), ("reduce7", "warp shuffles"), ("reduce8", "vectorized loads"),
         ("cub::Sum", "NVIDIA's library CUB"))
LADDER_ELEMENTS = 268_435_456


def draw_ladder_short(folder):
    """Complete sums: all launches. What a first launch leaves is no sum, and CUB's calls are timed as a whole."""
    facts, rows = read_record(folder / "ladder.csv")
    rows = {row["name"]: row for row in rows if int(row["elements"]) == LADDER_ELEMENTS}
    top, height, left, scale = 56, 34, 186, 1.92
    bottom = top + height * len(STEPS)
    svg = Svg(WIDTH, bottom + 66, shown=1.2)
    svg.text(WIDTH / 2, 24, "Idea by idea, closer to the memory's peak", "middle", 15, font_weight="bold")
    svg.text(left, 44, "achieved bandwidth, % of peak", size=12)
    for percent in range(0, 101, 25):
        x = left + scale * percent
        svg.line(x, top, x, bottom, INK if percent in (0, 100) else "#dddddd", "5 3" if percent == 100 else "none")
        svg.text(x, bottom + 16, f"{percent}", "middle", 12)
    for i, (name, words) in enumerate(STEPS):
        y = top + height * i
        gbs = 4e-3 * LADDER_ELEMENTS / float(rows[name]["complete_time_us_median"])
        share = 100 * gbs / float(rows[name]["peak_bandwidth_gbs"])
        own = name.startswith("reduce")
        svg.text(left - 8, y + height / 2 + 4, words, "end")
        svg.rect(left, y + 5, scale * share, height - 10, BLUE if own else GRAY)
        inside = {"fill": "white" if own else INK} if share > 50 else {}
        svg.text(left + scale * share + (-6 if inside else 6), y + height / 2 + 5, f"{share:.1f}", "end" if inside else "start",
                 font_weight="bold", **inside)
    svg.text(WIDTH / 2, bottom + 38, f"Steps from lessons 00 to 08. {LADDER_ELEMENTS:,} ints, all launches.", "middle", 12)
    svg.text(WIDTH / 2, bottom + 54, f"{facts['device'].split(',')[0]}, driver {facts['driver']}, {facts['date'][:10]}",
             "middle", 12)
    return str(svg)


PICTURES = {"ladder_short": draw_ladder_short}
