"""A real server on this machine that plays a judge: every request is kept, every answer is what a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from types import MappingProxyType
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What the server sends."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = MappingProxyType({})
    hang: bool = False
    """Say nothing until the server is closed."""
    drip: bool = False
    """Send headers, then bytes one by one until the server is closed."""
    drip_headers: bool = False
    """The same before the headers have ended."""


class Asked(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def material(self) -> dict[str, Any]:
        """The JSON object that the judge is shown."""
        read: dict[str, Any] = json.loads(self.body["messages"][1]["content"])
        return read


Play = Callable[[Asked, int], Answer]
"""A request and its number, from 0, to what is sent."""


class JudgeServer(NamedTuple):
    """Where the server listens, and what it was asked."""

    url: str
    asked: list[Asked]


def completion(content: str | None, model: str = "judge-2026", **usage: int) -> Answer:
    """A chat completion with this text."""
    counts = usage or {"prompt_tokens": 100, "completion_tokens": 10}
    message = {"role": "assistant", "content": content}
    return Answer(body=json.dumps({"model": model, "choices": [{"message": message}], "usage": counts}))


def verdict(verdict: str, reason: str = "because") -> Answer:
    """A completion with a verdict."""
    return completion(json.dumps({"reason": reason, "verdict": verdict}))


def _drip(out: BufferedIOBase, over: threading.Event) -> None:
    """Write byte after byte, at the longest for as long as a test may take that does not end it."""
    for _ in range(2_000):
        if over.wait(0.01):
            return
        try:
            out.write(b" ")
        except OSError:
            return


@contextmanager
def judge_server(play: Play) -> Iterator[JudgeServer]:
    """Serve on a free port until the block ends."""
    asked: list[Asked] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Asked(self.path, dict(self.headers), body)
            asked.append(request)
            answer = play(request, len(asked) - 1)
            if answer.hang:
                over.wait()
                return
            if answer.drip_headers:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                _drip(self.wfile, over)
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body.encode())
            if answer.drip:
                _drip(self.wfile, over)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield JudgeServer(f"http://127.0.0.1:{server.server_port}/v1", asked)
    finally:
        over.set()
        server.shutdown()
        server.server_close()
