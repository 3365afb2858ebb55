"""Who may ask, and what a page may do."""

import base64
import hashlib
import hmac
import re
import secrets

from aiohttp import web

from tutorial.serve.documents import Refused

# What the site needs, and nothing else: its own scripts, and the emulator as WebAssembly in a worker made of a blob.
POLICY = ("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{hashes}; worker-src 'self' blob:; connect-src 'self'; "
          "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; manifest-src 'self'; "
          "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
# A page of `emulate --export` that a reader's program may have written: it has no origin, so it can ask us for nothing.
EXPORTED = ("sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; "
            "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'")
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
           "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"}
INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)


def policy_of(page):
    """The policy that lets the page's own inline scripts run."""
    hashes = dict.fromkeys(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in INLINE.findall(page))
    return POLICY.format(hashes="".join(f" 'sha256-{each}'" for each in hashes))


class Gate:
    """Tokens, and the cookie that a browser gets for one."""

    def __init__(self, listen):
        self.listen, self.token, self.cookie = listen, secrets.token_urlsafe(24), secrets.token_urlsafe(24)

    def hosts(self, request):
        """What this server may be called: names that others point here are not among them (DNS rebinding)."""
        address, port = request.transport.get_extra_info("sockname")[:2]
        names = {address, self.listen, *({"localhost"} if address in ("127.0.0.1", "::1") else ())}
        return {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}

    def cookie_name(self, request):
        return f"workbench_{request.transport.get_extra_info('sockname')[1]}"

    def reader(self, request):
        """Who asks, as what the token stands for; None without a cookie of ours."""
        return "" if same(request.cookies.get(self.cookie_name(request), ""), self.cookie) else None

    def admit(self, request):
        """On the first visit: a redirect to the same page, with the cookie and without the token. Else None."""
        if "token" not in request.query or request.method != "GET":
            return None
        if not same(request.query["token"], self.token):
            raise Refused(403, "this link's token is not that of the running server: open the link that make serve printed")
        return self.with_cookie(request, web.HTTPFound("/" + request.rel_url.raw_path.lstrip("/")), self.cookie)

    def with_cookie(self, request, response, value):
        response.set_cookie(self.cookie_name(request), value, httponly=True, samesite="Strict", path="/")
        return response

    @web.middleware
    async def middleware(self, request, handler):
        host = request.headers.get("Host", "")
        if host.lower() not in self.hosts(request):
            return refusal(Refused(421, f"this server is not called '{host[:100]}': open the link that make serve printed"))
        if request.method not in ("GET", "HEAD") and request.headers.get("Origin") != f"http://{host}":
            return refusal(Refused(403, "another site's page has asked for this: only pages of this server may"))
        try:
            admitted = self.admit(request)
            if admitted is not None:
                return admitted
            request["reader"] = self.reader(request)
            private = request.path.startswith(("/api/", "/workbench/exported/"))
            if private and request["reader"] is None and request.path not in self.open_paths:
                raise Refused(403, "your browser has no cookie of this server: open the link that make serve printed")
            return await handler(request)
        except Refused as why:
            return refusal(why)

    open_paths = ()


def same(one, other):
    return hmac.compare_digest(one.encode("utf-8", "surrogateescape"), other.encode())


def refusal(why):
    headers = {"Retry-After": str(why.facts["seconds"])} if "seconds" in why.facts else {}
    return web.json_response({"error": f"{why}", **why.facts}, status=why.status, headers=headers)


async def add_headers(_, response):
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Content-Security-Policy", POLICY.format(hashes=""))
