"""How failures are looked for: what may be said of it, and every mistake in words before a job runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from config_example import BASE

from dialeval.config import Config, load_config
from dialeval.config.protocol_settings import OF_SAMPLES
from dialeval.criteria import FAILURES
from dialeval.errors import UserError


def raw(**failures: Any) -> dict[str, Any]:
    content = copy.deepcopy(BASE)
    content["models"]["judge"] = {"engine": "openai", "model": "m", "base_url": "http://localhost:1/v1"}
    content["protocols"]["failures"] = failures
    return content


def loaded(**failures: Any) -> Config:
    return load_config(raw(**failures))


def mistakes(content: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        load_config(content)
    return str(caught.value)


def test_without_judges_that_can_rules_alone_look() -> None:
    config = loaded()
    assert config.judges_of("failures") == [name for name in BASE["judges"] if name == "gpt"]
    assert loaded(judges=[]).judging("failures") == ["rules"]
    assert loaded(judges=[]).resolved_protocols()["failures"].measured() == (
        "rates",
        "differences",
        "examples",
        *OF_SAMPLES,
    )


def test_judges_get_all_failures_beside_the_rules() -> None:
    config = loaded(judges=["judge"])
    protocol = config.resolved_protocols()["failures"]
    assert config.judging("failures") == ["judge", "rules"]
    assert protocol.measured() == ("rates", "differences", "agreement", "examples", *OF_SAMPLES)
    assert [one.name for one in config.criteria_of("failures")] == list(FAILURES)
    assert config.people_of_failures() == [BASE["seeds"]["corpus"]]


def test_failures_may_be_fewer_and_the_users_own() -> None:
    content = raw(criteria=["formal_tone", "rude"], judges=["judge"])
    content["criteria"] = {**content.get("criteria", {}), "rude": {"level": "dialogue", "question": "Is it rude?"}}
    found = load_config(content).criteria_of("failures")
    assert [one.name for one in found] == ["formal_tone", "rude"]
    assert found[1].words.question["dialogue"] == "Is it rude?"


def test_transcripts_need_neither_chatbots_nor_judges_nor_models() -> None:
    sections = {"transcripts": {"support": {"path": "support.jsonl"}}, "protocols": {"failures": {}}}
    sections["protocols"]["failures"] = {"data": {"source": "support"}}
    config = load_config(sections, files_are_there=False)
    assert config.judging("failures") == ["rules"]
    assert config.resolved_protocols()["failures"].data.source == ["support"]
    assert config.people_of_failures() == ["bundled"]


@pytest.mark.parametrize(
    ("failures", "words"),
    [
        (
            {"criteria": ["formal"]},
            "protocols.failures.criteria: 'formal' is not a kind of failure; did you mean 'formal_tone'",
        ),
        ({"criteria": ["overall"]}, "'overall' is a criterion of quality, not a kind of failure"),
        (
            {"data": {"source": "suport"}},
            "protocols.failures.data.source: 'suport' is not a source of systems' dialogues",
        ),
        ({"data": {"source": "rated"}}, "'rated' is not a source of systems' dialogues"),
        ({"human_corpora": ["talks"]}, "protocols.failures.human_corpora: 'talks' is not a corpus"),
        (
            {"judges": ["forest"]},
            "'forest' is an embedded model of method 'forest', which this protocol cannot use (failures); "
            "name a model of engine openai or vllm, since no embedded method can",
        ),
        ({"judges": ["nobody"]}, "protocols.failures.judges: 'nobody'"),
        ({"length_share": 1}, "protocols.failures.length_share"),
        ({"length_share": "much"}, "protocols.failures.length_share"),
        ({"criteria": []}, "protocols.failures.criteria"),
        ({"rules": False}, "protocols.failures.rules"),
    ],
)
def test_a_mistake_is_reported(failures: dict[str, Any], words: str) -> None:
    assert words in mistakes(raw(**failures))


def test_no_model_may_be_called_as_the_rules_are() -> None:
    content = raw()
    content["models"]["rules"] = content["models"]["judge"]
    assert "models.rules: 'rules' names the rules in the tables of failures" in mistakes(content)


def test_a_kind_about_responses_is_refused() -> None:
    content = raw(criteria=["rude"], judges=["judge"])
    content["criteria"] = {**content.get("criteria", {}), "rude": {"level": "turn", "question": "Is it rude?"}}
    assert "'rude' is about responses, and this protocol judges dialogues" in mistakes(content)


def test_people_cannot_label_several_places_of_several_criteria() -> None:
    content = raw(judges=["judge"])
    content["labels"] = {"protocols": ["failures"], "annotators": ["anna"], "path": "labels"}
    assert "for which DialEval makes no labelling page" in mistakes(content)


def test_ones_own_protocol_may_ask_in_the_same_form() -> None:
    content = raw()
    own = {"form": "annotate", "data": {"source": "selfchat"}, "criteria": ["formal_tone"], "judges": ["judge"]}
    content["protocols"]["slips"] = own
    assert load_config(content).resolved_protocols()["slips"].measured() == (
        "rates",
        "differences",
        "examples",
        *OF_SAMPLES,
    )
    content["protocols"]["slips"] = {name: value for name, value in own.items() if name != "criteria"}
    assert "protocols.slips.criteria: form annotate needs criteria" in mistakes(content)
    content["protocols"]["slips"] = own | {"judges": ["judge", "gpt"], "cascade": {"first": "gpt", "then": "judge"}}
    assert "response of form annotate does not show how certain the judge is" in mistakes(content)
