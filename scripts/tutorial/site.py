"""The docs site: figures, pages, and Doxygen's work on them."""

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pygments.formatters import HtmlFormatter

from tutorial import ROOT
from tutorial.errors_chart import draw as draw_errors
from tutorial.ladder_chart import draw as draw_ladder
from tutorial.lessons import read_all, read_lessons, tracks
from tutorial.limit_charts import DRAWINGS
from tutorial.live import page_style
from tutorial.live_figures import make_live_figure
from tutorial.pictures import PICTURES
from tutorial.records import read_record
from tutorial.site_pages import Page, PageError, has_playground
from tutorial.sweep_chart import draw as draw_sweep

THEME = Path("/usr/share/doxygen-awesome-css")
SCRIPTS = [ROOT / "docs/site" / name for name in ("site.js", "search.js", "live.js")]


def say(words):
    print(f"docs: {words}", file=sys.stderr, flush=True)


def read_contents():
    """[(part, its pages, words below its title)] in reading order."""
    parts = []
    for line in (ROOT / "docs/contents.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line == "@lessons":
            for title, words, lessons in tracks(read_lessons()):
                paths = [path for lesson in lessons if lesson.has_page for path in lesson.pages]
                parts.append((title, [Page(str(path.relative_to(ROOT))) for path in paths], words))
            continue
        if not line.startswith(" "):
            parts.append((line, [], ""))
            continue
        pattern, _, title = (words.strip() for words in line.partition(":"))
        paths = sorted(ROOT.glob(pattern))
        if not paths:
            raise PageError(f"docs/contents.txt: there is no {pattern}")
        parts[-1][1].extend(Page(str(path.relative_to(ROOT)), title) for path in paths)
    return parts


def make_figures(bin_folder, folder):
    """Those of the lessons' manifests, and each line of docs/figures.txt: a file's name, and what draws it."""
    drawn = [(name, f"./{lesson.name}", arguments) for lesson in read_lessons()
             for name, arguments in lesson.figures.items()]
    plotted = [shlex.split(line) for line in (ROOT / "docs/figures.txt").read_text(encoding="utf-8").splitlines()
               if line and not line.startswith("#")]
    live = sorted({what for _, record, what in plotted if record == "live"})
    folder.mkdir(parents=True, exist_ok=True)

    def draw(name, program, arguments):
        if isinstance(arguments, list):
            draw_runs(bin_folder, folder / name, program, arguments)
        else:
            draw_kernel(bin_folder, folder / name, [program, *shlex.split(arguments)])

    def plot(name, record, what):
        chart = (recorded_ladder(ROOT / record, what) if record.endswith(".csv")
                 else draw_errors(ROOT / record) if what == "float_errors" else {**DRAWINGS, **PICTURES}[what](ROOT / record))
        (folder / name).write_text(chart, encoding="utf-8")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda figure: draw(*figure), drawn))
        list(pool.map(lambda figure: plot(*figure), [one for one in plotted if one[1] != "live"]))
    for figure in live:  # not at once: several need the same run
        make_live_figure(bin_folder, folder, figure)
    return len(drawn) + len(plotted)


def draw_kernel(bin_folder, path, program):
    """What `./lessonNN … --draw …` draws, on the emulator."""
    draw = program.index("--draw")
    command = ["./emulate", *program[draw:draw + 2], "--output", str(path), program[0], "--device", "emulator",
               *program[1:draw], *program[draw + 2:]]
    run = subprocess.run(command, cwd=bin_folder, capture_output=True, text=True)
    if "no times can be estimated" in run.stderr:  # without nvdisasm the figure stays as it is
        shutil.copy(ROOT / "docs/figures" / path.name, path)
    if run.returncode != 0 or not path.is_file():
        raise PageError(f"{path.name}: {shlex.join(command)}\n{run.stdout}{run.stderr}")


def draw_runs(bin_folder, path, program, runs):
    """What the program counts in each run, plotted as a sweep."""
    record = []
    for arguments in runs:
        command = [program, "--device", "emulator", "--format", "csv", *shlex.split(arguments)]
        run = subprocess.run(command, cwd=bin_folder, capture_output=True, text=True)
        if run.returncode != 0:
            raise PageError(f"{path.name}: {shlex.join(command)}\n{run.stdout}{run.stderr}")
        record += run.stdout.splitlines()[1 if record else 0:]  # the names of the columns once
    path.with_suffix(".csv").write_text("\n".join(record), encoding="utf-8")
    path.write_text(draw_sweep(path.with_suffix(".csv")), encoding="utf-8")


def recorded_ladder(record, elements):
    """The chart of `make ladder`, of figures that were measured."""
    facts, rows = read_record(record)
    rows = [row for row in rows if row["elements"] == elements]
    return draw_ladder({
        "device": {"name": facts["device"].split(",")[0], "peak_bandwidth_gbs": float(rows[0]["peak_bandwidth_gbs"])},
        "elements": int(elements),
        "kernels": [{"name": row["name"], "block": [int(row["block_x"])],
                     "bandwidth_gbs": float(row["bandwidth_gbs"]), "peak_fraction": float(row["peak_fraction"]),
                     "complete_time_us": {"median": float(row["complete_time_us_median"])}} for row in rows]})


