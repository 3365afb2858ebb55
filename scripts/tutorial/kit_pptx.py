"""The slides as PowerPoint has them: texts, tables and pictures to edit, with the page's sentences as notes."""

import io
import subprocess
from functools import cache

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE
from pptx.util import Inches, Pt

from tutorial.kit_html import class_of
from tutorial.kit_pages import (
    CODE_LINE,
    GAP,
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
    shown_path,
)
from tutorial.programs import Failure

SANS, MONO = "Arial", "Courier New"  # on every system, or something as wide
INK, BLUE, GRAY, SHADE = (RGBColor.from_string(color) for color in ("1B1F24", "0B5394", "57606A", "F6F8FA"))
COLORS = {"add": RGBColor.from_string("116329"), "del": RGBColor.from_string("A40E26")}
TITLE_ONLY = 5  # a layout of python-pptx's own template
TITLE_TOP, LEAD_TOP = 2.2, 3.9  # on the first slide


def write_pptx(lesson, slides, path):
    presentation = Presentation()
    presentation.slide_width, presentation.slide_height = Inches(WIDTH), Inches(HEIGHT)
    presentation.core_properties.title = slides[0].title
    for number, slide in enumerate(slides, 1):
        add_slide(presentation, slide, f"Lesson {lesson.number} · {number} of {len(slides)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    presentation.save(path)


def add_slide(presentation, slide, footer):
    sheet = presentation.slides.add_slide(presentation.slide_layouts[TITLE_ONLY])
    title = sheet.shapes.title
    place(title, TITLE_TOP if slide.is_title else 0.3, 1.4 if slide.is_title else 0.9)
    frame = title.text_frame
    frame.auto_size, frame.word_wrap, frame.vertical_anchor = MSO_AUTO_SIZE.NONE, True, MSO_ANCHOR.MIDDLE
    write_runs(frame.paragraphs[0], [(slide.title, "bold")], slide.title_size, BLUE)
    frame.paragraphs[0].alignment = 1  # left
    top = LEAD_TOP if slide.is_title else TOP
    for block, height, size in slide.blocks:
        add_block(sheet, block, top, height, size, slide.has_bullets)
        top += height + GAP
    write_runs(text_box(sheet, HEIGHT - 0.5, 0.3).paragraphs[0], [(footer, "")], 11, GRAY)
    if slide.notes:
        sheet.notes_slide.notes_text_frame.text = "\n\n".join(slide.notes)


def add_block(sheet, block, top, height, size, has_bullets):
    if isinstance(block, Text):
        marked(text_box(sheet, top, height), [block], "•" if has_bullets else "", size)
    elif isinstance(block, Items):
        for item in block.items:
            marked(text_box(sheet, top, height), item, f"{block.first}." if block.first else "•", size)
    elif isinstance(block, Code):
        add_code(sheet, block, top, height, size)
    elif isinstance(block, Table):
        add_table(sheet, block, top, height, size)
    elif isinstance(block, Picture):
        add_picture(sheet, block, top, height)


def place(shape, top, height):
    shape.left, shape.top, shape.width, shape.height = Inches(MARGIN), Inches(top), Inches(INNER), Inches(height)


def text_box(sheet, top, height):
    frame = sheet.shapes.add_textbox(Inches(MARGIN), Inches(top), Inches(INNER), Inches(height)).text_frame
    frame.word_wrap, frame.auto_size = True, MSO_AUTO_SIZE.NONE
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    return frame


def marked(frame, texts, mark, size):
    """Paragraphs that hang below a bullet or a number."""
    for index, text in enumerate(texts):
        paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
        paragraph.line_spacing = LINE / 1.17  # in lines, which are 1.17 of the size
        if mark:
            paragraph._p.get_or_add_pPr().set("marL", str(Inches(0.45)))
            paragraph._p.get_or_add_pPr().set("indent", str(-Inches(0.45)))
        write_runs(paragraph, [(f"{mark}\t", ""), *text.runs] if mark and index == 0 else text.runs, size)


def write_runs(paragraph, runs, size, color=INK):
    for words, style in runs:
        run = paragraph.add_run()
        run.text = words
        run.font.size, run.font.color.rgb = Pt(size), color
        run.font.name = MONO if style == "code" else SANS
        run.font.bold, run.font.italic = style == "bold", style == "italic"


def add_code(sheet, code, top, height, size):
    frame = text_box(sheet, top, height)
    frame.word_wrap = False
    frame.margin_left = frame.margin_top = Inches(0.12)
    shape = sheet.shapes[-1]
    shape.fill.solid()
    shape.fill.fore_color.rgb = SHADE
    for index, line in enumerate(code.lines):
        paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
        paragraph.line_spacing = Pt(size * CODE_LINE)
        kind = class_of(line, code.kind)
        write_runs(paragraph, [(line, "code")], size, COLORS.get(kind, INK))
        for run in paragraph.runs:
            run.font.bold = kind == "prompt"


def add_table(sheet, table, top, height, size):
    widths, _ = column_widths(table, size)
    shape = sheet.shapes.add_table(len(table.rows), len(widths), Inches(MARGIN), Inches(top), Inches(sum(widths)), Inches(height))
    for column, width in enumerate(widths):
        shape.table.columns[column].width = Inches(width)
    for row, cells in enumerate(table.rows):
        shape.table.rows[row].height = Inches(height / len(table.rows))
        for column, runs in enumerate(cells):
            cell = shape.table.cell(row, column)
            cell.margin_left = cell.margin_right = Inches(0.08)
            cell.margin_top = cell.margin_bottom = Inches(0.03)
            write_runs(cell.text_frame.paragraphs[0], runs, size, INK if row else RGBColor(255, 255, 255))


def add_picture(sheet, picture, top, height):
    tall = height if picture.is_tall else min(INNER / picture.ratio, height - PICTURE_WORDS)
    width = tall * picture.ratio
    left = MARGIN if picture.is_tall else (WIDTH - width) / 2
    shape = sheet.shapes.add_picture(io.BytesIO(png_of(picture.path)), Inches(left), Inches(top), Inches(width), Inches(tall))
    shape._element.nvPicPr.cNvPr.set("descr", picture.words)
    if not picture.is_tall:
        frame = text_box(sheet, top + height - PICTURE_WORDS + 0.1, PICTURE_WORDS - 0.1)
        frame.paragraphs[0].alignment = 2  # in the middle
        write_runs(frame.paragraphs[0], [(picture.words, "")], 13, GRAY)
        return
    frame = text_box(sheet, top, height)
    box = sheet.shapes[-1]
    box.left, box.width = Inches(left + width + 0.4), Inches(INNER - width - 0.4)
    for text in picture.beside:
        write_runs(frame.paragraphs[-1], text.runs, TEXT_SIZE)
        frame.add_paragraph()
    write_runs(frame.paragraphs[-1], [(picture.words, "")], 13, GRAY)


@cache
def png_of(path):
    """The picture for programs that draw no SVG."""
    command = ["rsvg-convert", "--keep-aspect-ratio", "--width", "2000", str(path)]
    run = subprocess.run(command, capture_output=True)
    if run.returncode != 0:
        raise Failure(1, f"{shown_path(path)}: rsvg-convert: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout
