"""A suite to begin with: three cases of different graders, written into a folder of the user's."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from qeval.errors import UsageError
from qeval.folders import names_in, write_folder
from qeval.strict import validate
from qeval.suites.case import SuiteHeader
from qeval.suites.load import list_suites

_FILES = ("suite.yaml", "cases.jsonl", "README.md")


def write_starter(name: str, folder: Path) -> list[Path]:
    """Write the starter under a name.

    Args:
        name: of the suite: small letters, digits, `-` and `_`.
        folder: where to; made where it does not exist.

    Returns:
        The files written.

    Raises:
        UsageError: the name cannot be a suite's or is a built-in one's, or the folder holds files already.
    """
    validate(SuiteHeader, {"name": name, "version": 1, "description": "-"}, f"suite name '{name}'")
    if name in {entry.name for entry in list_suites()}:
        raise UsageError(f"'{name}' is a built-in suite; records could not tell the two apart. Choose another name.")
    if folder.exists() and (not folder.is_dir() or names_in(folder)):
        raise UsageError(f"{folder}: is there already and not empty. Choose another place with --out.")
    source = resources.files(__name__)
    write_folder(folder, {file: (source / file).read_text("utf-8").replace("NAME", name) for file in reversed(_FILES)})
    return [folder / file for file in _FILES]
