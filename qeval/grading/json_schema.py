"""The answer is JSON that follows a schema and holds the right values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, model_validator

from qeval.chat import BareSchema
from qeval.grading._budget import Budget, OverBudgetError, limited_to
from qeval.grading._compare import as_json, equal_json
from qeval.grading._grades import failed, no_text, passed
from qeval.grading._json import Found, Piece, find_json, read_lenient
from qeval.grading._loops import loops
from qeval.grading._schema import BadSchemaError, check_schema, draft_of, unknown_formats, violations
from qeval.grading._schema.values import canonical
from qeval.grading.base import Answer, Question
from qeval.grading.choices import accepted
from qeval.jsonl import dumps
from qeval.outcome import Grade
from qeval.strict import Strict

_MISSING = object()


class Options(Strict):
    """A schema, and optionally the values that single fields must hold."""

    schema_: Annotated[dict[str, Any] | bool, BareSchema] = Field(alias="schema")
    """JSON Schema, draft 4 to 2020-12 by its `$schema`; 2020-12 where it names none. May come in the wrapper of the
    chat-completions format, `{"name", "strict", "schema"}`."""
    expect: dict[str, Any] | None = Field(default=None, min_length=1)
    """JSON Pointer or plain top-level key -> value; `{"any_of": [...]}` accepts several."""
    strict: bool = False
    """Whether the answer must be the JSON alone: no fence, no prose, no leniency."""

    @model_validator(mode="after")
    def _schema_is_usable(self) -> Self:
        try:
            check_schema(self.schema_)
        except BadSchemaError as fault:
            raise ValueError(f"the schema cannot be used: {fault}") from fault
        return self


class _Reading(NamedTuple):
    piece: Piece | None
    fault: str | None
    reason: str


def metrics(options: Options) -> dict[str, bool]:
    """Return the metrics, and whether each is required."""
    return {"schema_valid": True, "strict_json": options.strict, **({"fields": True} if options.expect else {})}


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Grade validity, strictness and field values apart."""
    required = metrics(options)
    empty = [no_text(metric, answer) for metric in required]
    if any(empty):
        return tuple(
            grade.model_copy(
                update={"required": required[grade.metric], "score": 0.0 if grade.metric == "fields" else None}
            )
            for grade in empty
            if grade is not None
        )
    found = find_json(answer.text)
    reading = _choose(found, options.schema_, answer)
    grades = [_valid(options, reading), _strict(found, reading, answer, required=options.strict)]
    if options.expect:
        grades.append(_fields(options.expect, reading))
    return tuple(grades)


def _choose(found: Found, schema: Any, answer: Answer) -> _Reading:  # noqa: ANN401 - a schema may be a boolean
    """Return the one JSON value of the answer, or why there is none."""
    pieces = found.pieces
    if not pieces and answer.failure == "truncated_in_reasoning":
        return _Reading(None, "truncated_in_reasoning", "the answer ended inside its thinking block, before any JSON")
    if not pieces:
        return _Reading(None, "no_json", "there is no JSON in the answer")
    if len(pieces) == 1:
        return _unread(pieces[0], answer, schema)
    read = [piece for piece in pieces if piece.read]
    fitting = [piece for piece in read if _fits_type(piece.value, schema)]
    # Brackets of another kind, such as a footnote's [1], and the same value given twice leave one answer.
    if len(read) == len(pieces) and len({canonical(piece.value) for piece in fitting}) == 1:
        return _Reading(fitting[0], None, "")
    if loops(answer.text):
        return _unread(pieces[-1], answer, schema)
    if not read:
        return _unread(pieces[0], answer, schema)
    return _Reading(None, "several_values", f"{len(pieces)} JSON values where one is asked for")


def _unread(piece: Piece, answer: Answer, schema: Any) -> _Reading:  # noqa: ANN401 - a schema may be a boolean
    if piece.fault is None:
        return _Reading(piece, None, "")
    fault, reason = piece.fault.fault, str(piece.fault)
    if fault == "unclosed" and (answer.failure == "degenerate" or loops(piece.text)):
        return _Reading(piece, "loop", "the JSON is never closed: it repeats itself")
    if fault == "unclosed" and (answer.finish == "length" or answer.failure == "truncated"):
        return _Reading(piece, "truncated", "the answer was cut at its limit inside the JSON")
    if fault == "not_strict":
        reason += _repair(piece.text, schema)
    return _Reading(piece, fault, reason)


