"""Slides and sheets as HTML, and HTML as PDF."""

import html

from tutorial.kit_pages import (
    CODE_LINE,
    HEIGHT,
    INNER,
    LINE,
    MARGIN,
    PICTURE_WORDS,
    TEXT_SIZE,
    TOP,
    WIDTH,
    Code,
    Items,
    Picture,
    Table,
    Text,
    column_widths,
    runs_of_markdown,
)
from tutorial.programs import Failure

FONTS = """
body { font-family: "Liberation Sans", Arial, sans-serif; margin: 0; color: #1b1f24; }
code, pre { font-family: "Liberation Mono", "Courier New", monospace; }
pre { background: #f6f8fa; border: 1px solid #d0d7de; margin: 0; white-space: pre; }
.add { background: #d9f2dd; } .del { background: #fbe0dd; } .prompt { font-weight: bold; }
table { border-collapse: collapse; } td, th { border-bottom: 1px solid #d0d7de; text-align: left; vertical-align: top; }
"""

SLIDES = FONTS + f"""
@page {{ size: {WIDTH}in {HEIGHT}in; margin: 0; }}
section {{ position: relative; width: {WIDTH}in; padding: {TOP}in {MARGIN}in 0.5in; box-sizing: border-box; break-after: page; }}
h1 {{ position: absolute; top: 0.4in; left: {MARGIN}in; margin: 0; color: #0b5394; width: {INNER}in; }}
footer {{ position: absolute; top: {HEIGHT - 0.42}in; left: {MARGIN}in; width: {INNER}in; font-size: 11pt; color: #57606a; }}
p, ul, ol {{ margin: 0 0 0.16in; line-height: {LINE}; font-size: {TEXT_SIZE}pt; }}
li p {{ margin: 0; }} ul, ol {{ padding-left: 0.5in; }}
pre {{ line-height: {CODE_LINE}; padding: 0.1in 0.15in; margin-bottom: 0.16in; }}
td, th {{ padding: 0.06in 0.15in 0.06in 0.1in; line-height: {LINE}; }} table {{ margin-bottom: 0.16in; }}
.title h1 {{ top: 2.2in; }} .title {{ padding-top: 3.9in; }}
img {{ max-width: {INNER}in; display: block; margin: 0 auto 0.1in; object-fit: contain; }}
img.tall {{ float: left; margin: 0 0.4in 0 0; }} img.tall ~ .words {{ text-align: left; }}
.words {{ font-size: 13pt; text-align: center; color: #57606a; }}
"""

SHEETS = FONTS + """
@page { size: A4; margin: 14mm 18mm 15mm; }
@page { @bottom-right { content: counter(page) " / " counter(pages); font: 9pt "Liberation Sans"; } }
body { font-size: 10.5pt; line-height: 1.4; } h1 { font-size: 16pt; margin: 0 0 2mm; } h2 { font-size: 12pt; margin: 4mm 0 1mm; }
code { font-size: 9.5pt; } pre { font-size: 8pt; padding: 2mm; line-height: 1.25; margin: 1mm 0; }
p { margin: 1mm 0; } ol, ul { margin: 1mm 0; padding-left: 7mm; } li { margin-bottom: 2.5mm; break-inside: avoid; }
.name { margin: 3mm 0 5mm; } .name td { padding: 3mm 2mm 1mm; } .question { margin-top: 4.5mm; }
.fill { border-bottom: 0.3mm solid #888; height: 8.5mm; color: #57606a; font-size: 9pt; }
.fill span { position: relative; top: 4mm; }
.answer { margin: 0 0 4mm 7mm; padding-left: 3mm; border-left: 1mm solid #9fc3e6; } .key { font-weight: bold; }
.together { break-inside: avoid; } .small { font-size: 9pt; color: #57606a; }
.beside td { border: 0; padding: 0 0 0 4mm; } .beside td:first-child { padding: 0; } .beside img { height: 86mm; }
.tall .fill { height: 7mm; } .tall .fill span { top: 2.5mm; }
td, th { padding: 1mm 2mm; } table { width: 100%; margin: 2mm 0; } td.number, th.number { text-align: right; padding: 1mm; }
"""


