"""The output head in fp32, whatever a variant computes in.

In 16 bits the logits of the likeliest tokens are often the same number: the two best tie exactly, and a greedy choice
between them says nothing. In fp32 they come apart. Servers do not do this, so it is off unless a plan asks for it, and
then it holds for every variant.
"""

from __future__ import annotations

from typing import Any, Literal

from qeval.errors import VariantFailed
from qeval.units import size
from qeval.variants.stored import is_packed

HeadRule = Literal["model", "fp32"]
"""What the output head computes in: what the model says, or fp32."""


def compute_head_in_fp32(model: Any) -> tuple[str, ...]:  # noqa: ANN401 - transformers is untyped
    """Let a loaded model compute its logits in fp32 from its last hidden state, and see that it does.

    The hidden state stays rounded as the model rounds it. What the model does with its logits afterwards (scaling,
    soft-capping) is done in fp32 too. An embedding that shares the head's matrix keeps its own.

    Returns:
        What people should know: the bytes of the copy, where one was made.

    Raises:
        VariantFailed: the model has no output head, it is quantised, or the model rounds the logits afterwards.
    """
    import torch

    head = model.get_output_embeddings()
    if head is None:
        raise VariantFailed(f"head=fp32: {type(model).__name__} names no output head. Leave head=fp32 out.")
    if any(is_packed(parameter) for parameter in head.parameters()):
        raise VariantFailed("head=fp32: this variant's output head is quantised. Leave head=fp32 out.")
    copied_bytes = _copy_in_fp32(head)
    head.register_forward_pre_hook(lambda _, given: (given[0].float(), *given[1:]))
    with torch.no_grad():
        found = model(input_ids=torch.zeros(1, 1, dtype=torch.long, device=model.device)).logits.dtype
    if found != torch.float32:
        name = str(found).removeprefix("torch.")
        raise VariantFailed(f"head=fp32: {type(model).__name__} rounds its logits to {name}. Leave head=fp32 out.")
    if not copied_bytes:
        return ()
    return (f"the output head is computed in fp32; its copy takes {size(copied_bytes)}, not counted as storage",)


def _copy_in_fp32(head: Any) -> int:  # noqa: ANN401 - torch is untyped here
    """Give a module fp32 parameters of its own where they are not fp32; return their bytes."""
    from torch import float32, nn

    copied_bytes = 0
    for module in head.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            if parameter.dtype != float32:
                # A new parameter: changing this one in place would change an embedding that is tied to it.
                copy = nn.Parameter(parameter.detach().float(), requires_grad=False)
                setattr(module, name, copy)
                copied_bytes += copy.numel() * copy.element_size()
    return copied_bytes
