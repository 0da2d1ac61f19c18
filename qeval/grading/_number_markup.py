"""Markup around numbers made plain: LaTeX, HTML, superscripts, fractions in one character."""

from __future__ import annotations

import unicodedata

import regex

FRACTION_SLASH = "\u2044"
"""What stands between the parts of a fraction once its markup is gone."""
_DEEPEST = 12
"""Levels of LaTeX commands within each other that are read."""

_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_NOTE = regex.compile(r"(?<=\p{Nd}{4})[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
"""After a year or another long number small digits are the number of a footnote."""
_SUPERSCRIPT = regex.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_ONE_CHARACTER = regex.compile("(?P<whole>(?<=\\p{Nd}) ?)?(?P<fraction>[¼½¾⅐-⅞↉])")
_HTML_POWER = regex.compile(r"<sup>\s*([-+−]?\d{1,12})\s*</sup>", regex.IGNORECASE)
_HTML_TAG = regex.compile(r"</?su[bp]>", regex.IGNORECASE)
_BRACED_MARK = regex.compile(r"\{([.,])\}")
_ESCAPED = regex.compile(r"\\([,;:!$%# ])")
_TIMES = regex.compile(r"\\(?:times|cdot)(?!\p{L})")
_FRACTION = regex.compile(r"\\[dtc]?frac\s*+(?:\{([^{}]*+)\}|(\d))\s*+(?:\{([^{}]*+)\}|(\d))")
_SIMPLE = regex.compile(r"[ ]*(?P<sign>[-−]?)[ ]*(?P<digits>[\d.,٫٬'’]+)[ ]*")
_ARGUMENT = regex.compile(r"\\(?![dtc]?frac)\p{Latin}++\*?\{([^{}]*+)\}")
_COMMAND = regex.compile(r"\\\p{Latin}++")
_SUBSCRIPT = regex.compile(r"_\{[^{}]*+\}")
_POWER = regex.compile(
    r"[ ]?(?:\^|(?<=\d)\*\*(?=[-−(]?\d))[ ]?(?:\{[ ]*([-+−]?\d+)[ ]*\}|\([ ]*([-+−]?\d+)[ ]*\)|([-+−]?\d+))"
)
_POWER_OF_NO_NUMBER = regex.compile(r"(?<=[^\d\s]|^)[ ]?\^[-+−]?\d+")
_BRACE = regex.compile(r"\\f?box(?:ed)?\s*+\{|[{}]")


def plain_numbers(text: str) -> str:
    r"""Return a text whose numbers are written in digits, `^` before exponents and U+2044 in fractions.

    An exponent of something that is no number (cm², x^2) is dropped with its mark.

    >>> plain_numbers(r"$10^{3}$, 2½, 5 cm²"), plain_numbers(r"\frac{3}{4} of 42 \text{ cm}^2").split()
    ('$10^3$, 2 1⁄2, 5 cm', ['3⁄4', 'of', '42', 'cm'])
    """
    plain = _ONE_CHARACTER.sub(_spelt_out, text)
    plain = _NOTE.sub("", plain)
    plain = _SUPERSCRIPT.sub(lambda found: f"^{found[0].translate(_SUPERSCRIPTS)}", plain)
    plain = _HTML_TAG.sub(" ", _HTML_POWER.sub(r"^\1", plain))
    if "\\" in plain:
        plain = _without_commands(plain)
    if "^" in plain or "**" in plain:
        plain = _POWER.sub(lambda found: f"^{found[1] or found[2] or found[3]}", plain)
        plain = _POWER_OF_NO_NUMBER.sub("", plain)
    return _BRACED_MARK.sub(r"\1", plain)


def boxed(text: str) -> str | None:
    r"""Return the content of the last box of LaTeX that is closed, the usual mark of a final answer; None without one.

    >>> boxed(r"\boxed{3} and so \boxed{\text{about } 42}. Step 2 was right."), boxed("42")
    ('\\text{about } 42', None)
    """
    content = None
    opened: list[int | None] = []
    for found in _BRACE.finditer(text):
        if found[0] != "}":
            opened.append(found.end() if len(found[0]) > 1 else None)
        elif opened and (start := opened.pop()) is not None:
            content = text[start : found.start()]
    return content


def _spelt_out(found: regex.Match[str]) -> str:
    fraction = unicodedata.normalize("NFKC", found["fraction"])
    if not fraction[-1].isdigit():
        fraction += "1"
    return fraction if found["whole"] is None else f" {fraction}"


def _without_commands(text: str) -> str:
    """Return a text whose LaTeX commands are gone, their contents kept."""
    plain = _TIMES.sub(" × ", _BRACED_MARK.sub(r"\1", text))
    plain = _SUBSCRIPT.sub("", _ESCAPED.sub(lambda found: found[1] if found[1] in "$%#" else "\u2009", plain))
    for _ in range(_DEEPEST):
        before = plain
        plain = _ARGUMENT.sub(_content, _FRACTION.sub(_fraction, plain))
        if plain == before:
            break
    return _COMMAND.sub(" ", plain)


def _content(found: regex.Match[str]) -> str:
    # An exponent belongs to what the command holds: `\text{ cm}^2`.
    return f" {found[1].rstrip()}" if found.string[found.end() : found.end() + 1] == "^" else f" {found[1]} "


def _fraction(found: regex.Match[str]) -> str:
    over, under = found[1] or found[2] or "", found[3] or found[4] or ""
    top, bottom = _SIMPLE.fullmatch(over), _SIMPLE.fullmatch(under)
    if top is None or bottom is None:
        return f" ({over})/({under}) "
    sign = "-" if (top["sign"] == "") != (bottom["sign"] == "") else ""
    before = found.string[found.start() - 1 : found.start()]
    return f"{' ' if before.isdigit() else ''}{sign}{top['digits']}{FRACTION_SLASH}{bottom['digits']} "
