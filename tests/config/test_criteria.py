"""One's own criteria: what they may say, and every mistake in words before a job runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from config_example import BASE

from dialeval.config import load_config
from dialeval.config.criteria import OwnCriterion, protocol_dimensions, protocol_sensitivities
from dialeval.criteria import DIMENSIONS, SHIPPED, YES_NO, Scale, labelled
from dialeval.errors import UserError
from dialeval.perturbations.registry import STRATEGIES
from dialeval.planning.preflight import checked_config

LABELS = ["poor", "fair", "good"]


def with_criteria(**criteria: Any) -> dict[str, Any]:
    return {**copy.deepcopy(BASE), "criteria": criteria}


def mistakes(raw: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        checked_config(raw, [], asks=False, reads=False, own_environments=False)
    return str(caught.value)


def test_the_papers_criteria_stand_in_the_papers_order() -> None:
    turn = ("relevance", "specificity", "interestingness", "understandability", "overall")
    assert DIMENSIONS["turn"] == turn
    assert DIMENSIONS["dialogue"] == ("coherence", "engagingness", "diversity", "informativeness", "overall")
    assert all(target.dimension in SHIPPED for one in STRATEGIES.values() for target in one.targets)


@pytest.mark.parametrize(
    ("given", "scale"),
    [
        ([1, 7], Scale(1, 7)),
        ([0, 10], Scale(0, 10)),
        ([-2, 2], Scale(-2, 2)),
        ([0.5, 5], Scale(0.5, 5)),
        (LABELS, labelled(LABELS)),
        ("yes_no", YES_NO),
    ],
)
def test_scales_are_numbers_labels_or_yes_and_no(given: Any, scale: Scale) -> None:
    config = load_config(with_criteria(empathy={"scale": given, "question": "Is it?"}))
    assert config.criteria["empathy"].criterion("empathy").scale == scale


def test_a_labels_value_is_its_place() -> None:
    assert labelled(LABELS).points() == {"poor": 1.0, "fair": 2.0, "good": 3.0}
    assert YES_NO.points() == {"No": 0.0, "Yes": 1.0}
    assert list(Scale(-2, 1).points().values()) == [-2, -1, 0, 1]
    assert Scale(0.5, 2).points() == {}


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        ({"scale": [7]}, "a scale of numbers has two ends, [lowest, highest], such as [1, 7]"),
        ({"scale": [1, 2, 3, 4, 5]}, "it has 5 here"),
        ({"scale": [7, 1]}, "the scale is written from 7 to 1; write the lowest first: [1, 7]"),
        ({"scale": [3, 3]}, "both ends are 3; set two different ends"),
        ({"scale": [0, float("inf")]}, "an end of the scale is not a finite number"),
        ({"scale": "likert"}, "'likert' is not a scale; write [lowest, highest]"),
        ({"scale": ["good"]}, "a scale needs 2 to 26 options; it has 1 here"),
        ({"scale": ["good", "good"]}, "good is listed twice"),
        (
            {"scale": ["Good", "good"]},
            "'Good' and 'good' are the same option",
        ),
        (
            {"scale": ["very good", "very-good"]},
            "'very good' and 'very-good' are the same option",
        ),
        ({"scale": ["1", "good"]}, "the option '1' is a number; a scale of numbers is written [lowest, highest]"),
        ({"scale": ["4/5", "good"]}, "the option '4/5' is a number"),
        ({"scale": [1, "good"]}, "numbers and options are mixed"),
        ({"scale": [False, True]}, "YAML reads yes, no, on, off as true and false"),
        ({"scale": ["good", "!?"]}, "'!?' cannot be an option, since it has no letters; write a word"),
        ({"scale": "yes_no"}, "scale yes_no needs a question"),
        ({"level": "turns"}, "'turns' is not allowed; did you mean 'turn'?"),
        ({"rubric": {9: "much"}, "scale": [1, 7]}, "rubric: 9 is off the scale, 1 to 7"),
        ({"rubric": {"god": "much"}, "scale": LABELS}, "'god' is not an option of the scale; did you mean 'good'?"),
        ({"rubric": {"good": "much"}}, "'good' is not a number; describe numbers from 1 to 5"),
        (
            {"translations": {"zh": {"scale": ["差", "好"]}}, "scale": LABELS},
            "zh.scale has 2 options, the criterion's scale 3",
        ),
        (
            {"translations": {"zh": {"scale": ["good", "好", "差"]}}, "scale": LABELS},
            "'good' means both 'good' and 'poor'",
        ),
        ({"question": {"dialogue": "Is it?"}, "level": "turn"}, "given for dialogue, but level is turn"),
        ({"sensitive_to": ["dulness"]}, "is not a perturbation; did you mean 'dullness'?"),
        ({"aliases": ["coherent"]}, "'coherent' names the shipped criterion 'coherence'"),
        ({"aliases": ["..."]}, "'...' has no letters or digits, so a response could not name it"),
        ({"alias": ["warm"]}, "there is no such field; did you mean 'aliases'?"),
    ],
)
def test_mistakes_are_reported_with_the_remedy(criterion: dict[str, Any], words: str) -> None:
    message = mistakes(with_criteria(empathy=criterion))
    assert "criteria.empathy" in message
    assert words in message


def test_names_that_answers_could_not_tell_apart_are_refused() -> None:
    message = mistakes(with_criteria(warmth={"aliases": ["KINDNESS."]}, kindness={}, coherence={}))
    assert "criteria.kindness: 'kindness' is also a name of criteria.warmth, so responses would be ambiguous" in message
    assert "criteria.coherence: 'coherence' names the shipped criterion 'coherence'; choose another name" in message


def test_rated_corpora_can_name_ones_own_criteria_and_no_unknown_ones() -> None:
    raw = with_criteria(empathy={"question": "Is it?"})
    raw["metaeval"] = {
        "corpora": {"steps": {"reader": "severity_levels", "dimensions": ["overall", "empathy", "empaty"]}}
    }
    message = mistakes(raw)
    assert "metaeval.corpora.steps.dimensions: 'empaty' is not a criterion of this configuration" in message
    assert "did you mean 'empathy'?" in message


def test_words_of_another_language_stand_where_they_are_given() -> None:
    own = OwnCriterion.model_validate(
        {
            "question": "Is it?",
            "meaning": {"turn": "it is"},
            "scale": LABELS,
            "translations": {"zh": {"question": "是吗？"}},
        }
    )
    criterion = own.criterion("empathy")
    assert criterion.in_language("zh").question == {"turn": "是吗？", "dialogue": "是吗？"}
    assert criterion.in_language("zh").meaning == {"turn": "it is"}
    assert criterion.in_language("de") == criterion.words


EMPATHY = {"question": "Is it?", "scale": [1, 7]}


def asking(own: dict[str, Any], **protocol: Any) -> dict[str, Any]:
    raw = with_criteria(**own)
    raw["protocols"]["felt"] = {"form": "probability", "data": {"source": "selfchat"}, "judges": ["gpt"]} | protocol
    return raw


def test_embedded_judges_get_no_criterion_that_they_do_not_serve() -> None:
    message = mistakes(asking({"empathy": EMPATHY}, criteria=["empathy", "overall"], judges=["forest"]))
    assert (
        "protocols.felt.judges: 'forest' is an embedded model, which scores the papers' criteria (relevance, "
        in message
    )
    assert (
        "protocol felt asks about empathy: name judges of engine openai or vllm under protocols.felt.judges" in message
    )
    load_config(asking({"empathy": EMPATHY}, criteria=["overall"], judges=["forest"]))
    load_config(asking({"empathy": EMPATHY}, criteria=["empathy"]))


def test_embedded_judges_write_no_json() -> None:
    raw = asking({}, form="scale", answers="structured", criteria=["overall"], judges=["forest"])
    assert "protocols.felt.answers: 'forest' is an embedded model, which cannot answer in JSON" in mistakes(raw)


@pytest.mark.parametrize("named", ["dimensions", "sensitive_to"])
def test_a_criterion_that_shipped_protocols_come_to_ask_about_is_refused_for_embedded_judges(named: str) -> None:
    raw = with_criteria(empathy=EMPATHY | ({"sensitive_to": ["order_shuffle"]} if named == "sensitive_to" else {}))
    if named == "dimensions":
        raw["metaeval"]["corpora"]["steps"]["dimensions"] = ["overall", "empathy"]
    message = mistakes(raw)
    for protocol in ("rating", "yes_no"):
        assert "judges: 'forest' is an embedded model, which scores the papers' criteria" in message
        assert f"protocol {protocol} asks about empathy" in message
    raw["protocols"] |= {"rating": {"judges": ["gpt"]}, "yes_no": {"judges": ["gpt"]}}
    config = load_config(raw)
    assert [one.name for one in config.protocol_criteria("yes_no")] == ["empathy"]
    assert config.protocol_criteria("unieval") == []


@pytest.mark.parametrize(
    ("criterion", "protocol", "words"),
    [
        ({"scale": [0.5, 5]}, {}, "criteria.empathy.question: protocol felt reads the probability of an answer"),
        ({"scale": [0, 100]}, {}, "write a question, or use form scale"),
        (
            {"question": "Is it?"},
            {"data": {"source": "perturbed"}},
            "name perturbations under criteria.empathy.sensitive_to",
        ),
    ],
)
def test_invalid_questions_are_reported(criterion: dict[str, Any], protocol: Any, words: str) -> None:
    assert words in mistakes(asking({"empathy": criterion}, criteria=["empathy"], **protocol))


def test_damage_of_another_level_is_refused() -> None:
    message = mistakes(with_criteria(empathy={"level": "turn", "sensitive_to": ["order_shuffle"]}))
    assert (
        "criteria.empathy.sensitive_to: 'order_shuffle' perturbs a dialogue, and the criterion is of level turn"
        in message
    )


def test_a_criterion_changes_only_what_uses_it() -> None:
    raw = asking({"empathy": EMPATHY}, criteria=["empathy"])
    before = load_config(raw)
    raw["criteria"]["tact"] = {"scale": LABELS}
    after = load_config(raw)
    for protocol in before.resolved_protocols():
        assert after.protocol_criteria(protocol) == before.protocol_criteria(protocol)
    raw["criteria"]["tact"]["sensitive_to"] = ["order_shuffle"]
    raw["metaeval"]["corpora"]["steps"]["dimensions"] = ["overall", "tact"]
    raw["protocols"] |= {"rating": {"judges": ["gpt"]}, "yes_no": {"judges": ["gpt"]}}
    used = load_config(raw)
    found = used.resolved_protocols()
    assert protocol_sensitivities(used, found["felt"]) == protocol_dimensions(used, found["felt"]) == {}
    assert (
        protocol_sensitivities(used, found["rating"])
        == protocol_sensitivities(used, found["yes_no"])
        == {"tact": ["order_shuffle"]}
    )
    assert protocol_dimensions(used, found["rating"]) == {"steps": ["tact"]}
    assert protocol_dimensions(used, found["yes_no"]) == {"steps": ["overall", "tact"]}
    assert after.sensitivities() == before.sensitivities() == {}
