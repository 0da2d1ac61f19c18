"""Reader of the stored answers of real models at several precisions that lie beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qeval.record import CaseInfo, Record
from tests.factories import make_outcome, make_record

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "quant_flips" / "results"
MODEL = "Qwen__Qwen2.5-1.5B-Instruct"
BENCHMARKS = ("arc", "mmlu", "csqa")

needs_data = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"{FOLDER} is not beside this checkout")


def read_record(precision: str) -> Record:
    """Turn the stored choices of one precision into a record: a suite a benchmark, the subject of MMLU as a tag."""
    items = json.loads((FOLDER / "_bench_items.json").read_text())
    outcomes, cases = [], []
    for name in BENCHMARKS:
        chosen = json.loads((FOLDER / f"{MODEL}__{precision}__{name}.json").read_text())["preds"]
        for item, answer in zip(items[name], chosen, strict=True):
            outcome = make_outcome(name, item["id"], answer == item["answer"], text=str(answer), token_ids=())
            subject = item["id"].rsplit("_", 1)[0].removeprefix("mmlu_") if name == "mmlu" else ""
            outcomes.append(outcome)
            tags = {"subject": subject} if subject else {}
            cases.append(CaseInfo(suite=name, case=item["id"], tags=tags, cluster=item["id"]))
    sizes = {name: [True] * sum(case.suite == name for case in cases) for name in BENCHMARKS}
    return make_record(precision, sizes, outcomes=outcomes)._replace(cases=tuple(cases))
