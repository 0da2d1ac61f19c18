"""The plan: what a person asks to be run, as a file or as flags, and what it resolves to before any model loads."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from qeval.engines.head import HeadRule
from qeval.errors import UsageError, did_you_mean, unknown_name
from qeval.record import Reason
from qeval.rendering.thinking import ThinkingRule
from qeval.runner.decoding import check_decoding
from qeval.runner.judge_endpoint import JudgeSpec
from qeval.runner.task import Decode
from qeval.strict import Strict, load_yaml
from qeval.suites.case import Size, Suite
from qeval.suites.load import load_suites
from qeval.variants.spec import Variant, parse_variant, parse_variants

EngineName = Literal["transformers", "scripted"]


class VariantEntry(Strict):
    """A variant written in full, for what the short form cannot say."""

    name: str = Field(min_length=1, max_length=200)
    format: str = Field(min_length=1)
    """The short form, such as `nf4+keep=lm_head`."""
    model: str | None = None
    """Another model than the plan's: a pruned, distilled or damaged one. Must read the same tokens."""


class PlanFile(Strict):
    """The content of `plan.yaml`; flags of `qeval run` build the same."""

    model: str = Field(min_length=1)
    variants: tuple[str | VariantEntry, ...] = Field(min_length=1)
    baseline: str | None = None
    """Name of one of the variants. Default: fp32 on CPU, bf16 on an accelerator."""
    suites: Literal["all"] | tuple[str, ...] = "all"
    size: Size = "smoke"
    policy: str | None = None
    """Path of a policy file, relative to the plan. Default: the built-in policy."""
    out: str | None = None
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    engine: EngineName = "transformers"
    script: str | None = None
    """For the scripted engine: path of the script, relative to the plan."""
    batch_size: int = Field(default=64, ge=1, le=4096)
    batch_tokens: int = Field(default=16_384, ge=1)
    """A batch holds at most this many tokens, padding and answers included (one case always runs)."""
    self_check: float = Field(default=0.0625, ge=0, le=1)
    """Share of the cases every variant answers twice, the second time in other batches, where `repeats` is 0."""
    repeats: int = Field(default=0, ge=0, le=16)
    """How often every variant runs again, in other batches, on as many cases of each suite as the margins need."""
    repeat_threads: int | None = Field(default=None, ge=1, le=4096)
    """CPU threads of the repeats. Default: as of the first run."""
    stop_early: bool | None = None
    """Whether a candidate's run ends as soon as harm is proven, or acceptance. Default: at size standard and full it
    ends on proven harm alone."""
    threads: int | None = Field(default=None, ge=1, le=4096)
    """CPU threads of the variant's process. Default: the cores this process may use."""
    time_limit_s: float | None = Field(default=None, gt=0, le=10_000_000)
    """A variant that takes longer is ended and counts as missing."""
    seed: int = Field(default=0, ge=-(2**63), lt=2**63)
    temperature: float = Field(default=0, ge=0, le=10)
    """0: greedy; above it every token is drawn by its probability, with nothing cut off."""
    samples: int = Field(default=1, ge=1, le=1000)
    """How often every case is answered at a temperature above 0."""
    head: HeadRule = "model"
    """What the output head of every variant computes in: what the model says, or `fp32`, which parts exact ties."""
    fidelity: bool = True
    """Whether every candidate is also compared token by token along the baseline's answers (greedy decoding only)."""
    reverse_kl: bool = False
    """Whether that includes KL(candidate || baseline), beside KL(baseline || candidate)."""
    decode: Decode = "auto"
    """How candidates find their answers: `plain`; along the baseline's answers as far as they agree (`replay`); or as a
    pilot decides for each. Tokens are those of plain decoding but for what batching may change."""
    thinking: ThinkingRule | None = None
    """Whether models think before they answer: `off`, `on`, or a number of tokens, which is what a thought may take
    beside the case's own limit. Default: what the model's chat template does, and 1,024 tokens where it thinks."""
    date: datetime.date | None = None
    """What the clock of a chat template shows. Default: the day on which the run is first started, UTC."""
    allow_remote_code: bool = False
    allow_pickle: bool = False
    judge: JudgeSpec | None = None
    """The model that grades cases with a rubric, asked once all variants have answered. Default: none, and nothing is
    sent anywhere."""

    @field_validator("thinking", mode="before")
    @classmethod
    def _thinking_as_yaml_and_flags_write_it(cls, value: object) -> object:
        # YAML reads a bare off and on as false and true.
        if isinstance(value, bool):
            return "on" if value else "off"
        return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value

    @field_validator("variants", "suites", mode="before")
    @classmethod
    def _lists_may_be_comma_text(cls, value: object) -> object:
        if isinstance(value, str) and value != "all":
            return [part.strip() for part in value.split(",") if part.strip()]
        return value


