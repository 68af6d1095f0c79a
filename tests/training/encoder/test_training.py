"""Whole trainings of a tiny encoder: what it learns, what it cannot, what it leaves, and that it does so again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_training import Trained, model_of, train, with_drawn_labels
from tiny_metrics import score_rows, tiny_encoder

from dialeval.engines.encoder.engine import folder_digest
from dialeval.engines.encoder.metric import read_metric
from dialeval.errors import UserError
from dialeval.tables.files import read_table
from dialeval.tables.training import TRAINING_EXAMPLES, TRAINING_SCORES
from dialeval.training.encoder import Base
from dialeval.training.results import SCORED_EXAMPLES, record_rows

pytestmark = pytest.mark.train
Trains = Callable[..., Trained]
LONGER = {"max_steps": 45, "epochs": 60, "evaluations": 3}


def record(made: Trained, examples: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the record about all kinds together, by moment."""
    known = read_table(examples, TRAINING_EXAMPLES, SCORED_EXAMPLES)
    rows = record_rows("poe", known, read_table(made.folder / "scores.parquet", TRAINING_SCORES), 0.95)
    return {row["moment"]: row for row in rows if row["kind"] == "all" and row["criterion"] in ("all", "relevance")}


def test_a_panel_learns_what_a_tiny_encoder_can(trained: Trains, turns: Path) -> None:
    made = trained(**LONGER)
    found = record(made, turns)
    assert found["after"]["gain_ci_low"] > 0, found
    assert found["after"]["ci_low"] > 0.5
    curve = made.rows("curve")
    evaluations = [row for row in curve if row["measured"] == "development"]
    assert [row["step"] for row in evaluations] == [15, 30, 45]
    assert evaluations[-1]["auc"] > 0.6
    losses = [row["loss"] for row in curve if row["measured"] == "training"]
    assert losses[-1] < losses[0]


def test_ranking_heads_learn_what_a_tiny_encoder_can(trained: Trains, dialogues: Path) -> None:
    made = trained(examples=dialogues, model={"score": "own", "max_tokens": 96}, **LONGER)
    found = record(made, dialogues)
    assert found["after"]["ci_low"] > 0.5, found
    assert read_metric(made.folder).experts == ("engagingness", "informativeness")
    assert read_metric(made.folder).level == "dialogue"


def test_labels_that_are_drawn_teach_nothing(trained: Trains, turns: Path, tmp_path: Path) -> None:
    drawn = with_drawn_labels(turns, tmp_path / "drawn.parquet")
    found = record(trained(examples=drawn, **LONGER), drawn)
    assert found["after"]["ci_low"] <= 0.5 <= found["after"]["ci_high"], found


def test_the_folder_says_what_was_trained_and_scores_as_the_training_did(panel: Trained, turns: Path) -> None:
    metric = read_metric(panel.folder)
    assert (metric.level, metric.criteria, metric.experts) == ("turn", ("relevance",), ("away", "home"))
    assert metric.max_tokens == 48
    assert metric.body == "tiny"
    assert panel.digest.read_text() == folder_digest(panel.folder) + "\n"
    (run,) = panel.rows("run")
    examples = read_table(turns, TRAINING_EXAMPLES).to_pylist()
    assert run["n_examples"] == sum(row["part"] == "train" for row in examples)
    assert (run["judge"], run["training"], run["device"], run["steps"]) == ("poe", "set", "CPU", 9)
    assert run["trained_parameters"] == run["parameters"]
    assert run["seconds"] > 0
    assert run["tokens_per_second"] > run["examples_per_second"] > 0
    held_out = [row for row in examples if row["part"] == "held_out"]
    scores = {(row["moment"], row["example_id"]): row["score"] for row in panel.rows("scores")}
    assert set(scores) == {(moment, row["example_id"]) for moment in ("before", "after") for row in held_out}
    again = score_rows(panel.folder, held_out[:40])
    np.testing.assert_allclose(again, [scores["after", row["example_id"]] for row in held_out[:40]], atol=1e-4)


def test_a_panel_that_sees_context_and_response_apart_scores_as_the_training_did(trained: Trains, turns: Path) -> None:
    made = trained(pooling="parts")
    assert read_metric(made.folder).pooling == "parts"
    rows = [row for row in read_table(turns, TRAINING_EXAMPLES).to_pylist() if row["part"] == "held_out"][:40]
    scores = {row["example_id"]: row["score"] for row in made.rows("scores") if row["moment"] == "after"}
    again = score_rows(made.folder, rows)
    np.testing.assert_allclose(again, [scores[row["example_id"]] for row in rows], atol=1e-4)


