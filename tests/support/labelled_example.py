"""Simulated systems whose dialogues a biased judge scores, and simulated annotators label in part: the truth is known.

These labels are drawn at random around numbers of ours; they are no person's opinion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dialeval.labels.joined_judgements import LabelledDesign
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.labels import LABELS

Row = dict[str, Any]
SYSTEMS = ("ada", "bob", "cyd")


def judgement(system: str, case: str, judge: str = "j", **said: Any) -> Row:
    """A judgement of the dialogue that a system had on a case."""
    row = {
        "judge": judge, "protocol": "felt", "request_id": "", "corpus": "support", "language": "en",
        "item_id": f"{case}/{system}", "case_id": case, "left": system, "repeat": 0, "reason": "", "status": "ok",
    }  # fmt: skip
    return row | said


def label(system: str, case: str, annotator: str = "simulated-1", **said: Any) -> Row:
    """A simulated label of the same dialogue."""
    row = {
        "protocol": "felt", "corpus": "support", "item_id": f"{case}/{system}", "case_id": case, "system": system,
        "annotator": annotator, "simulated": True, "round": 0, "skipped": False, "comment": "", "file": "by-hand.csv",
        "row": 1,
    }  # fmt: skip
    return row | said


def scored(value: float, criterion: str = "warm") -> Row:
    """What a score on a scale from 1 to 7 says."""
    return {"value": value, "criterion": criterion, "scale_min": 1.0, "scale_max": 7.0}


def judgements_of(rows: Sequence[Row]) -> pd.DataFrame:
    """A table `judgements` as its readers see it."""
    return to_table(JUDGEMENTS, rows).to_pandas()


def labels_of(rows: Sequence[Row]) -> pd.DataFrame:
    """A table `labels` as its readers see it."""
    return to_table(LABELS, rows).to_pandas()


def design(**more: Any) -> LabelledDesign:
    """A protocol of form scale with one judge."""
    about: Row = {"protocol": "felt", "judges": ["j"], "form": "scale", "measures": ["means"]} | more
    return LabelledDesign(**{"members": about["judges"]} | about)


def simulated_scores(
    rng: np.random.Generator, *, n_cases: int = 222, n_labelled: int = 30, systems: Sequence[str] = SYSTEMS
) -> tuple[list[Row], list[Row], dict[str, float]]:
    """A run in which the judge flatters the worst system.

    Returns:
        Judgements, labels of a simple random sample of each system's dialogues, and what the simulated people would
        say of each system on new cases.
    """
    truth = {system: 4.0 - 0.4 * place for place, system in enumerate(systems)}
    judged, labelled = [], []
    of_case = rng.normal(0.0, 0.4, n_cases)
    for place, system in enumerate(systems):
        human = truth[system] + of_case + rng.normal(0.0, 0.6, n_cases)
        judge = human + 0.8 * place - 0.3 + rng.normal(0.0, 0.4, n_cases)
        chosen = set(rng.choice(n_cases, n_labelled, replace=False).tolist())
        for case in range(n_cases):
            judged.append(judgement(system, f"c{case}", **scored(float(judge[case]))))
            if case in chosen:
                said = scored(float(np.clip(human[case] + rng.normal(0.0, 0.3), 1.0, 7.0))) | {
                    "probability": n_labelled / n_cases
                }
                labelled.append(label(system, f"c{case}", **said))
    return judged, labelled, truth
