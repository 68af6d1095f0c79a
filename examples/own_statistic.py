"""A statistic of your own: how many of a chatbot's utterances ask a question? With the project's intervals.

python examples/own_statistic.py results
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import pandas as pd

from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.differences import paired_differences
from dialeval.stats.significance import holm


def main(results: Path) -> None:
    """Print each chatbot's share with its interval, and which of two asks more."""
    said = pd.concat([pd.read_parquet(path) for path in sorted((results / "dialogues").glob("*.parquet"))])
    said = said[said["origin"] == "model"]  # the first two utterances are people's
    asks = said.set_index(["chatbot", "seed_id", "turn"])["text"].str.contains("[?？؟]").astype(float)

    # utterances of one seed resemble each other, so the seed is the cluster
    for chatbot, own in asks.groupby("chatbot"):
        share = clustered_proportion(own, own.index.get_level_values("seed_id"))
        print(f"{chatbot}: {share.estimate:.2f} ({share.ci_low:.2f} to {share.ci_high:.2f}), {share.n_clusters} seeds")

    # all chatbots talked from the same seeds: they are compared turn by turn, and corrected for all pairs
    board = asks.unstack(["seed_id", "turn"])  # a row for each chatbot, a column for each turn of each seed
    found = paired_differences(board.to_numpy(), board.columns.get_level_values("seed_id"))
    pairs = combinations(board.index, 2)
    for place, ((one, other), p) in enumerate(zip(pairs, holm(found.p_value), strict=True)):
        span = f"{found.estimate[place]:+.2f} ({found.ci_low[place]:+.2f} to {found.ci_high[place]:+.2f})"
        print(f"{one} less {other}: {span}, p (Holm) {'< .001' if p < 0.001 else f'{p:.3f}'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the results of a finished run")
    main(parser.parse_args().results)
