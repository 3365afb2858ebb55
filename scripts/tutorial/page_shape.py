"""The shape of a lesson's page: what stands in which section, what is folded, and how much there is to read.

What counts as words are paragraphs, lists, and what pictures show; not code, tables or what is folded.
"""

from tutorial import prose
from tutorial.kit_pages import Code, Folded, Items, Picture, Text, answers, predictions, questions, read_text

# The fourth begins with Why, such as 'Why it is faster'. The last one may be left out.
SECTIONS = ("The idea", "The change", "Run it", "Why", "Your turn", "Check yourself", "Deeper")
MOST_WORDS = {"The hook": 89, "The idea": 200, "Why": 350}
MOST_IN_ALL = 900
MOST_COLUMNS = 80  # of a block of text: a terminal's, and the site's


def complaints(lesson, source):
    """What is wrong with a lesson's page."""
    sections = {"Why" if name.startswith("Why") else name: blocks
                for name, blocks in read_text(source, lesson.folder).items()}
    names = [name for name in sections if name]
    if names not in ([*SECTIONS], [*SECTIONS[:-1]]):
        return [f"sections: {', '.join(names)}; in place of: {', '.join(SECTIONS)}"]
    found, head = [], sections[""][1:]  # without the links
    if lesson.part == "ladder":
        if not head or not isinstance(head[0], Picture) or head[0].path.name != f"strip_{lesson.name}.svg":
            found.append(f"below the links there is no strip_{lesson.name}.svg")
        head = head[1:]
    if not head or not all(isinstance(block, Text) for block in head):
        found.append("the hook is a paragraph of text")
    counted = {"The hook": head, **{name: sections[name] for name in SECTIONS if name in sections}}
    words = {name: words_of(blocks) for name, blocks in counted.items()}
    found += [f"{name}: {words[name]} words, {most} at most" for name, most in MOST_WORDS.items() if words[name] > most]
    if sum(words.values()) > MOST_IN_ALL:
        found.append(f"a core path of {sum(words.values())} words, {MOST_IN_ALL} at most")
    last = sections["The idea"][-1:]
    asked, answered = len(questions(predictions({"": last}))), len(questions(answers({"": sections["Run it"]})))
    if asked < 3:
        found.append("The idea does not end with the fold 'Predict first' and its three questions")
    elif asked != answered:
        found.append(f"{answered} answers to {asked} predictions: Run it has a fold 'The answers to your predictions'")
    if not any(isinstance(block, Code) and block.kind == "diff" for block in sections["The change"]):
        found.append("The change has no diff that is unfolded")
    shown = ["--changed", "--time"] if runs_one_kernel(lesson) else ["--changed"]
    if not any(option in command for command in commands(sections["Run it"]) for option in shown):
        found.append(f"Run it has no command with {' or '.join(shown)}")
    found += [f"{len(line)} columns, {MOST_COLUMNS} at most: {line}" for blocks in sections.values()
              for line in lines_of(blocks, "text") if len(line) > MOST_COLUMNS and not line.startswith("emulator: ")]
    turn = " ".join(texts(sections["Your turn"]))
    exercises = [name.replace("lesson", "exercise") for name in lesson.on_page]
    found += [f"Your turn has no `make {exercise}`" for exercise in exercises if f"make {exercise}" not in turn]
    return found


def runs_one_kernel(lesson):
    """Then there is none to compare it with. Programs of the ladder run the steps before, too."""
    return lesson.part != "ladder" and len(lesson.kernels) == 1


def texts(blocks, code="{}"):
    """What is not folded, a paragraph each. `code`: what stands for a word of code."""
    for block in blocks:
        if isinstance(block, Text):
            yield "".join(code.format(words) if style == "code" else words for words, style in block.runs)
        elif isinstance(block, Picture):
            yield block.words
        elif isinstance(block, Items):
            for item in block.items:
                yield from texts(item, code)


def words_of(blocks):
    """Code counts as one."""
    return prose.count(texts(blocks, code="x"))


def lines_of(blocks, kind):
    """Those of blocks of that kind, folded or not."""
    for block in blocks:
        if isinstance(block, Code) and block.kind == kind:
            yield from block.lines
        elif isinstance(block, Folded):
            yield from lines_of(block.blocks, kind)
        elif isinstance(block, Items):
            for item in block.items:
                yield from lines_of(item, kind)


def commands(blocks):
    return (line for line in lines_of(blocks, "console") if line.startswith("$ "))
