"""Looks at what the default run produced: is everything there, and is it sensible?"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

FIGURES = (
    "figure2_seed_lengths",
    "figure3_utterance_lengths",
    "figure4_unieval",
    "figure5_arena_n8",
    "figure5_arena_n16",
    "figure6_gteval",
    "figure7_unieval_at_gt_length",
    "table2_arena_ratings",
)


def main(results: Path) -> None:
    def table(name: str) -> pd.DataFrame:
        return pd.read_csv(results / "tables" / f"{name}.csv")

    for name in FIGURES:
        for suffix in ("svg", "pdf"):
            path = results / "figures" / "botchat" / f"{name}.{suffix}"
            assert path.stat().st_size > 2000, path
    assert (results / "report" / "index.html").stat().st_size > 200_000

    judge = table("embedded/forest")
    print(judge.to_string(index=False))
    assert judge.set_index("perturbation").loc["all", "auc"] > 0.75

    at_gt_length = table("unieval/pass_rates_at_gt_length").set_index("system")["estimate"]
    print(at_gt_length.to_string())
    assert at_gt_length["human"] == at_gt_length.max(), "people must rank first"
    assert at_gt_length["generic"] == at_gt_length.min(), "stock replies must rank last"

    elo = table("arena/ratings")
    print(elo[["n_utterances", "system", "estimate", "ci_low", "ci_high"]].to_string(index=False))
    for _, of_length in elo.groupby("n_utterances"):
        ranking = of_length.sort_values("estimate", ascending=False)["system"].tolist()
        assert ranking[0] == "retrieval", ranking
        assert ranking[-1] == "generic", ranking
        known = of_length.dropna(subset=["ci_low", "ci_high"])
        assert known["estimate"].between(known["ci_low"], known["ci_high"]).all()
        assert of_length["note"].notna().all() or len(known) == len(of_length), (
            "an interval that is missing has a reason"
        )
    assert elo["ci_low"].notna().any()

    gteval = table("gteval/win_rates")
    assert (gteval[["win", "tie", "lose", "unparsed"]].sum(axis=1) - 1).abs().max() < 1e-9
    assert (gteval["unparsed"] == 0).all(), "the embedded judge must answer in the judges' grammar"
    correlations = table("metaeval/correlations").set_index(["judge", "method", "dimension"])["pearson"]
    print(correlations.to_string())
    assert correlations["forest", "yes_no", "overall"] > 0.3, "the judge must notice severity levels"
    assert abs(correlations["random", "yes_no", "overall"]) < 0.3, "chance must not"

    ratios = table("robustness/robustness")
    forest = ratios[(ratios["judge"] == "forest") & (ratios["method"] == "yes_no")]
    print(forest[["perturbation", "dimension", "ratio", "increase_ratio", "n"]].to_string(index=False))
    assert forest["perturbation"].nunique() == 16
    assert forest["ratio"].mean() > forest["increase_ratio"].mean(), (
        "perturbations must lower more scores than it raises"
    )
    length = ratios[(ratios["judge"] == "length") & (ratios["perturbation"] == "order_shuffle")]
    assert (length["ratio"] == 0).all(), "length does not depend on the order"

    accuracy = table("dialogbench/accuracy")
    print(accuracy.groupby(["source", "model", "method"])["n"].sum().to_string())
    assert set(accuracy["model"]) >= {"retrieval", "ngram", "random", "generic", "forest"}
    print("the default run is complete and sensible")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
