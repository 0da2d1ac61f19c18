"""A candidate whose answers are the baseline's in every token: said aloud, or refused where they cannot be its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qeval.compare.pairs import Pair
from qeval.record import Proof, Record
from qeval.units import bits

_FEW_BITS = 5
_TOKENS_OF_FEW_BITS, _TOKENS_OF_MORE = 1_000, 10_000


def is_identical(pairs: Sequence[Pair]) -> bool:
    """Return whether both answered the same cases, at least one, and with the same tokens."""
    answered = [pair for pair in pairs if pair.baseline.no_answer is None or pair.candidate.no_answer is None]
    return bool(answered) and all(same_tokens(pair) for pair in answered)


def same_tokens(pair: Pair) -> bool:
    """Return whether both variants answered a case, with the same tokens."""
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
    elif one.proof is not None and _same_bytes(one.proof, other.proof):
        notes.append("the proof agrees: its weights take the same bytes in the same types as the baseline's")
    elif other.proof.quantized_modules == 0:
        notes.append("the proof agrees: no module was quantised")
    else:
        notes.append(
            f"the proof disagrees: {other.proof.quantized_modules} modules are quantised at "
            f"{bits(other.proof.effective_bits)} bits per weight; look for a cache, or for short answers that hide it"
        )
    return tuple(notes)


def copied_answers(baseline: Record, candidate: Record, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Return the fault of answers that cannot be the candidate's own, as from a cache that does not know the variant.

    Quantised weights take another token now and then, so that all answers alike, over many tokens, are no chance: see
    `tokens_to_doubt`. A proof that most matrices are quantised is asked for as well.

    A plain change of dtype is exempt: bf16 can agree. So are two quantised variants, which may be near to each other
    (nf4 with and without double quantisation), and variants without a proof, of which this is not known.
    """
    theirs = candidate.header.proof
    if not (_is_plain(baseline.header.proof) and theirs is not None and _is_mostly_quantized(theirs)):
        return ()
    tokens = equal_tokens(pairs)
    if tokens < tokens_to_doubt(candidate) or not is_identical(pairs):
        return ()
    return (
        f"the answers are the baseline's: all {tokens} tokens are equal, though {theirs.quantized_modules} modules are "
        f"quantised at {bits(theirs.effective_bits)} bits per weight; look for a cache of answers that does not know "
        "the variant",
    )


def tokens_to_doubt(candidate: Record) -> int:
    """Return how many equal tokens in a row cannot be chance in the candidate's format.

    Of 4-bit formats 1,000: a large model in Q4_K_M agrees on 91.9 % of next tokens (Llama-3-8B on wikitext-2,
    llama.cpp's README), and even 99 % would leave a chance of 4e-5. Of 8-bit formats, and of formats that are not
    known here, 10,000: 97.7 % agree in SmolLM2-135M (docs/selftest.md), but large models with easy answers come near to
    99.9 %, which leaves 5e-5.
    """
    # Imported late: listing formats imports all their families, and almost no candidate comes here.
    from qeval.variants.base import all_formats

    known = all_formats().get(candidate.header.format.partition("+")[0])
    few = known is not None and known.nominal_bits <= _FEW_BITS
    return _TOKENS_OF_FEW_BITS if few else _TOKENS_OF_MORE


def equal_tokens(pairs: Iterable[Pair]) -> int:
    """Return the generated tokens of the answers that are the same in both."""
    return sum(len(pair.baseline.outcome.token_ids) for pair in pairs if pair.baseline.outcome and same_tokens(pair))


def _same_bytes(one: Proof, other: Proof) -> bool:
    known = one.storage_bytes is not None
    return known and one.storage_bytes == other.storage_bytes and one.dtypes == other.dtypes


def _is_plain(proof: Proof | None) -> bool:
    return proof is not None and proof.quantized_modules == 0


def _is_mostly_quantized(proof: Proof) -> bool:
    return proof.quantized_modules > len(proof.skipped_modules)
