#!/usr/bin/python3
"""serve_test.py BUILD [TestCase…]: scripts/serve, in a copy of the parts of the tree that it needs; and attacks on it.

Most tests need no compiler: their nvcc, emulate and program are shell scripts. Skipped where bwrap can make no sandboxes.
"""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from tutorial import exercises as checker  # noqa: E402
from tutorial.exercise_commands import State  # noqa: E402
from tutorial.grading import collect, of_processes  # noqa: E402

BUILD = Path(sys.argv[1]).absolute()
MOST_SECONDS = 300  # per test; they take a few on a free machine
PAGE = "<html><head><title>t</title><script>let own = 1;</script></head><body>a page</body></html>"
# A text with WAITS in it is compiled when the test opens the gate. Each compile fails at the time it began.
NVCC = """cd $(dirname $(echo "$@" | grep -o '[^ ]*main.cu\\|[^ ]*own.cu'))
began=$(date +%s%N)
if grep -q WAITS *.cu*; then read line < {gate}; fi
if grep -q COMPILES *.cu*; then while [ "$1" != -o ]; do shift; done; echo made > $2; exit 0; fi
echo "$PWD/$(ls | grep -m 1 'solution.cuh\\|kernels.cuh\\|own.cu'):1:1: error: $began" >&2
exit 1"""
EMULATE = """while [ $# -gt 1 ]; do
    case $1 in --export) echo '<p>exported</p>' > $2 ;; --output) echo '{"launches": [{}]}' > $2 ;; esac
    shift
done
echo ran"""


def late(*_):
    raise TimeoutError(f"the test has not ended after {MOST_SECONDS} s")


def processes_about(path):
    return [pid for pid, line in of_processes("cmdline") if str(path).encode() in line and pid != os.getpid()]


class WithTree(unittest.TestCase):
    """A copy of the tree, and a server there, which the tests of a class share."""

    words = ()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="serve_test_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.tree, cls.site, cls.temporary = cls.folder / "tree", cls.folder / "site", cls.folder / "temporary"
        for part in ("scripts", "common/harness", "common/emulator/timing/cards", "docs/site",
                     *(f"lessons/{name}" for name in ("lesson02_sequential_addressing", "lesson03_first_add_on_load"))):
            shutil.copytree(ROOT / part, cls.tree / part, ignore=shutil.ignore_patterns("__pycache__", "*.mine-*"))
        shutil.copy(ROOT / "common/counters.json", cls.tree / "common")
        cls.lesson = cls.tree / "lessons/lesson03_first_add_on_load"
        cls.text = cls.lesson / "exercise.cuh"
        cls.original = cls.text.read_text(encoding="utf-8")
        cls.site.mkdir()
        cls.temporary.mkdir()
        (cls.site / "index.html").write_text(PAGE)
        (cls.site / "workbench.html").write_text(PAGE)
        (cls.site / "site.js").write_text("1;")
        (cls.site / "outside.html").symlink_to("/etc/passwd")
        cls.gate = cls.folder / "toolkit/gate"
        cls.build = cls.make_build()
        cls.server = cls.start()

    @classmethod
    def make_build(cls):
        """Of shell scripts."""
        build = cls.folder / "build"
        cls.gate.parent.mkdir()
        os.mkfifo(cls.gate)
        (build / "emulator").mkdir(parents=True)
        (build / "CMakeCache.txt").write_text(f"CMAKE_CUDA_COMPILER:FILEPATH={cls.folder}/toolkit/bin/nvcc\n")
        for path, does in ((cls.folder / "toolkit/bin/nvcc", NVCC.format(gate=cls.gate)), (build / "bin/emulate", EMULATE),
                           *((build / f"bin/{name}", "true") for name in ("exercise03", "lesson02", "lesson03"))):
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\n{does}\n")
            path.chmod(0o755)
        return build

    @classmethod
    def start(cls, *words):
        server = Server(cls, [*words, *cls.words])
        if server.status == 2 and "bwrap" in server.told:
            raise unittest.SkipTest(server.told)
        cls.addClassCleanup(server.end)
        return server

    def setUp(self):
        signal.signal(signal.SIGALRM, late)
        signal.alarm(MOST_SECONDS)  # for a test that waits for what never comes
        self.addCleanup(signal.alarm, 0)
        self.text.write_text(self.original, encoding="utf-8")
        self.document()  # and the original is kept, which is a save too
        self.addCleanup(lambda: [path.unlink() for path in self.lesson.glob("*.mine-*")])

    def ask(self, method, path, body=None, **how):
        return self.server.ask(method, path, body, **how)

    def document(self, name="exercise03"):
        return self.ask("GET", f"/api/documents/{name}").json

    def job(self, name, text, do="run", **more):
        """What the server answers, once it has saved the text."""
        found = self.document(name)
        return self.ask("POST", f"/api/{do}", {"name": name, "text": text, "version": found["version"], **more})


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.text = response.read().decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def lines(self):
        return [json.loads(line) for line in self.text.splitlines()]


