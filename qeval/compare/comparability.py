"""Whether two records may be compared: a fault forbids it, a caution stands beside every verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qeval.compare.judged import judge_decides, judge_difference
from qeval.compare.pairs import Pair
from qeval.compare.report import Comparability
from qeval.evidence import ComparabilityLevel, Environment, Rendering
from qeval.outcome import Outcome
from qeval.record import Record, RecordHeader

_STRONGEST_FIRST: tuple[ComparabilityLevel, ...] = ("token_ids", "rendered_text", "messages")
_LEVEL_CAUTION: dict[ComparabilityLevel, str] = {
    "rendered_text": "compared at the level of rendered text: the two may have cut it into different tokens",
    "messages": "compared at the level of messages: how they became a prompt is not known, only its length",
}
_BATCHING = frozenset({"batch_size", "batch_tokens", "seed", "work"})
"""Settings that say which cases run together: other values are a caution, as other batches are."""
_BEFORE = {"head": "model"}
"""Settings that older records lack, with what those decoded with."""
PROMPT_LENGTH_TOLERANCE_PERCENT = 2
"""How far counts of prompt tokens may lie apart at the level of messages."""


def compare_headers(baseline: Record, candidate: Record, pairs: Sequence[Pair]) -> Comparability:
    """Check everything that must be equal before a difference means anything."""
    ours, theirs = baseline.header, candidate.header
    level = max(ours.level, theirs.level, key=_STRONGEST_FIRST.index)
    faults = [*_suite_faults(ours, theirs), *_decoding_faults(ours, theirs), *_prompt_faults(pairs, level)]
    cautions = [_LEVEL_CAUTION[level]] if level in _LEVEL_CAUTION else []
    if level != "messages":
        faults += _rendering_faults(ours.rendering, theirs.rendering)
    if level == "token_ids":
        cautions += _unhashed(pairs)
    if difference := judge_difference(ours, theirs):
        (faults if judge_decides(pairs) else cautions).append(f"{difference}; judge both runs by the same one")
    cautions += [*_header_cautions(ours, theirs), *_environment_cautions(ours.environment, theirs.environment)]
    return Comparability(level=level, faults=tuple(faults), cautions=tuple(cautions))


def same_variant(ours: RecordHeader, theirs: RecordHeader) -> tuple[str, ...]:
    """Return the fault of a candidate that is the baseline again: a typo would pass every night."""
    if ours == theirs:
        return ("the candidate's record is a copy of the baseline's",)
    one, other = ((h.variant, h.format, h.engine, h.model.fingerprint) for h in (ours, theirs))
    if one != other:
        return ()
    return (
        f"both records are of the variant {ours.variant}, from the same weights, so no loss could show. Name another "
        "record; or, to test a variant against itself, pass --allow-same",
    )


def _suite_faults(ours: RecordHeader, theirs: RecordHeader) -> Iterable[str]:
    for name in sorted(ours.suites.keys() & theirs.suites.keys()):
        one, other = ours.suites[name], theirs.suites[name]
        if (one.version, one.size) != (other.version, other.size):
            yield (
                f"suite {name}: the baseline ran version {one.version} at size {one.size}, "
                f"the candidate version {other.version} at size {other.size}; run both on the same"
            )
        elif one.digest != other.digest:
            yield (
                f"suite {name}: its cases were changed between the two runs "
                f"(digest {one.digest[:12]} against {other.digest[:12]}); run both on the same"
            )
    if not ours.suites.keys() & theirs.suites.keys():
        yield f"no suite in common: {', '.join(sorted(ours.suites))} against {', '.join(sorted(theirs.suites))}"


def _decoding_faults(ours: RecordHeader, theirs: RecordHeader) -> Iterable[str]:
    for key, one, other in _decoding_differences(ours, theirs):
        if key not in _BATCHING:
            yield f"decoding setting {key}: {one!r} in the baseline, {other!r} in the candidate"


def _decoding_differences(ours: RecordHeader, theirs: RecordHeader) -> Iterable[tuple[str, object, object]]:
    for key in sorted(ours.decoding.keys() | theirs.decoding.keys()):
        one, other = (header.decoding.get(key, _BEFORE.get(key)) for header in (ours, theirs))
        if one != other:
            yield key, one, other


def _rendering_faults(one: Rendering | None, other: Rendering | None) -> Iterable[str]:
    if one is None or other is None:
        return
    for field in ("template", "tools", "system_folded"):
        before, after = getattr(one, field), getattr(other, field)
        if before != after:
            yield f"prompts were made otherwise ({field}): {before} in the baseline, {after} in the candidate"


def _prompt_faults(pairs: Sequence[Pair], level: ComparabilityLevel) -> Iterable[str]:
    both = [(pair, pair.baseline.outcome, pair.candidate.outcome) for pair in pairs]
    checked = [(pair, one, other) for pair, one, other in both if one and other]
    if level == "token_ids":
        wrong = [pair for pair, one, other in checked if _hashes_differ(one, other)]
        what = "another prompt than the baseline's"
    elif level == "messages":
        wrong = [pair for pair, one, other in checked if _lengths_differ(one, other)]
        what = f"a prompt that is over {PROMPT_LENGTH_TOLERANCE_PERCENT} % longer or shorter than the baseline's"
    else:
        return
    if wrong:
        first = wrong[0].info
        yield f"{len(wrong)} of {len(checked)} cases were shown {what}; the first is {first.suite}/{first.case}"


def _hashes_differ(one: Outcome, other: Outcome) -> bool:
    return one.prompt_hash is not None and other.prompt_hash is not None and one.prompt_hash != other.prompt_hash


def _lengths_differ(one: Outcome, other: Outcome) -> bool:
    if one.prompt_tokens is None or other.prompt_tokens is None:
        return False
    return 100 * abs(one.prompt_tokens - other.prompt_tokens) > PROMPT_LENGTH_TOLERANCE_PERCENT * one.prompt_tokens


def _unhashed(pairs: Sequence[Pair]) -> list[str]:
    arms = (arm.outcome for pair in pairs for arm in (pair.baseline, pair.candidate))
    missing = sum(outcome.answered and outcome.prompt_hash is None for outcome in arms if outcome)
    return [f"{missing} answers carry no hash of their prompt, so that equal prompts are not proven"] if missing else []


def _header_cautions(ours: RecordHeader, theirs: RecordHeader) -> Iterable[str]:
    if ours.schema_version != theirs.schema_version:
        yield (
            f"records of two schemas ({ours.schema_version} and {theirs.schema_version}): answers of schema 1 "
            "lack their special tokens, so marks of calls and thoughts may differ where the answers do not"
        )
    if ours.engine != theirs.engine:
        yield f"another engine: {ours.engine} against {theirs.engine}; a difference may come from it (a confounder)"
    if ours.batches != theirs.batches:
        yield "the cases ran in other batches, which alone can change answers in low precision"
    for key, one, other in _decoding_differences(ours, theirs):
        if key in _BATCHING:
            yield f"another {key}: {one!r} against {other!r}"
    if ours.model.fingerprint != theirs.model.fingerprint:
        yield f"made from other weights: {_model(ours)} against {_model(theirs)} (expected for a pruned model)"
    for part in ("tokenizer_hash", "chat_template_hash"):
        one, other = getattr(ours.model, part), getattr(theirs.model, part)
        if one and other and one != other:
            yield f"another {part.removesuffix('_hash').replace('_', ' ')}"
    if ours.rendering and theirs.rendering and ours.rendering.end_token_ids != theirs.rendering.end_token_ids:
        yield f"other end tokens: {ours.rendering.end_token_ids} against {theirs.rendering.end_token_ids}"


def _model(header: RecordHeader) -> str:
    return f"{header.model.name} {header.model.fingerprint[:12]}"


def _environment_cautions(ours: Environment, theirs: Environment) -> Iterable[str]:
    for field in ("python", "platform", "processor", "device", "threads"):
        one, other = getattr(ours, field), getattr(theirs, field)
        if one != other:
            yield f"another environment ({field}): {one} against {other}"
    for package in sorted(ours.versions.keys() | theirs.versions.keys()):
        before, after = ours.versions.get(package, "none"), theirs.versions.get(package, "none")
        if before != after:
            yield f"another environment ({package}): {before} against {after}"
