"""How a page reads: its words, its sentences, and the phrases that it avoids.

Words are those of the prose: no blocks of code, no console output, no tables. What stands in <details> is folded. The
rest, from the title to the last link, is the core path.
"""

import re
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt

from tutorial.lessons import read_lessons, tracks

WORDS_PER_MINUTE = 200
LONGEST_SENTENCE = 30
START, LONGEST_START = "lessons/start/README.md", 700  # words of its core path

# In the text outside code; each with a replacement.
BANNED = [(re.compile(pattern, flags), instead) for pattern, flags, instead in (
    (r"\bits own affair\b", re.I, "say what differs"),
    (r"\band yet\b", re.I, "but"),
    (r"\bthat is all there is\b", re.I, "leave it out"),
    (r"\bso many\b.*\bso that\b", re.I, "two sentences"),
    (r"\bone (?:can|cannot|could|may|must|should|would|might|wants|sees|says|speaks|thinks|knows|expects|gets|asks|pads)\b",
     re.I, "you"),
    (r"\b(?:somebody|someone|anybody|anyone)\b", re.I, "name the actor"),
    (r"^(?:Who|Whoever) (?!.*\?$)", 0, "if you"),
    (r"\bthose who\b", re.I, "name them"),
    (r"\b(?:is|are|was|were) told\b", re.I, "knows, prints, reports"),
    (r"\b(?:speaks?|spoke|knows?|knew|tells?) of\b", re.I, "describes, counts, reports"),
    (r"^(?:Of|Nor|Not (?:seen|shown|counted|to be))\b", 0, "subject first"),
    (r"\b(?:\d(?:[\d,]*\d)?|one|two|three|four|five|six|eight|ten|an?)(?: \w+s)? a (?:thread|block|warp|lane|step|request|"
     r"turn|element)\b(?! of)|\ban? \w+ a (?:thread|block|warp|lane|step)\b", re.I, "per"),
    (r"\w [–—] \w|[a-z]{2,} - [a-z]{2,}", 0, "a full stop or a comma"),
)]
BRITISH = ("neighbour", "colour", "behaviour", "favour", "honour", " grey", "centre ", "metres ", "whilst", "amongst",
           "initialis", "normalis", "synchronis", "optimis", "analyse ", "analysed", "labelled", "modelled", "travell",
           "signalled", "artefact", "judgement", "learnt", " spelt", "towards", "licence", "defence")

WITHOUT_TIME = ("docs/glossary.md", "docs/site/landing.md")  # to look up words, and to choose a page
READING_TIME = re.compile(r"Reading time: (\d+) minutes?(?:, and (\d+) more for the folded parts)?\.")


@dataclass
class Text:
    """A page's prose, a paragraph, list item or heading each."""

    core: list = field(default_factory=list)
    folded: list = field(default_factory=list)
    sections: list = field(default_factory=list)  # headings of level 2
    head: list = field(default_factory=list)  # where the links below the title lead


def read(source):
    text, depth, inside_table = Text(), 0, False
    tokens = MarkdownIt("commonmark").enable("table").parse(source)
    for before, token in zip([None, *tokens], tokens):
        if token.type in ("table_open", "table_close"):
            inside_table = token.type == "table_open"
        elif token.type == "html_block":
            for mark in re.findall(r"<(/?)details", token.content):
                depth += -1 if mark else 1
        elif token.type == "inline":
            words = plain(token)
            if before.type == "heading_open" and before.tag == "h2":
                text.sections.append(words)
            if "All lessons" in words and not text.head:
                text.head = [child.attrs["href"] for child in token.children if child.type == "link_open"]
            elif not inside_table:
                (text.folded if depth else text.core).append(words)
    return text


def plain(token):
    """Code as one word. What a figure shows counts as text."""
    words = {"text": lambda child: child.content, "code_inline": lambda child: "`x`", "image": lambda child: child.content,
             "softbreak": lambda child: " ", "hardbreak": lambda child: " "}
    return "".join(words[child.type](child) for child in token.children if child.type in words).replace("\n", " ")


def count(paragraphs):
    """Words; a formula with numbers alone is one."""
    formula = r"\d[\d,.]*(?: [x/+-] \d[\d,.]*)*(?: = \d[\d,.]*)+"
    return sum(bool(re.search(r"\w", word)) for text in paragraphs for word in re.sub(formula, "1", text).split())


def minutes(paragraphs):
    return -(-count(paragraphs) // WORDS_PER_MINUTE)


def reading_time(text):
    core, folded = minutes(text.core), minutes(text.folded)
    more = f", and {folded} more for the folded parts" if folded else ""
    return f"Reading time: {core} minute{'s' if core > 1 else ''}{more}."


def wrong_reading_time(text):
    """Complaints about its line, which has to be there."""
    written = READING_TIME.search("\n".join(text.core))
    if written and written.group() == reading_time(text):
        return []
    return [f"{written.group() if written else 'no reading time'}; by its words: {reading_time(text)}"]


def sentences(paragraphs):
    return [sentence for text in paragraphs for sentence in re.split(r"(?<=[.!?])[\"')]*\s+", text)]


def complaints(path, source):
    """What is wrong with a page, path from the root."""
    text = read(source)
    found = []
    for sentence in sentences(text.core + text.folded):
        if (words := count([sentence])) > LONGEST_SENTENCE:
            found.append(f"{words} words, {LONGEST_SENTENCE} at most: {sentence}")
        found += [f"'{match.group()}' ({instead}): {sentence}" for pattern, instead in BANNED
                  if (match := pattern.search(sentence))]
    if path == START or (path.startswith("docs/") and path not in WITHOUT_TIME):
        found += wrong_reading_time(text)
    if path == START and (words := count(text.core)) > LONGEST_START:
        found.append(f"a core path of {words} words, {LONGEST_START} at most")
    if (following := next_page(path)) and following not in text.head[-1:]:
        found.append(f"the last link below the title leads to {''.join(text.head[-1:])}, not to {following}")
    return found


def next_page(path):
    """Where a lesson's or an exercise's page leads: to the lesson's next page or the exercise, then to the next lesson of the
    path or of the side trips, or to its exercise if an earlier lesson has its page. Or nothing."""
    name = re.match(r"lessons/(lesson\d\d)_\w+/\w+\.md$", path)
    for order in orders() if name else []:
        for lesson, following in zip(order, [*order[1:], None]):
            if lesson.name != name.group(1):
                continue
            pages = [*(page.name for page in lesson.pages), "exercise.md"]
            after = pages[pages.index(path.rpartition("/")[2]) + 1:]
            page = f"../{following.folder.name}/{'README' if following.has_page else 'exercise'}.md" if following else ""
            return after[0] if after else page
    return ""


@cache
def orders():
    """The lessons of the path, and those of the side trips."""
    path, *trips = (lessons for _, _, lessons in tracks(read_lessons()))
    return path, sum(trips, [])
