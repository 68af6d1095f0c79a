"""Two corpora of dialogues that people rated on five dimensions, and judges who see the quality through noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dialeval.measures.correlations import Correlated, correlate_cells
from dialeval.measures.score_cells import gather
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import ITEMS, RATINGS

N = 40
HOW = {"resamples": 50, "confidence": 0.95, "random_seed": 0}
rng = np.random.default_rng(7)
QUALITY = {corpus: rng.normal(size=(5, N)) for corpus in ("one", "two")}
DIMENSIONS = ("coherence", "engagingness", "diversity", "informativeness", "overall")


def item(corpus: str, number: int, language: str = "en") -> dict[str, Any]:
    return {
        "corpus": corpus,
        "item_id": f"{corpus}-{number}",
        "language": language,
        "level": "dialogue",
        "cluster": f"{corpus}-{number // 2}",
        "speakers": ["human", "chatbot"],
        "utterances": ["a", "b"],
    }


def rating(corpus: str, number: int, dimension: str, value: float, **more: Any) -> dict[str, Any]:
    row = {"corpus": corpus, "item_id": f"{corpus}-{number}", "dimension": dimension, "value": float(value)}
    kind = {"rater_kind": "human", "rater": "people", "n_raters": 3, "scale_min": -9.0, "scale_max": 9.0}
    return row | kind | more


def score(judge: str, corpus: str, number: int, dimension: str, value: float | None, **more: Any) -> dict[str, Any]:
    row = {"judge": judge, "protocol": "yes_no", "corpus": corpus, "language": "en", "item_id": f"{corpus}-{number}"}
    row |= {
        "criterion": dimension,
        "request_id": "",
        "reason": "",
        "repeat": 0,
        "value": value,
        "scale_min": -9.0,
        "scale_max": 9.0,
        "status": "ok",
    }
    return row | more


def tables(
    noise: dict[str, float], corpora: tuple[str, ...] = ("one", "two")
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Items, people's ratings, and scores of judges that see the quality through noise."""
    items = [item(corpus, number) for corpus in corpora for number in range(N)]
    cells = [(c, d, name, n) for c in corpora for d, name in enumerate(DIMENSIONS) for n in range(N)]
    ratings = [rating(c, n, name, QUALITY[c][d, n]) for c, d, name, n in cells]
    draw = np.random.default_rng(3)
    scores = [
        score(judge, c, n, name, float(np.clip(QUALITY[c][d, n] + draw.normal(scale=sd), -9, 9)))
        for judge, sd in noise.items()
        for c, d, name, n in cells
    ]
    return items, ratings, scores


def correlated(
    items: list[dict[str, Any]], ratings: list[dict[str, Any]], scores: list[dict[str, Any]], **benchmarks: str
) -> list[Correlated]:
    names = {row["corpus"]: "all" for row in items} | benchmarks
    return correlate_cells(gather(*as_tables(items, ratings, scores), names), **HOW)


def as_tables(*rows: list[dict[str, Any]]) -> tuple[pa.Table, ...]:
    return tuple(to_table(kind, part) for kind, part in zip((ITEMS, RATINGS, JUDGEMENTS), rows, strict=True))


def find(rows: Any, **where: Any) -> dict[str, Any]:
    (row,) = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return row
