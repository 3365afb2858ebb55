"""What pages quote, on the Markdown itself: where it comes from, whether it is right, and what would be right.

  ```cpp       lines of the file that is named above them; without a name, of a file in the lesson's folder
  ```diff      the whole change from one kernel to the next, or `@@ reduce0 -> reduce1` and a few lines of it; `@@` lines stand
               for what is left out
  ```console   `$ command`, then its standard output, if the command runs a lesson: whole, through no pipe
  ```text      anything else

In the text between them, `32 x 4 = 128` is calculated. A table `| NVIDIA H200, …` holds measured figures, and so
do the words of a lesson's picture of the ladder.
"""

import difflib
import os
import re
import subprocess
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest

from tutorial import ROOT, recorded_tables
from tutorial.lessons import read_lessons
from tutorial.pictures import strip_words
from tutorial.programs import Failure, Programs

PROGRAM = re.compile(r"\./(start|sum|lesson\d\d|open[A-Z])")
NUMBER = r"\d[\d,]*"
SUM = re.compile(rf"(?:^|[ (|])({NUMBER}(?: [x/+-] {NUMBER})+) = (\d+(?:,\d{{3}})*)(?!\d|[.,]\d)")


class PageError(Exception):
    """What is wrong with a page, and in which line, if that is known."""

    def __init__(self, words, line=None):
        super().__init__(words)
        self.line = line


@dataclass
class Block:
    kind: str
    first: int  # the index of its first line
    lines: list = field(default_factory=list)
    path: str = ""  # of the file that is named above it


@dataclass
class Fault:
    line: int  # from 1
    words: str
    place: slice = None  # the lines to replace
    right: list = None  # by these, if that is clear


def all_pages():
    """From the root."""
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "common/emulator/README.md",
             *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("lessons/*/*.md"))]
    return [str(path.relative_to(ROOT)) for path in paths]


def lesson_of(path):
    """The lesson whose page it is, or None."""
    return next((lesson for lesson in lessons() if ROOT / os.path.dirname(path) == lesson.folder), None)


def lessons_on(path):
    """Those that the page is about."""
    return [lesson for lesson in lessons() if lesson.page == ROOT / path] or [lesson_of(path)]


@cache
def lessons():
    return read_lessons()


@cache
def lines_of(path):
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


# ---- blocks ----

def read_blocks(lines):
    """(The page's fenced blocks, {index: line} of its text outside). \\throws PageError"""
    blocks, text, block = [], {}, None
    for index, line in enumerate(lines):
        if block is None and not line.startswith("```"):
            text[index] = line
        elif block is None:
            block = Block(line[3:], index + 1, path=path_above(lines[:index]))
        elif line.startswith("```"):
            blocks.append(block)
            block = None
        else:
            block.lines.append(line)
    if block:
        raise PageError("this block is not closed", block.first)
    return blocks, text


def path_above(lines):
    """common/emulator/machine/warp.hpp, if that is the last paragraph; else nothing."""
    match = re.search(r"(?:^|\n)\n`([\w./]+\.(?:cuh|cu|hpp|cpp|h))`:?\n?$", "\n".join(lines[-3:]))
    return match[1] if match else ""


# ---- code ----

def files_to_quote(path, named=""):
    """Those in which a page's code may stand. \\throws PageError"""
    folder = os.path.dirname(path)
    if folder.startswith("lessons/"):
        folders = [lesson.folder for lesson in lessons_on(path) if lesson] or [ROOT / folder]
        files = [file for folder in folders for file in sorted(folder.glob("*.cu*"))
                 if not file.name.startswith(("exercise", "solution"))]
    elif path == "docs/errata.md":
        files = [ROOT / "tests/errata/errata_test.cu"]
    else:
        files = [file for lesson in lessons() for file in (*lesson.kernel_files, lesson.folder / "main.cu")]
    files = [str(file.relative_to(ROOT)) for file in files]
    if named and not ((ROOT / named).is_file() and (named in files or not path.startswith("lessons/"))):
        raise PageError(f"{named}, which is named above this code, is no file that this page may quote")
    return [named] if named else files


def find_code(path, block):
    """(the file, the index of the first line in it). \\throws PageError"""
    files = files_to_quote(path, block.path)
    for file in files:
        lines, count = lines_of(file), len(block.lines)
        for first in range(len(lines) - count + 1):
            if lines[first:first + count] == block.lines:
                return file, first
    raise PageError(f"none of {', '.join(files[:9])} has this code:\n{chr(10).join(block.lines)}")


