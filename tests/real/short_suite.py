"""A suite of very short cases, so that whole jobs on the real model fit into tests: capitals."""

from __future__ import annotations

import json
from pathlib import Path

CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Portugal": "Lisbon", "Germany": "Berlin",
    "Austria": "Vienna", "Poland": "Warsaw", "Hungary": "Budapest", "Greece": "Athens", "Turkey": "Ankara",
    "Egypt": "Cairo", "Kenya": "Nairobi", "Nigeria": "Abuja", "Ghana": "Accra", "Morocco": "Rabat",
    "Japan": "Tokyo", "China": "Beijing", "India": "Delhi", "Nepal": "Kathmandu", "Thailand": "Bangkok",
    "Vietnam": "Hanoi", "Indonesia": "Jakarta", "Mongolia": "Ulaanbaatar", "Iran": "Tehran", "Iraq": "Baghdad",
    "Canada": "Ottawa", "Mexico": "Mexico City", "Cuba": "Havana", "Peru": "Lima", "Chile": "Santiago",
    "Argentina": "Buenos Aires", "Brazil": "Bras", "Bolivia": "Sucre", "Ecuador": "Quito", "Norway": "Oslo",
    "Sweden": "Stockholm", "Finland": "Helsinki", "Denmark": "Copenhagen", "Iceland": "Reyk", "Ireland": "Dublin",
    "Belgium": "Brussels",
}  # fmt: skip
WORDING = (
    "What is the capital of {country}?",
    "Name the capital of {country}.",
    "Which city is the capital of {country}?",
    "In which city does the government of {country} sit?",
)


def write_short_suite(folder: Path, n_cases: int) -> Path:
    """Write a suite of `n_cases`, at most 164, into `folder/capitals`; the wordings of one country are a cluster."""
    target = folder / "capitals"
    target.mkdir(parents=True)
    (target / "suite.yaml").write_text("name: capitals\nversion: 1\ndescription: Very short cases, for tests.\n")
    cases = [
        {
            "id": f"{country}-{index}",
            "messages": [{"role": "user", "content": wording.format(country=country)}],
            "graders": [{"kind": "regex", "pattern": capital}],
            "tags": {"wording": str(index)},
            "cluster": country,
            "max_new_tokens": 10,
        }
        for country, capital in CAPITALS.items()
        for index, wording in enumerate(WORDING)
    ]
    (target / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases[:n_cases]))
    return target
