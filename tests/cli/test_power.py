"""`qeval power`: the figures reach people and programs, and values out of range are refused with what to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.compare.planning import Design, plan_cases, plan_size
from qeval.compare.power import zero_flip_floor
from tests.cli.job_files import qeval_entry, write_job


def power(*arguments: object) -> Any:
    done = qeval_entry("power", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_both_questions_are_answered_by_default() -> None:
    told = power()
    assert told["cases_needed"][0]["to_hold"] == 1546
    assert [row["n"] for row in told["shown"]] == [100, 200, 300, 500, 1000, 2000]
    assert (told["design"]["margin"], told["design"]["alpha"], told["design"]["power"]) == (0.02, 0.05, 0.8)


def test_lists_make_a_row_each() -> None:
    told = power("--flip-rate", "0.02, 0.05,0.10,0.05", "--n", "200,500")
    assert [row["to_hold"] for row in told["cases_needed"]] == [310, 773, 1546]
    assert [(row["flip_rate"], row["n"]) for row in told["shown"]][:3] == [(0.02, 200), (0.02, 500), (0.05, 200)]


def test_every_option_reaches_the_design() -> None:
    told = power(
        *("--margin", "0.03", "--slices", "10", "--alpha", "0.01", "--power", "0.9"),
        *("--cluster-size", "5", "--correlation", "0.3"),
    )
    assert told["design"] == {
        "margin": 0.03,
        "slices": 10,
        "alpha": 0.01,
        "power": 0.9,
        "cluster_size": 5,
        "correlation": 0.3,
    }


def test_suites_at_hand_are_planned_under_the_policy(tmp_path: Path) -> None:
    write_job(tmp_path, {})
    rules = tmp_path / "policy.yaml"
    rules.write_text("margins: {pool: 0.04}\nplanning_flip_rate: 0.05\n")
    told = power("--suites", tmp_path / "capitals", "--policy", rules)
    pool, own = told["slices"]
    assert (pool["n"], pool["clusters"], pool["margin"], pool["suffices"]) == (160, 160, 0.04, "no")
    assert pool["cases_needed"] == 194
    assert (own["label"], own["cases_needed"], own["suffices"]) == ("capitals", 160, "yes")


def test_built_in_suites_are_planned_at_a_size() -> None:
    told = power("--suites", "schema,refusal", "--size", "standard", "--correlation", "0.2")
    assert [(row["label"], row["n"]) for row in told["slices"]] == [("all", 640), ("refusal", 320), ("schema", 320)]
    assert told["slices"][2]["cases_needed"] > told["slices"][1]["cases_needed"] > 320


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--margin", "2"], "--margin '2': a number from 0.0001 to 0.99 is needed. Write 0.02 for 2 points."),
        (["--margin", "2%"], "Write 0.02 for 2 points."),
        (["--margin", "0"], "--margin '0'"),
        (["--margin", "0.995"], "0.99 is needed.\n"),
        (["--margin", "-0.02"], "--margin '-0.02'"),
        (["--margin", "nan"], "--margin 'nan'"),
        (["--flip-rate", "0.1,inf"], "--flip-rate 'inf': a number from 0.0001 to 1"),
        (["--flip-rate", "0.1,,0.2"], "a value is missing"),
        (["--flip-rate", ""], "a value is missing"),
        (["--flip-rate", "ten"], "--flip-rate 'ten'"),
        (["--alpha", "5"], "Write 0.05 for 5 %."),
        (["--alpha", "0.5"], "--alpha '0.5': a number from 0.000001 to 0.49"),
        (["--power", "80"], "Write 0.8 for 80 %."),
        (["--power", "1"], "--power '1'"),
        (["--correlation", "1.5"], "--correlation '1.5': a number from 0 to 1 is needed."),
        (["--slices", ""], "--slices '': a whole number"),
        (["--slices", "0"], "--slices '0': a whole number from 1 to 1,000"),
        (["--n", "200,1.5"], "--n '1.5': a whole number from 1 to 10,000,000"),
        (["--cluster-size", "-1"], "--cluster-size '-1'"),
        (["--suites", "schema", "--n", "200"], "--n does not go with --suites"),
        (["--suites", "schema", "--margin", "0.02"], "--margin does not go with --suites"),
        (["--suites", "schema", "--cluster-size", "5"], "--cluster-size does not go with --suites"),
        (["--suites", "schema", "--size", "huge"], "unknown size 'huge'"),
        (["--suites", "shcema"], "Did you mean 'schema'?"),
        (["--size", "full"], "--size goes with --suites alone"),
        (["--policy", "policy.yaml"], "--policy goes with --suites alone"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_planned_is_refused(arguments: list[str], words: str) -> None:
    done = qeval_entry("power", *arguments)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    "extreme",
    [
        ["--flip-rate", "0.0001,1", "--margin", "0.0001", "--slices", "1000", "--alpha", "0.000001"],
        ["--flip-rate", "0.0001,1", "--margin", "0.99", "--power", "0.999"],
        ["--n", "1,10000000", "--cluster-size", "10000000", "--correlation", "1"],
        ["--flip-rate", "1", "--n", "1,2,10,400,401"],
    ],
    ids=["hardest", "easiest", "clusters", "all flip"],
)
def test_the_ends_of_every_range_can_be_planned(extreme: list[str]) -> None:
    for row in power(*extreme)["shown"]:
        assert 0 <= row["chance"] <= 1
        assert 0 < row["half_width"] <= 1


PAGE = (Path(__file__).parents[2] / "docs" / "method.md").read_text(encoding="utf-8")


def test_the_example_of_the_method_page_is_what_the_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, _, after = PAGE.partition("$ qeval power ")
    arguments, _, rest = after.partition("\n")
    shown = rest.partition("\n```")[0]
    printed = qeval_entry("power", *arguments.split()).stdout
    assert [line.rstrip() for line in printed.splitlines()] == [line.rstrip() for line in shown.splitlines()]


def test_the_figures_of_the_method_page_about_numbers_of_cases() -> None:
    text = " ".join(PAGE.split())
    few, ten = plan_cases(0.02, Design(margin=0.03)), Design(margin=0.03, slices=10)
    clustered = Design(cluster_size=5, correlation=0.3)
    chances = [plan_size(0.10, n, ten).chance for n in (200, 500, 1000, 2000)]
    for said in (
        f"{plan_cases(0.10, Design()).to_hold:,} cases exclude a loss beyond 2 points",
        f"{plan_cases(0.10, Design()).to_alarm:,} show one of 2 points",
        f"each must hold with {ten.power_each:.3f}",
        f"{few.to_hold} cases for 3 points at a flip rate of 2 % hold in {100 * few.chance:.0f} %",
        f"counts {clustered.design_effect:g} times less: {plan_cases(0.10, clustered).to_hold:,} cases",
        f"never under {zero_flip_floor(0.02)} for 2 points",
        "hold in {:.1f}, {:.1f}, {:.1f} and {:.1f} %".format(*(100 * chance for chance in chances)),
    ):
        assert said in text
