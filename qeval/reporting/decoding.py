"""How each variant found its answers, in words: decoded plainly, or replayed, and what the pilot showed."""

from __future__ import annotations

from collections.abc import Iterator

from qeval.compare.report import Report, VariantSummary
from qeval.record import PilotTimes, ReplayPilot
from qeval.units import duration, percent

REPLAYED = "answered along the baseline's answers as far as it agrees (replay), so it has no speed of its own"


def decoding_lines(report: Report) -> Iterator[tuple[str, str]]:
    """Yield a variant's name and a sentence for each that has something to say."""
    for variant in report.variants:
        parts = [*_replay(variant), *_did_not_fit(variant)]
        if parts:
            yield variant.variant, "; ".join(parts)


def _replay(variant: VariantSummary) -> Iterator[str]:
    replay = variant.replay
    # That a plan asked for plain decoding is nobody's surprise.
    if replay is None or (replay.chosen == "plain" and replay.why == "as asked"):
        return
    yield f"{REPLAYED if replay.chosen == 'replay' else 'decoded plainly, not replayed'}: {replay.why}"
    if replay.pilot is not None:
        yield from _pilot(replay.pilot, variant.pilot_times)


def _pilot(pilot: ReplayPilot, times: PilotTimes | None) -> Iterator[str]:
    if times is not None:
        yield f"pilot: {duration(times.follow_s + times.replay_s)} instead of {duration(times.plain_s)}"
    share = percent(pilot.agreed_positions / pilot.positions if pilot.positions else None)
    yield (
        f"it agrees with {share} of the baseline's tokens up to where each answer first differs, and has the tokens of "
        f"plain decoding in {pilot.same} of {pilot.n_cases} cases"
    )


def _did_not_fit(variant: VariantSummary) -> Iterator[str]:
    counts = (
        (variant.split_batches, "did not fit in memory at once and ran in parts"),
        (variant.unreplayed_batches, "did not fit in memory with replay and ran without"),
    )
    for n, said in counts:
        if n:
            yield f"{n} {'batch' if n == 1 else 'batches'} {said}"
