"""How the graders do on public labelled data, and the rule for broken output: `python scripts/grading_table.py`.

Writes the tables between the markers of docs/graders.md. The data lie in ../shared/data beside the checkout, or where
--data says; how each item is checked stands in tests/grading/public_data.py, which the tests share.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from scipy.stats import beta

from qeval.errors import UsageError
from qeval.jsonl import read_text, write_atomic
from qeval.units import percent
from tests.grading import public_data as public
from tests.grading.case_files import SHARED
from tests.grading.degenerate_files import Name, is_degenerate, read
from tests.grading.natural_texts import Natural, called_degenerate, natural_texts
from tests.grading.public_data import Check

DOC = Path(__file__).parents[1] / "docs/graders.md"
BEGIN = "<!-- made by: python scripts/grading_table.py -->\n"
END = "<!-- end of what is made -->\n"
LONG = 100
"""Characters; shorter texts can hardly repeat enough."""


def tables(data: Path) -> str:
    """Return all tables as Markdown."""
    head = ["| data | what is checked | right | of |", "|---|---|---|---|"]
    parts = [[*head, *_rows(data)], _languages(data), _natural(data), _written()]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _rows(data: Path) -> Iterator[str]:
    golds = list(public.bfcl_golds(data))
    syntaxes = len({check.group for check in golds})
    rows = len(golds) // syntaxes
    yield _row(f"BFCL, {rows} rows of four categories", f"gold calls pass, in each of {syntaxes} syntaxes", golds)
    for group, checks in _groups(public.bfcl_mutations(data)):
        yield _row("", f"broken calls fail with their class: `{group}`", checks)
    for group, checks in _groups(public.texts_without_calls(data)):
        yield _row(group, "questions and answers in words: neither a call nor `malformed_call`", checks)
    yield _row("JSONSchemaBench, maskbench", "instances are valid or not as labelled", public.maskbench(data))
    yield from _schema_suite(data)
    for group, checks in _groups(public.numbers(data)):
        yield _row(group, "gold numbers read back from a sentence in the language's style", checks)
    for group, checks in _groups(public.answers_in_each_form(data)):
        yield _row("XQuAD, six languages", f"gold answers pass, {group}", checks)
    lines = list(public.settled_lines(data))
    named = ", ".join(sorted({check.group for check in lines}))
    yield _row("Language confusion", f"lines whose script settles the language ({named}) named so", lines)


def _schema_suite(data: Path) -> Iterator[str]:
    suite = dict(_groups(public.schema_suite(data)))
    for group in ("required", "optional"):
        yield _row("JSON-Schema-Test-Suite", f"{group} tests", suite[group])
    refused = len(suite["refused"])
    yield f"| | optional tests refused at load: their own meta-schema would have to be fetched | – | {refused} |"


def _row(source: str, what: str, checks: Iterable[Check]) -> str:
    done = list(checks)
    return f"| {source} | {what} | {sum(check.right for check in done):,} | {len(done):,} |"


def _groups(checks: Iterable[Check]) -> Iterable[tuple[str, list[Check]]]:
    groups: dict[str, list[Check]] = {}
    for check in checks:
        groups.setdefault(check.group, []).append(check)
    return groups.items()


def _languages(data: Path) -> Iterator[str]:
    """Return for each language asked for and model how many answers were identified as that language."""
    asked = [(model, language, grade) for model, language, grade, _ in public.answers_in_the_language_asked_for(data)]
    total = Counter((model, language) for model, language, _ in asked)
    as_asked = Counter((model, language) for model, language, grade in asked if grade.status == "pass")
    models = sorted({model for model, _ in total})
    yield f"| answered in | {' | '.join(models)} |"
    yield "|---|" + "---|" * len(models)
    for language in sorted({language for _, language in total}):
        cells = [f"{as_asked[model, language]} of {total[model, language]}" for model in models]
        yield f"| {language} | {' | '.join(cells)} |"
    sums = [f"{_of_model(as_asked, model)} of {_of_model(total, model)}" for model in models]
    yield f"| all | {' | '.join(sums)} |"


def _of_model(counts: Counter[tuple[str, str]], model: str) -> int:
    return sum(n for (name, _), n in counts.items() if name == model)


def _natural(data: Path) -> Iterator[str]:
    """Return by source how many natural texts are called degenerate, with the upper end of the 95 % interval."""
    yield "| natural texts | languages | texts | called degenerate | at most |"
    yield "|---|---|---|---|---|"
    texts, called = natural_texts(data), called_degenerate(data)
    for source in dict.fromkeys(one.source for one in texts):
        yield _called(source, [one for one in texts if one.source == source], called)
    yield _called("all", texts, called)
    yield _called(f"all of {LONG} characters or more", [one for one in texts if len(one.text) >= LONG], called)


def _called(source: str, texts: Sequence[Natural], called: frozenset[Natural]) -> str:
    languages = len({one.language for one in texts})
    n_called = sum(one in called for one in texts)
    most = percent(_upper_end(n_called, len(texts)), 2)
    return f"| {source} | {languages} | {len(texts):,} | {n_called} | {most} |"


def _upper_end(called: int, n: int, alpha: float = 0.05) -> float:
    """Return the upper end of the Clopper-Pearson interval of a share."""
    return 1.0 if called == n else float(beta.ppf(1 - alpha / 2, called + 1, n - called))


def _written() -> Iterator[str]:
    """Return by kind how many of the texts in tests/grading/degenerate are called degenerate."""
    yield "| texts written for the rule | languages | texts | called degenerate |"
    yield "|---|---|---|---|"
    files: dict[Name, str] = {"sound": "sound", "broken": "broken", "embedded_model": "of the embedded model"}
    for name, what in files.items():
        rows = list(read(name))
        for kind in dict.fromkeys(row["kind"] for row in rows):
            of_kind = [row for row in rows if row["kind"] == kind]
            languages = len({row["lang"] for row in of_kind})
            yield f"| {what}: {kind} | {languages} | {len(of_kind)} | {sum(map(is_degenerate, of_kind))} |"


def put(text: str, made: str, begin_marker: str = BEGIN) -> str:
    """Return a document with what is made between a marker and the end of what is made.

    Raises:
        UsageError: the markers are missing.
    """
    before, begin, rest = text.partition(begin_marker)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UsageError(f"{DOC}: the lines {begin_marker.strip()} and {END.strip()} are missing. Put them back.")
    return f"{before}{begin}\n{made}\n{end}{after}"


def main() -> None:
    """Grade all the data and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED / "data")
    given = parser.parse_args()
    if not given.data.is_dir():
        raise SystemExit(f"{given.data}: no such folder. Say where the public data lie: --data FOLDER")
    made = tables(given.data)
    write_atomic(DOC, put(read_text(DOC), made))
    print(made)


if __name__ == "__main__":
    main()
