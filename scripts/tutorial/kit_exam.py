"""Exam questions: a run that a seed draws, a counter of it, and how to derive that, as in lessons/*/course/teaching.json. Its
keys: manifests.schema.json.

The key's number is what the emulator counts. The derivation has to come to the same, or there is no exam.
"""

import json
import math
import random
import re
import shlex
import subprocess
from dataclasses import dataclass

from tutorial.counters import CATALOGUE, NAMES
from tutorial.lessons import ManifestError, read_manifest
from tutorial.programs import Failure

QUESTIONS = 5  # per lesson, one of which may be a choice

# What a question asks for.
OF_A_LAUNCH = {
    "blocks": "How many thread blocks does the first launch have?",
    "dynamic_shared_bytes": "How many bytes of dynamic shared memory does a block have?",
}
ASKED = {
    **OF_A_LAUNCH,
    "global_load_sectors": "How many sectors do the global loads request?",
    "global_store_sectors": "How many sectors do the global stores request?",
    "global_load_requests": "How many requests do the global loads make?",
    "global_store_requests": "How many requests do the global stores make?",
    "global_atom_sectors": "How many sectors do the atomics whose result is used request?",
    "global_red_sectors": "How many sectors do the atomics whose result is not used request?",
    "shared_load_wavefronts": "How many wavefronts do the shared loads take?",
    "shared_store_wavefronts": "How many wavefronts do the shared stores take?",
    "shared_load_bank_conflicts": "How many bank conflicts do the shared loads have?",
    "shared_store_bank_conflicts": "How many bank conflicts do the shared stores have?",
    "copy_instructions": "How many instructions start an asynchronous copy?",
    "copy_wavefronts": "How many wavefronts do the asynchronous copies take?",
    "bulk_instructions": "How many bulk copies does the kernel start?",
    "bulk_sectors": "How many sectors do the bulk copies fetch?",
    "divergent_branches": "At how many branches does a warp split?",
    "thread_barriers": "How often does a thread come to `__syncthreads()`, added up over all threads?",
}
WORDS = {"n": "{} ints", "block": "{} threads per block", "columns": "{} columns", "rows": "{} rows", "width": "width w = {}",
         "height": "height h = {}", "padding": "padding p = {}", "coarsening": "coarsening k = {}", "blocks": "k = {} blocks",
         "elements-per-thread": "at least e = {} ints per thread", "stages": "{} stages", "kib-per-stage": "{} KiB per stage",
         "skew": "{} in 100 of them 0", "type": "type {}", "op": "operation {}"}

# What a question without a number begins with, by its kind.
KINDS = {"timeline": "Read the timeline.", "floor": "Compare the floors.", "change": "Choose the change.",
         "race": "Find the race.", "experiment": "Choose the experiment.", "reason": "Find the reason."}

FUNCTIONS = {"ceil": math.ceil, "gcd": math.gcd, "log2": lambda x: int(math.log2(x)), "min": min}


@dataclass
class Question:
    """A question with its numbers."""

    setting: str  # reduce3, 8,192 ints, 128 threads per block
    asked: str
    arguments: list  # of the program
    kernel: str
    counter: str
    steps: list  # blocks = 8,192 / 256 = 32
    derived: int
    why: str

    @property
    def asks_for_ptx(self):
        """As the lessons' tables do."""
        return any(counter.id == self.counter and counter.row and not counter.exact for counter in CATALOGUE)


@dataclass
class Choice:
    """A question without a number: one of these is right."""

    asked: str
    choices: dict  # of letters
    right: str  # its letter
    why: str
    picture: str  # the name of a file in docs/figures, or none
    code: list  # of lines


def read_teaching(lesson):
    return read_manifest(lesson.course / "teaching.json", "teaching", counter=list(ASKED))


def exam(lesson, seed):
    """The lesson's questions: the same for the same seed, whichever other lessons there are."""
    numbers = random.Random(f"{seed} {lesson.number}")
    return [ask(question, numbers) for question in read_teaching(lesson)["exam"]]


def choice(lesson, seed):
    """The lesson's question without a number, its choices in an order of the seed's. None if it has none."""
    question = read_teaching(lesson).get("choice")
    if question is None:
        return None
    choices = random.Random(f"{seed} {lesson.number} choice").sample(question["choices"], len(question["choices"]))
    letters = dict(zip("abcd", choices))
    right = next(letter for letter, words in letters.items() if words == question["choices"][0])
    asked = f"{KINDS.get(question.get('kind'), '')} {question['asked']}".strip()
    return Choice(asked, letters, right, question["why"], question.get("picture"), question.get("code", []))


def ask(question, numbers):
    names = {name: numbers.choice(values_of(choices)) for name, choices in question["draw"].items()}
    for name, formula in question.get("let", {}).items():
        names[name] = evaluate(formula, names)
    arguments = shlex.split(question["run"].format(**names))
    steps, value = [], None
    for step in question["steps"]:
        name, equals, formula = step.rpartition(" = ")
        value = evaluate(formula, names)
        written = substitute(formula, names)
        steps.append(f"{name.replace('_', ' ')}{equals}{written}" + (f" = {shown(value)}" if written != shown(value) else ""))
        if name:
            names[name] = value
    return Question(", ".join([f"`{question['kernel']}`", *settings(arguments)]), ASKED[question["counter"]], arguments,
                    question["kernel"], question["counter"], steps, value, question["why"])


def values_of(choices):
    if isinstance(choices, str):
        first, last = choices.split("..")
        return range(int(first), int(last) + 1)
    return [int(choice) if choice.isdigit() else choice for choice in choices]


def evaluate(formula, names):
    """A whole number. The formulas are the tree's own."""
    value = eval(formula, {"__builtins__": {}}, {**FUNCTIONS, **names})  # noqa: S307
    if value != int(value):
        raise ManifestError(f"{formula} is {value} with {names}")
    return int(value)


def substitute(formula, names):
    """The formula with numbers for names, as the pages write them."""
    written = re.sub(r"\w+", lambda word: shown(names.get(word.group(), word.group())), formula)
    return written.replace("*", "x")


def shown(value):
    return f"{int(value):,}" if str(value).isdigit() else str(value)


def settings(arguments):
    """n = 8192 and so on in words: 8,192 ints."""
    words = []
    for option, value in zip(arguments[::2], arguments[1::2]):
        name = option.lstrip("-")
        words.append(WORDS.get(name, name.replace("-", " ") + " {}").format(shown(value)))
    return words


def count(programs, lesson, question):
    """What the emulator counts. \\throws Failure if the derivation comes to something else"""
    command = [str(programs.path(lesson.name)), "--device", "emulator", "--format", "json", "--kernel", question.kernel,
               *question.arguments]
    run = subprocess.run(command, env=programs.environment, capture_output=True, text=True)
    what = f"./{lesson.name} --kernel {question.kernel} {shlex.join(question.arguments)}"
    if run.returncode != 0:
        raise Failure(1, f"{what} failed: {run.stderr.strip() or run.stdout.strip()}")
    launch = json.loads(run.stdout)["kernels"][0]
    if question.counter == "blocks":
        counted = math.prod(launch["grid"])
    elif question.counter in OF_A_LAUNCH:
        counted = launch[question.counter]
    else:
        counted = launch["counters"][NAMES[question.counter]]
    if counted != question.derived:
        raise Failure(1, f"{what}: the emulator counts {counted:,} for {question.counter}, but lessons/{lesson.folder.name}/"
                         f"course/teaching.json derives {'; '.join(question.steps)}")
    return counted
