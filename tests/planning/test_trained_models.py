"""What an estimate says of models that a run trains, and of those that translate: nothing is loaded, nothing billed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.config import EncoderModel, NllbModel, VllmModel
from dialeval.config.training import EncoderTraining, LoraTraining
from dialeval.engines.encoder.engine import metric_engine
from dialeval.engines.encoder.metric import FILE, Metric
from dialeval.engines.requests import Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.planning.estimates import estimate_table
from dialeval.planning.judging_estimates import estimate_planned
from dialeval.planning.known_models import known_model
from dialeval.protocols.planned_requests import Planned
from dialeval.tables.dialogues import REQUESTS
from dialeval.tables.files import TableWriter

POE = EncoderModel(engine="encoder", model="xlm-roberta-large", train=EncoderTraining(data="turns"))
TUNED = VllmModel(engine="vllm", model="nowhere/none", lora=LoraTraining(train=["turns"]))


def question(criterion: str, level: str = "turn") -> Request:
    subject = (("Hello.", "Hi!"), (level, criterion), ("A", "B"))
    return Request(
        f"yes_no/c/en/1/{criterion}",
        "yes_no",
        "choice",
        (Message("user", f"Is it of {criterion}?"),),
        labels=("Yes", "No"),
        subject=subject,
    )


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    """Three questions, of which a metric for the relevance of turns answers one."""
    asked = [question("relevance"), question("overall"), question("coherence", "dialogue")]
    with TableWriter(tmp_path / "requests", REQUESTS) as table:
        table.write_all([Planned(request).to_row() for request in asked])
    return tmp_path / "requests"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder such as a training leaves."""
    folder = tmp_path / "poe"
    folder.mkdir()
    (folder / FILE).write_text(Metric("turn", ("relevance",), ("daily",), 256).to_json(), encoding="utf-8")
    return folder


def test_an_untrained_metric_counts_with_all_requests_at_most(requests: Path, tmp_path: Path) -> None:
    (estimate,) = estimate_planned([known_model("poe", POE, {})], "yes_no", requests, tmp_path / "store")
    row = estimate_table([estimate], {}).to_pylist()[0]
    assert (row["requests"], row["model_calls"], row["cached"], row["input_tokens_most"]) == (3, 3, None, 0)
    assert "not trained yet" in row["note"]
    assert "only the levels and criteria that it learned" in row["note"]


def test_a_trained_metric_gets_the_questions_that_it_learned_and_its_stored_answers_are_found(
    requests: Path, folder: Path, tmp_path: Path
) -> None:
    known = known_model("poe", POE, {"poe": folder})
    (estimate,) = estimate_planned([known], "yes_no", requests, tmp_path / "store")
    assert (estimate.requests, estimate.uncached) == (1, 1)
    engine = metric_engine(POE, folder)
    assert known.identity == engine.identity
    with ResponseStore(tmp_path / "store", name="poe", identity=engine.identity, protocol="yes_no") as store:
        store.append(
            known.key(question("relevance")), Response("", label_logprobs={"Yes": -1.0, "No": -0.5}, label_mass=1.0)
        )
    (estimate,) = estimate_planned([known], "yes_no", requests, tmp_path / "store")
    assert (estimate.requests, estimate.uncached) == (1, 0)


def test_weights_without_a_metric_are_refused(tmp_path: Path) -> None:
    model = EncoderModel(engine="encoder", weights=tmp_path)
    assert "has no trained metric" in known_model("poe", model, {}).notes[0]


def test_an_adapter_that_is_not_trained_yet_has_no_answers_of_its_base_model(requests: Path, tmp_path: Path) -> None:
    known = known_model("tuned", TUNED, {})
    assert known.identity is None
    assert any("not trained yet" in note for note in known.notes)
    (estimate,) = estimate_planned([known], "yes_no", requests, tmp_path / "store")
    assert estimate.uncached == 3


def test_specialists_cost_nothing() -> None:
    translator = known_model("nllb", NllbModel(engine="nllb"), {})
    assert (translator.kind, translator.identity) == ("specialist", None)
    assert translator.count_tokens((Message("user", "A long text."),)) == 0
