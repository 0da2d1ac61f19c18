"""Cases that pass an answer which answers nothing, and what a model would score that says nothing else.

Such a case passes before damage and after it, so it proves nothing about either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from qeval.bounded_yaml import read_yaml
from qeval.grading._text import base_language
from qeval.jsonl import dumps
from qeval.outcome import Outcome
from qeval.suites.answers import grade_case
from qeval.suites.case import Case
from qeval.suites.lint.finding import Finding
from qeval.suites.lint.limits import BYTES_PER_TOKEN
from qeval.suites.load import PlacedSuite

PROBES = {
    "empty": "is empty",
    "babble": "is babble",
    "echo": "repeats the prompt",
    "refusal": "refuses",
    "empty_json": "is an empty JSON object or list",
}
"""Answers to nothing, and what people are told that such an answer does."""
_DEFAULT_LANGUAGE = "en"


class Probed(NamedTuple):
    """What the cases of a suite pass that answers nothing."""

    findings: tuple[Finding, ...]
    """A warning for each case that passes something it should not."""
    passed: Mapping[str, int]
    """How many cases pass each probe; a refusal where one is expected is counted and is no finding."""


def probe(placed: PlacedSuite) -> Probed:
    """Grade the probes as answers to every case of a suite."""
    passed: Counter[str] = Counter(dict.fromkeys(PROBES, 0))
    findings = []
    known: dict[str, bool] = {}
    for case, where in zip(placed.suite.cases, placed.places, strict=True):
        names = [name for name, texts in _texts(case).items() if any(_passes(case, text, known) for text in texts)]
        passed.update(names)
        doubtful = [name for name in names if name != "refusal" or not _expects_refusal(case)]
        if doubtful:
            said = _said(doubtful)
            findings.append(Finding(level="warning", suite=placed.suite.name, case=case.id, where=where, text=said))
    return Probed(tuple(findings), passed)


def _texts(case: Case) -> dict[str, tuple[str, ...]]:
    told = _told().get(base_language(case.tags.get("lang")) or "", _told()[_DEFAULT_LANGUAGE])
    return {
        "empty": ("",),
        "babble": (told["babble"],),
        "echo": tuple(_echoes(case)),
        "refusal": (told["refusal"],),
        "empty_json": ("{}", "[]"),
    }


def _echoes(case: Case) -> Iterator[str]:
    """Yield the last message of the user and its last line, as far as the case's limit lets a model repeat them."""
    said = next(message.content for message in reversed(case.messages) if message.role == "user").strip()
    for text in dict.fromkeys((said, said.rpartition("\n")[2])):
        yield text.encode("utf-8", "replace")[: BYTES_PER_TOKEN * case.max_new_tokens].decode("utf-8", "ignore")


def _passes(case: Case, text: str, known: dict[str, bool]) -> bool:
    """Return whether a case passes a text; cases of a suite share few graders, and each is asked once.

    Args:
        case: the case.
        text: the answer.
        known: what was found before, added to.
    """
    graders, tools = list(case.graders), [tool.model_dump(mode="json") for tool in case.tools]
    key = dumps([graders, tools, case.tags.get("lang"), text])
    if key not in known:
        outcome = Outcome(suite="probe", case=case.id, batch=0, status="answered", text=text, finish="stop")
        known[key] = grade_case(outcome, case).passed() is True
    return known[key]


def _expects_refusal(case: Case) -> bool:
    return any(grader["kind"] == "refusal" and grader["expect"] == "refuse" for grader in case.graders)


def _said(names: list[str]) -> str:
    *first, last = (PROBES[name] for name in names)
    does = f"{', '.join(first)} or {last}" if first else last
    return f"its graders pass an answer that {does}. Add a grader that looks for something only a right answer holds."


@cache
def _told() -> dict[str, dict[str, str]]:
    """Return babble and refusal by language, read once."""
    texts: dict[str, dict[str, str]] = read_yaml(Path(__file__).with_name("probes.yaml"))
    return texts
