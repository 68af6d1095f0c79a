"""Coverage and false alarms of judges' self-preference, and of Elo for a rarely compared player.

Self-preference: four systems of two or four families; judges that are fair or favour their own, sharp or dull. The
truth is the judge's score for its family less the one that it would give without the favour. From people's labels: the
judge's bias for its family less that for others, of scores and of pairs. Elo: five players, of whom the best has 8% of
the games; counted are its intervals, who comes first, and Holm claims in the wrong direction.
Takes 10 min.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from dialeval.config.botchat import Elo
from dialeval.labels.correction import corrected_numbers
from dialeval.labels.joined_judgements import LabelledDesign, Terms
from dialeval.measures.design import Comparisons
from dialeval.measures.differences import with_adjusted_p
from dialeval.measures.ratings import rate, rating_differences, rating_rows
from dialeval.stats.self_preference import self_preference
from gates import Gates, arguments

TIES = 0.1
SEED_EFFECT = 0.5
"""Log-odds by which a system is better or worse on a seed, for all judges."""
RARE = 0.08
STRENGTHS = np.array([2.0, 1.0, 0.0, -1.0, -2.0])
PER_SEED = 10
ENOUGH = 50
"""Seeds from which a sharp judge's slope is known well enough for the promised coverage."""


class Panel(NamedTuple):
    """Judges of pairs: strengths and families of systems, and of judges the families, slopes and favours."""

    strength: tuple[float, ...]
    family: tuple[int, ...]
    of_judge: tuple[int, ...]
    slope: tuple[float, ...]
    favour: tuple[float, ...]
    seeds: int = 100


EQUAL, APART = (0.0, 0.0, 0.0, 0.0), (0.8, 0.2, -0.2, -0.8)
PANELS = {
    "2 families, a fair, a biased and a neutral judge": Panel(EQUAL, (0, 0, 1, 1), (0, 1, 2), (1, 1, 1), (0, 0.8, 0)),
    "4 families, one judge biased": Panel(EQUAL, (0, 1, 2, 3), (0, 1, 2, 3), (1, 1, 1, 1), (0, 0.8, 0, 0)),
    "a sharp fair judge, a dull neutral one": Panel(APART, (0, 0, 1, 1), (0, 2), (2.0, 0.5), (0, 0)),
    "a sharp biased judge, a dull neutral one": Panel(APART, (0, 0, 1, 1), (0, 2), (2.0, 0.5), (0.8, 0)),
    "a dull fair judge, a sharp neutral one": Panel(APART, (0, 0, 1, 1), (0, 2), (0.5, 2.0), (0, 0)),
    "the same as the third, 20 seeds": Panel(APART, (0, 0, 1, 1), (0, 2), (2.0, 0.5), (0, 0), 20),
}


def verdicts(rng: np.random.Generator, panel: Panel, *, fair: bool = False, seeds: int | None = None) -> list[Any]:
    """Return judge, left, right, outcome and seed of every comparison in both orders."""
    k, seeds = len(panel.strength), seeds or panel.seeds
    left, right = np.array([(i, j) for i in range(k) for j in range(k) if i != j]).T
    better = np.array(panel.strength) + rng.normal(0.0, SEED_EFFECT, (seeds, k))
    family, parts = np.array(panel.family), []
    for judge, own in enumerate(panel.of_judge):
        sided = (family[left] == own).astype(float) - (family[right] == own)
        lead = panel.slope[judge] * (better[:, left] - better[:, right])
        lead = lead + (0.0 if fair else panel.favour[judge]) * sided
        outcome = (rng.random(lead.shape) < expit(lead)).astype(float)
        outcome[rng.random(lead.shape) < TIES] = 0.5
        seed = np.repeat(np.arange(seeds), len(left))
        parts.append((np.full(seed.shape, judge), np.tile(left, seeds), np.tile(right, seeds), outcome.ravel(), seed))
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def own_score(panel: Panel, judge: int, *, fair: bool) -> float:
    """Return the score that a judge gives its family against others of which a third family's judge also judges."""
    of, left, right, outcome, _ = verdicts(np.random.default_rng(7), panel, fair=fair, seeds=20_000)
    family, own = np.array(panel.family), panel.of_judge[judge]
    neutral = np.zeros(len(of), dtype=bool)
    for other in panel.of_judge:
        neutral |= (other != own) & (other != family[left]) & (other != family[right])
    rows = (of == judge) & neutral & ((family[left] == own) != (family[right] == own))
    return float(np.where(family[left] == own, outcome, 1.0 - outcome)[rows].mean())


