"""Outcome and Grade: what a variant produced for a case, and what a grader says of it.

Two kinds of trouble are never mixed. A *failed answer* says something about the model and stays in the
pairs as a fail with its class. *No answer* says nothing about the model: its grade is ungraded, and the case
is counted by class, never scored.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from qeval.chat import ToolCall
from qeval.marks import split_said, without
from qeval.strict import Strict
from qeval.text_kinds import ModelText, Name, Own

NoAnswer = Literal[
    "over_context",
    "prompt_cut",
    "endpoint_error",
    "out_of_memory",
    "timeout",
    "crashed",
    "numeric_error",
    "unsupported",
]
FailedAnswer = Literal["empty", "truncated", "truncated_in_reasoning", "malformed_call", "degenerate", "refused"]
Status = Literal["answered"] | NoAnswer
Finish = Literal["stop", "length", "content_filter"]

NO_ANSWER_CLASSES: tuple[str, ...] = get_args(NoAnswer)
FAILED_ANSWER_CLASSES: tuple[str, ...] = get_args(FailedAnswer)
SCORE_SUFFIX = " score"
"""Of the names of metrics that are a grader's partial credit."""


class Grade(Strict):
    """One grader's judgement of one outcome."""

    metric: Name
    """The grader's own metric, such as `contains`, `schema_valid`, `strict_json`, `language`."""
    status: Literal["pass", "fail", "ungraded"]
    required: bool = True
    """Whether `pass` of the case depends on this grade; others are reported beside it."""
    fault: Own | None = None
    """The class of a fail, such as `wrong_value`, or of an ungraded case, such as `timeout`."""
    reason: ModelText = ""
    score: Annotated[float, Field(ge=0, le=1)] | None = None
    """Partial credit in [0, 1] where the grader has it."""


class Outcome(Strict):
    """What a variant produced for one case and repeat, with its grades.

    `status` is `answered`, or the named class of having no answer. `failure` names a failed answer that was
    recognised before grading (empty, cut at the limit, looping); what is there is graded all the same.
    """

    suite: Name
    case: Name
    repeat: int = Field(default=0, ge=0)
    batch: int = Field(ge=0)
    """Index of the batch it ran in, within its repeat: the unit that is redone after a crash."""
    status: Status
    detail: ModelText = ""
    """For no answer: what happened, where known, such as the position of the first NaN. For an answer: how much of its
    prompt was cut, where any was."""
    failure: FailedAnswer | None = None
    text: ModelText = ""
    """What the model said, with its thoughts and special tokens, up to and without its end token. Graders read it
    through `qeval.grading.base.answer_of`, people through `visible`."""
    special: tuple[ModelText, ...] | None = None
    """The special tokens in `text`; None where they are not known: an endpoint, or a record that kept none."""
    opened: ModelText | None = None
    """The mark by which the prompt opened a thought, so that `text` begins within it; empty: none; None: not known."""
    thought: ModelText | None = None
    """What the model thought before it answered, without marks; None where it did not think."""
    token_ids: tuple[int, ...] = ()
    """The generated tokens up to and without the end token, or with the one that completed a stop text."""
    tool_calls: tuple[ToolCall, ...] | None = None
    """Calls an engine returned apart from the text; None where the engine returns text alone."""
    finish: Finish | None = None
    prompt_tokens: int | None = Field(default=None, ge=0)
    prompt_hash: Own | None = None
    """sha256 over the prompt's token ids; equal hashes prove that two variants read the same."""
    grades: tuple[Grade, ...] = ()

    @model_validator(mode="after")
    def _no_answer_has_no_content(self) -> Outcome:
        if self.status != "answered" and any(grade.status != "ungraded" for grade in self.grades):
            raise ValueError(f"status {self.status} is no answer: its grades must be ungraded")
        return self

    @property
    def visible(self) -> str:
        """The answer as people read it: without thoughts and special tokens."""
        return without(split_said(self.text, self.opened or "", self.special).answer, self.special or ())

    @property
    def answered(self) -> bool:
        """Whether there is an answer to grade."""
        return self.status == "answered"

    def passed(self, metric: str = "pass") -> bool | None:
        """Return pass or fail on a metric, or None where it is ungraded.

        `pass` is true when every required grade passes; any other name is one grader's own metric.
        """
        chosen = [g for g in self.grades if (g.required if metric == "pass" else g.metric == metric)]
        if not self.answered or not chosen or any(grade.status == "ungraded" for grade in chosen):
            return None
        return all(grade.status == "pass" for grade in chosen)

    def value(self, metric: str = "pass") -> float | None:
        """Return a metric as a number in [0, 1], or None where it is ungraded.

        1 or 0 for pass or fail. `<grader> score` is the partial credit that a grader gives beside its pass or fail.
        """
        if not metric.endswith(SCORE_SUFFIX):
            passed = self.passed(metric)
            return None if passed is None else int(passed)
        if self.passed(metric.removesuffix(SCORE_SUFFIX)) is None:
            return None
        scores = [g.score for g in self.grades if f"{g.metric}{SCORE_SUFFIX}" == metric and g.score is not None]
        return sum(scores) / len(scores) if scores else None
