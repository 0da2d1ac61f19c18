"""Prove that a loaded model is what was asked for: which modules are quantised, and every byte that is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from qeval.errors import VariantFailed
from qeval.evidence import Proof
from qeval.variants.base import TORCH_DTYPES, Format
from qeval.variants.stored import UnknownLayout, count_weights, is_packed, stored_bytes

_MOST_BITS = 1.75
"""Quantised weights with their scales take at most this multiple of the nominal bits."""
_DTYPE_SHARE = 0.5
"""A plain format stores at least this share of its bytes in its own dtype (some models keep a few in fp32)."""


def prove(model: Any, fmt: Format) -> Proof:  # noqa: ANN401 - transformers is untyped
    """Read the proof off a loaded model, and check it; a model that has answered gives the same proof.

    Bits and bytes are None where a library stores weights in a layout that is not known here; that modules were
    quantised is checked all the same.

    Raises:
        VariantFailed: nothing was quantised, or the weights are not stored in the format asked for.
    """
    matrices = dict(_matrices(model))
    quantized = {name: module for name, module in matrices.items() if is_packed(module.weight)}
    skipped = tuple(name for name in matrices if name not in quantized) if fmt.quantized else ()
    try:
        by_dtype, parameters = stored_bytes([model]), sum(count_weights(p) for p in model.parameters())
    except UnknownLayout as error:
        proof = _unknown(len(quantized), skipped, str(error))
    else:
        proof = _counted(len(quantized), skipped, by_dtype, parameters)
    if fmt.quantized:
        _check_quantized(fmt, quantized, proof)
    else:
        _check_plain(fmt, proof)
    return proof


def _counted(quantized: int, skipped: tuple[str, ...], by_dtype: Counter[str], parameters: int) -> Proof:
    total = by_dtype.total()
    return Proof(
        quantized_modules=quantized,
        skipped_modules=skipped,
        parameters=parameters,
        effective_bits=8 * total / parameters,
        storage_bytes=total,
        dtypes=dict(sorted(by_dtype.items())),
    )


def _unknown(quantized: int, skipped: tuple[str, ...], why: str) -> Proof:
    return Proof(
        quantized_modules=quantized,
        skipped_modules=skipped,
        parameters=None,
        effective_bits=None,
        storage_bytes=None,
        dtypes={},
        unknown_layout=why,
    )


def left_alone(model: Any) -> tuple[dict[str, int], int]:  # noqa: ANN401 - transformers is untyped
    """Return the matrices left unquantised, embeddings and output head apart, with their weights; and all weights.

    Stacked experts of a mixture, three-dimensional and of any name, are among them: libraries that replace linear
    modules pass them by.

    Raises:
        UnknownLayout: a parameter does not say how many weights it stands for.
    """
    # By identity: a tied output head is the embedding.
    apart = {
        id(p)
        for layer in (model.get_input_embeddings(), model.get_output_embeddings())
        if layer is not None
        for p in layer.parameters()
    }
    left = {
        name: parameter.numel()
        for name, parameter in model.named_parameters()
        if parameter.dim() >= 2 and id(parameter) not in apart and not is_packed(parameter)
    }
    return left, sum(count_weights(parameter) for parameter in model.parameters())


def _check_quantized(fmt: Format, quantized: dict[str, Any], proof: Proof) -> None:
    if not quantized:
        raise VariantFailed(
            f"asked {fmt.name}, nothing was quantised: no linear module was replaced. Check keep=, and that the "
            f"library behind {fmt.name} knows this architecture."
        )
    if proof.unknown_layout:
        return
    bits = _bits(list(quantized.values()))
    if not fmt.nominal_bits <= bits <= _MOST_BITS * fmt.nominal_bits:
        raise VariantFailed(
            f"asked {fmt.name}, but its {len(quantized)} quantised modules store {bits:.2f} bits a weight, not about "
            f"{fmt.nominal_bits:g}."
        )


def _bits(modules: list[Any]) -> float:
    """Return the stored bits of one weight, scales and shifts included."""
    return 8 * stored_bytes(modules).total() / sum(count_weights(module.weight) for module in modules)


def _check_plain(fmt: Format, proof: Proof) -> None:
    if proof.quantized_modules:
        raise VariantFailed(
            f"asked {fmt.name}, but {proof.quantized_modules} modules are quantised. Name the original model."
        )
    own = TORCH_DTYPES[fmt.name]
    if proof.storage_bytes is not None and proof.dtypes.get(own, 0) < _DTYPE_SHARE * proof.storage_bytes:
        raise VariantFailed(f"asked {fmt.name}, but the weights are stored as {', '.join(proof.dtypes)}.")


def _matrices(model: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - transformers is untyped
    """Yield the modules with a weight matrix: linear ones and embeddings."""
    for name, module in model.named_modules():
        weight = getattr(module, "weight", None)
        if weight is not None and hasattr(weight, "dim") and (weight.dim() >= 2):
            yield name, module
