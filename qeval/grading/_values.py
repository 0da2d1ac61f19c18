"""The option shared by graders that look for text: `value` or `values`, none of them empty."""

from __future__ import annotations

from qeval.grading._text import fold
from qeval.strict import Strict


class Wanted(Strict):
    """One value or several."""

    value: str | None = None
    values: tuple[str, ...] | None = None

    @property
    def wanted(self) -> tuple[str, ...]:
        """All values."""
        return (self.value,) if self.value is not None else self.values or ()

    def check_values(self) -> None:
        """Refuse what would match everything or nothing.

        Raises:
            ValueError: neither or both keys given, or a value without a visible character.
        """
        if (self.value is None) == (self.values is None):
            raise ValueError("give 'value' or 'values', one of the two")
        if not self.wanted:
            raise ValueError("'values' is empty; name at least one")
        for value in self.wanted:
            if not fold(value):
                raise ValueError(f"the expected value {value!r} is empty; an empty value matches every answer")