def _repair(text: str, schema: Any) -> str:  # noqa: ANN401 - a schema may be a boolean
    """Say what a lenient reader would have made of the text; it changes no grade."""
    try:
        value = read_lenient(text)
        # With a budget of its own: what is only told must not cost the grade.
        with limited_to(Budget()):
            wrong = violations(dumps(schema), value, most=1)
    except ValueError:
        return "; a lenient reader cannot read it either"
    except OverBudgetError:
        return ""
    return "; read leniently it " + ("would break the schema too" if wrong else "would follow the schema")


def _fits_type(value: Any, schema: Any) -> bool:  # noqa: ANN401 - any JSON value
    named = schema.get("type") if isinstance(schema, Mapping) else None
    if named == "object" or (named is None and isinstance(schema, Mapping) and "properties" in schema):
        return isinstance(value, dict)
    return isinstance(value, list) if named == "array" else True


def _valid(options: Options, reading: _Reading) -> Grade:
    metric = "schema_valid"
    if reading.fault is not None or reading.piece is None:
        return failed(metric, reading.fault or "no_json", reading.reason)
    draft = draft_of(options.schema_)
    named = isinstance(options.schema_, Mapping) and "$schema" in options.schema_
    by = f"draft {draft}" + ("" if named else " (the default)")
    wrong = violations(dumps(options.schema_), reading.piece.value)
    if not wrong:
        unread = unknown_formats(options.schema_)
        unchecked = f"; not checked: format {', '.join(map(repr, unread))}" if unread else ""
        return passed(metric, f"{reading.piece.extraction}, {by}{unchecked}")
    reason = "; ".join(f"at {fault.path}: {fault.message}" for fault in wrong)
    return failed(metric, "schema_violation", f"{reason} ({by})")


def _strict(found: Found, reading: _Reading, answer: Answer, *, required: bool) -> Grade:
    metric = "strict_json"
    bare = answer.text.strip(" \t\r\n")
    piece = reading.piece
    if piece is not None and piece.read and piece.extraction == "whole" and piece.text == bare:
        return passed(metric, required=required)
    fault, reason = _why_not_strict(found, reading)
    return failed(metric, fault, reason, required=required)


def _why_not_strict(found: Found, reading: _Reading) -> tuple[str, str]:
    if reading.fault is not None:
        return reading.fault, reading.reason
    if found.fenced:
        around = ", with text around it" if found.prose else ""
        return "fenced", f"the JSON stands in a fence{' that is not closed' if found.unclosed_fence else ''}{around}"
    if reading.piece is not None and reading.piece.extraction == "embedded":
        return "prose_around", "there is text around the JSON"
    return "not_strict", "blanks around the JSON that JSON does not know"


def _fields(expect: Mapping[str, Any], reading: _Reading) -> Grade:
    metric = "fields"
    if reading.fault is not None or reading.piece is None:
        return failed(metric, reading.fault or "no_json", reading.reason, score=0.0)
    wrong: list[tuple[str, str]] = []
    for key, wanted in expect.items():
        got = _at(reading.piece.value, key)
        if got is _MISSING:
            wrong.append(("missing_field", f"{key} is missing"))
        elif not any(equal_json(got, choice) for choice in accepted(wanted)):
            wrong.append(("wrong_value", f"{key}: expected {as_json(wanted)}, got {as_json(got)}"))
    score = 1 - len(wrong) / len(expect)
    if not wrong:
        return passed(metric, score=1.0)
    return failed(metric, wrong[0][0], "; ".join(reason for _, reason in wrong[:5]), score=score)


def _at(value: Any, key: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value at a JSON Pointer (or a plain top-level key), or `_MISSING`."""
    steps = (
        [step.replace("~1", "/").replace("~0", "~") for step in key.split("/")[1:]] if key.startswith("/") else [key]
    )
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
            value = value[int(step)]
        else:
            return _MISSING
    return value
