"""Plots by matplotlib: bars and curves, as SVG that stands in a page and takes its colors and its font from it."""

import io
import re
import xml.etree.ElementTree

from tutorial.svg import power

# Colors that no plot uses: the page's own, light or dark, replace them.
INK, GRID, PAPER, SERIES = "#010101", "#020202", "#040404", [f"#0303{i:02x}" for i in range(6)]
VARIABLES = {INK: "ink", GRID: "grid", PAPER: "paper", **{color: f"series{i}" for i, color in enumerate(SERIES)}}
MARKERS = (("o", "full"), ("s", "none"), ("^", "full"), ("D", "none"), ("s", "full"), ("^", "none"))
DASHES = ("-", (0, (6, 3)), (0, (6, 2, 1, 2)), (0, (6, 2, 1, 2, 1, 2)), (0, (1, 2)), (0, (3, 2)))
WIDTH = 520  # of a plot in a page, in pixels


class NoPlot(Exception):
    """There is no matplotlib."""


def short(value):
    """Three digits, as printed beside a bar."""
    return f"{value:,.0f}" if value == 0 or abs(value) >= 100 else f"{value:#.3g}"


def set_sizes(axes, sizes):
    """A logarithmic axis of sizes that are powers of two, with names for as many as there is room for."""
    sizes = sorted(set(sizes))
    named = sizes[::-(-len(sizes) // 11)]
    axes.set_xscale("log", base=2)
    axes.set_xticks(named, [power(size.bit_length() - 1) for size in named])


def new_figure(width, height):
    """In pixels."""
    try:  # imported here: a machine that only runs the lessons does not need it
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NoPlot(f"{error}") from None
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    figure.patch.set_visible(False)
    return figure


def new_axes(figure, margins, ink=INK, grid=GRID):
    """`margins`: around the axes, left, right, bottom and top, in pixels."""
    width, height = (72 * inches for inches in figure.get_size_inches())
    left, right, bottom, top = margins
    axes = figure.add_axes((left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height))
    axes.patch.set_visible(False)
    for side, spine in axes.spines.items():
        spine.set_edgecolor(ink)
        spine.set_visible(side in ("left", "bottom"))
    axes.tick_params(length=4, color=ink, labelcolor=ink, labelsize=14)
    axes.grid(color=grid, linewidth=0.6)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=ink, size=14)
    return axes


def svg_of(figure, words):
    """matplotlib's drawing, with text that can be searched and selected. `words`: describe the figure, and differ
    from those of all other figures on the page."""
    from matplotlib import rc_context
    from matplotlib.text import Text
    for artist in figure.findobj():
        artist.set_clip_on(False)
    for text_of_plot in figure.findobj(Text):
        text_of_plot.set_parse_math(False)
    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": words}):
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    # A line for each group and text, not for each point of a curve.
    return re.sub(r">\n\s*<(?!g |text)", "><", re.sub(r"\s*\n\s*(?=[^<\s])", " ", text.getvalue()))


def in_page(figure, words):
    """A figure of HTML: without what only a file needs, with the page's colors, and without names of groups, which would be
    those of other figures, too."""
    svg = xml.etree.ElementTree.fromstring(svg_of(figure, words))
    for parent in list(svg.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    for element in svg.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name in list(element.attrib):
            value = element.attrib.pop(name)
            for color, variable in VARIABLES.items():
                value = value.replace(color, f"var(--{variable})")
            if not (name == "id" and element.tag == "g"):
                element.set(name.rpartition("}")[2], value)
    svg.attrib = {"viewBox": svg.get("viewBox"), "role": "img", "aria-label": words}
    return f"<figure>{xml.etree.ElementTree.tostring(svg, encoding='unicode')}</figure>\n"


def set_title(figure, title):
    figure.text(0.5, 1 - 17 / (figure.get_figheight() * 72), title, ha="center", va="center", color=INK,
                size=15 if len(title) < 58 else 12)


def bars(title, unit, values, peak=None):
    """`values`: (name, value), one bar each, from the top down."""
    values = list(values)
    if not values:
        return ""
    longest = max(len(name) for name, _ in values)
    figure = new_figure(WIDTH, 120 + 27 * len(values))
    axes = new_axes(figure, (16 + 8.5 * longest, 28, 52, 52))
    set_title(figure, title)
    axes.set_xlim(0, 1.25 * max([value for _, value in values] + [peak or 0]) or 1)
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.set_xlabel(unit)
    axes.set_yticks(range(len(values)), [name for name, _ in values])
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.barh(range(len(values)), [value for _, value in values], height=0.72, color=SERIES[0])
    for i, (_, value) in enumerate(values):
        # Beside the bar; inside where the peak's line might cross it.
        inside = peak and value > 0.6 * peak
        axes.annotate(short(value), (value, i), (-5 if inside else 5, 0), textcoords="offset points", va="center", size=14,
                      ha="right" if inside else "left", color=PAPER if inside else INK)
    if peak:
        axes.axvline(peak, color=INK, linestyle=DASHES[1], linewidth=1)
        axes.annotate(f"peak {peak:,.0f}", (peak, 1), (0, 4), xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center", va="bottom", color=INK, size=14)
    return in_page(figure, f"{title} [{unit}]: " + ", ".join(f"{name} {short(value)}" for name, value in values))


def lines(title, x_label, y_label, series, peak=None, x_ticks=None, logarithmic=False):
    """`series`: {name: [(x, y), …]}. Without `x_ticks` x is a number of ints, on a logarithmic axis."""
    series = {name: points for name, points in series.items() if points}
    if not series:
        return ""
    top = max([y for points in series.values() for _, y in points] + [peak or 0]) or 1
    rows = -(-len(series) // 3)
    figure = new_figure(WIDTH, 380 + 20 * rows)
    axes = new_axes(figure, (76, 20, 66 + 20 * rows, 36))
    set_title(figure, title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    if x_ticks is None:
        set_sizes(axes, [x for points in series.values() for x, _ in points])
    else:
        axes.set_xticks(x_ticks)
    if logarithmic:
        axes.set_yscale("log", base=2)
        axes.set_ylim(1, 2 * top)
    else:
        axes.set_ylim(0, 1.1 * top)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.minorticks_off()
    for i, (name, points) in enumerate(series.items()):
        marker, fill = MARKERS[i % len(MARKERS)]
        axes.plot(*zip(*points), color=SERIES[i % len(SERIES)], linestyle=DASHES[i % len(DASHES)], linewidth=1.8, marker=marker,
                  markersize=6, fillstyle=fill, label=name)
    if peak:
        axes.axhline(peak, color=INK, linestyle=DASHES[1], linewidth=1)
        axes.annotate(f"peak {peak:,.0f}", (0.03, peak), (0, -4), xycoords=("axes fraction", "data"), textcoords="offset points",
                      va="top", color=INK, size=14)
    figure.legend(loc="lower center", ncol=3, frameon=False, handlelength=3, labelcolor=INK, columnspacing=1.5, fontsize=14)
    return in_page(figure, f"{title}; {y_label} against {x_label}: " + "; ".join(
        f"{name} from {short(points[0][1])} to {short(points[-1][1])}" for name, points in series.items()))


def figures(*those):
    return f'<div class="figures">{"".join(those)}</div>\n' if any(those) else "<p>No run left anything to draw.</p>\n"
