"""Near-equal prompts: templates are found in every language, different questions stay apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.suites.case import Case, Suite
from qeval.suites.near_equal import near_equal, near_equal_names
from qeval.suites.near_equal.alignment import difference
from qeval.suites.near_equal.masked import MASK, mask
from tests.suites.importers.helpers import DATA, needs_data
from tests.suites.near_equal.prompts import (
    FOLDER,
    apart,
    case_of,
    families,
    found_in,
    groups,
    merged,
    public_questions,
)

MASKED = [json.loads(line) for line in (FOLDER / "masks.jsonl").read_text("utf-8").splitlines()]
ORDERS = [f"Where is order {n} of customer {n * 7}?" for n in range(6)]


FAMILIES = families() | families("held_out.yaml")


@pytest.mark.parametrize("row", MASKED, ids=lambda row: row["id"])
def test_values_are_masked_and_words_stay(row: dict[str, Any]) -> None:
    found = mask(row["text"], row.get("lang"))
    for field in {"plain", "bare"} & row.keys():
        assert " ".join(getattr(found, field)).replace(MASK, "?") == row[field]


@pytest.mark.parametrize(("name", "prompts"), FAMILIES.items(), ids=FAMILIES)
def test_a_template_is_one_group_and_two_are_two(name: str, prompts: Any) -> None:
    found = found_in(prompts)
    assert found.mixed == 0
    # Two names, a date and a topic are half of what a meeting's prompts say.
    assert found.groups == (7 if name == "meeting notes" else found.templates)


@pytest.mark.parametrize(("name", "texts"), apart().items(), ids=apart())
def test_prompts_that_share_words_and_ask_other_things_stay_apart(name: str, texts: list[str]) -> None:
    assert merged(texts) == 0


@needs_data
def test_of_different_public_questions_few_are_taken_for_near_equal() -> None:
    questions = {name: texts[:80] for name, texts in public_questions(DATA).items() if "five" not in name}
    counts = {name: (merged(texts), len(texts)) for name, texts in questions.items()}
    assert [(name, n) for name, (n, of) in counts.items() if n > max(1, 0.02 * of)] == []
    assert sum(n for n, _ in counts.values()) <= 0.005 * sum(of for _, of in counts.values())


def test_system_text_and_tools_do_not_count() -> None:
    tools = [[{"name": "find"}], [{"name": "find", "description": "x " * 50}], []]
    cases = [
        Case.model_validate(
            {
                "id": str(n),
                "messages": [{"role": "system", "content": f"rule {n} " * 80}, {"role": "user", "content": text}],
                "tools": tools[n % 3],
                "graders": [{"kind": "contains", "value": "x"}],
            }
        )
        for n, text in enumerate(ORDERS)
    ]
    assert near_equal(cases) == (0,) * 6


def test_tool_results_count_and_answers_of_the_assistant_do_not() -> None:
    def case(number: int, said: str, result: str) -> Case:
        turns = [
            {"role": "user", "content": "What is the weather at home?"},
            {"role": "assistant", "content": said, "tool_calls": [{"name": "weather"}]},
            {"role": "tool", "content": result},
        ]
        return case_of(number, "x").model_copy(update={"messages": Case.model_validate(
            {"id": "a", "messages": turns, "graders": [{"kind": "contains", "value": "x"}]}
        ).messages})  # fmt: skip

    said = [case(n, f"{'well ' * n}let me look", f"{20 + n} degrees and wind from the north") for n in range(3)]
    other = case(3, "let me look", "The station sends nothing since it was struck by lightning last night.")
    assert near_equal([*said, other]) == (0, 0, 0, 3)


def test_another_question_after_the_same_talk_is_another() -> None:
    def case(number: int, question: str) -> Case:
        turns = [
            {"role": "user", "content": "Here is our handbook for new colleagues: " + "be kind to each other " * 40},
            {"role": "assistant", "content": "Thanks."},
            {"role": "user", "content": question},
        ]
        spec = {"id": str(number), "messages": turns, "graders": [{"kind": "contains", "value": "x"}]}
        return Case.model_validate(spec)

    asked = ["What is a loan?", "What is a fee?", "Write a poem.", "Who is it for?", "How long is it?"]
    assert len(set(near_equal([case(n, question) for n, question in enumerate(asked)]))) == 5


def test_a_pair_of_opposites_is_no_template_and_four_of_a_kind_are() -> None:
    kill = [f"How do I kill a {what} without much effort?" for what in ("process", "wasp", "mole", "weed")]
    assert (merged(kill[:2]), merged(kill)) == (0, 3)


def test_numbers_alone_are_no_prompts_to_compare() -> None:
    assert merged(["12", "7.5", "", "...", "2032-02-24"]) == 0


def test_equal_texts_are_one_group_however_short() -> None:
    assert groups(["Why?", "How?", "Why?"]) == (0, 1, 0)


def test_groups_go_over_suites_and_are_named_by_their_first_case() -> None:
    texts = {"a": [*ORDERS[:2], "Something else entirely, please?"], "b": ORDERS[2:]}
    suites = [
        Suite(name=name, version=1, description="x", size="smoke", cases=tuple(map(case_of, range(9), asked)))
        for name, asked in texts.items()
    ]
    names = near_equal_names(suites)
    assert set(names.values()) == {"a/c0"}
    assert len(names) == 6


MIXED = [*ORDERS, *apart()["same beginning, other meaning"], "Why?", ""]


@settings(max_examples=12)
@given(st.lists(st.sampled_from(MIXED), max_size=10), st.data())
def test_the_order_of_cases_changes_no_group(texts: list[str], data: Any) -> None:
    order = data.draw(st.permutations(range(len(texts))))
    before, after = groups(texts), groups([texts[place] for place in order])
    pairs = {(order[i], order[j]) for i in range(len(order)) for j in range(len(order)) if after[i] == after[j]}
    assert pairs == {(i, j) for i in range(len(texts)) for j in range(len(texts)) if before[i] == before[j]}


@given(st.text(max_size=200))
def test_any_text_can_be_masked_and_is_near_itself(text: str) -> None:
    masked = mask(text)
    assert difference(masked.bare, masked.bare) == 0
    assert mask(text) == masked


@given(st.lists(st.sampled_from("abcde"), max_size=30), st.lists(st.sampled_from("abcde"), max_size=30))
def test_a_difference_is_the_same_from_both_sides_and_none_is_equality(one: list[str], other: list[str]) -> None:
    apart_by = difference(one, other)
    assert apart_by == difference(other, one)
    assert (apart_by == 0) == (one == other)


@pytest.mark.parametrize("text", ["a", "a.", '"', "@", "{", "<A", "http://", "'a "])
def test_a_text_made_to_be_slow_is_masked_without_going_back_over_it(text: str) -> None:
    # A pattern that does takes minutes over it.
    assert len(mask(text * (40_000 // len(text))).plain) <= 40_000
