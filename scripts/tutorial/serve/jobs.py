"""What compiles and runs: in sandboxes, at most two at a time, first come, first served."""

import asyncio
import contextlib
import os
import re
import shlex
import tempfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tutorial import ROOT
from tutorial import exercises as checker
from tutorial.grading import Ended, Running, ask, run_inside
from tutorial.serve.documents import Refused

AT_A_TIME = 2
MOST_ANSWERED = 48 * 2**20  # bytes; an exported page is the largest
MOST_PROCESSES = 256  # of a reader's own program, threads included where the system counts them
PATIENCE = 4  # times the processor time of a compile or a run, of which each job has a few


class Gone(Exception):
    """Who asked has left."""


class Queue:
    """Who waits, and who is at work."""

    def __init__(self, longest):
        processors = sorted(os.sched_getaffinity(0))
        self.free = [processors[index % len(processors)] for index in range(AT_A_TIME)]
        self.line, self.longest, self.at_work = deque(), longest, set()
        self.took = deque([5.0], maxlen=20)  # seconds
        self.pool = ThreadPoolExecutor(AT_A_TIME)

    def seconds(self, place):
        """Until the turn of who has this place in the line, about."""
        return max(1, round(sum(self.took) / len(self.took) * place / AT_A_TIME))

    async def turn(self, is_there, tell):
        """Waits for a processor."""
        if self.free and not self.line:
            return self.free.pop()
        if len(self.line) >= self.longest:
            seconds = self.seconds(len(self.line))
            raise Refused(503, f"{len(self.line)} others wait already: try again in {seconds} s", seconds=seconds)
        mine, told = asyncio.get_running_loop().create_future(), None
        self.line.append(mine)
        try:
            while not mine.done():
                place = self.line.index(mine) + 1
                if place != told:
                    await tell({"queue": place, "seconds": self.seconds(place)})
                    told = place
                await asyncio.wait({mine}, timeout=1)
                if not mine.done() and not is_there():
                    raise Gone
            return mine.result()
        except BaseException:
            if mine.done():
                self.give_back(mine.result())
            else:
                self.line.remove(mine)
            raise

    def give_back(self, processor):
        if self.line:
            self.line.popleft().set_result(processor)
        else:
            self.free.append(processor)

    async def do(self, work, is_there, tell):
        """What `work(running, processor, tell)` returns, which runs in a thread. Its steps go to the coroutine `tell`."""
        processor = await self.turn(is_there, tell)
        loop, steps, running = asyncio.get_running_loop(), asyncio.Queue(), Running()
        began = loop.time()
        self.at_work.add(running)
        job = loop.run_in_executor(self.pool, work, running, processor,
                                   lambda step: loop.call_soon_threadsafe(steps.put_nowait, step))
        job.add_done_callback(lambda _: steps.put_nowait(None))
        try:
            while not (job.done() and steps.empty()):
                with contextlib.suppress(asyncio.TimeoutError):
                    step = await asyncio.wait_for(steps.get(), timeout=1)
                    if step:
                        await tell(step)
                if not is_there():
                    raise Gone
            self.took.append(loop.time() - began)
            return job.result()
        except Ended:
            raise Refused(503, "the server is being stopped") from None
        finally:
            if not job.done():
                await asyncio.to_thread(running.end)
                with contextlib.suppress(Exception):
                    await job
            self.at_work.discard(running)
            self.give_back(processor)

    def end(self):
        for running in list(self.at_work):
            running.end()


class Limits:
    """For grading.ask and run_inside, which call them options."""

    def __init__(self, seconds, case_seconds, memory):
        self.seconds, self.case_seconds, self.memory, self.seed = seconds, case_seconds, memory, None


@contextlib.contextmanager
def as_submission(document, text):
    """The text as a file of its own, as sandboxes show it."""
    with tempfile.TemporaryDirectory(prefix="workbench_") as folder:
        file = Path(folder) / "submission" / document.path.name
        file.parent.mkdir()
        file.write_text(text, encoding="utf-8")
        file.parent.chmod(0o755)
        yield file


