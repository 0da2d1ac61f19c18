"""No message holds a credential, and none moves a terminal; what qeval itself says is left alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from qeval import clean as room
from qeval.clean import clean, hide, hide_variables, without_credentials, without_hidden
from qeval.sensitive.address import secrets_of, shown_address, take_apart

ROWS = yaml.safe_load(Path(__file__).with_name("credentials.yaml").read_text("utf-8"))
PACKAGE = Path(room.__file__).parent


@pytest.fixture(autouse=True)
def _nothing_hidden_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_hidden", {})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_no_credential_is_left_in_a_message(row: dict[str, Any]) -> None:
    for secret in secrets_of(row.get("given", "")):
        hide(secret)
    said = clean(row["text"])
    assert [part for part in row["gone"] if part in said] == []
    shown = shown_address(row.get("given", ""))
    assert [part for part in row["gone"] if part in shown] == []


@pytest.mark.parametrize(
    "text",
    [
        "error: unknown key 'password'. Allowed: key, token",
        "unknown key 'judge.api_key'. Did you mean 'key'?",
        "the key 'token' is given twice",
        "key 'max_new_tokens': it must be an integer, not 'many'",
        "prompt_tokens: 12, eos_token: </s>, pad_token='[PAD]'",
        "a key goes into QEVAL_JUDGE_KEY",
        "report   runs/2026-11-29T00:00:00/report.html",
        "tracked as http://127.0.0.1:5000/#/experiments/1/runs/0123456789abcdef0123456789abcdef",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "passed 12 of 15; secret/c0001: pass",
    ],
)
def test_what_qeval_says_is_left_alone(text: str) -> None:
    assert clean(text) == text


def messages() -> Iterator[str]:
    """Every text in the sources that could be a message, without its placeholders."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)


def test_no_message_in_the_sources_looks_like_a_credential() -> None:
    kept = {text: without_credentials(text) for text in messages() if "\\" not in text}
    assert {text: said for text, said in kept.items() if said != text} == {}
    assert len(kept) > 500


def test_a_short_secret_is_hidden_as_a_word_and_not_in_words() -> None:
    hide("pw7")
    assert without_hidden("pw7 is no part of spw7x") == "[secret] is no part of spw7x"


def test_a_name_stands_for_a_secret_and_the_longest_wins() -> None:
    hide("abcdefgh", "[key]")
    hide("abcdefgh-and-more")
    assert without_hidden("abcdefgh abcdefgh-and-more") == "[key] [secret]"


def test_variables_that_hold_secrets_are_hidden_by_their_names() -> None:
    hide_variables(
        {"MY_API_TOKEN": "zx9kq2mlp8", "HOME": "/home/x12345678", "AUTH": "disabled", "DB_PASSWORD": "short"}
    )
    assert without_hidden("zx9kq2mlp8 /home/x12345678 disabled short") == "[secret] /home/x12345678 disabled short"


@given(
    user=st.text("abc", min_size=1, max_size=5),
    password=st.text(
        st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="@/?# \"'<>"), min_size=2, max_size=12
    ),
    rest=st.sampled_from(["", "/x", "/db?ssl=true", ":5000/#/y"]),
)
def test_no_address_shows_its_password(user: str, password: str, rest: str) -> None:
    address = f"https://{user}:{password}@host{rest}"
    assert take_apart(address).login == f"{user}:{password}"
    assert shown_address(address).startswith("https://host")
    assert f"{user}:{password}" not in without_credentials(f"x {address} y")


@given(st.text())
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)
