from typing import Any

import pytest

from qeval.chat import Message, Tool, ToolCall
from qeval.engines.render import TOOLS_TEXT, Renderer, probe
from qeval.errors import UsageError
from qeval.suites.case import Case
from tests.engines import tokenizers_made_here as made

TOOL = Tool(name="get_weather", description="Weather of a city", parameters={"type": "object", "properties": {}})


def renderer(template: str | None, **options: Any) -> Renderer:
    return probe(made.make_tokenizer(template, **options), (1,), None)


def case(*messages: Message, tools: tuple[Tool, ...] = ()) -> Case:
    return Case(id="c", messages=messages, tools=tools, graders=({"kind": "contains", "value": "x"},))


SYSTEM = Message(role="system", content="Answer in German.")
USER = Message(role="user", content="Where is Oslo?")


def test_a_template_that_keeps_the_system_role_is_left_alone() -> None:
    r = renderer(made.CHATML)
    assert not r.rendering.system_folded
    assert r.text(case(SYSTEM, USER)) == (
        "<|im_start|>system\nAnswer in German.<|im_end|>\n<|im_start|>user\nWhere is Oslo?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("template", [made.NO_SYSTEM, made.DROPS_SYSTEM], ids=["raises", "drops it"])
def test_c43_a_system_text_the_template_will_not_take_goes_before_the_first_user_turn(template: str) -> None:
    r = renderer(template)
    assert r.rendering.system_folded
    assert "user\nAnswer in German.\n\nWhere is Oslo?" in r.text(case(SYSTEM, USER))


def test_c43_no_chat_template_gives_the_named_fallback() -> None:
    r = renderer(None)
    assert r.rendering.template == "fallback"
    assert r.text(case(SYSTEM, USER)) == "System: Answer in German.\n\nUser: Where is Oslo?\n\nAssistant:"


def test_c43_neighbouring_user_turns_that_tool_results_make_are_merged_for_a_template_that_alternates() -> None:
    call = ToolCall(name="get_weather", arguments={"city": "Zürich"})
    messages = (
        USER,
        Message(role="assistant", tool_calls=(call, call)),
        Message(role="tool", name="get_weather", content="12 °C"),
        Message(role="tool", name="get_weather", content="13 °C"),
    )
    text = renderer(made.ALTERNATES).text(case(*messages))
    assert '{"name": "get_weather", "arguments": {"city": "Zürich"}}' in text
    assert "user\nResult of get_weather: 12 °C\nResult of get_weather: 13 °C<|im_end|>" in text


def test_tools_go_through_a_template_that_knows_them_and_into_the_system_text_elsewhere() -> None:
    knows, ignores = renderer(made.WITH_TOOLS), renderer(made.CHATML)
    assert knows.rendering.tools == "template"
    assert knows.text(case(USER, tools=(TOOL,))).startswith("TOOLS [")
    assert ignores.rendering.tools == "fallback"
    text = ignores.text(case(SYSTEM, USER, tools=(TOOL,)))
    assert text.startswith(f"<|im_start|>system\nAnswer in German.\n\n{TOOLS_TEXT}")
    assert '\n{"name": "get_weather", "description": "Weather of a city", "parameters": {' in text


@pytest.mark.parametrize("template", [made.CHATML, made.WRITES_BOS])
@pytest.mark.parametrize("adds_bos", [True, False])
def test_a_prompt_begins_with_exactly_one_bos_where_the_model_has_one(template: str, adds_bos: bool) -> None:
    r = renderer(template, adds_bos=adds_bos)
    ids = r.token_ids(r.text(case(USER)))
    assert ids.count(0) == (1 if adds_bos or template == made.WRITES_BOS else 0)
    assert ids[0] == (0 if 0 in ids else 2)


def test_a_model_without_bos_gets_none() -> None:
    r = renderer(made.CHATML, bos_token=None)
    assert 0 not in r.token_ids(r.text(case(USER)))


def test_text_that_looks_like_markers_in_a_users_message_is_the_templates_business_but_nothing_is_lost() -> None:
    odd = Message(role="user", content="\u2028 \x00 ‮ {{ 7*7 }} {% raw %}")
    assert odd.content in renderer(made.CHATML).text(case(odd))


def test_a_template_that_drops_the_users_text_is_refused_since_all_prompts_would_be_alike() -> None:
    parts = "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] }}{% endif %}"
    with pytest.raises(UsageError, match="does not show a user's text"):
        renderer(parts + "{% endfor %}{% endfor %}")


def test_c43_a_case_that_the_template_refuses_is_named() -> None:
    picky = "{% for m in messages %}{% if 'Oslo' in m['content'] %}{{ raise_exception('not here') }}{% endif %}"
    with pytest.raises(UsageError, match=r"case 'c' \(user\).*not here"):
        renderer(picky + "{{ m['content'] }}{% endfor %}").text(case(USER))
