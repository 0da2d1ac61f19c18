"""What a record says of a scored answer."""

import pytest

from qeval.scored import CLASS_LETTERS
from tests.factories import make_scored


def test_every_figure_has_one_item_a_position():
    with pytest.raises(ValueError, match="one item a position"):
        make_scored("s", "c", (0.1, 0.2), gap=(1.0,))


def test_every_position_is_of_a_class_with_a_name():
    assert make_scored("s", "c", (0.1,) * 4, classes="".join(CLASS_LETTERS.values())).classes == "djto"
    with pytest.raises(ValueError, match="classes"):
        make_scored("s", "c", (0.1,), classes="x")
