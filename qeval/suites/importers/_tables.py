"""Rows of tables: JSONL, JSON, CSV, TSV and Parquet files, and Hugging Face datasets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from qeval.errors import UsageError, did_you_mean
from qeval.jsonl import loads, read_text
from qeval.suites.importers._lines import Found, json_rows
from qeval.suites.importers.base import Dropped

SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
_PREFERRED_SPLIT = "test"


class Table(NamedTuple):
    """Rows, and the columns they may have."""

    rows: Iterator[Found | Dropped]
    columns: frozenset[str]
    total: int | None
    licence: str | None = None


def open_file(path: Path) -> Table:
    """Open a table in one file, by its suffix.

    Raises:
        UsageError: another suffix, or a damaged file.
    """
    readers = {".jsonl": _jsonl, ".json": _json, ".csv": _csv, ".tsv": _csv, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: files of this kind are not read. Allowed: {', '.join(SUFFIXES)}.")
    return reader(path)


def _of_rows(rows: list[Found | Dropped]) -> Table:
    columns = frozenset(key for row in rows if isinstance(row, Found) for key in row.value)
    return Table(iter(rows), columns, len(rows))


def _jsonl(path: Path) -> Table:
    return _of_rows(list(json_rows(path)))


def _json(path: Path) -> Table:
    try:
        content = loads(read_text(path))
    except ValueError as error:
        raise UsageError(f"{path}: not JSON ({error}).") from error
    if not isinstance(content, list):
        raise UsageError(
            f"{path}: holds no list of rows. Write a list of objects, or one object a line in a .jsonl file."
        )
    rows: list[Found | Dropped] = []
    for number, row in enumerate(content, start=1):
        where = f"{path.name}, row {number}"
        rows.append(Found(where, row) if isinstance(row, dict) else Dropped(where, "the row is no JSON object"))
    return _of_rows(rows)


def _csv(path: Path) -> Table:
    header, *lines = _cells(path) or [[]]
    if not header or len(set(header)) < len(header):
        raise UsageError(f"{path}: the first line must name the columns, each once.")
    rows: list[Found | Dropped] = []
    for number, cells in enumerate(lines, start=1):
        where = f"{path.name}, row {number}"
        if len(cells) == len(header):
            rows.append(Found(where, dict(zip(header, cells, strict=True))))
        else:
            rows.append(Dropped(where, "another number of cells than columns", f"{len(cells)} of {len(header)}"))
    return Table(iter(rows), frozenset(header), len(rows))


def _cells(path: Path) -> list[list[str]]:
    """Return the cells of all rows that are not blank.

    Raises:
        UsageError: quotes that do not match. Read on, they would swallow rows or change texts in silence.
    """
    text = read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(path, text), strict=True)
    # Documents are longer than the 131,072 characters that csv allows a cell.
    before = csv.field_size_limit(max(len(text), 1))
    try:
        return [cells for cells in reader if cells]
    except csv.Error as error:
        raise UsageError(
            f"{path}, line {reader.line_num}: not a table ({error}). A cell with quotes, line ends or the separator is "
            'written in quotes, and each quote inside it twice: "6"" pipe".'
        ) from error
    finally:
        csv.field_size_limit(before)


def _delimiter(path: Path, text: str) -> str:
    """Return what stands between cells; spreadsheets write ';' where the comma is the decimal sign."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    header = text.partition("\n")[0]
    return ";" if ";" in header and "," not in header else ","


def _parquet(path: Path) -> Table:
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (arrow.ArrowException, OSError) as error:
        raise UsageError(f"{path}: not a Parquet file ({error}).") from error

    names = file.schema_arrow.names
    if len(set(names)) < len(names):
        raise UsageError(f"{path}: two columns have one name ({', '.join(names)}). Rename one.")

    def rows() -> Iterator[Found | Dropped]:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=1_000):
                for row in batch.to_pylist():
                    number += 1
                    yield Found(f"{path.name}, row {number}", row)
        except (arrow.ArrowException, OSError, ValueError) as error:
            raise UsageError(f"{path}: cannot be read after row {number} ({error}). Write the file again.") from error

    return Table(rows(), frozenset(names), file.metadata.num_rows)


def open_dataset(source: str, config: str | None, split: str | None) -> Table:
    """Open one split of a Hugging Face dataset: an id of the hub, a folder of its files, or one that was saved to disk.

    Raises:
        UsageError: it cannot be loaded, or has no such split; the message names the splits there are.
    """
    splits = _splits(source, config)
    if split is None:
        split = _PREFERRED_SPLIT if _PREFERRED_SPLIT in splits else next(iter(splits))
        if len(splits) > 1 and split != _PREFERRED_SPLIT:
            raise UsageError(f"{source}: which split? Write `split:` into the mapping: {', '.join(sorted(splits))}.")
    if split not in splits:
        hint = did_you_mean(split, splits)
        raise UsageError(f"{source}: no split '{split}'.{hint} There is {', '.join(sorted(splits))}.")
    data = splits[split]
    names = data.column_names or list(next(_dataset_rows(source, data), {}))
    rows = (Found(f"{split}, row {number}", row) for number, row in enumerate(_dataset_rows(source, data), start=1))
    return Table(rows, frozenset(names), getattr(data, "num_rows", None), data.info.license or None)


def _dataset_rows(source: str, data: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - a Dataset, streamed or not
    import pyarrow as arrow
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield from map(dict, data)
    except (DatasetsError, HfHubHTTPError, arrow.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{source}: its rows cannot be read ({error}). Mend or fetch its files again.") from error


def _splits(source: str, config: str | None) -> dict[str, Any]:
    """Return the splits of a dataset; rows are read as they are asked for, and nothing is copied into a cache."""
    import datasets
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    saved = Path(source) / "dataset_info.json"
    try:
        if saved.is_file() or (Path(source) / "dataset_dict.json").is_file():
            loaded = datasets.load_from_disk(source)
            return dict(loaded) if isinstance(loaded, dict) else {str(loaded.split or "train"): loaded}
        return dict(datasets.load_dataset(source, config, streaming=True))
    except (DatasetsError, HfHubHTTPError, OfflineModeIsEnabled, OSError, ValueError) as error:
        raise UsageError(
            f"{source}: cannot be loaded as a Hugging Face dataset ({error}). Give a folder, an id of the hub, or a "
            f"file: {', '.join(SUFFIXES)}."
        ) from error
