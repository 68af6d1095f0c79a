"""One order of judges for all figures of meta-evaluation, across benchmarks, levels, corpora and languages."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dialeval.figures.metaeval_names import averaged_groups, deciding_dimension, scorer_names
from dialeval.figures.panels import best_first


def best_judges(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Returns the judges with their methods, best first: by what decides in each block of the main figure, on average.

    Args:
        tables: by their names; `metaeval/averages` and `metaeval/correlations` give the order, without them there is
            none.
    """
    if not {"metaeval/averages", "metaeval/correlations"} <= {*tables}:
        return []
    blocks = []
    for _, rows in averaged_groups(tables["metaeval/averages"], tables["metaeval/correlations"]):
        deciding = rows[rows["dimension"] == deciding_dimension(rows["dimension"])]
        blocks.append(deciding.assign(model=scorer_names(deciding)))
    return best_first(pd.concat(blocks), "pearson") if blocks else []
