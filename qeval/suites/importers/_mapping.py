"""The mapping file of `dataset`: how the columns of a row become a case."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field, model_validator

from qeval.errors import UsageError, did_you_mean, unknown_name
from qeval.grading import check_grader, grader_kinds
from qeval.strict import Strict, load_yaml
from qeval.suites.check import RawCase
from qeval.suites.importers._conversation import COLUMNS, conversation_of
from qeval.suites.importers._templates import RowError, check_template, fill, fill_value
from qeval.suites.importers.base import Dropped

_Scalar = str | int | float | bool
_ANSWER = "answer"
"""What graders call the answer that ends a conversation; a column of this name comes first."""


class RowMapping(Strict):
    """The content of a mapping file. Every text is a Jinja2 template over the columns, but those under `where`."""

    prompt: str | None = Field(default=None, min_length=1)
    messages: str | None = Field(default=None, min_length=1)
    """A conversation of several turns instead of a prompt, such as `"{{ messages }}"`. Default: a column of that name.
    An answer at its end is no part of the case; graders get it as `{{ answer }}`."""
    system: str | None = None
    id: str | None = None
    """None: an id from the case's content."""
    graders: tuple[dict[str, Any], ...] = Field(min_length=1)
    """As in a case; a value that is one expression, `"{{ answer }}"`, keeps the column's type."""
    tags: dict[str, str] = Field(default_factory=dict)
    cluster: str | None = None
    max_new_tokens: int = Field(default=256, ge=1, le=100_000)
    where: dict[str, _Scalar | tuple[_Scalar, ...]] = Field(default_factory=dict)
    """Column -> value, or list of values, of the rows to keep; text and numbers compare as text."""
    limit: int | None = Field(default=None, ge=1)
    """How many cases to keep, a seeded sample; `--limit` comes first."""
    split: str | None = None
    """Which split of a Hugging Face dataset. None: `test`, or the only one."""
    config: str | None = None
    """Which configuration of a Hugging Face dataset."""

    @model_validator(mode="before")
    @classmethod
    def _one_grader_is_a_list_of_one(cls, value: object) -> object:
        if not isinstance(value, dict) or "grader" not in value:
            return value
        if "graders" in value:
            raise ValueError("has both 'grader' and 'graders'; write one of the two")
        return {**{key: part for key, part in value.items() if key != "grader"}, "graders": [value["grader"]]}

    @model_validator(mode="after")
    def _asks_in_one_way(self) -> RowMapping:
        if self.prompt is not None and self.messages is not None:
            raise ValueError("has both 'prompt' and 'messages'; write one of the two")
        return self

    def for_columns(self, columns: Collection[str], path: Path) -> RowMapping:
        """Return the mapping with a column of conversations where it says nothing of what to ask.

        Raises:
            UsageError: there is no such column.
        """
        if self.prompt is not None or self.messages is not None:
            return self
        found = next((name for name in COLUMNS if name in columns), None)
        if found is None:
            raise UsageError(f"{path}: key 'prompt' is missing (or 'messages', for a column of conversations).")
        return self.model_copy(update={"messages": f"{{{{ {found} }}}}"})


def read_mapping(path: Path) -> RowMapping:
    """Read and check a mapping file.

    Raises:
        UsageError: unknown keys, a grader that does not exist, or wrong options of one that holds no template.
    """
    mapping = load_yaml(RowMapping, path)
    for grader in mapping.graders:
        kind = str(grader.get("kind", ""))
        if kind not in grader_kinds():
            raise UsageError(f"{path}, graders: {unknown_name('grader', kind, grader_kinds())}")
        if not any("{" in text for text in _texts(grader)):
            check_grader(grader, f"{path}, graders")
    return mapping


def check_columns(mapping: RowMapping, columns: Collection[str], path: Path) -> None:
    """Check that every column a mapping names is there.

    Raises:
        UsageError: it is not; the message names the columns there are.
    """
    single = {
        "prompt": mapping.prompt,
        "messages": mapping.messages,
        "system": mapping.system,
        "id": mapping.id,
        "cluster": mapping.cluster,
    }
    named = {key: text for key, text in single.items() if text is not None}
    named |= {f"tags.{key}": text for key, text in mapping.tags.items()}
    for key, text in named.items():
        check_template(text, columns, f"{path}, key '{key}'")
        if text in columns:
            braces = f"{{{{ {text} }}}}"
            raise UsageError(
                f"{path}, key '{key}': '{text}' is the same text for every case, but a column is called so. "
                f'Did you mean "{braces}"?'
            )
    graded = columns if mapping.messages is None else {*columns, _ANSWER}
    for text in (text for grader in mapping.graders for text in _texts(grader)):
        check_template(text, graded, f"{path}, graders")
    for column in mapping.where:
        if column not in columns:
            hint = did_you_mean(column, columns)
            there = ", ".join(sorted(columns))
            raise UsageError(f"{path}, key 'where': no column '{column}'.{hint} There is {there}.")


def map_row(mapping: RowMapping, row: Mapping[str, Any], where: str, lang: str | None) -> RawCase | Dropped:
    """Return the case of one row, or why it is none."""
    for column, kept in mapping.where.items():
        values = kept if isinstance(kept, tuple) else (kept,)
        if str(row.get(column)) not in {str(value) for value in values}:
            return Dropped(where, f"left out by 'where': {column}")
    try:
        asked, answer = _asked(mapping, row)
        case: dict[str, Any] = {
            **asked,
            "graders": [fill_value(grader, {**answer, **row}) for grader in mapping.graders],
            "tags": {key: fill(text, row) for key, text in mapping.tags.items()} | ({"lang": lang} if lang else {}),
        }
        for key, text in (("id", mapping.id), ("cluster", mapping.cluster)):
            if text is not None:
                case[key] = fill(text, row)
    except RowError as error:
        return Dropped(where, str(error), error.detail)
    return RawCase(where, case)


class _Asked(NamedTuple):
    case: dict[str, Any]
    """The keys of the case that say what is asked."""
    answer: dict[str, Any]
    """What graders may use besides the columns."""


def _asked(mapping: RowMapping, row: Mapping[str, Any]) -> _Asked:
    """Return what a row asks.

    Raises:
        RowError: a template cannot be filled, or what it gives is no prompt or conversation.
    """
    system = {} if mapping.system is None else {"system": fill(mapping.system, row)}
    if mapping.messages is not None:
        messages, answer = conversation_of(fill_value(mapping.messages, row))
        if system:
            if messages[0]["role"] == "system":
                raise RowError("a system text in the conversation and another in the mapping")
            messages = [{"role": "system", "content": system["system"]}, *messages]
        return _Asked({"messages": messages}, {} if answer is None else {_ANSWER: answer})
    if isinstance(fill_value(mapping.prompt, row), list | dict):
        raise RowError("the prompt is a list and no text", "map a column of turns with `messages` in place of `prompt`")
    prompt = fill(mapping.prompt or "", row)
    if not prompt.strip():
        raise RowError("the prompt is empty")
    return _Asked({"prompt": prompt, **system}, {})


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
