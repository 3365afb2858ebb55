"""The pages of the docs site: Markdown as it stands in the tree, with what it quotes taken afresh from where it
comes from. A page's fenced blocks mean

  ```diff      from one kernel to the next: the diff is made from the two kernels
  ```cpp       lines of a file: they are taken from there, and the file is named above them
  ```console   `$ command`, then its output: what runs a lesson or ./emulate is run again, on the emulator
  ```text      anything else

and a table `| NVIDIA H200, … ints | time [us] | …` holds measured figures: it is made from docs/data, for every card
in there. Doxygen gets pages with Doxygen's headings, so that it knows their sections, and HTML between them.
"""

import difflib
import html
import os
import re
import subprocess
import xml.etree.ElementTree
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from tutorial import ROOT
from tutorial.lessons import all_folders, read_lessons
from tutorial.records import read_record

LEXERS = {".cu": "cuda", ".cuh": "cuda", ".hpp": "cpp", ".cpp": "cpp", ".h": "cpp", ".txt": "text", ".csv": "text"}


class PageError(Exception):
    """What is wrong with a page, and where."""


class Page:
    """A page as it stands in the tree. On the site it may have another title."""

    def __init__(self, path, title=""):
        self.path = path  # from the root: lessons/lesson03_first_add_on_load/README.md
        self.name = page_name(path)
        self.source = (ROOT / path).read_text(encoding="utf-8")
        self.title = title or re.search(r"^# (.*)$", self.source, re.MULTILINE).group(1)


def page_name(path):
    lesson = re.match(r"lessons/(?:lesson|open)(\d\d|[A-Z])_", path)
    if path.startswith("lessons/start/"):
        return "start"
    if not lesson:
        return Path(path).stem.lower()
    return ("exercise" if path.endswith("/exercise.md") else "lesson") + lesson.group(1)


def slug(title):
    """As GitHub makes a heading's anchor."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


# ---- what a page quotes ----

@cache
def lines_of(path):
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


@cache
def lesson_folders():
    return [str(folder.relative_to(ROOT)) for folder in all_folders() if folder.name.startswith("lesson")]


@cache
def part_of(name):
    """Of the course, that a page belongs to; empty if it is no lesson's."""
    return next((lesson.part for lesson in read_lessons() if lesson.name == name), "")


def find_lines(wanted, paths):
    """(path, index of the first of them) in the first of these files that holds them."""
    for path in paths:
        lines = lines_of(path) if (ROOT / path).is_file() else []
        for first in range(len(lines) - len(wanted) + 1):
            if lines[first:first + len(wanted)] == wanted:
                return path, first
    raise PageError("none of the files in question has these lines:\n" + "\n".join(wanted))


def kernel_lines(name, paths):
    for path in paths:
        lines = lines_of(path)
        for first, line in enumerate(lines):
            if line.startswith(f"__global__ void {name}("):
                return path, lines[first:lines.index("}", first) + 1]
    raise PageError(f"there is no kernel {name} in {', '.join(paths)}")


def run_console(block, bin_folder):
    """The block with the programs' output as it is now."""
    result = []
    for command, output in commands_of(block):
        result.append("$ " + command)
        program = re.sub(r"^make .*? && ", "", command)
        if output and re.search(r"\./(lesson\d\d|open[A-Z]|emulate|ladder)\b", program):
            program = re.sub(r"\./(lesson\d\d|open[A-Z]|ladder)\b", r"\g<0> --device emulator", program)
            run = subprocess.run(program, shell=True, cwd=bin_folder, capture_output=True, text=True, timeout=120)
            if not run.stdout:
                raise PageError(f"$ {program}\nprints nothing:\n{run.stderr}")
            output = run.stdout.replace(f"{ROOT}/", "").splitlines()
        result += output
    return result


def commands_of(block):
    commands = []
    for line in block:
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return commands


# ---- measured figures ----

def read_measured(path):
    """The card's name and the record's rows; nothing where there is no record."""
    if not path.is_file():
        return "", []
    facts, rows = read_record(path)
    return facts.get("device", "").split(",")[0], rows


