"""Damage hits the matrices it names, by the amount it says, alike on every run."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from qeval.selftest.copies import WEIGHTS_FILE, linked_copy
from qeval.selftest.damage import damaged_copy, noise, one_nan, projections, two_bits

HIT = "model.layers.1.mlp.up_proj.weight"
SPARED = ("model.layers.11.mlp.up_proj.weight", "model.layers.1.input_layernorm.weight", "model.embed_tokens.weight")


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    generator = torch.Generator().manual_seed(1)
    weights = {name: torch.randn((128, 64), generator=generator) for name in (HIT, *SPARED)}
    save_file(weights, folder / WEIGHTS_FILE)
    return folder


def test_only_the_projections_of_the_layers_named_change(model, tmp_path):
    before = load_file(model / WEIGHTS_FILE)
    after = load_file(damaged_copy(model, tmp_path / "copy", projections([1]), noise(0.3)) / WEIGHTS_FILE)
    assert [name for name in before if not torch.equal(before[name], after[name])] == [HIT]
    assert json.loads((tmp_path / "copy/config.json").read_text()) == {}
    assert (after[HIT] - before[HIT]).std().item() == pytest.approx(0.3 * before[HIT].std().item(), rel=0.05)


def test_the_same_seed_does_the_same_damage(model, tmp_path):
    one, other = (
        load_file(damaged_copy(model, tmp_path / name, projections([1]), noise(0.3)) / WEIGHTS_FILE) for name in "ab"
    )
    assert torch.equal(one[HIT], other[HIT])


def test_two_bits_leave_four_levels_a_group():
    rounded = two_bits(torch.randn((4, 128), generator=torch.Generator().manual_seed(0)))
    assert {len(set(group.tolist())) for group in rounded.reshape(-1, 64)} == {4}


def test_one_weight_becomes_nan(model, tmp_path):
    after = load_file(damaged_copy(model, tmp_path / "copy", HIT.replace(".", r"\."), one_nan) / WEIGHTS_FILE)
    assert {name: int(weight.isnan().sum()) for name, weight in after.items()} == {HIT: 1, **dict.fromkeys(SPARED, 0)}


def test_a_pattern_that_names_nothing_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="no matrix"):
        damaged_copy(model, tmp_path / "copy", projections([7]), noise(0.3))


def test_a_linked_copy_reads_the_original_weights(model, tmp_path):
    copy = linked_copy(model, tmp_path / "copy")
    assert (copy / WEIGHTS_FILE).samefile(model / WEIGHTS_FILE)
    assert not (copy / "config.json").is_symlink()