class PlannedVariant(Strict):
    """One variant as it will run."""

    name: str
    spec: Variant
    model: str


class Plan(Strict):
    """A checked plan: suites loaded, variants parsed, baseline chosen, paths absolute."""

    file: PlanFile
    variants: tuple[PlannedVariant, ...]
    """The baseline first, the candidates in the order asked for."""
    suites: tuple[Suite, ...]
    device: str
    threads: int
    script: Path | None

    @property
    def baseline(self) -> PlannedVariant:
        """The variant the others are compared with."""
        return self.variants[0]

    @property
    def measures_fidelity(self) -> bool:
        """Whether variants are compared token by token: models in this process that decode greedily."""
        return self.file.fidelity and self.file.engine == "transformers" and not self.file.temperature

    @property
    def passes_again(self) -> int:
        """How often the chosen cases run again."""
        return self.file.repeats or 1

    @property
    def self_checked(self) -> dict[str, int]:
        """Cases of each suite that the self-check runs again: its share, one at least, none where it is off."""
        share = 0 if self.file.temperature else self.file.self_check
        return {suite.name: max(1, round(share * len(suite.cases))) if share else 0 for suite in self.suites}

    @property
    def stop_on(self) -> tuple[Reason, ...]:
        """What may end a candidate's run before its last case."""
        if self.judge_decides:
            return ()
        if self.file.stop_early is None:
            return () if self.file.size == "smoke" else ("harm",)
        return ("harm", "acceptance") if self.file.stop_early else ()

    @property
    def judge_decides(self) -> bool:
        """Whether `pass` of any case waits for the judge, so that no look at a running candidate could be right."""
        graders = (grader for suite in self.suites for case in suite.cases for grader in case.graders)
        return any(grader["kind"] == "judge" and grader.get("required") for grader in graders)


def load_plan(path: Path) -> PlanFile:
    """Read a plan file; relative paths in it count from its folder.

    Raises:
        UsageError: unreadable, an unknown key, or a value that is not allowed.
    """
    plan = load_yaml(PlanFile, path)
    moved: dict[str, Any] = {
        key: str(path.parent / value)
        for key in ("policy", "script", "out")
        if (value := getattr(plan, key)) is not None and not Path(value).is_absolute()
    }
    moved["model"] = _from_folder(path.parent, plan.model)
    if plan.suites != "all":
        moved["suites"] = tuple(_from_folder(path.parent, suite) for suite in plan.suites)
    moved["variants"] = tuple(
        entry.model_copy(update={"model": _from_folder(path.parent, entry.model)})
        if isinstance(entry, VariantEntry) and entry.model
        else entry
        for entry in plan.variants
    )
    return plan.model_copy(update=moved)


def _from_folder(folder: Path, name: str) -> str:
    """Return a name that is written as a relative path (`./x`, `../x`) as seen from a folder; others unchanged."""
    return str(folder / name) if name.startswith(("./", "../")) else name


