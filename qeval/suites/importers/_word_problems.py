"""Arithmetic word problems whose answer is one number: what MGSM and GSM8K share."""

from __future__ import annotations

from typing import Any

from qeval.grading._numbers import read_numbers
from qeval.suites.check import Answered, RawCase
from qeval.suites.importers.base import Dropped

MAX_NEW_TOKENS = 512
INSTRUCTIONS = {
    "bn": "ধাপে ধাপে সমাধান করো। শেষ লাইনে শুধু চূড়ান্ত সংখ্যাটি লেখো।",
    "de": "Rechne Schritt für Schritt. Schreibe in die letzte Zeile nur die Zahl der Antwort.",
    "en": "Work step by step. Write only the final number on the last line.",
    "es": "Resuelve paso a paso. Escribe en la última línea solo el número final.",
    "fr": "Procède étape par étape. Écris sur la dernière ligne uniquement le nombre final.",
    "ja": "順を追って計算し、最後の行に答えの数字だけを書いてください。",
    "ru": "Решай по шагам. В последней строке напиши только число, которое является ответом.",
    "sw": "Tatua hatua kwa hatua. Andika nambari ya mwisho pekee kwenye mstari wa mwisho.",
    "te": "దశలవారీగా పరిష్కరించండి. చివరి పంక్తిలో తుది సంఖ్యను మాత్రమే రాయండి.",
    "th": "คิดทีละขั้นตอน แล้วเขียนเฉพาะตัวเลขคำตอบในบรรทัดสุดท้าย",
    "zh": "请一步一步地计算，并在最后一行只写出最终的数字。",
}
"""What is asked for after a problem, in its own language; written for qeval. Other languages get the problem alone."""
NOTE = (
    "After each problem stands one line in its language that asks for steps and for the number alone on the last line; "
    "the last number of the answer counts."
)


def problem(  # noqa: PLR0917 - one row's parts
    where: str, question: str, gold: str, lang: str, rest: dict[str, Any], worked: str | None = None
) -> RawCase | Dropped:
    """Return the case of one problem.

    Args:
        where: file and line.
        question: the problem as the source has it.
        gold: its answer, a number as the source writes it ("2,125").
        lang: BCP 47 language.
        rest: id, cluster and whatever else the source tells.
        worked: the source's own answer with its steps; None: there is none. The gold number alone is in English style,
            whatever the language, so that it is no answer to grade.
    """
    if not question.strip():
        return Dropped(where, "the question is empty")
    if len(read_numbers(gold, "en")) != 1:
        return Dropped(where, "the gold answer is not one number", gold)
    prompt = "\n\n".join(filter(None, [question.strip(), INSTRUCTIONS.get(lang)]))
    grader = {"kind": "number", "value": gold.strip(), "which": "last"}
    raw = {**rest, "prompt": prompt, "graders": [grader], "tags": {"lang": lang}}
    return RawCase(where, raw, Answered(worked) if worked is not None else None)
