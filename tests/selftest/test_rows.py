"""Rows say whether the gate did as it should, for the right reason; and the table shows them."""

import io

import pytest
from rich.console import Console

from qeval.compare.build import build_report
from qeval.compare.policy import Policy
from qeval.errors import UsageError
from qeval.record import folder_name, save_record
from qeval.runner.process import Ended
from qeval.runner.progress import watcher_for
from qeval.runner.run import VariantRun
from qeval.selftest.planted import IDENTICAL, Planted
from qeval.selftest.rows import make_row
from qeval.selftest.run import rows_of, run_selftest
from qeval.selftest.table import render_table
from tests.factories import make_outcome, make_record

N = 200
HALF = {"s": [i % 2 == 0 for i in range(N)]}
BASELINE = make_record("fp32", HALF)
ALPHA = 0.05


def losing(name, lost):
    return make_record(name, {"s": [right and i >= 2 * lost for i, right in enumerate(HALF["s"])]})


def row(planted, candidate, stopped_at=None, missing=None):
    candidates = [] if candidate is None else [candidate]
    report = build_report(BASELINE, candidates, Policy(), created_at="t", missing=missing or {})
    return make_row(planted, report, stopped_at, ALPHA)


def printed(rows, width=100):
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(render_table(rows))
    return stream.getvalue()


def test_a_regression_that_should_be_one_is_right_with_its_loss_and_n():
    found = row(Planted("b", "damage", ("regressed",)), losing("b", 20), stopped_at=100)
    assert (found.decision, found.as_it_should_be, found.n, found.difference) == ("regressed", True, N, -0.1)
    text = printed([found])
    for part in ("damage", "-10.0 pp", "(200)", "REGRESSED", "p for harm <0.0001", "100", "yes", "1 of 1"):
        assert part in text


def test_a_decision_that_should_not_be_is_said_aloud():
    found = row(Planted("b", "damage", ("regressed", "inconclusive")), losing("b", 0))
    assert (found.decision, found.as_it_should_be) == ("accepted", False)
    text = printed([found])
    assert "NO" in text
    assert "regressed or" in " ".join(text.split())
    assert "0 of 1 are as they should be" in text


def test_the_right_decision_for_another_reason_is_not_right():
    found = make_record("b", HALF, decoding={"do_sample": True})
    assert not row(Planted("b", "template", ("not_comparable",), "another prompt"), found).as_it_should_be
    assert row(Planted("b", "template", ("not_comparable",), "decoding setting"), found).as_it_should_be


def test_an_open_row_says_how_many_cases_it_takes():
    found = row(Planted("b", "damage", ("inconclusive",)), losing("b", 2))
    # (1.645 + 0.842)^2 * 0.01 / 0.01^2 for two losses of 200 pairs.
    assert found.why.endswith("a loss of this size takes about 619 cases to prove")
    assert found.as_it_should_be


def test_equal_answers_are_accepted_and_said_to_be_equal():
    found = row(Planted("b", "nothing", ("accepted",), IDENTICAL), losing("b", 0))
    assert (found.why, found.as_it_should_be) == (IDENTICAL, True)


def test_answers_that_are_only_as_good_are_not_identical():
    changed = [make_outcome("s", f"c{i:04}", right, text=f"{right}") for i, right in enumerate(HALF["s"])]
    found = row(Planted("b", "nothing", ("accepted",), IDENTICAL), make_record("b", HALF, outcomes=changed))
    assert (found.decision, found.as_it_should_be) == ("accepted", False)


def test_numeric_errors_are_found_among_the_unanswered():
    broken = [make_outcome("s", f"c{i:04}", None, status="numeric_error") for i in range(N)]
    planted = Planted("b", "NaN", ("incomplete", "inconclusive", "regressed"), "numeric_error")
    found = row(planted, make_record("b", HALF, outcomes=broken), stopped_at=1)
    assert (found.as_it_should_be, found.n, found.difference) == (True, 0, None)
    assert "200 cases: numeric_error" in found.why
    assert "nothing" in printed([found])


def test_a_refused_candidate_is_stopped_before_the_first_case():
    planted = Planted("b", "int8 of nothing", ("incomplete",), "nothing was quantised")
    found = row(planted, None, 0, missing={"b": "unsupported: asked int8, nothing was quantised"})
    assert found.as_it_should_be
    assert "before" in printed([found])


@pytest.mark.parametrize("width", [80, 140])
def test_the_table_fits(width):
    found = row(Planted("b", "a large damage on four layers", ("regressed",)), losing("b", 60), stopped_at=20)
    assert max(map(len, printed([found], width).splitlines())) <= width


def test_stored_runs_become_rows_and_reports(tmp_path):
    runs = []
    for record in (BASELINE, losing("b", 60)):
        folder = tmp_path / "records" / folder_name(record.header.variant)
        save_record(folder, record)
        runs.append(VariantRun(record.header.variant, folder, Ended("complete", "")))
    runs.append(VariantRun("c", tmp_path / "records/c", Ended("unsupported", "nothing was quantised")))
    planted = (
        Planted("b", "damage", ("regressed",)),
        Planted("c", "nothing quantised", ("incomplete",), "nothing was quantised"),
    )
    found = rows_of(planted, runs, tmp_path)
    assert [(one.candidate, one.as_it_should_be) for one in found] == [("b", True), ("c", True)]
    assert found[0].stopped_at in range(20, 60)
    assert found[1].stopped_at == 0
    assert (tmp_path / "report.html").exists()


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(UsageError, match="is not empty"):
        run_selftest(tmp_path, watcher_for(Console(file=io.StringIO())))
