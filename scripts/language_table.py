"""How often `language` errs on public texts: `python scripts/language_table.py` (about ten minutes).

Every text is graded once with its own language asked for (a fail is a false fail) and once with each other known
language (a pass is a false pass). Writes the table between its markers of docs/graders.md. The data lie in
../shared/data beside the checkout, or where --data says; labels read by hand are in
tests/grading/language_confusion_answers.yaml.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).parents[1]))

from qeval.grading import Answer, Question, check_grader
from qeval.grading._languages import known_languages, target
from qeval.grading._scripts import count_letters
from qeval.grading.base import find_grader
from qeval.jsonl import read_text, write_atomic
from qeval.outcome import Grade
from scripts.grading_table import DOC, put
from tests.grading.case_files import SHARED
from tests.grading.public_texts import Text, labelled_answers, texts

BEGIN = "<!-- made by: python scripts/language_table.py -->\n"
RELATED = (
    "es gl pt ca oc", "fr oc", "it oc la", "de lb fy", "nl af fy", "da nb nn sv", "ru uk be bg mk sr", "hi mr ne sa",
    "id ms jv", "tr az tk", "fa ps ur", "ar fa", "bn as", "hr bs sr sl", "cs sk",
)  # fmt: skip
"""Languages that are counted as relatives of each other, by family and mutual understanding."""


LONG = 40
"""Letters from which a text counts for its language; shorter ones, mostly gold answers of a few words, are one row."""
SHORT = "~ all languages, 20 to 39 letters"


class Counts:
    """What is counted of one language's texts."""

    def __init__(self) -> None:
        self.fails: list[bool] = []
        self.short = 0
        self.unrelated: list[bool] = []
        self.related: list[bool] = []
        self.passed_as: Counter[str] = Counter()


def graded(language: str, text: str) -> Grade:
    """Grade one text with a language asked for."""
    kind, options = check_grader({"kind": "language", "lang": language}, "x")
    return find_grader(kind).grade(options, Answer(text), Question(language))[0]


def is_written_in(text: str, language: str) -> bool:
    """Return whether a text has any letter of its language's script: some gold answers are names in Latin letters."""
    return any(count_letters(text)[script] for script in target(language).scripts)


def related(one: str, other: str) -> bool:
    """Return whether two languages are counted as relatives."""
    return any({one, other} <= set(group.split()) for group in RELATED)


def count(data: Path) -> dict[str, Counts]:
    """Grade all texts in every language, by language and by whether they are short.

    Labelled answers count where they are in the language asked for.
    """
    own = [Text("answers", row.language, row.text) for row in labelled_answers(data) if row.label == "own"]
    counts: dict[str, Counts] = {}
    for _, language, text in [*texts(data), *own]:
        each = counts.setdefault(SHORT if count_letters(text).total() < LONG else language, Counts())
        grade = graded(language, text)
        if grade.score is None or not is_written_in(text, language):
            each.short += 1
            continue
        each.fails.append(grade.status == "fail")
        for other in sorted(known_languages() - {language}):
            wrong = graded(other, text).status == "pass"
            (each.related if related(language, other) else each.unrelated).append(wrong)
            each.passed_as[other] += wrong
    return counts


def table(counts: dict[str, Counts]) -> Iterator[str]:
    """Yield the lines of the table, a language a line."""
    yield "| language | texts | not judged | false fails | false passes: unrelated | relatives | most often |"
    yield "|---|---|---|---|---|---|---|"
    for language, each in sorted(counts.items()):
        most = ", ".join(f"{name} {n}" for name, n in each.passed_as.most_common(3) if n)
        cells = [rate(each.fails), rate(each.unrelated), rate(each.related), most or "–"]
        yield f"| {language.strip('~ ')} | {len(each.fails):,} | {each.short} | {' | '.join(cells)} |"
    sums = [rate([x for c in counts.values() for x in getattr(c, name)]) for name in ("fails", "unrelated", "related")]
    n_texts, short = sum(len(c.fails) for c in counts.values()), sum(c.short for c in counts.values())
    yield f"| all | {n_texts:,} | {short} | {' | '.join(sums)} | |"


def answers(data: Path) -> Iterator[str]:
    """Yield how the labelled answers of models are graded."""
    yield "| answers of two models, read by hand as | pass | fail |"
    yield "|---|---|---|"
    found = Counter((row.label, graded(row.language, row.text).status) for row in labelled_answers(data))
    for label, said in (("own", "in the language asked for"), ("other", "in another"), ("mixed", "mixed throughout")):
        yield f"| {said} | {found[label, 'pass']} | {found[label, 'fail']} |"


def rate(wrong: Iterable[bool]) -> str:
    """Return `k of n (95 % interval)`, Clopper and Pearson's."""
    seen = list(wrong)
    if not seen:
        return "–"
    interval = binomtest(sum(seen), len(seen)).proportion_ci(0.95, "exact")
    return f"{sum(seen):,} of {len(seen):,} ({100 * interval.low:.2f} to {100 * interval.high:.2f} %)"


def main() -> None:
    """Grade all the data and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED / "data")
    given = parser.parse_args()
    if not given.data.is_dir():
        raise SystemExit(f"{given.data}: no such folder. Say where the public data lie: --data FOLDER")
    made = "\n".join([*answers(given.data), "", *table(count(given.data))]) + "\n"
    write_atomic(DOC, put(read_text(DOC), made, BEGIN))
    print(made)


if __name__ == "__main__":
    main()
