"""Figures that move. Each is a family of variants, drawn frame by frame: docs/site/live.js plays them on the site, and a
frame of each variant is its still picture, an SVG, for pages without script.

What is drawn `during` some frames is seen in these. A frame has a caption and the source line that runs in it.
"""

import json
import re
from contextlib import contextmanager
from typing import NamedTuple

from tutorial.pictures import Picture
from tutorial.svg import INK

# One color, one meaning, in all figures; each with its color on a dark page.
WORKS, HOLDS, RESTS = "#0072b2", "#d6e8f7", "#f1f2f4"  # executes now; has its value; nothing happens
EXTRA, MEMORY, PIPE, BARRIER, STARTS = "#c44f00", "#e69f00", "#8f5fbf", "#2f9e77", "#8a94a0"
DARK_COLORS = {EXTRA: "#ff8a3d", MEMORY: "#f0b429", PIPE: "#b794e6", BARRIER: "#4cc79b", STARTS: "#a3adb8", WORKS: "#56b4e9"}


def dark_rules():
    found = [f'{tag}[{attribute}="{light}"]{{{attribute}:{dark}}}' for light, dark in DARK_COLORS.items()
             for tag, attribute in (("rect", "fill"), ("path", "fill"), ("line", "stroke"), ("path", "stroke"))]
    found += [f'path[{kind}="{light}"]{{{kind}:{dark}}}' for light, dark in ((HOLDS, "#174365"), (RESTS, "#1e252d"))
              for kind in ("fill", "stroke")]
    return "".join(found)


class Framed(NamedTuple):
    """Elements that are seen in some frames."""

    first: int
    last: int | None  # None: the last frame
    elements: list


class Moving(NamedTuple):
    """Elements that move to the right by `step` with each frame."""

    step: float
    elements: list


class Rows(NamedTuple):
    """Rows of equal cells, a letter for each. live.js draws them in the same way: as strokes, which are short to write."""

    place: tuple  # x, y, width and height of a cell, the gaps between cells to the right and below
    colors: dict  # by letter; any other letter leaves a cell empty
    rows: list

    def paths(self):
        x, y, width, height, right, below = self.place
        paths = dict.fromkeys(self.colors, "")
        for number, row in enumerate(self.rows):
            middle = y + height * number + (height - below) / 2
            for run in re.finditer("." if right else r"(.)\1*", row):  # without gaps, equal ones are drawn as one
                if run[0][0] in paths:
                    paths[run[0][0]] += f"M{x + width * run.start():.5g} {middle:.5g}h{width * len(run[0]) - right:.5g}"
        return "".join(f'<path d="{path}" fill="none" stroke="{self.colors[letter]}" stroke-width="{height - below:g}"/>'
                       for letter, path in paths.items() if path)

    def data(self):
        """Three cells that are equal and more become a letter and their number."""
        return self.place, self.colors, [re.sub(r"(.)\1\1+", lambda run: f"{run[1]}{len(run[0])}", row) for row in self.rows]


