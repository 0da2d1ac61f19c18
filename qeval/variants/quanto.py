"""optimum-quanto: weights in int8 (a scale a row) or int4 (a scale and a shift for 128 weights), floats computed."""

from __future__ import annotations

from qeval.variants.base import Format, LoadedModel, LoadRequest, compute_dtype, from_pretrained

_PACKAGES = ("optimum.quanto", "accelerate")

FORMATS: dict[str, Format] = {
    fmt.name: fmt
    for fmt in (
        Format("quanto-int8", "quanto", "int8 weights, one scale a row", 8, 25.0, _PACKAGES),
        Format(
            "quanto-int4",
            "quanto",
            "int4 weights, a scale and a shift for 128 weights",
            4,
            4.5,
            _PACKAGES,
            compiles=True,
        ),
    )
}


def load(request: LoadRequest) -> LoadedModel:
    """Load with the weight of every linear module quantised but the kept ones."""
    from transformers import QuantoConfig

    config = QuantoConfig(
        weights=request.format.name.removeprefix("quanto-"), modules_to_not_convert=list(request.keep)
    )
    return from_pretrained(request, dtype=compute_dtype(request), quantization_config=config)
