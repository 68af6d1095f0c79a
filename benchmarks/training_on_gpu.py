"""Trainings of real size on a GPU: memory against the estimate, equal runs, losses and tokens a second.

    python benchmarks/training_on_gpu.py lora [--size 1b|7b] [--steps 3]
    python benchmarks/training_on_gpu.py encoder [--size base|large] [--steps 60]

No weights are downloaded: the models have the shapes of a Llama and of XLM-RoBERTa and random weights. Memory is the
most that tensors take (torch.cuda.max_memory_allocated) in a training whose rows are all of the longest; what torch
sets aside beyond that is told beside it. Equal runs begin with equal weights and one seed, and their weights are
compared byte by byte. What is learned is easy on purpose, so that a loss that does not fall says that something is
wrong. `lora_training.py` compares the rate with a bare loop. Takes 10 min on a GPU.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from dialeval.config.training import EncoderTraining, LoraTraining
from dialeval.engines.encoder.metric import Encoded, Encoding
from dialeval.engines.encoder.network import ExpertNetwork
from dialeval.engines.encoder.tiny_encoder import build_tiny_encoder
from dialeval.engines.label_probabilities import LabelTree
from dialeval.training.encoder import train_network
from dialeval.training.encoder_examples import ExampleSet, Pairs
from dialeval.training.lora import train_adapter, with_adapter
from dialeval.training.lora_questions import LoraQuestion
from dialeval.training.running import Learned, Memory, make_deterministic, micro_batch, training_memory
from gates import Gates, arguments
from lora_training import SHAPES, VOCABULARY

GB = 2**30
TREE = LabelTree({(0,): "Yes", (1,): "No"}, {(): [0, 1]}, {})
ENCODERS: dict[str, dict[str, int]] = {
    "base": {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12},
    "large": {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16},
}
ENCODER_VOCABULARY, ENCODER_TOKENS = 250_002, 256


def digest(parts: Sequence[Any]) -> str:
    """Return a digest of the values of weights."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part.detach().float().cpu().numpy().tobytes())
    return found.hexdigest()[:12]


def tell_memory(gates: Gates, what: str, estimate: Memory) -> None:
    """Tells what a training took since the last reset beside its estimate."""
    peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    note = f"{peak / GB:.1f} GB of tensors, {reserved / GB:.1f} GB set aside; {estimate}"
    gates.told(f"{what}: estimated memory", estimate.total / peak, unit="x", against="tensors at their most", note=note)


def forget_memory() -> None:
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def losses(result: Learned) -> str:
    found = [row["loss"] for row in result.curve if row["measured"] == "training"]
    return f"loss {found[0]:.3f} -> {found[-1]:.3f}"


def lora_questions(number: int, vocabulary: int, longest: int, *, all_longest: bool) -> list[LoraQuestion]:
    """Return prompts of random tokens that end in a token that says the answer."""
    rng = np.random.default_rng(0)
    lengths = (longest / 3 + rng.beta(1.2, 2.5, size=number) * longest * 2 / 3).astype(int)
    return [
        LoraQuestion(
            str(n), str(n), n % 2 == 0,
            [*rng.integers(10, vocabulary, size=(longest if all_longest else length) - 2).tolist(), 2 + n % 2],
            (n % 2,), 0,
        )
        for n, length in enumerate(lengths)
    ]  # fmt: skip


def lora(gates: Gates, size: str, steps: int, micro_batches: Sequence[int]) -> None:
    shape = transformers.LlamaConfig(
        vocab_size=VOCABULARY[size], num_key_value_heads=SHAPES[size]["num_attention_heads"],
        max_position_embeddings=4096, **SHAPES[size],
    )  # fmt: skip

    def how(**changes: Any) -> LoraTraining:
        fields: dict[str, Any] = {
            "train": ["any"], "gpus": 1, "precision": "bfloat16", "gradient_checkpointing": True, "evaluations": 1,
            "epochs": 100, "micro_batch_size": 8, "max_steps": steps,
        }  # fmt: skip
        return LoraTraining(**fields | changes)

    make_deterministic(0, on_cpu=False)
    with torch.device("cuda"):
        base: Any = transformers.AutoModelForCausalLM.from_config(shape, dtype=torch.bfloat16)
    n_parameters = base.num_parameters()
    model = with_adapter(base, how())
    learned = [part for part in model.parameters() if part.requires_grad]
    beginning = [part.detach().clone() for part in learned]
    print(f"{n_parameters:,} parameters, {sum(part.numel() for part in learned):,} learn", flush=True)

    def train(learning: LoraTraining, *, all_longest: bool = False) -> Learned:
        with torch.no_grad():
            for part, value in zip(learned, beginning, strict=True):
                part.copy_(value)
        number = learning.batch_size * (learning.max_steps or 1)
        questions = lora_questions(number, VOCABULARY[size], learning.cutoff, all_longest=all_longest)
        make_deterministic(0, on_cpu=False)
        with tempfile.TemporaryDirectory() as folder:
            result = train_adapter(
                "lora", model, learning, questions, [], TREE, Path(folder), random_seed=0, filling=0
            )  # fmt: skip
        rate = sum(one.length for one in questions) * result.epochs / result.seconds
        print(f"  {result.steps} steps, {rate:,.0f} tokens/s, {losses(result)}, weights {digest(learned)}", flush=True)
        return result

    checkpointing = [(number, True) for number in micro_batches] + [(micro_batches[0], False)]
    for at_once, kept_small in checkpointing:
        learning = how(
            micro_batch_size=at_once, batch_size=at_once, max_steps=2, gradient_checkpointing=kept_small
        )  # fmt: skip
        if not kept_small:
            model.gradient_checkpointing_disable()
        forget_memory()
        train(learning, all_longest=True)
        estimate = training_memory(
            n_parameters, sum(part.numel() for part in learned), shape, precision="bfloat16",
            tokens=at_once * learning.cutoff, checkpointing=kept_small, words=2 * at_once,
        )  # fmt: skip
        tell_memory(gates, f"{at_once} x {learning.cutoff} tokens, checkpointing {kept_small}", estimate)
    print("equal runs:", flush=True)
    for _ in range(2):
        train(how())
    print("with a higher learning rate:", flush=True)
    train(how(learning_rate=3e-3, batch_size=16, max_steps=30, cutoff=128))


