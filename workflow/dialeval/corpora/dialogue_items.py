"""Dialogues of people as items to be scored: each as a whole, and one of its responses in its context."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import pyarrow as pa

from dialeval.corpora.items import Item
from dialeval.corpora.speakers import speakers_of


def items_of_dialogues(utterances: pa.Table) -> Iterator[Item]:
    """Yields two items for every dialogue of a table `utterances`: the dialogue, and a response of its second speaker.

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
    """Returns the ids of the dialogues in which more or fewer than two people speak."""
    return [dialogue_id for dialogue_id, speakers in speakers_of(utterances).items() if len(set(speakers)) != 2]


def chosen(items: Iterable[Item], limit: int | None, random_seed: int) -> list[Item]:
    """Returns at most `limit` items of each corpus, level and language, drawn by their ids, in the order given."""
    everything = list(items)
    groups: dict[tuple[str, str, str], list[int]] = {}
    for place, item in enumerate(everything):
        groups.setdefault((item.corpus, item.level, item.language), []).append(place)
    drawn = [
        place
        for group in groups.values()
        for place in sorted(group, key=lambda place: _rank(everything[place].item_id, random_seed))[:limit]
    ]
    return [everything[place] for place in sorted(drawn)]


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


def _rank(name: str, random_seed: int) -> int:
    return _number(f"{random_seed}/{name}")


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
