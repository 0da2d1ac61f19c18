"""A case as a model reads it, without loading the model's weights."""

from __future__ import annotations

from typing import NamedTuple

from qeval.engines.render import probe
from qeval.models.resolved import ResolvedModel
from qeval.suites.case import Case
from qeval.variants.load import load_tokenizer


class Preview(NamedTuple):
    """What a model reads of a case."""

    text: str
    """Rendered by its chat template, up to where the answer begins."""
    prompt_tokens: int


def preview(case: Case, model: ResolvedModel) -> Preview:
    """Render a case as `qeval run` would.

    Raises:
        UsageError: the model's chat template refuses the case.
    """
    renderer = probe(load_tokenizer(model), (), None)
    text = renderer.text(case)
    return Preview(text, len(renderer.token_ids(text)))
