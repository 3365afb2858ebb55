"""The server: pages, and what they ask for under /api. docs/workbench.md describes it."""

import asyncio
import contextlib
import html
import json
import os
import secrets
import sys
from collections import OrderedDict
from pathlib import Path

from aiohttp import web

from tutorial import ROOT
from tutorial import exercises as checker
from tutorial.exercise_commands import name_of
from tutorial.grading import again_with
from tutorial.serve.documents import Desk, Refused
from tutorial.serve.gate import EXPORTED, GUEST, OWNER, add_headers, policy_of
from tutorial.serve.jobs import Gone

LARGEST_BODY = 3 * 2**19  # bytes
MOST_EXPORTED = 20  # pages that are kept
LIBRARIES = Path("/usr/share/javascript")
CARDS = sorted(path.stem for path in (ROOT / "common/emulator/timing/cards").glob("*.json"))
IN_HEAD = "".join(f'<link rel="stylesheet" href="/workbench/{path}"/>\n' if path.endswith("css") else
                  f'<script src="/workbench/{path}" type="module"></script>\n' for path in (
                      "codemirror/lib/codemirror.css", "workbench/workbench.css", "codemirror/lib/codemirror.js",
                      "codemirror/mode/clike/clike.js", "codemirror/addon/edit/matchbrackets.js",
                      "codemirror/addon/comment/comment.js", "workbench/page.js"))

NOTHING = {"messages": [], "said": "", "ptx": None, "launches": [], "timelines": [], "reason": ""}  # of a run that was stopped


async def silent(_):
    pass


class Workbench:
    def __init__(self, options, gate, queue, bench):
        self.options, self.gate, self.queue, self.bench = options, gate, queue, bench
        self.built, self.building, self.exported = set(), asyncio.Lock(), OrderedDict()
        self.app = web.Application(middlewares=[with_errors, gate.middleware], client_max_size=LARGEST_BODY)
        self.app.on_response_prepare.append(add_headers)
        for method, path, handler in (
                ("GET", "/api/about", self.about), ("GET", "/api/documents/{name}", self.document),
                ("PUT", "/api/documents/{name}", self.save), ("POST", "/api/documents/{name}/reset", self.reset),
                ("POST", "/api/run", self.run), ("POST", "/api/time", self.run), ("POST", "/api/check", self.check),
                ("GET", "/api/exercises", self.exercises), ("POST", "/api/hint", self.hint), ("POST", "/api/join", self.join),
                ("GET", "/api/class", self.whole_class), ("GET", "/workbench/exported/{id}.html", self.exported_page),
                ("GET", "/workbench/{path:.+}", self.script), ("GET", "/{path:.*}", self.page)):
            self.app.router.add_route(method, path, handler)

    def desk(self, request):
        return Desk(self.options.out, request["reader"])

    # ---- pages ----

    async def page(self, request):
        path = file_in(self.options.site, request.match_info["path"] or "index.html")
        if path.suffix != ".html":
            return web.FileResponse(path)
        text = path.read_text(encoding="utf-8", errors="replace").replace("</head>", f"{IN_HEAD}</head>", 1)
        return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": policy_of(text)})

    async def script(self, request):
        path = request.match_info["path"]
        return web.FileResponse(file_in(LIBRARIES if path.startswith("codemirror/") else ROOT / "docs/site", path))

    async def exported_page(self, request):
        if request.match_info["id"] not in self.exported:
            raise Refused(404, f"this page is gone: the last {MOST_EXPORTED} are kept. Press Run again")
        return web.Response(text=self.exported[request.match_info["id"]], content_type="text/html",
                            headers={"Content-Security-Policy": EXPORTED})

    # ---- documents, and what is remembered ----

    async def about(self, request):
        reader = request["reader"]
        return web.json_response({"class": bool(self.gate.folder), "name": None if reader in (OWNER, GUEST) else reader,
                                  "teacher": bool(self.gate.folder) and reader == OWNER, "cards": CARDS,
                                  "lessons": checker.all_numbers()})

    async def document(self, request):
        return web.json_response(self.desk(request).document(request.match_info["name"]).as_json())

    async def save(self, request):
        document, asked = self.desk(request).document(request.match_info["name"]), await body_of(request)
        return web.json_response({"version": document.save(asked.get("text"), asked.get("version"))})

    async def reset(self, request):
        desk = self.desk(request)
        document = desk.document(request.match_info["name"])
        return web.json_response({"kept": (kept := desk.reset(document)) and name_of(kept), **document.as_json()})

    async def exercises(self, request):
        return web.json_response(self.desk(request).board())

    async def hint(self, request):
        desk = self.desk(request)
        return web.json_response(desk.hint(desk.document((await body_of(request)).get("name"))))

    async def join(self, request):
        return self.gate.join(request, (await body_of(request)).get("name"))

    async def whole_class(self, request):
        if request["reader"] != OWNER or not self.gate.folder:
            raise Refused(403, "only the teacher sees the class, by the second link that make serve CLASS=1 has printed")
        boards = {path.name: Desk(self.options.out, path.name).board()["exercises"]
                  for path in sorted(self.gate.folder.iterdir()) if path.is_dir()}
        return web.json_response({"exercises": checker.all_numbers(), "students": [
            {"name": name, "solved": sum(row["state"] == "solved" for row in rows),
             "states": {row["number"]: row["state"] for row in rows}} for name, rows in boards.items()]})

    # ---- what compiles and runs ----

    async def asked(self, request):
        """(The document, its text and version, all that was asked): saves it first."""
        asked = await body_of(request)
        document = self.desk(request).document(asked.get("name"))
        words = asked.setdefault("arguments", [])
        if not isinstance(words, list) or len(words) > 40 or not all(isinstance(word, str) and len(word) <= 200 and
                                                                     word.isprintable() for word in words):
            raise Refused(400, 'arguments has to be a list of at most 40 short words, such as ["--n", "4194304"]')
        return document, asked.get("text"), document.save(asked.get("text"), asked.get("version")), asked

    async def build(self, exercise, tell=silent):
        """Builds its program when it is first asked for."""
        if exercise is None or exercise.program in self.built or self.options.no_build:
            return
        await tell({"building": exercise.program})
        async with self.building:
            process = await asyncio.create_subprocess_exec(
                ROOT / "scripts/build", self.options.build, exercise.program, stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
            said = (await process.communicate())[0].decode("utf-8", "replace")
        if process.returncode != 0:
            raise Refused(500, f"the build of {exercise.program} has failed: {said[-2000:]}")
        self.built.add(exercise.program)

    async def do(self, request, work, tell=silent):
        line = request.transport
        return await self.queue.do(work, request["reader"], lambda: line and not line.is_closing(), tell)

    async def run(self, request):
        """Compiles; then runs, if it is a program of its own, or estimates times."""
        document, text, version, asked = await self.asked(request)
        if asked.setdefault("card", "h200") not in CARDS:
            raise Refused(400, f"there is no such card; there are: {', '.join(CARDS)}")
        if request.path == "/api/time":
            await self.build(document.exercise)
        task = {"do": request.path.removeprefix("/api/"), "card": asked["card"], "arguments": asked["arguments"]}
        began = asyncio.get_running_loop().time()
        answer = await self.do(request, lambda *job: self.bench.run(document, text, task, *job))
        if page := answer.pop("html", None):
            name = secrets.token_urlsafe(12)
            self.exported[name], answer["page"] = page, f"/workbench/exported/{name}.html"
            if len(self.exported) > MOST_EXPORTED:
                self.exported.popitem(last=False)
        seconds = round(asyncio.get_running_loop().time() - began, 2)
        return web.json_response({**NOTHING, **answer, "version": version, "seconds": seconds})

    async def check(self, request):
        document, text, version, _ = await self.asked(request)
        if not document.is_exercise:
            raise Refused(404, "only an exercise can be checked")
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson; charset=utf-8"})
        await response.prepare(request)

        async def tell(line):
            await response.write(json.dumps(line).encode() + b"\n")

        try:
            await self.build(document.exercise, tell)
            answer = await self.do(request, lambda *job: self.bench.check(document, text, *job), tell)
            await tell({"version": version, **await self.verdict(self.desk(request), document, text, answer)})
        except (Refused, checker.ExerciseError) as why:
            await tell({"error": f"{why}", **getattr(why, "facts", {})})
        except (ConnectionError, Gone):
            pass  # nobody is there to be told
        return response

    async def verdict(self, desk, document, text, answer):
        """A check's last line. Remembers it as `make exercise03` does."""
        if "trouble" in answer:
            return {"error": answer["trouble"]}
        if "stopped" in answer:
            return {"solved": False, "score": None, "again": "", "stopped": f"{answer['failed']}: {answer['stopped']}"}
        exercise = document.exercise
        steps = [checker.Step(step["step"], step["passed"], step["what"]) for step in answer["steps"]]
        verdict = checker.Verdict(exercise, steps, score=answer["score"], sound=answer["sound"])
        desk.state.remember(exercise, text, verdict)
        marks = {} if verdict.score is None else dict(await asyncio.to_thread(checker.marks, exercise, self.options.build))
        link_in_root(self.options.build, exercise.program)
        again = again_with(desk.state_folder / exercise.lesson.name / f"exercise{exercise.number}.ptx", answer)
        return {"solved": verdict.solved, "score": verdict.score, "marks": marks, "sound": verdict.sound, "again": again}


def file_in(folder, name):
    """The file of that name in the folder. A name leads nowhere else, links included."""
    with contextlib.suppress(OSError, ValueError):  # a name that no file can have
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()) and path.is_file():
            return path
    raise Refused(404, "there is no such page")


