"""Where a variant runs: versions, processor, threads, and the memory of this very process."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from qeval.evidence import Environment

_CLEAR = Path("/proc/self/clear_refs")
_GROUP = Path("/sys/fs/cgroup")
_PACKAGES = (
    "qeval",
    "torch",
    "transformers",
    "tokenizers",
    "accelerate",
    "bitsandbytes",
    "optimum-quanto",
    "gguf",
    "safetensors",
    # Graders.
    "jsonschema",
    "lingua-language-detector",
    "regex",
)
"""Packages whose version can change a result."""


def package_versions() -> dict[str, str]:
    """Return the installed versions of the packages that can change a result, without importing them."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def read_environment(device: str, threads: int | None) -> Environment:
    """Describe this process's machine."""
    return Environment(
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        processor=_processor(),
        device=_device_name(device),
        threads=threads,
        versions=package_versions(),
    )


def peak_memory_bytes() -> int | None:
    """Return the peak resident memory of this process, VmHWM; None where the system does not say.

    `getrusage().ru_maxrss` is not used: in a spawned child it reports the parent's peak.
    """
    return _status_bytes("VmHWM")


def resident_memory_bytes() -> int | None:
    """Return the resident memory of this process now, VmRSS."""
    return _status_bytes("VmRSS")


def available_memory_bytes() -> int | None:
    """Return the memory this process may still take, by the system and its control group; None where neither says."""
    found = [_memory_field("MemAvailable"), _group_available(_GROUP)]
    return min((value for value in found if value is not None), default=None)


def total_memory_bytes() -> int | None:
    """Return the memory that a process may ever take, by the system and its control group; None where neither says."""
    found = [_memory_field("MemTotal"), _group_limit(_GROUP)]
    return min((value for value in found if value is not None), default=None)


def device_peak_memory_bytes() -> int | None:
    """Return the peak memory torch allocated on a CUDA device in this process; None on other devices."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    return int(torch.cuda.max_memory_allocated())


def highest(*found: int | None) -> int | None:
    """Return the highest of some measurements of which each may be missing; None where all are.

    >>> highest(None, 3, 5), highest(None)
    (5, None)
    """
    return max((value for value in found if value is not None), default=None)


def can_forget_peak_memory() -> bool:
    """Whether `forget_peak_memory` works for this process, or there is no peak to forget."""
    return peak_memory_bytes() is None or os.access(_CLEAR, os.W_OK)


def forget_peak_memory() -> None:
    """Count peak memory anew from what is in use now, where the system allows it."""
    with suppress(OSError), _CLEAR.open("w", encoding="ascii") as file:
        file.write("5")
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()


def _status_bytes(field: str) -> int | None:
    path = Path("/proc/self/status")
    if not path.exists():
        return None
    for line in path.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None


def _memory_field(field: str) -> int | None:
    path = Path("/proc/meminfo")
    if not path.exists():
        return None
    for line in path.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None


def _group_limit(group: Path) -> int | None:
    """Read the memory that a control group (version 2) may take."""
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if limit == "max" else int(limit)


def _group_available(group: Path) -> int | None:
    """Read what a control group (version 2) has left, pages of files that it can drop counted as free."""
    limit = _group_limit(group)
    try:
        used = int((group / "memory.current").read_text(encoding="ascii"))
        pages = dict(line.split() for line in (group / "memory.stat").read_text(encoding="ascii").splitlines())
    except OSError:
        return None
    return None if limit is None else limit - used + int(pages.get("inactive_file", 0))


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _device_name(device: str) -> str:
    torch = sys.modules.get("torch")
    if device == "cuda" and torch is not None:
        return f"cuda {torch.cuda.get_device_name()}"
    return device