def nearest_code(path, block):
    """What a file that may be quoted has around those of the lines that are right; None if less than half of them are."""
    count = len(block.lines)
    for lines in map(lines_of, files_to_quote(path, block.path)):
        same = difflib.SequenceMatcher(None, block.lines, lines, autojunk=False).get_matching_blocks()[:-1]
        if 2 * sum(part.size for part in same) >= count:
            nearest = lines[max(0, same[0].b - same[0].a):same[-1].b + count - same[-1].a]
            if len(nearest) <= 2 * count:
                return nearest
    return None


# ---- diffs ----

FIRST_WORDS = "(?:__global__|inline) void "  # of a kernel, or of a function of the host
NAMED = re.compile(r"@@ (\w+) -> (\w+)")  # the first line of a diff that shows only a few lines


def diffed_kernels(path, diff):
    """((file, lines) of the kernel before, the same of the one after). \\throws PageError"""
    here = [lesson for lesson in lessons_on(path) if lesson]
    earlier = [other for other in reversed(lessons()) if here and other.number < here[0].number]
    ours, theirs = ([str(file.relative_to(ROOT)) for other in those for file in other.kernel_files]
                    for those in (here, earlier))
    ours += [file for file in files_to_quote(path) if file.endswith(".cuh") and file not in ours]
    names = [next((re.search(rf"{FIRST_WORDS}(\w+)\(", line) for line in diff if line[:1] in (" ", sign)), None)
             for sign in "-+"]
    if None in names:
        raise PageError("a diff begins with the two kernels' first lines")
    pairs = [(old, new) for old in find_kernels(names[0][1], [*theirs, *ours]) for new in find_kernels(names[1][1], ours)]
    return next((pair for pair in pairs if applied(diff, pair[0][1]) == pair[1][1]), pairs[0])


def find_kernels(name, files):
    """[(file, lines)] of those of that name."""
    found = []
    for file in files:
        lines = lines_of(file)
        for first, line in enumerate(lines):
            if re.match(rf"{FIRST_WORDS}{name}\(", line):
                found.append((file, lines[first:lines.index("}", first) + 1]))
    if not found:
        raise PageError(f"there is no kernel {name} in {', '.join(files)}")
    return found


def applied(diff, lines):
    """The lines with each hunk applied, each one after the one before; None if one does not fit."""
    lines, position, hunks = list(lines), 0, [[]]
    for line in diff:
        if line.startswith("@@"):
            hunks.append([])
        else:
            hunks[-1].append(line or " ")
    for hunk in hunks:
        before, after = ([line[1:] for line in hunk if line[0] != sign] for sign in "+-")
        places = range(position, len(lines) - len(before) + 1)
        first = next((first for first in places if lines[first:first + len(before)] == before), None)
        if first is None:
            return None
        lines[first:first + len(before)] = after
        position = first + len(after)
    return lines


def full_diff(old, new):
    """With all lines of both."""
    return list(difflib.unified_diff(old, new, lineterm="", n=len(old) + len(new)))[3:]


def right_diff(shown, old, new):
    """The diff of two kernels, with as many of the lines around its changes as the page shows. None if that is unclear."""
    labels = iter([line for line in shown if line.startswith("@@")])
    body, full = [line or " " for line in shown if not line.startswith("@@")], full_diff(old, new)
    kept, result = set(), []
    for _, first, end, full_first, full_end in difflib.SequenceMatcher(None, body, full, autojunk=False).get_opcodes():
        if end - first == full_end - full_first:  # they are the same, or take the place of as many
            kept |= set(range(full_first, full_end))
    for index, line in enumerate(full):
        if index in kept or line[0] in "+-":
            if index and index - 1 not in kept and full[index - 1][0] == " ":
                result.append(next(labels, "@@"))
            result.append(line.rstrip())
    return result if applied(result, old) == new else None


def check_excerpt(diff):
    """A few lines of what changes between the kernels that its first line names. \\throws PageError"""
    names = NAMED.fullmatch(diff[0])
    if not names:
        raise PageError("the first line of a diff outside of the lessons is '@@ reduce0 -> reduce0a', its kernels")
    files = [str(file.relative_to(ROOT)) for lesson in lessons() for file in lesson.kernel_files]
    for name, sign in zip(names.groups(), "-+"):
        _, kernel = find_kernels(name, files)[0]
        pieces = [[]]
        for line in diff[1:]:
            if line.startswith("@@"):
                pieces.append([])
            elif line[:1] in ("", " ", sign):
                pieces[-1].append(line[1:])
        first = 0
        for piece in pieces:
            places = [place for place in range(first, len(kernel)) if kernel[place:place + len(piece)] == piece]
            if not places:
                raise PageError(f"{name} has no such lines:\n{chr(10).join(piece)}")
            first = places[0] + len(piece)


