"""Whether a model's folder holds every weight that the model needs: what the library reports, read and acted on.

transformers fills weights that a folder lacks with random numbers and only logs it. Two precisions of such a model
agree with each other, so nothing later in a run would notice. Every load of this package therefore asks for the
library's report and passes it through `accept`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from qeval.errors import UsageError
from qeval.models.headers import tensor_headers
from qeval.models.resolved import ResolvedModel

_SHOWN = 3
"""Names that a message shows before it counts the rest."""
_WRAPPERS = {
    "base_model.model.": "as an adapter training run (peft) saves them. Merge the adapter and save the model again: "
    "model.merge_and_unload().save_pretrained(...)",
    "module.": "as a model wrapped for data-parallel training saves them. Save the wrapped model's .module again",
    "_orig_mod.": "as a compiled model saves them. Save the model's ._orig_mod again",
    "_fsdp_wrapped_module.": "as a model wrapped by FSDP saves them. Save the unwrapped model again",
}
"""What is known to put a prefix before every name, and what to do about it."""


class LoadReport(NamedTuple):
    """How the tensors of a folder fit the parameters of a model."""

    missing: tuple[str, ...]
    """Parameters that the folder has no tensor for."""
    mismatched: tuple[str, ...]
    """Parameters whose tensor has another shape, with both shapes."""
    surplus: tuple[str, ...]
    """Tensors that the model has no parameter for."""
    errors: tuple[str, ...]
    """What the library could not do with tensors that fit."""


def read_report(model: Any, info: Mapping[str, Any], stored: Collection[str]) -> LoadReport:  # noqa: ANN401
    """Read the report that transformers gives with `output_loading_info=True`.

    Args:
        model: the loaded model.
        info: the report.
        stored: names of the tensors in the folder; the library leaves those out of its report that it knows to be
            without use, such as old buffers of rotary embeddings.
    """
    ignored = _ignored_names(model, stored)
    return LoadReport(
        missing=tuple(sorted(info["missing_keys"])),
        mismatched=tuple(sorted(_mismatch(*entry) for entry in info["mismatched_keys"])),
        surplus=tuple(sorted({*info["unexpected_keys"], *ignored})),
        errors=tuple(info["error_msgs"]),
    )


def accept(name: str, model: Any, report: LoadReport) -> tuple[str, ...]:  # noqa: ANN401 - transformers is untyped
    """Return what people should know about a load, nothing where every tensor has its place.

    Raises:
        UsageError: parameters are missing, have another shape, or would be used without the tensors that belong to
            them (a scale, a bias).
    """
    if report.missing:
        raise UsageError(_missing(name, report))
    if report.mismatched:
        raise UsageError(
            f"{name}: config.json and weights do not belong together: {_some(report.mismatched)}. Fetch or save the "
            "model again, config and weights from one place."
        )
    if report.errors:
        raise UsageError(f"{name}: its weights cannot be loaded: {report.errors[0].strip()}")
    if torn := _torn(model, report.surplus):
        raise UsageError(
            f"{name}: the model would be computed without {_some(torn)}, which the folder holds beside weights that it "
            "uses. If these are scales, the checkpoint is quantised: name the model it was made from. If not, "
            "config.json describes another model than the weights: fetch or save it again."
        )
    if not report.surplus:
        return ()
    return (f"the folder holds {_count(report.surplus)} that the model does not use: {_some(report.surplus)}",)


def check_weights(model: ResolvedModel) -> tuple[str, ...]:
    """Check a model's folder as `accept` does, reading names and shapes alone: a second, whatever its size.

    Raises:
        UsageError: see `accept`; or the folder cannot be loaded at all.
    """
    from transformers import AutoModelForCausalLM

    try:
        loaded, info = AutoModelForCausalLM.from_pretrained(
            model.path,
            device_map={"": "meta"},
            trust_remote_code=model.allow_remote_code,
            use_safetensors=None if model.allow_pickle else True,
            local_files_only=True,
            **REPORTING,
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise cannot_load(model, error) from error
    return accept(model.name, loaded, read_report(loaded, info, tensor_headers(model.path)))


REPORTING: dict[str, Any] = {"output_loading_info": True, "ignore_mismatched_sizes": True}
"""What makes transformers report what it found; tensors of another shape too, which it else refuses without names."""


def cannot_load(model: ResolvedModel, error: Exception) -> UsageError:
    """Return the error for a folder that the library refuses to load at all."""
    if "trust_remote_code" in str(error):
        return UsageError(
            f"{model.name}: it can only be loaded with Python code of its own, which would run with your rights. If "
            "you have read and trust it, pass --allow-remote-code."
        )
    said = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return UsageError(f"{model.name}: transformers cannot load it from {model.path}: {said}")


def _ignored_names(model: Any, stored: Collection[str]) -> set[str]:  # noqa: ANN401 - transformers is untyped
    patterns = {r"rotary_emb\.inv_freq$", r"(^|\.)position_ids$"}
    patterns |= set(getattr(model, "_keys_to_ignore_on_load_unexpected", None) or ())
    known = re.compile("|".join(f"({pattern})" for pattern in patterns))
    used = _names(model)
    return {name for name in stored if known.search(name) and name not in used}


def _mismatch(name: str, stored: Any, wanted: Any) -> str:  # noqa: ANN401 - torch.Size
    return f"{name} is stored as {tuple(stored)}, the model wants {tuple(wanted)}"


def _missing(name: str, report: LoadReport) -> str:
    text = (
        f"{name}: its weights lack {_count(report.missing)} that the model needs: {_some(report.missing)}. Loading "
        "would fill them with random numbers."
    )
    prefix = _prefix(report)
    if prefix is None:
        return f"{text} Fetch or save the model again, whole."
    known = next((hint for wrapper, hint in _WRAPPERS.items() if prefix.startswith(wrapper)), None)
    return (
        f"{text} Every name in the folder begins with '{prefix}', {known or 'which no model here knows. Rename them'}."
    )


def _prefix(report: LoadReport) -> str | None:
    """Return what stands before the names of the folder's tensors, None where they differ in more than that."""
    prefixes = {
        stored[: -len(wanted)]
        for wanted in report.missing[:_SHOWN]
        for stored in report.surplus
        if stored.endswith(f".{wanted}")
    }
    return min(prefixes, key=len) if prefixes else None


def _torn(model: Any, surplus: Iterable[str]) -> tuple[str, ...]:  # noqa: ANN401 - transformers is untyped
    """Return the surplus tensors that lie beside a weight which the model uses: scales, zero points, biases."""
    with_weight = {name.removesuffix(".weight") for name in _names(model) if name.endswith(".weight")}
    return tuple(name for name in surplus if _owner(name) in with_weight)


def _names(model: Any) -> set[str]:  # noqa: ANN401 - transformers is untyped
    """Return the names of parameters and buffers. Not `state_dict`, which repacks what bitsandbytes stores."""
    named = (*model.named_parameters(remove_duplicate=False), *model.named_buffers())
    return {name for name, _ in named}


def _owner(name: str) -> str:
    """Return the module that a tensor belongs to.

    >>> _owner("model.layers.0.mlp.up_proj.weight_scale"), _owner("model.layers.0.mlp.up_proj.weight.absmax")
    ('model.layers.0.mlp.up_proj', 'model.layers.0.mlp.up_proj')
    """
    head, _, last = name.rpartition(".")
    if ".weight." in name:
        return name.partition(".weight.")[0]
    return head if last else name


def _count(names: Collection[str]) -> str:
    return f"{len(names)} tensor{'s' * (len(names) != 1)}"


def _some(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