def encoder_pairs(number: int, longest: int) -> Pairs:
    """Return pairs of which the spoiled one has, in a tenth of its places, tokens that no true one has."""
    rng = np.random.default_rng(0)
    pairs = Pairs(keeps_names=True)
    for n in range(number):
        ids = rng.integers(10, 1000, size=longest)
        spoiled = np.where(rng.random(longest) < 0.1, ids + 1000, ids)
        inputs = [Encoded((0, *one[1:-1].tolist(), 2), longest, 0) for one in (ids, spoiled)]
        pairs.add((f"{n}-1", f"{n}-0"), "any", (inputs[0], inputs[1]))
    return pairs


def encoder(gates: Gates, size: str, steps: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        build_tiny_encoder(Path(scratch) / "tiny")
        tokenizer = transformers.AutoTokenizer.from_pretrained(Path(scratch) / "tiny")
    shape = transformers.XLMRobertaConfig(
        vocab_size=ENCODER_VOCABULARY, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1, **ENCODERS[size]
    )
    for precision in ("bfloat16", "float16", "float32"):
        found = []
        for _ in range(2 if precision == "bfloat16" else 1):
            learning = EncoderTraining(
                data="any", precision=precision, gpus=1, max_steps=steps, epochs=100, evaluations=1, learning_rate=3e-5,
                head_learning_rate=1e-3,
            )  # fmt: skip
            make_deterministic(0, on_cpu=False)
            network = ExpertNetwork(transformers.AutoModel.from_config(shape), 1, dropout=learning.dropout)
            parts = {
                "train": encoder_pairs(learning.batch_size * steps // 2, ENCODER_TOKENS),
                "development": encoder_pairs(8, ENCODER_TOKENS),
                "held_out": encoder_pairs(8, ENCODER_TOKENS),
            }
            examples = ExampleSet("turn", ("any",), ("any",), parts, Encoding(tokenizer, "turn", ENCODER_TOKENS))
            make_deterministic(0, on_cpu=False)
            forget_memory()
            with tempfile.TemporaryDirectory() as folder:
                result = train_network(
                    "encoder", network, examples, learning, Path(folder), batch_tokens=16_384, random_seed=0
                )
            n_learned = sum(part.numel() for part in network.parameters())
            estimate = training_memory(
                0, n_learned, shape, precision=precision, tokens=micro_batch(learning)[0] * ENCODER_TOKENS,
                checkpointing=False,
            )  # fmt: skip
            tell_memory(gates, f"{size}, {n_learned:,} parameters, {precision}, 32 x {ENCODER_TOKENS} tokens", estimate)
            rate = result.n_tokens / result.seconds
            gates.told(f"{size}, {precision}, {result.steps} steps: tokens a second", rate, note=losses(result))
            found.append(digest(list(network.parameters())))
            del network
        print(f"  weights {', '.join(found)}", flush=True)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("kind", choices=("lora", "encoder"))
    parser.add_argument("--size", choices=(*SHAPES, *ENCODERS))
    parser.add_argument("--steps", type=int)
    parser.add_argument("--micro-batches", type=int, nargs="+", default=[8, 32])
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("torch finds no GPU here")
    gates = Gates(__file__, options, part=options.kind)
    transformers.utils.logging.set_verbosity_error()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    if options.kind == "lora":
        lora(gates, options.size or "7b", options.steps or 3, options.micro_batches)
    else:
        encoder(gates, options.size or "base", options.steps or 60)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
