"""Which model exactly: hashes over the weights, the tokenizer and the chat template of a folder, without loading it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from qeval.errors import UsageError
from qeval.evidence import ModelInfo
from qeval.jsonl import dumps, loads, read_text
from qeval.models.resolved import ResolvedModel

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt")
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "vocab.txt", "added_tokens.json")
_READING_SUFFIXES = frozenset({".json", ".jinja", ".model", ".tiktoken", ".txt", ".py"})
_CHUNK = 1 << 20


def weight_files(folder: Path) -> list[Path]:
    """Return the weight files that loading would read: safetensors where there are any, else pickled ones."""
    safe = sorted(folder.glob("*.safetensors"))
    return safe or sorted(path for path in folder.iterdir() if path.suffix in PICKLE_SUFFIXES)


def fingerprint(folder: Path) -> str:
    """Return the sha256 over the weight files, in the order of their names.

    It reads every byte, about a second a gigabyte, and is not cached: a size and a time of change can lie.

    Raises:
        UsageError: no weight files, or one cannot be read.
    """
    files = weight_files(folder)
    if not files:
        raise UsageError(f"{folder}: no weight files (*.safetensors).")
    digest = hashlib.sha256()
    try:
        for path in files:
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: cannot read the weights ({error.strerror}).") from error
    return digest.hexdigest()


def tokenizer_hash(folder: Path) -> str | None:
    """Return a hash over the tokenizer's own files, JSON ones by content; None where the folder has none.

    Equal hashes mean equal token ids for equal text. The reverse need not hold: the same tokenizer saved in another
    file format hashes differently.
    """
    digest = hashlib.sha256()
    found = [folder / name for name in _TOKENIZER_FILES if (folder / name).is_file()]
    found += sorted(folder.glob("*.tiktoken"))
    for path in found:
        content = dumps(read_json(path)).encode() if path.suffix == ".json" else path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest() if found else None


def reading_hash(folder: Path) -> str:
    """Return a hash over the files that say how a model reads text: tokenizer, chat template, config.

    Equal hashes mean equal prompts for equal cases.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _READING_SUFFIXES and path.is_file():
            digest.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def template_hash(template: object) -> str:
    """Return a hash of a chat template: a text, or several by name."""
    text = template if isinstance(template, str) else dumps(template)
    return hashlib.sha256(text.encode()).hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """Read a model's JSON file.

    Leniently, since published models carry NaN and repeated keys.

    Raises:
        UsageError: unreadable, or not a JSON object.
    """
    try:
        value = loads(read_text(path), lenient=True)
    except ValueError as error:
        raise UsageError(f"{path}: not JSON ({error}). Fetch or save the model again.") from error
    if not isinstance(value, dict):
        raise UsageError(f"{path}: holds no JSON object. Fetch or save the model again.")
    return value


def model_info(model: ResolvedModel, tokenizer: Any, context: int | None) -> ModelInfo:  # noqa: ANN401 - untyped
    """Say which model a loaded variant is made from.

    Args:
        model: where it lies.
        tokenizer: the loaded transformers tokenizer, whose chat template is the one in force.
        context: most tokens the variant can hold, None where unknown.
    """
    template = getattr(tokenizer, "chat_template", None)
    return ModelInfo(
        name=model.name if model.revision is None else f"{model.name.partition('@')[0]}@{model.revision}",
        fingerprint=fingerprint(model.path),
        tokenizer_hash=tokenizer_hash(model.path),
        chat_template_hash=None if template is None else template_hash(template),
        context_tokens=context,
    )
