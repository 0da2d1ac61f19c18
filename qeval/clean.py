"""The one way out for text about a run: what is printed as a message, logged, stored as a detail or told to a server.

No credential is left in it: neither one that this process was given (`hide`), however it is escaped, nor one that has
the form of a credential. And nothing is left that a terminal obeys. Prompts and answers in local reports and records
are no messages: they stay as they are.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from qeval.sensitive.normal import normalise
from qeval.visible import visible

if TYPE_CHECKING:
    from qeval.sensitive.rules import Finder

SECRET = "[secret]"
_SHORTEST = 2
_SHORT = 8
"""A shorter secret is found as a word of its own alone, since it would be found inside other words."""
_TIMEOUT_S = 1.0
_MAY_HOLD_ONE = re.compile(
    r"(?i)pass|pwd|secret|token|key|auth|cred|cookie|bearer|basic|session|sid=|jwt|otp|pin|-----begin|putty|://\S*@|[?&]\w+="
    r"|eyj|\bs[kg][-_.]|\bgh[a-z]_|xox|hf_|akia|asia|aiza|glpat|npm_|пароль|密码|パスワード|\d:[\w-]{30}"
)
"""A cheap look at a text: without a match no rule finds anything worth its time."""
_VARIABLE = re.compile(r"(?i)(?:^|_)(?:token|secret|password|passwd|api_?key|access_?key|private_?key|judge_key|auth)$")
_SHORTEST_VARIABLE = 8

_hidden: dict[str, str] = {}
"""Secret -> what stands for it."""


def hide(secret: str | None, shown: str = SECRET) -> None:
    """Let no cleaned text show a secret from now on, in any of the usual escapes or in base64.

    Args:
        secret: the value; None and single characters are not looked for.
        shown: what stands for it.
    """
    if secret is None or len(secret) < _SHORTEST:
        return
    for form in (secret, b64encode(secret.encode()).decode().rstrip("=")):
        _hidden.setdefault(form, shown)


def hide_variables(environment: Mapping[str, str] = os.environ) -> None:
    """Hide the values of environment variables whose names say that they are secrets."""
    for name, value in environment.items():
        if _VARIABLE.search(name) and len(value) >= _SHORTEST_VARIABLE and not value.isalpha():
            hide(value)


def without_hidden(text: str) -> str:
    """Return a text without the values that were hidden; for replies that are data, such as a judge's JSON."""
    if not _hidden:
        return text
    secrets = tuple(sorted(_hidden, key=lambda secret: (-len(secret), secret)))
    return _pattern(secrets).sub(lambda match: _hidden[secrets[(match.lastindex or 1) - 1]], text)


def without_credentials(text: str) -> str:
    """Return a text without credentials.

    >>> without_credentials("no answer from http://me:pa55@tracker:5000")
    'no answer from http://[secret]@tracker:5000'
    """
    text = without_hidden(text)
    if not any(_MAY_HOLD_ONE.search(form) for form in {text, normalise(text).text}):
        return text
    for finder in _credential_finders():
        normal = normalise(text)
        try:
            found = finder.find(text, normal, _TIMEOUT_S)
        except TimeoutError:
            # A message that cannot be looked through in time is not worth the risk.
            return SECRET
        for one in reversed(found):
            text = f"{text[: one.start]}{SECRET}{text[one.end :]}"
    return text


def clean(text: str) -> str:
    r"""Return a text as it may leave: without credentials, and with what a terminal obeys spelled out.

    >>> clean("\x1b[31mpassword=hunter2")
    '⟨U+001B⟩[31mpassword=[secret]'
    """
    return visible(without_credentials(text))


@cache
def _credential_finders() -> tuple[Finder, ...]:
    # Imported here, since most commands have nothing to look for.
    from qeval.sensitive.rules import CREDENTIALS, built_in, finders

    return tuple(finders(built_in(CREDENTIALS)))


@cache
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds secrets; each is a group, in the order given, which is that of preference."""
    return re.compile("|".join(f"({_any_escape(secret)})" for secret in secrets), re.IGNORECASE)


def _any_escape(secret: str) -> str:
    body = "".join(map(_escapes, secret))
    return body if len(secret) >= _SHORT else rf"(?<![^\W_]){body}(?![^\W_])"


def _escapes(character: str) -> str:
    number = ord(character)
    percent = "".join(f"%{byte:02x}" for byte in character.encode("utf-8", errors="surrogatepass"))
    ways = [re.escape(character), percent, rf"&#0*{number};", rf"&#x0*{number:x};"]
    if number <= 0xFFFF:
        ways.append(rf"\\u{number:04x}")
    if number <= 0xFF:
        ways.append(rf"\\x{number:02x}")
    return f"(?:{'|'.join(ways)})"
