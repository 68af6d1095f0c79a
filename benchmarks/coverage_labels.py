"""Coverage with few labels: rare, tied or skipped ones, and few annotators.

Seven designs whose truth is known: a judge's own means, rates near 0, a judge who hardly errs, ratings of few labels a
pair with many ties, draws by score of which annotators skip more where scores are low, few annotators of differing
severity, and cascades of two judges. Counted is how often 95% intervals hold the truth, and how wide they are.
To reach: 93% in each. Takes 12 min.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import expit, ndtri

from dialeval.config.protocol_settings import Cascade
from dialeval.labels.cascade_estimates import with_cascade
from dialeval.measures.combined_judges import as_one, drawn
from dialeval.measures.design import Design
from dialeval.measures.scores import mean_rows
from dialeval.stats.bradley_terry import bradley_terry
from dialeval.stats.corrected_ratings import correct_ratings
from dialeval.stats.prediction_powered import Annotators, correct_means
from dialeval.stats.reliability import annotator_variance
from dialeval.tables.dialogues import JUDGEMENTS
from gates import Gates, arguments

Case = tuple[str, list[tuple[float, float, float]], str]
"""What it is, low and high end with the truth of each repetition, and what to know."""


def rare_rates(repetitions: int) -> Iterator[Case]:
    """Two systems on 1,000 cases that are harder for both or easier."""
    for rate, labels, worth in (
        (0.03, 400, 0.7),
        (0.05, 200, 0.7),
        (0.05, 400, 0.7),
        (0.1, 100, 0.7),
        (0.1, 200, 0.95),
    ):
        rows, alone = [], []
        for number in range(repetitions):
            rng = np.random.default_rng(number)
            own = 0.5 * rng.normal(size=(1000, 1)) + np.sqrt(0.75) * rng.normal(size=(1000, 2))
            seen = worth * own + np.sqrt(1.0 - worth**2) * rng.normal(size=own.shape)
            label = _some(rng, (own > ndtri(1.0 - rate)).astype(float), labels)
            seed, system = np.indices(own.shape)
            score = (seen > ndtri(1.0 - 1.3 * rate)).astype(float)
            found = correct_means(score.ravel(), label.ravel(), None, system.ravel(), seed.ravel(), rate=True)
            rows += [(*ends, rate) for ends in zip(found.ci_low, found.ci_high, strict=True)]
            alone += [(*ends, rate) for ends in zip(found.human_only_ci_low, found.human_only_ci_high, strict=True)]
        yield f"rate {rate:g}, {labels} labels, judge {worth:g}", rows, "corrected"
        yield f"rate {rate:g}, {labels} labels", alone, "people alone"


def judges_bias(repetitions: int) -> Iterator[Case]:
    """A judge that errs in a few of 1,000 cases, always the same way, or both ways."""
    for errs, one_way, labels in (
        (0.015, 0.0, 20),
        (0.015, 0.0, 50),
        (0.015, 0.0, 200),
        (0.05, 0.7, 200),
        (0.2, 0.6, 200),
    ):
        rows = []
        for number in range(repetitions):
            rng = np.random.default_rng(number)
            people = (rng.random((1000, 2)) < 0.6).astype(float)
            chance = np.where(people == 0.0, errs * one_way / 0.4, errs * (1.0 - one_way) / 0.6)
            score = np.where(rng.random(people.shape) < chance, 1.0 - people, people)
            seed, system = np.indices(people.shape)
            label = _some(rng, people, labels)
            found = correct_means(score.ravel(), label.ravel(), None, system.ravel(), seed.ravel(), rate=True)
            truth = errs * (2.0 * one_way - 1.0)
            rows += [(*ends, truth) for ends in zip(found.judge_bias_ci_low, found.judge_bias_ci_high, strict=True)]
        yield f"bias of a judge who errs in {errs:.1%}, {labels} labels", rows, ""


def few_pairs(repetitions: int) -> Iterator[Case]:
    """Two systems that tie in 80% of 120 cases and a third that loses to both; their difference."""
    for loses, leads in ((0.97, 0.1), (1.0, 0.3)):
        many = _compared(np.random.default_rng(99), 5, loses, leads, 60_000)
        rating = bradley_terry(many["left"], many["right"], many["outcome"], 3).rating
        for labels in (5, 10, 20):
            rows = []
            for number in range(repetitions):
                one = _compared(np.random.default_rng(number), labels, loses, leads, 120)
                columns = (one[name].to_numpy() for name in ("score", "label"))
                sides = (one[name].to_numpy() for name in ("left", "right"))
                found = correct_ratings(*columns, None, *sides, 3, one["seed"].to_numpy()).difference(0, 1)
                rows.append((found.ci_low, found.ci_high, rating[0] - rating[1]))
            yield f"80% ties, a third loses {loses:.0%}, {labels} labels a pair", rows, "difference of ratings"


def skipped(repetitions: int) -> Iterator[Case]:
    """100 labels of each of four systems drawn evenly by score, of which 60, 20 and 10% of the strata are skipped."""
    rows: dict[str, list[tuple[float, float, float]]] = {"drawn over size": [], "labelled over size": []}
    for number in range(repetitions):
        rng = np.random.default_rng(number)
        people = 0.5 * rng.normal(size=(300, 1)) + np.sqrt(0.75) * rng.normal(size=(300, 4))
        score = 0.8 * people + 0.6 * rng.normal(size=people.shape)
        label, by_draw, by_label = (np.full(people.shape, np.nan) for _ in range(3))
        for k in range(4):
            for stratum, skips in zip(np.array_split(np.argsort(score[:, k]), 3), (0.6, 0.2, 0.1), strict=True):
                taken = rng.choice(stratum, 33, replace=False)
                done = taken[rng.random(33) >= skips]
                label[done, k] = people[done, k]
                by_draw[stratum, k], by_label[stratum, k] = 33 / len(stratum), max(len(done), 1) / len(stratum)
        seed, system = np.indices(people.shape)
        for name, probability in (("drawn over size", by_draw), ("labelled over size", by_label)):
            columns = (column.ravel() for column in (score, label, probability, system, seed))
            found = correct_means(*columns, rate=False)
            rows[name] += [(*ends, 0.0) for ends in zip(found.ci_low, found.ci_high, strict=True)]
    for name, held in rows.items():
        yield "drawn by score, 60, 20, 10% skipped", held, f"weights: {name}"


def annotators(repetitions: int) -> Iterator[Case]:
    """Annotators who differ in severity by .5 on 1 to 5, four systems on 150 cases, 50 labelled of each."""
    for n_annotators, each in ((3, 1), (3, 3), (5, 1), (5, 2), (10, 1), (10, 2)):
        rows: dict[str, list[tuple[float, float, float]]] = {"these annotators": [], "people": []}
        for number in range(repetitions):
            rng = np.random.default_rng(number)
            own = 3.0 + 0.5 * rng.normal(size=(150, 1)) + 0.87 * rng.normal(size=(150, 4))
            harsh = 0.5 * rng.normal(size=n_annotators)
            said = np.full((n_annotators, 150, 4), np.nan)
            for k in range(4):
                for place, case in enumerate(rng.choice(150, 50, replace=False)):
                    who = rng.permutation(n_annotators)[:each] if each > 1 else [place % n_annotators]
                    said[who, case, k] = own[case, k] + harsh[who] + 0.5 * rng.normal(size=len(who))
            said = np.clip(np.round(said), 1.0, 5.0).reshape(n_annotators, -1)
            known = ~np.isnan(said)
            label = np.where(known.any(axis=0), np.nansum(said, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)
            score = own + 0.7 * rng.normal(size=own.shape) + rng.normal(size=4)
            seed, system = (codes.ravel() for codes in np.indices(own.shape))
            who = Annotators(annotator_variance(said, system), known / np.maximum(known.sum(axis=0), 1))
            for name, given in (("these annotators", None), ("people", who)):
                found = correct_means(
                    score.ravel(), label, None, system, seed, rate=False, ends=(1.0, 5.0), annotators=given
                )
                rows[name] += [(*ends, 3.0) for ends in zip(found.ci_low, found.ci_high, strict=True)]
        for name, held in rows.items():
            yield f"{n_annotators} annotators, {each} a dialogue", held, f"interval about {name}"


def cascades(repetitions: int) -> Iterator[Case]:
    """A cheap judge that is 1 logit lenient; the expensive judge, whose mean is .5, answers .3 of 300 requests."""
    design = Design(
        protocol="q", judges=["cheap-then-dear"], measures=["means"], form="probability",
        cascade=Cascade(first="cheap", then="dear", share=0.3),
    )  # fmt: skip
    rows: dict[str, list[tuple[float, float, float]]] = {"the two judges' answers as one's": [], "as a sample": []}
    for number in range(repetitions):
        rng = np.random.default_rng(number)
        lead = 0.75 * rng.logistic(size=(150, 1)) + 1.2 * rng.logistic(size=(150, 2))
        first = _judged("cheap", expit(lead + 1.0 + rng.normal(size=lead.shape)))
        then = _judged("dear", expit(3.0 * lead))
        asked = drawn(first, "probability", 0.3)
        both = as_one(
            first, then.filter(pa.array([key in asked for key in then["request_id"].to_pylist()])), "cheap-then-dear"
        )
        judgements = pa.concat_tables([first, both.cast(first.schema)])
        plain = mean_rows("means", judgements.to_pandas(), design)
        for name, found in zip(rows, (plain, with_cascade(plain, "means", judgements, design)), strict=True):
            rows[name] += [(row["ci_low"], row["ci_high"], 0.5) for row in found]
    for name, held in rows.items():
        yield "cascade, share .3", held, name


def _some(rng: np.random.Generator, people: np.ndarray, labels: int) -> np.ndarray:
    """Return so many labels of each system, NaN elsewhere."""
    label = np.full(people.shape, np.nan)
    for k in range(people.shape[1]):
        taken = rng.choice(len(people), labels, replace=False)
        label[taken, k] = people[taken, k]
    return label


def _compared(rng: np.random.Generator, labels: int, loses: float, leads: float, seeds: int) -> pd.DataFrame:
    left, right, seed = np.tile([0, 0, 1], seeds), np.tile([1, 2, 2], seeds), np.repeat(np.arange(seeds), 3)
    n, won = 3 * seeds, rng.random(3 * seeds)
    of_top = np.where(won < 0.8, 0.5, np.where(won < 0.8 + 0.2 * (0.5 + leads), 1.0, 0.0))
    of_third = np.where(won < loses, 1.0, np.where(rng.random(n) < 0.5, 0.5, 0.0))
    outcome = np.where(right == 1, of_top, of_third)
    score = np.where(rng.random(n) < 0.8, outcome, rng.choice([0.0, 0.5, 1.0], n))
    label = np.full(n, np.nan)
    for pair in range(3):
        taken = 3 * rng.choice(seeds, labels, replace=False) + pair
        label[taken] = outcome[taken]
    return pd.DataFrame(
        {"left": left, "right": right, "seed": seed, "outcome": outcome, "score": score, "label": label}
    )


def _judged(judge: str, value: np.ndarray) -> pa.Table:
    case, system = (codes.ravel() for codes in np.indices(value.shape))
    n = value.size
    columns = {name: [None] * n for name in JUDGEMENTS.schema.names} | {
        "judge": [judge] * n, "protocol": ["q"] * n, "criterion": ["warm"] * n, "reason": [""] * n,
        "status": ["ok"] * n,
        "request_id": [f"{a}/{b}" for a, b in zip(case, system, strict=True)], "repeat": [0] * n,
        "item_id": [f"{a}/{b}" for a, b in zip(case, system, strict=True)], "case_id": [f"c{a}" for a in case],
        "left": [f"s{b}" for b in system], "value": value.ravel().tolist(), "scale_min": [0.0] * n,
        "scale_max": [1.0] * n,
    }  # fmt: skip
    return pa.table(columns, schema=JUDGEMENTS.schema)


def judges_own(repetitions: int) -> Iterator[Case]:
    """A judge's own mean of scores from 1 to 5, by `correct_means` with and without the ends of the scale."""
    for cases in (20, 50, 200):
        for name, chances in OWN_SCORES.items():
            truth = float(np.dot(chances, np.arange(1, 6)))
            for ends, note in (((1.0, 5.0), "share of the scale"), (None, "Student's t")):
                rows = []
                for number in range(repetitions):
                    score = 1.0 + np.random.default_rng([number, cases]).choice(5, cases, p=chances)
                    label = np.where(np.arange(cases) < 8, score, np.nan)
                    about = score, label, None, np.zeros(cases), np.arange(cases)
                    found = correct_means(*about, ends=ends, rate=False)
                    rows.append((found.judge_only_ci_low[0], found.judge_only_ci_high[0], truth))
                yield f"judge's own mean, {cases} cases, {name}", rows, note


