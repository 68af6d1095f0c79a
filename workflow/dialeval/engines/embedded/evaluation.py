"""How well a judge does on dialogues it never saw, for each kind of damage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.damage import KINDS, KINDS_OF_ONE, Spoiler
from dialeval.engines.embedded.examples import make_spoiler
from dialeval.engines.embedded.judge import Judge
from dialeval.engines.embedded.statistics import Floats
from dialeval.engines.request import Dialogue
from dialeval.text.folds import generator_for
from dialeval.text.tokens import Script

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
        spoiler = make_spoiler(parts[script][fold], judge.rarity)
        copies = [
            copy
            for kind in KINDS
            for dialogue in dialogues
            if (copy := spoiler.spoil(dialogue, kind, generator_for(random_seed, "report", kind, *dialogue)))
        ]
        opinions = _opinions(judge, [*dialogues, *(copy.utterances for copy in copies)])
        true += opinions[: len(dialogues)]
        for copy, opinion in zip(copies, opinions[len(dialogues) :], strict=True):
            spoiled[copy.kind].append(opinion)
    rows = [("all", [opinion for kind in KINDS for opinion in spoiled[kind]]), *spoiled.items()]
    return tuple(_row(kind, true, opinions) for kind, opinions in rows if opinions and true)


@dataclass(frozen=True)
class DimensionRow:
    """How well scores on one dimension tell held-back dialogues from spoiled ones.

    Attributes:
        level: `turn`: the last utterance is spoiled alone, and scored; `dialogue`: the whole is.
        dimension: the one scored.
        damage: the kind.
        n: number of spoiled ones.
        auc: chance that the true one of a pair drawn at random scores higher.
        noticed: share of spoiled ones that score lower than what they were made from.
    """

    level: Level
    dimension: str
    damage: str
    n: int
    auc: float
    noticed: float


def held_back_dimensions(
    judges: Mapping[tuple[Script, int], Judge],
    parts: Mapping[Script, Sequence[Sequence[Dialogue]]],
    random_seed: int,
) -> list[DimensionRow]:
    """Returns a row for each level, dimension and kind of damage, every fold scored by the judge learned without it."""
    levels: tuple[Level, ...] = ("turn", "dialogue")
    return [row for level in levels for row in _dimension_rows(level, judges, parts, random_seed)]


def _dimension_rows(
    level: Level,
    judges: Mapping[tuple[Script, int], Judge],
    parts: Mapping[Script, Sequence[Sequence[Dialogue]]],
    random_seed: int,
) -> list[DimensionRow]:
    damages: list[str] = []
    scores: list[tuple[Floats, Floats]] = []
    for (script, fold), judge in judges.items():
        spoiler = make_spoiler(parts[script][fold], judge.rarity)
        pairs = [pair for dialogue in parts[script][fold] for pair in _pairs(level, dialogue, spoiler, random_seed)]
        damages += [damage for damage, _, _ in pairs]
        before = judge.rate([true for _, true, _ in pairs], level)
        scores.append((before, judge.rate([spoiled for _, _, spoiled in pairs], level)))
    before, after = (np.concatenate(column) for column in zip(*scores, strict=True))
    from sklearn.metrics import roc_auc_score

    rows = []
    for number, dimension in enumerate(DIMENSIONS[level]):
        for damage in dict.fromkeys(damages):
            here = [place for place, other in enumerate(damages) if other == damage]
            true, spoiled = before[here, number], after[here, number]
            auc = roc_auc_score([1] * len(here) + [0] * len(here), [*true, *spoiled])
            noticed = float(np.mean(spoiled < true))
            rows.append(DimensionRow(level, dimension, damage, len(here), float(auc), noticed))
    return rows


def _pairs(
    level: Level, dialogue: Dialogue, spoiler: Spoiler, random_seed: int
) -> Iterator[tuple[str, Dialogue, Dialogue]]:
    """Yields each kind of damage that a dialogue can have, with a true text and the spoiled one."""
    for kind in KINDS_OF_ONE if level == "turn" else KINDS:
        rng = generator_for(random_seed, "dimensions", kind, *dialogue)
        if level == "turn":
            true = dialogue[: int(rng.integers(2, len(dialogue) + 1))]
            spoiled = spoiler.spoil_last(true, kind, rng)
            if spoiled is not None:
                yield kind, true, spoiled
        elif len(dialogue) >= MIN_UTTERANCES and (copy := spoiler.spoil(dialogue, kind, rng)) is not None:
            yield kind, dialogue, copy.utterances


def _opinions(judge: Judge, dialogues: Sequence[Dialogue]) -> list[tuple[float, bool]]:
    """Returns for each dialogue how likely people wrote it, and whether the judge says so."""
    return [(judgement.human, judgement.human >= judge.threshold) for judgement in judge.judge(dialogues)]


def _row(kind: str, true: Sequence[tuple[float, bool]], spoiled: Sequence[tuple[float, bool]]) -> ReportRow:
    from sklearn.metrics import roc_auc_score

    labels = [1] * len(true) + [0] * len(spoiled)
    auc = roc_auc_score(labels, [human for human, _ in [*true, *spoiled]])
    passed, caught = np.mean([said for _, said in true]), np.mean([not said for _, said in spoiled])
    return ReportRow(damage=kind, n=len(spoiled), auc=float(auc), accuracy=float((passed + caught) / 2))
