#!/usr/bin/env python3
"""The emulator's floors: no file includes one of a floor above, or of a floor beside its own, and no files include each
other in a cycle. Usage: include_test.py common/emulator"""

import re
import sys
import unittest
from pathlib import Path

# From the ground up. The floors of a line stand beside each other. A folder of a folder is a floor of its own if it is
# named here, else a part of the floor around it, as check/race is of check.
FLOORS = [
    ["."],  # error.hpp, text.hpp, terminal.hpp, command_line.hpp, counter_legend.hpp, cuda_emulator.h
    ["ptx", "memory", "timing"],
    ["program"],
    ["machine"],
    ["execute", "check", "observe", "machine_code"],
    ["runtime"],
    ["runtime/api"],
    ["session"],
    ["cli"],
    ["playground"],
]
HEIGHT = {floor: height for height, floors in enumerate(FLOORS) for floor in floors}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def floor_of(file):
    """The layer of `program/code.hpp`; None for a folder outside the emulator."""
    folders = [str(folder) for folder in Path(file).parents]  # from the inside out; "." is the last
    return next((folder for folder in folders if folder in HEIGHT and (folder != "." or len(folders) == 1)), None)


def wrong_includes(includes):
    """`includes`: for each file, the files that it includes, as paths from common/emulator."""
    for file, included in sorted(includes.items()):
        here = floor_of(file)
        if here is None:
            yield f"{file}: its folder has no floor"
            continue
        for other in included:
            there = floor_of(other)
            if there is None or other not in includes:
                yield f"{file}: includes {other}, which is no file of the emulator"
            elif HEIGHT[there] > HEIGHT[here]:
                yield f"{file}: includes {other}, which is above it"
            elif HEIGHT[there] == HEIGHT[here] and there != here:
                yield f"{file}: includes {other}, which stands beside it"


def cycles(includes):
    """Each cycle of files once, at the include that closes it."""
    done, path = set(), []

    def visit(file):
        if file in path:
            yield "a cycle: " + " -> ".join(path[path.index(file):] + [file])
        elif file not in done:
            path.append(file)
            for other in includes.get(file, []):
                yield from visit(other)
            done.add(path.pop())

    for file in sorted(includes):
        yield from visit(file)


def includes_of(root):
    files = [file for file in root.rglob("*") if file.suffix in (".cpp", ".hpp", ".h", ".inc")]
    return {str(file.relative_to(root)):
            [path.removeprefix("emulator/") if path.startswith("emulator/") else f"../{path}"
             for path in INCLUDE.findall(file.read_text())]
            for file in files}


class Emulator(unittest.TestCase):
    def test_includes_only_what_is_below(self):
        includes = includes_of(ROOT)
        self.assertGreater(len(includes), 100)
        self.assertEqual([], list(wrong_includes(includes)))

    def test_has_no_cycle_of_files(self):
        self.assertEqual([], list(cycles(includes_of(ROOT))))

    def test_has_no_empty_floor(self):
        self.assertEqual(set(HEIGHT), {floor_of(file) for file in includes_of(ROOT)})


class Rules(unittest.TestCase):
    def wrong(self, file, included, exists=True):
        return list(wrong_includes({file: [included], included: []} if exists else {file: [included]}))

    def test_allow_the_same_floor_and_those_below(self):
        for file, included in [("execute/warp.cpp", "execute/opcodes.hpp"), ("check/race/a.cpp", "check/b.hpp"),
                               ("check/b.cpp", "check/race/a.hpp"), ("cli/main.cpp", "ptx/parser.hpp"),
                               ("runtime/api/launch.cpp", "runtime/runtime.hpp"), ("ptx/lexer.cpp", "error.hpp")]:
            self.assertEqual([], self.wrong(file, included))

    def test_refuse_what_is_above_beside_or_outside(self):
        for file, included in [("machine/warp.cpp", "execute/opcodes.hpp"), ("check/race/a.cpp", "observe/b.hpp"),
                               ("ptx/parser.cpp", "memory/allocation.hpp"), ("error.hpp", "ptx/types.hpp"),
                               ("runtime/runtime.cpp", "runtime/api/graph.hpp"), ("machine/a.cpp", "extras/b.hpp"),
                               ("extras/a.cpp", "error.hpp"), ("cli/main.cpp", "../harness/check.hpp")]:
            self.assertEqual(1, len([line for line in self.wrong(file, included) if line.startswith(file)]))
        self.assertEqual(1, len(self.wrong("cli/main.cpp", "cli/missing.hpp", exists=False)))

    def test_refuse_a_cycle(self):
        self.assertEqual(["a cycle: a -> b -> c -> a"], list(cycles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]})))
        self.assertEqual([], list(cycles({"a": ["b", "c"], "b": ["c"], "c": []})))


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1))
    unittest.main()
