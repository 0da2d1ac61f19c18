"""The gate at size standard: the baseline against its own repeat, and against gross planted damage.

    python scripts/standard_gate.py [--out reports/standard]

Runs the built-in suites (some 2,000 cases) on the embedded model in fp32, on a copy with ten layers at 2 bits, which
early stopping ends, and in fp32 again, all under the built-in policy, and prints a Markdown row a candidate. Two hours
on two AVX2 cores. A run that was cut is finished by the same command.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from qeval.models.locate import resolve
from qeval.selftest.damage import damaged_copy, projections, two_bits

MODEL = "smollm2-135m"
LAYERS = range(10, 20)


def write_plan(folder: Path) -> Path:
    """Write the damaged copy and the plan into a folder, unless they are there."""
    plan, copy = folder / "plan.yaml", folder / "ten-layers-at-2-bits"
    if not plan.exists():
        model = resolve(MODEL, allow_remote_code=False, allow_pickle=False)
        damaged_copy(model.path, copy, projections(LAYERS), two_bits)
        damaged = {"name": copy.name, "format": "fp32", "model": str(copy.resolve())}
        repeat = {"name": "fp32-repeat", "format": "fp32"}
        content = {"model": MODEL, "variants": ["fp32", damaged, repeat], "size": "standard"}
        plan.write_text(yaml.safe_dump(content))
    return plan


def main() -> int:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder of the run (default: a temporary one)")
    folder = parser.parse_args().out or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / "out"
    command = [sys.executable, "-m", "qeval", "run", str(write_plan(folder)), "--out", str(out), "--no-track"]
    subprocess.run([*command, *(["--resume"] if out.exists() else [])], check=False)
    if not (out / "verdict.json").exists():
        print(f"{out}: the run gave no report; what it said stands above. Mend that, and run the same command again.")
        return 1
    print("| candidate | decision | cases | lost, won | suites inconclusive |\n|---|---|---|---|---|")
    for candidate in json.loads((out / "verdict.json").read_text())["candidates"]:
        rows = [row for row in candidate["verdicts"] if row["metric"] == "pass"]
        pool = next(row for row in rows if row["role"] == "pool")
        suites = [row["ruling"] for row in rows if row["role"] == "suite"]
        share = f"{suites.count('inconclusive')} of {len(suites)}"
        print(
            f"| {candidate['candidate']} | {candidate['decision']} | {pool['n']} | {pool['losses']}, {pool['gains']} "
            f"| {share} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
