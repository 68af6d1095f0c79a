"""How well a judge does on dialogues it never saw, for each kind of damage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from dialeval.engines.embedded.damage import KINDS
from dialeval.engines.embedded.examples import make_spoiler
from dialeval.engines.embedded.folds import generator_for
from dialeval.engines.embedded.judge import Judge
from dialeval.engines.embedded.tokens import Script
from dialeval.engines.request import Dialogue

MIN_UTTERANCES = 4
"""Shorter dialogues are not reported on."""


@dataclass(frozen=True)
class ReportRow:
    """How well held-back dialogues were told from spoiled ones of the same lengths.

    Attributes:
        damage: the kind of damage, or `all`.
        n: number of spoiled dialogues.
        auc: chance that a true dialogue is thought likelier a person's than a spoiled one.
        accuracy: mean of the shares of true and of spoiled dialogues on the right side of the judge's threshold.
    """

    damage: str
    n: int
    auc: float
    accuracy: float


def held_back_report(
    judges: Mapping[tuple[Script, int], Judge],
    parts: Mapping[Script, Sequence[Sequence[Dialogue]]],
    random_seed: int,
) -> tuple[ReportRow, ...]:
    """Returns a row for all damage and one for each kind, every fold judged by the judge learned without it."""
    true: list[tuple[float, bool]] = []
    spoiled: dict[str, list[tuple[float, bool]]] = {kind: [] for kind in KINDS}
    for (script, fold), judge in judges.items():
        dialogues = [dialogue for dialogue in parts[script][fold] if len(dialogue) >= MIN_UTTERANCES]
        if not dialogues:
            continue
        true += _opinions(judge, dialogues)
        spoiler = make_spoiler(parts[script][fold], judge.rarity)
        for kind in KINDS:
            copies = [
                spoiler.spoil(dialogue, kind, generator_for(random_seed, "report", kind, *dialogue))
                for dialogue in dialogues
            ]
            spoiled[kind] += _opinions(judge, [copy.utterances for copy in copies if copy is not None])
    rows = [("all", [opinion for kind in KINDS for opinion in spoiled[kind]]), *spoiled.items()]
    return tuple(_row(kind, true, opinions) for kind, opinions in rows if opinions and true)


def _opinions(judge: Judge, dialogues: Sequence[Dialogue]) -> list[tuple[float, bool]]:
    """Returns for each dialogue how likely people wrote it, and whether the judge says so."""
    return [(judgement.human, judgement.human >= judge.threshold) for judgement in judge.judge(dialogues)]


def _row(kind: str, true: Sequence[tuple[float, bool]], spoiled: Sequence[tuple[float, bool]]) -> ReportRow:
    labels = [1] * len(true) + [0] * len(spoiled)
    auc = roc_auc_score(labels, [human for human, _ in [*true, *spoiled]])
    passed, caught = np.mean([said for _, said in true]), np.mean([not said for _, said in spoiled])
    return ReportRow(damage=kind, n=len(spoiled), auc=float(auc), accuracy=float((passed + caught) / 2))
