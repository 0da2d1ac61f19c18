"""The policy's bounds on fidelity: what they compare, and that they decide nothing unless asked to."""

import pytest

from qeval.compare.build import build_report
from qeval.compare.policy import FidelityBounds, Policy, load_policy
from qeval.errors import UsageError
from tests.factories import FIDELITY, make_record, make_scored

MANY = {"s": [i % 2 == 0 for i in range(300)]}


def result(kl=0.2, noise=0.01, *, kind="exact", **bounds):
    scored = [make_scored("s", f"c{i:04}", (kl,), kind=kind) for i in range(300)]
    own = [make_scored("s", "c0000", (noise,) * 20, repeat=1)] if noise is not None else []
    before = make_record("fp32", MANY, fidelity=FIDELITY)._replace(scored=tuple(own))
    after = make_record("nf4", MANY, fidelity=FIDELITY)._replace(scored=tuple(scored))
    policy = Policy(fidelity=FidelityBounds(**bounds))
    return build_report(before, [after], policy, created_at="t").candidates[0]


def bound(found):
    return [limit for limit in found.limits if limit.name.startswith("max_kl")]


def test_an_advisory_bound_is_shown_and_decides_nothing():
    found = result(max_kl_over_noise={"all": 10})
    [limit] = bound(found)
    assert (limit.broken, limit.level, found.decision) == (True, "advisory", "accepted")
    text = "mean KL 0.2 nats, noise floor 0.01, allowed 0.1 (max_kl_over_noise 10)"
    assert limit.text == text
    assert f"bound on fidelity exceeded in all: {text}; it does not gate" in found.notes


def test_a_critical_bound_that_is_broken_regresses():
    found = result(max_kl_over_noise={"all": 10}, level="critical")
    assert found.decision == "regressed"
    assert found.reasons[0].startswith("hard limit in all: mean KL 0.2 nats")


@pytest.mark.parametrize(
    ("bounds", "broken"),
    [
        ({"max_kl_over_noise": {"all": 21}}, False),
        ({"max_kl": {"all": 0.19}}, True),
        ({"max_kl": {"all": 0.21}}, False),
        # Either one allows it.
        ({"max_kl_over_noise": {"all": 10}, "max_kl": {"all": 0.21}}, False),
        ({"max_kl_over_noise": {"all": 21}, "max_kl": {"all": 0.1}}, False),
        ({"max_kl_over_noise": {"s": 10}}, True),
    ],
)
def test_the_larger_of_the_two_bounds_is_allowed(bounds, broken):
    [limit] = bound(result(**bounds))
    assert limit.broken is broken


@pytest.mark.parametrize(("noise", "why"), [(0.0, "is zero"), (None, "is not known")])
@pytest.mark.parametrize("level", ["advisory", "critical"])
def test_a_multiple_of_nothing_is_not_checked_and_that_is_said(noise, why, level):
    found = result(noise=noise, max_kl_over_noise={"all": 10}, level=level)
    said = f"bound on fidelity in all not checked: the noise floor {why}"
    assert bound(found) == []
    assert found.decision == ("incomplete" if level == "critical" else "accepted")
    assert any(text.startswith(said) for text in (found.reasons if level == "critical" else found.notes))


def test_where_the_floor_is_zero_the_number_of_nats_holds():
    [limit] = bound(result(noise=0.0, max_kl_over_noise={"all": 10}, max_kl={"all": 0.1}))
    assert limit.broken
    assert limit.text == "mean KL 0.2 nats, noise floor 0, allowed 0.1 (max_kl_over_noise 10, max_kl 0.1)"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (lambda: result(kind="top_k_bound", max_kl={"all": 1}, level="critical"), "only a lower bound of KL is known"),
        (lambda: result(max_kl={"other": 1}, level="critical"), "no case of it was scored"),
    ],
)
def test_what_cannot_be_checked_is_not_held(found, why):
    made = found()
    assert made.decision == "incomplete"
    assert why in made.reasons[0]


def test_a_critical_bound_without_any_fidelity_is_incomplete():
    policy = Policy(fidelity=FidelityBounds(max_kl={"all": 1}, level="critical"))
    made = build_report(make_record("fp32", MANY), [make_record("nf4", MANY)], policy, created_at="t").candidates[0]
    assert made.decision == "incomplete"
    assert made.reasons == ("bound on fidelity in all not checked: fidelity was not measured",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fidelity: {max_kl_over_noise: 0}", "greater than 0"),
        ("fidelity: {max_kl_over_noise: .inf}", "finite number"),
        ("fidelity: {max_kl: true}", "valid number"),
        ("fidelity: {max_kl: {'lang=': 1}}", "names no slice"),
        ("fidelity: {max_kld: 1}", "Did you mean 'max_kl'?"),
        ("fidelity: {level: hard}", "'critical' or 'advisory'"),
    ],
)
def test_a_faulty_bound_is_a_usage_error(tmp_path, text, said):
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"policy\.yaml") as caught:
        load_policy(path)
    assert said in str(caught.value)


def test_a_number_holds_for_the_pool(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("fidelity: {max_kl_over_noise: 10, max_kl: {longdoc: 0.1}}")
    read = load_policy(path).fidelity
    assert (read.max_kl_over_noise, read.max_kl, read.level) == ({"all": 10}, {"longdoc": 0.1}, "advisory")
    assert not read.decides
