"""From a variant and a model to something that can answer: loaded, and proven to be what was asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

from qeval.errors import VariantFailed
from qeval.evidence import Proof
from qeval.models.resolved import ResolvedModel
from qeval.units import percent
from qeval.variants.base import LoadRequest, available, find_family, find_format
from qeval.variants.keep import kept_modules
from qeval.variants.proof import left_alone, prove
from qeval.variants.spec import Variant
from qeval.variants.stored import UnknownLayout

LEFT_SHARE = 0.05
"""From this share of unquantised weights on, embeddings and output head apart, people are told."""


class LoadedVariant(NamedTuple):
    """A variant ready to answer."""

    model: Any
    """A transformers model in evaluation mode, on its device."""
    tokenizer: Any
    proof: Proof
    notes: tuple[str, ...]
    """What people should know about how it computes."""


def load_variant(variant: Variant, model: ResolvedModel, device: str) -> LoadedVariant:
    """Load a model as a variant.

    Args:
        variant: the format and its options.
        model: where the original weights lie.
        device: `cpu`, `cuda`, `cuda:1` or `mps`.

    Raises:
        UsageError: the model lacks weights, or `keep=` fits no module.
        VariantFailed: the format cannot load on this machine, or the loaded model is not what was asked for.
    """
    fmt = find_format(variant.format)
    here = available(fmt, device)
    if not here.available:
        raise VariantFailed(f"{variant.text}: {here.why}")
    keep = kept_modules(model, variant.values("keep")) if fmt.quantized else ()
    compute = next(iter(variant.values("compute")), None)
    threshold = next(map(float, variant.values("threshold")), None)
    loaded = find_family(fmt.family).load(LoadRequest(fmt, model, device, keep, compute, threshold))
    proof = prove(loaded.model, fmt)
    notes = (*loaded.notes, *_unknown_note(proof), *(_left_note(loaded.model) if fmt.quantized else ()))
    return LoadedVariant(loaded.model, load_tokenizer(model), proof, notes)


def _unknown_note(proof: Proof) -> tuple[str, ...]:
    if not proof.unknown_layout:
        return ()
    return (f"bits per weight and storage are unknown: qeval does not know this layout ({proof.unknown_layout})",)


def _left_note(model: Any) -> tuple[str, ...]:  # noqa: ANN401 - transformers is untyped
    """Say it where much of a model was left unquantised, as stacked experts are."""
    try:
        left, total = left_alone(model)
    except UnknownLayout:
        return ()
    share = sum(left.values()) / total
    if share < LEFT_SHARE:
        return ()
    shown = ", ".join(sorted(left, key=lambda name: -left[name])[:3])
    more = f" and {len(left) - 3} more" if len(left) > 3 else ""
    return (f"{percent(share, 0)} of the weights were left unquantised beside embeddings and head: {shown}{more}",)


def load_tokenizer(model: ResolvedModel) -> Any:  # noqa: ANN401 - transformers is untyped
    """Load a model's tokenizer, without its weights."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model.path, trust_remote_code=model.allow_remote_code, local_files_only=True)
