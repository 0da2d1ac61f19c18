"""One request to an OpenAI-compatible endpoint: one deadline, retries within it, and a class for what went wrong.

With the standard library alone: a request, a time limit and three retries are no reason for a further dependency.
"""

from __future__ import annotations

import http.client
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from email.message import Message as Headers
from functools import partial
from typing import Any, NamedTuple, Never
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from qeval.clean import hide, without_credentials, without_hidden
from qeval.deadline import within
from qeval.errors import UsageError
from qeval.jsonl import dumps, loads
from qeval.strict import Strict

KEY_VARIABLE = "QEVAL_JUDGE_KEY"
"""Environment variable that holds the key; it is sent to the judge and written nowhere."""
_ATTEMPTS = 4
_FIRST_WAIT_S = 1.0
_LARGEST_REPLY_BYTES = 1_000_000
_LARGEST_REFUSAL_BYTES = 65_536
_SHORTEST_TIMEOUT_S = 0.001
"""A socket's time-out of 0 would mean that it does not block."""
_KEY = "[key]"
"""Stands for the key where an endpoint quotes it."""
_DETAIL_CHARACTERS = 200
_HINTS = {
    **dict.fromkeys((301, 302, 303, 307, 308), " (redirects are not followed: give the plan the address it leads to)"),
    **dict.fromkeys((401, 403), f" (is the environment variable {KEY_VARIABLE} set and right?)"),
    404: " (is the plan's url right, up to /v1, and the model's name?)",
}


