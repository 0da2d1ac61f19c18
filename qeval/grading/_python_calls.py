"""Read calls written in Python's syntax from their syntax tree; nothing is evaluated."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import regex

from qeval.grading._grades import printable
from qeval.grading._json import MOST_DEPTH, JsonError, literal
from qeval.marks import in_sentence

_LONGEST = 20_000
_FENCE_LINE = regex.compile(r"^[ \t]*(?:```+|~~~+)[^\n]*$", regex.MULTILINE)
_WRAPPERS = frozenset({"print", "await", "str", "list"})
_MOST_PLACES = 50
_PLACEHOLDER = regex.compile(r"\.\.\.|…")
"""What stands for a value where a call is only shown."""

Read = tuple[str, dict[str, Any]]


class PythonCalls(NamedTuple):
    """Calls found, and why something meant as a call could not be read."""

    calls: tuple[Read, ...] = ()
    malformed: str | None = None
    not_strict: bool = False
    """Whether JSON's own `true`, `false` or `null` stand in a Python call."""


class _UnreadableError(ValueError):
    """A call whose arguments are not literals."""


def python_calls(text: str, tools: Mapping[str, Sequence[str]]) -> PythonCalls:
    """Return the Python calls of a text.

    A text (or fence) that is nothing but calls is read whole. In prose, only a known tool with at least one literal
    argument is a call: "use `get_weather()`" mentions a tool, it does not call it.

    Args:
        text: the answer.
        tools: the name of each tool with its parameters in order, for positional arguments.

    >>> python_calls("[f(a=1), g.h(b='x')]", {}).calls
    (('f', {'a': 1}), ('g.h', {'b': 'x'}))
    """
    if "(" not in text or len(text) > _LONGEST * 50:
        return PythonCalls()
    for block in _blocks(text):
        nodes = _whole(block)
        if nodes is None:
            if _is_meant(block):
                return PythonCalls((), f"a call that cannot be read: {printable(block, 60)}")
            continue
        try:
            calls = tuple(_read(node, tools) for node in nodes)
        except (_UnreadableError, JsonError) as fault:
            return PythonCalls((), str(fault))
        return PythonCalls(calls, not_strict=any(_has_json_names(node) for node in nodes))
    return _within_prose(text, tools)


def _blocks(text: str) -> list[str]:
    """Return what may be code as a whole: the text, and the contents of its fences."""
    pieces = _FENCE_LINE.split(text)
    blocks = [text, *pieces[1::2]] if len(pieces) > 1 else [text]
    return [block.strip().strip("`").strip() for block in blocks if block.strip()]


_BEGINS_AS_CALL = regex.compile(r"\[?\s*+[^\W\d][\w.-]*+\(")


def _whole(block: str) -> list[ast.Call] | None:
    """Return the calls of a block that holds nothing else, or None."""
    plain = _calls_alone(_parse(block))
    if plain is not None or not _BEGINS_AS_CALL.match(block):
        return plain
    calls = _calls_alone(_parse_named(block))
    # With a hyphen in a name, only arguments with names tell a call from a difference.
    return calls if calls and all(call.keywords and not call.args for call in calls) else None


def _calls_alone(tree: ast.Module | None) -> list[ast.Call] | None:
    if tree is None or not tree.body:
        return None
    nodes: list[ast.expr] = []
    for statement in tree.body:
        if not isinstance(statement, ast.Expr | ast.Assign):
            return None
        value = statement.value
        nodes.extend(value.elts if isinstance(value, ast.List | ast.Tuple) else [value])
    calls = [call for node in nodes if isinstance(call := _unwrapped(node), ast.Call) and _dotted(call.func)]
    return calls if calls and len(calls) == len(nodes) else None


def _parse(text: str) -> ast.Module | None:
    if len(text) > _LONGEST or max(text.count(mark) for mark in "([{") > MOST_DEPTH * 20:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _parse_named(text: str) -> ast.Module | None:
    """Parse calls whose own names or arguments' names Python does not allow: `f(from="a")`, `get-time(zone-id=1)`."""
    names: dict[str, str] = {}
    tree = _parse("".join(_with_plain_names(text, names)))
    for node in ast.walk(tree) if tree and names else ():
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.keyword) and node.arg:
            node.arg = names.get(node.arg, node.arg)
    return tree


_WORD = regex.compile(
    r"(?P<string>\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')|(?P<name>[^\W\d][\w.-]*+)(?P<next>\s*+(?:\(|=(?!=)))?+|."
    r"|\n",
)


def _with_plain_names(text: str, names: dict[str, str]) -> Iterator[str]:
    """Yield a text in which calls and arguments have names that Python allows; `names` is filled with their own."""
    for word in _WORD.finditer(text):
        name = word["name"]
        if not word["next"] or (name.isidentifier() and not keyword.iskeyword(name)):
            yield word[0]
            continue
        plain = f"qeval_name_{len(names)}"
        names[plain] = name
        yield plain + word["next"]


