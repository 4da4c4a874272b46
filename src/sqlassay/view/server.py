"""The local page over a folder of runs: live while a run is going on, and the only thing it writes is reviews."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from sqlassay.errors import Culprit, Fault, UsageError, capture
from sqlassay.report import comparison, html
from sqlassay.summary.compare import compare
from sqlassay.view import reviews
from sqlassay.view.guard import COOKIE, Guard, guard
from sqlassay.view.store import Opened, Store, is_going_on, scored_lines
from sqlassay.view.trend import runs_page

_BODY = 64 * 1024
_RUN = re.compile(r"/runs/([^/]+)(/|/case|/state|/reviews)")


class Server(ThreadingHTTPServer):
    """Bound, with its store and guard; `serve_forever` starts answering."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], store: Store, *, token: str | None) -> None:
        if ":" in address[0]:
            import socket

            self.address_family = socket.AF_INET6
        guard(host=address[0], port=address[1], token=token)
        super().__init__(address, Handler)
        self.store = store
        self.guard: Guard = guard(host=address[0], port=self.server_address[1], token=token)
        self.writing = threading.Lock()

    @property
    def url(self) -> str:
        host = self.guard.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.guard.port}/"


def make_server(runs: Path, *, host: str = "127.0.0.1", port: int = 0, token: str | None = None) -> Server:
    """A server over the runs in a folder; port 0 takes any free one.

    Raises:
        ConfigError: bound beyond loopback without a token.
        UsageError: the folder does not exist, or the address cannot be bound.
    """
    if not runs.is_dir():
        raise UsageError(f"{runs}: no such folder", hint="run something first: sqlassay run")
    try:
        return Server((host, port), Store(runs), token=token)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port} ({error.strerror})", hint="choose another port with --port"
        ) from error


