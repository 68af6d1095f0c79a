"""What must hold of an item that a model rewrote, for each strategy; a broken rule is a reason to reject it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import MappingProxyType

from dialeval.corpora.items import Item
from dialeval.perturbations.words import pieces
from dialeval.text.tokens import normalised, tokens

Check = Callable[[Item, tuple[str, ...], tuple[int, ...]], str]
"""Gets the original, all utterances after the rewriting and the numbers of those in scope; returns what is wrong."""

FEWEST_KEPT = 0.5
"""Share of a response's words that stay when only its entities are replaced."""

LONGEST_RATIO = 2.0
"""How many times as long as the original a rewritten response may be."""

FEWEST_REPEATED = 2
"""How many words in a row must come from the other speaker, or be said again."""


def problem_of(strategy: str, item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    """Returns what is wrong with a rewritten item, in words for the model and the reader; empty if nothing is.

    Args:
        strategy: name of the strategy.
        item: the original.
        utterances: all utterances after the rewriting.
        places: 0-based numbers of the utterances that were to be rewritten.
    """
    if any(not normalised(utterances[place]) for place in places):
        return "an utterance is empty"
    check = CHECKS.get(strategy)
    return _unchanged(item, utterances, places) or (check(item, utterances, places) if check else "")


def _unchanged(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    added = len(utterances) - len(item.utterances)
    if added:
        return ""
    changed = [place for place in places if normalised(utterances[place]) != normalised(item.utterances[place])]
    if not changed:
        return "nothing was changed"
    return "" if 2 * len(changed) >= len(places) else "fewer than half of the utterances were changed"


def _mostly_kept(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    before, after = tokens(item.response), set(tokens(utterances[-1]))
    kept = sum(token in after for token in before)
    return "" if kept >= FEWEST_KEPT * len(before) else "more than the named entities was changed"


def _of_like_length(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    before, after = len(pieces(item.response)[0]), len(pieces(utterances[-1])[0])
    return (
        ""
        if before <= LONGEST_RATIO * after and after <= LONGEST_RATIO * max(before, 3)
        else "the length changed too much"
    )


def _shorter(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    def length(texts: tuple[str, ...]) -> int:
        return sum(len(pieces(texts[place])[0]) for place in places)

    return "" if length(utterances) < length(item.utterances) else "the utterances did not become shorter"


def _repeats_the_other(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    replies = [place for place in places if place > 0 and normalised(item.utterances[place - 1])]
    repeating = [place for place in replies if _shares_a_stretch(item.utterances[place - 1], utterances[place])]
    enough = 2 * len(repeating) >= len(replies)
    return "" if enough else "fewer than half of the utterances repeat words of the other speaker"


def _repeats_itself(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    def repeats(place: int) -> bool:
        before, after = tokens(item.utterances[place]), tokens(utterances[place])
        n = min(FEWEST_REPEATED, len(before))
        added = Counter(after[start : start + n] for start in range(len(after) - n + 1))
        own = Counter(before[start : start + n] for start in range(len(before) - n + 1))
        return n > 0 and any(added[stretch] > count for stretch, count in own.items())

    repeating = [place for place in places if repeats(place)]
    enough = 2 * len(repeating) >= len(places)
    return "" if enough else "fewer than half of the utterances repeat a part of themselves"


def _shares_a_stretch(said: str, reply: str) -> bool:
    source, target = tokens(said), tokens(reply)
    n = min(FEWEST_REPEATED, len(source))
    stretches = {source[start : start + n] for start in range(len(source) - n + 1)}
    return any(target[start : start + n] in stretches for start in range(len(target) - n + 1))


CHECKS: MappingProxyType[str, Check] = MappingProxyType(
    {
        "replace_named_entity": _mostly_kept,
        "contradiction": _of_like_length,
        "unnatural_paraphrase": _of_like_length,
        "repeating_others": _repeats_the_other,
        "content_reduction": _shorter,
        "utterance_duplication": _repeats_itself,
    }
)
"""Strategy -> its check beyond that something changed."""
