"""Variants: one way to serve a model each. The spec language, and one file a format family."""

from __future__ import annotations

from qeval.variants.base import Availability as Availability
from qeval.variants.base import Format as Format
from qeval.variants.base import available as available
from qeval.variants.base import find_format as find_format
from qeval.variants.base import list_formats as list_formats
from qeval.variants.load import LoadedVariant as LoadedVariant
from qeval.variants.load import load_variant as load_variant
from qeval.variants.spec import Variant as Variant
from qeval.variants.spec import parse_variant as parse_variant
from qeval.variants.spec import parse_variants as parse_variants
