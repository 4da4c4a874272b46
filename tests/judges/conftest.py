"""A model that says what a test lets it say, behind a local server that speaks chat completions."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Say = Callable[[str], str | int]


class Model:
    """`say` turns a prompt into text, or into an error's status."""

    def __init__(self) -> None:
        self.say: Say = lambda _: "ok"
        self.prompts: list[str] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = body["messages"][0]["content"]
                outer.prompts.append(prompt)
                outer.headers.append(dict(self.headers))
                said = outer.say(prompt)
                data = b""
                if isinstance(said, str):
                    data = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
                self.send_response(200 if isinstance(said, str) else said)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.http.shutdown()
    made.http.server_close()
