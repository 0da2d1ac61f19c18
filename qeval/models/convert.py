"""De-quantise a GGUF file into a plain fp32 transformers folder: `python -m qeval.models.convert FILE.gguf FOLDER`.

It is a program of its own because it needs torch, several times the file's memory and a noisy library: run in
another process, none of that stays with the caller.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from qeval.errors import UsageError
from qeval.models.weights import REPORTING, accept, read_report

CONVERSION = 2
"""Part of the name of a converted model in the cache. Raised when folders that were converted before must not be used
again: the first conversion took half of a split model for a whole one."""
_REFUSED = "qeval refuses it: "
"""Begins the reason that the converter gives of its own, as the last thing it says."""


def convert(gguf: Path, folder: Path) -> None:
    """Write config, fp32 safetensors, generation config, tokenizer and chat template into `folder`.

    Reading the weights takes seconds, building the tokenizer of a GGUF file may take half a minute.

    Raises:
        UsageError: the file is a part of a split model, or lacks weights.
    """
    refuse_split(gguf)
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    model, info = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        dtype=torch.float32,
        quantization_config=GgufConfig(gguf_file=gguf.name, dequantize=True),
        device_map="cpu",
        **REPORTING,
    )
    accept(gguf.name, model, read_report(model, info, ()))
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    # GGUF files do not carry it, and the default of 1e30 says that nothing is ever too long.
    tokenizer.model_max_length = model.config.max_position_embeddings
    tokenizer.save_pretrained(folder)


def refuse_split(gguf: Path) -> None:
    """Refuse a file that says it is one part of a model: the library would fill the other parts at random.

    Raises:
        UsageError: it is; parts that are missing are named, else the command that joins them.
    """
    from gguf import GGUFReader

    fields = GGUFReader(gguf).fields
    count = int(fields["split.count"].contents()) if "split.count" in fields else 1
    if count <= 1:
        return
    number = int(fields["split.no"].contents()) + 1 if "split.no" in fields else None
    part = re.fullmatch(r"(?P<stem>.*)-(?P<number>\d{5})-of-\d{5}\.gguf", gguf.name)
    stem = part["stem"] if part else gguf.stem
    names = [f"{stem}-{n:05d}-of-{count:05d}.gguf" for n in range(1, count + 1)]
    absent = [name for n, name in enumerate(names, 1) if n != number and not (gguf.parent / name).is_file()]
    which = f"part {number} of {count}" if number else f"one of {count} parts"
    if absent:
        raise UsageError(
            f"{gguf.name} is {which} of a model, and {', '.join(absent)} is not beside it. Fetch all parts."
        )
    raise UsageError(
        f"{gguf.name} is {which} of a model. Join them with llama.cpp's tool and name the joined file: "
        f"llama-gguf-split --merge {names[0]} {stem}.gguf"
    )


def convert_apart(gguf: Path, folder: Path) -> None:
    """Run `convert` in a fresh process.

    Raises:
        UsageError: the file cannot be converted; the message ends with the library's own last line.
    """
    command = [sys.executable, "-m", "qeval.models.convert", str(gguf.resolve()), str(folder.resolve())]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        refused = done.stderr.rpartition(_REFUSED)
        if refused[1]:
            raise UsageError(refused[2].strip())
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        said = lines[-1].strip() if lines else f"the converter ended with status {done.returncode}"
        raise UsageError(
            f"{gguf}: cannot be read as a GGUF model ({said}). Check that the file is whole and that transformers "
            "knows its architecture, or name a folder with safetensors instead."
        )


if __name__ == "__main__":
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except UsageError as error:
        # The last line of what this program says is what its caller passes on.
        print(f"{_REFUSED}{error}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
