"""What repeats and yet is no loop: lines drawn with marks, tables, records, code, closing brackets."""

from __future__ import annotations

import regex

from qeval.grading._loops import Loop

_LONGEST_RULE = 120
"""Characters of a line that is drawn: a page is hardly wider."""
_MOST_ROWS = 50
"""Equal lines, or cells of one line, that a table or a program may end in."""

_CLOSING_TAGS = regex.compile(r"[\s\w>]*+(?:</(\w+)>\s*)+(?:</\w*)?")
"""The turns of a loop may begin and end within a tag."""
_DRAWN = regex.compile(r"[\s\-=_*~#.·…|+<>/\\＿ー–—\u2500-\u259F]*+")
_DRAWN_OR_FILLED_IN = regex.compile(rf"(?:{_DRAWN.pattern}|[0xX]*+)")
_SAYS_SOMETHING = regex.compile(r"[\p{L}\p{N}]")
_ROW = regex.compile(
    r"[|\t={}\[\]&\\]"  # cells, assignments, objects
    r"|</|;\s*$|\w\("  # a closing tag, the end of a statement, a call
    r"|,(?=\S)"  # values with commas and no blanks
    r"|^\s*([\p{Latin}\p{Greek}\p{Cyrillic}\p{N}/]{1,4})(?:\s+\1)*+\s*$"  # columns of "yes", "n/a", "0"
    r"|^[^\p{L}]*(?:\d|(?:[-_=*~.] ?){3})[^\p{L}]*$"  # numbers alone; lines to write on; boards
)
_CELLS = regex.compile(r"\s*\|.*[\p{L}\p{N}].*\|\s*|[\[\s]*[\d.\-]+(?:\s*[,;\t]\s*[\d.\-]+)++[\s\].]*", regex.DOTALL)
"""A line of a Markdown table; numbers in a row."""


def is_drawn(loop: Loop, before: str, lines: list[str], *, cut: bool) -> bool:
    """Whether a loop is one line of marks after other text, such as a rule, dots, a place to sign, or "xxxx".

    Args:
        loop: the loop that a text ends in.
        before: the text before it.
        lines: the loop's own lines, see `lines_of`.
        cut: whether the answer was cut at its limit; noughts and crosses would then have gone on.
    """
    marks = _DRAWN if cut else _DRAWN_OR_FILLED_IN
    one_line = len(lines) == 1 and len(loop.text) <= _LONGEST_RULE
    return one_line and marks.fullmatch(loop.unit) is not None and _SAYS_SOMETHING.search(before) is not None


def is_tabular(loop: Loop, text: str, lines: list[str]) -> bool:
    """Whether a loop is at most 50 lines of a table, of records or of code, or as many cells or numbers of a line."""
    if len(lines) > 1:
        return len(lines) <= _MOST_ROWS and all(_ROW.search(line) for line in lines)
    above, _, last = text.rstrip().rpartition("\n")
    # The last row of a table may end in empty cells, where the row above has as many cells.
    empty_cells = loop.period == 1 and above.rpartition("\n")[2].count(loop.unit) >= len(loop.text)
    return loop.turns <= _MOST_ROWS and (empty_cells or _CELLS.fullmatch(last) is not None)


def closes(loop: Loop, text: str) -> bool:
    """Whether each turn of a loop closes brackets, or tags alone, that the text has opened: so nested text ends."""
    if _surplus(loop.unit) > 0:
        return _surplus(text) <= 0
    tags = _CLOSING_TAGS.fullmatch(loop.text)
    return tags is not None and all(text.count(f"<{tag}") >= text.count(f"</{tag}") for tag in set(tags.captures(1)))


def _surplus(text: str) -> int:
    """Return how many brackets a text closes more than it opens."""
    return sum(map(text.count, ")]}")) - sum(map(text.count, "([{"))


def lines_of(loop: Loop, text: str) -> list[str]:
    """Return the lines of a text that its loop stands in, blank ones left out.

    The loop was found where blanks are collapsed, so characters are counted without them.
    """
    left = len("".join(loop.text.split()))
    start = len(text)
    while left and start:
        start -= 1
        left -= not text[start].isspace()
    return [line for line in text[start:].split("\n") if line.strip()]
