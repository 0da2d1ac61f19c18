"""The answer calls the right tools with the right arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from qeval.chat import Tool
from qeval.grading._calls import Call, Calls, read_calls
from qeval.grading._compare import as_json, equal_json, is_choice, kind_of
from qeval.grading._grades import failed, no_words, passed, shown
from qeval.grading._schema import violations
from qeval.grading.base import Answer, Question
from qeval.jsonl import dumps
from qeval.outcome import Grade
from qeval.strict import Strict

METRIC = "tool_call"
CLASSES = (
    "malformed_call",
    "wrong_name",
    "missing_call",
    "extra_call",
    "wrong_order",
    "missing_argument",
    "unknown_argument",
    "wrong_type",
    "wrong_value",
)
"""In the order in which one is chosen where several apply."""
_MOST_MATCHED = 200
"""Most calls of an answer that are matched; what is beyond counts as extra."""


class ExpectedCall(Strict):
    """One call that must be made."""

    name: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Argument -> value, or `{"any_of": [...]}` for several accepted ones."""
    optional: tuple[str, ...] = ()
    """Names of arguments that may be left out."""

    @model_validator(mode="after")
    def _choices_are_not_empty(self) -> Self:
        for key, value in self.arguments.items():
            if is_choice(value) and not value["any_of"]:
                raise ValueError(f"the argument '{key}' accepts no value: 'any_of' is empty")
        unknown = [name for name in self.optional if name not in self.arguments]
        if unknown:
            raise ValueError(f"'optional' names '{unknown[0]}', which is not among the arguments")
        return self


class Options(Strict):
    """The calls that must be made, and no others."""

    calls: tuple[ExpectedCall, ...]
    """Empty: no tool applies, and the answer must be text."""
    ordered: bool = False
    text: Literal["exact", "loose"] = "exact"
    """How text within arguments compares; `loose` is the rule of the public BFCL checker (`_compare.loose_text`)."""


class Fault(NamedTuple):
    """One thing wrong with the calls."""

    fault: str
    reason: str


def grade(options: Options, answer: Answer, question: Question) -> tuple[Grade, ...]:
    """Pass where the calls are the expected ones; the score is the share of right calls."""
    if not answer.tool_calls and (empty := no_words(METRIC, answer)) is not None:
        return (empty,)
    read = read_calls(answer, _known_tools(options, question.tools))
    says_nothing = not answer.text if answer.tool_calls else options.calls and not read.calls
    if answer.failure == "truncated_in_reasoning" and says_nothing:
        return (failed(METRIC, "truncated_in_reasoning", "the answer ended inside its thinking block"),)
    if read.says_nothing and not read.calls:
        return (failed(METRIC, "empty", "a message without content and without calls"),)
    return (_judge(options, read, question.tools),)


def _known_tools(options: Options, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the tools on offer, or the expected calls' where the case declares none."""
    return tuple(tools) or tuple(
        Tool(name=call.name, parameters={"properties": {key: {} for key in call.arguments}}) for call in options.calls
    )


def _judge(options: Options, read: Calls, tools: Sequence[Tool]) -> Grade:
    notes = f" [{', '.join(read.notes)}]" if read.notes else ""
    loose = options.text == "loose"
    faults, right = match_calls(options.calls, read.calls, tools, ordered=options.ordered, loose=loose)
    if read.malformed is not None and (faults or not read.calls):
        faults = [Fault("malformed_call", read.malformed), *faults]
    if not faults:
        return passed(METRIC, f"{len(read.calls)} calls as expected{notes}", score=1.0)
    first = min(faults, key=lambda fault: CLASSES.index(fault.fault))
    ordered = sorted(faults, key=lambda fault: CLASSES.index(fault.fault))
    reason = "; ".join(f"{fault.fault}: {fault.reason}" for fault in ordered[:4])
    score = right / max(len(options.calls), len(read.calls), 1) if first.fault != "wrong_order" else 0.0
    return failed(
        METRIC, first.fault, reason + notes, score=min(score, 1.0) if first.fault != "malformed_call" else 0.0
    )


def match_calls(
    expected: Sequence[ExpectedCall],
    got: Sequence[Call],
    tools: Sequence[Tool],
    *,
    ordered: bool,
    loose: bool = False,
) -> tuple[list[Fault], int]:
    """Match calls by best assignment and return all faults and the number of right calls."""
    beyond = got[_MOST_MATCHED:]
    got = got[:_MOST_MATCHED]
    declared = {tool.name: tool for tool in tools}
    table = [[call_faults(want, call, declared.get(want.name), loose=loose) for call in got] for want in expected]
    if ordered and len(expected) == len(got) and all(not table[i][i] for i in range(len(got))) and not beyond:
        return [], len(got)
    pairs = _assign(table, len(got))
    faults = [fault for row, column in pairs for fault in table[row][column]]
    right = sum(not table[row][column] for row, column in pairs)
    rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
    faults += [Fault("missing_call", f"no call of {want.name}") for i, want in enumerate(expected) if i not in rows]
    extra = [call for i, call in enumerate(got) if i not in columns] + list(beyond)
    names = Counter(call.name for call in extra)
    faults += [Fault("extra_call", f"{count} extra of {shown(name)}") for name, count in names.items()]
    if ordered and not faults:
        faults = [Fault("wrong_order", "the calls are right but come in another order")]
    return faults, right


def _assign(table: Sequence[Sequence[Sequence[Fault]]], n_got: int) -> list[tuple[int, int]]:
    """Return the pairs (expected, got) with the fewest faults in all; a wrong name costs most."""
    if not table or not n_got:
        return []
    if len(table) == 1 and n_got == 1:
        return [(0, 0)]
    from scipy.optimize import linear_sum_assignment

    cost = [[sum(1000 if fault.fault == "wrong_name" else 1 for fault in cell) for cell in row] for row in table]
    rows, columns = linear_sum_assignment(cost)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]


