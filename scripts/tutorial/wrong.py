"""What is wrong on purpose: tests/lessons/lesson03/wrong.diff. Each part begins with a line that says what it is, and what has to
be found; behind it is a diff. A further piece of that stands behind a line @@ and is found below the one before.

  @@ exercise powers_of_two_only -> right: mem: out of bounds at {}powers_of_two_only.cuh:

is a wrong solution of the exercise, with the step at which its check has to fail, and with which words; {} stands for
anything within a line. The diff is from our solution; or it is kernels.cuh: the kernels that the page shows.

  @@ kernels reduce3 --n 65000: without the guard of the second load -> mem: input[i + blockDim.x]

is what the lesson's page offers to break: the kernel, what of the run has to differ from the page's usual one, and a name
for readers; the checker that finds it, and words of the line where, or "wrong result". The diff is from the file that has
the kernel: kernels.cuh, or given.cuh.

All variants of all lessons are compiled at once: nvcc takes longer to begin than for all of them. Each becomes a namespace.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tutorial import ROOT
from tutorial.lessons import read_lessons

BLOCK_SIZES = (32, 64, 128, 256, 512, 1024)  # those that the lessons instantiate their templates with
HEAD = re.compile(r"(\w+)((?: --\w+ \d+)*): (\S.*)")
INCLUDE = re.compile(r"^#(?:include .*|pragma once)$", re.MULTILINE)
TEMPLATE = re.compile(r"^template <unsigned int block_size>\s__global__ void (\w+)(\([^)]*\)) \{$", re.MULTILINE)
OTHER_TEMPLATE = re.compile(r"^template <(?!unsigned int block_size>).*>\s__global__", re.MULTILINE)  # nobody says for what


def changed(lines, diff):
    """The lines with the diff's parts applied, each one after the one before."""
    result, at = [], 0
    for part in re.split(r"^@@\n", diff, flags=re.MULTILINE):
        before, after = ([line[1:] for line in part.splitlines() if line[:1] in kept] for kept in ("- ", "+ "))
        places = [i for i in range(at, len(lines)) if lines[i:i + len(before)] == before]
        if not places:
            raise ValueError("there are no such lines:\n" + "\n".join(before))
        result += lines[at:places[0]] + after
        at = places[0] + len(before)
    return result + lines[at:]


@dataclass
class Part:
    """One of a wrong.diff."""

    path: Path
    of: str  # "exercise" or "kernels"
    head: str
    expected: str
    diff: str

    def text(self, right):
        """The right text with the diff applied."""
        try:
            return "\n".join(changed(right.splitlines(), self.diff)) + "\n"
        except ValueError as error:
            raise self.error(f"{error}") from None

    def error(self, message):
        return ValueError(f"{self.path}: '@@ {self.of} {self.head}': {message}")


def parts(name, of):
    """Those of a lesson, such as lesson03, or of start."""
    path = ROOT / "tests/lessons" / name / "wrong.diff"
    if not path.is_file():
        return []
    found = []
    for part in filter(None, re.split(r"^(?=@@ )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)):
        head = re.match(r"@@ (exercise|kernels) (.+) -> (.+)\n", part)
        if not head:
            raise ValueError(f"{path}: '{part.splitlines()[0]}' is not '@@ exercise NAME -> EXPECTED' or "
                             "'@@ kernels KERNEL: NAME -> EXPECTED'")
        found.append(Part(path, *head.groups(), part[head.end():].rstrip("\n")))
    return [part for part in found if part.of == of]


@dataclass
class Broken:
    """A variant: its text takes the place of the file `path`, a path from the project's root."""

    kernel: str
    options: dict
    name: str
    expected: str
    change: str  # its diff, for readers
    path: str
    text: str
    space: str  # its namespace


def broken_kernels(folder):
    """Those that the page of the lesson in this folder offers."""
    name, found = folder.name.partition("_")[0], []
    for k, part in enumerate(parts(name, "kernels")):
        of_head = HEAD.fullmatch(part.head)
        if not of_head:
            raise part.error("is not 'KERNEL: NAME' or 'KERNEL --n 1000: NAME'")
        options = {option: int(value) for option, value in re.findall(r"--(\w+) (\d+)", of_head[2])}
        space = f"broken{name[len('lesson'):]}_{chr(ord('a') + k)}"
        change = re.sub(r"^@@\n", "", part.diff, flags=re.MULTILINE) + "\n"
        file, text = next((file, text) for file in (folder / "kernels.cuh", folder / "given.cuh")
                          if f"void {of_head[1]}(" in (text := file.read_text(encoding="utf-8")))
        found.append(Broken(of_head[1], options, of_head[3], part.expected, change, str(file.relative_to(ROOT)), part.text(text),
                            space))
    return found


def solution(lesson):
    """The exercise's, where that is not what the lesson's page shows: as a variant that is right."""
    path = lesson.course / "solution.cuh"
    if not path.is_file() or OTHER_TEMPLATE.search(text := path.read_text(encoding="utf-8")):
        return None
    return Broken("", {}, "our solution", "", "", str(path.relative_to(ROOT)), text, f"solution{lesson.number}")


def program():
    """All of them, and the solutions, as one CUDA source. Their lines are those of the files that they take the place of."""
    parts = []
    for lesson in read_lessons():
        for one in filter(None, [*broken_kernels(lesson.folder), solution(lesson)]):
            instances = [f"template __global__ void {name}<{size}>{parameters};"
                         for name, parameters in TEMPLATE.findall(one.text) for size in BLOCK_SIZES]
            own = [lesson.folder / name for name in re.findall(r'^#include "(.*)"$', one.text, re.MULTILINE)]
            for text in (one.text, *(file.read_text(encoding="utf-8") for file in own)):
                parts += re.findall(r"^#include <.*>$", text, re.MULTILINE)
            # Two lessons may give functions of one name.
            parts += [f"namespace of_{lesson.name} {{", *(f'#include "{file}"' for file in own), "}",
                      f"namespace {one.space} {{", f"using namespace of_{lesson.name};",
                      f'#line 1 "{ROOT / one.path}"', INCLUDE.sub("", one.text), *instances, "}"]
    return "\n".join([*parts, ""])


def ptx_of(one, build):
    """What is in the variant's namespace, of the PTX of all."""
    command = [build / "bin/ptx_of", build / "ptx/broken.ptx", "/dev/stdout", one.space]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def write_program(path):
    """Only if it changed, so that it is not compiled again."""
    path, text = Path(path), program()
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
