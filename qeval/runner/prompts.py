"""The prompts of a run: rendered, and shortened where the context cannot hold them and their case allows that."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from qeval.engines.base import Engine, Prompt
from qeval.independence import Known
from qeval.rendering.template import RefusedError
from qeval.runner.shorten import shorten
from qeval.suites.asked import known
from qeval.suites.case import Case

Refused = Mapping[str, Mapping[str, str]]
"""Cases that no variant is shown: suite -> case id -> why."""
NONE_REFUSED: Refused = {}


def prompt_of(engine: Engine, suite: str, case: Case, refused: Refused = NONE_REFUSED) -> Prompt:
    """Render a case, unless it is refused; one that does not fit stays as it is unless it may be shortened."""
    if why := refused.get(suite, {}).get(case.id):
        return Prompt(suite, case, (), "", refused=why)
    try:
        prompt = engine.render(suite, case)
        if case.truncate is None or not is_too_long(engine, prompt):
            return prompt
        return shorten(prompt, partial(engine.render, suite), lambda shorter: not is_too_long(engine, shorter))
    except RefusedError as error:
        return Prompt(suite, case, (), "", refused=str(error))


def is_shown(engine: Engine, prompt: Prompt) -> bool:
    """Whether a prompt is shown to the model: it holds all of its case, and fits."""
    return not prompt.refused and not is_too_long(engine, prompt)


def is_too_long(engine: Engine, prompt: Prompt) -> bool:
    """Whether the engine's context cannot hold a prompt, and a thought and an answer of its limits."""
    limit = engine.context_tokens
    return limit is not None and len(prompt.token_ids) + prompt.max_tokens > limit


def prompt_known(prompt: Prompt) -> Known:
    """Return what is known of a rendered case: its token ids too, since other messages may render alike."""
    found = known(prompt.suite, prompt.case)
    return found._replace(asks=(*found.asks, ("tokens", prompt.digest)))
