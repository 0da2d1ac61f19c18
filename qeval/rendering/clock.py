"""A clock that always shows one day, for chat templates that write the date into the prompt."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pinned(day: datetime.date) -> Iterator[None]:
    """Let `strftime_now` of every chat template show noon of a day while the block runs.

    The templates' environment keeps a function of its own that no argument can replace, so the clock under it is
    replaced, in this process alone.
    """
    from transformers.utils import chat_template_utils

    class Pinned(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Pinned:
            return cls(day.year, day.month, day.day, 12, tzinfo=tz)

    before = chat_template_utils.datetime
    chat_template_utils.datetime = Pinned
    try:
        yield
    finally:
        chat_template_utils.datetime = before
