"""Where stop texts end an answer (C24), and what is said of those that the prompt writes in another way."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.jsonl import read_lines
from qeval.suites import Case, load_suite
from qeval.suites.lint.stops import stop_flaws
from qeval.suites.stops import find_stop
from tests.suites.test_load import CASE, write_jsonl

ROWS = [line.value for line in read_lines(Path(__file__).with_name("stops.jsonl"))]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_an_answer_ends_where_its_row_says(row):
    place = find_stop(row["text"], row["stop"])
    assert (None if place is None else row["text"][: place.start]) == row["answer"]


@given(before=st.text(max_size=12), stop=st.text(min_size=1, max_size=5), after=st.text(max_size=12))
def test_the_first_place_of_a_stop_text_is_the_one_found(before, stop, after):
    text = f"{before} {stop} {after}"
    place = find_stop(text, [stop])
    assert place is None or 0 <= place.start < place.end <= len(text)
    if all("a" <= letter <= "z" for letter in stop):
        assert place is not None
        assert text[place.start : place.end] == stop or not stop.isascii() or not before.isascii()
        assert place.start <= len(before) + 1


def case(stop: list[str], prompt: str) -> Case:
    return Case(
        id="a", messages=[{"role": "user", "content": prompt}], graders=[{"kind": "exact", "value": "x"}], stop=stop
    )


@pytest.mark.parametrize(
    ("stop", "prompt", "written"),
    [
        ("问题:", "问题：一加一？\n答案：2", "问题："),
        ("Q:", "Ｑ：1+1", "Ｑ："),
        ("\n\n", "one\r\n\r\ntwo", "\\r\\n\\r\\n"),
        ("Réponse", "Re\u0301ponse", "Re\u0301ponse"),
        ("Question :", "Question\u00a0: 1+1 ?", "Question\\xa0:"),
    ],
)
def test_c24_a_stop_text_that_the_prompt_writes_in_another_way_is_warned_of(stop, prompt, written):
    (flaw,) = stop_flaws(case([stop], prompt))
    assert repr(stop) in flaw.text
    assert written in flaw.text


@pytest.mark.parametrize(
    ("stop", "prompt"),
    [("问题:", "问题:一加一？"), ("问题:", "no such thing"), ("问题:", "例：问题:a 问题:b"), ("\n\n", "one\n\ntwo")],
)
def test_c24_a_stop_text_that_stands_as_written_or_nowhere_is_not_warned_of(stop, prompt):
    assert list(stop_flaws(case([stop], prompt))) == []


def test_a_suite_without_stop_texts_keeps_its_digest(tmp_path):
    plain = load_suite(write_jsonl(tmp_path, (CASE % ("1", "a")).encode()))
    empty = load_suite(write_jsonl(tmp_path, (CASE % ("1", "a"))[:-1].encode() + b', "stop": []}'))
    given = load_suite(write_jsonl(tmp_path, (CASE % ("1", "a"))[:-1].encode() + b', "stop": ["Q:"]}'))
    assert plain.digest == empty.digest != given.digest
    assert "stop" not in plain.cases[0].model_dump()
