"""What the search of the docs site looks through: the pages by section, the glossary by term, the kernels by name."""

import html
import json
import re

from tutorial.lessons import read_lessons

BLOCKS = r"</?(?:p|li|ul|ol|td|th|tr|table|div|pre|details|summary|figcaption)\b[^>]*>"


def plain(markup):
    """The words of a piece of HTML, on one line."""
    text = re.sub(r"<nav\b.*?</nav>", "", markup, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]*>", "", re.sub(BLOCKS, " ", text)))
    drawn = r"[^\w\s]{5,}"  # +-----+
    return " ".join(re.sub(drawn, " ", text).split())


def entry(kind, title, page, url, markup=""):
    """What it says, and the code and output that it shows."""
    code = " ".join(plain(block) for block in re.findall(r"<pre\b.*?</pre>", markup, re.DOTALL))
    text = plain(re.sub(r"<pre\b.*?</pre>", " ", markup, flags=re.DOTALL))
    return {"kind": kind, "title": title, "page": page, "url": url, "text": text, "code": code}


def page_entries(source):
    """Of a page as site_pages makes them for Doxygen."""
    body = re.sub(r"^\\(?:htmlonly\[block\]|endhtmlonly|tableofcontents\{.*\})$", "", source, flags=re.MULTILINE)
    _, title, name, *sections = re.split(r"^#+ (.*) \{#(.*)\}$", body, flags=re.MULTILINE)
    title = re.sub(r"\\(.)", r"\1", title)
    if name.startswith(("mainpage", "file_")):
        return []
    found = [entry("page", title, title, f"{name}.html", sections[0])]
    for heading, label, text in zip(*(iter(sections[1:]),) * 3):
        terms = re.findall(r'<p id="(.*?)"><strong>(.*?)\.</strong>(.*?)</p>', text, re.DOTALL)
        found += [entry("term", plain(term), title, f"{name}.html#{anchor}", words) for anchor, term, words in terms]
        if not terms:
            found.append(entry("page", re.sub(r"\\(.)", r"\1", heading), title, f"{name}.html#{label}", text))
    return found


def kernel_entries(titles):
    """Of the kernels of all lessons."""
    for lesson in read_lessons():
        page, comment = lesson.page_of, []
        for line in "".join(file.read_text(encoding="utf-8") for file in reversed(lesson.kernel_files)).splitlines():
            kernel = re.match(r"__global__ void (\w+)\(", line)
            if kernel:
                yield entry("kernel", kernel.group(1), titles[f"{page}.html"], f"{page}.html",
                            html.escape(" ".join(comment)))
            if not line.startswith("template"):
                comment = comment + [line[4:]] if line.startswith("/// ") else []


def write_search_data(pages, path):
    """From the folder of the pages."""
    entries = [found for page in sorted(pages.glob("*.md")) for found in page_entries(page.read_text(encoding="utf-8"))]
    entries += kernel_entries({found["url"]: found["title"] for found in entries})
    lines = ",\n".join(json.dumps(found, ensure_ascii=False) for found in entries)
    path.write_text(f"const searchData = [\n{lines}\n];\n", encoding="utf-8")
