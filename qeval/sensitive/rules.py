"""Rules for what must not be passed on: patterns and checks from YAML, and where they find something in a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import regex
from pydantic import BeforeValidator, Field, field_validator

from qeval.errors import UsageError
from qeval.sensitive.checks import genuine, known
from qeval.sensitive.normal import Normal, normalise
from qeval.strict import Strict, load_yaml

CREDENTIALS = Path(__file__).with_name("credentials.yaml")
"""What opens something: keys, passwords, logins in addresses."""
PERSONAL = Path(__file__).with_name("personal.yaml")
"""What names or reaches a person."""


OneOrMore = Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)]
"""A text, or a list of them."""


class Rule(Strict):
    """One kind of value to replace; see the head of credentials.yaml."""

    name: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    hides: str = ""
    needs: str | None = None
    pattern: OneOrMore
    keys: str | None = None
    check: OneOrMore | None = None
    alike: Literal["text", "letters", "digits"] = "text"

    @field_validator("pattern", "keys", "needs")
    @classmethod
    def _are_patterns(cls, value: tuple[str, ...] | str | None) -> tuple[str, ...] | str | None:
        for pattern in (value,) if isinstance(value, str) else value or ():
            try:
                matches_nothing = regex.compile(pattern).search("") is not None
            except regex.error as error:
                raise ValueError(f"not a pattern of the regex package: {error}") from error
            if matches_nothing:
                raise ValueError("matches an empty text, so it would match everywhere")
        return value

    @field_validator("check")
    @classmethod
    def _are_checks(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if value is None else tuple(map(known, value))


class Rules(Strict):
    """The content of a file of rules."""

    rules: tuple[Rule, ...]


@cache
def built_in(file: Path) -> tuple[Rule, ...]:
    """Return the rules of CREDENTIALS or PERSONAL."""
    return load_yaml(Rules, file).rules


def own_rules(file: Path) -> tuple[Rule, ...]:
    """Read a person's own rules.

    Raises:
        UsageError: the file is faulty, or names a rule twice.
    """
    own = load_yaml(Rules, file).rules
    names = [rule.name for rule in own]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"{file}: two rules are called {twice[0]}. Rename one.")
    return own


class Found(NamedTuple):
    """A value in a text."""

    start: int
    """In the text as it was written."""
    end: int
    value: str
    """In its normal form."""


class Finder:
    """A rule made ready."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._patterns = [regex.compile(pattern) for pattern in rule.pattern]
        self._needs = None if rule.needs is None else regex.compile(rule.needs)
        self._keys = None if rule.keys is None else regex.compile(rule.keys)

    def find(self, text: str, normal: Normal, timeout_s: float) -> list[Found]:
        """Return what the rule finds in a text, in order and without overlap.

        It looks at the text as it was written and in its normal form; what it finds in both is one find.

        Raises:
            TimeoutError: it took too long.
        """
        texts = (normal.text,) if normal.text == text else (normal.text, text)
        if self._needs is not None and not any(self._needs.search(one, timeout=timeout_s) for one in texts):
            return []
        found = list(self._in(normal, timeout_s))
        if normal.text != text:
            found += self._in(Normal(text, None, None), timeout_s)
        merged: list[Found] = []
        for one in sorted(found, key=lambda one: (one.start, -one.end)):
            if merged and one.start < merged[-1].end:
                last = merged[-1]
                longer = max(last, one, key=lambda one: one.end - one.start)
                merged[-1] = Found(last.start, max(last.end, one.end), longer.value)
            else:
                merged.append(one)
        return merged

    def _in(self, normal: Normal, timeout_s: float) -> Iterator[Found]:
        for match in (m for p in self._patterns for m in p.finditer(normal.text, timeout=timeout_s)):
            part = "value" if match.groupdict().get("value") else 0
            start, whole = match.start(part), match[part]
            value = self._genuine(match, whole)
            if value:
                yield Found(*normal.source_span(start, start + len(value)), value)

    def _genuine(self, match: regex.Match[str], value: str) -> str:
        if self.rule.check is None:
            return value
        return next(filter(None, (genuine(check, match, value) for check in self.rule.check)), "")

    def hides_field(self, name: str, timeout_s: float) -> bool:
        """Return whether the whole value of a JSON field of this name is hidden.

        Raises:
            TimeoutError: it took too long.
        """
        return self._keys is not None and self._keys.fullmatch(normalise(name).text, timeout=timeout_s) is not None


def finders(rules: Sequence[Rule]) -> list[Finder]:
    """Make rules ready, in their order."""
    return [Finder(rule) for rule in rules]