def call_faults(want: ExpectedCall, got: Call, tool: Tool | None, *, loose: bool = False) -> list[Fault]:
    """Return everything wrong with one call."""
    if got.name != want.name:
        return [Fault("wrong_name", f"expected {shown(want.name)}, got {shown(got.name)}")]
    declared = tool.parameters.get("properties", {}) if tool else {}
    faults = [
        Fault("missing_argument", f"{want.name} needs {key}")
        for key in want.arguments
        if key not in got.arguments and key not in want.optional
    ]
    for key, value in got.arguments.items():
        schema = declared.get(key) if isinstance(declared, Mapping) else None
        if key in want.arguments:
            choices = _choices(want.arguments[key])
            if not any(equal_json(value, choice, loose=loose) for choice in choices):
                faults.append(_value_fault(key, value, choices, schema, tool))
        elif not _may_stand(key, value, schema, tool):
            faults.append(Fault("unknown_argument", f"{want.name} got {shown(key)}, which is not expected"))
    return faults


def _may_stand(key: str, value: Any, schema: Any, tool: Tool | None) -> bool:  # noqa: ANN401 - any JSON value
    """Return whether an argument that is not expected says what leaving it out says: its default, or null."""
    if not isinstance(schema, Mapping) or tool is None or key in tool.parameters.get("required", ()):
        return False
    if "default" in schema and equal_json(value, schema["default"]):
        return True
    return value is None and _type_holds(schema, tool, value) is True


def _choices(wanted: Any) -> Sequence[Any]:  # noqa: ANN401 - any JSON value
    """Return all accepted values."""
    return wanted["any_of"] if is_choice(wanted) else [wanted]


def _value_fault(key: str, got: Any, choices: Sequence[Any], schema: Any, tool: Tool | None) -> Fault:  # noqa: ANN401
    """Say what is wrong with a value that is none of the accepted ones."""
    declared = isinstance(schema, Mapping)
    holds = _type_holds(schema, tool, got) if declared and tool else None
    if holds is None and declared:
        holds = True
    elif holds is None or (not holds and tool and not any(_type_holds(schema, tool, choice) for choice in choices)):
        # No declared type, or one that the expected values do not keep either: their own type is the measure.
        holds = kind_of(got) in {kind_of(choice) for choice in choices}
    reason = f"{key}: expected {as_json(choices[0])}, got {as_json(got)}"
    return Fault("wrong_value" if holds else "wrong_type", reason)


def _type_holds(schema: Mapping[str, Any], tool: Tool, value: Any) -> bool | None:  # noqa: ANN401
    """Return whether a value is of its declared type, at every depth, or None where no type is declared."""
    if not {"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"} & set(schema):
        return None
    whole = {key: item for key, item in tool.parameters.items() if key in {"$defs", "definitions", "$schema"}}
    try:
        found = violations(_typed(dumps({**whole, **schema})), value)
    except ValueError:
        return None
    return not found


@lru_cache(maxsize=512)
def _typed(schema_text: str) -> str:
    """Return a schema reduced to its types: what it says of values (bounds, enums, patterns) is left out."""
    from qeval.jsonl import loads

    return dumps(_types_only(loads(schema_text)))


_KEPT = frozenset(
    {"type", "properties", "items", "prefixItems", "additionalProperties", "$ref", "$defs", "definitions"}
)
_BRANCHES = frozenset({"anyOf", "oneOf", "allOf"})


def _types_only(schema: Any) -> Any:  # noqa: ANN401 - any JSON value
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"properties", "$defs", "definitions"} and isinstance(value, Mapping):
            kept[key] = {name: _types_only(inner) for name, inner in value.items()}
        elif key in _BRANCHES and isinstance(value, list):
            kept["anyOf" if key == "oneOf" else key] = [_types_only(inner) for inner in value]
        elif key in _KEPT:
            kept[key] = _types_only(value) if isinstance(value, Mapping) else value
    return kept
