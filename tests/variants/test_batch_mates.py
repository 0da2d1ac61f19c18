"""Which formats keep the rows of a batch apart: every one on the embedded model, and what the tiny model can show."""

from __future__ import annotations

import pytest

from qeval.engines.batch_mates import largest_move
from qeval.models.locate import resolve
from qeval.variants import load_variant, parse_variant
from qeval.variants.base import all_formats


def move(text, model):
    return largest_move(load_variant(parse_variant(text), model, "cpu").model.eval(), "cpu", 0)


def test_the_threshold_reaches_the_library_and_without_outliers_rows_stand_apart(tiny_model_folder):
    model = resolve(str(tiny_model_folder))
    assert move("int8", model) > 0
    assert move("int8+threshold=0", model) == 0


@pytest.mark.slow
@pytest.mark.parametrize("text", [*sorted(all_formats()), "int8+threshold=0"])
def test_of_all_formats_only_llm_int8_lets_rows_of_the_embedded_model_depend_on_each_other(text):
    found = move(text, resolve("smollm2-135m"))
    if text == "int8":
        assert found > 0.1
    else:
        assert found == 0