class Bench:
    """The jobs themselves, each to be called in a thread."""

    def __init__(self, build, sandbox_of, check_limits, run_limits):
        self.build, self.sandbox_of = build, sandbox_of
        self.check_limits, self.run_limits = check_limits, run_limits

    def check(self, document, text, running, processor, tell):
        with as_submission(document, text) as file:
            answer = ask(running, self.sandbox_of(file.parent.parent), document.exercise, file, self.check_limits, processor,
                         each_kernel=True, tell=tell)
        return answer

    def inside(self, do, document, text, more, running, processor, _):
        """What workbench_inside.py answers, with the messages of the compiler taken apart."""
        exercise, own = document.exercise, document.exercise is None
        task = {"do": do, "number": exercise and exercise.number, "lesson": not document.is_exercise, "page": own,
                "kernels": document.kernels, "arguments": [], "card": "h200", "case_seconds": self.run_limits.seconds,
                "processes": MOST_PROCESSES, **more}
        files, built = ["scripts/grade_inside.py", "scripts/workbench_inside.py"], ["emulator", "bin/emulate"]
        built += ["../disassembler"] * (self.build / "../disassembler").is_dir()  # what estimates of times take
        if not own:
            files += [exercise.main, exercise.lesson.path, exercise.page, *checker.headers(exercise)]
            built += [f"bin/{exercise.program}"] * (self.build / "bin" / exercise.program).is_file()
        with as_submission(document, text) as file:
            sandbox = self.sandbox_of(file.parent.parent)
            before = sandbox.command_that_sees(files, built, file)
            answer = run_inside(running, sandbox, before, "workbench_inside.py", file, self.run_limits, processor, task,
                                PATIENCE * self.run_limits.seconds, most=MOST_ANSWERED, most_processes=MOST_PROCESSES)
            inside = str(sandbox.submission / file.name)
        if "late" in answer:
            return {"stopped": f"was stopped: it had not ended after {answer['late']} s"}
        if "said" in answer:
            said = answer["said"].replace(inside, document.path.name)
            answer.update(said=said, messages=messages_of(said, document.path.name))
        if answer.get("ptx"):
            answer["ptx"] = answer["ptx"].replace(inside, shown(document)).replace(f"{sandbox.root}/", "")
        return answer


def shown(document):
    """How a page calls the file whose lines it shows."""
    folder = document.exercise.folder.relative_to(ROOT)
    return f"{folder}/{document.path.name}"


def messages_of(said, name):
    """nvcc's messages about the file `name`, as [{"line", "column", "severity", "text"}]; the column is None if it is not known.
    Those about others stand at the first line."""
    found = []
    for line in said.splitlines():
        match = (re.match(r"(?P<file>.+?)\((?P<line>\d+)\): (?P<severity>catastrophic error|error|warning|remark)\b[^:]*: "
                          r"(?P<text>.*)", line) or
                 re.match(r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<severity>fatal error|error|warning): "
                          r"(?P<text>.*)", line))
        if match:
            here, facts = match["file"] == name, match.groupdict()
            found.append({"line": int(match["line"]) if here else 1, "column": int(facts.get("column") or 0) or None,
                          "severity": "error" if "error" in match["severity"] else "warning",
                          "text": match["text"] if here else line})
        elif found and found[-1]["column"] is None and line.strip() == "^":
            found[-1]["column"] = line.index("^") - 1  # nvcc indents the line by two
    return found


def again_of(answer, document, state_folder):
    """The command that repeats the failing case in a shell in the root, as `make exercise03` prints it. Keeps the PTX there."""
    if not answer.get("ptx") or not answer.get("again"):
        return ""
    kept = state_folder / document.exercise.lesson.name / f"exercise{document.exercise.number}.ptx"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(answer["ptx"], encoding="utf-8")
    words = shlex.split(answer["again"])
    return shlex.join([words[0], words[1], str(kept.relative_to(ROOT) if kept.is_relative_to(ROOT) else kept), *words[3:]])
