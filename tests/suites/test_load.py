"""Finding and loading suites, and what a person reads when one is faulty."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from qeval.errors import ExitCode, UsageError
from qeval.suites import find, load_suite, load_suites, select

BAD_SUITES = yaml.safe_load(Path(__file__).with_name("bad_suites.yaml").read_text("utf-8"))
CASE = '{"id": "%s", "prompt": "%s", "graders": [{"kind": "exact", "value": "x"}]}'


def write_jsonl(folder: Path, content: bytes, name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("fault", BAD_SUITES, ids=lambda fault: fault["name"])
def test_a_fault_is_named_with_its_place(fault, tmp_path):
    for name, text in fault["files"].items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    only_cases = list(fault["files"]) == ["cases.jsonl"]
    with pytest.raises(UsageError) as caught:
        load_suite(tmp_path / "cases.jsonl" if only_cases else tmp_path)
    assert [part for part in fault["says"] if part not in str(caught.value)] == []


def test_several_faults_are_named_at_once_but_not_without_end(tmp_path):
    path = write_jsonl(tmp_path, b'{"id": "a"}\n' * 30)
    with pytest.raises(UsageError) as caught:
        load_suite(path)
    assert "line 10," in str(caught.value)
    assert "line 11," not in str(caught.value)
    assert "and 20 more faults" in str(caught.value)


def test_byte_order_mark_windows_line_ends_and_a_missing_last_newline_are_read(tmp_path):
    lines = "\r\n".join([CASE % ("1", "a"), "", "   ", CASE % ("2", "b")])
    suite = load_suite(write_jsonl(tmp_path, b"\xef\xbb\xbf" + lines.encode()))
    assert [case.id for case in suite.cases] == ["1", "2"]


def test_utf_16_is_refused_by_name(tmp_path):
    with pytest.raises(UsageError, match="UTF-16"):
        load_suite(write_jsonl(tmp_path, (CASE % ("1", "a")).encode("utf-16")))


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"])
def test_a_line_separator_inside_a_prompt_does_not_end_the_line(tmp_path, mark):
    text = f"{CASE % ('1', f'a{mark}b')}\n{CASE % ('2', 'c')}\n"
    suite = load_suite(write_jsonl(tmp_path, text.encode()))
    assert [case.messages[0].content for case in suite.cases] == [f"a{mark}b", "c"]


def test_windows_line_ends_inside_a_prompt_are_kept(tmp_path):
    suite = load_suite(write_jsonl(tmp_path, (CASE % ("1", "a\\r\\nb")).encode()))
    assert suite.cases[0].messages[0].content == "a\r\nb"


@pytest.mark.parametrize("case_id", ["../../x", "a/b", "x" * 300, "ü\u202e"])
def test_any_text_is_an_id(tmp_path, case_id):
    assert load_suite(write_jsonl(tmp_path, (CASE % (case_id, "a")).encode())).cases[0].id == case_id


def test_the_short_form_may_hold_a_system_text(tmp_path):
    line = '{"id": 7, "system": "Be short.", "prompt": "Hi", "graders": [{"kind": "exact", "value": "x"}]}'
    (case,) = load_suite(write_jsonl(tmp_path, line.encode())).cases
    assert case.id == "7"
    assert [(message.role, message.content) for message in case.messages] == [("system", "Be short."), ("user", "Hi")]


def test_the_header_gives_the_limit_of_cases_that_name_none(tmp_path):
    (tmp_path / "suite.yaml").write_text("name: a\nversion: 3\ndescription: b\nmax_new_tokens: 9\n", encoding="utf-8")
    limited = (CASE % ("2", "b"))[:-1] + ', "max_new_tokens": 5}'
    write_jsonl(tmp_path, f"{CASE % ('1', 'a')}\n{limited}\n".encode(), "cases.jsonl")
    suite = load_suite(tmp_path)
    assert (suite.name, suite.version) == ("a", 3)
    assert [case.max_new_tokens for case in suite.cases] == [9, 5]


def test_a_generator_is_given_size_and_seed(tmp_path):
    (tmp_path / "suite.yaml").write_text(
        "name: a\nversion: 1\ndescription: b\ngenerator: gen.py\nseed: 5\n", encoding="utf-8"
    )
    (tmp_path / "gen.py").write_text(
        "def generate(size, seed):\n"
        "    return [{'id': f'{size}-{seed}', 'prompt': 'a', 'graders': [{'kind': 'exact', 'value': 'x'}]}]\n",
        encoding="utf-8",
    )
    assert load_suite(tmp_path, "full").cases[0].id == "full-5"
    assert load_suite(tmp_path / "suite.yaml").cases[0].id == "smoke-5"


def test_a_generator_imports_the_files_of_its_own_folder_as_they_are_now(tmp_path):
    for folder, text in (("one", "first"), ("two", "second"), ("one", "the third")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "suite.yaml").write_text(
            "name: a\nversion: 1\ndescription: b\ngenerator: gen.py\n", encoding="utf-8"
        )
        (tmp_path / folder / "words.py").write_text(f"WORD = '{text}'\n", encoding="utf-8")
        (tmp_path / folder / "gen.py").write_text(
            "from .words import WORD\n"
            "def generate(size, seed):\n"
            "    return [{'id': WORD, 'prompt': 'a', 'graders': [{'kind': 'exact', 'value': 'x'}]}]\n",
            encoding="utf-8",
        )
        assert load_suite(tmp_path / folder).cases[0].id == text


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("lnogdoc", ["unknown suite 'lnogdoc'", "Did you mean 'longdoc'", "toolcalls"]),
        ("./nothing", ["no such suite folder or file", "longdoc"]),
        ("mine.jsonl", ["mine.jsonl", "no such"]),
    ],
)
def test_an_unknown_suite_is_named_beside_those_there_are(name, says):
    with pytest.raises(UsageError) as caught:
        find(name)
    assert [part for part in says if part not in str(caught.value)] == []


def test_a_file_of_another_kind_is_no_suite(tmp_path):
    with pytest.raises(UsageError, match="not a suite"):
        load_suite(write_jsonl(tmp_path, b"id,prompt\n", "mine.csv"))


def test_suites_come_in_the_order_asked_for():
    assert [suite.name for suite in load_suites("schema, longdoc")] == ["schema", "longdoc"]
    assert [suite.name for suite in load_suites(["refusal"])] == ["refusal"]


@pytest.mark.parametrize("names", ["", " , ", []])
def test_naming_no_suite_is_refused(names):
    with pytest.raises(UsageError, match="no suite is named"):
        load_suites(names)


def test_two_suites_of_one_name_are_refused():
    with pytest.raises(UsageError, match="two suites are called 'schema'"):
        load_suites("schema,schema")


def test_selecting_keeps_what_carries_all_the_tags():
    suites = load_suites("schema,multilingual")
    chosen = select(suites, {"lang": "de"})
    assert [suite.name for suite in chosen] == ["multilingual"]
    assert {case.tags["lang"] for case in chosen[0].cases} == {"de"}


def test_selecting_nothing_is_refused_with_the_values_there_are():
    with pytest.raises(UsageError) as caught:
        select(load_suites("schema"), {"lang": "xx", "colour": "red"})
    assert caught.value.exit_code is ExitCode.USAGE
    assert "no case matches lang=xx,colour=red" in str(caught.value)
    assert "lang: en; colour: no such tag" in str(caught.value)


def test_suites_load_without_torch():
    code = (
        "import sys; from qeval.suites import load_suites; load_suites('all');"
        "print([name for name in ('torch', 'transformers', 'mlflow', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_case_too_deep_for_its_digest_is_refused_at_load(tmp_path: Path) -> None:
    schema: dict[str, object] = {}
    for _ in range(260):
        schema = {"x": schema}
    case = {"id": "deep", "prompt": "a", "graders": [{"kind": "exact", "value": "a"}], "response_schema": schema}
    (tmp_path / "s.jsonl").write_text(json.dumps(case))
    with pytest.raises(UsageError, match="line 1: not JSON \\(nested deeper than 200 levels"):
        load_suite(tmp_path / "s.jsonl")
