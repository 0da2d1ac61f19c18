"""From a case to the token ids a model reads: one rendering for every variant, and said in the record.

A tokenizer's chat template is probed once. Where it has none, a plain named fallback stands in; where it rejects
or drops a system role, the system text goes before the first user turn; where it does not know tools, they are
described in the system text. The prompt begins with exactly one BOS where the model has one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from qeval.chat import Message, Tool, ToolCall
from qeval.errors import UsageError
from qeval.evidence import Rendering
from qeval.suites.case import Case

FALLBACK_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] | capitalize }}: {{ message['content'] }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
"""For models without a chat template: role names in plain text, one blank line between turns."""

TOOLS_TEXT = (
    "You can call these tools. To call one, answer only with JSON: "
    '{"name": "<tool>", "arguments": {"<argument>": <value>}}. '
    "To call several, answer with a JSON list of such objects. If no tool fits, answer in words.\nTools:\n"
)

_PROBE = "qeval-probe-7f3a"


class Renderer(NamedTuple):
    """A tokenizer with what was found out about its chat template."""

    tokenizer: Any
    """A transformers tokenizer; nothing else of transformers is used here."""
    rendering: Rendering

    def messages(self, case: Case) -> list[dict[str, Any]]:
        """Return the messages as they are handed to the template, tools and system text folded where needed."""
        messages = list(case.messages)
        if case.tools and self.rendering.tools == "fallback":
            messages = _describe_tools(messages, case.tools)
        if self.rendering.system_folded:
            messages = _fold_system(messages)
        if self.rendering.tools == "fallback":
            messages = _calls_as_text(messages)
        return [_as_dict(message) for message in _merge_turns(messages)]

    def text(self, case: Case) -> str:
        """Render a case to the text the model reads, up to where its answer begins.

        Raises:
            UsageError: the template refuses the case.
        """
        options: dict[str, Any] = {}
        if case.tools and self.rendering.tools == "template":
            options["tools"] = [_tool_dict(tool) for tool in case.tools]
        import jinja2

        try:
            return _apply(self.tokenizer, self.rendering.template, self.messages(case), options)
        except (jinja2.TemplateError, TypeError, ValueError) as error:
            turns = ", ".join(message.role for message in case.messages)
            raise UsageError(
                f"case '{case.id}' ({turns}): the model's chat template refuses it: {error}. Change its turns."
            ) from error

    def token_ids(self, text: str) -> tuple[int, ...]:
        """Tokenise rendered text with exactly one BOS, if the model has one at all."""
        ids = list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        bos = self.tokenizer.bos_token_id
        if bos is None:
            return tuple(ids)
        # Probed with a letter: a tokenizer that begins every text with BOS expects it before a prompt as well.
        wants_bos = self.tokenizer("a")["input_ids"][:1] == [bos]
        has_bos = ids[:1] == [bos]
        while ids[1:2] == [bos] and has_bos and wants_bos:
            ids.pop(0)
        return tuple(ids if has_bos or not wants_bos else [bos, *ids])


def probe(tokenizer: Any, end_token_ids: Sequence[int], pad_token: str | None) -> Renderer:  # noqa: ANN401
    """Find out how a tokenizer's chat template treats system text and tools.

    Raises:
        UsageError: the template drops what the user says, so that all prompts would be alike.
    """
    template = "model" if getattr(tokenizer, "chat_template", None) else "fallback"
    user, hello = {"role": "user", "content": _PROBE}, {"role": "user", "content": "hello"}
    if not _knows(tokenizer, template, [user], {}):
        raise UsageError(
            "the model's chat template does not show a user's text (it may want content in parts, as models for "
            "images do). Give the model a template for text, or remove it to use plain role names."
        )
    system_kept = _knows(tokenizer, template, [{"role": "system", "content": _PROBE}, hello], {})
    tool = {"type": "function", "function": {"name": _PROBE, "description": "", "parameters": {}}}
    tools_kept = template == "model" and _knows(tokenizer, template, [hello], {"tools": [tool]})
    rendering = Rendering(
        template=template,
        tools="template" if tools_kept else "fallback",
        system_folded=not system_kept,
        pad_token=pad_token,
        end_token_ids=tuple(end_token_ids),
    )
    return Renderer(tokenizer, rendering)


def _knows(tokenizer: Any, template: str, messages: list[dict[str, Any]], options: dict[str, Any]) -> bool:  # noqa: ANN401
    """Whether the probe's word survives the template; a template that raises does not know it."""
    import jinja2

    try:
        return _PROBE in _apply(tokenizer, template, messages, options)
    except (jinja2.TemplateError, TypeError, ValueError):
        return False


def _apply(tokenizer: Any, template: str, messages: list[dict[str, Any]], options: dict[str, Any]) -> str:  # noqa: ANN401
    if template == "fallback":
        options = {**options, "chat_template": FALLBACK_TEMPLATE}
    rendered: str = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options)
    return rendered


def _describe_tools(messages: list[Message], tools: Sequence[Tool]) -> list[Message]:
    listing = "\n".join(_name_first(tool) for tool in tools)
    has_system = messages[0].role == "system"
    system = messages[0].content + "\n\n" if has_system else ""
    return [Message(role="system", content=f"{system}{TOOLS_TEXT}{listing}"), *messages[1 if has_system else 0 :]]


def _name_first(spoken: Tool | ToolCall) -> str:
    """Write a tool or a call as JSON in the order of its fields: a model reads, and imitates, the name first."""
    return json.dumps(spoken.model_dump(mode="json"), ensure_ascii=False)


def _fold_system(messages: list[Message]) -> list[Message]:
    if messages[0].role != "system":
        return messages
    first, second, *rest = messages
    if second.role != "user":
        return [Message(role="user", content=first.content), second, *rest]
    return [second.model_copy(update={"content": f"{first.content}\n\n{second.content}"}), *rest]


def _calls_as_text(messages: list[Message]) -> list[Message]:
    """Write earlier calls and tool results as plain turns, for templates that know no tools."""
    plain = []
    for message in messages:
        if message.role == "tool":
            plain.append(Message(role="user", content=f"Result of {message.name or 'the tool'}: {message.content}"))
        elif message.tool_calls:
            calls = "\n".join(_name_first(call) for call in message.tool_calls)
            plain.append(Message(role="assistant", content=f"{message.content}\n{calls}".strip()))
        else:
            plain.append(message)
    return plain


def _merge_turns(messages: list[Message]) -> list[Message]:
    """Join neighbouring user turns (several tool results become them), since templates want turns to alternate."""
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role == "user":
            merged[-1] = merged[-1].model_copy(update={"content": f"{merged[-1].content}\n{message.content}"})
        else:
            merged.append(message)
    return merged


def _as_dict(message: Message) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        turn["tool_calls"] = [
            {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        turn.update({"name": message.name or "", "tool_call_id": message.tool_call_id or ""})
    return turn


def _tool_dict(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": tool.model_dump(mode="json")}
