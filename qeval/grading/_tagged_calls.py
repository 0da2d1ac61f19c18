"""Read calls that models write in marks of their own: a name, then parameters in tags or one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import regex

MOST_CALLS = 1_000
"""Most calls that are read: an answer with more is a loop, and is wrong however it goes on."""

_NAME = r"(?P<name>[\w.:/-]++)"


def _until(end: str) -> str:
    return rf"(?P<body>(?:(?!{end}).)*+)"


_HEADS = (
    # <function=f>...</function>: Llama, Qwen coder
    rf"<function={_NAME}>{_until('</?function[=>]')}",
    # <invoke name="f">...</invoke>: Claude, MiniMax
    rf"<invoke name=\"{_NAME}\">{_until('</?invoke[ >]')}",
    # <tool_call>f <arg_key>a</arg_key><arg_value>1</arg_value></tool_call>: GLM
    rf"<tool_call>\s*{_NAME}\s*(?=<arg_key>){_until('</?tool_call>')}",
    # [TOOL_CALLS]f[ARGS]{...}: Mistral
    rf"\[TOOL_CALLS\]\s*{_NAME}\s*(?:\[CALL_ID\]\w*\s*)?(?:\[ARGS\]\s*)?(?=\{{)" + _until(r"\[TOOL_CALLS\]"),
    # <|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{...}<|tool_call_end|>: Kimi
    r"<\|tool_call_begin\|>\s*(?:functions\.)?(?P<name>[\w./-]++)(?::\d+)?\s*<\|tool_call_argument_begin\|>"
    + _until(r"<\|tool_call"),
    # begin, (function, sep,) f, sep, {...} or a fence with it, end: DeepSeek
    r"<[|｜]tool▁call▁begin[|｜]>(?:function<[|｜]tool▁sep[|｜]>)?"
    rf"{_NAME}(?:<[|｜]tool▁sep[|｜]>|\s)\s*{_until('<[|｜]tool▁call▁')}",
)
_CALL = tuple(regex.compile(head, regex.DOTALL) for head in _HEADS)
_PARAMETER = regex.compile(
    r"<parameter(?:=(?P<key>[\w.:-]+)| name=\"(?P<key>[^\"<>]+)\")>"
    r"\n?(?P<value>(?:(?!<parameter[= ]).)*?)\n?</parameter>"
    r"|<arg_key>(?P<key>[^<>]*+)</arg_key>\s*+<arg_value>\n?(?P<value>(?:(?!<arg_key>).)*?)\n?</arg_value>",
    regex.DOTALL,
)


class TaggedCall(NamedTuple):
    """A call as it stands: its name, and its parameters as text or the text of one JSON object."""

    name: str
    parameters: Mapping[str, str]
    body: str
    """What stands between the name and the closing mark; counts where there are no parameters."""


def tagged_calls(text: str) -> Iterator[TaggedCall]:
    """Yield the calls of a text in the first syntax that it holds, in order.

    >>> [call.parameters for call in tagged_calls("<function=f><parameter=a>1</parameter></function>")]
    [{'a': '1'}]
    """
    for pattern in _CALL:
        found = pattern.findall(text)
        if found:
            for name, body in found[:MOST_CALLS]:
                parameters = {match["key"].strip(): match["value"] for match in _PARAMETER.finditer(body)}
                yield TaggedCall(name, parameters, _unfenced(body.strip()))
            return


def _unfenced(body: str) -> str:
    return body.partition("\n")[2].removesuffix("```") if body.startswith("```") else body
