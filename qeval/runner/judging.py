"""Ask the judge about answers whose case carries a rubric, once all variants have answered, and fill in its grades.

Every request and reply is a line of the record's `judgements.jsonl`, written as it comes; a resumed run asks only what
has no reply yet. Equal requests are asked once a run: where a candidate's answer is the baseline's in every letter, so
is its grade, and a judge in two minds cannot make a flip of it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from qeval import units
from qeval.grading import check_grader
from qeval.grading._grades import ungraded
from qeval.grading._judge_prompt import (
    MAX_TOKENS,
    PROMPT_DIGEST,
    SEED,
    TEMPERATURE,
    judge_request,
    read_reply,
)
from qeval.grading.base import Answer, Question, answer_of
from qeval.grading.judge import JUDGE_OFF, METRIC, Options, grade, judge_grades, tally
from qeval.jsonl import dumps
from qeval.outcome import Grade, Outcome
from qeval.record import (
    JUDGEMENTS_FILE,
    OUTCOMES_FILE,
    JudgeCost,
    JudgeInfo,
    RecordHeader,
    add_lines,
    load_header,
    load_outcomes,
    save_header,
    save_lines,
    seal,
)
from qeval.runner.judge_endpoint import Endpoint, Reply, ask
from qeval.runner.judgements import Judgement, cost_of, load_judgements
from qeval.suites.case import Case, Suite

_AT_ONCE = 4
_GIVE_UP_AFTER = 8
"""Failed requests in a row, each after its retries."""
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})

Tell = Callable[[str], None]
Cases = Mapping[tuple[str, str], Case]
"""By suite and case id."""


class _Wanted(NamedTuple):
    """A grade that waits for the judge."""

    outcome: Outcome
    at: int
    """Its place among the outcome's judge grades."""
    options: Options
    answer: Answer
    body: dict[str, Any]
    request: str


def judge_records(folders: Sequence[Path], suites: Sequence[Suite], model: str, endpoint: Endpoint, tell: Tell) -> None:
    """Fill in the judge's grades of records, the baseline's first; what gets no reply stays ungraded with its class."""
    cases = {(suite.name, case.id): case for suite in suites for case in suite.cases}
    if not any(_judges(case) for case in cases.values()):
        tell("judge: no case has a rubric, so it is not asked")
        return
    stored = [one for folder in folders for one in load_judgements(folder)]
    known = {one.request: one for one in stored if one.fault is None}
    asker = _Asker(endpoint)
    for folder in folders:
        tell(f"{folder.name}: asking the judge")
        tell(_judge_record(folder, cases, model, asker, known))


def _judge_record(folder: Path, cases: Cases, model: str, asker: _Asker, known: dict[str, Judgement]) -> str:
    """Judge one record and say in a line what came of it; `known` gains its replies."""
    header, outcomes = load_header(folder), load_outcomes(folder)
    path = folder / JUDGEMENTS_FILE
    before = load_judgements(folder)
    # From here until the grades are in place the files are not those that the header was sealed with.
    save_header(folder, header.model_copy(update={"content": None}))
    if before:
        # Without the torn last line that a crash may have left, which the next line would be added to.
        save_lines(path, before)
    wanted = [one for outcome in outcomes for one in _wanted(outcome, cases[outcome.suite, outcome.case], model)]
    failed = _ask_missing(wanted, known, path, asker)
    _write_reused(wanted, known, folder)
    found = {one.request: known.get(one.request) or failed[one.request] for one in wanted}
    graded = _graded(outcomes, wanted, found)
    cost = cost_of(load_judgements(folder))
    _save(folder, header, graded, _info(model, asker.endpoint, found.values()), cost)
    return f"{header.variant}: judge, {_summary(graded, cost)}"


def _judges(case: Case) -> list[Options]:
    """Return the options of a case's judge graders."""
    specs = (check_grader(spec, f"case {case.id}") for spec in case.graders if spec["kind"] == METRIC)
    return [options for _, options in specs if isinstance(options, Options)]


def _wanted(outcome: Outcome, case: Case, model: str) -> Iterator[_Wanted]:
    if not outcome.answered:
        return
    for at, options in enumerate(_judges(case)):
        answer = answer_of(outcome)
        if grade(options, answer, Question())[0].fault == JUDGE_OFF:
            body = judge_request(model, case.messages, options, answer)
            yield _Wanted(outcome, at, options, answer, body, hashlib.sha256(dumps(body).encode()).hexdigest())


