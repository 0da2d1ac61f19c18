"""Expected values that accept several: `{"any_of": [...]}` in fields and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qeval.grading._compare import is_choice


def accepted(wanted: Any) -> Sequence[Any]:  # noqa: ANN401 - any JSON value
    """Return the values that an expected value accepts.

    >>> accepted({"any_of": [1, 2]}), accepted([1, 2])
    ([1, 2], [[1, 2]])
    """
    return list(wanted["any_of"]) if is_choice(wanted) else [wanted]


def first_accepted(wanted: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return an expected value with the first choice taken at every depth; null where a choice is empty.

    >>> first_accepted({"to": {"any_of": ["Ann", "Bob"]}, "n": 1})
    {'to': 'Ann', 'n': 1}
    """
    if is_choice(wanted):
        return first_accepted(wanted["any_of"][0]) if wanted["any_of"] else None
    if isinstance(wanted, Mapping):
        return {key: first_accepted(item) for key, item in wanted.items()}
    return [first_accepted(item) for item in wanted] if isinstance(wanted, list | tuple) else wanted
