"""Coverage of human-corrected means on real ratings, a part of which is hidden.

People rated every dialogue of FED-Dial, by system, and every response of three turn-level corpora. A random slice is
taken for labels and the rest hidden; GPT-4's ratings of all (people's were filled up with these, see data's README)
are the judge, or the rank of a response's length. Counted is how often the 95% interval holds the mean of all people's
ratings: corrected, of people alone, and of the judge alone. To reach: corrected 93% or more.
Takes 10 min with the public data.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from dialeval.stats.prediction_powered import correct_means
from gates import DATA, Gates, arguments

FED = {
    "coh": ("Coherent", 2),
    "eng": ("Likeable", 2),
    "div": ("Diverse", 2),
    "inf": ("Informative", 2),
    "ovr": ("Overall", 4),
}
"""GPT-4's names, people's, and the top of people's scale, which begins at 0."""
TURNS = {
    "fed-turn": {"overall": (0, 4), "relevance": (0, 2), "interesting": (0, 2), "specificity": (0, 2)},
    "persona-usr": {"overall": (1, 5), "relevance": (1, 3), "interesting": (1, 3)},
    "dailydialog-zhao": {"overall": (1, 5), "relevance": (1, 5)},
    "conture-turn": {"overall": (0, 2)},
}
"""What people rated, and on which scale."""
FILLED = {"persona-usr": "specificity", "dailydialog-zhao": "interesting", "conture-turn": "interesting"}
"""Which of GPT-4's filled ratings, from 1 to 5, stands in for a judge of whatever people were asked."""


class Rated(NamedTuple):
    """Things of which people rated all; shape [n].

    Attributes:
        name, judge: corpus and criterion, and who scores.
        people: mean of all people's ratings.
        one: ratings of single people, NaN where there are fewer, shape [n, most]; no columns where unknown.
        score: the judge's, on people's scale.
        system, cluster: whose a thing is, and which dialogue it is of.
    """

    name: str
    judge: str
    people: np.ndarray
    one: np.ndarray
    score: np.ndarray
    system: np.ndarray
    cluster: np.ndarray


class Held(NamedTuple):
    """Coverages in percent and mean half-widths; `worst` of all systems and criteria."""

    corrected: float
    worst: float
    people: float
    judge: float
    half_width: float
    people_half_width: float
    rho: float
    weight: float


def fed_dialogues(data: Path) -> Iterator[Rated]:
    folder = data / "comp-analysis" / "dialog_level_texts"
    people = json.loads((folder / "fed_human_annotations.json").read_text(encoding="utf-8"))
    gpt4 = json.loads((folder / "fed_gpt4_annotations.json").read_text(encoding="utf-8"))
    system = np.array([row["model"] for row in people])
    for short, (name, top) in FED.items():
        each = [row["annotations"][name] for row in people]
        one = np.full((len(each), max(map(len, each))), np.nan)
        for row, given in enumerate(each):
            one[row, : len(given)] = given
        score = (np.mean([gpt4[f"{short}_{number}"] for number in range(1, 6)], axis=0) - 1.0) / 4.0 * top
        yield Rated(f"fed-dial {short}", "GPT-4", np.nanmean(one, axis=1), one, score, system, np.arange(len(each)))


def turns(data: Path) -> Iterator[Rated]:
    folder = data / "comp-analysis" / "turn_level_texts"
    rated = {
        name: json.loads((folder / f"turn_{name}_ratings.json").read_text(encoding="utf-8"))
        for name in ("overall", "relevance", "interesting", "specificity")
    }
    for corpus, scales in TURNS.items():
        lines = (folder / f"{corpus}_text.txt").read_text(encoding="utf-8").strip("\n").split("\n")
        fields = [line.split("\t") for line in lines]
        cluster = np.array([row[0].rsplit("-", 1)[0] if corpus == "conture-turn" else row[0] for row in fields])
        nobody = np.zeros((len(fields), 0))
        for criterion, (low, high) in scales.items():
            people = np.array(rated[criterion][corpus], dtype=float)
            length = rankdata([len(row[-1].split()) for row in fields]) / len(fields)
            judges = {"length": low + length * (high - low)}
            if corpus in FILLED:
                filled = np.array(rated[FILLED[corpus]][corpus], dtype=float)
                judges["GPT-4"] = low + (filled - 1.0) / 4.0 * (high - low)
            for judge, score in judges.items():
                name = f"{corpus} {criterion}"
                yield Rated(name, judge, people, nobody, score, np.zeros(len(fields), int), cluster)