def _ask_missing(
    wanted: Sequence[_Wanted], known: dict[str, Judgement], path: Path, asker: _Asker
) -> dict[str, Judgement]:
    """Ask each request without a reply once, add the replies to `known`, and return those that failed."""
    missing = list({one.request: one for one in wanted if one.request not in known}.values())
    failed: dict[str, Judgement] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for one, reply in zip(missing, pool.map(asker, [one.body for one in missing]), strict=True):
            judgement = _judgement(one, reply)
            if reply.attempts:
                add_lines(path, [judgement])
            (known if reply.fault is None else failed)[one.request] = judgement
    return failed


def _judgement(one: _Wanted, reply: Reply) -> Judgement:
    return Judgement(
        suite=one.outcome.suite,
        case=one.outcome.case,
        repeat=one.outcome.repeat,
        request=one.request,
        fault=reply.fault,
        detail=reply.detail,
        reply=reply.text,
        served=reply.served,
        attempts=reply.attempts,
        latency_s=reply.latency_s,
        prompt_tokens=reply.prompt_tokens,
        answer_tokens=reply.answer_tokens,
    )


def _write_reused(wanted: Sequence[_Wanted], known: Mapping[str, Judgement], folder: Path) -> None:
    """Write a line for every grade that an equal request has answered, so that each record holds all its replies."""
    held = {(one.suite, one.case, one.repeat, one.request) for one in load_judgements(folder) if one.fault is None}
    nothing = {"attempts": 0, "latency_s": None, "prompt_tokens": None, "answer_tokens": None}
    copies = []
    for one in wanted:
        key = (one.outcome.suite, one.outcome.case, one.outcome.repeat, one.request)
        if one.request in known and key not in held:
            place = {"suite": key[0], "case": key[1], "repeat": key[2]}
            copies.append(known[one.request].model_copy(update={**place, **nothing}))
    add_lines(folder / JUDGEMENTS_FILE, copies)


def _graded(outcomes: Sequence[Outcome], wanted: Sequence[_Wanted], found: Mapping[str, Judgement]) -> list[Outcome]:
    """Return the outcomes with the judge's grades in their places."""
    grades = {
        (one.outcome.suite, one.outcome.case, one.outcome.repeat, one.at): _grade(one, found[one.request])
        for one in wanted
    }
    filled = []
    for outcome in outcomes:
        at = count()
        key = (outcome.suite, outcome.case, outcome.repeat)
        changed = tuple(grades.get((*key, next(at)), g) if g.metric == METRIC else g for g in outcome.grades)
        filled.append(outcome.model_copy(update={"grades": changed}))
    return filled


def _grade(one: _Wanted, judgement: Judgement) -> Grade:
    if judgement.fault is not None:
        return ungraded(METRIC, judgement.fault, judgement.detail, required=one.options.required)
    return read_reply(judgement.reply, one.options, one.answer)


def _info(model: str, endpoint: Endpoint, judgements: Iterable[Judgement]) -> JudgeInfo:
    return JudgeInfo(
        model=model,
        served=tuple(sorted({one.served for one in judgements if one.served})),
        prompt=PROMPT_DIGEST,
        endpoint="local" if urlsplit(endpoint.url).hostname in _LOCAL else "remote",
        temperature=TEMPERATURE,
        seed=SEED,
        max_tokens=MAX_TOKENS,
    )


def _save(folder: Path, header: RecordHeader, outcomes: Sequence[Outcome], info: JudgeInfo, cost: JudgeCost) -> None:
    # In this order a crash leaves grades without a judge, which compare with nothing; never with another's name.
    if header.judge not in (None, info):
        save_header(folder, header.model_copy(update={"judge": None, "content": None}))
    save_lines(folder / OUTCOMES_FILE, outcomes)
    measurements = header.measurements.model_copy(update={"judge": cost})
    judged = header.model_copy(update={"judge": info, "measurements": measurements})
    (seal if header.state == "complete" else save_header)(folder, judged)


def _summary(outcomes: Sequence[Outcome], cost: JudgeCost) -> str:
    if not cost.requests:
        return f"{tally(judge_grades(outcomes))}; no request was needed"
    uncounted = f" ({cost.uncounted} requests not counted by the endpoint)" if cost.uncounted else ""
    return (
        f"{tally(judge_grades(outcomes))}; {cost.requests} requests, median {units.duration(cost.median_latency_s)}, "
        f"{cost.prompt_tokens} prompt and {cost.answer_tokens} answer tokens{uncounted}"
    )


class _Asker:
    """Asks the endpoint, until so many requests in a row fail that the rest would only cost time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._failed: list[Reply] = []
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            if len(self._failed) >= _GIVE_UP_AFTER:
                last = self._failed[-1]
                said = f"not asked, since {_GIVE_UP_AFTER} requests in a row had failed; the last: {last.detail}"
                return Reply(fault=last.fault, detail=said)
        reply = ask(self.endpoint, body)
        with self._lock:
            self._failed = [*self._failed, reply] if reply.fault else []
        return reply