def test_a_seed_gives_the_same_weights_and_another_one_others(panel: Trained, trained: Trains) -> None:
    again = trained("again")
    assert again.weights() == panel.weights()
    assert again.rows("scores") == panel.rows("scores")
    assert again.digest.read_text() == panel.digest.read_text()
    other = trained("other", random_seed=1)
    assert other.weights().keys() == panel.weights().keys()
    assert all(other.weights()[name] != content for name, content in panel.weights().items())


def test_a_training_that_has_ended_before_is_taken_and_not_made_again(trained: Trains, panel: Trained) -> None:
    import shutil

    made = trained()
    before = made.weights()
    for path in (made.folder, made.digest):  # as Snakemake does before it runs a job again
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    marked = next(made.checkpoints.glob("*/finished/metric.json"))
    content = json.loads(marked.read_text()) | {"body": "taken"}
    marked.write_text(json.dumps(content))
    again = trained()
    assert read_metric(again.folder).body == "taken"
    assert again.weights() == before
    changed = trained(dropout=0.2)
    assert read_metric(changed.folder).body == "tiny"


def test_a_frozen_body_stays_as_it_was_and_adapters_learn(trained: Trains, encoder: Path) -> None:
    from safetensors.torch import load_file

    made = trained(freeze_body=True, adapter_size=4, gradient_checkpointing=True, head_learning_rate=0.01)
    import torch

    begun = load_file(encoder / "model.safetensors")
    kept = load_file(made.folder / "body.safetensors")
    assert kept.keys() <= begun.keys()
    assert all(torch.equal(begun[name], part) for name, part in kept.items())
    experts = load_file(made.folder / "experts.safetensors")
    assert any(part.abs().max() > 0 for name, part in experts.items() if name.endswith("up.weight"))
    assert read_metric(made.folder).adapter_size == 4
    (run,) = made.rows("run")
    assert run["trained_parameters"] < 0.1 * run["parameters"]


def test_early_stopping_keeps_the_weights_of_the_best_look(trained: Trains) -> None:
    made = trained(max_steps=40, epochs=60, evaluations=20, patience=2, learning_rate=0.05)
    (run,) = made.rows("run")
    evaluations = {row["step"]: row["loss"] for row in made.rows("curve") if row["measured"] == "development"}
    assert run["best_step"] == min(evaluations, key=evaluations.__getitem__)
    assert run["steps"] < 40
    assert run["steps"] - run["best_step"] == 4  # two looks
    straight = trained("straight", max_steps=40, epochs=60, evaluations=20, learning_rate=0.05)
    assert straight.rows("run")[0]["steps"] == straight.rows("run")[0]["best_step"] == 40


def test_half_precision_trains_on_the_cpu_too(trained: Trains) -> None:
    made = trained(precision="bfloat16", max_steps=3)
    assert all(np.isfinite(row["loss"]) for row in made.rows("curve"))
    assert made.rows("run")[0]["precision"] == "bfloat16"


def test_a_loss_that_is_no_number_ends_the_training_in_words(trained: Trains, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="poe: from step .* on the loss is not a number: lower learning_rate"):
        trained(learning_rate=1.0, head_learning_rate=1.0, max_steps=60, epochs=99, evaluations=1, weight_decay=1.0,
                encoder=exploding(tmp_path))  # fmt: skip
    assert not (tmp_path / "one" / "trained" / "poe").exists()


def exploding(folder: Path) -> Path:
    """Return an encoder whose weights are so large that they overflow."""
    from safetensors.torch import load_file, save_file

    made = tiny_encoder(folder / "exploding")
    state = load_file(made / "model.safetensors")
    state["embeddings.LayerNorm.weight"] *= 1e38
    save_file(state, made / "model.safetensors", metadata={"format": "pt"})
    return made