def figures(row, column, factor, decimals):
    return f"{factor * float(row[column]):,.{decimals}f}"


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def measured_table(name, head, kernels, data):
    """The tables of all recorded cards in place of a page's one; None if the head is that of another table."""
    times = re.fullmatch(r"NVIDIA [^,]+, ([\d,]+) ints", head[0])
    tile = re.fullmatch(r"NVIDIA [^,]+, `(lesson\d\d) ?(.*)`", head[0])
    if head[1:] == ["time [us]", "GB/s", "% of peak"] and times:
        lesson = "ladder" if part_of(name) in ("ladder", "") else name
        record, key = "lessons.csv" if lesson != "ladder" else "ladder.csv", "name"
        wanted = {"lesson": lesson, "elements": times.group(1).replace(",", "")}
        columns = (("time_us_median", 1, 1), ("bandwidth_gbs", 1, 1), ("peak_fraction", 100, 1))  # and factor, decimals
    elif head[1:] == ["time [ns]"] and tile:
        record, key = "ncu.csv", "kernel"
        wanted = {"program": tile.group(1), "arguments": tile.group(2)}
        columns = (("gpu__time_duration.sum", 1, 0),)
    else:
        return None
    tables = []
    for folder in sorted(data.iterdir()):
        device, rows = read_measured(folder / record)
        found = {row[key]: row for row in rows if all(row[column] == value for column, value in wanted.items())}
        if device and found:
            lines = [f"| {head[0].replace(head[0].split(',')[0], device)} | {' | '.join(head[1:])} |",
                     "|" + "---|" * len(head)]
            lines += [f"| {kernel} | {' | '.join(figures(found[kernel], *column) for column in columns)} |" if kernel in found
                      else f"| {kernel} | {' | '.join(['not measured yet'] + [''] * (len(head) - 2))} |"
                      for kernel in kernels]
            tables += [*lines, ""]
    return tables or ["Not measured yet.", ""]


def with_measured_tables(page, data):
    """The page's lines, its tables of measured figures made anew."""
    lines, result = page.source.splitlines(), []
    while lines:
        line = lines.pop(0)
        if not line.startswith("| NVIDIA ") or not lines or not lines[0].startswith("|--"):
            result.append(line)
            continue
        rows = [lines.pop(0)]
        while lines and lines[0].startswith("|"):
            rows.append(lines.pop(0))
        table = measured_table(page.name, cells_of(line), [cells_of(row)[0] for row in rows[1:]], data)
        result += [line, *rows] if table is None else table
    return "\n".join(result) + "\n"


# ---- pages as Doxygen takes them ----

def reading_order(pages):
    """The pages, each exercise right after its lesson."""
    exercises = {os.path.dirname(page.path): page for page in pages if re.match(r"lessons/lesson.*/exercise\.md$", page.path)}
    order = []
    for page in pages:
        if page not in exercises.values():
            order.append(page)
            exercise = exercises.get(os.path.dirname(page.path))
            order += [exercise] if exercise else []
    return order


