"""What the search of the docs site looks through: the pages by section, the glossary by term, the API by symbol."""

import html
import json
import re
import xml.etree.ElementTree

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
    if name.startswith(("mainpage", "part_")):  # these list what the others say
        return []
    if name.startswith("file_"):
        return [entry("file", title, "File", f"{name}.html")]
    found = [entry("page", title, title, f"{name}.html", sections[0])]
    for heading, label, text in zip(*(iter(sections[1:]),) * 3):
        terms = re.findall(r'<p id="(.*?)"><strong>(.*?)\.</strong>(.*?)</p>', text, re.DOTALL)
        found += [entry("term", plain(term), title, f"{name}.html#{anchor}", words) for anchor, term, words in terms]
        if not terms:
            found.append(entry("page", re.sub(r"\\(.)", r"\1", heading), title, f"{name}.html#{label}", text))
    return found


def kernel_entries(titles):
    """Of the kernels of all lessons, which have no other place in the API."""
    for lesson in read_lessons():
        page, comment = lesson.page_of, []
        for line in "".join(file.read_text(encoding="utf-8") for file in reversed(lesson.kernel_files)).splitlines():
            kernel = re.match(r"__global__ void (\w+)\(", line)
            if kernel:
                yield entry("kernel", kernel.group(1), titles[f"{page}.html"], f"{page}.html",
                            html.escape(" ".join(comment)))
            if not line.startswith("template"):
                comment = comment + [line[4:]] if line.startswith("/// ") else []


def words_of(element, path):
    found = element.find(path)
    return " ".join("".join(found.itertext()).split()) if found is not None else ""


def symbol_entries(document):
    """Of one file of Doxygen's XML."""
    for compound in document.iter("compounddef"):
        name = words_of(compound, "compoundname")
        if compound.get("kind") in ("class", "struct", "union", "namespace"):
            brief = words_of(compound, "briefdescription")
            yield entry("api", name, "API", compound.get("id") + ".html", html.escape(brief))
    for member in document.iter("memberdef"):
        scope, _, name = words_of(member, "qualifiedname").rpartition("::")
        is_constructor = name.lstrip("~") == scope.rpartition("::")[2]  # its class says as much
        if member.get("prot") != "private" and not is_constructor:
            where, _, anchor = member.get("id").rpartition("_1")
            said = [words_of(member, path) for path in ("type", "argsstring", "briefdescription")]
            values = [words_of(value, "name") for value in member.iter("enumvalue")]
            yield entry("api", words_of(member, "qualifiedname"), "API", f"{where}.html#{anchor}",
                        html.escape(" ".join(filter(None, said + values))))


def write_search_data(pages, symbols, path):
    """From the folders of the pages and of Doxygen's XML."""
    entries = [found for page in sorted(pages.glob("*.md")) for found in page_entries(page.read_text(encoding="utf-8"))]
    for file in sorted(symbols.glob("*.xml")):
        found_here = symbol_entries(xml.etree.ElementTree.parse(file).getroot())
        # Doxygen makes no page for a private class, nor for namespace std.
        entries += [found for found in found_here if (path.parent / found["url"].partition("#")[0]).is_file()]
    entries += kernel_entries({found["url"]: found["title"] for found in entries})
    unique = {(found["url"], found["title"]): found for found in entries}  # a member is in more files than one
    lines = ",\n".join(json.dumps(found, ensure_ascii=False) for found in unique.values())
    path.write_text(f"const searchData = [\n{lines}\n];\n", encoding="utf-8")
