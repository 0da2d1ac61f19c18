"""Clusters of imported cases: those that a source names, joined where cases share a prompt."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from qeval.jsonl import dumps
from qeval.suites.case import Case


def join_clusters(cases: Sequence[Case]) -> dict[str, str | None]:
    """Return the cluster of each case by its id, None for a case on its own.

    Cases with the same messages are of one cluster; clusters that share a prompt become one.
    """
    groups = _Groups()
    prompts: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        prompts[_prompt(case)].append(case.id)
    for prompt, ids in prompts.items():
        for identity in ids if len(ids) > 1 else ():
            groups.join(f"case {identity}", f"prompt {prompt}")
    for case in cases:
        if case.cluster is not None:
            groups.join(f"case {case.id}", f"cluster {case.cluster}")
    return {case.id: _name(groups.root(f"case {case.id}")) for case in cases}


def _name(root: str) -> str | None:
    word, _, name = root.partition(" ")
    if word == "case":
        return None
    return name if word == "cluster" else f"prompt-{name[:12]}"


def _prompt(case: Case) -> str:
    messages = [message.model_dump(mode="json") for message in case.messages]
    return hashlib.sha256(dumps(messages).encode()).hexdigest()


class _Groups:
    """Sets that grow together (union-find); a set is named by its least member, clusters before prompts."""

    _ORDER = ("cluster", "prompt", "case")

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def root(self, member: str) -> str:
        while (above := self._parent.get(member, member)) != member:
            member = above
        return member

    def join(self, first: str, second: str) -> None:
        roots = sorted(
            (self.root(first), self.root(second)), key=lambda root: (self._ORDER.index(root.split()[0]), root)
        )
        self._parent[roots[1]] = roots[0]
