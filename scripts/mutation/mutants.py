"""Which mutants there are: cosmic-ray's operators on a module, without those that cannot change what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

_CACHES = frozenset({"cache", "lru_cache", "cached_property"})


class Mutant(NamedTuple):
    """One fault in one place."""

    module: str
    """Path of the file below the repository's root."""
    operator: str
    occurrence: int
    line: int


def mutants_of(root: Path, module: str) -> Iterator[Mutant]:
    """Yield the mutants of a module that could change what it does.

    Left out are those in annotations, which nothing evaluates, and decorators that only keep what was computed.
    """
    source = (root / module).read_text(encoding="utf-8")
    silent = set(_silent_lines(source))
    tree = get_ast(source)
    nodes = list(ast_nodes(tree))
    for name in sorted(operator_names()):
        operator = _operator(name)
        if operator is None:
            continue
        number = 0
        for node in nodes:
            for position in operator.mutation_positions(node):
                if not any(start <= position[0] and position[1] <= end for start, end in silent):
                    yield Mutant(module, name, number, position[0][0])
                number += 1


def mutated(root: Path, mutant: Mutant) -> str | None:
    """Return the source of a module with a mutant in it; None where it is the same program."""
    source = (root / mutant.module).read_text(encoding="utf-8")
    changed: str | None = mutate_code(source, _operator(mutant.operator), mutant.occurrence)
    if changed is None:
        return None
    try:
        same = ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source))
    except SyntaxError:
        return None
    return None if same else changed


@cache
def _operator(name: str) -> Any:  # noqa: ANN401 - cosmic-ray is untyped
    """Return an operator; None where it needs arguments, which only a person can give."""
    try:
        return get_operator(name)()
    except TypeError:
        return None


def _silent_lines(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield where annotations, type aliases and decorators of caches stand: begin and end as (line, column)."""
    for node in ast.walk(ast.parse(source)):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]
            parts = [argument.annotation for argument in arguments] + [node.returns]
            parts += [one for one in node.decorator_list if _name_of(one) in _CACHES]
        elif isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        for part in parts:
            if part is not None and part.end_lineno is not None and part.end_col_offset is not None:
                begin = max(0, part.col_offset - 1)  # the sign of a decorator belongs to it
                yield (part.lineno, begin), (part.end_lineno, part.end_col_offset)


def _name_of(decorator: ast.expr) -> str:
    inner = decorator.func if isinstance(decorator, ast.Call) else decorator
    return inner.id if isinstance(inner, ast.Name) else ""
