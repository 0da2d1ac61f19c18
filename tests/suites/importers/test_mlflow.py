"""Traces of MLflow: spans of chat models become cases as logged calls do, whichever library wrote them."""

from __future__ import annotations

import sqlite3
import warnings
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.suites.check import RawCase
from qeval.suites.importers.base import Dropped
from qeval.suites.importers.mlflow import _experiment_id, _of_trace, _traces
from tests.suites.importers.helpers import cases, dropped, fault, imported

TOOL = {"type": "function", "function": {"name": "send", "parameters": {"type": "object", "properties": {"to": {}}}}}
CALLS = [{"function": {"name": "send", "arguments": '{"to": "ann@x.org"}'}}]
OPENAI = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": CALLS}}]}
ASKED = {"messages": [{"role": "user", "content": "Send it to ann@x.org"}], "tools": [TOOL]}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with traces as MLflow writes them: a call, a text answer, a failed call, and no model at all."""
    import mlflow

    folder = tmp_path_factory.mktemp("mlflow")
    uri = f"sqlite:///{folder / 'traces.db'}"
    # MLflow swallows what goes wrong while it writes a trace, so a warning made an error would leave the store empty.
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
        # Not `set_tracking_uri`, which goes before the variable in every later test of this process.
        patch.setenv("MLFLOW_TRACKING_URI", uri)
        mlflow.set_experiment(experiment_id=mlflow.MlflowClient(uri).create_experiment("prod", str(folder)))
        for outputs, kind in ((OPENAI, "CHAT_MODEL"), ("To whom?", "LLM"), (None, "LLM"), ("x", "TOOL")):
            with mlflow.start_span("call", span_type=kind) as span:
                span.set_inputs(ASKED)
                span.set_outputs(outputs)
                if outputs is None:
                    span.set_status("ERROR")
    return uri


@pytest.mark.slow
def test_spans_of_models_become_masked_cases_and_the_rest_is_counted(store):
    found = imported("mlflow", store)
    assert dropped(found) == {"the logged call failed": 1, "no span of a chat model in the trace": 1}
    call, text = cases(found).values()
    assert call.id.startswith("tr-")
    assert fault(call, 'send(to="<EMAIL_1>")') is None
    assert fault(text, "To which address?") is None
    assert found.masked == {"EMAIL": 2}


class Client:
    """As much of MLflow's client as the importer uses, with two experiments and three pages of traces."""

    def search_experiments(self) -> list[Any]:
        named = zip(("Default", "other", "prod"), "012", strict=True)
        return [SimpleNamespace(name=name, experiment_id=number) for name, number in named]

    def search_traces(self, locations: list[str], page_token: str | None, **rest: Any) -> Any:
        start = int(page_token or 0)
        page = Page(f"{locations[0]}/{number}" for number in range(start, start + 2))
        page.token = str(start + 2) if start < 4 else None
        return page


class Page(list[str]):
    token: str | None


def test_all_pages_are_read():
    assert list(_traces(Client(), "2")) == [f"2/{number}" for number in range(6)]


def test_the_experiment_is_asked_for_by_name():
    assert _experiment_id(Client(), "uri", "prod") == "2"
    with pytest.raises(UsageError, match=r"which experiment\? Name one with --experiment: other, prod"):
        _experiment_id(Client(), "uri", None)
    with pytest.raises(UsageError, match=r"no experiment 'prd'\. Did you mean 'prod'\?"):
        _experiment_id(Client(), "uri", "prd")


def test_a_database_that_is_not_there_is_not_made(tmp_path):
    path = tmp_path / "nowhere.db"
    with pytest.raises(UsageError, match="there is no file"):
        imported("mlflow", f"sqlite:///{path}", experiment="prod")
    assert not path.exists()
    with pytest.raises(UsageError, match="no tracking address"):
        imported("mlflow", str(path), experiment="prod")


def of_span(inputs: Any, outputs: Any) -> RawCase | Dropped:
    span = SimpleNamespace(
        span_type="CHAT_MODEL", span_id="s", parent_id=None, trace_id="t", name="call", status=None,
        inputs=inputs, outputs=outputs, get_attribute=lambda name: [TOOL] if name == "mlflow.chat.tools" else None,
    )  # fmt: skip
    trace: Any = SimpleNamespace(info=SimpleNamespace(trace_id="t"), data=SimpleNamespace(spans=[span]))
    (row,) = _of_trace(trace, None)
    return row


LANGCHAIN_CALLS = [{"name": "send", "args": {"to": "ann@x.org"}, "type": "tool_call"}]
ANTHROPIC = [{"type": "text", "text": "I will."}, {"type": "tool_use", "name": "send", "input": {"to": "ann@x.org"}}]


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        (ASKED, OPENAI),
        (ASKED["messages"], OPENAI["choices"]),
        ({"messages": [[{"type": "human", "content": "Send it to ann@x.org"}]]},
         {"generations": [[{"message": {"type": "ai", "content": "", "tool_calls": LANGCHAIN_CALLS}}]]}),
        ({"messages": ASKED["messages"], "system": "Be brief."}, {"role": "assistant", "content": ANTHROPIC}),
        ({"prompt": "Send it to ann@x.org"}, {"messages": [{"role": "assistant", "content": "", "tool_calls": CALLS}]}),
    ],
    ids=["chat-completions", "lists", "LangChain", "Anthropic", "a prompt and messages"],
)  # fmt: skip
def test_every_library_s_form_gives_the_same_expectation(inputs, outputs):
    row = of_span(inputs, outputs)
    assert isinstance(row, RawCase), row
    value: Any = row.value
    assert value["graders"] == [{"kind": "tool_call", "calls": [{"name": "send", "arguments": {"to": "ann@x.org"}}]}]
    assert value["messages"][-1] == {"role": "user", "content": "Send it to ann@x.org"}
    assert value["tools"][0]["name"] == "send"


@pytest.mark.parametrize("content", ["", "no database at all", None])
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(tmp_path, content):
    file = tmp_path / "my app.db"
    if content is None:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE mine (a)")
    else:
        file.write_text(content)
    before = file.read_bytes()
    with pytest.raises(UsageError, match="is no MLflow store"):
        imported("mlflow", f"sqlite:///{file}")
    assert file.read_bytes() == before
