"""Find suites and load them, with everything a person wrote checked before any model is loaded.

A suite is one of

* a built-in one, named: a folder shipped with qeval;
* a folder with `suite.yaml` (a `SuiteHeader`) and `cases.jsonl`, or a generator file with
  `generate(size, seed) -> list of cases`;
* a single `.jsonl` file of cases.

A generator is Python code and runs with the rights of whoever starts qeval. It is imported only from built-in
suites and from folders that the user names. It may import the Python files beside it (`from .turns import Turn`).
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

from qeval.errors import UsageError, unknown_name
from qeval.jsonl import dumps, loads, read_lines
from qeval.strict import load_yaml
from qeval.suites.case import Case, Size, Suite, SuiteHeader
from qeval.suites.check import RawCase, check_cases, refuse_half_characters
from qeval.suites.foreign_code import foreign_code

HEADER_FILE = "suite.yaml"
CASES_FILE = "cases.jsonl"


class PlacedSuite(NamedTuple):
    """A suite, and where each of its cases stands: file and line, or the generator and the case's number."""

    suite: Suite
    places: tuple[str, ...]


class SuiteEntry(NamedTuple):
    """A built-in suite: where it lies and what its header says."""

    name: str
    folder: Path
    header: SuiteHeader


def builtin_folder() -> Path:
    """Return the folder of the built-in suites: inside the installed package, else beside it in a checkout.

    Raises:
        UsageError: neither exists, so the installation is damaged.
    """
    package = Path(str(resources.files("qeval")))
    for folder in (package / "builtin_suites", package.parent / "suites"):
        if folder.is_dir():
            return folder
    raise UsageError(f"{package}: the built-in suites are missing. Install qeval again.")


def list_suites() -> list[SuiteEntry]:
    """Return the built-in suites by name, without loading their cases."""
    folders = sorted(path.parent for path in builtin_folder().glob(f"*/{HEADER_FILE}"))
    return [SuiteEntry(folder.name, folder, load_yaml(SuiteHeader, folder / HEADER_FILE)) for folder in folders]


def find(name: str | Path) -> Path:
    """Return the folder or `.jsonl` file that a suite is called by.

    A built-in name comes first; write `./name` for a folder of the same name.

    Raises:
        UsageError: no built-in suite, folder or file is called so.
    """
    names = [path.parent.name for path in builtin_folder().glob(f"*/{HEADER_FILE}")]
    if str(name) in names:
        return builtin_folder() / name
    path = Path(name)
    if path.name == HEADER_FILE and path.is_file():
        return path.parent
    if path.is_dir() or path.is_file():
        return path
    if path.suffix or "/" in str(name) or isinstance(name, Path):
        raise UsageError(f"{path}: no such suite folder or file. Built-in suites: {', '.join(sorted(names))}.")
    raise unknown_name("suite", str(name), names)


def load_suite(name: str | Path, size: Size = "smoke") -> Suite:
    """Load one suite at one size.

    Args:
        name: a built-in suite, a folder with `suite.yaml`, or a `.jsonl` file of cases.
        size: passed to a generator; a suite that lists its cases in a file is the same at every size.

    Raises:
        UsageError: the suite is unknown, empty or faulty; up to ten faults are named, each with file, line and id.
    """
    return load_placed(name, size).suite


def load_placed(name: str | Path, size: Size = "smoke") -> PlacedSuite:
    """Load one suite as `load_suite` does, with the place of each case."""
    path = find(name)
    if path.is_file():
        return _suite_of_file(path, size)
    header_path = path / HEADER_FILE
    if not header_path.is_file():
        raise UsageError(f"{path}: holds no {HEADER_FILE}. A suite is a folder with {HEADER_FILE}, or a .jsonl file.")
    header = load_yaml(SuiteHeader, header_path)
    raw = _generated(path, header, size) if header.generator else _listed(path / CASES_FILE)
    cases = check_cases(raw, str(path), header.max_new_tokens)
    suite = Suite(
        name=header.name, version=header.version, description=header.description, size=size, cases=tuple(cases)
    )
    return PlacedSuite(suite, tuple(item.where for item in raw))


