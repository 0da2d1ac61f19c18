"""Logs of the chat-completions format: request bodies, requests with responses, batch files, files for fine-tuning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from qeval.jsonl import loads
from qeval.suites.check import RawCase
from qeval.suites.importers._lines import Found, json_rows
from qeval.suites.importers._logged import MAX_NEW_TOKENS, NOTES, Logged, case_of, check_fallback
from qeval.suites.importers._origin import files_of, licence_of
from qeval.suites.importers.base import Dropped, Reading, Wanted, made_or_dropped

SOURCE = "a .jsonl file of chat-completions requests, with or without responses, or a folder of them"
TAKES = frozenset({"grader", "masks"})


def read(wanted: Wanted) -> Reading:
    """Read logged calls; in a folder, batch outputs find their inputs by `custom_id`.

    Raises:
        UsageError: no such file, or `--grader` cannot be used.
    """
    check_fallback(wanted.grader)
    return Reading(
        _cases(files_of(wanted.source, "*.jsonl", SOURCE), wanted.grader),
        description="Requests that a product made, from its own log.",
        max_new_tokens=MAX_NEW_TOKENS,
        licence=licence_of(wanted.source),
        notes=NOTES,
    )


def _cases(files: Sequence[Path], grader: Mapping[str, Any] | None) -> Iterator[RawCase | Dropped]:
    rows = [row for path in files for row in json_rows(path)]
    asked = {str(row.value.get("custom_id")) for row in rows if isinstance(row, Found) and not _is_output(row.value)}
    apart: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if isinstance(row, Found) and _is_output(row.value):
            identity = str(row.value["custom_id"])
            if identity not in apart or (_failed(apart[identity]) and not _failed(row.value)):
                apart[identity] = row.value
    for row in rows:
        if isinstance(row, Dropped):
            yield row
        elif not _is_output(row.value):
            yield made_or_dropped(row.where, _case, row, apart, grader)
        elif str(row.value["custom_id"]) not in asked:
            advice = "put the batch's input file into the same folder and give the folder"
            yield Dropped(row.where, "a response without its request", advice)
        elif apart[str(row.value["custom_id"])] is not row.value:
            advice = "of several the first that did not fail counts"
            yield Dropped(row.where, "another response to the same request", advice)


def _is_output(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a line of a batch's output: a response that names its request."""
    return "custom_id" in row and "response" in row and not {"request", "body", "messages"} & set(row)


def _case(row: Found, apart: Mapping[str, Mapping[str, Any]], grader: Mapping[str, Any] | None) -> RawCase | Dropped:
    request = _request(row.value)
    if "messages" not in request:
        detail = "log chat-completions, or map the columns with `dataset`" if "input" in request else ""
        return Dropped(row.where, "no 'messages' in the request", detail)
    output = apart.get(str(row.value.get("custom_id")), row.value)
    if _failed(output):
        return Dropped(row.where, "the logged call failed")
    response = _response(output)
    answer, finish = _answer(response)
    if response and answer is None:
        return Dropped(
            row.where, "no message in the response", "pieces of a stream must be joined before they are logged"
        )
    identity = row.value.get("custom_id") or row.value.get("id")
    if not identity and isinstance(response, Mapping):
        identity = response.get("id")
    return case_of(Logged(row.where, str(identity) if identity else None, request, answer, finish), grader)


def _request(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the body of the request: the row itself, or what it holds as `request` or `body`."""
    for key in ("request", "body"):
        inner = _opened(row.get(key))
        if isinstance(inner, Mapping):
            return _request({"body": inner["body"]}) if "messages" not in inner and "body" in inner else inner
    return row


def _opened(body: object) -> object:
    """Return a body that was logged as JSON text (proxies do so) as what the text holds."""
    if not isinstance(body, str):
        return body
    try:
        return loads(body)
    except ValueError:
        return body


def _response(row: Mapping[str, Any]) -> object:
    """Return the body of the response, or the answer's text where that alone was logged."""
    response = row.get("response")
    if not isinstance(response, Mapping) or "body" not in response:
        return response
    body = _opened(response["body"])
    return {"body": body} if isinstance(body, str) else body


def _failed(row: Mapping[str, Any]) -> bool:
    response = row.get("response")
    status = response.get("status_code") if isinstance(response, Mapping) else None
    inner = _response(row)
    failed = not re.fullmatch(r"[23]\d\d", str(status)) if status is not None else False
    return failed or bool(row.get("error")) or (isinstance(inner, Mapping) and bool(inner.get("error")))


def _answer(response: object) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return the assistant's message and why it ended; of several choices the first."""
    if isinstance(response, str):
        return {"content": response}, None
    if not isinstance(response, Mapping):
        return None, None
    choices = response.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    message = choice.get("message", response if "content" in response or "tool_calls" in response else None)
    return (message if isinstance(message, Mapping) else None), choice.get("finish_reason") or response.get(
        "stop_reason"
    )
