"""From a source of other people's data to the cases of a suite: read, masked, checked, clustered, sampled."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from qeval.errors import UsageError
from qeval.jsonl import dumps
from qeval.sensitive.address import shown_address
from qeval.sensitive.rules import Rule
from qeval.strict import validate
from qeval.suites.case import Case, SuiteHeader
from qeval.suites.check import RawCase, check_cases
from qeval.suites.draw import Draw
from qeval.suites.import_clusters import join_clusters
from qeval.suites.importers._masks import CannotMaskError, Masks, load_rules
from qeval.suites.importers.base import Dropped, Reading, Wanted, check_wanted, find_importer
from qeval.suites.load import list_suites

Watch = Callable[[Iterator[RawCase | Dropped], int | None], Iterator[RawCase | Dropped]]
"""Wraps the rows of a source to show how far it is read; the number is how many there are, or None."""
_REASONS_SHOWN = 3


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
    valid: int
    """Cases before the sample was drawn."""
    seed: int
    clusters: int
    masked: Mapping[str, int] | None
    """Masking rule -> values replaced in the cases; None: sources of this kind are not masked."""
    rules: tuple[Rule, ...]
    licence: str | None
    notes: tuple[str, ...]


class _Kept(NamedTuple):
    raw: dict[str, Any]
    case: Case
    masked: Counter[str]


def gather(  # noqa: PLR0917 - what a person may say of an import
    kind: str, wanted: Wanted, name: str | None, limit: int | None, seed: int, watch: Watch
) -> Imported:
    """Read a source and return its cases.

    Args:
        kind: an importer's name.
        wanted: the source and the importer's own options.
        name: the suite's name; None: the importer's.
        limit: how many cases to keep, drawn with the seed; None: the importer's, or all.
        seed: of the draw.
        watch: shows the progress.

    Raises:
        UsageError: the source or an option cannot be used, or no row became a case.
    """
    check_wanted(kind, wanted)
    importer = find_importer(kind)
    rules = load_rules(wanted.masks) if "masks" in importer.TAKES else ()
    reading = importer.read(wanted)
    header = _header(name or reading.name, reading, given=name is not None)
    sorter = _Sorter(kind, rules)
    n_rows = 0
    for row in watch(reading.rows, reading.total):
        n_rows += 1
        sorter.take(row)
    if not sorter.kept:
        raise UsageError(f"{shown_address(wanted.source)}: no row became a case. {_why(sorter.dropped)}")
    names = join_clusters([item.case for item in sorter.kept])
    kept = [_in_cluster(item, names[item.case.id]) for item in sorter.kept]
    drawn = _drawn(kept, limit if limit is not None else reading.limit, seed)
    return Imported(
        kind=kind,
        source=wanted.source,
        header=header,
        cases=tuple(item.raw for item in drawn),
        rows=n_rows,
        dropped=tuple(sorter.dropped),
        valid=len(kept),
        seed=seed,
        clusters=len({item.raw.get("cluster", item.case.id) for item in drawn}),
        masked=sum((item.masked for item in drawn), Counter()) if rules else None,
        rules=rules,
        licence=reading.licence,
        notes=reading.notes,
    )


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


def _header(name: str, reading: Reading, *, given: bool) -> SuiteHeader:
    if not given:
        name = (
            "".join(char if char.isascii() and char.isalnum() else "-" for char in name.lower()).strip("-") or "suite"
        )
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
            self._keep(row)
        except RecursionError:
            self.dropped.append(Dropped(row.where, "it is nested too deeply"))

    def _keep(self, row: RawCase) -> None:
        raw, masked = dict(row.value) if isinstance(row.value, Mapping) else {}, Counter[str]()
        if self.masks is not None:
            try:
                raw, masked = self.masks.mask(raw)
            except CannotMaskError as error:
                self.dropped.append(Dropped(row.where, str(error)))
                return
        content = hashlib.sha256(dumps({key: part for key, part in raw.items() if key != "id"}).encode()).hexdigest()
        identity = str(raw.get("id") or f"{self.kind}-{content[:12]}")
        if self._by_id.get(identity, content) != content:
            identity = f"{identity}-{content[:12]}"
        if identity in self._by_id:
            self.dropped.append(Dropped(row.where, "the same case again", f"id {identity}"))
            return
        self._check(RawCase(row.where, {**raw, "id": identity}), content, masked)

    def _check(self, row: RawCase, content: str, masked: Counter[str]) -> None:
        try:
            (case,) = check_cases([row], row.where, None)
        except UsageError as error:
            self.dropped.append(Dropped(row.where, "it cannot be a case", str(error)))
            return
        self._by_id[case.id] = content
        self.kept.append(_Kept(dict(row.value) if isinstance(row.value, Mapping) else {}, case, masked))


def _in_cluster(item: _Kept, cluster: str | None) -> _Kept:
    return item if cluster is None else item._replace(raw={**item.raw, "cluster": cluster})


def _drawn(kept: Sequence[_Kept], limit: int | None, seed: int) -> list[_Kept]:
    """Return a seeded sample in the order of the source, or all where there are no more than the limit."""
    if limit is None or limit >= len(kept):
        return list(kept)
    places = Draw(seed, "import").sample(range(len(kept)), limit)
    return [kept[place] for place in sorted(places)]
