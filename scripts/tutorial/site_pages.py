"""The pages of the docs site: Markdown as it stands in the tree, where scripts/quote keeps what it quotes true. Code and
diffs get links to their files, and diffs the lines that pages leave out. A table of measured times is made for every card
in docs/data.

Doxygen gets pages with Doxygen's headings, so that it knows their sections, and HTML between them.
"""

import html
import os
import re
import xml.etree.ElementTree
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from tutorial import ROOT, quotes
from tutorial.lessons import read_all
from tutorial.quotes import PageError, lines_of
from tutorial.recorded_tables import tables_of
from tutorial.wrong import solution

LEXERS = {".cu": "cuda", ".cuh": "cuda", ".hpp": "cpp", ".cpp": "cpp", ".h": "cpp", ".txt": "text", ".csv": "text"}


class Page:
    """A page as it stands in the tree. On the site it may have another title."""

    def __init__(self, path, title=""):
        self.path = path  # from the root: lessons/lesson03_first_add_on_load/README.md
        self.name = page_name(path)
        self.source = (ROOT / path).read_text(encoding="utf-8")
        self.title = title or re.search(r"^# (.*)$", self.source, re.MULTILINE).group(1)


def page_name(path):
    lesson = re.match(r"lessons/(?:lesson|open)(\d\d|[A-Z])_", path)
    if path == "lessons/start/README.md":
        return "start"
    if not lesson:
        return Path(path).stem.lower()
    stem = Path(path).stem
    return f"exercise{lesson.group(1)}" if stem == "exercise" else f"lesson{lesson.group(1)}" + (
        "" if stem == "README" else f"_{stem}")


