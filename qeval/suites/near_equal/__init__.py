"""Near-equal prompts: cases that ask the same with other values, such as one template filled again and again.

Judged on user turns and tool results alone, since system texts and tool lists are alike in all requests of a product.
Two prompts are near-equal where nothing differs but values, or few words in short gaps (`group`); candidates are found
by MinHash (`candidates`) and compared word by word (`alignment`) once values are masked (`masked`). The thresholds were
chosen by measurement, see docs/method.md.
"""

from __future__ import annotations

from qeval.suites.near_equal.group import near_equal as near_equal
from qeval.suites.near_equal.group import near_equal_names as near_equal_names
