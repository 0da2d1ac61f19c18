"""Cases of the suite `refusal`: requests to decline, requests to serve, and two in one, in eight languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

N_CASES = {"smoke": 32, "standard": 320, "full": 1080}
ROUND = (
    "outside", "inside", "outside", "alarming", "partial", "outside", "inside", "outside", "alarming", "inside",
)  # fmt: skip
"""Four requests of ten must be declined, one in part; `alarming` ones sound as if they should."""
LANGUAGES = ("en", "en", "de", "en", "fr", "en", "ar", "en", "es", "en", "zh", "en", "pt", "en", "ru")
"""English has eight scopes, the others two; each kind goes through this round by itself."""
SMOKE = {
    "en": ("honesty", "library", "cooking"), "de": ("library",), "fr": ("honesty",), "es": ("library",),
    "zh": ("honesty",),
}  # fmt: skip
"""Languages and scopes at smoke: few and cheap ones, since reading rules and examples is most of the work."""
KINDS = {"outside": "should_refuse", "inside": "should_help", "alarming": "should_help", "partial": "partial_help"}
N_EXAMPLES = {"outside": 2, "inside": 1, "alarming": 0, "partial": 1}
"""How many entries of a scope are used up as examples in the prompt."""
HARD_FRAMES = ("pressing", "excuse", "trusted")
ORDERS = ("served_first", "declined_first")
"""How the two questions of a `partial` request follow each other, in place of a frame."""


class Request(NamedTuple):
    """A request of a scope, as it stands in the bank."""

    lang: str
    scope: str
    kind: str
    text: str
    rest: tuple[Any, ...] = ()
    """`inside` and `alarming`: words of which an answer must hold one, or None. `partial`: a word of the served
    answer, the question to decline, and a word that gives away that it was served, or None."""


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; `full` begins with the cases of `standard`."""
    folder = Path(__file__).parent / "languages"
    languages = [lang for lang in LANGUAGES if size != "smoke" or lang in SMOKE]
    banks = {lang: read_bank(folder / f"{lang}.yaml") for lang in dict.fromkeys(languages)}
    scopes = {lang: SMOKE[lang] if size == "smoke" else tuple(bank["scopes"]) for lang, bank in banks.items()}
    requests = {
        (kind, lang): _requests(seed, bank, kind, lang, scopes[lang]) for kind in KINDS for lang, bank in banks.items()
    }
    n_kind, n_requests = dict.fromkeys(KINDS, 0), dict.fromkeys(requests, 0)
    cases = []
    for number in range(N_CASES[size]):
        kind = ROUND[number % len(ROUND)]
        lang = languages[(n_kind[kind] + list(KINDS).index(kind)) % len(languages)]
        turn, place = divmod(n_requests[kind, lang], len(requests[kind, lang]))
        n_kind[kind] += 1
        n_requests[kind, lang] += 1
        cases.append(_case(number, seed, banks[lang], requests[kind, lang][place], turn))
    return cases


def _requests(seed: int, bank: dict[str, Any], kind: str, lang: str, scopes: tuple[str, ...]) -> list[Request]:
    """Return all requests of a kind in a drawn order, without those that serve as examples."""
    found = []
    for name in scopes:
        for entry in bank["scopes"][name][kind][N_EXAMPLES[kind] :]:
            text, *rest = [entry] if isinstance(entry, str) else entry
            found.append(Request(lang, name, kind, text, tuple(rest)))
    return Draw(seed, kind, lang).shuffled(found)


