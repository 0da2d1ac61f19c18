"""What is known of languages: their tags, the scripts they are written in, and their close relatives."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from qeval.strict import Strict, load_yaml


class _Table(Strict):
    """The content of languages.yaml; names in one text are separated by blanks."""

    scripts: dict[str, str]
    by_script_alone: dict[str, str]
    aliases: dict[str, str]
    varieties: dict[str, str]
    subtags: dict[str, str]
    regions: dict[str, str]
    english_in_sentences: str
    within_names: str
    close: tuple[dict[str, str], ...]


class Target(NamedTuple):
    """The language asked for and the scripts an answer in it may use."""

    language: str
    """ISO 639 code as this folder uses it."""
    scripts: frozenset[str]
    """Unicode names of the scripts."""
    told: frozenset[str]
    """Those of them in which the model knows the language; in the others the script alone is judged."""
    characters: str | None
    """`Hans` or `Hant` where the tag asks for simplified or traditional characters."""


@cache
def _table() -> _Table:
    return load_yaml(_Table, Path(__file__).parent / "languages.yaml")


def _scripts_of(language: str, table: dict[str, str]) -> frozenset[str]:
    return frozenset(script for script, names in table.items() if language in names.split())


@cache
def known_languages() -> frozenset[str]:
    """Return the codes of all languages that can be asked for."""
    tables = (_table().scripts, _table().by_script_alone)
    return frozenset(name for table in tables for names in table.values() for name in names.split())


def known_scripts() -> tuple[str, ...]:
    """Return the Unicode names of all scripts."""
    return tuple(dict.fromkeys([*_table().scripts, *_table().by_script_alone]))


def canonical(language: str) -> str:
    """Return the code used here for a BCP 47 tag.

    >>> canonical("no"), canonical("pt-BR")
    ('nb', 'pt')
    """
    base = language.replace("_", "-").split("-")[0].lower()
    return _table().aliases.get(base, base)


@cache
def target(tag: str) -> Target:
    """Return what a BCP 47 tag asks for; its script subtag, or a region that implies one, limits the scripts.

    >>> target("sr-Latn").scripts == {"Latin"}, target("zh-TW").characters, target("bo").told == frozenset()
    (True, 'Hant', True)

    Raises:
        KeyError: the language or the script subtag is unknown.
    """
    base, *rest = tag.replace("_", "-").split("-")
    language = canonical(base)
    if language not in known_languages():
        raise KeyError(base)
    told = _scripts_of(language, _table().scripts)
    region = next((_table().regions.get(f"{language}-{part.upper()}") for part in rest if len(part) == 2), None)
    subtag = next((part.title() for part in rest if len(part) == 4 and part.isalpha()), region)
    characters = subtag if subtag in {"Hans", "Hant"} else None
    if subtag is None:
        return Target(language, told or _scripts_of(language, _table().by_script_alone), told, None)
    wanted = frozenset(_table().subtags[subtag].split())
    return Target(language, wanted, wanted & told, characters)


@cache
def english_in_sentences() -> frozenset[str]:
    """Return English words that are part of sentences, but hardly of names and technical terms."""
    return frozenset(_table().english_in_sentences.split())


@cache
def within_names() -> frozenset[str]:
    """Return small words within names in Latin letters."""
    return frozenset(_table().within_names.split())


def variety_of(label: str) -> str:
    """Return the language that a name given by the model belongs to."""
    return _table().varieties.get(label, label)


@cache
def close_to(language: str) -> frozenset[str]:
    """Return the language with those that the model cannot tell from it."""
    for group in _table().close:
        names = frozenset(name for key in group for name in key.split())
        if language in names:
            return names
    return frozenset({language})


@cache
def telling_words(language: str) -> dict[str, frozenset[str]]:
    """Return the words that tell close languages apart, by the languages that use them; empty where none is close."""
    groups = (group for group in _table().close if language in close_to(language) & set(" ".join(group).split()))
    return {names: frozenset(words.split()) for group in groups for names, words in group.items()}
