"""Find the JSON in an answer, read it strictly, and say what is wrong where it cannot be read.

Numbers are exact: integers stay integers, decimals become `Decimal`. Depth and length are limited before
anything recursive sees the text. Nothing is repaired silently: what a lenient reader would have made of a text is
returned apart.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple, NoReturn

import regex

from qeval.jsonl import is_deeper

MOST_DEPTH = 100
"""Deepest nesting that is read. No product's schema comes near; Python's own limits lie above."""
MOST_EXPONENT = 10_000
"""Largest power of ten in a number: beyond it, exact arithmetic would not end."""
LONGEST_LITERAL = 50_000
"""Longest text handed to the lenient reader, which is slower than JSON's."""
_LONGEST_INT = 4000
_MOST_TRIES = 50

Extraction = Literal["whole", "fence", "embedded"]

_FENCE = regex.compile(
    r"(?<![`~])(?P<mark>`{3,}+|~{3,}+)[ \t]*(?P<label>[\w+#./-]*)[^\n`]*(?:\r?\n|\Z)", regex.VERSION1
)
_JSON_LABELS = frozenset({"json", "jsonc", "json5", "application/json", "jsonl", "ndjson"})
_MAYBE_LABELS = frozenset({"", "text", "txt", "plaintext", "plain", "output"})
_OPENING = regex.compile(
    r"\{(?=\s*(?:[\"'“”}]|[A-Za-z_]\w*\s*:|\Z))|\[(?=\s*(?:[\"'{\[\]\d-]|(?:true|false|null|True|False|None)\b|\Z))"
)
_BLANK = regex.compile(r"\s*+")
_TOKEN = regex.compile(r"\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|'(?:[^'\\\n]|\\.)*+'|[{}\[\]]", regex.DOTALL)


class JsonError(ValueError):
    """A text is not one strict JSON value; `fault` is the class."""

    def __init__(self, fault: str, reason: str) -> None:
        super().__init__(reason)
        self.fault = fault


class Piece(NamedTuple):
    """One JSON value found in an answer, read or not."""

    text: str
    extraction: Extraction
    value: Any = None
    fault: JsonError | None = None
    closed: bool = True

    @property
    def read(self) -> bool:
        """Whether `value` holds something."""
        return self.fault is None


class Found(NamedTuple):
    """What an answer holds."""

    pieces: tuple[Piece, ...]
    fenced: bool
    unclosed_fence: bool
    prose: bool
    """Whether there is text around the JSON that is neither blank nor the fence."""


def read_strict(text: str) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Read one strict JSON value.

    Raises:
        JsonError: `not_strict`, `duplicate_key`, `too_deep` or `too_large`.
    """
    if is_deeper(text, MOST_DEPTH):
        raise JsonError("too_deep", f"nested deeper than {MOST_DEPTH} levels")
    try:
        return _DECODER.decode(text)
    except JsonError:
        raise
    except RecursionError as error:
        raise JsonError("too_deep", "nested too deeply") from error
    except ValueError as error:
        raise JsonError("not_strict", f"not JSON: {error}") from error


def read_lenient(text: str) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Read what JSON and Python literals mixed may mean: single quotes, trailing commas, True, None. Never evaluated.

    Raises:
        ValueError: not readable that way either.
    """
    if len(text) > LONGEST_LITERAL or is_deeper(text, MOST_DEPTH):
        raise ValueError("too long or too deep for the lenient reader")
    try:
        return _LENIENT.decode(text)
    except JsonError as fault:
        if fault.fault == "duplicate_key":
            raise
    except (ValueError, RecursionError):
        pass
    try:
        return literal(ast.parse(text.strip(), mode="eval").body)
    except JsonError:
        raise
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError("not a literal") from error


def literal(node: ast.expr) -> Any:  # noqa: ANN401, C901 - one branch a kind of literal
    """Return the value of a literal's syntax tree, with JSON's own names allowed; nothing is evaluated.

    Raises:
        ValueError: the tree holds something else than literals.
    """
    match node:
        case ast.Constant(value=str(text)):
            return _join_surrogates(text)
        case ast.Constant(value=bool() | int() | None as value):
            return value
        case ast.Constant(value=float(value)):
            return _decimal(repr(value))
        case ast.Name(id="true"):
            return True
        case ast.Name(id="false"):
            return False
        case ast.Name(id="null"):
            return None
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = literal(operand)
            if isinstance(number, bool) or not isinstance(number, int | Decimal):
                raise ValueError("a sign before what is no number")
            return -number if isinstance(sign, ast.USub) else number
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return _object([(_key(key), literal(value)) for key, value in zip(keys, values, strict=True)])
    raise ValueError("not a literal")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _join_surrogates(node.value)
    raise ValueError("a key that is no text")


def _join_surrogates(text: str) -> str:
    """Join surrogate pairs that Python keeps apart; a lone one stays."""
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") if _paired(text) else text


def _paired(text: str) -> bool:
    return regex.fullmatch("(?:[^\ud800-\udfff]|[\ud800-\udbff][\udc00-\udfff])*", text) is not None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise JsonError("duplicate_key", f"the key {twice[:60]!r} stands twice in one object")
    return seen


