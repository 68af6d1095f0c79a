"""Items that judges score: responses in context and dialogues.

Comp-analysis and xDial-Eval call these the turn level and the dialogue level. Ratings do not depend on the language an
item is shown in: xDial-Eval keeps those of the English original for every translation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from dialeval.corpora.dialogues import dialogues_of, speakers_of
from dialeval.criteria import Level
from dialeval.tables.dialogues import GENERATED
from dialeval.tables.files import HUMAN, iterate_rows
from dialeval.tables.metaeval import ITEMS

RaterKind = Literal["human", "model", "construction"]
"""The type of rater: human, model, or construction for a reference that follows from how the item was made."""

REFERENCE = "reference"
"""The system of reference dialogues: others are compared with it, and it has no rank."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item that is scored.

    Attributes:
        corpus: name of the corpus in the configuration.
        item_id: readable, unique within its corpus and language, and the same in every language.
        language: language code.
        level: `turn` if the last utterance is scored, `dialogue` if all of it.
        cluster: items with the same cluster are not independent (one dialogue, one context); intervals resample these.
        speakers: the speaker of each utterance, as the source names them; `human` and `chatbot` where it is known.
        utterances: in order; at turn level the last one is the response, which may stand alone.
        system: who is judged by it, such as a chatbot; empty where no system's dialogues are compared.
        case_id: the case that systems share, such as a ChatSEED; empty without one.
        judged: name among `speakers` of who is judged, where others are shown but not judged; empty for all.
    """

    corpus: str
    item_id: str
    language: str
    level: Level
    cluster: str
    speakers: tuple[str, ...]
    utterances: tuple[str, ...]
    system: str = ""
    case_id: str = ""
    judged: str = ""

    @property
    def context(self) -> tuple[str, ...]:
        """Return the utterances before the response (turn level)."""
        return self.utterances[:-1]

    @property
    def response(self) -> str:
        """Return the last utterance."""
        return self.utterances[-1]


@dataclass(frozen=True, slots=True)
class Rating:
    """One rating of an item on one dimension.

    Attributes:
        rater_kind: people, a model, or construction.
        rater: a name, such as `gpt-4`; `people` where the source gives only their mean.
        round: 0-based number of the rater or of the repeated round where they are kept singly; None for a mean.
        value: on the scale from `scale_min` to `scale_max`.
        n_raters: how many ratings the value is the mean of; None if unknown.
    """

    corpus: str
    item_id: str
    dimension: str
    rater_kind: RaterKind
    rater: str
    round: int | None
    value: float
    n_raters: int | None
    scale_min: float
    scale_max: float


def iterate_items(path: Path) -> Iterator[Item]:
    """Yield the items of a table `items`, reading it piece by piece."""
    for row in iterate_rows(path, ITEMS):
        yield Item(**row | {"speakers": tuple(row["speakers"]), "utterances": tuple(row["utterances"])})


def item_rows(items: Iterable[Item]) -> Iterator[dict[str, Any]]:
    """Yield items as rows of a table `items`, as they come."""
    names = [part.name for part in fields(Item)]
    for item in items:
        row = {name: getattr(item, name) for name in names}
        yield row | {"speakers": list(item.speakers), "utterances": list(item.utterances)}


# Human dialogues as items to score: each dialogue, and one of its responses in context.


def items_of_dialogues(utterances: pa.Table) -> Iterator[Item]:
    """Yield two items for every dialogue of a table `utterances`: the dialogue, and a response of its second speaker.

    The second speaker stands where a chatbot would; which of its responses is taken depends on the dialogue's id alone.
    Only dialogues between two are taken; `not_between_two` names the others.
    """
    others = set(not_between_two(utterances))
    dialogues: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    columns = utterances.select(["corpus", "dialogue_id", "language", "speaker", "text"]).to_pydict()
    for corpus, dialogue_id, language, speaker, text in zip(*columns.values(), strict=True):
        dialogues.setdefault((corpus, dialogue_id, language), []).append((speaker, text))
    for (corpus, dialogue_id, language), turns in dialogues.items():
        if dialogue_id in others:
            continue
        first = turns[0][0]
        speakers = tuple("human" if speaker == first else "chatbot" for speaker, _ in turns)
        texts = tuple(text for _, text in turns)
        yield Item(corpus, dialogue_id, language, "dialogue", dialogue_id, speakers, texts)
        replies = [place for place, speaker in enumerate(speakers) if speaker == "chatbot"]
        end = replies[_number(dialogue_id) % len(replies)] + 1
        yield Item(corpus, f"{dialogue_id}/{end}", language, "turn", dialogue_id, speakers[:end], texts[:end])


def not_between_two(utterances: pa.Table) -> list[str]:
    """Return the ids of the dialogues in which more or fewer than two people speak."""
    return [dialogue_id for dialogue_id, speakers in speakers_of(utterances).items() if len(set(speakers)) != 2]


def chosen(items: Iterable[Item], limit: int | None, random_seed: int) -> list[Item]:
    """Return at most `limit` items of each corpus, level and language, drawn by their ids, in the order given."""
    all_items = list(items)
    groups: dict[tuple[str, str, str], list[int]] = {}
    for place, item in enumerate(all_items):
        groups.setdefault((item.corpus, item.level, item.language), []).append(place)
    drawn = [
        place
        for group in groups.values()
        for place in sorted(group, key=lambda place: _rank(all_items[place].item_id, random_seed))[:limit]
    ]
    return [all_items[place] for place in sorted(drawn)]


def drawn_dialogues(items: Iterable[Item], limit: int, random_seed: int) -> set[tuple[str, str]]:
    """Return language and cluster of at most `limit` dialogues of each language, drawn by their ids.

    Languages with the same dialogues have the same ones drawn.
    """
    clusters: dict[str, set[str]] = {}
    for item in items:
        clusters.setdefault(item.language, set()).add(item.cluster)
    return {
        (language, cluster)
        for language, there in clusters.items()
        for cluster in sorted(there, key=lambda cluster: _rank(cluster, random_seed))[:limit]
    }


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _rank(name: str, random_seed: int) -> int:
    return _number(f"{random_seed}/{name}")


# Dialogues on ChatSEEDs as items to be judged: the human one of every seed, and what each chatbot made of it.

SOURCE = "selfchat"
"""Names these items in every table, as corpora and transcripts are named in the configuration."""
USER, CHATBOT = "user", "chatbot"
"""Who speaks in a talk with a simulated user."""


def human_items(utterances: pa.Table, seeds: pa.Table, *, partnered: bool = False) -> Iterator[Item]:
    """Yield the human dialogue of every seed, its speakers named as in their corpus; scenarios have none.

    Args:
        utterances: the table `utterances` of the seeds' corpus.
        partnered: whether chatbots talk with a simulated user; of people then the one who answers first is judged.
    """
    texts, speakers = dialogues_of(utterances), speakers_of(utterances)
    for seed_id, language in _languages(seeds).items():
        if seed_id in texts:
            judged = speakers[seed_id][1] if partnered else ""
            yield _item(seed_id, HUMAN, language, speakers[seed_id], texts[seed_id], judged)


def chatbot_items(generated: Iterable[Path], seeds: pa.Table, *, partnered: bool = False) -> Iterator[Item]:
    """Yield every dialogue of tables `generated`, one after the other, without holding a table in memory.

    A chatbot that talks to itself plays two speakers in turn, A and B; in talk with a simulated user, who begins, only
    its own side is judged.

    Args:
        generated: one table per chatbot, each with the utterances of a dialogue next to each other.
        partnered: whether chatbots talk with a simulated user.
    """
    languages = _languages(seeds)
    for path in generated:
        rows = iterate_rows(path, GENERATED, ["chatbot", "seed_id", "text"])
        for (chatbot, seed_id), dialogue in groupby(rows, key=lambda row: (row["chatbot"], row["seed_id"])):
            utterances = tuple(row["text"] for row in dialogue)
            yield chatbot_item(seed_id, chatbot, languages[seed_id], utterances, partnered=partnered)


def chatbot_item(
    seed_id: str, chatbot: str, language: str, utterances: tuple[str, ...], *, partnered: bool = False
) -> Item:
    """Return a chatbot's dialogue on a seed, with itself or with a simulated user."""
    names = (USER, CHATBOT) if partnered else ("A", "B")
    speakers = speakers_in_turn(len(utterances), *names)
    return _item(seed_id, chatbot, language, speakers, utterances, CHATBOT if partnered else "")


