from __future__ import annotations

import json
import shutil
from pathlib import Path

import huggingface_hub
import pytest

from qeval.errors import UsageError
from qeval.models import locate
from qeval.models.locate import resolve


@pytest.fixture
def folder(tiny_model_folder, tmp_path):
    """A copy of the tiny model that a test may damage."""
    copy = tmp_path / "model"
    shutil.copytree(tiny_model_folder, copy)
    return copy


def change_config(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_local_folder_is_taken_as_it_is(folder):
    model = resolve(str(folder))
    assert model.path == folder.resolve()
    assert (model.revision, model.allow_remote_code, model.allow_pickle) == (None, False, False)


def test_a_catalogue_name_is_fetched_even_where_a_folder_has_its_name(folder, monkeypatch, tmp_path):
    (tmp_path / "smollm2-135m").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locate, "fetch", lambda name, progress: folder)
    assert resolve("smollm2-135m").path == folder
    with pytest.raises(UsageError, match=r"no config\.json"):
        resolve("./smollm2-135m")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("smollm2-135n", "Did you mean 'smollm2-135m'?"),
        ("./nowhere", "no such folder"),
        ("/nowhere/at/all", "no such folder"),
        ("a/b/c", "owner/model@revision"),
        ("", "unknown model"),
        ("nowhere.gguf", "cannot read it (No such file or directory)"),
    ],
)
def test_a_name_that_leads_nowhere_says_what_is_allowed(name, said):
    with pytest.raises(UsageError) as raised:
        resolve(name)
    assert said in str(raised.value)


def test_a_folder_without_config_points_at_the_gguf_files_in_it(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    with pytest.raises(UsageError, match=r"no config\.json.*such as .*a\.gguf"):
        resolve(str(tmp_path))


def test_a_folder_without_weights_is_refused(folder):
    (folder / "model.safetensors").unlink()
    with pytest.raises(UsageError, match="no weights"):
        resolve(str(folder))


def test_a_folder_without_a_tokenizer_is_refused(folder):
    (folder / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match="no tokenizer"):
        resolve(str(folder))


def test_a_damaged_config_is_named(folder):
    (folder / "config.json").write_text("{")
    with pytest.raises(UsageError, match=r"config\.json: not JSON"):
        resolve(str(folder))


def test_pickled_weights_are_refused_unless_allowed(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match=r"pytorch_model\.bin.*--allow-pickle"):
        resolve(str(folder))
    assert resolve(str(folder), allow_pickle=True).allow_pickle


def test_an_architecture_that_comes_as_code_is_refused_unless_allowed(folder):
    change_config(folder, model_type="homemade", auto_map={"AutoModelForCausalLM": "modeling.Homemade"})
    with pytest.raises(UsageError, match=r"'homemade' is not in transformers.*--allow-remote-code"):
        resolve(str(folder))
    assert resolve(str(folder), allow_remote_code=True).allow_remote_code


def test_code_beside_an_architecture_that_transformers_has_is_no_reason_to_refuse(folder):
    change_config(folder, auto_map={"AutoModelForCausalLM": "modeling.Llama"})
    assert resolve(str(folder)).path == folder.resolve()


def test_a_gguf_file_is_converted_once_for_its_content(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    converted = []

    def convert(gguf, target):
        converted.append(gguf)
        shutil.copytree(folder, target, dirs_exist_ok=True)

    monkeypatch.setattr(locate, "convert_apart", convert)
    path = tmp_path / "some.gguf"
    path.write_bytes(b"GGUF one")
    first = resolve(str(path)).path
    assert resolve(str(path)).path == first
    assert first.parent == tmp_path / "cache" / "models"
    path.write_bytes(b"GGUF two")
    assert resolve(str(path)).path != first
    assert len(converted) == 2


def test_a_file_that_only_has_the_name_of_a_gguf_file_is_refused(tmp_path):
    (tmp_path / "page.gguf").write_text("<html>")
    with pytest.raises(UsageError, match="not a GGUF file"):
        resolve(str(tmp_path / "page.gguf"))


def test_a_hub_model_that_is_not_here_needs_a_network():
    with pytest.raises(UsageError, match=r"nobody/nothing@v1: not on this machine.*smollm2-135m"):
        resolve("nobody/nothing@v1")


@pytest.fixture
def hub(monkeypatch, folder):
    """The hub, faked: one repository at one commit; every request is noted."""
    snapshot = folder.parent / ("c" * 40)
    requests = []

    def download(repo, revision, allow_patterns):
        requests.append((repo, revision, allow_patterns))
        snapshot.mkdir(exist_ok=True)
        for pattern in allow_patterns:
            for path in folder.glob(pattern):
                shutil.copy(path, snapshot)
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return requests


def test_a_hub_model_is_pinned_to_the_commit_its_small_files_came_from(hub):
    model = resolve("owner/model@main")
    assert model.revision == "c" * 40
    assert model.path.name == "c" * 40
    assert [(repo, revision) for repo, revision, _ in hub] == [("owner/model", "main"), ("owner/model", "c" * 40)]


def test_a_refused_hub_model_costs_no_download_of_weights_or_code(hub, folder):
    change_config(folder, model_type="homemade", auto_map={"AutoModelForCausalLM": "modeling.Homemade"})
    with pytest.raises(UsageError, match="--allow-remote-code"):
        resolve("owner/model")
    assert len(hub) == 1
    assert not any(pattern.endswith((".py", ".safetensors")) for pattern in hub[0][2])


def test_pickled_weights_of_a_hub_model_are_only_downloaded_when_allowed(hub, folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match="no weights"):
        resolve("owner/model")
    assert not (Path(folder.parent) / ("c" * 40) / "pytorch_model.bin").exists()
    assert resolve("owner/model", allow_pickle=True).allow_pickle
