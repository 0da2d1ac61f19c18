"""Public texts whose language is known: what `language` is measured on, by tests and by scripts/language_table.py."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

_LABELS = Path(__file__).with_name("language_confusion_answers.yaml")


class Text(NamedTuple):
    """A text, where it is from, and the language it is in."""

    source: str
    language: str
    text: str


class Labelled(NamedTuple):
    """An answer of a model with the language asked for and what it is in, as read by hand."""

    model: str
    language: str
    label: str
    """own, other or mixed."""
    text: str


def texts(data: Path) -> Iterator[Text]:
    """Yield the contexts, questions and answers of XQuAD, MGSM's problems, and the prompts of Language Confusion."""
    for path in sorted((data / "xquad").glob("xquad.*.json")):
        language = path.stem.removeprefix("xquad.")
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                yield Text("XQuAD contexts", language, paragraph["context"])
                for question in paragraph["qas"]:
                    yield Text("XQuAD questions", language, question["question"])
                    yield from (Text("XQuAD answers", language, answer["text"]) for answer in question["answers"])
    for path in sorted((data / "mgsm").glob("mgsm_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Text("MGSM problems", path.stem.removeprefix("mgsm_"), line.split("\t")[0])
    for path in sorted((data / "language_confusion/test_sets/monolingual").rglob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            yield from (Text("Language Confusion prompts", path.stem, row["prompt"]) for row in csv.DictReader(file))


def labelled_answers(data: Path) -> Iterator[Labelled]:
    """Yield the answers of Language Confusion with what they are in."""
    labels = yaml.safe_load(_LABELS.read_text(encoding="utf-8"))
    for path in sorted((data / "language_confusion/outputs").glob("*.csv")):
        left = {language: iter(names.split()) for language, names in labels[path.stem].items()}
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield Labelled(path.stem, row["language"], next(left[row["language"]]), row["completion"])