_MEANT = regex.compile(r"\[?\s*+(?P<name>[^\W\d][\w.-]*+)\((?=\s*+[^\W\d][\w.-]*+\s*+(?:=(?!=)|:))")


def _is_meant(block: str) -> bool:
    """Return whether a block is nothing but what begins as a call, `f(a=`, whether or not it can be read."""
    found = _MEANT.match(block)
    if found is None:
        return False
    end = _closing(block, found.end() - 1)
    return end is None or regex.match(r"\s*+(?:\]\s*+\Z|\Z|[,;\n]\s*+[^\W\d][\w.-]*+\()", block[end:]) is not None


def _unwrapped(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Await):
        return _unwrapped(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WRAPPERS:
        inner = node.args[0] if len(node.args) == 1 and not node.keywords else None
        return _unwrapped(inner) if isinstance(inner, ast.Call) else node
    return node


def _dotted(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _has_json_names(call: ast.Call) -> bool:
    return any(isinstance(node, ast.Name) and node.id in {"true", "false", "null"} for node in ast.walk(call))


def _read(call: ast.Call, tools: Mapping[str, Sequence[str]]) -> Read:
    name = _dotted(call.func) or ""
    arguments: dict[str, Any] = {}
    order = tools.get(name, ())
    if order and len(call.args) == 1 and isinstance(call.args[0], ast.Dict) and not call.keywords:
        # `f({"a": 1})`, as in JavaScript, unless the first parameter is an object of other keys.
        given = _literal(name, call.args[0])
        if given.keys() <= set(order):
            return name, given
    if len(call.args) > len(order):
        raise _UnreadableError(f"the call of {name} has arguments without names")
    try:
        pairs: Iterable[tuple[str | None, ast.expr]] = [
            *zip(order, call.args, strict=False),
            *((keyword.arg, keyword.value) for keyword in call.keywords),
        ]
        for key, node in pairs:
            for inner, value in literal(node).items() if key is None else [(key, literal(node))]:
                if inner in arguments:
                    raise _UnreadableError(f"the call of {name} gives {inner} twice")
                arguments[inner] = value
    except (ValueError, AttributeError, RecursionError) as error:
        raise _UnreadableError(f"the arguments of {name} cannot be read: {error}") from error
    return name, arguments


def _literal(name: str, node: ast.Dict) -> dict[str, Any]:
    try:
        return dict(literal(node))
    except (ValueError, AttributeError, RecursionError) as error:
        raise _UnreadableError(f"the arguments of {name} cannot be read: {error}") from error


def _within_prose(text: str, tools: Mapping[str, Sequence[str]]) -> PythonCalls:
    if not tools:
        return PythonCalls()
    names = "|".join(regex.escape(name) for name in sorted(tools, key=len, reverse=True))
    place = regex.compile(rf"(?<![\w.])(?:{names})\s*\(")
    calls: list[Read] = []
    malformed = None
    not_strict = False
    position = 0
    for _ in range(_MOST_PLACES):
        found = place.search(text, position)
        if found is None:
            break
        end = _closing(text, found.end() - 1)
        position = end or found.end()
        if text.endswith("def ", 0, found.start()):
            # Code that defines a function of the tool's name is about it.
            return PythonCalls()
        node = _call_at(text, found, end) if end else None
        if node is None:
            malformed = malformed or _why_unread(text, found, end)
            continue
        if not node.args and not node.keywords:
            continue
        try:
            call = _read(node, tools)
            if any(not isinstance(value, str) or not _PLACEHOLDER.fullmatch(value) for value in call[1].values()):
                calls.append(call)
            not_strict = not_strict or _has_json_names(node)
        except _UnreadableError as fault:
            if node.keywords and not in_sentence(text, found.start(), end or position):
                malformed = malformed or str(fault)
    return PythonCalls(tuple(calls), malformed, not_strict)


_VALUE_BEGINS = ('"', "'", "{", "[")


def _why_unread(text: str, found: regex.Match[str], end: int | None) -> str | None:
    """Return why the call of a known tool cannot be read, or None where it is no Python and not meant as a call."""
    name = found[0].rstrip("( ")
    if end is None:
        begun = "=" in text[found.end() : found.end() + 200] or text.startswith(_VALUE_BEGINS, found.end())
        return f"the call of {name} is not closed" if begun else None
    meant = _is_meant(text[found.start() : end]) and not in_sentence(text, found.start(), end)
    return f"the call of {name} cannot be read" if meant else None


def _call_at(text: str, found: regex.Match[str], end: int) -> ast.Call | None:
    """Return the call of a known tool that ends at `end`, or None where it is no Python."""
    name = found[0].rstrip("( ")
    tree = _parse_named(f"f{text[found.end() - 1 : end]}")
    node = tree.body[0].value if tree and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else None
    if not isinstance(node, ast.Call):
        return None
    node.func = ast.Name(id=name, ctx=ast.Load())
    return node


_TOKEN = regex.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|[()\[\]{}]")


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for token in _TOKEN.finditer(text, start, min(len(text), start + _LONGEST)):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None
