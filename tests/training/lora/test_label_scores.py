"""P(Yes) in transformers: the sum over spellings, read step by step, whatever is computed together."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lora_examples import examples_of

from dialeval.config import VllmModel
from dialeval.criteria import SHIPPED
from dialeval.prompts.rendering import Templates

pytestmark = pytest.mark.train


def _one_by_one(model: Any, prompt: list[int], paths: dict[tuple[int, ...], str]) -> dict[str, float]:
    """Returns each label's probability, from a run of the model for each spelling alone."""
    import torch

    found = {"Yes": 0.0, "No": 0.0}
    for path, label in paths.items():
        with torch.no_grad():
            logprobs = model(torch.tensor([[*prompt, *path]])).logits[0].double().log_softmax(-1)
        at = [float(logprobs[len(prompt) + place - 1, token]) for place, token in enumerate(path)]
        found[label] += math.exp(sum(at))
    return found


def test_scores_are_those_of_every_spelling_asked_alone(judge: Callable[..., VllmModel], decoder: Path) -> None:
    import torch
    import transformers

    from dialeval.engines.vllm_engine.prompts import Prompts
    from dialeval.training.lora.label_scores import label_scores
    from dialeval.training.lora.questions import LoraQuestions

    model: Any = transformers.AutoModelForCausalLM.from_pretrained(decoder, dtype=torch.float32).eval()
    for parameter in model.parameters():  # sharper than a random start, so that answers differ
        parameter.data *= 1.5
    questions = LoraQuestions(Prompts(judge()), Templates(), SHIPPED, 512)
    asked = list(questions.of(examples_of(3)))
    assert not any(a[: len(b)] == b for a in questions.tree.label_of for b in questions.tree.label_of if a != b)
    together = label_scores(model, [one.prompt for one in asked], questions.tree)
    few = label_scores(model, [one.prompt for one in asked[::-1]], questions.tree, batch_tokens=600)[::-1]
    for question, one, other in zip(asked, together, few, strict=True):
        expected = _one_by_one(model, question.prompt, questions.tree.label_of)
        assert one.mass == pytest.approx(sum(expected.values()), rel=1e-4)
        assert one.score == pytest.approx(expected["Yes"] / sum(expected.values()), abs=1e-5)
        assert other.score == pytest.approx(one.score, abs=1e-5)
    assert len({round(one.score or 0, 4) for one in together}) > 1
