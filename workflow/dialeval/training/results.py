"""Tables of trainings: composition of the training sets, and judges' accuracy on held-out dialogues.

A true example is held against the spoiled ones of its own kind, criterion and language: scores of two heads, or of two
languages, need not be comparable.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.errors import UserError
from dialeval.languages import language_order, language_place
from dialeval.stats.arrays import BoolArray, FloatArray
from dialeval.stats.auc import ClusteredAuc, auc_gain, clustered_auc
from dialeval.tables.files import read_table, read_tables
from dialeval.tables.training import TRAINING_EXAMPLES, TRAINING_OVERLAP
from dialeval.training.human_dialogues import HELD_OUT

ALL = "all"
MOMENTS = ("before", "after")
SCORED_EXAMPLES = ["training", "example_id", "part", "criterion", "language", "good", "kind", "cluster"]
"""The columns of examples that the record needs."""
SAMPLES_PER_KIND = 3


def record_rows(judge: str, examples: pa.Table, scores: pa.Table, confidence: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `training/record` of one judge: all kinds together, each criterion, each kind.

    Args:
        judge: its name.
        examples: `SCORED_EXAMPLES` of the sets that it was trained on.
        scores: table `training_scores` of the judge.
        confidence: nominal coverage of the intervals.

    Raises:
        UserError: a score is of an example that the sets do not have.
    """
    held_out = examples.filter(pc.equal(examples["part"], HELD_OUT))
    of_moment = {moment: _scores_of(judge, held_out, scores, moment) for moment in MOMENTS}
    of_moment = {moment: given for moment, given in of_moment.items() if not np.isnan(given).all()} or of_moment
    columns = {name: np.array(held_out[name].to_pylist(), dtype=object) for name in SCORED_EXAMPLES}
    good = columns["good"].astype(np.float64)
    stratum = np.array(
        ["\x1f".join(one) for one in zip(columns["criterion"], columns["language"], columns["kind"], strict=True)]
    )
    cluster = columns["cluster"].astype(str)
    for part in _slices(columns):
        found: dict[str, ClusteredAuc] = {}
        for moment, given in of_moment.items():
            rows = part.rows & ~np.isnan(given)
            auc = clustered_auc(given[rows], good[rows], cluster[rows], stratum=stratum[rows], confidence=confidence)
            found[moment] = auc
            row = {
                "judge": judge,
                "part": HELD_OUT,
                "kind": part.kind,
                "n": auc.n,
                "auc": auc.auc,
                "ci_low": auc.ci_low,
                "ci_high": auc.ci_high,
                "moment": moment,
                "training": ", ".join(sorted(set(columns["training"][part.rows]))),
                "criterion": part.criterion,
                "language": part.language,
                "n_clusters": auc.n_clusters,
                "reason": auc.reason or None,
            }
            if len(found) == len(MOMENTS) and len({one.n for one in found.values()}) == 1:
                gain = auc_gain(found["after"], found["before"])
                row |= dict(zip(("gain", "gain_ci_low", "gain_ci_high"), gain, strict=True))
            yield row