class Server:
    def __init__(self, tests, words):
        command = [sys.executable, tests.tree / "scripts/serve", "--port", "0", "--site", tests.site, "--build", tests.build,
                   "--out", tests.tree / "build", "--no-build", *words]
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, "TMPDIR": str(tests.temporary), "TOKEN": "a secret"})
        self.told, self.links, self.status = "", [], None
        while len(self.links) < (2 if "--class" in words else 1):
            line = self.process.stdout.readline()
            if not line:
                self.status = self.process.wait()
                return
            self.told += line
            self.links += re.findall(r"http://\S+:(\d+)/workbench\.html\?token=(\S+)", line)
        self.port = int(self.links[0][0])
        self.cookie = self.visit(self.links[-1][1])

    def visit(self, token, cookie=""):
        return self.ask("GET", f"/workbench.html?token={token}", cookie=cookie).headers["Set-Cookie"].partition(";")[0]

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def begin(self, connection, method, path, body=None, cookie=None, origin=..., host=None, accept=None):
        """Sends a request. None leaves out what is otherwise right."""
        body = json.dumps(body).encode() if body is not None and not isinstance(body, bytes) else body
        connection.putrequest(method, path, skip_host=True)
        for name, value in (("Host", host or f"127.0.0.1:{self.port}"), ("Cookie", self.cookie if cookie is None else cookie),
                            ("Origin", f"http://127.0.0.1:{self.port}" if origin is ... else origin),
                            ("Accept", accept), ("Content-Length", str(len(body)) if body is not None else None)):
            if value:
                connection.putheader(name, value)
        connection.endheaders(body)

    def ask(self, *words, **how):
        with contextlib.closing(self.connect()) as connection:
            self.begin(connection, *words, **how)
            return Answer(connection.getresponse())

    def end(self, number=signal.SIGINT):
        if not self.process.stdout.closed:
            self.process.send_signal(number)
            with self.process.stdout:
                self.told += self.process.stdout.read()
        assert "Traceback" not in self.told, self.told
        return self.process.wait()


