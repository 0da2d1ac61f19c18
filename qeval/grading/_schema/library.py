"""Import jsonschema without the grammar that its checker of IRIs builds: 3 s at import, and 4 s for one long IRI."""

from __future__ import annotations

import sys
from typing import Any

_GRAMMAR = "rfc3987_syntax"


def load_jsonschema() -> Any:  # noqa: ANN401 - a module
    """Return the jsonschema package; IRIs are checked by `_formats` instead."""
    if "jsonschema" not in sys.modules and _GRAMMAR not in sys.modules:
        # An entry of None makes `import` raise ImportError, which jsonschema takes as "not installed".
        sys.modules[_GRAMMAR] = None  # type: ignore[assignment]
        try:
            import jsonschema
        finally:
            del sys.modules[_GRAMMAR]
        return jsonschema
    import jsonschema

    return jsonschema
