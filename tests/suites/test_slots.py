"""Slots: values as texts say them and as JSON holds them."""

from __future__ import annotations

import uuid

from hypothesis import given, settings
from hypothesis import strategies as st

from qeval.grading._schema import violations
from qeval.jsonl import dumps
from qeval.suites.draw import Draw
from qeval.suites.slots import Drawn, draw_slots, draw_value, fill_json, fill_text, slots_of

CITY = {"values": ["Oslo", "Lima", "Cairo"]}


def test_a_text_says_what_the_json_holds_in_another_form():
    drawn = {"date": Drawn("2019-05-03", "3 May 2019"), "count": Drawn(3, "three")}
    assert fill_text("{count} came on {date}.", drawn) == "three came on 3 May 2019."
    template = {"n": "{count}", "on": ["{date}"], "note": "{count}x", "{date}": None}
    assert fill_json(template, drawn) == {"n": 3, "on": ["2019-05-03"], "note": "3x", "2019-05-03": None}


def test_slots_are_found_at_every_depth_in_their_order():
    assert list(slots_of({"{a}": ["{b} and {c}", {"x": "{a}"}, 5]})) == ["a", "b", "c", "a"]


@given(st.integers())
def test_slots_of_one_bank_get_different_values(seed):
    drawn = draw_slots(Draw(seed), ["city", "city2", "city3"], {"city": CITY})
    assert len({each.value for each in drawn.values()}) == 3


@settings(deadline=None)  # the first call imports the checkers of formats
@given(st.integers(), st.sampled_from(["date", "time", "uuid"]))
def test_dates_times_and_uuids_are_what_json_schema_calls_so(seed, kind):
    drawn = draw_value(Draw(seed), {kind: True})
    assert violations(dumps({"type": "string", "format": kind}), drawn.value) == []
    if kind == "uuid":
        assert uuid.UUID(drawn.value).version == 4


def test_a_time_of_twelve_hours_is_the_time_of_day():
    seen = {draw.value[:2]: draw.shown for draw in (draw_value(Draw(seed), {"time": True}) for seed in range(400))}
    assert {hour: seen[hour].split(":")[0] + seen[hour][-3:] for hour in ("00", "09", "12", "21")} == {
        "00": "12 am",
        "09": "9 am",
        "12": "12 pm",
        "21": "9 pm",
    }


def test_a_word_that_was_said_is_not_drawn_again():
    assert {draw_value(Draw(seed), CITY, without={"Oslo", "Lima"}).value for seed in range(20)} == {"Cairo"}
    assert {draw_value(Draw(seed), {"said": {2: "two", 0.5: "half"}}) for seed in range(20)} == {
        (2, "two"),
        (0.5, "half"),
    }
