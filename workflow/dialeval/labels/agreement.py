"""Agreement of annotators, differences between them, and variance components of labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from dialeval.labels.joined_judgements import as_judgements, mean_of_known, numbered
from dialeval.measures.design import OUTCOMES, cases
from dialeval.measures.variance_components import component_rows
from dialeval.stats.agreement import Level, judge_agreement, krippendorffs_alpha, retest_inconsistency
from dialeval.stats.arrays import FloatArray, cell_means
from dialeval.stats.differences import item_differences
from dialeval.stats.estimates import Estimate
from dialeval.stats.significance import holm
from dialeval.stats.variance_components import variance_components
from dialeval.tables.files import HUMAN

# How far annotators agree: Krippendorff's alpha of all, kappa or alpha of every two, and each with itself.

ALONE = "no item has labels of two annotators"


def agreement(labels: pd.DataFrame, *, resamples: int, confidence: float, random_seed: int) -> list[Row]:
    """Return the rows of a table `labels/agreement`.

    Numbers are compared by their distance (alpha at interval level, of all and of every two), choices and outcomes by
    whether they are the same (alpha at nominal level, Cohen's kappa and Gwet's AC1 of every two). Repeats of an
    annotator count once, the first; retest agreement has its own rows. Intervals resample cases.

    Args:
        labels: table `labels`.
        resamples: bootstrap resamples of the cases.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.
    """
    resampling: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "random_seed": random_seed}
    rows: list[Row] = []
    for given in answers_by_question(labels):
        found = _of_numbers(given, resampling) if given.level == "interval" else _of_choices(given, resampling)
        rows += [given.about | row for row in [*found, *_with_oneself(given, confidence)]]
    return rows


def _of_numbers(given: AnnotatorAnswers, resampling: dict[str, Any]) -> list[Row]:
    matrix, cluster = given.matrix(given.labels["answer"].to_numpy(np.float64), 0), given.clusters()
    name = "alpha (interval)"
    rows = [_row(name, krippendorffs_alpha(matrix, cluster, **resampling), _in_common(matrix))]
    for one, other in combinations(range(len(matrix)), 2):
        two = matrix[[one, other]]
        if _in_common(two):
            names = {"annotator": given.annotators[one], "other_annotator": given.annotators[other]}
            rows.append(_row(name, krippendorffs_alpha(two, cluster, **resampling), _in_common(two)) | names)
    return rows[: 1 if len(matrix) == 2 else None]  # of two, all is the pair


def _of_choices(given: AnnotatorAnswers, resampling: dict[str, Any]) -> list[Row]:
    of = given.labels[given.labels["round"] == 0]
    names = given.annotators
    code = of["annotator"].map({name: number for number, name in enumerate(names)}).to_numpy(np.int64)
    found = judge_agreement(code, of["unit"], of["answer"], of["case"].astype(str), len(names), **resampling)
    matrix = given.matrix(given.labels["answer"].to_numpy(np.float64), 0)
    rows = [_row("alpha (nominal)", found.alpha, _in_common(matrix))]
    for one, other in combinations(range(len(names)), 2):
        n = int(found.n_common[one, other])
        if not n:
            continue
        about = {"annotator": names[one], "other_annotator": names[other]}
        kappa = _row("kappa", found.kappa_interval(one, other), n)
        if np.isnan(kappa["estimate"]):
            kappa["note"] = "both gave the same answer on every item"
        rows += [kappa | about, _row("AC1", found.ac1_interval(one, other), n) | about]
    return rows


def _with_oneself(given: AnnotatorAnswers, confidence: float) -> list[Row]:
    """Return the retest agreement of each annotator who labelled a unit twice."""
    rows = []
    for name in given.annotators:
        of = given.labels[given.labels["annotator"] == name]
        retest = retest_inconsistency(of["unit"], of["answer"], of["case"].astype(str), confidence=confidence)
        if retest.n_pairs:
            differ = retest.inconsistency
            same = replace(
                differ, estimate=1.0 - differ.estimate, ci_low=1.0 - differ.ci_high, ci_high=1.0 - differ.ci_low
            )
            rows.append(_row("same answer again", same, retest.n_items) | {"annotator": name})
    return rows


def _row(statistic: str, found: Estimate, n: int) -> Row:
    beside = {"n": n, "n_clusters": found.n_clusters, "note": (found.note or None) if n else ALONE}
    return {"statistic": statistic, **found.limits(), **beside}


def _in_common(matrix: np.ndarray) -> int:
    """Return the number of units with two or more annotators."""
    return int(((~np.isnan(matrix)).sum(axis=0) > 1).sum())


# Who differs: each annotator beside the mean of the others, on what both labelled.

NO_OTHER_ANNOTATOR = "no other annotator labelled these items"
FEW_IN_COMMON = 3
"""Things in common from which a correlation is given."""


def annotators(labels: pd.DataFrame, *, confidence: float) -> list[Row]:
    """Return the rows of a table `labels/annotators`, p-values corrected for all annotators of a question.

    Intervals are Student's, clustered by case.

    Args:
        labels: table `labels`.
        confidence: nominal coverage of the intervals.
    """
    rows: list[Row] = []
    for given in answers_by_question(labels):
        found = _compared(given, confidence)
        corrected = holm(np.array([row.pop("p") for row in found], dtype=np.float64))
        rows += [{**given.about, **row, "p_holm": float(p)} for row, p in zip(found, corrected, strict=True)]
    return rows


def _compared(given: AnnotatorAnswers, confidence: float) -> list[Row]:
    leaning, answers = given.matrix(given.leaning), given.matrix(given.labels["answer"].to_numpy(np.float64), 0)
    cluster = given.clusters()
    rows = []
    for number, name in enumerate(given.annotators):
        of = given.labels[given.labels["annotator"] == name]
        own = leaning[number]
        others = mean_of_known(np.delete(leaning, number, axis=0))
        both = ~np.isnan(own) & ~np.isnan(others)
        row: Row = {
            "annotator": name,
            "simulated": bool(of["simulated"].any()),
            "n": int((~np.isnan(own)).sum()),
            "n_skipped": int(of["skipped"].sum()),
            "n_repeated": int((of["round"] > 0).sum()),
            "mean": float(own[~np.isnan(own)].mean()) if (~np.isnan(own)).any() else None,
            "p": np.nan,
            "note": NO_OTHER_ANNOTATOR,
        }
        if both.any():
            paired = item_differences(own[both], others[both], cluster[both], confidence=confidence, scores=True)
            found = paired.columns(0)
            row |= {name: found[name] for name in ("difference", "ci_low", "ci_high", "p")}
            agreed, why = _agreement(given, answers, number)
            row |= {"agreement": agreed, "note": "; ".join(filter(None, (found["note"], why))) or None}
        rows.append(row)
    return rows


def _agreement(given: AnnotatorAnswers, answers: FloatArray, number: int) -> tuple[float | None, str]:
    """Return the correlation with the others' mean, or of choices the share of equal answers, and why it has none."""
    own = answers[number]
    if given.level == "nominal":
        others = np.delete(answers, number, axis=0)
        compared = ~np.isnan(own) & ~np.isnan(others)
        return (float((own == others)[compared].mean()) if compared.any() else None), ""
    mean = mean_of_known(np.delete(answers, number, axis=0))
    both = ~np.isnan(own) & ~np.isnan(mean)
    if both.sum() < FEW_IN_COMMON:
        return None, f"fewer than {FEW_IN_COMMON} labels in common: no correlation"
    one, other = own[both], mean[both]
    if np.ptp(one) == 0.0 or np.ptp(other) == 0.0:
        return None, "one annotator gave every item the same label: no correlation"
    return float(np.corrcoef(one, other)[0, 1]), ""


