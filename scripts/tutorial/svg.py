"""Drawing for the charts of the ladder, of the limit and of errors: bars and curves with text at fixed places, light
and dark. They need no matplotlib, so `make ladder` doesn't either, and they are byte-identical everywhere."""

from xml.sax.saxutils import escape

# Told apart by every kind of color vision, and in gray by their lightness.
BLUE, ORANGE, GRAY, INK = "#0072b2", "#e69f00", "#bbbbbb", "#222222"
GREEN, PURPLE = "#009e73", "#cc79a7"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# What is written in a bar keeps its color.
DARK = """@media screen and (prefers-color-scheme:dark){rect[fill=white]{fill:#12161b}text:not([fill]){fill:#e6eaef}
line[stroke="#222222"]{stroke:#e6eaef}line[stroke="#dddddd"]{stroke:#2a313a}
polyline[stroke="#0072b2"]{stroke:#56b4e9}circle[fill="#0072b2"]{fill:#56b4e9}}"""


def attributes(those):
    return "".join(f' {key.replace("_", "-")}="{value}"' for key, value in those.items())


def power(exponent, base=2):
    return f"{base}{str(exponent).translate(SUPERSCRIPTS)}"


class Svg:
    """Elements, one after the other."""

    dark = DARK

    def __init__(self, width, height, shown=1):
        """`shown`: how many times as large it is shown where there is room."""
        self.width, self.height, self.shown, self.elements = width, height, shown, []

    def text(self, x, y, words, anchor="start", size=13, **more):
        style = attributes(more)
        self.elements.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{style}>{escape(words)}</text>')

    def rect(self, x, y, width, height, fill, **more):
        self.elements.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" fill="{fill}"'
                             f'{attributes(more)}/>')

    def line(self, x1, y1, x2, y2, color=INK, dashes="none"):
        self.elements.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" '
                             f'stroke-dasharray="{dashes}"/>')

    def polyline(self, points, color, dashes="none"):
        words = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.elements.append(f'<polyline points="{words}" fill="none" stroke="{color}" stroke-width="2" '
                             f'stroke-dasharray="{dashes}"/>')

    def dot(self, x, y, color, radius=2.5):
        before = self.elements.pop() if self.elements and self.elements[-1].startswith("<circle") else ""  # one line of the file
        self.elements.append(f'{before}<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>')

    def __str__(self):
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width * self.shown:g}" height="{self.height * self.shown:g}" '
            f'font-family="Helvetica, Arial, sans-serif" fill="{INK}">',
            "<style>" + self.dark.replace("\n", "") + "</style>",
            f'<rect width="{self.width}" height="{self.height}" fill="white"/>', *self.elements,
            "</svg>", ""])
