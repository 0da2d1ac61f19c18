"""What a policy may say, and that a faulty one never switches a gate off."""

import json

import pytest

from qeval.compare.policy import Policy, load_policy, policy_json_schema
from qeval.compare.report import SliceKey
from qeval.errors import UsageError

FULL = """
alpha: 0.05
planning_flip_rate: 0.05
margins:
  pool: 0.01
  suites: {longdoc: 0.05, refusal: auto}
  slices: {"longdoc/depth=0.9": 0.1}
required: [lang=de, longdoc/depth=0.9, lang=de&depth=0.9]
level: {refusal: advisory}
limits:
  max_net_loss: 0.02
  min_pass_rate: {longdoc: 0.4, all: 0.3}
  min_scored: 0.9
candidates_required: [int8]
privacy: full
"""


def policy_file(tmp_path, text):
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    return path


def test_a_full_policy_is_read(tmp_path):
    policy = load_policy(policy_file(tmp_path, FULL))
    assert policy.margin_of(SliceKey(), 1000) == 0.01
    assert policy.margin_of(SliceKey(suite="longdoc"), 1000) == 0.05
    assert policy.margin_of(SliceKey(suite="longdoc", tag="depth", value="0.9"), 1000) == 0.1
    assert (policy.level_of("refusal"), policy.level_of("longdoc")) == ("advisory", "critical")


@pytest.mark.parametrize("text", ["", "{}", "# nothing\n"])
def test_an_empty_file_is_the_default(tmp_path, text):
    assert load_policy(policy_file(tmp_path, text)) == load_policy(None) == Policy()


@pytest.mark.parametrize(("n", "margin"), [(1000, 0.03), (200, 0.0556), (33, 0.1369), (30, 0.1436), (5, 0.1436)])
def test_an_automatic_margin_follows_the_number_of_cases(n, margin):
    assert Policy().margin_of(SliceKey(suite="s"), n) == pytest.approx(margin, abs=5e-5)


@pytest.mark.parametrize(
    "key", ["limits: {max_net_loss: %s}", "limits: {min_pass_rate: {a: %s}}", "margins: {pool: %s}"]
)
@pytest.mark.parametrize(
    "value", [".nan", ".inf", "-.inf", "-1", "abc", "1e9", "'0.02'", "1000000000", "true", "[0.1]"]
)
def test_a_threshold_that_is_no_share_is_a_usage_error(tmp_path, key, value):
    with pytest.raises(UsageError, match=r"policy\.yaml: .*key '(limits|margins)") as caught:
        load_policy(policy_file(tmp_path, key % value))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("margin: {pool: 0.02}", "unknown key 'margin'. Did you mean 'margins'?"),
        ("limits: {max_netloss: 0.02}", "Did you mean 'max_net_loss'?"),
        ("margins: {slices: {lang=de: 0.1}}", "which 'required' does not list"),
        ("required: ['lang=']", "names no slice"),
        ("limits: {max_net_loss: {'lang=': 0.1}}", "names no slice"),
        ("required: [refusal]\nlevel: {refusal: advisory}", "both required and advisory"),
        ("level: {refusal: optional}", "'critical' or 'advisory'"),
        ("candidates_required: []", "must be all, best, or a list that names candidates"),
        ("candidates_required: int8", "key 'candidates_required': must be all"),
        ("margins: {suites: {a: autoo}}", "key 'margins.suites.a': must be auto, or a number"),
        ("limits: {max_net_loss: .nan}", "key 'limits.max_net_loss.all': Input should be a finite number, not nan"),
        ("alpha: 0.5", "less than or equal to 0.49"),
        ("margins: {pool: 0}", "greater than or equal to 0.0001"),
        ("alpha: 0.05\nalpha: 0.4", "given twice"),
        ("- 1", "the content"),
    ],
)
def test_a_fault_names_the_file_the_key_and_the_way_out(tmp_path, text, said):
    with pytest.raises(UsageError) as caught:
        load_policy(policy_file(tmp_path, text))
    assert said in str(caught.value)
    assert "policy.yaml" in str(caught.value)


def test_the_digest_follows_the_content():
    assert Policy().digest == Policy().digest != Policy(alpha=0.1).digest


def test_the_schema_for_editors_is_json_and_closed():
    schema = policy_json_schema()
    assert json.loads(json.dumps(schema))["additionalProperties"] is False
    assert set(schema["properties"]) == set(Policy.model_fields)


@pytest.mark.parametrize(
    ("written", "kept"),
    [("0.9", {"all": 0.9}), ("{s: 0.5}", {"all": 0.95, "s": 0.5}), ("{all: 0}", {"all": 0.0})],
)
def test_naming_a_slice_leaves_the_pools_scored_share_in_force(tmp_path, written, kept):
    assert load_policy(policy_file(tmp_path, f"limits: {{min_scored: {written}}}")).limits.min_scored == kept


def test_a_stored_policy_reads_back_as_itself(tmp_path):
    policy = load_policy(policy_file(tmp_path, FULL))
    assert Policy.model_validate(policy.model_dump(mode="json")) == policy
