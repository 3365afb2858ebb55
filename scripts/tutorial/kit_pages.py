"""A lesson's page as a teacher needs it: its sections as blocks, and the slides that they make.

A paragraph becomes its point, the first sentence, and the sentences that derive a number. The whole of it stands in the
slide's notes. Sizes are in inches, those of letters in points. They are estimated, on the wide side, once for both kinds
of slides: PDF and PowerPoint.
"""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from tutorial import ROOT
from tutorial.lessons import ManifestError

WIDTH, HEIGHT = 13.333, 7.5
MARGIN, TOP, BODY = 0.6, 1.35, 5.5  # of a slide's body, and its height
INNER = WIDTH - 2 * MARGIN
TEXT_SIZE, GAP = 22, 0.16
LETTER, CODE_LETTER = 0.52, 0.6  # widths of a letter in its size
LINE, CODE_LINE = 1.3, 1.2  # heights of a line in its size
CODE_SIZES = (16, 12)  # the largest, and the smallest for code that is high; code that is wide gets smaller
TABLE_SIZES, WRAPPED_TABLE = (18, 11), 14  # up to this size, a cell may have several lines
TALL = 1.4  # the width over the height up to which a picture takes the height of a slide, with words beside it
LEAST_PICTURE = 4.2  # the height of a picture and of what stands below it
PICTURE_WORDS = 0.7  # the height of what stands below a picture

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


# ---- blocks ----


@dataclass
class Text:
    """A paragraph: [(words, style)], a style being "", "bold", "italic" or "code"."""

    runs: list


@dataclass
class Items:
    """A list, each of its items with blocks of its own. first: the number of the first one, or None."""

    items: list
    first: int = None


@dataclass
class Code:
    lines: list
    kind: str  # cpp, diff, console, text


@dataclass
class Table:
    rows: list  # of cells, which are runs; the first one is the head


@dataclass
class Picture:
    path: object
    words: str
    beside: list = field(default_factory=list)  # Texts, at the right of a tall one

    @property
    def ratio(self):
        """Its width over its height."""
        box = re.search(r'viewBox="[^ ]+ [^ ]+ ([^ ]+) ([^ ]+)"', self.path.read_text(encoding="utf-8"))
        if not box:
            raise ManifestError(f"{shown_path(self.path)}: a picture on a slide needs a viewBox")
        return float(box.group(1)) / float(box.group(2))

    @property
    def is_tall(self):
        return self.ratio < TALL


@dataclass
class Folded:
    summary: str
    blocks: list


def read_page(path):
    return read_text(path.read_text(encoding="utf-8"), path.parent)


def read_text(source, folder):
    """{heading: its blocks}; what stands above the first heading of level 2 has the heading ''."""
    sections = {"": []}
    for block in blocks_of(SyntaxTreeNode(MARKDOWN.parse(source)).children, folder):
        if isinstance(block, str):
            sections[block] = []
        else:
            sections[list(sections)[-1]].append(block)
    return sections


def blocks_of(nodes, folder):
    """Blocks, and headings of level 2 as texts. What stands between <details> and </details> is Folded."""
    result, around = [], []
    for node in nodes:
        if node.type == "html_block":
            summary = re.search(r"<summary>(.*?)</summary>", node.content)
            if summary:
                around.append((result, re.sub(r"<.*?>", "", summary.group(1))))
                result = []
            elif "</details>" in node.content and around:
                inner, (result, words) = result, around.pop()
                result.append(Folded(words, inner))
        elif node.type == "heading":
            result += [plain(node.children[0])] if node.tag == "h2" else []
        elif node.type == "paragraph":
            inline = node.children[0]
            image = inline.children[0] if [child.type for child in inline.children] == ["image"] else None
            result.append(Picture((folder / image.attrs["src"]).resolve(), image.content.replace("\n", " ")) if image
                          else Text(runs_of(inline)))
        elif node.type == "fence":
            result.append(Code(node.content.rstrip("\n").split("\n"), node.info.strip()))
        elif node.type in ("bullet_list", "ordered_list"):
            first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
            result.append(Items([blocks_of(item.children, folder) for item in node.children], first))
        elif node.type == "table":
            result.append(Table([[runs_of(cell.children[0]) for cell in row.children]
                                 for part in node.children for row in part.children]))
    return result


