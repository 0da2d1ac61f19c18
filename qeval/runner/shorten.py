"""Shorten a prompt that its context cannot hold, where its case allows that: text goes from the middle and it is said.

The longest turn of a user or tool is cut. System text, template and all other turns stay, and so does the last line of
the last turn, where the question stands; where that leaves nothing to cut, the prompt stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable

from qeval.engines.base import Prompt
from qeval.suites.case import Case

MARK = "\n[...]\n"
"""Stands where text was cut, so that a model does not read two halves as one sentence."""


def shorten(prompt: Prompt, render: Callable[[Case], Prompt], fits: Callable[[Prompt], bool]) -> Prompt:
    """Return the longest prompt that fits and keeps beginning and end, or the prompt itself where none does.

    Args:
        prompt: the whole prompt.
        render: turns a case into its prompt.
        fits: whether a prompt can be read whole, with room for its answer.
    """
    case = prompt.case
    index = max(
        (i for i, message in enumerate(case.messages) if message.role in {"user", "tool"}),
        key=lambda i: len(case.messages[i].content),
    )
    body, question = case.messages[index].content, ""
    if index == len(case.messages) - 1:
        body, line_end, last_line = body.rpartition("\n")
        question = line_end + last_line

    def keeping(characters: int) -> Prompt:
        head, tail = characters - characters // 2, len(body) - characters // 2
        message = case.messages[index].model_copy(update={"content": body[:head] + MARK + body[tail:] + question})
        return render(
            case.model_copy(update={"messages": (*case.messages[:index], message, *case.messages[index + 1 :])})
        )

    low, high, best = 0, len(body) - 1, prompt
    while low <= high:
        middle = (low + high) // 2
        shorter = keeping(middle)
        if fits(shorter):
            best, low = shorter, middle + 1
        else:
            high = middle - 1
    return best._replace(case=case, cut_tokens=len(prompt.token_ids) - len(best.token_ids))