class Site:
    """All pages, and the files that they link to."""

    def __init__(self, pages, bin_folder, figures_folder, data=ROOT / "docs/data", playground=ROOT / "build/playground"):
        self.pages = {page.path: page for page in pages}
        self.order = reading_order(pages)
        self.bin_folder, self.figures_folder, self.data = bin_folder, figures_folder, data
        self.playground = playground  # what `make playground` made, if it was called
        self.files = set()  # that pages link to
        self.markdown = MarkdownIt("commonmark", {"html": True}).enable("table")

    def render(self, page):
        """The page for Doxygen. \\throws PageError"""
        try:
            return self.doxygen_page(page)
        except PageError as error:
            raise PageError(f"{page.path}: {error}") from None

    def doxygen_page(self, page):
        tokens = self.markdown.parse(with_measured_tables(page, self.data))
        result, group = [], []

        def flush():
            if group:
                body = self.markdown.renderer.render(group, self.markdown.options, {})
                result.append(f"\\htmlonly[block]\n{body}\\endhtmlonly\n")
                group.clear()

        index, seen, section = 0, set(), ""
        while index < len(tokens):
            token = tokens[index]
            if token.type == "heading_open":
                if section in ("Run it", "In a web page"):
                    group.append(html_token(token, self.panel(page)))
                flush()
                level = int(token.tag[1])
                text = section = tokens[index + 1].content if level > 1 else page.title
                label = page.name if level == 1 else f"{page.name}_{slug(text)}"
                if label in seen:
                    raise PageError(f"two headings of the same name: {text}")
                seen.add(label)
                result.append(f"{'#' * level} {doxygen_text(text)} {{#{label}}}\n")
                index += 3
                if level == 1:
                    result.append("\\tableofcontents{HTML:2}\n")
                    group.append(html_token(token, self.neighbors(page)))
                    # The same, for readers of the tree.
                    if any(token.content.startswith("[All lessons]") for token in tokens[index + 1:index + 2]):
                        index += 3
                continue
            if token.type == "fence":
                path = path_above(tokens[index - 2].content)
                if path:
                    del group[-3:]  # the caption says it
                token = html_token(token, self.fence(page, token, path))
            elif token.type == "inline" and [child.type for child in token.children] == ["image"]:
                group.pop()  # its paragraph begins
                group.append(html_token(token, self.figure(page, token.children[0])))
                index += 2
                continue
            elif token.type == "inline":
                self.resolve(page, token)
                term = re.match(r"\*\*(.*?)\.\*\*", token.content) if page.name == "glossary" else None
                if term:
                    group[-1].attrs["id"] = f"{page.name}_{slug(term.group(1))}"
            elif token.type == "table_open":
                group.append(html_token(token, '<div class="wide">\n'))
            group.append(token)
            if token.type == "table_close":
                group.append(html_token(token, "</div>\n"))
            index += 1
        group.append(html_token(tokens[0], self.neighbors(page)))
        flush()
        return "\n".join(result)

    def neighbors(self, page):
        position = self.order.index(page)
        both = [("before", self.order[position - 1] if position else None),
                ("next", self.order[position + 1] if position + 1 < len(self.order) else None)]
        links = [f'<a class="{way}" href="{other.name}.html">{html.escape(other.title.replace("`", ""))}</a>'
                 for way, other in both if other]
        return f'<nav class="pages">{"".join(links)}</nav>\n'

    def panel(self, page):
        """Where a reader runs the page's kernels in the browser. Without `make playground` how to get it."""
        if not has_playground(self.playground) or not (self.playground / f"{page.name}.js").is_file():
            return ("<p>To run the kernels in this page, type <code>make playground</code> and then <code>make docs</code>."
                    "</p>\n")
        scripts = f"playground/engine.js playground/{page.name}.js"
        return (f'<details class="playground" data-lesson="{page.name}" data-scripts="{scripts}">'
                "<summary>Run it in this page</summary></details>\n")

    def resolve(self, page, token):
        """Links to pages and files of the project become links to their pages."""
        for child in token.children:
            if child.type == "link_open":
                child.attrs["href"] = self.target(page, child.attrs["href"])
            elif child.type == "image":
                raise PageError(f"a figure needs a paragraph of its own: {child.attrs['src']}")

    def target(self, page, href):
        if "://" in href:
            return href
        path, _, anchor = href.partition("#")
        where = os.path.normpath(os.path.join(os.path.dirname(page.path), path)) if path else page.path
        if where in self.pages:
            name = self.pages[where].name
            return f"{name}.html" + (f"#{name}_{anchor}" if anchor else "")
        if not (ROOT / where).exists():
            raise PageError(f"a link to {href}, which is not there")
        self.files.add(where)
        return file_page_name(where) + ".html"

    def figure(self, page, image):
        path = self.figures_folder / Path(image.attrs["src"]).name
        words = html.escape(image.content)
        if not path.is_file():
            raise PageError(f"{path.name} is shown, and no course/lesson.json and no line of docs/figures.txt makes it")
        xml.etree.ElementTree.parse(path)
        return (f'<figure><a href="{path.name}"><img src="{path.name}" alt="{words}"/></a>'
                f"<figcaption>{words}</figcaption></figure>\n")

    # ---- blocks ----

    def fence(self, page, token, path):
        kind, lines = token.info.strip(), token.content.splitlines()
        if kind == "cpp":
            return self.quoted_code(page, lines, path)
        if kind == "diff":
            return self.quoted_diff(page, lines)
        if kind == "console":
            return console_html(run_console(lines, self.bin_folder))
        if kind == "text":
            return f'<pre class="code fragment">{html.escape(token.content)}</pre>\n'
        raise PageError(f"a block of an unknown kind: ```{kind}")

    def quoted_code(self, page, lines, path):
        folder = os.path.dirname(page.path)
        candidates = [path] if path else [
            f"{folder}/start.cu", f"{folder}/kernels.cuh", f"{folder}/main.cu", "tests/errata/errata_test.cu",
            *(f"{lesson}/{file}" for lesson in lesson_folders() for file in ("kernels.cuh", "main.cu"))]
        path, first = find_lines(lines, candidates)
        self.files.add(path)
        place = f"{first + 1} to {first + len(lines)}" if len(lines) > 1 else str(first + 1)
        caption = (f'<div class="quoted"><a href="{file_page_name(path)}.html#line-{first + 1}">{path}</a>, '
                   f'line{"s" if len(lines) > 1 else ""} {place}</div>')
        return caption + code_html(lines_of(path)[first:first + len(lines)], LEXERS[Path(path).suffix])

    def quoted_diff(self, page, lines):
        names = [re.search(rf"^[ \{sign}]__global__ void (\w+)\(", "\n".join(lines), re.MULTILINE) for sign in "-+"]
        if None in names:
            raise PageError("a diff that does not begin with the two kernels' first lines")
        own = f"{os.path.dirname(page.path)}/kernels.cuh"
        earlier = [f"{folder}/kernels.cuh" for folder in lesson_folders() if f"{folder}/kernels.cuh" < own]
        (old_path, old), (new_path, new) = (kernel_lines(names[0].group(1), [*reversed(earlier), own]),
                                            kernel_lines(names[1].group(1), [own]))
        self.files |= {old_path, new_path}
        diff = list(difflib.unified_diff(old, new, lineterm="", n=len(old)))[3:]
        links = [f'<a href="{file_page_name(path)}.html">{path}</a>' for path in (old_path, new_path)]
        words = " and ".join(dict.fromkeys(links))
        return f'<div class="quoted">made from {words}</div>' + code_html(diff, "diff")

    # ---- pages of files ----

    def file_page(self, path):
        head = f"# {doxygen_text(path)} {{#{file_page_name(path)}}}\n\n\\htmlonly[block]\n"
        if (ROOT / path).is_dir():
            names = sorted(str(file.relative_to(ROOT)) for file in (ROOT / path).rglob("*") if file.is_file())
            self.files |= set(names)
            body = "<ul>" + "".join(f'<li><a href="{file_page_name(name)}.html">{name}</a></li>' for name in names)
            return f"{head}{body}</ul>\n\\endhtmlonly\n"
        lexer = LEXERS.get(Path(path).suffix, "text")
        return f"{head}{code_html(lines_of(path), lexer, numbers=True)}\\endhtmlonly\n"


