"""Do two kinds of raters rank the judges alike? (comp-analysis, Table 7)"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from dialeval.aggregation.metaeval.cells import ANNOTATION
from dialeval.aggregation.metaeval.correlations import Correlated
from dialeval.published.metaeval import RANKINGS, published


def ranking_rows(results: Sequence[Correlated], ensembles: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/ranking_agreement`.

    Judges are ranked by their Pearson correlation with people, and by that with a model's ratings of the same items;
    the row is Spearman's correlation of the two rankings. Named ensembles are not ranked among their own members.
    """
    by_model = {
        (result.cell.corpus, result.cell.language, result.cell.level): result
        for result in results
        if result.rater_kind == "model"
    }
    for people in results:
        cell = people.cell
        model = by_model.get((cell.corpus, cell.language, cell.level))
        if people.rater_kind != "human" or model is None:
            continue
        for place, dimension in enumerate(people.dimensions):
            if dimension not in model.dimensions:
                continue
            other_place = model.dimensions.index(dimension)
            pairs = []
            for number, scorer in enumerate(people.scorers):
                if scorer.method == ANNOTATION or scorer.judge in ensembles or scorer not in model.scorers:
                    continue
                first = people.by_method["pearson"].estimate[number, place]
                second = model.by_method["pearson"].estimate[model.scorers.index(scorer), other_place]
                if not np.isnan(first) and not np.isnan(second):
                    pairs.append((first, second))
            row = {
                "level": cell.level,
                "corpus": cell.corpus,
                "language": cell.language,
                "dimension": dimension,
                "first_rater": "human",
                "second_rater": "model",
                "n_judges": len(pairs),
                "published_spearman": published(RANKINGS, cell.corpus, cell.level, cell.language, dimension),
            }
            if len(pairs) < 3:
                yield row | {"reason": f"only {len(pairs)} judges have both correlations; 3 are needed"}
            else:
                yield row | {"spearman": float(spearmanr(*np.transpose(pairs)).statistic)}
