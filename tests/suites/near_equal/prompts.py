"""Prompts of templates, prompts that must stay apart, and public questions, with what becomes of them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from qeval.suites.case import Case
from qeval.suites.near_equal import near_equal

FOLDER = Path(__file__).parent
FILLED = 12
"""Prompts made from each template."""


class Filled(NamedTuple):
    """A prompt and the template it was made from."""

    template: int
    text: str


def case_of(number: int, text: str, **more: Any) -> Case:
    """A case that asks one thing."""
    messages = [{"role": "user", "content": text}]
    spec = {"id": f"c{number}", "messages": messages, "graders": [{"kind": "contains", "value": "x"}], **more}
    return Case.model_validate(spec)


def groups(texts: Sequence[str]) -> tuple[int, ...]:
    """The group of each text."""
    return near_equal([case_of(number, text) for number, text in enumerate(texts)])


def families(name: str = "families.yaml") -> dict[str, list[Filled]]:
    """Prompts by family: every template filled with the first values of each slot, then with the second ones."""
    rows = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return {row["id"]: list(_filled(row)) for row in rows}


def _filled(row: dict[str, Any]) -> Iterator[Filled]:
    for number, template in enumerate(row["templates"]):
        for place in range(FILLED):
            values = {slot: str(among[place % len(among)]) for slot, among in row["values"].items()}
            yield Filled(number, template.format(**values))


class Found(NamedTuple):
    """What became of a family."""

    templates: int
    groups: int
    mixed: int
    """Groups with prompts of two templates."""


def found_in(prompts: Sequence[Filled]) -> Found:
    """Group the prompts of a family."""
    named = list(zip(groups([one.text for one in prompts]), prompts, strict=True))
    of_group = {group: {one.template for name, one in named if name == group} for group, _ in named}
    within = {(group, one.template) for group, one in named}
    mixed = sum(len(templates) > 1 for templates in of_group.values())
    return Found(len({one.template for one in prompts}), len(within), mixed)


def apart() -> dict[str, list[str]]:
    """Prompts that share words and ask different things, by kind."""
    rows = yaml.safe_load((FOLDER / "apart.yaml").read_text(encoding="utf-8"))
    return {row["id"]: [row["frame"].format(text=text) for text in row["texts"]] for row in rows}


def public_questions(data: Path) -> dict[str, list[str]]:
    """Different questions of public sets, each text once."""
    found: dict[str, list[str]] = {"GSM8K": [row["question"] for row in _lines(data / "gsm8k/test.jsonl")]}
    for path in sorted((data / "mgsm").glob("*.tsv")):
        found[f"MGSM {path.stem[-2:]}"] = [line.split("\t")[0] for line in path.read_text("utf-8").splitlines() if line]
    for path in sorted((data / "xquad").glob("*.json")):
        paragraphs = [p for a in json.loads(path.read_text("utf-8"))["data"] for p in a["paragraphs"]]
        found[f"XQuAD {path.stem[-2:]}"] = [qa["question"] for p in paragraphs for qa in p["qas"]]
    for path in sorted((data / "bfcl").glob("*.json")):
        turns = [[turn for part in row["question"] for turn in part] for row in _lines(path)]
        name = f"BFCL {path.stem.removeprefix('BFCL_v4_')}"
        found[name] = ["\n".join(t["content"] for t in row if t["role"] == "user") for row in turns]
    with (data / "xstest_full/xstest_prompts.csv").open(encoding="utf-8", newline="") as file:
        found["XSTest"] = [row["prompt"] for row in csv.DictReader(file)]
    items = json.loads((data / "quant_flips/results/_bench_items.json").read_text("utf-8"))
    for name, label in (("arc", "ARC"), ("mmlu", "MMLU"), ("csqa", "CommonsenseQA")):
        whole = [_with_options(row) for row in items[name]]
        found[label] = [row["question"] for row in items[name]]
        found[f"{label} with options"] = whole
        found[f"{label} after five examples"] = ["\n\n".join([*whole[:5], text]) for text in whole[5:]]
    return {name: list(dict.fromkeys(text.strip() for text in texts)) for name, texts in found.items()}


def _with_options(row: dict[str, Any]) -> str:
    options = "\n".join(f"{letter}. {text}" for letter, text in row["options"].items())
    return f"{row['question']}\n{options}\nAnswer:"


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def merged(texts: Sequence[str]) -> int:
    """Texts that are taken for near-equal to one before them."""
    return len(texts) - len(set(groups(texts)))