def has_playground(folder):
    return (folder / "engine.js").is_file() and (folder / "panel.js").is_file()


def file_page_name(path):
    return "file_" + re.sub(r"\W", "_", path)


def path_above(text):
    """`common/emulator/machine/warp.hpp`, if a paragraph is that and nothing else; else nothing."""
    match = re.fullmatch(r"`([\w./]+\.(?:cuh|cu|hpp|cpp|h))`:?", text)
    return match.group(1) if match else ""


def html_token(like, content):
    token = like.copy()
    token.type, token.tag, token.nesting, token.content, token.children = "html_block", "", 0, content, None
    return token


def doxygen_text(text):
    """A heading, for Doxygen's own Markdown."""
    plain = text.replace("`", "")
    return re.sub(r"([\\@<>&#$%])", r"\\\1", plain)


def code_html(lines, lexer, numbers=False):
    formatter = HtmlFormatter(cssclass="code fragment", linespans="line" if numbers else "", wrapcode=True)
    return highlight("\n".join(lines) + "\n", get_lexer_by_name(lexer, stripnl=False), formatter)


def console_html(lines):
    """The theme's copy button leaves out what has the class of Doxygen's line numbers: here all but the commands."""
    body = "".join(f'<span class="prompt lineno">$ </span><b>{html.escape(line[2:])}</b>\n' if line.startswith("$ ")
                   else f'<span class="output lineno">{html.escape(line)}\n</span>' for line in lines)
    return f'<pre class="code console fragment">{body}</pre>\n'
