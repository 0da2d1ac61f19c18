"""The conversations of conversations.yaml and the templates of styles.yaml, for tests of rendering."""

from __future__ import annotations

import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from qeval.chat import Message, Tool
from qeval.rendering.template import Template
from qeval.rendering.turns import Conversation
from tests.engines.tokenizers_made_here import make_tokenizer

HERE = Path(__file__).parent
DAY = datetime.date(2026, 1, 2)


@cache
def conversations() -> dict[str, Conversation]:
    """Return the conversations by name."""
    found = yaml.safe_load((HERE / "conversations.yaml").read_text("utf-8"))["conversations"]
    return {name: conversation_of(entry) for name, entry in found.items()}


def conversation_of(entry: dict[str, Any]) -> Conversation:
    """Build a conversation from its messages and tools as a file has them."""
    messages = tuple(Message.model_validate(message) for message in entry["messages"])
    return Conversation(messages, tuple(Tool.model_validate(tool) for tool in entry.get("tools", ())))


@cache
def styles() -> list[dict[str, Any]]:
    """Return the templates with what is expected of them."""
    found: list[dict[str, Any]] = yaml.safe_load((HERE / "styles.yaml").read_text("utf-8"))
    return found


def template_of(source: str | None, **options: Any) -> Template:
    """Return a template as a tokenizer made here holds it."""
    return Template(make_tokenizer(source), DAY, options)
