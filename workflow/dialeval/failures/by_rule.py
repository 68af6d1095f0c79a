"""What the rules say of dialogues, as judgements: each kind of failure that a rule knows, and where it shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dialeval.corpora.items import Item
from dialeval.corpora.judged_places import judged_places
from dialeval.failure_kinds import BY_RULE, GOOD, LENGTH, REPETITION, RULED, SELF_IDENTIFICATION
from dialeval.failures.lengths import n_words, too_long
from dialeval.failures.repetition import repeated
from dialeval.failures.self_identification import knows, phrase_of
from dialeval.forms.judgement import judgement


@dataclass(frozen=True)
class Found:
    """What a rule found in a dialogue.

    Attributes:
        places: of the utterances that show it, from 1; none where it is not there.
        reason: what was seen in the first of them, or the worst.
    """

    places: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True)
class Rules:
    """What the rules are told.

    Attributes:
        limits: by language, the words that an utterance may have; of other languages nothing is said about length.
        share: the share of people's utterances that keeps to the limit.
        said_before: utterances of a ChatSEED.
    """

    limits: Mapping[str, int]
    share: float
    said_before: int = 2

    def of(self, item: Item) -> dict[str, Found]:
        """Returns what each rule found in a dialogue, by kind; a rule that does not know its language is absent."""
        places = judged_places(item, self.said_before)
        judged = {place: item.utterances[place - 1] for place in places}
        found = {REPETITION: Found(repeated(item.utterances, item.speakers, places))}
        if (limit := self.limits.get(item.language)) is not None:
            found[LENGTH] = self._length(judged, limit)
        if knows(item.language):
            phrases = {place: phrase for place, text in judged.items() if (phrase := phrase_of(text, item.language))}
            found[SELF_IDENTIFICATION] = Found(tuple(phrases), next((f"'{said}'" for said in phrases.values()), ""))
        return found

    def _length(self, judged: Mapping[int, str], limit: int) -> Found:
        places = too_long(judged, limit)
        longest = max((n_words(judged[place]) for place in places), default=0)
        words = f"{longest} words; {self.share:.4g} of people's utterances have at most {limit}"
        return Found(places, words if places else "")


def judgements(protocol: str, items: Iterable[Item], rules: Rules) -> Iterator[dict[str, Any]]:
    """Yields rows of the table `judgements`: a row for each dialogue and kind, and whether it is a good case.

    Args:
        protocol: whose judgements they are.
        items: dialogues of systems, and of people beside them.
        rules: the rules.
    """
    for item in items:
        if not judged_places(item, rules.said_before):
            continue
        about = {
            "protocol": protocol,
            "request_id": f"{protocol}/{item.corpus}/{item.item_id}",
            "corpus": item.corpus,
            "language": item.language,
            "item_id": item.item_id,
            "case_id": item.case_id or None,
            "left": item.system,
            "n_utterances": len(item.utterances),
        }
        found = rules.of(item)
        for kind in RULED:
            if one := found.get(kind):
                places, reason = one.places, one.reason
                choice = "Yes" if places else "No"
                place = places[0] if places else None
                said = {"choice": choice, "place": place, "places": list(places), "reason": reason}
                yield judgement(BY_RULE, about, "ok", criterion=kind, **said)
        if len(found) == len(RULED):
            good = "No" if any(one.places for one in found.values()) else "Yes"
            yield judgement(BY_RULE, about, "ok", criterion=GOOD, choice=good)
