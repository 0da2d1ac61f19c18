"""The frame that format families share: what a format is, how families are found, whether one can load here.

A family is a module of this folder with::

    FORMATS: dict[str, Format]
    def load(request: LoadRequest) -> LoadedModel: ...

Listing formats imports the families, and none of them imports torch before `load`.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import shlex
import shutil
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol, cast

from qeval import variants
from qeval.errors import unknown_name
from qeval.models.headers import tensor_headers
from qeval.models.resolved import ResolvedModel
from qeval.models.weights import REPORTING, accept, cannot_load, read_report

_NOT_FAMILIES = frozenset({"base", "keep", "load", "proof", "spec", "stored"})
"""Modules in this folder that families share."""


class Format(NamedTuple):
    """A weight format, as data."""

    name: str
    family: str
    """The module of this folder that loads it."""
    description: str
    nominal_bits: float
    """Bits of one quantised weight, without scales."""
    min_snr_db: float
    """Logits of a small random model have at least this signal-to-noise ratio to fp32, in decibels; else the format
    is broken. A bound well under what was measured, not a promise about quality."""
    requires: tuple[str, ...] = ()
    """Packages, as they are imported."""
    devices: tuple[str, ...] = ("cpu", "cuda", "mps")
    compiles: bool = False
    """Whether its library compiles C++ code at first use."""
    apart: str = ""
    """The option that keeps rows of a batch from depending on each other, where they do by default."""

    @property
    def quantized(self) -> bool:
        """Whether modules must be replaced by quantised ones; plain dtypes only store weights differently."""
        return self.nominal_bits <= 8


class LoadRequest(NamedTuple):
    """What a family is asked to load."""

    format: Format
    model: ResolvedModel
    device: str
    """`cpu`, `cuda`, `cuda:1`, `mps`."""
    keep: tuple[str, ...]
    """Full names of modules to leave unquantised; the output head is always among them."""
    compute: str | None = None
    """`fp32`, `bf16` or `fp16`; None: what suits the device."""
    threshold: float | None = None
    """LLM.int8: activations beyond it are outliers, 0: none are; None: the library's own."""


class LoadedModel(NamedTuple):
    """A transformers model with what people should know about how it computes."""

    model: Any
    notes: tuple[str, ...] = ()

    def with_notes(self, further: tuple[str, ...]) -> LoadedModel:
        """Return the same model with more to know about it."""
        return self._replace(notes=(*self.notes, *further))


class Availability(NamedTuple):
    """Whether a format can load on this machine."""

    format: Format
    available: bool
    why: str
    """Why not and what to do; empty where it can."""


class Family(Protocol):
    """The shape of a family module."""

    FORMATS: dict[str, Format]

    def load(self, request: LoadRequest) -> LoadedModel:
        """Load a model in one of the family's formats."""


def families() -> list[str]:
    """Return the names of the families: the modules of this folder, without importing them."""
    names = (module.name for module in pkgutil.iter_modules(variants.__path__))
    return sorted(name for name in names if name not in _NOT_FAMILIES)


def find_family(name: str) -> Family:
    """Import a family by the name of its module."""
    return cast(Family, importlib.import_module(f"qeval.variants.{name}"))


@cache
def all_formats() -> dict[str, Format]:
    """Return every format by name: plain dtypes first, then by falling number of bits."""
    found = [fmt for family in families() for fmt in find_family(family).FORMATS.values()]
    ordered = sorted(found, key=lambda fmt: (fmt.quantized, -fmt.nominal_bits))
    return {fmt.name: fmt for fmt in ordered}


def find_format(name: str) -> Format:
    """Return a format by name.

    Raises:
        UsageError: no such format.
    """
    formats = all_formats()
    if name not in formats:
        raise unknown_name("format", name, formats)
    return formats[name]


def available(fmt: Format, device: str) -> Availability:
    """Say whether a format can load here, without importing its library or a model.

    Args:
        fmt: the format.
        device: `cpu`, `cuda`, `cuda:1` or `mps`; that the device exists is not checked here.
    """
    kind = device.partition(":")[0]
    if kind not in fmt.devices:
        return Availability(fmt, False, f"does not run on {kind}, only on {', '.join(fmt.devices)}")
    missing = [package for package in fmt.requires if not _installed(package)]
    if missing:
        names = " ".join(package.replace(".", "-") for package in missing)
        return Availability(fmt, False, f"not installed: pip install {names}")
    if fmt.compiles and shutil.which(_compiler()) is None:
        why = f"a C++ compiler is missing ({_compiler()}): install g++ or clang, or name one in the variable CXX"
        return Availability(fmt, False, why)
    return Availability(fmt, True, "")


def _compiler() -> str:
    """Return the compiler that torch would call for an extension."""
    return next(iter(shlex.split(os.environ.get("CXX", ""))), "c++")


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the parent of a dotted name
        return False


def list_formats(device: str) -> list[Availability]:
    """Return every format with whether it can load on this machine's `device`."""
    return [available(fmt, device) for fmt in all_formats().values()]


def from_pretrained(request: LoadRequest, **options: Any) -> LoadedModel:  # noqa: ANN401 - transformers is untyped
    """Load with transformers, on one device, with nothing run or unpickled that was not allowed.

    Raises:
        UsageError: the model needs code of its own, lacks weights, or cannot be loaded at all.
    """
    from transformers import AutoModelForCausalLM

    model = request.model
    try:
        loaded, info = AutoModelForCausalLM.from_pretrained(
            model.path,
            device_map={"": request.device},
            trust_remote_code=model.allow_remote_code,
            use_safetensors=None if model.allow_pickle else True,
            local_files_only=True,
            **REPORTING,
            **options,
        )
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        raise cannot_load(model, error) from error
    notes = accept(model.name, loaded, read_report(loaded, info, tensor_headers(model.path)))
    return LoadedModel(loaded.eval(), notes)


TORCH_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
"""Names of plain dtypes, here and in torch."""


def compute_dtype(request: LoadRequest) -> Any:  # noqa: ANN401 - torch.dtype
    """Return the dtype that a quantised model computes in, and that keeps its unquantised parts.

    Where none is asked for: fp32 on a CPU, because bf16 multiplies six times slower than fp32 on processors without
    bf16 units (15 against 94 GFLOPS on 2 cores with AVX2), and because with fp32 the weights are all that differs
    from the baseline; bf16 on a GPU that has it, else fp16, which is what such models are served in.
    """
    import torch

    kind = request.device.partition(":")[0]
    if request.compute is not None:
        name = request.compute
    elif kind == "cpu":
        name = "fp32"
    else:
        name = "bf16" if kind == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"
    return getattr(torch, TORCH_DTYPES[name])
