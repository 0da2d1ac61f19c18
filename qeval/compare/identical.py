"""A candidate whose answers are the baseline's in every token: said aloud, with what may have caused it."""

from __future__ import annotations

from collections.abc import Sequence

from qeval.compare.pairs import Pair
from qeval.record import Record


def is_identical(pairs: Sequence[Pair]) -> bool:
    """Return whether both answered the same cases, at least one, and with the same tokens."""
    answered = [pair for pair in pairs if pair.baseline.no_answer is None or pair.candidate.no_answer is None]
    return bool(answered) and all(_same(pair) for pair in answered)


def _same(pair: Pair) -> bool:
    before, after = pair.baseline.outcome, pair.candidate.outcome
    if pair.baseline.no_answer or pair.candidate.no_answer or pair.text_changed:
        return False
    return before is not None and after is not None and before.token_ids == after.token_ids


def identity_notes(baseline: Record, candidate: Record) -> tuple[str, ...]:
    """Return the likely causes, and what the proofs of both variants say to them."""
    one, other = baseline.header, candidate.header
    notes = [
        "every answer equals the baseline's in every token; likely causes: the same weights were loaded, the format "
        "quantised nothing, or answers came from a cache"
    ]
    if other.proof is None:
        notes.append("this variant carries no proof of what it is")
    elif one.proof and one.proof.storage_bytes == other.proof.storage_bytes and one.proof.dtypes == other.proof.dtypes:
        notes.append("the proof agrees: its weights take the same bytes in the same types as the baseline's")
    elif other.proof.quantized_modules == 0:
        notes.append("the proof agrees: no module was quantised")
    else:
        notes.append(
            f"the proof disagrees: {other.proof.quantized_modules} modules are quantised at "
            f"{other.proof.effective_bits:.2f} bits a weight; look for a cache, or for short answers that hide it"
        )
    return tuple(notes)