def runs_of(inline, style=""):
    runs = []
    for child in inline.children or []:
        if child.type in ("softbreak", "hardbreak"):
            runs.append((" ", style))
        elif child.type == "text":
            runs.append((child.content, style))
        elif child.type == "code_inline":
            runs.append((child.content, "code"))
        elif child.type in ("strong", "em", "link"):
            runs += runs_of(child, {"strong": "bold", "em": "italic"}.get(child.type, style))
    return runs


def runs_of_markdown(words):
    return runs_of(SyntaxTreeNode(MARKDOWN.parseInline(words)).children[0])


def plain(inline):
    return words_of(runs_of(inline))


def words_of(runs):
    return "".join(words for words, _ in runs)


def predictions(sections):
    """What the page asks under *Predict first*: blocks, with a list of questions in them."""
    folded = [block for blocks in sections.values() for block in blocks
              if isinstance(block, Folded) and block.summary == "Predict first"]
    return [block for block in folded[0].blocks if not (isinstance(block, Text) and answers_line(block))] if folded else []


def answers_line(text):
    return re.search(r"\bha(s|ve) (the|all) .*answers?|answers, \[", words_of(text.runs)) or "the third." in words_of(text.runs)


def answers(sections):
    """To these questions, as the page has them after its run: blocks."""
    return [block for blocks in sections.values() for folded in blocks
            if isinstance(folded, Folded) and folded.summary == "The answers to your predictions" for block in folded.blocks]


def questions(blocks):
    """Of such blocks."""
    return [item for block in blocks if isinstance(block, Items) for item in block.items]


# ---- the point of a paragraph ----


def sentences(runs):
    """The runs of each sentence. A title like **Sectors.** belongs to the one after it."""
    result, current = [], []
    for words, style in runs:
        if style != "":
            current.append((words, style))
            continue
        for part in re.split(r"(?<=[.!?])(?=\s)", words):
            current.append((part, style))
            if re.search(r"[.!?]$", part):
                result.append(current)
                current = []
    return [sentence for sentence in [*result, current] if words_of(sentence).strip()]


def point(text):
    """The paragraph's first sentence, those that derive a number, and one that leads to what follows."""
    found = sentences(text.runs)
    kept = [sentence for index, sentence in enumerate(found)
            if index == 0 or re.search(r"= [\d,.]+", words_of(sentence)) or
            (index + 1 == len(found) and words_of(sentence).rstrip().endswith(":"))]
    return Text([run for sentence in kept for run in sentence])


# ---- slides ----


@dataclass
class Slide:
    title: str
    blocks: list = field(default_factory=list)  # (block, height, size of its letters)
    notes: list = field(default_factory=list)  # paragraphs
    is_title: bool = False

    @property
    def has_bullets(self):
        """Several paragraphs are points; an answer stands below its question."""
        texts = [block for block, _, _ in self.blocks if isinstance(block, Text)]
        return len(texts) > 1 and not any(isinstance(block, Items) and block.first for block, _, _ in self.blocks)

    @property
    def title_size(self):
        return 40 if self.is_title else 28 if len(self.title) <= 56 else 20

    @property
    def height(self):
        return sum(height + GAP for _, height, _ in self.blocks)


def deck(lesson, sections):
    """The slides of a lesson, in the order of its page."""
    title = Slide(f"Lesson {lesson.number}: {lesson.title}", is_title=True)
    title.blocks = [(block, *measure(block)) for block in lead(sections[""])]
    slides = [title]
    for name, blocks in sections.items():
        if name == "Check yourself":
            slides += check_yourself(blocks)
        elif name == "The change":
            slides += change(blocks)
        elif name not in ("", "Deeper"):
            shown = [block for block in blocks if not isinstance(block, Folded)]
            slides += pack(name, shown, whole=name in ("Try it first", "Where next", "Your turn"))
            slides += pack("Predict first", predictions({name: blocks}), whole=True)
    return slides