def _integer(digits: str) -> int | Decimal:
    # Python refuses to print or read integers of more than 4,300 digits; a Decimal has no such limit.
    return int(digits) if len(digits) <= _LONGEST_INT else Decimal(digits)


def _decimal(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise JsonError("too_large", "a number's exponent is beyond what can be read") from error
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise JsonError("not_strict", f"{text} is not JSON")
    if abs(exponent) > MOST_EXPONENT:
        raise JsonError("too_large", f"a number's exponent is beyond {MOST_EXPONENT}")
    return value


def _constant(name: str) -> NoReturn:
    raise JsonError("not_strict", f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_decimal, parse_constant=_constant
)
_LENIENT = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_decimal, parse_constant=_constant, strict=False
)


def find_json(text: str) -> Found:
    """Find the JSON values of an answer: the whole text, else a fence's content, else values within prose.

    A fence labelled with another language is no JSON, whatever it holds.

    >>> found = find_json('Sure: {"a": 1}!')
    >>> found.pieces[0].value, found.pieces[0].extraction, found.prose
    ({'a': 1}, 'embedded', True)
    """
    whole = _piece(text.strip(), "whole")
    if whole.read or (whole.fault is not None and whole.fault.fault in {"duplicate_key", "too_large"}):
        return Found((whole,), fenced=False, unclosed_fence=False, prose=False)
    fences = _fences(text)
    chosen = [fence for fence in fences if fence.label in _JSON_LABELS and fence.body.strip()]
    if not chosen:
        chosen = [fence for fence in fences if fence.label in _MAYBE_LABELS and _OPENING.match(fence.body.strip())]
    if chosen:
        pieces = tuple(piece for fence in chosen for piece in _pieces(fence.body, "fence"))
        outside = _outside(text, chosen)
        return Found(pieces, True, any(not fence.closed for fence in chosen), bool(outside.strip()))
    bare = _outside(text, fences)
    pieces = tuple(_pieces(bare, "embedded"))
    rest = bare
    for piece in pieces:
        rest = rest.replace(piece.text, " ", 1)
    return Found(pieces, fenced=False, unclosed_fence=False, prose=bool(rest.strip()) or bool(fences))


def closing_bracket(text: str, start: int) -> int:
    """Return where the bracket at `start` is closed, strings minded, or the end of the text where it is not."""
    end = _end(text, start)
    return len(text) if end is None or end < 0 else end


def value_end(text: str, start: int) -> int | None:
    """Return where the JSON object or list at `start` ends, or None where none can be read, leniently either."""
    end = closing_bracket(text, start)
    try:
        read_strict(text[start:end])
    except JsonError as fault:
        if fault.fault != "not_strict":
            return end
    else:
        return end
    try:
        read_lenient(text[start:end])
    except ValueError:
        return None
    return end


class _Fence(NamedTuple):
    label: str
    body: str
    start: int
    end: int
    closed: bool


def _fences(text: str) -> list[_Fence]:
    fences: list[_Fence] = []
    position = 0
    while opening := _FENCE.search(text, position):
        mark = opening["mark"]
        start = opening.end()
        end = text.find(mark, _past_json(text, start))
        closed = end >= 0
        end = end if closed else len(text)
        position = end + len(mark) if closed else len(text)
        fences.append(_Fence(opening["label"].lower(), text[start:end], opening.start(), position, closed))
    return fences


def _past_json(text: str, start: int) -> int:
    """Return the end of the JSON that begins a fence, so that a fence mark inside a string does not close it."""
    blank = _BLANK.match(text, start)
    opening = _OPENING.match(text, blank.end()) if blank else None
    end = _end(text, opening.start()) if opening else None
    return end if end is not None and end > 0 else start


def _outside(text: str, fences: list[_Fence]) -> str:
    parts, position = [], 0
    for fence in fences:
        parts.append(text[position : fence.start])
        position = fence.end
    return "\n".join([*parts, text[position:]])


def _piece(text: str, extraction: Extraction, *, closed: bool = True) -> Piece:
    try:
        return Piece(text, extraction, read_strict(text), closed=closed)
    except JsonError as fault:
        return Piece(text, extraction, fault=fault, closed=closed)


def _pieces(text: str, extraction: Extraction) -> list[Piece]:
    """Return the values in a text: the whole of it where that is one, else every object and array at top level."""
    whole = _piece(text.strip(), extraction)
    if whole.read:
        return [whole]
    pieces: list[Piece] = []
    position = tries = 0
    while tries < _MOST_TRIES and (opening := _OPENING.search(text, position)):
        start = opening.start()
        end = _end(text, start)
        if end is None:
            fault = JsonError("too_deep", f"nested deeper than {MOST_DEPTH} levels")
            return [*pieces, Piece(text[start:], extraction, fault=fault, closed=False)]
        if end < 0:
            fault = JsonError("unclosed", "the JSON ends before it is closed")
            return [*pieces, Piece(text[start:], extraction, fault=fault, closed=False)]
        pieces.append(_piece(text[start:end], extraction))
        position = end
        tries += 1
    return pieces


def _end(text: str, start: int) -> int | None:
    """Return where the bracket at `start` is closed, -1 where it is not, None where it is nested too deeply."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] in "{[":
            depth += 1
            if depth > MOST_DEPTH:
                return None
        elif token[0] in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return -1
