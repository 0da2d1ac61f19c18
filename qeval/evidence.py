"""Evidence that a comparison is real: what a variant is, how it read the cases, and where it ran."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from qeval.strict import Strict
from qeval.text_kinds import ModelText, Name, Own

ComparabilityLevel = Literal["token_ids", "rendered_text", "messages"]
"""What two variants are known to have read alike: the same token ids, the same text, the same messages."""


class ModelInfo(Strict):
    """Which model, exactly."""

    name: Name
    fingerprint: Own
    """sha256 over the weight files; equal for all variants made from the same weights."""
    tokenizer_hash: Own | None = None
    chat_template_hash: Own | None = None
    context_tokens: int | None = None


class Proof(Strict):
    """Evidence that a variant is what it says, read off the loaded modules."""

    quantized_modules: int
    skipped_modules: tuple[Own, ...]
    """Modules with a weight matrix that were left unquantised, such as `lm_head`."""
    parameters: int | None
    """Number of weights, a tied matrix counted once; None where the layout is not known."""
    effective_bits: float | None
    """Stored bits per weight, quantisation state included: 8 * storage_bytes / parameters; None where not known."""
    storage_bytes: int | None
    """Bytes of all storages, counted once each, through tensor subclasses and quantisation state; None where not
    known."""
    dtypes: dict[Own, int]
    """Bytes by storage dtype."""
    unknown_layout: Own = ""
    """What of the stored weights could not be read; empty where bits and bytes are known."""


class Rendering(Strict):
    """How conversations became prompts; the same for every variant or they are not comparable."""

    template: Literal["model", "fallback", "none"]
    """The model's own chat template; a plain named fallback where it has none; none for engines without."""
    tools: Literal["template", "fallback", "none"]
    """Whether the template knows tools, or they are described in the system text."""
    system_folded: bool
    """The template takes no system role, so system text goes before the first user turn."""
    ways: dict[Own, int] = Field(default_factory=dict)
    """How the cases' conversations were handed to the template, in words, and how many of each; see
    `qeval.rendering.ways`."""
    date: Own | None = None
    """What the template's clock showed, where it reads one."""
    thinking: Own | None = None
    """Whether the model thinks before it answers, and by what; None where its template knows nothing of thoughts."""
    pad_token: Own | None = None
    end_token_ids: tuple[int, ...] = ()


class JudgeInfo(Strict):
    """Which judge graded a record's answers to cases with a rubric; judge grades of two judges do not compare."""

    model: Name
    """As the plan names it."""
    served: tuple[ModelText, ...]
    """Names that the endpoint gave its model in the replies that count; empty where none did."""
    prompt: Own
    """sha256 over all that the judge is told besides the case."""
    endpoint: Literal["local", "remote"]
    """Whether it ran on this machine; no address is kept."""
    temperature: float
    seed: int
    max_tokens: int


class Environment(Strict):
    """Where it ran: what must match before a stored baseline may be used."""

    python: Own
    platform: Own
    processor: Own
    device: Own
    threads: int | None
    versions: dict[Own, Own]
