"""Print how often prompts of one template are found near-equal, and how often different questions are.

    python -m scripts.near_equal_table [DATA]

DATA is a folder of public sets (docs/method.md names them); without it only the prompts written for qeval are counted.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.suites.near_equal.prompts import apart, families, found_in, merged, public_questions


def main(data: Path | None) -> None:
    """Print both tables."""
    for name, file in (("chosen on", "families.yaml"), ("held out", "held_out.yaml")):
        found = {family: (found_in(prompts), len(prompts)) for family, prompts in families(file).items()}
        print(f"templates, {name} ({file})")
        for family, (one, prompts) in found.items():
            print(
                f"  {family:32} {prompts:4} prompts {one.templates:3} templates {one.groups:3} groups {one.mixed} mixed"
            )
        pairs = sum(n - one.templates for one, n in found.values())
        missed = sum(one.groups - one.templates for one, _ in found.values())
        print(f"  joined {pairs - missed} of {pairs}, templates mixed {sum(one.mixed for one, _ in found.values())}\n")
    print("different prompts, written to be alike (apart.yaml)")
    kept = {name: (merged(texts), len(texts)) for name, texts in apart().items()}
    print(f"  taken for near-equal {sum(n for n, _ in kept.values())} of {sum(of for _, of in kept.values())}\n")
    if data is None:
        return
    print("different public questions")
    total = whole = 0
    for name, texts in public_questions(data).items():
        n = merged(texts)
        total, whole = total + n, whole + len(texts)
        print(f"  {name:36} {n:3} of {len(texts):4}")
    print(f"  all {total} of {whole} ({100 * total / whole:.2f} %)")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
