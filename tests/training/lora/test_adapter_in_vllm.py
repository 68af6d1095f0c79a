"""What vLLM answers with a trained adapter is what transformers answers with the adapter merged into the weights."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judged_dialogues import shipped_question
from lora_examples import examples_of

from dialeval.config import VllmModel
from dialeval.corpora.items import Item
from dialeval.criteria import SHIPPED
from dialeval.prompts.rendering import Templates

pytestmark = [pytest.mark.train, pytest.mark.vllm, pytest.mark.slow]


def test_probabilities_are_those_of_the_merged_weights(
    judge: Callable[..., VllmModel], train: Callable[..., Path], decoder: Path
) -> None:
    import torch
    import transformers
    from peft import PeftModel

    from dialeval.engines.vllm_engine.engine import open_model
    from dialeval.engines.vllm_engine.prompts import Prompts
    from dialeval.protocols.scores import expectation, plan_probability
    from dialeval.training.lora_questions import LoraQuestions, label_scores

    rows = examples_of(30)
    # a rank that vLLM does not know, which the next one has room for
    model = judge(rank=6, max_steps=8, learning_rate=2e-2).model_copy(
        update={"max_model_len": 1024, "kv_cache_memory_bytes": 64 << 20, "engine_args": {"max_num_seqs": 16}}
    )
    folder = train(model, rows)

    base: Any = transformers.AutoModelForCausalLM.from_pretrained(decoder, dtype=torch.float32)
    questions = LoraQuestions(Prompts(model), Templates(), SHIPPED, 512)
    asked = [row for row in rows if row["part"] != "train"]
    prompts = [one.prompt for one in questions.rendered(asked)]
    plain = label_scores(base.eval(), prompts, questions.tree)
    merged = label_scores(PeftModel.from_pretrained(base, folder).merge_and_unload().eval(), prompts, questions.tree)

    engine = open_model(model, [folder, folder.with_suffix(".digest")], None, "yes_no")
    unadapted = open_model(model.model_copy(update={"lora": None}), [], None, "yes_no")
    assert engine.identity != unadapted.identity
    assert str(folder) not in engine.identity
    elsewhere = model.model_copy(update={"lora": None, "lora_path": folder})
    assert engine.identity == open_model(elsewhere, [], None, "yes_no").identity  # content, not place or way

    async def ask() -> list[Any]:
        requests = [
            one.request
            for row in asked
            for one in plan_probability(
                shipped_question("yes_no"),
                [Item("c", "i", "en", "turn", "k", tuple(row["speakers"]), tuple(row["utterances"]))],
                Templates(),
                lambda _: [SHIPPED["relevance"]],
            )
        ]
        answers = await asyncio.gather(*(engine.answer(request) for request in requests))
        await engine.close()
        return answers

    answers = asyncio.run(ask())
    moved = 0.0
    for answer, one, before in zip(answers, merged, plain, strict=True):
        score = expectation(answer.label_logprobs, {"Yes": 1.0, "No": 0.0})
        assert score == pytest.approx(one.score, abs=1e-3)
        assert answer.label_mass == pytest.approx(one.mass, abs=1e-3)
        moved = max(moved, abs((one.score or 0) - (before.score or 0)))
    assert moved > 0.02, "the adapter must change something, for the agreement to say anything"
