"""Servers that a push must not wait for: each plays one kind of trouble on a real port of this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Play = Callable[[BaseHTTPRequestHandler, threading.Event], None]


def drip(request: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Send a byte a second, for ever."""
    request.send_response(200)
    request.send_header("Content-Type", "application/json")
    request.end_headers()
    while not over.wait(1):
        request.wfile.write(b" ")
        request.wfile.flush()


def later(request: BaseHTTPRequestHandler, _: threading.Event) -> None:
    """Ask to come again in an hour."""
    request.send_response(429)
    request.send_header("Retry-After", "3600")
    request.send_header("Content-Length", "0")
    request.end_headers()


def circle(request: BaseHTTPRequestHandler, _: threading.Event) -> None:
    """Lead back to itself."""
    request.send_response(307)
    request.send_header("Location", request.path)
    request.send_header("Content-Length", "0")
    request.end_headers()


def silence(_: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Say nothing."""
    over.wait()


def broken(request: BaseHTTPRequestHandler, _: threading.Event) -> None:
    """Fail, and quote the request with all its headers, as debugging servers do."""
    said = f"{request.path} {request.headers}".encode()
    request.send_response(500)
    request.send_header("Content-Length", str(len(said)))
    request.end_headers()
    request.wfile.write(said)


def coloured(request: BaseHTTPRequestHandler, _: threading.Event) -> None:
    """Refuse in a text that a terminal would obey."""
    said = b'{"error_code": "PERMISSION_DENIED", "message": "\\u001b[2J\\u001b]0;owned\\u0007no \\u202eyes\\u009b31m"}'
    request.send_response(403)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(said)))
    request.end_headers()
    request.wfile.write(said)


@contextmanager
def bad_server(play: Play) -> Iterator[int]:
    """Serve on a free port, which is returned, until the block ends."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            try:
                play(self, over)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.answer)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        over.set()
        server.shutdown()
        server.server_close()
