"""Check the cases of a suite: shape, graders, schemas, ids. Without a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from qeval.errors import UsageError, told_as_usage
from qeval.grading import check_grader
from qeval.grading.schemas import BadSchemaError, check_schema
from qeval.jsonl import dumps
from qeval.strict import validate
from qeval.suites.broken_text import half_characters
from qeval.suites.case import Case

_FAULTS_SHOWN = 10


class Answered(NamedTuple):
    """What was answered to a case in the place it comes from."""

    text: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] | None = None
    """Calls that stood apart from the text."""
    settles: bool = True
    """Whether what the case expects follows from this answer."""


class RawCase(NamedTuple):
    """A case as it was read or generated, and where it stands."""

    where: str
    value: object
    answered: Answered | None = None
    """None where no answer is known."""


def check_cases(raw: Sequence[RawCase], source: str, max_new_tokens: int | None) -> list[Case]:
    """Check all cases of a suite.

    Args:
        raw: the cases as read.
        source: the file or folder, for the message when there are none.
        max_new_tokens: limit for cases that name none; None leaves `Case`'s own.

    Raises:
        UsageError: there is no case, or some are faulty; up to ten faults are named.
    """
    if not raw:
        raise UsageError(f"{source}: the suite holds no case.")
    cases: list[Case] = []
    faults: list[str] = []
    seen_schemas: set[str] = set()
    lines: dict[str, str] = {}
    for item in raw:
        try:
            with told_as_usage(item.where):
                case = _check_case(item, max_new_tokens, seen_schemas)
        except UsageError as error:
            faults.append(str(error))
            continue
        if case.id in lines:
            faults.append(
                f"{item.where}: the id '{case.id}' is already used at {lines[case.id]} (1 and '1' are one id)."
            )
        lines.setdefault(case.id, item.where)
        cases.append(case)
    if faults:
        more = len(faults) - _FAULTS_SHOWN
        raise UsageError("\n".join([*faults[:_FAULTS_SHOWN], *([f"... and {more} more faults"] if more > 0 else [])]))
    return cases


def _check_case(item: RawCase, max_new_tokens: int | None, seen_schemas: set[str]) -> Case:
    value = item.value
    where = item.where
    if isinstance(value, dict):
        if "id" in value:
            where = f"{where}, case '{value['id']}'"
        refuse_half_characters(value, where)
        value = _long_form(value, where)
        if max_new_tokens is not None:
            value = {"max_new_tokens": max_new_tokens, **value}
    case = validate(Case, value, where)
    try:
        case.model_dump(mode="json")
    except ValueError as error:
        # Its digest could not be made either.
        raise UsageError(
            f"{where}: nested too deeply to be written ({error}). Make its tools and schemas flatter."
        ) from error
    if all(grader.get("kind") == "judge" and not grader.get("required") for grader in case.graders):
        raise UsageError(
            f"{where}: its only grader is a judge that is not required, so the case could neither pass nor fail. Write "
            '"required": true, or add a grader of another kind.'
        )
    for grader in case.graders:
        check_grader(grader, where)
        if "schema" in grader:
            # The grader has checked it; most often it is the response schema as well.
            seen_schemas.add(dumps(grader["schema"]))
    for label, schema in _schemas(case):
        _check_schema(schema, f"{where}, {label}", seen_schemas)
    names = [tool.name for tool in case.tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"{where}: two tools are called '{twice[0]}'; a tool's name must be unique in its case.")
    return case


def refuse_half_characters(value: object, where: str) -> None:
    """Refuse a value with a text that holds half a character.

    Raises:
        UsageError: one does; or the value is nested too deeply to look.
    """
    try:
        broken = next(half_characters(value), None)
    except RecursionError as error:
        raise UsageError(f"{where}: nested too deeply. Make its tools and schemas flatter.") from error
    if broken is not None:
        raise UsageError(
            f"{where}: half a character (a lone surrogate) in {broken}, which no tokenizer reads. Write the whole "
            "character, or leave it out."
        )


def _long_form(value: dict[str, Any], where: str) -> dict[str, Any]:
    """Turn the short form `{"prompt": ..., "system": ...}` into messages."""
    if "prompt" not in value:
        return value
    if "messages" in value:
        raise UsageError(f"{where}: has both 'prompt' and 'messages'; 'prompt' is short for a single user message.")
    rest = {key: part for key, part in value.items() if key not in {"prompt", "system"}}
    system = [{"role": "system", "content": value["system"]}] if "system" in value else []
    return {**rest, "messages": [*system, {"role": "user", "content": value["prompt"]}]}


def _schemas(case: Case) -> Iterator[tuple[str, dict[str, Any]]]:
    for tool in case.tools:
        yield f"tool '{tool.name}', parameters", tool.parameters
    if case.response_schema is not None:
        yield "response_schema", case.response_schema


def _check_schema(schema: dict[str, Any], where: str, seen: set[str]) -> None:
    """Refuse what is no usable JSON Schema; generated suites repeat the same few, so each is checked once."""
    text = dumps(schema)
    if text in seen:
        return
    try:
        check_schema(schema)
    except BadSchemaError as error:
        raise UsageError(f"{where}: the JSON Schema cannot be used: {error}.") from error
    seen.add(text)
