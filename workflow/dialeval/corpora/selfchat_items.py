"""Dialogues on ChatSEEDs as items to be judged: the human one of every seed, and what each chatbot made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from dialeval.corpora.items import Item
from dialeval.corpora.rated import speakers_in_turn
from dialeval.corpora.seeds import dialogues_of
from dialeval.corpora.speakers import speakers_of
from dialeval.schemas.botchat import GENERATED
from dialeval.tables import HUMAN, iterate_rows

SOURCE = "selfchat"
"""Names these items in every table, as corpora and transcripts are named in the configuration."""
USER, CHATBOT = "user", "chatbot"
"""Who speaks in a talk with a simulated user."""


def human_items(utterances: pa.Table, seeds: pa.Table, *, partnered: bool = False) -> Iterator[Item]:
    """Yields the human dialogue of every seed, its speakers named as in their corpus; scenarios have none.

    Args:
        utterances: the table `utterances` of the seeds' corpus.
        seeds: the table `seeds`.
        partnered: whether chatbots talk with a simulated user; of people then the one who answers first is judged.
    """
    texts, speakers = dialogues_of(utterances), speakers_of(utterances)
    for seed_id, language in _languages(seeds).items():
        if seed_id in texts:
            judged = speakers[seed_id][1] if partnered else ""
            yield _item(seed_id, HUMAN, language, speakers[seed_id], texts[seed_id], judged)


def chatbot_items(generated: Iterable[Path], seeds: pa.Table, *, partnered: bool = False) -> Iterator[Item]:
    """Yields every dialogue of tables `generated`, one after the other, without holding a table in memory.

    A chatbot that talks to itself plays two speakers in turn, A and B; in talk with a simulated user, who begins, only
    its own side is judged.

    Args:
        generated: one table per chatbot, each with the utterances of a dialogue next to each other.
        seeds: the table `seeds`.
        partnered: whether chatbots talk with a simulated user.
    """
    languages = _languages(seeds)
    for path in generated:
        rows = iterate_rows(path, GENERATED, ["chatbot", "seed_id", "text"])
        for (chatbot, seed_id), dialogue in groupby(rows, key=lambda row: (row["chatbot"], row["seed_id"])):
            said = tuple(row["text"] for row in dialogue)
            yield chatbot_item(seed_id, chatbot, languages[seed_id], said, partnered=partnered)


def chatbot_item(seed_id: str, chatbot: str, language: str, said: tuple[str, ...], *, partnered: bool = False) -> Item:
    """Returns a chatbot's dialogue on a seed, with itself or with a simulated user."""
    names = (USER, CHATBOT) if partnered else ("A", "B")
    speakers = speakers_in_turn(len(said), *names)
    return _item(seed_id, chatbot, language, speakers, said, CHATBOT if partnered else "")


def _item(
    seed_id: str, system: str, language: str, speakers: tuple[str, ...], texts: tuple[str, ...], judged: str
) -> Item:
    item_id = f"{seed_id}/{system}"
    return Item(SOURCE, item_id, language, "dialogue", seed_id, speakers, texts, system, seed_id, judged)


def _languages(seeds: pa.Table) -> dict[str, str]:
    return dict(zip(seeds["seed_id"].to_pylist(), seeds["language"].to_pylist(), strict=True))
