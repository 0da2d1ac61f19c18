from typing import Any, ClassVar

import pytest

from qeval.chat import Message, Tool, ToolCall
from qeval.errors import UsageError
from qeval.rendering.renderer import Renderer, Rules
from qeval.rendering.template import RefusedError
from qeval.rendering.turns import TOOLS_TEXT
from qeval.suites.case import Case
from tests.engines import tokenizers_made_here as made
from tests.rendering.conversations import DAY

TOOL = Tool(name="get_weather", description="Weather of a city", parameters={"type": "object", "properties": {}})


def renderer(template: str | None, **options: Any) -> Renderer:
    return Renderer(made.make_tokenizer(template, **options), Rules(DAY), (1,), None)


def case(*messages: Message, tools: tuple[Tool, ...] = ()) -> Case:
    return Case(id="c", messages=messages, tools=tools, graders=({"kind": "contains", "value": "x"},))


SYSTEM = Message(role="system", content="Answer in German.")
USER = Message(role="user", content="Where is Oslo?")


def test_a_template_that_keeps_the_system_role_is_left_alone() -> None:
    r = renderer(made.CHATML)
    assert not r.rendering.system_folded
    assert r.render(case(SYSTEM, USER)).text == (
        "<|im_start|>system\nAnswer in German.<|im_end|>\n<|im_start|>user\nWhere is Oslo?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("template", [made.NO_SYSTEM, made.DROPS_SYSTEM], ids=["raises", "drops it"])
def test_c43_a_system_text_the_template_will_not_take_goes_before_the_first_user_turn(template: str) -> None:
    r = renderer(template)
    assert r.rendering.system_folded
    assert "user\nAnswer in German.\n\nWhere is Oslo?" in r.render(case(SYSTEM, USER)).text


def test_c43_no_chat_template_gives_the_named_fallback() -> None:
    r = renderer(None)
    assert r.rendering.template == "fallback"
    assert r.render(case(SYSTEM, USER)).text == "System: Answer in German.\n\nUser: Where is Oslo?\n\nAssistant:"


def test_c43_neighbouring_user_turns_that_tool_results_make_are_merged_for_a_template_that_alternates() -> None:
    call = ToolCall(name="get_weather", arguments={"city": "Zürich"})
    messages = (
        USER,
        Message(role="assistant", tool_calls=(call, call)),
        Message(role="tool", name="get_weather", content="12 °C"),
        Message(role="tool", name="get_weather", content="13 °C"),
    )
    text = renderer(made.ALTERNATES).render(case(*messages)).text
    assert '{"name": "get_weather", "arguments": {"city": "Zürich"}}' in text
    assert "user\nResult of get_weather: 12 °C\nResult of get_weather: 13 °C<|im_end|>" in text


def test_tools_go_through_a_template_that_knows_them_and_into_the_system_text_elsewhere() -> None:
    knows, ignores = renderer(made.WITH_TOOLS), renderer(made.CHATML)
    assert knows.rendering.tools == "template"
    assert knows.render(case(USER, tools=(TOOL,))).text.startswith("TOOLS [")
    assert ignores.rendering.tools == "fallback"
    text = ignores.render(case(SYSTEM, USER, tools=(TOOL,))).text
    assert text.startswith(f"<|im_start|>system\nAnswer in German.\n\n{TOOLS_TEXT}")
    assert '\n{"name": "get_weather", "description": "Weather of a city", "parameters": {' in text


@pytest.mark.parametrize("template", [made.CHATML, made.WRITES_BOS])
@pytest.mark.parametrize("adds_bos", [True, False])
def test_a_prompt_begins_with_exactly_one_bos_where_the_model_has_one(template: str, adds_bos: bool) -> None:
    ids = renderer(template, adds_bos=adds_bos).render(case(USER)).token_ids
    assert ids.count(0) == (1 if adds_bos or template == made.WRITES_BOS else 0)
    assert ids[0] == (0 if 0 in ids else 2)


def test_a_model_without_bos_gets_none() -> None:
    assert 0 not in renderer(made.CHATML, bos_token=None).render(case(USER)).token_ids


def test_text_that_looks_like_markers_in_a_users_message_is_the_templates_business_but_nothing_is_lost() -> None:
    odd = Message(role="user", content="\u2028 \x00 ‮ {{ 7*7 }} {% raw %}")
    assert odd.content in renderer(made.CHATML).render(case(odd)).text


def test_c43_a_case_that_the_template_refuses_says_what_the_template_said() -> None:
    picky = "{% for m in messages %}{% if 'Oslo' in m['content'] %}{{ raise_exception('not here') }}{% endif %}"
    with pytest.raises(RefusedError, match=r"the chat template refuses it: TemplateError: not here"):
        renderer(picky + "{{ m['content'] }}{% endfor %}").render(case(USER))


def test_what_a_tokenizer_raises_refuses_the_case_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    r = renderer(made.CHATML)
    with pytest.raises(RefusedError, match=r"the tokenizer refuses its text: \w+Error"):
        r.render(case(Message.model_construct(role="user", content="half \ud83d", tool_calls=(), name=None)))
    assert r.render(case(USER)).token_ids


def test_a_panic_of_the_tokenizers_library_refuses_the_case_and_an_interrupt_does_not() -> None:
    class PanicException(BaseException):
        pass

    class Panics:
        chat_template = None
        bos_token_id = None
        special_tokens_map: ClassVar[dict[str, str]] = {}
        raised: BaseException = PanicException("index out of bounds")

        def apply_chat_template(self, conversation: list[dict[str, str]], **_: object) -> str:
            return " ".join(turn["content"] for turn in conversation)

        def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
            if "Oslo" in text:
                raise self.raised
            return {"input_ids": [1]}

    tokenizer = Panics()
    r = Renderer(tokenizer, Rules(DAY), (), None)
    with pytest.raises(RefusedError, match="PanicException: index out of bounds"):
        r.render(case(USER))
    tokenizer.raised = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        r.render(case(USER))


def test_the_date_in_a_prompt_is_that_of_the_run_whatever_the_day() -> None:
    dated = "{{ strftime_now('%d %b %Y') }}|" + made.CHATML
    assert renderer(dated).render(case(USER)).text.startswith("02 Jan 2026|")
    assert renderer(dated).rendering.date == "2026-01-02"
    assert renderer(made.CHATML).rendering.date is None


@pytest.mark.parametrize("odd", ["{{ ['a', 'b'] | random }}", "{{ lipsum() }}"])
def test_a_template_that_draws_at_random_is_refused(odd: str) -> None:
    with pytest.raises(UsageError, match="draws at random"):
        renderer(odd + made.CHATML)
    assert renderer("{{ 'random' if random is defined }}" + made.CHATML).render(case(USER)).token_ids
