"""How each variant found its answers, in words: decoded plainly, or replayed, and what the pilot showed."""

from __future__ import annotations

from collections.abc import Iterator

from qeval.compare.report import Report, VariantSummary
from qeval.record import Replay
from qeval.units import duration, percent

REPLAYED = "answered along the baseline's answers as far as it agrees (replay), so it has no speed of its own"


def decoding_lines(report: Report) -> Iterator[tuple[str, str]]:
    """Yield a variant's name and a sentence for each that has something to say."""
    for variant in report.variants:
        parts = [*_replay(variant), *_split(variant)]
        if parts:
            yield variant.variant, "; ".join(parts)


def _replay(variant: VariantSummary) -> Iterator[str]:
    replay = variant.replay
    # That a plan asked for plain decoding is nobody's surprise.
    if replay is None or (replay.chosen == "plain" and replay.why == "as asked"):
        return
    yield f"{REPLAYED if replay.chosen == 'replay' else 'decoded plainly, not replayed'}: {replay.why}"
    yield from _pilot(replay, variant)


def _pilot(replay: Replay, variant: VariantSummary) -> Iterator[str]:
    pilot, times = replay.pilot, variant.pilot
    if pilot is None or times is None:
        return
    took, plain = duration(times.follow_s + times.replay_s), duration(times.plain_s)
    share = percent(pilot.agreed_positions / pilot.positions if pilot.positions else None)
    yield (
        f"pilot: {took} instead of {plain}, agreeing with {share} of the tokens; the same tokens as plain decoding in "
        f"{pilot.same} of {pilot.n_cases} cases"
    )
    if pilot.n_again:
        yield f"plain decoding in other batches: the same in {pilot.again_same} of {pilot.n_again}"


def _split(variant: VariantSummary) -> Iterator[str]:
    n = variant.split_batches
    if n:
        yield f"{n} {'batch' if n == 1 else 'batches'} did not fit in memory at once and ran in parts"
