"""From back-translations, ratings and scores to the table `translation/quality`."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dialeval.published.translation import published_quality
from dialeval.stats.means import mean_interval
from dialeval.stats.resampling import cluster_counts, percentile_interval
from dialeval.translation.quality.score_files import Key

ALL = "all"
RESAMPLES = 1000
MISSING = "sacrebleu is not installed: pip install 'dialeval[train]'"


class Scores(NamedTuple):
    """One metric's numbers on single utterances; `scale` has the ends of a metric that has both."""

    metric: str
    by: str
    values: Mapping[Key, float]
    scale: tuple[float, float] | None = None


def sacrebleu_missing() -> str | None:
    """Returns what to install for BLEU and chrF, or None if it is there."""
    return None if importlib.util.find_spec("sacrebleu") else MISSING


def score_rows(sample: Sequence[Mapping[str, Any]], scores: Scores, confidence: float) -> Iterator[dict[str, Any]]:
    """Yields the means of a metric: for each corpus and language, and for all corpora together where there are more.

    Args:
        sample: rows of the table `translation_sample`.
        scores: of the metric; an utterance without one is left out and lowers n.
        confidence: of the intervals, which resample dialogues.
    """
    for (corpus, language), rows in groups(sample).items():
        known = [(row, scores.values[key_of(row)]) for row in rows if key_of(row) in scores.values]
        if not known and scores.metric not in ("adequacy", "people"):
            continue
        clusters = [f"{row['corpus']}/{row['cluster']}" for row, _ in known]
        found = mean_interval([value for _, value in known], clusters, scale=scores.scale, confidence=confidence)
        yield _row(corpus, language, scores.metric, scores.by, len(known), sample) | {
            "value": _number(found.estimate),
            "low": _number(found.low),
            "high": _number(found.high),
            "reason": found.reason or None,
        }


def back_rows(
    sample: Sequence[Mapping[str, Any]], back: Mapping[Key, str], by: str, confidence: float
) -> Iterator[dict[str, Any]]:
    """Yields BLEU and chrF of sources against what came back, of a corpus' utterances taken as one text.

    Intervals resample dialogues; without sacrebleu there is a reason in place of a number.

    Args:
        sample: rows of the table `translation_sample`.
        back: what came back.
        by: the model that translated back.
        confidence: of the intervals.
    """
    for (corpus, language), rows in groups(sample).items():
        known = [row for row in rows if key_of(row) in back]
        pairs = [(back[key_of(row)], row["source"]) for row in known]
        clusters = [f"{row['corpus']}/{row['cluster']}" for row in known]
        for metric in ("bleu", "chrf"):
            row = _row(corpus, language, metric, by, len(pairs), sample)
            if problem := (sacrebleu_missing() or (None if pairs else "nothing came back")):
                yield row | {"reason": problem}
            else:
                lost = f"{len(rows) - len(pairs)} of {len(rows)} did not come back" if len(pairs) < len(rows) else None
                yield row | {"reason": lost} | _corpus_score(metric, pairs, clusters, confidence)


def sentence_scores(sample: Sequence[Mapping[str, Any]], back: Mapping[Key, str], by: str) -> Scores:
    """Returns chrF of each utterance by itself, from 0 to 100; nothing without sacrebleu."""
    values: dict[Key, float] = {}
    if sacrebleu_missing() is None:
        from sacrebleu.metrics import CHRF

        chrf = CHRF()
        for row in sample:
            if (text := back.get(key_of(row))) is not None:
                values[key_of(row)] = float(chrf.sentence_score(text, [row["source"]]).score)
    return Scores("sentence_chrf", by, values, (0.0, 100.0))


def groups(sample: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Returns the rows of a sample by corpus and language; `all` has those of all corpora, where there are several."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    several = len({row["corpus"] for row in sample}) > 1
    for row in sample:
        found.setdefault((row["corpus"], row["language"]), []).append(row)
    for row in sample if several else ():
        found.setdefault((ALL, row["language"]), []).append(row)
    return found


def key_of(row: Mapping[str, Any]) -> Key:
    """Returns what names an utterance of a sample."""
    return row["corpus"], row["language"], row["utterance_id"]


def _corpus_score(
    metric: str, pairs: Sequence[tuple[str, str]], clusters: Sequence[str], confidence: float
) -> dict[str, Any]:
    from sacrebleu.metrics import BLEU, CHRF

    texts, sources = [text for text, _ in pairs], [source for _, source in pairs]
    measure = BLEU() if metric == "bleu" else CHRF()
    value = float(measure.corpus_score(texts, [sources]).score)
    found: dict[str, Any] = {"value": value, "signature": str(measure.get_signature())}
    if len(set(clusters)) < 2:
        return found | {"reason": "one dialogue tells nothing of how far others may be"}
    # counts of n-grams add up, so that those of a resample are sums: sacrebleu's own way, by dialogue
    counts = np.array(measure._extract_corpus_statistics(texts, [sources]))
    codes = np.unique(clusters, return_inverse=True)[1]
    by_cluster = np.zeros((codes.max() + 1, counts.shape[1]), counts.dtype)
    np.add.at(by_cluster, codes, counts)
    drawn = cluster_counts(len(by_cluster), RESAMPLES, np.random.default_rng(0)).astype(np.int64) @ by_cluster
    resampled = np.array([measure._aggregate_and_compute([sums]).score for sums in drawn.tolist()])
    low, high = percentile_interval(resampled, confidence, len(by_cluster))
    return found | {"low": float(low), "high": float(high)}


def _row(
    corpus: str, language: str, metric: str, by: str, n: int, sample: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    of_all = corpus == ALL or len({row["corpus"] for row in sample}) == 1
    published = published_quality().get(language, {}) if of_all else {}
    return {
        "corpus": corpus,
        "language": language,
        "metric": metric,
        "by": by,
        "n": n,
        "value": None,
        "low": None,
        "high": None,
        "published": published.get(metric),
        "published_people": published.get("people"),
        "reason": None,
        "signature": "",
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
