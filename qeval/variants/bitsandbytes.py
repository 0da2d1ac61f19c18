"""bitsandbytes: LLM.int8 and the 4-bit formats of QLoRA, quantised while loading.

LLM.int8 stores a scale a row of the weight and quantises activations too, but for columns with outliers, which it
picks over the whole batch: a row's result depends on its batch mates, unless `threshold=0` leaves no outliers. The
4-bit formats store a scale (fp32) for each 64 weights; double quantisation (`-dq`) stores those scales in 8 bits.
"""

from __future__ import annotations

from typing import Any

from qeval.variants.base import Format, LoadedModel, LoadRequest, compute_dtype, from_pretrained

_PACKAGES = ("bitsandbytes", "accelerate")

FORMATS: dict[str, Format] = {
    fmt.name: fmt
    for fmt in (
        Format(
            "int8",
            "bitsandbytes",
            "LLM.int8: int8 weights and activations, outlier columns in floats",
            8,
            22.0,
            _PACKAGES,
            apart="threshold=0",
        ),
        Format("nf4", "bitsandbytes", "4-bit normal floats, one scale for 64 weights", 4, 4.5, _PACKAGES),
        Format("nf4-dq", "bitsandbytes", "nf4 with its scales quantised to 8 bits", 4, 4.5, _PACKAGES),
        Format("fp4", "bitsandbytes", "4-bit floats, one scale for 64 weights", 4, 2.5, _PACKAGES),
        Format("fp4-dq", "bitsandbytes", "fp4 with its scales quantised to 8 bits", 4, 2.5, _PACKAGES),
    )
}


def load(request: LoadRequest) -> LoadedModel:
    """Load with every linear module quantised but the kept ones."""
    dtype = compute_dtype(request)
    loaded = from_pretrained(request, dtype=dtype, quantization_config=_config(request, dtype))
    return loaded.with_notes(_notes(request))


def _config(request: LoadRequest, dtype: Any) -> Any:  # noqa: ANN401 - torch and transformers are untyped
    from transformers import BitsAndBytesConfig

    # The list replaces the library's default, which is why request.keep always names the output head.
    keep = list(request.keep)
    if request.format.name == "int8":
        chosen = {} if request.threshold is None else {"llm_int8_threshold": request.threshold}
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=keep, **chosen)
    kind, _, double = request.format.name.partition("-")
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=kind,
        bnb_4bit_use_double_quant=double == "dq",
        bnb_4bit_compute_dtype=dtype,
        llm_int8_skip_modules=keep,
    )


def _notes(request: LoadRequest) -> tuple[str, ...]:
    if request.format.name == "int8":
        return ()
    from bitsandbytes.functional import has_avx512bf16

    if request.device == "cpu" and has_avx512bf16():
        return ("bitsandbytes multiplies 4-bit weights in bf16 on this processor, whatever compute type is asked for",)
    return ()
