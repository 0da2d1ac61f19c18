"""Requests to a real local server that behaves well, badly or not at all."""

from __future__ import annotations

import re
import time
from base64 import b64encode
from typing import Any
from urllib.parse import unquote

import pytest

from qeval.errors import UsageError
from qeval.runner.judge_endpoint import Endpoint, JudgeSpec, Reply, ask, open_endpoint
from qeval.strict import validate
from tests.runner.judge_server import Answer, Play, completion, judge_server, verdict

BODY: dict[str, Any] = {"model": "m", "messages": [{}, {"content": "{}"}]}
KEY = "sk-a-secret-of-the-user"


class Run:
    """What asking a server that plays so gave, how often it was asked and how long it was waited."""

    def __init__(self, play: Play, *, key: str | None = None, timeout_s: float = 20) -> None:
        self.waits: list[float] = []
        with judge_server(play) as server:
            endpoint = Endpoint(server.url, key, timeout_s, time.monotonic, self.waits.append)
            self.reply: Reply = ask(endpoint, BODY)
            self.asked = server.asked


def always(answer: Answer) -> Play:
    return lambda _, __: answer


def first(*answers: Answer) -> Play:
    return lambda _, number: answers[number] if number < len(answers) else verdict("pass")


def test_a_good_reply_comes_with_its_model_tokens_and_time() -> None:
    run = Run(always(verdict("pass")))
    assert run.reply._replace(latency_s=None) == Reply(
        '{"reason": "because", "verdict": "pass"}', None, "", "judge-2026", 100, 10, 1
    )
    assert run.reply.latency_s is not None
    assert run.reply.latency_s > 0
    assert (run.asked[0].path, run.asked[0].body) == ("/v1/chat/completions", BODY)
    assert "Authorization" not in run.asked[0].headers


def test_the_key_goes_into_the_header_alone_and_is_taken_out_of_what_comes_back() -> None:
    run = Run(always(completion(f"your key is {KEY}")), key=KEY)
    assert run.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(run.asked[0].body)
    assert run.reply.text == "your key is [key]"
    refused = Run(always(Answer(401, f"Incorrect API key: {KEY}")), key=KEY)
    assert KEY not in refused.reply.detail
    assert "QEVAL_JUDGE_KEY" in refused.reply.detail


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        ("D33, as the model's name", completion("pass", model=KEY)),
        ("D33, in a refusal", Answer(401, f"bad key {KEY}")),
        ("in capitals", Answer(401, f"bad key {KEY.upper()}")),
        ("escaped as JSON", Answer(401, "".join(f"\\u{ord(char):04x}" for char in KEY))),
        ("escaped as an address", Answer(401, "".join(f"%{ord(char):02X}" for char in KEY))),
        ("in base64", Answer(500, b64encode(f"user:{KEY}".encode()).decode() + b64encode(KEY.encode()).decode())),
        ("where a detail is cut", Answer(401, "x" * 185 + KEY)),
        ("in what is no completion", Answer(body=f"<html>{KEY}</html>")),
        ("after many blanks", Answer(401, " " * 5_000 + KEY)),
    ],
)
def test_no_reply_holds_the_key_in_any_form(case: str, answer: Answer) -> None:
    reply = Run(always(answer), key=KEY).reply
    said = f"{reply.text} {reply.detail} {reply.served}"
    plain = unquote(re.sub(r"\\\\u(....)", lambda match: chr(int(match[1], 16)), said)).lower()
    assert not [part for part in (KEY[:12], KEY[-12:], b64encode(KEY.encode()).decode()[:12].lower()) if part in plain]


@pytest.mark.parametrize(
    ("bad", "waits"),
    [
        (Answer(429, "slow down", {"Retry-After": "7"}), [7]),
        (Answer(429, "slow down"), [1]),
        (Answer(429, "slow down", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), [1]),
        (Answer(429, "slow down", {"Retry-After": "-3"}), [1]),
        (Answer(503, "loading", {"Retry-After": "0.5"}), [0.5]),
        (Answer(500, "oops"), [1]),
    ],
)
def test_what_may_pass_is_tried_again_after_the_pause_asked_for(bad: Answer, waits: list[float]) -> None:
    run = Run(first(bad))
    assert (run.reply.fault, run.reply.attempts, run.waits, len(run.asked)) == (None, 2, waits, 2)


