"""From a source of other people's data to the cases of a suite: read, masked, checked, clustered, sampled."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from qeval.chat import ToolCall
from qeval.errors import UsageError, told_as_usage
from qeval.jsonl import dumps
from qeval.outcome import Outcome
from qeval.sensitive.address import shown_address
from qeval.sensitive.rules import Rule
from qeval.strict import validate
from qeval.suites.answers import grade_case
from qeval.suites.broken_text import half_characters
from qeval.suites.case import Case, SuiteHeader
from qeval.suites.check import Answered, RawCase, check_cases
from qeval.suites.draw import Draw
from qeval.suites.import_clusters import join_clusters
from qeval.suites.importers._masks import CannotMaskError, Masks, load_rules
from qeval.suites.importers.base import Dropped, Reading, Wanted, check_wanted, find_importer
from qeval.suites.load import list_suites
from qeval.suites.near_equal import near_equal

Watch = Callable[[Iterator[RawCase | Dropped], int | None], Iterator[RawCase | Dropped]]
"""Wraps the rows of a source to show how far it is read; the number is how many there are, or None."""
_REASONS_SHOWN = 3
OWN_ANSWER_FAILS = "the answer it came with fails it"
"""Why a row is left out whose expectation follows from that answer."""


class Joined(NamedTuple):
    """Cases with near-equal prompts, each group of which is one cluster."""

    cases: int
    groups: int


class Imported(NamedTuple):
    """The cases of a source, and what became of all its rows."""

    kind: str
    source: str
    header: SuiteHeader
    cases: tuple[dict[str, Any], ...]
    """As they are written: each is a valid `Case`."""
    rows: int
    """Rows of the source: cases, dropped ones and those not drawn."""
    dropped: tuple[Dropped, ...]
    failing: tuple[str, ...]
    """Of the cases, those that the answer they came with fails: id and why. They are tagged `logged: fails`."""
    valid: int
    """Cases before the sample was drawn."""
    seed: int
    clusters: int
    near_equal: Joined | None
    """None: near-equal prompts were not looked for."""
    masked: Mapping[str, int] | None
    """Masking rule -> values replaced in the cases; None: sources of this kind are not masked."""
    rules: tuple[Rule, ...]
    licence: str | None
    notes: tuple[str, ...]


class Choice(NamedTuple):
    """What a person may say of any import."""

    name: str
    """Of the suite."""
    limit: int | None = None
    """How many cases to keep, drawn with the seed; None: the importer's number, or all."""
    seed: int = 0
    join_near_equal: bool = True
    """Whether cases with near-equal prompts are one cluster."""


class _Kept(NamedTuple):
    raw: dict[str, Any]
    case: Case
    masked: Counter[str]
    failing: str | None = None


def gather(kind: str, wanted: Wanted, choice: Choice, watch: Watch) -> Imported:
    """Read a source and return its cases.

    Args:
        kind: an importer's name.
        wanted: the source and the importer's own options.
        choice: what is said of any import.
        watch: shows the progress.

    Raises:
        UsageError: the source or an option cannot be used, or no row became a case.
    """
    check_wanted(kind, wanted)
    importer = find_importer(kind)
    rules = load_rules(wanted.masks) if "masks" in importer.TAKES else ()
    with told_as_usage(shown_address(wanted.source)):
        reading = importer.read(wanted)
    header = _header(choice.name, reading)
    sorter = _Sorter(kind, rules)
    n_rows = 0
    for row in watch(_rows(reading.rows, shown_address(wanted.source)), reading.total):
        n_rows += 1
        sorter.take(row)
    if not sorter.kept:
        raise UsageError(f"{shown_address(wanted.source)}: no row became a case. {_why(sorter.dropped)}")
    drawn = _drawn(sorter.kept, choice.limit if choice.limit is not None else reading.limit, choice.seed)
    near = _near_equal([item.case for item in drawn]) if choice.join_near_equal else {}
    names = join_clusters([item.case for item in sorter.kept], near)
    drawn = [_in_cluster(item, names[item.case.id]) for item in drawn]
    return Imported(
        kind=kind,
        source=wanted.source,
        header=header,
        cases=tuple(item.raw for item in drawn),
        rows=n_rows,
        dropped=tuple(sorter.dropped),
        failing=tuple(item.failing for item in drawn if item.failing is not None),
        valid=len(sorter.kept),
        seed=choice.seed,
        clusters=len({item.raw.get("cluster", item.case.id) for item in drawn}),
        near_equal=Joined(len(near), len(set(near.values()))) if choice.join_near_equal else None,
        masked=sum((item.masked for item in drawn), Counter()) if rules else None,
        rules=rules,
        licence=reading.licence,
        notes=reading.notes,
    )


def _rows(rows: Iterator[RawCase | Dropped], source: str) -> Iterator[RawCase | Dropped]:
    """Yield the rows of a source.

    Raises:
        UsageError: the source cannot be read on, whatever its reader raised; says after which row.
    """
    for number in count():
        with told_as_usage(f"{source}, after row {number}"):
            row = next(rows, None)
        if row is None:
            return
        yield row


def by_reason(dropped: Sequence[Dropped]) -> list[tuple[str, int, Dropped]]:
    """Return the reasons, how many rows each took, and its first row; the commonest first."""
    firsts: dict[str, Dropped] = {}
    for row in dropped:
        firsts.setdefault(row.reason, row)
    return [(reason, n, firsts[reason]) for reason, n in Counter(row.reason for row in dropped).most_common()]


