"""From the name a person gives to a folder with weights: catalogue name, local folder, .gguf file or hub id."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from qeval.errors import UsageError, did_you_mean
from qeval.models.cache import build_once, models_folder
from qeval.models.catalogue import CATALOGUE
from qeval.models.checkpoint import refuse_adapter, refuse_partial, refuse_quantized
from qeval.models.convert import CONVERSION, convert_apart
from qeval.models.fetch import Progress, fetch, quiet
from qeval.models.identity import PICKLE_SUFFIXES, read_json, tokenizer_hash
from qeval.models.resolved import ResolvedModel as ResolvedModel

_HUB_ID = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[\w.-]+)(?:@(?P<revision>[\w./-]+))?", re.ASCII)
_SMALL_FILES = ["*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken"]


def resolve(
    name: str, *, allow_remote_code: bool = False, allow_pickle: bool = False, progress: Progress = quiet
) -> ResolvedModel:
    """Find a model by name and bring it onto this machine.

    Args:
        name: a catalogue name; a local folder; a `.gguf` file, de-quantised into the cache; or a Hugging Face id,
            `owner/model` or `owner/model@revision`. A catalogue name goes before a folder of that name: write
            `./name` for the folder.
        allow_remote_code: accept a model that needs its own Python code.
        allow_pickle: accept a model that has no safetensors weights.
        progress: is told each slow step.

    Raises:
        UsageError: unknown name, unusable folder or file, no network, or something that must be allowed first.
    """
    revision = None
    path = Path(name).expanduser()
    if name in CATALOGUE:
        folder = fetch(name, progress)
    elif name and path.is_dir():
        folder = path.resolve()
    elif path.suffix.lower() == ".gguf":
        folder = _from_gguf(path, progress)
    elif not _is_path(name) and (match := _HUB_ID.fullmatch(name)):
        folder, revision = _from_hub(match["repo"], match["revision"], allow_remote_code, allow_pickle)
    else:
        raise _nothing_found(name)
    refuse_adapter(name, folder)
    _check_config(name, folder, allow_remote_code)
    _check_weights(name, folder, allow_pickle)
    refuse_partial(name, folder)
    refuse_quantized(name, folder)
    if tokenizer_hash(folder) is None and not allow_remote_code:
        raise UsageError(f"{name}: no tokenizer in {folder}. Save it there too: tokenizer.save_pretrained(...).")
    return ResolvedModel(name, folder, revision, allow_remote_code, allow_pickle)


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~", "\\"))


def _nothing_found(name: str) -> UsageError:
    what = "no such folder" if _is_path(name) else f"unknown model.{did_you_mean(name, CATALOGUE)}"
    return UsageError(
        f"{name}: {what} Allowed: a name of `qeval models list` ({', '.join(sorted(CATALOGUE))}), a folder with "
        "config.json and safetensors, a .gguf file, or a Hugging Face id such as owner/model@revision."
    )


def _from_gguf(path: Path, progress: Progress) -> Path:
    try:
        with path.open("rb") as file:
            is_gguf = file.read(4) == b"GGUF"
            file.seek(0)
            key = f"{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}-{CONVERSION}"
    except OSError as error:
        raise UsageError(f"{path}: cannot read it ({error.strerror}).") from error
    if not is_gguf:
        raise UsageError(f"{path}: not a GGUF file (it does not begin with the letters GGUF).")

    def build(folder: Path) -> None:
        progress(f"de-quantising {path.name} to fp32, once")
        convert_apart(path, folder)

    return build_once(models_folder() / f"{path.stem}-{key}", build)


def _from_hub(repo: str, revision: str | None, allow_remote_code: bool, allow_pickle: bool) -> tuple[Path, str]:
    """Download what is allowed of a hub repository; small files first, so that a refusal costs no gigabytes."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    name = f"{repo}@{revision}" if revision else repo
    code = ["*.py"] if allow_remote_code else []
    try:
        folder = Path(snapshot_download(repo, revision=revision, allow_patterns=_SMALL_FILES + code))
        refuse_adapter(name, folder)
        _check_config(name, folder, allow_remote_code)
        refuse_quantized(name, folder)
        # The commit that the small files came from, so that the weights cannot come from a later one.
        commit = folder.name
        snapshot_download(repo, revision=commit, allow_patterns=["*.safetensors"])
        if allow_pickle and not any(folder.glob("*.safetensors")):
            snapshot_download(repo, revision=commit, allow_patterns=[f"*{suffix}" for suffix in PICKLE_SUFFIXES])
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, ConnectionError) as error:
        raise UsageError(
            f"{name}: not on this machine, and huggingface.co cannot be reached. Fetch it where there is a network and "
            f"name its folder, or take the embedded model: {', '.join(sorted(CATALOGUE))}."
        ) from error
    except HfHubHTTPError as error:
        said = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise UsageError(
            f"{name}: Hugging Face refused it ({said}). Check the id and the revision; for a gated model log in first "
            "(hf auth login)."
        ) from error
    return folder, commit


def _check_config(name: str, folder: Path, allow_remote_code: bool) -> None:
    if not (folder / "config.json").is_file():
        inside = sorted(path.name for path in folder.glob("*.gguf"))
        hint = f" It holds GGUF files: name one, such as {folder / inside[0]}." if inside else ""
        raise UsageError(
            f"{name}: no config.json in {folder}.{hint} A model folder is what transformers' save_pretrained writes: "
            "config.json, *.safetensors and the tokenizer."
        )
    config = read_json(folder / "config.json")
    if "auto_map" in config and not allow_remote_code and not _built_in(config.get("model_type")):
        raise UsageError(
            f"{name}: its architecture '{config.get('model_type')}' is not in transformers and comes as Python code "
            "in the model's own folder, which would run with your rights. If you have read and trust it, pass "
            "--allow-remote-code."
        )


def _built_in(model_type: object) -> bool:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return model_type in CONFIG_MAPPING_NAMES


def _check_weights(name: str, folder: Path, allow_pickle: bool) -> None:
    if any(folder.glob("*.safetensors")):
        return
    pickled = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLE_SUFFIXES)
    if not pickled:
        raise UsageError(f"{name}: no weights (*.safetensors) in {folder}. Fetch or save the model again.")
    if not allow_pickle:
        raise UsageError(
            f"{name}: its weights are pickle files ({pickled[0]}), which can run code when they are read. Convert them "
            "to safetensors, or, if you trust their author, pass --allow-pickle."
        )
