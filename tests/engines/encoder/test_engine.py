"""What a trained metric answers, whatever it is asked together with, and what it is not asked."""

from __future__ import annotations

import asyncio
import json
import math
import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_metrics import CRITERIA, dialogues_of_many_lengths

from dialeval.config import EncoderModel
from dialeval.engines.answering import Answering, open_engine
from dialeval.engines.encoder.engine import EncoderEngine, folder_digest, load_network
from dialeval.engines.encoder.metric import Metric, read_metric
from dialeval.engines.requests import AnswerFailure, Message, Request, Response, Sampling
from dialeval.engines.store import ResponseStore
from dialeval.errors import UserError
from dialeval.jobs.progress import Progress

pytestmark = pytest.mark.train
Folders = Callable[..., Path]


def question(dialogue: Sequence[str], criterion: str = "coherence", level: str = "dialogue", **fields: Any) -> Request:
    subject = (tuple(dialogue), (level, criterion), ())
    content: dict[str, Any] = {"labels": ("Yes", "No"), "subject": subject, "sampling": Sampling(max_tokens=1)}
    content["kind"] = "choice"
    return Request(f"yes_no/{criterion}", "yes_no", messages=(Message("user", "is it?"),), **content | fields)


def opened(folder: Path, **changes: Any) -> EncoderEngine:
    model = EncoderModel(**{"engine": "encoder", "weights": folder, "gpus": 0, "batch_tokens": 256} | changes)
    engine = open_engine(model, [])
    assert isinstance(engine, EncoderEngine)
    return engine


def scores(engine: EncoderEngine, requests: Iterable[Request]) -> list[float]:
    """Return P(Yes) for each request, asked as a table."""
    table = list(requests)

    async def ask() -> dict[str, Response | AnswerFailure]:
        keyed = ((str(place), request) for place, request in enumerate(table))
        found = {key: outcome async for key, outcome in engine.answer_all(keyed, None)}  # type: ignore[arg-type]
        await engine.close()
        return found

    found = asyncio.run(ask())
    assert len(found) == len(table)
    logprobs = [outcome.label_logprobs for outcome in (found[str(place)] for place in range(len(table)))
                if isinstance(outcome, Response)]  # fmt: skip
    return [math.exp(one["Yes"]) for one in logprobs if one]


@pytest.fixture(scope="session")
def one_by_one(metric_folder: Folders) -> list[float]:
    """The scores of many dialogues, each computed alone."""
    engine = opened(metric_folder(), batch_tokens=1)
    return scores(engine, map(question, dialogues_of_many_lengths()))


@pytest.mark.parametrize(("batch_tokens", "concurrency"), [(64, 8192), (512, 7), (100_000, 8192), (300, 1)])
def test_scores_do_not_depend_on_what_is_computed_together(
    metric_folder: Folders, one_by_one: list[float], batch_tokens: int, concurrency: int
) -> None:
    engine = opened(metric_folder(), batch_tokens=batch_tokens, concurrency=concurrency)
    found = scores(engine, map(question, dialogues_of_many_lengths()))
    np.testing.assert_allclose(found, one_by_one, atol=1e-4, rtol=0)
    assert np.ptp(one_by_one) > 0.05  # they differ between dialogues by more than that


def test_scores_do_not_depend_on_the_order(metric_folder: Folders, one_by_one: list[float]) -> None:
    dialogues = dialogues_of_many_lengths()
    for seed in range(3):
        order = random.Random(seed).sample(range(len(dialogues)), len(dialogues))
        engine = opened(metric_folder(), batch_tokens=400, concurrency=16)
        found = scores(engine, (question(dialogues[place]) for place in order))
        np.testing.assert_allclose(found, [one_by_one[place] for place in order], atol=1e-4, rtol=0)


