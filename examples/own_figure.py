"""A figure of your own: do chatbots that write more pass for people more often? From the tables of a finished run.

python examples/own_figure.py results lengths.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import pandas as pd


def main(results: Path, figure: Path) -> None:
    """Draws a point for each system and judge, with the interval of its pass rate."""
    rates = pd.read_csv(results / "tables" / "unieval" / "pass_rates.csv")
    rates = rates[rates["n_utterances"] == rates["n_utterances"].max()]
    lengths = pd.read_csv(results / "tables" / "botchat" / "utterance_lengths.csv").set_index("model")["mean"]
    drawing, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    for judge, of_judge in rates.groupby("judge"):
        x = lengths.loc[of_judge["system"]].to_numpy()
        below, above = of_judge["estimate"] - of_judge["ci_low"], of_judge["ci_high"] - of_judge["estimate"]
        axes.errorbar(x, of_judge["estimate"], yerr=[below, above], fmt="o", capsize=3, label=f"judge {judge}")
        for system, along, up in zip(of_judge["system"], x, of_judge["estimate"], strict=True):
            axes.annotate(system, (along, up), xytext=(6, 4), textcoords="offset points")
    axes.set_xlabel("mean length of an utterance")
    axes.set_ylabel(f"share of dialogues that pass at N = {rates['n_utterances'].max()}")
    axes.set_ylim(0, 1)
    axes.margins(x=0.15)
    axes.legend()
    drawing.savefig(figure, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the results of a finished run")
    parser.add_argument("figure", type=Path, help="where the figure goes: .png, .svg, .pdf")
    arguments = parser.parse_args()
    main(arguments.results, arguments.figure)
