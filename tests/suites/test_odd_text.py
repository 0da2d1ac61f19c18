"""Odd forms of a text: other code points, and for graders the same words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.grading._text import fold
from qeval.suites.odd_text import odd_forms, odd_text

ACCENTED = st.text(st.sampled_from("abcéüêåú 12"), min_size=1).filter(str.strip)
FOLDED = [form for form in odd_forms() if form not in {"mojibake", "entities"}]


@pytest.mark.parametrize("form", FOLDED)
@given(text=ACCENTED)
def test_what_only_looks_odd_is_the_same_to_graders(form, text):
    assert fold(odd_text(text, form)) == fold(text)


@pytest.mark.parametrize("form", odd_forms())
def test_a_form_changes_a_text(form):
    assert odd_text("Zoë, room 12", form) != "Zoë, room 12"


@given(text=ACCENTED)
def test_mojibake_can_be_mended(text):
    assert odd_text(text, "mojibake").encode("latin-1").decode() == text
