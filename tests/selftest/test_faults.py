"""Faults of plumbing change what they say they change, and nothing else."""

import pytest

from qeval.engines.render import probe
from qeval.record import load_record, save_record
from qeval.selftest.faults import with_another_template, with_answers_of, with_first_token_dropped
from qeval.suites.case import Case
from tests.factories import make_proof, make_record

CASE = Case(id="a", messages=({"role": "user", "content": "Hello?"},), graders=({"kind": "contains", "value": "x"},))


def prompt(folder):
    from transformers import AutoTokenizer

    renderer = probe(AutoTokenizer.from_pretrained(folder, local_files_only=True), (), None)
    return renderer.rendering, renderer.token_ids(renderer.text(CASE))


@pytest.fixture
def original(tiny_model_folder):
    return prompt(tiny_model_folder)


def test_only_the_first_token_is_dropped(tiny_model_folder, original, tmp_path):
    rendering, ids = prompt(with_first_token_dropped(tiny_model_folder, tmp_path / "copy", "<s>"))
    assert ids == original[1][1:]
    assert rendering == original[0]


def test_another_template_shows_the_same_words_otherwise(tiny_model_folder, original, tmp_path):
    rendering, ids = prompt(with_another_template(tiny_model_folder, tmp_path / "copy"))
    assert ids != original[1]
    assert rendering.template == "model"


def test_a_record_with_the_answers_of_another_keeps_its_header_on_disk(tmp_path):
    baseline = make_record("fp32", {"s": [True, False]})
    quantized = make_record("nf4", {"s": [False, False]}, proof=make_proof())
    save_record(tmp_path / "record", with_answers_of(baseline, quantized, "cached"))
    found = load_record(tmp_path / "record")
    assert (found.header.variant, found.header.proof) == ("cached", quantized.header.proof)
    assert found.outcomes == baseline.outcomes
