"""Active sampling of labels: coverage, labels saved against a random sample, and coverage at every look

Simulations whose truth is known: P(Yes) that is calibrated; errors of a score that differ between items, with an
uncertainty that follows them, has no relation to them, or is the inverse; rare passes. Then looks after every twelve
labels, and a labelling that stops as soon as the interval is narrow enough. Last, real ratings of all items, of which
samples are drawn: FED's dialogues with the spread of GPT-4's five ratings as uncertainty, and responses with the
distance of two judges (GPT-4's rating of another dimension, and length: a baseline). Saved is the share of labels that
a random sample needs more for the same half-width. To reach: 93% coverage, 95% less sampling error at all looks.
Takes 15 min.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from corrected_on_real_labels import FED, Rated, fed_dialogues, turns
from dialeval.labels.draw import HALF, predicted_errors
from dialeval.stats.label_corrected import Corrected
from dialeval.stats.prediction_powered import correct_means
from dialeval.stats.significance import anytime_limits
from gates import DATA, Gates, arguments

CASES, SYSTEMS = 222, 2


class Study(NamedTuple):
    """Items with labels of all of them, a judge's scores and predicted errors; arrays of shape [n].

    Attributes:
        label, score, error: on one scale.
        system, case: numbers.
        rate: whether labels are passes and fails.
    """

    label: np.ndarray
    score: np.ndarray
    error: np.ndarray
    system: np.ndarray
    case: np.ndarray
    rate: bool = False

    @property
    def truth(self) -> np.ndarray:
        """Return the mean label of each system."""
        return np.array([self.label[self.system == k].mean() for k in np.unique(self.system)])


def simulated(kind: str, rng: np.random.Generator) -> Study:
    """Two systems on 222 cases."""
    system, case = (codes.ravel() for codes in np.indices((SYSTEMS, CASES)))
    n = len(system)
    if kind in ("P(Yes)", "P(Yes), rare"):
        p = expit(rng.normal(0.5 if kind == "P(Yes)" else -4.0, 2.0, n))
        return Study((rng.random(n) < p).astype(float), p, np.sqrt(p * (1.0 - p)), system, case, rate=True)
    score, spread = rng.normal(0.0, 1.0, n), np.exp(rng.normal(-0.6, 0.8, n))
    error: np.ndarray = {
        "uncertainty follows the errors": spread * np.exp(rng.normal(0.0, 0.3, n)),
        "spread of five repeats": of_repeats(score + spread * rng.normal(size=(5, n))),
        "no relation": rng.permutation(spread),
        "inverse relation": 1.0 / spread,
        "all equal": np.full(n, 0.3),
    }[kind]
    return Study(score + spread * rng.normal(size=n), score, error, system, case)


def of_repeats(scores: np.ndarray, judges: Sequence[str] | None = None) -> np.ndarray:
    """Return the predicted errors of items with several scores, shape [n]; scores have shape [n_scores, n]."""
    about = {"corpus": "x", "left": "s", "right": None, "case_id": None, "n_utterances": None, "criterion": None}
    rows = [
        about | {"item_id": str(item), "judge": judge, "status": "ok", "value": value, "scale_min": 0, "scale_max": 1}
        for judge, given in zip(judges or ["j"] * len(scores), scores, strict=True)
        for item, value in enumerate(given.tolist())
    ]
    found = {key[1]: error for key, error in predicted_errors(rows, "scale").items()}
    return np.array([found[str(item)] for item in range(scores.shape[1])])


KINDS = (
    "P(Yes)", "P(Yes), rare", "uncertainty follows the errors", "spread of five repeats", "no relation",
    "inverse relation", "all equal",
)  # fmt: skip


def looked_at(study: Study, by: str, seed: int, looks: Sequence[int], *, labelled: float = 1.0) -> Iterator[Corrected]:
    """Yield the estimates at each size of a sample that grows, of which a random part is labelled.

    The sample is drawn as `labels/draw.py` draws it, with uniform numbers in place of hashes of the items.
    """
    rng = np.random.default_rng([seed, 1])
    mean = np.bincount(study.system, study.error) / np.bincount(study.system)
    relative = 1.0 - HALF + HALF * study.error / mean[study.system] if by == "active" else np.ones(len(study.error))
    order, part = rng.random(len(relative)) / relative, rng.random(len(relative)) < labelled
    for n in looks:
        label, chance = np.full((2, len(relative)), np.nan)
        for k in np.unique(study.system):
            own = np.flatnonzero(study.system == k)
            own = own[np.argsort(order[own])]
            drawn = own[:n]
            taken = drawn[part[drawn]]
            beyond = order[own[n]] if n < len(own) else np.inf
            designed = np.minimum(1.0, relative[taken] * beyond) if by == "active" else len(drawn) / len(own)
            label[taken], chance[taken] = study.label[taken], designed * len(taken) / len(drawn)
        yield correct_means(study.score, label, chance, study.system, study.case, target="given_cases", rate=study.rate)


class Widths(NamedTuple):
    """Coverage of 95% intervals in percent, mean half-width, and the mean error of the estimates."""

    coverage: float
    half_width: float
    bias: float


def measured(studies: Sequence[Study], by: str, n: int, labelled: float = 1.0) -> Widths:
    """Return coverage and widths over studies, each with a sample of its own."""
    held, width, off = [], [], []
    for seed, study in enumerate(studies):
        (found,) = looked_at(study, by, seed, [n], labelled=labelled)
        known = ~np.isnan(found.ci_low)
        held += ((found.ci_low <= study.truth + 1e-12) & (study.truth - 1e-12 <= found.ci_high))[known].tolist()
        width += ((found.ci_high - found.ci_low) / 2)[known].tolist()
        off += (found.estimate - study.truth).tolist()
    return Widths(100.0 * float(np.mean(held)), float(np.mean(width)), float(np.mean(off)))


def saved(active: float, random: float, n: int, of: float) -> float:
    """Return the labels saved, in percent of those with which a random sample has the half-width of the active one."""
    needed = 1.0 / (1.0 / of + (1.0 / n - 1.0 / of) * (active / random) ** 2)
    return 100.0 * (1.0 - n / needed)


def once(gates: Gates, repetitions: int) -> None:
    """Coverage, bias and savings at one look."""
    slack = 200.0 * np.sqrt(0.05 * 0.95 / (SYSTEMS * repetitions))
    for kind in KINDS:
        studies = [simulated(kind, np.random.default_rng(seed)) for seed in range(repetitions)]
        for n in (20, 50):
            random, active = (measured(studies, by, n) for by in ("random", "active"))
            part = measured(studies, "active", n, 0.7)
            less = saved(active.half_width, random.half_width, n, CASES)
            note = (
                f"half-width {active.half_width:.3f}, random {random.half_width:.3f}, saved {less:.0f}%; bias "
                f"{active.bias:.4f}; coverage of random {random.coverage:.1f}"
            )
            gates.at_least(f"{kind}, {n} labels", active.coverage, 93.0 - slack, unit="%", note=note)
            note = f"half-width {part.half_width:.3f}, bias {part.bias:.4f}"
            gates.at_least(f"{kind}, {n} labels, 70% returned", part.coverage, 93.0 - slack, unit="%", note=note)


def at_every_look(gates: Gates, repetitions: int) -> None:
    """Look after every twelve labels of each system, and labelling that stops at a half-width."""
    looks = list(range(8, 129, 12))
    for kind in ("P(Yes)", "P(Yes), rare", "uncertainty follows the errors", "no relation"):
        for by in ("random", "active"):
            always, fixed, stopped, labels = [], [], [], []
            for seed in range(repetitions):
                study = simulated(kind, np.random.default_rng(seed))
                low, high, at_look, n_labels = [], [], [], []
                for n, found in zip(looks, looked_at(study, by, seed, looks), strict=True):
                    number = found.estimate, found.ci_low, found.ci_high, found.n_labelled_clusters
                    limits = [anytime_limits(*one, 0.95) for one in zip(*number, strict=True)]
                    low.append([one[0] for one in limits])
                    high.append([one[1] for one in limits])
                    at_look.append((found.ci_low <= study.truth) & (study.truth <= found.ci_high))
                    n_labels.append(n)
                ends = np.array(low), np.array(high)
                held = (ends[0] <= study.truth) & (study.truth <= ends[1])
                known = ~np.isnan(ends[0])
                always.append((held | ~known).all(axis=0))
                fixed.append((np.array(at_look) | ~known).all(axis=0))
                width = (ends[1] - ends[0]) / 2
                narrow = np.where(known, width, np.inf) <= STOP[kind]
                first = np.where(narrow.any(axis=0), narrow.argmax(axis=0), len(looks) - 1)
                stopped.append(held[first, np.arange(SYSTEMS)])
                labels.append(np.array(n_labels)[first])
            note = (
                f"the 95% interval itself: {100 * np.mean(fixed):.1f}; stopped at a half-width of {STOP[kind]:g} after "
                f"{np.mean(labels):.0f} labels on average, coverage there {100 * np.mean(stopped):.1f}"
            )
            slack = 200.0 * np.sqrt(0.05 * 0.95 / (SYSTEMS * repetitions))
            what = f"{kind}, {by}: systems held at all {len(looks)} looks"
            gates.at_least(what, 100.0 * np.mean(always), 95.0 - slack, unit="%", note=note)


STOP = {"P(Yes)": 0.12, "P(Yes), rare": 0.06, "uncertainty follows the errors": 0.25, "no relation": 0.25}
"""Half-width of the confidence sequence at which labelling stops."""


def real(gates: Gates, data: Path, draws: int) -> None:
    """Real ratings of all items, of which samples are drawn."""
    (_, dialogues, _), (_, responses, _) = real_studies(data)
    for what, studies, sizes in (
        ("FED-Dial, five dimensions, GPT-4's spread", dialogues, (8, 17, 25)),
        ("responses of three corpora, GPT-4 against length", responses, (30, 100)),
    ):
        for n in sizes:
            of = float(np.mean([np.bincount(study.system).mean() for study in studies]))
            each = [
                (measured([study] * draws, "random", n), measured([study] * draws, "active", n)) for study in studies
            ]
            savings = [saved(active.half_width, random.half_width, n, of) for random, active in each]
            widths = [np.mean([pair[k].half_width for pair in each]) for k in range(2)]
            related = [np.corrcoef(study.error, np.abs(study.label - study.score))[0, 1] for study in studies]
            note = (
                f"half-width {widths[1]:.3f}, random {widths[0]:.3f}; saved {saved(widths[1], widths[0], n, of):.0f}% "
                f"(by dimension {min(savings):.0f} to {max(savings):.0f}%); coverage of random "
                f"{np.mean([random.coverage for random, _ in each]):.1f}; correlation of predicted and actual error "
                f"{np.mean(related):.2f}"
            )
            coverage = float(np.mean([active.coverage for _, active in each]))
            gates.at_least(f"{what}, {n} labels", coverage, 93.0, unit="%", note=note)


def of_score_level(study: Study) -> np.ndarray:
    """Return predicted errors that other items with the nearest scores show, shape [n].

    They stand for a calibration by earlier labels of all items, which no labelling has: an upper bound of its use.
    """
    off = within_systems(study)
    predicted = np.empty(len(off))
    for place in range(len(off)):
        others = np.flatnonzero(study.case != study.case[place])
        near = others[np.argsort(np.abs(study.score[others] - study.score[place]), kind="stable")[:NEAREST]]
        predicted[place] = np.sqrt(np.mean(off[near] ** 2))
    return predicted


def within_systems(study: Study) -> np.ndarray:
    """Return label less score, without the mean of each system, shape [n]."""
    gap = study.label - study.score
    return gap - (np.bincount(study.system, gap) / np.bincount(study.system))[study.system]


NEAREST = 20


def calibration(gates: Gates, data: Path, draws: int) -> None:
    """Real ratings: actual errors by thirds of the predicted ones, and savings by better predictions of them."""
    for what, studies, n in real_studies(data):
        size = float(np.mean([np.bincount(study.system).mean() for study in studies]))
        kinds = {
            "the judge's uncertainty": [study.error for study in studies],
            "errors of items with near scores": [of_score_level(study) for study in studies],
            "the actual error (oracle)": [np.abs(within_systems(study)) + 1e-6 for study in studies],
        }
        for kind, errors in kinds.items():
            thirds, savings, held = [], [], []
            for study, error in zip(studies, errors, strict=True):
                off = np.abs(within_systems(study))
                order = np.argsort(error, kind="stable")
                thirds.append([off[part].mean() / off.mean() for part in np.array_split(order, 3)])
                one = study._replace(error=error)
                random, active = (measured([one] * draws, by, n) for by in ("random", "active"))
                savings.append(saved(active.half_width, random.half_width, n, size))
                held.append(active.coverage)
            low, middle, high = np.mean(thirds, axis=0)
            note = f"actual error of the thirds {low:.2f}, {middle:.2f}, {high:.2f} of its mean"
            gates.told(f"{what}, {n} labels by {kind}: saved", float(np.mean(savings)), unit="%", note=note)
            if "oracle" not in kind:
                gates.at_least(f"{what}, {n} labels by {kind}: coverage", float(np.mean(held)), 92.0, unit="%")


def real_studies(data: Path) -> Iterator[tuple[str, list[Study], int]]:
    """Yield FED's dialogues and the responses of three corpora, with numbers of labels of each system."""
    gpt4 = json.loads((data / "comp-analysis/dialog_level_texts/fed_gpt4_annotations.json").read_text("utf-8"))
    dialogues = []
    for rated, (short, (_, top)) in zip(fed_dialogues(data), FED.items(), strict=True):
        spread = of_repeats(np.array([gpt4[f"{short}_{number}"] for number in range(1, 6)]) / 4.0 * top)
        dialogues.append(of_ratings(rated, spread))
    by_judge: dict[str, dict[str, Rated]] = {"GPT-4": {}, "length": {}}
    for rated in turns(data):
        by_judge[rated.judge][rated.name] = rated
    responses = []
    for name, rated in by_judge["GPT-4"].items():
        two = np.array([rated.score, by_judge["length"][name].score])
        responses.append(of_ratings(rated, of_repeats(two, ["GPT-4", "length"])))
    yield "FED-Dial, five dimensions", dialogues, 17
    yield "responses of three corpora", responses, 50


def of_ratings(rated: Rated, error: np.ndarray) -> Study:
    """Return real ratings as a study."""
    system = np.unique(rated.system, return_inverse=True)[1]
    return Study(rated.people, rated.score, error, system, rated.cluster)


PARTS = ("once", "looks", "real", "calibration")


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data")
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    wanted = [options.only] if options.only else PARTS
    if "once" in wanted:
        once(gates, options.repetitions)
    if "looks" in wanted:
        at_every_look(gates, options.repetitions)
    if "real" in wanted:
        real(gates, options.data, options.repetitions)
    if "calibration" in wanted:
        calibration(gates, options.data, options.repetitions)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