def _why(dropped: Sequence[Dropped]) -> str:
    if not dropped:
        return "The source holds no rows."
    told = [f"{n} × {reason} (first: {first.example})" for reason, n, first in by_reason(dropped)[:_REASONS_SHOWN]]
    return "; ".join(told) + "."


def _header(name: str, reading: Reading) -> SuiteHeader:
    if name in {entry.name for entry in list_suites()}:
        raise UsageError(
            f"'{name}' is a built-in suite; records could not tell the two apart. Give another name with --name."
        )
    spec = {
        "name": name,
        "version": 1,
        "description": reading.description,
        "max_new_tokens": reading.max_new_tokens,
    }
    return validate(SuiteHeader, spec, "--name")


class _Sorter:
    """Takes rows one by one: each is kept as a checked case with an id of its own, or dropped with a reason."""

    def __init__(self, kind: str, rules: Sequence[Rule]) -> None:
        self.kind = kind
        self.masks = Masks(rules) if rules else None
        self.kept: list[_Kept] = []
        self.dropped: list[Dropped] = []
        self._by_id: dict[str, str] = {}
        """Id -> digest of the case's content without its id."""

    def take(self, row: RawCase | Dropped) -> None:
        if isinstance(row, Dropped):
            self.dropped.append(row)
            return
        try:
            with told_as_usage(row.where):
                self._keep(row)
        except UsageError as error:
            self.dropped.append(Dropped(row.where, "it cannot be read", str(error)))

    def _keep(self, row: RawCase) -> None:
        raw, masked, answered = dict(row.value) if isinstance(row.value, Mapping) else {}, Counter[str](), row.answered
        if (broken := next(half_characters(raw), None)) is not None:
            self.dropped.append(Dropped(row.where, "half a character, which no model can be shown", broken))
            return
        if self.masks is not None:
            try:
                # Beside the case, so that a value has one placeholder in both; it is no part of what is counted.
                together = self.masks.mask({"case": raw, "answer": answered._asdict() if answered else {}}).value
                raw, masked = self.masks.mask(raw)
            except CannotMaskError as error:
                self.dropped.append(Dropped(row.where, str(error)))
                return
            answered = Answered(**together["answer"]) if answered else None
        content = hashlib.sha256(dumps({key: part for key, part in raw.items() if key != "id"}).encode()).hexdigest()
        identity = str(raw.get("id") or f"{self.kind}-{content[:12]}")
        if self._by_id.get(identity, content) != content:
            identity = f"{identity}-{content[:12]}"
        if identity in self._by_id:
            self.dropped.append(Dropped(row.where, "the same case again", f"id {identity}"))
            return
        self._check(RawCase(row.where, {**raw, "id": identity}, answered), content, masked)

    def _check(self, row: RawCase, content: str, masked: Counter[str]) -> None:
        try:
            (case,) = check_cases([row], row.where, None)
        except UsageError as error:
            self.dropped.append(Dropped(row.where, "it cannot be a case", str(error)))
            return
        self._by_id[case.id] = content
        raw = dict(row.value) if isinstance(row.value, Mapping) else {}
        fault = _fault_of_own_answer(case, row.answered) if row.answered else None
        if fault is None:
            self.kept.append(_Kept(raw, case, masked))
        elif row.answered and row.answered.settles:
            self.dropped.append(Dropped(row.where, OWN_ANSWER_FAILS, f"{case.id}: {fault}"))
        else:
            # What is expected does not follow from the answer, so that the case is as good as any other.
            tags = {**case.tags, "logged": "fails"}
            tagged = case.model_copy(update={"tags": tags})
            self.kept.append(_Kept({**raw, "tags": tags}, tagged, masked, f"{case.id}: {fault}"))


def _fault_of_own_answer(case: Case, answered: Answered) -> str | None:
    """Return why the answer that a case came with fails it, or None where it does not."""
    outcome = Outcome(
        suite="import",
        case=case.id,
        batch=0,
        status="answered",
        text=answered.text,
        tool_calls=tuple(ToolCall(**call) for call in answered.tool_calls) if answered.tool_calls else None,
        finish="stop",
    )
    graded = grade_case(outcome, case)
    if graded.passed() is not False:
        return None
    return "; ".join(f"{g.metric}: {g.fault}: {g.reason}" for g in graded.grades if g.required and g.status == "fail")


def _near_equal(cases: Sequence[Case]) -> dict[str, str]:
    """Return the first case of its group, by id, of each case that is near-equal to another."""
    firsts = near_equal(cases)
    sizes = Counter(firsts)
    return {case.id: cases[first].id for case, first in zip(cases, firsts, strict=True) if sizes[first] > 1}


def _in_cluster(item: _Kept, cluster: str | None) -> _Kept:
    return item if cluster is None else item._replace(raw={**item.raw, "cluster": cluster})


def _drawn(kept: Sequence[_Kept], limit: int | None, seed: int) -> list[_Kept]:
    """Return a seeded sample in the order of the source, or all where there are no more than the limit."""
    if limit is None or limit >= len(kept):
        return list(kept)
    places = Draw(seed, "import").sample(range(len(kept)), limit)
    return [kept[place] for place in sorted(places)]
