"""The studio's server: loopback only, a token in the address, the standard library alone."""

import hmac
import json
import secrets
import sys
import threading
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported in the background, so that the page is there at once
    from goodprior.studio.studio import Studio

HOST = "127.0.0.1"
MOST_BYTES = 2_000_000  # of a request
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """Answers requests whose path begins with the token, and no others.

    Parameters
    ----------
    make_studio
        Called in the background; requests that need the studio wait for it.
    port
        To listen on; 0: any that is free.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, make_studio: "Callable[[], Studio]", port: int = 0):
        super().__init__((HOST, port), Handler)
        self.token = secrets.token_urlsafe(24)
        self.pages = {
            path.name: (path.read_bytes(), TYPES[Path(path.name).suffix])
            for path in files("goodprior.studio").joinpath("page").iterdir()
            if Path(path.name).suffix in TYPES
        }
        self._made: Studio | Exception | None = None
        self._ready = threading.Event()
        self.making = threading.Thread(target=self._make, args=(make_studio,), daemon=True)
        self.making.start()

    @property
    def address(self) -> str:
        """The page's address, token included."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def _make(self, make_studio: "Callable[[], Studio]") -> None:
        try:
            self._made = make_studio()
        except Exception as error:
            self._made = error
        self._ready.set()
        if not isinstance(self._made, Exception):
            _ = self._made.networks  # its imports take longest: begin before the page asks

    @property
    def studio(self) -> "Studio":
        """The studio, once it is there."""
        self._ready.wait()
        if isinstance(self._made, Exception):
            raise self._made
        assert self._made is not None
        return self._made


class Handler(BaseHTTPRequestHandler):
    """One request: a file of the page, or an endpoint of the studio."""

    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120

    def do_GET(self) -> None:
        """A file of the page."""
        path = self._path()
        if path is None:
            return
        content = self.server.pages.get(path or "index.html")
        if content is None:
            self._send(404, b"there is no such page", "text/plain")
        else:
            self._send(200, *content)

    def do_POST(self) -> None:
        """An endpoint."""
        path = self._path()
        if path is None:
            return
        try:
            request = self._request()
            status, answer = 200, self._answer(path, request)
        except ValueError as error:
            status, answer = 400, {"error": str(error)}
        except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
            traceback.print_exc(file=sys.stderr)
            status, answer = 400, {"error": f"the request is not understood: {error!r:.200}"}
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            status, answer = 500, {"error": f"something went wrong: {error!s:.300}"}
        if isinstance(answer, bytes):
            self._send(status, answer, "application/octet-stream")
        else:
            self._send(status, json.dumps(plain(answer)).encode(), "application/json")

    def _path(self) -> str | None:
        """The path after the token; None, once refused, for a request that is not the page's."""
        host = f"{HOST}:{self.server.server_port}"
        same = {host, f"localhost:{self.server.server_port}"}
        origin = self.headers.get("Origin")
        token, _, path = self.path.partition("?")[0][1:].partition("/")
        good = (
            hmac.compare_digest(token.encode(), self.server.token.encode())
            and self.headers.get("Host") in same
            and (origin is None or origin.removeprefix("http://") in same)
        )
        if good:
            return path
        self.close_connection = True
        self._send(403, b"this address needs the token that goodprior studio printed", "text/plain")
        return None

    def _request(self) -> dict[str, Any]:
        if self.headers.get("Content-Type") != "application/json":
            raise ValueError("a request must be JSON")
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= MOST_BYTES:
            self.close_connection = True
            raise ValueError(f"a request may have {MOST_BYTES:,} bytes at most")
        try:
            request = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            raise ValueError("the request is no JSON") from None
        if not isinstance(request, dict):
            raise ValueError("a request must be a JSON object")
        return request

    def _answer(self, path: str, request: dict[str, Any]) -> Any:
        studio = self.server.studio
        name = path.removeprefix("api/")
        if not path.startswith("api/") or name not in studio.endpoints:
            raise ValueError("there is no such endpoint")
        return studio.answer(name, request)

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response_only(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self._headers_buffer.append(b"\r\n" + content)  # type: ignore[attr-defined]
        self.flush_headers()  # one packet: no waiting for an acknowledgement

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: addresses hold the token."""


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays as lists of five digits, what is not finite as null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if abs(value) < float("inf") else None
    return value
