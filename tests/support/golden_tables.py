"""Numbers of tables under names that stay, whatever the tables and their columns come to be called.

Where a table, a column, or a word in a column is renamed, `TABLES` is what changes. The numbers themselves, in
`tests/golden/numbers.json`, never do: a number that differs is another result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

GAP = " | "


@dataclass(frozen=True)
class Golden:
    """Where numbers are found.

    Attributes:
        path: the table below `results/tables`, without suffix.
        keys: the columns that say what a number is of, in an order that stays.
        numbers: the columns of numbers: `stable=column`, or `column` where both are one.
        keys_are: what stands in place of a column that the table no longer has, by its name in `keys`.
        words: words in the columns of keys -> what they were called first.
    """

    path: str
    keys: str
    numbers: str
    keys_are: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


def interval(name: str, column: str = "") -> str:
    """Return the two ends of a number's interval, as an entry of `numbers`."""
    return f"{name}_low={column or name}_ci_low {name}_high={column or name}_ci_high"


INTERVAL = "low=ci_low high=ci_high"
BEHIND = "n_clusters design_effect effective_n=n_effective"
DIFFERENCES = (
    f"first_value=system_value second_value=opponent_value difference {INTERVAL} p p_holm q_bh family_size n n_clusters"
)
TABLES: dict[str, list[Golden]] = {
    "seeds": [Golden("botchat/seeds", "n_utterances", "n_dialogues")],
    "lengths": [Golden("botchat/utterance_lengths", "model", "mean median p95 max n")],
    "unieval rates": [
        Golden("unieval/pass_rates", "judge n_utterances system", f"estimate {INTERVAL} n n_unparsed {BEHIND}")
    ],
    "unieval rates at the human length": [
        Golden("unieval/pass_rates_at_gt_length", "judge system", f"estimate {INTERVAL} n n_unparsed {BEHIND}")
    ],
    "arena ratings": [
        Golden(
            "arena/ratings",
            "judge n_utterances system",
            f"estimate {INTERVAL} n n_unparsed elo_sd "
            f"bradley_terry {interval('bradley_terry')} bradley_terry_length_controlled "
            f"{interval('bradley_terry_length_controlled')} "
            f"davidson {interval('davidson')} p_above_next {BEHIND}",
        )
    ],
    "arena win rates": [
        Golden(
            "arena/win_rates",
            "judge n_utterances system opponent",
            f"win=estimate tie lose unparsed {INTERVAL} n {BEHIND}",
        )
    ],
    "gteval": [
        Golden(
            "gteval/win_rates",
            "judge system",
            "win tie lose unparsed estimate=win_or_tie low=win_or_tie_ci_low high=win_or_tie_ci_high n n_clusters "
            "design_effect=win_or_tie_design_effect effective_n=win_or_tie_n_effective",
        )
    ],
    "bias": [
        Golden(
            f"{protocol}/bias",
            "judge other_judge protocol n_utterances measure",
            f"value=estimate {INTERVAL} n {BEHIND}",
            keys_are={"protocol": protocol},
            words={
                "order_inconsistency": "flips",
                "biased_toward_first": "first_both",
                "biased_toward_second": "second_both",
                "first_position_win_rate": "first_wins",
                "longer_win_rate": "longer_wins",
                "retest_inconsistency": "retest_flips",
            },
        )
        for protocol in ("arena", "gteval")
    ],
    "differences of chatbots": [
        Golden(
            "unieval/differences",
            "table measure judge scope system opponent",
            DIFFERENCES,
            words={"pass_rates": "unieval_pass_rates", "pass_rates_at_gt_length": "unieval_at_gt_length"},
        ),
        Golden(
            "arena/differences",
            "table measure judge scope system opponent",
            DIFFERENCES,
            words={"ratings": "arena_elo", "win_rates": "arena_win_rates"},
        ),
        Golden(
            "gteval/differences",
            "table measure judge scope system opponent",
            DIFFERENCES,
            words={"win_rates": "gteval", "all": "human length"},
        ),
    ],
    "rated corpora": [Golden("metaeval/corpora", "corpus level language", "n_items n_utterances words_response")],
    "correlations": [
        Golden(
            "metaeval/correlations",
            "judge method corpus language dimension rater_kind",
            f"pearson {interval('pearson')} spearman {interval('spearman')} kendall {interval('kendall')} n "
            f"n_missing {BEHIND}",
        )
    ],
    "pairs of judges": [
        Golden(
            "metaeval/judge_pairs",
            "corpus language dimension rater_kind judge method other_judge other_method",
            "first_pearson=pearson second_pearson=other_pearson between=judge_correlation difference "
            f"{interval('difference')} p p_holm q_bh p_reversed n "
            "n_clusters williams_t p_williams",
        )
    ],
    "ensembles of dimensions": [
        Golden(
            "metaeval/dimension_ensemble",
            "judge method corpus language rater_kind",
            f"ensemble {interval('ensemble')} direct {interval('direct')} n {BEHIND}",
        )
    ],
    "ensembles of judges": [
        Golden(
            "metaeval/model_ensemble",
            "corpus language dimension rater_kind chosen_on members",
            f"pearson {interval('pearson')} best_member n {BEHIND}",
        )
    ],
    "matrices": [Golden("metaeval/matrices", "kind corpus language scorer dimension first second", "pearson n")],
    "damaged pairs": [
        Golden(
            "robustness/pairs",
            "corpus language perturbation",
            "n_wanted=n_requested n_pairs n_unchanged n_not_applicable n_rejected",
        )
    ],
    "robustness": [
        Golden(
            "robustness/robustness",
            "judge method corpus language level perturbation dimension threshold",
            f"ratio {INTERVAL} rises=increase_ratio n n_missing {BEHIND}",
        )
    ],
    "averages of robustness": [
        Golden(
            "robustness/averages",
            "judge method corpus language level",
            f"average {INTERVAL} n_cells n_missing {BEHIND}",
        )
    ],
    "robustness by theta": [
        Golden(
            "robustness/thresholds",
            "judge method corpus language level perturbation dimension threshold",
            f"ratio {INTERVAL} n n_missing {BEHIND}",
        )
    ],
    "drops": [
        Golden(
            "robustness/score_drops",
            "judge method corpus language level perturbation dimension",
            "mean p05 p25 median p75 p95 n n_missing",
        )
    ],
    "ladders": [
        Golden(
            "robustness/severity_levels",
            "judge method corpus language perturbation dimension",
            f"n n_missing falling=strictly_decreasing {interval('falling', 'strictly_decreasing')} "
            f"not_rising=non_increasing {interval('not_rising', 'non_increasing')} n_clusters "
            "falling_design_effect=strictly_decreasing_design_effect "
            "falling_effective_n=strictly_decreasing_n_effective "
            "not_rising_design_effect=non_increasing_design_effect "
            "not_rising_effective_n=non_increasing_n_effective",
        )
    ],
    "differences of robustness": [
        Golden("robustness/differences", "table measure judge scope system opponent", DIFFERENCES)
    ],
}


