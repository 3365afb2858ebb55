"""The kernels that a lesson's page offers to break: lessons/*/broken.diff. A variant begins with a line that has the kernel,
what of the run has to differ from the page's usual one, and a name for readers. Behind it is how it differs from kernels.cuh,
each part of the diff behind a line @@ and found below the one before:

  reduce3 --n 65000: without the guard of the second load
  @@
  -    if (i + blockDim.x < n) {

All variants of all lessons are compiled at once: nvcc takes longer to begin than for all of them. Each becomes a namespace.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tutorial import ROOT
from tutorial.lessons import read_lessons

BLOCK_SIZES = (32, 64, 128, 256, 512, 1024)  # those that the lessons instantiate their templates with
HEAD = re.compile(r"(\w+)((?: --\w+ \d+)*): (\S.*)")
INCLUDE = re.compile(r"^#(?:include .*|pragma once)$", re.MULTILINE)
TEMPLATE = re.compile(r"^template <unsigned int block_size>\n__global__ void (\w+)(\([^)]*\)) \{$", re.MULTILINE)
CODE = re.compile(r"^(?:\.visible |\.weak )?\.(?:entry|func)[^;{]*\{\n.*?^\}$", re.MULTILINE | re.DOTALL)


def changed(lines, diff):
    """The lines with the diff's parts applied, each one after the one before."""
    result, at = [], 0
    for part in re.split(r"^@@.*\n", diff, flags=re.MULTILINE)[1:]:
        before, after = ([line[1:] for line in part.splitlines() if line[:1] in kept] for kept in ("- ", "+ "))
        places = [i for i in range(at, len(lines)) if lines[i:i + len(before)] == before]
        if not places:
            raise ValueError("there are no such lines:\n" + "\n".join(before))
        result += lines[at:places[0]] + after
        at = places[0] + len(before)
    return result + lines[at:]


@dataclass
class Broken:
    """A variant: its text takes the place of the file `path`, a path from the project's root."""

    kernel: str
    options: dict
    name: str
    change: str  # its diff, for readers
    path: str
    text: str
    space: str  # its namespace


def broken_kernels(folder):
    """Those of a lesson."""
    path, kernels = folder / "broken.diff", folder / "kernels.cuh"
    if not path.is_file():
        return []
    found = []
    for k, part in enumerate(re.split(r"^(?=\w)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]):
        head, _, diff = part.partition("\n")
        of_head = HEAD.fullmatch(head)
        if not of_head:
            raise ValueError(f"{path}: '{head}' is not 'KERNEL: NAME' or 'KERNEL --n 1000: NAME'")
        options = {name: int(value) for name, value in re.findall(r"--(\w+) (\d+)", of_head[2])}
        try:
            text = "\n".join(changed(kernels.read_text(encoding="utf-8").splitlines(), diff)) + "\n"
        except ValueError as error:
            raise ValueError(f"{path}: '{head}': {error}") from None
        space = f"broken{re.sub('[^0-9]', '', folder.name.partition('_')[0])}_{chr(ord('a') + k)}"
        found.append(Broken(of_head[1], options, of_head[3], re.sub(r"^@@\n", "", diff, flags=re.MULTILINE),
                            str(kernels.relative_to(ROOT)), text, space))
    return found


def program():
    """All of them as one CUDA source. Their lines are those of the files that they take the place of."""
    parts = []
    for lesson in read_lessons():
        for one in broken_kernels(lesson.folder):
            instances = [f"template __global__ void {name}<{size}>{parameters};"
                         for name, parameters in TEMPLATE.findall(one.text) for size in BLOCK_SIZES]
            parts += [*re.findall(r"^#include <.*$", one.text, re.MULTILINE), f"namespace {one.space} {{",
                      f'#line 1 "{ROOT / one.path}"', INCLUDE.sub("", one.text), *instances, "}"]
    return "\n".join([*parts, ""])


def ptx_of(ptx, one):
    """What is in the variant's namespace, of the PTX of all."""
    return CODE.sub(lambda code: code[0] if one.space in code[0].partition("{")[0] else "", ptx)


def write_program(path):
    """Only if it changed, so that it is not compiled again."""
    path, text = Path(path), program()
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
