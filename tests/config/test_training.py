"""What a configuration need not say where judges are trained, and nothing else is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from config_example import BASE

from dialeval.config import load_config
from dialeval.errors import UserError

ALONE = {
    "corpora": {"mine": {"reader": "bundled", "language": "en"}},
    "training": {"turns": {"level": "turn", "domains": {"daily": ["mine"]}}},
    "models": {"poe": {"engine": "encoder", "model": "tiny", "train": {"data": "turns"}}},
    "judges": ["poe"],
}


def test_a_trained_judge_needs_no_protocol() -> None:
    config = load_config(ALONE, files_are_there=False)
    assert (config.used_training(), config.talks(), config.seeds.corpus) == (["turns"], False, "mine")


def test_a_judge_that_is_not_trained_here_needs_a_protocol() -> None:
    models = {**ALONE["models"], "other": {"engine": "embedded", "method": "forest"}}
    with pytest.raises(UserError, match="'other' has no protocol"):
        load_config({**ALONE, "models": models, "judges": ["poe", "other"]}, files_are_there=False)


@pytest.mark.parametrize("name", ["training", "translation"])
def test_a_protocol_takes_no_parts_folder(name: str) -> None:
    protocols = {name: {"form": "pair", "data": {"source": "selfchat"}}}
    with pytest.raises(UserError, match=f"'{name}' is the name of a part of the run"):
        load_config({**ALONE, "protocols": protocols}, files_are_there=False)


# Training sets in the configuration: what is used of them, and mistakes in words.

TURNS = {"level": "turn", "domains": {"daily": ["bundled"]}}
ASKED = {"rating": {"judges": ["forest"]}, "yes_no": {"judges": ["l"]}}
LORA = {"engine": "vllm", "model": "m", "lora": {"train": ["turns", "more"]}}


def load(training: dict[str, Any], **changes: Any) -> Any:
    corpora = {"bundled": {"reader": "bundled"}, "own": {"reader": "jsonl", "path": "own.jsonl"}}
    return load_config({**BASE, "corpora": corpora, "training": training, **changes}, files_are_there=False)


def test_corpora_of_sets_are_read_where_a_model_learns_from_them() -> None:
    own = {"level": "turn", "domains": {"daily": ["own"]}}
    config = load({"turns": own})
    assert (config.used_training(), config.made_training()) == ([], ["turns"]), "to be looked at"
    models = BASE["models"] | {"l": {"engine": "vllm", "model": "m", "lora": {"train": ["turns"]}}}
    used = load({"turns": own}, models=models, protocols=ASKED)
    assert used.used_training() == used.made_training() == ["turns"]
    assert "own" in used.used_corpora()
    with pytest.raises(UserError, match="only l would learn from 'turns', and no protocol uses it as a judge"):
        load({"turns": own}, models=models)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"domains": {"daily": ["bundeld"]}}, "training.turns.domains.daily: 'bundeld' is not a corpus.*'bundled'"),
        ({"domains": {"daily": []}}, "training.turns.domains.daily: it has no corpus"),
        ({"domains": {}}, "training.turns.domains"),
        ({"domains": {"a": ["bundled"], "b": ["bundled"]}}, "'bundled' is named 2 times"),
        ({"criteria": ["relevanse"]}, "training.turns.criteria: 'relevanse' is not a criterion.*'relevance'"),
        ({"criteria": ["coherence"]}, "'coherence' is about a dialogue, and the pairs are of level turn"),
        ({"languages": ["fr"]}, "training.turns.languages: no dialogue is in 'fr': the corpora are in en"),
        ({"level": "turns"}, "training.turns.level"),
        ({"development": 0}, "training.turns.development"),
        ({"held_out": 0.9}, "training.turns"),
        ({"overlap": "ignore"}, "training.turns.overlap"),
        ({"pairs_per_language": 0}, "training.turns.pairs_per_language"),
    ],
)
def test_a_mistake_is_reported_with_its_field(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        load({"turns": TURNS | changes})


def test_languages_may_come_from_dialogues_and_translations() -> None:
    load({"turns": TURNS | {"domains": {"daily": ["bundled", "own"]}, "languages": ["fr"]}})
    translate = {"bundled": {"into": ["fr"], "translator": "gpt"}}
    load({"turns": TURNS | {"languages": ["fr"]}}, translate=translate)


def test_sets_that_are_learned_together_hold_back_the_same_shares() -> None:
    more = {"level": "dialogue", "domains": {"daily": ["bundled"]}}
    models = BASE["models"] | {"l": LORA}
    load({"turns": TURNS, "more": more}, models=models, protocols=ASKED)
    with pytest.raises(UserError, match=r"models.l.lora.train: turns, more hold out different shares"):
        load({"turns": TURNS, "more": more | {"held_out": 0.2}}, models=models, protocols=ASKED)
