"""A watcher of runs that shows nothing."""

from __future__ import annotations

from qeval.runner.process import Ended
from qeval.runner.task import Said


class Quiet:
    """Shows nothing."""

    def said_of_models(self, text: str) -> None: ...

    def said_of_judge(self, text: str) -> None: ...

    def said_of_cases(self, text: str) -> None: ...

    def warned(self, text: str) -> None: ...

    def variant_started(self, name: str) -> None: ...

    def heard(self, name: str, said: Said) -> None: ...

    def variant_ended(self, name: str, ended: Ended) -> None: ...
