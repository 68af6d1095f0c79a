"""Examples: the dialogues that show a kind most clearly."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from dialeval.corpora.items import REFERENCE
from dialeval.criteria import FAILURES_BY_RULE, NO_FAILURE
from dialeval.measures.design import Design, Row
from dialeval.tables.files import HUMAN, iterate_rows
from dialeval.tables.metaeval import ITEMS

COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "criterion", "choice", "places", "status"
)  # fmt: skip
"""Columns of the table `judgements` that are needed."""
MOST = 5
"""Examples of one kind."""
_LONGEST, _LONGEST_BEFORE = 400, 160
_KEY = ("corpus", "language", "item_id")
Key = tuple[str, str, str]
"""Corpus, language and id of a dialogue."""


@dataclass
class _Seen:
    """What was seen of one kind in one dialogue.

    Attributes:
        system, case_id: whose it is, and on which case.
        judges: who saw it.
        places: how many times an utterance was named.
    """

    system: str
    case_id: str
    judges: dict[str, None] = field(default_factory=dict)
    places: Counter[int] = field(default_factory=Counter)

    @property
    def clearest(self) -> int | None:
        """The utterance that most judges name, of several the first."""
        return min(self.places, key=lambda place: (-self.places[place], place), default=None)


def examples(judgements: pd.DataFrame, design: Design, items: Iterable[Path]) -> list[Row]:
    """Returns the rows of a table `examples`: of each kind at most `MOST`, the clearest first.

    That is the dialogue in which the most judges see it (rules count as one), then where the most agree on an
    utterance, then where the most utterances show it; chance, by hashes of their names, decides between equals. A
    system has a second one only after every system that shows the kind has one.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `COLUMNS`.
        design: the protocol's design.
        items: tables `items` with the dialogues.
    """
    found = _seen(judgements)
    order = [name for name in dict.fromkeys([*design.criteria, *found]) if name in found]
    chosen = {criterion: _chosen(criterion, found[criterion]) for criterion in order}
    texts = _texts(items, {key for keys in chosen.values() for key in keys})
    return [
        _row(criterion, rank, key, found[criterion][key], texts[key])
        for criterion, keys in chosen.items()
        for rank, key in enumerate((key for key in keys if key in texts), start=1)
    ]


def _seen(judgements: pd.DataFrame) -> dict[str, dict[Key, _Seen]]:
    found: dict[str, dict[Key, _Seen]] = {}
    yes = judgements[(judgements["choice"] == "Yes") & (judgements["status"] == "ok")]
    yes = yes[~yes["left"].isin([HUMAN, REFERENCE])]
    columns = (yes[name].tolist() for name in ("criterion", *_KEY, "left", "case_id", "judge", "places"))
    for criterion, corpus, language, item_id, system, case_id, judge, places in zip(*columns, strict=True):
        one = found.setdefault(criterion, {}).setdefault((corpus, language, item_id), _Seen(system, case_id or ""))
        one.judges[judge] = None
        one.places.update([] if places is None else map(int, places))
    if NO_FAILURE in found:  # that no rule finds anything makes no good case
        found[NO_FAILURE] = {
            key: one for key, one in found[NO_FAILURE].items() if set(one.judges) != {FAILURES_BY_RULE}
        }
    return found


def _chosen(criterion: str, seen: Mapping[Key, _Seen]) -> list[Key]:
    def clearness(key: Key) -> tuple[int, int, int, str]:
        one = seen[key]
        digest = hashlib.sha256("\x1f".join([criterion, *key]).encode()).hexdigest()
        return -len(one.judges), -max(one.places.values(), default=0), -len(one.places), digest

    ordered = sorted(seen, key=clearness)
    of_system: Counter[str] = Counter()
    turns = {}
    for key in ordered:
        turns[key] = of_system[seen[key].system]
        of_system[seen[key].system] += 1
    return sorted(ordered, key=turns.__getitem__)[:MOST]


def _texts(items: Iterable[Path], wanted: set[Key]) -> dict[Key, Sequence[str]]:
    texts: dict[Key, Sequence[str]] = {}
    for path in items:
        for row in iterate_rows(path, ITEMS, ["corpus", "language", "item_id", "utterances"]):
            key = (row["corpus"], row["language"], row["item_id"])
            if key in wanted:
                texts[key] = row["utterances"]
    return texts


def _row(criterion: str, rank: int, key: Key, seen: _Seen, utterances: Sequence[str]) -> Row:
    place = seen.clearest
    if place is None:
        text, before = _clipped(" / ".join(utterances), _LONGEST), ""
    else:
        text = _clipped(utterances[place - 1], _LONGEST)
        before = _clipped(utterances[place - 2], _LONGEST_BEFORE) if place > 1 else ""
    return {
        "criterion": criterion,
        "rank": rank,
        "system": seen.system,
        "corpus": key[0],
        "item_id": key[2],
        "case_id": seen.case_id or None,
        "seen_by": ", ".join(seen.judges),
        "utterance": place,
        "n_places": len(seen.places),
        "text": text,
        "before": before,
    }


def _clipped(text: str, most: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
