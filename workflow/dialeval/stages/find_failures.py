"""Finds failures of chatbots by rule: length against people's, repetition, self-identification."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.items import Item, iterate_items
from dialeval.failures.by_rule import Rules
from dialeval.failures.by_rule import judgements as by_rule
from dialeval.failures.lengths import longest_of_people
from dialeval.failures.self_identification import PHRASES
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import TableWriter, iterate_rows


class Settings(BaseModel, defer_build=True):
    """The protocol, the share of people's utterances that keeps to the limit, and how long a ChatSEED is."""

    protocol: str
    length_share: float
    said_before: int = 2


def stage(settings: Settings, items: list[Path], people: list[Path], judgements: Path) -> None:
    """Writes the table `judgements` of the rules about all dialogues; `people` are tables of utterances."""
    limits = longest_of_people(chain.from_iterable(map(_said, people)), settings.length_share)
    for language, limit in limits.items():
        print(f"{settings.length_share:.4g} of people's utterances ({language}) have at most {limit} words")
    rules = Rules(limits, settings.length_share, settings.said_before)
    every = chain.from_iterable(iterate_items(path) for path in items)
    languages: set[str] = set()

    def noted(item: Item) -> Item:
        languages.add(item.language)
        return item

    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(by_rule(settings.protocol, map(noted, every), rules))
    for language in sorted(languages):
        unknown = [
            *(
                ["excessive_length (no corpus of people in it; name one under people)"]
                if language not in limits
                else []
            ),
            *(["self_identification (no phrases in it)"] if language not in PHRASES else []),
        ]
        if unknown:
            print(f"dialogues in {language}: the rules cannot say anything about {' and '.join(unknown)}")


def _said(path: Path) -> Iterator[tuple[str, str]]:
    return ((row["language"], row["text"]) for row in iterate_rows(path, UTTERANCES, ["language", "text"]))
