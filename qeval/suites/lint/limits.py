"""Right answers that the case's own limit would cut."""

from __future__ import annotations

from collections.abc import Iterator

from qeval.grading import check_grader
from qeval.suites.case import Case
from qeval.suites.lint.finding import Flaw
from qeval.suites.lint.golds import golds

BYTES_PER_TOKEN = 4
"""Of UTF-8, at most about so many in a token of usual text, so that the count is rather too low than too high."""


def limit_flaws(case: Case) -> Iterator[Flaw]:
    """Yield a warning where the shortest right answer to a grader is likely longer than the limit."""
    for spec in case.graders:
        kind, options = check_grader(spec, f"case {case.id}")
        answers = golds(kind, options)
        least = min((len(text.encode("utf-8", "replace")) for text in answers), default=0) // BYTES_PER_TOKEN
        if least > case.max_new_tokens:
            yield Flaw(
                "warning",
                f"what {kind} expects takes about {least} tokens, and max_new_tokens is {case.max_new_tokens}: a right "
                f"answer would be cut. Raise it to {2 * least} or so.",
            )
