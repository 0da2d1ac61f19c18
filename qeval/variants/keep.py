"""Which modules stay unquantised: the output head, and what `keep=` names."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from qeval.errors import UsageError, did_you_mean
from qeval.models.resolved import ResolvedModel


def kept_modules(model: ResolvedModel, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the full names of the linear modules to leave unquantised.

    The model is built without weights to read the names off it, because the libraries match names in ways of their
    own: a plain `layers.1` may or may not take `layers.11` with it.

    Raises:
        UsageError: a pattern that fits no linear module.
    """
    skeleton = _skeleton(model)
    linear = _linear_names(skeleton)
    head = skeleton.get_output_embeddings()
    kept = [name for name, module in skeleton.named_modules() if module is head]
    for pattern in patterns:
        found = [name for name in linear if fits(name, pattern)]
        if not found:
            parts = sorted({part for name in linear for part in name.split(".")})
            raise UsageError(
                f"keep={pattern} fits no linear module of {model.name}.{did_you_mean(pattern, parts)} "
                f"Their names look like {', '.join(linear[:8])}."
            )
        kept += found
    return tuple(dict.fromkeys(kept))


def fits(name: str, pattern: str) -> bool:
    """Say whether a pattern's dotted parts stand one after the other in a dotted name.

    >>> fits("model.layers.3.mlp.up_proj", "layers.3.mlp"), fits("model.layers.30.mlp.up_proj", "layers.3.mlp")
    (True, False)
    >>> fits("model.layers.30.mlp.up_proj", "layers.*.mlp")
    True
    """
    parts, wanted = name.split("."), pattern.split(".")
    return any(
        all(fnmatchcase(part, want) for part, want in zip(parts[start:], wanted, strict=False))
        for start in range(len(parts) - len(wanted) + 1)
    )


def _skeleton(model: ResolvedModel) -> Any:  # noqa: ANN401 - transformers is untyped
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    trust = model.allow_remote_code
    config = AutoConfig.from_pretrained(model.path, trust_remote_code=trust, local_files_only=True)
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config, trust_remote_code=trust)


def _linear_names(skeleton: Any) -> list[str]:  # noqa: ANN401 - transformers is untyped
    from torch import nn
    from transformers.pytorch_utils import Conv1D

    return [name for name, module in skeleton.named_modules() if isinstance(module, nn.Linear | Conv1D)]
