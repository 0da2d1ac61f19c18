"""What a report says of how each variant found its answers."""

from __future__ import annotations

import pytest

from qeval.record import DecodeChoice, PilotTimes, Replay, ReplayPilot
from qeval.reporting.decoding import decoding_lines
from qeval.reporting.html import render_html
from qeval.reporting.markdown import render_markdown
from qeval.reporting.terminal import to_text
from tests.reporting.fake import full_report

PILOT = ReplayPilot(
    batch=0,
    n_cases=40,
    same=38,
    positions=800,
    agreed_positions=600,
)
TIMES = PilotTimes(plain_s=12, follow_s=0.5, replay_s=2.5)


def report(
    choice: DecodeChoice,
    why: str,
    pilot: ReplayPilot | None = PILOT,
    *,
    split: int = 0,
    unreplayed: int = 0,
    times: PilotTimes | None = TIMES,
) -> tuple[str, ...]:
    whole = full_report()
    candidate = whole.variants[1].model_copy(
        update={
            "replay": Replay(chosen=choice, why=why, pilot=pilot),
            "pilot_times": times if pilot else None,
            "split_batches": split,
            "unreplayed_batches": unreplayed,
        }
    )
    made = whole.model_copy(update={"variants": (whole.variants[0], candidate, *whole.variants[2:])})
    lines = dict(decoding_lines(made))
    assert set(lines) <= {candidate.variant}
    said = lines.get(candidate.variant, "")
    for rendered in (" ".join(to_text(made, 140).split()), render_markdown(made), render_html(made)):
        for part in said.replace("'", "|").split("|"):
            assert part in rendered.replace("&#39;", "'")
    return tuple(said.split("; ")) if said else ()


def test_a_replayed_candidate_says_what_its_pilot_showed() -> None:
    said = report("replay", "less time, and no more cases changed than by other batches")
    assert said[0].startswith("answered along the baseline's answers as far as it agrees (replay)")
    assert said[0].endswith("less time, and no more cases changed than by other batches")
    assert said[1:] == (
        "pilot: 3.0 s instead of 12 s",
        "it agrees with 75.0 % of the baseline's tokens up to where each answer first differs, and has the tokens of "
        "plain decoding in 38 of 40 cases",
    )


def test_counts_stand_without_times_that_were_lost_with_a_killed_process() -> None:
    assert report("replay", "less time", times=None)[1].startswith("it agrees with 75.0 %")


def test_a_candidate_that_is_not_replayed_says_why() -> None:
    said = report("plain", "its rows depend on their batch mates", None)
    assert said == ("decoded plainly, not replayed: its rows depend on their batch mates",)


@pytest.mark.parametrize(("split", "said"), [(0, ()), (1, ("1 batch did",)), (3, ("3 batches did",))])
def test_plain_decoding_that_was_asked_for_says_nothing_but_that_batches_were_cut(
    split: int, said: tuple[str, ...]
) -> None:
    found = report("plain", "as asked", None, split=split)
    assert tuple(line[: len(start)] for line, start in zip(found, said, strict=True)) == said


def test_batches_that_replay_did_not_fit_are_counted() -> None:
    said = report("replay", "as asked, without a pilot", None, split=2, unreplayed=1)
    assert said[-2:] == (
        "2 batches did not fit in memory at once and ran in parts",
        "1 batch did not fit in memory with replay and ran without",
    )
