"""The report as Markdown, fit for a comment on a pull request.

Tables first, changed cases folded away, under the 65,536 characters that forges allow. What a model printed stands
in fences and code spans it cannot break out of, where nobody is mentioned and no HTML is read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from qeval.compare.report import CandidateResult, ChangedCase, Report, SelfFlips, Stratum, VariantSummary, Verdict
from qeval.reporting import fidelity, figures, view
from qeval.reporting.decoding import decoding_lines
from qeval.reporting.visible import cut, one_line, visible
from qeval.units import UNKNOWN, bits, percent, rate, size

LENGTH_LIMIT = 60_000
"""Characters of a whole report."""
_TABLE_LIMIT = 12_000
"""Characters of one table; what does not fit is counted."""
_TEXT_LIMIT = 600
_MARKS = {"accepted": "✅", "regressed": "❌", "inconclusive": "⚠️", "not_comparable": "🚫", "incomplete": "🚫"}
_SETTLING = ("margin / could show, pp", "ruling")
"""The last columns of tables of verdicts."""
_SPECIAL = re.compile(r"([\\`*_\[\]|~])")
_BLOCK_START = re.compile(r"^(\d*)([-+#=.)])")
_BACKTICKS = re.compile("`+")


def render_markdown(report: Report) -> str:
    """Return the report as Markdown of at most `LENGTH_LIMIT` characters."""
    blocks = [
        f"## {_MARKS[report.decision]} qeval: {view.DECISION_WORDS[report.decision]}",
        _summary(report),
        _candidates_table(report),
        *_suite_tables(report),
        _slices_table(report),
        _noise_table(report),
        _fidelity_table(report),
        _sampled_table(report),
        _limits(report),
        "### What each variant costs",
        _variants_table(report),
        _decoding(report),
        _remarks(report),
    ]
    head = "\n\n".join(block for block in blocks if block) + "\n"
    foot = f"\n<sub>qeval {prose(report.qeval_version, 40)}, {prose(report.created_at, 40)}</sub>\n"
    if len(head) + len(foot) > LENGTH_LIMIT:
        note = "\n\nThe rest is in report.html.\n"
        # Cut at a blank line, so that no table row or fence is left half open.
        head = head[: LENGTH_LIMIT - len(foot) - len(note)].rpartition("\n\n")[0] + note
        return head + foot
    return head + _changed(report, LENGTH_LIMIT - len(head) - len(foot)) + foot


def code(text: str, limit: int = 120) -> str:
    r"""Return one line of foreign text as a code span that is safe in a table cell.

    >>> code("a`b|c"), code("@someone"), code("")
    ('``a`b\\|c``', '`@someone`', '` `')
    """
    line = one_line(text, limit) or " "
    ticks = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    # A cell ends at a bare pipe even inside a code span; backslashes before one are doubled to stay backslashes.
    line = re.sub(r"(\\*)\|", lambda match: match[1] * 2 + "\\|", line)
    return f"{ticks}{pad}{line}{pad}{ticks}"


def prose(text: str, limit: int = 400) -> str:
    r"""Return one line of text in which no character means anything to Markdown or to a forge.

    >>> prose("net loss 9 of 32 (max_net_loss 0.15)"), prose("1. see <b>@someone</b>")
    ('net loss 9 of 32 (max\\_net\\_loss 0.15)', '1\\. see &lt;b&gt;@<!-- -->someone&lt;/b&gt;')
    """
    line = _SPECIAL.sub(r"\\\1", html.escape(one_line(text, limit), quote=False))
    line = _BLOCK_START.sub(r"\1\\\2", line)
    # An empty comment breaks mentions, issue numbers and bare links, which are found after escapes are undone.
    line = re.sub(r"(?<!&)#(?=\d)|@(?=\w)|GH(?=-\d)|www(?=\.)", lambda match: match[0] + "<!-- -->", line)
    return line.replace("://", ":<!-- -->//")


def fence(text: str) -> str:
    """Return foreign text in a fence longer than any run of backticks in it."""
    ticks = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    return f"{ticks}text\n{text}\n{ticks}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Return a table; rows beyond the length limit are counted, not shown."""
    aligned = set(right)
    rule = ["---:" if index in aligned else "---" for index in range(len(heads))]
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)]
    kept: list[str] = []
    length = 0
    for line in lines:
        length += len(line) + 1
        if length > _TABLE_LIMIT:
            return "\n".join([*kept, "", f"{len(lines) - len(kept)} more rows are in report.html."])
        kept.append(line)
    return "\n".join(kept)


def _summary(report: Report) -> str:
    cases = sum(info.n_cases for info in report.suites.values())
    groups = "; ".join(
        f"{view.DECISION_WORDS[group.decision]}: {', '.join(map(code, group.candidates))}"
        for group in view.by_decision(report.candidates)
    )
    suites = ", ".join(map(code, sorted(report.suites)))
    what = f"Model {code(report.model)}, baseline {code(report.baseline)}, {cases} cases of {suites}."
    groups = groups[:1].upper() + groups[1:]
    taken = f" Taking {code(report.picked)}: {view.picked_text(report)}." if report.picked is not None else ""
    return f"{what} {view.DECISION_MEANING[report.decision]}{taken}\n\n{groups}. Exit code {report.exit_code}."


