"""`qeval power`: plan a suite before running it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qeval.cli.numbers import Share, parts, share, whole
from qeval.cli.output import Json, console, print_json
from qeval.errors import UsageError

if TYPE_CHECKING:
    from qeval.compare.planning import Design

_FLIP_RATE, _MARGIN, _CORRELATION = Share(0.0001, 1), Share(0.0001, 0.99, "points"), Share(0, 1)
_ALPHA, _POWER = Share(0.000001, 0.49), Share(0.5, 0.999)
_MOST_SLICES, _MOST_CASES = 1000, 10_000_000
_SIZES = "100,200,300,500,1000,2000"


def power(
    flip_rate: Annotated[
        str | None, typer.Option(help="Share of cases expected to flip; several with commas between. Default: 0.10.")
    ] = None,
    margin: Annotated[str | None, typer.Option(help="The loss to exclude, 0.02 for two points. Default: 0.02.")] = None,
    slices: Annotated[str | None, typer.Option(help="Slices that must all hold. Default: 1.")] = None,
    alpha: Annotated[str | None, typer.Option(help="Level of every test. Default: 0.05.")] = None,
    asked: Annotated[str, typer.Option("--power", help="Probability to show what is there.")] = "0.8",
    n: Annotated[
        str | None, typer.Option("--n", help=f"Cases a slice; several with commas between. Default: {_SIZES}.")
    ] = None,
    cluster_size: Annotated[str | None, typer.Option(help="Cases that share a document. Default: 1.")] = None,
    correlation: Annotated[str, typer.Option(help="Correlation of results within a cluster, 0 to 1.")] = "0",
    suites: Annotated[
        str | None, typer.Option(help="Plan these suites under the policy: `all`, or names and folders with commas.")
    ] = None,
    size: Annotated[str | None, typer.Option(help="With --suites: smoke, standard or full. Default: smoke.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="With --suites: a policy file. Default: the built-in policy.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Plan a suite: how many cases it takes, and what a number of cases can show.

    **Examples**

    `qeval power --flip-rate 0.02,0.05,0.10 --margin 0.02`

    `qeval power --slices 10 --margin 0.03 --n 200,500,1000,2000`

    `qeval power --cluster-size 5 --correlation 0.3`

    `qeval power --suites all --size standard --policy policy.yaml`
    """
    own = {"--flip-rate": flip_rate, "--margin": margin, "--slices": slices, "--alpha": alpha, "--n": n}
    wanted, within = share("--power", asked, _POWER), share("--correlation", correlation, _CORRELATION)
    if suites is not None:
        _refuse(own | {"--cluster-size": cluster_size}, "does not go with --suites: the suites and the policy say it")
        _plan_suites(suites, "smoke" if size is None else size, policy, wanted, within, as_json=as_json)
        return
    _refuse({"--size": size, "--policy": policy}, "goes with --suites alone")
    from qeval.compare.planning import Design
    from qeval.compare.policy import Policy

    default = Policy()
    design = Design(
        margin=default.margins.pool if margin is None else share("--margin", margin, _MARGIN),
        slices=whole("--slices", "1" if slices is None else slices, _MOST_SLICES),
        alpha=default.alpha if alpha is None else share("--alpha", alpha, _ALPHA),
        power=wanted,
        cluster_size=whole("--cluster-size", "1" if cluster_size is None else cluster_size, _MOST_CASES),
        correlation=within,
    )
    rates = [str(default.planning_flip_rate)] if flip_rate is None else parts("--flip-rate", flip_rate)
    sizes = parts("--n", _SIZES if n is None else n)
    _plan(
        design,
        [share("--flip-rate", rate, _FLIP_RATE) for rate in rates],
        [whole("--n", one, _MOST_CASES) for one in sizes],
        as_json=as_json,
    )


def _refuse(given: Mapping[str, object], why: str) -> None:
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} {why}. Leave it out.")


def _plan(design: Design, flip_rates: list[float], sizes: list[int], *, as_json: bool) -> None:
    from qeval.compare.planning import plan_cases, plan_size
    from qeval.reporting.planning import print_plan

    needed = [plan_cases(rate, design) for rate in flip_rates]
    shown = [plan_size(rate, n, design) for rate in flip_rates for n in sizes]
    print_plan(design, needed, shown, console(as_json=as_json))
    if as_json:
        print_json(
            {
                "design": design._asdict(),
                "cases_needed": [row.model_dump(mode="json") for row in needed],
                "shown": [row.model_dump(mode="json") for row in shown],
            }
        )


def _plan_suites(
    names: str, size: str, policy: Path | None, wanted: float, correlation: float, *, as_json: bool
) -> None:
    from qeval.compare.policy import load_policy
    from qeval.compare.suite_plan import plan_suites
    from qeval.reporting.planning import print_suites_plan
    from qeval.suites.case import size_called
    from qeval.suites.load import load_suites

    plan = plan_suites(load_suites(names, size_called(size)), load_policy(policy), wanted, correlation)
    print_suites_plan(plan, console(as_json=as_json))
    if as_json:
        print_json(plan.model_dump(mode="json"))
