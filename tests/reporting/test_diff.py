from __future__ import annotations

from hypothesis import given

from qeval.reporting.diff import word_diff
from tests.reporting.strategies import hostile_texts


def text(spans):
    return "".join(span.text for span in spans)


@given(hostile_texts, hostile_texts)
def test_spans_joined_are_the_texts_again(left, right):
    sides = word_diff(left, right)
    assert (text(sides.left), text(sides.right)) == (left, right)


def marked(spans):
    return [span.text.strip() for span in spans if span.differs]


def test_only_the_changed_words_are_marked():
    sides = word_diff("The pump was replaced in March.", "The pump was replaced in May.")
    assert (marked(sides.left), marked(sides.right)) == (["March"], ["May"])


def test_scripts_without_blanks_are_cut_by_character():
    assert marked(word_diff("東京は大きい町です", "京都は大きい町です").right) == ["都"]


def test_equal_unlike_very_long_and_looping_texts_are_not_marked():
    for left, right in (
        ("same", "same"),
        ("alpha beta", "gamma delta"),
        ("a b " * 400, "a c " * 400),
        ("a b " * 250, "b a a " * 150),
    ):
        assert not marked(word_diff(left, right).left)