def load_suites(names: Literal["all"] | str | Sequence[str | Path], size: Size = "smoke") -> list[Suite]:
    """Load several suites, in the order given.

    Args:
        names: `all` for every built-in suite, names separated by commas, or a sequence of names and paths.
        size: the size of each.

    Raises:
        UsageError: no suite is named, two suites share a name, or one of them is faulty.
    """
    chosen: Sequence[str | Path]
    if names == "all":
        chosen = [entry.name for entry in list_suites()]
    else:
        chosen = [part.strip() for part in names.split(",") if part.strip()] if isinstance(names, str) else names
    if not chosen:
        raise UsageError("no suite is named. Write 'all', or names such as 'longdoc,schema'.")
    suites = [load_suite(name, size) for name in chosen]
    seen: dict[str, str | Path] = {}
    for suite, source in zip(suites, chosen, strict=True):
        if suite.name in seen:
            raise UsageError(f"two suites are called '{suite.name}': {seen[suite.name]} and {source}. Rename one.")
        seen[suite.name] = source
    return suites


def select(suites: Sequence[Suite], tags: Mapping[str, str]) -> list[Suite]:
    """Keep the cases that carry all the given tag values, and the suites that still have cases.

    Raises:
        UsageError: no case matches; the message lists the values there are.
    """

    def matches(case: Case) -> bool:
        return all(case.tags.get(key) == value for key, value in tags.items())

    kept = [suite.model_copy(update={"cases": tuple(filter(matches, suite.cases))}) for suite in suites]
    kept = [suite for suite in kept if suite.cases]
    if kept:
        return kept
    wanted = ",".join(f"{key}={value}" for key, value in tags.items())
    cases = [case for suite in suites for case in suite.cases]
    values = {key: sorted({case.tags[key] for case in cases if key in case.tags}) for key in tags}
    there = "; ".join(f"{key}: {', '.join(found) or 'no such tag'}" for key, found in values.items())
    raise UsageError(f"no case matches {wanted}, of {len(cases)} in {len(suites)} suites. There is {there}.")


def _suite_of_file(path: Path, size: Size) -> PlacedSuite:
    if path.suffix != ".jsonl":
        raise UsageError(f"{path}: not a suite. A suite is a folder with {HEADER_FILE}, or a .jsonl file of cases.")
    raw = _listed(path)
    cases = check_cases(raw, str(path), None)
    suite = Suite(name=path.stem, version=1, description=f"cases of {path.name}", size=size, cases=tuple(cases))
    return PlacedSuite(suite, tuple(item.where for item in raw))


def _listed(path: Path) -> list[RawCase]:
    return [RawCase(f"{path}, line {line.number}", line.value) for line in read_lines(path)]


def _generated(folder: Path, header: SuiteHeader, size: Size) -> list[RawCase]:
    path = folder / str(header.generator)
    if path.parent != folder or not path.is_file():
        raise UsageError(
            f"{folder / HEADER_FILE}: key 'generator': no file '{header.generator}' in the suite's own folder."
        )
    with foreign_code(path) as at:
        cases = _generate_function(path, header.name)(size, header.seed)
        if not isinstance(cases, list):
            raise UsageError(f"{path}: generate() must return a list of cases, not {type(cases).__name__}.")
        raw = []
        for number, case in enumerate(cases, start=1):
            at.case = f"{path}, generated case {number}"
            # Before it is written, which would join two halves that stand beside each other.
            refuse_half_characters(case, at.case)
            # Plain values from here on: what a generator returns may be objects of classes of its own.
            raw.append(RawCase(at.case, loads(dumps(case, sort=False))))
    return raw


def _generate_function(path: Path, name: str) -> Any:  # noqa: ANN401 - a function of code that is not ours
    # Loaded as a package of its own, so that a generator can import the files beside it: `from .turns import Turn`.
    package = f"qeval_generator_{name.replace('-', '_')}_{hashlib.sha256(str(path.parent).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(package, path, submodule_search_locations=[str(path.parent)])
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: a generator must be a Python file (.py).")
    for stale in [known for known in sys.modules if known.split(".")[0] == package]:
        del sys.modules[stale]
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)
    function = getattr(module, "generate", None)
    if not callable(function):
        raise UsageError(f"{path}: has no function generate(size, seed) that returns a list of cases.")
    return function
