"""What a case asks, as a digest: equal where two cases show a model the same."""

from __future__ import annotations

import hashlib

from qeval.independence import Known
from qeval.jsonl import dumps
from qeval.suites.case import Case


def asked(case: Case) -> str:
    """Return sha256 over messages and tools. Blanks around a message do not count: chat templates strip them."""
    messages = [message.model_dump(mode="json") for message in case.messages]
    stripped = [{**message, "content": message["content"].strip()} for message in messages]
    tools = [tool.model_dump(mode="json") for tool in case.tools]
    return hashlib.sha256(dumps([stripped, tools]).encode()).hexdigest()


def known(suite: str, case: Case) -> Known:
    """Return what is known of a case before it is rendered."""
    return Known(suite, case.id, case.cluster or case.id, (("asked", asked(case)),))
