"""The output head apart from its model: from a final hidden state to log-probabilities, in fp32.

One rule for every variant, whatever it computes in: weights and state are taken to fp32 before they are multiplied,
then the model's own scaling and soft-capping of logits follow.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qeval.errors import VariantFailed
from qeval.variants.stored import is_packed

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

_SCALES = ("logit_scale", "logits_scaling", "lm_head_multiplier")
"""What configs call the factor of the logits; it is tried as a factor and as a divisor."""
_PROBE_TOKENS = 8
_PROBE_ERROR = 0.02
"""Of the largest logit: what rounding to 16 bits may move; another rule moves far more."""


class OutputHead(NamedTuple):
    """What turns a final hidden state into logits."""

    multiply: Callable[[torch.Tensor], torch.Tensor]
    """Hidden states of shape (positions, hidden), fp32, to the head's own product (positions, vocabulary), fp32."""
    scale: float
    cap: float | None
    vocabulary: int
    """Logits at a position."""

    def log_probabilities(self, states: torch.Tensor) -> torch.Tensor:
        """Return natural log-probabilities (positions, vocabulary), fp32, of hidden states (positions, hidden)."""
        return _logits(self.multiply(states.float()), self.scale, self.cap).log_softmax(dim=-1)


def head_of(model: Any) -> OutputHead:  # noqa: ANN401 - transformers is untyped
    """Return a loaded model's output head, after seeing that it gives the model's own logits.

    Raises:
        VariantFailed: the model has no output head, or makes its logits in a way not known here.
    """
    module = model.get_output_embeddings()
    if module is None:
        raise VariantFailed(f"{type(model).__name__} names no output head")
    return OutputHead(_product(module), *_rule(model, module))


def save_head(model: Any, path: Path) -> None:  # noqa: ANN401
    """Store a model's output head: weights in 16 bits where that loses nothing, else as they are.

    Raises:
        VariantFailed: as `head_of`, or the head is quantised.
    """
    import torch
    from safetensors.torch import save_file

    module = model.get_output_embeddings()
    head = head_of(model)
    if any(is_packed(parameter) for parameter in module.parameters()):
        raise VariantFailed("its output head is quantised")
    parts = {"weight": _smallest(module.weight.detach())}
    if module.bias is not None:
        parts["bias"] = module.bias.detach().float()
    parts["rule"] = torch.tensor([head.scale, head.cap or 0.0], dtype=torch.float64)
    beside = path.with_suffix(".tmp")
    save_file({name: part.cpu().contiguous() for name, part in parts.items()}, beside)
    beside.replace(path)


def load_head(path: Path, device: str) -> OutputHead:
    """Load a stored output head."""
    from safetensors.torch import load_file

    parts = load_file(path, device=device)
    weight, bias = parts["weight"], parts.get("bias")
    scale, cap = parts["rule"].tolist()
    return OutputHead(lambda states: _multiply(states, weight, bias), scale, cap or None, len(weight))


def _product(module: Any) -> Callable[[torch.Tensor], torch.Tensor]:  # noqa: ANN401
    if any(is_packed(parameter) for parameter in module.parameters()):
        dtype = next((p.dtype for p in module.parameters() if p.is_floating_point()), None)
        return lambda states: module(states if dtype is None else states.to(dtype)).float()
    return lambda states: _multiply(states, module.weight.detach(), module.bias)


def _multiply(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    import torch

    if weight.dtype == torch.float32:
        return torch.nn.functional.linear(states, weight, bias)
    # In parts of the vocabulary, since a whole fp32 copy of the weights would be larger than all else here.
    found = torch.cat([states @ part.float().T for part in weight.split(8192)], dim=-1)
    return found if bias is None else found + bias.float()


def _smallest(weight: torch.Tensor) -> torch.Tensor:
    import torch

    for dtype in (torch.bfloat16, torch.float16):
        small = weight.to(dtype)
        if torch.equal(small.to(weight.dtype), weight):
            return small
    return weight


def _logits(product: torch.Tensor, scale: float, cap: float | None) -> torch.Tensor:
    scaled = product * scale
    return scaled if cap is None else cap * (scaled / cap).tanh()


def _rule(model: Any, module: Any) -> tuple[float, float | None, int]:  # noqa: ANN401
    """Return scale, cap and number of the logits, as the config says and the model's own logits confirm."""
    import torch

    config = model.config.get_text_config()
    cap = getattr(config, "final_logit_softcapping", None)
    named = [value for name in _SCALES if isinstance(value := getattr(config, name, None), int | float) and value]
    seen: list[torch.Tensor] = []
    hook = module.register_forward_pre_hook(lambda _, given: seen.append(given[0].detach()))
    ids = torch.arange(_PROBE_TOKENS, device=model.device).unsqueeze(0)
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0].float()
    hook.remove()
    if not bool(torch.isfinite(logits).all()):
        raise VariantFailed("its logits are NaN or infinite")
    product = _product(module)(seen[0][0].float())
    for scale in (1.0, *(float(value) for value in named), *(1 / value for value in named)):
        if float((_logits(product, scale, cap) - logits).abs().max()) <= _PROBE_ERROR * float(logits.abs().max()):
            return scale, cap, logits.shape[-1]
    raise VariantFailed(f"{type(model).__name__} makes its logits from its output head in a way not known here")
