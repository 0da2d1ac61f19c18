"""Plain dtypes: every weight stored, and every product computed, in one floating-point type."""

from __future__ import annotations

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

    return LoadedModel(from_pretrained(request, dtype=getattr(torch, TORCH_DTYPES[request.format.name])))
