"""How a plan's variants decode: what cannot be asked for, and what the record says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.engines.sampling import LEAST_TEMPERATURE, decoding_settings
from qeval.engines.work import work_on
from qeval.errors import UsageError

if TYPE_CHECKING:
    from qeval.runner.plan import PlanFile
    from qeval.runner.task import Task


def check_decoding(file: PlanFile) -> None:
    """Refuse decoding that means nothing, or that the plan's engine does not have.

    Raises:
        UsageError: several samples of a greedy answer, repeats of sampled ones, replay of either, a temperature near 0,
            or a head rule or a temperature for an engine that computes no logits.
    """
    if file.decode == "replay" and (file.temperature or file.engine == "scripted"):
        raise UsageError(
            "decode replay: only a model's greedy answers can be replayed, not sampled or scripted ones. Leave it out."
        )
    if file.engine == "scripted" and file.head != "model":
        raise UsageError(f"head {file.head} needs a model; the scripted engine has no output head. Leave `head` out.")
    if file.engine == "scripted" and file.temperature:
        raise UsageError(
            f"temperature {file.temperature:g} needs a model; the scripted engine reads its answers. Leave it out."
        )
    if 0 < file.temperature < LEAST_TEMPERATURE:
        raise UsageError(
            f"temperature {file.temperature:g}: it must be 0, which is greedy, or at least {LEAST_TEMPERATURE}."
        )
    if file.temperature and file.repeats:
        raise UsageError(
            f"repeats {file.repeats}: sampled answers differ anyway, and samples are their repeats. Set samples."
        )
    if file.samples > 1 and not file.temperature:
        raise UsageError(
            f"samples {file.samples}: greedy answers are all alike. Set a temperature above 0, or leave samples out."
        )


def recorded_decoding(task: Task) -> dict[str, Any]:
    """Return everything that says how a variant decodes, as its record holds it."""
    return {
        **decoding_settings(task.temperature),
        **({"samples": task.samples} if task.temperature else {}),
        "head": task.head,
        "seed": task.seed,
        "batch_size": task.batch_size,
        "batch_tokens": task.batch_tokens,
        "work": work_on(task.device)._asdict(),
    }