def test_an_encoder_that_cannot_be_had_is_refused_in_words(
    trained: Trains, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        UserError, match=r"models.poe.model: 'no/such-encoder' cannot be loaded: .*HF_HUB_OFFLINE is set"
    ):
        trained(model={"model": "no/such-encoder"})
    with pytest.raises(
        UserError, match="max_tokens: 1024 tokens are beyond the positions of .*, 512; set max_tokens: 512"
    ):
        trained(model={"max_tokens": 1024})
    broken = Path(shutil.copytree(encoder, tmp_path / "broken"))
    (broken / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UserError, match="models.poe.model: .*broken: model.safetensors has 7 bytes .*copy it again"):
        trained(encoder=broken)
    shutil.copy(encoder / "model.safetensors", broken)
    tokenizer = json.loads((encoder / "tokenizer_config.json").read_text())
    (broken / "tokenizer_config.json").write_text(json.dumps({**tokenizer, "pad_token": None}))
    with pytest.raises(UserError, match="no padding token"):
        trained(encoder=broken)


def test_a_decoder_is_noted(encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import shutil

    Base("poe", model_of(model=str(encoder)))
    assert "decoder" not in capsys.readouterr().out
    decoder = Path(shutil.copytree(encoder, tmp_path / "decoder"))
    config = json.loads((decoder / "config.json").read_text())
    (decoder / "config.json").write_text(json.dumps({**config, "architectures": ["XLMRobertaForCausalLM"]}))
    Base("poe", model_of(model=str(decoder)))
    assert f"note: {decoder} is a decoder (XLMRobertaForCausalLM)" in capsys.readouterr().out


def test_an_encoder_with_half_of_its_weights_is_refused(trained: Trains, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    made = tiny_encoder(tmp_path / "half")
    state = {name: part for name, part in load_file(made / "model.safetensors").items() if ".1." not in name}
    save_file(state, made / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match="has no weights for 16 parts of a xlm-roberta, such as encoder.layer.1"):
        trained(encoder=made)


def test_memory_is_estimated_before_anything_is_loaded(trained: Trains, monkeypatch: pytest.MonkeyPatch) -> None:
    from dialeval.stages import training

    monkeypatch.setattr(training, "free_memory", lambda on_cpu: 1e6)
    with pytest.raises(UserError, match="poe: the training needs about .* GB: .*, and the machine's memory has 0.0 GB"):
        trained()


def test_the_memory_of_a_large_encoder_is_that_of_its_shape(encoder: Path) -> None:
    """XLM-R large: 560 million parameters, 16 bytes each while they learn."""
    import transformers

    from dialeval.training.encoder import Base

    large = transformers.XLMRobertaConfig(
        vocab_size=250002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
        max_position_embeddings=514, type_vocab_size=1,
    )  # fmt: skip
    base = Base("poe", model_of(model=str(encoder)))
    base.config = large
    memory = base.memory("turn", 5)
    assert memory.learned == pytest.approx(16 * 558.8e6, rel=0.01)
    assert memory.weights == 0
    frozen = {"data": "set", "gpus": 0, "freeze_body": True, "adapter_size": 64}
    base = Base("poe", model_of(model=str(encoder), train=frozen))
    base.config = large
    panel = base.memory("turn", 5)
    assert panel.weights == pytest.approx(4 * 558.8e6, rel=0.01)
    assert panel.learned == pytest.approx(16 * 5 * (48 * (2 * 64 * 1024 + 1024 + 64) + 1025), rel=0.001)


def test_libraries_that_are_missing_are_named(trained: Trains, monkeypatch: pytest.MonkeyPatch) -> None:
    from dialeval.stages import training

    monkeypatch.setattr(training, "missing_libraries", lambda *_: "train needs accelerate")
    with pytest.raises(UserError, match="models.poe: train needs accelerate"):
        trained()


def test_a_set_that_is_empty_is_refused_before_the_encoder_is_loaded(trained: Trains, tmp_path: Path) -> None:
    import pyarrow as pa

    from dialeval.tables.files import write_table

    empty = tmp_path / "empty.parquet"
    write_table(empty, TRAINING_EXAMPLES, pa.Table.from_pylist([], TRAINING_EXAMPLES.schema))
    with pytest.raises(UserError, match="empty.parquet is empty: its corpora give no pair"):
        trained(examples=empty)


def test_examples_of_one_expert_alone_train_one_head(encoder: Path, turns: Path, tmp_path: Path) -> None:
    table = read_table(turns, TRAINING_EXAMPLES).to_pylist()
    import pyarrow as pa

    from dialeval.tables.files import write_table

    path = tmp_path / "home.parquet"
    rows = [row for row in table if row["domain"] == "home"]
    write_table(path, TRAINING_EXAMPLES, pa.Table.from_pylist(rows, TRAINING_EXAMPLES.schema))
    made = train(tmp_path / "home", encoder, path, max_steps=2)
    assert read_metric(made.folder).experts == ("home",)
