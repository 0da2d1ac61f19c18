"""From generated tokens to what the model said: special tokens stay, since they mark calls and thoughts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from qeval.marks import turn_end_tokens

_BROKEN = "\ufffd"
_MOST_BYTES_CUT = 3
"""Most tokens that a character cut by the limit can have left: it has four bytes, and a token holds one at least."""


class Words(NamedTuple):
    """The text of an answer."""

    text: str
    """Up to the first token that ends a turn, without padding, special tokens among it."""
    special: tuple[str, ...]
    """The special tokens in the text, each once."""
    turn_ended: bool
    """Whether a special token ended the turn that the model's settings do not name among its end tokens."""


class Detokenizer:
    """Turns tokens into text with one tokenizer."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers is untyped
        """Look up the tokenizer's special tokens."""
        self._tokenizer = tokenizer
        added = {int(token): str(entry) for token, entry in tokenizer.added_tokens_decoder.items()}
        special = {int(token) for token, entry in tokenizer.added_tokens_decoder.items() if entry.special}
        special.update(tokenizer.all_special_ids)
        self._special = {token: added.get(token) or str(tokenizer.convert_ids_to_tokens(token)) for token in special}
        self._turn_ends = {token for token, name in self._special.items() if name in turn_end_tokens()}
        self._padding = {tokenizer.pad_token_id} & special
        # Byte-level decoders take letters such as « in an added token for bytes.
        self._garbled = {token: name for token, name in added.items() if _BROKEN in self._decode([token])}

    def words(self, tokens: Sequence[int], *, ended: bool) -> Words:
        """Return the text of an answer's tokens; `ended`: an end token, which is not among them, followed."""
        kept = list(tokens)
        end = next((at for at, token in enumerate(kept) if token in self._turn_ends), None)
        kept = kept[:end]
        while kept and kept[-1] in self._padding:
            kept.pop()
        whole = ended or end is not None
        text = self.text(kept) if whole else self._whole_characters(kept)
        special = tuple(dict.fromkeys(self._special[token] for token in kept if token in self._special))
        return Words(text, special, turn_ended=end is not None)

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens as it is, special ones among it."""
        if self._garbled.keys().isdisjoint(tokens):
            return self._decode(list(tokens))
        runs = groupby(tokens, key=self._garbled.get)
        return "".join(self._decode(list(run)) if name is None else name * len(list(run)) for name, run in runs)

    def _whole_characters(self, tokens: list[int]) -> str:
        """Return the text without a last character of which the limit left only some bytes."""
        text = self.text(tokens)
        if text.endswith(_BROKEN):
            for cut in range(1, min(_MOST_BYTES_CUT, len(tokens)) + 1):
                shorter = self.text(tokens[:-cut])
                if not shorter.endswith(_BROKEN):
                    return shorter
        return text

    def _decode(self, tokens: list[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False))
