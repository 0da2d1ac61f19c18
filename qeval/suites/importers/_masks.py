"""Masking of secrets and personal data: rules from YAML, one placeholder a value within a case.

Written here, since no kept library fits: presidio brings spaCy and a language model for what are patterns and
checksums; scrubadub and detect-secrets have had no release for two years.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import regex
from pydantic import Field, field_validator

from qeval.errors import UsageError
from qeval.jsonl import dumps
from qeval.strict import Strict, load_yaml
from qeval.suites.importers._mask_checks import ALIKE, CHECKS

BUILT_IN = Path(__file__).with_name("masks.yaml")
_TIMEOUT_S = 1.0
_PLACEHOLDER = regex.compile(r"<[A-Z][A-Z0-9_]*_\d+>")
_SHORTEST_REPEATED = 6
"""Shortest value that is also looked for where no rule finds it; shorter ones would be found inside words."""
_LONGEST_KEPT, _MOST_KEPT = 20_000, 20_000
"""Bounds of what is remembered as clean, in characters and texts."""
_SHORTEST_NUMBER = 7
"""Fewest digits of a JSON number that is held against the rules."""
_SHORTEST_HIDDEN_NUMBER = 4
"""Fewest characters of a JSON number that is hidden for its field's name, such as a PIN."""
_NUMBER = "a JSON number in it would have to be masked, and no placeholder is a number"


class CannotMaskError(ValueError):
    """A case holds what no placeholder can replace; the message is the reason."""


class Rule(Strict):
    """One kind of value to replace; see the head of masks.yaml."""

    name: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    hides: str = ""
    pattern: str = Field(min_length=1)
    keys: str | None = None
    check: Literal["luhn", "iban", "ip", "phone"] | None = None
    alike: Literal["text", "letters", "digits"] = "text"

    @field_validator("pattern", "keys")
    @classmethod
    def _is_a_pattern(cls, value: str | None) -> str | None:
        try:
            matches_nothing = value is not None and regex.compile(value).search("") is not None
        except regex.error as error:
            raise ValueError(f"not a pattern of the regex package: {error}") from error
        if matches_nothing:
            raise ValueError("matches an empty text, so it would match everywhere")
        return value


class Rules(Strict):
    """The content of a file of rules."""

    rules: tuple[Rule, ...]


def load_rules(extra: Path | None) -> tuple[Rule, ...]:
    """Return a person's rules, then the built-in ones whose names they do not take.

    Raises:
        UsageError: the file is faulty, or names a rule twice.
    """
    built_in = load_yaml(Rules, BUILT_IN).rules
    own = load_yaml(Rules, extra).rules if extra is not None else ()
    names = [rule.name for rule in own]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"{extra}: two rules are called {twice[0]}. Rename one.")
    return (*own, *(rule for rule in built_in if rule.name not in names))


class Masked(NamedTuple):
    """A value without what the rules hide."""

    value: Any
    counts: Counter[str]
    """Rule -> different values that were replaced."""


class Masks:
    """Rules made ready, and what they were found to leave alone: tools and system texts come again in every case."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.patterns = {rule.name: regex.compile(rule.pattern) for rule in rules}
        self.keys = {rule.name: regex.compile(rule.keys) for rule in rules if rule.keys is not None}
        self.clean: set[str] = set()
        """Texts in which no rule finds anything."""
        self.plain_fields: set[str] = set()
        """Names of fields whose text no rule replaces for the name's sake."""

    def mask(self, value: Any) -> Masked:  # noqa: ANN401 - any JSON value
        """Replace what the rules find in all texts of one case, keys included.

        The same value gets the same placeholder everywhere, and is replaced as well where no rule would find it (a
        password repeated without the word before it).

        Raises:
            CannotMaskError: a rule took too long, finds its like in a JSON number, or makes two keys one.
        """
        masker = _Masker(self, set(_PLACEHOLDER.findall(dumps(value))))
        masked = masker.repeated(masker.by_rules(value))
        return Masked(masked, Counter(rule for rule, _ in masker.names))


