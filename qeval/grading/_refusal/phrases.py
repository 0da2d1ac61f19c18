"""The words in which each language refuses, one YAML file a language in `phrases/`, compiled when first asked for."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import Literal

import regex
from pydantic import Field

from qeval.strict import Strict, load_yaml

_FOLDER = Path(__file__).parent / "phrases"
LANGUAGES = frozenset(path.stem for path in _FOLDER.glob("*.yaml"))
"""Languages whose refusals are known."""


Script = Literal["Arabic", "Bengali", "Cyrillic", "Devanagari", "Han", "Hangul", "Kana", "Latin", "Thai"]


class Phrases(Strict):
    """Alternations of regular expressions in one language.

    Patterns see a sentence in normal form (`text.normal`). A name of `parts` in angle brackets stands for its pattern.
    """

    script: Script
    """What it is written in; Japanese is known by its kana."""
    common: str = ""
    """Frequent words without a meaning of their own, by which the language is known."""
    parts: dict[str, str] = Field(default_factory=dict)
    refuse: tuple[str, ...]
    """The speaker declines to do what was asked."""
    brush: tuple[str, ...] = ()
    """A whole sentence that declines without saying so, such as "Nope."; to a yes-or-no question it is an answer."""
    negative: tuple[str, ...] = ()
    """Opens an answer in the negative in a language that need not name the speaker: "no" to a yes-or-no question."""
    speaker: tuple[str, ...] = ()
    """Speaks of the speaker."""
    unsure: tuple[str, ...] = ()
    """Not knowing, not finding, not advising, which decline nothing."""
    benign: tuple[str, ...] = ()
    """Sounds like a refusal but is none: sympathy, missing context, idioms."""
    unclear: tuple[str, ...] = ()
    """Asks what is meant."""
    withhold: tuple[str, ...] = ()
    """Says that a part of what was asked for is left out on purpose, or left to a doctor or lawyer."""
    judge: tuple[str, ...] = ()
    """Calls what was asked wrong, or disagrees with it."""
    norm: tuple[str, ...] = ()
    """Says what should be, or that the premise is false or unjust."""
    corrects: tuple[str, ...] = ()
    """Calls a claim untrue."""
    crime: tuple[str, ...] = ()
    """Calls a deed a crime, wrong or dangerous."""
    lecture: tuple[str, ...] = ()
    """Opens a lesson: what must be clarified, noted, remembered."""
    soft: tuple[str, ...] = ()
    """What surrounds a refusal without giving help: regret, morals, warnings, offers, where to turn to."""
    refer: tuple[str, ...] = ()
    """Says where to turn to."""
    crisis: tuple[str, ...] = ()
    """Comforts someone in despair, or says where they find help."""
    opinion: tuple[str, ...] = ()
    """Says that the speaker has no opinion or taste."""
    assists: tuple[str, ...] = ()
    """Speaks as an assistant does of a request."""
    preface: tuple[str, ...] = ()
    """Says that the speaker is a program."""
    inapt: tuple[str, ...] = ()
    """Says that the question cannot apply: what it asks about is fictional, lifeless or impossible for anyone."""
    pivot: tuple[str, ...] = ()
    """What turns from a refusal to help: "but", "however", "in general"."""
    general: tuple[str, ...] = ()
    """Announces help in broad terms."""
    deliver: tuple[str, ...] = ()
    """Opens a delivery ("Here is the speech:"): what follows is the text asked for."""
    letter: tuple[str, ...] = ()
    """Opens a letter: what it says is said to another."""
    deny: tuple[str, ...] = ()
    """Denies something."""
    forbid: tuple[str, ...] = ()
    """A word that denies by its meaning ("banned")."""
    because: tuple[str, ...] = ()
    """Gives a reason."""
    better: tuple[str, ...] = ()
    """Announces better ways than the one asked for."""
    moral: tuple[str, ...] = ()
    """A word of morals."""
    reasons: tuple[str, ...] = ()
    """A prompt asks for reasons for a claim about what should be."""
    causes: tuple[str, ...] = ()
    """A prompt asks why something is so."""
    meaning: tuple[str, ...] = ()
    """A prompt asks what something is."""
    way: tuple[str, ...] = ()
    """A prompt asks for a way to do something."""
    request: tuple[str, ...] = ()
    """A prompt asks for something to be done, be it in the form of a question."""
    seeks: tuple[str, ...] = ()
    """A prompt asks how to help, protect, stop or report: to say where to turn to, or what is a crime, is help."""
    creates: tuple[str, ...] = ()
    """A prompt asks for a text in another's voice: who says "I" in it need not be the speaker."""
    repeat: tuple[str, ...] = ()
    """A prompt asks for its own words in another form."""
    self: tuple[str, ...] = ()
    """A prompt asks about the speaker."""
    wanted: tuple[str, ...] = ()
    """A prompt asks for words that refuse: a letter that declines, a character who will not budge."""
    closed: tuple[str, ...] = ()
    """A prompt asks a question that yes or no answers."""


FIELDS = tuple(field for field in Phrases.model_fields if field not in {"script", "common", "parts"})


class Patterns:
    """The phrases of one language, compiled; a field without phrases matches nothing."""

    def __init__(self, table: Phrases) -> None:
        self.script = table.script
        self.common = frozenset(unicodedata.normalize("NFKC", table.common).split())
        self._phrases = {field: _joined(getattr(table, field), table.parts) for field in FIELDS}
        self._compiled: dict[str, regex.Pattern[str]] = {}

    def __getitem__(self, field: str) -> regex.Pattern[str]:
        """Return the pattern of a field, compiled when first asked for: most answers need few of forty."""
        if field not in self._compiled:
            self._compiled[field] = regex.compile(self._phrases[field])
        return self._compiled[field]


@cache
def patterns(language: str) -> Patterns:
    """Return the phrases of a language of `LANGUAGES`."""
    return Patterns(load_yaml(Phrases, _FOLDER / f"{language}.yaml"))


def _joined(phrases: tuple[str, ...], parts: dict[str, str]) -> str:
    joined = "|".join(f"(?:{phrase})" for phrase in phrases) or r"(?!)"
    for name, part in parts.items():
        joined = joined.replace(f"<{name}>", part)
    # The answer is in this normal form too: it takes Thai and Bengali letters apart.
    return unicodedata.normalize("NFKC", joined)
