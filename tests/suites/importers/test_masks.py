"""Masking: what is hidden and what is left, one placeholder a value, and nothing unmasked where a rule fails."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.bounded_yaml import read_yaml
from qeval.errors import UsageError
from qeval.jsonl import dumps
from qeval.sensitive.rules import Rule
from qeval.suites.importers._masks import CannotMaskError, Masked, Masks, load_rules

RULES = load_rules(None)
ROWS = read_yaml(Path(__file__).with_name("masks.yaml"))
CASES = read_yaml(Path(__file__).with_name("handed_masks.yaml"))


def mask(value: Any, rules: Sequence[Rule]) -> Masked:
    return Masks(rules).mask(value)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['rule']}: {row['text'][:40]}")
def test_a_rule_hides_and_leaves_what_it_should(row):
    assert mask(row["text"], RULES).value == row["gives"]


SECRETS, HARMLESS = (read_yaml(Path(__file__).with_name(f"{name}.yaml")) for name in ("secrets", "harmless"))
"""Texts by kind; [[ and ]] stand around what must be masked."""
_MARKED = re.compile(r"\[\[(.*?)\]\](?!\])", re.DOTALL)


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_masked_and_nothing_around_it(kind):
    for row in SECRETS[kind]:
        masked = mask(_MARKED.sub(r"\1", row), RULES).value
        around = [re.escape(part) for part in _MARKED.split(row)[::2]]
        assert re.fullmatch(r"<[A-Z_]+_\d+>".join(around), masked), (row, masked)


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_only_looks_like_a_secret_stays(kind):
    assert {row: mask(row, RULES).value for row in HARMLESS[kind]} == {row: row for row in HARMLESS[kind]}


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["text"])
def test_handed_texts_are_masked_or_left(row):
    assert (mask(row["text"], RULES).value != row["text"]) is row["masked"]


def test_every_rule_has_rows_that_hide():
    assert {row["rule"] for row in ROWS if "<" in row["gives"]} == {rule.name for rule in RULES}


def test_one_value_has_one_placeholder_in_prompt_arguments_and_expectation():
    case = {
        "messages": [{"role": "user", "content": "Call +49 170 1234567, write to ANN@x.org and bob@x.org."}],
        "graders": [{"arguments": {"phone": "+491701234567", "to": ["bob@x.org", "ann@x.org"], "ann@x.org": 1}}],
    }
    masked, counts = mask(case, RULES)
    assert masked["messages"][0]["content"] == "Call <PHONE_1>, write to <EMAIL_1> and <EMAIL_2>."
    assert masked["graders"][0]["arguments"] == {
        "phone": "<PHONE_1>",
        "to": ["<EMAIL_2>", "<EMAIL_1>"],
        "<EMAIL_1>": 1,
    }
    assert counts == {"PHONE": 1, "EMAIL": 2}


def test_a_secret_is_hidden_where_no_rule_would_find_it():
    case = {"content": "Log in with Tr0ub4dor please", "arguments": {"password": "Tr0ub4dor"}}
    assert mask(case, RULES).value == {
        "content": "Log in with <SECRET_1> please",
        "arguments": {"password": "<SECRET_1>"},
    }


def test_a_word_after_password_is_not_looked_for_elsewhere():
    schema = {"description": "?password=sunshine", "sunshine": ["a"], "title": "all is sunshine"}
    assert mask(schema, RULES).value == {**schema, "description": "?password=<SECRET_1>"}


def test_texts_that_come_again_are_masked_again():
    masks = Masks(RULES)
    case = {"system": "Nothing here.", "q": "a@x.org", "arguments": {"password": "Tr0ub4dor", "n": "x"}}
    first = masks.mask(case)
    assert first.value["q"] == "<EMAIL_1>"
    assert masks.mask(case) == first


def test_placeholders_of_the_source_keep_their_meaning():
    assert mask("<EMAIL_1> wrote to a@x.org", RULES).value == "<EMAIL_1> wrote to <EMAIL_2>"


def test_a_number_that_would_have_to_be_masked_refuses_the_case():
    with pytest.raises(CannotMaskError, match="a JSON number"):
        mask({"card": 4111111111111111}, RULES)
    kept = {"n": 20240115, "x": 3.14159265, "ok": True}
    assert mask(kept, RULES).value == kept


@pytest.mark.parametrize("value", [{"password": 123456}, {"pins": 1, "secret": [4711]}, {"card": 4111111111111111.0}])
def test_a_number_is_refused_for_its_field_or_its_digits(value):
    with pytest.raises(CannotMaskError, match="a JSON number"):
        mask(value, RULES)


def test_fields_called_like_secrets_are_hidden_in_lists_and_in_camel_case():
    value = {"dbPassword": "hunter", "api_key": ["abcdef", "ghijkl"], "Authorization": "Token abc"}
    assert mask(value, RULES).value == {
        "dbPassword": "<SECRET_1>",
        "api_key": ["<SECRET_2>", "<SECRET_3>"],
        "Authorization": "<SECRET_4>",
    }
    schema = {"properties": {"password": {"type": "string", "minLength": 8000}}, "required": ["password"]}
    assert mask(schema, RULES).value == schema


def test_two_keys_with_one_placeholder_refuse_the_case_since_one_would_be_lost():
    with pytest.raises(CannotMaskError, match="two keys"):
        mask({"ann@x.org": 1, "ANN@x.org": 2}, RULES)


def test_a_rule_that_takes_too_long_refuses_the_case(monkeypatch):
    monkeypatch.setattr("qeval.suites.importers._masks._TIMEOUT_S", 0.05)
    slow = Rule(name="SLOW", pattern="(?:a+b?)+c")
    with pytest.raises(CannotMaskError, match="the masking rule SLOW takes over"):
        mask("a" * 5_000, [slow])


def test_own_rules_come_first_and_take_the_place_of_the_same_name(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("rules:\n- {name: ORDER, pattern: 'ORD-\\d+'}\n- {name: EMAIL, pattern: '\\S+@corp'}\n")
    rules = load_rules(own)
    assert mask("ORD-77 a@corp b@x.org", rules).value == "<ORDER_1> <EMAIL_1> b@x.org"
    assert len(rules) == len(RULES) + 1


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{name: order, pattern: x}", "name"),
        ("{name: X, pattern: '('}", "not a pattern of the regex package"),
        ("{name: X, pattern: 'a*'}", "matches an empty text"),
        ("{name: X, patern: x}", "Did you mean 'pattern'"),
        ("{name: X, pattern: x}\n- {name: X, pattern: y}", "two rules are called X"),
    ],
)
def test_a_faulty_rule_is_refused_by_name(tmp_path, rule, said):
    (tmp_path / "own.yaml").write_text(f"rules:\n- {rule}\n")
    with pytest.raises(UsageError, match=r"own\.yaml") as caught:
        load_rules(tmp_path / "own.yaml")
    assert said in str(caught.value)


VALUES = st.sampled_from(["a.b@x.org", "4111111111111111", "+49 170 1234567", "sk-abcdefghijklmnop12", "203.0.113.7"])
TEXTS = st.recursive(
    st.tuples(st.text("ab c.,\n", max_size=8), VALUES, st.text("ab c,\n", max_size=8)).map(" ".join),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["q", "args"]), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None)
@given(TEXTS)
def test_no_secret_is_left_and_masking_again_changes_nothing(value):
    masked, _ = mask(value, RULES)
    assert not any(secret in dumps(masked) for secret in ("@", "4111", "1234567", "sk-", "203.0"))
    assert mask(masked, RULES).value == masked


WAYS = {
    "as it is": lambda char: char,
    "full width": lambda char: chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char,
    "entity": lambda char: f"&#{ord(char)};",
    "hexadecimal entity": lambda char: f"&#x{ord(char):X};",
    "percent sign": lambda char: f"%{ord(char):02X}",
    "JSON escape": lambda char: f"\\u{ord(char):04x}",
    "twice escaped": lambda char: f"&amp;#{ord(char)};",
    "zero-width space": lambda char: f"{char}\u200b",
}


@given(
    value=st.sampled_from(["a.b@x.org", "4111-1111-1111-1111", "+49 170 1234567", "DE89370400440532013000"]),
    ways=st.lists(st.sampled_from(sorted(WAYS)), min_size=22, max_size=22),
    around=st.tuples(st.text(max_size=8), st.text(max_size=8)),
)
def test_a_secret_is_found_in_any_disguise_and_the_rest_is_kept(value, ways, around):
    disguised = "".join(WAYS[way](char) for char, way in zip(value, ways, strict=False))
    before, after = (re.sub(r"[\w&%\\\\+.,;:/=@-]", "字", part) for part in around)
    masked = mask(f"{before} {disguised} {after}", RULES).value
    assert re.fullmatch(rf"{re.escape(before)} <[A-Z]+_1>\u200b? {re.escape(after)}", masked), masked
