"""The two sets of cases, each written as a suite and rendered as both harnesses must read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from typing import NamedTuple

import yaml

from qeval.engines.base import Prompt
from qeval.engines.prefix_tree import prefix_tree
from qeval.jsonl import append_lines
from qeval.models.resolved import ResolvedModel
from qeval.rendering.renderer import PLAIN_RULES, Renderer
from qeval.suites.case import Case
from qeval.suites.load import CASES_FILE, HEADER_FILE, load_suite

SHORT_SUITES = ("refusal", "rare", "multilingual", "schema")
SHORT_PROMPT = 200
"""A short prompt has fewer tokens."""
LIMIT_STEP = 16
DESCRIPTIONS = {
    "short": "Cases with prompts under 200 tokens, from four suites in turn; limits rounded up to a multiple of 16.",
    "shared": "Questions about documents, whole documents at a time.",
}


class Work(NamedTuple):
    """A set of cases."""

    name: str
    suite: Path
    """Folder of the suite."""
    prompts: tuple[Prompt, ...]
    distinct_tokens: int
    """Prompt tokens that are left to read once shared prefixes are read once."""

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts."""
        return sum(len(prompt.token_ids) for prompt in self.prompts)


def renderer_of(model: ResolvedModel) -> Renderer:
    """Return qeval's renderer for a model."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model.path, local_files_only=True)
    return Renderer(tokenizer, PLAIN_RULES, (tokenizer.eos_token_id,), tokenizer.pad_token)


def write_works(folder: Path, renderer: Renderer, n_cases: int) -> list[Work]:
    """Choose at most so many cases for each set, and write each set as a suite under a folder."""
    chosen = {
        "short": short_cases(lambda case: len(renderer.render(case).token_ids), n_cases),
        "shared": shared_cases(n_cases),
    }
    return [_work(folder / name, name, cases, renderer) for name, cases in chosen.items()]


def short_cases(count: Callable[[Case], int], n_cases: int) -> list[Case]:
    """Return cases with short prompts, from each suite one in turn.

    lm-eval only batches requests of one limit, and qeval's suites set many: as they stand, it would run them in ones
    and twos. Rounded up, for both, there are few.

    Args:
        count: gives the tokens of a case's prompt.
        n_cases: at most.
    """
    columns = [
        [_with_round_limit(case) for case in load_suite(suite).cases if _is_plain(case)] for suite in SHORT_SUITES
    ]
    in_turn = [case for row in zip_longest(*columns) for case in row if case is not None]
    short = (case for case in in_turn if count(case) < SHORT_PROMPT)
    return list(short)[:n_cases]


def shared_cases(n_cases: int) -> list[Case]:
    """Return the questions about as many documents as fit, one document at least."""
    cases = [case for case in load_suite("longdoc").cases if _is_plain(case)]
    found: list[Case] = []
    for _, group in groupby(cases, key=lambda case: case.cluster):
        questions = list(group)
        if found and len(found) + len(questions) > n_cases:
            break
        found += questions
    return found


def _is_plain(case: Case) -> bool:
    """Whether lm-eval can be asked the same: no stop texts, no tools, nothing cut."""
    return not case.stop and not case.tools and case.truncate is None


def _with_round_limit(case: Case) -> Case:
    limit = -(-case.max_new_tokens // LIMIT_STEP) * LIMIT_STEP
    return case.model_copy(update={"max_new_tokens": limit})


def _work(folder: Path, name: str, cases: Sequence[Case], renderer: Renderer) -> Work:
    _write_suite(folder, name, cases)
    prompts = [_prompt(name, case, renderer) for case in cases]
    tree = prefix_tree([prompt.token_ids for prompt in prompts], [case.tenant for case in cases])
    return Work(name, folder, tuple(prompts), sum(len(node.tokens) for node in tree.nodes))


def _prompt(name: str, case: Case, renderer: Renderer) -> Prompt:
    rendered = renderer.render(case)
    return Prompt(name, case, rendered.token_ids, rendered.text)


def _write_suite(folder: Path, name: str, cases: Sequence[Case]) -> None:
    folder.mkdir(parents=True)
    header = {"name": name, "version": 1, "description": DESCRIPTIONS[name]}
    (folder / HEADER_FILE).write_text(yaml.safe_dump(header), encoding="utf-8")
    append_lines(folder / CASES_FILE, [case.model_dump(mode="json") for case in cases])
