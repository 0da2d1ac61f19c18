"""Traces of an MLflow store: each span of a chat model becomes a case, as a logged call does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from qeval.clean import hide
from qeval.errors import UsageError, did_you_mean
from qeval.mlflow_settings import PATIENT, QUIET, settings
from qeval.sensitive.address import secrets_of, shown_address
from qeval.suites.check import RawCase
from qeval.suites.importers._logged import MAX_NEW_TOKENS, NOTES, Logged, case_of, check_fallback
from qeval.suites.importers.base import Dropped, Reading, Wanted, made_or_dropped

SOURCE = "a tracking address: sqlite:///PATH/mlflow.db, or http(s)://HOST:PORT"
TAKES = frozenset({"grader", "experiment", "masks"})
_MODEL_SPANS = frozenset({"CHAT_MODEL", "LLM"})
_PAGE = 100


def read(wanted: Wanted) -> Reading:
    """Read the traces of one experiment.

    Raises:
        UsageError: the store cannot be opened, has no such experiment (the message names those there are), or
            `--grader` cannot be used.
    """
    check_fallback(wanted.grader)
    for secret in secrets_of(wanted.source):
        hide(secret)
    _check_file(wanted.source)
    return Reading(
        _cases(wanted.source, wanted.experiment, wanted.grader),
        description="Requests that a product made, from its traces in MLflow.",
        max_new_tokens=MAX_NEW_TOKENS,
        notes=NOTES,
    )


def _check_file(uri: str) -> None:
    """Refuse a database file that is not there or holds no tracking store: opening it would make one of it."""
    if "://" not in uri:
        raise UsageError(f"{shown_address(uri)}: no tracking address. Give {SOURCE}.")
    scheme, _, path = uri.partition(":///")
    if not scheme.startswith("sqlite"):
        return
    file = Path(path.partition("?")[0])
    if not file.is_file():
        raise UsageError(f"{shown_address(uri)}: there is no file {file}.")
    if "experiments" not in _tables(file):
        raise UsageError(f"{shown_address(uri)}: the file is no MLflow store. Give {SOURCE}.")


def _tables(file: Path) -> set[str]:
    """Return the names of a database's tables, read without a change to it; none where it is no database."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        except sqlite3.DatabaseError:
            return set()


def _cases(uri: str, experiment: str | None, grader: Mapping[str, Any] | None) -> Iterator[RawCase | Dropped]:
    with settings({**QUIET, **PATIENT}):
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            client = MlflowClient(tracking_uri=uri)
            for trace in _traces(client, _experiment_id(client, uri, experiment)):
                yield from _of_trace(trace, grader)
        except (MlflowException, SQLAlchemyError, OSError) as error:
            raise UsageError(f"{shown_address(uri)}: its traces cannot be read ({error}).") from error


def _experiment_id(client: Any, uri: str, name: str | None) -> str:  # noqa: ANN401 - mlflow's client
    ids = {experiment.name: str(experiment.experiment_id) for experiment in client.search_experiments()}
    if name is None and len(ids) > 1:
        ids.pop("Default", None)
    chosen = name if name is not None else next(iter(ids), None) if len(ids) == 1 else None
    if chosen in ids:
        return ids[str(chosen)]
    there = ", ".join(sorted(ids)) or "none"
    if name is None:
        raise UsageError(f"{shown_address(uri)}: which experiment? Name one with --experiment: {there}.")
    raise UsageError(f"{shown_address(uri)}: no experiment '{name}'.{did_you_mean(name, ids)} There is {there}.")


def _traces(client: Any, experiment_id: str) -> Iterator[Any]:  # noqa: ANN401 - mlflow's client
    token = None
    while True:
        page = client.search_traces(
            locations=[experiment_id], max_results=_PAGE, order_by=["timestamp_ms ASC"], page_token=token
        )
        yield from page
        token = page.token
        if not token:
            return


def _of_trace(trace: Any, grader: Mapping[str, Any] | None) -> Iterator[RawCase | Dropped]:  # noqa: ANN401
    spans = [span for span in trace.data.spans if span.span_type in _MODEL_SPANS]
    where = f"trace {trace.info.trace_id}"
    if not spans:
        yield Dropped(where, "no span of a chat model in the trace", "types CHAT_MODEL and LLM are read")
    # One model call is often traced twice, by the framework and by the client inside it: the inner one counts.
    outer = {span.parent_id for span in spans}
    for span in spans:
        if span.span_id not in outer:
            place = f"{where}, span {span.name}"
            yield made_or_dropped(place, _of_span, span, place, grader)


def _of_span(span: Any, where: str, grader: Mapping[str, Any] | None) -> RawCase | Dropped:  # noqa: ANN401
    if span.status is not None and str(span.status.status_code).endswith("ERROR"):
        return Dropped(where, "the logged call failed")
    inputs = span.inputs if isinstance(span.inputs, Mapping) else {"messages": span.inputs}
    options = inputs.get("invocation_params")
    request = {**(options if isinstance(options, Mapping) else {}), **inputs}
    if "messages" not in request:
        request["messages"] = next((request[key] for key in ("prompts", "prompt", "input") if key in request), None)
    if not request.get("tools") and (tools := span.get_attribute("mlflow.chat.tools")):
        request["tools"] = tools
    answer, finish = _answer(span.outputs)
    return case_of(Logged(where, f"{span.trace_id}-{span.span_id}", request, answer, finish), grader)


def _answer(outputs: Any) -> tuple[Mapping[str, Any] | None, str | None]:  # noqa: ANN401 - any JSON value
    """Return the assistant's message and why it ended: chat-completions, Anthropic, LangChain, or a text."""
    if isinstance(outputs, str):
        return {"content": outputs}, None
    if isinstance(outputs, list):
        return _answer(outputs[-1]) if outputs else (None, None)
    if not isinstance(outputs, Mapping):
        return None, None
    for key in ("choices", "generations", "messages"):
        if isinstance(outputs.get(key), list) and outputs[key]:
            first = outputs[key][-1 if key == "messages" else 0]
            answer, finish = _answer(first)
            return answer, finish or (first.get("finish_reason") if isinstance(first, Mapping) else None)
    if isinstance(outputs.get("message"), Mapping):
        return outputs["message"], outputs.get("finish_reason")
    if "content" in outputs or "tool_calls" in outputs:
        return outputs, outputs.get("stop_reason")
    return ({"content": outputs["text"]}, None) if isinstance(outputs.get("text"), str) else (None, None)