def to_pdf(markup, path, pages=None):
    """\\throws Failure if it has not so many pages, so that something does not fit"""
    from weasyprint import HTML  # only here: the rest needs no such thing

    document = HTML(string=markup).render()
    if pages and len(document.pages) != pages:
        raise Failure(1, f"{path.name}: {len(document.pages)} pages in place of {pages}: something does not fit")
    path.parent.mkdir(parents=True, exist_ok=True)
    document.write_pdf(path)


def page(style, title, body):
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
            f"<style>{style}</style></head><body>{body}</body></html>")


# ---- blocks ----


def runs_html(runs):
    tags = {"bold": "b", "italic": "i", "code": "code"}
    return "".join(f"<{tags[style]}>{html.escape(words)}</{tags[style]}>" if style else html.escape(words)
                   for words, style in runs)


def markdown_html(words):
    return runs_html(runs_of_markdown(words))


def block_html(block, size=None, bullets=False, height=0):
    """size, height: on a slide; a sheet has its own."""
    style = f' style="font-size:{size}pt"' if size else ""
    if isinstance(block, Text):
        return f"<ul><li><p>{runs_html(block.runs)}</p></li></ul>" if bullets else f"<p>{runs_html(block.runs)}</p>"
    if isinstance(block, Items):
        tag, start = ("ul", "") if block.first is None else ("ol", f' style="counter-reset:list-item {block.first - 1}"')
        items = "".join(f"<li>{''.join(block_html(inner, size) for inner in item)}</li>" for item in block.items)
        return f"<{tag}{start}>{items}</{tag}>"
    if isinstance(block, Code):
        return f"<pre{style}>{''.join(code_line(line, block.kind) for line in block.lines)}</pre>"
    if isinstance(block, Table):
        return table_html(block, size, style)
    if isinstance(block, Picture):
        return picture_html(block, height)
    return ""


def picture_html(picture, height):
    words = f'<p class="words">{html.escape(picture.words)}</p>'
    if picture.is_tall:
        beside = "".join(block_html(text) for text in picture.beside)
        return f'<img class="tall" src="{picture.path.as_uri()}" style="height:{height:.2f}in"/>{beside}{words}'
    return f'<img src="{picture.path.as_uri()}" style="height:{height - PICTURE_WORDS:.2f}in"/>{words}'


def code_line(line, kind):
    name = class_of(line, kind)
    return (f'<span class="{name}">{html.escape(line)}</span>' if name else html.escape(line)) + "\n"


def class_of(line, kind):
    """How a line of code is set apart."""
    if kind == "diff":
        return {"+": "add", "-": "del"}.get(line[:1], "")
    return "prompt" if kind == "console" and line.startswith("$ ") else ""


def table_html(table, size, style):
    widths = column_widths(table, size)[0] if size else []
    rows = []
    for index, row in enumerate(table.rows):
        tag = "td" if index else "th"
        cells = [f"<{tag}>{runs_html(cell)}</{tag}>" for cell in row]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    columns = "".join(f'<col style="width:{width:.2f}in"/>' for width in widths)
    return f"<table{style}>{columns}{''.join(rows)}</table>"


# ---- slides ----


def slides_html(lesson, slides):
    body = []
    for number, slide in enumerate(slides, 1):
        blocks = "".join(block_html(block, size, slide.has_bullets, height) for block, height, size in slide.blocks)
        title = f'<h1 style="font-size:{slide.title_size}pt">{html.escape(slide.title)}</h1>'
        footer = f"<footer>Lesson {lesson.number} · {number} of {len(slides)}</footer>"
        body.append(f'<section class="{"title" if slide.is_title else "slide"}">{title}{blocks}{footer}</section>')
    return page(SLIDES, f"Lesson {lesson.number}", "".join(body))
