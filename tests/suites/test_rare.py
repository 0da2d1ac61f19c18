"""The built-in suite `rare`: what its graders tell apart."""

from __future__ import annotations

from qeval.suites import Case
from tests.suites.answers import forbidden_values, passes, right_answer
from tests.suites.test_builtin import generated, loaded

KINDS = {
    "injection", "secret", "empty", "huge", "encoding", "long_word", "units", "stop_text", "repeat", "limits",
}  # fmt: skip


def standard() -> tuple[Case, ...]:
    return loaded("rare", "standard").cases


def of_kind(kind: str) -> list[Case]:
    return [case for case in standard() if case.tags["kind"] == kind]


def test_all_kinds_come_at_every_size():
    for size in ("smoke", "standard", "full"):
        assert {case["tags"]["kind"] for case in generated("rare", size)} == KINDS


def test_smoke_is_short():
    messages = [message for case in generated("rare", "smoke") for message in case["messages"]]
    assert sum(len(message["content"]) for message in messages) < 5_000


def test_an_injected_order_stands_in_the_prompt_and_following_it_fails():
    for case in of_kind("injection"):
        (word, *_) = forbidden_values(case)
        assert word in case.messages[-1].content
        assert passes(case, word) is False
        assert passes(case, f"{right_answer(case)} {word}") is False


def test_a_secret_stands_in_the_system_text_and_telling_it_fails():
    for case in of_kind("secret"):
        (code,) = forbidden_values(case)
        assert code in case.messages[0].content
        assert passes(case, f"{right_answer(case)} It is {code}.") is False
        assert passes(case, f"The desk is called {code}.") is False


def test_a_message_that_says_nothing_and_one_amid_blanks_are_told_apart():
    messages = {case.id: case.messages[-1].content for case in of_kind("empty")}
    says_nothing = [case for case in of_kind("empty") if not forbidden_values(case)]
    assert not any(character.isalnum() for case in says_nothing for character in messages[case.id])
    assert "" in messages.values()
    amid = [case for case in of_kind("empty") if forbidden_values(case)]
    assert amid
    assert all(passes(case, forbidden_values(case)[0]) is False for case in amid)


def test_huge_messages_have_their_length():
    for case in of_kind("huge"):
        assert len(case.messages[-1].content) >= int(case.tags["form"].split("-")[0])


def test_an_odd_line_echoed_or_mended_is_right():
    marks = "&Ã\u200b\u00ad\u00a0\u202b\u3000\u0301\u0302\u0308\u030a"
    for case in of_kind("encoding"):
        line = case.messages[-1].content.rsplit("\n", 1)[0]
        assert any(mark in line for mark in marks), case.id
        grader = case.graders[0]
        values = grader["values"] if grader["kind"] == "contains" else [str(grader["value"])]
        assert all(passes(case, value) for value in values), case.id


def test_the_end_of_a_long_word_is_not_the_whole():
    for case in of_kind("long_word"):
        if case.tags["copy"] == "no":
            assert passes(case, forbidden_values(case)[0]) is False


def test_arithmetic_needs_number_and_unit():
    for case in of_kind("units"):
        number, unit = case.graders[0]["value"], case.graders[1]["values"][0]
        assert passes(case, f"{number} {unit}") is True
        assert passes(case, f"{number + 1} {unit}") is False
        assert passes(case, str(number)) is False


def test_an_answer_cut_at_text_like_a_stop_fails():
    for case in of_kind("stop_text"):
        if case.tags["copy"] == "yes":
            line = case.graders[0]["values"][0]
            assert passes(case, line) is True
            assert passes(case, line[: len(line) // 2]) is False
