"""A report with everything in it that a renderer has to survive, built from the types alone."""

from __future__ import annotations

from typing import Any

from qeval.compare.fidelity_result import (
    Divergence,
)
from qeval.compare.report import (
    CandidateResult,
    ChangedCase,
    Comparability,
    ExcessChurn,
    LimitResult,
    PassAtK,
    Report,
    SelfFlips,
    SliceKey,
    Stratum,
    VariantSummary,
    Verdict,
)
from qeval.evidence import Environment, Proof
from qeval.record import SuiteInfo
from tests.reporting.fake_fidelity import UNKNOWN_OF_FEW, fidelity, slice_fidelity, statistics

SUITES = ("longdoc", "multilingual", "toolcalls", "schema", "refusal")

HOSTILE: dict[str, str] = {
    "html": '<img src=x onerror="alert(1)"><b>bold</b> & <a href="https://evil.example/x">click</a>',
    "script_end": "</script><script>document.title='owned'</script></style></td></table></details>",
    "ansi": "\x1b[31mred\x1b[0m \x1b]0;title\x07 bell\x07 back\x08space \x9b2J",
    "bidi": "transfer \u202e001\u202c to \u2066admin\u2069 now",
    "surrogate": "half an emoji: \ud83d and a \udc00 tail",
    "long": "word " * 2000,
    "unbroken": "x" * 3000,
    "arabic": "العاصمة هي القاهرة، وعدد السكان 10 ملايين.",
    "emoji": "ready 👩‍👩‍👧‍👦 🇩🇪 ✅ 한국어 日本語 ไทย",
    "fences": "```python\nprint('hi')\n```\n~~~\n````\n# Heading\n````````",
    "mentions": "ping @octocat and @acme/security, fixes #1, see GH-2 and acme/repo#3",
    "markdown": "| a | b |\n|---|---|\n**bold** [link](javascript:alert(1)) ![img](http://evil.example/p.png) <!-- -->",
    "cdata": "]]> <![CDATA[ &amp; &#0; \x00\x0b\x0c\ufffe\uffff",
    "template": "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7}",
    "separators": "one\u2028two\u2029three\x85four\ufeff",
    "blank": "",
}


