"""What the output head in fp32 does to noise: `python scripts/bench_head.py`.

Prints a Markdown table for `--head model` and `--head fp32` in bf16: the share of positions whose two likeliest tokens
tie exactly, and how far a batch of 8 rows lies from each row alone: agreement of the likeliest token, and mean KL
divergence over the vocabulary, log-softmax in 64 bits. Rows are questions of the built-in suites, all of one
length, so that nothing is padded; their last tokens are shown one at a time, as answers are decoded. Both rules see
the same hidden states.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable

import torch
from transformers import DynamicCache

from qeval.engines.head import compute_head_in_fp32
from qeval.engines.transformers import TransformersEngine
from qeval.models.locate import resolve
from qeval.suites.load import load_suites
from qeval.variants.load import LoadedVariant, load_variant
from qeval.variants.spec import parse_variant

BATCH_ROWS = 8
READ_TOKENS = 48
TEMPLATE_TOKENS = 8
"""More than a chat template writes after the question: tokens that no model is in doubt about."""

Head = Callable[[torch.Tensor], torch.Tensor]


def rows_of_suites(loaded: LoadedVariant, n_rows: int, n_tokens: int) -> torch.Tensor:
    """Return tokens of prompts spread over all suites, cut before the chat template ends them, (rows, tokens)."""
    engine = TransformersEngine(loaded.model, loaded.tokenizer, "cpu")
    prompts = [engine.render(suite.name, case) for suite in load_suites("all", "smoke") for case in suite.cases]
    texts = [prompt.token_ids[:-TEMPLATE_TOKENS] for prompt in prompts]
    rows = [text[-n_tokens:] for text in texts if len(text) >= n_tokens]
    return torch.tensor(rows[:: len(rows) // n_rows][:n_rows])


def hidden_states(model: torch.nn.Module, rows: torch.Tensor) -> list[torch.Tensor]:
    """Read the rows, then show their last tokens one at a time; return each step's states, shape (rows, 1, width)."""
    cache = DynamicCache(config=model.config)
    model.base_model(input_ids=rows[:, :READ_TOKENS], cache=cache, use_cache=True)
    return [
        model.base_model(input_ids=token, cache=cache, use_cache=True).last_hidden_state
        for token in rows[:, READ_TOKENS:].split(1, dim=1)
    ]


def compare(head: Head, alone: torch.Tensor, together: torch.Tensor) -> torch.Tensor:
    """Return for one step whether each row's top two tie, whether its top token agrees, and its KL, shape (rows, 3)."""
    # A row alone goes through the head alone.
    ours, theirs = torch.cat([head(row) for row in alone.split(1)])[:, 0], head(together)[:, 0]
    best = ours.topk(2).values
    p, q = (logits.double().log_softmax(-1) for logits in (ours, theirs))
    kl = (p.exp() * (p - q)).sum(-1)
    return torch.stack([best[:, 0] == best[:, 1], ours.argmax(-1) == theirs.argmax(-1), kl], dim=1)


def main() -> None:
    """Load bf16 once, take hidden states alone and in batches, and put both heads on them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--steps", type=int, default=16)
    given = parser.parse_args()
    torch.set_num_threads(2)
    loaded = load_variant(parse_variant("bf16"), resolve(given.model), "cpu")
    rows = rows_of_suites(loaded, given.rows, READ_TOKENS + given.steps)
    model = loaded.model
    found: dict[str, list[torch.Tensor]] = {"model": [], "fp32": []}
    with torch.no_grad():
        heads: dict[str, Head] = {"model": copy.deepcopy(model.get_output_embeddings())}
        compute_head_in_fp32(model)
        heads["fp32"] = model.get_output_embeddings()
        for batch in rows.split(BATCH_ROWS):
            by_row = [hidden_states(model, row) for row in batch.split(1)]
            alone = [torch.cat(steps) for steps in zip(*by_row, strict=True)]
            for one, other in zip(alone, hidden_states(model, batch), strict=True):
                for rule, head in heads.items():
                    found[rule].append(compare(head, one, other))
    print("| head | positions | ties of the top two | same top token | KL |")
    print("|---|---|---|---|---|")
    for rule, parts in found.items():
        tied, agreed, kl = torch.cat(parts).double().mean(dim=0).tolist()
        print(f"| {rule} | {rows.shape[0] * given.steps} | {tied:.1%} | {agreed:.1%} | {kl:.2e} |")


if __name__ == "__main__":
    main()
