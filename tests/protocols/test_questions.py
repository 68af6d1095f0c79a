"""Which criteria an item is scored on, and which of them together."""

from __future__ import annotations

from dataclasses import replace

from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS, Criterion
from dialeval.protocols.questions import ItemCriteria

TURN = Item("fed", "1", "en", "turn", "1", ("human", "chatbot"), ("Hi.", "Ho."))
DIALOGUE = replace(TURN, level="dialogue")
OWN = (Criterion("empathy"), Criterion("wit", level="turn"), Criterion("tact", level="dialogue"))
KEY = ("fed", "en", "1")


def names(criteria: list[Criterion]) -> list[str]:
    return [criterion.name for criterion in criteria]


def groups(found: list[list[Criterion]]) -> list[list[str]]:
    return [names(group) for group in found]


def test_without_names_the_papers_criteria_of_the_level_are_judged() -> None:
    about = ItemCriteria(OWN)
    for item in (TURN, DIALOGUE):
        assert names(about.of_rated(item)) == list(DIMENSIONS[item.level])
        assert groups(about.groups_of_rated(item)) == [list(DIMENSIONS[item.level])]
        assert about.of_perturbed(item) == []
    assert groups(replace(about, together=False).groups_of_rated(TURN)) == [[name] for name in DIMENSIONS["turn"]]


def test_a_corpus_names_criteria_of_ones_own() -> None:
    about = ItemCriteria(OWN, dimensions={"fed": ["overall", "empathy", "tact"]})
    assert names(about.of_rated(TURN)) == ["overall", "empathy"]
    assert names(about.of_rated(DIALOGUE)) == ["overall", "empathy", "tact"]
    assert names(about.of_rated(replace(TURN, corpus="other"))) == list(DIMENSIONS["turn"])
    # ratings keep the papers' five together, as they were paid for; each of one's own has a request of its own
    assert groups(about.groups_of_rated(DIALOGUE)) == [list(DIMENSIONS["dialogue"]), ["empathy"], ["tact"]]


def test_damage_adds_what_it_aims_at() -> None:
    about = ItemCriteria(OWN, dimensions={"fed": ["overall"]}, targets={KEY: {"coherence", "empathy"}})
    assert names(about.of_rated(DIALOGUE)) == ["overall", "coherence", "empathy"]
    assert names(about.of_perturbed(DIALOGUE)) == ["coherence", "empathy"]
    assert groups(about.groups_of_perturbed(DIALOGUE)) == [list(DIMENSIONS["dialogue"]), ["empathy"]]


def test_a_protocol_that_names_criteria_is_about_those_alone() -> None:
    about = ItemCriteria(OWN, named=("tact", "empathy", "coherence"), targets={KEY: {"coherence", "engagingness"}})
    assert names(about.of_rated(DIALOGUE)) == ["tact", "empathy", "coherence"]
    assert names(about.of_rated(TURN)) == ["empathy"]
    assert names(about.of_perturbed(DIALOGUE)) == ["coherence"]
    assert groups(about.groups_of_rated(DIALOGUE)) == [["tact", "empathy", "coherence"]]
    assert groups(about.groups_of_perturbed(DIALOGUE)) == [["tact", "empathy", "coherence"]]
    assert about.groups_of_perturbed(replace(DIALOGUE, item_id="2")) == []
    alone = replace(about, together=False)
    assert groups(alone.groups_of_rated(DIALOGUE)) == [["tact"], ["empathy"], ["coherence"]]
    assert groups(alone.groups_of_perturbed(DIALOGUE)) == [["coherence"]]
