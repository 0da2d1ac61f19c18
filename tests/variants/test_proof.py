from __future__ import annotations

import shutil

import pytest

from qeval.errors import VariantFailed
from qeval.models.locate import resolve
from qeval.variants import available, find_format, load_variant, parse_variant
from qeval.variants.proof import prove
from qeval.variants.stored import stored_bytes

EMBEDDING = 259 * 64
LINEAR = 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128)
NORMS = 5 * 64


@pytest.fixture(scope="module")
def load(tiny_model_folder):
    model = resolve(str(tiny_model_folder))

    def load_or_skip(text):
        spec = parse_variant(text)
        if not (here := available(find_format(spec.format), "cpu")).available:
            pytest.skip(f"{text}: {here.why}")
        return load_variant(spec, model, "cpu")

    return load_or_skip


def test_a_tied_matrix_counts_once(load):
    loaded = load("fp32")
    assert loaded.model.lm_head.weight is loaded.model.model.embed_tokens.weight
    assert loaded.proof.parameters == EMBEDDING + LINEAR + NORMS
    buffers = sum(buffer.numel() * 4 for buffer in loaded.model.buffers())
    assert loaded.proof.storage_bytes == 4 * (EMBEDDING + LINEAR + NORMS) + buffers
    assert loaded.proof.skipped_modules == ()


def test_four_bit_weights_count_two_in_a_byte_with_their_scales_and_tables(load):
    dtypes = load("nf4").proof.dtypes
    assert dtypes["uint8"] == LINEAR / 2
    scales, tables = 4 * LINEAR / 64, 14 * 16 * 4
    assert dtypes["float32"] == pytest.approx(4 * (EMBEDDING + NORMS) + scales + tables, abs=300)


def test_double_quantisation_shows_its_nested_scales(load):
    plain, double = load("nf4").proof, load("nf4-dq").proof
    assert double.dtypes["uint8"] == plain.dtypes["uint8"] + LINEAR / 64
    assert double.parameters == plain.parameters


@pytest.mark.parametrize("name", ["int8", "quanto-int8"])
def test_eight_bit_weights_are_stored_in_eight_bits(load, name):
    proof = load(name).proof
    assert proof.dtypes["int8"] == LINEAR


def test_quanto_packs_int4_behind_a_tensor_subclass(load):
    loaded = load("quanto-int4")
    assert loaded.proof.dtypes["uint8"] == LINEAR / 2
    assert loaded.model.get_memory_footprint() > 2 * loaded.proof.storage_bytes


@pytest.mark.parametrize("name", ["fp32", "int8", "nf4-dq", "quanto-int8", "quanto-int4"])
def test_the_proof_is_the_same_after_the_model_has_answered(load, name):
    import torch

    loaded = load(name)
    with torch.no_grad():
        loaded.model(torch.tensor([[3, 4, 5]]))
    assert prove(loaded.model, find_format(name)) == loaded.proof


@pytest.mark.parametrize("name", ["nf4", "nf4-dq", "fp4", "fp4-dq"])
def test_repacked_scales_count_as_they_were_loaded(load, name):
    loaded = load(name)
    repack(loaded.model)
    assert prove(loaded.model, find_format(name)) == loaded.proof


def repack(model):
    """Do what bitsandbytes does at the first forward pass on a processor with bf16 units."""
    from bitsandbytes.functional import _convert_weight_packed_for_cpu

    repacked = 0
    for module in model.modules():
        state = getattr(getattr(module, "weight", None), "quant_state", None)
        if state is not None and not getattr(state, "packing_format_for_cpu", False):
            module.weight.data, _ = _convert_weight_packed_for_cpu(module.weight.data, state)
            repacked += 1
    assert repacked == 14


@pytest.mark.parametrize("field", ["absmax", "code", "shape", "state2", "original_nested"])
def test_an_unknown_layout_is_said_and_never_counted(load, field):
    loaded = load("nf4-dq")
    if field == "original_nested":
        repack(loaded.model)
    delattr(loaded.model.model.layers[1].mlp.up_proj.weight.quant_state, field)
    proof = prove(loaded.model, find_format("nf4-dq"))
    assert (proof.parameters, proof.effective_bits, proof.storage_bytes, proof.dtypes) == (None, None, None, {})
    assert proof.unknown_layout == f"QuantState has no {field}"
    assert proof.quantized_modules == loaded.proof.quantized_modules


def test_a_variant_with_an_unknown_layout_loads_with_a_note(tiny_model_folder, monkeypatch):
    from qeval.variants import stored

    def unknown(*_):
        raise stored.UnknownLayout("NewTensor has no absmax")

    monkeypatch.setattr(stored, "_scales", unknown)
    notes = load_variant(parse_variant("nf4"), resolve(str(tiny_model_folder)), "cpu").notes
    assert "bits per weight and storage are unknown" in notes[0]
    assert "NewTensor has no absmax" in notes[0]


@pytest.mark.parametrize(
    ("loaded_as", "asked", "said"),
    [
        ("fp32", "quanto-int4", "asked quanto-int4, nothing was quantised"),
        ("quanto-int8", "nf4", r"store 8\.\d\d bits a weight, not about 4"),
        ("nf4", "int8", r"store 4\.\d\d bits a weight, not about 8"),
        ("quanto-int8", "bf16", "14 modules are quantised"),
        ("fp32", "bf16", "the weights are stored as float32"),
    ],
)
def test_a_model_that_is_not_what_was_asked_for_is_refused(load, loaded_as, asked, said):
    with pytest.raises(VariantFailed, match=said):
        prove(load(loaded_as).model, find_format(asked))


def test_views_of_one_storage_count_once():
    import torch
    from torch import nn

    whole = torch.zeros(8, 8)
    module = nn.Module()
    module.register_buffer("left", whole[:, :4])
    module.register_buffer("right", whole[:, 4:])
    assert stored_bytes([module]) == {"float32": 256}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "megabytes"),
    [
        ("fp32", 538.1),
        ("bf16", 269.0),
        ("fp16", 269.0),
        ("int8", 220.2),
        ("nf4", 173.1),
        ("nf4-dq", 168.4),
        ("quanto-int8", 220.2),
        ("quanto-int4", 174.8),
        ("quanto-int8+compute=bf16", 163.2),
        ("quanto-int4+compute=bf16", 113.9),
    ],
)
def test_the_embedded_model_takes_the_bytes_it_should(text, megabytes):
    loaded = load_variant(parse_variant(text), resolve("smollm2-135m"), "cpu")
    assert loaded.proof.storage_bytes is not None
    assert loaded.proof.storage_bytes / 1e6 == pytest.approx(megabytes, rel=0.01)
    assert loaded.proof.parameters == 134_515_008
    assert loaded.proof.quantized_modules in {0, 210}


def test_c46_stacked_experts_that_no_library_replaced_are_named(tiny_model_folder, tmp_path):
    from transformers import MixtralConfig, MixtralForCausalLM

    folder = tmp_path / "experts"
    shutil.copytree(tiny_model_folder, folder)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 4}
    config = MixtralConfig(vocab_size=259, num_key_value_heads=2, num_local_experts=4, **sizes)
    MixtralForCausalLM(config).save_pretrained(folder)
    notes = " ".join(load_variant(parse_variant("nf4"), resolve(str(folder)), "cpu").notes)
    assert "of the weights were left unquantised" in notes
    assert "experts.gate_up_proj" in notes


def test_a_model_without_experts_has_nothing_left_to_tell(load):
    assert not any("left unquantised" in note for note in load("nf4").notes)
