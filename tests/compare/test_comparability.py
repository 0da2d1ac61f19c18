"""What forbids a comparison, and what only stands beside it as a caution."""

import pytest

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.evidence import Rendering
from qeval.record import ModelInfo, SuiteInfo
from tests.factories import make_environment, make_outcome, make_proof, make_record

ROW = {"s": [i % 2 == 0 for i in range(200)]}
BASE = make_record("fp32", ROW)


def compare(candidate, baseline=BASE):
    return build_report(baseline, [candidate], Policy(), created_at="t").candidates[0]


def other(**overrides):
    return make_record("int8", ROW, **overrides)


def outcomes(**overrides):
    return [make_outcome("s", f"c{i:04}", right, **overrides) for i, right in enumerate(ROW["s"])]


def other_tokens():
    return [outcome.model_copy(update={"prompt_hash": f"other {outcome.prompt_hash}"}) for outcome in outcomes()]


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (other(suites={"s": SuiteInfo(version=2, size="smoke", digest="d", n_cases=200)}), "version 1 at size smoke"),
        (other(suites={"s": SuiteInfo(version=1, size="smoke", digest="d", n_cases=200)}), "its cases were changed"),
        (other(suites={"t": SuiteInfo(version=1, size="smoke", digest="d", n_cases=200)}), "no suite in common"),
        (other(decoding={"do_sample": True}), "decoding setting do_sample: False in the baseline, True in the"),
        (other(outcomes=outcomes(prompt_hash="x")), "another prompt than the baseline's; the first is s/c0000"),
        (
            other(rendering=Rendering(template="fallback", tools="template", system_folded=False)),
            "prompts were made otherwise (template): model in the baseline, fallback in the candidate",
        ),
        (other(level="messages", outcomes=outcomes(prompt_tokens=11)), "over 2 % longer or shorter"),
    ],
)  # fmt: skip
def test_a_mismatch_is_not_comparable_and_draws_no_verdict(candidate, said):
    result = compare(candidate)
    assert result.decision == "not_comparable"
    assert said in " ".join(result.reasons)
    assert (result.verdicts, result.limits) == ((), ())


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (other(engine="llamacpp"), "another engine: scripted against llamacpp"),
        (other(batches="other"), "other batches"),
        (other(decoding={"do_sample": False, "batch_size": 8}), "another batch_size: None against 8"),
        (other(model=ModelInfo(name="tiny", fingerprint="pruned")), "made from other weights"),
        (other(environment=make_environment(device="cuda")), "another environment (device): cpu against cuda"),
        (other(environment=make_environment(threads=8)), "another environment (threads): 2 against 8"),
        (other(environment=make_environment(versions={"torch": "2.12.0"})), "(torch): 2.13.0 against 2.12.0"),
        (other(environment=make_environment(versions={})), "(torch): 2.13.0 against none"),
        (other(level="rendered_text", outcomes=other_tokens()), "at the level of rendered text"),
        (other(level="messages", outcomes=other_tokens()), "at the level of messages"),
        (other(outcomes=outcomes(prompt_hash=None)), "200 answers carry no hash of their prompt"),
        (
            other(rendering=Rendering(template="model", tools="template", system_folded=False, end_token_ids=(2,))),
            "other end tokens: () against (2,)",
        ),
    ],
)
def test_a_caution_is_named_and_the_verdict_stands(candidate, said):
    result = compare(candidate)
    assert any(said in caution for caution in result.comparability.cautions)
    assert result.decision == "accepted"


def test_equal_records_have_neither_fault_nor_caution():
    assert compare(other()).comparability.model_dump() == {"level": "token_ids", "faults": (), "cautions": ()}


@pytest.mark.parametrize(("flips", "fault"), [(4, False), (7, True)])
@pytest.mark.parametrize("role", ["baseline", "candidate"])
def test_a_variant_that_differs_from_its_own_repeat_is_not_comparable(flips, fault, role):
    repeats = {"s": [right and i >= 2 * flips for i, right in enumerate(ROW["s"])]}
    noisy, calm = make_record(role, ROW, repeats=repeats), make_record("calm", ROW, repeats=ROW)
    result = compare(noisy, calm) if role == "candidate" else compare(calm, noisy)
    assert (result.decision == "not_comparable") is fault
    assert not fault or f"{role} differs from its own repeat 1: 7 cases right to wrong" in result.reasons[0]
    assert result.verdicts


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (make_proof(), None, "carries no proof"),
        (make_proof(), make_proof(), "the proof agrees: its weights take the same bytes"),
        (None, make_proof(quantized_modules=0), "the proof agrees: no module was quantised"),
        (make_proof(storage_bytes=4000), make_proof(), "the proof disagrees: 210 modules are quantised at 4.50 bits"),
    ],
)
def test_a_candidate_equal_in_every_token_is_said_aloud(ours, theirs, said):
    result = compare(make_record("nf4", ROW, proof=theirs), make_record("fp32", ROW, proof=ours))
    assert result.identical
    assert "every answer equals the baseline's in every token" in result.notes[0]
    assert said in result.notes[1]
    assert result.decision == "accepted"


def test_one_other_token_is_not_identical():
    changed = outcomes()
    changed[7] = make_outcome("s", "c0007", False, token_ids=(1, 2))
    result = compare(other(outcomes=changed))
    assert not result.identical
    assert result.notes == ()


def test_a_repeat_that_differs_names_the_cause_where_it_is_known():
    repeats = {"s": [right and i >= 14 for i, right in enumerate(ROW["s"])]}
    result = compare(make_record("int8", ROW, repeats=repeats, batch_mates=1.7))
    assert "its rows depend on their batch mates, which move a row's logits by up to 1.7" in result.reasons[0]