def self_preferences(gates: Gates, repetitions: int) -> None:
    for name, panel in PANELS.items():
        found: dict[int, list[tuple[float, ...]]] = {}
        for number in range(repetitions):
            drawn = verdicts(np.random.default_rng([number, 7]), panel)
            for one in self_preference(*drawn, panel.of_judge, panel.family, resamples=400, random_seed=number):
                raw, of = one.own.estimate - one.others.estimate, one.difference
                found.setdefault(one.judge, []).append((raw, of.estimate, of.ci_low, of.ci_high))
        for judge, rows in found.items():
            truth = own_score(panel, judge, fair=False) - own_score(panel, judge, fair=True)
            raw, estimate, low, high = np.array(rows).T
            held = 100.0 * float(np.mean((low <= truth) & (truth <= high)))
            aside = (
                f"truth {truth:+.3f}, estimate {estimate.mean():+.3f}, own less others {raw.mean():+.3f}, "
                f"above 0 in {100.0 * np.mean(low > 0.0):.0f}%, width {np.mean(high - low):.3f}"
            )
            what = f"self-preference, {name}, judge {judge}"
            if panel.seeds < ENOUGH:
                gates.told(what, held, unit="%", note=aside)
            else:
                gates.at_least(what, held, 92.0, unit="%", note=aside)


SYSTEMS = {"a": "own", "b": "own", "c": "third", "d": "fourth"}
CASES = 60


