"""What the training of an adapter, and all that it gives, is known by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dialeval.training.checkpoints import rows_digest, training_fingerprint, versions_of

if TYPE_CHECKING:
    from dialeval.engines.vllm_engine.prompts import Prompts
    from dialeval.training.lora.questions import LoraQuestion

DECIDES = ("model", "chat_template", "chat_template_options", "reasoning_parser", "trust_remote_code", "lora")
"""Fields of a model that decide what its adapter learns, beside the content of its weights."""


def lora_fingerprint(
    name: str, prompts: Prompts, parts: Mapping[str, Sequence[LoraQuestion]], random_seed: int, code: str
) -> str:
    """Returns the fingerprint of a training: its checkpoints are of no other.

    Args:
        name: the judge's.
        prompts: how its model is asked.
        parts: the questions by part; what is held back counts too, since its scores are among what a training gives.
        random_seed: of the run.
        code: fingerprint of the stage's code.
    """
    rows = (
        {"part": part, "id": one.example_id, "good": one.good, "prompt": one.prompt, "answer": one.answer}
        for part, questions in parts.items()
        for one in questions
    )
    model = json.loads(prompts.model.canonical())
    return training_fingerprint(
        name=name,
        rows=rows_digest(rows),
        base=prompts.weights or prompts.model.revision,
        model={field: model[field] for field in DECIDES},
        template=prompts.template.text,
        random_seed=random_seed,
        versions=versions_of("torch", "transformers", "peft", "accelerate"),
        code=code,
    )