def resolve_plan(file: PlanFile) -> Plan:
    """Check a plan and load what it names, except models.

    Raises:
        UsageError: unknown variant, suite or baseline, a variant named twice, a script that is missing, decoding that
            the engine does not have, an early end of cases that a judge decides, reverse KL without fidelity.
    """
    check_decoding(file)
    _check_reverse_kl(file)
    device = detect_device(file.device)
    variants = _variants(file)
    baseline = _baseline_name(file, variants, device)
    ordered = sorted(variants, key=lambda variant: variant.name != baseline)
    if file.engine == "scripted" and file.script is None:
        raise UsageError("engine scripted needs `script:`, the path of a file with the answers.")
    if file.engine != "scripted" and file.script is not None:
        raise UsageError(f"`script:` is for the scripted engine; the plan says engine {file.engine}.")
    if file.script is not None:
        _check_script(Path(file.script), [variant.name for variant in ordered])
    plan = Plan(
        file=file,
        variants=tuple(ordered),
        suites=load_suites(file.suites, file.size),
        device=device,
        threads=file.threads or usable_cores(),
        script=Path(file.script) if file.script else None,
    )
    if file.stop_early and plan.judge_decides:
        raise UsageError(
            "stop_early: some cases pass by a required judge, which grades when all variants have answered. Leave "
            "stop_early out, or take `required` out of their judge graders."
        )
    return plan


def _check_reverse_kl(file: PlanFile) -> None:
    if not file.reverse_kl:
        return
    if not file.fidelity:
        raise UsageError("reverse_kl is a part of fidelity, which is off. Turn fidelity on, or leave reverse_kl out.")
    if file.engine == "scripted":
        raise UsageError("reverse_kl needs a model; the scripted engine has no distributions. Leave reverse_kl out.")
    if file.temperature:
        raise UsageError(
            f"reverse_kl: fidelity is measured with greedy decoding only, and the temperature is {file.temperature:g}. "
            "Leave the temperature out, or reverse_kl."
        )


def _check_script(path: Path, names: list[str]) -> None:
    from qeval.engines.scripted import load_script

    script = load_script(path)
    for name in names:
        if name not in script.variants:
            raise unknown_name(f"variant in {path}", name, script.variants)


def _variants(file: PlanFile) -> list[PlannedVariant]:
    planned = []
    for entry in file.variants:
        if isinstance(entry, str):
            planned += [PlannedVariant(name=spec.text, spec=spec, model=file.model) for spec in parse_variants(entry)]
        else:
            spec = parse_variant(entry.format)
            planned.append(PlannedVariant(name=entry.name, spec=spec, model=entry.model or file.model))
    names = [variant.name for variant in planned]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"the variant '{twice[0]}' is named twice; give one of them another name in a plan file.")
    return planned


def _baseline_name(file: PlanFile, variants: list[PlannedVariant], device: str) -> str:
    names = [variant.name for variant in variants]
    wanted = file.baseline or ("fp32" if device == "cpu" else "bf16")
    if wanted not in names:
        default = "" if file.baseline else f" (the default on {device})"
        raise UsageError(
            f"the baseline '{wanted}'{default} is not among the variants.{did_you_mean(wanted, names)} "
            f"Add it to --variants or choose --baseline from: {', '.join(names)}"
        )
    return wanted


def detect_device(asked: str) -> str:
    """Return the device a plan runs on; `auto` takes CUDA, then MPS, then the CPU.

    torch is only imported where there is a sign of an accelerator, to keep a plan on a CPU machine quick to check.

    Raises:
        UsageError: the device asked for is not there.
    """
    if asked == "cpu" or (asked == "auto" and not _maybe_accelerator()):
        return "cpu"
    import torch

    found = [
        name
        for name, there in (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available()))
        if there
    ]
    if asked == "auto":
        return found[0] if found else "cpu"
    if asked not in found:
        raise UsageError(f"device {asked} is not available here. Available: {', '.join(['cpu', *found])}")
    return asked


def usable_cores() -> int:
    """Return the number of cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _maybe_accelerator() -> bool:
    import platform

    nvidia, amd = Path("/dev/nvidiactl"), Path("/dev/kfd")
    return nvidia.exists() or amd.exists() or (platform.system(), platform.machine()) == ("Darwin", "arm64")
