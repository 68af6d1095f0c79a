"""Turn-level strategies: the damage is what the name says."""

from __future__ import annotations

from collections import Counter

import pytest
from perturbation_items import OTHERS, response, small_pool

from dialeval.corpora.items import Item
from dialeval.perturbations.registry import STRATEGIES, perturb
from dialeval.perturbations.strategy import NotApplicable, Perturbed

POOL = small_pool()
ELSEWHERE = {text for texts in OTHERS for text in texts}


def results(item: Item, name: str, way: str | None = None, n: int = 40) -> list[Perturbed]:
    drawn = [perturb(item, STRATEGIES[name], POOL, random_seed=seed, way=way) for seed in range(n)]
    return [result for result in drawn if isinstance(result, Perturbed)]


def reason(item: Item, name: str, way: str | None = None) -> str:
    result = perturb(item, STRATEGIES[name], POOL, random_seed=0, way=way)
    assert isinstance(result, NotApplicable)
    return result.reason


def test_a_random_response_comes_from_another_dialogue_or_from_before() -> None:
    item = response("Do you bake?", "Every Sunday.", "What do you bake?", "Bread with walnuts.")
    drawn = results(item, "random_response", n=200)
    assert {result.item.response for result in drawn if result.way == "other_dialogue"} <= ELSEWHERE
    assert {result.item.response for result in drawn if result.way == "history"} == set(item.context)
    ways = Counter(result.way for result in drawn)
    assert 5 <= ways["history"] <= 45  # a tenth of 200


def test_a_random_response_is_about_something_else() -> None:
    item = response("Is the roof tight?", "Ask Ines about the yellow ladder and the bakery at the harbour.")
    for result in results(item, "random_response", "other_dialogue"):
        assert not {"roof", "ines", "yellow", "ladder", "bakery", "harbour"} & set(result.item.response.lower().split())


def test_a_response_without_context_has_no_history() -> None:
    assert reason(response("Bread."), "random_response", "history") == "nothing else was said before"
    assert reason(response("Bread."), "dullness", "earlier_utterance") == "the speaker said nothing else before"


@pytest.mark.parametrize(("way", "same"), [("same_category", True), ("other_category", False)])
def test_named_entities_keep_their_category_or_lose_it(way: str, same: bool) -> None:
    item = response("Where is she?", "She moved from Oslo to Vienna, and Oslo misses her.")
    for result in results(item, "replace_named_entity", way):
        new = result.item.response
        assert "Oslo" not in new
        assert "Vienna" not in new
        first = new.removeprefix("She moved from ").split(" to ")[0]
        assert new.count(first) >= 2  # each place by the same one throughout
        places = POOL.entities["en"]["place"]
        assert (first in places) is same


def test_names_are_written_as_the_response_is() -> None:
    for result in results(response("where ?", "i live in oslo ."), "replace_named_entity", "same_category"):
        assert result.item.response == result.item.response.lower()


def test_entities_contradict_where_the_context_holds_on_to_them() -> None:
    item = response("Oslo or Rome?", "Oslo. I love Oslo.", "So it is Oslo, not Rome.")
    for result in results(item, "contradiction", "entities"):
        assert "Oslo" not in result.item.response
        assert result.item.response.endswith(", not Rome.")
    once = response("Oslo or Rome?", "It is Oslo, not Rome.")
    assert reason(once, "contradiction", "entities") == "no named entity that the context mentions twice"


def test_references_become_another_name() -> None:
    item = response("Have you seen Tom?", "He left his hat, and I told him so.")
    drawn = results(item, "contradiction", "references")
    assert drawn
    for result in drawn:
        name = result.item.response.split()[0]
        assert result.item.response == f"{name} left {name}'s hat, and I told {name} so."
        assert name != "Tom"
    nobody = response("Have you seen the cat?", "She left.")
    assert reason(nobody, "contradiction", "references") == "no co-reference to a named entity of the context"


def test_negation_is_one_of_the_ways_to_contradict() -> None:
    (result,) = {r.item.response for r in results(response("Hungry?", "I like soup."), "contradiction")}
    assert result == "I don't like soup."
    assert "no statement that can be negated" in reason(response("Hungry?", "Why?"), "contradiction")


def test_a_portion_is_repeated_where_it_stands() -> None:
    for result in results(response("Well?", "one two three four five six"), "repetition"):
        spoken = result.item.response.split()
        portion, copies = result.changed.split('"')[1].split(), int(result.changed.split('"')[2].split()[0])
        assert len(portion) >= 2
        assert copies in (2, 3)
        start = ["one", "two", "three", "four", "five", "six"].index(portion[0])
        end = start + len(portion)
        assert spoken[:end] + spoken[end + copies * len(portion) :] == ["one", "two", "three", "four", "five", "six"]
        assert spoken[end : end + copies * len(portion)] == portion * copies


@pytest.mark.parametrize(("text", "language"), [("Yes", "en"), ("好", "zh"), ("Да!", "ru"), ("ok 😀", "en")])
def test_one_word_is_repeated_too(text: str, language: str) -> None:
    item = response("?", text, language=language)
    for result in results(item, "repetition"):
        assert result.item.response.count(text.rstrip("!😀 ")) >= 3


def test_chinese_is_repeated_by_characters() -> None:
    for result in results(response("在哪儿？", "我在厨房里。", language="zh"), "repetition"):
        assert " " not in result.item.response
        assert set(result.item.response) == set("我在厨房里。")


def test_no_words_cannot_be_repeated() -> None:
    assert reason(response("Well?", "...!"), "repetition") == "the response has no words"
    assert reason(response("Well?", "  "), "repetition") == "nothing is said"


def test_half_of_the_replaceable_words_or_more_become_unnatural() -> None:
    item = response("And?", "My mother loves good music and big dogs.")
    replaceable = {"mother", "loves", "good", "music", "big", "dogs"}
    for result in results(item, "unnatural_paraphrase"):
        kept = replaceable & set(result.item.response.rstrip(".").split())
        assert len(kept) <= 3
        assert result.item.response.startswith("My ")
    assert (
        reason(response("And?", "Hm, the Xylophonist."), "unnatural_paraphrase") == "no word with an unnatural synonym"
    )


@pytest.mark.parametrize(
    ("context", "way"),
    [("Do you ski?", "generic_answer"), ("I ski a lot.", "generic_response"), ("你好吗？", "generic_answer")],
)
def test_generic_replies_answer_questions_and_remark_on_the_rest(context: str, way: str) -> None:
    language = "en" if context.isascii() else "zh"
    item = response(context, "On every slope of the valley.", language=language)
    other = {"generic_answer": "generic_response", "generic_response": "generic_answer"}[way]
    assert len({result.item.response for result in results(item, "dullness", way)}) > 3
    assert reason(item, "dullness", other).startswith("the response answers ")


def test_an_earlier_utterance_is_the_speakers_own() -> None:
    item = response("I row.", "I swim.", "I row more.", "I swim more.", "I row a lot.")
    assert {r.item.response for r in results(item, "dullness", "earlier_utterance")} == {"I row.", "I row more."}


def test_a_language_without_generic_replies_is_reported() -> None:
    item = response("Hva?", "Ingenting.", language="no")
    assert reason(item, "dullness") == "no generic replies in this language; the speaker said nothing else before"
