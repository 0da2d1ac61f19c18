"""`qeval run`: one model at several precisions, diffed by slice, gated, tracked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qeval.cli.output import Finished, Json, console, interrupted, print_json, progress_console, say, say_report_only
from qeval.errors import UsageError

if TYPE_CHECKING:
    from qeval.job import Job
    from qeval.runner.plan import Plan, PlanFile

DEFAULT_EXPERIMENT = "qeval"

EXAMPLES = """
**Examples**

`qeval run --model smollm2-135m --variants fp32,int8,nf4`

`qeval run --model smollm2-135m --variants fp32,nf4 --suites schema,toolcalls --policy policy.yaml --out runs/nightly`

`qeval run --model smollm2-135m --variants fp32,bf16 --repeats 2 --size standard --stop-early`

`qeval run plan.yaml --dry-run`

`qeval run plan.yaml --out runs/nightly --resume`

`qeval run plan.yaml --variants fp32,int8,nf4,fp4 --out runs/nightly --resume`

**A judge** for cases with a rubric is off, and nothing is sent anywhere, unless the plan names one:
`judge: {url: "http://127.0.0.1:8000/v1", model: qwen3-32b}`. It is asked when all variants have answered; with
`--resume` a finished run can be judged later. Its key is read from the environment variable QEVAL_JUDGE_KEY. See
docs/graders.md.
"""


def run(
    plan_file: Annotated[
        Path | None, typer.Argument(metavar="[PLAN]", help="A plan file; options given beside it win.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Catalogue name, local folder, .gguf file, or Hugging Face id[@revision].")
    ] = None,
    variants: Annotated[str | None, typer.Option(help="Comma-separated, such as fp32,int8,nf4+keep=lm_head.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="One of the variants. Default: fp32 on CPU, bf16 on an accelerator.")
    ] = None,
    suites: Annotated[str | None, typer.Option(help="`all`, or names and folders, comma-separated.")] = None,
    size: Annotated[str | None, typer.Option(help="smoke, standard or full. Default: smoke.")] = None,
    policy: Annotated[str | None, typer.Option(help="A policy file. Default: the built-in policy.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run. Default: a new one in runs, named by the time.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps. Default: auto.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Cases that are answered together. Default: 64.")] = None,
    threads: Annotated[int | None, typer.Option(help="CPU threads. Default: the cores this process may use.")] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            help="Run every variant again so often, in other batches, on as many cases as the margins need: the noise "
            "floor. Default: a sixteenth of the cases once."
        ),
    ] = None,
    repeat_threads: Annotated[int | None, typer.Option(help="CPU threads of the repeats. Default: as many.")] = None,
    stop_early: Annotated[
        bool | None,
        typer.Option(
            "--stop-early/--no-stop-early",
            help="End a candidate as soon as harm or acceptance is proven. Default: at size standard and full on "
            "proven harm alone.",
        ),
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Draw answers at this temperature. Default: 0, greedy.")
    ] = None,
    samples: Annotated[int | None, typer.Option(help="Answers to each case at a temperature above 0.")] = None,
    head: Annotated[
        str | None, typer.Option(help="model, or fp32: logits of every variant in fp32, without exact ties.")
    ] = None,
    fidelity: Annotated[
        bool | None,
        typer.Option(
            "--fidelity/--no-fidelity",
            help="Compare candidates token by token along the baseline's answers too (KL divergence). Default: yes.",
        ),
    ] = None,
    reverse_kl: Annotated[
        bool, typer.Option("--reverse-kl", help="Measure KL(candidate || baseline) too, beside the other way round.")
    ] = False,
    thinking: Annotated[
        str | None,
        typer.Option(
            help="off, on, or a number of tokens: what a thought may take beside the answer's own limit. Default: what "
            "the model's chat template does, and 1,024 tokens where it thinks."
        ),
    ] = None,
    decode: Annotated[
        str | None,
        typer.Option(
            help="plain, or replay: along the baseline's answers as far as a candidate agrees. Default: as a pilot "
            "decides for each candidate."
        ),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which a variant is ended.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Finish an interrupted run in the same --out, or add candidates to it.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the plan with a rough estimate of time and size of the weights, and stop."
        ),
    ] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="End with 0 whatever the decision; it is still printed.")
    ] = False,
    tracking_uri: Annotated[
        str | None, typer.Option(help="MLflow tracking address. Default: an sqlite store in the run's folder.")
    ] = None,
    experiment: Annotated[str, typer.Option(help="MLflow experiment.")] = DEFAULT_EXPERIMENT,
    no_track: Annotated[bool, typer.Option("--no-track", help="Do not track with MLflow.")] = False,
    allow_remote_code: Annotated[
        bool, typer.Option("--allow-remote-code", help="Let the model run code of its own.")
    ] = False,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Load pickled weights, which can run code.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a model at several precisions, compare each with the baseline, and decide."""
    from qeval.compare.policy import check_candidates, load_policy
    from qeval.job import Tracking, cases_again, now, refuse_lonely, run_job
    from qeval.reporting.terminal import print_report
    from qeval.runner.plan import resolve_plan
    from qeval.runner.progress import watcher_for

    given = {
        "model": model,
        "variants": variants,
        "baseline": baseline,
        "suites": suites,
        "size": size,
        "policy": policy,
        "out": None if out is None else str(out),
        "device": device,
        "batch_size": batch_size,
        "threads": threads,
        "repeats": repeats,
        "repeat_threads": repeat_threads,
        "stop_early": stop_early,
        "temperature": temperature,
        "samples": samples,
        "head": head,
        "fidelity": fidelity,
        "reverse_kl": reverse_kl or None,
        "thinking": thinking,
        "decode": decode,
        "time_limit_s": time_limit,
        "allow_remote_code": allow_remote_code or None,
        "allow_pickle": allow_pickle or None,
    }
    empty = [key for key, value in given.items() if value == ""]
    if empty:
        raise UsageError(f"--{empty[0].replace('_', '-')} is empty: give a value, or leave the option out.")
    file = _plan_from(plan_file, {key: value for key, value in given.items() if value is not None})
    plan = resolve_plan(file)
    rules = load_policy(Path(file.policy) if file.policy else None)
    refuse_lonely(plan)
    check_candidates(rules, tuple(variant.name for variant in plan.variants[1:]))
    if dry_run:
        _print_estimate(plan, cases_again(plan, rules), as_json=as_json)
        return
    folder = Path(file.out) if file.out else Path("runs") / now().replace(":", "-").removesuffix("+00-00")
    if resume and not file.out:
        raise UsageError("--resume needs the folder of the run to finish: give --out.")
    tracking = None if no_track else Tracking(tracking_uri, experiment)
    try:
        with watcher_for(progress_console()) as watcher:
            job = run_job(plan, rules, folder, watcher, resume=resume, tracking=tracking)
    except KeyboardInterrupt:
        kept = f"What was answered is kept in {folder}; run the same command with --out {folder} --resume to finish."
        interrupted(kept, as_json=as_json, out=folder)
    print_report(job.report, console(as_json=as_json))
    say_report_only(console(as_json=as_json), job.report.exit_code, report_only=report_only)
    _print_places(job, as_json=as_json)
    raise Finished(0 if report_only else job.report.exit_code)


