"""One record's headline: what it is, what it cost, whether it finished."""

from __future__ import annotations

from qeval.compare.report import VariantSummary
from qeval.compare.sampled import sampled_rates
from qeval.record import Record


def summarise(record: Record) -> VariantSummary:
    """Sum up a record by itself, without any pairing."""
    header, measured = record.header, record.header.measurements
    outcomes = record.by_case().values()
    graded = [(outcome.suite, passed) for outcome in outcomes if (passed := outcome.passed()) is not None]
    return VariantSummary(
        variant=header.variant,
        engine=header.engine,
        format=header.format,
        state=header.state,
        state_detail=header.state_detail,
        proof=header.proof,
        notes=header.notes,
        load_s=measured.load_s,
        run_s=measured.run_s,
        tokens_per_s=measured.tokens_per_s,
        replay=header.replay,
        pilot_times=measured.pilot,
        split_batches=measured.split_batches,
        unreplayed_batches=measured.unreplayed_batches,
        prompt_tokens=measured.prompt_tokens,
        generated_tokens=measured.generated_tokens,
        peak_memory_bytes=measured.peak_memory_bytes,
        environment=header.environment,
        n_cases=len(record.cases),
        n_answered=sum(outcome.answered for outcome in outcomes),
        suite_passed={
            suite: (sum(ok for name, ok in graded if name == suite), sum(name == suite for name, _ in graded))
            for suite in sorted(header.suites)
        },
        sampled=sampled_rates(record),
    )