def slug(title):
    """As GitHub makes a heading's anchor."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


# ---- pages as Doxygen takes them ----

def reading_order(pages):
    """The pages, each exercise right after its lesson, or after the exercise before if an earlier lesson has its page."""
    exercises = [page for page in pages if re.match(r"lessons/lesson.*/exercise\.md$", page.path)]
    with_page = {os.path.dirname(page.path) for page in pages if page not in exercises}
    order = [page for page in pages if page not in exercises]
    after = None
    for exercise in sorted(exercises, key=lambda page: page.path):
        folder = os.path.dirname(exercise.path)
        if folder in with_page:
            after = [page for page in order if os.path.dirname(page.path) == folder][-1]
        if after:
            order.insert(order.index(after) + 1, exercise)
            after = exercise
    return order


class Site:
    """All pages, and the files that they link to."""

    def __init__(self, pages, figures_folder, data=ROOT / "docs/data", playground=ROOT / "build/playground"):
        self.pages = {page.path: page for page in pages}
        self.order = reading_order(pages)
        self.figures_folder, self.data = figures_folder, data
        self.lessons = read_all()
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
        lines = self.with_measured_tables(page)
        nodes = SyntaxTreeNode(self.markdown.parse("\n".join(lines) + "\n")).children
        blocks = {block.first - 1: block for block in quotes.read_blocks(lines)[0]}
        panel_in = ("The idea",) if "\n## The idea\n" in page.source else ("Run it", "In a web page")
        is_exercise = page.path.endswith("/exercise.md")
        editor_before = "Hints" if is_exercise else ""
        result, labels, section, body = [], set(), "", []
        for node, after in zip(nodes, [*nodes[1:], None]):
            if node.type == "heading" and (section == "Your turn" or node.children[0].content == editor_before):
                body.append(self.editor(page, is_exercise))
            if section in panel_in and (node.type == "heading" or "<summary>Predict first<" in node.content):
                body.append(self.panel(page))
                panel_in = ()
            if node.type == "heading":
                section = node.children[0].content if node.tag != "h1" else page.title
                label = page.name if node.tag == "h1" else f"{page.name}_{slug(section)}"
                if label in labels:
                    raise PageError(f"two headings of the same name: {section}")
                labels.add(label)
                result += [*htmlonly(body), f"{'#' * int(node.tag[1])} {doxygen_text(section)} {{#{label}}}\n"]
                body = [self.neighbors(page)] if node.tag == "h1" else []
                result += ["\\tableofcontents{HTML:2}\n"] if node.tag == "h1" else []
            elif node.type == "fence":
                body.append(self.fence(page, blocks[node.map[0]]))
            elif not says_the_same(node, blocks.get(after.map[0]) if after else None):
                body.append(self.text(page, node))
        return "\n".join([*result, *htmlonly([*body, self.neighbors(page)])])

    def with_measured_tables(self, page):
        """The page's lines, its tables of measured times made anew."""
        lines = page.source.splitlines()
        for table in reversed(tables_of(lines)):
            if table.kind and table.kind.record:
                lines[table.first:table.end] = table.of_every_card(quotes.lesson_of(page.path), self.data)
        return lines

    def text(self, page, node):
        """A paragraph, list or table, as HTML."""
        if node.type == "paragraph" and [child.type for child in node.children[0].children] == ["image"]:
            return self.figure(page, node.children[0].children[0])
        for child in node.walk():
            if child.type == "link":
                child.attrs["href"] = self.target(page, child.attrs["href"])
            elif child.type == "image":
                raise PageError(f"a figure needs a paragraph of its own: {child.attrs['src']}")
            elif child.type == "fence":
                raise PageError("a block inside of something else")
        is_term = page.name == "glossary" and node.type == "paragraph"
        if is_term and (term := re.match(r"\*\*(.*?)\.\*\*", node.children[0].content)):
            node.attrs["id"] = f"{page.name}_{slug(term.group(1))}"
        body = self.markdown.renderer.render(node.to_tokens(), self.markdown.options, {})
        return f'<div class="wide">\n{with_breaks(body)}</div>\n' if node.type == "table" else body

    def neighbors(self, page):
        position = self.order.index(page)
        both = [("before", self.order[position - 1] if position else None),
                ("next", self.order[position + 1] if position + 1 < len(self.order) else None)]
        links = [f'<a class="{way}" href="{other.name}.html">{html.escape(other.title.replace("`", ""))}</a>'
                 for way, other in both if other]
        return f'<nav class="pages">{"".join(links)}</nav>\n'

    def panel(self, page):
        """Where a reader runs the page's kernels in the browser, for each of its lessons. Without `make playground` how to get
        it."""
        names = [lesson.name for lesson in quotes.lessons_on(page.path) if lesson] or [page.name]
        names = [name for name in names if has_playground(self.playground) and (self.playground / f"{name}.js").is_file()]
        if not names:
            return ("<p>To run the kernels in this page, type <code>make playground</code> and then <code>make docs</code>. "
                    "That takes some minutes, once. The page in <code>build/docs/html</code> then has a panel.</p>\n")
        opens = {names[0]: ' data-opens="when seen"'} if names != ["emulate"] else {}
        return "".join(f'<details class="playground" data-lesson="{name}" '
                       f'data-scripts="playground/engine.js playground/{name}.js"{opens.get(name, "")}>'
                       f"<summary>Run {'it' if len(names) == 1 else name} in this page</summary></details>\n" for name in names)

    def editor(self, page, is_exercise):
        """Where the editor of the page's exercises is, if `make serve` serves the page. Else how to get it."""
        exercise_of = (lambda lesson: lesson.folder / "exercise.md") if is_exercise else (lambda lesson: lesson.page)
        lessons = [lesson for lesson in self.lessons if exercise_of(lesson) == ROOT / page.path]
        documents = [f"exercise{lesson.number}" for lesson in lessons]
        panels = [lesson.exercise_panel for lesson in lessons]
        without = solved = ""
        if has_playground(self.playground) and not is_exercise:
            without = (f' Without it, <a href="#{page.name}_the-idea">the panel above</a> runs the lesson\'s kernels, whole or '
                       "broken.")
        elif has_playground(self.playground) and solution(lessons[0]):
            solved = (f'<details class="playground" data-solution="" data-lesson="{panels[0]}" '
                      f'data-scripts="playground/engine.js playground/{panels[0]}.js">'
                      "<summary>Run our solution in this page: it is shown</summary></details>\n")
        return (f'<p class="workbench" data-documents="{" ".join(documents)}" data-panels="{" ".join(panels)}">To edit, run and '
                "check your kernel in this page, type <code>make serve</code> and open the link that it prints."
                f"{without}</p>\n{solved}")

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
        box = xml.etree.ElementTree.parse(path).getroot().get("viewBox")
        width, height = (round(float(size)) for size in box.split()[2:])  # less than 3/4 of the width is hard to read
        below = "" if path.name.startswith("strip_") else f"<figcaption>{words}</figcaption>"  # its drawing has them
        return (f'<figure style="--drawn: {width}px"><a href="{path.name}"><img src="{path.name}" alt="{words}" width="{width}" '
                f'height="{height}" loading="lazy"/></a>{below}</figure>\n')

    # ---- blocks ----

    def fence(self, page, block):
        if block.kind == "cpp":
            return self.quoted_code(page, block)
        if block.kind == "diff":
            return self.quoted_diff(page, block)
        if block.kind == "console":
            return console_html(block.lines)
        if block.kind == "text":
            return f'<pre class="code">{html.escape("".join(line + chr(10) for line in block.lines))}</pre>\n'
        raise PageError(f"a block of an unknown kind: ```{block.kind}")

    def quoted_code(self, page, block):
        path, first = quotes.find_code(page.path, block)
        self.files.add(path)
        last = first + len(block.lines)
        place = f"lines {first + 1} to {last}" if len(block.lines) > 1 else f"line {last}"
        caption = f'<div class="quoted"><a href="{file_page_name(path)}.html#line-{first + 1}">{path}</a>, {place}</div>'
        return caption + code_html(block.lines, LEXERS[Path(path).suffix])

    def quoted_diff(self, page, block):
        if not any(quotes.lessons_on(page.path)) or quotes.NAMED.fullmatch(block.lines[0]):
            quotes.check_excerpt(block.lines)
            return code_html([line.rstrip() for line in block.lines[1:]], "diff")
        (old_path, old), (new_path, new) = quotes.diffed_kernels(page.path, block.lines)
        self.files |= {old_path, new_path}
        links = [f'<a href="{file_page_name(path)}.html">{path}</a>' for path in dict.fromkeys((old_path, new_path))]
        caption, whole = f'<div class="quoted">made from {" and ".join(links)}</div>', quotes.full_diff(old, new)
        if len(whole) == len(block.lines):
            return caption + code_html(whole, "diff")
        return (caption + code_html(block.lines, "diff") +
                f"<details><summary>The whole kernels</summary>{code_html(whole, 'diff')}</details>")

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


