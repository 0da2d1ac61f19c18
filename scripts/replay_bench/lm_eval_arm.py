"""One format through lm-eval's own loop: run by an interpreter that has lm_eval, knows nothing of qeval.

    python -P lm_eval_arm.py JOB

JOB is a JSON file with `model` (a folder), `format`, `batch_size` (a number or `auto`), `threads`, `memory_bytes` (the
process's limit) and `requests`: `text`, `token_ids`, `limit` each. The last line printed is JSON: `load_s`, `answer_s`,
`texts`. The model is loaded here and handed to lm-eval, since with transformers 5 its own options for quantised formats
raise (`load_in_8bit`, `load_in_4bit`: unexpected keyword; `quantization_config`: given twice).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

HEAD = ["lm_head"]
"""What qeval leaves unquantised too."""


def load(folder: str, name: str) -> Any:  # noqa: ANN401 - transformers is untyped
    """Load a model in a format, as `qeval.variants` does but for what qeval changes after loading."""
    import torch
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig, QuantoConfig

    made = {
        "int8": lambda: BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=HEAD),
        "nf4": lambda: BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=torch.float32,
            llm_int8_skip_modules=HEAD,
        ),
        "quanto-int8": lambda: QuantoConfig(weights="int8", modules_to_not_convert=HEAD),
    }
    options = {"quantization_config": made[name]()} if name in made else {}
    dtype = torch.bfloat16 if name == "bf16" else torch.float32
    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, device_map={"": "cpu"}, **options).eval()


def check_tokens(lm: Any, requests: list[dict[str, Any]]) -> None:  # noqa: ANN401
    """End the process where lm-eval would read other tokens than qeval."""
    for request in requests:
        ids, _ = lm.tok_batch_encode([request["text"]])
        if ids[0].tolist() != request["token_ids"]:
            sys.exit(f"lm-eval reads other tokens than qeval: {request['text'][:200]!r}. Choose other cases.")


def main() -> None:
    """Load, check, answer, print."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    resource.setrlimit(resource.RLIMIT_AS, (job["memory_bytes"], job["memory_bytes"]))
    import torch
    from lm_eval.api.instance import Instance  # type: ignore[import-not-found]
    from lm_eval.models.huggingface import HFLM  # type: ignore[import-not-found]
    from transformers import AutoTokenizer

    torch.set_num_threads(job["threads"])
    started = time.perf_counter()
    tokenizer = AutoTokenizer.from_pretrained(job["model"])
    lm = HFLM(load(job["model"], job["format"]), tokenizer=tokenizer, batch_size=job["batch_size"])
    loaded = time.perf_counter()
    check_tokens(lm, job["requests"])
    instances = [
        Instance(
            "generate_until",
            doc={},
            arguments=(request["text"], {"until": [], "max_gen_toks": request["limit"], "do_sample": False}),
            idx=index,
        )
        for index, request in enumerate(job["requests"])
    ]
    checked = time.perf_counter()
    texts = lm.generate_until(instances, disable_tqdm=True)
    answer_s = time.perf_counter() - checked
    print(json.dumps({"load_s": loaded - started, "answer_s": answer_s, "texts": texts}))


if __name__ == "__main__":
    main()