def _languages(seeds: pa.Table) -> dict[str, str]:
    return dict(zip(seeds["seed_id"].to_pylist(), seeds["language"].to_pylist(), strict=True))


def _item(
    seed_id: str, system: str, language: str, speakers: tuple[str, ...], texts: tuple[str, ...], judged: str
) -> Item:
    item_id = f"{seed_id}/{system}"
    return Item(SOURCE, item_id, language, "dialogue", seed_id, speakers, texts, system, seed_id, judged)


# Which utterances of a dialogue are its system's own, and so are judged one by one.


def judged_places(item: Item, n_seed_utterances: int) -> tuple[int, ...]:
    """Return the places, from 1, of the judged system's own utterances: none of a ChatSEED or a partner.

    Args:
        n_seed_utterances: utterances of a ChatSEED, which people wrote and with which dialogues of chatbots begin.
            People's own dialogues are judged from the same place on; transcripts begin with no ChatSEED.
    """
    first = n_seed_utterances if item.corpus == SOURCE else 0
    return tuple(
        place
        for place, speaker in enumerate(item.speakers, start=1)
        if place > first and (not item.judged or speaker == item.judged)
    )


# The utterances of dialogues as items of their own, for criteria of level `turn`.

Turns = Literal["last", "all"]


def turns_of(item: Item, turns: Turns, *, n_seed_utterances: int = 0) -> Iterator[Item]:
    """Yield the judged side's utterances of a dialogue as turn-level items with their contexts; none of a response.

    Args:
        turns: `last` for the last of these utterances, `all` for each.
        n_seed_utterances: number of utterances at the beginning that are not judged, such as a ChatSEED's.
    """
    if item.level != "dialogue":
        return
    places = [
        place
        for place, speaker in enumerate(item.speakers)
        if place >= n_seed_utterances and item.judged in ("", speaker)
    ]
    for place in places if turns == "all" else places[-1:]:
        yield replace(
            item,
            item_id=f"{item.item_id}/{place + 1}",
            level="turn",
            speakers=item.speakers[: place + 1],
            utterances=item.utterances[: place + 1],
        )


# Who speaks where two alternate.


@lru_cache(maxsize=1024)
def speakers_before_response(n_utterances: int) -> tuple[str, ...]:
    """Return alternating speakers that end with the chatbot."""
    return tuple("human" if (n_utterances - turn) % 2 == 0 else "chatbot" for turn in range(n_utterances))


@lru_cache(maxsize=1024)
def speakers_in_turn(n_utterances: int, first: str = "human", second: str = "chatbot") -> tuple[str, ...]:
    """Return the two speakers if they alternate from the beginning."""
    return tuple(second if turn % 2 else first for turn in range(n_utterances))