def _candidates_table(report: Report) -> str:
    heads = ("candidate", "decision", "pass rate", "lost / won", "difference", "why")
    return table(heads, [_candidate_row(candidate) for candidate in report.candidates], right=(2, 3, 4))


def _candidate_row(candidate: CandidateResult) -> list[str]:
    pooled = view.pool(candidate)
    early = ", ended early" if view.ended_early(candidate) else ""
    decision = f"{_MARKS[candidate.decision]} {view.DECISION_WORDS[candidate.decision]}{early}"
    return [
        code(candidate.candidate),
        decision if candidate.required else f"{decision} (not required)",
        *(_figures(pooled) if pooled else [UNKNOWN] * 3),
        prose(view.reason_text(candidate)),
    ]


def _figures(verdict: Verdict) -> list[str]:
    return [figures.rates_text(verdict), f"{verdict.losses} / {verdict.gains}", figures.difference_text(verdict)]


def _suite_tables(report: Report) -> list[str]:
    shown = [candidate for candidate in report.candidates if view.headline(candidate)]
    if not shown:
        return []
    heads = (
        "candidate",
        "suite",
        "n",
        "pass rate",
        "lost / won",
        f"difference ({view.interval_name(report)})",
        *_SETTLING,
    )
    rows = [[code(c.candidate), *_verdict_cells(v)] for c in shown for v in view.headline(c)]
    return ["### Verdicts by suite", table(heads, rows, right=(2, 3, 4, 5, 6))]


def _verdict_cells(verdict: Verdict) -> list[str]:
    ruling = f"**{verdict.ruling}**" if verdict.ruling == "regressed" else verdict.ruling
    ruling += f", needs {figures.more_text(verdict)}" if figures.more_text(verdict) else ""
    return [
        code(view.verdict_label(verdict)),
        str(verdict.n),
        *_figures(verdict),
        f"{100 * verdict.margin:.1f} / {figures.detectable_text(verdict).removesuffix(' pp')}",
        ruling if verdict.gates else f"{ruling} (does not gate)",
    ]


def _slices_table(report: Report) -> str:
    rows = [[code(c.candidate), *_verdict_cells(v)] for c in report.candidates for v in view.notable_slices(c)]
    if not rows:
        return ""
    heads = ("candidate", "slice", "n", "pass rate", "lost / won", "difference", *_SETTLING)
    title = "### Slices that regressed, and required ones that are open"
    return f"{title}\n\n{table(heads, rows, right=(2, 3, 4, 5, 6))}"


def _noise_table(report: Report) -> str:
    """Return how often variants flip against themselves, for the rows that have cases which ran again."""
    shown = [(c.candidate, v) for c in report.candidates for v in view.headline(c) if v.metric == "pass"]
    rows = [_noise_row(name, v) for name, v in shown if v.baseline_self or v.candidate_self]
    if not rows:
        return ""
    heads = (
        "candidate",
        "suite",
        "baseline against itself",
        "candidate against itself",
        f"excess churn ({view.interval_name(report)})",
        "unstable: n, lost / won",
        "stable: n, lost / won",
    )
    title = "### Noise floor: how often passing changes when only the batching does"
    return f"{title}\n\n{table(heads, rows, right=(2, 3, 4, 5, 6))}"


def _noise_row(name: str, verdict: Verdict) -> list[str]:
    return [
        code(name),
        code(view.verdict_label(verdict)),
        _own_rate(verdict.baseline_self),
        _own_rate(verdict.candidate_self),
        figures.excess_text(verdict),
        _stratum(verdict.unstable),
        _stratum(verdict.stable),
    ]


def _own_rate(own: SelfFlips | None) -> str:
    return UNKNOWN if own is None else f"{percent(own.rate)} (n {own.n})"


def _stratum(stratum: Stratum | None) -> str:
    return UNKNOWN if stratum is None else f"{stratum.n}, {stratum.losses} / {stratum.gains}"


def _fidelity_table(report: Report) -> str:
    """Return how far candidates lie from the baseline token by token, empty where it was not measured."""
    shown = fidelity.panels(report)
    if not shown:
        return ""
    reverse = fidelity.reverse_shown(row for panel in shown for row in panel.rows)
    heads = (
        "candidate",
        "suite",
        "tokens",
        "KL mean",
        "KL p99",
        *(("reverse KL mean", "reverse KL p99") if reverse else ()),
        "noise KL",
        "KL over noise",
        "same top",
        "near-ties of flips",
    )
    rows = [[code(panel.candidate), *_fidelity_cells(row, reverse)] for panel in shown for row in panel.rows]
    notes = [f"{code(panel.candidate)}: {prose(fidelity.gap_words(panel.result))}." for panel in shown]
    notes += [f"{prose(fidelity.REVERSE)}."] if reverse else []
    notes += [f"{prose(fidelity.BOUND)}."] if fidelity.bounds_shown(shown) else []
    title = "### Fidelity: distance to the baseline, token by token"
    return f"{title}\n\n{table(heads, rows, right=range(2, len(heads)))}\n\n" + "\n".join(f"- {note}" for note in notes)


