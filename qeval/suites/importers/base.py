"""The frame that importers share: what they are asked for, what they hand over, how they are found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from qeval.errors import QevalError, UsageError, unknown_name
from qeval.suites import importers
from qeval.suites.check import RawCase

_NOT_IMPORTERS = frozenset({"base"})


class Wanted(NamedTuple):
    """What a person asked for. Each importer names in `TAKES` which of the optional ones it understands."""

    source: str
    lang: str | None = None
    """BCP 47 language of the cases, or several with commas where the source is a folder of languages."""
    mapping: Path | None = None
    grader: Mapping[str, Any] | None = None
    """For cases from which no expectation follows."""
    experiment: str | None = None
    masks: Path | None = None


class Dropped(NamedTuple):
    """A row that became no case."""

    where: str
    """File and line, or the row's id."""
    reason: str
    """The same words for all rows dropped for it, since they are counted by it."""
    detail: str = ""
    """What is particular to this row, or what to do about it."""

    @property
    def example(self) -> str:
        """Where the row stands, with its detail: what a report shows of the first row of a reason."""
        return f"{self.where}: {self.detail}" if self.detail else self.where


class Reading(NamedTuple):
    """What an importer found at its source."""

    rows: Iterator[RawCase | Dropped]
    """One for each row of the source, in its order. A case may lack its id; it then gets one from its content."""
    description: str
    """Which use the suite stands for."""
    max_new_tokens: int
    """Limit for cases that name none, in tokens."""
    licence: str | None = None
    """What the source says of it; None: it says nothing."""
    notes: tuple[str, ...] = ()
    """What was added to the prompts or chosen by the importer, for the README."""
    limit: int | None = None
    """How many cases to keep, where the person names no number."""
    total: int | None = None
    """Number of rows, where it is known before they are read."""


def made_or_dropped(
    where: str,
    make: Callable[..., RawCase | Dropped],
    *arguments: Any,  # noqa: ANN401 - whatever `make` takes
) -> RawCase | Dropped:
    """Return what an importer makes of one row; a row that it cannot take is dropped, and the others are read on.

    Args:
        where: file and line, or the row's id.
        make: returns the case, or why there is none.
        arguments: what it is called with.
    """
    try:
        return make(*arguments)
    except (QevalError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - a row is other people's data, and may have any shape
        return Dropped(where, "the row has another form than this importer reads", f"{type(error).__name__}: {error}")


class Importer(Protocol):
    """The shape of an importer module."""

    SOURCE: str
    """What its source is, in a few words."""
    TAKES: frozenset[str]
    """Which optional fields of `Wanted` it understands. With `masks`, what it reads is masked."""

    def read(self, wanted: Wanted) -> Reading:
        """Open the source.

        Raises:
            UsageError: it cannot be read, or is of another kind.
        """


@cache
def kinds() -> tuple[str, ...]:
    """Return the names of all importers: the modules of this folder, without importing them.

    >>> "openai-log" in kinds()
    True
    """
    names = (module.name for module in pkgutil.iter_modules(importers.__path__))
    return tuple(
        sorted(name.replace("_", "-") for name in names if name not in _NOT_IMPORTERS and not name.startswith("_"))
    )


def find_importer(kind: str) -> Importer:
    """Import an importer by name.

    Raises:
        UsageError: no such kind.
    """
    if kind not in kinds():
        raise unknown_name("kind of import", kind, kinds())
    return cast(Importer, importlib.import_module(f"qeval.suites.importers.{kind.replace('-', '_')}"))


def check_wanted(kind: str, wanted: Wanted) -> None:
    """Refuse options that an importer does not understand.

    Raises:
        UsageError: unknown kind, or an option of another kind; the message names the kinds it goes with.
    """
    takes = find_importer(kind).TAKES
    for name in (field for field in Wanted._fields if field != "source" and getattr(wanted, field) is not None):
        if name not in takes:
            others = [other for other in kinds() if name in find_importer(other).TAKES]
            raise UsageError(f"--{name} does not go with {kind}; it goes with {', '.join(others)}.")
