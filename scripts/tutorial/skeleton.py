"""The skeleton of a lesson."""

import re

from tutorial import ROOT
from tutorial.lessons import Lesson, all_folders

BASIS = "lesson02_sequential_addressing"

MANIFEST = """\
{{
  "number": "{number}",
  "part": "{part}",
  "title": "{Title}",
  "idea": "FILL: the one idea, in a few words",
  "shows": "FILL: what its numbers show",
  "kernels": ["reduce{number}"],
  "check": [
    "--n 1 --block 32", "--n 31 --block 64", "--n 1000 --block 128", "--n 4099 --block 256", "--n 65537 --block 512"
  ],
  "measure": {{
    "sanitize": "--n 1000003"
  }},
  "report": ["once"],
  "figures": {{}},
  "playground": {{"reduce2": {{}}, "reduce{number}": {{}}}},
  "exercise": {{
    "cases": {{}},
    "goals": [
      {{"kernel": "reduce{number}", "run": "--n 4194304 --block 256", "counters": {{
        "global load sectors": "0"
      }}}}
    ]
  }}
}}
"""

TEACHING = """\
{{
  "exam": [
    {{"kernel": "reduce{number}", "counter": "global_load_sectors",
     "draw": {{"n": "3000..30000"}},
     "run": "--n {{n}} --block 256",
     "steps": ["ceil(n / 8)"],
     "why": "FILL: why, and four more questions: scripts/tutorial/kit_exam.py has the keys."}}
  ]
}}
"""

README = """\
# Lesson {number}: {title}

[All lessons](../../README.md) · before:
[{before_title}](../{before}/README.md) · next: [exercise {number}](exercise.md)

FILL: what the step before wastes, in time, and what this one does about it. Two to four sentences, under 90 words.

## The idea

FILL: the idea with a picture that has data in it, before any code. 200 words at most.

<details><summary>Predict first</summary>

1. FILL: a question about a number that the run will print. Three of them.

</details>

## The change

FILL: the diff of the two kernels, a block `diff` that is not folded. Its places are named `@@ … @@`, as on other pages.

## Run it

FILL: in a block `console`, `$ make lesson{number} && ./lesson{number} --changed`, which prints the rows that moved. Put a line
`?` below the command: `scripts/quote --write` on this page replaces it by the output.

<details><summary>The answers to your predictions</summary>

1. FILL: the answer to each question of Predict first.

</details>

## Why it is faster

FILL: each row that moved, derived by hand: 32 x 4 / 32 = 4 sectors. Then what the time followed, by a measurement, or 'Not
measured yet.' 350 words at most.

## Your turn

FILL: the exercise's task in three lines, with `make exercise{number}`. [The task and its hints](exercise.md).

## Check yourself

1. FILL: a question. Three to five of them.

   <details><summary>Answer</summary>

   FILL: its answer.
   </details>

## Deeper

FILL: in <details>, machine code, other cards, what the counters don't show. Or leave it out.
"""

MAIN = """\
// Lesson {number}: {title}.
//
//     make lesson{number} && ./lesson{number}

#include "../{basis}/kernels.cuh"
#include "harness/lesson.hpp"
#include "kernels.cuh"

int main(int argc, char** argv) {{
    harness::Lesson lesson({{.name = "lesson{number}", .title = "{Title}"}});

    lesson.add_reduction("reduce2", {{.elements_per_thread = 1}}, [](const harness::Pass& pass) {{
        reduce2<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    }});
    // FILL: the launch of this step's kernel.
    lesson.add_reduction("reduce{number}", {{.elements_per_thread = 1}}, [](const harness::Pass& pass) {{
        reduce{number}<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
    }});

    return lesson.run(argc, argv);
}}
"""

EXERCISE = """\
# Exercise {number}: {title}

[Lesson {number}](README.md) · [All lessons](../../README.md)

FILL: what you start from, why it is not enough, and what it is to become.

You edit `lessons/{folder}/exercise.cuh`, at the line `TODO`. This checks it:

```console
$ make exercise{number}
```

FILL: for which sizes and blocks it has to be right.

## Goal

| kernel | run | counter | goal |
|---|---|---|---|
| reduce{number} | `--n 4194304 --block 256` | global load sectors | 0 |

FILL: where each goal comes from, calculated by hand. 0 is not to be had. The table is that of lesson.json.

## Hints

<details><summary>Hint 1</summary>

FILL: a question that leads to the idea. Each hint has more than 20 words.
</details>

<details><summary>Hint 2</summary>

FILL: the idea.
</details>

<details><summary>Hint 3</summary>

FILL: all but the code.
</details>
"""


class Wrong(Exception):
    """An error in the command line, or in the tree."""


def title_of(folder):
    first = (folder / "README.md").read_text(encoding="utf-8").partition("\n")[0]
    return first[len("# L"):].join(("l", "")).replace(":", ",", 1)


def make(name):
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise Wrong(f"'{name}' is no name: small letters, digits and underscores, such as double_buffering")
    lessons = [folder for folder in all_folders() if folder.name.startswith("lesson")]
    if same := [folder.name for folder in lessons if folder.name[9:] == name]:
        raise Wrong(f"there is {same[0]}")
    of_number = {int(folder.name[6:8]): folder for folder in lessons}
    number = next((n for n in range(min(of_number), 100) if n not in of_number), None)
    if number is None:
        raise Wrong("lesson 99 is there, and no number is left")
    before = of_number[number - 1]
    number = f"{number:02}"
    folder = before.parent / f"lesson{number}_{name}"
    title = name.replace("_", " ")
    words = {"number": number, "title": title, "Title": title.capitalize(), "folder": folder.name, "basis": BASIS,
             "before": before.name, "before_title": title_of(before), "part": Lesson(before).part}

    kernels = (ROOT / "lessons" / BASIS / "kernels.cuh").read_text(encoding="utf-8")
    kernels = re.sub(r"^///.*\n(///.*\n)*", "/// FILL: what this kernel does otherwise than the one before.\n", kernels,
                     count=1, flags=re.MULTILINE).replace("reduce2", f"reduce{number}")
    todo = re.sub(r"(\n__global__ void reduce.*\{\n)", r"\1    // TODO, about FILL: lines: what to achieve.\n", kernels,
                  count=1)
    files = {"course/lesson.json": MANIFEST.format(**words), "course/teaching.json": TEACHING.format(**words),
             "README.md": README.format(**words), "kernels.cuh": kernels,
             "main.cu": MAIN.format(**words), "exercise.cuh": todo,
             "exercise.md": EXERCISE.format(**words)}
    (folder / "course").mkdir(parents=True)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    print(f"lessons/{folder.name}: {', '.join(files)}\n"
          f"make lesson{number} builds it. Fill in what says FILL; docs/teaching.md says what else it needs.")