class Gate(WithTree):
    """Who may ask for what."""

    REQUESTS = [("GET", "/api/about", None), ("GET", "/api/documents/exercise03", None), ("GET", "/api/exercises", None),
                ("GET", "/api/class", None), ("GET", "/workbench/exported/x.html", None), ("GET", "/api/none", None),
                *((method, path, {"name": "exercise03", "text": "// attacked\n", "version": hashlib.sha256(
                    (ROOT / "lessons/lesson03_first_add_on_load/exercise.cuh").read_bytes()).hexdigest()}) for method, path in (
                    ("PUT", "/api/documents/exercise03"), ("POST", "/api/documents/exercise03/reset"), ("POST", "/api/run"),
                    ("POST", "/api/time"), ("POST", "/api/check"), ("POST", "/api/hint"), ("POST", "/api/join")))]

    def expect_refused(self, status, why, requests=REQUESTS, **how):
        for method, path, body in requests:
            with self.subTest(f"{method} {path} {how}"):
                answer = self.ask(method, path, body, **how)
                self.assertEqual(answer.status, status, answer.text)
                self.assertIn(why, answer.json["error"])
                self.assertNotIn("Set-Cookie", answer.headers)
                self.assertNotIn("Access-Control-Allow-Origin", answer.headers)
        self.assertEqual(self.text.read_text(encoding="utf-8"), self.original)

    def test_the_link_gives_a_cookie_and_then_is_not_shown_any_more(self):
        token = self.server.links[0][1]
        answer = self.ask("GET", f"/a/page.html?token={token}", cookie="")
        self.assertEqual((answer.status, answer.headers["Location"]), (302, "/a/page.html"))
        cookie = answer.headers["Set-Cookie"]
        self.assertRegex(cookie, rf"^workbench_{self.server.port}=[\w-]{{32}}; HttpOnly; Path=/; SameSite=Strict$")
        self.assertNotIn(token, cookie)
        self.assertEqual(self.ask("GET", f"//evil.example/?token={token}").headers["Location"], "/evil.example/")
        self.expect_refused(403, "open the one that make serve has printed",
                            [("GET", f"/?token={wrong}", None) for wrong in ("", "x", token[:-1], f"{token}x", "%ff")])

    def test_in_a_browser_a_wrong_link_says_so_in_a_page(self):
        accept = "text/html,application/xhtml+xml,*/*;q=0.8"
        for path in ("/workbench.html?token=wrong", "/?token=", "/workbench/exported/x.html"):
            answer = self.ask("GET", path, cookie="", accept=accept)
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (403, "text/html; charset=utf-8"))
            self.assertRegex(answer.text, "<p>.*: open the (link|one) that make serve has printed[.]</p>")
            self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        answer = self.ask("GET", "/", host="<b>", accept=accept)
        self.assertIn("called &#x27;&lt;b&gt;&#x27;: open the link", answer.text)
        self.assertIn("error", self.ask("GET", "/api/about", cookie="", accept=accept).json)

    def test_without_the_cookie_there_is_nothing(self):
        name = f"workbench_{self.server.port}"
        for cookie in ("", "workbench=1", f"{name}=", f"{name}=x", f"{name}={self.server.links[0][1]}"):
            self.expect_refused(403, "open the link that make serve has printed", cookie=cookie)

    def test_a_page_of_another_site_may_change_nothing(self):
        port = self.server.port
        changing = [request for request in self.REQUESTS if request[0] != "GET"]
        for origin in (None, "null", "https://evil.example", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}",
                       f"http://localhost:{port}", f"http://127.0.0.1:{port}.evil.example"):
            self.expect_refused(403, "a page of another site", changing, origin=origin)

    def test_a_name_that_is_pointed_here_is_not_ours(self):
        port = self.server.port
        for host in (f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}", f"127.0.0.1:{port + 1}", "x" * 999):
            for requests in (self.REQUESTS, [("GET", "/", None), ("GET", f"/?token={self.server.links[0][1]}", None)]):
                self.expect_refused(421, "this server is not called", requests, host=host, origin=f"http://{host}")
        self.assertEqual(self.ask("GET", "/api/about", host=f"localhost:{port}").status, 200)

    def test_no_path_leads_out(self):
        up = ("../" * 12, "%2e%2e/" * 12, "..%2f" * 12, "..%5c" * 12, "./" * 3 + "../" * 12)
        for way in (*up, "/", "//", "%00", "outside.html?", "%2f", "x" * 5000):
            for start in ("/", "/workbench/", "/workbench/codemirror/", "/workbench/exported/", "/api/documents/"):
                answer = self.ask("GET", f"{start}{way}etc/passwd")
                self.assertNotIn("root:", answer.text)
                self.assertIn(answer.status, (400, 404), f"{start}{way}")
        self.assertEqual(self.ask("GET", "/outside.html").status, 404, "a link in the site")
        self.assertEqual(self.ask("GET", "/workbench/own.cu").status, 200, "the names that are right")
        self.assertEqual(self.ask("GET", "/workbench/codemirror/lib/codemirror.js").status, 200)
        for name in ("../../Makefile", "exercise03/../../x", "exercise", "exercise99", "lesson99", "exerciseZ", "own.cu", "",
                     "exercise03%00", "exercise03%0a", "../exercise03"):
            for method, path, body in (("PUT", f"/api/documents/{name}", {"text": "x", "version": ""}),
                                       ("POST", "/api/run", {"name": name, "text": "x", "version": ""})):
                answer = self.ask(method, path, body)
                self.assertIn(answer.status, (404, 405), f"{name}: {answer.text}")

    def test_a_page_gets_the_editor_and_may_run_only_its_own_scripts(self):
        page = self.ask("GET", "/")
        self.assertIn('<script src="/workbench/codemirror/lib/codemirror.js" type="module"></script>\n', page.text)
        self.assertRegex(page.text, r'src="/workbench/workbench/page.js"[^\n]*\n</head><body>a page')
        self.assertIn("javascript", self.ask("GET", "/workbench/workbench/page.js").headers["Content-Type"])
        self.assertEqual((self.site / "index.html").read_text(), PAGE)
        policy = page.headers["Content-Security-Policy"]
        digest = base64.b64encode(hashlib.sha256(b"let own = 1;").digest()).decode()
        self.assertIn(f"script-src 'self' 'wasm-unsafe-eval' 'sha256-{digest}';", policy)
        for answer in (page, self.ask("GET", "/site.js"), self.ask("GET", "/none"), self.ask("GET", "/api/about", cookie="")):
            self.assertEqual((answer.headers["X-Content-Type-Options"], answer.headers["Referrer-Policy"]),
                             ("nosniff", "no-referrer"))
            for rule in ("default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
                self.assertIn(rule, answer.headers["Content-Security-Policy"])
            self.assertNotRegex(answer.headers["Content-Security-Policy"], r"script-src[^;]*('unsafe-inline'|'unsafe-eval'|\*)")

    def test_what_is_no_request_is_refused_and_the_server_goes_on(self):
        version = self.document()["version"]
        for body, status, why in (
                *((body, 400, "has to be a JSON object") for body in (b"{", b"[]", b"", b"\xff\xfe", b"[" * 100_000)),
                ({"text": 1, "version": version}, 400, "strings"),
                ({"text": "x"}, 400, "strings"), ({"text": "\ud800", "version": version}, 400, "surrogate"),
                ({"text": "x" * (2**20 + 1), "version": version}, 413, "more than 1,048,576 bytes"),
                (b" " * (3 * 2**19 + 1), 413, "more than 1,572,864 bytes")):
            answer = self.ask("PUT", "/api/documents/exercise03", body)
            self.assertEqual(answer.status, status, body[:50] if isinstance(body, bytes) else answer.text)
            self.assertIn(why, answer.json["error"])
        for words in ("--n 4", [4], ["x"] * 41, ["x" * 201], ["\n"]):
            self.assertIn("at most 40 short words", self.job("own", "x", arguments=words).json["error"])
        self.assertIn("there are: h100, h200", self.job("exercise03", "x", "time", card="../h200").json["error"])
        self.text.write_text(self.original, encoding="utf-8")
        self.assertEqual(self.document()["version"], version)


class Documents(WithTree):
    def save(self, name, text, version):
        return self.ask("PUT", f"/api/documents/{name}", {"text": text, "version": version})

    def test_the_exercise_in_the_tree_is_what_is_edited(self):
        found = self.document()
        self.assertEqual(found, {
            "name": "exercise03", "file": "lessons/lesson03_first_add_on_load/exercise.cuh", "text": self.original,
            "original": self.original, "version": hashlib.sha256(self.original.encode()).hexdigest(),
            "title": "four elements per thread", "kernels": ["reduce3"], "arguments": "--n 4194304 --block 256"})
        text = "// größer\n"
        self.assertEqual(self.save("exercise03", text, found["version"]).json["version"],
                         hashlib.sha256(text.encode()).hexdigest())
        self.assertEqual(self.text.read_text(encoding="utf-8"), text)
        self.assertEqual(self.document()["original"], self.original, "kept")

    def test_what_somebody_else_has_written_is_not_overwritten_unseen(self):
        before = self.document()["version"]
        self.text.write_text("// from the terminal\n")
        answer = self.save("exercise03", "// from the page\n", before)
        self.assertEqual(answer.status, 409)
        self.assertEqual(answer.json["text"], "// from the terminal\n")
        self.assertIn("has changed meanwhile", answer.json["error"])
        self.assertEqual(self.text.read_text(), "// from the terminal\n")
        self.assertEqual(self.job("exercise03", "// from the page\n", version=before).status, 409, "a run saves, too")
        self.assertEqual(self.save("exercise03", "// from the page\n", answer.json["version"]).status, 200)
        self.assertEqual(self.text.read_text(), "// from the page\n")
        self.assertEqual(self.save("exercise03", "// from the page\n", before).status, 200, "the same text is no conflict")
        self.text.write_bytes(b"// \xff\n")
        self.assertIn("is not in UTF-8", self.ask("GET", "/api/documents/exercise03").json["error"])
        self.assertEqual(self.save("exercise03", "x", before).status, 409)
        self.assertEqual(self.text.read_bytes(), b"// \xff\n")

    def test_reset_keeps_the_text_beside_the_original(self):
        for number in (1, 2):
            self.save("exercise03", f"// mine {number}\n", self.document()["version"])
            answer = self.ask("POST", "/api/documents/exercise03/reset", {}).json
            self.assertEqual((answer["text"], answer["kept"]), (self.original, "lessons/lesson03_first_add_on_load/exercise.cuh"
                                                                f".mine-{number}"))
            self.assertEqual(self.text.with_name(f"exercise.cuh.mine-{number}").read_text(), f"// mine {number}\n")
        self.ask("POST", "/api/documents/exercise03/reset", {})
        self.assertEqual(len(list(self.lesson.glob("*.mine-*"))), 2, "the original is not kept beside itself")

    def test_a_lessons_kernels_are_edited_in_a_copy(self):
        kernels = (self.lesson / "kernels.cuh").read_text(encoding="utf-8")
        found = self.document("lesson03")
        self.assertEqual((found["text"], found["file"]), (kernels, "build/workbench/lesson03/kernels.cuh"))
        self.save("lesson03", "// changed\n", found["version"])
        self.assertEqual(self.document("lesson03")["text"], "// changed\n")
        self.assertEqual((self.lesson / "kernels.cuh").read_text(encoding="utf-8"), kernels)
        self.assertEqual(self.ask("POST", "/api/documents/lesson03/reset", {}).json["text"], kernels)

    def test_the_board_and_the_hints_are_those_of_the_terminal(self):
        def board():
            return next(row for row in self.ask("GET", "/api/exercises").json["exercises"] if row["number"] == "03")

        self.assertEqual(board(), {"number": "03", "title": "four elements per thread", "state": "-", "passed": [],
                                   "checked": False, "hints": [0, 3], "page": "exercise03.html"})
        checked = State(self.tree / "build/exercises")  # as a check in the terminal reads it, before it takes a while
        hint = self.ask("POST", "/api/hint", {"name": "exercise03"}).json
        self.assertEqual((hint["number"], hint["of"]), (1, 3))
        checked.update(checker.Exercise("03"), passed=[])
        self.assertEqual(board()["hints"], [1, 3], "the hint is not forgotten")
        told = subprocess.run([sys.executable, self.tree / "scripts/exercise", "hint", "03"], stdout=subprocess.PIPE, text=True)
        self.assertIn("Hint 2 of 3", told.stdout)
        self.assertEqual(board()["hints"], [2, 3])
        self.job("exercise03", "// wrong\n", "check")
        self.assertEqual(board()["state"], "begun")
        told = subprocess.run([sys.executable, self.tree / "scripts/exercise", "board"], stdout=subprocess.PIPE, text=True)
        self.assertRegex(told.stdout, r"03 .* begun: does not compile +2 of 3 hints\n")
        self.text.write_text("// something else\n")
        self.assertEqual(board()["state"], "changed")

    def test_a_kill_in_the_middle_of_a_save_leaves_the_old_text(self):
        """In a copy whose write_whole() stops at the gate when half of the text is written."""
        version = self.document()["version"]
        package = self.tree / "scripts/tutorial/__init__.py"
        source = package.read_text()
        self.addCleanup(package.write_text, source)
        half = ("file.write(text[:len(text) // 2]); file.flush(); "
                f'open("{self.gate}", "w").write("x"); __import__("signal").pause()')
        self.assertIn("file.write(text)\n", source)
        package.write_text(source.replace("file.write(text)\n", f"{half}\n"))
        server = self.start()
        with contextlib.closing(server.connect()) as connection:
            server.begin(connection, "PUT", "/api/documents/exercise03", {"text": "// new\n" * 1000, "version": version})
            with self.gate.open() as opened:
                opened.read()  # which ends when half of it is there
            server.end(signal.SIGKILL)
        self.assertEqual(self.text.read_text(encoding="utf-8"), self.original)
        package.write_text(source)
        self.assertEqual(self.document()["text"], self.original)
        self.assertEqual(self.save("exercise03", "// new\n", version).status, 200)
        self.assertEqual(sorted(path.name for path in self.lesson.glob(".*")), [])


class Line(WithTree):
    """Those who wait."""

    words = ("--waiting", "10")

    def setUp(self):
        super().setUp()
        self.addCleanup(self.open_gate)

    def open_gate(self):
        """For all who wait there, and for those who come."""
        self.opened = os.open(self.gate, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, self.opened)
        os.write(self.opened, b"go\n" * 1000)

    def begin_check(self, text):
        """The response, which comes once the text is saved."""
        self.text.write_text(text)
        connection = self.server.connect()
        self.addCleanup(connection.close)
        self.server.begin(connection, "POST", "/api/check", {"name": "exercise03", "text": text, "version": ""})
        response = connection.getresponse()
        response.leave = lambda: (connection.close(), response.close())
        return response

    def begin_waiting(self, place):
        response = self.begin_check("// no\n")
        self.assertEqual(json.loads(response.readline()).get("queue"), place)
        return response

    def test_a_hundred_at_once_are_answered_in_order_or_told_when_to_come_again(self):
        for _ in range(2):
            self.begin_check("// WAITS\n")
        waiting = [self.begin_waiting(place) for place in range(1, 11)]
        body = {"name": "exercise03", "text": "// no\n", "version": ""}
        connections = [self.server.connect() for _ in range(88)]
        for connection in connections:
            self.server.begin(connection, "POST", "/api/run", body)
        for connection in connections:
            answer = Answer(connection.getresponse())
            connection.close()
            self.assertEqual(answer.status, 503)
            self.assertRegex(answer.json["error"], r"10 wait already: try again in \d+ s")
            self.assertEqual(answer.headers["Retry-After"], str(answer.json["seconds"]))
        self.open_gate()
        began = []
        for place, response in enumerate(waiting, 1):
            lines = [json.loads(line) for line in response.read().splitlines()]
            places = [line["queue"] for line in lines if "queue" in line]
            self.assertEqual(places, sorted(set(places) - {place}, reverse=True), "ever further ahead")
            failed = next(line for line in lines if "step" in line)
            began.append(int(re.search(r"error: (\d+)", failed["what"][1])[1]))
            self.assertFalse(lines[-1]["solved"])
        for place in range(8):  # two at a time, so neighbors may overtake each other
            self.assertLess(began[place], began[place + 2])

    def test_who_leaves_makes_room(self):
        first, _ = self.begin_check("// WAITS\n"), self.begin_check("// WAITS\n")
        leaves, stays = self.begin_waiting(1), self.begin_waiting(2)
        leaves.leave()
        self.assertEqual(json.loads(stays.readline())["queue"], 1)
        first.leave()
        self.assertFalse(json.loads(stays.read().splitlines()[-1])["solved"], "though the gate is closed")

    def test_the_end_of_the_server_ends_what_it_runs(self):
        server = self.start()
        with contextlib.closing(server.connect()) as connection:
            version = server.ask("GET", "/api/documents/own").json["version"]
            server.begin(connection, "POST", "/api/run", {"name": "own", "text": "// WAITS\n", "version": version})
            with self.gate.open("w"):  # once somebody waits there
                before = processes_about(self.folder / "toolkit")
                self.assertGreater(len(before), 0)
                self.assertEqual(server.end(), 0)
                self.assertEqual(processes_about(self.folder / "toolkit"), [])
        self.assertEqual(list(self.temporary.iterdir()), [])


class Own(WithTree):
    """A program of the reader's own, here a pretended one."""

    def test_its_page_has_no_origin_and_the_last_ones_are_kept(self):
        answer = self.job("own", "int main() {} // COMPILES\n", arguments=["4"]).json
        self.assertEqual((answer["status"], answer["output"], answer["counters"], answer["ptx"]), (0, "ran\n", [{}], None))
        page = self.ask("GET", answer["page"])
        self.assertEqual(page.text, "<p>exported</p>\n", "and no editor")
        self.assertRegex(page.headers["Content-Security-Policy"], r"^sandbox allow-scripts; default-src 'none';")
        self.assertEqual(self.ask("GET", answer["page"], cookie="").status, 403)
        self.assertNotEqual(self.job("own", "int main() {} // COMPILES\n").json["page"], answer["page"])
        self.assertEqual((self.tree / "build/workbench/own.cu").read_text(), "int main() {} // COMPILES\n")

    def test_messages_of_the_compiler_stand_at_their_lines(self):
        answer = self.job("own", "// no\n").json
        self.assertRegex(answer["said"], r"^own.cu:1:1: error: \d+$")
        self.assertEqual([(one["line"], one["column"], one["severity"]) for one in answer["messages"]], [(1, 1, "error")])
        self.assertNotIn("page", answer)
        said = ("own.cu(4): error: expected a \";\"\n      p[1] = foo;\n      ^\n\n"
                "own.cu(2): warning #177-D: variable \"unused\" was declared\n      int unused;\n          ^\n\n"
                "/usr/include/stdio.h(7): error: no\n   ^\nown.cu:9:10: fatal error: x.h: No such file or directory\n"
                "    1 | #include \"x.h\"\n      |          ^~~~~\n")
        # The caret stands below the column, two to the right of it: nvcc indents the line.
        self.assertEqual(checker.messages_of(said, "own.cu"), [
            {"line": 4, "column": 5, "severity": "error", "text": 'expected a ";"'},
            {"line": 2, "column": 9, "severity": "warning", "text": 'variable "unused" was declared'},
            {"line": None, "column": None, "severity": "error", "text": "/usr/include/stdio.h(7): error: no"},
            {"line": 9, "column": 10, "severity": "error", "text": "x.h: No such file or directory"}])


class Class(WithTree):
    words = ("--class",)

    def join(self, name, server=None, cookie=None):
        server = server or self.server
        cookie = server.visit(server.links[0][1]) if cookie is None else cookie
        answer = server.ask("POST", "/api/join", {"name": name}, cookie=cookie)
        return answer, answer.headers.get("Set-Cookie", "").partition(";")[0]

    def test_a_student_has_private_copies_and_the_teacher_sees_who_has_solved_what(self):
        guest = self.server.visit(self.server.links[0][1])
        self.assertEqual(self.ask("GET", "/api/about", cookie=guest).json["name"], None)
        for path in ("/api/documents/exercise03", "/api/class", "/api/exercises"):
            self.assertIn("enter your name first", self.ask("GET", path, cookie=guest).json["error"])
        answer, anna = self.join(" Anna Müller ", cookie=guest)
        self.assertEqual(answer.json, {"name": "Anna Müller"})
        self.assertEqual(self.ask("GET", "/api/about", cookie=anna).json["name"], "Anna Müller")
        bert = self.join("bert")[1]
        found = self.ask("GET", "/api/documents/exercise03", cookie=anna).json
        self.assertEqual((found["text"], found["file"]), (self.original, "build/class/Anna Müller/exercise03.cuh"))
        body = {"name": "exercise03", "text": "// Anna's\n", "version": found["version"]}
        self.assertEqual(self.ask("POST", "/api/check", body, cookie=anna).lines[-1]["solved"], False)
        self.assertEqual(self.text.read_text(), self.original, "the tree's is as it was")
        self.assertEqual(self.ask("GET", "/api/documents/exercise03", cookie=bert).json["text"], self.original)
        self.assertEqual(self.document()["text"], self.original, "the teacher has the tree's")
        self.ask("PUT", "/api/documents/lesson03", {**body, "version": hashlib.sha256(
            (self.lesson / "kernels.cuh").read_bytes()).hexdigest()}, cookie=anna)

        for cookie in (anna, bert):
            self.assertEqual(self.ask("GET", "/api/class", cookie=cookie).status, 403)
        board = self.ask("GET", "/api/class").json
        self.assertEqual([one for one in board["students"] if one["name"] in ("Anna Müller", "bert")], [
            {"name": "Anna Müller", "solved": 0, "states": {"02": "-", "03": "begun"}},
            {"name": "bert", "solved": 0, "states": {"02": "-", "03": "-"}}])
        found = collect(self.tree / "build/class", ["Anna Müller", "bert"])  # as `make grade SUBMISSIONS=build/class` reads it
        self.assertEqual((found.students, list(found.texts), found.unknown),
                         (["Anna Müller", "bert"], [("Anna Müller", "03")], []))

        again = self.start()
        self.addCleanup(again.end)
        anna = anna.replace(str(self.server.port), str(again.port))
        self.assertEqual(again.ask("GET", "/api/documents/exercise03", cookie=anna).json["text"], "// Anna's\n")
        self.assertEqual(again.visit(again.links[0][1], cookie=anna), anna, "who has joined stays who he is")
        self.assertEqual(oct((self.tree / "build/class").stat().st_mode & 0o777), "0o700")

    def test_one_student_cannot_fill_the_line(self):
        fills, other = self.join("fills")[1], self.join("other")[1]
        body = {"name": "exercise03", "text": self.original, "version": self.document()["version"]}
        left = []

        def begin(cookie, text):
            connection = self.server.connect()
            left.append(connection)
            version = self.ask("GET", "/api/documents/exercise03", cookie=cookie).json["version"]
            self.server.begin(connection, "POST", "/api/check", {**body, "text": text, "version": version}, cookie=cookie)
            response = connection.getresponse()
            left.append(response)
            return response

        for _ in range(2):
            begin(fills, "// WAITS\n")
        places = [json.loads(begin(cookie, "// no\n").readline()) for cookie in [*[fills] * 4, other, fills]]
        for one in reversed(left):
            one.close()
        self.assertEqual([line.get("queue") for line in places], [1, 2, 3, 4, 5, None])
        self.assertEqual(places[5]["error"], f"4 of yours wait already: try again in {places[0]['seconds']} s")

    def test_a_name_is_one_persons_and_no_path(self):
        answer, carl = self.join("Carl")
        self.assertEqual(answer.status, 200)
        for name in ("Carl", "carl", "CARL"):
            self.assertIn("already", self.join(name)[0].json["error"])
        self.assertEqual(self.join("Carl", cookie=carl)[0].status, 200, "by his own cookie")
        before = sorted(path.name for path in (self.tree / "build").rglob("*"))
        for name in ("", ".", "..", "../x", "a/b", "/etc", ".hidden", "a\0b", "a\nb", "=1+1", "?", "x" * 41, "a.", "<b>", None,
                     7.5, "\ud800"):
            self.assertEqual(self.join(name)[0].status, 400, name)
        self.assertEqual(sorted(path.name for path in (self.tree / "build").rglob("*")), before)


class Starting(WithTree):
    def told(self, *words, status):
        server = Server(self, words)
        server.process.stdout.close()
        self.assertEqual(server.status, status)
        return server.told

    def test_it_says_why_it_cannot_begin(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.assertEqual(self.told("--port", port, status=1), f"serve: port {port} is taken: end what uses it, or take "
                             f"another one: make serve PORT={port + 1}\n")
        self.assertIn("The usual address is 127.0.0.1", self.told("--listen", "192.0.2.1", status=1))
        self.assertIn("a port is a number", self.told("--port", "65536", status=2))
        self.assertIn("make docs makes it", self.told("--site", self.folder, status=2))
        self.assertIn("is no build tree", self.told("--build", self.folder, status=2))
        self.assertIn("not for a class", self.told("--class", "--unsafe", status=2))

    def test_other_machines_get_in_only_if_that_was_asked_for(self):
        self.assertNotIn("other machines", self.server.told)
        self.assertIn("Ctrl-C ends the server\n", self.server.told)
        server = self.start("--listen", "0.0.0.0")
        self.assertIn("serve: other machines can reach 0.0.0.0: whoever has a link can run programs on this one", server.told)
        self.assertEqual(server.ask("GET", "/api/about").status, 200, "by the address")
        self.assertEqual(server.ask("GET", "/api/about", host=f"evil.example:{server.port}").status, 421)


class Sandboxed(WithTree):
    """What is really compiled and run."""

    words = ("--seconds", "6", "--memory", "512")

    @classmethod
    def make_build(cls):
        return BUILD

    def test_a_text_sees_nothing_of_this_machine(self):
        secret = self.folder / "secret.cuh"
        secret.write_text("a secret\n")
        answer = self.job("exercise03", f'#include "/etc/passwd"\n{self.original}').json
        self.assertEqual([(one["line"], one["text"]) for one in answer["messages"]],
                         [(1, "/etc/passwd: No such file or directory")])
        self.assertNotIn("root:", json.dumps(answer))
        lesson = "/course/lessons/lesson03_first_add_on_load"
        looks = "".join(f'#if __has_include("{path}")\n#error {path}\n#endif\n' for path in (
            "/etc/hostname", secret, ROOT / "README.md", Path.home() / ".bashrc", self.tree / "scripts/serve", "../kernels.cuh",
            f"{lesson}/kernels.cuh", f"{lesson}/course/solution.cuh", "/course/scripts/serve", "/course/build"))
        answer = self.job("exercise03", self.original + looks).json
        self.assertEqual(answer["messages"], [])
        self.assertIn('"lessons/lesson03_first_add_on_load/exercise.cuh"', answer["ptx"])

        text = """
            #include <arpa/inet.h>
            #include <cstdio>
            #include <cstdlib>
            #include <fstream>
            #include <unistd.h>
            int main() {
                for (const char* path : {"/etc/passwd", "/etc/hostname", "SECRET", "ROOT/README.md"})
                    if (std::ifstream(path)) std::printf("reads %s\\n", path);
                for (const char* path : {"/usr/written", "/course/written", "/build/written", "/submission/written", "/written"})
                    if (std::ofstream(path)) std::printf("writes %s\\n", path);
                sockaddr_in server{AF_INET, htons(PORT), {htonl(INADDR_LOOPBACK)}, {}};
                const int made = socket(AF_INET, SOCK_STREAM, 0);
                if (!connect(made, reinterpret_cast<sockaddr*>(&server), sizeof server)) std::puts("connects");
                if (getenv("TOKEN")) std::puts("has the environment");
                std::puts("looked around");
            }
        """.replace("SECRET", str(secret)).replace("ROOT", str(ROOT)).replace("PORT", str(self.server.port))
        self.assertEqual(self.job("own", text).json["output"], "looked around\n")

    def test_a_bad_access_of_an_own_program_is_a_message_at_its_line(self):
        text = '''#include <cstdio>
            __global__ void store(int* a, int n) {
                a[threadIdx.x + n] = 1;
            }
            int main() {
                int* a;
                cudaMalloc(&a, 128);
                store<<<1, 32>>>(a, 16);
                std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
            }
        '''
        answer = self.job("own", text).json
        self.assertEqual([(one["line"], one["severity"]) for one in answer["messages"]], [(3, "error")])
        self.assertRegex(answer["messages"][0]["text"], "^illegal 4-byte store to .*: right after the end of the 128 bytes")
        self.assertIn(", at own.cu:3\n", answer["output"])

    def test_a_fork_bomb_ends_and_the_server_goes_on(self):
        text = "#include <unistd.h>\nint main() { for (;;) fork(); }\n"
        answer = self.job("own", text, arguments=["a-bomb-of-this-test"]).json
        self.assertEqual(answer["stopped"], "was stopped: more than 256 processes")
        self.assertEqual(processes_about("a-bomb-of-this-test"), [])
        self.assertEqual(self.ask("GET", "/api/about").status, 200)

    def test_a_program_without_an_end_is_ended(self):
        """Six seconds of the processor: the limit, which it is told. On a busy machine the twelve in all come first."""
        answer = self.job("own", "int main() { for (volatile int i = 0;; i = 1 - i) {} }\n").json
        self.assertEqual(answer["stopped"], "was stopped: it took more than 6 s of the processor, or 12 s in all")

    def test_templates_without_an_end_are_ended(self):
        endless = "template <int n> struct Deep { static const int value = Deep<n + 1>::value; };\nint deep = Deep<0>::value;\n"
        self.assertIn("error", self.job("exercise03", self.original + endless).json["said"])
        bomb = ("template <int n, int m> struct Bomb { Bomb<n - 1, 2 * m> a; Bomb<n - 1, 2 * m + 1> b; };\n"
                "template <int m> struct Bomb<0, m> { int x; };\nBomb<26, 0> bomb;\n")
        answer = self.job("exercise03", self.original + bomb).json
        self.assertEqual((answer["compiled"], answer["ptx"]), (False, None))
        self.assertEqual(self.ask("GET", "/api/about").status, 200)

    def test_lesson_03_is_solved_as_in_the_terminal(self):
        solution = (self.lesson / "course/solution.cuh").read_text(encoding="utf-8")
        *steps, last = self.job("exercise03", solution, "check").lines
        self.assertEqual([(step["step"], step["passed"]) for step in steps],
                         [(name, True) for name in ("compiles", "right", "clean", "traffic")])
        self.assertTrue(last["solved"])
        self.assertIn("global load sectors of reduce3: yours 524,288, goal 524,288", steps[-1]["what"])
        told = subprocess.run([sys.executable, self.tree / "scripts/exercise", "board"], stdout=subprocess.PIPE, text=True)
        self.assertRegex(told.stdout, r"03 .* solved\n")
        *steps, last = self.job("exercise03", self.original, "check").lines
        self.assertEqual((steps[-1]["step"], steps[-1]["passed"], last["solved"]), ("right", False, False))
        self.assertRegex(last["again"], r"^\./emulate --ptx build/exercises/lesson03/exercise03.ptx .*--verify$")
        self.assertTrue((self.tree / "build/exercises/lesson03/exercise03.ptx").is_file())
        programs = re.findall(r"\./\w+", last["again"])
        self.assertEqual(programs, ["./emulate", "./exercise03"])
        for program in programs:
            self.assertTrue((self.tree / program).samefile(BUILD / "bin" / program), "a terminal finds it")

    def test_a_time_is_estimated(self):
        if not (BUILD.parent / "disassembler/bin/nvdisasm").is_file():
            self.skipTest("scripts/setup time has fetched no nvdisasm")
        answer = self.job("exercise03", self.original, "time", arguments=["--n", "4194304"], card="h100").json
        self.assertEqual([launch["kernel"] for launch in answer["launches"]], ["reduce3"], answer["reason"])
        self.assertIn("H100", answer["launches"][0]["card"])
        self.assertEqual([one["launch"] for one in answer["timelines"]], [0])
        self.assertIn("<svg", answer["timelines"][0]["svg"])
        self.assertRegex(answer["wrong"], r"^The estimate below is of a wrong kernel\. reduce3: wrong result: expected ")
        solution = (self.lesson / "course/solution.cuh").read_text(encoding="utf-8")
        answer = self.job("exercise03", solution, "time", arguments=["--n", "4096", "--block", "128"]).json
        self.assertEqual(([launch["grid"] for launch in answer["launches"]], answer["wrong"]), ([[8, 1, 1]], ""))  # 4096 / 512

        twice = """
            __global__ void first(int* a) { a[threadIdx.x] = 1; }
            __global__ void second(int* a) { a[threadIdx.x] = 2; }
            int main() {
                int* a;
                cudaMalloc(&a, 256);
                for (int i = 0; i < 2; ++i) {
                    first<<<1, 32>>>(a);
                    second<<<1, 32>>>(a);
                }
                second<<<2, 32>>>(a);
            }
        """
        answer = self.job("own", twice, "time").json
        self.assertEqual([one["launch"] for one in answer["timelines"]], [0, 1, 4], "the first of each kind")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
