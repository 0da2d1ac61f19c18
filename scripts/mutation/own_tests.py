"""Which tests are a module's own: those named after it and those that import it; else those of its folder."""

from __future__ import annotations

import re
from pathlib import Path

_ENDS = {
    "compare": ("tests/cli/test_compare*.py",),
    "record": ("tests/cli/test_run_damaged.py",),
    "runner": ("tests/cli/test_run.py", "tests/cli/test_run_damaged.py"),
}
"""For a package of the decision path: tests of whole commands."""
_TOO_SLOW = re.compile(r"\Atests/(?:real|browser)/")


def own_tests(root: Path, module: str) -> tuple[str, ...]:
    """Return the test files of a module, those named after it first.

    Args:
        root: the repository.
        module: such as `qeval/compare/limits.py`.
    """
    path = Path(module)
    dotted = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    package, _, name = dotted.rpartition(".")
    imports = re.compile(rf"\b{re.escape(dotted)}\b|from {re.escape(package)} import [^\n]*\b{re.escape(name)}\b")
    files = [file for file in sorted((root / "tests").rglob("test_*.py")) if not _TOO_SLOW.match(_below(root, file))]
    named = [file for file in files if file.stem == f"test_{name.strip('_')}"]
    importing = [file for file in files if file not in named and imports.search(file.read_text(encoding="utf-8"))]
    return tuple(_below(root, file) for file in (*named, *importing)) or folder_tests(root, module)


def folder_tests(root: Path, module: str) -> tuple[str, ...]:
    """Return the folder of tests beside a module's, and for the decision path tests of whole commands."""
    folder = root / "tests" / Path(module).parent.relative_to("qeval")
    while not folder.is_dir():
        folder = folder.parent
    whole = [file for pattern in _ENDS.get(Path(module).parts[1], ()) for file in sorted(root.glob(pattern))]
    own = [folder] if folder != root / "tests" else sorted(folder.glob("test_*.py"))
    return tuple(_below(root, file) for file in (*own, *whole))


def _below(root: Path, file: Path) -> str:
    return file.relative_to(root).as_posix()
