"""Texts a model may print, lone surrogates and control characters included."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from tests.reporting.fake import HOSTILE

_PIECES = (
    "```",
    "~~~~",
    "`",
    "\n",
    "|",
    "\\",
    "</details>",
    "<script>",
    "]]>",
    "&#0;",
    "@user",
    "#1",
    "![x](http://e)",
    "---",
)
hostile_texts = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=()), max_size=60),
    st.lists(st.sampled_from([*_PIECES, *HOSTILE.values()]), max_size=6).map("".join),
)

few = settings(max_examples=25)
"""For tests that render a whole report an example."""
