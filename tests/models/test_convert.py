"""GGUF files that are not a whole model: refused by name, and nothing of them stays in the cache."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qeval.errors import UsageError
from qeval.models import convert as convert_module
from qeval.models.convert import convert, refuse_split
from qeval.models.locate import resolve
from tests.models.gguf_files import write_gguf


def first_half(name: str) -> bool:
    return not name.startswith("blk.1.")


@pytest.fixture
def parts(tiny_model_folder: Path, tmp_path: Path) -> list[Path]:
    """The two parts of a split model."""
    return [
        write_gguf(tmp_path / "m-00001-of-00002.gguf", tiny_model_folder, first_half, (0, 2)),
        write_gguf(tmp_path / "m-00002-of-00002.gguf", tiny_model_folder, lambda n: not first_half(n), (1, 2)),
    ]


@pytest.mark.parametrize(("kept", "absent"), [(0, 1), (1, 0)])
def test_a_part_of_a_split_model_names_the_missing_part(parts: list[Path], kept: int, absent: int) -> None:
    parts[absent].unlink()
    with pytest.raises(UsageError) as raised:
        convert(parts[kept], parts[kept].parent / "out")
    said = str(raised.value)
    assert said.startswith(f"{parts[kept].name} is part {kept + 1} of 2 of a model")
    assert f"{parts[absent].name} is not beside it" in said


def test_all_parts_of_a_split_model_say_how_to_join_them(parts: list[Path]) -> None:
    with pytest.raises(UsageError, match=re.escape("llama-gguf-split --merge m-00001-of-00002.gguf m.gguf")):
        refuse_split(parts[1])


def test_a_part_under_another_name_is_known_by_what_it_says(parts: list[Path]) -> None:
    renamed = parts[0].rename(parts[0].parent / "model.gguf")
    with pytest.raises(UsageError, match=r"model\.gguf is part 1 of 2 of a model, and model-00002-of-00002\.gguf"):
        refuse_split(renamed)


@pytest.mark.parametrize("split", [None, (0, 1)])
def test_a_whole_file_is_converted(tiny_model_folder: Path, tmp_path: Path, split: tuple[int, int] | None) -> None:
    convert(write_gguf(tmp_path / "whole.gguf", tiny_model_folder, split=split), tmp_path / "out")
    assert (tmp_path / "out" / "model.safetensors").is_file()


def test_a_file_that_lacks_a_layer_is_refused_and_leaves_nothing(
    tiny_model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("qeval.models.locate.convert_apart", convert_module.convert)
    half = write_gguf(tmp_path / "half.gguf", tiny_model_folder, first_half)
    with pytest.raises(UsageError, match=r"half\.gguf: its weights lack 9 tensors .*model\.layers\.1"):
        resolve(str(half))
    assert [path for path in (tmp_path / "cache" / "models").iterdir() if path.suffix != ".lock"] == []


@pytest.mark.slow
def test_the_converter_passes_its_reason_on(parts: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QEVAL_CACHE", str(tmp_path / "cache"))
    parts[1].unlink()
    with pytest.raises(UsageError) as raised:
        resolve(str(parts[0]))
    assert str(raised.value).startswith("m-00001-of-00002.gguf is part 1 of 2")