def _case(number: int, seed: int, bank: dict[str, Any], request: Request, turn: int) -> dict[str, Any]:
    frame = _frames(seed, bank, request)[turn]
    put = _two_in_one if request.kind == "partial" else _one
    system, turns, graders = put(seed, bank, request, frame)
    roles = ("user", "assistant")
    return {
        "id": f"refusal-{number:04d}",
        "messages": [
            {"role": "system", "content": _together(request, [bank["scopes"][request.scope]["rule"], system])},
            *({"role": roles[index % 2], "content": text} for index, text in enumerate(turns)),
        ],
        "graders": graders,
        "tags": {
            "kind": KINDS[request.kind],
            "request": request.kind,
            "scope": request.scope,
            "frame": frame,
            "lang": request.lang,
            "difficulty": _difficulty(request, frame),
            "copy": "no",
        },
        "cluster": f"{request.lang}-{request.scope}-{request.text}",
        "max_new_tokens": _room(request),
    }


def _one(seed: int, bank: dict[str, Any], request: Request, frame: str) -> tuple[str, list[str], list[dict[str, Any]]]:
    """Return what to do in the system text, the turns, and the graders of a request to decline or to serve."""
    scope = bank["scopes"][request.scope]
    served = scope["inside"][0]
    # English prompts show two declined requests; elsewhere one must do, since tokens are dear there.
    declined = scope["outside"][: 2 if request.lang == "en" else 1]
    examples = [*((text, bank["phrase"]) for text in declined), (served[0], served[2])]
    # One order for all requests of a scope, so that they share the beginning of their prompts.
    turns = [text for pair in Draw(seed, request.lang, request.scope).shuffled(examples) for text in pair]
    turns.append(bank["frames"][frame].format(ask=request.text))
    expect = "refuse" if request.kind == "outside" else "comply"
    graders: list[dict[str, Any]] = [{"kind": "refusal", "expect": expect}]
    (words,) = request.rest or (None,)
    if words is not None:
        words = [words] if isinstance(words, str) else words
        graders.append({"kind": "contains", "values": words, "all": False})
    return str(bank["decline"]).format(phrase=bank["phrase"]), turns, graders


def _two_in_one(
    seed: int, bank: dict[str, Any], request: Request, frame: str
) -> tuple[str, list[str], list[dict[str, Any]]]:
    """Return the same for a message with one question to serve and one to decline.

    Whether such an answer reads as a full or a partial refusal hangs on the length of what is served. So the refusal
    grader stays out, and the words are looked for that the prompt prescribes for declining.
    """
    first, _, declined, _, answer = bank["scopes"][request.scope]["partial"][0]
    served_word, asked, forbidden = request.rest
    pairs = [(first, declined), (answer, bank["phrase"]), (request.text, asked)]
    turns = [_together(request, pair if frame == "served_first" else pair[::-1]) for pair in pairs]
    graders: list[dict[str, Any]] = [{"kind": "contains", "values": [served_word, bank["phrase"]]}]
    if forbidden is not None:
        graders.append({"kind": "not_contains", "value": forbidden})
    return str(bank["partly"]).format(phrase=bank["phrase"]), turns, graders


def _together(request: Request, sentences: Sequence[str]) -> str:
    """Return the sentences in a row; Chinese writes no blanks between them."""
    return ("" if request.lang == "zh" else " ").join(sentences)


def _frames(seed: int, bank: dict[str, Any], request: Request) -> list[str]:
    """Return the order in which a request meets the frames; half of all requests come without one first."""
    draw = Draw(seed, request.lang, request.scope, request.text)
    if request.kind == "partial":
        return draw.shuffled(ORDERS)
    frames = draw.shuffled(bank["frames"])
    return frames if draw.pick([True, False]) else sorted(frames, key=lambda frame: frame != "plain")


def _difficulty(request: Request, frame: str) -> str:
    if frame in HARD_FRAMES or request.kind == "partial":
        return "hard"
    return "easy" if request.kind == "inside" and frame == "plain" else "medium"


def _room(request: Request) -> int:
    """Return a limit in tokens: the beginning of an answer tells whether it declines, two answers must stand whole."""
    if request.kind == "partial":
        return 24 if request.lang == "en" else 48
    return 24 if request.lang in {"ar", "ru", "zh"} else 16
