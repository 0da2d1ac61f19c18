"""What the source of a chat template holds, as far as it can be told without running it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from qeval.rendering.template import Template


class Source(NamedTuple):
    """What a template's source holds; nothing where there is none, or where it is no template."""

    names: frozenset[str]
    """Variables and functions."""
    filters: frozenset[str]
    words: frozenset[str]
    """Texts, between tags and within them."""

    @property
    def is_random(self) -> bool:
        """Whether the template writes another text each time."""
        return "random" in self.filters or "lipsum" in self.names


def read_source(template: Template) -> Source:
    """Read the source of a model's own template."""
    import jinja2

    names, filters, words = set[str](), set[str](), set[str]()
    for node in _nodes(template):
        if isinstance(node, jinja2.nodes.Filter):
            filters.add(node.name)
        elif isinstance(node, jinja2.nodes.Name):
            names.add(node.name)
        elif isinstance(node, jinja2.nodes.TemplateData):
            words.add(node.data)
        elif isinstance(node, jinja2.nodes.Const) and isinstance(node.value, str):
            words.add(node.value)
    return Source(frozenset(names), frozenset(filters), frozenset(words))


def _nodes(template: Template) -> Iterator[Any]:
    import jinja2
    from jinja2.ext import Extension

    class Generation(Extension):
        """Reads the tag that some templates put around what the assistant said."""

        tags = {"generation"}  # noqa: RUF012 - as jinja2 wants it

        def parse(self, parser: Any) -> Any:  # noqa: ANN401
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    if not template.is_own:
        return
    try:
        source = template.tokenizer.get_chat_template()
        tree = jinja2.Environment(extensions=[Generation, "jinja2.ext.loopcontrols"], autoescape=False).parse(source)
    except (jinja2.TemplateSyntaxError, ValueError, AttributeError, RecursionError):
        return
    yield from tree.find_all(jinja2.nodes.Node)
