"""Repetition: a speaker says what the same speaker has said before.

An utterance repeats where at least half of its runs of words stood in the speaker's own earlier utterances. Runs have
three words, five characters in scripts without blanks. What has fewer than `FEWEST_WORDS`, such as "Thank you", is too
short to say anything: people repeat it, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from dialeval.text.tokens import is_unspaced, is_word, tokens

RUN, RUN_UNSPACED = 3, 5
FEWEST_WORDS, FEWEST_UNSPACED = 4, 6
LEAST_SHARE = 0.5


def repeated(
    utterances: Sequence[str], speakers: Sequence[str], judged: Collection[int], least: float = LEAST_SHARE
) -> tuple[int, ...]:
    """Returns the places, from 1, of the judged utterances that repeat their speaker's own earlier words.

    Args:
        utterances: all of a dialogue, in order.
        speakers: who says each of them.
        judged: places of those that are judged; the others are only what was said before.
        least: the share of an utterance's runs that make it a repetition.
    """
    said: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    found = []
    for place, (text, speaker) in enumerate(zip(utterances, speakers, strict=True), start=1):
        runs = _runs(text)
        if place in judged and runs and sum(run in said[speaker] for run in runs) >= least * len(runs):
            found.append(place)
        said[speaker].update(runs)
    return tuple(found)


def _runs(text: str) -> list[tuple[str, ...]]:
    """Returns the runs of words of an utterance, none of one that is too short."""
    words = tuple(token for token in tokens(text) if is_word(token))
    unspaced = 2 * sum(len(word) == 1 and is_unspaced(word) for word in words) > len(words)
    n, fewest = (RUN_UNSPACED, FEWEST_UNSPACED) if unspaced else (RUN, FEWEST_WORDS)
    return [words[at : at + n] for at in range(len(words) - n + 1)] if len(words) >= fewest else []