def serve(
    runs: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    announce: Callable[[str], None] = print,
) -> None:
    """Answer until interrupted; `announce` is told the address once. The newest run is read while nobody asks yet."""
    with make_server(runs, host=host, port=port, token=token) as server:
        announce(server.url)
        threading.Thread(target=server.store.open_newest, daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


class Handler(BaseHTTPRequestHandler):
    """One request. Everything it answers is made here; no path of a request is ever a path on disk."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "sqlassay"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post, writing=True)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: questions and notes are not for a log."""

    def _answer(self, action: Callable[[], None], *, writing: bool = False) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        refused = self.server.guard.refuses(headers, writing=writing)
        if refused is not None:
            self._problem(HTTPStatus.FORBIDDEN, refused)
            return
        if self._signs_in():
            return
        if not self.server.guard.admits(headers):
            self._problem(HTTPStatus.UNAUTHORIZED, "open the address with ?token=… once")
            return
        outcome = capture(action, culprit=Culprit.US)
        if isinstance(outcome, Fault):
            if outcome.type in ("BrokenPipeError", "ConnectionResetError", "TimeoutError"):
                self.close_connection = True
            elif outcome.culprit is Culprit.USER:
                self._problem(HTTPStatus.BAD_REQUEST, outcome.message)
            else:
                self._problem(HTTPStatus.INTERNAL_SERVER_ERROR, f"{outcome.type}: {outcome.message}")

    def _signs_in(self) -> bool:
        """Turn `?token=` into a cookie, so that the token leaves the address bar."""
        given = parse_qs(urlsplit(self.path).query).get("token", [""])[0]
        if not given or not self.server.guard.is_token(given):
            return False
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", "/")
        self.send_header("Set-Cookie", f"{COOKIE}={given}; HttpOnly; SameSite=Strict; Path=/")
        self.send_header("Content-Length", "0")
        self.end_headers()
        return True

    def _get(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        if address.path == "/":
            self._page(runs_page(self.server.store.lines(), metric=query.get("metric", "outcome.pass")), page="runs")
        elif address.path == "/compare":
            self._compare(query.get("before", ""), query.get("after", ""))
        elif (found := _RUN.fullmatch(address.path)) is not None:
            self._run(unquote(found[1]), found[2], query)
        else:
            self._problem(HTTPStatus.NOT_FOUND, "there is no such page")

    def _run(self, run_id: str, part: str, query: dict[str, str]) -> None:
        if part == "/state":
            folder = self.server.store.folder(run_id)
            if folder is None:
                self._problem(HTTPStatus.NOT_FOUND, "there is no such run")
                return
            self._json({"state": folder.manifest.state.value, "scored": scored_lines(folder)})
            return
        opened = self.server.store.open(run_id)
        if opened is None:
            self._problem(HTTPStatus.NOT_FOUND, "there is no such run")
            return
        if part == "/":
            said = reviews.agreement_of(reviews.read(opened.folder.path))
            live = f"/runs/{quote(run_id, safe='')}"
            going = is_going_on(opened.folder)
            text = "".join(html.pieces(opened.report, live=live, agreement=said, going_on=going))
            self._page(text, page="report")
            return
        row = opened.rows.get(_named(query))
        if row is None:
            self._problem(HTTPStatus.NOT_FOUND, "there is no such case")
        elif part == "/case":
            self._json(self.server.store.details(opened, row.key))
        else:
            self._reviews(opened, query)

    def _reviews(self, opened: Opened, query: dict[str, str]) -> None:
        row = opened.rows[_named(query)]
        said = [review.to_dict() for review in reviews.read(opened.folder.path) if review.key == row.key]
        self._json({"reviews": said})

    def _compare(self, before: str, after: str) -> None:
        first, second = self.server.store.open(before), self.server.store.open(after)
        if first is None or second is None:
            self._problem(HTTPStatus.NOT_FOUND, "there is no such run")
            return
        with self.server.store.reading:
            change = compare(first.report.summary, second.report.summary)
            text = comparison.render_html(change, first.report, second.report, live="/runs/")
        self._page(text, page="compare")

    def _post(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _BODY:
            self.close_connection = True
            self._problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "a review is at most 64 KiB")
            return
        body = self.rfile.read(int(length))
        address = urlsplit(self.path)
        found = _RUN.fullmatch(address.path)
        if found is None or found[2] != "/reviews":
            self._problem(HTTPStatus.NOT_FOUND, "only reviews are written here")
            return
        if self.headers.get_content_type() != "application/json":
            self._problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a review is JSON")
            return
        opened = self.server.store.open(unquote(found[1]))
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        row = None if opened is None else opened.rows.get(_named(query))
        if opened is None or row is None:
            self._problem(HTTPStatus.NOT_FOUND, "there is no such case")
            return
        try:
            sent = json.loads(body)
        except ValueError as error:
            raise UsageError("a review is JSON") from error
        now = datetime.now(UTC).isoformat(timespec="seconds")
        review = reviews.review_of(sent, row, at=now)
        with self.server.writing:
            reviews.append(opened.folder.path, review)
        self._json(review.to_dict(), status=HTTPStatus.CREATED)

    def _page(self, text: str, *, page: str) -> None:
        policy = html.policy(page, live=True) + "; frame-ancestors 'none'"
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", text.encode("utf-8", "replace"), policy=policy)

    def _json(self, plain: Any, *, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(status, "application/json", json.dumps(plain, ensure_ascii=True).encode())

    def _problem(self, status: HTTPStatus, message: str) -> None:
        self._send(status, "text/plain; charset=utf-8", f"{message}\n".encode("utf-8", "replace"))

    def _send(self, status: HTTPStatus, kind: str, body: bytes, *, policy: str = "default-src 'none'") -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", policy),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _named(query: dict[str, str]) -> tuple[str, int, int]:
    numbers = [query.get(name, "0") for name in ("p", "r")]
    phrasing, repeat = (int(n) if n.isdecimal() and len(n) < 9 else -1 for n in numbers)
    return query.get("id", ""), phrasing, repeat
