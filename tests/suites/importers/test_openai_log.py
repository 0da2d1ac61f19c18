"""Logged requests: what follows from the answer is expected, what does not is counted with what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.jsonl import read_lines
from tests.suites.importers.helpers import cases, dropped, fault, imported

TOOL = {
    "type": "function",
    "function": {
        "name": "send",
        "parameters": {"type": "object", "properties": {"to": {"type": "string"}, "n": {"type": "integer"}}},
    },
}
SCHEMA = {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "bill", "strict": True, "schema": SCHEMA}}


def request(text: str = "Send it to ann@x.org.", **rest: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **rest}


def response(content: str | None = None, call: dict[str, Any] | None = None, finish: str = "stop") -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if call is not None:
        message["tool_calls"] = [
            {"id": "c1", "type": "function", "function": {**call, "arguments": json.dumps(call["arguments"])}}
        ]
    return {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


CALL = {"name": "send", "arguments": {"to": "ann@x.org", "n": 1}}


def log(folder: Path, *rows: Any, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_logged_calls_are_expected_with_the_same_placeholders_as_the_prompt(tmp_path):
    row = {
        "id": "a",
        "request": request(tools=[TOOL], max_tokens=50),
        "response": response(call=CALL, finish="tool_calls"),
    }
    found = imported("openai-log", log(tmp_path, row))
    case = cases(found)["a"]
    assert case.messages[0].content == "Send it to <EMAIL_1>."
    assert (case.max_new_tokens, case.tags) == (50, {"expects": "tool_call"})
    assert fault(case, 'send(to="<EMAIL_1>", n=1)') is None
    assert fault(case, 'send(to="<EMAIL_2>", n=1)') == "wrong_value"
    assert found.masked == {"EMAIL": 1}


def test_a_text_answer_where_tools_were_offered_expects_no_call(tmp_path):
    row = {"id": "a", "request": request(tools=[TOOL]), "response": response("To whom?")}
    case = cases(imported("openai-log", log(tmp_path, row)))["a"]
    assert (fault(case, "Which address?"), fault(case, "send(n=1)")) == (None, "extra_call")
    # D26: that there is no call says nothing of the text, so a judge may compare it with the logged one.
    judge = case.graders[1]
    assert (judge["kind"], judge["reference"], judge.get("required", False)) == ("judge", "To whom?", False)


def test_a_logged_text_too_long_for_a_judge_leaves_no_call_alone(tmp_path):
    row = {"id": "a", "request": request(tools=[TOOL]), "response": response(" ".join(f"no{n}" for n in range(2_500)))}
    case = cases(imported("openai-log", log(tmp_path, row)))["a"]
    assert [grader["kind"] for grader in case.graders] == ["tool_call"]


def test_a_schema_is_expected_and_told_in_the_system_text(tmp_path):
    row = {"id": "a", "request": request("Bill?", response_format=FORMAT), "response": response('{"total": 3}')}
    case = cases(imported("openai-log", log(tmp_path, row)))["a"]
    assert case.response_schema == SCHEMA
    assert json.dumps(SCHEMA) in case.messages[0].content
    assert (fault(case, '{"total": 9}'), fault(case, '{"total": "9"}')) == (None, "schema_violation")


def test_a_text_answer_needs_a_grader_of_the_persons_own(tmp_path):
    path = log(
        tmp_path,
        {"id": "a", "request": request("Positive?"), "response": response("yes")},
        {"id": "b", **request("No?")},
    )
    with pytest.raises(UsageError, match="no expectation follows from a text answer") as caught:
        imported("openai-log", path)
    assert "--grader" in str(caught.value)
    found = imported("openai-log", path, grader={"kind": "exact", "value": "{{ answer }}"})
    assert len(found.dropped) == 1
    assert "answer" in found.dropped[0].reason
    assert (fault(cases(found)["a"], "Yes."), fault(cases(found)["a"], "no")) == (None, "wrong_value")
    language = imported("openai-log", path, grader={"kind": "language", "lang": "en"})
    assert len(language.cases) == 2


def test_a_faulty_grader_is_told_before_the_log_is_read(tmp_path):
    path = log(tmp_path, request())
    for grader, said in (({"kind": "exakt"}, "Did you mean 'exact'"), ({"kind": "exact"}, "'value' or 'values'")):
        with pytest.raises(UsageError, match=said):
            imported("openai-log", path, grader=grader)


def test_every_form_of_a_log_line_is_read(tmp_path):
    body = request(tools=[TOOL])
    trained = {"messages": [*body["messages"], {"role": "assistant", **response(call=CALL)["choices"][0]["message"]}]}
    rows = [
        {"request": body, "response": response(call=CALL)},
        {
            "custom_id": "b",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": body,
            "response": response(call=CALL),
        },
        {**trained, "tools": [TOOL]},
        {"request": {"body": body}, "response": {"status_code": 200, "body": response(call=CALL)}},
    ]
    for number, row in enumerate(rows):
        (case,) = cases(imported("openai-log", log(tmp_path, row, name=f"{number}.jsonl"))).values()
        assert fault(case, 'send(to="<EMAIL_1>", n=1)') is None, number


def test_the_two_files_of_a_batch_find_each_other(tmp_path):
    log(tmp_path, {"custom_id": "x1", "url": "/", "body": request(tools=[TOOL])}, name="in.jsonl")
    outputs = [
        {"custom_id": "x1", "response": {"status_code": 200, "body": response(call=CALL)}, "error": None},
        {"custom_id": "x2", "response": {"status_code": 200, "body": response(call=CALL)}, "error": None},
    ]
    log(tmp_path, *outputs, name="out.jsonl")
    found = imported("openai-log", tmp_path)
    assert list(cases(found)) == ["x1"]
    assert dropped(found) == {"a response without its request": 1}


def test_what_cannot_be_replayed_is_counted_by_reason(tmp_path):
    good = {"request": request(tools=[TOOL]), "response": response(call=CALL)}
    picture = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]
    torn = {"name": "send", "arguments": "{"}
    rows = [
        good,
        good,
        {"request": {"messages": picture}},
        {"request": {"messages": [{"role": "narrator", "content": "x"}]}},
        {"request": {"input": "x"}},
        {"request": request(), "response": {"status_code": 429, "body": {}}},
        {"request": request(), "response": response("Once upon", finish="length")},
        {"request": request(), "response": {"object": "chat.completion.chunk"}},
        {"request": request(tools=[{"type": "web_search"}]), "response": response("x")},
        {"request": request(), "response": {"choices": [{"message": {"tool_calls": [{"function": torn}]}}]}},
        {
            "request": request("Pay 1"),
            "response": response(call={"name": "send", "arguments": {"n": 4111111111111111}}),
        },
    ]
    assert dropped(imported("openai-log", log(tmp_path, *rows))) == {
        "the same case again": 1,
        "a message holds a part of type 'image_url'; only text can be replayed": 1,
        "a message of the unknown role 'narrator'": 1,
        "no 'messages' in the request": 1,
        "the logged call failed": 1,
        "the logged answer is not whole (length)": 1,
        "no message in the response": 1,
        "a tool of type 'web_search', which is no function of the product": 1,
        "the arguments of a logged call are no JSON": 1,
        "a JSON number in it would have to be masked, and no placeholder is a number": 1,
    }


def test_a_conversation_is_one_cluster_and_keeps_its_turns(tmp_path):
    first = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
    asked = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": CALL}]}
    turns = [
        {"role": "developer", "content": "Be brief."},
        first,
        {"role": "user", "content": "Are you there?"},
        asked,
        {"role": "tool", "tool_call_id": "1", "content": "sent"},
    ]
    rows = [
        {"id": "1", "request": {"messages": [first], "tools": [TOOL]}, "response": response("Hi.")},
        {"id": "2", "request": {"messages": turns, "tools": [TOOL]}, "response": response("Done.")},
        {"id": "3", "request": {"messages": turns[:2], "tools": [TOOL]}, "response": response("Hi.")},
    ]
    found = cases(imported("openai-log", log(tmp_path, *rows)))
    long = found["2"]
    assert [message.role for message in long.messages] == ["system", "user", "assistant", "tool"]
    assert long.messages[1].content == "Hello\n\nAre you there?"
    assert long.messages[2].tool_calls[0].arguments == {"to": "<EMAIL_1>", "n": 1}
    assert found["1"].cluster == found["3"].cluster != long.cluster


YES = {"kind": "exact", "value": "{{ answer }}"}


@pytest.mark.parametrize(
    "system", ["Be brief.", [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]]
)
def test_a_system_text_logged_apart_is_part_of_the_prompt(tmp_path, system):
    answer = {"role": "assistant", "content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn"}
    row = {"id": "a", "request": request("Ready?", system=system), "response": answer}
    case = cases(imported("openai-log", log(tmp_path, row), grader=YES))["a"]
    assert [(turn.role, turn.content) for turn in case.messages] == [("system", "Be brief."), ("user", "Ready?")]


@pytest.mark.parametrize(
    ("options", "stop"),
    [({"stop": "\n"}, ("\n",)), ({"stop": ["Q:", "END"]}, ("Q:", "END")), ({"stop_sequences": ["END"]}, ("END",))],
)
def test_stop_texts_are_taken_over(tmp_path, options, stop):
    row = {"id": "a", "request": request("Ready?", **options), "response": response("yes")}
    assert cases(imported("openai-log", log(tmp_path, row), grader=YES))["a"].stop == stop


@pytest.mark.parametrize(("asked", "limit"), [(128_000, 100_000), (50, 50), (True, 64)])
def test_a_limit_of_tokens_is_one_that_a_case_may_have(tmp_path, asked, limit):
    row = {"id": "a", "request": request("Ready?", max_tokens=asked), "response": response("yes")}
    assert cases(imported("openai-log", log(tmp_path, row), grader=YES))["a"].max_new_tokens == limit


def test_bodies_that_a_proxy_logged_as_text_are_read(tmp_path):
    body = {"status_code": "200", "body": json.dumps(response("yes"))}
    row = {"id": "a", "request": json.dumps(request("Ready?")), "response": body}
    case = cases(imported("openai-log", log(tmp_path, row), grader=YES))["a"]
    assert case.graders == ({"kind": "exact", "value": "yes"},)


def test_of_several_responses_to_one_request_the_first_that_did_not_fail_counts(tmp_path):
    def output(status: int | None, text: str) -> dict[str, Any]:
        return {"custom_id": "a", "response": {"status_code": status, "body": response(text)}}

    log(tmp_path, {"custom_id": "a", "body": request("Ready?")}, name="in.jsonl")
    log(tmp_path, output(500, "x"), output(200, "yes"), output(None, "no"), name="out.jsonl")
    found = imported("openai-log", tmp_path, grader=YES)
    assert cases(found)["a"].graders[0]["value"] == "yes"
    assert (found.rows, dropped(found)) == (3, {"another response to the same request": 2})


def test_a_refusal_beside_an_empty_content_is_the_text(tmp_path):
    refused = {"role": "assistant", "content": None, "refusal": "I cannot."}
    turns = [{"role": "user", "content": "Do."}, refused, {"role": "user", "content": "Why?"}]
    path = log(
        tmp_path,
        {"id": "a", "request": {"messages": turns}, "response": response("yes")},
        {"id": "b", "request": request(response_format=FORMAT), "response": {"choices": [{"message": refused}]}},
    )
    found = imported("openai-log", path, grader=YES)
    assert cases(found)["a"].messages[1].content == "I cannot."
    assert dropped(found) == {"the logged answer is a refusal, which is no JSON": 1}


def test_a_cut_answer_is_no_gold_and_no_answer_is_none_either(tmp_path):
    path = log(
        tmp_path,
        {"request": request("Tell."), "response": response("Once upon", finish="length")},
        {
            "request": request("Tell."),
            "response": {"role": "assistant", "content": "Once", "stop_reason": "max_tokens"},
        },
        {"request": request("Say.")},
    )
    with pytest.raises(UsageError) as caught:
        imported("openai-log", path, grader=YES)
    assert "not whole (length)" in str(caught.value)
    assert "not whole (max_tokens)" in str(caught.value)
    assert "no text answer was logged, and --grader needs it" in str(caught.value)
    found = imported("openai-log", path, grader={"kind": "language", "lang": "en"})
    assert len(found.cases) == 3


def call(**message: Any) -> dict[str, Any]:
    return {"request": request(tools=[TOOL]), "response": {"choices": [{"message": {"content": None, **message}}]}}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (call(tool_calls={"function": {"name": "f"}}), "no list of calls"),
        (call(tool_calls="f()"), "no list of calls"),
        (call(tool_calls=[{"function": "f"}]), "no list of calls"),
        (call(additional_kwargs=[1]), "no answer was logged"),
        ({"request": request(tools={"f": 1}), "response": response("x")}, "tools of the request are no list"),
        ({"request": request(stop=5), "response": response("x")}, "stop texts of the request are no texts"),
        ({"messages": [{"role": "user", "content": [3]}]}, "a part of type 'int'"),
        ({"messages": [{"role": "user", "content": [None]}]}, "a part of type 'NoneType'"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": {"value": "x"}}]}]}, "of type 'text'"),
        ({"request": request(), "response": [1]}, "no message in the response"),
        ({"request": request(), "response": {"status_code": 200, "body": "<html>"}}, "no message in the response"),
        ({"request": request(), "response": {"choices": [{"message": {}, "finish_reason": ["x"]}]}}, "no answer"),
        ({"custom_id": "a", "body": request(), "response": {"status_code": "500", "body": {}}}, "call failed"),
    ],
)
def test_a_line_of_another_shape_is_a_reason_and_no_crash(tmp_path, row, reason):
    with pytest.raises(UsageError, match=reason):
        imported("openai-log", log(tmp_path, row))


def test_a_line_nested_too_deeply_is_dropped_alone(tmp_path):
    schema: dict[str, Any] = {}
    for _ in range(200):
        schema = {"properties": {"a": schema}}
    deep = {"type": "function", "function": {"name": "f", "parameters": schema}}
    path = log(
        tmp_path,
        {"request": request("One?", tools=[deep]), "response": response("no")},
        {"request": request("Two?", tools=[TOOL]), "response": response("no")},
    )
    found = imported("openai-log", path)
    assert (len(found.cases), dropped(found)) == (1, {"the line is not JSON": 1})


_LOGGED = [line.value for line in read_lines(Path(__file__).with_name("logged.jsonl"))]
_WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "number"}}},
    },
}


@pytest.mark.parametrize("row", _LOGGED, ids=lambda row: row["id"])
def test_a_logged_answer_is_read_as_graders_read_it(row: dict[str, Any], tmp_path):
    asked = request(tools=[_WEATHER]) if row.get("tools") else request()
    # One that always becomes a case, since an import without any is an error.
    other = {"id": "other", "request": request("And?", tools=[_WEATHER]), "response": response("Which city?")}
    path = log(tmp_path, other, {"id": "a", "request": asked, "response": response(row["content"])})
    found = imported("openai-log", path, grader=row.get("with"))
    if "dropped" in row:
        assert dropped(found) == {row["dropped"]: 1}
        return
    case = cases(found)["a"]
    assert [grader for grader in case.graders if grader["kind"] != "judge"] == [row["grader"]]
    assert row.get("tags", {}).items() <= case.tags.items()
    assert [told.split(":")[0] for told in found.failing] == (["a"] if "tags" in row else [])


def test_json_that_breaks_its_schema_stays_a_case_and_is_marked(tmp_path):
    asked = request("Bill?", response_format=FORMAT)
    rows = [{"id": str(n), "request": asked, "response": response(f'{{"total": {n}}}')} for n in ("3", '"3"')]
    found = imported("openai-log", log(tmp_path, *rows))
    assert [case.tags.get("logged") for case in cases(found).values()] == [None, "fails"]
    (told,) = found.failing
    assert "schema_violation" in told


def test_masked_values_do_not_make_a_logged_answer_fail(tmp_path):
    said = f"<tool_call>{json.dumps(CALL)}</tool_call>"
    row = {"id": "a", "request": request(tools=[TOOL]), "response": response(f"To bo@x.org? No.\n{said}")}
    found = imported("openai-log", log(tmp_path, row))
    assert fault(cases(found)["a"], 'send(to="<EMAIL_1>", n=1)') is None
    assert (found.dropped, found.masked) == ((), {"EMAIL": 1})
