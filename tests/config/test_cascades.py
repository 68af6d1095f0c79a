"""Cascades in a configuration: who judges, and what is refused in words before anything runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from config_example import BASE

from dialeval.aggregation.measures.design import design_of
from dialeval.config import load_config
from dialeval.errors import UserError


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
    own = {"form": "pair", "of": {"source": "selfchat"}, "judges": ["cheap", "dear", "other"]}
    raw["protocols"] |= {"closer": own | ({"cascade": cascade} if cascade else {}) | protocol}
    return raw


def mistakes(raw: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        load_config(raw)
    return str(caught.value)


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
        (BOTH | {"first": "cheep"}, {}, "protocols.closer.cascade.first: 'cheep' does not judge under closer"),
        (BOTH, {"judges": ["cheap"]}, "cascade.then: 'dear' does not judge under closer; name it under"),
        (BOTH | {"then": "cheap"}, {}, "first and then are both 'cheap'"),
        (BOTH | {"share": 1.0}, {}, "protocols.closer.cascade.share"),
        (BOTH, {"form": "detect"}, "an answer of form detect does not say how sure the judge is"),
        (BOTH, {"form": "scale", "criteria": ["coherence"]}, "set repeats: 3 and a temperature"),
    ],
)
def test_what_cannot_be_a_cascade_is_said(cascade: dict[str, Any], protocol: dict[str, Any], words: str) -> None:
    assert words in mistakes(with_cascade(cascade, **protocol))


def test_a_name_that_is_taken_is_said() -> None:
    raw = with_cascade(BOTH)
    raw["models"]["cheap-then-dear"] = raw["models"]["other"]
    assert "'cheap-then-dear' has that name already" in mistakes(raw)


def test_an_ensemble_of_a_judge_of_a_share_is_said() -> None:
    raw = with_cascade(BOTH, form="probability", criteria=["coherence"])
    raw["ensembles"] = {"both": ["dear", "other"]}
    assert "'dear' answers a share alone, and is a member of the ensemble both under closer" in mistakes(raw)
    raw["ensembles"] = {"both": ["cheap", "other"]}
    assert load_config(raw).judging("closer") == ["cheap", "other", "cheap-then-dear", "both"]


def test_numbers_with_repeats_are_a_cascade() -> None:
    raw = with_cascade(BOTH, form="scale", criteria=["coherence"], repeats=3, temperature=0.7)
    assert load_config(raw).judging("closer")[-1] == "cheap-then-dear"