# ---- output ----

class Emulated:
    """The programs of a build tree, on the emulator."""

    def __init__(self, build):
        self.folder, self.outputs = build.resolve() / "bin", {}
        # The pages are of this nvcc: another one may write other PTX, so what is counted on that may differ.
        self.has_pages_ptx = (Programs(build).toolkit() or "").startswith("CUDA 13.0.")

    def output(self, command):
        out, errors = self.printed(command)
        return out.replace(f"{ROOT}/", "") or errors

    def printed(self, command):
        """(Its standard output, its errors.)"""
        if command not in self.outputs:
            for name in re.findall(r"(?:^|[ (])\./(\w+)", command):
                if not (self.folder / name).is_file():
                    raise Failure(2, f"there is no {self.folder / name}: `scripts/build build/default {name}` builds it, or "
                                     "--build FOLDER names another tree")
            run = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True)
            self.outputs[command] = run.stdout, run.stderr
        return self.outputs[command]


def commands_of(block):
    """(command, the index of its line, its output) of each. \\throws PageError"""
    commands = []
    for index, line in enumerate(block.lines, block.first):
        if line.startswith("$ "):
            commands.append((line[2:], index, []))
        elif not commands:
            raise PageError("output without a `$ command` above it", index + 1)
        else:
            commands[-1][2].append(line)
    return commands


# ---- sums ----

def calculate(expression):
    """The value of whole numbers joined by x, /, + and -; of those the first two bind tighter. \\throws PageError"""
    words = expression.replace(",", "").split()
    total, product = 0, 0
    for operation, value in zip(["+", *words[1::2]], map(int, words[::2])):
        if operation == "x":
            product *= value
        elif operation == "/":
            if not value or product % value:
                raise PageError(f"{expression} is no whole number")
            product //= value
        else:
            total += product
            product = value if operation == "+" else -value
    return total + product


def wrapped(text):
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


# ---- a page ----

