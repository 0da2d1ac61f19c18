from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.reporting.tracking.names import LONGEST, legal_names
from tests.reporting.strategies import hostile_texts

HANDED = [
    "recall@5",
    "time(ms)/decode",
    "slice lang=ar",
    "a,b",
    "x[1]",
    "100%",
    "a//b",
    "acc/",
    "../x",
    "n" * 260,
]
PIECES = st.sampled_from(["a", "b", "A", "/", "//", ".", "..", " ", "@", "_", "acc", "ß", "ﬁ", "x" * 130])
names = st.lists(st.one_of(hostile_texts, st.lists(PIECES, max_size=8).map("".join)), max_size=8)


def faults(found):
    """Everything a server could refuse in a set of names."""
    folded = [name.casefold() for name in found]
    for name in found:
        if not re.fullmatch(r"[\w\-. :/]+", name) or len(name) > LONGEST:
            yield f"illegal: {name!r}"
        if any(part.strip() in {"", ".", ".."} for part in name.split("/")):
            yield f"bad segment: {name!r}"
        if any(other.startswith(name.casefold() + "/") for other in folded):
            yield f"a folder of another: {name!r}"
    if len(set(folded)) < len(folded):
        yield "two are one"


def test_the_names_that_servers_refused_become_legal():
    found = legal_names(HANDED)
    assert list(found) == HANDED
    assert list(faults(found.values())) == []


def test_names_that_would_be_one_after_cleaning_stay_two():
    found = legal_names(["recall@5", "recall_5"])
    assert found["recall_5"] == "recall_5"
    assert found["recall@5"] != "recall_5"


@pytest.mark.parametrize("name", ["quality/longdoc/depth:0.9/pass_rate", "日本語/acc", "a b/c-d.e_f", "v1.2"])
def test_legal_names_stay_as_they_are(name):
    assert legal_names([name]) == {name: name}


def test_no_name_is_a_folder_of_another():
    found = legal_names(["acc", "acc/x", "acc/x/y"])
    assert found["acc/x/y"] == "acc/x/y"
    assert list(faults(found.values())) == []


def test_names_that_differ_in_case_alone_are_told_apart():
    assert list(faults(legal_names(["Acc", "acc", "ACC"]).values())) == []


@given(names)
def test_any_set_of_names_becomes_legal_and_distinct(given_names):
    found = legal_names(given_names)
    assert len(found) == len(set(given_names))
    assert list(faults(found.values())) == []


@given(names)
def test_the_order_of_names_does_not_change_them(given_names):
    assert legal_names(given_names) == legal_names(reversed(given_names))
