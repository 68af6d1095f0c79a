"""Asking in rounds: what it may say in a configuration, and what does not go together with it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from config_example import BASE

from dialeval.config import load_config
from dialeval.errors import UserError
from dialeval.measures.design import design_of


def with_rounds(adaptive: dict[str, Any] | None, *, shards: int = 1, **protocol: Any) -> dict[str, Any]:
    raw = copy.deepcopy(BASE)
    raw["chatbots"] = ["retrieval", "ngram"]
    raw["models"] |= {
        "ngram": {"engine": "embedded", "method": "ngram"},
        "judge": {"engine": "openai", "model": "m", "base_url": "http://localhost:1/v1", "shards": shards},
    }
    own = {"form": "pair", "data": {"source": "selfchat"}, "judges": ["judge"], "adaptive": adaptive}
    raw["protocols"] |= {"closer": own | protocol}
    return raw


def mistakes(raw: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        load_config(raw)
    return str(caught.value)


def test_arena_and_the_users_protocols_can_be_adaptive() -> None:
    raw = with_rounds({"block": 5, "error_control": "familywise"}, data={"source": "selfchat", "opponent": "human"})
    raw["protocols"]["arena"] = {"n_utterances": [6], "adaptive": {"requests": 100}}
    found = load_config(raw).resolved_protocols()
    assert found["closer"].adaptive is not None
    assert (found["closer"].adaptive.block, found["closer"].adaptive.error) == (5, 0.05)
    assert found["arena"].adaptive is not None
    assert (found["arena"].adaptive.block, found["arena"].adaptive.requests) == (20, 100)
    assert load_config(with_rounds(None)).resolved_protocols()["closer"].adaptive is None


def test_a_judge_in_shards_is_refused_in_words() -> None:
    found = mistakes(with_rounds({}, shards=3))
    assert "protocols.closer.adaptive" in found
    assert "models.judge.shards is 3; set it to 1" in found
    load_config(with_rounds(None, shards=3))


def test_only_pairs_can_be_adaptive() -> None:
    found = mistakes(with_rounds({}, form="locate"))
    assert "protocols.closer.adaptive: form locate has no such option (only form pair has it); remove it" in found


def test_a_cascade_has_no_adaptive_rounds() -> None:
    cascade = {"first": "retrieval", "then": "judge"}
    assert "cascade and adaptive exclude each other" in mistakes(
        with_rounds({}, judges=["retrieval", "judge"], cascade=cascade)
    )


@pytest.mark.parametrize(
    ("adaptive", "field"),
    [({"block": 0}, "block"), ({"error": 0.5}, "error"), ({"error": 0}, "error"),
     ({"error_control": "judge"}, "error_control"),
     ({"boundary": "pocock"}, "boundary"), ({"requests": 0}, "requests"), ({"blok": 3}, "blok")],
)  # fmt: skip
def test_values_that_mean_nothing_are_refused_with_their_field(adaptive: dict[str, Any], field: str) -> None:
    assert f"protocols.closer.adaptive.{field}" in mistakes(with_rounds(adaptive))


# Cascades in a configuration: who judges, and what is refused in words before anything runs.


def with_cascade(cascade: dict[str, Any] | None, **protocol: Any) -> dict[str, Any]:
    raw = copy.deepcopy(BASE)
    raw["chatbots"] = ["retrieval", "ngram"]
    raw["models"] |= {
        "ngram": {"engine": "embedded", "method": "ngram"},
        **{
            name: {"engine": "openai", "model": name, "base_url": "http://localhost:1/v1"}
            for name in ("cheap", "dear", "other")
        },
    }
    own = {"form": "pair", "data": {"source": "selfchat"}, "judges": ["cheap", "dear", "other"]}
    raw["protocols"] |= {"closer": own | ({"cascade": cascade} if cascade else {}) | protocol}
    return raw


BOTH = {"first": "cheap", "then": "dear"}


def test_the_two_are_one_more_judge_and_the_dear_one_alone_is_none() -> None:
    config = load_config(with_cascade(BOTH))
    assert config.judges_of("closer") == ["cheap", "dear", "other"]
    assert config.judging("closer") == design_of(config, "closer").judges == ["cheap", "other", "cheap-then-dear"]
    assert config.resolved_protocols()["closer"].cascade is not None
    assert load_config(with_cascade(None)).judging("closer") == ["cheap", "dear", "other"]


@pytest.mark.parametrize(
    ("cascade", "protocol", "words"),
    [
        (BOTH | {"first": "cheep"}, {}, "protocols.closer.cascade.first: 'cheep' is not a judge of closer"),
        (BOTH, {"judges": ["cheap"]}, "cascade.then: 'dear' is not a judge of closer; name it under"),
        (BOTH | {"then": "cheap"}, {}, "first and then are both 'cheap'"),
        (BOTH | {"share": 1.0}, {}, "protocols.closer.cascade.share"),
        (BOTH, {"form": "locate"}, "response of form locate does not show how certain the judge is"),
        (BOTH, {"form": "scale", "criteria": ["coherence"]}, "set repeats: 3 and a temperature"),
    ],
)
def test_what_cannot_be_a_cascade_is_reported(cascade: dict[str, Any], protocol: dict[str, Any], words: str) -> None:
    assert words in mistakes(with_cascade(cascade, **protocol))


def test_a_name_that_is_taken_is_reported() -> None:
    raw = with_cascade(BOTH)
    raw["models"]["cheap-then-dear"] = raw["models"]["other"]
    assert "'cheap-then-dear' already has that name" in mistakes(raw)


def test_an_ensemble_with_a_judge_of_a_share_is_refused() -> None:
    raw = with_cascade(BOTH, form="probability", criteria=["coherence"])
    raw["ensembles"] = {"both": ["dear", "other"]}
    assert "'dear' answers only a share of the requests, and is a member of the ensemble both under closer" in mistakes(
        raw
    )
    raw["ensembles"] = {"both": ["cheap", "other"]}
    assert load_config(raw).judging("closer") == ["cheap", "other", "cheap-then-dear", "both"]


def test_numbers_with_repeats_are_a_cascade() -> None:
    raw = with_cascade(BOTH, form="scale", criteria=["coherence"], repeats=3, temperature=0.7)
    assert load_config(raw).judging("closer")[-1] == "cheap-then-dear"
