"""A case as a model reads it, without loading the model's weights."""

from __future__ import annotations

from datetime import UTC, datetime

from qeval.engines.base import Prompt
from qeval.engines.unloaded import Unloaded
from qeval.errors import UsageError
from qeval.models.resolved import ResolvedModel
from qeval.rendering.renderer import Rules
from qeval.rendering.template import RefusedError
from qeval.suites.case import Case


def preview(case: Case, model: ResolvedModel) -> Prompt:
    """Render a case as a `qeval run` that starts today would.

    Raises:
        UsageError: the case cannot be shown to the model whole; the message says why.
    """
    try:
        return Unloaded(model, Rules(datetime.now(UTC).date())).render("", case)
    except RefusedError as error:
        raise UsageError(f"case '{case.id}': {model.name} cannot be shown it: {error}.") from error
