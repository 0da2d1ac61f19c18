"""Any table through a mapping file: a Hugging Face dataset, or a JSONL, JSON, CSV, TSV or Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from qeval.errors import UsageError
from qeval.suites.check import RawCase
from qeval.suites.importers._mapping import RowMapping, check_columns, map_row, read_mapping
from qeval.suites.importers._origin import licence_of
from qeval.suites.importers._tables import SUFFIXES, Table, open_dataset, open_file
from qeval.suites.importers.base import Dropped, Reading, Wanted, made_or_dropped

SOURCE = "a .jsonl, .json, .csv, .tsv or .parquet file, a folder of a Hugging Face dataset, or its id on the hub"
TAKES = frozenset({"lang", "mapping"})


def read(wanted: Wanted) -> Reading:
    """Read rows and map their columns.

    Raises:
        UsageError: no mapping, a faulty one, or one that names a column that is not there.
    """
    if wanted.mapping is None:
        raise UsageError("dataset needs --mapping FILE: how columns become cases. See docs/bring-your-own.md.")
    mapping = read_mapping(wanted.mapping)
    path = Path(wanted.source)
    if path.suffix.lower() in SUFFIXES and not path.exists():
        raise UsageError(f"{path}: no such file. Give {SOURCE}.")
    table = open_file(path) if path.is_file() else open_dataset(wanted.source, mapping.config, mapping.split)
    mapping = mapping.for_columns(table.columns, wanted.mapping)
    check_columns(mapping, table.columns, wanted.mapping)
    return Reading(
        _rows(table, mapping, wanted.lang),
        description=f"Cases from {path.name}, by the mapping {wanted.mapping.name}.",
        max_new_tokens=mapping.max_new_tokens,
        licence=table.licence or (licence_of(wanted.source) if path.exists() else None),
        limit=mapping.limit,
        total=table.total,
    )


def _rows(table: Table, mapping: RowMapping, lang: str | None) -> Iterator[RawCase | Dropped]:
    for row in table.rows:
        yield (
            row
            if isinstance(row, Dropped)
            else made_or_dropped(row.where, map_row, mapping, row.value, row.where, lang)
        )
