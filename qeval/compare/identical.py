"""A candidate whose answers are the baseline's in every token: said aloud, or refused where they cannot be its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qeval.compare.pairs import Pair
from qeval.record import Proof, Record

TOKENS_TO_DOUBT = 1_000
"""Equal tokens from which on a quantised candidate's answers are taken for the baseline's."""


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


def copied_answers(baseline: Record, candidate: Record, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Return the fault of answers that cannot be the candidate's own, as from a cache that does not know the variant.

    Quantised weights take another token now and then. Those of 8 bits agree with the originals on 97.7 % of next tokens
    (top-1 agreement of SmolLM2-135M, weights rounded to 8 bits), so that 1,000 equal tokens in a row have a chance of
    .977^1000, about 1e-10; those of fewer bits agree less. Larger models and easier answers agree more, which is why
    the rule asks for as many tokens, for all answers, and for a proof that most matrices are quantised.

    A plain change of dtype is exempt: bf16 can agree. So are two quantised variants, which may be near to each other
    (nf4 with and without double quantisation), and variants without a proof, of which this is not known.
    """
    theirs = candidate.header.proof
    if not (_is_plain(baseline.header.proof) and theirs is not None and _is_mostly_quantized(theirs)):
        return ()
    tokens = equal_tokens(pairs)
    if tokens < TOKENS_TO_DOUBT or not is_identical(pairs):
        return ()
    return (
        f"the answers are the baseline's: all {tokens} tokens are equal, though {theirs.quantized_modules} modules are "
        f"quantised at {theirs.effective_bits:.2f} bits a weight; look for a cache of answers that does not know the "
        "variant",
    )


def equal_tokens(pairs: Iterable[Pair]) -> int:
    """Return the generated tokens of the answers that are the same in both."""
    return sum(len(pair.baseline.outcome.token_ids) for pair in pairs if pair.baseline.outcome and _same(pair))


def _is_plain(proof: Proof | None) -> bool:
    return proof is not None and proof.quantized_modules == 0


def _is_mostly_quantized(proof: Proof) -> bool:
    return proof.quantized_modules > len(proof.skipped_modules)