def with_breaks(table):
    """A table in which a phone may break long names and paths, between their words: reduce<wbr>Smem<wbr>Unroll."""
    def broken(name):
        return re.sub(r"_+|::|/|[a-z](?=[A-Z])", r"\g<0><wbr>", name[0])

    return re.sub(r">[^<]+", lambda text: re.sub(r"[\w:/]{11,}", broken, text[0]), table)


def htmlonly(body):
    """A list of pieces of HTML, as Doxygen takes it over."""
    return [f"\\htmlonly[block]\n{''.join(body)}\\endhtmlonly\n"] if body else []


def says_the_same(node, block):
    """As what is made without it: the links at the head of a page, or the caption of a block."""
    words = node.children[0].content if node.type == "paragraph" else ""
    is_head = re.match(r"(\[Lessons? [^]]*\]\(\S*\)\s+·\s+)?\[All lessons\]", words)
    return bool(is_head or block and block.path and words.startswith(f"`{block.path}`"))


def doxygen_text(text):
    """A heading, for Doxygen's own Markdown."""
    plain = text.replace("`", "")
    return re.sub(r"([\\@<>&#$%])", r"\\\1", plain)


class WrappedLines(HtmlFormatter):
    """Each line is an element, so that a long one can go on below itself."""

    def wrap(self, source):
        return super().wrap((is_line, f'<span class="line">{text}</span>') for is_line, text in source)


def code_html(lines, lexer, numbers=False):
    formatter = (HtmlFormatter(cssclass="code fragment", linespans="line", wrapcode=True) if numbers
                 else WrappedLines(cssclass="code wrapped fragment", wrapcode=True))
    return highlight("\n".join(lines) + "\n", get_lexer_by_name(lexer, stripnl=False), formatter)


def console_html(lines):
    body = "".join(f'<span class="prompt">$ </span><b class="command">{html.escape(line[2:])}</b>\n' if line.startswith("$ ")
                   else f"{html.escape(line)}\n" for line in lines)
    return f'<pre class="code console fragment">{body}</pre>\n'
