"""The files of a record: written so that a crash costs a line at most, read so that nothing damaged passes."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from qeval.errors import UsageError
from qeval.jsonl import append_text, complete_lines, dumps, loads, read_text, write_atomic
from qeval.outcome import Outcome
from qeval.record.header import CaseInfo, RecordHeader
from qeval.record.lines import (
    CHECK,
    SCHEMA_VERSION,
    DamagedLine,
    DamagedRecord,
    NewerLine,
    checksum,
    read_line,
    write_line,
    written_by_newer,
)
from qeval.record.versions import upgraded_header
from qeval.scored import ScoredAnswer
from qeval.strict import Strict, validate

T = TypeVar("T", bound=Strict)

RECORD_FILE = "record.json"
CASES_FILE = "cases.jsonl"
OUTCOMES_FILE = "outcomes.jsonl"
SCORED_FILE = "scored.jsonl"
JUDGEMENTS_FILE = "judgements.jsonl"
STATES_FOLDER = "states"
LINE_FILES = (CASES_FILE, OUTCOMES_FILE, SCORED_FILE, JUDGEMENTS_FILE)

OnDamage = Literal["refuse", "drop", "trust"]
"""What reading does with a line that is not what was written: refuse the record; leave the line out, to redo it; or
read it all the same, to say what was changed."""

_REDO = "Redo what is damaged with `qeval run ... --resume`, or restore the file."


class Record(NamedTuple):
    """A record read into memory."""

    header: RecordHeader
    cases: tuple[CaseInfo, ...]
    outcomes: tuple[Outcome, ...]
    scored: tuple[ScoredAnswer, ...] = ()

    def again(self) -> dict[tuple[str, str], tuple[Outcome, ...]]:
        """Return the outcomes of all repeats but the first by (suite, case id), in the order of repeats."""
        found: dict[tuple[str, str], list[Outcome]] = {}
        for outcome in sorted((o for o in self.outcomes if o.repeat > 0), key=lambda o: o.repeat):
            found.setdefault((outcome.suite, outcome.case), []).append(outcome)
        return {key: tuple(outcomes) for key, outcomes in found.items()}

    def by_case(self, repeat: int = 0) -> dict[tuple[str, str], Outcome]:
        """Return the outcomes of one repeat by (suite, case id)."""
        return {(o.suite, o.case): o for o in self.outcomes if o.repeat == repeat}


def save_header(folder: Path, header: RecordHeader) -> None:
    """Write `record.json` by atomic rename, with a check over its content."""
    value = header.model_dump(mode="json")
    write_atomic(folder / RECORD_FILE, dumps({**value, CHECK: _header_check(value)}, indent=1) + "\n")


def seal(folder: Path, header: RecordHeader) -> None:
    """Write the header of a complete record, with the digests of all its files as they are now."""
    save_header(folder, header.model_copy(update={"state": "complete", "content": content_digests(folder)}))


def save_record(folder: Path, record: Record) -> None:
    """Write a whole record into a folder, sealed where its header calls it complete."""
    folder.mkdir(parents=True, exist_ok=True)
    save_lines(folder / CASES_FILE, record.cases)
    save_lines(folder / OUTCOMES_FILE, record.outcomes)
    if record.scored:
        save_lines(folder / SCORED_FILE, record.scored)
    (seal if record.header.state == "complete" else save_header)(folder, record.header)


def save_lines(path: Path, values: Iterable[Strict]) -> None:
    """Write a file of lines by atomic rename."""
    write_atomic(path, "".join(f"{write_line(value)}\n" for value in values))


def add_lines(path: Path, values: Iterable[Strict]) -> None:
    """Append lines in one write, flushed to disk before returning."""
    append_text(path, "".join(f"{write_line(value)}\n" for value in values))


def load_header(folder: Path) -> RecordHeader:
    """Read the header of a record.

    Raises:
        DamagedRecord: it is not what was written.
        UsageError: no record there, or one that a newer qeval wrote.
    """
    path = folder / RECORD_FILE
    if not path.is_file():
        raise UsageError(f"{folder}: no record there ({RECORD_FILE} is missing).")
    value = _header_object(path)
    schema, check = value.get("schema_version"), value.pop(CHECK, None)
    if not isinstance(schema, int) or schema < 1:
        raise DamagedRecord(f"{path}: damaged (schema version {schema!r}). {_REDO}")
    if schema > SCHEMA_VERSION:
        raise UsageError(f"{path}: {written_by_newer(schema)}.")
    further = value.keys() - RecordHeader.model_fields.keys()
    if further and not RecordHeader.model_fields.keys() - value.keys():
        raise UsageError(f"{path}: {written_by_newer(schema, f' with the key {sorted(further)[0]!r}')}.")
    if schema > 1 and check != _header_check(value):
        raise DamagedRecord(f"{path}: changed after it was written: its check does not hold. {_REDO}")
    return validate(RecordHeader, upgraded_header(value, schema), str(path))


def load_outcomes(folder: Path, damaged: OnDamage = "refuse") -> list[Outcome]:
    """Read the outcomes written so far; a torn last line is dropped, a case that is there twice is an error.

    Raises:
        DamagedRecord: a line is not what was written, unless `damaged` says otherwise.
        UsageError: a newer qeval wrote it.
    """
    path = folder / OUTCOMES_FILE
    outcomes = list(read_file(path, Outcome, schema_of(folder), damaged))
    seen = Counter((o.suite, o.case, o.repeat) for o in outcomes)
    twice = [key for key, count in seen.items() if count > 1]
    if twice:
        suite, case, repeat = twice[0]
        raise DamagedRecord(f"{path}: {seen[twice[0]]} lines for case '{case}' of {suite}, repeat {repeat}. {_REDO}")
    return outcomes


def load_scored(folder: Path, damaged: OnDamage = "refuse") -> tuple[ScoredAnswer, ...]:
    """Read what was scored so far, nothing where the record has no such file; a torn last line is dropped."""
    return tuple(read_file(folder / SCORED_FILE, ScoredAnswer, schema_of(folder), damaged))


def load_record(folder: Path) -> Record:
    """Read a whole record; a complete one must be what was written, byte by byte.

    Raises:
        DamagedRecord: a file is missing or not what was written; the message names file and line.
        UsageError: no record there, or a newer qeval wrote it.
    """
    header = load_header(folder)
    for name in (CASES_FILE, OUTCOMES_FILE):
        if not (folder / name).is_file():
            raise DamagedRecord(f"{folder}: {name} is missing. {_REDO}")
    cases = tuple(read_file(folder / CASES_FILE, CaseInfo, header.schema_version))
    outcomes = tuple(load_outcomes(folder))
    scored = load_scored(folder)
    known = {(case.suite, case.case) for case in cases}
    for outcome in outcomes:
        if (outcome.suite, outcome.case) not in known:
            where = f"{folder / OUTCOMES_FILE}: case '{outcome.case}' of {outcome.suite}"
            raise DamagedRecord(f"{where} is not in {CASES_FILE}. {_REDO}")
    if changed := changed_files(folder, header, LINE_FILES):
        raise DamagedRecord(f"{folder / changed[0]}: not what it was when the run ended: lines are missing. {_REDO}")
    return Record(header, cases, outcomes, scored)


def read_file(path: Path, kind: type[T], schema: int, damaged: OnDamage = "refuse") -> Iterator[T]:
    """Yield the values of a file of lines; nothing where there is no such file, and a torn last line is dropped.

    Raises:
        DamagedRecord: a line is not what was written, unless `damaged` says otherwise.
        UsageError: a newer qeval wrote it.
    """
    for number, text in complete_lines(path):
        try:
            value = read_line(kind, text, schema, trust=damaged == "trust")
        except NewerLine as error:
            raise UsageError(f"{path}, line {number}: {error}.") from error
        except DamagedLine as error:
            if damaged == "drop":
                continue
            raise DamagedRecord(f"{path}, line {number}{_case_in(text)}: damaged ({error}). {_REDO}") from error
        yield value


def _case_in(text: str) -> str:
    """Return which case a damaged line seems to be of, for people; nothing where that cannot be told."""
    try:
        value = loads(text)
        return f" (case '{value['case']}' of {value['suite']})"
    except (ValueError, KeyError, TypeError):
        return ""


def schema_of(folder: Path) -> int:
    """Return the schema that a record's lines are written in."""
    return load_header(folder).schema_version


