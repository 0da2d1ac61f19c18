"""The option shared by graders that look for text: `value` or `values`, none of them empty."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from qeval.grading._text import fold
from qeval.strict import Strict


class Wanted(Strict):
    """One value or several; what would match everything or nothing is refused."""

    value: str | None = None
    values: tuple[str, ...] | None = None

    @property
    def wanted(self) -> tuple[str, ...]:
        """All values."""
        return (self.value,) if self.value is not None else self.values or ()

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if (self.value is None) == (self.values is None):
            raise ValueError("give 'value' or 'values', one of the two")
        if not self.wanted:
            raise ValueError("'values' is empty; name at least one")
        for value in self.wanted:
            if not fold(value):
                raise ValueError(f"the expected value {value!r} is empty; an empty value matches every answer")
        return self
