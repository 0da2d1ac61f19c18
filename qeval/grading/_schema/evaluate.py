"""Check a value by a schema in counted steps.

What a schema that references lead to finds for one value is kept, so alternatives that lead to the same schema again
do not multiply: five alternatives in a grammar of expressions took 14 s for eight levels, and take a millisecond.
"""

from __future__ import annotations

from collections.abc import Collection, Generator
from typing import NamedTuple

from qeval.grading._budget import Budget
from qeval.grading._schema.applicators import APPLICATORS, Applicator, Fault, Found, Gathered, Steps
from qeval.grading._schema.assertions import ASSERTIONS, Assertion, ready
from qeval.grading._schema.graph import Graph
from qeval.grading._schema.nodes import Node, Reference
from qeval.grading._schema.values import Json, shown

_Scope = tuple[str, ...]
"""URIs of the schemas that led here, the outermost first, where references depend on them; else empty."""
_Request = tuple[Node, Json, _Scope]
_Key = tuple[Node, int, _Scope]


class EndlessError(ValueError):
    """References lead back to themselves while one value is checked."""


def faults_of(graph: Graph, value: Json, most: int, budget: Budget) -> tuple[Fault, ...]:
    """Return the first faults of a value.

    Args:
        graph: of the schema.
        value: as `_json.read_strict` returns it.
        most: how many to return.
        budget: what the check may take.

    Raises:
        OutOfStepsError, OutOfTimeError: the check takes more than the budget.
        EndlessError: it would never end.
    """
    run = _Run(graph, most, budget)
    kept: dict[_Key, Found | None] = {}
    running: list[tuple[Generator[_Request, Found, Found], _Key | None]] = []
    running.append((run.check(graph.root, value, ()), None))
    found: Found | None = None
    while running:
        steps, key = running[-1]
        try:
            node, inner, scope = steps.send(found)  # type: ignore[arg-type]  # None starts a generator
        except StopIteration as ended:
            running.pop()
            found = ended.value
            if key is not None:
                kept[key] = found
            continue
        # The value is part of the whole and lives as long, so its address names it.
        key = (node, id(inner), scope) if node.shared else None
        if key is not None and key in kept:
            found = kept[key]
            if found is None:
                raise EndlessError("the schema's references lead in a circle on this value")
            continue
        if key is not None:
            kept[key] = None
        running.append((run.check(node, inner, scope), key))
        found = None
    return found.faults if found else ()


class _Plan(NamedTuple):
    """The keywords of a node, ready to be run."""

    rules: list[tuple[str, Assertion, Json]]
    """Those that look at the value alone, with what they demand."""
    applied: list[Applicator]
    """Those that apply the nodes inside."""


def make_ready(node: Node, leave_out: Collection[str] = ()) -> None:
    """Make the keywords of a node ready to be run, all or without some."""
    keywords = {key: wanted for key, wanted in node.keywords.items() if key not in leave_out}
    rules = [(key, check, ready(key, keywords[key])) for key, check in ASSERTIONS.items() if key in keywords]
    node.plan = _Plan(rules, [applicator for key, applicator in APPLICATORS.items() if key in keywords])


class _Run:
    """One check of a value by a schema."""

    def __init__(self, graph: Graph, most: int, budget: Budget) -> None:
        self.graph = graph
        self.most = most
        self.budget = budget

    def check(self, node: Node, value: Json, scope: _Scope) -> Generator[_Request, Found, Found]:
        """Check a value by a node; yields what must be checked for that."""
        if node.plan is None:
            make_ready(node)
        planned: _Plan = node.plan
        self.budget.spend(1 + len(planned.rules))
        if node.contents is False:
            return Found((Fault((), "false", f"{shown(value)} is where nothing may be"),))
        if self.graph.is_dynamic and node.resource not in scope:
            scope = (*scope, node.resource)
        so_far = Gathered(speaks=self.graph.speaks)
        for keyword, assertion, wanted in planned.rules:
            if (wrong := assertion(wanted, value, node, self.budget)) is not None:
                so_far.fault(keyword, wrong)
        for reference in node.references:
            so_far.same((yield self._target(reference, scope), value, scope))
        for applicator in planned.applied:
            yield from self._apply(applicator(node, value, so_far, self.budget), scope, so_far)
        faults = tuple(so_far.faults[: self.most])
        return Found(faults, frozenset(so_far.names), frozenset(so_far.places)) if so_far.speaks else Found(faults)

    def _apply(self, steps: Steps, scope: _Scope, so_far: Gathered) -> Generator[_Request, Found, None]:
        """Run an applicator until it ends, or until there are faults enough."""
        request = next(steps, None)
        while request is not None and len(so_far.faults) < self.most:
            node, inner = request
            found = yield node, inner, scope
            try:
                request = steps.send(found)
            except StopIteration:
                return

    def _target(self, reference: Reference, scope: _Scope) -> Node:
        """Return what a reference leads to, seen from the schemas that led to it."""
        if reference.dynamic is None:
            return reference.target
        for uri in scope:
            outer = self.graph.replacement(uri, reference.dynamic)
            if outer is not None:
                return outer
        return reference.target
