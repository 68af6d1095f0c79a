"""What holds of every strategy, on any text: no result equal to its original, nothing touched out of scope."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturbation_items import dialogue, response, small_pool

from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS
from dialeval.errors import UserError
from dialeval.perturbations.registry import STRATEGIES, find_strategy, perturb, perturb_repeatedly
from dialeval.perturbations.rewriting import TEMPLATES
from dialeval.perturbations.strategy import NotApplicable, Perturbed, Pool, Scope, Strategy, build_pool, chatbot_turns

POOL = small_pool()
TURN = [name for name, strategy in STRATEGIES.items() if strategy.level == "turn"]
DIALOGUE = [name for name, strategy in STRATEGIES.items() if strategy.level == "dialogue"]
WORDS = [
    "I", "don't", "like", "Paris", "he", "her", "5", "😀", "我们", "ok", "?", ".", "’", "Mr.", "Zorro", "Tom",
    "because", "went", "\u200d", "ja", "...",
]  # fmt: skip
TEXT = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
TEXTS = st.lists(TEXT, min_size=1, max_size=8)
LANGUAGE = st.sampled_from(["en", "zh", "de", "xx"])


def touched_by(original: Item, new: Item) -> list[int]:
    n_before = len(original.utterances)
    return [n for n, text in enumerate(new.utterances) if n >= n_before or text != original.utterances[n]]


def check(item: Item, strategy: Strategy, result: Perturbed | NotApplicable, scope: Scope) -> None:
    if isinstance(result, NotApplicable):
        assert result.reason
        return
    assert result.item.utterances != item.utterances
    assert len(result.item.speakers) == len(result.item.utterances)
    assert result.item.speakers[: len(item.speakers)] == item.speakers
    assert list(result.touched) == touched_by(item, result.item)
    assert result.touched
    assert result.changed
    assert result.way in strategy.ways
    if item.level == "turn":
        assert result.touched == (len(item.utterances) - 1,)
        assert result.item.response.strip()
    elif scope == "chatbot":
        allowed = {*chatbot_turns(item), *range(len(item.utterances), len(result.item.utterances))}
        assert set(result.touched) <= allowed


@pytest.mark.parametrize("name", TURN)
@given(texts=TEXTS, language=LANGUAGE, random_seed=st.integers(0, 3))
def test_only_the_response_is_damaged(name: str, texts: list[str], language: str, random_seed: int) -> None:
    item, strategy = response(*texts, language=language), STRATEGIES[name]
    check(item, strategy, perturb(item, strategy, POOL, random_seed=random_seed), "chatbot")


@pytest.mark.parametrize("name", DIALOGUE)
@given(texts=TEXTS, language=LANGUAGE, scope=st.sampled_from(["chatbot", "all"]))
def test_the_other_speaker_is_not_touched(name: str, texts: list[str], language: str, scope: Scope) -> None:
    item, strategy = dialogue(*texts, language=language), STRATEGIES[name]
    check(item, strategy, perturb(item, replace(strategy, scope=scope), POOL, random_seed=1), scope)


@given(texts=TEXTS, scope=st.sampled_from(["chatbot", "all"]))
def test_a_shuffle_keeps_the_utterances(texts: list[str], scope: Scope) -> None:
    item = dialogue(*texts)
    result = perturb(item, replace(STRATEGIES["order_shuffle"], scope=scope), POOL, random_seed=3)
    if isinstance(result, Perturbed):
        assert Counter(result.item.utterances) == Counter(item.utterances)


@pytest.mark.parametrize(
    ("name", "n_replaced"),
    [("utterance_replacement", 1), ("utterance_replacement_2", 2), ("utterance_replacement_3", 3)],
)
@given(texts=TEXTS)
def test_exactly_so_many_utterances_are_replaced(name: str, n_replaced: int, texts: list[str]) -> None:
    item = dialogue(*texts)
    result = perturb(item, STRATEGIES[name], POOL, random_seed=3)
    if isinstance(result, Perturbed):
        assert len(touched_by(item, result.item)) == n_replaced
    else:
        assert len(texts) <= n_replaced or not any(text.strip() for text in texts)


@given(texts=TEXTS, language=LANGUAGE)
def test_repetition_keeps_every_word(texts: list[str], language: str) -> None:
    item = response(*texts, language=language)
    result = perturb(item, STRATEGIES["repetition"], POOL, random_seed=5)
    if isinstance(result, Perturbed):
        before, after = Counter("".join(item.response.split())), Counter("".join(result.item.response.split()))
        assert before <= after
        assert sum(before.values()) < sum(after.values())


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_seed_gives_the_same_whatever_else_is_damaged(name: str) -> None:
    strategy = STRATEGIES[name]
    texts = (
        "Where is Tom?",
        "He went to Paris with 2 friends, because I like him.",
        "Oh?",
        "Yes, he likes Rome now.",
    )
    item = response(*texts) if strategy.level == "turn" else dialogue(*texts)
    first = perturb(item, strategy, POOL, random_seed=7)
    assert isinstance(first, Perturbed)
    perturb(item, strategy, POOL, random_seed=8)
    assert perturb(item, strategy, POOL, random_seed=7) == first
    others = [perturb(item, strategy, POOL, random_seed=seed) for seed in range(12)]
    assert strategy.name == "content_reduction" or len({str(other) for other in others}) > 1


@pytest.mark.parametrize("name", STRATEGIES)
def test_draws_differ_or_say_that_there_are_no_more(name: str) -> None:
    strategy = STRATEGIES[name]
    texts = ("Where is Tom?", "He went to Paris, because I like him.", "Oh?", "Yes, he likes Rome.")
    item = response(*texts) if strategy.level == "turn" else dialogue(*texts)
    drawn = list(perturb_repeatedly(item, strategy, POOL, random_seed=0, n_draws=5))
    found = [result for result in drawn if isinstance(result, Perturbed)]
    assert found
    assert len({result.item.utterances for result in found}) == len(found)
    assert [result.item.item_id for result in found] == [f"{item.item_id}/{name}/{result.draw}" for result in found]
    assert {r.reason for r in drawn if isinstance(r, NotApplicable)} <= {
        "no further result that differs from those before"
    }


def test_draws_do_not_depend_on_how_many_there_are() -> None:
    item, strategy = response("Where is it?", "I left it there, I am sure."), STRATEGIES["repetition"]
    three = list(perturb_repeatedly(item, strategy, POOL, random_seed=0, n_draws=3))
    assert list(perturb_repeatedly(item, strategy, POOL, random_seed=0, n_draws=5))[:3] == three


@pytest.mark.parametrize(
    ("name", "dimensions", "theta"),
    [
        ("random_response", ["relevance"], 0.3),
        ("replace_pronoun", ["relevance"], 0.2),
        ("replace_named_entity", ["relevance"], 0.2),
        ("contradiction", ["relevance"], 0.2),
        ("repetition", ["understandability"], 0.2),
        ("unnatural_paraphrase", ["understandability"], 0.2),
        ("dullness", ["interestingness", "specificity"], 0.2),
        ("order_shuffle", ["coherence"], 0.2),
        ("utterance_replacement", ["coherence"], 0.1),
        ("self_contradiction", ["engagingness"], 0.1),
        ("utterance_duplication", ["engagingness"], 0.1),
        ("repeating_others", ["engagingness"], 0.1),
        ("generic_utterance", ["engagingness", "informativeness"], 0.2),
        ("content_reduction", ["informativeness"], 0.2),
    ],
)
def test_targets_are_those_of_the_paper(name: str, dimensions: list[str], theta: float) -> None:
    strategy = STRATEGIES[name]
    assert [target.dimension for target in strategy.targets] == dimensions
    assert {target.theta for target in strategy.targets} == {theta}
    assert set(dimensions) <= set(DIMENSIONS[strategy.level])


def test_strategies_say_what_they_do() -> None:
    for strategy in STRATEGIES.values():
        assert strategy.ways
    unless_told = {strategy.name for strategy in STRATEGIES.values() if strategy.by_model}
    assert set(TEMPLATES) == unless_told | {"utterance_duplication"}


def test_a_wrong_name_level_or_way_is_refused() -> None:
    with pytest.raises(UserError, match=r"'order_schuffle' is not a perturbation; did you mean 'order_shuffle'\?"):
        find_strategy("order_schuffle")
    with pytest.raises(ValueError, match=r"'repetition' perturbs a turn"):
        perturb(dialogue("Hi.", "Hello."), STRATEGIES["repetition"], POOL, random_seed=0)
    with pytest.raises(ValueError, match=r"'replace_pronoun' has no way 'number_and_gender'; it has gender, number"):
        perturb(response("He left."), STRATEGIES["replace_pronoun"], POOL, random_seed=0, way="number_and_gender")


@pytest.mark.parametrize("name", ["random_response", "utterance_replacement"])
def test_without_other_dialogues_the_reason_says_so(name: str) -> None:
    strategy = STRATEGIES[name]
    texts = ("Is it raining?", "Only a little.", "Then let us walk.")
    item = response(*texts) if strategy.level == "turn" else dialogue(*texts)
    for pool in (Pool(), build_pool([item])):
        result = perturb(item, strategy, pool, random_seed=0, way=strategy.ways[0])
        assert result == NotApplicable("the corpus has no other dialogue in this language")


@pytest.mark.parametrize("name", STRATEGIES)
def test_rules_of_words_say_which_language_they_do_not_know(name: str) -> None:
    strategy = STRATEGIES[name]
    texts = (
        "Wo ist Tom?",
        "Er ist nach Paris gefahren, weil er dort Freunde hat.",
        "Ach?",
        "Ja, und ihm geht es gut dort.",
    )
    item = response(*texts, language="de") if strategy.level == "turn" else dialogue(*texts, language="de")
    result = perturb(item, strategy, small_pool("de"), random_seed=0)
    if strategy.languages:
        assert result == NotApplicable("no rules for language 'de'")
    else:
        assert isinstance(result, Perturbed)
