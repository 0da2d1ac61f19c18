"""What the kinds of `rare` have in common: a case's turns, what they are made from, and its graders."""

from __future__ import annotations

from typing import Any, NamedTuple

from qeval.suites.draw import Draw


class Talk(NamedTuple):
    """A case's turns, its graders, and what else is peculiar to it."""

    system: str
    turns: list[str]
    graders: list[dict[str, Any]]
    form: str
    difficulty: str
    copy: bool = False
    max_new_tokens: int = 12


class Slots(NamedTuple):
    """What a maker of cases works with."""

    draw: Draw
    bank: dict[str, Any]
    own: dict[str, Any]
    """The part of the bank for the kind."""
    entry: Any
    """The text whose turn it is; cases of one entry are a cluster."""
    size: str

    def fill(self, text: str, **more: object) -> str:
        """Return the text with its slots drawn; `more` are slots whose content is settled."""
        draw = self.draw
        a, b = draw.whole(2, 9), draw.whole(2, 9)
        drawn = {key: draw.pick(self.bank[key]) for key in ("name", "city", "thing")}
        numbers = {"n": draw.whole(11, 59), "m": draw.whole(101, 989), "a": a, "b": b, "sum": a + b}
        return text.format(**{**drawn, **numbers, **more})


def must_be(answer: str) -> dict[str, Any]:
    """Grade a short answer: a number by its worth, else its words."""
    return {"kind": "number", "value": int(answer), "which": "first"} if answer.isdigit() else must_hold(answer)


def must_hold(*values: str) -> dict[str, Any]:
    """Grade an answer that must hold all of some texts."""
    return {"kind": "contains", "values": list(values)}


def must_hold_one(values: list[str]) -> dict[str, Any]:
    """Grade an answer that must hold one of some texts."""
    return {"kind": "contains", "values": values, "all": False}


def must_lack(*values: str) -> dict[str, Any]:
    """Grade an answer that must hold none of some texts."""
    return {"kind": "not_contains", "values": list(values)}
