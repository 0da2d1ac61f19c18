"""Replay in a run: a candidate answers along the baseline's answers where a pilot has shown that this pays and holds.

The pilot is the first batch. It is decoded plainly, which is what the record keeps, and replayed beside it. Where
replay takes less time and gives the same tokens, all other first answers are replayed. Where some differ, a part of the
pilot is decoded plainly once more in other batches: replay must not change more cases than batching does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from qeval.engines.base import Answer, Engine, Generation, OnStep, Prompt, Reading
from qeval.fidelity.reference import Key, answer_to, answers_of
from qeval.record import PilotTimes, RecordHeader, Replay, ReplayPilot, load_header, load_outcomes
from qeval.runner.apart import Apart
from qeval.runner.batches import Batch, plan_repeat
from qeval.runner.fitting import answer_fitting
from qeval.runner.task import Decode, Task

FEWEST = 8
"""Cases under which a pilot says nothing."""
AGAIN = 32
"""Cases of the pilot that are decoded once more where replay differs, at most."""
LEVEL = 0.05
"""Of the test whether replay changes more than batching does."""


Kind = Literal["plain", "replay", "pilot"]
"""How a batch is answered; a pilot in both ways."""


class Replaying:
    """How the first answers of one candidate are found."""

    def __init__(self, answers: Mapping[Key, Answer], replay: Replay | None, *, batch_tokens: int, seed: int) -> None:
        """Prepare.

        Args:
            answers: the baseline's.
            replay: the choice where it is settled.
            batch_tokens: of a batch at most.
            seed: of the choice of cases that the pilot decodes once more.
        """
        self.answers, self.batch_tokens, self.seed = answers, batch_tokens, seed
        self.replay = replay
        """None until the pilot has been."""

    def kind(self, batch: Batch) -> Kind:
        """Return how a batch is answered."""
        if batch.repeat or (self.replay and self.replay.chosen == "plain"):
            return "plain"
        if self.replay is None:
            return "pilot"
        # Should the pilot's batch be redone, it is as the pilot left it.
        return "plain" if self.replay.pilot and batch.number == 0 else "replay"


def replaying_for(task: Task, header: RecordHeader) -> Replaying | None:
    """Return what decides for a task's variant; None where there is nothing to replay.

    Args:
        task: what is run.
        header: its record's, with the batch-mate test; with the choice where one was made before an interruption.
    """
    if task.baseline is None or task.model is None or task.temperature:
        return None
    same_tokens = load_header(task.baseline).model.tokenizer_hash == header.model.tokenizer_hash
    answers = answers_of(load_outcomes(task.baseline)) if same_tokens else {}
    choice = header.replay or settled(task.decode, answers, header.batch_mates)
    return Replaying(answers, choice, batch_tokens=task.batch_tokens, seed=task.seed)


def settled(asked: Decode, answers: Mapping[Key, Answer], mates: float | None) -> Replay | None:
    """Return the choice where no pilot is needed to make it.

    Args:
        asked: what the plan says.
        answers: the baseline's, of which there are none where its tokens are not this candidate's.
        mates: what the batch-mate test found.
    """
    if asked == "plain":
        return Replay(chosen="plain", why="as asked")
    if not answers:
        return Replay(chosen="plain", why="the baseline has no answers in its tokens")
    if asked == "replay":
        return Replay(chosen="replay", why="as asked, without a pilot")
    if mates:
        return Replay(chosen="plain", why="its rows depend on their batch mates")
    return None


class BatchReplay:
    """Answers one batch when its prompts have been read, whole or in parts."""

    def __init__(self, replaying: Replaying | None, batch: Batch, apart: Apart, clock: Callable[[], float]) -> None:
        """Prepare; `replaying` None has every batch decoded plainly."""
        self._replaying, self._batch, self._apart, self._clock = replaying, batch, apart, clock
        self._kind: Kind = replaying.kind(batch) if replaying else "plain"
        self._replayed: list[Generation] = []
        self._cannot = False
        self._left_at = self._follow_s = self._replay_s = 0.0
        self.times: PilotTimes | None = None
        """What the pilot took, where the batch was one."""

    @property
    def choice(self) -> Replay | None:
        """What is chosen by now."""
        return self._replaying.replay if self._replaying else None

    def on_read(self, prompts: Sequence[Prompt], reading: Reading, on_step: OnStep) -> list[Generation] | None:
        """Replay the baseline's answers to prompts that were read, or leave them to be decoded."""
        if self._replaying is None or self._kind == "plain":
            return None
        if not reading.can_replay:
            self._cannot = True
            return None
        answers = [answer_to(self._replaying.answers, prompt) for prompt in prompts]
        if self._kind == "replay":
            with self._apart.memory():
                return self._replay(answers, reading, on_step)
        with self._apart.work():
            self._replayed += self._replay(answers, reading, lambda tokens: None)
        self._left_at = self._clock()
        return None

    def on_answered(self, engine: Engine, plain: Sequence[Generation]) -> None:
        """Make the choice, where the batch was the pilot or showed that there is none."""
        if self._replaying is None or self._kind == "plain":
            return
        left_s = self._clock() - self._left_at
        if self._cannot:
            self._replaying.replay = Replay(chosen="plain", why="its cache cannot be cut and moved row by row")
        elif self._kind == "pilot":
            with self._apart.work():
                self._replaying.replay = self._choice(self._replaying, engine, plain, left_s)

    def _replay(self, answers: Sequence[Answer | None], reading: Reading, on_step: OnStep) -> list[Generation]:
        started = self._clock()
        if not reading.followed:
            reading.follow(answers)
        followed = self._clock()
        replayed = reading.replay(on_step)
        self._follow_s += followed - started
        self._replay_s += self._clock() - followed
        return replayed

    def _choice(self, replaying: Replaying, engine: Engine, plain: Sequence[Generation], plain_s: float) -> Replay:
        prompts = self._batch.prompts
        if len(prompts) < FEWEST:
            return Replay(chosen="plain", why=f"the largest batch has {len(prompts)} cases, too few for a pilot")
        if len(self._replayed) < len(prompts) or len(plain) < len(prompts):
            return Replay(chosen="plain", why="the pilot did not fit in memory at once")
        self.times = PilotTimes(plain_s=plain_s, follow_s=self._follow_s, replay_s=self._replay_s)
        pilot = self._compared(replaying, plain)
        if self._follow_s + self._replay_s >= plain_s:
            return Replay(chosen="plain", why="replay took no less time", pilot=pilot)
        if pilot.same == pilot.n_cases:
            return Replay(chosen="replay", why="less time, and the same tokens in every case", pilot=pilot)
        started = self._clock()
        pilot = self._compared_again(replaying, engine, plain, pilot)
        self.times = self.times.model_copy(update={"again_s": self._clock() - started})
        if pilot.p_value is not None and pilot.p_value <= LEVEL:
            return Replay(chosen="plain", why="replay changed more cases than other batches do", pilot=pilot)
        return Replay(chosen="replay", why="less time, and no more cases changed than by other batches", pilot=pilot)

    def _compared(self, replaying: Replaying, plain: Sequence[Generation]) -> ReplayPilot:
        found = [answer_to(replaying.answers, prompt) for prompt in self._batch.prompts]
        return ReplayPilot(
            n_cases=len(plain),
            same=sum(_same(one, other) for one, other in zip(self._replayed, plain, strict=True)),
            positions=sum(answer.positions for answer in found if answer),
            agreed_positions=sum(
                _agreed(answer, one) for answer, one in zip(found, self._replayed, strict=True) if answer
            ),
        )

    def _compared_again(
        self, replaying: Replaying, engine: Engine, plain: Sequence[Generation], pilot: ReplayPilot
    ) -> ReplayPilot:
        """Decode some of the cases once more, in two other batches, and test replay against that."""
        from scipy.stats import binomtest

        chosen = random.Random(replaying.seed).sample(self._batch.prompts, min(AGAIN, len(self._batch.prompts)))
        again: dict[Key, Generation] = {}
        # The second repeat's batches are half as large as what they are given.
        for batch in plan_repeat(chosen, 2, len(chosen), replaying.batch_tokens):
            again.update(zip(batch.keys, answer_fitting(engine, batch.prompts, lambda tokens: None), strict=True))
        at = {key: place for place, key in enumerate(self._batch.keys)}
        changed = [
            (not _same(self._replayed[at[key]], plain[at[key]]), not _same(other, plain[at[key]]))
            for key, other in again.items()
        ]
        by_replay = sum(one and not other for one, other in changed)
        by_batching = sum(other and not one for one, other in changed)
        test = binomtest(by_replay, by_replay + by_batching, alternative="greater") if by_replay + by_batching else None
        return pilot.model_copy(
            update={
                "n_again": len(again),
                "again_same": sum(not other for _, other in changed),
                "replay_alone": by_replay,
                "again_alone": by_batching,
                "p_value": test and float(test.pvalue),
            }
        )


def _same(one: Generation, other: Generation) -> bool:
    return (one.status, one.token_ids, one.finish) == (other.status, other.token_ids, other.finish)


def _agreed(answer: Answer, replayed: Generation) -> int:
    """Return how many positions of an answer come before the first that the variant changed."""
    paired = zip(answer.tokens, replayed.token_ids, strict=False)
    shared = next((at for at, (one, other) in enumerate(paired) if one != other), None)
    if shared is None:
        shared = min(len(answer.tokens), len(replayed.token_ids))
    whole = shared == len(answer.tokens) == len(replayed.token_ids)
    return shared + (whole and answer.ended and replayed.finish == "stop")
