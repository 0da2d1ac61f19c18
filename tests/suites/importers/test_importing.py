"""What all kinds of import share: options, ids, clusters, samples, and the folder with its README."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qeval.errors import UsageError
from qeval.suites import load_suite
from qeval.suites.import_folder import check_out, write_suite
from qeval.suites.importers.base import Wanted, check_wanted, find_importer, kinds
from qeval.suites.importing import Choice, Joined, gather
from tests.suites.importers.helpers import cases, dropped, imported
from tests.suites.near_equal.prompts import families

PROBLEM = {"question": "1+1?", "answer": "#### 2"}


def problems(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def many(folder: Path, n: int = 40) -> Path:
    return problems(folder, *({"question": f"{i}+1?", "answer": f"#### {i + 1}"} for i in range(n)))


def test_every_kind_says_what_its_source_is():
    assert len(kinds()) == 9
    for kind in kinds():
        importer = find_importer(kind)
        assert importer.SOURCE
        assert set(Wanted._fields) >= importer.TAKES


def test_an_option_of_another_kind_is_refused_with_those_it_goes_with():
    with pytest.raises(UsageError, match="--masks does not go with gsm8k; it goes with mlflow, openai-log"):
        check_wanted("gsm8k", Wanted("x", masks=Path("m.yaml")))
    with pytest.raises(UsageError, match="Did you mean 'gsm8k'"):
        check_wanted("gsm8", Wanted("x"))


def test_the_same_case_again_is_dropped_and_the_same_prompt_is_one_cluster(tmp_path):
    other = {"question": "1+1?", "answer": "#### 3"}
    found = imported(
        "gsm8k", problems(tmp_path, PROBLEM, PROBLEM, other, {"question": "How many?", "answer": "#### 2"})
    )
    assert dropped(found) == {"the same case again": 1}
    assert (len(found.cases), found.clusters) == (3, 2)
    first, second, third = cases(found).values()
    assert first.cluster == second.cluster != third.cluster
    assert first.id != second.id


def test_one_id_with_other_content_gets_an_id_of_its_own(tmp_path):
    path = tmp_path / "xstest_prompts.csv"
    path.write_text("id,prompt,type,label\n1,How?,x,safe\n1,What?,x,safe\n")
    first, second = cases(imported("xstest", path))
    assert first == "1"
    assert second.startswith("1-")


def test_ids_stay_different_when_an_id_comes_three_times(tmp_path):
    path = tmp_path / "xstest_prompts.csv"
    path.write_text("id,prompt,type,label\n1,How?,x,safe\n1,What?,x,safe\n1,What?,x,safe\n1,How?,x,safe\n")
    found = imported("xstest", path)
    assert len({case["id"] for case in found.cases}) == len(found.cases) == 2
    assert dropped(found) == {"the same case again": 2}


def test_the_name_of_a_built_in_suite_is_refused(tmp_path):
    with pytest.raises(UsageError, match="'schema' is a built-in suite"):
        gather("gsm8k", Wanted(str(problems(tmp_path, PROBLEM))), Choice("schema"), lambda rows, _: rows)


def test_an_import_made_twice_is_the_same_to_the_byte(tmp_path):
    source = many(tmp_path)
    for name in ("one", "two"):
        write_suite(imported("gsm8k", source, limit=7), tmp_path / name)
    for file in ("suite.yaml", "cases.jsonl", "README.md"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def logged(folder: Path, prompts: list[str]) -> Path:
    rows = [
        {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "yes"}], "id": str(number)}
        for number, text in enumerate(prompts)
    ]
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_logged_cases_from_three_templates_are_three_clusters(tmp_path):
    # D26
    prompts = [filled.text for filled in families()["D26 logged support"]]
    source = logged(tmp_path, [*prompts, "Do you ship to islands without a bridge?"])
    found = imported("openai-log", source, grader={"kind": "exact", "value": "{{ answer }}"})
    assert (len(found.cases), found.clusters, found.near_equal) == (37, 4, Joined(36, 3))
    write_suite(found, tmp_path / "out")
    assert "| near-equal prompts | 36 cases in 3 groups; each group is one cluster |" in (
        tmp_path / "out/README.md"
    ).read_text("utf-8")


def test_near_equal_prompts_are_kept_apart_where_asked_for(tmp_path):
    prompts = [filled.text for filled in families()["order status"]]
    wanted = Wanted(str(logged(tmp_path, prompts)), grader={"kind": "exact", "value": "{{ answer }}"})
    found = gather("openai-log", wanted, Choice("x", join_near_equal=False), lambda rows, _: rows)
    assert (found.clusters, found.near_equal) == (36, None)


def test_near_equal_prompts_join_clusters_of_the_source(tmp_path):
    (tmp_path / "map.yaml").write_text(
        'prompt: "{{ q }}"\ngrader: {kind: contains, value: x}\ncluster: "{{ doc }}"\nid: "{{ n }}"'
    )
    rows = [{"q": f"Where is order {n} of mine today?", "doc": f"d{n // 2}", "n": n} for n in range(4)]
    rows += [{"q": "Who owns the shop on the corner of our street?", "doc": "d1", "n": 4}]
    rows += [{"q": "When does the pool open in the morning in summer?", "doc": "d9", "n": 5}]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    found = cases(imported("dataset", tmp_path / "rows.json", mapping=tmp_path / "map.yaml"))
    assert {found[str(n)].cluster for n in range(5)} == {"d0"}
    assert found["5"].cluster == "d9"


def test_clusters_that_share_a_prompt_become_one(tmp_path):
    squad = {"data": [{"paragraphs": [
        {"context": "A.", "qas": [{"id": "a", "question": "q?", "answers": [{"text": "A"}]},
                                  {"id": "b", "question": "r?", "answers": [{"text": "A"}]}]},
        {"context": "A.", "qas": [{"id": "c", "question": "q?", "answers": [{"text": "A"}]}]},
        {"context": "No word of it is the same.", "qas": [{"id": "d", "question": "q?", "answers": [{"text": "B"}]}]},
    ]}]}  # fmt: skip
    path = tmp_path / "x.en.json"
    path.write_text(json.dumps(squad))
    clusters = {case.id: case.cluster for case in cases(imported("xquad", path)).values()}
    assert clusters["en-a"] == clusters["en-b"] == clusters["en-c"] != clusters["en-d"]


def test_a_sample_is_seeded_in_the_order_of_the_source_and_said(tmp_path):
    path = many(tmp_path)
    found = imported("gsm8k", path, limit=10)
    whole = [case["id"] for case in imported("gsm8k", path).cases]
    drawn = [case["id"] for case in found.cases]
    assert (len(drawn), found.valid, found.rows) == (10, 40, 40)
    assert drawn == [identity for identity in whole if identity in drawn] != whole[:10]
    assert drawn == [case["id"] for case in imported("gsm8k", path, limit=10).cases]
    write_suite(found, tmp_path / "out")
    assert "10, a sample of 40 drawn with seed 0" in (tmp_path / "out/README.md").read_text("utf-8")


def test_no_case_at_all_is_an_error_with_the_reasons(tmp_path):
    with pytest.raises(UsageError, match=r"no row became a case\. 2 × no gold number.*first: test.jsonl, line 1"):
        imported("gsm8k", problems(tmp_path, {"question": "a", "answer": "b"}, {"question": "c", "answer": "d"}))


def test_the_folder_is_a_suite_whose_readme_accounts_for_every_row(tmp_path):
    (tmp_path / "SOURCE").write_text("repo: x\nlicence: MIT (LICENSE)\n")
    found = imported("gsm8k", problems(tmp_path, PROBLEM, {"question": "a|b", "answer": "none"}))
    write_suite(found, tmp_path / "out")
    suite = load_suite(tmp_path / "out")
    assert (suite.name, len(suite.cases), suite.cases[0].max_new_tokens) == ("gsm8k", 1, 512)
    readme = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    for said in (
        "`test.jsonl`, read as gsm8k",
        "MIT (LICENSE)",
        "| rows read | 2 |",
        "| cases | 1 |",
        "| 1 | no gold number: the answer has no '####' | test.jsonl, line 2 |",
    ):
        assert said in readme
    assert str(tmp_path) not in readme


def test_parameters_keep_their_order_since_models_are_shown_it(tmp_path):
    (tmp_path / "schema.json").write_text('{"type": "object", "properties": {"z": {}, "a": {}}}')
    write_suite(imported("jsonschemabench", tmp_path), tmp_path / "out")
    (case,) = load_suite(tmp_path / "out").cases
    assert list((case.response_schema or {})["properties"]) == ["z", "a"]
    assert case.messages[0].content.index('"z"') < case.messages[0].content.index('"a"')


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("README.md", "---\nlicense: cc-by-4.0\n---\n# Data", "cc-by-4.0"),
        ("README.md", "---\nlicense:\n- mit\n---\n", "mit"),
        ("README.md", "# A tool\nlicense: mit\n", None),
        ("LICENSE", "Lizenz f\xfcr alle", "Lizenz f\ufffdr alle (file LICENSE)"),
        ("LICENSE", "\nApache License\nVersion 2.0", "Apache License (file LICENSE)"),
    ],
)
def test_the_licence_is_read_where_the_source_says_it_and_not_guessed(tmp_path, name, text, said):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / name).write_text(text, encoding="latin-1")
    assert imported("gsm8k", problems(folder, PROBLEM)).licence == said


def test_only_an_earlier_import_is_replaced_and_only_when_asked(tmp_path):
    out = tmp_path / "out"
    check_out(out, force=False)
    write_suite(imported("gsm8k", problems(tmp_path, PROBLEM)), out)
    with pytest.raises(UsageError, match="holds an earlier import"):
        check_out(out, force=False)
    check_out(out, force=True)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="which is no earlier import"):
        check_out(out, force=True)
    with pytest.raises(UsageError, match="is there and no folder"):
        check_out(out / "notes.txt", force=True)
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(UsageError, match="is there and no folder"):
        check_out(tmp_path / "link", force=True)
    (out / "notes.txt").unlink()
    (out / "README.md").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="which is no earlier import"):
        check_out(out, force=True)
