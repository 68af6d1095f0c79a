"""One's own protocols: what they may say, and every mistake in words before a job runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from config_example import BASE

from dialeval.config import Config, Protocol, load_config
from dialeval.config.protocols import SHIPPED, shipped
from dialeval.errors import UserError

PAIR = {
    "form": "pair",
    "data": {"source": "selfchat", "n_utterances": [8]},
    "options": {"A": "left", "B": "right", "Tie": "tie"},
}


def with_own(**protocols: Any) -> dict[str, Any]:
    raw = copy.deepcopy(BASE)
    raw["chatbots"] = ["retrieval", "ngram"]
    raw["models"] |= {
        "ngram": {"engine": "embedded", "method": "ngram"},
        "judge": {"engine": "openai", "model": "m", "base_url": "http://localhost:1/v1"},
    }
    raw["protocols"] |= protocols
    return raw


def own(**changes: Any) -> dict[str, Any]:
    return PAIR | {"judges": ["judge"]} | changes


def mistakes(raw: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        load_config(raw)
    return str(caught.value)


def test_a_protocol_of_ones_own_stands_beside_the_shipped_ones() -> None:
    config = load_config(with_own(helpful=own(criteria=["overall"])))
    assert list(config.resolved_protocols()) == [*(name for name in SHIPPED if name in BASE["protocols"]), "helpful"]
    helpful = config.resolved_protocols()["helpful"]
    assert helpful.data.source == ["selfchat"]
    assert helpful.measured() == ("ratings", "win_rates", "bias", "differences", "ranks", "judge_differences")
    assert config.judges_of("helpful") == ["judge"]
    assert config.protocol_judges() == [*BASE["judges"], "judge"]


def test_shipped_protocols_are_data_with_the_options_of_their_sections() -> None:
    raw = with_own()
    arena = {"n_utterances": [6], "temperature": 0.5}
    raw["protocols"] |= {"arena": arena, "unieval": {"n_utterances": [5]}, "gteval": {}}
    resolved = load_config(raw).resolved_protocols()
    assert resolved["arena"].data.n_utterances == [6]
    assert resolved["arena"].temperature == 0.5
    assert resolved["arena"].data.human_utterances == 4
    assert resolved["unieval"].n_utterances == [5]
    assert resolved["gteval"].data.n_utterances == []
    assert resolved["gteval"].judges == raw["judges"]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_protocol_is_whole(name: str) -> None:
    assert Protocol.model_validate(shipped(name).model_dump()) == shipped(name)


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        (own(data={"source": "suport"}), ["protocols.mine.data.source", "'suport' is not a source", "selfchat"]),
        (own(data={"source": "perturbed"}), ["protocols.mine.data.source", "form pair is about systems"]),
        (own(data={"source": "damaged"}), ["protocols.mine.data.source: 'damaged' has a new name; write perturbed"]),
        (
            own(data={"source": "selfchat", "opponent": "ngrm"}),
            ["protocols.mine.data.opponent", "did you mean 'ngram'?"],
        ),
        (own(data={"source": "selfchat", "n_utterances": [99]}), ["protocols.mine.data.n_utterances", "99", "16"]),
        (own(criteria=["overal"]), ["protocols.mine.criteria", "'overal' is not a criterion; did you mean 'overall'?"]),
        (own(judges=["juge"]), ["protocols.mine.judges", "did you mean 'judge'?"]),
        (own(judges=["forest"]), ["protocols.mine.judges", "this protocol cannot use (mine)"]),
        (
            own(measures=["means"]),
            ["protocols.mine.measures", "form pair does not have the measure means", "win_rates"],
        ),
        (own(measures=["ratings", "ranks"]), ["protocols.mine.measures", "ranks follow from differences"]),
        (own(measures=["win_rates", "differences", "ranks"]), ["protocols.mine.measures", "add ratings"]),
        (own(measures=["wins"]), ["protocols.mine.measures", "'wins' is not allowed"]),
        (own(options={"A": "left", "B": "tie"}), ["protocols.mine.options", "a win of the dialogue shown second"]),
        (own(options={"A": "left", "*a*": "right"}), ["protocols.mine.options", "'A' and '*a*' are the same option"]),
        (own(options={"A": "left", "?!": "right"}), ["protocols.mine.options", "no letter or digit"]),
        (own(repeats=3), ["protocols.mine", "repeats at temperature 0"]),
        (
            own(criteria_in_one_request=False),
            ["protocols.mine.criteria_in_one_request", "form pair has no such option (only form scale"],
        ),
        (own(template="../x.j2"), ["protocols.mine.template"]),
        (own(optoins={}), ["protocols.mine.optoins", "did you mean 'options'?"]),
        (
            {"form": "locate", "data": {"source": "selfchat", "n_utterances": [4]}, "judges": ["judge"]},
            ["protocols.mine.data.n_utterances", "form locate has no such option"],
        ),
        (
            {"form": "locate", "data": {"source": "selfchat"}, "judges": ["judge"], "measures": ["rates"]},
            ["protocols.mine.measures", "rates needs criteria"],
        ),
        ({"data": {"source": "selfchat"}}, ["protocols.mine.form", "not a shipped protocol", "known:"]),
    ],
)
def test_a_mistake_in_ones_own_protocol_is_reported(protocol: dict[str, Any], words: list[str]) -> None:
    found = mistakes(with_own(mine=protocol))
    for word in words:
        assert word in found


@pytest.mark.parametrize("name", ["Arena", "botchat", "metaeval", "selfchat", "battles"])
def test_the_names_of_parts_and_shipped_protocols_are_taken(name: str) -> None:
    assert f"'{name}' is the name of" in mistakes(with_own(**{name: own()}))


def test_a_name_that_can_be_no_file_is_refused() -> None:
    assert "cannot be a name" in mistakes(with_own(**{"my/own": own()}))


def test_all_mistakes_of_all_protocols_come_at_once() -> None:
    found = mistakes(with_own(one=own(criteria=["nothing"], judges=["nobody"]), two=own(data={"source": "nowhere"})))
    assert "3 mistakes" in found


def test_a_pair_with_one_chatbot_needs_somebody_to_stand_beside() -> None:
    raw = with_own(mine=own())
    raw["chatbots"] = ["retrieval"]
    assert "'retrieval' is the only chatbot" in mistakes(raw)
    raw["protocols"]["mine"]["data"]["opponent"] = "human"
    assert isinstance(load_config(raw), Config)


def test_a_checklist_counts_answers_and_no_numbers() -> None:
    listed = {"form": "scale", "data": {"source": "selfchat"}, "judges": ["judge"], "measures": ["checklist", "rates"]}
    criteria = {"sorry": {"question": "Is it sorry?", "scale": "yes_no"}, "empathy": {"scale": [1, 7]}}
    raw = with_own(list=listed | {"criteria": ["sorry"]}) | {"criteria": criteria}
    assert load_config(raw).resolved_protocols()["list"].measured() == ("checklist", "rates")
    for named in (["sorry", "empathy"], []):
        raw["protocols"]["list"]["criteria"] = named
        found = mistakes(raw)
        assert "protocols.list.measures: checklist needs yes/no answers" in found
        assert "protocols.list.measures: rates needs yes/no answers" in found
