"""Progress of a run: a bar a variant on a terminal, plain lines elsewhere; both on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from qeval import units
from qeval.clean import clean
from qeval.runner.process import Ended
from qeval.runner.task import Advanced, Planned, Said, Stage, Step

_LINE_EVERY_S = 15.0


class ProgressBars:
    """One bar a variant: answers given, tokens a second, time left."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Show bars on a console that is a terminal."""
        self._clock = clock
        self._bars = Progress(
            TextColumn("{task.description:<16}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[stage]}", markup=False),
            console=console,
        )
        self._ids: dict[str, TaskID] = {}
        self._rates: dict[str, _Rate] = {}

    def __enter__(self) -> ProgressBars:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def said_of_models(self, text: str) -> None:
        self._bars.console.print(clean(text), markup=False, highlight=False, soft_wrap=True)

    said_of_judge = said_of_cases = warned = said_of_models

    def variant_started(self, name: str) -> None:
        self._ids[name] = self._bars.add_task(clean(name), total=None, rate="", stage="starting")
        self._rates[name] = _Rate(self._clock)

    def heard(self, name: str, said: Said) -> None:
        bar = self._ids[name]
        match said:
            case Stage(text):
                self._bars.update(bar, stage=text)
            case Planned(answers, done):
                self._bars.update(bar, total=answers, completed=done)
            case Step(tokens):
                self._bars.update(bar, rate=units.rate(self._rates[name].add(tokens)))
            case Advanced(answers):
                self._bars.update(bar, advance=answers)
            case _:
                pass

    def variant_ended(self, name: str, ended: Ended) -> None:
        if name in self._ids:
            self._bars.update(self._ids[name], stage="done" if ended.state == "complete" else ended.state)


class ProgressLines:
    """Plain lines for logs: one at every stage, and one at most every 15 s while answering."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Write lines to a console that is a file or a pipe."""
        self._console = console
        self._clock = clock
        self._running: str | None = None
        self._total = self._done = 0
        self._rate = _Rate(clock)
        self._last_line_s = 0.0

    def __enter__(self) -> ProgressLines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def said_of_models(self, text: str) -> None:
        self._console.print(clean(text), markup=False, highlight=False, soft_wrap=True)

    said_of_judge = said_of_cases = warned = said_of_models

    def variant_started(self, name: str) -> None:
        self._running = name
        self._total = self._done = 0
        self._rate = _Rate(self._clock)
        self._say(name, "starting")

    def heard(self, name: str, said: Said) -> None:
        match said:
            case Stage(text):
                self._say(name, text)
            case Planned(answers, done):
                self._total, self._done = answers, done
            case Step(tokens):
                self._rate.add(tokens)
            case Advanced(answers):
                self._done += answers
                if self._clock() - self._last_line_s >= _LINE_EVERY_S:
                    self._say(name, f"{self._done}/{self._total} answers, {units.rate(self._rate.add(0))}")
            case _:
                pass

    def variant_ended(self, name: str, ended: Ended) -> None:
        done = f"done, {self._done} answers" if name == self._running else "done before"
        self._say(name, done if ended.state == "complete" else f"{ended.state}: {ended.detail}")

    def _say(self, name: str, text: str) -> None:
        self._last_line_s = self._clock()
        self._console.print(clean(f"{name}: {text}"), markup=False, highlight=False, soft_wrap=True)


class _Rate:
    """Tokens a second since the first token."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tokens = 0
        self._started_s: float | None = None

    def add(self, tokens: int) -> float | None:
        now = self._clock()
        if self._started_s is None:
            self._started_s = now
        self._tokens += tokens
        elapsed = now - self._started_s
        return self._tokens / elapsed if elapsed > 0 else None


def watcher_for(console: Console) -> ProgressBars | ProgressLines:
    """Choose bars on a terminal and lines elsewhere."""
    return ProgressBars(console) if console.is_terminal else ProgressLines(console)
