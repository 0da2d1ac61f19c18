"""Plain dtypes: every weight stored in one floating-point type, and every activation rounded to it.

A processor without units for a 16-bit type multiplies in it five times slower than in fp32 (8 against 47 GFLOPS a
core with AVX2). There the products are computed in fp32 from the 16-bit values and rounded to 16 bits: what such units
do too. Of the results of one product 1 in 7,000 differs in its last bit, from another order of adding.
"""

from __future__ import annotations

from typing import Any

from qeval.variants.base import TORCH_DTYPES, Format, LoadedModel, LoadRequest, from_pretrained

FORMATS: dict[str, Format] = {
    fmt.name: fmt
    for fmt in (
        Format("fp32", "dtype", "32-bit floats; the reference on a CPU", 32, 100.0),
        Format("bf16", "dtype", "16-bit brain floats: the range of fp32, 8 bits of precision", 16, 28.0),
        Format("fp16", "dtype", "16-bit IEEE floats: 11 bits of precision, overflows beyond 65504", 16, 45.0),
    )
}


def load(request: LoadRequest) -> LoadedModel:
    """Load with all weights in the format's dtype."""
    import torch

    name = request.format.name
    loaded = from_pretrained(request, dtype=getattr(torch, TORCH_DTYPES[name]))
    if request.device != "cpu" or _has_units(name):
        return loaded
    _multiply_in_fp32(loaded.model)
    return loaded.with_notes(
        (f"this processor has no {name} units: products are computed in fp32 and rounded to {name}",)
    )


def _has_units(name: str) -> bool:
    """Whether this processor multiplies in the dtype at full speed, as torch's own CPU library sees it."""
    import torch

    if name == "fp32":
        return True
    supported = {"bf16": torch.ops.mkldnn._is_mkldnn_bf16_supported, "fp16": torch.ops.mkldnn._is_mkldnn_fp16_supported}
    return bool(supported[name]())


def _multiply_in_fp32(model: Any) -> None:  # noqa: ANN401 - transformers is untyped
    """Let a model's linear modules compute in fp32; weights, inputs and outputs keep their dtype."""
    from torch import nn

    class LinearInFp32(nn.Linear):  # type: ignore[misc]
        def forward(self, values: Any) -> Any:  # noqa: ANN401 - tensors are untyped here
            bias = None if self.bias is None else self.bias.float()
            return nn.functional.linear(values.float(), self.weight.float(), bias).to(values.dtype)

    for module in model.modules():
        if type(module) is nn.Linear:
            # Another class on the same object keeps its name, its weight and a tied weight tied.
            module.__class__ = LinearInFp32
