"""The variant language: `format { '+' key '=' value }`, such as `nf4+keep=layers.3.mlp+keep=lm_head`.

A value may hold `:` and `/`, and no `,` and no `+`, so that lists of variants need no quoting. The canonical text
orders options by key; equal variants have equal texts.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from qeval.errors import UsageError, did_you_mean, unknown_name
from qeval.strict import Strict
from qeval.variants.base import Format, find_format

_VALUE = re.compile(r"[^,+\s]+")


class Option(NamedTuple):
    """A key that may follow a format."""

    description: str
    repeated: bool = False
    values: tuple[str, ...] = ()
    """The allowed values; empty: any."""
    most: float | None = None
    """For a number: it lies between 0 and this."""
    formats: tuple[str, ...] = ()
    """The formats it is for; empty: all that quantise."""


OPTIONS: dict[str, Option] = {
    "compute": Option(
        "what a quantised model multiplies in, and keeps its other weights in (default: fp32 on cpu, else bf16)",
        values=("fp32", "bf16", "fp16"),
    ),
    "keep": Option("modules to leave unquantised, by a part of their dotted name; `*` stands for any", repeated=True),
    "threshold": Option(
        "activations beyond it are outliers, multiplied in floats; 0: none, which makes rows independent (default: 6)",
        most=1000,
        formats=("int8",),
    ),
}
"""What can be asked for now; all of it is for quantised formats."""


class Variant(Strict):
    """One way to serve a model."""

    format: str
    options: tuple[tuple[str, str], ...] = ()
    """Key and value, ordered by key; of a repeated key, in the order given."""

    @property
    def text(self) -> str:
        """The canonical text."""
        return "+".join([self.format, *(f"{key}={value}" for key, value in self.options)])

    def values(self, key: str) -> tuple[str, ...]:
        """Return every value given for a key."""
        return tuple(value for name, value in self.options if name == key)


def parse_variants(text: str) -> list[Variant]:
    """Read a comma-separated list of variants.

    Raises:
        UsageError: a fault in one of them, an empty place in the list, or the same variant twice.

    >>> [variant.text for variant in parse_variants("fp32, nf4+keep=lm_head")]
    ['fp32', 'nf4+keep=lm_head']
    """
    variants = [parse_variant(part) for part in text.split(",")]
    texts = [variant.text for variant in variants]
    for position, name in enumerate(texts):
        if name in texts[:position]:
            raise UsageError(f"variants '{text}': '{name}' stands there twice; write it once.")
    return variants


def parse_variant(text: str) -> Variant:
    """Read one variant.

    Raises:
        UsageError: unknown format or option, a fault of form, or an option that the format has no use for.

    >>> parse_variant("nf4+keep=lm_head+compute=bf16").text
    'nf4+compute=bf16+keep=lm_head'
    """
    if "," in text:
        raise UsageError(f"variant '{text}': a comma separates variants; name one here.")
    name, *parts = (part.strip() for part in text.split("+"))
    if not name:
        raise UsageError(f"variant '{text}': it must begin with a format, such as nf4. See `qeval formats`.")
    fmt = find_format(name)
    options = [_option(text, fmt, part) for part in parts]
    _check_repeats(text, options)
    return Variant(format=name, options=tuple(sorted(options, key=lambda option: option[0])))


def _option(text: str, fmt: Format, part: str) -> tuple[str, str]:
    key, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals or not key or not value:
        raise UsageError(f"variant '{text}': '{part}' is no option; write +key=value, such as +keep=lm_head.")
    if key not in OPTIONS:
        raise UsageError(f"variant '{text}': {unknown_name('option', key, OPTIONS)}")
    if not fmt.quantized:
        raise UsageError(
            f"variant '{text}': {key}= is for quantised formats; {fmt.name} quantises nothing. Leave it out."
        )
    for_formats = OPTIONS[key].formats
    if for_formats and fmt.name not in for_formats:
        raise UsageError(f"variant '{text}': {key}= is for {', '.join(for_formats)}, not for {fmt.name}. Leave it out.")
    if not _VALUE.fullmatch(value):
        raise UsageError(f"variant '{text}': the value of {key}= may hold no space: '{value}'.")
    allowed = OPTIONS[key].values
    if allowed and value not in allowed:
        hint = did_you_mean(value, allowed)
        raise UsageError(f"variant '{text}': {key}={value} is unknown.{hint} Allowed: {', '.join(allowed)}")
    most = OPTIONS[key].most
    return key, value if most is None else _number(text, key, value, most)


def _number(text: str, key: str, value: str, most: float) -> str:
    """Return a number as it is written canonically: without a fraction where it has none."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise UsageError(f"variant '{text}': {key}={value} must be a number from 0 to {most:g}, such as {key}=0.")
    # Adding zero takes the sign off a zero.
    return repr(number + 0.0).removesuffix(".0")


def _check_repeats(text: str, options: list[tuple[str, str]]) -> None:
    for position, (key, value) in enumerate(options):
        if (key, value) in options[:position]:
            raise UsageError(f"variant '{text}': {key}={value} is given twice; write it once.")
        if not OPTIONS[key].repeated and any(key == earlier for earlier, _ in options[:position]):
            raise UsageError(f"variant '{text}': {key}= may be given once.")
