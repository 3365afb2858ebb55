"""The server: pages, and what they ask for under /api. docs/workbench.md describes it."""

import asyncio
import json
import secrets
import sys
from collections import OrderedDict
from pathlib import Path

from aiohttp import web

from tutorial import ROOT
from tutorial import exercises as checker
from tutorial.serve.documents import Desk, Refused, path_in
from tutorial.serve.jobs import Gone, again_of
from tutorial.serve.security import EXPORTED, add_headers, policy_of, refusal

LARGEST_BODY = 3 * 2**19  # bytes
MOST_EXPORTED = 20  # pages that are kept
CODEMIRROR = Path("/usr/share/javascript/codemirror")
CARDS = sorted(path.stem for path in (ROOT / "common/emulator/timing/cards").glob("*.json"))
INJECTED = "".join(
    f'<link rel="stylesheet" href="/workbench/{path}"/>\n' if path.endswith(".css") else
    f'<script src="/workbench/{path}" defer="defer"></script>\n'
    for path in ("codemirror/lib/codemirror.css", "workbench.css", "codemirror/lib/codemirror.js",
                 "codemirror/mode/clike/clike.js", "codemirror/addon/edit/matchbrackets.js",
                 "codemirror/addon/comment/comment.js", "workbench.js"))


class Workbench:
    def __init__(self, options, gate, queue, bench):
        self.options, self.gate, self.queue, self.bench = options, gate, queue, bench
        self.built, self.building = set(), asyncio.Lock()
        self.exported = OrderedDict()
        self.app = web.Application(middlewares=[gate.middleware, errors], client_max_size=LARGEST_BODY)
        self.app.on_response_prepare.append(add_headers)
        route = self.app.router
        for method, path, handler in (
                ("GET", "/api/about", self.about), ("GET", "/api/documents/{name}", self.get_document),
                ("PUT", "/api/documents/{name}", self.put_document), ("POST", "/api/documents/{name}/reset", self.reset),
                ("POST", "/api/run", self.run), ("POST", "/api/time", self.time), ("POST", "/api/check", self.check),
                ("GET", "/api/exercises", self.exercises), ("POST", "/api/hint", self.hint),
                ("GET", "/workbench/exported/{id}.html", self.exported_page), ("GET", "/workbench/{path:.*}", self.own_file),
                ("GET", "/{path:.*}", self.page)):
            route.add_route(method, path, handler)

    def desk(self, request):
        return Desk(self.options.out)

    # ---- pages ----

    async def page(self, request):
        path = path_in(self.options.site, request.match_info["path"] or "index.html")
        if path.suffix != ".html":
            return web.FileResponse(path)
        text = path.read_text(encoding="utf-8", errors="replace").replace("</head>", f"{INJECTED}</head>", 1)
        return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": policy_of(text)})

    async def own_file(self, request):
        path = request.match_info["path"]
        folder, _, rest = path.partition("/")
        return web.FileResponse(path_in(CODEMIRROR, rest) if folder == "codemirror" else path_in(ROOT / "docs/site", path))

    async def exported_page(self, request):
        text = self.exported.get(request.match_info["id"])
        if text is None:
            raise Refused(404, f"this page is no longer kept: only the last {MOST_EXPORTED} are. Press Run again")
        return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": EXPORTED})

    # ---- documents ----

    async def about(self, request):
        return web.json_response({"class": False, "name": None, "cards": CARDS, "lessons": checker.all_numbers()})

    async def get_document(self, request):
        return web.json_response(self.desk(request).document(request.match_info["name"]).as_json())

    async def put_document(self, request):
        document = self.desk(request).document(request.match_info["name"])
        asked = await body_of(request)
        return web.json_response({"version": document.save(asked.get("text"), asked.get("version"))})

    async def reset(self, request):
        desk = self.desk(request)
        document = desk.document(request.match_info["name"])
        await body_of(request)
        desk.reset(document)
        return web.json_response(document.as_json())

    async def exercises(self, request):
        return web.json_response(self.desk(request).board())

    async def hint(self, request):
        desk = self.desk(request)
        return web.json_response(desk.hint(desk.document(str((await body_of(request)).get("name")))))

    # ---- what compiles and runs ----

    async def asked(self, request):
        """(The reader's desk, the document, its text, its new version, all that was asked): saves it first."""
        asked, desk = await body_of(request), self.desk(request)
        document = desk.document(str(asked.get("name")))
        version = document.save(asked.get("text"), asked.get("version"))
        return desk, document, asked["text"], version, asked

    async def build(self, *programs):
        """Builds what is asked for first."""
        missing = [name for name in programs if name not in self.built]
        if not missing or self.options.no_build:
            return
        async with self.building:
            process = await asyncio.create_subprocess_exec(
                str(ROOT / "scripts/build"), str(self.options.build), *missing, stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
            said = (await process.communicate())[0].decode("utf-8", "replace")
        if process.returncode != 0:
            raise Refused(500, f"the build of {' '.join(missing)} failed: {said[-2000:]}")
        self.built.update(missing)

    async def inside(self, do, request, document, text, more):
        async def silent(_):
            pass

        return await self.queue.do(lambda *job: self.bench.inside(do, document, text, more, *job), here(request), silent)

    async def run(self, request):
        _, document, text, version, asked = await self.asked(request)
        wants_page = document.exercise is None or (document.is_exercise and asked.get("page") is True)
        if document.exercise and wants_page:
            await self.build(document.exercise.program)
        began = asyncio.get_running_loop().time()
        answer = await self.inside("run", request, document, text, {"page": wants_page, "arguments": words_of(asked)})
        answer = {"ptx": None, "messages": [], "said": "", **answer, "version": version,
                  "seconds": round(asyncio.get_running_loop().time() - began, 2)}
        html = answer.pop("html", None)
        if html:
            answer["page"] = self.keep_exported(html)
        return web.json_response(answer)

    def keep_exported(self, html):
        name = secrets.token_urlsafe(12)
        self.exported[name] = html
        while len(self.exported) > MOST_EXPORTED:
            self.exported.popitem(last=False)
        return f"/workbench/exported/{name}.html"

    async def time(self, request):
        _, document, text, version, asked = await self.asked(request)
        card = asked.get("card", "h200")
        if card not in CARDS:
            raise Refused(400, f"there is no such card; there are: {', '.join(CARDS)}")
        if document.exercise:
            await self.build(document.exercise.program)
        answer = await self.inside("time", request, document, text, {"card": card, "arguments": words_of(asked)})
        return web.json_response({"messages": [], "said": "", "launches": [], "timeline": None, "reason": "", **answer,
                                  "version": version})

    async def check(self, request):
        desk, document, text, version, _ = await self.asked(request)
        if not document.is_exercise:
            raise Refused(404, "only an exercise can be checked")
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson; charset=utf-8"})
        await response.prepare(request)

        async def tell(line):
            await response.write(json.dumps(line).encode() + b"\n")

        try:
            await self.build(document.exercise.program)
            answer = await self.queue.do(lambda *job: self.bench.check(document, text, *job), here(request), tell)
            await tell(await asyncio.to_thread(self.verdict, desk, document, text, version, answer))
        except Refused as why:
            await tell({"error": f"{why}", **why.facts})
        except checker.ExerciseError as error:
            await tell({"error": f"{error}"})
        await response.write_eof()
        return response

    def verdict(self, desk, document, text, version, answer):
        """The last line of a check; remembers it as `make exercise03` does."""
        if "steps" not in answer:
            failed = {"error": answer["trouble"]} if "trouble" in answer else {
                "solved": False, "stopped": f"{answer['failed']}: {answer['stopped']}"}
            return {"score": None, "again": "", "version": version, **failed}
        steps = [checker.Step(step["step"], step["passed"], step["what"]) for step in answer["steps"]]
        verdict = checker.Verdict(document.exercise, steps, score=answer["score"])
        desk.state().remember(document.exercise, text, verdict)
        marks = checker.marks(document.exercise, self.options.build) if answer["score"] is not None else []
        return {"solved": verdict.solved, "score": answer["score"], "marks": dict(marks), "sound": answer["sound"],
                "again": again_of(answer, document, desk.state_folder), "version": version}


def here(request):
    return lambda: request.transport is not None and not request.transport.is_closing()


def words_of(asked):
    """Arguments for the program: they reach no shell, and are few."""
    words = asked.get("arguments", [])
    if not isinstance(words, list) or len(words) > 40 or not all(
            isinstance(word, str) and len(word) <= 200 and word.isprintable() for word in words):
        raise Refused(400, "arguments has to be a list of at most 40 short strings, such as [\"--n\", \"4194304\"]")
    return words


async def body_of(request):
    """The request's JSON, which has to be an object."""
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise Refused(400, "the request has to be a JSON object")
    return body


@web.middleware
async def errors(request, handler):
    try:
        return await handler(request)
    except web.HTTPRequestEntityTooLarge:
        return refusal(Refused(413, f"the request has more than {LARGEST_BODY:,} bytes"))
    except web.HTTPException as error:
        return refusal(Refused(error.status, error.reason))
    except (ConnectionError, Gone):
        raise web.HTTPRequestTimeout() from None  # nobody is there to read it
    except (OSError, checker.ExerciseError) as error:
        print(f"serve: {request.path}: {error}", file=sys.stderr)
        return refusal(Refused(500, f"{getattr(error, 'strerror', None) or error}"))


