"""Markdown tables of what was measured: medians over rounds, ratios within a round first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from qeval.units import UNKNOWN
from scripts.characteristics.tables import show as show_table
from scripts.replay_bench.results import (
    AUTO,
    LM_EVAL,
    PLAIN,
    QEVAL_ARMS,
    REPLAYED,
    SWEEP,
    Measured,
    Part,
    Result,
    Setting,
)

ARMS = (LM_EVAL, *QEVAL_ARMS)
Figure = Callable[[Result], float]


def show(measured: Measured) -> None:
    """Print all tables that there are figures for."""
    print(describe(measured.setting) + "\n")
    for work in measured.setting.works:
        if not any(row.arm in ARMS for row in _of(measured.results, work)):
            continue
        show_table(*arms_table(measured, work))
        show_table(*formats_table(measured, work))
    show_table(*sweep_table(measured))


def describe(setting: Setting) -> str:
    """Say what ran on what."""
    lines = [
        f"Model {setting.model}, {setting.threads} threads, {setting.processor}.",
        *(
            f"{name}: {', '.join(f'{package} {version}' for package, version in versions.items())}."
            for name, versions in setting.versions.items()
        ),
        *(
            f"`{name}`: {size.cases} cases, {size.prompt_tokens} prompt tokens, {size.distinct_tokens} where shared "
            "prefixes are counted once."
            for name, size in setting.works.items()
        ),
    ]
    return "\n".join(f"- {line}" for line in lines)


def best_batch_size(results: Sequence[Result], work: str, name: str) -> int:
    """Return the batch size at which lm-eval took least in a format, by the mean of what the sweep has."""
    seconds = _sweep_seconds(results, work, name)
    return min(seconds, key=lambda size: seconds[size])


def arms_table(measured: Measured, work: str) -> tuple[str, list[str], list[list[str]]]:
    """Return title, head and rows: seconds of each arm, all formats together."""
    formats, rows = measured.setting.formats, _of(measured.results, work)
    title = (
        f"**`{work}`**: seconds of answering by format (medians of rounds), all formats together, and the processes "
        "from start to end; lm-eval in each format at the batch size that the sweep shows to be its best"
    )
    head = ["arm", "rounds", *formats, "answering, all", "to lm-eval", "wall", "to lm-eval"]
    return title, head, [_arm_row(rows, arm, formats) for arm in ARMS]


def _arm_row(rows: Sequence[Result], arm: str, formats: Sequence[str]) -> list[str]:
    found = [row for row in rows if row.arm == arm]
    each = [_seconds([row.parts[name].answer_s for row in found]) for name in formats]
    totals = [_seconds([figure(row) for row in found]) for figure in (_answering, _wall)]
    ratios = [_ratio(rows, arm, LM_EVAL, figure) for figure in (_answering, _wall)]
    return [arm, str(len(found)), *each, totals[0], ratios[0], totals[1], ratios[1]]


def formats_table(measured: Measured, work: str) -> tuple[str, list[str], list[list[str]]]:
    """Return title, head and rows: each format alone."""
    rows = _of(measured.results, work)
    title = f"**`{work}`**, each format: seconds of answering, and answers that are lm-eval's very texts"
    head = [
        "format", LM_EVAL, PLAIN, REPLAYED, "plain to lm-eval", "replay to lm-eval", "replay to plain", "texts: plain",
        "texts: replay",
    ]  # fmt: skip
    return title, head, [_format_row(rows, name) for name in measured.setting.formats]


def _format_row(rows: Sequence[Result], name: str) -> list[str]:
    parts = {arm: [row.parts[name] for row in rows if row.arm == arm] for arm in ARMS}

    def answering(row: Result) -> float:
        return row.parts[name].answer_s

    seconds = [_seconds([part.answer_s for part in parts[arm]]) for arm in (LM_EVAL, PLAIN, REPLAYED)]
    pairs = ((PLAIN, LM_EVAL), (REPLAYED, LM_EVAL), (REPLAYED, PLAIN))
    ratios = [_ratio(rows, arm, other, answering) for arm, other in pairs]
    return [name, *seconds, *ratios, *(_same_texts(parts[LM_EVAL], parts[arm]) for arm in (PLAIN, REPLAYED))]


def _same_texts(theirs: Sequence[Part], ours: Sequence[Part]) -> str:
    if not theirs or not ours:
        return UNKNOWN
    one, other = theirs[0].texts, ours[0].texts
    return f"{sum(map(str.__eq__, one, other))} of {len(one)}"


def sweep_table(measured: Measured) -> tuple[str, list[str], list[list[str]]]:
    """Return title, head and rows: lm-eval by set, format and batch size."""
    formats = measured.setting.formats
    rows = []
    for work in measured.setting.works:
        swept = {name: _sweep_seconds(measured.results, work, name) for name in formats}
        for size in sorted({size for found in swept.values() for size in found}):
            cells = [f"{swept[name][size]:.1f}" if size in swept[name] else UNKNOWN for name in formats]
            rows.append([work, str(size), *cells])
        rows.append([work, AUTO, _automatic(_of(measured.results, work)), *[UNKNOWN] * (len(formats) - 1)])
    return "lm-eval by batch size: seconds of answering", ["set", "batch size", *formats], rows


def _automatic(rows: Sequence[Result]) -> str:
    found = [row for row in rows if row.arm == AUTO]
    if not found:
        return UNKNOWN
    if found[0].failure:
        return found[0].failure
    part = next(iter(found[0].parts.values()))
    return f"{part.answer_s:.1f}, at {part.batch_size}"


def _sweep_seconds(results: Sequence[Result], work: str, name: str) -> dict[int, float]:
    """Return the mean seconds of answering by batch size."""
    found: dict[int, list[float]] = {}
    for row in _of(results, work):
        if row.arm == SWEEP and row.batch_size is not None and name in row.parts:
            found.setdefault(row.batch_size, []).append(row.parts[name].answer_s)
    return {size: sum(taken) / len(taken) for size, taken in found.items()}


def _of(results: Sequence[Result], work: str) -> list[Result]:
    return [row for row in results if row.work == work]


def _answering(row: Result) -> float:
    return sum(part.answer_s for part in row.parts.values())


def _wall(row: Result) -> float:
    return row.wall_s


def _seconds(values: Sequence[float]) -> str:
    return f"{median(values):.1f}" if values else UNKNOWN


def _ratio(rows: Sequence[Result], arm: str, other: str, figure: Figure) -> str:
    """Return the median over rounds of an arm's figure to another's of the same round."""
    below = {row.round: figure(row) for row in rows if row.arm == other}
    ratios = [figure(row) / below[row.round] for row in rows if row.arm == arm and row.round in below]
    return f"{median(ratios):.2f}" if ratios else UNKNOWN
