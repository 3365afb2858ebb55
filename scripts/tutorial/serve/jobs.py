"""What compiles and runs: in sandboxes, two at a time, first come, first served."""

import asyncio
import contextlib
import os
import tempfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

from tutorial import exercises as checker
from tutorial.exercise_commands import name_of
from tutorial.grading import Ended, Running, ask, run_inside
from tutorial.serve.documents import Refused

AT_A_TIME = 2
MOST_OF_ONE = 4  # jobs of a student that wait: nobody can fill the line alone
MOST_ANSWERED = 48 * 2**20  # bytes; an exported page is the largest
MOST_PROCESSES = 256  # of a reader's own program: with more it is ended, and twice as many the system refuses
PATIENCE = 4  # a job's time, in processor times of one step of it
CHECKS = SimpleNamespace(seconds=300, case_seconds=20, memory=3072, seed=None)  # as scripts/grade has them


class Gone(Exception):
    """Who asked has left."""


class Queue:
    def __init__(self, longest):
        processors = sorted(os.sched_getaffinity(0))
        self.free = [processors[index % len(processors)] for index in range(AT_A_TIME)]
        self.line, self.longest = deque(), longest  # futures, which get a processor, and whose they are
        self.took = deque([5.0], maxlen=20)  # seconds
        self.pool, self.running = ThreadPoolExecutor(AT_A_TIME), set()

    def seconds(self, place):
        """Until the turn of who has this place in the line, about."""
        return max(1, round(sum(self.took) / len(self.took) * place / AT_A_TIME))

    async def turn(self, student, is_there, tell):
        """A processor, when it is the student's turn: '' is the owner."""
        if self.free:
            return self.free.pop()
        own = [place for place, (_, whose) in enumerate(self.line, 1) if student and whose == student]
        if len(own) >= MOST_OF_ONE or len(self.line) >= self.longest:
            who, place = (f"{len(own)} of yours", own[0]) if len(own) >= MOST_OF_ONE else (len(self.line), len(self.line))
            seconds = self.seconds(place)
            raise Refused(503, f"{who} wait already: try again in {seconds} s", seconds=seconds)
        mine, told = (asyncio.get_running_loop().create_future(), student), None
        self.line.append(mine)
        try:
            while not mine[0].done():
                if told != (told := self.line.index(mine) + 1):
                    await tell({"queue": told, "seconds": self.seconds(told)})
                await asyncio.wait({mine[0]}, timeout=1)
                if not is_there():
                    raise Gone
            return mine[0].result()
        except BaseException:
            if mine in self.line:
                self.line.remove(mine)
            else:
                self.give_back(mine[0].result())
            raise

    def give_back(self, processor):
        if self.line:
            self.line.popleft()[0].set_result(processor)
        else:
            self.free.append(processor)

    async def do(self, work, student, is_there, tell):
        """What `work(running, processor, tell)` returns, which runs in a thread. The steps that it tells go to the coroutine
        `tell`. If who asked leaves, it is ended."""
        processor = await self.turn(student, is_there, tell)
        loop, steps, running = asyncio.get_running_loop(), asyncio.Queue(), Running()
        began, job = loop.time(), None

        def ended(job):
            if not job.cancelled():
                job.exception()  # looked at here, since who asked may be gone by then
            steps.put_nowait(None)

        self.running.add(running)
        try:
            job = loop.run_in_executor(self.pool, work, running, processor,
                                       lambda step: loop.call_soon_threadsafe(steps.put_nowait, step))
            job.add_done_callback(ended)
            while not job.done() or not steps.empty():
                with contextlib.suppress(asyncio.TimeoutError):
                    step = await asyncio.wait_for(steps.get(), timeout=1)
                    if step:
                        await tell(step)
                if not is_there():
                    raise Gone
            self.took.append(loop.time() - began)
            return job.result()
        except Ended:
            raise Refused(503, "the server is being ended") from None
        finally:
            await asyncio.to_thread(running.end)
            if job:
                await asyncio.wait({job})
            self.running.discard(running)
            self.give_back(processor)

    def end(self):
        for running in list(self.running):
            running.end()


class Bench:
    """The jobs' work, each in a thread: `job` is what Queue.do() gives to it."""

    def __init__(self, options, sandbox_of):
        self.build, self.sandbox_of, self.limits = options.build, sandbox_of, options  # for scripts in the sandbox

    @contextlib.contextmanager
    def sandbox(self, document, text):
        """(A sandbox, the text as the file that it sees.)"""
        with tempfile.TemporaryDirectory(prefix="workbench_") as folder:
            file = Path(folder) / "submission" / document.path.name
            file.parent.mkdir()
            file.write_text(text, encoding="utf-8")
            yield self.sandbox_of(Path(folder)), file

    def check(self, document, text, *job):
        running, processor, tell = job

        def told(step):
            messages = checker.messages_of("\n".join(step["what"]), document.path.name) if step["step"] == "compiles" else []
            tell({**step, "messages": messages} if messages else step)

        with self.sandbox(document, text) as (sandbox, file):
            return ask(running, sandbox, document.exercise, file, CHECKS, processor, each_kernel=True, tell=told)

    def run(self, document, text, task, running, processor, _):
        """What workbench_inside.py answers."""
        exercise = document.exercise
        name = exercise.folder.relative_to(checker.ROOT) / document.path.name if exercise else name_of(document.path)
        task = {"number": exercise and exercise.number, "lesson": not document.is_exercise, "kernels": document.kernels,
                "name": str(name), "case_seconds": self.limits.seconds, "processes": 2 * MOST_PROCESSES, **task}
        files = ["scripts/grade_inside.py", "scripts/workbench_inside.py"]
        if exercise:
            files += [exercise.main, exercise.lesson.path, exercise.page, *checker.headers(exercise)]
        built = ["emulator", "bin/emulate", *([f"bin/{exercise.program}"] if exercise else []), "../disassembler"]
        with self.sandbox(document, text) as (sandbox, file):
            before = sandbox.command_that_sees(files, [name for name in built if (self.build / name).exists()], file,
                                               runs_host_code=exercise is None)
            answer = run_inside(running, sandbox, before, "workbench_inside.py", file, self.limits, processor, task,
                                PATIENCE * self.limits.seconds, most=MOST_ANSWERED, most_processes=MOST_PROCESSES)
        return {"stopped": f"was stopped: it had not ended after {answer['late']} s"} if "late" in answer else answer