class Live(Picture):
    """A variant of a figure: what its toggle shows, its frames, and its drawing."""

    dark = Picture.dark[:-1] + dark_rules() + "}"

    def __init__(self, name, height, title):
        super().__init__(height, title)
        self.name, self.frames, self.still = name, [], None
        self.source, self.ms, self.drag = None, 1400, None

    def frame(self, caption, *lines):
        """Its number. `lines`: of the source, those that run."""
        self.frames.append([caption, *lines])
        return len(self.frames) - 1

    def during(self, first, last=None):
        """What is drawn within is seen in these frames. `last`: None, to the end."""
        return self.inside(Framed(first, last, []))

    def moving(self, step):
        return self.inside(Moving(step, []))

    @contextmanager
    def inside(self, part):
        outer, self.elements = self.elements, part.elements
        yield
        self.elements = outer
        outer.append(part)

    def cells(self, places, width, height, fill, **more):
        """Equal rectangles in one element; `places`: of their upper left corners."""
        path = "".join(f"M{x:g} {y:g}h{width:g}v{height:g}h{-width:g}z" for x, y in places)
        if path:
            self.path(path, fill, **more)

    def path(self, path, fill, **more):
        style = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
        self.elements.append(f'<path d="{path}" fill="{fill}"{style}/>')

    def rows(self, *those):
        self.elements.append(Rows(*those))

    def __str__(self):
        """The still picture."""
        still = self.number_of_still()

        def shown(element):
            if isinstance(element, Moving):
                return f'<g transform="translate({element.step * still:g})">{"".join(map(shown, element.elements))}</g>'
            if isinstance(element, Framed):
                is_seen = element.first <= still <= (still if element.last is None else element.last)
                return "".join(map(shown, element.elements)) if is_seen else ""
            return element.paths() if isinstance(element, Rows) else element

        all_elements, self.elements = self.elements, [words for words in map(shown, self.elements) if words]
        try:
            return super().__str__()
        finally:
            self.elements = all_elements

    def number_of_still(self):
        return len(self.frames) - 1 if self.still is None else self.still

    def data(self):
        rows = []

        def markup(elements):
            return grouped("".join(map(one, elements)))

        def one(element):
            if isinstance(element, Moving):
                return f'<g data-step="{element.step:g}">{markup(element.elements)}</g>'
            if isinstance(element, Framed):
                last = len(self.frames) - 1 if element.last is None else element.last
                return f'<g data-f="{element.first} {last}">{markup(element.elements)}</g>'
            if isinstance(element, Rows):
                rows.append(element)
                return f'<g data-rows="{len(rows) - 1}"></g>'
            return element

        svg = markup(self.elements).replace('"', "'")  # or JSON would mark each
        more = {"source": self.source, "drag": self.drag, "rows": [each.data() for each in rows]}
        return {"name": self.name, "size": [self.width, self.height], "svg": svg, "frames": self.frames,
                "still": self.number_of_still(), "ms": self.ms,
                **{name: value for name, value in more.items() if value}}


def grouped(markup):
    """Shorter: elements in a row with the same looks share a group that has these."""
    short = markup.replace(' stroke-dasharray="none"', "").replace(' text-anchor="start"', "").replace('.0"', '"')

    def group(match):
        return (f"<g{match['looks']}>" + re.sub(r' [a-z-]+="[^"]*"', lambda one: one[0] if PLACE.match(one[0]) else "", match[0])
                + "</g>")

    return SAME_LOOKS.sub(group, short)


PLACE = re.compile(r' (?:x|y|x1|x2|y1|y2|width|height|d|points)="')
SAME_LOOKS = re.compile(r'<(?P<tag>text|rect|line|path|polygon)(?P<place>(?: (?:x|y|x1|x2|y1|y2|width|height|d|points)="[^"]*")+)'
                        r'(?P<looks>[^/>]*)(?:/>|>[^<]*</text>)'
                        r'(?:<(?P=tag)(?: (?:x|y|x1|x2|y1|y2|width|height|d|points)="[^"]*")+(?P=looks)(?:/>|>[^<]*</text>))+')


def source_lines(path, first, last, root):
    """A part of a file, without the indentation that all of its lines have."""
    lines = (root / path).read_text(encoding="utf-8").splitlines()[first - 1:last]
    indented = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return {"file": str(path), "first": first, "lines": [line[indented:] for line in lines]}


def write_figure(folder, figure, variants, label):
    """The stills of all variants, and the data of the whole figure. `label`: what the toggle is about."""
    for variant in variants:
        name = f"live_{figure}_{variant.name}.svg" if variant.name else f"live_{figure}.svg"
        (folder / name).write_text(str(variant), encoding="utf-8")
    write_data(folder, figure, variants, label)


def write_data(folder, figure, variants, label):
    data = {"label": label, "variants": [variant.data() for variant in variants]}
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    (folder / f"live_{figure}.js").write_text(f'live.add("{figure}",{text});\n', encoding="utf-8")


def page_style():
    """The colors in a dark page, which a reader may choose against the system's."""
    rules = "".join(re.findall(r"@media[^{]*\{(.*?\})\}", Live.dark.replace("\n", "")))
    # Groups have the looks of what is in them, so any element with a color changes it; text has the figure's.
    rules = sorted({re.sub(r"^\w+", "", rule) for rule in re.findall(r"[^{}]+\{[^}]*\}", rules) if ":not(" not in rule})
    for_page = "".join(f"html.dark-mode .live svg {rule}\n" for rule in rules)
    return f".live svg{{fill:{INK}}}\nhtml.dark-mode .live svg{{fill:#e6eaef}}\n{for_page}"