def verdict(suite: str | None = None, **changes: Any) -> Verdict:
    """One verdict; the figures follow from losses, gains and n."""
    n = changes.pop("n", 32)
    losses, gains = changes.pop("losses", 0), changes.pop("gains", 0)
    passed = changes.pop("baseline_passed", n // 2)
    difference = (gains - losses) / n if n else None
    spread = 1.645 * ((losses + gains + 1) ** 0.5) / n if n else None
    fields: dict[str, Any] = {
        "metric": "pass",
        "slice": SliceKey(suite=suite, tag=changes.pop("tag", None), value=changes.pop("value", None)),
        "role": "suite" if suite else "pool",
        "level": "critical",
        "ruling": "equivalent",
        "reason": "The interval excludes a loss beyond the margin.",
        "n": n,
        "clusters": n,
        "effective_n": float(n) if n else None,
        "baseline_passed": passed,
        "candidate_passed": passed - losses + gains,
        "losses": losses,
        "gains": gains,
        "changed_wrong": 2,
        "changed_text": losses + gains + 4,
        "difference": difference,
        "low": None if difference is None or spread is None else max(-1.0, difference - spread),
        "high": None if difference is None or spread is None else min(1.0, difference + spread),
        "p_harm": 0.5 if n else None,
        "p_harm_adjusted": 1.0 if n else None,
        "p_gain": 0.5 if n else None,
        "p_gain_adjusted": 1.0 if n else None,
        "p_noninferior": 0.03 if n else None,
        "margin": 0.05 if suite else 0.02,
        "smallest_detectable": 0.138 if n else None,
        "cases_needed": None,
        "baseline_self": SelfFlips(n=24, flips=1, changed_texts=3, divergences=3, rate=1 / 24),
        "candidate_self": SelfFlips(n=24, flips=2, changed_texts=5, divergences=6, rate=2 / 24),
        "excess_churn": _excess(min(1.0, (losses + gains) / n)) if n else None,
        "stable": Stratum(n=21, losses=losses // 2, gains=0),
        "unstable": Stratum(n=3, losses=min(losses, 1), gains=min(gains, 1)),
    }
    return Verdict(**(fields | changes))


def _excess(flip_rate: float) -> ExcessChurn:
    estimate = flip_rate - 1 / 16
    return ExcessChurn(flip_rate=flip_rate, estimate=estimate, low=estimate - 0.08, high=estimate + 0.08)


def once(verdict: Verdict) -> Verdict:
    """The verdict of arms that ran no case again."""
    fields = ("baseline_self", "candidate_self", "excess_churn", "stable", "unstable")
    return verdict.model_copy(update=dict.fromkeys(fields))


def environment() -> Environment:
    return Environment(
        python="3.11.2",
        platform="Linux-6.1-x86_64",
        processor="x86_64, 2 cores",
        device="cpu",
        threads=2,
        versions={"torch": "2.13.0", "transformers": "5.24.0", "bitsandbytes": "0.50.2"},
    )


def proof(bits: float, storage: int) -> Proof:
    return Proof(
        quantized_modules=0 if bits == 32 else 210,
        skipped_modules=("lm_head",),
        parameters=134_515_008,
        effective_bits=bits,
        storage_bytes=storage,
        dtypes={"float32": storage},
    )


def variant(name: str, **changes: Any) -> VariantSummary:
    fields: dict[str, Any] = {
        "variant": name,
        "engine": "transformers",
        "format": name.split("+")[0],
        "state": "complete",
        "state_detail": "",
        "proof": proof(32.0, 538_060_032),
        "load_s": 1.2,
        "run_s": 71.5,
        "tokens_per_s": 118.3,
        "prompt_tokens": 41_200,
        "generated_tokens": 8_460,
        "peak_memory_bytes": 1_630_000_000,
        "environment": environment(),
        "n_cases": 160,
        "n_answered": 160,
        "suite_passed": dict.fromkeys(SUITES, (16, 32)),
    }
    return VariantSummary(**(fields | changes))


def changed(candidate: str, case: str, kind: str, **changes: Any) -> ChangedCase:
    fields: dict[str, Any] = {
        "candidate": candidate,
        "suite": "longdoc",
        "case": case,
        "tags": {"depth": "0.9", "lang": "en", "tokens": "4k"},
        "kind": kind,
        "question": "What is the serial number of the pump that was replaced in March?",
        "expected": "contains: 7714-B",
        "baseline_text": "The serial number of the pump replaced in March is 7714-B.",
        "candidate_text": "The serial number of the pump replaced in May is 7741-B.",
        "baseline_fault": "",
        "candidate_fault": "wrong_value: '7714-B' is not in the answer",
    }
    return ChangedCase(**(fields | changes))


def divergence(**changes: Any) -> Divergence:
    fields: dict[str, Any] = {
        "position": 9,
        "baseline_token": " March",
        "candidate_token": " May",
        "gap": 0.0213,
        "near_tie": True,
    }
    return Divergence(**(fields | changes))


def hostile_cases() -> tuple[ChangedCase, ...]:
    return tuple(
        changed(
            "nf4",
            f"hostile/{name}",
            "right_to_wrong",
            suite="schema",
            question=text[:400],
            expected=text[:400],
            candidate_text=text,
            candidate_fault=text[:300],
            tags={"attack": name, "raw": text[:60]},
            divergence=divergence(baseline_token=text[:60], candidate_token=text[:60], near_tie=False),
        )
        for name, text in HOSTILE.items()
    )


def _nf4() -> CandidateResult:
    verdicts = (
        verdict(n=160, losses=18, gains=3, baseline_passed=84, ruling="regressed", p_harm_adjusted=0.0007,
                reason="A loss is proven and one of 13.8 points is not excluded (margin 2.0)."),
        verdict("longdoc", losses=9, gains=0, baseline_passed=19, ruling="regressed", p_harm_adjusted=0.0021,
                reason="A loss is proven and one of 41 points is not excluded (margin 5.0)."),
        verdict("multilingual", losses=5, gains=1, ruling="inconclusive", cases_needed=248,
                reason="Neither a loss nor its absence is proven: needs about 248 cases."),
        verdict("toolcalls", losses=3, gains=1, ruling="inconclusive", cases_needed=1418, clusters=11,
                effective_n=14.6, smallest_detectable=None, flags=("margin_in_noise",), baseline_self=
                SelfFlips(n=32, runs=5, flips=6, changed_texts=12, divergences=14, rate=0.074), candidate_self=
                SelfFlips(n=32, runs=5, flips=9, changed_texts=20, divergences=22, rate=0.1406),
                reason="A margin of 5.0 pp lies inside the noise; needs about 1418 cases, has 32."),
        verdict("schema", losses=1, gains=1, ruling="inconclusive", cases_needed=248, level="advisory",
                reason="Neither a loss nor its absence is proven: needs about 248 cases."),
        verdict("refusal", n=31, losses=0, gains=0, flags=("baseline_floor",), baseline_passed=4, ruling="inconclusive",
                unanswered={"timeout": 1}, reason="The baseline passes 13 %: no loss could show."),
        verdict("longdoc", tag="depth", value="0.9", n=12, losses=7, gains=0, baseline_passed=9, role="required",
                ruling="regressed", p_harm_adjusted=0.004, reason="A loss is proven."),
        verdict("multilingual", tag="lang", value="ar", n=4, losses=1, role="required", ruling="inconclusive",
                flags=("too_few",), cases_needed=133, reason="Too few cases to judge: 4, at least 30."),
        verdict(None, tag="script", value="Arab", n=8, losses=4, role="exploratory", ruling="regressed",
                shrunken=-0.131, reason="A loss is proven; exploratory slices do not gate."),
        verdict(None, tag="script", value="Latn", n=120, losses=24, role="exploratory", ruling="regressed",
                shrunken=-0.187, reason="A loss is proven; exploratory slices do not gate."),
        verdict("schema", tag="kind", value="nested", n=0, role="exploratory", ruling="inconclusive",
                flags=("too_few",), reason="No pairs."),
        verdict("schema", metric="schema_valid", losses=2, gains=3, level="advisory", role="suite"),
        verdict("toolcalls", metric="arguments score", losses=9, gains=4, level="advisory", role="suite",
                baseline_passed=23.4, candidate_passed=20.75, difference=-0.0828, low=-0.1419, high=-0.0237,
                ruling="inconclusive", cases_needed=97),
    )  # fmt: skip
    return CandidateResult(
        confidence=0.9,
        candidate="nf4",
        required=True,
        decision="regressed",
        reasons=("pool regressed: 18 losses, 3 gains of 160", "longdoc regressed", "max_net_loss broken in longdoc"),
        comparability=Comparability(level="token_ids", cautions=()),
        verdicts=verdicts,
        limits=(
            LimitResult(name="max_net_loss", slice=SliceKey(suite="longdoc"), broken=True,
                        text="net loss 9 of 32 cases, allowed 4 (max_net_loss 0.15)"),
            LimitResult(name="max_kl_over_noise", slice=SliceKey(), level="advisory", broken=True,
                        text="mean KL 0.147 nats, noise floor 0.0024, allowed 0.024 (max_kl_over_noise 10)"),
            LimitResult(name="min_scored", slice=SliceKey(), broken=False, text="159 of 160 scored, at least 152"),
        ),
        fidelity=fidelity(
            slice_fidelity(None, 0.147394, statistics=statistics(0.147394, n_cases=158, n_tokens=14210, clusters=137),
                           faults={"numeric_error": 1}, unscored=1),
            slice_fidelity("longdoc", 0.2218),
            slice_fidelity("multilingual", 0.131, baseline_self=None, candidate_self=None, over_noise=None),
            slice_fidelity("refusal", 0.08, statistics=None, over_noise=None, faults={"out_of_memory": 32},
                           diverged=0, flipped=0, near_ties=0),
            slice_fidelity("longdoc", 0.31, tag="depth", value="0.9", role="required", over_noise=None,
                           statistics=statistics(0.31, n_cases=1, n_tokens=60, clusters=1, ppl_q=None,
                                                 **UNKNOWN_OF_FEW)),
        ),
        notes=("one case has no answer (timeout)",),
    )  # fmt: skip


def _accepted(name: str) -> CandidateResult:
    return CandidateResult(
        confidence=0.9,
        candidate=name,
        required=True,
        decision="accepted",
        reasons=("no loss beyond the margins",),
        comparability=Comparability(level="token_ids"),
        verdicts=(
            verdict(n=160, losses=1, gains=1, baseline_passed=84),
            *(
                verdict(suite, n=64, losses=int(suite == "schema"), gains=int(suite == "refusal"), margin=0.06)
                for suite in SUITES
            ),
        ),
    )


def _others() -> tuple[CandidateResult, ...]:
    inconclusive = tuple(
        once(verdict(suite, losses=2, gains=1, ruling="inconclusive", cases_needed=344, flags=("ended_early",),
                     reason="Needs about 344 cases."))
        for suite in (None, *SUITES)
    )  # fmt: skip
    return (
        CandidateResult(
            candidate="int8+kv=int4",
            required=False,
            decision="inconclusive",
            reasons=("pool is open: needs about 344 cases",),
            comparability=Comparability(level="rendered_text", cautions=("another engine: llama.cpp 0.3",)),
            verdicts=inconclusive,
            fidelity=fidelity(
                slice_fidelity(None, 0.107, over_noise=None, near_ties=None),
                kind="top_k_bound",
                gap_noise=None,
                gap_noise_n=0,
                parts=(),
            ),
            notes=("ended early by proven harm after 32 of 160 cases",),
        ),
        CandidateResult(
            candidate="endpoint+temperature=0.7+model=org/some-very-long-name-of-a-model",
            required=True,
            decision="not_comparable",
            reasons=("suite digest differs for longdoc",),
            comparability=Comparability(level="messages", faults=("suite digest differs: longdoc ab12 and cd34",)),
            verdicts=(),
            unpaired=("longdoc/17",),
        ),
    )


def sampled() -> dict[str, tuple[PassAtK, ...]]:
    return {
        suite: (
            PassAtK(k=1, n=n, at_least_one=0.531, all_of_them=0.531),
            PassAtK(k=4, n=n, at_least_one=0.844, all_of_them=0.219),
        )
        for suite, n in (("all", 160), ("longdoc", 32), ("toolcalls", 32))
    }


def full_report(**changes: Any) -> Report:
    """Five variants, every decision but incomplete, hostile texts in every field a model or a person can reach."""
    candidates = (_nf4(), _accepted("bf16"), *_others())
    fields: dict[str, Any] = {
        "created_at": "2026-11-29T02:14:07+00:00",
        "qeval_version": "0.1.0",
        "model": "smollm2-135m",
        "model_fingerprint": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "baseline": "fp32",
        "decision": "not_comparable",
        "exit_code": 4,
        "variants": (
            variant("fp32"),
            variant("nf4", proof=proof(6.71, 112_800_000), tokens_per_s=42.1, peak_memory_bytes=901_000_000,
                    n_answered=159),
            variant("bf16", proof=proof(16.0, 269_030_016), tokens_per_s=201.9, peak_memory_bytes=1_050_000_000),
            variant("int8+kv=int4", proof=None, tokens_per_s=None, peak_memory_bytes=None, state="out_of_memory",
                    state_detail="killed at case 88: " + HOSTILE["html"], n_answered=88),
            variant("endpoint+temperature=0.7+model=org/some-very-long-name-of-a-model", engine="openai", proof=None,
                    peak_memory_bytes=None, sampled=sampled()),
        ),
        "candidates": candidates,
        "changed": (
            changed("nf4", "needle-017", "right_to_wrong", divergence=divergence()),
            changed("nf4", "needle-018", "right_to_wrong", unstable=True),
            changed("nf4", "ar-03", "wrong_to_right", suite="multilingual", tags={"lang": "ar"},
                    baseline_text=HOSTILE["emoji"], candidate_text=HOSTILE["arabic"], baseline_fault="wrong_language",
                    candidate_fault=""),
            changed("bf16", "call-11", "text_changed", suite="toolcalls", tags={"kind": "parallel"},
                    candidate_fault=""),
            changed("bf16", "json-02", "wrong_to_other_wrong", suite="schema", tags={"kind": "flat"},
                    baseline_fault="invalid: 'age' is a string"),
            changed("nf4", "refuse-30", "no_answer", suite="refusal", tags={}, candidate_text="",
                    candidate_fault="timeout: 60 s"),
            *hostile_cases(),
        ),
        "suites": {name: SuiteInfo(version=1, size="smoke", digest="ab" * 32, n_cases=32) for name in SUITES},
        "policy": {"alpha": 0.05, "margins": {"pool": 0.02, "suites": 0.05}},
        "policy_digest": "cd" * 32,
        "warnings": ("the baseline's own flips were measured on 24 of 160 cases",),
    }  # fmt: skip
    return Report(**(fields | changes))


def empty_report() -> Report:
    """A run in which the only candidate never started."""
    candidate = CandidateResult(
        candidate="nf4",
        required=True,
        decision="incomplete",
        reasons=("nf4 has no record",),
        comparability=Comparability(level="token_ids"),
        verdicts=(),
    )
    return full_report(
        decision="incomplete",
        exit_code=5,
        candidates=(candidate,),
        changed=(),
        warnings=(),
        variants=(variant("fp32"),),
    )


def picked_report() -> Report:
    """A run whose policy takes the best candidate: of three, two are accepted and the smaller one is picked."""
    nf4 = _nf4().model_copy(update={"candidate": "int4"})
    return full_report(
        decision="accepted", exit_code=0, picked="nf4", candidates=(_accepted("bf16"), _accepted("nf4"), nf4)
    )
