"""What modules store: the bytes behind parameters and buffers, through the layouts of quantisation libraries.

Tensors are opened down to the plain ones that hold memory: through tensor subclasses (quanto, torchao) and through
the state that bitsandbytes attaches to its parameters. Each underlying storage counts once, so tied matrices and views
do. transformers' own `get_memory_footprint()` does neither: it reports 269 MB for SmolLM2-135M in quanto int4 with
bf16 embeddings, where 114 MB are stored.

Bytes are counted in the layout that a format loads in. On a processor with bf16 units, bitsandbytes repacks 4-bit
weights for its kernel at the first forward pass and stores their scales as bf16; the format is still the one that
was loaded, so its scales are counted as they were before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

_NESTED_BLOCK = 256
"""Scales that share one scale of their own under double quantisation."""
_TABLE_ENTRIES = 256
"""Entries of the table that decodes doubly quantised scales; the library keeps one for all modules."""


class UnknownLayout(Exception):
    """A parameter is stored in a way that is not known here, so neither its bytes nor its weights can be counted."""


class Stored(NamedTuple):
    """One piece of memory."""

    key: Hashable
    """Equal for pieces that are the same memory."""
    dtype: str
    n_bytes: int


def stored_bytes(modules: list[Any]) -> Counter[str]:
    """Return the bytes that modules hold, by dtype, each storage once.

    Raises:
        UnknownLayout: a parameter is stored in a way that is not known here.
    """
    by_dtype: Counter[str] = Counter()
    for piece in {piece.key: piece for module in modules for piece in _pieces(module)}.values():
        by_dtype[piece.dtype] += piece.n_bytes
    return by_dtype


def is_packed(parameter: Any) -> bool:  # noqa: ANN401 - torch is untyped here
    """Whether a parameter is stored in integers or in floats of one byte."""
    return any(tensor.dtype.itemsize == 1 or not tensor.dtype.is_floating_point for tensor in _plain(parameter))


def count_weights(parameter: Any) -> int:  # noqa: ANN401 - torch is untyped here
    """Return the number of weights a parameter stands for: bitsandbytes packs two in a byte.

    Raises:
        UnknownLayout: it is packed, and does not say how many it stands for.
    """
    state = getattr(parameter, "quant_state", None)
    if state is None:
        return int(parameter.numel())
    return int(_field(state, "shape").numel())


def _pieces(module: Any) -> Iterator[Stored]:  # noqa: ANN401 - torch is untyped here
    for tensor in (*module.parameters(), *module.buffers()):
        for plain in _plain(tensor):
            yield from _piece(plain)
        yield from _scales(getattr(tensor, "quant_state", None))
    for part in module.modules():
        # LLM.int8 moves its scales from the parameter to this state at the first forward.
        for plain in _int8_parts(getattr(part, "state", None)):
            yield from _piece(plain)


def _piece(tensor: Any) -> Iterator[Stored]:  # noqa: ANN401 - torch is untyped here
    storage = tensor.untyped_storage()
    if storage.nbytes():
        yield Stored((str(tensor.device), storage.data_ptr()), _name(tensor.dtype), storage.nbytes())


def _plain(tensor: Any) -> Iterator[Any]:  # noqa: ANN401 - torch is untyped here
    """Yield the plain tensors that a tensor is made of, but for the scales of 4-bit weights."""
    if hasattr(tensor, "__tensor_flatten__"):
        for name in tensor.__tensor_flatten__()[0]:
            yield from _plain(getattr(tensor, name))
        return
    yield tensor
    yield from _int8_parts(tensor)


def _int8_parts(holder: Any) -> Iterator[Any]:  # noqa: ANN401 - bitsandbytes is untyped
    """Yield the int8 weights and scales that bitsandbytes keeps beside a parameter or in a module's state."""
    for name in ("CB", "SCB"):
        found = getattr(holder, name, None)
        if found is not None:
            yield found


def _scales(state: Any) -> Iterator[Stored]:  # noqa: ANN401 - bitsandbytes is untyped
    """Yield the scales of 4-bit weights and the tables to decode them, those of the scales included."""
    if state is None:
        return
    yield from _piece(_field(state, "code"))
    if getattr(state, "packing_format_for_cpu", False):
        yield from _scales_before_repacking(state)
        return
    yield from _piece(_field(state, "absmax"))
    if _field(state, "nested"):
        yield from _piece(_field(state, "offset"))
        yield from _piece(_field(_field(state, "state2"), "absmax"))
        yield _scale_table(state)


def _scales_before_repacking(state: Any) -> Iterator[Stored]:  # noqa: ANN401 - bitsandbytes is untyped
    blocks = _field(state, "shape").numel() // _field(state, "blocksize")
    nested = _field(state, "original_nested")
    yield Stored((id(state), "absmax"), "uint8" if nested else "float32", blocks * (1 if nested else 4))
    if nested:
        yield from _piece(_field(state, "offset"))
        yield Stored((id(state), "state2"), "float32", 4 * -(-blocks // _NESTED_BLOCK))
        yield _scale_table(state)


def _scale_table(state: Any) -> Stored:  # noqa: ANN401 - bitsandbytes is untyped
    return Stored((str(state.absmax.device), "scale table"), "float32", 4 * _TABLE_ENTRIES)


def _field(state: Any, name: str) -> Any:  # noqa: ANN401 - bitsandbytes is untyped
    found = getattr(state, name, None)
    if found is None:
        raise UnknownLayout(f"{type(state).__name__} has no {name}")
    return found


def _name(dtype: Any) -> str:  # noqa: ANN401 - torch.dtype
    return str(dtype).removeprefix("torch.")
