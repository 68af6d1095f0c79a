"""Tables of corpora: lengths of utterances; for rated corpora also size, agreement of raters, and imputed ratings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from dialeval.corpora.items import Item, RaterKind, Rating, human_items
from dialeval.corpora.rated_sources import Scale, repeated_ratings
from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.cl100k import Tokenizer
from dialeval.papers.botchat import published_value
from dialeval.papers.comp_analysis import published_corpus
from dialeval.stats.agreement import krippendorffs_alpha, mean_pairwise_pearson
from dialeval.stats.arrays import FloatArray
from dialeval.tables.dialogues import UTTERANCE_LENGTHS, UTTERANCE_TOKENS
from dialeval.tables.files import HUMAN, to_table
from dialeval.text import is_word, script_of, surface_tokens

Unit: TypeAlias = Literal["words", "characters"]
_SEEN_FOR_SCRIPT = 50
SOURCE_LANGUAGE = "en"
"""Language in which a judge's ratings count; without it, the first language of the corpus."""
Row = Mapping[str, Any]


def corpus_rows(
    items: Iterable[Item],
    ratings: Iterable[Rating],
    translated: Mapping[str, Mapping[str, str]] | None = None,
    imputed: Iterable[Rating] = (),
    agreement: Iterable[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Return the table `metaeval/corpora`: a row per corpus, level and language, in the order of the items.

    Words are separated by blanks, as in the papers. In scripts without blanks, such as Chinese and Japanese, every
    character counts as one, and so does a word of another script; `unit` says which. At dialogue level,
    `words_response` counts the whole dialogue.

    Args:
        items, ratings: of all corpora.
        translated: by corpus and language the model that translated into it.
        imputed: ratings that a judge imputed.
        agreement: rows of `annotator_rows`.
    """
    agreements = _agreement_of_people(agreement)
    rated: dict[tuple[str, RaterKind], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for rating in ratings:
        rated[rating.corpus, rating.rater_kind][rating.item_id].add(rating.dimension)
    imputed_dimensions: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for rating in imputed:
        imputed_dimensions[rating.corpus][rating.item_id].add(rating.dimension)
    groups: dict[tuple[str, Level, str], list[Item]] = defaultdict(list)
    for item in items:
        groups[item.corpus, item.level, item.language].append(item)
    rows = []
    for (corpus, level, language), group in groups.items():
        unit = _unit(group)
        human = _dimensions(rated[corpus, "human"], group)
        row = {
            "corpus": corpus,
            "level": level,
            "language": language,
            "translated_by": (translated or {}).get(corpus, {}).get(language, ""),
            "n_items": len(group),
            "n_utterances": _mean(len(item.utterances) for item in group),
            "unit": unit,
            **_lengths(group, level, unit),
            "n_dimensions": len(human.split(", ")) if human else 0,
            **agreements.get(corpus, {}),
            "human_dimensions": human,
            "model_dimensions": _dimensions(rated[corpus, "model"], group),
            "imputed_dimensions": _dimensions(imputed_dimensions[corpus], group) or None,
        }
        printed = published_corpus(corpus, level) if language == "en" else {}
        rows.append(row | {f"published_{column}": value for column, value in printed.items()})
    return rows


def _agreement_of_people(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the lowest and highest agreement of a corpus's annotators over its dimensions, by corpus."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["rater_kind"] == "human" and row["pairwise_pearson"] is not None:
            found[row["corpus"]].append(row["pairwise_pearson"])
    return {corpus: {"agreement_min": min(known), "agreement_max": max(known)} for corpus, known in found.items()}


def _unit(group: Sequence[Item]) -> Unit:
    """Return the unit of lengths by the script of a corpus's first items."""
    utterances = [text for item in group[:_SEEN_FOR_SCRIPT] for text in item.utterances]
    return "characters" if script_of(utterances) == "unspaced" else "words"


def _dimensions(rated: dict[str, set[str]], group: Sequence[Item]) -> str:
    """Return the dimensions on which items of a group have ratings: those of the paper in its order, then others."""
    found = set().union(*(rated.get(item.item_id, set()) for item in group))
    known = [dimension for dimension in DIMENSIONS[group[0].level] if dimension in found]
    return ", ".join([*known, *sorted(found - set(known))])


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _lengths(group: Sequence[Item], level: Level, unit: Unit) -> dict[str, float | None]:
    """Return the mean length of context and response (of a dialogue the whole), and of an item's utterances."""
    counted = [[_length(text, unit) for text in item.utterances] for item in group]
    return {
        "words_context": _mean(sum(lengths[:-1]) for lengths in counted) if level == "turn" else None,
        "words_response": _mean(lengths[-1] if level == "turn" else sum(lengths) for lengths in counted),
        "words_utterance": _mean(_mean(lengths) for lengths in counted),
    }


def _length(text: str, unit: Unit) -> int:
    """Return the number of words, or of characters in a script without blanks (words of other scripts count once)."""
    return len(text.split()) if unit == "words" else sum(map(is_word, surface_tokens(text)))


def annotator_rows(
    items: Iterable[Item],
    ratings: Iterable[Rating],
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    random_seed: int = 0,
) -> list[dict[str, Any]]:
    """Return the table `metaeval/annotator_agreement`: a row per corpus, dimension and rater kept in rounds.

    Ratings with only a mean have no agreement and no row.

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
        about = {"corpus": corpus, "dimension": dimension, "rater_kind": kind, "rater": rater}
        agreement = agreement_of_rounds(
            rounds, clusters, resamples=resamples, confidence=confidence, random_seed=random_seed
        )
        rows.append(about | agreement)
    return rows


def _rounds(ratings: Iterable[Rating]) -> dict[tuple[str, str, RaterKind, str], tuple[list[str], FloatArray]]:
    """Return, by corpus, dimension, kind and name of the rater, the items and their ratings, shape [rounds, items]."""
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


def agreement_of_rounds(
    rounds: FloatArray, clusters: Sequence[str], *, resamples: int, confidence: float, random_seed: int
) -> dict[str, Any]:
    """Return the columns on the agreement of rounds of ratings, by several raters or by one.

    Args:
        rounds: ratings, NaN where missing, shape [rounds, items].
        clusters: which items are not independent, shape [items].
        resamples: resamples of the clusters behind an interval.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.
    """
    pearson, alpha = (
        agreement(rounds, clusters, resamples=resamples, confidence=confidence, random_seed=random_seed)
        for agreement in (mean_pairwise_pearson, krippendorffs_alpha)
    )
    return {
        "n_rounds": len(rounds),
        "n_items": int(np.count_nonzero((~np.isnan(rounds)).sum(axis=0) > 1)),
        "pairwise_pearson": _or_none(pearson.estimate),
        "pearson_ci_low": _or_none(pearson.ci_low),
        "pearson_ci_high": _or_none(pearson.ci_high),
        "krippendorff_alpha": _or_none(alpha.estimate),
        "alpha_ci_low": _or_none(alpha.ci_low),
        "alpha_ci_high": _or_none(alpha.ci_high),
        **alpha.columns(),
        "note": pearson.note or alpha.note or None,
    }


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


def imputed_ratings(
    judge: str,
    items: Iterable[Row],
    rated: Iterable[tuple[str, str]],
    judgements: Iterable[Row],
    wanted: Mapping[str, Collection[str]],
) -> Iterator[Rating]:
    """Yield a judge's ratings, every repeat and their mean, on each dimension of a corpus that no human rated.

    A dimension with any rating, of any kind, is not imputed. Ratings do not depend on the language, so those of one
    language are used.

    Args:
        judge: its name, which becomes the rater's.
        items: rows of tables `items`: corpus, language, item_id.
        rated: corpus and dimension of what was rated.
        judgements: the judge's rows of the table `judgements`: corpus, language, item_id, criterion, repeat, value,
            scale_min, scale_max; others than those of the items are passed over.
        wanted: the only dimensions that count in a corpus, by corpus; of others all do.
    """
    taken = set(rated)
    languages: dict[str, list[str]] = defaultdict(list)
    known: set[tuple[str, str, str]] = set()
    for item in items:
        corpus, language = item["corpus"], item["language"]
        known.add((corpus, language, item["item_id"]))
        if language not in languages[corpus]:
            languages[corpus].append(language)
    source = {corpus: SOURCE_LANGUAGE if SOURCE_LANGUAGE in found else found[0] for corpus, found in languages.items()}
    repeats: dict[tuple[str, str, str, Scale], dict[int, float | None]] = defaultdict(dict)
    for row in judgements:
        corpus, dimension = row["corpus"], row["criterion"]
        if (corpus, row["language"], row["item_id"]) not in known or row["language"] != source[corpus]:
            continue
        if (corpus, dimension) in taken or dimension not in wanted.get(corpus, (dimension,)):
            continue
        scale = Scale(row["scale_min"], row["scale_max"])
        repeats[corpus, row["item_id"], dimension, scale][row["repeat"]] = row["value"]
    for (corpus, item_id, dimension, scale), values in repeats.items():
        ordered = [values.get(number) for number in range(max(values) + 1)]
        yield from repeated_ratings((corpus, item_id, dimension), ("model", judge), ordered, scale)


# Lengths of utterances in tokens (BotChat 4.1, Table 1 and Figure 3).


def utterance_tokens(human: pa.Table, seeds: pa.Table, generated: pa.Table, tokenizer: Tokenizer) -> pa.Table:
    """Return the table `botchat/utterance_tokens`: the length of every utterance.

    All utterances of human dialogues count, as in the paper; of a chatbot's dialogues, only the utterances that it
    wrote, not the seed's.

    Args:
        human: table `utterances` of the seeds' corpus.
        seeds: table `seeds`.
        generated: table `generated` of all chatbots.
        tokenizer: what counts.
    """
    rows: list[dict[str, Any]] = [
        {"model": HUMAN, "seed_id": item.case_id, "turn": turn, "text": text}
        for item in human_items(human, seeds)
        for turn, text in enumerate(item.utterances)
    ]
    rows += _written_by_chatbots(generated)
    counts = tokenizer.count_all([row.pop("text") for row in rows])
    return to_table(
        UTTERANCE_TOKENS,
        [row | {"tokens": count, "tokenizer": tokenizer.name} for row, count in zip(rows, counts, strict=True)],
    )


def _written_by_chatbots(generated: pa.Table) -> Iterator[dict[str, Any]]:
    for row in generated.select(["chatbot", "seed_id", "turn", "origin", "text"]).to_pylist():
        if row["origin"] == "model":
            yield {"model": row["chatbot"], "seed_id": row["seed_id"], "turn": row["turn"], "text": row["text"]}


def length_summary(tokens: pa.Table) -> pa.Table:
    """Return the table `botchat/utterance_lengths`, one row per model, people first."""
    frame = tokens.to_pandas()
    rows = []
    for model in dict.fromkeys(frame["model"]):
        lengths = frame.loc[frame["model"] == model, "tokens"].to_numpy()
        rows.append(
            {
                "model": model,
                "mean": float(np.mean(lengths)),
                "median": float(np.median(lengths)),
                "p95": float(np.percentile(lengths, 95)),
                "max": int(np.max(lengths)),
                "n": len(lengths),
                "tokenizer": tokens["tokenizer"][0].as_py(),
                "published_mean": published_value(model, "mean_tokens"),
            }
        )
    return to_table(UTTERANCE_LENGTHS, rows)
