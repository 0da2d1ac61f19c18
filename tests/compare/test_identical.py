"""Answers that are the baseline's, under the header of a quantised candidate."""

import pytest

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from tests.factories import make_outcome, make_proof, make_record

ROW = [i % 2 == 0 for i in range(200)]
PLAIN = make_proof(quantized_modules=0, skipped_modules=(), effective_bits=32.0, storage_bytes=4000)
QUANTIZED = make_proof()
BF16 = make_proof(quantized_modules=0, skipped_modules=(), effective_bits=16.0, storage_bytes=2000)


def outcomes(tokens):
    """Each answer of ROW with so many tokens."""
    return [make_outcome("s", f"c{i:04}", passed, token_ids=(7,) * tokens) for i, passed in enumerate(ROW)]


def compare(ours, theirs, tokens=5, changed=None, name="nf4"):
    mine = outcomes(tokens)
    other = list(mine) if changed is None else [*mine[:-1], changed]
    candidate = make_record(name, {"s": ROW}, proof=theirs, outcomes=other)
    baseline = make_record("fp32", {"s": ROW}, proof=ours, outcomes=mine)
    (result,) = build_report(baseline, [candidate], Policy(), created_at="t").candidates
    return result


def test_a_thousand_equal_tokens_are_not_a_quantised_candidates_own():
    result = compare(PLAIN, QUANTIZED)
    assert result.decision == "not_comparable"
    (fault,) = result.comparability.faults
    assert "all 1000 tokens are equal, though 210 modules are quantised at 4.50 bits" in fault


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (PLAIN, BF16),
        (PLAIN, None),
        (None, QUANTIZED),
        (make_proof(effective_bits=4.1), QUANTIZED),
        (PLAIN, make_proof(quantized_modules=2, skipped_modules=("a", "b", "lm_head"))),
    ],
    ids=["plain dtype", "no proof", "baseline without proof", "two quantised variants", "mostly kept"],
)
def test_variants_that_may_agree_are_exempt(ours, theirs):
    result = compare(ours, theirs)
    assert (result.decision, result.identical) == ("accepted", True)


def test_fewer_tokens_may_agree():
    assert compare(PLAIN, QUANTIZED, tokens=4).decision == "accepted"


@pytest.mark.parametrize("name", ["int8", "int8+keep=lm_head", "a-format-of-tomorrow"])
def test_eight_bits_and_unknown_formats_may_agree_for_longer(name):
    assert compare(PLAIN, QUANTIZED, tokens=49, name=name).decision == "accepted"
    assert compare(PLAIN, QUANTIZED, tokens=50, name=name).decision == "not_comparable"


def test_one_other_token_is_enough_to_be_its_own():
    last = make_outcome("s", "c0199", ROW[-1], token_ids=(7, 7, 7, 7, 8))
    assert compare(PLAIN, QUANTIZED, tokens=6, changed=last).decision == "accepted"


def test_an_answer_that_only_one_has_is_enough_to_be_its_own():
    assert compare(PLAIN, QUANTIZED, tokens=6, changed=make_outcome("s", "c0199", None)).comparability.faults == ()
