"""Huge and twisted answers, for tests and for `scripts/bench_grading.py`."""

from __future__ import annotations

import base64

TEXTS = {
    "open brackets": "[" * 100_000,
    "closed brackets": "[" * 100_000 + "]" * 100_000,
    "nested objects": '{"a":' * 50_000,
    "digits": "9" * 5_000,
    "one long line": "word " * 50_000,
    "backticks": "`" * 50_000 + "a`",
    "fences": "```json\n" * 5_000,
    "open calls": "f(a=" * 5_000,
    "signs": "f(a=" + "-" * 15_000 + "1)",
    "commas": "1," * 40_000,
    "function tags": "<function=a><parameter=x>" * 2_000,
    "backslashes": '{"' + "\\" * 100_000,
    "many keys": "{" + ",".join(f'"k{i}":1' for i in range(10_000)) + ',"k9999":1}',
    "lone surrogates": "\ud83d" * 1_000,
    "half refusals": "i can't " * 10_000,
    "exponents": '{"a":1e999999999999}',
    "named marks": "[TOOL_CALLS]f{<｜tool▁call▁begin｜>f<｜tool▁sep｜>" * 3_000,
    "open invokes": '<invoke name="f"><parameter name="a">' * 2_000,
    "blanks after a key": "<tool_call>f<arg_key>" + " " * 100_000,
    "blanks in a fence": "<|tool_call_begin|>f:0<|tool_call_argument_begin|>```" + " " * 100_000,
    "units": "9万" * 20_000 + "9,999," * 10_000,
    "numerals": "一百零" * 15_000,
    "at signs": "a" * 50_000 + "@",
    "deep call": "f(a=" + "g(" * 20_000 + "1" + ")" * 20_000 + ")",
    "deep list in a call": "f(a=" + "[" * 20_000 + "]" * 20_000 + ")",
    "direction marks": "\u202e\u2067\u200f" * 20_000 + "5",
    "combining marks": "e" + "\u0301" * 50_000,
    "almost a match": "a" * 5_000 + "!",
}
"""Of every kind, sized so that all graders read all of them within seconds."""
LARGE = {
    "1 MB line": "word " * 200_000,
    "1 MB line without blanks": "word" * 250_000,
    "1 MB of sentences": "The dog runs through the green garden and nobody stops it.\n" * 17_000,
    "1 MB of numbers": "1,234.5 " * 125_000,
    "1 MB of JSON": "[" + ",".join(f'{{"a": {i}}}' for i in range(70_000)) + "]",
    "1 MB of calls": "f(a=1)\n" * 140_000,
    "1 MB of tagged calls": '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>\n' * 17_000,
    "1 MB of base64": base64.b64encode(bytes(range(256)) * 3_000).decode(),
    "1 MB as a JSON text": '{"a": "' + "x" * 1_000_000 + '"}',
    "1 MB of brackets": "[{" * 500_000,
    "1 MB of Japanese": "小さな犬は今日、緑の庭をとても速く走っています。" * 40_000,
    "1 MB of refusals": "I am sorry, but I cannot help with that. " * 25_000,
    "1 MB of direction marks": "\u202e\u2067\u200f" * 330_000 + "5",
    "1 MB of thinking": "<think>" * 140_000,
}
"""What an endpoint without limits could send; for the script alone."""
