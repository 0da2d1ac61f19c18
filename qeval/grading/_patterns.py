"""Compile the patterns that people and models write, within bounds.

The `regex` package writes a repeated part out when it compiles: `a{100000000}` takes minutes and all memory before any
text is searched. So the size a pattern has when written out is counted first.
"""

from __future__ import annotations

from collections.abc import Callable

import regex

LONGEST_PATTERN = 20_000
"""In characters. The longest patterns in public schemas list a thousand words and stay below it."""
LARGEST_PATTERN = 200_000
"""In characters with every repeated part written out; compiling takes a second for about 500,000."""
_LONGEST_SHOWN = 80
_PART = regex.compile(
    r"(?P<one>\\.|\[\^?\]?(?:\\.|[^\]\\])*+\])|(?P<open>\()|(?P<close>\))|\{(?P<least>\d+)(?:,\d*)?\}|(?P<other>.)",
    regex.DOTALL,
)


class PatternError(ValueError):
    """A pattern cannot be used."""


def compile_pattern(
    pattern: str, flags: int = 0, *, translate: Callable[[str], str] = lambda pattern: pattern
) -> regex.Pattern[str]:
    r"""Compile a pattern.

    Args:
        pattern: as it was written.
        flags: of the `regex` package.
        translate: returns the pattern in the syntax of the `regex` package, where it is in another.

    Raises:
        PatternError: it is no regular expression, or too large.

    >>> compile_pattern("(?:ab{1000}){1000}")
    Traceback (most recent call last):
    ...
    qeval.grading._patterns.PatternError: the pattern '(?:ab{1000}){1000}' is too large: its repeated parts, ...
    """
    shown = repr(pattern if len(pattern) <= _LONGEST_SHOWN else f"{pattern[:_LONGEST_SHOWN]}...")
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"the pattern {shown} is longer than {LONGEST_PATTERN:,} characters")
    try:
        translated = translate(pattern)
        if written_out(translated) > LARGEST_PATTERN:
            raise PatternError(
                f"the pattern {shown} is too large: its repeated parts, written out, take more than "
                f"{LARGEST_PATTERN:,} characters"
            )
        return regex.compile(translated, flags)
    except PatternError:
        raise
    except RecursionError as error:
        raise PatternError(f"the pattern {shown} is nested too deeply") from error
    except (regex.error, ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        raise PatternError(f"the pattern {shown} is no regular expression: {error}") from error


def written_out(pattern: str) -> int:
    """Return how long a pattern is when each part is written as often as it must at least match."""
    # By depth of groups: characters so far, and those of the last part, which a count would repeat.
    size, last = [0], [0]
    for part in _PART.finditer(pattern):
        if part["open"]:
            size.append(0)
            last.append(0)
            continue
        if part["least"]:
            times = int(part["least"]) if len(part["least"]) < 10 else LARGEST_PATTERN
            more = last[-1] * max(times - 1, 0)
            last[-1] += more
        elif part["close"] and len(size) > 1:
            last.pop()
            more = size.pop()
            last[-1] = more
        else:
            more = last[-1] = 1
        size[-1] += more
    return sum(size)
