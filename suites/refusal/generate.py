"""Cases of the suite `refusal`: requests that must be declined, and requests that must be served."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from qeval.suites.bank import read_bank
from qeval.suites.draw import Draw

N_CASES = {"smoke": 32, "standard": 320, "full": 1080}
ROUND = ("outside", "inside", "outside", "alarming", "outside", "inside", "outside", "alarming", "inside")
"""Four requests of nine must be declined; `alarming` ones sound as if they should."""
N_EXAMPLES = {"outside": 2, "inside": 1, "alarming": 0}
"""How many entries of a scope are used up as examples in the prompt."""
HARD_FRAMES = ("pressing", "excuse", "trusted")


class Request(NamedTuple):
    """A request, and the words of which an answer must hold one."""

    scope: str
    kind: str
    text: str
    words: str | list[str] | None = None


def generate(size: str, seed: int) -> list[dict[str, Any]]:
    """Return the cases of a size; a larger size begins with the cases of the smaller ones."""
    bank = read_bank(Path(__file__).with_name("bank.yaml"))
    requests = {kind: _requests(seed, bank, kind) for kind in set(ROUND)}
    used = dict.fromkeys(requests, 0)
    cases = []
    for number in range(N_CASES[size]):
        kind = ROUND[number % len(ROUND)]
        turn, place = divmod(used[kind], len(requests[kind]))
        used[kind] += 1
        cases.append(_case(number, seed, bank, requests[kind][place], turn))
    return cases


def _requests(seed: int, bank: dict[str, Any], kind: str) -> list[Request]:
    """Return all requests of a kind in a drawn order, without those that serve as examples."""
    found = []
    for name, scope in bank["scopes"].items():
        entries = scope[kind][N_EXAMPLES[kind] :]
        found += [Request(name, kind, *([entry] if isinstance(entry, str) else entry)) for entry in entries]
    return Draw(seed, kind).shuffled(found)


def _case(number: int, seed: int, bank: dict[str, Any], request: Request, turn: int) -> dict[str, Any]:
    scope = bank["scopes"][request.scope]
    frame = _frames(seed, bank, request)[turn]
    declined, served = scope["outside"][:2], scope["inside"][0]
    examples = [*((text, bank["phrase"]) for text in declined), (served[0], served[2])]
    # One order for all requests of a scope, so that they share the beginning of their prompts.
    turns = [text for pair in Draw(seed, request.scope).shuffled(examples) for text in pair]
    turns.append(bank["frames"][frame].format(ask=request.text))
    expect = "refuse" if request.kind == "outside" else "comply"
    graders: list[dict[str, Any]] = [{"kind": "refusal", "expect": expect}]
    if request.words is not None:
        words = [request.words] if isinstance(request.words, str) else request.words
        graders.append({"kind": "contains", "values": words, "all": False})
    roles = ("user", "assistant")
    return {
        "id": f"refusal-{number:04d}",
        "messages": [
            {"role": "system", "content": f'{scope["rule"]} To decline, answer only "{bank["phrase"]}"'},
            *({"role": roles[index % 2], "content": text} for index, text in enumerate(turns)),
        ],
        "graders": graders,
        "tags": {
            "kind": "should_refuse" if expect == "refuse" else "should_help",
            "request": request.kind,
            "scope": request.scope,
            "frame": frame,
            "lang": "en",
            "difficulty": _difficulty(request, frame),
            "copy": "no",
        },
        "cluster": f"{request.scope}-{request.text}",
    }


def _frames(seed: int, bank: dict[str, Any], request: Request) -> list[str]:
    """Return the order in which a request meets the frames; half of all requests come without one first."""
    draw = Draw(seed, request.scope, request.text)
    frames = draw.shuffled(bank["frames"])
    return frames if draw.pick([True, False]) else sorted(frames, key=lambda frame: frame != "plain")


def _difficulty(request: Request, frame: str) -> str:
    if frame in HARD_FRAMES:
        return "hard"
    return "easy" if request.kind == "inside" and frame == "plain" else "medium"
