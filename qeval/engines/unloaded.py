"""A model as far as it can be asked without its weights: how it reads cases, and whether it can."""

from __future__ import annotations

from qeval.engines.base import Prompt
from qeval.errors import UsageError
from qeval.models.resolved import ResolvedModel
from qeval.rendering.renderer import Renderer, Rules
from qeval.rendering.template import RefusedError
from qeval.suites.case import Case
from qeval.variants.load import load_tokenizer


class Unloaded:
    """Renders cases for a model whose weights are not loaded."""

    def __init__(self, model: ResolvedModel, rules: Rules) -> None:
        """Load tokenizer and config.

        Raises:
            UsageError: one of them cannot be loaded, or the rules ask for what the chat template does not have.
        """
        from transformers import AutoConfig

        try:
            config = AutoConfig.from_pretrained(
                model.path, trust_remote_code=model.allow_remote_code, local_files_only=True
            ).get_text_config()
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{model.name}: its config.json is unusable ({error}). Save the model again.") from error
        tokenizer = load_tokenizer(model)
        try:
            self.renderer = Renderer(tokenizer, rules, (), None)
        except UsageError as error:
            raise UsageError(f"{model.name}: {error}") from error
        self.context_tokens: int | None = getattr(config, "max_position_embeddings", None)
        self._vocabulary: int | None = getattr(config, "vocab_size", None)
        self._name_of = tokenizer.convert_ids_to_tokens

    def render(self, suite: str, case: Case) -> Prompt:
        """Turn a case into the prompt the model reads.

        Raises:
            RefusedError: it cannot be shown whole, or holds tokens that the model has no embedding for.
        """
        rendered = self.renderer.render(case)
        outside = [token for token in rendered.token_ids if self._vocabulary is not None and token >= self._vocabulary]
        if outside:
            raise RefusedError(
                f"token {outside[0]} ({self._name_of(outside[0])!r}) of its prompt is outside the model's vocabulary "
                f"of {self._vocabulary}"
            )
        return Prompt(
            suite,
            case,
            rendered.token_ids,
            rendered.text,
            way=rendered.way,
            thought_tokens=self.renderer.thinking.tokens or 0,
        )
