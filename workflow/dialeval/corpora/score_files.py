"""Ready scores of a metric of the user's: a CSV file with one score a row, or Inspect's log, joined to items by key.

Columns: `corpus`, `item_id`, `dimension`, `value`; `language` where the items are not English; `repeat` where a metric
scored an item more than once. An empty value is a score that is missing. Scores of items that the corpus has but that
were left out when it was read, such as dialogues without ratings, are skipped and counted. In a log, the sample's id is
the item's, the scorer's name the dimension unless `dimensions` maps it, and the epoch the repeat; `corpus` and
`language` are in its metadata. Of a scorer that asks a model, the model's explanation is the reason, and a response
without a grade is unparsed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dialeval.corpora.text_files import listed, number_in, read_columns
from dialeval.criteria import DIMENSIONS, Level
from dialeval.errors import UserError, nearest
from dialeval.tables.files import unescaped_cell

NEEDED = ("corpus", "item_id", "dimension", "value")
_MOST_REPEATS = 1_000_000

Key = tuple[str, str, str]
"""Corpus, language and id of an item."""
NOTHING_JOINED: Mapping[str, Collection[str]] = MappingProxyType({})


@dataclass
class RatedCorpora:
    """The corpora, items and dimensions that a file of scores may name.

    Attributes:
        levels: by corpus, whether responses or dialogues are scored.
        items: every rated item.
        rated: the rated dimensions by corpus.
        left_out: items that were left out when their corpus was read, and why.
    """

    levels: Mapping[str, Level]
    items: Set[Key]
    rated: Mapping[str, Set[str]]
    left_out: Mapping[Key, str] = field(default_factory=dict)

    def dimensions(self, corpus: str) -> list[str]:
        """Return the dimensions that a corpus can be scored on: its level's own, then others that were rated."""
        own = DIMENSIONS[self.levels[corpus]]
        return [*own, *sorted(self.rated.get(corpus, frozenset()) - set(own))]


def rated_corpora(
    items: Mapping[str, list[Any]],
    ratings: Mapping[str, list[Any]],
    left_out: Mapping[str, list[Any]],
    joined: Mapping[str, Collection[str]] = NOTHING_JOINED,
) -> RatedCorpora:
    """Return the rated corpora of columns of the tables `items`, `ratings` and `left_out_items`.

    Args:
        joined: by corpus, dimensions that are compared with ratings on others: these count as rated.
    """
    rated: dict[str, set[str]] = {}
    for corpus, dimension in zip(ratings["corpus"], ratings["dimension"], strict=True):
        rated.setdefault(corpus, set()).add(dimension)
    for corpus, names in joined.items():
        rated.setdefault(corpus, set()).update(names)
    return RatedCorpora(
        levels=dict(zip(items["corpus"], items["level"], strict=True)),
        items=set(_keys(items)),
        rated=rated,
        left_out=dict(zip(_keys(left_out), left_out["reason"], strict=True)),
    )


