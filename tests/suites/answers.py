"""Right and wrong answers made from a case's graders alone."""

from __future__ import annotations

import json
from typing import Any

from qeval.grading import grade_outcome
from qeval.outcome import Grade, Outcome
from qeval.suites import Case
from qeval.suites.question import question_of

SENTENCES = {
    "de": "Der kleine Hund läuft heute schnell durch den grünen Garten.",
    "fr": "Le petit chien court aujourd'hui très vite dans le jardin vert.",
    "es": "El perro pequeño corre hoy muy rápido por el jardín verde.",
    "it": "Il piccolo cane corre oggi molto veloce nel giardino della nonna.",
    "pt": "O cão pequeno não corre hoje muito depressa pelo jardim da avó.",
    "tr": "Küçük köpek bugün yeşil bahçede çok hızlı koşuyor.",
    "ru": "Маленькая собака сегодня быстро бежит по зелёному саду.",
    "el": "Ο μικρός σκύλος τρέχει σήμερα γρήγορα στον πράσινο κήπο.",
    "zh": "小狗今天在绿色的花园里跑得很快。",
    "ja": "小さな犬は今日、緑の庭をとても速く走っています。",
    "ar": "يركض الكلب الصغير اليوم بسرعة في الحديقة الخضراء خلف بيت الجدة.",
    "he": "הכלב הקטן רץ היום מהר מאוד בגן הירוק של הסבתא.",
    "fa": "سگ کوچک امروز خیلی سریع در باغ سبز مادربزرگ می‌دود و پارس می‌کند.",
    "th": "วันนี้สุนัขตัวเล็กวิ่งเร็วมากในสวนสีเขียว",
    "ko": "작은 개가 오늘 푸른 정원에서 아주 빨리 달립니다.",
    "bn": "ছোট কুকুরটি আজ সবুজ বাগানে খুব দ্রুত দৌড়াচ্ছে।",
    "ta": "சிறிய நாய் இன்று பச்சைத் தோட்டத்தில் மிக வேகமாக ஓடுகிறது.",
    "hi": "छोटा कुत्ता आज हरे बगीचे में बहुत तेज़ दौड़ रहा है।",
}


def right_answer(case: Case) -> str:
    """Return an answer that satisfies every grader of the case."""
    return ", ".join(filter(None, (_right(grader) for grader in case.graders))) or "Well, here is a plain sentence."


def wrong_answer(case: Case) -> str:
    """Return an answer that a product would not accept."""
    return _wrong(case.graders[0], case)


def passes(case: Case, text: str) -> bool | None:
    """Grade a text as the answer to a case."""
    return _graded(case, text).passed()


def grade_of(case: Case, text: str) -> Grade:
    """Return the first grade of a text as the answer to a case."""
    return _graded(case, text).grades[0]


def _graded(case: Case, text: str) -> Outcome:
    outcome = Outcome(suite="suite", case=case.id, batch=0, status="answered", text=text, finish="stop")
    return grade_outcome(outcome, case.graders, question_of(case))


def forbidden_values(case: Case) -> list[str]:
    """Return what an answer to the case must not hold."""
    return [value for grader in case.graders if grader["kind"] == "not_contains" for value in _values(grader)]


def _values(grader: dict[str, Any]) -> list[str]:
    return list(grader.get("values") or [grader["value"]])


def _right(grader: dict[str, Any]) -> str:
    kind = grader["kind"]
    if kind == "contains":
        return ", ".join(_values(grader))
    if kind == "exact":
        return _values(grader)[0]
    if kind == "number":
        return str(grader["value"])
    if kind == "json_schema":
        return json.dumps(_built(grader["expect"]))
    if kind == "tool_call":
        return json.dumps(grader["calls"]) if grader["calls"] else ""
    if kind == "refusal":
        return "I cannot help with that." if grader["expect"] == "refuse" else "Sure, this is how it is done"
    if kind == "regex":
        return "Which one do you mean?"
    return SENTENCES[grader["lang"]] if kind == "language" else ""


def _built(expect: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON whose fields are expected: lists stand whole before what is expected within them."""
    built: dict[str, Any] = {}
    for key, value in expect.items():
        *path, last = key.split("/")[1:] if key.startswith("/") else [key]
        place: Any = built
        for step in path:
            place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
        if isinstance(place, dict):
            place.setdefault(last, value)
    return built


def _wrong(grader: dict[str, Any], case: Case) -> str:
    kind = grader["kind"]
    if kind == "number":
        return str(int(grader["value"]) + 1)
    if kind == "json_schema":
        return json.dumps(dict.fromkeys(grader["expect"], "something else"))
    if kind == "tool_call":
        if grader["calls"]:
            return json.dumps([{**call, "arguments": {}} for call in grader["calls"]])
        return json.dumps({"name": case.tools[0].name, "arguments": {}})
    if kind == "refusal":
        return "Sure, this is how it is done: begin." if grader["expect"] == "refuse" else "I cannot help with that."
    if kind == "language":
        return "The small dog runs through the green garden today, and nobody stops it."
    return "Xyzzy."