@pytest.mark.parametrize("adapter_size", [0, 4])
def test_the_mean_of_the_heads_is_every_criterion_s_score_and_its_own_head_s_where_set(
    metric_folder: Folders, adapter_size: int
) -> None:
    import torch

    from dialeval.engines.encoder.engine import load_network
    from dialeval.engines.encoder.metric import Encoding

    folder, dialogue = metric_folder(adapter_size=adapter_size), ("Hello there", "Hi, how are you?")
    network, tokenizer, _ = load_network(folder)
    (encoded,) = Encoding(tokenizer, "dialogue", 64).encode([dialogue])
    ids = torch.tensor([encoded.ids])
    with torch.no_grad():
        heads = [float(torch.sigmoid(network(ids, torch.ones_like(ids), expert))) for expert in range(3)]
    mean = scores(opened(folder), [question(dialogue, criterion) for criterion in CRITERIA])
    assert mean == pytest.approx([sum(heads) / 3] * 3, abs=1e-6)
    own = scores(opened(folder, score="own"), [question(dialogue, criterion) for criterion in CRITERIA])
    assert own == pytest.approx(heads, abs=1e-6)
    assert len({round(score, 4) for score in heads}) == 3


def test_an_answer_has_the_probabilities_of_both_labels_and_the_length(metric_folder: Folders) -> None:
    from dialeval.engines.encoder.engine import load_network

    async def ask() -> Response:
        engine = opened(metric_folder())
        try:
            return await engine.answer(question(("Hello",)))
        finally:
            await engine.close()

    answer = asyncio.run(ask())
    assert answer.label_logprobs is not None
    assert math.fsum(map(math.exp, answer.label_logprobs.values())) == pytest.approx(1)
    assert answer.label_mass == 1
    assert answer.prompt_tokens == len(load_network(metric_folder())[1]("Hello")["input_ids"])
    assert answer.completion_tokens == 0


def test_a_score_at_the_end_of_the_scale_is_still_a_score(metric_folder: Folders) -> None:
    found = scores(opened(metric_folder(spread=1e6), score="own"), map(question, dialogues_of_many_lengths(4)))
    assert all(0 < score < 1 for score in found)
    assert any(abs(score - round(score)) < 1e-6 for score in found)


def test_criteria_without_training_are_refused(metric_folder: Folders) -> None:
    engine = opened(metric_folder(criteria=("relevance",), experts=("daily", "chat"), level="turn"))
    assert engine.takes(question(("a", "b"), "relevance", "turn"))
    assert not engine.takes(question(("a", "b"), "relevance", "dialogue"))
    assert not engine.takes(question(("a", "b"), "overall", "turn"))


def test_an_impossible_request_is_refused_in_words(metric_folder: Folders) -> None:
    engine = opened(metric_folder())

    def refusal(request: Request) -> str:
        assert engine.takes(request)
        with pytest.raises(AnswerFailure) as failure:
            asyncio.run(engine.answer(request))
        assert failure.value.kind == "unsupported"
        return str(failure.value)

    assert "writes no text" in refusal(question(("a",), kind="chat"))
    assert "at least one utterance" in refusal(question(()))
    assert "the labels A, B" in refusal(question(("a",), labels=("A", "B")))
    with pytest.raises(UserError, match="score: own needs a head for relevance; the heads"):
        opened(metric_folder(criteria=("relevance",), experts=("daily",), level="turn"), score="own")