def measure(
    rated: list[Rated], labels: int, draws: int, *, one_person: bool = False, target: str = "given_cases"
) -> Held:
    """Draws `labels` things of each system, again and again; with one person's rating each, or the mean of all."""
    held, widths, told = [], [], []
    for things in rated:
        systems, place = np.unique(things.system, return_inverse=True)
        truth = np.array([things.people[place == k].mean() for k in range(len(systems))])
        own = np.array([(place == k).sum() for k in range(len(systems))])
        # One rating says less than the mean of all that people gave: by how much, raters of one dialogue show.
        spread = np.nanmean(np.nanvar(things.one, axis=1)) if one_person else 0.0
        variance = np.full(len(place), spread) if one_person else None
        counts = []
        for number in range(draws):
            rng = np.random.default_rng(number)
            label = np.full(len(place), np.nan)
            for k in range(len(systems)):
                taken = rng.choice(np.flatnonzero(place == k), min(labels, own[k]), replace=False)
                label[taken] = _one_rating(rng, things.one[taken]) if one_person else things.people[taken]
            found = correct_means(
                things.score, label, None, place, things.cluster, target=target, rate=False, label_variance=variance
            )
            ends = (
                (found.ci_low, found.ci_high), (found.human_only_ci_low, found.human_only_ci_high),
                (found.judge_only_ci_low, found.judge_only_ci_high)
            )  # fmt: skip
            counts.append([(low <= truth + 1e-12) & (truth - 1e-12 <= high) for low, high in ends])
            widths.append(
                [
                    (found.ci_high - found.ci_low).mean() / 2,
                    (found.human_only_ci_high - found.human_only_ci_low).mean() / 2,
                ]
            )
            told.append([found.rho, found.weight.mean()])
        held.append(np.mean(counts, axis=0))
    of_kind = [100 * np.concatenate([one[kind] for one in held]) for kind in range(3)]
    return Held(
        of_kind[0].mean(), of_kind[0].min(), of_kind[1].mean(), of_kind[2].mean(),
        *np.mean(widths, axis=0), *np.nanmean(told, axis=0),
    )  # fmt: skip


def _one_rating(rng: np.random.Generator, ratings: np.ndarray) -> np.ndarray:
    return np.array([rng.choice(row[~np.isnan(row)]) if (~np.isnan(row)).any() else np.nan for row in ratings])


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data")
    parser.add_argument("--draws", type=int, default=500)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    print("what, judge, labels | corrected (worst) people judge % | half-width corrected people ratio | rho lambda")

    def show(name: str, rated: list[Rated], labels: int, *, one_person: bool = False, gated: bool = True) -> None:
        one = measure(rated, labels, options.draws, one_person=one_person)
        print(
            f"{name}, {labels} labels | {one.corrected:.1f} ({one.worst:.1f}) {one.people:.1f} {one.judge:.1f} |"
            f" {one.half_width:.3f} {one.people_half_width:.3f} {one.half_width / one.people_half_width:.2f} |"
            f" {one.rho:.2f} {one.weight:.2f}",
            flush=True,
        )
        if gated:
            note = f"lowest {one.worst:.1f}; people alone {one.people:.1f}, judge alone {one.judge:.1f}"
            gates.at_least(f"{name}, {labels} labels: coverage", one.corrected, 93.0, unit="%", note=note)
            gates.at_most(f"{name}, {labels} labels: coverage of the judge alone", one.judge, 60.0, unit="%")

    dialogues = list(fed_dialogues(options.data))
    for labels in (8, 17, 25):
        show("FED-Dial, GPT-4", dialogues, labels)
        show("FED-Dial, GPT-4, one person's rating", dialogues, labels, one_person=True, gated=False)
    for labels in (15, 30, 50, 100):
        for judge in ("GPT-4", "length"):
            show(f"turns, {judge}", [one for one in turns(options.data) if one.judge == judge], labels)
    for one in turns(options.data):
        show(f"{one.name}, {one.judge}", [one], 50, gated=False)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
