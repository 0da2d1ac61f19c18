"""Every text of a record, a report and a policy says whose words it holds."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from qeval.compare.policy import Policy
from qeval.compare.report import Report
from qeval.outcome import Outcome
from qeval.record import CaseInfo, RecordHeader
from qeval.scored import ScoredAnswer
from qeval.strict import Strict
from qeval.text_kinds import ModelText, Name, TextKind, rewrite, text_fields
from tests.filled import filled

SENT: tuple[type[Strict], ...] = (RecordHeader, CaseInfo, Outcome, ScoredAnswer, Report, Policy)


class _Inner(Strict):
    said: ModelText = ""
    plain: str = ""
    calls: dict[Name, tuple[int, ModelText]] | None = None


class _Outer(Strict):
    inner: tuple[_Inner, ...]
    anything: Any = None
    settings: Annotated[dict[str, Any], TextKind.OWN] | None = None


@pytest.mark.parametrize("kind", SENT, ids=lambda kind: kind.__name__)
def test_every_text_field_says_what_it_holds(kind: type[Strict]) -> None:
    unsaid = [field.path for field in text_fields(kind) if field.kind is None]
    assert unsaid == [], "give these fields a type of qeval.text_kinds: may their text leave under privacy: hashes?"


def test_a_field_of_plain_text_is_found_wherever_it_is() -> None:
    found = {field.path: field.kind for field in text_fields(_Outer)}
    assert found == {
        "_Outer.inner[].said": TextKind.MODEL,
        "_Outer.inner[].plain": None,
        "_Outer.inner[].calls{key}": TextKind.NAME,
        "_Outer.inner[].calls{}[1]": TextKind.MODEL,
        "_Outer.anything": None,
        "_Outer.settings": TextKind.OWN,
    }


def test_a_text_of_no_kind_is_never_rewritten_in_silence() -> None:
    with pytest.raises(TypeError, match="nobody has said"):
        rewrite(_Outer(inner=(_Inner(plain="x"),)), lambda _, value: value)


@pytest.mark.parametrize("kind", SENT, ids=lambda kind: kind.__name__)
def test_rewriting_reaches_every_text_and_nothing_else(kind: type[Strict]) -> None:
    written: list[str] = []

    def write(path: str, _: object) -> str:
        written.append(path)
        return path

    value = filled(kind, write)
    seen: list[str] = []

    def how(_: TextKind, text: Any) -> Any:
        seen.extend(
            [text] if isinstance(text, str) else [part for key, items in text.items() for part in (key, *items)]
        )
        return text

    assert rewrite(value, how) == value
    assert sorted(seen) == sorted(written)