def content_digests(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file that belongs to a record's result, by its name in the folder."""
    found = [folder / name for name in LINE_FILES if (folder / name).is_file()]
    found += sorted(path for path in (folder / STATES_FOLDER).glob("*") if path.suffix != ".tmp")
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in found}


def changed_files(folder: Path, header: RecordHeader, names: Sequence[str] | None = None) -> list[str]:
    """Return the files of a sealed record that are missing or not what they were; all of them, or the named ones."""
    content = header.content or {}
    looked_at = [name for name in content if names is None or name in names]
    return [name for name in looked_at if not (folder / name).is_file() or file_digest(folder / name) != content[name]]


def file_digest(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _header_object(path: Path) -> dict[str, Any]:
    try:
        value = loads(read_text(path))
    except (ValueError, UsageError) as error:
        raise DamagedRecord(f"{path}: damaged ({error}). {_REDO}") from error
    if not isinstance(value, dict):
        raise DamagedRecord(f"{path}: damaged (it holds no JSON object). {_REDO}")
    return value


def _header_check(value: dict[str, Any]) -> str:
    return checksum(dumps(value), SCHEMA_VERSION)


def folder_name(variant: str) -> str:
    """Return a file name for a variant: readable, legal everywhere, different for different variants.

    >>> folder_name("nf4"), folder_name("nf4+keep=lm_head")
    ('nf4', 'nf4+keep=lm_head')
    >>> folder_name("bf16+draft=a/b")
    'bf16+draft=a_b-e19c68ca'
    """
    clean = re.sub(r"[^A-Za-z0-9+=._-]", "_", variant)[:100]
    if clean == variant and not clean.startswith("."):
        return clean
    return f"{clean.lstrip('.')}-{hashlib.sha256(variant.encode()).hexdigest()[:8]}"
