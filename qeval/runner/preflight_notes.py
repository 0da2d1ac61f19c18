"""What the pre-flight found, in the sentences that people read before a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qeval.evidence import Rendering
from qeval.rendering.ways import STANDARD
from qeval.suites.case import Suite

Key = tuple[str, str]
"""Suite and case id."""


@dataclass
class Read:
    """How one model reads the cases."""

    model: str
    weights: tuple[str, ...]
    """What is to be known of its weights."""
    context_tokens: int | None
    rendering: Rendering
    thought_tokens: int | None
    digests: dict[Key, str] = field(default_factory=dict)
    """Of the token ids of each prompt."""
    refused: dict[Key, str] = field(default_factory=dict)
    """Why a case cannot be shown."""
    ways: dict[str, list[Key]] = field(default_factory=dict)
    too_long: list[Key] = field(default_factory=list)
    cut: list[Key] = field(default_factory=list)
    """Cases that are too long and allow to be shortened."""


def notes_of(reads: Sequence[Read], suites: Sequence[Suite]) -> tuple[str, ...]:
    """Return what people should know, the baseline's model first."""
    notes = [note for read in reads for note in _of_one(read)]
    notes += [note for read in reads[1:] for note in _other_tokens(reads[0], read)]
    notes += [note for suite in suites for note in _refused(reads, suite)]
    return tuple(notes)


def _of_one(read: Read) -> Iterator[str]:
    rendering = read.rendering
    for note in read.weights:
        yield f"{read.model}: {note}"
    if rendering.template == "fallback":
        yield f"{read.model}: it has no chat template; prompts are written with plain role names"
    if rendering.date is not None:
        yield f"{read.model}: its chat template writes the date; it is {rendering.date} for all variants and resumes"
    if rendering.thinking is not None:
        yield f"{read.model}: thinking is {rendering.thinking}{_thought_limit(read.thought_tokens)}"
    for way, keys in read.ways.items():
        if way != STANDARD:
            yield f"{read.model}: {_cases(keys, read)}: {way}"
    if read.cut:
        yield f"{read.model}: {_cases(read.cut, read)} too long for a context of {read.context_tokens} tokens are cut"
    if read.too_long:
        yield (
            f"warning: {read.model}: {_cases(read.too_long, read)} do not fit in a context of {read.context_tokens} "
            "tokens and stay ungraded"
        )


def _thought_limit(tokens: int | None) -> str:
    if tokens is None:
        return ""
    return f". A thought may take {tokens} tokens before the answer's own limit counts; --thinking sets another limit"


def _other_tokens(baseline: Read, read: Read) -> Iterator[str]:
    both = read.digests.keys() & baseline.digests.keys()
    other = [key for key in baseline.digests if key in both and read.digests[key] != baseline.digests[key]]
    if other:
        yield (
            f"warning: {read.model} reads other tokens than {baseline.model} in {_cases(other, read)}; its variants "
            "will not be comparable"
        )


def _refused(reads: Sequence[Read], suite: Suite) -> Iterator[str]:
    found = {
        case.id: why
        for case in suite.cases
        for read in reads
        if (why := read.refused.get((suite.name, case.id))) is not None
    }
    if not found:
        return
    first = next(iter(found))
    most = " This is most of the suite: its result says little." if 2 * len(found) > len(suite.cases) else ""
    yield (
        f"warning: {len(found)} of {len(suite.cases)} cases of {suite.name} are refused for all variants and stay "
        f"ungraded; the first is {first}: {found[first]}.{most}"
    )


def _cases(keys: Sequence[Key], read: Read) -> str:
    total = len(read.digests) + len(read.refused)
    suite, case = keys[0]
    return f"{len(keys)} of {total} cases (the first is {suite}/{case})"
