"""A call that a product made and logged, as a case: what was asked, and what follows from the answer it got."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from qeval.grading import check_grader
from qeval.jsonl import dumps
from qeval.marks import split_said
from qeval.suites.check import Answered, RawCase
from qeval.suites.importers._said_calls import UnreadableCallError, calls_in
from qeval.suites.importers._templates import RowError, fill_value
from qeval.suites.importers._turns import (
    TurnError,
    calls_of,
    message_of,
    messages_of,
    schema_of,
    stops_of,
    tools_of,
    with_schema_told,
)
from qeval.suites.importers.base import Dropped

MAX_NEW_TOKENS = 1024
NOTES = (
    "Expected is what the logged answer proves: its tool calls; no call, where tools were offered and it was text; "
    "valid JSON, where a JSON Schema was asked for. Any other answer needs --grader.",
    "Where no call is expected, a judge also compares the text with the logged one. That decides nothing, and no judge "
    "is asked unless a plan names one.",
    "Calls that were logged as text are read where tools were offered. Thoughts and marks of turns are no part of the "
    "answer.",
    "Each logged answer was graded by the case made from it. A case that it fails is left out where the expectation "
    "follows from the answer; otherwise it has the tag `logged: fails`.",
    "A JSON Schema of `response_format` is told in the system text, since other engines do not enforce it.",
    "Neighbouring messages of one role are joined. Temperature and other sampling settings are not taken over: a plan "
    "says how variants decode. Stop texts are.",
    "A limit of more than 100,000 tokens becomes 100,000.",
    "Cases that begin with the same user message (one conversation) are one cluster.",
)
_NOTHING_FOLLOWS = "no expectation follows from a text answer"
_RUBRIC = (
    "The answer says in substance what the reference says. Other words, order and length are fine; facts that are "
    "missing, added or contradicted are not."
)
_LONGEST_REFERENCE = 10_000
"""Most characters of a judge's reference."""
_LONGEST = 100_000
"""Most tokens that a case may ask for."""
_CUT = ("length", "max_tokens", "content_filter", "refusal", "model_context_window_exceeded")
"""Why an answer ended that is not whole: as OpenAI's and Anthropic's endpoints say it."""
_ADVICE = """give --grader, such as --grader '{"kind": "exact", "value": "{{ answer }}"}' for labels"""


class _Expected(NamedTuple):
    """What a case expects."""

    tag: str
    graders: tuple[dict[str, Any], ...]
    settled: bool
    """Whether it follows from the logged answer."""


class Logged(NamedTuple):
    """One logged call, in whatever form its messages have."""

    where: str
    id: str | None
    request: Mapping[str, Any]
    """With `messages`, and where there are any `system`, `tools` (or `functions`), `response_format`, `max_tokens`,
    `stop` (or `stop_sequences`)."""
    answer: Mapping[str, Any] | None
    """The assistant's message, or None where it was not logged."""
    finish: str | None = None
    """Why the answer ended, as the endpoint said it."""


def check_fallback(grader: Mapping[str, Any] | None) -> None:
    """Check `--grader` before a log is read; one that holds a template is checked on each case.

    Raises:
        UsageError: unknown kind, or options that the grader refuses.
    """
    if grader is not None and "{{" not in dumps(grader):
        check_grader(grader, "--grader")


def case_of(logged: Logged, grader: Mapping[str, Any] | None) -> RawCase | Dropped:
    """Return the case of a logged call, or why it is none.

    Args:
        logged: the call.
        grader: for answers from which no expectation follows; `{{ answer }}` in it is the logged text.
    """
    request = logged.request
    try:
        messages = messages_of(request.get("messages"), request.get("system"))
        answer = logged.answer
        if answer is None and messages[-1]["role"] == "assistant":
            # Files for fine-tuning hold the answer as the last message.
            answer = messages.pop()
        tools = tools_of(request.get("tools") or request.get("functions"))
        schema = schema_of(request.get("response_format"))
        expected = _expectation(logged, answer, tools, schema, grader)
        rest = _rest(logged)
    except (TurnError, UnreadableCallError) as error:
        return Dropped(logged.where, str(error))
    except RowError as error:
        return Dropped(logged.where, str(error), error.detail)
    if isinstance(expected, Dropped):
        return expected
    if not messages:
        return Dropped(logged.where, "no message before the answer")
    case: dict[str, Any] = {
        "messages": messages if schema is None else with_schema_told(messages, schema),
        "graders": list(expected.graders),
        "tags": {"expects": expected.tag},
        "cluster": _conversation(messages),
    }
    if tools:
        case["tools"] = tools
    if schema is not None:
        case["response_schema"] = schema
    answered = _answered(answer, settles=expected.settled) if answer is not None else None
    return RawCase(logged.where, {**case, **rest}, answered)


