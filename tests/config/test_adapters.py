"""What a configuration can ask of a model with an adapter that learns to judge."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from dialeval.config import Config, load_config
from dialeval.engines.local_models import LEARNS_TO_ANSWER, missing_libraries, too_few_gpus
from dialeval.errors import UserError
from dialeval.training.arguments import micro_batch, steps_of

TUNED: dict[str, Any] = {"engine": "vllm", "model": "some/model", "lora": {"train": ["turns"]}}
BASE: dict[str, Any] = {
    "corpora": {"bundled": {"reader": "bundled"}},
    "training": {"turns": {"level": "turn", "domains": {"daily": ["bundled"]}}},
    "models": {"tuned": TUNED, "plain": {"engine": "vllm", "model": "some/model"}},
    "judges": ["tuned"],
    "protocols": {"yes_no": {}},
    "metaeval": {"corpora": {"steps": {"reader": "ladder"}}},
}


def load(**changes: Any) -> Config:
    return load_config({**BASE, **changes})


def refused(**changes: Any) -> str:
    with pytest.raises(UserError) as error:
        load(**changes)
    return str(error.value)


def learning(**fields: Any) -> Any:
    model = load(models={"tuned": TUNED | {"lora": {"train": ["turns"], **fields}}}).models["tuned"]
    return model.lora  # type: ignore[union-attr]


def test_the_papers_settings_are_the_defaults() -> None:
    lora = learning()
    assert (lora.rank, lora.alpha, lora.dropout, lora.target_modules) == (8, 16, 0.05, ["q_proj", "k_proj"])
    assert (lora.learning_rate, lora.epochs, lora.batch_size, lora.cutoff) == (3e-4, 3, 128, 1024)
    assert micro_batch(lora) == (32, 4)  # "a batch size of 128 with 4 gradient accumulation steps"
    assert steps_of(lora, 200_000) == 3 * 1563


@pytest.mark.parametrize(
    ("fields", "at_once", "accumulated"),
    [
        ({"batch_size": 128, "micro_batch_size": 32, "gpus": 2}, 32, 2),
        ({"batch_size": 128, "micro_batch_size": 48, "gpus": 1}, 32, 4),
        ({"batch_size": 10, "micro_batch_size": 32, "gpus": 0}, 10, 1),
        ({"batch_size": 10, "micro_batch_size": 4, "gpus": 3}, 4, 1),
        ({"batch_size": 7, "micro_batch_size": 4, "gpus": 1}, 1, 7),
    ],
)
def test_the_batch_is_made_up_of_what_fits_at_once(fields: dict[str, Any], at_once: int, accumulated: int) -> None:
    assert micro_batch(learning(**fields)) == (at_once, accumulated)


def test_it_judges_and_does_nothing_else() -> None:
    assert load().judges == ["tuned"]
    words = refused(chatbots=["tuned", "plain"])
    assert "chatbots: 'tuned' has an adapter that learns to judge dialogues and nothing else" in words
    assert "without lora" in words
    assert "'plain'" not in words
    section = {"rewriter": "tuned", "corpora": ["steps"], "strategies": ["contradiction"]}
    assert "robustness.rewriter: 'tuned' has an adapter" in refused(robustness=section)


def test_it_learns_what_is_asked_by_yes_and_no() -> None:
    criteria = {"warmth": {"level": "turn", "scale": [1, 7], "hurt_by": ["contradiction"]}}
    training = {"turns": {**BASE["training"]["turns"], "criteria": ["warmth"]}}
    words = refused(criteria=criteria, training=training)
    assert "models.tuned.lora.train: 'turns' is about warmth, which is not asked by Yes and No" in words
    criteria["warmth"]["question"] = "Is the response warm?"
    assert load(criteria=criteria, training=training).own_criteria(["warmth"])


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"torch", "transformers", "safetensors", "accelerate"}
    monkeypatch.setattr("dialeval.engines.local_models.find_spec", lambda name: name in there or None)
    assert missing_libraries("lora", LEARNS_TO_ANSWER) == (
        "lora needs peft, which is not installed: pip install 'dialeval[train]', or run snakemake --sdm conda, which "
        "makes an environment for such jobs"
    )
    monkeypatch.setattr("dialeval.engines.local_models.find_spec", lambda name: importlib.util.find_spec("json"))
    assert missing_libraries("lora", LEARNS_TO_ANSWER) is None


def test_more_gpus_than_there_are_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialeval.engines.local_models.usable_gpus", lambda: 1)
    assert too_few_gpus(0, "lora.gpus") is None
    assert too_few_gpus(1, "lora.gpus") is None
    assert "lora.gpus: 4, and this machine has 1 NVIDIA GPU for it; " in str(too_few_gpus(4, "lora.gpus"))
    monkeypatch.setattr("dialeval.engines.local_models.usable_gpus", lambda: 0)
    assert "set lora.gpus: 0, the CPU, for a small model" in str(too_few_gpus(1, "lora.gpus"))
    monkeypatch.setattr("dialeval.engines.local_models.usable_gpus", lambda: None)
    assert too_few_gpus(1, "lora.gpus") is None  # nobody knows
