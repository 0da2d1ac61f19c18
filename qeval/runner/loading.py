"""A task's variant loaded and proven, behind the engine that answers for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from qeval.engines.base import Engine
from qeval.errors import UsageError, VariantFailed
from qeval.evidence import ModelInfo, Proof
from qeval.fidelity.measure import Measure
from qeval.fidelity.output_head import head_of
from qeval.fidelity.reference import Key
from qeval.runner.task import Task

if TYPE_CHECKING:
    from qeval.engines.transformers import TransformersEngine

Measuring = Callable[[Collection[Key]], Measure]
"""Takes the cases that run again, and returns what measures fidelity."""


class Loaded(NamedTuple):
    """A variant ready to answer, with what proves which one it is."""

    engine: Engine
    model: ModelInfo
    proof: Proof | None = None
    notes: tuple[str, ...] = ()
    measuring: Measuring | None = None
    unreplayable: str = ""
    """Why its answers cannot be replayed; empty where they can."""


def load(task: Task) -> Loaded:
    """Load the variant that a task names, in this process.

    Raises:
        UsageError: the scripted engine has no script.
        VariantFailed: the variant cannot be loaded so.
    """
    if task.model is None:
        from qeval.engines.scripted import ScriptedEngine, load_script, script_identity

        if task.script is None:
            raise UsageError("the scripted engine needs a script.")
        scripted = ScriptedEngine(load_script(task.script), task.name)
        return Loaded(scripted, ModelInfo(name="script", fingerprint=script_identity(task.script)))
    import torch

    from qeval.engines.head import compute_head_in_fp32
    from qeval.engines.transformers import TransformersEngine
    from qeval.models.identity import model_info
    from qeval.variants.load import load_variant

    # One line a matrix product: some 200 a token.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    torch.set_num_threads(task.threads)
    torch.manual_seed(task.seed)
    loaded = load_variant(task.spec, task.model, task.device)
    notes = (*loaded.notes, *(compute_head_in_fp32(loaded.model) if task.head == "fp32" else ()))
    keep = task.fidelity and task.baseline is None
    engine = TransformersEngine(
        loaded.model, loaded.tokenizer, task.device, task.temperature, rules=task.rules, keep_states=keep
    )
    model = model_info(task.model, loaded.tokenizer, engine.context_tokens)

    def measuring(again: Collection[Key]) -> Measure:
        return Measure(
            loaded.model,
            loaded.tokenizer,
            task.folder,
            task.baseline,
            again,
            tokenizer_hash=model.tokenizer_hash,
            reverse_kl=task.reverse_kl,
        )

    why_not = _unreplayable(engine, loaded.model) if task.baseline is not None and task.decode != "plain" else ""
    return Loaded(engine, model, loaded.proof, notes, measuring if task.fidelity else None, why_not)


def _unreplayable(engine: TransformersEngine, model: Any) -> str:  # noqa: ANN401 - transformers is untyped
    if not engine.can_replay:
        return "its cache cannot be cut and moved row by row"
    try:
        head_of(model)
    except VariantFailed as error:
        return str(error)
    return ""
