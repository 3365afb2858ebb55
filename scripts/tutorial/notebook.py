"""The magics of the notebooks: %load_ext tutorial.notebook

  %cuda lesson03 --n 1000     runs the lesson, on the GPU if there is one
  %%cuda lesson03 --n 1000    checks the cell as that lesson's exercise; then runs its kernels, on the emulator
  %picture FILE WORDS         shows a picture, and its words to who cannot see it

The programs have to be built. Pictures that --draw makes are shown below the text.
"""

import base64
import re
import shlex
import tempfile
from html import escape
from pathlib import Path
from types import SimpleNamespace

from IPython.core.error import UsageError
from IPython.display import HTML, display

from tutorial import ROOT
from tutorial import exercises as checker
from tutorial.exercise_commands import DEFAULTS, State
from tutorial.exercise_commands import check as check_and_print

LONGEST = 600  # seconds of the processor for a lesson
BUILD, STATE = DEFAULTS["build"], DEFAULTS["state"]
OF_EMULATE = {"--draw": 1, "--line": 1, "--check": 1, "--lines": 0}  # options that are not the program's: words that follow


def cuda(line, cell=None):
    name, *words = shlex.split(line) or [""]
    if not re.fullmatch(r"lesson\d\d|open[A-Z]", name):
        raise UsageError(f"'{name}' is no lesson. For example: %cuda lesson03 --n 1000")
    if cell is None:
        run([program(name), *words], LONGEST)
        return
    try:
        exercise = checker.Exercise(re.sub("^(lesson|open)", "", name))
        ptx = check_cell(exercise, cell)
        if ptx.is_file():
            watched, rest = for_emulate(words)
            kernels = [word for kernel in exercise.kernels() for word in ("--kernel", kernel)]
            run([program("emulate"), "--ptx", ptx, *watched, program(exercise.program), "--device", "emulator", *kernels, *rest],
                checker.LONGEST)
    except checker.ExerciseError as error:
        raise UsageError(f"{error}") from None


def check_cell(exercise, cell):
    """Checks it as scripts/exercise does. Returns the file of its PTX, which is there if it compiles."""
    folder = STATE / exercise.lesson.name
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "cell.cuh"
    text.write_text(f"\n{cell}", encoding="utf-8")  # line 1 of the cell is that of the magic
    check_and_print(exercise, SimpleNamespace(file=text, build=BUILD, state=STATE, seed=None), State(STATE))
    return folder / f"exercise{exercise.number}.ptx"


def for_emulate(words):
    """The options of `emulate`, and the others."""
    mine, rest, words = [], [], list(words)
    while words:
        word = words.pop(0)
        count = OF_EMULATE.get(word)
        (rest if count is None else mine).append(word)
        mine += [words.pop(0) for _ in range(count or 0) if words]
    return mine, rest


def program(name):
    path = BUILD / "bin" / name
    if not path.is_file():
        raise UsageError(f"there is no {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}; "
                         "run the notebook's first cell, which builds it")
    return path


def run(command, seconds):
    """In a folder of its own, with so many seconds of the processor. Prints what it prints, and shows its pictures."""
    with tempfile.TemporaryDirectory() as folder:
        printed = Path(folder) / "printed"
        status = checker.run_bounded(["env", f"--chdir={folder}", *command], seconds, printed, printed)
        print(checker.read_start(printed), end="")
        if status < 0:
            print(f"ended by signal {-status}; {seconds} s of the processor are the most")
        for path in sorted(Path(folder).glob("pictures/*.svg")):
            show(path, path.stem)


def show(path, words):
    """As an image of its own: a style within one picture would change the others on the page."""
    data = base64.b64encode(Path(path).read_bytes()).decode()
    display(HTML(f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(words)}">'))


def picture(line):
    path, _, words = line.partition(" ")
    show(ROOT / path, words)


def load_ipython_extension(shell):
    shell.register_magic_function(cuda, "line_cell")
    shell.register_magic_function(picture)
