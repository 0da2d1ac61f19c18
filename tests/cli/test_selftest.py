"""`qeval selftest`: its exit code says whether all is as it should be."""

import json

import pytest

from qeval.selftest import run as module
from qeval.selftest.rows import Row
from tests.cli.job_files import qeval_entry


def made(*, right):
    return Row(
        candidate="b",
        planted="damage",
        n=200,
        difference=-0.1,
        decision="regressed",
        why="interval",
        stopped_at=60,
        expected=("regressed",),
        as_it_should_be=right,
    )


@pytest.mark.parametrize(("right", "code"), [((True, True), 0), ((True, False), 1)])
def test_the_exit_code_and_the_json_line_say_whether_every_row_is_right(right, code, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "run_selftest", lambda *_, quick: [made(right=one) for one in right])
    done = qeval_entry("selftest", "--out", tmp_path / "out", "--json")
    last = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == last["exit_code"] == code
    assert last["as_it_should_be"] == (code == 0)
    assert [one["as_it_should_be"] for one in last["rows"]] == list(right)


def test_quick_is_handed_on(monkeypatch, tmp_path):
    asked: list[bool] = []

    def run(*_, quick):
        asked.append(quick)
        return [made(right=True)]

    monkeypatch.setattr(module, "run_selftest", run)
    qeval_entry("selftest", "--out", tmp_path / "out", "--quick")
    assert asked == [True]


def test_an_interrupt_is_no_verdict(monkeypatch, tmp_path):
    def interrupted(*_, quick):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run_selftest", interrupted)
    done = qeval_entry("selftest", "--out", tmp_path / "out", "--json")
    assert done.returncode == 130
    assert json.loads(done.stdout.splitlines()[-1])["error"] == "interrupted"
