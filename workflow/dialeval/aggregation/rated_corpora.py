"""What rated corpora consist of, and how far their raters agree (comp-analysis, Table 1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dialeval.corpora.items import Item, RaterKind, Rating
from dialeval.criteria import DIMENSIONS, Level
from dialeval.stats.annotators import krippendorffs_alpha, mean_pairwise_pearson
from dialeval.stats.arrays import FloatArray


def corpus_rows(
    items: Iterable[Item],
    ratings: Iterable[Rating],
    translated: Mapping[str, Mapping[str, str]] | None = None,
    filled: Iterable[Rating] = (),
) -> list[dict[str, Any]]:
    """Returns the table `metaeval/corpora`: a row per corpus, level and language, in the order of the items.

    Words are what blanks part, as in the papers; this says little of Chinese and Japanese. At dialogue level there is
    no response: `words_response` counts the whole dialogue.

    Args:
        items, ratings: of all corpora.
        translated: by corpus and language the model that translated into it.
        filled: what a judge filled in where nobody rated.
    """
    rated: dict[tuple[str, RaterKind], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for rating in ratings:
        rated[rating.corpus, rating.rater_kind][rating.item_id].add(rating.dimension)
    filled_in: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for rating in filled:
        filled_in[rating.corpus][rating.item_id].add(rating.dimension)
    groups: dict[tuple[str, Level, str], list[Item]] = defaultdict(list)
    for item in items:
        groups[item.corpus, item.level, item.language].append(item)
    return [
        {
            "corpus": corpus,
            "level": level,
            "language": language,
            "translated_by": (translated or {}).get(corpus, {}).get(language, ""),
            "n_items": len(group),
            "n_utterances": _mean(len(item.utterances) for item in group),
            "words_context": _mean(_words(item.context) for item in group) if level == "turn" else None,
            "words_response": _mean(
                _words(item.utterances[-1:] if level == "turn" else item.utterances) for item in group
            ),
            "human_dimensions": _dimensions(rated[corpus, "human"], group),
            "model_dimensions": _dimensions(rated[corpus, "model"], group),
            "filled_dimensions": _dimensions(filled_in[corpus], group) or None,
        }
        for (corpus, level, language), group in groups.items()
    ]


def annotator_rows(
    items: Iterable[Item],
    ratings: Iterable[Rating],
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> list[dict[str, Any]]:
    """Returns the table `metaeval/annotator_agreement`: a row per corpus, dimension and rater kept in rounds.

    Ratings of which a corpus gives only the mean say nothing of agreement and have no row.

    Args:
        items: of the corpora, in any language; they say which ratings are not independent.
        ratings: of the corpora.
        resamples: resamples of the clusters behind an interval.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.
    """
    cluster = {(item.corpus, item.item_id): item.cluster for item in items}
    rows = []
    for (corpus, dimension, kind, rater), (ids, rounds) in _rounds(ratings).items():
        clusters = [cluster.get((corpus, item_id), item_id) for item_id in ids]
        pearson, alpha = (
            agreement(rounds, clusters, resamples=resamples, confidence=confidence, random_seed=random_seed)
            for agreement in (mean_pairwise_pearson, krippendorffs_alpha)
        )
        rows.append(
            {
                "corpus": corpus,
                "dimension": dimension,
                "rater_kind": kind,
                "rater": rater,
                "n_rounds": len(rounds),
                "n_items": int(np.count_nonzero((~np.isnan(rounds)).sum(axis=0) > 1)),
                "pairwise_pearson": _or_none(pearson.estimate),
                "pearson_low": _or_none(pearson.low),
                "pearson_high": _or_none(pearson.high),
                "krippendorff_alpha": _or_none(alpha.estimate),
                "alpha_low": _or_none(alpha.low),
                "alpha_high": _or_none(alpha.high),
                **alpha.behind(),
                "note": pearson.reason or alpha.reason or None,
            }
        )
    return rows


def _rounds(ratings: Iterable[Rating]) -> dict[tuple[str, str, RaterKind, str], tuple[list[str], FloatArray]]:
    """Returns, by corpus, dimension, kind and name of the rater, the items and their ratings, shape [rounds, items]."""
    cells: dict[tuple[str, str, RaterKind, str], dict[tuple[int, str], float]] = defaultdict(dict)
    for rating in ratings:
        if rating.round is not None:
            key = (rating.corpus, rating.dimension, rating.rater_kind, rating.rater)
            cells[key][rating.round, rating.item_id] = rating.value
    matrices = {}
    for key, values in cells.items():
        ids = {item_id: column for column, item_id in enumerate(dict.fromkeys(item_id for _, item_id in values))}
        matrix = np.full((max(number for number, _ in values) + 1, len(ids)), np.nan)
        for (number, item_id), value in values.items():
            matrix[number, ids[item_id]] = value
        matrices[key] = (list(ids), matrix)
    return matrices


def _dimensions(rated: dict[str, set[str]], group: Sequence[Item]) -> str:
    """Returns the dimensions on which items of a group have ratings: those of the paper in its order, then others."""
    found = set().union(*(rated.get(item.item_id, set()) for item in group))
    known = [dimension for dimension in DIMENSIONS[group[0].level] if dimension in found]
    return ", ".join([*known, *sorted(found - set(known))])


def _words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _mean(values: Iterable[int]) -> float:
    return float(np.mean(list(values)))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
