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


def human_items(utterances: pa.Table, seeds: pa.Table) -> Iterator[Item]:
    """Yields the human dialogue of every seed, its speakers named as in their corpus.

    Args:
        utterances: the table `utterances` of the seeds' corpus.
        seeds: the table `seeds`.
    """
    texts, speakers = dialogues_of(utterances), speakers_of(utterances)
    for seed_id, language in _languages(seeds).items():
        yield _item(seed_id, HUMAN, language, speakers[seed_id], texts[seed_id])


def chatbot_items(generated: Iterable[Path], seeds: pa.Table) -> Iterator[Item]:
    """Yields every dialogue of tables `generated`, one after the other, without holding a table in memory.

    A chatbot that talks to itself plays two speakers in turn, A and B.

    Args:
        generated: one table per chatbot, each with the utterances of a dialogue next to each other.
        seeds: the table `seeds`.
    """
    languages = _languages(seeds)
    for path in generated:
        rows = iterate_rows(path, GENERATED, ["chatbot", "seed_id", "text"])
        for (chatbot, seed_id), dialogue in groupby(rows, key=lambda row: (row["chatbot"], row["seed_id"])):
            said = tuple(row["text"] for row in dialogue)
            yield _item(seed_id, chatbot, languages[seed_id], speakers_in_turn(len(said), "A", "B"), said)


def _item(seed_id: str, system: str, language: str, speakers: tuple[str, ...], texts: tuple[str, ...]) -> Item:
    return Item(
        SOURCE, f"{seed_id}/{system}", language, "dialogue", seed_id, speakers, texts, system=system, case_id=seed_id
    )


def _languages(seeds: pa.Table) -> dict[str, str]:
    return dict(zip(seeds["seed_id"].to_pylist(), seeds["language"].to_pylist(), strict=True))