def read_score_file(
    path: Path,
    name: str,
    scale: tuple[float, float],
    about: RatedCorpora,
    notes: Counter[str],
    dimensions: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[dict[str, Any]]:
    """Yield rows of the table `judgements`.

    Args:
        scale: the lowest and the highest value it can give.
        dimensions: dimensions of the scorers of a log, if they have other names.

    Raises:
        UserError: with the file and the row: a missing column, an unknown corpus, item or dimension, a value that is no
            number or off the scale, or an item that has its score twice.
    """
    seen: dict[tuple[str, ...], str] = {}
    for place, row in _rows(path, about, notes, dimensions):
        where = f"{path}, {place}"
        dimension, repeat = row["dimension"], _repeat(row.get("repeat", ""), where)
        key = (row["corpus"], row.get("language") or "en", row["item_id"])
        if key not in about.items and key not in about.left_out:  # ids may be copied from a table of ours
            key = (unescaped_cell(key[0]), key[1], unescaped_cell(key[2]))
        known = _is_known(key, about, where)
        _check_dimension(key[0], dimension, about, where)
        first = seen.setdefault((*key, dimension, str(repeat)), place)
        if first != place:
            raise UserError(
                f"{where}: item '{key[2]:.60}' already has a score on '{dimension}', in {first}; remove one"
            )
        value = _value(row["value"], scale, where)
        if not known:
            notes[f"of corpus '{key[0]}' skipped, since their items were left out ({about.left_out[key]})"] += 1
            continue
        if dimension not in about.rated.get(key[0], ()):
            notes[f"of corpus '{key[0]}' on {dimension}, which has no ratings: used in ensembles only"] += 1
        yield {
            "judge": name,
            "protocol": "file",
            "request_id": "",
            "corpus": key[0],
            "language": key[1],
            "item_id": key[2],
            "criterion": dimension,
            "repeat": repeat,
            "value": value,
            "scale_min": scale[0],
            "scale_max": scale[1],
            "reason": row.get("reason", ""),
            "status": "ok" if value is not None else "unparsed" if row.get("judge") else "missing",
        }


def _rows(
    path: Path, about: RatedCorpora, notes: Counter[str], dimensions: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the scores of a table or of Inspect's log by column, each with its place."""
    if path.suffix != ".eval":
        yield from ((f"line {line}", row) for line, row in read_columns(path, NEEDED))
        return
    from dialeval.corpora.transcripts.eval_logs import read_scores  # readers of chats, which tables need not wait for

    for one in read_scores(path, notes):
        dimension = dimensions.get(one.scorer, one.scorer)
        corpus = one.corpus or (next(iter(about.levels)) if len(about.levels) == 1 else "")
        if not corpus:
            raise UserError(
                f"{path}, {one.place}: give the sample's corpus as metadata 'corpus': {listed(about.levels)}"
            )
        if dimension not in about.dimensions(corpus) if corpus in about.levels else False:
            notes[f"of scorer '{one.scorer}' skipped, since its name is not a dimension of corpus '{corpus}'"] += 1
            continue
        if one.judge:
            notes[f"of scorer '{one.scorer}' by the judge {one.judge}"] += 1
        yield (
            one.place,
            {
                "corpus": corpus,
                "language": one.language,
                "item_id": one.sample,
                "dimension": dimension,
                "value": one.value,
                "repeat": str(one.epoch - 1),
                "judge": one.judge,
                "reason": one.reason,
            },
        )


def _keys(columns: Mapping[str, list[Any]]) -> Iterable[Key]:
    return zip(columns["corpus"], columns["language"], columns["item_id"], strict=True)


def _repeat(text: str, where: str) -> int:
    text = text or "0"
    if not (text.isascii() and text.isdecimal() and len(text) < len(str(_MOST_REPEATS))):
        raise UserError(f"{where}: repeat '{text:.40}' is not a whole number below {_MOST_REPEATS}; count from 0")
    return int(text)


def _is_known(key: Key, about: RatedCorpora, where: str) -> bool:
    """Return whether an item is rated; False if the reader of the corpus left it out."""
    corpus, language, item_id = key
    if key in about.items:
        return True
    if key in about.left_out:
        return False
    if corpus not in about.levels:
        remedy = nearest(f"{corpus:.60}", about.levels)
        raise UserError(f"{where}: corpus '{corpus:.60}' is not one of metaeval.corpora; {remedy}")
    elsewhere = sorted({other[1] for other in about.items if (other[0], other[2]) == (corpus, item_id)})
    if elsewhere:
        remedy = (
            f"the corpus has it in {listed(elsewhere)}; add the language to the corpus, or correct the column "
            "'language'"
        )
    else:
        an_item = next((other[2] for other in sorted(about.items) if other[:2] == (corpus, language)), "")
        remedy = f"its ids are such as '{an_item:.60}'" if an_item else f"it has no items in '{language:.20}'"
    raise UserError(f"{where}: corpus '{corpus}' has no item '{item_id:.60}' in language '{language:.20}'; {remedy}")


def _check_dimension(corpus: str, dimension: str, about: RatedCorpora, where: str) -> None:
    names = about.dimensions(corpus)
    if dimension not in names:
        remedy = nearest(f"{dimension:.60}", names)
        there = "" if remedy.startswith("known") else f" there are {listed(names)};"
        raise UserError(
            f"{where}: corpus '{corpus}' has no dimension '{dimension:.60}';{there} {remedy}; correct the name or "
            f"remove the rows"
        )


def _value(text: str, scale: tuple[float, float], where: str) -> float | None:
    if not text.strip():
        return None
    value = number_in(text)
    if value is None:
        raise UserError(f"{where}: value '{text:.60}' is not a number; leave it empty for a missing score")
    if math.isnan(value):
        return None
    if not scale[0] <= value <= scale[1]:
        raise UserError(
            f"{where}: value {value:g} is outside the scale {scale[0]:g} to {scale[1]:g}; give the metric's scale as "
            "scale_min and scale_max"
        )
    return value
