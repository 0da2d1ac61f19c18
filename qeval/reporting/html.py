"""The report as one self-contained HTML page that works offline.

Everything is inline; a Content-Security-Policy allows the page's own style and script by their hashes and nothing
else, so that even a text that slipped through escaping could neither run nor call out.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from qeval.compare.report import CandidateResult, ChangedCase, Report, VariantSummary, Verdict
from qeval.jsonl import dumps
from qeval.reporting import charts, diff, fidelity, figures, view
from qeval.reporting.decoding import decoding_lines
from qeval.reporting.visible import character_name, code_point, cut, pieces, visible
from qeval.units import bits, duration, nats, p_value, percent, points, rate, size

_TEMPLATES = Path(__file__).parent / "templates"
_CASES_LIMIT = 2_000
"""Changed cases on the page; the rest stays in verdict.json."""
_TEXT_LIMIT = 6_000
"""Characters of one answer on the page."""
_TAGS_LIMIT = 200
"""Tag values offered in the filter."""


class CaseView(NamedTuple):
    """A changed case as the page shows it."""

    case: ChangedCase
    tags: list[str]
    tags_json: str
    left: list[diff.Span]
    right: list[diff.Span]
    left_out: tuple[int, int]
    """Characters not shown of the baseline's and the candidate's text."""


class CandidateView(NamedTuple):
    """A candidate as the page shows it."""

    result: CandidateResult
    variant: VariantSummary | None
    pool: Verdict | None
    gating: list[Verdict]
    exploratory: list[Verdict]
    shrinks: bool
    """Whether the exploratory slices are ranked by shrunken differences."""
    changed: int


def render_html(report: Report) -> str:
    """Return the whole page."""
    css, script = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    cases = view.worst_first(report)
    template = _environment().get_template("report.html.j2")
    return template.render(
        report=report,
        css=Markup(css),
        script=Markup(script),
        policy=_content_security_policy(css, script),
        candidates=[_candidate(report, candidate) for candidate in report.candidates],
        baseline=report.variants[0] if report.variants else None,
        n_cases=sum(info.n_cases for info in report.suites.values()),
        groups=view.by_decision(report.candidates),
        forest=charts.forest(report),
        sampled=view.sampled(report),
        costs=charts.costs(report),
        decoding=list(decoding_lines(report)),
        noise=charts.noise(report),
        fidelity_panels=fidelity.panels(report),
        cases=[_case(case) for case in cases[:_CASES_LIMIT]],
        n_changed=len(cases),
        tag_options=_tag_options(cases),
        kinds=Counter(case.kind for case in cases),
        policy_text=dumps(report.policy, indent=2),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters |= {
        "show": show,
        "bits": bits,
        "size": size,
        "duration": duration,
        "percent": percent,
        "points": points,
        "nats": nats,
        "p_value": p_value,
        "rate": rate,
    }
    environment.globals |= {"view": view, "figures": figures, "fidelity": fidelity}
    return environment


def _finalize(value: Any) -> Any:  # noqa: ANN401 - any value of a template expression
    """Spell out invisible characters in everything the template prints; escaping follows."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def show(text: str) -> Markup:
    """Escape foreign text and box each invisible character, named on hover."""
    return Markup("").join(_unsafe(piece.text) if piece.unsafe else escape(piece.text) for piece in pieces(text))


def _unsafe(character: str) -> Markup:
    box = Markup('<span class="unsafe" title="{}">{}</span>')
    return box.format(character_name(character), code_point(character))


def _content_security_policy(css: str, script: str) -> str:
    allowed = {"style-src": css, "script-src": script}
    hashes = "; ".join(f"{kind} '{_sha256(text)}'" for kind, text in allowed.items())
    return f"default-src 'none'; {hashes}; base-uri 'none'; form-action 'none'"


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _candidate(report: Report, result: CandidateResult) -> CandidateView:
    exploratory = sorted((v for v in result.verdicts if v.role == "exploratory"), key=view.ranking)
    return CandidateView(
        result=result,
        variant=next((v for v in report.variants if v.variant == result.candidate), None),
        pool=view.pool(result),
        gating=[v for v in result.verdicts if v.role != "exploratory"],
        exploratory=exploratory,
        shrinks=any(v.shrunken is not None for v in exploratory),
        changed=sum(case.candidate == result.candidate for case in report.changed),
    )


def _tags(case: ChangedCase) -> list[str]:
    return [visible(f"{key}={value}") for key, value in sorted(case.tags.items())]


def _case(case: ChangedCase) -> CaseView:
    baseline, candidate = cut(case.baseline_text, _TEXT_LIMIT), cut(case.candidate_text, _TEXT_LIMIT)
    sides = diff.word_diff(baseline.text, candidate.text)
    tags = _tags(case)
    left_out = (baseline.left_out, candidate.left_out)
    return CaseView(case, tags, dumps(tags), sides.left, sides.right, left_out)


def _tag_options(cases: list[ChangedCase]) -> list[tuple[str, int]]:
    counts = Counter(tag for case in cases for tag in _tags(case))
    return sorted(counts.most_common(_TAGS_LIMIT))
