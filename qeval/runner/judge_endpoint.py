"""One request to an OpenAI-compatible endpoint: time limit, retries, and a named class for what went wrong.

With the standard library alone: a request, a time limit and three retries are no reason for a further dependency.
"""

from __future__ import annotations

import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message as Headers
from typing import Any, NamedTuple, Never
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from qeval.errors import UsageError
from qeval.jsonl import dumps, loads
from qeval.strict import Strict

KEY_VARIABLE = "QEVAL_JUDGE_KEY"
"""Environment variable that holds the key; it is sent to the judge and written nowhere."""
_ATTEMPTS = 4
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
"""An endpoint that wants a longer pause is not waited for."""
_LARGEST_REPLY_BYTES = 1_000_000
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
    """Of one attempt."""

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
    """Ask, and ask again where that may help: too many requests, a server's fault, no connection, no reply in time.

    Waits as long as `Retry-After` says in seconds, else 1, 2 and 4 s.
    """
    data = dumps(body).encode()
    attempt = 0
    while True:
        attempt += 1
        started = endpoint.clock()
        try:
            reply = _read(_post(endpoint, data))
            return _clean(reply, endpoint)._replace(attempts=attempt, latency_s=endpoint.clock() - started)
        except _FailedError as failure:
            took = endpoint.clock() - started
            wait_s = _FIRST_WAIT_S * 2 ** (attempt - 1) if failure.wait_s is None else failure.wait_s
            if not failure.again or attempt == _ATTEMPTS or wait_s > _LONGEST_WAIT_S:
                reply = Reply(fault=failure.fault, detail=failure.detail, attempts=attempt, latency_s=took)
                return _clean(reply, endpoint)
        endpoint.sleep(wait_s)


def _clean(reply: Reply, endpoint: Endpoint) -> Reply:
    """Take the key out of what the endpoint said: some quote it in their errors."""
    if not endpoint.key:
        return reply
    text, detail = (part.replace(endpoint.key, "[key]") for part in (reply.text, reply.detail))
    return reply._replace(text=text, detail=detail)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would carry the key and the answers to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


def _post(endpoint: Endpoint, data: bytes) -> bytes:
    headers = {"Content-Type": "application/json", "User-Agent": "qeval"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    request = urllib.request.Request(f"{endpoint.url}/chat/completions", data, headers)
    deadline = endpoint.clock() + endpoint.timeout_s
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=endpoint.timeout_s) as response:
            return _body(response, endpoint, deadline)
    except urllib.error.HTTPError as error:
        with error:
            _refuse(error.code, error.headers, error.read(4 * _DETAIL_CHARACTERS).decode("utf-8", "replace"))
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            raise _too_slow(endpoint) from error
        raise _FailedError("judge_unreachable", f"no connection: {reason}", again=True) from error


def _body(response: http.client.HTTPResponse, endpoint: Endpoint, deadline: float) -> bytes:
    """Read a reply; the time limit of a socket is of each read, so one that drips in is ended here."""
    pieces: list[bytes] = []
    while piece := response.read1(65_536):
        pieces.append(piece)
        if sum(map(len, pieces)) > _LARGEST_REPLY_BYTES:
            raise _FailedError("judge_malformed", f"a reply of over {_LARGEST_REPLY_BYTES} bytes", again=False)
        if endpoint.clock() > deadline:
            raise _too_slow(endpoint)
    return b"".join(pieces)


def _too_slow(endpoint: Endpoint) -> _FailedError:
    return _FailedError("judge_timeout", f"no reply within {endpoint.timeout_s:g} s", again=True)


def _refuse(status: int, headers: Headers, body: str) -> Never:
    said = f"HTTP {status}: {' '.join(body.split())[:_DETAIL_CHARACTERS]}"
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
        said = raw[:_DETAIL_CHARACTERS].decode("utf-8", "replace")
        raise _FailedError("judge_malformed", f"not a chat completion: {said}", again=False) from error
    if not isinstance(text, str):
        raise _FailedError("judge_malformed", "a completion without text", again=False)
    usage, served = value.get("usage"), value.get("model")
    return Reply(
        text=text,
        served=served if isinstance(served, str) else None,
        prompt_tokens=_count(usage, "prompt_tokens"),
        answer_tokens=_count(usage, "completion_tokens"),
    )


def _count(usage: object, key: str) -> int | None:
    found = usage.get(key) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None