run.__doc__ = f"{run.__doc__}\n{EXAMPLES}"


def _plan_from(path: Path | None, given: dict[str, Any]) -> PlanFile:
    from qeval.runner.plan import PlanFile, load_plan
    from qeval.strict import validate

    if path is not None:
        base = load_plan(path).model_dump(exclude_unset=True)
        return validate(PlanFile, {**base, **given}, str(path))
    for needed in ("model", "variants"):
        if needed not in given:
            raise UsageError(f"--{needed} is missing. Give it, or a plan file: qeval run plan.yaml")
    return validate(PlanFile, given, "the command line")


def _print_places(job: Job, *, as_json: bool) -> None:
    target = console(as_json=as_json)
    say(target, f"\nreport   {job.written['report.html']}")
    tracked = job.tracked
    if tracked is not None and tracked.url:
        say(target, f"MLflow   {tracked.url}")
    if tracked is not None and tracked.warning:
        say(progress_console(), f"warning: {tracked.warning}")
    if as_json:
        print_json(
            {
                "decision": job.report.decision,
                "exit_code": job.report.exit_code,
                "candidates": {c.candidate: c.decision for c in job.report.candidates},
                "out": str(job.folder),
                "reports": {name: str(path) for name, path in job.written.items()},
                "tracking": None if tracked is None else {"url": tracked.url, "warning": tracked.warning},
            }
        )


def _print_estimate(plan: Plan, again: dict[str, int], *, as_json: bool) -> None:
    from qeval.runner.estimate import estimate_plan, print_estimate

    estimate = estimate_plan(plan, again)
    print_estimate(plan, estimate, console(as_json=as_json))
    if as_json:
        print_json(estimate.model_dump(mode="json"))
