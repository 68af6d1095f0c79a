"""Training of an adapter by our stage's Trainer against a bare loop over peft and AdamW: tokens a second.

No weights are downloaded: the model has the shape of a Llama of that size and random weights. Prompts are random tokens
whose lengths are drawn as those of Yes/No prompts about dialogues are spread; tokens that fill rows up do not count.
Both arms have the same examples, batches of the same size, number format and checkpointing, and take turns. Needs what
`.ci/model-environment` or `pip install -e '.[train]'` installs. Takes 5 min with torch.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
import transformers

from dialeval.config.training import LoraTraining
from dialeval.engines.label_probabilities import LabelTree
from dialeval.training.lora import train_adapter, with_adapter
from dialeval.training.lora_questions import LoraQuestion
from dialeval.training.running import micro_batch
from gates import Gates, arguments

SHAPES: dict[str, dict[str, int]] = {
    "tiny": {"hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4, "num_attention_heads": 4},
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32},
    "7b": {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32},
}
VOCABULARY = {"tiny": 4096, "1b": 32_000, "7b": 32_000}


def examples(number: int, vocabulary: int, longest: int) -> list[LoraQuestion]:
    """Return prompts of random tokens, a third to all of the longest, the short more often than the long."""
    generator = np.random.default_rng(0)
    lengths = (longest / 3 + generator.beta(1.2, 2.5, size=number) * longest * 2 / 3).astype(int)
    return [
        LoraQuestion(str(n), str(n), n % 2 == 0, generator.integers(vocabulary, size=length - 1).tolist(), (n % 2,), 0)
        for n, length in enumerate(lengths)
    ]


def bare_loop(model: Any, learning: LoraTraining, questions: list[LoraQuestion], steps: int) -> float:
    """Return the tokens a second of a plain loop: rows filled up behind, all words computed, the model's own loss."""
    at_once, accumulated = micro_batch(learning)
    device, on_gpu = model.device, model.device.type == "cuda"
    model.train()
    if learning.gradient_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    learned = [part for part in model.parameters() if part.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=learning.learning_rate, weight_decay=0.0)
    order = random.Random(0).sample(range(len(questions)), len(questions))
    place = tokens = 0
    started = time.perf_counter()
    for _ in range(steps):
        for _ in range(accumulated):
            rows = [questions[order[(place + n) % len(order)]] for n in range(at_once)]
            place += at_once
            width = max(one.length for one in rows)
            ids = torch.zeros(len(rows), width, dtype=torch.long)
            mask, labels = torch.zeros_like(ids), torch.full_like(ids, -100)
            for n, one in enumerate(rows):
                ids[n, : one.length] = torch.tensor([*one.prompt, *one.answer])
                mask[n, : one.length] = 1
                labels[n, len(one.prompt) : one.length] = torch.tensor(one.answer)
                tokens += one.length
            format_ = torch.autocast(device.type, getattr(torch, learning.precision))
            with format_ if learning.precision != "float32" else contextlib.nullcontext():
                loss = model(
                    input_ids=ids.to(device), attention_mask=mask.to(device), labels=labels.to(device), use_cache=False
                ).loss
            (loss / accumulated).backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        optimizer.zero_grad()
    if on_gpu:
        torch.cuda.synchronize()
    return tokens / (time.perf_counter() - started)


def ours(model: Any, learning: LoraTraining, questions: list[LoraQuestion], steps: int) -> float:
    """Return the tokens a second of the stage's Trainer, its checkpoints on disk included."""
    tree = LabelTree({(0,): "Yes", (1,): "No"}, {(): [0, 1]}, {})
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = train_adapter("ours", model, learning, questions, [], tree, Path(folder), random_seed=0, filling=0)
    seconds = time.perf_counter() - started
    assert result.steps == steps
    return sum(one.length for one in questions) * result.epochs / seconds


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--size", choices=SHAPES, default="tiny")
    parser.add_argument("--gpus", type=int, choices=(0, 1), default=0)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    gates = Gates(__file__, options, part="gpu" if options.gpus else "")
    small = options.size == "tiny"
    learning = LoraTraining(
        train=["any"],
        gpus=options.gpus,
        max_steps=options.steps,
        epochs=100,
        batch_size=16 if small else 128,
        micro_batch_size=8,
        cutoff=512 if small else 1024,
        precision="bfloat16" if options.gpus else "float32",
        gradient_checkpointing=not small,
        evaluations=1,
    )
    shape = transformers.LlamaConfig(
        vocab_size=VOCABULARY[options.size],
        num_key_value_heads=SHAPES[options.size]["num_attention_heads"],
        max_position_embeddings=4096,
        **SHAPES[options.size],
    )
    device = "cuda" if options.gpus else "cpu"
    with torch.device(device):
        base: Any = transformers.AutoModelForCausalLM.from_config(shape, dtype=getattr(torch, learning.precision))
    model = with_adapter(base, learning)
    questions = examples(options.steps * learning.batch_size, VOCABULARY[options.size], learning.cutoff)
    rates: dict[str, list[float]] = {"bare": [], "ours": []}
    bare_loop(model, learning, questions, 2)  # kernels are chosen, memory is set aside
    for repeat in range(options.repeats):
        for name, arm in (("bare", bare_loop), ("ours", ours))[:: 1 if repeat % 2 == 0 else -1]:
            rates[name].append(arm(model, learning, questions, options.steps))
            print(f"{name}: {rates[name][-1]:,.0f} tokens/s", flush=True)
    ratios = [ours_ / bare for ours_, bare in zip(rates["ours"], rates["bare"], strict=True)]
    where = torch.cuda.get_device_name() if options.gpus else "CPU"
    what = f"{options.size} ({base.num_parameters():,} parameters) on {where}: tokens a second"
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    gates.at_least(what, median(ratios), 0.95, unit="x", against="a bare loop over peft and AdamW", note=spread)
    gates.told(what, median(rates["ours"]))
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