# Where the variance of labels comes from: as that of judges' scores, with the annotator in the judge's place.

NOT_CROSSED = "not every annotator labelled every dialogue"
UNEQUAL = "labels of unequal inclusion probabilities are not weighted"


def components(labels: pd.DataFrame, *, resamples: int, confidence: float, random_seed: int) -> list[Row]:
    """Return the rows of a table `labels/variance_components`: none for pairs, which are no scores of a system.

    A Yes counts as 1. Labels of human dialogues do not count.

    Args:
        labels: table `labels`.
        resamples: bootstrap resamples of the cases.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.
    """
    rows: list[Row] = []
    for given in answers_by_question(labels):
        of = given.labels.assign(value=given.leaning)
        of = of[of["value"].notna() & of["system"].notna() & (of["system"] != HUMAN)]
        if of["opponent"].notna().any() or not len(of):
            continue
        found = variance_components(
            of["value"].to_numpy(np.float64),
            of["system"].to_numpy(np.str_),
            of["case"].to_numpy(np.str_),
            of["annotator"].to_numpy(np.str_),
            of["unit"].to_numpy(np.int64),
            resamples=resamples,
            confidence=confidence,
            random_seed=random_seed,
        )
        crossed = len(of[["unit", "annotator"]].drop_duplicates()) == of["unit"].nunique() * of["annotator"].nunique()
        is_unequal = (of.groupby("system")["probability"].nunique() > 1).any()
        why = "" if crossed else NOT_CROSSED
        for row in component_rows(found, of["system"].nunique(), without_designs=why):
            note = "; ".join(filter(None, [row["note"], UNEQUAL if is_unequal else ""]))
            row |= {"note": note or None}
            rows.append({**given.about, **{_of_annotators(name): _of_annotators(value) for name, value in row.items()}})
    return rows


