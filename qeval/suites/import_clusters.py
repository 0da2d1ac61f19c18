"""Clusters of imported cases: those that a source names, joined where cases share a prompt or have near-equal ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from qeval.groups import Groups
from qeval.suites.asked import asked
from qeval.suites.case import Case

_Member = tuple[int, str]
_CLUSTER, _PROMPT = 0, 1
"""A group is named by a cluster of the source before it is named by a prompt."""


def join_clusters(cases: Sequence[Case], near_equal: Mapping[str, str]) -> dict[str, str | None]:
    """Return the cluster of each case by its id, None for a case on its own.

    Args:
        cases: all of them.
        near_equal: by its id, a case that a case is near-equal to; cases left out are near-equal to none.
    """
    prompts: dict[str, _Member] = {case.id: (_PROMPT, asked(case)) for case in cases}
    groups = Groups[_Member]()
    for case in cases:
        declared = [] if case.cluster is None else [(_CLUSTER, case.cluster)]
        groups.join([prompts[case.id], prompts[near_equal.get(case.id, case.id)], *declared])
    names = {case.id: groups.name(prompts[case.id]) for case in cases}
    sizes = Counter(names.values())
    return {identity: _written(name) if sizes[name] > 1 else _declared(name) for identity, name in names.items()}


def _written(name: _Member) -> str:
    kind, text = name
    return text if kind == _CLUSTER else f"prompt-{text[:12]}"


def _declared(name: _Member) -> str | None:
    return name[1] if name[0] == _CLUSTER else None
