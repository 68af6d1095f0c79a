"""Self-chat and judging on a GPU with a randomly initialised model of realistic shape.

    python benchmarks/vllm_gpu.py [--size 1b|3b|8b] [--dialogues 547] [--judgements 10000] [--eager]

No weights are downloaded: the model has the tokenizer of the tiny model, with made-up words up to Llama 3's number, the
shape of a Llama of that size and random weights (vLLM's load_format dummy). Its utterances make no sense and run to
their longest, so that the work is that of a real model whose utterances are as long as --max-tokens; that all are
equally long is kind to one batch per round. Figures are ratios to the same vLLM driven directly, and rates of this GPU.
"""

from __future__ import annotations

import argparse
import itertools
import json
import string
import sys
import time
from functools import partial
from pathlib import Path

from vllm_direct import Direct, Scheme, final, interleaved, own_megabytes, report, restart, seeds, tiny_model  # isort: skip
from dialeval.config import VllmModel
from dialeval.engines.request import Sampling
from dialeval.engines.vllm_engine import VllmEngine
from vllm_choice import requests
from vllm_choice import through_the_store as judge
from vllm_selfchat import Task, by_rounds, record, same_length, through_the_store

SHAPES: dict[str, dict[str, int]] = {
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32},
    "3b": {"hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 28, "num_attention_heads": 24},
    "8b": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
}
VOCABULARY = 128_256


def fill_vocabulary(folder: str) -> None:
    """Gives every number of the vocabulary a word: what the model says is text, of as many tokens when read again."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    words = itertools.product(string.ascii_lowercase, repeat=4)
    tokenizer.add_tokens([" q" + "".join(next(words)) for _ in range(VOCABULARY - len(tokenizer))])
    tokenizer.save_pretrained(folder)


def random_model(size: str) -> str:
    """Returns a folder with a tokenizer and the shape of a model, without weights."""
    folder = tiny_model(None, steps=0)
    fill_vocabulary(folder)
    path = Path(folder) / "config.json"
    shape = SHAPES[size]
    changes = {
        **shape,
        "head_dim": shape["hidden_size"] // shape["num_attention_heads"],
        "num_key_value_heads": 8,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": 8192,
        "dtype": "bfloat16",
        "torch_dtype": "bfloat16",
    }
    path.write_text(json.dumps(json.loads(path.read_text()) | changes, indent=2))
    (Path(folder) / "model.safetensors").unlink()
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SHAPES, default="8b")
    parser.add_argument("--dialogues", type=int, default=547)
    parser.add_argument("--utterances", type=int, default=16)
    parser.add_argument("--max-tokens", type=int, default=48)
    parser.add_argument("--judgements", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=float, default=0.42, help="share of the GPU for each of the two engines")
    parser.add_argument("--eager", action="store_true", help="without CUDA graphs and compilation: starts sooner")
    options = parser.parse_args()
    settings = VllmModel(
        engine="vllm",
        model=random_model(options.size),
        dtype="bfloat16",
        max_model_len=8192,
        gpu_memory_utilization=options.memory,
        enforce_eager=options.eager,
        engine_args={"load_format": "dummy"},
    )
    start = time.perf_counter()
    engine = VllmEngine(settings)
    size = engine.start().size
    print(f"{options.size}: started in {time.perf_counter() - start:.0f} s, KV cache of {size.cache_tokens} tokens")
    sampling = Sampling(max_tokens=options.max_tokens)
    task = Task(seeds(options.dialogues), options.utterances, sampling)
    _, seen = record(engine, task)
    table = list(requests(options.judgements))
    judge(engine, table)
    megabytes = own_megabytes()
    prompts = [engine._tokenization.prompt(request.messages)[1] for request in table]
    tokens = [engine._prompts.encode(label)[0] for label in table[0].labels]
    direct = Direct(settings)

    def rounds() -> None:
        by_rounds(direct, task, task.seeds)

    def ceiling() -> None:
        direct.run([prompt for prompt, *_ in seen], [same_length(n, seed, sampling) for _, n, seed in seen])

    def unseeded() -> None:
        direct.run([prompt for prompt, *_ in seen], [same_length(n, None, sampling) for _, n, _ in seen])

    def judging_directly() -> None:
        params = final(temperature=0.0, max_tokens=1, logprob_token_ids=tokens, detokenize=False)
        direct.run(prompts, [params] * len(prompts))

    again = partial(restart, engine)
    schemes = {
        "self-chat": Scheme(again, partial(through_the_store, engine, task)),
        "one batch per round": Scheme(direct.forget, rounds),
        "ceiling": Scheme(direct.forget, ceiling),
        "ceiling without sampling seeds": Scheme(direct.forget, unseeded),
        "judging": Scheme(again, partial(judge, engine, table)),
        "judging directly": Scheme(direct.forget, judging_directly),
    }
    seconds = interleaved(schemes, options.rounds)
    print(f"self-chat: {len(seen) / seconds['self-chat']:.1f} utterances/s", end=", ")
    print(f"{sum(n for _, n, _ in seen) / seconds['self-chat']:.0f} tokens/s; ", end="")
    print(f"judging: {len(table) / seconds['judging']:.1f} answers/s; prefix hits {engine.prefix_hit_rate:.2f}")
    report(
        [
            (
                "self-chat: time / one batch per round",
                seconds["self-chat"] / seconds["one batch per round"],
                "<=",
                0.85,
            ),
            ("self-chat: rate / all prompts known beforehand", seconds["ceiling"] / seconds["self-chat"], ">=", 0.9),
            (
                "what sampling seeds of requests cost: time with / without, all prompts known",
                seconds["ceiling"] / seconds["ceiling without sampling seeds"],
                "<=",
                1.5,
            ),
            ("judging: rate / driven directly", seconds["judging directly"] / seconds["judging"], ">=", 0.9),
            ("memory beside the engine's process, MB", megabytes, "<=", 500),
        ]
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
