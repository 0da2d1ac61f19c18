"""Texts that hold what a grader expects and next to nothing else."""

from __future__ import annotations

from typing import Any

from qeval.grading.choices import first_accepted
from qeval.jsonl import dumps


def golds(kind: str, options: Any) -> tuple[str, ...]:  # noqa: ANN401 - a grader's own type
    """Return shortest right answers to one grader; none where its options do not say one.

    Args:
        kind: the grader's name.
        options: its checked options.
    """
    if kind == "exact":
        return tuple(options.wanted)
    if kind == "contains":
        return (", ".join(options.wanted),) if options.all_ else tuple(options.wanted)
    if kind == "number":
        return (str(options.value),)
    if kind == "json_schema" and options.expect:
        return (dumps(first_accepted({key.rpartition("/")[2]: value for key, value in options.expect.items()})),)
    if kind == "tool_call" and options.calls:
        return (dumps([{"name": call.name, "arguments": first_accepted(_needed(call))} for call in options.calls]),)
    return ()


def _needed(call: Any) -> dict[str, Any]:  # noqa: ANN401 - tool_call's ExpectedCall
    return {key: value for key, value in call.arguments.items() if key not in call.optional}
