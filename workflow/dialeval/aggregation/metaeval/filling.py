"""A judge's repeated ratings as the reference where nobody rated (comp-analysis, "Fill up missing annotations")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from dialeval.corpora.items import Rating
from dialeval.corpora.rated import Scale, repeated_ratings

SOURCE_LANGUAGE = "en"
"""The language in which a judge's ratings count, where a corpus has it; else the first that it has."""

Row = Mapping[str, Any]


def filled_ratings(
    judge: str,
    items: Iterable[Row],
    rated: Iterable[tuple[str, str]],
    judgements: Iterable[Row],
    wanted: Mapping[str, Collection[str]],
) -> Iterator[Rating]:
    """Yields a judge's ratings, every repeat and their mean, on each dimension of a corpus that nobody rated.

    A dimension that anybody rated, of any kind and on any item, is left as it is. Ratings do not depend on the
    language, so those of one language count.

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
