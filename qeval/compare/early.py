"""Whether what a candidate has answered so far ends its run."""

from __future__ import annotations

from qeval.compare.candidate import OwnRecord, compare_candidate
from qeval.compare.policy import Policy
from qeval.record import Reason, Record


def ends(baseline: Record, so_far: Record, policy: Policy, candidates: int) -> Reason | None:
    """Return what ends a run now: the ruling that a report of the cases so far would give, by anytime-valid evidence.

    Harm ends it where the pool, a critical suite or a required slice is regressed; acceptance, where the decision
    is *accepted*, and the policy has no limit that is counted over all cases.

    Args:
        baseline: the whole baseline.
        so_far: the candidate's record, with the outcomes of whole looks; its header says what may end it.
        policy: what the team accepts.
        candidates: how many are compared in this run.
    """
    stopping = so_far.header.stopping
    if stopping is None:
        return None
    ours, alpha = OwnRecord(baseline), policy.alpha_of(candidates)
    limits = policy.limits
    counted = limits.max_net_loss is not None or limits.min_pass_rate is not None or policy.fidelity.decides
    for reason in stopping.on:
        if reason == "acceptance" and counted:
            continue
        ended = stopping.model_copy(update={"ended": reason})
        header = so_far.header.model_copy(update={"state": "complete", "stopping": ended})
        result = compare_candidate(ours, OwnRecord(so_far._replace(header=header)), policy, alpha, required=True).result
        if result.comparability.faults:
            return None
        harmed = any(verdict.gates and verdict.ruling == "regressed" for verdict in result.verdicts)
        if harmed if reason == "harm" else result.decision == "accepted":
            return reason
    return None
