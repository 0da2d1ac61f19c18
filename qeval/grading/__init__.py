"""Graders: pure functions from an answer to grades, one file each; the folder is the registry.

A grader module `qeval/grading/<kind>.py` holds two names:

* `Options`, a `Strict` type with what a suite may write under the grader's kind;
* `grade(options, answer, question) -> tuple[Grade, ...]`;

and where its metrics are not its name alone, `metrics(options)`: the name of each, and whether it is required.

A case lists its graders as `{"kind": "contains", ...options}`. Everything is checked when a suite is loaded,
before any model is.
"""

from qeval.grading.base import Answer, Question, check_grader, grade_outcome, grader_kinds

__all__ = ["Answer", "Question", "check_grader", "grade_outcome", "grader_kinds"]
