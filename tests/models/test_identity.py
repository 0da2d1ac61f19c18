from __future__ import annotations

import json

import pytest

from qeval.errors import UsageError
from qeval.models.identity import fingerprint, model_info, template_hash, tokenizer_hash
from qeval.models.resolved import ResolvedModel


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content)
    return folder


def test_equal_weights_have_equal_fingerprints_wherever_they_lie(tmp_path):
    one = write(tmp_path / "one", a__safetensors=b"1", b__safetensors=b"2", config__json=b"{}")
    two = write(tmp_path / "two", a__safetensors=b"1", b__safetensors=b"2", config__json=b'{"x": 1}')
    assert fingerprint(one) == fingerprint(two)


@pytest.mark.parametrize(
    "files",
    [
        {"a__safetensors": b"1", "b__safetensors": b"3"},
        {"a__safetensors": b"12", "b__safetensors": b""},
        {"a__safetensors": b"1", "c__safetensors": b"2"},
        {"a__safetensors": b"1"},
    ],
)
def test_any_other_weights_have_another_fingerprint(tmp_path, files):
    one = write(tmp_path / "one", a__safetensors=b"1", b__safetensors=b"2")
    assert fingerprint(one) != fingerprint(write(tmp_path / "two", **files))


def test_pickled_weights_do_not_count_beside_safetensors(tmp_path):
    one = write(tmp_path / "one", a__safetensors=b"1")
    two = write(tmp_path / "two", a__safetensors=b"1", a__bin=b"9")
    assert fingerprint(one) == fingerprint(two)
    assert fingerprint(write(tmp_path / "three", a__bin=b"9"))


def test_no_weights_have_no_fingerprint(tmp_path):
    with pytest.raises(UsageError, match="no weight files"):
        fingerprint(tmp_path)


def test_a_tokenizer_is_its_content_not_its_formatting(tmp_path):
    content = {"model": {"vocab": {"ä": 1, "b": 2}}}
    one = write(tmp_path / "one", tokenizer__json=json.dumps(content).encode())
    two = write(tmp_path / "two", tokenizer__json=json.dumps(content, indent=2, ensure_ascii=False).encode())
    content["model"]["vocab"]["b"] = 3
    other = write(tmp_path / "other", tokenizer__json=json.dumps(content).encode())
    assert tokenizer_hash(one) == tokenizer_hash(two) != tokenizer_hash(other)


def test_a_folder_without_tokenizer_files_has_no_tokenizer_hash(tmp_path):
    assert tokenizer_hash(tmp_path) is None


def test_model_info_says_which_model_exactly(tiny_model_folder):
    class Tokenizer:
        chat_template = "{{ x }}"

    model = ResolvedModel("owner/model@main", tiny_model_folder, revision="c" * 40)
    info = model_info(model, Tokenizer(), 512)
    assert info.name == f"owner/model@{'c' * 40}"
    assert info.fingerprint == fingerprint(tiny_model_folder)
    assert info.chat_template_hash == template_hash("{{ x }}")
    Tokenizer.chat_template = None  # type: ignore[assignment]
    assert model_info(model, Tokenizer(), None).chat_template_hash is None
