"""Sampled decoding: what it sets, and how a sample is seeded.

Every sample answers the same batches. What a row draws depends on its place in the batch and on what was drawn before
it, so a batch is seeded anew: a resumed run draws what an undisturbed one does. The same seed does not pair the
samples of two variants: after their first different token they draw from different texts.
"""

from __future__ import annotations

import hashlib
from typing import Any

from qeval.engines.base import DECODING

LEAST_TEMPERATURE = 0.01
"""Below it logits divided by the temperature may overflow; 0 is greedy."""


def decoding_settings(temperature: float) -> dict[str, Any]:
    """Return what generate() is told: greedy at 0, else every token by its probability, none cut off."""
    if not temperature:
        return DECODING
    # Said aloud: what is left open, generate() fills with a top_k of 50.
    return {**DECODING, "do_sample": True, "temperature": float(temperature), "top_p": 1.0, "top_k": 0}


def seed_batch(seed: int, sample: int, batch: int) -> None:
    """Seed torch on every device for one batch of one sample."""
    import torch

    digest = hashlib.sha256(f"{seed}/{sample}/{batch}".encode()).digest()
    torch.manual_seed(int.from_bytes(digest[:8], "little") >> 1)
