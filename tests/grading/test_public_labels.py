"""The graders against public labelled data, where they lie beside the checkout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from qeval.grading import Answer, Question, check_grader
from qeval.grading.base import find_grader
from tests.grading import public_data as public
from tests.grading.case_files import SHARED
from tests.grading.public_data import Check
from tests.grading.public_texts import labelled_answers, texts

_DATA = SHARED / "data"
_TABLES = Path(__file__).parents[2] / "docs/graders.md"
pytestmark = pytest.mark.skipif(not _DATA.exists(), reason="the public labelled data do not lie beside this checkout")


@pytest.mark.parametrize(
    ("checks", "least"),
    [
        pytest.param(public.bfcl_golds, 1_000, id="every gold call passes in every syntax"),
        pytest.param(public.bfcl_mutations, 1_000, id="every broken call fails with its class"),
        pytest.param(public.texts_without_calls, 3_000, id="no text in words is a call or a malformed call"),
        pytest.param(public.maskbench, 72, id="the schema labels of maskbench hold"),
        pytest.param(public.numbers, 500, id="every gold number is read back in its language's style"),
        pytest.param(public.answers_in_each_form, 1_000, id="every gold answer passes in each form"),
        pytest.param(public.settled_lines, 50, id="a line in a script that settles the language is named right"),
    ],
)
def test_all_of_a_set_is_right(checks: Callable[[Path], tuple[Check, ...]], least: int):
    done = checks(_DATA)
    assert [check.told for check in done if not check.right] == []
    assert len(done) >= least


def test_the_json_schema_test_suite_passes():
    done = public.schema_suite(_DATA)
    assert [check.told for check in done if not check.right and check.group != "refused"] == []
    # Meta-schemas of their own would have to be fetched; schemas that name one are refused.
    refused = {str(check.told) for check in done if check.group == "refused"}
    assert all("format-assertion.json: schema that uses custom metaschema" in told for told in refused)
    assert len(refused) == 2


def test_the_language_of_answers_is_named_as_read_by_hand():
    found = Counter((row.label, _language_of(row.language, row.text)) for row in labelled_answers(_DATA))
    assert sum(n for (label, _), n in found.items() if label != "mixed") >= 110
    assert found["own", "fail"] == 0
    assert found["other", "pass"] == 0


def test_texts_are_in_the_language_they_are_written_in():
    some = [text for text in texts(_DATA) if text.source != "XQuAD answers"][::7]
    assert len(some) >= 100
    assert [text for text in some if _language_of(text.language, text.text) == "fail"] == []


def _language_of(language: str, text: str) -> str:
    kind, options = check_grader({"kind": "language", "lang": language}, "x")
    return find_grader(kind).grade(options, Answer(text), Question(language))[0].status


def test_the_tables_in_the_docs_are_those_of_the_graders_as_they_are():
    from scripts.grading_table import put, tables

    text = _TABLES.read_text(encoding="utf-8")
    assert put(text, tables(_DATA)) == text, "run: python scripts/grading_table.py"
