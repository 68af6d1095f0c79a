"""A leaderboard of your own making: the three measures of BotChat side by side, from the tables of a finished run.

python examples/leaderboard.py results
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd


def main(results: Path) -> None:
    """Print one table for each judge, the best chatbot first."""
    tables = results / "tables"
    arena = pd.read_csv(tables / "arena" / "ratings.csv")
    unieval = pd.read_csv(tables / "unieval" / "pass_rates.csv")
    gteval = pd.read_csv(tables / "gteval" / "win_rates.csv")
    ranks = pd.read_csv(tables / "arena" / "ranks.csv").query("measure == 'bradley_terry'")
    longest = arena["n_utterances"].max()  # each dialogue is judged at several lengths; the longest tells most
    at_longest = [table[table["n_utterances"] == longest] for table in (arena, unieval)]
    ranks = ranks[ranks["scope"] == f"N = {longest}"]
    for judge, rated in at_longest[0].groupby("judge"):
        columns = {
            "ranks": rank_sets(ranks[ranks["judge"] == judge]),
            f"Bradley-Terry (N = {longest})": with_interval(rated, "bradley_terry", digits=0),
            f"pass rate (N = {longest})": with_interval(at_longest[1][at_longest[1]["judge"] == judge]),
            "win or tie with humans": with_interval(gteval[gteval["judge"] == judge], "win_or_tie"),
        }
        board = pd.DataFrame(columns).loc[rated.sort_values("bradley_terry", ascending=False)["system"]]
        print(f"{judge}\n{board.to_string()}\n")


def with_interval(table: pd.DataFrame, measure: str = "", digits: int = 2) -> pd.Series[str]:
    """Return each system's number with its interval as a text; an interval that does not exist is left out."""
    names = (measure or "estimate", f"{measure}_ci_low".lstrip("_"), f"{measure}_ci_high".lstrip("_"))
    rows = table.set_index("system")[list(names)]
    return rows.apply(
        lambda row: (
            f"{row.iloc[0]:.{digits}f}"
            + ("" if row.isna().any() else f" ({row.iloc[1]:.{digits}f} to {row.iloc[2]:.{digits}f})")
        ),
        axis=1,
    )


def rank_sets(ranks: pd.DataFrame) -> pd.Series[str]:
    """Return the 95% simultaneous confidence set of each system's rank."""
    rows = ranks.set_index("system")
    return rows["rank_ci_low"].astype(str) + " to " + rows["rank_ci_high"].astype(str)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the results of a finished run")
    main(parser.parse_args().results)
