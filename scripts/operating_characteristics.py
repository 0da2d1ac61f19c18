"""Operating characteristics: how often the gate, clusters, looks during a run and fractions go wrong.

    python -m scripts.operating_characteristics gate|clusters|sequential|fractions [--studies 2000]

Seeded simulations judged by qeval's own functions. Prints Markdown tables; `sequential` ends with exit code 1 if a
rate that is promised to be at most alpha is above it.
"""

from __future__ import annotations

import argparse
import sys

from scripts.characteristics import clusters, fractions, gate, sequential

PARTS = {"gate": gate.main, "clusters": clusters.main, "sequential": sequential.main, "fractions": fractions.main}


def main() -> int:
    """Print the tables of one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies a figure (default 2000)")
    options = parser.parse_args()
    return PARTS[options.part](options.studies)


if __name__ == "__main__":
    sys.exit(main())
