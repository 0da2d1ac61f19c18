"""The cases of a comparison, and what each shares with others: a prompt, a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from qeval.independence import Independence, Known, Name, Placed, Shared, independence, settle
from qeval.record import CaseInfo, Record

CaseKey = tuple[str, str]
"""Suite and case id."""


class Member(NamedTuple):
    """A case, its prompt and its cluster; equal prompts are one cluster in whatever suites they are."""

    info: CaseInfo
    shared: Shared

    @property
    def key(self) -> CaseKey:
        """Suite and case id."""
        return self.info.suite, self.info.case


def members_of(infos: Iterable[CaseInfo], records: Sequence[Record] = ()) -> dict[CaseKey, Member]:
    """Return the cases by suite and id, in their order.

    Prompts are equal by their token ids in any of the records, or by what the cases ask. Of a case of which neither is
    known, the question as the record keeps it stands for its prompt: that may make one of two, and never two of one.

    Args:
        infos: the cases.
        records: with answers to them.
    """
    hashes = _prompt_hashes(records)
    listed = {(info.suite, info.case): info for info in infos}
    shared = settle(_known(info, hashes) for info in listed.values())
    return {key: Member(info, shared[key]) for key, info in listed.items()}


def independence_of(record: Record) -> Independence:
    """Sum up how independent the cases of a record are."""
    members = members_of(record.cases, [record])
    return independence([Placed(*key, one.shared, one.info.near_equal) for key, one in members.items()])


def _prompt_hashes(records: Sequence[Record]) -> Mapping[CaseKey, set[str]]:
    found: dict[CaseKey, set[str]] = defaultdict(set)
    for record in records:
        for outcome in record.outcomes:
            if outcome.prompt_hash is not None:
                found[outcome.suite, outcome.case].add(outcome.prompt_hash)
    return found


def _known(info: CaseInfo, hashes: Mapping[CaseKey, set[str]]) -> Known:
    asks: list[Name] = [("tokens", digest) for digest in sorted(hashes.get((info.suite, info.case), ()))]
    if info.asked is not None:
        asks.append(("asked", info.asked))
    if not asks and info.question:
        asks.append(("question", info.question))
    return Known(info.suite, info.case, info.cluster, tuple(asks))
