"""JSON Schema's patterns are ECMAScript regular expressions: translate one to the `regex` package."""

from __future__ import annotations

from functools import lru_cache

import regex

from qeval.grading._patterns import PatternError, compile_pattern

_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_OUTSIDE = {
    "d": "[0-9]", "D": "[^0-9]", "w": "[A-Za-z0-9_]", "W": "[^A-Za-z0-9_]",
    "s": f"[{_SPACE}]", "S": f"[^{_SPACE}]",
    "b": r"(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))",
    "B": r"(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))",
}  # fmt: skip
_INSIDE = {
    "d": "0-9", "D": r"\x00-/:-\U0010ffff", "w": "A-Za-z0-9_", "W": r"\x00-/:-@\[-\^`{-\U0010ffff",
    "s": _SPACE, "S": r"\x00-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e"
    r"\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff",
    "b": r"\x08",
}  # fmt: skip
_ESCAPE = regex.compile(
    r"\\(?:(?P<unicode>u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4})|(?P<hex>x[0-9A-Fa-f]{2})|c(?P<control>[A-Za-z])"
    r"|(?P<property>[pP]\{[^}]*\})|k<(?P<name>\w+)>|(?P<digits>[1-9]\d*)|(?P<other>.))",
    regex.DOTALL,
)


@lru_cache(maxsize=512)
def compile_ecma(pattern: str) -> regex.Pattern[str]:
    r"""Compile an ECMAScript pattern.

    Raises:
        PatternError: it cannot be compiled, or is too large.

    >>> compile_ecma(r"^\d+$").search("٣") is None, compile_ecma("^a$").search("a\n") is None
    (True, True)
    """
    return compile_pattern(pattern, regex.VERSION0, translate=_translate)


def _translate(pattern: str) -> str:
    parts: list[str] = []
    position, in_class = 0, False
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            part, position = _escape(pattern, position, in_class=in_class)
            parts.append(part)
            continue
        parts.append(_plain(pattern, position, in_class=in_class))
        if character == "[" and not in_class:
            in_class = True
            if pattern.startswith("[^", position):
                parts[-1] = "[^"
                position += 1
            if pattern.startswith("]", position + 1):
                # An empty class: nothing, or with ^ anything.
                parts[-1] = r"(?!)" if parts[-1] == "[" else r"(?s:.)"
                position, in_class = position + 1, False
        elif character == "]":
            in_class = False
        elif pattern.startswith("(?<", position) and pattern[position + 3 : position + 4] not in {"=", "!"}:
            parts[-1] = "(?P<"
            position += 2
        position += 1
    return "".join(parts)


def _plain(pattern: str, position: int, *, in_class: bool) -> str:
    character = pattern[position]
    if in_class:
        return rf"\{character}" if character in "[&~|" else character
    if character == "$":
        return r"(?!(?s:.))"
    if character == ".":
        return r"[^\n\r\u2028\u2029]"
    return character


def _escape(pattern: str, position: int, *, in_class: bool) -> tuple[str, int]:
    found = _ESCAPE.match(pattern, position)
    if found is None:
        raise PatternError("it ends in a single backslash")
    end = found.end()
    if found["unicode"]:
        code = int(found["unicode"].strip("u{}"), 16)
        if 0xD800 <= code <= 0xDBFF and (low := regex.match(r"\\u([dD][c-fC-F][0-9A-Fa-f]{2})", pattern[end:])):
            code, end = 0x10000 + ((code - 0xD800) << 10) + (int(low[1], 16) - 0xDC00), end + low.end()
        return regex.escape(chr(code)), end
    if found["hex"]:
        return regex.escape(chr(int(found["hex"][1:], 16))), end
    if found["control"]:
        return f"\\x{ord(found['control'].upper()) % 32:02x}", end
    if found["property"]:
        return rf"\{found['property']}", end
    if found["name"]:
        return f"(?P={found['name']})", end
    if found["digits"]:
        return rf"\{found['digits']}", end
    other = found["other"]
    table = _INSIDE if in_class else _OUTSIDE
    if other in table:
        return table[other], end
    return {"t": r"\t", "n": r"\n", "r": r"\r", "v": r"\v", "f": r"\f", "0": r"\x00"}.get(
        other, regex.escape(other)
    ), end
