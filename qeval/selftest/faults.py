"""Faults of plumbing: the same weights read with other prompts, and a record whose answers are another variant's."""

from __future__ import annotations

from pathlib import Path

from qeval.jsonl import read_text, write_atomic
from qeval.record import Record
from qeval.selftest.copies import linked_copy

TEMPLATE_FILE = "chat_template.jinja"
OTHER_TEMPLATE = (
    "{% for message in messages %}{{ '### ' + message['role'] | capitalize + ':\\n' + message['content'] + '\\n\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '### Assistant:\\n' }}{% endif %}"
)


def with_first_token_dropped(source: Path, target: Path, first: str) -> Path:
    """Write a copy whose prompts lack their first token, as where a server forgets BOS.

    Args:
        source: the model's folder.
        target: the copy's.
        first: the text of the token that the chat template begins every prompt with.
    """
    copy = linked_copy(source, target)
    template = read_text(source / TEMPLATE_FILE)
    shortened = f"{{% set whole %}}{template}{{% endset %}}{{{{ whole[{len(first)}:] }}}}"
    write_atomic(copy / TEMPLATE_FILE, shortened)
    return copy


def with_another_template(source: Path, target: Path) -> Path:
    """Write a copy with a chat template that the model was not trained on."""
    copy = linked_copy(source, target)
    write_atomic(copy / TEMPLATE_FILE, OTHER_TEMPLATE)
    return copy


def with_answers_of(other: Record, record: Record, name: str) -> Record:
    """Return a record that claims to be a variant and holds another's answers: a cache that ignores the variant."""
    return Record(record.header.model_copy(update={"variant": name}), record.cases, other.outcomes)
