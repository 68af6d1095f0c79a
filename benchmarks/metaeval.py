"""Meta-evaluation at the papers' scale: planning, and correlating many judges with human ratings.

Reads every rated corpus of the public data (laid out as docs/rated-corpora.md says), plans `yes_no` for all of its
English items, gives each of the judges random scores on all items and dimensions, and correlates. The yardstick for the
latter is scipy on the same data: once for every judge, dimension and statistic, without resamples.
Takes 1 min with the public data.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.stats import kendalltau, pearsonr, spearmanr

from dialeval.config.protocols import shipped
from dialeval.corpora.items import Item, item_rows
from dialeval.corpora.rated_sources import rating_rows
from dialeval.corpora.readers import read_rated
from dialeval.criteria import DIMENSIONS
from dialeval.measures.average_correlations import average_rows
from dialeval.measures.correlations import correlate_cells, correlation_rows, pair_rows
from dialeval.measures.score_cells import Cell, gather
from dialeval.prompts.rendering import Templates
from dialeval.protocols.questions import Question
from dialeval.protocols.scores import plan_probability
from dialeval.tables.files import to_table
from dialeval.tables.metaeval import ITEMS, RATINGS
from gates import DATA, Gates, arguments


def corpora(folder: Path) -> list[tuple[str, str, Path]]:
    """Return reader, name and path of every rated corpus in the folder."""
    comp, xdial = folder / "comp-analysis", folder / "xdial-eval" / "data"
    found = [("comp_dialogue", path.stem, path) for path in sorted(comp.glob("dialog_level_texts/*_text.txt"))]
    found += [("comp_turn", path.stem, path) for path in sorted(comp.glob("turn_level_texts*/*_text.txt"))]
    return found + [("xdial", f"xdial-{path.stem}", path) for path in sorted(xdial.glob("*/*.csv"))]


def score_table(items: list[Item], judges: int) -> pa.Table:
    """Return scores of all judges on all items and dimensions of their level."""
    rng = np.random.default_rng(0)
    keys = [(item, dimension) for item in items for dimension in DIMENSIONS[item.level]]
    columns = {
        "corpus": [item.corpus for item, _ in keys],
        "language": [item.language for item, _ in keys],
        "item_id": [item.item_id for item, _ in keys],
        "criterion": [dimension for _, dimension in keys],
    }
    arrays = {name: pa.array(values).dictionary_encode() for name, values in columns.items()}
    parts = []
    for judge in range(judges):
        same = {"judge": f"judge{judge}", "protocol": "yes_no", "repeat": 0, "scale_min": 0.0, "scale_max": 1.0}
        parts.append(
            pa.table(
                {name: array.dictionary_decode() for name, array in arrays.items()}
                | {name: pa.repeat(value, len(keys)) for name, value in same.items()}
                | {"value": rng.random(len(keys))}
            )
        )
    return pa.concat_tables(parts)


def scipys_time(cells: list[Cell]) -> float:
    """Return the seconds that scipy takes for the same correlations without intervals."""
    start = time.process_time()
    for cell in cells:
        for ratings in cell.ratings.values():
            for place in np.flatnonzero(~np.isnan(ratings).all(axis=1)):
                for scores in cell.scores[:, place]:
                    known = ~np.isnan(scores) & ~np.isnan(ratings[place])
                    for statistic in (pearsonr, spearmanr, kendalltau) if known.sum() > 1 else ():
                        statistic(scores[known], ratings[place][known])
    return time.process_time() - start


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data")
    parser.add_argument("--judges", type=int, default=30)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    clock = time.process_time()

    def lap(what: str, limit: float | None = None) -> float:
        nonlocal clock
        seconds = time.process_time() - clock
        if limit is None:
            gates.told(what, seconds, unit="CPU s")
        else:
            gates.at_most(what, seconds, limit, unit="CPU s")
        clock = time.process_time()
        return seconds

    readings = [read_rated(reader, name, path) for reader, name, path in corpora(options.data)]
    items = [item for reading in readings for item in reading.items]
    ratings = [rating for reading in readings for rating in reading.ratings]
    lap(f"{len(items)} items and {len(ratings)} ratings of {len(readings)} corpora read")

    english = [item for item in items if item.language == "en"]
    question = Question("yes_no", shipped("yes_no"), shipped=True)
    n = sum(1 for one in plan_probability(question, english, Templates()) if one.to_row())
    lap(f"{n:,} yes_no requests planned for the {len(english):,} English items", 20.0)

    item_table, rating_table = (
        to_table(ITEMS, list(item_rows(items))),
        to_table(RATINGS, list(rating_rows(ratings))),
    )
    scores = score_table(items, options.judges)
    lap(f"{len(scores)} scores of {options.judges} judges made up")
    cells = gather(item_table, rating_table, scores, {item.corpus: "all" for item in items})
    lap(f"{len(cells)} cells gathered")
    results = correlate_cells(cells, resamples=options.resamples, confidence=0.95, random_seed=0)
    n = sum(1 for _ in correlation_rows(results))
    seconds = lap(f"{n:,} x 3 correlations of {options.judges} judges with {options.resamples} resamples", 30.0)
    lap(f"{sum(1 for _ in average_rows(results))} averages")
    lap(f"{sum(1 for _ in pair_rows(results))} pairs of judges compared")
    gates.told("the correlations", seconds / scipys_time(cells), unit="x", against="scipy, without intervals")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gates.told("memory at most", memory, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
