"""Folders that are no plain model: adapters, checkpoints that come quantised, weights that are not all there.

Each is told by files and names of tensors, before anything is loaded, and refused with what it is and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from qeval.errors import UsageError
from qeval.models.headers import tensor_headers
from qeval.models.identity import read_json

ADAPTER_FILE = "adapter_config.json"


class Sign(NamedTuple):
    """What tells a kind of quantised checkpoint."""

    method: str
    files: tuple[str, ...] = ()
    """Any of these files in the folder."""
    tensors: tuple[str, ...] = ()
    """Names of tensors end with any of these."""


SIGNS = (
    Sign("ModelOpt", ("hf_quant_config.json",), (".weight_scale_2",)),
    Sign("optimum-quanto", ("quanto_qmap.json",), (".weight._data", ".weight._scale")),
    Sign("HQQ", ("qmodel.pt",), (".W_q",)),
    Sign("GPTQ", ("quantize_config.json",), (".g_idx",)),
    Sign("AWQ", ("quant_config.json",)),
    Sign("GPTQ or AWQ", (), (".qweight", ".qzeros")),
    Sign("compressed-tensors", (), (".weight_packed", ".weight_zero_point")),
    Sign("bitsandbytes 4-bit", (), (".weight.absmax", ".weight.quant_map", ".weight.nested_absmax")),
    Sign("LLM.int8 (bitsandbytes)", (), (".SCB",)),
    Sign("fine-grained FP8", (), (".weight_scale_inv",)),
    Sign("FP8 or INT8 with scales", (), (".weight_scale", ".input_scale", ".act_scale")),
    Sign("EXL3 (ExLlama)", (), (".trellis", ".suh", ".svh")),
    Sign("EXL2 (ExLlama)", (), (".q_weight", ".q_scale")),
    Sign("AQLM", (), (".codebooks",)),
    Sign("QuIP#", (), (".Qidxs",)),
    Sign("MXFP4", (), ("_proj_blocks", "_proj_scales")),
)
"""In the order of how much they say: the first that fits names the kind."""
_CONFIG_KEYS = ("quantization_config", "quantization", "compression_config")
"""Keys of config.json under which checkpoints say that they are quantised; the second is MLX's."""
_ADAPTER_TENSORS = (".lora_A.weight", ".lora_A.default.weight", ".lora_B.weight", ".base_layer.weight")


def refuse_adapter(name: str, folder: Path) -> None:
    """Refuse a folder that holds an adapter, alone or beside a whole model.

    Raises:
        UsageError: it does; the message names the base and says what to do.
    """
    path = folder / ADAPTER_FILE
    if not path.is_file():
        return
    base = read_json(path).get("base_model_name_or_path") or "not named there"
    whole = any(folder.glob("model*.safetensors")) and (folder / "config.json").is_file()
    merge = (
        "Merge it into the base and name the merged folder: "
        "PeftModel.from_pretrained(base, ADAPTER).merge_and_unload().save_pretrained(FOLDER)"
    )
    if whole:
        raise UsageError(
            f"{name}: {ADAPTER_FILE} lies beside a whole model in {folder} (base: {base}), so it is not clear whether "
            f"the adapter belongs to the answers. {merge}; or, to evaluate the base model alone, move the adapter to "
            "a folder of its own."
        )
    raise UsageError(f"{name}: {folder} holds an adapter, not a model. Its base: {base}. {merge}.")


def refuse_quantized(name: str, folder: Path) -> None:
    """Refuse a checkpoint that comes quantised: variants are made from unquantised weights.

    Raises:
        UsageError: it is quantised, by what its config, a file or the names of its tensors say.
    """
    method = _method_of_config(read_json(folder / "config.json")) or _method_of_signs(folder, tensor_headers(folder))
    if method:
        raise UsageError(
            f"{name}: it is quantised already ({method}), and no format of qeval reads such a checkpoint. Name the "
            "model it was made from."
        )


def refuse_partial(name: str, folder: Path) -> None:
    """Refuse a folder that lacks weight files which its index names, or whose tensors are those of an adapter.

    Raises:
        UsageError: it does; missing files are named.
    """
    for index in sorted(folder.glob("*.index.json")):
        named = read_json(index).get("weight_map")
        files = set(named.values()) if isinstance(named, Mapping) else set()
        absent = sorted(str(file) for file in files if not (folder / str(file)).is_file())
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise UsageError(
                f"{name}: {index.name} names {len(files)} weight files, and {len(absent)} of them are not in {folder}: "
                f"{absent[0]}{more}. Fetch them too."
            )
    trained = _ending(tensor_headers(folder), _ADAPTER_TENSORS)
    if trained:
        raise UsageError(
            f"{name}: its weights are those of an adapter training run ({trained}). Merge the adapter and save the "
            "model again: model.merge_and_unload().save_pretrained(...)"
        )


def _method_of_config(config: Mapping[str, Any]) -> str | None:
    """Return how config.json says that a checkpoint is quantised, for models with a text part there too."""
    for part in (config, config.get("text_config")):
        for key in _CONFIG_KEYS:
            said = part.get(key) if isinstance(part, Mapping) else None
            if isinstance(said, Mapping) and said:
                return str(said.get("quant_method") or ("MLX" if key == "quantization" else f"{key} in config.json"))
    return None


def _method_of_signs(folder: Path, tensors: Iterable[str]) -> str | None:
    names = tuple(tensors)
    for sign in SIGNS:
        for file in sign.files:
            if (folder / file).is_file():
                return f"{sign.method}: {file}"
        if found := _ending(names, sign.tensors):
            return f"{sign.method}: tensor {found}"
    return None


def _ending(names: Iterable[str], endings: tuple[str, ...]) -> str | None:
    return next((name for name in names if endings and name.endswith(endings)), None)