def lead(blocks):
    """What the lesson is about: the first paragraph, without the links, the picture and the reading time."""
    pictures = [index for index, block in enumerate(blocks) if isinstance(block, Picture)]
    for block in blocks[pictures[0] + 1 if pictures else 1:]:
        kept = [sentence for sentence in sentences(block.runs) if "Reading time" not in words_of(sentence)]
        if kept:
            return [Text([run for sentence in kept for run in sentence])]
    return []


def change(blocks):
    """The section with the diffs: each under its summary, with the line that leads to it."""
    slides, shown = [], []
    for block in blocks:
        if not isinstance(block, Folded):
            shown.append(block)
            continue
        above = [shown.pop()] if shown and leads(shown[-1]) else []
        slides += [*pack("The change", shown), *pack(block.summary, [*above, *block.blocks])]
        shown = []
    return slides + pack("The change", shown)


def check_yourself(blocks):
    """All questions, then each of them with its answer."""
    asked = [Items([[block for block in item if not isinstance(block, Folded)]], number)
             for number, item in enumerate(questions(blocks), 1)]
    answered = []
    for question, item in zip(asked, questions(blocks)):
        answered += [question, *(inner for block in item if isinstance(block, Folded) for inner in block.blocks)]
    return [*pack("Check yourself", asked, whole=True), *pack("Check yourself: answers", answered, whole=True)]


def pack(title, blocks, whole=False):
    """The blocks on as many slides as they need. A line that leads to a block stays with it."""
    slides = [Slide(title)]
    pieces = [piece for block in blocks for piece in pieces_of(block, whole)]
    for index, (piece, notes) in enumerate(pieces):
        if isinstance(piece, Picture) and piece.is_tall and slides[-1].blocks and leads(slides[-1].blocks[-1][0]):
            piece = Picture(piece.path, piece.words, [slides[-1].blocks.pop()[0]])
        room = BODY - slides[-1].height
        height, size = measure(piece, room if slides[-1].blocks and leads(slides[-1].blocks[-1][0]) else BODY)
        following = 0
        if leads(piece) and index + 1 < len(pieces):
            following = measure(pieces[index + 1][0], BODY - height - GAP)[0] + GAP
            following = following if height + following <= BODY + 0.01 else 0
        if slides[-1].blocks and height + following > room + 0.01:
            slides.append(Slide(title))
            height, size = measure(piece)
        slides[-1].blocks.append((piece, height, size))
        slides[-1].notes += notes
    slides = [slide for slide in slides if slide.blocks]
    for number, slide in enumerate(slides, 1):
        if len(slides) > 1:
            slide.title = f"{title} ({number} of {len(slides)})"
    return slides


def leads(piece):
    """To the piece after it: a line that ends with a colon, a file's name, or a numbered question."""
    if isinstance(piece, Items):
        return piece.first is not None
    return isinstance(piece, Text) and bool(re.search(":$|^lessons/[^ ]*$", words_of(piece.runs).strip()))