OWN_SCORES = {
    "middle": (0.05, 0.2, 0.4, 0.25, 0.1), "80% fives": (0.01, 0.02, 0.05, 0.12, 0.8),
    "95% fives": (0.01, 0.0, 0.01, 0.03, 0.95),
}  # fmt: skip


SECTIONS = {
    "judges_own": judges_own,
    "rare_rates": rare_rates,
    "judges_bias": judges_bias,
    "few_pairs": few_pairs,
    "skipped": skipped,
    "annotators": annotators,
    "cascades": cascades,
}
_NOT_TO_REACH = (
    "Student's t",
    "weights: drawn over size",
    "interval about these annotators",
    "the two judges' answers as one's",
)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--only", nargs="*", choices=sorted(SECTIONS), default=list(SECTIONS))
    options = parser.parse_args()
    gates = Gates(__file__, options)
    for section in options.only:
        for what, rows, note in SECTIONS[section](options.repetitions):
            low, high, truth = np.array(rows, dtype=np.float64).T
            there = ~np.isnan(low)
            held = 100.0 * ((low <= truth + 1e-12) & (truth - 1e-12 <= high))[there].mean()
            error = 100.0 * np.sqrt(0.05 * 0.95 / options.repetitions)
            width = f"{note}; {(high - low)[there].mean():.3g} wide, none in {100.0 * (1.0 - there.mean()):.0f}%"
            if note in _NOT_TO_REACH:
                gates.told(what, held, unit="%", note=width)
            else:
                gates.at_least(what, held, 93.0 - 2.0 * error, unit="%", note=width)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
