"""Judging by `choice` through the engine and the store against the same vLLM driven directly.

The direct engine gets all requests at once, as rendered texts by `LLM.generate` and, where tokenising is not to count,
as tokens; its log-probabilities are read. Takes 10 min with vLLM.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from vllm_direct import Direct, Scheme, cpu_settings, final, interleaved, own_megabytes, restart, tiny_model  # isort: skip

from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.answering import Answering
from dialeval.engines.label_probabilities import label_tree
from dialeval.engines.requests import Message, Request
from dialeval.engines.store import ResponseStore
from dialeval.engines.vllm_engine import VllmEngine
from dialeval.jobs.progress import Progress
from dialeval.prompts.rendering import render_dialogue
from gates import Gates, arguments

LABELS = ("A", "B")
QUESTION = (
    "Two people are talking. One of them may be a machine. Read the conversation and say who: answer A if the first "
    "speaker is the machine, B if the second is.\n\nConversation:\n"
)


def requests(number: int) -> Iterator[Request]:
    """Yield different judging requests that begin alike."""
    dialogues = [[part.text for part in dialogue.utterances] for dialogue in bundled_dialogues("en").dialogues]
    ends = (
        (texts, start, end) for start in range(4) for texts in dialogues for end in range(len(texts), start + 2, -1)
    )
    for place, (texts, start, end) in enumerate(itertools.islice(itertools.cycle(ends), number)):
        prompt = f"{QUESTION}{render_dialogue(texts[start:end])}\nAnswer ({place}):"
        yield Request(f"judge/{place}", "unieval", "choice", (Message("user", prompt),), labels=LABELS)


def through_the_store(engine: VllmEngine, table: Sequence[Request]) -> None:
    """Ours: engine, store and all."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ResponseStore(Path(folder), identity=engine.identity, name="tiny", protocol="unieval") as store,
    ):
        answering = Answering(engine, store, Progress("judging", None, "answers", stream=StringIO()))
        asyncio.run(answering.ask_all(table))
        assert store.written == len(table), answering.first_message


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--model", help="folder of a tiny model; built if not given")
    parser.add_argument("--steps", type=int, default=100, help="training steps of the model that is built")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache-bytes", type=int, default=1 << 30)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    settings = cpu_settings(tiny_model(options.model, options.steps), kv_cache_memory_bytes=options.cache_bytes)
    table = list(requests(options.requests))

    engine = VllmEngine(settings)
    through_the_store(engine, table)
    megabytes = own_megabytes()
    direct = Direct(settings)
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(settings.model)
    tree = label_tree(LABELS, lambda text: tokenizer(text, add_special_tokens=False)["input_ids"])
    assert len(tree.next_tokens) == 1, "the labels' variants should be single tokens"
    tokens = tree.next_tokens[()]
    rendered = [
        tokenizer.apply_chat_template([m._asdict() for m in r.messages], tokenize=False, add_generation_prompt=True)
        for r in table
    ]
    prompts = tokenizer(rendered, add_special_tokens=False)["input_ids"]
    print(f"{len(table)} requests, mean prompt {sum(map(len, prompts)) / len(prompts):.0f} tokens", flush=True)
    params = [final(temperature=0.0, max_tokens=1, logprob_token_ids=tokens, detokenize=False)] * len(prompts)

    def check(outputs: Sequence[Any]) -> None:
        assert all(len(output.outputs[0].logprobs[0]) >= len(tokens) for output in outputs)

    def directly() -> None:
        check(direct.llm.generate(rendered, params, use_tqdm=False))

    def from_tokens() -> None:
        check(direct.run(prompts, params))

    schemes = {
        "ours": Scheme(partial(restart, engine), partial(through_the_store, engine, table)),
        "directly": Scheme(direct.forget, directly),
        "directly, tokenised before": Scheme(direct.forget, from_tokens),
    }
    seconds = interleaved(schemes, options.rounds)
    for other, least in (("directly", 0.9), ("directly, tokenised before", 0.9)):
        gates.at_least("rate", seconds[other] / seconds["ours"], least, unit="x", against=f"vLLM driven {other}")
    gates.told("answers a second", len(table) / seconds["ours"])
    gates.told("prompt tokens that were cached", 100 * engine.prefix_hit_rate, unit="%")
    gates.at_most("memory beside the engine's process", megabytes, 500, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
