"""Who may ask, as whom, and what a page may do."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import unicodedata

from aiohttp import web

from tutorial import write_whole
from tutorial.serve.documents import Refused

# What the site needs and nothing else: its own scripts, and the emulator as WebAssembly in a worker made of a blob.
POLICY = ("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{hashes}; worker-src 'self' blob:; "
          "connect-src 'self' data:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
          "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
# A page of `emulate --export`, which a reader's program may have written: without an origin it can ask us for nothing.
EXPORTED = ("sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; "
            "connect-src data:; style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'")
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
           "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"}
INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
OWNER, GUEST = "", "?"  # besides students, who have names
MOST_STUDENTS = 200
NAME = re.compile(r"\w([\w .'-]{0,38}[\w'-])?")


def policy_of(page):
    """The policy under which the page's own inline scripts run."""
    hashes = dict.fromkeys(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in INLINE.findall(page))
    return POLICY.format(hashes="".join(f" 'sha256-{each}'" for each in hashes))


class Gate:
    def __init__(self, listen, class_folder=None):
        """`class_folder`: of a class, whose tokens outlive the server."""
        self.listen, self.folder = listen, class_folder
        self.file = class_folder and class_folder / ".tokens.json"
        if self.file and self.file.is_file():
            kept = json.loads(self.file.read_text(encoding="utf-8"))
        else:
            kept = {whose: [[secrets.token_urlsafe(24), who] for who in ([GUEST, OWNER] if class_folder else [OWNER])]
                    for whose in ("links", "cookies")}
        self.links, self.cookies = kept["links"], kept["cookies"]  # each is secret: [[token, for whom]]
        self.keep()

    def keep(self):
        if self.file:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self.file, json.dumps({"links": self.links, "cookies": self.cookies}))

    def hosts(self, request):
        """What this server may be called. A name that somebody else points here is not among them (DNS rebinding)."""
        address, port = request.transport.get_extra_info("sockname")[:2]
        names = {address, self.listen} | ({"localhost"} if address in ("127.0.0.1", "::1") else set())
        return {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}

    def cookie_name(self, request):
        return f"workbench_{request.transport.get_extra_info('sockname')[1]}"

    def with_cookie(self, request, response, who):
        cookie = next(cookie for cookie, whose in self.cookies if whose == who)
        response.set_cookie(self.cookie_name(request), cookie, httponly=True, samesite="Strict", path="/",
                            max_age=30 * 86400 if self.folder else None)
        return response

    def admit(self, request):
        """On the first visit, a redirect to the same page with the cookie and without the token."""
        who = whose(self.links, request.query["token"])
        if who is None:
            raise Refused(403, "the link is not that of the running server: open the one that make serve has printed")
        if who == GUEST and request["reader"] is not None:  # who has joined comes again
            who = request["reader"]
        return self.with_cookie(request, web.HTTPFound("/" + request.rel_url.raw_path.lstrip("/")), who)

    @web.middleware
    async def middleware(self, request, handler):
        host, path = request.headers.get("Host", "").lower(), request.path
        if host not in self.hosts(request):
            raise Refused(421, f"this server is not called '{host[:100]}': open the link that make serve has printed")
        if request.method not in ("GET", "HEAD") and request.headers.get("Origin") != f"http://{host}":
            raise Refused(403, "a page of another site has asked for this: only those of this server may")
        reader = request["reader"] = whose(self.cookies, request.cookies.get(self.cookie_name(request), ""))
        if request.method == "GET" and "token" in request.query:
            return self.admit(request)
        if path.startswith(("/api/", "/workbench/exported/")):
            if reader is None:
                raise Refused(403, "this browser is not let in, or no longer: open the link that make serve has printed")
            if reader == GUEST and path not in ("/api/about", "/api/join"):
                raise Refused(403, "you have not joined the class yet: enter your name first")
        return await handler(request)

    def join(self, request, name):
        """Makes the reader a student of that name, with a folder and a cookie of its own."""
        name = unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else ""
        if not self.folder:
            raise Refused(404, "this server has no class: make serve CLASS=1 has one")
        if not NAME.fullmatch(name):
            raise Refused(400, "a name has 1 to 40 letters, digits, spaces, dots, hyphens or apostrophes, and begins with a "
                          "letter or digit")
        if request["reader"] != name:
            if name.casefold() in (entry.name.casefold() for entry in self.folder.iterdir()):
                raise Refused(409, f"somebody is called {name} already: take another name, or go on in the browser in which "
                              "you have joined")
            if len(self.cookies) > MOST_STUDENTS:
                raise Refused(403, f"the class is full: it has {MOST_STUDENTS} students")
            (self.folder / name).mkdir()
            self.cookies.append([secrets.token_urlsafe(24), name])
            self.keep()
        return self.with_cookie(request, web.json_response({"name": name}), name)


def whose(secrets_of, given):
    return next((who for secret, who in secrets_of
                 if hmac.compare_digest(secret.encode(), given.encode("utf-8", "surrogateescape"))), None)


async def add_headers(_, response):
    for name, value in {**HEADERS, "Content-Security-Policy": POLICY.format(hashes="")}.items():
        response.headers.setdefault(name, value)