def labelled(rng: np.random.Generator, form: str, favour: float, n_labelled: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return judgements of scores or pairs, and labels of a random part of them: people are not sided, nor sharper."""
    cases, names = np.arange(CASES), np.array(list(SYSTEMS))
    own = np.array([family == "own" for family in SYSTEMS.values()], dtype=float)
    quality = rng.normal(0.0, SEED_EFFECT, (CASES, len(names)))
    if form == "pair":
        left, right = np.triu_indices(len(names), 1)
        lead = quality[:, left] - quality[:, right]
        win = expit(np.stack([lead, lead + favour * (own[left] - own[right])]))
        said = (rng.random(win.shape) < win).astype(float)
        said[rng.random(win.shape) < TIES] = 0.5
    else:
        left = right = np.arange(len(names))
        of_case = rng.normal(0.0, SEED_EFFECT, (2, CASES, 1))
        said = np.stack([quality, quality + favour * own]) + of_case + rng.normal(0.0, 0.6, (2, *quality.shape))
    flat = {"case_id": np.repeat(cases.astype(str), len(left)), "left": np.tile(names[left], CASES)}
    rows = pd.DataFrame(flat | dict.fromkeys(("corpus", "criterion", "n_utterances", "choice", "place")))
    rows["item_id"], rows["protocol"], rows["request_id"], rows["repeat"] = rows["case_id"], "p", "", 0
    rows["right"] = np.tile(names[right], CASES) if form == "pair" else None
    words = {0.0: "right", 0.5: "tie", 1.0: "left"}
    people, judge = (
        rows.assign(
            value=None if form == "pair" else one.ravel(),
            outcome=[words[value] for value in one.ravel()] if form == "pair" else None,
            scale_min=-10.0,
            scale_max=10.0,
        )
        for one in said
    )
    drawn = np.zeros(len(rows), dtype=bool)
    drawn[rng.choice(len(rows), n_labelled, replace=False)] = True
    labels = people[drawn].rename(columns={"left": "system", "right": "opponent", "repeat": "round"})
    labels = labels.assign(annotator="one", simulated=True, skipped=False, probability=n_labelled / len(rows))
    return judge.assign(judge="j", status="ok"), labels


def from_labels(gates: Gates, repetitions: int) -> None:
    families = {"j": "own", **SYSTEMS}
    for form, measure in (("scale", "means"), ("pair", "win_rates")):
        design = LabelledDesign(
            protocol="p", judges=["j"], members=["j"], form=form, measures=[measure], families=families
        )
        for favour in (0.0, 0.8):
            truth = bias_of(form, favour)
            for n_labelled in (60, 120):
                found = []
                for number in range(repetitions):
                    drawn = labelled(np.random.default_rng([number, n_labelled]), form, favour, n_labelled)
                    rows, _ = corrected_numbers(*drawn, design, Terms())
                    (row,) = [row for row in rows if row["measure"].endswith("self_preference")]
                    found.append((row["judge_bias"], row["judge_bias_ci_low"], row["judge_bias_ci_high"]))
                estimate, low, high = np.array(found).T
                held = 100.0 * float(np.mean((low <= truth) & (truth <= high)))
                aside = (
                    f"truth {truth:+.3f}, estimate {estimate.mean():+.3f}, above 0 in "
                    f"{100.0 * np.mean(low > 0.0):.1f}%, width {np.mean(high - low):.3f}"
                )
                judge = "biased" if favour else "fair"
                what = f"self-preference from {n_labelled} labels, {form}, a {judge} judge"
                gates.at_least(what, held, 92.0, unit="%", note=aside)


def bias_of(form: str, favour: float) -> float:
    """Return the judge's bias for its family, less that for others where dialogues are judged by themselves."""
    if form == "scale":
        return favour
    rng = np.random.default_rng(7)
    lead = rng.normal(0.0, np.sqrt(2.0) * SEED_EFFECT, 1_000_000)
    return float((1.0 - TIES) * (expit(lead + favour) - expit(lead)).mean())


def rare_games(rng: np.random.Generator, seeds: int) -> Comparisons:
    """Return comparisons of five players, of whom the first takes part in few."""
    n = seeds * PER_SEED
    others = rng.permuted(np.tile([1, 2, 3, 4], (n, 1)), axis=1)
    rare = rng.random(n) < RARE
    left, right = np.where(rare, 0, others[:, 0]), np.where(rare, others[:, 0], others[:, 1])
    swapped = rng.random(n) < 0.5
    left, right = np.where(swapped, right, left), np.where(swapped, left, right)
    outcome = (rng.random(n) < expit(STRENGTHS[left] - STRENGTHS[right])).astype(float)
    outcome[rng.random(n) < TIES] = 0.5
    return Comparisons(left, right, outcome, np.repeat(np.arange(seeds), PER_SEED))


def rare_player(gates: Gates, repetitions: int) -> None:
    names, settings = list("abcde"), Elo(shuffles=200, repeats=1, resamples=200)
    for seeds in (15, 40, 120):
        first = shown = by_elo = wrong = 0
        for number in range(repetitions):
            rated = rate(rare_games(np.random.default_rng([number, seeds]), seeds), len(names), settings, number)
            rows = rating_rows(rated, names)
            first += rows[0]["system"] == "a"
            by_elo += int(np.nanargmax(rated.point.rating)) == 0
            shown += any(row["system"] == "a" and not np.isnan(row["ci_low"]) for row in rows)
            claims = [
                row
                for row in with_adjusted_p(rating_differences(rated, names, "t", "s", None))
                if row["p_holm"] <= 0.05
            ]
            wrong += any(row["measure"] == "elo" and row["difference"] < 0.0 for row in claims)
        share = 100.0 / repetitions
        about = f"the best player has 8% of the games, {seeds} seeds"
        gates.at_most(f"tables with an Elo claim in the wrong direction, {about}", wrong * share, 2.0, unit="%")
        gates.told(f"tables that have it first, {about}", first * share, unit="%", note=f"by Elo {by_elo * share:.0f}%")
        gates.told(f"tables with an Elo interval for it, {about}", shown * share, unit="%")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    chosen = parser.parse_args()
    gates = Gates(__file__, chosen)
    self_preferences(gates, chosen.repetitions)
    from_labels(gates, 2 * chosen.repetitions)
    rare_player(gates, max(chosen.repetitions // 2, 1))
    sys.exit(gates.finish())
