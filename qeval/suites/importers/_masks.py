"""Masking of secrets and personal data: one placeholder a value within a case.

Written here, since no kept library fits: presidio brings spaCy and a language model for what are patterns and
checksums; scrubadub and detect-secrets have had no release for two years. Check digits of states' numbers are those of
python-stdnum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import regex

from qeval.jsonl import dumps
from qeval.sensitive.checks import ALIKE
from qeval.sensitive.normal import Normal, normalise
from qeval.sensitive.rules import CREDENTIALS, PERSONAL, Finder, Found, Rule, built_in, finders, own_rules

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


def load_rules(extra: Path | None) -> tuple[Rule, ...]:
    """Return a person's rules, then the built-in ones whose names they do not take.

    Raises:
        UsageError: the file is faulty, or names a rule twice.
    """
    own = own_rules(extra) if extra is not None else ()
    names = {rule.name for rule in own}
    return (*own, *(rule for rule in (*built_in(CREDENTIALS), *built_in(PERSONAL)) if rule.name not in names))


class Masked(NamedTuple):
    """A value without what the rules hide."""

    value: Any
    counts: Counter[str]
    """Rule -> different values that were replaced."""


class Masks:
    """Rules made ready, and what they were found to leave alone: tools and system texts come again in every case."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.finders = finders(rules)
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
        """Value in its normal form -> placeholder; without words, which `secret = "required"` would spread."""

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
        masked, normal = text, normalise(text)
        for finder in self.masks.finders:
            found = self._in_time(finder, masked, normal)
            if found:
                masked = _replaced(masked, found, partial(self._placeholder_of, finder.rule))
                normal = normalise(masked)
        if masked == text and len(text) <= _LONGEST_KEPT and len(self.masks.clean) < _MOST_KEPT:
            self.masks.clean.add(text)
        return masked

    def _in_time(self, finder: Finder, text: str, normal: Normal) -> list[Found]:
        with _time_limit(finder.rule):
            found = finder.find(text, normal, _TIMEOUT_S)
        return [one for one in found if not _PLACEHOLDER.search(text[one.start : one.end])]

    def _placeholder_of(self, rule: Rule, found: Found) -> str:
        placeholder = self._placeholder(rule, found.value)
        if not found.value.isalpha():
            self.found[found.value] = placeholder
        return placeholder

    def _repeated_text(self, text: str) -> str:
        for value in sorted(self.found, key=len, reverse=True):
            normal = normalise(text)
            if len(value) >= _SHORTEST_REPEATED and value in normal.text:
                whole = rf"(?<![\p{{L}}\p{{N}}]){regex.escape(value)}(?![\p{{L}}\p{{N}}])"
                spans = (normal.source_span(*match.span()) for match in regex.finditer(whole, normal.text))
                text = _replaced(text, [Found(*span, value) for span in spans], lambda one: self.found[one.value])
        return text

    def _field(self, key: str, item: Any) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(item, list | tuple):
            return [self._field(key, part) for part in item]
        is_value = isinstance(item, str | int | float) and not isinstance(item, bool) and item != ""
        if not is_value or key in self.masks.plain_fields or _PLACEHOLDER.fullmatch(str(item)):
            return self.by_rules(item)
        for finder in self.masks.finders:
            with _time_limit(finder.rule):
                if finder.hides_field(key, _TIMEOUT_S):
                    return self._hidden_field(finder.rule, item)
        if len(self.masks.plain_fields) < _MOST_KEPT:
            self.masks.plain_fields.add(key)
        return self.by_rules(item)

    def _hidden_field(self, rule: Rule, item: str | float) -> str | float:
        if isinstance(item, str):
            value = normalise(item).text or item
            self.found[value] = self._placeholder(rule, value)
            return self.found[value]
        if len(str(item)) >= _SHORTEST_HIDDEN_NUMBER:
            raise CannotMaskError(_NUMBER)
        return item

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


def _replaced(text: str, found: Iterable[Found], with_what: Callable[[Found], str]) -> str:
    """Return a text with finds, in order and without overlap, replaced; everything else stays as it was written."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], with_what(one)]
        at = one.end
    return "".join([*parts, text[at:]])


@contextmanager
def _time_limit(rule: Rule) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise CannotMaskError(f"the masking rule {rule.name} takes over {_TIMEOUT_S:.0f} s on it") from error