def paths() -> list[str]:
    """Return the tables, below `results/tables` and without suffix."""
    return sorted({golden.path for places in TABLES.values() for golden in places})


def numbers(tables: Path, name: str) -> dict[str, dict[str, float | None]]:
    """Return every number of a table: key of the row -> column -> the number, to 9 digits.

    Args:
        tables: the folder `results/tables` of a run.
        name: a name in `TABLES`.
    """
    return {key: told for golden in TABLES[name] for key, told in _numbers(tables, golden)}


def _numbers(tables: Path, golden: Golden) -> list[tuple[str, dict[str, float | None]]]:
    rows = pq.read_table(tables / f"{golden.path}.parquet").to_pylist()
    columns = [name.partition("=")[::2] for name in golden.numbers.split()]
    found = [
        (_key(golden, row), {stable: _rounded(row[column or stable]) for stable, column in columns}) for row in rows
    ]
    assert len(dict(found)) == len(found), f"{golden.path}: the columns {golden.keys} do not tell its rows apart"
    return found


def _key(golden: Golden, row: Mapping[str, Any]) -> str:
    values = [golden.keys_are[key] if key in golden.keys_are else row[key] for key in golden.keys.split()]
    words = ["" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return GAP.join(golden.words.get(word, word) for word in words)


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.9g}")
