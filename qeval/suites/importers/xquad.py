"""XQuAD, and any set in the form of SQuAD 1.1: a text, a question, the words that answer it.

Artetxe et al. 2020, arXiv:1910.11856; Rajpurkar et al. 2016, arXiv:1606.05250.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from qeval.errors import UsageError
from qeval.jsonl import loads, read_text
from qeval.suites.check import Answered, RawCase
from qeval.suites.importers._languages import by_language
from qeval.suites.importers._origin import files_of, licence_of
from qeval.suites.importers.base import Dropped, Reading, Wanted, made_or_dropped

SOURCE = "a file xquad.<lang>.json in the form of SQuAD 1.1, or a folder of them"
TAKES = frozenset({"lang", "grader"})
_ALLOWED = ({"kind": "exact"}, {"kind": "contains"})
_INSTRUCTIONS = {
    "ar": "أجب بأقصر عبارة من النص تحوي الجواب، ولا شيء غيرها.",
    "de": "Antworte nur mit den kürzesten Worten des Textes, die die Antwort enthalten.",
    "el": "Απάντησε μόνο με τις λιγότερες λέξεις του κειμένου που δίνουν την απάντηση.",
    "en": "Answer only with the fewest words of the text that hold the answer.",
    "es": "Responde solo con las mínimas palabras del texto que contienen la respuesta.",
    "hi": "केवल पाठ के उन सबसे कम शब्दों में उत्तर दें जिनमें उत्तर है।",
    "ro": "Răspunde numai cu cele mai puține cuvinte din text care conțin răspunsul.",
    "ru": "Ответь только теми немногими словами текста, в которых есть ответ.",
    "th": "ตอบด้วยถ้อยคำสั้นที่สุดจากข้อความที่มีคำตอบเท่านั้น",
    "tr": "Yalnızca metinde yanıtı içeren en kısa sözcüklerle yanıt ver.",
    "vi": "Chỉ trả lời bằng ít từ nhất trong văn bản có chứa câu trả lời.",
    "zh": "只用原文中包含答案的最短词语回答。",
}


def read(wanted: Wanted) -> Reading:
    """Read questions; those about one paragraph, in every language, are one cluster.

    Raises:
        UsageError: no such file, or `--grader` is another than exact or contains.
    """
    grader = dict(wanted.grader or {"kind": "exact"})
    if grader not in _ALLOWED:
        raise UsageError(f"--grader {grader}: allowed with xquad are exact (the default) and contains.")
    files = by_language(files_of(wanted.source, "*.json", SOURCE), r"\.([\w-]+)\.json$", wanted.lang)
    return Reading(
        _rows(files, grader["kind"]),
        description="Questions about a paragraph, answered in its own words, in several languages (XQuAD).",
        max_new_tokens=64,
        licence=licence_of(wanted.source),
        notes=(
            "Before each text stands one line in its language that asks for the fewest words of the text.",
            "A cluster is one paragraph with its translations, told by its questions' ids.",
        ),
    )


def _rows(files: Sequence[tuple[str, Path]], kind: str) -> Iterator[RawCase | Dropped]:
    for lang, path in files:
        for number, paragraph in enumerate(_paragraphs(path), start=1):
            where = f"{path.name}, paragraph {number}"
            context, questions = paragraph.get("context"), _mappings(paragraph.get("qas"))
            if not isinstance(context, str) or questions is None:
                yield Dropped(where, "a paragraph without 'context' and 'qas'")
                continue
            cluster = min((str(question.get("id")) for question in questions), default="")
            for question in questions:
                place = f"{where}, question {question.get('id')}"
                rest = {"id": f"{lang}-{question.get('id')}", "cluster": f"paragraph-{cluster}"}
                yield made_or_dropped(place, _case, place, context, question, lang, kind, rest)


def _mappings(value: object) -> list[Mapping[str, Any]] | None:
    """Return a list of objects, or None where the value is none."""
    return value if isinstance(value, list) and all(isinstance(item, Mapping) for item in value) else None


def _paragraphs(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        content = loads(read_text(path))
    except ValueError as error:
        raise UsageError(f"{path}: not JSON ({error}).") from error
    articles = content.get("data") if isinstance(content, dict) else None
    if not isinstance(articles, list):
        raise UsageError(f"{path}: has no list under 'data', so it is not in the form of SQuAD 1.1. Give {SOURCE}.")
    for article in articles:
        paragraphs = _mappings(article.get("paragraphs", [])) if isinstance(article, Mapping) else None
        # What is no article with paragraphs is counted as one paragraph that cannot be read.
        yield from [{}] if paragraphs is None else paragraphs


def _case(  # noqa: PLR0917 - one row's parts
    where: str, context: str, question: Mapping[str, Any], lang: str, kind: str, rest: dict[str, Any]
) -> RawCase | Dropped:
    texts = [str(answer.get("text", "")) for answer in question.get("answers") or ()]
    golds = list(dict.fromkeys(text for text in texts if text.strip()))
    if not golds:
        return Dropped(where, "no gold answer in the text (SQuAD 2.0 marks such questions impossible)")
    instruction = _INSTRUCTIONS.get(lang, _INSTRUCTIONS["en"])
    prompt = f"{instruction}\n\n{context.strip()}\n\n{str(question.get('question', '')).strip()}"
    grader: dict[str, Any] = {"kind": kind, "values": golds}
    if kind == "contains":
        grader["all"] = False
    raw = {**rest, "prompt": prompt, "graders": [grader], "tags": {"lang": lang}}
    return RawCase(where, raw, Answered(golds[0]))
