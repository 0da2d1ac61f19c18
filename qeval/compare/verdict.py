"""The verdict on each slice: an interval decides, never a point estimate, and doubt never becomes acceptance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from qeval.compare.counts import Counts, as_losses, count
from qeval.compare.figures import Figures, figures
from qeval.compare.multiple import benjamini_hochberg, holm
from qeval.compare.pairs import Scored
from qeval.compare.plan import Planned
from qeval.compare.policy import Policy
from qeval.compare.power import cases_for_margin, smallest_detectable
from qeval.compare.report import Ruling, SelfFlips, Verdict
from qeval.compare.selfcheck import OwnChanges, self_flips, within_noise
from qeval.units import p_value, points

LOWEST_BASELINE_PERCENT = 20
"""Where the baseline passes less, most pairs cannot show a loss: nothing is called equivalent."""


class Adjusted(NamedTuple):
    """P-values after correction for many slices."""

    harm: float | None
    gain: float | None


class _Judged(NamedTuple):
    counts: Counts
    figures: Figures | None
    adjusted: Adjusted
    ruling: Ruling


def rule(found: Figures, adjusted: Adjusted, margin: float, alpha: float) -> Ruling:
    """Apply the four rules to one slice.

    * regressed: harm is proven, and a loss of the margin or more is not excluded;
    * improved: such a loss is excluded, gain is proven, and a gain of the margin or more is not excluded;
    * equivalent: such a loss is excluded;
    * inconclusive: the rest.
    """
    if adjusted.harm is not None and adjusted.harm <= alpha and found.low <= -margin:
        return "regressed"
    if found.low > -margin:
        gained = adjusted.gain is not None and adjusted.gain <= alpha and found.high >= margin
        return "improved" if gained else "equivalent"
    return "inconclusive"


def judge(
    planned: Sequence[Planned], scored: Sequence[Scored], metric: str, policy: Policy, own: OwnChanges
) -> tuple[Verdict, ...]:
    """Judge all planned slices of one candidate on one metric.

    Each slice is judged on the pairs that both arms answered, and again with every case that only the baseline
    answered counted as wrong. Where the two rulings differ, the missing answers would decide: inconclusive.
    """
    answered = _judge_all(planned, scored, policy)
    worst = answered
    if any(one.before is not None and one.after is None for one in scored):
        worst = _judge_all(planned, as_losses(scored), policy)
    return tuple(
        _verdict(
            plan,
            metric,
            seen,
            ruling_with_losses=with_losses.ruling,
            policy=policy,
            selves=_selves(plan, scored, own),
        )
        for plan, seen, with_losses in zip(planned, answered, worst, strict=True)
    )


def _selves(plan: Planned, scored: Sequence[Scored], own: OwnChanges) -> tuple[SelfFlips | None, SelfFlips | None]:
    keys = [(scored[i].pair.info.suite, scored[i].pair.info.case) for i in plan.at]
    return self_flips(keys, own.baseline), self_flips(keys, own.candidate)


def _judge_all(planned: Sequence[Planned], scored: Sequence[Scored], policy: Policy) -> list[_Judged]:
    counts = [count(scored[i] for i in plan.at) for plan in planned]
    found = [figures(one, plan.margin, policy.alpha) for one, plan in zip(counts, planned, strict=True)]
    adjusted = _adjust(planned, found)
    return [
        _Judged(*three, _ruling(plan, *three, policy.alpha))
        for plan, three in zip(planned, zip(counts, found, adjusted, strict=True), strict=True)
    ]


def _ruling(plan: Planned, counts: Counts, found: Figures | None, adjusted: Adjusted, alpha: float) -> Ruling:
    if found is None or found.few_clusters or (plan.too_few and not plan.named):
        return "inconclusive"
    ruling = rule(found, adjusted, plan.margin, alpha)
    return "inconclusive" if ruling == "equivalent" and _baseline_floor(counts) else ruling


def _baseline_floor(counts: Counts) -> bool:
    return counts.n > 0 and 100 * counts.baseline_passed < LOWEST_BASELINE_PERCENT * counts.n


def _adjust(planned: Sequence[Planned], found: Sequence[Figures | None]) -> list[Adjusted]:
    """Holm over pool, suites and required slices; Benjamini-Hochberg over the exploratory ones."""
    adjusted = [Adjusted(None, None)] * len(planned)
    for exploratory, correct in ((False, holm), (True, benjamini_hochberg)):
        family = [i for i, plan in enumerate(planned) if (plan.role == "exploratory") == exploratory]
        harm = _once(family, planned, [one and one.p_harm for one in found], correct)
        gain = _once(family, planned, [one and one.p_gain for one in found], correct)
        for i in family:
            adjusted[i] = Adjusted(harm[i], gain[i])
    return adjusted


def _once(
    family: Sequence[int],
    planned: Sequence[Planned],
    p_values: Sequence[float | None],
    correct: Callable[[Sequence[float | None]], list[float | None]],
) -> dict[int, float | None]:
    """Correct a family in which slices of the very same pairs (a lone suite and the pool) are one test."""
    tests = dict.fromkeys(planned[i].at for i in family)
    first = {planned[i].at: p_values[i] for i in family}
    by_test = dict(zip(tests, correct([first[at] for at in tests]), strict=True))
    return {i: by_test[planned[i].at] for i in family}


def _verdict(
    plan: Planned,
    metric: str,
    seen: _Judged,
    *,
    ruling_with_losses: Ruling,
    policy: Policy,
    selves: tuple[SelfFlips | None, SelfFlips | None],
) -> Verdict:
    counts, found, adjusted, ruling = seen
    decides = ruling != ruling_with_losses
    flags = _flags(plan, seen, policy.alpha, decides, selves)
    final: Ruling = "inconclusive" if decides else ruling
    needed = _needed(plan, counts, final, flags, policy)
    return Verdict(
        metric=metric,
        slice=plan.key,
        role=plan.role,
        level=plan.level,
        ruling=final,
        reason=_reason(plan, seen, final, flags, needed),
        flags=flags,
        n=counts.n,
        planned=counts.planned,
        clusters=counts.clusters,
        baseline_passed=counts.baseline_passed,
        candidate_passed=counts.candidate_passed,
        losses=counts.losses,
        gains=counts.gains,
        changed_wrong=counts.changed_wrong,
        changed_text=counts.changed_text,
        difference=(counts.gains - counts.losses) / counts.n if counts.n else None,
        low=found and found.low,
        high=found and found.high,
        p_harm=found and found.p_harm,
        p_harm_adjusted=adjusted.harm,
        p_gain=found and found.p_gain,
        p_gain_adjusted=adjusted.gain,
        p_noninferior=found and found.p_noninferior,
        margin=plan.margin,
        smallest_detectable=smallest_detectable(policy.planning_flip_rate, counts.n, policy.alpha),
        cases_needed=needed,
        unanswered=counts.unanswered,
        baseline_unanswered=counts.baseline_unanswered,
        baseline_self=selves[0],
        candidate_self=selves[1],
    )


def _flags(
    plan: Planned,
    seen: _Judged,
    alpha: float,
    decides: bool,
    selves: tuple[SelfFlips | None, SelfFlips | None],
) -> tuple[str, ...]:
    counts, found, adjusted, ruling = seen
    held = found is not None and ruling in {"equivalent", "improved"} and not decides
    flags = {
        "no_data": counts.n == 0,
        "too_few": plan.too_few,
        "few_clusters": found is not None and found.few_clusters,
        "baseline_floor": _baseline_floor(counts),
        "unanswered_decides": decides,
        "two_sided": held and found is not None and found.high < plan.margin,
        "small_real_loss": held and adjusted.harm is not None and adjusted.harm <= alpha,
        "within_noise": within_noise(counts.flips, counts.n, *selves),
    }
    return tuple(name for name, raised in flags.items() if raised)


def _needed(plan: Planned, counts: Counts, ruling: Ruling, flags: Sequence[str], policy: Policy) -> int | None:
    """Return the pairs that would settle an inconclusive slice if nothing is wrong, None where more do not help.

    Planned at the flip rate of the policy, or at the one seen where that is higher.
    """
    if ruling != "inconclusive" or "baseline_floor" in flags:
        return None
    seen = counts.flips / counts.n if counts.n else 0.0
    needed = cases_for_margin(max(seen, policy.planning_flip_rate), plan.margin, policy.alpha)
    return needed if needed > counts.n else None


def _reason(plan: Planned, seen: _Judged, ruling: Ruling, flags: Sequence[str], needed: int | None) -> str:
    counts, found, adjusted, _ = seen
    if found is None:
        return f"no data: 0 of {counts.planned} cases scored"
    margin = points(plan.margin).lstrip("+")
    difference = points((counts.gains - counts.losses) / counts.n)
    seen_as = f"difference {difference}, interval {points(found.low)} to {points(found.high)}"
    more = f"; needs about {needed} cases, has {counts.n}" if needed else ""
    if ruling == "regressed":
        proof = f"a loss is proven (adjusted p {p_value(adjusted.harm)})"
        return f"{proof}, and one beyond {margin} is not excluded: {seen_as}"
    if ruling != "inconclusive":
        gain = f", and a gain is proven (adjusted p {p_value(adjusted.gain)})" if ruling == "improved" else ""
        return f"a loss beyond {margin} is excluded{gain}: {seen_as}"
    for flag, text in _DOUBTS.items():
        if flag in flags and (flag != "too_few" or not plan.named):
            return f"{text}: {seen_as}{more}"
    near = "" if more else "; this many cases suffice if nothing is wrong, so a true loss may lie near the margin"
    return f"a loss beyond {margin} is not excluded, nor is a loss proven: {seen_as}{more or near}"


_DOUBTS = {
    "too_few": "under 30 cases are too few to judge",
    "few_clusters": "fewer than 10 clusters (documents, templates, translation sources) say nothing of their spread",
    "unanswered_decides": "the cases without an answer decide: counted as wrong, they change the ruling",
    "baseline_floor": "the baseline passes under 20 % here, so few pairs could show a loss",
}
"""What stands between a slice and a ruling, in the order in which it is named."""
