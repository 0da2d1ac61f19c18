from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given

from qeval.reporting.visible import cut, one_line, pieces, visible
from tests.reporting.fake import HOSTILE
from tests.reporting.strategies import hostile_texts


@given(hostile_texts)
def test_visible_text_can_be_written_as_utf8_and_holds_no_control_character(text):
    shown = visible(text)
    shown.encode("utf-8")
    # Cc control, Cs surrogate; format characters are allowed only where scripts and emoji need them.
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\t\n"]


@given(hostile_texts)
def test_visible_text_is_left_alone_the_second_time(text):
    assert visible(visible(text)) == visible(text)


@given(hostile_texts)
def test_pieces_lose_nothing_but_carriage_returns(text):
    assert "".join(piece.text for piece in pieces(text)) == text.replace("\r\n", "\n").replace("\r", "\n")


@given(hostile_texts)
def test_one_line_is_one_line_within_its_limit(text):
    line = one_line(text, 20)
    assert "\n" not in line
    assert len(line) <= 20


@pytest.mark.parametrize("text", [HOSTILE["arabic"], HOSTILE["emoji"], "می‌خواهم"])
def test_scripts_and_emoji_stay_as_they_are(text):
    assert visible(text) == text


def test_direction_overrides_are_spelled_out():
    assert visible("a\u202eb\u2066c\u200fd") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩d"


def test_a_cut_counts_what_it_leaves_out():
    assert cut("x" * 10, 10).left_out == 0
    assert cut("x" * 11, 10).left_out == 1