def _fidelity_cells(row: fidelity.Row, reverse: bool) -> list[str]:
    at, kind = row.at, row.kind
    return [
        code(at.slice.label),
        f"{at.statistics.n_tokens if at.statistics else 0:,}",
        fidelity.mean_text(at, kind),
        fidelity.p99_text(at, kind),
        *([fidelity.reverse_mean_text(at, kind), fidelity.reverse_p99_text(at, kind)] if reverse else []),
        fidelity.kl_text(at.noise, kind),
        fidelity.times_text(at),
        fidelity.same_text(at),
        fidelity.near_ties_text(at),
    ]


def _sampled_table(report: Report) -> str:
    rows = [
        [code(row.variant), code(row.suite), f"{row.at.k}", f"{row.at.n}",
         percent(row.at.at_least_one), percent(row.at.all_of_them)]
        for row in view.sampled(report)
    ]  # fmt: skip
    if not rows:
        return ""
    heads = ("variant", "suite", "k", "n", code("pass@k"), code("pass^k"))
    return "### Sampled answers\n\n" + table(heads, rows, right=(2, 3, 4, 5))


def _limits(report: Report) -> str:
    broken = [
        (c.candidate, limit)
        for c in report.candidates
        for limit in c.limits
        if limit.broken and limit.level == "critical"
    ]
    lines = [f"- {code(name)} {code(limit.slice.label)}: {prose(limit.text)}" for name, limit in broken[:50]]
    return "### Hard limits broken\n\n" + "\n".join(lines) if lines else ""


def _variants_table(report: Report) -> str:
    heads = ("variant", "bits a weight", "storage", "peak memory", "speed", "state")
    return table(heads, [_variant_row(variant) for variant in report.variants], right=(1, 2, 3, 4))


def _decoding(report: Report) -> str:
    return "\n".join(f"- {code(name)}: {prose(line, 600)}" for name, line in decoding_lines(report))


def _variant_row(variant: VariantSummary) -> list[str]:
    proof = variant.proof
    detail = f": {prose(variant.state_detail, 160)}" if variant.state_detail else ""
    return [
        code(variant.variant),
        bits(None if proof is None else proof.effective_bits),
        size(None if proof is None else proof.storage_bytes),
        size(variant.peak_memory_bytes),
        rate(variant.tokens_per_s),
        view.answered_text(variant) + detail,
    ]


def _remarks(report: Report) -> str:
    lines = [prose(warning) for warning in report.warnings]
    for candidate in report.candidates:
        said = (*candidate.comparability.faults, *view.remarks(candidate, 3))
        lines += [f"{code(candidate.candidate)}: {prose(note)}" for note in said]
    if not lines:
        return ""
    more = [f"{len(lines) - 30} more are in report.html"] if len(lines) > 30 else []
    return "### Warnings\n\n" + "\n".join(f"- {line}" for line in [*lines[:30], *more])


def _changed(report: Report, room: int) -> str:
    """Return the changed cases, worst first, as many as fit into `room` characters."""
    cases = view.worst_first(report)
    if not cases:
        return "\nNo answer changed.\n"
    title = f"\n### Changed cases: {len(cases)}\n\n"
    spare = 80  # for the line that counts the cases left out
    parts, used = [], len(title) + spare
    for case in cases:
        part = _case(case, report.baseline)
        if used + len(part) > room:
            break
        parts.append(part)
        used += len(part)
    left_out = len(cases) - len(parts)
    more = f"{left_out} more changed cases are in report.html.\n" if left_out else ""
    return title + "".join(parts) + more


def _case(case: ChangedCase, baseline: str) -> str:
    tags = " ".join(f"{key}={value}" for key, value in sorted(case.tags.items()))
    name = html.escape(one_line(f"{case.candidate}: {case.suite}/{case.case}", 160))
    unstable = ", unstable (also flips against itself)" if case.unstable else ""
    lines = [
        f"<details><summary>{view.KIND_WORDS[case.kind]} <code>{name}</code>{unstable}</summary>",
        "",
        f"Tags: {code(tags, 200)}" if tags else "",
        f"First differs at {code(fidelity.divergence_text(case.divergence), 200)}" if case.divergence else "",
        "",
        "Question:",
        fence(visible(cut(case.question, 300).text)),
        f"{code(baseline)}, {_fault(case.baseline_fault)}:",
        _answer(case.baseline_text),
        f"{code(case.candidate)}, {_fault(case.candidate_fault)}:",
        _answer(case.candidate_text),
        "</details>",
        "",
    ]
    return "\n\n".join(line for line in lines if line) + "\n\n"


def _fault(fault: str) -> str:
    return code(fault, 200) if fault else "passed"


def _answer(text: str) -> str:
    shown = cut(text, _TEXT_LIMIT)
    more = f"\n\n{shown.left_out} more characters are in the record." if shown.left_out else ""
    return (fence(visible(shown.text)) if text.strip() else "(empty)") + more