def sample_rows(examples: pa.Table, random_seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `training/samples`: pairs of each set, criterion, kind and language.

    Args:
        examples: table `training_examples` of one set.
        random_seed: seed of the choice, which is that of the smallest hashes: other pairs do not change it.
    """
    columns = examples.select(["training", "criterion", "kind", "language", "pair_id"])
    pairs: dict[tuple[str, ...], set[str]] = {}
    for *group, pair in zip(*columns.to_pydict().values(), strict=True):
        pairs.setdefault(tuple(group), set()).add(pair)

    def rank(pair: str) -> bytes:
        return hashlib.sha256(f"{random_seed}/{pair}".encode()).digest()

    chosen = {pair for of_group in pairs.values() for pair in sorted(of_group, key=rank)[:SAMPLES_PER_KIND]}
    of_pair: dict[str, dict[int, dict[str, Any]]] = {}
    wanted = pc.is_in(examples["pair_id"], value_set=pa.array(sorted(chosen), pa.string()))
    for row in examples.filter(wanted).to_pylist():
        of_pair.setdefault(row["pair_id"], {})[row["good"]] = row
    complete = [(two[1], two[0]) for two in of_pair.values() if len(two) == 2]
    for true, negative in sorted(complete, key=_in_order):
        lines = [
            [f"{who}: {text}" for who, text in zip(row["speakers"], row["utterances"], strict=True)]
            for row in (true, negative)
        ]
        common = len(list(takewhile(lambda two: two[0] == two[1], zip(*lines, strict=False))))
        yield {
            **{name: negative[name] for name in ("training", "criterion", "kind", "domain", "language", "made_from")},
            "context": "\n".join(lines[0][:common]),
            "positive": "\n".join(lines[0][common:]),
            "negative": "\n".join(lines[1][common:]),
            "part": negative["part"],
            "pair_id": negative["pair_id"],
        }


def _scores_of(judge: str, held_out: pa.Table, scores: pa.Table, moment: str) -> FloatArray:
    """Return the judge's score of each held-out example at a moment, NaN where it has none; shape [n]."""
    given = scores.filter(pc.equal(scores["moment"], moment))
    ids, values = held_out["example_id"].to_pylist(), given["score"].to_numpy()
    places = {name: place for place, name in enumerate(ids)}
    found = np.full(len(ids), np.nan)
    for name, value in zip(given["example_id"].to_pylist(), values, strict=True):
        if name not in places:
            raise UserError(
                f"{judge} was scored on '{name}', which is not a held-out example of its training sets; its folder "
                f"belongs to another run: delete it and run the same command again"
            )
        found[places[name]] = value
    return found


def _slices(columns: dict[str, Any]) -> Iterator[_Slice]:
    """Yield slices of rows by language, criterion and kind; a slice equal to a wider one is omitted."""
    all_rows = np.ones(len(columns["kind"]), dtype=np.bool_)
    languages = language_order(columns["language"])
    for language in [ALL, *(languages if len(languages) > 1 else [])]:
        in_language = all_rows if language == ALL else columns["language"] == language
        yield _Slice(ALL, language, ALL, in_language)
        criteria = _distinct(columns["criterion"])
        for criterion in criteria:
            of_criterion = in_language & (columns["criterion"] == criterion)
            if len(criteria) > 1 and of_criterion.any():
                yield _Slice(criterion, language, ALL, of_criterion)
            for kind in _distinct(columns["kind"][of_criterion]):
                yield _Slice(criterion, language, kind, of_criterion & (columns["kind"] == kind))


@dataclass(frozen=True)
class _Slice:
    """Rows that are aggregated together."""

    criterion: str
    language: str
    kind: str
    rows: BoolArray


def _distinct(values: Sequence[str]) -> list[str]:
    return sorted(set(values))


def _in_order(two: tuple[dict[str, Any], dict[str, Any]]) -> tuple[Any, ...]:
    return two[0]["criterion"], two[0]["kind"], language_place(two[0]["language"])


# How many pairs judges learn from, by how the spoiled ones were made.

_GROUP = ["training", "domain", "language", "criterion", "kind", "part"]


def data_rows(examples: Iterable[Path], overlaps: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `training/data`: those of single kinds, then those of all kinds.

    Args:
        examples: tables `training_examples`.
        overlaps: tables `training_overlap`.
    """
    judged = read_tables(overlaps, TRAINING_OVERLAP, ["training", "domain", "language"])
    left_out = Counter(tuple(row.values()) for row in judged.to_pylist())
    for path in examples:
        table = read_table(path, TRAINING_EXAMPLES, [*_GROUP, "good", "corpus", "dialogue_id", "cluster"])
        negative = table.filter(pc.equal(table["good"], 0))
        negative = negative.append_column(
            "dialogue", pc.binary_join_element_wise(negative["corpus"], negative["dialogue_id"], "/")
        )
        of_all = negative.set_column(negative.schema.get_field_index("kind"), "kind", pa.array([ALL] * len(negative)))
        for part in (negative, of_all):
            counted = part.group_by(_GROUP).aggregate(
                [("good", "count"), ("dialogue", "count_distinct"), ("cluster", "count_distinct")]
            )
            for row in counted.sort_by([(name, "ascending") for name in _GROUP]).to_pylist():
                yield {
                    **{name: row[name] for name in _GROUP},
                    "n_pairs": row["good_count"],
                    "n_dialogues": row["dialogue_count_distinct"],
                    "n_clusters": row["cluster_count_distinct"],
                    "left_out": left_out[row["training"], row["domain"], row["language"]],
                }
