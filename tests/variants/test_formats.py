"""One contract over all formats, on a tiny model made in code; and how formats are listed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from qeval.errors import UsageError, VariantFailed
from qeval.models.locate import resolve
from qeval.variants import available, find_format, list_formats, load_variant, parse_variant
from qeval.variants.base import all_formats, families

FORMATS = all_formats()
PROMPTS = [list(range(3, 19)), list(range(100, 116))]


NO_COMPILER = "a C++ compiler is missing"


@pytest.fixture(autouse=True)
def only_what_loads_here(request):
    """Skip a format that this machine cannot load, with the reason that qeval gives."""
    named = request.node.callspec.params.get("name") if hasattr(request.node, "callspec") else None
    if named in FORMATS and not (here := available(FORMATS[named], "cpu")).available:
        pytest.skip(f"{named}: {here.why}")


@pytest.fixture(scope="session")
def tiny(tiny_model_folder):
    return resolve(str(tiny_model_folder))


@pytest.fixture(scope="session")
def reference_logits(tiny):
    return logits(load_variant(parse_variant("fp32"), tiny, "cpu").model)


def logits(model):
    import torch

    # Not inference_mode: quanto's int4 tensors refuse it.
    with torch.no_grad():
        return model(torch.tensor(PROMPTS)).logits.float()


def greedy(model):
    import torch

    ids = torch.tensor(PROMPTS)
    return model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False).tolist()


def snr_db(wanted, found):
    return float(10 * ((wanted**2).sum() / ((found - wanted) ** 2).sum()).log10())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_proves_itself_computes_nearly_the_same_and_answers_alike_when_loaded_again(
    name, tiny, reference_logits
):
    fmt = FORMATS[name]
    loaded = load_variant(parse_variant(name), tiny, "cpu")
    assert snr_db(reference_logits, logits(loaded.model)) > fmt.min_snr_db
    assert loaded.proof.effective_bits is not None
    if fmt.quantized:
        assert loaded.proof.quantized_modules == 14  # seven linear modules in each of two layers
        assert loaded.proof.skipped_modules == ("model.embed_tokens", "lm_head")
        assert fmt.nominal_bits < loaded.proof.effective_bits < 32
    else:
        assert loaded.proof.quantized_modules == 0
        assert loaded.proof.effective_bits == pytest.approx(fmt.nominal_bits, rel=1e-3)
    assert loaded.proof.parameters == 90624  # the tied matrix once
    assert loaded.tokenizer.decode(loaded.tokenizer("é→").input_ids) == "é→"
    assert not loaded.model.training
    assert greedy(loaded.model) == greedy(load_variant(parse_variant(name), tiny, "cpu").model)


def test_the_formats_are_different_from_each_other(tiny):
    answers = {name: greedy(load_variant(parse_variant(name), tiny, "cpu").model) for name in ("fp32", "nf4", "fp4")}
    assert answers["fp32"] != answers["nf4"] != answers["fp4"] != answers["fp32"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_answers_through_the_engine(name, tiny):
    from qeval.engines.transformers import TransformersEngine
    from qeval.suites.case import Case

    loaded = load_variant(parse_variant(name), tiny, "cpu")
    engine = TransformersEngine(loaded.model, loaded.tokenizer, "cpu")
    case = Case(
        id="1", messages=({"role": "user", "content": "hello"},), graders=({"kind": "exact"},), max_new_tokens=6
    )
    (generation,) = engine.answer([engine.render("suite", case)], lambda tokens: None)
    assert generation.status == "answered"


def test_keep_leaves_the_named_modules_alone_and_no_others(tiny):
    loaded = load_variant(parse_variant("nf4+keep=layers.1.mlp"), tiny, "cpu")
    assert loaded.proof.quantized_modules == 11
    assert [name for name in loaded.proof.skipped_modules if "layers" in name] == [
        f"model.layers.1.mlp.{part}_proj" for part in ("gate", "up", "down")
    ]


@pytest.mark.parametrize("name", ["int8", "quanto-int8"])
def test_keep_is_honoured_by_every_library(name, tiny):
    loaded = load_variant(parse_variant(f"{name}+keep=*.self_attn"), tiny, "cpu")
    assert loaded.proof.quantized_modules == 6


def test_keeping_everything_is_an_error_not_a_result(tiny):
    with pytest.raises(VariantFailed, match="asked quanto-int8, nothing was quantised"):
        load_variant(parse_variant("quanto-int8+keep=layers"), tiny, "cpu")


def test_keep_that_fits_nothing_names_the_modules(tiny):
    with pytest.raises(UsageError, match=r"keep=mpl fits no linear module.* Did you mean 'mlp'\?.*model\.layers\.0"):
        load_variant(parse_variant("nf4+keep=mpl"), tiny, "cpu")


def test_compute_chooses_the_dtype_of_what_is_not_quantised(tiny):
    proof = load_variant(parse_variant("quanto-int8+compute=bf16"), tiny, "cpu").proof
    assert set(proof.dtypes) >= {"bfloat16", "int8"}
    assert proof.dtypes.get("float32", 0) < 1000


def test_a_model_that_is_quantised_already_is_refused(tiny_model_folder, tmp_path):
    folder = tmp_path / "quantised"
    shutil.copytree(tiny_model_folder, folder)
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "gptq"}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UsageError, match="quantised already \\(gptq\\)"):
        load_variant(parse_variant("fp32"), resolve(str(folder)), "cpu")


def test_a_format_without_its_library_says_what_to_install(tiny, monkeypatch):
    monkeypatch.setattr("qeval.variants.base._installed", lambda package: not package.startswith("optimum"))
    here = available(find_format("quanto-int4"), "cpu")
    assert not here.available
    assert here.why == "not installed: pip install optimum-quanto accelerate" or "optimum-quanto" in here.why
    with pytest.raises(VariantFailed, match="pip install optimum-quanto"):
        load_variant(parse_variant("quanto-int4"), tiny, "cpu")


@pytest.mark.parametrize(
    ("cxx", "named"),
    [(None, "c++"), ("no-such-compiler", "no-such-compiler"), ("ccache-not-here g++", "ccache-not-here")],
)
def test_a_format_that_compiles_needs_a_compiler(tiny, monkeypatch, tmp_path, cxx, named):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    if cxx is not None:
        monkeypatch.setenv("CXX", cxx)
    here = {entry.format.name: entry for entry in list_formats("cpu")}
    assert not here["quanto-int4"].available
    assert here["quanto-int4"].why.startswith(f"{NO_COMPILER} ({named})")
    assert [name for name, entry in here.items() if not entry.available] == ["quanto-int4"]
    with pytest.raises(VariantFailed, match=re.escape(NO_COMPILER)):
        load_variant(parse_variant("quanto-int4"), tiny, "cpu")


def test_a_compiler_named_in_cxx_with_arguments_is_found(monkeypatch, tmp_path):
    compiler = tmp_path / "g++-99"
    compiler.write_text("")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", "g++-99 -O1")
    assert available(find_format("quanto-int4"), "cpu").available


def test_listing_names_every_format_once_plain_ones_first():
    listed = [entry.format.name for entry in list_formats("cpu")]
    assert listed[:3] == ["fp32", "bf16", "fp16"]
    assert len(listed) == len(set(listed)) == len(FORMATS)
    assert {fmt.family for fmt in FORMATS.values()} == set(families())


def test_listing_and_parsing_import_no_heavy_library():
    code = (
        "import sys\n"
        "from qeval.variants import list_formats, parse_variants\n"
        "from qeval.models.fetch import list_models\n"
        "list_formats('cpu'), parse_variants('fp32,nf4+keep=lm_head'), list_models()\n"
        "heavy = {'torch', 'transformers', 'bitsandbytes', 'huggingface_hub', 'mlflow', 'pandas'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_products_in_fp32_are_nearly_those_of_a_processor_with_16_bit_units(name, tiny, reference_logits, monkeypatch):
    from qeval.variants import dtype

    monkeypatch.setattr(dtype, "_has_units", lambda name: True)
    native = load_variant(parse_variant(name), tiny, "cpu")
    monkeypatch.setattr(dtype, "_has_units", lambda name: False)
    upcast = load_variant(parse_variant(name), tiny, "cpu")
    assert native.notes == ()
    assert "computed in fp32" in upcast.notes[0]
    assert upcast.proof == native.proof
    assert upcast.model.lm_head.weight is upcast.model.model.embed_tokens.weight
    # Both lie as far from fp32, and nearer to each other than to it.
    assert snr_db(reference_logits, logits(upcast.model)) == pytest.approx(
        snr_db(reference_logits, logits(native.model)), abs=1.5
    )
    assert snr_db(logits(native.model), logits(upcast.model)) > snr_db(reference_logits, logits(native.model)) + 1
