"""The verdict on each slice: an interval decides, never a point estimate, and doubt never becomes acceptance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from qeval.compare.counts import Counts, as_losses, count
from qeval.compare.distributions import upper_quantile
from qeval.compare.doubts import Doubts, reason
from qeval.compare.figures import Figures, figures
from qeval.compare.identical import same_tokens
from qeval.compare.levels import Levels
from qeval.compare.multiple import benjamini_hochberg, holm
from qeval.compare.noise import Noise, OwnChanges, slice_noise
from qeval.compare.pairs import Scored
from qeval.compare.plan import Planned
from qeval.compare.policy import Policy
from qeval.compare.power import cases_for_margin, cases_to_detect, smallest_detectable, smallest_margin
from qeval.compare.report import Ruling, Verdict
from qeval.compare.shrink import shrink
from qeval.outcome import SCORE_SUFFIX

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
    unchanged: bool
    """Both variants gave every case the same tokens and grades, so no case can have flipped."""


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


def judge_slices(
    planned: Sequence[Planned],
    scored: Sequence[Scored],
    policy: Policy,
    *,
    metric: str,
    own: OwnChanges,
    at: Levels,
) -> tuple[Verdict, ...]:
    """Judge all planned slices of one candidate on one metric.

    Each slice is judged on the pairs that both arms answered, and again with every case that only the baseline
    answered counted as wrong. Where the two rulings differ, the missing answers would decide: inconclusive.
    """
    churns = not metric.endswith(SCORE_SUFFIX)
    noises = [slice_noise([scored[i] for i in plan.at], own, at.margin, churns=churns) for plan in planned]
    answered = _judge_all(planned, scored, noises, at)
    worst = answered
    if any(one.before is not None and one.after is None for one in scored):
        worst = _judge_all(planned, as_losses(scored), noises, at)
    tests = len({plan.at for plan in planned if plan.role != "exploratory" and plan.at})
    verdicts = [
        _verdict(
            _Row(plan, seen, _careful(seen.ruling, with_losses.ruling), noise, tests), metric, policy=policy, at=at
        )
        for plan, seen, with_losses, noise in zip(planned, answered, worst, noises, strict=True)
    ]
    return _with_shrinkage(verdicts, at)


_ONE_TABLE = (
    "n",
    "planned",
    "clusters",
    "baseline_passed",
    "candidate_passed",
    "losses",
    "gains",
    "difference",
    "margin",
)
"""Fields of a verdict that say which table of pairs it is made from."""


def as_passed(row: Verdict, on_pass: Verdict | None) -> Verdict:
    """Return a metric's row with the ruling of its suite's `pass` row, where both are made from the same counts.

    The two are tested in families of different size, so the same pairs could be ruled on in two ways.
    """
    if on_pass is None or any(getattr(row, field) != getattr(on_pass, field) for field in _ONE_TABLE):
        return row
    kept = {"metric": row.metric, "role": row.role, "level": row.level}
    return on_pass.model_copy(update=kept)


def _careful(answered: Ruling, worst: Ruling) -> Ruling:
    """Return the ruling that holds both without the missing answers and with each as a loss."""
    if answered == worst:
        return answered
    return "equivalent" if {answered, worst} == {"equivalent", "improved"} else "inconclusive"


def _judge_all(
    planned: Sequence[Planned], scored: Sequence[Scored], noises: Sequence[Noise], at: Levels
) -> list[_Judged]:
    counts = [count(scored[i] for i in plan.at) for plan in planned]
    found = [figures(one, plan.margin, at, plan.largest) for one, plan in zip(counts, planned, strict=True)]
    adjusted = _adjust(planned, found, at)
    judged = [
        _Judged(one, seen, p, "inconclusive", bool(plan.at) and all(_is_unchanged(scored[i]) for i in plan.at))
        for plan, one, seen, p in zip(planned, counts, found, adjusted, strict=True)
    ]
    return [
        one._replace(ruling=_ruling(plan, one, noise, at))
        for plan, one, noise in zip(planned, judged, noises, strict=True)
    ]


def _is_unchanged(one: Scored) -> bool:
    return same_tokens(one.pair) and one.before is not None and one.before == one.after


def _ruling(plan: Planned, seen: _Judged, noise: Noise, at: Levels) -> Ruling:
    counts, found, adjusted = seen.counts, seen.figures, seen.adjusted
    if found is None or found.few_clusters or (plan.too_few and not plan.named):
        return "inconclusive"
    ruling = rule(found, adjusted, plan.margin, at.harm)
    if ruling == "equivalent" and _baseline_floor(counts) and not seen.unchanged:
        return "inconclusive"
    held = ruling in {"equivalent", "improved"}
    # A proven loss stays one: the test is right under noise that strikes both ways, which only hides losses.
    refused = not at.claims_margin or (_margin_in_noise(plan, found, noise, at) and not seen.unchanged)
    return "inconclusive" if held and refused else ruling


def _baseline_floor(counts: Counts) -> bool:
    return counts.n > 0 and 100 * counts.baseline_passed < LOWEST_BASELINE_PERCENT * counts.n


def _margin_in_noise(plan: Planned, found: Figures, noise: Noise, at: Levels) -> bool:
    """Whether two runs of one variant would differ by the margin too often for a pass to mean anything."""
    floor = noise.floor_of_means
    return floor is not None and plan.margin < smallest_margin(floor, found.effective_n, at.margin)


def _adjust(planned: Sequence[Planned], found: Sequence[Figures | None], at: Levels) -> list[Adjusted]:
    """Holm over pool, suites and required slices; Benjamini-Hochberg over the exploratory ones.

    A slice without data is no test; but at a look it is one that is still to come.
    """
    unseen = 1.0 if at.anytime else None
    adjusted = [Adjusted(None, None)] * len(planned)
    for exploratory, correct in ((False, holm), (True, benjamini_hochberg)):
        family = [i for i, plan in enumerate(planned) if (plan.role == "exploratory") == exploratory]
        harm = _once(family, planned, [one.p_harm if one else unseen for one in found], correct)
        gain = _once(family, planned, [one.p_gain if one else unseen for one in found], correct)
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
    names = {i: planned[i].at or planned[i].key for i in family}
    first = {names[i]: p_values[i] for i in family}
    by_test = dict(zip(first, correct(list(first.values())), strict=True))
    return {i: by_test[names[i]] for i in family}


class _Row(NamedTuple):
    """All that makes a verdict."""

    plan: Planned
    seen: _Judged
    final: Ruling
    noise: Noise
    tests: int
    """Tests in the family of gating slices."""


def _verdict(row: _Row, metric: str, *, policy: Policy, at: Levels) -> Verdict:
    plan, seen, final, noise, tests = row
    counts, found, adjusted, ruling, _ = seen
    decides = final == "inconclusive" != ruling
    flags = _flags(plan, seen, noise, decides=decides, at=at)
    needed = _needed(plan, counts, found, noise=noise, policy=policy, at=at) if final == "inconclusive" else None
    return Verdict(
        metric=metric,
        slice=plan.key,
        role=plan.role,
        level=plan.level,
        ruling=final,
        reason=reason(Doubts(plan, counts, found, adjusted.harm, adjusted.gain, noise.floor, flags, needed), final),
        flags=flags,
        n=counts.n,
        planned=counts.planned,
        clusters=counts.clusters,
        effective_n=found and found.effective_n,
        baseline_passed=counts.baseline_passed,
        candidate_passed=counts.candidate_passed,
        losses=counts.losses,
        gains=counts.gains,
        changed_wrong=counts.changed_wrong,
        changed_text=counts.changed_text,
        difference=counts.difference,
        low=found and found.low,
        high=found and found.high,
        p_harm=found and found.p_harm,
        p_harm_adjusted=adjusted.harm,
        p_gain=found and found.p_gain,
        p_gain_adjusted=adjusted.gain,
        p_noninferior=found and found.p_noninferior,
        margin=plan.margin,
        smallest_detectable=found and _could_show(plan, found, policy, at.harm / max(1, tests)),
        cases_needed=needed,
        unanswered=counts.unanswered,
        baseline_unanswered=counts.baseline_unanswered,
        baseline_self=noise.baseline,
        candidate_self=noise.candidate,
        excess_churn=noise.excess,
        stable=noise.stable,
        unstable=noise.unstable,
    )


def _could_show(plan: Planned, found: Figures, policy: Policy, hardest: float) -> float | None:
    """Return the drop that a slice would have shown at Holm's hardest step; an exploratory one is planned alone."""
    alpha = policy.alpha if plan.role == "exploratory" else hardest
    return smallest_detectable(policy.planning_flip_rate, found.effective_n, alpha)


