"""The languages of a source whose files are one language each, such as `mgsm_de.tsv`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from qeval.errors import UsageError

_TAG = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")


def by_language(files: Sequence[Path], pattern: str, lang: str | None) -> list[tuple[str, Path]]:
    r"""Return the files with their languages, in the order of the files.

    Args:
        files: the files of the source.
        pattern: a regular expression whose first group is the language in a file's name.
        lang: with one file its language; with several those that are wanted, separated by commas.

    Raises:
        UsageError: a language is no BCP 47 tag, is not there, or cannot be told from the file's name.

    >>> by_language([Path("mgsm_de.tsv"), Path("mgsm_fr.tsv")], r"mgsm_(\w+)", "fr")
    [('fr', PosixPath('mgsm_fr.tsv'))]
    """
    wanted = [part.strip() for part in lang.split(",")] if lang else []
    for part in wanted:
        if not _TAG.fullmatch(part):
            raise UsageError(f"--lang {lang}: '{part}' is no language tag. Write it like de, zh or pt-BR.")
    if len(files) == 1 and len(wanted) == 1:
        return [(wanted[0], files[0])]
    named = [(found[1], file) for file in files if (found := re.search(pattern, file.name)) is not None]
    there = sorted(language for language, _ in named)
    missing = [part for part in wanted if part not in there]
    if missing:
        raise UsageError(f"--lang {lang}: no file of '{missing[0]}'. There is {', '.join(there) or 'none'}.")
    if not named:
        raise UsageError(f"{files[0]}: the file's name does not tell its language. Say it with --lang, such as de.")
    return [(language, file) for language, file in named if not wanted or language in wanted]
