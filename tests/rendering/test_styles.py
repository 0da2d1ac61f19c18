"""Templates in the shapes of public models: each conversation is shown whole, in the way that is the nearest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from qeval.rendering.choose import Chooser
from qeval.rendering.renderer import Renderer, Rules
from qeval.rendering.ways import STANDARD
from tests.engines.tokenizers_made_here import make_tokenizer
from tests.rendering.conversations import DAY, conversations, styles, template_of


@pytest.mark.parametrize("style", styles(), ids=lambda style: style["name"])
def test_every_conversation_is_shown_whole_in_the_nearest_way(style: dict[str, Any]) -> None:
    chooser = Chooser(template_of(style["template"]))
    found = {name: chooser.show(conversation) for name, conversation in conversations().items()}
    expected = {name: style.get("ways", {}).get(name, STANDARD) for name in found}
    assert {name: str(shown.way) for name, shown in found.items()} == expected
    for name, shown in found.items():
        for said in _texts(name):
            plain = said.strip() in shown.text or json.dumps(said, ensure_ascii=False)[1:-1].strip() in shown.text
            assert plain or said.startswith("{"), (name, said)


@pytest.mark.parametrize("style", styles(), ids=lambda style: style["name"])
def test_a_template_that_reads_the_clock_is_known_and_pinned(style: dict[str, Any]) -> None:
    rendering = Renderer(make_tokenizer(style["template"]), Rules(DAY), (), None).rendering
    assert rendering.date == ("2026-01-02" if style.get("date") else None)


def _texts(name: str) -> list[str]:
    conversation = conversations()[name]
    return [message.content for message in conversation.messages] + [tool.name for tool in conversation.tools]
