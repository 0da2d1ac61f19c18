"""Folders whose weights do not fit their config.json: refused by name, or loaded with a note."""

from __future__ import annotations

import json
import shutil
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.models.locate import resolve
from qeval.models.weights import check_weights
from qeval.variants import load_variant, parse_variant

ROWS = [json.loads(line) for line in (Path(__file__).parent / "broken_folders.jsonl").read_text().splitlines()]


@pytest.fixture
def folder(tiny_model_folder: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(tiny_model_folder, copy)
    return copy


def change_tensors(folder: Path, change: Any) -> None:
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    save_file({name: t.contiguous() for name, t in change(load_file(path)).items()}, path, metadata={"format": "pt"})


def damage(folder: Path, row: dict[str, Any]) -> None:
    """Change a folder as a row says."""
    import torch

    change, chosen = row["change"], row.get("tensors", {})
    if change == "drop":
        change_tensors(folder, lambda found: {n: t for n, t in found.items() if not fnmatchcase(n, chosen)})
    elif change == "rename":
        change_tensors(folder, lambda found: {row["to"].format(name): tensor for name, tensor in found.items()})
    elif change == "reshape":
        change_tensors(folder, lambda found: {n: t[:, :32] if fnmatchcase(n, chosen) else t for n, t in found.items()})
    elif change == "add":
        change_tensors(folder, lambda found: found | {name: torch.ones(shape) for name, shape in chosen.items()})
    elif change == "config":
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | row["config"]))
    elif change == "file":
        (folder / row["name"]).write_text(json.dumps(row["content"]))
    elif change == "truncate":
        path = folder / "model.safetensors"
        path.write_bytes(path.read_bytes()[:-100])
    else:
        assert change == "adapter alone"
        (folder / "config.json").unlink()
        (folder / "model.safetensors").rename(folder / "adapter_model.safetensors")
        (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base"}')


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['change']}: {row['said'][:50]}")
def test_a_folder_that_is_no_whole_model_is_refused(folder: Path, row: dict[str, Any]) -> None:
    damage(folder, row)
    with pytest.raises(UsageError) as checked:
        check_weights(resolve(str(folder)))
    assert row["said"] in str(checked.value)
    with pytest.raises(UsageError) as loaded:
        load_variant(parse_variant("bf16"), resolve(str(folder)), "cpu")
    assert str(loaded.value) == str(checked.value)


@pytest.mark.parametrize("name", ["nf4", "int8", "quanto-int8"])
def test_no_format_loads_weights_that_are_not_there(folder: Path, name: str) -> None:
    damage(folder, {"change": "drop", "tensors": "model.layers.1.mlp.*"})
    with pytest.raises(UsageError, match=r"its weights lack .*model\.layers\.1\.mlp\.down_proj"):
        load_variant(parse_variant(name), resolve(str(folder)), "cpu")


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ({"model.layers.0.self_attn.rotary_emb.inv_freq": (8,)}, "1 tensor that the model does not use"),
        ({"model.layers.2.mlp.up_proj.weight": (128, 64)}, "model.layers.2.mlp.up_proj.weight"),
        ({f"vision.blocks.{n}.weight": (4,) for n in range(5)}, "vision.blocks.2.weight and 2 more"),
    ],
)
def test_surplus_tensors_are_noted_and_the_model_loads(folder: Path, tensors: dict[str, Any], said: str) -> None:
    damage(folder, {"change": "add", "tensors": tensors})
    model = resolve(str(folder))
    (note,) = check_weights(model)
    assert said in note
    assert note in load_variant(parse_variant("fp32"), model, "cpu").notes


def test_a_whole_model_has_nothing_to_tell(folder: Path) -> None:
    assert check_weights(resolve(str(folder))) == ()


def test_a_null_quantisation_config_is_no_quantised_model(folder: Path) -> None:
    damage(folder, {"change": "config", "config": {"quantization_config": None}})
    assert check_weights(resolve(str(folder))) == ()


def test_an_architecture_that_is_not_known_is_one_sentence(folder: Path) -> None:
    damage(folder, {"change": "config", "config": {"model_type": "brand-new", "architectures": ["BrandNew"]}})
    with pytest.raises(UsageError, match=r"transformers cannot load it from .*brand-new"):
        check_weights(resolve(str(folder)))
