"""What a configuration can ask of trained encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialeval.config import Config, EncoderModel, load_config
from dialeval.engines.availability import cannot_compute_here, unavailable
from dialeval.engines.encoder.metric import Metric
from dialeval.errors import UserError

BASE: dict[str, Any] = {
    "corpora": {"bundled": {"reader": "bundled"}},
    "training": {
        "turns": {"level": "turn", "domains": {"daily": ["bundled"]}},
        "dialogues": {"level": "dialogue", "domains": {"daily": ["bundled"]}},
    },
    "models": {
        "poe": {"engine": "encoder", "model": "xlm-roberta-large", "train": {"data": "turns", "adapter_size": 64}},
        "fined": {"engine": "encoder", "model": "xlm-roberta-base", "train": {"data": "dialogues"}, "score": "own"},
        "forest": {"engine": "embedded", "method": "forest"},
    },
    "judges": ["poe", "fined", "forest"],
    "protocols": {"yes_no": {}, "rating": {}},
    "metaeval": {"corpora": {"steps": {"reader": "ladder"}}},
}


def load(**changes: Any) -> Config:
    return load_config({**BASE, **changes})


def refused(**changes: Any) -> str:
    with pytest.raises(UserError) as error:
        load(**changes)
    return str(error.value)


def with_model(**fields: Any) -> dict[str, Any]:
    return {**BASE["models"], "poe": {"engine": "encoder", **fields}}


def test_encoders_are_asked_for_probabilities_and_never_for_ratings() -> None:
    config = load()
    assert config.judges_of("yes_no") == ["poe", "fined", "forest"]
    assert config.judges_of("rating") == ["forest"]


def test_an_own_protocol_asks_encoders_by_its_form() -> None:
    own = {
        "felt": {
            "form": "probability",
            "of": {"source": "rated"},
            "criteria": ["coherence"],
            "judges": ["poe", "fined"],
        },
        "rated_well": {"form": "scale", "of": {"source": "rated"}, "criteria": ["coherence"]},
    }
    config = load(protocols={**BASE["protocols"], **own})
    assert config.judges_of("felt") == ["poe", "fined"]
    assert config.judges_of("rated_well") == ["forest"]


@pytest.mark.parametrize("protocol", ["unieval", "arena", "gteval"])
def test_an_encoder_that_is_asked_for_verdicts_is_refused(protocol: str) -> None:
    words = refused(
        models={**BASE["models"], "retrieval": {"engine": "embedded", "method": "retrieval"},
                "random": {"engine": "embedded", "method": "random"}},
        chatbots=["retrieval", "random"], seeds={"corpus": "bundled"}, protocols={protocol: {}, "yes_no": {}},
    )  # fmt: skip
    assert "judges: 'poe' is a trained encoder, which gives no verdicts or ratings" in words
    assert "name it under protocols.yes_no.judges" in words


def test_an_encoder_that_is_named_for_ratings_is_refused() -> None:
    words = refused(protocols={"rating": {"judges": ["poe"]}, "yes_no": {}})
    assert "protocols.rating.judges: 'poe' is a trained encoder" in words


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"chatbots": ["poe"], "seeds": {"corpus": "bundled"}}, "chatbots"),
        ({"robustness": {"corpora": ["bundled"], "rewriter": "poe"}}, "robustness.rewriter"),
        ({"dialogbench": {"bundled": ["en"], "examine": {"choice": ["poe"]}}}, "dialogbench.examine.choice"),
    ],
)
def test_an_encoder_that_is_to_write_or_choose_is_refused(changes: dict[str, Any], field: str) -> None:
    assert f"{field}: 'poe' is a trained encoder, which neither writes nor chooses" in refused(**changes)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": "m"}, "say how it is trained (train), or where its weights lie (weights)"),
        ({"model": "m", "train": {"data": "turns"}, "weights": "w"}, "one of the two"),
        ({"train": {"data": "turns"}}, "say which encoder is trained"),
        ({"weights": "w", "model": "m", "max_tokens": 64}, "has its max_tokens and model in its folder"),
        ({"model": "m", "train": {"data": "turn"}}, "'turn' is no set of training examples; did you mean 'turns'?"),
        ({"model": "m", "train": {"data": "turns"}, "score": "own"}, "whose heads are domains"),
        (
            {"model": "m", "train": {"data": "turns", "batch_size": 30, "gpus": 4}},
            "batch_size 30 is no multiple of gpus 4",
        ),
        (
            {"model": "m", "train": {"data": "turns", "batch_size": 32, "micro_batch_size": 6, "gpus": 2}},
            "batch_size 32 is no multiple of micro_batch_size 6 x gpus 2",
        ),
        ({"model": "m", "train": {"data": "turns", "precision": "float16", "gpus": 0}}, "float16 is for GPUs"),
    ],
)
def test_an_encoder_that_cannot_be_had_is_refused(fields: dict[str, Any], words: str) -> None:
    assert words in refused(models=with_model(**fields))


WITHOUT_TURNS = {"dialogues": BASE["training"]["dialogues"]}


def test_a_metric_of_an_earlier_run_needs_no_training() -> None:
    model = load(models=with_model(weights="old/poe"), training=WITHOUT_TURNS).models["poe"]
    assert isinstance(model, EncoderModel)
    assert model.train is None
    assert EncoderModel.model_validate(model.model_dump(mode="json")) == model, "as a job is told of it"


def test_what_an_encoder_needs_and_is_not_there_is_said_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from dialeval.engines import local_models

    model = load(models=with_model(model="m", train={"data": "turns", "gpus": 2}, gpus=1)).models["poe"]
    monkeypatch.setattr(local_models, "find_spec", lambda name: None if name == "accelerate" else 1)
    assert "needs accelerate, which is not installed: pip install 'dialeval[train]'" in str(unavailable(model))
    assert unavailable(model, own_environment=True) is None
    for there, words in (
        (0, "this machine has no NVIDIA GPU"),
        (1, "this machine has 1 NVIDIA GPU for it"),
        (2, None),
        (None, None),
    ):
        monkeypatch.setattr(local_models, "usable_gpus", lambda there=there: there)
        reason = cannot_compute_here(model)
        assert reason is None if words is None else words in str(reason)
    on_cpu = load(models=with_model(model="m", train={"data": "turns", "gpus": 0}, gpus=0, precision="float16"))
    assert "float16 is for GPUs" in str(unavailable(on_cpu.models["poe"], own_environment=True))


def test_a_folder_that_holds_no_metric_is_told_before_anything_runs(tmp_path: Path) -> None:
    model = load(models=with_model(weights=str(tmp_path)), training=WITHOUT_TURNS).models["poe"]
    assert "weights: " in str(unavailable(model, own_environment=True))
    assert "holds no trained metric" in str(unavailable(model, own_environment=True))
    (tmp_path / "metric.json").write_text(Metric("turn", ("relevance",), ("daily",), 64).to_json(), encoding="utf-8")
    assert unavailable(model, own_environment=True) is None
