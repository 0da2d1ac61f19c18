"""The benchmark beside lm-eval: its tables from made-up results, its file, its choice of cases."""

import pytest

from qeval.errors import UsageError
from qeval.suites.load import load_suite
from scripts.replay_bench.results import (
    AUTO,
    LM_EVAL,
    REPLAYED,
    SWEEP,
    Part,
    Result,
    Setting,
    WorkSize,
    append,
    begin,
    load,
)
from scripts.replay_bench.tables import arms_table, best_batch_size, formats_table, show, sweep_table
from scripts.replay_bench.work import SHORT_PROMPT, shared_cases, short_cases

SETTING = Setting(
    model="made up",
    formats=("fp32", "nf4"),
    threads=2,
    processor="any",
    versions={},
    works={"short": WorkSize(cases=2, prompt_tokens=20, distinct_tokens=15, digest="0" * 64)},
)


def part(seconds, texts=("a", "b"), **found):
    return Part(load_s=1, answer_s=seconds, texts=texts, **found)


def result(arm, turn, fp32, nf4, **other):
    parts = {"fp32": fp32, "nf4": nf4} if nf4 else {"fp32": fp32}
    return Result(work="short", arm=arm, round=turn, wall_s=100 * (turn + 1), parts=parts, **other)


SWEPT = [
    result(SWEEP, turn, part(seconds), None, batch_size=size)
    for size, both in {4: (5, 9), 8: (6, 6), 16: (8, 8)}.items()
    for turn, seconds in enumerate(both)
]
ROUNDS = [
    result(LM_EVAL, 0, part(10), part(30), batch_size=8),
    result(LM_EVAL, 1, part(20), part(60, ("a", "c")), batch_size=8),
    result("plain", 0, part(5, ("a", "c")), part(15)),
    result("plain", 1, part(5), part(35)),
    result(REPLAYED, 0, part(5), part(7)),
    result(REPLAYED, 1, part(5), part(8)),
]


def measured(tmp_path, results):
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "results.jsonl"
    begin(path, SETTING)
    for row in results:
        append(path, row)
    return load(path)


def cells(table, row):
    _, head, rows = table
    return dict(zip(head, next(cells for cells in rows if cells[0] == row), strict=True))


def test_the_best_batch_size_is_that_of_the_mean_of_all_sweeps():
    assert best_batch_size(SWEPT, "short", "fp32") == 8


def test_totals_are_medians_and_ratios_are_taken_within_a_round(tmp_path):
    _, head, rows = arms_table(measured(tmp_path, [*SWEPT, *ROUNDS]), "short")
    assert head == ["arm", "rounds", "fp32", "nf4", "answering, all", "to lm-eval", "wall", "to lm-eval"]
    assert rows[1] == ["plain", "2", "5.0", "25.0", "30.0", "0.50", "150.0", "1.00"]
    assert rows[2][:5] == [REPLAYED, "2", "5.0", "7.5", "12.5"]
    assert [row[0] for row in arms_table(measured(tmp_path / "none", SWEPT), "short")[2]] == [
        LM_EVAL,
        "plain",
        REPLAYED,
    ]


def test_a_format_shows_its_own_ratios(tmp_path):
    found = cells(formats_table(measured(tmp_path, [*SWEPT, *ROUNDS]), "short"), "nf4")
    assert found["replay to lm-eval"] == f"{(7 / 30 + 8 / 60) / 2:.2f}"
    assert found["replay to plain"] == f"{(7 / 15 + 8 / 35) / 2:.2f}"


def test_texts_are_compared_case_by_case(tmp_path):
    table = formats_table(measured(tmp_path, [*SWEPT, *ROUNDS]), "short")
    assert [cells(table, name)["texts: plain"] for name in SETTING.formats] == ["1 of 2", "2 of 2"]


def test_auto_stands_apart_with_why_it_failed(tmp_path):
    failed = Result(work="short", arm=AUTO, round=0, wall_s=300, parts={}, failure="not done after 300 s")
    _, _, rows = sweep_table(measured(tmp_path, [*SWEPT, failed]))
    sizes = [["short", "4", "7.0"], ["short", "8", "6.0"], ["short", "16", "8.0"]]
    assert rows == [*([*row, "n/a"] for row in sizes), ["short", "auto", "not done after 300 s", "n/a"]]


def test_a_file_cut_in_its_sweep_still_prints(tmp_path, capsys):
    show(measured(tmp_path, SWEPT[:1]))
    assert "| short | 4 | 5.0 | n/a |" in capsys.readouterr().out


def test_a_file_goes_on_after_a_line_torn_in_a_write(tmp_path):
    path = tmp_path / "results.jsonl"
    measured(tmp_path, ROUNDS[:1])
    with path.open("a") as file:
        file.write('{"work": "sho')
    assert begin(path, SETTING).results == tuple(ROUNDS[:1])
    append(path, ROUNDS[1])
    assert begin(path, SETTING).results == tuple(ROUNDS[:2])


def test_results_of_another_setting_are_refused(tmp_path):
    measured(tmp_path, ROUNDS)
    with pytest.raises(UsageError, match="other threads"):
        begin(tmp_path / "results.jsonl", SETTING.model_copy(update={"threads": 3}))


def test_documents_are_taken_whole():
    everything = load_suite("longdoc").cases
    for limit in (1, 7, len(everything)):
        chosen = shared_cases(limit)
        ids, documents = {case.id for case in chosen}, {case.cluster for case in chosen}
        assert ids == {case.id for case in everything if case.cluster in documents}
        assert len(chosen) <= limit or len(documents) == 1


def letters(case):
    """Count the letters of a case's last message: here, its tokens."""
    return len(case.messages[-1].content)


def test_short_cases_come_from_all_suites_with_few_limits():
    cases = short_cases(letters, 80)
    assert len(cases) == 80
    assert {case.id.split("-")[0] for case in cases} == {"refusal", "rare", "multilingual", "schema"}
    assert all(letters(case) < SHORT_PROMPT for case in cases)
    assert all(case.max_new_tokens % 16 == 0 for case in cases)
