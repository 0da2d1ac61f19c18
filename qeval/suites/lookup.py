"""Find one case by what a person calls it: `SUITE/CASE-ID`, or a JSON file with one case."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from qeval.errors import UsageError, did_you_mean
from qeval.jsonl import loads, read_text
from qeval.suites.case import Case, Size, Suite
from qeval.suites.check import RawCase, check_cases
from qeval.suites.load import CASES_FILE, HEADER_FILE, find, list_suites, load_suite


class FoundCase(NamedTuple):
    """A case and the name of its suite."""

    suite: str
    case: Case


class Cases:
    """Cases by name; each suite is loaded once, so that thousands of lines may name it."""

    def __init__(self, size: Size) -> None:
        """Prepare to look cases up in suites at one size."""
        self._size = size
        self._suites: dict[str, Suite] = {}
        self._cases: dict[str, dict[str, Case]] = {}

    def find(self, name: str) -> FoundCase:
        """Return the case of a name: `SUITE/CASE-ID` or a `.json` file with one case.

        Raises:
            UsageError: no such suite, case or file, or it is faulty.
        """
        if name.endswith(".json") and Path(name).is_file():
            return FoundCase(Path(name).stem, read_case(Path(name)))
        suite, case_id = split_name(name)
        return self.find_in(suite, case_id)

    def find_in(self, suite_name: str, case_id: str) -> FoundCase:
        """Return the case with an id in a suite, a built-in name, a folder or a `.jsonl` file.

        Raises:
            UsageError: the suite is unknown or faulty, or has no such case at this size.
        """
        if suite_name not in self._suites:
            suite = load_suite(suite_name, self._size)
            self._suites[suite_name] = suite
            self._cases[suite_name] = {case.id: case for case in suite.cases}
        suite, cases = self._suites[suite_name], self._cases[suite_name]
        if case_id not in cases:
            raise UsageError(
                f"suite '{suite.name}' has no case '{case_id}' at size {self._size}.{did_you_mean(case_id, cases)} "
                f"List its cases: qeval suites show {suite_name} --size {self._size}"
            )
        return FoundCase(suite.name, cases[case_id])


def is_suite(name: str) -> bool:
    """Whether a name is a whole suite's: a built-in one, a folder or a `.jsonl` file.

    >>> is_suite("schema"), is_suite("schema/schema-0001")
    (True, False)
    """
    path = Path(name)
    return path.is_dir() or path.suffix in {".jsonl", ".yaml"} or not ("/" in name or path.suffix == ".json")


def split_name(name: str) -> tuple[str, str]:
    """Cut `SUITE/CASE-ID` where the suite ends; the suite may be a path and the id may hold '/'.

    Raises:
        UsageError: nothing before a '/' is a suite.

    >>> split_name("schema/schema-0001")
    ('schema', 'schema-0001')
    """
    builtin = {entry.name for entry in list_suites()}
    ends = [index for index, letter in enumerate(name) if letter == "/" and 0 < index < len(name) - 1]
    for end in reversed(ends):
        path = Path(name[:end])
        if name[:end] in builtin or path.is_file() or (path / HEADER_FILE).is_file():
            return name[:end], name[end + 1 :]
    if ends:
        # Names the suite that is missing, and those there are.
        find(name[: ends[0]] if name[: ends[0]] not in {".", ".."} else name)
    raise UsageError(
        f"{name}: not a case. Write SUITE/CASE-ID, where SUITE is one of {', '.join(sorted(builtin))}, a folder with "
        f"{HEADER_FILE} or a .jsonl file; or a .json file with one case as in {CASES_FILE}."
    )


def read_case(path: Path) -> Case:
    """Read a JSON file with one case, in the long or the short form.

    Raises:
        UsageError: unreadable, not JSON, or a faulty case.
    """
    try:
        value = loads(read_text(path))
    except ValueError as error:
        raise UsageError(f"{path}: not JSON ({error}).") from error
    (case,) = check_cases([RawCase(str(path), value)], str(path), None)
    return case