def _flags(plan: Planned, seen: _Judged, noise: Noise, *, decides: bool, at: Levels) -> tuple[str, ...]:
    counts, found, adjusted, ruling, unchanged = seen
    held = found is not None and ruling in {"equivalent", "improved"} and not decides
    flags = {
        "no_data": counts.n == 0,
        "too_few": plan.too_few,
        "few_clusters": found is not None and found.few_clusters,
        "baseline_floor": _baseline_floor(counts) and not unchanged,
        "margin_in_noise": found is not None and not unchanged and _margin_in_noise(plan, found, noise, at),
        "ended_early": at.anytime and (counts.n > 0 or plan.largest is not None),
        "unanswered_decides": decides,
        "two_sided": held and found is not None and found.high < plan.margin,
        "small_real_loss": held and adjusted.harm is not None and adjusted.harm <= at.harm,
        "within_noise": noise.explains,
    }
    return tuple(name for name, raised in flags.items() if raised)


def _needed(
    plan: Planned, counts: Counts, found: Figures | None, *, noise: Noise, policy: Policy, at: Levels
) -> int | None:
    """Return the pairs that would settle an inconclusive slice if nothing is wrong, None where more do not help.

    Planned at the flip rate of the policy, or at the one seen where that is higher; and enough that the margin
    rises above the noise floor.
    """
    if _baseline_floor(counts):
        return None
    seen = (counts.lost + counts.won) / counts.n if counts.n else 0.0
    # Whole, a run that was ended early would be judged at the policy's level.
    alpha = policy.alpha if at.anytime else at.margin
    needed = cases_for_margin(max(seen, policy.planning_flip_rate), plan.margin, alpha)
    if found is not None:
        if noise.floor_of_means:
            needed = max(needed, cases_to_detect(noise.floor_of_means, plan.margin, alpha))
        needed = round(needed * counts.n / found.effective_n)
    return needed if needed > counts.n else None


def _with_shrinkage(verdicts: Sequence[Verdict], at: Levels) -> tuple[Verdict, ...]:
    """Pull exploratory slices towards those of the same tag, so that rankings do not chase the smallest slices."""
    groups: dict[tuple[str | None, str | None], list[int]] = defaultdict(list)
    for i, verdict in enumerate(verdicts):
        if verdict.role == "exploratory" and verdict.slice.tag is not None and verdict.difference is not None:
            groups[verdict.slice.suite, verdict.slice.tag].append(i)
    shown = list(verdicts)
    z = upper_quantile(at.margin)
    for members in groups.values():
        effects = [verdicts[i].difference or 0.0 for i in members]
        # From the width of the interval, which is never zero.
        errors = [((verdicts[i].high or 0.0) - (verdicts[i].low or 0.0)) / (2 * z) for i in members]
        found = shrink(effects, [max(error, 1e-6) ** 2 for error in errors])
        for i, effect in zip(members, found.effects, strict=True):
            shown[i] = verdicts[i].model_copy(update={"shrunken": effect})
    return tuple(shown)
