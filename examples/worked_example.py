"""GPT-4 as a judge of FED-Dial, from public ratings by humans and GPT-4: the worked example of docs/statistics.md.

snakemake download --configfile configs/metaeval.yaml --cores 1
python examples/worked_example.py data/comp-analysis/dialog_level_texts
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from dialeval.stats.clustered import clustered_mean
from dialeval.stats.correlation import correlate
from dialeval.stats.differences import Sample, two_sample_difference
from dialeval.stats.prediction_powered import correct_means
from dialeval.stats.reliability import corrected_correlation, reliability
from dialeval.stats.significance import holm

LABELLED = 17  # dialogues of each system whose human ratings serve as labels


def main(folder: Path) -> None:
    """Print mean human ratings, GPT-4's agreement with them, and its means corrected by a few labels."""
    rows = json.loads((folder / "fed_human_annotations.json").read_text(encoding="utf-8"))
    rounds = json.loads((folder / "fed_gpt4_annotations.json").read_text(encoding="utf-8"))
    single = [[value for value in row["annotations"]["Overall"] if value is not None] for row in rows]
    people = np.array([np.mean(values) for values in single])  # from 0 to 4
    gpt4 = np.mean([rounds[f"ovr_{number}"] for number in range(1, 6)], axis=0) - 1.0  # from 1 to 5, moved to 0 to 4
    system = np.array([row["model"] for row in rows])
    dialogue = np.arange(len(rows))  # each dialogue is a case of its own
    systems = sorted(set(system))

    print("1. Mean human rating, 0 to 4")
    means = {name: clustered_mean(people[system == name], dialogue[system == name]) for name in systems}
    for name, mean in means.items():
        print(f"   {name}: {mean.estimate:.2f} ({mean.ci_low:.2f} to {mean.ci_high:.2f}), {mean.n_clusters} dialogues")

    print("2. Differences between systems (independent samples: the dialogues differ)")
    pairs = [(one, other) for place, one in enumerate(systems) for other in systems[place + 1 :]]
    sides = {name: Sample(people[system == name], dialogue[system == name]) for name in systems}
    found = [two_sample_difference(sides[one], sides[other], scores=True) for one, other in pairs]
    for (one, other), difference, p in zip(pairs, found, holm([float(d.p_value[0]) for d in found]), strict=True):
        span = f"{difference.estimate[0]:+.2f} ({difference.ci_low[0]:+.2f} to {difference.ci_high[0]:+.2f})"
        print(f"   {one} minus {other}: {span}, p (Holm) {'< .001' if p < 0.001 else f'{p:.3f}'}")

    print("3. Agreement of GPT-4 with humans")
    together = correlate(gpt4[None, None], people[None], dialogue, resamples=1000)
    print(f"   Pearson {together.estimate[0, 0]:.2f} ({together.ci_low[0, 0]:.2f} to {together.ci_high[0, 0]:.2f})")
    values, items = np.concatenate(single), np.repeat(dialogue, [len(one) for one in single])
    raters = reliability(values, items, dialogue, resamples=1000)
    ceiling = raters.ceiling
    print(f"   ceiling: {ceiling.estimate:.2f} ({ceiling.ci_low:.2f} to {ceiling.ci_high:.2f})")
    true = corrected_correlation(float(together.estimate[0, 0]), together.replicates[:, 0, 0], raters)
    print(f"   disattenuated: {true.estimate:.2f} ({true.ci_low:.2f} to {true.ci_high:.2f})")

    print(f"4. Human-corrected means from {LABELLED} labels of each system")
    drawn = np.random.default_rng(0)
    label = np.full(len(rows), np.nan)
    for name in systems:
        chosen = drawn.choice(np.flatnonzero(system == name), LABELLED, replace=False)
        label[chosen] = people[chosen]
    corrected = correct_means(gpt4, label, None, system, dialogue, target="given_cases", rate=False)
    for place, name in enumerate(corrected.systems):
        ends = [
            f"{way} {middle[place]:.2f} ({low[place]:.2f} to {high[place]:.2f})"
            for way, middle, low, high in (
                ("corrected", corrected.estimate, corrected.ci_low, corrected.ci_high),
                ("labels alone", corrected.human_only, corrected.human_only_ci_low, corrected.human_only_ci_high),
                ("GPT-4 alone", corrected.judge_only, corrected.judge_only_ci_low, corrected.judge_only_ci_high),
            )
        ]
        print(f"   {name}: {', '.join(ends)}; mean of all ratings {means[name].estimate:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where fed_human_annotations.json and fed_gpt4_annotations.json lie")
    main(parser.parse_args().folder)