class JudgeSpec(Strict):
    """The `judge:` of a plan. Without it nothing is sent anywhere."""

    url: str
    """Up to the version, such as `https://api.example.com/v1`; `/chat/completions` is added."""
    model: str = Field(min_length=1)
    timeout_s: float = Field(default=60, gt=0, le=3600)
    """Of one request, with all its attempts and the pauses between them."""

    @field_validator("url")
    @classmethod
    def _plain_address(cls, value: str) -> str:
        # The value may hold a password, so no message repeats it.
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            raise ValueError("must be an address such as http://127.0.0.1:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(f"must hold no name, password, query or fragment; a key goes into {KEY_VARIABLE}")
        return value.rstrip("/")


class Endpoint(NamedTuple):
    """Where a judge is asked, and how long it may take."""

    url: str
    key: str | None
    timeout_s: float
    clock: Callable[[], float]
    """Seconds, monotonic."""
    sleep: Callable[[float], object]


def open_endpoint(spec: JudgeSpec) -> Endpoint:
    """Read the key from the environment; nothing is sent yet.

    Raises:
        UsageError: the key cannot be sent as a header.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"the environment variable {KEY_VARIABLE} holds characters that no key has; set it again.")
    return Endpoint(spec.url, key or None, spec.timeout_s, time.monotonic, time.sleep)


class Reply(NamedTuple):
    """What came back: text, or the class of having none."""

    text: str = ""
    fault: str | None = None
    """judge_timeout, judge_unreachable, judge_rate_limited, judge_server_error, judge_refused, judge_malformed."""
    detail: str = ""
    served: str | None = None
    """The name that the endpoint gave its model."""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    attempts: int = 0
    latency_s: float | None = None
    """Of the last attempt; waits between attempts are not in it."""


class _FailedError(Exception):
    """An attempt without a reply."""

    def __init__(self, fault: str, detail: str, *, again: bool, wait_s: float | None = None) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail
        self.again = again
        self.wait_s = wait_s


def ask(endpoint: Endpoint, body: dict[str, Any]) -> Reply:
    """Ask, and ask again where that may help: too many requests, a server's fault, no connection.

    Waits as long as `Retry-After` says in seconds, else 1, 2 and 4 s; not where that is past the deadline. The deadline
    is that of the whole request, so a reply that does not come in time leaves no time to ask again.
    """
    hide(endpoint.key, _KEY)
    data = dumps(body).encode()
    deadline = endpoint.clock() + endpoint.timeout_s
    attempt = 0
    while True:
        attempt += 1
        started = endpoint.clock()
        try:
            reply = _read(_post(endpoint, data, deadline - started))
            return reply._replace(attempts=attempt, latency_s=endpoint.clock() - started)
        except _FailedError as failure:
            now = endpoint.clock()
            wait_s = _FIRST_WAIT_S * 2 ** (attempt - 1) if failure.wait_s is None else failure.wait_s
            if not failure.again or attempt == _ATTEMPTS or now + wait_s >= deadline:
                return Reply(fault=failure.fault, detail=failure.detail, attempts=attempt, latency_s=now - started)
        endpoint.sleep(wait_s)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would carry the key and the answers to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


class _Opened:
    """The sockets of an attempt, so that another thread can shut them."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []

    def shut(self) -> None:
        for one in self.sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Connection(http.client.HTTPConnection):
    def __init__(self, host: str, *, opened: _Opened, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._opened = opened

    def connect(self) -> None:
        super().connect()
        self._opened.sockets.append(self.sock)


class _SafeConnection(http.client.HTTPSConnection):
    def __init__(self, host: str, *, opened: _Opened, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._opened = opened

    def connect(self) -> None:
        super().connect()
        self._opened.sockets.append(self.sock)


class _Watched(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Opens connections and keeps their sockets."""

    def __init__(self, opened: _Opened) -> None:
        super().__init__()
        self._opened = opened

    def http_open(self, req: urllib.request.Request) -> Any:  # noqa: ANN401 - as urllib has it
        return self.do_open(partial(_Connection, opened=self._opened), req)

    def https_open(self, req: urllib.request.Request) -> Any:  # noqa: ANN401 - as urllib has it
        return self.do_open(partial(_SafeConnection, opened=self._opened), req)


def _post(endpoint: Endpoint, data: bytes, seconds: float) -> bytes:
    """Send a request and return the reply, all within some seconds."""
    headers = {"Content-Type": "application/json", "User-Agent": "qeval"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    request = urllib.request.Request(f"{endpoint.url}/chat/completions", data, headers)
    opened = _Opened()
    opener = urllib.request.build_opener(_NoRedirect, _Watched(opened))
    try:
        return within(seconds, lambda: _exchange(opener, request, seconds), opened.shut)
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise _FailedError("judge_timeout", f"no reply within {endpoint.timeout_s:g} s", again=False) from error
        raise _FailedError("judge_unreachable", f"no connection: {_shown(str(reason))}", again=True) from error


def _exchange(opener: urllib.request.OpenerDirector, request: urllib.request.Request, timeout_s: float) -> bytes:
    try:
        with opener.open(request, timeout=max(timeout_s, _SHORTEST_TIMEOUT_S)) as response:
            return _body(response)
    except urllib.error.HTTPError as error:
        with error:
            _refuse(error.code, error.headers, error.read(_LARGEST_REFUSAL_BYTES).decode("utf-8", "replace"))


def _body(response: http.client.HTTPResponse) -> bytes:
    pieces: list[bytes] = []
    while piece := response.read1(65_536):
        pieces.append(piece)
        if sum(map(len, pieces)) > _LARGEST_REPLY_BYTES:
            raise _FailedError("judge_malformed", f"a reply of over {_LARGEST_REPLY_BYTES} bytes", again=False)
    return b"".join(pieces)


def _shown(said: str) -> str:
    """Return what an endpoint said as a detail may hold it: some quote the key in their errors."""
    # Cut last, so that no part of a key is left.
    return " ".join(without_credentials(said).split())[:_DETAIL_CHARACTERS]


def _refuse(status: int, headers: Headers, body: str) -> Never:
    said = f"HTTP {status}: {_shown(body)}"
    if status == 429:
        raise _FailedError("judge_rate_limited", said, again=True, wait_s=_retry_after(headers))
    if status >= 500:
        raise _FailedError("judge_server_error", said, again=True, wait_s=_retry_after(headers))
    raise _FailedError("judge_refused", f"{said}{_HINTS.get(status, '')}", again=False)


def _retry_after(headers: Headers) -> float | None:
    """Return the pause asked for in seconds; None where there is none, or a date."""
    try:
        wait_s = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return wait_s if wait_s >= 0 else None


def _read(raw: bytes) -> Reply:
    """Take the text of the first choice out of a chat completion."""
    try:
        value = loads(raw.decode("utf-8"))
        text = value["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError) as error:
        said = raw[:_LARGEST_REFUSAL_BYTES].decode("utf-8", "replace")
        raise _FailedError("judge_malformed", f"not a chat completion: {_shown(said)}", again=False) from error
    if not isinstance(text, str):
        raise _FailedError("judge_malformed", "a completion without text", again=False)
    usage, served = value.get("usage"), value.get("model")
    return Reply(
        text=without_hidden(text),
        served=_shown(served) if isinstance(served, str) else None,
        prompt_tokens=_count(usage, "prompt_tokens"),
        answer_tokens=_count(usage, "completion_tokens"),
    )


def _count(usage: object, key: str) -> int | None:
    found = usage.get(key) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None
