"""De-quantise a GGUF file into a plain fp32 transformers folder: `python -m qeval.models.convert FILE.gguf FOLDER`.

It is a program of its own because it needs torch, several times the file's memory and a noisy library: run in
another process, none of that stays with the caller.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from qeval.errors import UsageError


def convert(gguf: Path, folder: Path) -> None:
    """Write config, fp32 safetensors, generation config, tokenizer and chat template into `folder`.

    Reading the weights takes seconds, building the tokenizer of a GGUF file may take half a minute.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        dtype=torch.float32,
        quantization_config=GgufConfig(gguf_file=gguf.name, dequantize=True),
        device_map="cpu",
    )
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    # GGUF files do not carry it, and the default of 1e30 says that nothing is ever too long.
    tokenizer.model_max_length = model.config.max_position_embeddings
    tokenizer.save_pretrained(folder)


def convert_apart(gguf: Path, folder: Path) -> None:
    """Run `convert` in a fresh process.

    Raises:
        UsageError: the file cannot be converted; the message ends with the library's own last line.
    """
    command = [sys.executable, "-m", "qeval.models.convert", str(gguf.resolve()), str(folder.resolve())]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        said = lines[-1].strip() if lines else f"the converter ended with status {done.returncode}"
        raise UsageError(
            f"{gguf}: cannot be read as a GGUF model ({said}). Check that the file is whole and that transformers "
            "knows its architecture, or name a folder with safetensors instead."
        )


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