def pieces_of(block, whole):
    """(What stands on a slide, its notes): no piece is higher than a slide."""
    if isinstance(block, Text):
        shown = block if whole else point(block)
        return [(shown, [] if whole else [words_of(block.runs)])]
    if isinstance(block, Items):
        result = []
        for index, item in enumerate(block.items):
            texts = [inner for inner in item if isinstance(inner, Text)]
            result.append((Items([texts], None if block.first is None else block.first + index), []))
            result += [piece for inner in item if isinstance(inner, (Code, Table, Items)) for piece in pieces_of(inner, True)]
        return result
    if isinstance(block, Code):
        lines = [without_filter(line) for line in block.lines] if block.kind == "console" else block.lines
        block = Code(lines, block.kind)
        most = int((BODY - 0.3) / (code_size(block.lines, CODE_SIZES[1]) * CODE_LINE / 72))
        count = -(-len(block.lines) // most)
        each = -(-len(block.lines) // count)
        return [(Code(block.lines[first:first + each], block.kind), []) for first in range(0, len(block.lines), each)]
    if isinstance(block, Table):
        return [(Table([block.rows[0], *rows]), []) for rows in parts_of_table(block)]
    if isinstance(block, Picture):
        return [(block, [block.words])]
    return []


def without_filter(line):
    """A command without what picks the rows that matter, which is of no use on a slide."""
    return line.partition(" | ")[0] if line.startswith("$ ") else line


def parts_of_table(table):
    parts = [[]]
    for row in table.rows[1:]:
        if parts[-1] and measure(Table([table.rows[0], *parts[-1], row]))[0] > BODY:
            parts.append([])
        parts[-1].append(row)
    return parts


# ---- sizes ----


def measure(block, room=BODY):
    """(Its height, the size of its letters), made to fit into the room where that stays readable."""
    if isinstance(block, Text):
        return lines_of(block.runs, INNER - 0.45, TEXT_SIZE) * TEXT_SIZE * LINE / 72, TEXT_SIZE
    if isinstance(block, Items):
        lines = sum(lines_of(text.runs, INNER - 0.9, TEXT_SIZE) for item in block.items for text in item)
        return lines * TEXT_SIZE * LINE / 72, TEXT_SIZE
    if isinstance(block, Code):
        size = code_size(block.lines, CODE_SIZES[0])
        while size > CODE_SIZES[1] and code_height(block, size) > room:
            size -= 0.5
        return code_height(block, size), size
    if isinstance(block, Table):
        sizes = [size for size in range(TABLE_SIZES[0], WRAPPED_TABLE, -1) if column_widths(block, size)[1]]
        for size in [*sizes, *range(WRAPPED_TABLE, TABLE_SIZES[1] - 1, -1)]:
            height = table_height(block, size)
            if height <= room:
                break
        return height, size
    return BODY if block.is_tall else max(room, LEAST_PICTURE), 14


def table_height(table, size):
    widths, _ = column_widths(table, size)
    return sum(row_height(row, widths, size) for row in table.rows)


def code_size(lines, most):
    """The size in which the longest line fits."""
    longest = max(map(len, lines))
    return min(most, int(2 * (INNER - 0.4) * 72 / (CODE_LETTER * longest)) / 2)


def code_height(code, size):
    return len(code.lines) * size * CODE_LINE / 72 + 0.3


def letters_of(runs):
    """In widths of an average letter."""
    return sum(len(words) * (CODE_LETTER / LETTER if style == "code" else 1.05 if style == "bold" else 1)
               for words, style in runs)


def lines_of(runs, width, size):
    return max(1, -(-int(letters_of(runs) * LETTER * size * 1.03) // int(width * 72)))


def column_widths(table, size):
    """And whether every cell fits on a line. Otherwise the widest columns are made narrower."""
    widths = [max(letters_of(cell) for cell in column) * LETTER * 1.08 * size / 72 + 0.3 for column in zip(*table.rows)]
    fits = sum(widths) <= INNER
    while sum(widths) > INNER + 0.001:
        widest = max(widths)
        second = max([width for width in widths if width < widest - 0.001], default=0)
        wide = [index for index, width in enumerate(widths) if width > widest - 0.001]
        less = min(widest - second, (sum(widths) - INNER) / len(wide))
        for index in wide:
            widths[index] -= less
    return widths, fits


def row_height(row, widths, size):
    lines = max(lines_of(cell, width - 0.25, size) for cell, width in zip(row, widths))
    return lines * size * LINE / 72 + 0.12


def shown_path(path):
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