def _of_annotators(value: Any) -> Any:
    """Return a text about judges as one about annotators; other values as they are."""
    return value.replace("a judge", "an annotator").replace("judge", "annotator") if isinstance(value, str) else value


# Labels as numbers by annotator and unit, the input of agreement and of differences between annotators.

Row = dict[str, Any]
_KEY = ("corpus", "item_id", "case_id", "first", "second", "n_utterances")


@dataclass(frozen=True)
class AnnotatorAnswers:
    """The labels under one protocol on one criterion.

    Attributes:
        about: protocol and criterion.
        labels: table `labels`, with repeats and skipped labels; with `unit`, `case`, and
            `answer`, the label as a number, NaN where it was skipped.
        level: what distances between the numbers mean.
        leaning: value of each label in comparisons of annotators' means.
    """

    about: Row
    labels: pd.DataFrame
    level: Level
    leaning: FloatArray

    @property
    def annotators(self) -> list[str]:
        """Return who labelled, by name."""
        return sorted(self.labels["annotator"].unique())

    def matrix(self, value: FloatArray, repeat: int | None = None) -> FloatArray:
        """Return values by annotator and unit, shape [n_annotators, n_units]; the mean over repeats, or one repeat.

        Args:
            value: of each label, NaN where it was skipped, shape [n].
            repeat: the number of the repeat; None for the mean over all.
        """
        code = {name: number for number, name in enumerate(self.annotators)}
        chosen = ((self.labels["round"] == repeat) | (repeat is None)).to_numpy(dtype=bool)
        who = np.asarray(self.labels["annotator"].map(code), dtype=np.int64)
        unit = np.asarray(self.labels["unit"], dtype=np.int64)
        shape = len(code), int(self.labels["unit"].max()) + 1
        return cell_means(np.where(chosen, value, np.nan), (who, unit), shape)[0]

    def clusters(self) -> np.ndarray:
        """Return the case of each unit, shape [n_units]."""
        first = self.labels.drop_duplicates("unit").sort_values("unit")
        return pd.factorize(first["case"], sort=True)[0].astype(np.int64)


def answers_by_question(labels: pd.DataFrame) -> Iterator[AnnotatorAnswers]:
    """Yield the labels of each protocol and criterion, in the order in which they come.

    Args:
        labels: table `labels`.
    """
    for (protocol, criterion), rows in labels.groupby(["protocol", "criterion"], sort=False, dropna=False):
        named = criterion if isinstance(criterion, str) else None
        number, level, leaning = _as_numbers(rows)
        first = rows["system"].fillna("").astype(str)
        second = rows["opponent"].fillna("").astype(str)
        swapped = (second != "") & (second < first)
        about = rows.assign(first=first.where(~swapped, second), second=second.where(~swapped, first))
        numbered_rows = rows.assign(unit=numbered(about, _KEY), answer=number, case=cases(as_judgements(rows)))
        yield AnnotatorAnswers({"protocol": protocol, "criterion": named}, numbered_rows, level, leaning)


def _as_numbers(rows: pd.DataFrame) -> tuple[FloatArray, Level, FloatArray]:
    """Return labels as numbers, their level of measurement, and their values in comparisons of means.

    The latter are the numbers themselves, 1 for a Yes, and of pairs 1 for a tie: a lenient annotator chooses ties.
    """
    open_label = rows["skipped"].to_numpy(dtype=bool)
    if rows["outcome"].notna().any():
        points = np.asarray(rows["outcome"].map(OUTCOMES), dtype=np.float64)
        points = np.where((rows["opponent"] < rows["system"]).to_numpy(dtype=bool), 1.0 - points, points)
        points = np.asarray(np.where(open_label, np.nan, points), dtype=np.float64)
        return points, "nominal", _marked(points, points == 0.5)
    if rows["value"].notna().any() and not _is_yes_or_no(rows):
        value = np.where(open_label, np.nan, rows["value"].to_numpy(dtype=np.float64))
        return value, "interval", value
    code, names = pd.factorize(rows["choice"].str.lower(), sort=True)
    number = np.asarray(np.where(open_label | (code < 0), np.nan, code), dtype=np.float64)
    yes = [name == "yes" for name in names]
    return number, "nominal", _marked(number, np.isin(number, np.flatnonzero(yes)))


def _marked(number: FloatArray, mark: np.ndarray) -> FloatArray:
    """Return 1 where `mark` is true, 0 elsewhere, NaN for a missing label."""
    return np.where(np.isnan(number), np.nan, mark).astype(np.float64)


def _is_yes_or_no(rows: pd.DataFrame) -> bool:
    """Return whether the answers are a Yes or a No, which may bear the numbers 1 and 0."""
    return bool(len(rows["choice"].dropna())) and set(rows["choice"].dropna().str.lower()) <= {"yes", "no"}