def _answered(answer: Mapping[str, Any], *, settles: bool) -> Answered | None:
    """Return the logged answer as the graders take it; None where there is nothing to grade."""
    calls, text = calls_of(answer), _text_of(answer)
    return Answered(text, tuple(calls) or None, settles) if calls or text.strip() else None


def _text_of(answer: Mapping[str, Any] | None) -> str:
    return str(message_of({**answer, "role": "assistant"})["content"]) if answer is not None else ""


def _rest(logged: Logged) -> dict[str, Any]:
    """Return what the case takes over where it is there: id, limit of tokens, stop texts.

    Raises:
        TurnError: stop texts that are none.
    """
    rest: dict[str, Any] = {"id": logged.id} if logged.id else {}
    limit = logged.request.get("max_completion_tokens") or logged.request.get("max_tokens")
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        rest["max_new_tokens"] = min(limit, _LONGEST)
    stops = stops_of(logged.request.get("stop") or logged.request.get("stop_sequences"))
    return {**rest, "stop": stops} if stops else rest


def _expectation(
    logged: Logged,
    answer: Mapping[str, Any] | None,
    tools: list[dict[str, Any]],
    schema: dict[str, Any] | None,
    grader: Mapping[str, Any] | None,
) -> _Expected | Dropped:
    """Return what the case expects."""
    said = split_said(_text_of(answer))
    text = said.answer.strip()
    calls = calls_of(answer) if answer is not None else []
    if calls:
        return _Expected("tool_call", ({"kind": "tool_call", "calls": calls},), settled=True)
    needs_answer = grader is None or "{{" in dumps(grader)
    if logged.finish in _CUT and needs_answer:
        return Dropped(logged.where, f"the logged answer is not whole ({logged.finish})", _ADVICE)
    if said.cut_short and needs_answer:
        return Dropped(logged.where, "the logged answer ends inside its thinking block", _ADVICE)
    if schema is not None and answer is not None and answer.get("refusal"):
        return Dropped(logged.where, "the logged answer is a refusal, which is no JSON")
    if schema is not None:
        return _Expected("json", ({"kind": "json_schema", "schema": schema},), settled=False)
    if tools and text and (calls := calls_in(said.answer, tools)):
        return _Expected("tool_call", ({"kind": "tool_call", "calls": calls},), settled=True)
    if tools and text:
        return _Expected("no_call", ({"kind": "tool_call", "calls": []}, *_like(text)), settled=True)
    if grader is None:
        reason = _NOTHING_FOLLOWS if text else "no answer was logged, and no JSON Schema was asked for"
        return Dropped(logged.where, reason, _ADVICE)
    if needs_answer and not text:
        return Dropped(logged.where, "no text answer was logged, and --grader needs it")
    filled = fill_value(dict(grader), {"answer": text} if text else {})
    return _Expected(str(grader["kind"]), (filled,), settled=needs_answer)


def _like(text: str) -> Iterator[dict[str, Any]]:
    """Yield a judge that holds an answer against the logged text; that there is no call says nothing of the text.

    It does not decide, since a logged answer is no truth, and asks nobody unless a plan names a judge.
    """
    if len(text) <= _LONGEST_REFERENCE:
        yield {"kind": "judge", "rubric": _RUBRIC, "reference": text}


def _conversation(messages: list[dict[str, Any]]) -> str:
    first = next((message["content"] for message in messages if message["role"] == "user"), "")
    return f"conversation-{hashlib.sha256(dumps(first).encode()).hexdigest()[:12]}"