class Page:
    """A page of the project: `faults` is what is wrong with its quotes, `checked` counts them by kind."""

    def __init__(self, path, source, programs):
        self.path, self.source, self.programs = path, source, programs
        self.lines, self.lesson = source.splitlines(), lesson_of(path)
        self.faults, self.checked = [], Counter()
        try:
            self.blocks, self.text = read_blocks(self.lines)
            self.check()
        except PageError as error:
            self.faults.append(Fault(error.line, f"{error}"))

    def check(self):
        kinds = {"cpp": self.check_code, "diff": self.check_diff, "console": self.check_console, "text": lambda block: None}
        for block in self.blocks:
            try:
                if block.kind not in kinds:
                    raise PageError(f"a block of an unknown kind: ```{block.kind}")
                kinds[block.kind](block)
            except PageError as error:
                self.faults.append(Fault(error.line or block.first, f"{error}"))
        self.check_sums()
        self.check_tables()
        self.check_words()
        self.check_strip()
        leads_on = self.lesson and self.lesson.page.parent != self.lesson.folder  # to the page that it shares
        if self.path.startswith("lessons/") and self.path.endswith("/README.md") and not leads_on:
            for kind in ("outputs", "diffs") if self.lesson else ("outputs",):
                if not self.checked[kind]:
                    self.faults.append(Fault(1, f"the page quotes none of its {kind}"))

    def expect(self, first, shown, right, source):
        """Of lines from this index on."""
        for offset, (ours, real) in enumerate(zip_longest(shown, right)):
            if ours != real:
                words = [f"'{line}'" if line is not None else "nothing more" for line in (ours, real)]
                self.faults.append(Fault(first + min(offset, len(shown) - 1) + 1, f"{words[0]} is, by {source}, {words[1]}",
                                         slice(first, first + len(shown)), right))
                return

    def check_code(self, block):
        self.checked["pieces of code"] += 1
        try:
            find_code(self.path, block)
        except PageError:
            right = nearest_code(self.path, block)
            if right is None:
                raise
            self.expect(block.first, block.lines, right, "the file")

    def check_diff(self, block):
        self.checked["diffs"] += 1
        if not any(lessons_on(self.path)) or NAMED.fullmatch(block.lines[0]):
            return check_excerpt(block.lines)
        (_, old), (_, new) = diffed_kernels(self.path, block.lines)
        if applied(block.lines, old) != new:
            right = right_diff(block.lines, old, new)
            if right is None:
                raise PageError("the diff does not make the one kernel of the other")
            self.expect(block.first, block.lines, right, "the kernels")

    def check_console(self, block):
        for command, index, output in commands_of(block):
            if " | " in command:
                raise PageError(f"'{command}' pipes its output through another program", index + 1)
            if output and not PROGRAM.search(command):
                raise PageError(f"'{command}' runs no lesson, so nothing can test its output", index + 1)
            if not output or (" --lines " in command and not self.programs.has_pages_ptx):
                continue  # instructions by line are counted on PTX
            self.checked["outputs"] += 1
            program = re.sub(rf"make {PROGRAM.pattern[3:]} && ", "", command)
            program = PROGRAM.sub(lambda match: match[0] + " --device emulator" * (match[1] != "sum"), program)  # which has none
            if re.search(r" --(changed|time)\b", command) and not self.counts_machine_code(program):
                continue  # it counts PTX in place of the machine code, and has no time
            printed = self.programs.output(program).splitlines()
            printed = [line for line in printed if not re.match(r"[\d.]+ ms", line)]  # a time, of start or sum
            if any(line.startswith("No machine code (sm_90) was counted") for line in printed):
                continue  # without nvdisasm
            same = [ours if self.comparable(ours) == self.comparable(real) else real for ours, real in zip(output, printed)]
            self.expect(index + 1, output, same + printed[len(output):], "the program")

    def counts_machine_code(self, program):
        """That of the pages' nvcc, for which a disassembler has to be there."""
        return self.programs.has_pages_ptx and "no times can be estimated" not in self.programs.printed(program)[1]

    def comparable(self, line):
        """The line, if it is not counted on another nvcc's PTX; else its label."""
        counted = re.match(r"  (per warp|per thread|divergent|executed \(PTX\)| +divergent branches) ", line)
        return counted[0] if counted and not self.programs.has_pages_ptx else line

    def check_sums(self):
        for index, line in self.text.items():
            for match in SUM.finditer(line):
                self.checked["sums"] += 1
                try:
                    if calculate(match[1]) != int(match[2].replace(",", "")):
                        raise PageError(f"{match[1]} is not {match[2]} but {calculate(match[1]):,}")
                except PageError as error:
                    self.faults.append(Fault(index + 1, f"{error}"))

    def check_tables(self):
        self.tables = recorded_tables.tables_of(self.lines)
        for table in self.tables:
            if table.kind is None:
                self.faults.append(Fault(table.first + 1, "no such table of measured figures is known, by its head"))
                continue
            card = recorded_tables.card_named(table.head[1], self.programs)
            for index, row in enumerate(table.rows, table.first + 2):
                self.checked["figures"] += len(recorded_tables.cells_of(row)) - table.kind.keys
                try:
                    right = table.right_row(row, self.lesson, card)
                    if recorded_tables.cells_of(row) != recorded_tables.cells_of(right):
                        self.expect(index, [row], [right], "the record")
                except recorded_tables.NoRecord as error:
                    self.faults.append(Fault(index + 1, f"{error}"))

    def check_words(self):
        """In running text, whose lines may end between any two words."""
        right = self.source
        for words, figures in recorded_tables.recorded_words(self.tables):
            self.checked["figures"] += len(figures)
            match = re.search(re.escape(words).replace(r"\ ", r"\s").replace(r"\{\}", rf"({NUMBER}(?:\.\d+)?)"), right)
            if not match:
                self.faults.append(Fault(1, f"the page does not contain: {words.format(*figures)}"))
            for group in range(len(figures) if match else 0, 0, -1):
                right = right[:match.start(group)] + figures[group - 1] + right[match.end(group):]
        for index, (line, real) in enumerate(zip(self.lines, right.splitlines())):
            self.expect(index, [line], [real], "the record")

    def check_strip(self):
        """The words of a lesson's picture of the ladder."""
        at = next((index for index, line in self.text.items() if line.startswith("![The ladder in %")), None)
        if at is None:
            return
        self.checked["figures"] += 1
        alt = strip_words(recorded_tables.DATA / "nvidia-h200", self.lesson.number)
        right = wrapped(f"![{alt}](../../docs/figures/strip_{self.lesson.name}.svg)")
        end = next((index for index in range(at, len(self.lines)) if not self.lines[index]), len(self.lines))
        shown = self.lines[at:end]
        if " ".join(shown) != " ".join(right):
            self.expect(at, shown, right, "the record")

    def mended(self):
        """Its source, with what is right in place of each fault where that is clear."""
        lines = list(self.lines)
        for fault in sorted((fault for fault in self.faults if fault.place), key=lambda fault: -fault.place.start):
            lines[fault.place] = fault.right
        return "\n".join(lines) + "\n" * self.source.endswith("\n")
