"""Scoring with a trained encoder through engine and store against a bare transformers loop over the same texts.

The bare loop tokenises all pairs at once, sorts them by length, cuts batches of as many tokens and computes the mean of
the hidden states and one head: no store, no requests, no answers. The encoder has random weights of a given size, or is
one of Hugging Face's. Runs of the two stand beside each other, in turn; told are the medians. Takes 1 min with torch.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from dialeval.config import EncoderModel
from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.answering import Answering, open_engine
from dialeval.engines.encoder.engine import load_network, save_network
from dialeval.engines.encoder.metric import Metric, best_device, in_precision
from dialeval.engines.encoder.tiny_encoder import build_tiny_encoder
from dialeval.engines.requests import Message, Request, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.jobs.progress import Progress
from gates import Gates, arguments

MAX_TOKENS = 256
Seconds = tuple[float, float]
QUESTION = "Is the response relevant to the context?\n\n"


def turns(number: int) -> list[tuple[str, ...]]:
    """Return contexts with their responses, no two alike, of lengths as dialogues have them."""
    dialogues = [[part.text for part in one.utterances] for one in bundled_dialogues("en").dialogues]
    ends = [texts[:end] for texts in dialogues for end in range(2, len(texts) + 1)]
    repeated = enumerate(itertools.islice(itertools.cycle(ends), number))
    return [(f"Talk {place}.", *texts) for place, texts in repeated]


def made_metric(folder: Path, options: argparse.Namespace) -> Path:
    """Make the folder of a metric with random heads."""
    import torch
    import transformers

    from dialeval.engines.encoder.network import ExpertNetwork

    if options.encoder:
        body = transformers.AutoModel.from_pretrained(options.encoder, dtype=torch.float32)
        tokenizer = transformers.AutoTokenizer.from_pretrained(options.encoder)
    else:
        build_tiny_encoder(folder / "body")
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "body")
        config = transformers.AutoConfig.from_pretrained(folder / "body")
        config.hidden_size, config.intermediate_size = options.width, 4 * options.width
        config.num_hidden_layers, config.num_attention_heads = options.layers, max(1, options.width // 64)
        body = transformers.AutoModel.from_config(config)
    metric = Metric("turn", ("relevance",), ("a", "b", "c"), MAX_TOKENS)
    made = folder / "metric"
    made.mkdir()
    save_network(made, ExpertNetwork(body, 3), tokenizer, metric)
    return made


def ours(folder: Path, model: EncoderModel, table: Sequence[Request]) -> Seconds:
    """Return the seconds from the first request to the last stored answer, and those of the processor."""
    engine = open_engine(model, [])
    engine._load()  # type: ignore[attr-defined]  # loading is not what is compared
    with (
        tempfile.TemporaryDirectory() as store_folder,
        ResponseStore(Path(store_folder), identity=engine.identity, name="poe", protocol="yes_no") as store,
    ):
        answering = Answering(engine, store, Progress("scoring", None, "answers", stream=StringIO()))
        start, cpu = time.perf_counter(), time.process_time()
        asyncio.run(answering.ask_all(table))
        seconds = time.perf_counter() - start, time.process_time() - cpu
        assert store.written == len(table), answering.first_message
    return seconds


def bare(network: Any, tokenizer: Any, texts: Sequence[tuple[str, ...]], batch_tokens: int, device: str) -> Seconds:
    """Return the seconds of a plain loop over the same texts, and those of the processor."""
    import torch

    start, cpu = time.perf_counter(), time.process_time()
    separator = tokenizer.sep_token
    encoded = tokenizer(
        [separator.join(one[:-1]) for one in texts], [one[-1] for one in texts],
        truncation="only_first", max_length=MAX_TOKENS,
    )["input_ids"]  # fmt: skip
    order = sorted(range(len(encoded)), key=lambda place: -len(encoded[place]))
    place = 0
    scores: dict[int, float] = {}
    with torch.inference_mode():
        while place < len(order):
            chosen = order[place : place + max(1, batch_tokens // len(encoded[order[place]]))]
            place += len(chosen)
            batch = tokenizer.pad({"input_ids": [encoded[one] for one in chosen]}, return_tensors="pt").to(device)
            found = torch.sigmoid(network.all_logits(batch["input_ids"], batch["attention_mask"]).double()).mean(dim=1)
            scores |= dict(zip(chosen, found.tolist(), strict=True))
    assert len(scores) == len(texts)
    return time.perf_counter() - start, time.process_time() - cpu


def main() -> int:
    """Compare the two as the command line says."""
    parser = arguments(__doc__)
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--batch-tokens", type=int, default=16_384)
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--encoder", default="")
    options = parser.parse_args()
    gates = Gates(__file__, options, part="gpu" if options.gpus else "")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    import transformers

    transformers.utils.logging.set_verbosity_error()
    texts = turns(options.requests)
    table = [
        Request(
            f"yes_no/{place}", "yes_no", "choice", (Message("user", QUESTION + "\n".join(one)),),
            Sampling(max_tokens=1),
            ("Yes", "No"), subject=(one, ("turn", "relevance"), ("user", "bot")),
        )
        for place, one in enumerate(texts)
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        folder = made_metric(Path(scratch), options)
        model = EncoderModel(
            engine="encoder", weights=folder, gpus=options.gpus, batch_tokens=options.batch_tokens,
            precision=options.precision,
        )  # fmt: skip
        network, tokenizer, _ = load_network(folder)
        device = best_device(options.gpus)
        in_precision(network, options.precision, device)
        for tokens in (texts[:64],):  # both warm
            bare(network, tokenizer, tokens, options.batch_tokens, device)
        ratios, rates, cpu_ratios = [], [], []
        for number in range(options.pairs):
            order = (bare, ours) if number % 2 else (ours, bare)
            took = {
                run: bare(network, tokenizer, texts, options.batch_tokens, device)
                if run is bare
                else ours(folder, model, table)
                for run in order
            }
            (first, first_cpu), (second, second_cpu) = took[bare], took[ours]
            ratios.append(first / second)
            cpu_ratios.append(first_cpu / second_cpu)
            rates.append((len(texts) / second, len(texts) / first))
            print(
                f"pair {number + 1}: ours {rates[-1][0]:,.0f} turns/s, bare {rates[-1][1]:,.0f} turns/s, ratio "
                f"{ratios[-1]:.3f} (by processor time {cpu_ratios[-1]:.3f})",
                flush=True,
            )
        parameters = sum(part.numel() for part in network.parameters())
        what = f"{parameters:,} parameters, {device}, {options.precision}"
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        loop = "a bare transformers loop"
        gates.at_least(f"{what}: rate", statistics.median(ratios), 0.9, unit="x", against=loop, note=spread)
        gates.told("the same by processor time", statistics.median(cpu_ratios), unit="x", against=loop)
        gates.told("turns a second", statistics.median(rate for rate, _ in rates))
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