def link_in_root(build, program):
    """What a failed check's command for a terminal calls, where make would put it."""
    for name in ("emulate", program):
        with contextlib.suppress(OSError):  # a tree that cannot be written
            if (ROOT / name).is_symlink():
                (ROOT / name).unlink()
            (ROOT / name).symlink_to(os.path.relpath(build / "bin" / name, ROOT))


async def body_of(request):
    with contextlib.suppress(ValueError, RecursionError):
        if isinstance(body := json.loads(await request.read()), dict):
            return body
    raise Refused(400, "the request has to be a JSON object")


@web.middleware
async def with_errors(request, handler):
    """What is wrong, as {"error": …}; for who opens a page in a browser, as a page."""
    try:
        return await handler(request)
    except web.HTTPRequestEntityTooLarge:
        why = Refused(413, f"the request has more than {LARGEST_BODY:,} bytes")
    except web.HTTPException as error:
        why = Refused(error.status, error.reason)
    except (ConnectionError, Gone):
        why = Refused(499, "who asked has left")  # nobody reads this
    except (OSError, checker.ExerciseError) as error:
        why = Refused(500, getattr(error, "strerror", None) or f"{error}")
        print(f"serve: {request.path}: {why}", file=sys.stderr)
    except Refused as refused:
        why = refused
    if request.method == "GET" and "text/html" in request.headers.get("Accept", "") and not request.path.startswith("/api/"):
        page = (ROOT / "docs/site/workbench/refused.html").read_text(encoding="utf-8").replace("WHY", html.escape(f"{why}"))
        return web.Response(text=page, content_type="text/html", status=why.status)
    headers = {"Retry-After": str(why.facts["seconds"])} if "seconds" in why.facts else {}
    return web.json_response({"error": f"{why}", **why.facts}, status=why.status, headers=headers)
