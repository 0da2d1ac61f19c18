"""What a record keeps of a case, so that slices and reports need no suite."""

from __future__ import annotations

from qeval.jsonl import dumps
from qeval.record import CaseInfo
from qeval.suites.asked import asked
from qeval.suites.case import Case

_QUESTION_CHARACTERS = 1_200
_EXPECTED_CHARACTERS = 600


def case_info(suite: str, case: Case, near_equal: str | None = None) -> CaseInfo:
    """Build the record's entry of a case; texts are shortened for reading, never used for grading.

    Args:
        suite: its name.
        case: the case.
        near_equal: name of the group of near-equal cases that it is in.
    """
    last_user = next((message for message in reversed(case.messages) if message.role == "user"), case.messages[-1])
    return CaseInfo(
        suite=suite,
        case=case.id,
        tags=case.tags,
        cluster=case.cluster or case.id,
        tenant=case.tenant,
        asked=asked(case),
        near_equal=near_equal,
        question=shorten(last_user.content, _QUESTION_CHARACTERS),
        expected=shorten("; ".join(dumps(dict(grader)) for grader in case.graders), _EXPECTED_CHARACTERS),
    )


def shorten(text: str, limit: int) -> str:
    """Cut a text in its middle, saying how much went; a question mostly stands at the start or the end.

    >>> shorten("abcdefghij", 4)
    'ab [… 6 characters …] ij'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} [… {len(text) - 2 * half} characters …] {text[-half:]}"
