"""How a plan's variants decode: what cannot be asked for, and what the record says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qeval.engines.base import DECODING
from qeval.errors import UsageError

if TYPE_CHECKING:
    from qeval.runner.plan import PlanFile
    from qeval.runner.task import Task


def check_decoding(file: PlanFile) -> None:
    """Refuse decoding that the plan's engine does not have.

    Raises:
        UsageError: a head rule for an engine that computes no logits.
    """
    if file.engine == "scripted" and file.head != "model":
        raise UsageError(f"head {file.head} needs a model; the scripted engine has no output head. Leave `head` out.")


def recorded_decoding(task: Task) -> dict[str, Any]:
    """Return everything that says how a variant decodes, as its record holds it."""
    return {
        **DECODING,
        "head": task.head,
        "seed": task.seed,
        "batch_size": task.batch_size,
        "batch_tokens": task.batch_tokens,
    }
