"""An item that judges score and people rated: a response in its context, or a whole dialogue.

Comp-analysis and xDial-Eval call these the turn level and the dialogue level. Ratings do not depend on the language an
item is shown in: xDial-Eval keeps those of the English original for every translation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from dialeval.criteria import Level
from dialeval.schemas.metaeval import ITEMS
from dialeval.tables import iterate_rows

RaterKind = Literal["human", "model", "construction"]
"""Who gave a rating: people, a model, or nobody: a reference that is known by how the item was made."""

REFERENCE = "reference"
"""The system whose dialogues say how cases should have gone: others are compared with it, it competes with none."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is scored.

    Attributes:
        corpus: name of the corpus in the configuration.
        item_id: readable, unique within its corpus and language, and the same in every language.
        language: language code.
        level: whether the last utterance or the whole dialogue is scored.
        cluster: items with the same cluster are not independent (one dialogue, one context); intervals resample these.
        speakers: who says each utterance, as the source names them; `human` and `chatbot` where it is known.
        utterances: in order; at turn level the last one is the response, which may stand alone.
        system: who is judged by it, such as a chatbot; empty where no system's dialogues are compared.
        case_id: what systems have in common, such as a ChatSEED or a test case; empty where they met nothing alike.
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
        """Returns what was said before the response (turn level)."""
        return self.utterances[:-1]

    @property
    def response(self) -> str:
        """Returns the last utterance."""
        return self.utterances[-1]


@dataclass(frozen=True, slots=True)
class Rating:
    """One rating of an item on one dimension.

    Attributes:
        rater_kind: people, a model, or construction.
        rater: a name, such as `gpt-4`; `people` where the source gives only their mean.
        round: 0-based number of the rater or of the repeated round where they are kept singly; None for a mean.
        value: on the scale from `scale_min` to `scale_max`.
        n_raters: how many ratings the value is the mean of; None where the source does not say.
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
    """Yields the items of a table `items`, reading it piece by piece."""
    for row in iterate_rows(path, ITEMS):
        yield Item(**row | {"speakers": tuple(row["speakers"]), "utterances": tuple(row["utterances"])})


def item_rows(items: Iterable[Item]) -> Iterator[dict[str, Any]]:
    """Yields items as rows of a table `items`, as they come."""
    names = [part.name for part in fields(Item)]
    for item in items:
        row = {name: getattr(item, name) for name in names}
        yield row | {"speakers": list(item.speakers), "utterances": list(item.utterances)}
