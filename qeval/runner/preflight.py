"""The pre-flight: before the first variant, every model of a plan is asked how it reads every case.

Rendering costs seconds and a night of answers rests on it, so what is wrong with it is found and said first: cases that
a model cannot be shown whole, prompts that its context cannot hold, models that read other tokens than the baseline's.
What one model cannot be shown, no variant is shown, so that all answer the same cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from qeval.engines.unloaded import Unloaded
from qeval.errors import UsageError
from qeval.models.resolved import ResolvedModel
from qeval.models.weights import check_weights
from qeval.rendering.renderer import Rules
from qeval.rendering.template import RefusedError, TooSlowError
from qeval.runner.preflight_notes import Read, notes_of
from qeval.strict import Strict
from qeval.suites.case import Case, Suite

MOST_TOO_SLOW = 3
"""Cases on which a chat template may fail to come to an end; with more of them it is no matter of the case."""


class PreflightTask(NamedTuple):
    """What the pre-flight's process needs; pickled into it."""

    folder: Path
    """The run's folder, which exists."""
    identity: str
    models: tuple[ResolvedModel, ...]
    """Each model of the plan once, the baseline's first."""
    suites: tuple[Suite, ...]
    rules: Rules
    threads: int
    name: str = "pre-flight"


class Preflight(Strict):
    """What the pre-flight found, as it is stored beside the plan."""

    identity: str
    """sha256 over what it rests on."""
    refused: dict[str, dict[str, str]]
    """Cases that no variant is shown: suite -> case id -> why."""
    notes: tuple[str, ...]
    """What people should know before any time is spent."""


def run_preflight(task: PreflightTask) -> Preflight:
    """Ask every model how it reads every case.

    Raises:
        UsageError: a model lacks weights, cannot be loaded, or can be shown no case at all.
    """
    reads = [_read(model, task.suites, task.rules) for model in task.models]
    refused: dict[str, dict[str, str]] = {}
    for read in reads:
        for (suite, case), why in read.refused.items():
            refused.setdefault(suite, {}).setdefault(case, f"{read.model}: {why}" if len(reads) > 1 else why)
    return Preflight(identity=task.identity, refused=refused, notes=notes_of(reads, task.suites))


def _read(model: ResolvedModel, suites: Sequence[Suite], rules: Rules) -> Read:
    weights = check_weights(model)
    unloaded = Unloaded(model, rules)
    renderer = unloaded.renderer
    read = Read(model.name, weights, unloaded.context_tokens, renderer.rendering, renderer.thinking.tokens)
    too_slow = 0
    for key, case in _cases(suites):
        try:
            prompt = unloaded.render(key[0], case)
        except RefusedError as error:
            read.refused[key] = str(error)
            too_slow += isinstance(error, TooSlowError)
            if too_slow > MOST_TOO_SLOW:
                raise _unusable(read, f"its chat template does not come to an end on {too_slow} cases") from error
            continue
        read.digests[key] = prompt.digest
        read.ways.setdefault(prompt.way, []).append(key)
        if unloaded.context_tokens is not None and len(prompt.token_ids) + prompt.max_tokens > unloaded.context_tokens:
            (read.too_long if case.truncate is None else read.cut).append(key)
    if not read.digests:
        raise _unusable(read, f"none of {len(read.refused)} cases can be shown to it")
    return read


def _unusable(read: Read, what: str) -> UsageError:
    (suite, case), why = next(iter(read.refused.items()))
    return UsageError(
        f"{read.model}: {what}. The first is {suite}/{case}: {why}. Mend the model's chat template or its tokenizer, "
        "or choose other suites."
    )


def _cases(suites: Sequence[Suite]) -> Iterator[tuple[tuple[str, str], Case]]:
    return (((suite.name, case.id), case) for suite in suites for case in suite.cases)
