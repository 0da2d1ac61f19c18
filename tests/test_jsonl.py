"""JSON Lines files as people and programs really leave them (C30, C31), and what is written back."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.errors import UsageError
from qeval.jsonl import append_lines, dumps, loads, read_appended, read_lines, read_text, write_atomic

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def values(path: Path) -> list[object]:
    return [line.value for line in read_lines(path)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'\xef\xbb\xbf{"id":"1"}\r\n{"id":"2"}', [{"id": "1"}, {"id": "2"}]),
        (
            '{"id":"1","p":"a\u2028b"}\n{"id":"2","p":"c\x85d"}\n'.encode(),
            [{"id": "1", "p": "a\u2028b"}, {"id": "2", "p": "c\x85d"}],
        ),
        (b'{"a":1}\n\n   \n{"a":2}\n', [{"a": 1}, {"a": 2}]),
        (b'{"p":"x\\r\\ny"}\r\n', [{"p": "x\r\ny"}]),
        (b"", []),
    ],
    ids=[
        "C30 mark, CRLF, no end",
        "C31 separators inside strings",
        "C31 blank lines",
        "C30 CRLF kept in text",
        "empty",
    ],
)
def test_a_file_is_read_as_its_writer_meant_it(raw: bytes, expected: list[object], tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    path.write_bytes(raw)
    assert values(path) == expected


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"id":1}'.encode("utf-16"), "UTF-16"),
        (b'{"a": "\xff"}', "not valid UTF-8 at byte 7"),
        (b"{}\n" * 6 + b"{oops}\n", "line 7"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": 1, "a": 2}', "'a' stands twice"),
        (b"[" * 100_000, "line 1: not JSON .nested deeper than 200 levels"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested deeper than 200 levels"),
        (b"[" * 201 + b"]" * 201, "nested deeper than 200 levels"),
        (b'{"a": 1e400}', "the number 1e400 is too large"),
        (b'{"a": -1e999999999}', "the number -1e999999999 is too large"),
        (b"9" * 5_000, "a number has 5,000 digits; at most 4,000 are read"),
    ],
    ids=[
        "UTF-16",
        "not UTF-8",
        "line number",
        "NaN",
        "key twice",
        "too deep",
        "objects too deep",
        "a level too deep",
        "a number too large",
        "far too large",
        "too many digits",
    ],
)
def test_a_file_that_cannot_be_meant_says_where_and_why(raw: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    path.write_bytes(raw)
    with pytest.raises(UsageError, match=said):
        read_lines(path)


@pytest.mark.parametrize(
    "text", ["[" * 200 + "]" * 200, '"' + "[" * 1_000 + '"', '"\\"' + "[" * 1_000 + '"', "9" * 4_000]
)
def test_what_is_within_the_bounds_is_read(text: str) -> None:
    assert dumps(loads(text)) == text


@pytest.mark.parametrize("lenient", [False, True])
@given(
    text=st.lists(
        st.sampled_from(['{"a":', "[", "]", "}", '"', "\\", ",", "1e999", "-", "NaN", "9" * 4_001, "\ud83d"]),
        max_size=20,
    )
)
def test_any_text_is_json_or_a_value_error(text: list[str], lenient: bool) -> None:
    with suppress(ValueError):
        loads("".join(text), lenient=lenient)


def test_published_files_of_models_may_hold_what_is_not_strict() -> None:
    value = loads('{"a": NaN, "b": -Infinity, "c": 1, "c": 1e999}', lenient=True)
    assert (value["b"], value["c"]) == (-math.inf, math.inf)
    with pytest.raises(ValueError, match="nested deeper"):
        loads("[" * 201 + "]" * 201, lenient=True)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl: cannot read it \(No such file"):
        read_text(tmp_path / "none.jsonl")


@given(json_values)
def test_what_is_written_is_read_back_and_is_one_line(value: object) -> None:
    text = dumps(value)
    assert "\n" not in text
    assert loads(text) == value
    assert json.loads(text) == value


@given(st.text(st.characters(codec=None), max_size=30))
def test_any_text_even_half_an_emoji_can_be_written_as_utf8(text: str) -> None:
    line = dumps({"text": text, "lone": "\ud83d"})
    line.encode("utf-8")
    assert loads(line)["lone"] == "\ud83d"


def test_nan_is_never_written() -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        dumps({"x": float("nan")})


def test_c31_appended_lines_come_back_and_a_torn_last_line_is_dropped_at_any_byte(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    append_lines(path, [{"t": "a\u2028b"}, {"t": "🚀"}])
    append_lines(path, [{"t": "c"}])
    whole = path.read_bytes()
    ends = [index for index, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        assert len(list(read_appended(path, loads))) == sum(end < cut for end in ends)


def test_damage_inside_an_appended_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":\n{"c":3}\n')
    with pytest.raises(UsageError, match="line 2: damaged"):
        list(read_appended(path, loads))


def test_a_whole_file_is_replaced_or_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "record.json"
    write_atomic(path, "one\r\n")
    write_atomic(path, "two")
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in path.parent.iterdir()] == ["record.json"]