@pytest.mark.parametrize(
    ("answer", "fault", "said", "waits"),
    [
        (Answer(429, "slow down"), "judge_rate_limited", "HTTP 429: slow down", [1, 2, 4]),
        (Answer(429, "", {"Retry-After": "3600"}), "judge_rate_limited", "HTTP 429", []),
        (Answer(429, "", {"Retry-After": "inf"}), "judge_rate_limited", "HTTP 429", []),
        (Answer(500, "a\n  trace"), "judge_server_error", "HTTP 500: a trace", [1, 2, 4]),
        (Answer(400, "no response_format"), "judge_refused", "HTTP 400: no response_format", []),
        (Answer(404, "?"), "judge_refused", "is the plan's url right", []),
        (Answer(302, "", {"Location": "http://127.0.0.1:9/steal"}), "judge_refused", "redirects are not followed", []),
        (Answer(body="<html>"), "judge_malformed", "not a chat completion: <html>", []),
        (Answer(body="\ud83d".encode("utf-8", "replace").decode()), "judge_malformed", "not a chat", []),
        (Answer(body="[1]"), "judge_malformed", "not a chat completion: [1]", []),
        (Answer(body='{"choices": []}'), "judge_malformed", "not a chat completion", []),
        (completion(None), "judge_malformed", "a completion without text", []),
        (Answer(body="x" * 1_100_000), "judge_malformed", "a reply of over 1000000 bytes", []),
    ],
)
def test_what_does_not_pass_has_a_class_and_says_why(answer: Answer, fault: str, said: str, waits: list[float]) -> None:
    run = Run(always(answer), key=KEY)
    assert (run.reply.fault, run.waits) == (fault, waits)
    assert said in run.reply.detail
    assert run.reply.attempts == len(run.asked) == len(waits) + 1


@pytest.mark.parametrize(
    "slow",
    [
        {"id": "D34", "answer": Answer(drip=True)},
        {"id": "D34", "answer": Answer(429, "later", {"Retry-After": "3600"}), "fault": "judge_rate_limited"},
        {"id": "says nothing", "answer": Answer(hang=True)},
        {"id": "drips headers", "answer": Answer(drip_headers=True)},
        {"id": "drips a refusal", "answer": Answer(500, "x", drip=True)},
        {"id": "redirects to itself", "answer": Answer(307, "", {"Location": "/v1"}), "fault": "judge_refused"},
    ],
    ids=lambda slow: slow["id"],
)
def test_a_request_ends_within_its_time_limit_whatever_the_server_does(slow: dict[str, Any]) -> None:
    started = time.monotonic()
    with judge_server(always(slow["answer"])) as server:
        reply = ask(Endpoint(server.url, None, 0.3, time.monotonic, time.sleep), BODY)
        # Far less than the server drips, and enough for a busy machine.
        assert time.monotonic() - started < 5
    assert (reply.fault, reply.attempts) == (slow.get("fault", "judge_timeout"), 1)
    if "fault" not in slow:
        assert reply.detail == "no reply within 0.3 s"


def test_attempts_and_pauses_share_one_deadline() -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with judge_server(always(Answer(503, "loading"))) as server:
        reply = ask(Endpoint(server.url, None, 5, lambda: now[0], sleep), BODY)
    assert (reply.fault, reply.attempts, now[0]) == ("judge_server_error", 3, 3.0)


def test_no_server_is_unreachable() -> None:
    with judge_server(always(verdict("pass"))) as server:
        pass
    waits: list[float] = []
    reply = ask(Endpoint(server.url, None, 5, time.monotonic, waits.append), BODY)
    assert (reply.fault, waits) == ("judge_unreachable", [1, 2, 4])


def test_tokens_that_are_not_counted_are_unknown() -> None:
    run = Run(always(completion("x", prompt_tokens=-1)))
    assert (run.reply.prompt_tokens, run.reply.answer_tokens) == (None, None)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("127.0.0.1:8000/v1", "must be an address such as"),
        ("file:///etc/passwd", "must be an address such as"),
        ("http://:80", "must be an address such as"),
        ("http://host:port/v1", "url"),
        ("https://me:hunter2@host/v1", "no name, password, query or fragment"),
        ("https://host/v1?key=hunter2", "a key goes into QEVAL_JUDGE_KEY"),
    ],
)
def test_an_address_is_refused_without_repeating_a_secret(url: str, said: str) -> None:
    with pytest.raises(UsageError, match="plan") as caught:
        validate(JudgeSpec, {"url": url, "model": "m"}, "plan.yaml")
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QEVAL_JUDGE_KEY", key)
    with pytest.raises(UsageError, match="QEVAL_JUDGE_KEY") as caught:
        open_endpoint(JudgeSpec(url="http://127.0.0.1/v1", model="m"))
    assert key not in str(caught.value)
