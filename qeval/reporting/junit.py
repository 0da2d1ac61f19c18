"""The report as JUnit XML: one test suite a candidate, one test case for each thing that gates.

A candidate's suite fails exactly when its decision is not accepted and the run's depends on it; what does not gate
is shown as skipped, and so is what was not picked where the policy takes the best candidate. The file stays valid
XML whatever a model printed.
"""

from __future__ import annotations

from typing import Literal, NamedTuple
from xml.etree import ElementTree as ET

from qeval.compare.report import CandidateResult, LimitResult, Report, Verdict
from qeval.reporting import figures, view
from qeval.reporting.visible import visible
from qeval.units import p_value, points

Outcome = Literal["passed", "failure", "error", "skipped"]
_TEXT_LIMIT = 4_000


class Check(NamedTuple):
    """One test case: what was checked, how it ended, and why."""

    group: str
    name: str
    outcome: Outcome
    kind: str
    reason: str
    figures: str = ""


def render_junit(report: Report) -> str:
    """Return the report as JUnit XML."""
    root = ET.Element("testsuites", name="qeval")
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for candidate in report.candidates:
        suite = _suite(report, candidate)
        for key in totals:
            totals[key] += int(suite.get(key, "0"))
        root.append(suite)
    root.attrib.update({key: str(count) for key, count in totals.items()})
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def checks(candidate: CandidateResult, *, decides: bool) -> list[Check]:
    """Return what is checked of a candidate: decision, comparability, gating verdicts, limits.

    Args:
        candidate: the candidate.
        decides: whether the run's decision depends on it.
    """
    found = [_decision(candidate), _comparability(candidate)]
    found += [_verdict(verdict) for verdict in candidate.verdicts if verdict.role != "exploratory"]
    found += [_limit(limit) for limit in candidate.limits]
    if decides and candidate.decision != "accepted":
        return found
    # A build turns red exactly when a decision asks for it.
    return [check if check.outcome == "passed" else check._replace(outcome="skipped") for check in found]


def _decision(candidate: CandidateResult) -> Check:
    outcomes: dict[str, Outcome] = {
        "accepted": "passed",
        "regressed": "failure",
        "inconclusive": "failure",
        "not_comparable": "error",
        "incomplete": "error",
    }
    early = "ended early; " if view.ended_early(candidate) else ""
    reason = early + view.reason_text(candidate)
    return Check("decision", "decision", outcomes[candidate.decision], candidate.decision, reason)


def _comparability(candidate: CandidateResult) -> Check:
    level, faults = candidate.comparability.level, candidate.comparability.faults
    text = "; ".join(faults) or f"comparable at the level {level}"
    return Check("comparability", f"comparable ({level})", "error" if faults else "passed", "not_comparable", text)


def _verdict(verdict: Verdict) -> Check:
    name = f"{view.verdict_label(verdict)} [{verdict.role}, {verdict.level}]"
    numbers = (
        f"n {verdict.n}, pass rate {figures.rates_text(verdict)}, lost {verdict.losses}, won {verdict.gains}, "
        f"difference {figures.difference_text(verdict)}, margin {points(verdict.margin).lstrip('+')}, "
        f"adjusted p of harm {p_value(verdict.p_harm_adjusted)}, could show {figures.detectable_text(verdict)}"
    )
    numbers = "; ".join([numbers, *_doubts(verdict)])
    fine = verdict.ruling in {"equivalent", "improved"}
    outcome: Outcome = "passed" if fine else "failure" if verdict.level == "critical" else "skipped"
    return Check("verdicts", name, outcome, verdict.ruling, verdict.reason, numbers)


def _doubts(verdict: Verdict) -> list[str]:
    """Say what would settle a verdict, what noise it stands beside, and what else to know of it."""
    more = f"needs {figures.more_text(verdict)} cases" if verdict.cases_more is not None else ""
    excess = f"excess churn {figures.excess_text(verdict)}" if verdict.excess_churn else ""
    return [text for text in (more, excess, *(view.FLAG_WORDS.get(flag, flag) for flag in verdict.flags)) if text]


def _limit(limit: LimitResult) -> Check:
    name = f"limit {limit.name} in {limit.slice.label}"
    broken: Outcome = "failure" if limit.level == "critical" else "skipped"
    return Check("limits", name, broken if limit.broken else "passed", "limit_broken", limit.text)


def _suite(report: Report, candidate: CandidateResult) -> ET.Element:
    picked_other = report.picked is not None and report.picked != candidate.candidate
    found = checks(candidate, decides=candidate.required and not picked_other)
    counts = {kind: sum(check.outcome == kind for check in found) for kind in ("failure", "error", "skipped")}
    name = visible(candidate.candidate)
    variant = next((v for v in report.variants if v.variant == candidate.candidate), None)
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(found)),
        failures=str(counts["failure"]),
        errors=str(counts["error"]),
        skipped=str(counts["skipped"]),
        time=f"{variant.run_s:.3f}" if variant and variant.run_s is not None else "0",
        timestamp=visible(report.created_at),
    )
    for check in found:
        case = ET.SubElement(suite, "testcase", classname=f"qeval.{name}.{check.group}", name=visible(check.name))
        reason, figures = visible(check.reason[:_TEXT_LIMIT]), visible(check.figures)
        if check.outcome == "passed":
            ET.SubElement(case, "system-out").text = "\n".join(filter(None, (reason, figures)))
        else:
            ET.SubElement(case, check.outcome, type=check.kind, message=reason).text = figures or reason
    return suite
