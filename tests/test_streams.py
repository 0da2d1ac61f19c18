"""Streams whose writes never fail, on real descriptors."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.streams import ASCII_ERRORS, Stream, in_ascii, settle


def stream(number: int) -> Stream:
    settle()
    return Stream(number, "ascii", ASCII_ERRORS, by_line=False)


@pytest.mark.parametrize(("place", "code"), [("/dev/full", 28), ("/dev/null", None)])
def test_a_full_place_takes_what_it_is_given_and_remembers_why_it_is_lost(place, code):
    with Path(place).open("wb", buffering=0) as file:
        out = stream(file.fileno())
        out.write("x" * 100_000)
        assert (out.failure.errno if out.failure else None) == code


def test_what_closes_a_stream_does_not_stop_the_next_line(tmp_path):
    with (tmp_path / "out").open("wb", buffering=0) as file:
        out = stream(file.fileno())
        out.write("one\n")
        out.close()
        out.write("two\n")
        out.flush()
    assert (tmp_path / "out").read_text() == "one\ntwo\n"


def test_a_pipe_that_does_not_block_is_waited_for():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    got: list[int] = []

    def read() -> None:
        while piece := os.read(reading, 1 << 16):
            got.append(len(piece))

    reader = threading.Thread(target=read)
    out = stream(writing)
    reader.start()
    out.write("x" * 300_000)
    out.flush()
    os.close(writing)
    reader.join()
    os.close(reading)
    assert sum(got) == 300_000


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50.0 → 0.0, ±2, ≥ 3 … “x”", '50.0 -> 0.0, +-2, >= 3 ... "x"'),
        ("Zürich naïve", "Zurich naive"),
        ("字 m² ½ 😀 \ud83d", "\\u5b57 m\\xb2 \\xbd \\U0001f600 \\ud83d"),
    ],
)
def test_characters_that_do_not_fit_are_written_in_ascii(text, written):
    settle()
    assert text.encode("ascii", ASCII_ERRORS).decode() == written


@given(st.characters())
def test_every_character_has_an_ascii_form(character):
    assert in_ascii(character).isascii()
    assert in_ascii(character)


def test_what_is_printed_after_a_redirection_is_in_the_file_with_all_descriptors_closed(tmp_path):
    log = tmp_path / "log.txt"
    code = (
        "import os; from pathlib import Path; from qeval import streams\n"
        f"streams.redirect(Path({str(log)!r}), str.upper); print('printed →'); os.write(2, b'from C\\n')\n"
        f"held = open({str(tmp_path / 'held')!r}, 'w'); print(held.fileno() > 2)"
    )
    subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert log.read_text(encoding="utf-8") == "PRINTED →\nfrom C\nTRUE\n"
    assert (tmp_path / "held").read_bytes() == b""


@pytest.mark.parametrize(("fault", "code"), [("raise ImportError('no typer')", 70), ("raise KeyboardInterrupt", 130)])
def test_what_hinders_loading_the_program_is_no_verdict(fault, code, tmp_path):
    (tmp_path / "typer.py").write_text(fault)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", ""), str(Path.cwd())])
    done = subprocess.run(
        [sys.executable, "-m", "qeval", "power"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    assert done.returncode == code
