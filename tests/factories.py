"""Small records made in code, for tests of everything right of the record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from qeval.evidence import Environment, Proof, Rendering
from qeval.outcome import Grade, Outcome
from qeval.record import CaseInfo, FidelityInfo, ModelInfo, Record, RecordHeader, SuiteInfo
from qeval.scored import ScoredAnswer

FIDELITY = FidelityInfo(reference="ab" * 32)
RIGHT, WRONG = "right", "wrong"


def make_environment(**overrides: Any) -> Environment:
    base: dict[str, Any] = {
        "python": "3.11.9",
        "platform": "Linux",
        "processor": "test cpu",
        "device": "cpu",
        "threads": 2,
        "versions": {"torch": "2.13.0"},
    }
    return Environment(**{**base, **overrides})


def make_proof(**overrides: Any) -> Proof:
    base: dict[str, Any] = {
        "quantized_modules": 210,
        "skipped_modules": ("lm_head",),
        "parameters": 1000,
        "effective_bits": 4.5,
        "storage_bytes": 563,
        "dtypes": {"uint8": 563},
    }
    return Proof(**{**base, **overrides})


def make_outcome(suite: str, case: str, passed: bool | None, **overrides: Any) -> Outcome:
    """A graded answer; `passed` None: the class of no answer is in `overrides["status"]`, by default a timeout."""
    text = RIGHT if passed else WRONG
    base: dict[str, Any] = {
        "suite": suite,
        "case": case,
        "batch": 0,
        "status": "answered",
        "text": text,
        "token_ids": tuple(text.encode()),
        "finish": "stop",
        "prompt_tokens": 10,
        "prompt_hash": _sha(f"{suite}/{case}"),
        "grades": (Grade(metric="contains", status="pass"),)
        if passed
        else (Grade(metric="contains", status="fail", fault="wrong_value", reason="not in the text"),),
    }
    if passed is None:
        base |= {"status": "timeout", "text": "", "token_ids": (), "finish": None}
        base["grades"] = (Grade(metric="contains", status="ungraded", fault="timeout"),)
    return Outcome(**{**base, **overrides})


def make_record(
    variant: str,
    passes: Mapping[str, Sequence[bool | None]],
    *,
    tags: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
    clusters: Mapping[str, Sequence[str]] | None = None,
    repeats: Mapping[str, Sequence[bool | None]] | Sequence[Mapping[str, Sequence[bool | None]]] = (),
    outcomes: Sequence[Outcome] | None = None,
    **overrides: Any,
) -> Record:
    """A record whose case i of a suite is `c000i`; None in `passes`: the case has no answer (a timeout).

    Args:
        variant: its name, also its format.
        passes: per suite, whether each case passes.
        tags: per suite, the tags of each case.
        clusters: per suite, the cluster of each case; else each is its own.
        repeats: per suite, what the first cases do when run again (repeat 1); `passes` itself makes an A/A run. A
            list of such: repeats 1, 2 and so on.
        outcomes: instead of those made from `passes`.
        overrides: fields of the header.
    """
    cases = tuple(
        CaseInfo(
            suite=suite,
            case=f"c{i:04}",
            tags=dict(tags[suite][i]) if tags and suite in tags else {},
            cluster=clusters[suite][i] if clusters and suite in clusters else f"c{i:04}",
            question=f"question {i}",
            expected=RIGHT,
        )
        for suite, row in passes.items()
        for i in range(len(row))
    )
    made = [make_outcome(s, f"c{i:04}", passed) for s, row in passes.items() for i, passed in enumerate(row)]
    made += [
        make_outcome(s, f"c{i:04}", passed, repeat=number)
        for number, again in enumerate([repeats] if isinstance(repeats, Mapping) else repeats, 1)
        for s, row in again.items()
        for i, passed in enumerate(row)
    ]
    suites = {
        suite: SuiteInfo(version=1, size="smoke", digest=_sha(f"{suite}{len(row)}"), n_cases=len(row))
        for suite, row in passes.items()
    }
    base: dict[str, Any] = {
        "variant": variant,
        "engine": "scripted",
        "format": variant,
        "model": ModelInfo(name="tiny", fingerprint=_sha("weights")),
        "suites": suites,
        "decoding": {"do_sample": False},
        "batches": _sha("batches"),
        "rendering": Rendering(template="model", tools="template", system_folded=False),
        "environment": make_environment(),
        "state": "complete",
    }
    return Record(RecordHeader(**{**base, **overrides}), cases, tuple(made if outcomes is None else outcomes))


def make_scored(suite: str, case: str, kl: Sequence[float], **overrides: Any) -> ScoredAnswer:
    """A scored answer with these divergences, whose likeliest tokens agree and whose other figures are plain."""
    n = len(kl)
    base: dict[str, Any] = {
        "suite": suite,
        "case": case,
        "batch": 0,
        "kl": kl,
        "total_variation": (0.0,) * n,
        "reference_logprob": (-0.1,) * n,
        "logprob": (-0.1,) * n,
        "entropy": (0.5,) * n,
        "gap": (2.0,) * n,
        "shift": (0.0,) * n,
        "reference_top": (1,) * n,
        "top": (1,) * n,
        "classes": "o" * n,
    }
    return ScoredAnswer(**{**base, **overrides})


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
