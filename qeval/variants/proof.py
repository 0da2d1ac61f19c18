"""Prove that a loaded model is what was asked for: which modules are quantised, and every byte that is stored.

Tensors are opened down to the plain ones that hold memory: through tensor subclasses (quanto, torchao) and through
the state that bitsandbytes hangs on its parameters. Each underlying storage counts once, so tied matrices and views
do. transformers' own `get_memory_footprint()` does neither: it reports 269 MB for SmolLM2-135M in quanto int4 with
bf16 embeddings, where 114 MB are stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from qeval.errors import VariantFailed
from qeval.evidence import Proof
from qeval.variants.base import TORCH_DTYPES, Format

_MOST_BITS = 1.75
"""Quantised weights with their scales take at most this multiple of the nominal bits."""
_DTYPE_SHARE = 0.5
"""A plain format stores at least this share of its bytes in its own dtype (some models keep a few in fp32)."""


def prove(model: Any, fmt: Format) -> Proof:  # noqa: ANN401 - transformers is untyped
    """Read the proof off a loaded model, and check it.

    Raises:
        VariantFailed: nothing was quantised, or the weights are not stored in the format asked for.
    """
    matrices = dict(_matrices(model))
    quantized = {name: module for name, module in matrices.items() if _is_quantized(module)}
    skipped = tuple(name for name in matrices if name not in quantized) if fmt.quantized else ()
    by_dtype = stored_bytes([model])
    parameters = sum(_elements(parameter) for parameter in model.parameters())
    total = by_dtype.total()
    proof = Proof(
        quantized_modules=len(quantized),
        skipped_modules=skipped,
        parameters=parameters,
        effective_bits=8 * total / parameters,
        storage_bytes=total,
        dtypes=dict(sorted(by_dtype.items())),
    )
    if fmt.quantized:
        _check_quantized(fmt, quantized)
    else:
        _check_plain(fmt, proof)
    return proof


def left_alone(model: Any) -> tuple[dict[str, int], int]:  # noqa: ANN401 - transformers is untyped
    """Return the matrices left unquantised, embeddings and output head apart, with their weights; and all weights.

    Stacked experts of a mixture, three-dimensional and of any name, are among them: libraries that replace linear
    modules pass them by.
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
    return left, sum(_elements(parameter) for parameter in model.parameters())


def stored_bytes(modules: list[Any]) -> Counter[str]:
    """Return the bytes that modules hold, by dtype, each storage once."""
    seen: set[tuple[str, int]] = set()
    by_dtype: Counter[str] = Counter()
    for module in modules:
        for tensor in _plain_tensors(module):
            storage = tensor.untyped_storage()
            key = (str(tensor.device), storage.data_ptr())
            if storage.nbytes() and key not in seen:
                seen.add(key)
                by_dtype[str(tensor.dtype).removeprefix("torch.")] += storage.nbytes()
    return by_dtype


def _check_quantized(fmt: Format, quantized: dict[str, Any]) -> None:
    if not quantized:
        raise VariantFailed(
            f"asked {fmt.name}, nothing was quantised: no linear module was replaced. Check keep=, and that the "
            f"library behind {fmt.name} knows this architecture."
        )
    bits = _bits(list(quantized.values()))
    if not fmt.nominal_bits <= bits <= _MOST_BITS * fmt.nominal_bits:
        raise VariantFailed(
            f"asked {fmt.name}, but its {len(quantized)} quantised modules store {bits:.2f} bits a weight, not about "
            f"{fmt.nominal_bits:g}."
        )


def _bits(modules: list[Any]) -> float:
    """Return the stored bits of one weight, scales and shifts included."""
    return 8 * stored_bytes(modules).total() / sum(_elements(module.weight) for module in modules)


def _check_plain(fmt: Format, proof: Proof) -> None:
    if proof.quantized_modules:
        raise VariantFailed(
            f"asked {fmt.name}, but {proof.quantized_modules} modules are quantised. Name the original model."
        )
    own = TORCH_DTYPES[fmt.name]
    if proof.dtypes.get(own, 0) < _DTYPE_SHARE * proof.storage_bytes:
        raise VariantFailed(f"asked {fmt.name}, but the weights are stored as {', '.join(proof.dtypes)}.")


def _matrices(model: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - transformers is untyped
    """Yield the modules with a weight matrix: linear ones and embeddings."""
    for name, module in model.named_modules():
        weight = getattr(module, "weight", None)
        if weight is not None and hasattr(weight, "dim") and (weight.dim() >= 2):
            yield name, module


def _is_quantized(module: Any) -> bool:  # noqa: ANN401 - torch is untyped here
    """Whether the weight is stored in integers or in floats of one byte."""
    return is_packed(module.weight)


def is_packed(parameter: Any) -> bool:  # noqa: ANN401 - torch is untyped here
    """Whether a parameter is stored in integers or in floats of one byte."""
    return any(tensor.dtype.itemsize == 1 or not tensor.dtype.is_floating_point for tensor in _open(parameter))


def _elements(parameter: Any) -> int:  # noqa: ANN401 - torch is untyped here
    """Return the number of weights a parameter stands for: bitsandbytes packs two in a byte."""
    state = getattr(parameter, "quant_state", None)
    elements: int = state.shape.numel() if state is not None else parameter.numel()
    return elements


def _plain_tensors(module: Any) -> Iterator[Any]:  # noqa: ANN401 - torch is untyped here
    for tensor in (*module.parameters(), *module.buffers()):
        yield from _open(tensor)
    for part in module.modules():
        # LLM.int8 moves its scales from the parameter to this state at the first forward.
        yield from _attributes(getattr(part, "state", None))


def _open(tensor: Any) -> Iterator[Any]:  # noqa: ANN401 - torch is untyped here
    """Yield the plain tensors that a tensor is made of."""
    if hasattr(tensor, "__tensor_flatten__"):
        for name in tensor.__tensor_flatten__()[0]:
            yield from _open(getattr(tensor, name))
        return
    yield tensor
    yield from _attributes(tensor)
    yield from _state_tensors(getattr(tensor, "quant_state", None))


def _attributes(holder: Any) -> Iterator[Any]:  # noqa: ANN401 - bitsandbytes is untyped
    """Yield the int8 weights and scales that bitsandbytes keeps beside a parameter or in a module's state."""
    for name in ("CB", "SCB"):
        found = getattr(holder, name, None)
        if found is not None:
            yield found


def _state_tensors(state: Any) -> Iterator[Any]:  # noqa: ANN401 - bitsandbytes is untyped
    """Yield the scales of 4-bit weights and the tables to decode them, those of the scales included."""
    if state is None:
        return
    for tensor in (state.absmax, state.code, state.offset):
        if tensor is not None:
            yield tensor
    yield from _state_tensors(state.state2)
