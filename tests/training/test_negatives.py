"""Near misses against a search through everything."""

from __future__ import annotations

import math
from collections import Counter

from training_dialogues import dialogue, saying

from dialeval.training.human_dialogues import Placed
from dialeval.training.negatives import Lender, Lent, NearMisses, terms_of


def lent(texts: list[str]) -> list[Lent]:
    return [Lent(text, text, f"c{number}", f"home/d{number}") for number, text in enumerate(texts)]


def test_the_most_similar_by_words_is_found() -> None:
    texts = [text for number in range(60) for text in dialogue(number).utterances]
    texts += ["The kettle of the accordion is in the canoe", "Nobody ever saw a canoe with such a kettle before"]
    previous, response = "Is the kettle in the canoe?", "Ask the man whom we met on Sunday"
    known = lent(texts)
    found = NearMisses(known).find(previous, response, "none", set())
    holders = Counter(term for text in texts for term in set(terms_of(text)))
    rarity = {term: math.log(len(texts) / n) for term, n in holders.items()}
    rare = {term for term, n in holders.items() if n <= int(len(texts) * 0.05)}
    asked = set(terms_of(f"{previous} {response}")) & rare

    def score(text: str) -> float:
        own = set(terms_of(text))
        return sum(rarity[term] ** 2 for term in own & asked) / math.sqrt(sum(rarity[term] ** 2 for term in own))

    assert found is not None
    assert math.isclose(score(found.text), max(score(text) for text in texts))


def test_what_says_the_same_or_was_heard_or_is_of_the_same_dialogue_is_passed_over() -> None:
    texts = ["the canoe is in the old shed", "a canoe and a shed behind the mill", "the shed of the baker", "no word"]
    known = lent(texts + [f"filler number {n} about nothing" for n in range(60)])
    search = NearMisses(known)

    def find(response: str, cluster: str = "none", heard: tuple[str, ...] = ()) -> str | None:
        found = search.find("where is it", response, cluster, set(heard))
        return found.text if found else None

    asked = "My canoe was in some shed until somebody paid me"
    assert find(asked) == texts[0]
    assert find(asked, cluster="c0") == texts[1]
    assert find(asked, heard=(texts[0],)) == texts[1]
    assert find(asked, cluster="c1", heard=(texts[0],)) == texts[2]
    assert find("The old shed: the canoe is in it!") == texts[1], "the first says the same"


def test_nothing_to_lend_is_nothing_found() -> None:
    assert NearMisses([]).find("a", "b", "none", set()) is None
    empty = Lender([(saying(["Hi.", "…"]), Placed("home/d", "train"))], 0)
    assert NearMisses(empty.utterances).find("Hi.", "Hello there", "none", set()) is None


def test_pairs_of_characters_stand_for_chinese_words() -> None:
    assert terms_of("我的 kettle 坏了！") == ["kettle", "我的", "坏了"]
