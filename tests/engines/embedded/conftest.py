"""Dialogues to learn from, and what is learned from them once for all tests here."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from once import once

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))  # held-out figures

from dialeval.config.models import METHODS
from dialeval.engines.embedded.learning import Learned, learn, learned_bytes, read_learned
from dialeval.engines.requests import Dialogue

_N_DIALOGUES = 100


def _bundled(name: str) -> list[Dialogue]:
    text = (files("dialeval.corpora") / "bundled" / name).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n") if line]
    return [tuple(utterance["text"] for utterance in row["utterances"]) for row in rows]


def _learned_once(method: str, dialogues: list[Dialogue], tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Return what a judge learns, which takes seconds: one process learns it for all."""

    def write(path: Path) -> None:
        path.write_bytes(learned_bytes(learn(method, dialogues, random_seed=1)))

    return read_learned(once(tmp_path_factory, f"{method}.learned", write), method)


@pytest.fixture(scope="session")
def english() -> list[Dialogue]:
    return _bundled("english.jsonl")[:_N_DIALOGUES]


@pytest.fixture(scope="session")
def chinese() -> list[Dialogue]:
    return _bundled("chinese.jsonl")


@pytest.fixture(scope="session")
def chatbots(
    english: list[Dialogue], chinese: list[Dialogue], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Learned]:
    names = [name for name, method in METHODS.items() if "selfchat" in method.serves]
    return {name: _learned_once(name, english + chinese, tmp_path_factory) for name in names}


@pytest.fixture(scope="session")
def raters(
    english: list[Dialogue], chatbots: dict[str, Learned], forest: Learned, selection: Learned
) -> dict[str, Learned]:
    baselines = {name: learn(name, english, random_seed=1) for name in ("length", "overlap", "perplexity")}
    return {"forest": forest, "selection": selection, "random": chatbots["random"], **baselines}


@pytest.fixture(scope="session")
def forest(english: list[Dialogue], tmp_path_factory: pytest.TempPathFactory) -> Learned:
    return _learned_once("forest", english, tmp_path_factory)


@pytest.fixture(scope="session")
def selection(english: list[Dialogue], tmp_path_factory: pytest.TempPathFactory) -> Learned:
    return _learned_once("selection", english, tmp_path_factory)
