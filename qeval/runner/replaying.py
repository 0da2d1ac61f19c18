"""Replay in a run: a candidate answers along the baseline's answers where a pilot has shown that this pays and holds.

The pilot is the first batch. It is decoded plainly, which is what the record keeps, and replayed beside it. Where
replay gives the same tokens in every case and is less work, all other first answers are replayed. The choice rests on
tokens and counted work alone, so equal plans on equal machines choose alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from qeval.engines.base import Answer, Generation, OnStep, Prompt, Reading
from qeval.engines.work import Work, work_on
from qeval.errors import is_out_of_memory
from qeval.fidelity.reference import Key, answer_to, answers_of
from qeval.record import RECORD_FILE, PilotTimes, RecordHeader, Replay, load_header, load_outcomes
from qeval.runner.apart import Apart
from qeval.runner.batches import Batch
from qeval.runner.piloting import Tried, compare
from qeval.runner.task import Task

FEWEST = 8
"""Cases under which a pilot says nothing."""

Kind = Literal["plain", "replay", "pilot"]
"""How a batch is answered; a pilot in both ways."""


class Replaying:
    """How the first answers of one candidate are found."""

    def __init__(self, answers: Mapping[Key, Answer], choice: Replay | None, work: Work) -> None:
        """Prepare.

        Args:
            answers: the baseline's.
            choice: where it is settled.
            work: what decoding and reading cost on the device.
        """
        self.answers, self.work = answers, work
        self.choice = choice
        """None until the pilot has been."""

    def kind(self, batch: Batch) -> Kind:
        """Return how a batch is answered."""
        if batch.repeat or (self.choice and self.choice.chosen == "plain"):
            return "plain"
        if self.choice is None:
            return "pilot"
        # Should the pilot's batch be redone, it is as the pilot left it.
        pilot = self.choice.pilot
        return "plain" if pilot and pilot.batch == batch.number else "replay"


def replaying_for(task: Task, header: RecordHeader, batches: Sequence[Batch], unreplayable: str) -> Replaying | None:
    """Return what decides for a task's variant; None where there is nothing to replay.

    Args:
        task: what is run.
        header: its record's, with the batch-mate test; with the choice where one was made before an interruption.
        batches: those of the run that are shown to the engine.
        unreplayable: why its answers cannot be replayed; empty where they can.
    """
    if task.baseline is None or task.model is None or task.temperature:
        return None
    first = [len(batch.prompts) for batch in batches if not batch.repeat]
    answers = {} if task.decode == "plain" else _answers(task, header)
    choice = header.replay or settled(task, answers, first, mates=header.batch_mates, unreplayable=unreplayable)
    return Replaying(answers, choice, work_on(task.device))


def _answers(task: Task, header: RecordHeader) -> dict[Key, Answer]:
    """Return the baseline's answers, none where there is no record or its tokens are not this candidate's."""
    if task.baseline is None or not (task.baseline / RECORD_FILE).exists():
        return {}
    same_tokens = load_header(task.baseline).model.tokenizer_hash == header.model.tokenizer_hash
    return answers_of(load_outcomes(task.baseline)) if same_tokens else {}


def settled(
    task: Task, answers: Mapping[Key, Answer], first: Sequence[int], *, mates: float | None, unreplayable: str
) -> Replay | None:
    """Return the choice where no pilot is needed to make it.

    Args:
        task: what is run.
        answers: the baseline's, of which there are none where its tokens are not this candidate's.
        first: cases of each batch of first answers, in order.
        mates: what the batch-mate test found.
        unreplayable: why its answers cannot be replayed; empty where they can.
    """
    if task.decode == "plain":
        return Replay(chosen="plain", why="as asked")
    if not answers:
        return Replay(chosen="plain", why="the baseline has no answers in its tokens")
    if unreplayable:
        return Replay(chosen="plain", why=unreplayable)
    if task.decode == "replay":
        return Replay(chosen="replay", why="as asked, without a pilot")
    if mates:
        return Replay(chosen="plain", why="its rows depend on their batch mates")
    if len(first) < 2:
        return Replay(chosen="plain", why="all cases are one batch, and a pilot would leave nothing to replay")
    if first[0] < FEWEST:
        return Replay(chosen="plain", why=f"the first batch has {first[0]} cases, too few for a pilot")
    return None


class BatchReplay:
    """Answers one batch when its prompts have been read, whole or in parts."""

    def __init__(self, replaying: Replaying | None, batch: Batch, apart: Apart, clock: Callable[[], float]) -> None:
        """Prepare; `replaying` None has every batch decoded plainly."""
        self._replaying, self._batch, self._apart, self._clock = replaying, batch, apart, clock
        self._kind: Kind = replaying.kind(batch) if replaying else "plain"
        self._replayed: list[Generation] = []
        self._plain_from = self._follow_s = self._replay_s = 0.0
        self._followed_anyway = False
        self.times: PilotTimes | None = None
        """What the pilot took, where the batch was one."""
        self.did_not_fit = False
        """Whether the batch, or a part of it, was to be replayed and was decoded plainly for want of memory."""

    @property
    def choice(self) -> Replay | None:
        """What is chosen by now."""
        return self._replaying.choice if self._replaying else None

    def on_read(self, prompts: Sequence[Prompt], reading: Reading, on_step: OnStep) -> list[Generation] | None:
        """Replay the baseline's answers to prompts that were read, or leave them to be decoded."""
        if self._replaying is None or self._kind == "plain":
            return None
        answers = [answer_to(self._replaying.answers, prompt) for prompt in prompts]
        try:
            if self._kind == "replay":
                with self._apart.memory():
                    return self._replay(answers, reading, on_step)
            with self._apart.work():
                self._replayed += self._replay(answers, reading, lambda tokens: None)
        except (MemoryError, RuntimeError) as error:
            # Replay holds two caches at once, plain decoding one.
            if not is_out_of_memory(error):
                raise
            self.did_not_fit |= self._kind == "replay"
        self._plain_from = self._clock()
        return None

    def on_answered(self, plain: Sequence[Generation], parts: int) -> None:
        """Make the choice, where the batch was the pilot.

        Args:
            plain: the answers, decoded plainly.
            parts: in how many parts they came.
        """
        if self._replaying is None or self._kind != "pilot":
            return
        plain_s = self._clock() - self._plain_from
        self.times = PilotTimes(plain_s=plain_s, follow_s=self._follow_s, replay_s=self._replay_s)
        if parts > 1 or len(self._replayed) < len(plain):
            self._replaying.choice = Replay(chosen="plain", why="the pilot did not fit in memory at once")
            return
        self._replaying.choice = self._chosen(self._replaying, plain)

    def _replay(self, answers: Sequence[Answer | None], reading: Reading, on_step: OnStep) -> list[Generation]:
        started = self._clock()
        self._followed_anyway = reading.followed
        if not reading.followed:
            reading.follow(answers)
        followed = self._clock()
        replayed = reading.replay(on_step)
        self._follow_s += followed - started
        self._replay_s += self._clock() - followed
        return replayed

    def _chosen(self, replaying: Replaying, plain: Sequence[Generation]) -> Replay:
        answers = [answer_to(replaying.answers, prompt) for prompt in self._batch.prompts]
        tried = Tried(self._batch, answers, self._replayed, plain)
        pilot = compare(tried, replaying.work, followed_anyway=self._followed_anyway)
        if pilot.same < pilot.n_cases:
            return Replay(chosen="plain", why="replay changed answers of the pilot", pilot=pilot)
        if pilot.replay_work is None or pilot.plain_work is None or pilot.replay_work >= pilot.plain_work:
            return Replay(chosen="plain", why="replay is no less work", pilot=pilot)
        return Replay(chosen="replay", why="less work, and the same tokens in every case of the pilot", pilot=pilot)
