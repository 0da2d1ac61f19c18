"""How many tokens a row may generate: the case's limit counts from where a thought closed, which has its own limit.

A thought that comes to its limit ends the row. It is not closed by force: tokens that the model did not choose would be
graded as its own, and a variant that thinks longer than another would be helped over it.
"""

from __future__ import annotations

from collections.abc import Sequence

from qeval.engines.base import Prompt
from qeval.engines.detokenize import Detokenizer
from qeval.marks import opening_of, thought_end

_WINDOW = 256
"""Tokens in which a closing mark is looked for: no token is less than a byte of it."""


class Limit:
    """The limit of one row; asked again and again while the row grows."""

    def __init__(self, prompt: Prompt, detokenizer: Detokenizer) -> None:
        """Take the limits of the prompt's case and of a thought, and whether the prompt opened one."""
        self._answer, self._thought = prompt.case.max_new_tokens, prompt.thought_tokens
        self._opening: str | None = (prompt.opened or None) if self._thought else ""
        self._text = detokenizer.text
        self._closed: int | None = None
        self._looked_at = 0

    def at(self, tokens: Sequence[int]) -> int:
        """Return how many tokens the row may have, with what it has generated so far."""
        if self._opening is None:
            self._opening = opening_of(self._text(tokens[:_WINDOW]))
        if self._opening is None:
            return max(self._answer, self._thought)
        if not self._opening:
            return self._answer
        closed = self._closed_at(tokens, self._opening)
        return self._thought if closed is None else closed + self._answer

    def _closed_at(self, tokens: Sequence[int], opening: str) -> int | None:
        """Return with how many of its tokens the row's thought was closed."""
        if self._closed is not None:
            return self._closed
        grown_by_one = len(tokens) == self._looked_at + 1
        self._looked_at = len(tokens)
        if thought_end(self._text(tokens[-_WINDOW:] if grown_by_one else tokens), opening) is None:
            return None
        low, high = (len(tokens), len(tokens)) if grown_by_one else (1, len(tokens))
        while low < high:
            middle = (low + high) // 2
            if thought_end(self._text(tokens[:middle]), opening) is None:
                low = middle + 1
            else:
                high = middle
        self._closed = low
        return low