class _Masker:
    """The placeholders of one case."""

    def __init__(self, masks: Masks, taken: set[str]) -> None:
        self.masks = masks
        self.taken = taken
        """Placeholders that the source holds already; they keep their meaning."""
        self.names: dict[tuple[str, str], str] = {}
        self.found: dict[str, str] = {}
        """Value as it was written -> placeholder; without words, which "password: required" would spread."""

    def by_rules(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return self._object(value)
        if isinstance(value, list | tuple):
            return [self.by_rules(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            self._refuse_number(value)
        return value

    def _object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        masked = {self._text(key): self._field(key, item) for key, item in value.items()}
        if len(masked) < len(value):
            raise CannotMaskError("two keys of one object in it would get the same placeholder")
        return masked

    def repeated(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, str):
            return self._repeated_text(value)
        if isinstance(value, Mapping):
            return {key: self.repeated(item) for key, item in value.items()}
        return [self.repeated(item) for item in value] if isinstance(value, list) else value

    def _text(self, text: str) -> str:
        if text in self.masks.clean:
            return text
        masked = text
        for rule in self.masks.rules:
            with _in_time(rule):
                pattern = self.masks.patterns[rule.name]
                masked = pattern.sub(partial(self._replaced, rule), masked, timeout=_TIMEOUT_S)
        if masked == text and len(text) <= _LONGEST_KEPT and len(self.masks.clean) < _MOST_KEPT:
            self.masks.clean.add(text)
        return masked

    def _repeated_text(self, text: str) -> str:
        for value in sorted(self.found, key=len, reverse=True):
            if len(value) >= _SHORTEST_REPEATED and value in text:
                whole = rf"(?<![\p{{L}}\p{{N}}]){regex.escape(value)}(?![\p{{L}}\p{{N}}])"
                text = regex.sub(whole, self.found[value], text)
        return text

    def _field(self, key: str, item: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(item, list | tuple):
            return [self._field(key, part) for part in item]
        is_value = isinstance(item, str | int | float) and not isinstance(item, bool) and item != ""
        if not is_value or key in self.masks.plain_fields or _PLACEHOLDER.fullmatch(str(item)):
            return self.by_rules(item)
        for rule in self.masks.rules:
            with _in_time(rule):
                if rule.keys is not None and self.masks.keys[rule.name].fullmatch(key, timeout=_TIMEOUT_S):
                    return self._hidden_field(rule, item)
        if len(self.masks.plain_fields) < _MOST_KEPT:
            self.masks.plain_fields.add(key)
        return self.by_rules(item)

    def _hidden_field(self, rule: Rule, item: str | float) -> str | float:
        if isinstance(item, str):
            self.found[item] = self._placeholder(rule, item)
            return self.found[item]
        if len(str(item)) >= _SHORTEST_HIDDEN_NUMBER:
            raise CannotMaskError(_NUMBER)
        return item

    def _replaced(self, rule: Rule, found: regex.Match[str]) -> str:
        whole = found[0]
        value = found.groupdict().get("value") or whole
        genuine = CHECKS[rule.check](value) if rule.check else value
        if not genuine or _PLACEHOLDER.search(value):
            return whole
        start = whole.rindex(value)
        placeholder = self._placeholder(rule, genuine)
        if not genuine.isalpha():
            self.found[genuine] = placeholder
        return f"{whole[:start]}{placeholder}{whole[start + len(genuine) :]}"

    def _placeholder(self, rule: Rule, value: str) -> str:
        key = (rule.name, ALIKE[rule.alike](value))
        if key not in self.names:
            number = sum(name == rule.name for name, _ in self.names) + 1
            while f"<{rule.name}_{number}>" in self.taken:
                number += 1
            self.names[key] = f"<{rule.name}_{number}>"
            self.taken.add(self.names[key])
        return self.names[key]

    def _refuse_number(self, number: float) -> None:
        digits = str(int(number) if number == int(number) else number)
        if len(digits) >= _SHORTEST_NUMBER and self._text(digits) != digits:
            raise CannotMaskError(_NUMBER)


@contextmanager
def _in_time(rule: Rule) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise CannotMaskError(f"the masking rule {rule.name} takes over {_TIMEOUT_S:.0f} s on it") from error
