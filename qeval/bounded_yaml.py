"""YAML that people write, read within bounds: what it would grow to is counted before anything is built.

Values are what JSON has, and dates. Tags and merge keys are refused, and keys given twice: each is a way to write
something else than is meant.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    NodeEvent,
    ScalarEvent,
)

from qeval.errors import UsageError
from qeval.jsonl import MOST_DEPTH, read_text

LARGEST_YAML = 4_000_000
"""In characters. A file that large takes some seconds."""
MOST_REPEATED = 100_000
"""Characters that all aliases of a file may repeat together."""
_LONGEST_NUMBER = 1_000
_LONGEST_SHOWN = 40
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})

# libyaml's parser is ten times faster and reads the same; it is missing only where PyYAML was built without it.
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path, *, text_keys: bool = True) -> Any:  # noqa: ANN401 - YAML has no narrower type
    """Read one YAML document without evaluating anything.

    Args:
        path: the file.
        text_keys: whether each key must be text; else it may be a number, a date, true, false or null as well.

    Raises:
        UsageError: unreadable file or YAML fault, with line and column.
    """
    text = read_text(path)
    if len(text) > LARGEST_YAML:
        raise UsageError(
            f"{path}: {len(text):,} characters of YAML; at most {LARGEST_YAML:,} are read. Split the file."
        )
    try:
        _check_growth(text)
        return yaml.load(text, Loader=_TextKeysLoader if text_keys else _Loader)  # both are safe loaders
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise UsageError(f"{path}{place}: not YAML ({said}).{_hint(text, mark)}") from error
    except yaml.YAMLError as error:
        first_line = str(error).partition("\n")[0]
        raise UsageError(f"{path}: not YAML ({first_line}).") from error


def _hint(text: str, mark: yaml.Mark | None) -> str:
    """Return advice where a tab stands at the place of the fault."""
    lines = text.split("\n")
    line = lines[mark.line] if mark is not None and mark.line < len(lines) else ""
    return " Use blanks, not tabs, to indent." if mark is not None and line[mark.column :].startswith("\t") else ""


def _check_growth(text: str) -> None:
    """Refuse what is nested too deeply, or would grow by its aliases, in one pass over the parser's events.

    Raises:
        yaml.MarkedYAMLError: with its place.
    """
    growth = _Growth()
    for event in yaml.parse(text, Loader=_PARSER):
        if isinstance(event, AliasEvent):
            growth.repeat(event)
        elif isinstance(event, CollectionEndEvent):
            growth.close()
        elif isinstance(event, NodeEvent):
            _check_tag(event)
            growth.add(event)


class _Growth:
    """How large a document is so far, in values and their characters, with every alias written out."""

    def __init__(self) -> None:
        self._size = 0
        self._repeated = 0
        self._open: list[tuple[str | None, int]] = []
        """The collections around: anchor, and the size where each began."""
        self._sizes: dict[str | None, int] = {}
        """By anchor."""

    def add(self, event: NodeEvent) -> None:
        """Take in a scalar, or the beginning of a collection."""
        before = self._size
        self._size += 1 + (len(event.value) if isinstance(event, ScalarEvent) else 0)
        if isinstance(event, CollectionStartEvent):
            self._open.append((event.anchor, before))
            if len(self._open) > MOST_DEPTH:
                raise _wrong(event, f"nested deeper than {MOST_DEPTH} levels")
        else:
            self._sizes[event.anchor] = self._size - before

    def close(self) -> None:
        """Take in the end of a collection."""
        anchor, before = self._open.pop()
        self._sizes[anchor] = self._size - before

    def repeat(self, event: AliasEvent) -> None:
        """Take in an alias."""
        size = self._sizes.get(event.anchor)
        if size is None:
            raise _wrong(event, f"the alias *{event.anchor} stands for nothing, or for what it is itself a part of")
        self._size += size
        self._repeated += size
        if self._repeated > MOST_REPEATED:
            raise _wrong(event, f"its aliases repeat more than {MOST_REPEATED:,} characters")


def _check_tag(event: Any) -> None:  # noqa: ANN401 - an event of a scalar or a collection
    if event.tag is not None:
        shown = event.tag.replace("tag:yaml.org,2002:", "!!")[:_LONGEST_SHOWN]
        raise _wrong(event, f"the tag {shown} is not read; leave it out")


class _Loader(_PARSER):  # type: ignore[misc]  # one of two classes
    """A safe loader that takes each key once, and says where a value is wrong."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:  # noqa: ANN401 - yaml.Node
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            self.check_key(key)
            if (key.tag, key.value) in seen:
                raise _wrong(key, f"the key '{key.value[:_LONGEST_SHOWN]}' is given twice")
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep=deep)  # type: ignore[no-any-return]

    def check_key(self, key: Any) -> None:  # noqa: ANN401 - yaml.Node
        """Refuse keys that say something else than themselves."""
        if key.tag == "tag:yaml.org,2002:merge":
            raise _wrong(key, "merge keys (<<) are not read; write the keys out")
        if not isinstance(key, yaml.ScalarNode):
            raise _wrong(key, "a list or an object cannot be a key")

    def construct_object(self, node: Any, deep: bool = False) -> Any:  # noqa: ANN401 - any value
        if node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            raise _wrong(node, f"a number has more than {_LONGEST_NUMBER:,} characters; as text, it needs quotes")
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, OverflowError) as error:
            # Such as the 45th of a month.
            shown = node.value[:_LONGEST_SHOWN]
            raise _wrong(node, f"{shown} cannot be read: {error}; as text, it needs quotes") from error


class _TextKeysLoader(_Loader):
    """Takes only text as a key: `on:` and `1:` are not what they look like."""

    def check_key(self, key: Any) -> None:  # noqa: ANN401 - yaml.Node
        """Refuse keys that are not text as well."""
        super().check_key(key)
        if key.tag != "tag:yaml.org,2002:str":
            raise _wrong(key, f"the key {key.value[:_LONGEST_SHOWN]} is not text; write it in quotes")


def _wrong(place: Any, problem: str) -> yaml.MarkedYAMLError:  # noqa: ANN401 - a node or an event of either parser
    return yaml.MarkedYAMLError(problem=problem, problem_mark=place.start_mark)
