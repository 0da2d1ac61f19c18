"""Thirty rounds of kill, Ctrl-C, broken streams and full disk: `python scripts/disturb.py`. Some ten minutes.

Each disturbs `qeval run`, `qeval compare` or `qeval track push` on the embedded model at a seeded moment. It must end
with the right exit code, and leave a record, verdicts and a store that equal undisturbed ones. Ends with 1 otherwise.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.real.disturbances import disturb, prepare, rounds


def main() -> None:
    """Play the rounds, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--cases", type=int, default=24)
    parser.add_argument("--seed", type=int, default=13)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="disturbed-") as name:
        folder = Path(name)
        whole = prepare(folder / "undisturbed", given.cases)
        print(f"undisturbed: {', '.join(f'{key} ends with {code}' for key, code in whole.codes.items())}", flush=True)
        print("| round | command | disturbed by | exit codes | wrong |\n|---|---|---|---|---|")
        for one in rounds(given.rounds, given.seed):
            found = disturb(one, whole, folder / f"round-{one.number}", chance)
            codes = ", then ".join(map(str, found.codes))
            print(
                f"| {one.number + 1} | {one.command} | {one.way} | {codes} | {'; '.join(found.faults) or '–'} |",
                flush=True,
            )
            wrong += bool(found.faults)
    print(f"{given.rounds - wrong} of {given.rounds} rounds ended as they should")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