def write_pages(parts, site, folder, notebooks):
    pages = [page for _, of_part, _ in parts for page in of_part]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for page, text in zip(pages, pool.map(site.render, pages)):
            text = with_address(with_notebook(page.path, text, notebooks), notebooks)
            (folder / f"{page.name}.md").write_text(text, encoding="utf-8")
    landing = (ROOT / "docs/site/landing.md").read_text(encoding="utf-8")
    (folder / "index.md").write_text(with_address(landing, notebooks), encoding="utf-8")
    done = set()
    while site.files - done:  # a folder's page links to further files
        for path in sorted(site.files - done):
            (folder / (path.replace("/", "_") + ".md")).write_text(site.file_page(path), encoding="utf-8")
            done.add(path)


def with_notebook(path, text, notebooks):
    """The page of a lesson or its exercise with a link to its part's notebook on Colab, if `make notebooks` made it."""
    for lesson in read_all():
        made = notebooks / f"{lesson.part}.ipynb"
        if ROOT / path in (lesson.page, lesson.folder / "exercise.md") and made.is_file():
            address = re.search(r"https://colab[^)]*/blob/[^)]*", made.read_text(encoding="utf-8"))[0]
            head = "\\tableofcontents{HTML:2}\n"
            link = f'<nav><a href="{address}">Open in Colab</a></nav>'  # what is in a nav the search leaves out
            return text.replace(head, f"{head}\n\\htmlonly[block]\n{link}\n\\endhtmlonly\n", 1)
    return text


def with_address(text, notebooks):
    """The page with the address to clone, if `make notebooks` was given the repository."""
    made = next(notebooks.glob("*.ipynb"), None)
    if not made:
        return text
    address = re.search(r"git clone --depth 1 (\S+)", made.read_text(encoding="utf-8"))[1]
    return re.sub(r"(git clone )REPOSITORY( tutorial(?:`|</code>)), where \S*REPOSITORY\S* is its\s+address",
                  rf"\1{address}\2", text)


def write_style(folder):
    light, dark = ("\n".join(HtmlFormatter(style=style).get_style_defs(f"html.{mode}-mode .code").splitlines())
                   for style, mode in (("default", "light"), ("github-dark", "dark")))
    own = "".join((ROOT / "docs/site" / name).read_text(encoding="utf-8") for name in ("site.css", "live.css"))
    (folder / "site.css").write_text(f"{light}\n{dark}\n{own}{page_style()}", encoding="utf-8")


def write_header(folder, parts, playground):
    """What is above each page: the scripts, the search, and the menu with all pages."""
    scripts = "".join(f'<script src="$relpath^{script.name}"></script>\n' for script in SCRIPTS)
    if has_playground(playground):
        scripts += ('<link rel="stylesheet" href="$relpath^playground/panel.css"/>\n'
                    '<script src="$relpath^playground/panel.js"></script>\n')
    menu = '<a href="index.html">Home</a>\n' + "".join(menu_of(*part, is_open=k < 2) for k, part in enumerate(parts))
    text = (ROOT / "docs/site/header.html").read_text(encoding="utf-8")
    (folder / "header.html").write_text(text.replace("@SCRIPTS@\n", scripts).replace("@MENU@\n", menu), encoding="utf-8")


def menu_of(part, pages, words, is_open):
    links = "".join(f'<li><a href="{page.name}.html">{html.escape(page.title.replace("`", ""))}</a></li>\n' for page in pages)
    state = ' open="open"' if is_open else ""
    said = f"<p>{html.escape(words)}</p>\n" if words else ""
    return f"<details{state}><summary>{html.escape(part)}</summary>\n{said}<ul>\n{links}</ul>\n</details>\n"


def copy_made(playground, notebooks, html):
    if has_playground(playground):
        shutil.copytree(playground, html / "playground")
    if notebooks.is_dir():
        shutil.copytree(notebooks, html / "notebooks")


def run_doxygen(work, out, pages):
    figures = " ".join(str(path) for path in sorted([*(work / "figures").glob("*.svg"), *(work / "figures").glob("live_*.js")]))
    environment = {**os.environ, "SITE_PAGES": str(work / "pages"), "SITE_OUT": str(out), "SITE_WORK": str(work),
                   "SITE_THEME": str(THEME), "SITE_FIGURES": figures,
                   "SITE_SCRIPTS": " ".join(map(str, SCRIPTS))}
    run = subprocess.run(["doxygen", "docs/Doxyfile"], cwd=ROOT, env=environment, capture_output=True, text=True)
    if run.returncode != 0 or run.stderr:
        raise PageError(f"Doxygen is not content:\n{run.stderr}")
