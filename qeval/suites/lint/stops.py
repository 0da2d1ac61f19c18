"""Stop texts that the prompt writes in another way."""

from __future__ import annotations

from collections.abc import Iterator

from qeval.suites.case import Case
from qeval.suites.lint.finding import Flaw
from qeval.suites.stops import find_stop


def stop_flaws(case: Case) -> Iterator[Flaw]:
    """Yield a warning for each stop text that the prompt holds in another width or normal form only.

    A model imitates its prompt. qeval ends the answer all the same; a server that compares code points would not.
    """
    texts = [message.content for message in case.messages]
    for stop in case.stop:
        places = [(text, find_stop(text, [stop])) for text in texts]
        written = [text[place.start : place.end] for text, place in places if place is not None]
        if written and stop not in written:
            text = (
                f"the stop text {stop!r} stands in the prompt as {written[0]!r}, where a server that compares code "
                "points would not stop. Write it as the prompt does."
            )
            yield Flaw("warning", text)
