"""The prompts of a run: rendered, and shortened where the context cannot hold them and their case allows that."""

from __future__ import annotations

from functools import partial

from qeval.engines.base import Engine, Prompt
from qeval.independence import Known
from qeval.runner.shorten import shorten
from qeval.suites.asked import known
from qeval.suites.case import Case


def prompt_of(engine: Engine, suite: str, case: Case) -> Prompt:
    """Render a case; one that does not fit stays as it is unless it may be shortened."""
    prompt = engine.render(suite, case)
    if case.truncate is None or not is_too_long(engine, prompt):
        return prompt
    return shorten(prompt, partial(engine.render, suite), lambda shorter: not is_too_long(engine, shorter))


def is_too_long(engine: Engine, prompt: Prompt) -> bool:
    """Whether the engine's context cannot hold a prompt and an answer of its case's limit."""
    limit = engine.context_tokens
    return limit is not None and len(prompt.token_ids) + prompt.case.max_new_tokens > limit


def prompt_known(prompt: Prompt) -> Known:
    """Return what is known of a rendered case: its token ids too, since other messages may render alike."""
    found = known(prompt.suite, prompt.case)
    return found._replace(asks=(*found.asks, ("tokens", prompt.digest)))
