"""Expected calls that the case's own tools do not allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qeval.chat import Tool
from qeval.errors import did_you_mean
from qeval.grading import Question
from qeval.grading.choices import accepted, first_accepted
from qeval.grading.schemas import violations
from qeval.grading.tool_call import ExpectedCall, Options
from qeval.jsonl import dumps
from qeval.suites.lint.finding import Flaw


def call_flaws(options: Options, question: Question) -> Iterator[Flaw]:
    """Yield what the tools of the case say against the expected calls.

    A tool that is not there is an error. What a tool's schema refuses is a warning: the grader would pass it (public
    sets hold such golds), but a model that keeps to the schema fails.
    """
    tools = {tool.name: tool for tool in question.tools}
    if not options.calls and not tools:
        yield Flaw("warning", "no call is expected and no tool is on offer, so any text passes. Give the case tools.")
    for call in options.calls if tools else ():
        if call.name not in tools:
            hint = did_you_mean(call.name, tools)
            yield Flaw(
                "error",
                f"a call of '{call.name}' is expected, which is not among the case's tools ({', '.join(tools)}).{hint}",
            )
        else:
            yield from (Flaw("warning", text) for text in _argument_faults(call, tools[call.name]))


def _argument_faults(call: ExpectedCall, tool: Tool) -> Iterator[str]:
    declared = tool.parameters.get("properties")
    if declared is None:
        # Said by reference or not at all: any argument may be meant.
        return
    for key, wanted in call.arguments.items():
        if key not in declared:
            hint = did_you_mean(key, declared)
            yield f"the expected argument '{key}' is not declared by {call.name}.{hint} Correct one of the two."
        elif (refused := _refused(wanted, declared[key], tool)) is not None:
            yield f"the expected argument '{key}' of {call.name} breaks the tool's schema: {refused}. Correct one."
    for key in tool.parameters.get("required", ()):
        if key not in call.arguments:
            yield (
                f"{call.name} requires '{key}', which the expected call lacks: a call that gives it fails as "
                "unknown_argument. Expect it, or do not require it."
            )


def _refused(wanted: Any, schema: Any, tool: Tool) -> str | None:  # noqa: ANN401 - any JSON value
    """Return why the schema refuses every accepted value, or None where it accepts one or cannot be asked."""
    whole = {key: item for key, item in tool.parameters.items() if key in {"$defs", "definitions", "$schema"}}
    text = dumps({**whole, **schema} if isinstance(schema, Mapping) else schema)
    reason = None
    for choice in accepted(wanted):
        try:
            found = violations(text, first_accepted(choice), most=1)
        except (RecursionError, TimeoutError):
            return None
        if not found:
            return None
        reason = reason or found[0].message
    return reason
