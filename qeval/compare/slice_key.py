"""What a slice is called, and which part it plays in a decision."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from qeval.strict import Strict
from qeval.text_kinds import Name, TextKind

Role = Literal["pool", "suite", "required", "exploratory"]
Share = Annotated[float, Field(ge=0, le=1)]


class SliceKey(Strict):
    """The pairs of one suite (None: of all) that share a tag value (None: all of them)."""

    suite: Name | None = None
    tag: Name | None = None
    value: Annotated[str, TextKind.VALUES] | None = None

    @property
    def label(self) -> str:
        """As reports name it: `all`, `longdoc`, `longdoc/depth=0.9`, `all/lang=de`."""
        base = self.suite or "all"
        return base if self.tag is None else f"{base}/{self.tag}={self.value}"
