"""Comp-analysis at turn level: responses in context, with one mean rating per dimension.

Beside `<dataset>_text.txt` lie `turn_<dimension>_ratings.json`, each an object of data set -> ratings in the order of
the text's rows. A data set that is in none of them may have its only rating in `turn_ratings.json`; where it is in
both, that one repeats a dimension and is not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dialeval.corpora import clusters
from dialeval.corpora.items import Item, Rating
from dialeval.corpora.rated import (
    PEOPLE,
    RatedReading,
    Scale,
    check,
    only_english,
    rating_value,
    speakers_before_response,
)
from dialeval.corpora.rating_scales import MODEL_SCALE, N_RATERS, scales_of, single_dimension
from dialeval.corpora.tab_texts import TabRecord, read_records
from dialeval.corpora.text_files import read_json
from dialeval.criteria import DIMENSIONS
from dialeval.errors import UserError, nearest

_ENDING = "_text"
_FILE_NAMES = {"interestingness": "interesting"}
_SINGLE_FILE = "turn_ratings.json"


def read(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads a data set.

    Args:
        corpus: its name in the configuration.
        path: the file of its texts.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the row or position, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    dataset = dataset_of(path)
    scales = scales_of(dataset, str(path))
    records = read_records(path)
    reading = RatedReading(str(path))
    groups = _clusters(records)
    for record, first in zip(records, groups, strict=True):
        cluster = clusters.dialogue_of_turn(record.record_id) or records[first].record_id
        speakers = speakers_before_response(len(record.fields))
        item = Item(corpus, record.record_id, "en", "turn", cluster, speakers, record.fields)
        reading.add(item, f"row {record.row}")
    for dimension, source, values in _rated_dimensions(path, dataset):
        if len(values) != len(records):
            raise UserError(
                f"{source}: {len(values)} ratings for '{dataset}', but {path} has {len(records)} rows; both must come "
                "from the same release"
            )
        reading.ratings += _ratings((corpus, dataset, dimension), records, values, scales.get(dimension), source)
        if source.name == _SINGLE_FILE:
            reading.notes[f"ratings whose dimension the files do not name, taken as {dimension}"] += len(values)
    return check(reading)


def source_files(path: Path) -> list[Path]:
    """Returns the files that a data set is read from: a rating could come into any of them."""
    return [path, *_rating_files(path)]


def dataset_of(path: Path) -> str:
    """Returns the name under which the ratings of a file of texts are kept."""
    return path.stem.removesuffix(_ENDING)


def _clusters(records: list[TabRecord]) -> list[int]:
    dialogues = [clusters.dialogue_of_turn(record.record_id) for record in records]
    if None not in dialogues:
        return clusters.merged(dialogues)
    return clusters.context_clusters([record.fields for record in records])


def _ratings(
    name: tuple[str, str, str], records: list[TabRecord], values: list[Any], scale: Scale | None, source: Path
) -> Iterable[Rating]:
    """Yields the ratings of one dimension: people's where they have a scale, else GPT-4's."""
    corpus, dataset, dimension = name
    for position, (record, value) in enumerate(zip(records, values, strict=True)):
        place = f"{source}, '{dataset}', position {position} ({record.record_id:.60})"
        key = (corpus, record.record_id, dimension)
        if scale is None:
            yield Rating(*key, "model", "gpt-4", None, rating_value(value, MODEL_SCALE, place), None, *MODEL_SCALE)
        else:
            rating = rating_value(value, scale, place)
            yield Rating(*key, "human", PEOPLE, None, rating, N_RATERS.get(dataset), *scale)


def _rated_dimensions(path: Path, dataset: str) -> list[tuple[str, Path, list[Any]]]:
    """Returns the ratings of a data set: dimension, file and values."""
    found: dict[str, tuple[str, Path, list[Any]]] = {}
    known: set[str] = set()
    files = _rating_files(path)
    for file in files:
        single = file.name == _SINGLE_FILE
        if single and found:
            continue
        content = _content(file)
        known |= set(content)
        if dataset in content:
            dimension = single_dimension(dataset) if single else _dimension_of(file)
            if not isinstance(content[dataset], list):
                raise UserError(f"{file}: '{dataset}' must be a list of ratings, not {content[dataset]!r:.60}")
            found.setdefault(dimension, (dimension, file, content[dataset]))
    if found:
        return list(found.values())
    if not files:
        raise UserError(
            f"{path}: there are no ratings beside it; turn_<dimension>_ratings.json or {_SINGLE_FILE} of comp-analysis "
            f"must lie in {path.parent} or in {path.parent.parent / 'turn_level_texts'}"
        )
    raise UserError(
        f"{path}: '{dataset}' has no ratings in {', '.join(str(file) for file in files)}; {nearest(dataset, known)}"
    )


def _rating_files(path: Path) -> list[Path]:
    """Returns the files of ratings, dimensions in the paper's order, then the single one; the texts' folder first."""
    names = [f"turn_{_FILE_NAMES.get(dimension, dimension)}_ratings.json" for dimension in DIMENSIONS["turn"]]
    folders = dict.fromkeys((path.parent, path.parent.parent / "turn_level_texts"))
    return [folder / name for name in (*names, _SINGLE_FILE) for folder in folders if (folder / name).is_file()]


def _dimension_of(file: Path) -> str:
    name = file.name.removeprefix("turn_").removesuffix("_ratings.json")
    return next(dimension for dimension in DIMENSIONS["turn"] if _FILE_NAMES.get(dimension, dimension) == name)


def _content(file: Path) -> dict[str, Any]:
    content = read_json(file)
    if not isinstance(content, dict):
        raise UserError(f"{file}: one JSON object of data set -> list of ratings is needed")
    return content
