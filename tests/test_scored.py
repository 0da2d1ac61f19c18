"""What a record says of a scored answer."""

import pytest

from qeval.jsonl import append_lines, dumps, write_atomic
from qeval.record import RECORD_FILE, SCORED_FILE, load_scored
from qeval.scored import CLASS_LETTERS
from tests.factories import make_record, make_scored


def test_every_figure_has_one_item_a_position():
    with pytest.raises(ValueError, match="one item a position"):
        make_scored("s", "c", (0.1, 0.2), gap=(1.0,))
    with pytest.raises(ValueError, match="one item a position"):
        make_scored("s", "c", (0.1, 0.2), reverse_kl=(0.3,))
    assert make_scored("s", "c", (0.1, 0.2), reverse_kl=(0.3, 0.4)).reverse_kl == (0.3, 0.4)


def test_a_line_that_was_written_without_reverse_divergence_still_loads(tmp_path):
    line = make_scored("s", "c", (0.1,)).model_dump(mode="json")
    del line["reverse_kl"]
    header = make_record("fp32", {"s": [True]}).header.model_dump(mode="json")
    write_atomic(tmp_path / RECORD_FILE, dumps({**header, "schema_version": 1}))
    append_lines(tmp_path / SCORED_FILE, [line])
    assert load_scored(tmp_path) == (make_scored("s", "c", (0.1,)),)


def test_every_position_is_of_a_class_with_a_name():
    assert make_scored("s", "c", (0.1,) * 4, classes="".join(CLASS_LETTERS.values())).classes == "djto"
    with pytest.raises(ValueError, match="classes"):
        make_scored("s", "c", (0.1,), classes="x")