def test_equal_inputs_are_computed_once(metric_folder: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, computed = opened(metric_folder()), []
    real = engine._scores
    monkeypatch.setattr(engine, "_scores", lambda batch: computed.extend(batch) or real(batch))
    twice = [question(("Hello", "Hi"), criterion) for criterion in CRITERIA] + [question(("Hello", "Hi"))]
    found = scores(engine, [*twice, question(("Bye",))])
    assert len(computed) == 2
    assert len(set(found[:4])) == 1


def test_the_store_is_searched_before_the_metric_is_loaded(
    metric_folder: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [question(dialogue) for dialogue in dialogues_of_many_lengths(6)]

    def answered() -> Answering:
        engine = opened(metric_folder())
        with ResponseStore(tmp_path, identity=engine.identity, name="poe", protocol="yes_no") as store:
            answering = Answering(engine, store, Progress("test", None, "answers", stream=StringIO()))
            answering.run(answering.ask_all([*requests, *requests[:2]]))
            return answering

    first = answered()
    assert (first.total, first.n_sent, first.failures.total()) == (len(requests) + 2, len(requests), 0)
    monkeypatch.setattr(EncoderEngine, "_load", None)
    again = answered()
    assert (again.total, again.n_sent) == (len(requests) + 2, 0)


def test_the_identity_follows_weights_score_and_precision_and_not_the_layout(metric_folder: Folders) -> None:
    same = opened(metric_folder()).identity
    assert opened(metric_folder(), batch_tokens=9, concurrency=5).identity == same
    others = [
        opened(metric_folder(), score="own"),
        opened(metric_folder(), precision="bfloat16"),
        opened(metric_folder(seed=2)),
    ]
    assert len({same, *(engine.identity for engine in others)}) == 4


def test_half_precision_is_near(metric_folder: Folders, one_by_one: list[float]) -> None:
    engine = opened(metric_folder(), precision="bfloat16", batch_tokens=500)
    found = scores(engine, map(question, dialogues_of_many_lengths()))
    np.testing.assert_allclose(found, one_by_one, atol=0.03)
    with pytest.raises(UserError, match="float16 needs a GPU"):
        opened(metric_folder(), precision="float16")


# The folder of a metric: what it holds, and the error for one that does not.


@pytest.fixture
def folder(metric_folder: Callable[..., Path], tmp_path: Path) -> Path:
    """A copy of a metric that a test may change."""
    return Path(shutil.copytree(metric_folder(adapter_size=4), tmp_path / "copy"))


def test_what_is_saved_is_what_is_loaded(folder: Path) -> None:
    import torch
    from safetensors.torch import load_file

    network, tokenizer, metric = load_network(folder)
    assert metric.experts == ("coherence", "engagingness", "informativeness")
    assert tokenizer("Hello")["input_ids"]
    state = network.state_dict()
    saved = {f"body.{name}": part for name, part in load_file(folder / "body.safetensors").items()}
    saved |= load_file(folder / "experts.safetensors")
    assert saved.keys() == state.keys()
    assert all(torch.equal(saved[name], part) for name, part in state.items())
    assert not network.training


def test_the_digest_follows_what_can_change_a_score_and_nothing_else(folder: Path) -> None:
    before = folder_digest(folder)
    (folder / "scores.parquet").write_bytes(b"a record")
    (folder / ".snakemake_timestamp").touch()
    content = json.loads((folder / "metric.json").read_text())
    (folder / "metric.json").write_text(json.dumps(content | {"versions": {"torch": "9"}, "body": "elsewhere"}))
    assert folder_digest(folder) == before
    assert folder_digest(Path(shutil.copytree(folder, folder.parent / "moved"))) == before
    (folder / "metric.json").write_text(json.dumps(content | {"max_tokens": 32}))
    assert folder_digest(folder) != before
    (folder / "metric.json").write_text(json.dumps(content))
    weights = (folder / "experts.safetensors").read_bytes()
    (folder / "experts.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    assert folder_digest(folder) != before


def test_a_folder_that_is_no_metric_is_refused_in_words(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no trained metric"):
        read_metric(tmp_path)
    (folder / "experts.safetensors").write_bytes(b"\x00" * 20)
    with pytest.raises(UserError, match="does not contain a complete metric"):
        load_network(folder)
    (folder / "experts.safetensors").unlink()
    with pytest.raises(UserError, match="does not contain a complete metric"):
        load_network(folder)
    content = json.loads((folder / "metric.json").read_text())
    for change, words in (
        ({"format": 7}, "its format is 7"),
        ({"level": "word"}, "its level is 'word'"),
        ({"pooling": "last"}, "its pooling is 'last'"),
        ({"experts": []}, "no experts"),
    ):
        (folder / "metric.json").write_text(json.dumps(content | change))
        with pytest.raises(UserError, match=words):
            read_metric(folder)
    (folder / "metric.json").write_text("{}")
    with pytest.raises(UserError, match="field 'format' is missing"):
        read_metric(folder)


def test_what_a_metric_says_of_itself_is_read_as_it_was_written(tmp_path: Path) -> None:
    metric = Metric("turn", ("relevance",), ("daily", "chat"), 128, 16, "xlm-roberta-base", "abc", (("torch", "2"),))
    (tmp_path / "metric.json").write_text(metric.to_json())
    assert read_metric(tmp_path) == metric
    (tmp_path / "metric.json").write_text(metric._replace(pooling="parts").to_json())
    assert read_metric(tmp_path) == metric._replace(pooling="parts")
    assert metric.knows("turn", "relevance")
    assert not metric.knows("dialogue", "relevance")
    assert not metric.knows("turn", "overall")
