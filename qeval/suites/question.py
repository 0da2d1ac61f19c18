"""What graders are told of a case besides their own options."""

from __future__ import annotations

from qeval.grading import Question
from qeval.suites.case import Case


def question_of(case: Case) -> Question:
    """Return the language, the tools and the last user message of a case."""
    asked = [message.content for message in case.messages if message.role == "user"]
    return Question(case.tags.get("lang"), case.tools, asked[-1] if asked else None)
