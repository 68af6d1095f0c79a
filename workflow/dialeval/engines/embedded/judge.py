"""The embedded judge: the probability that humans wrote a dialogue, scores on dimensions, verdicts, and its report.

It learns from human dialogues and perturbed copies of the same lengths (`training_examples.py`). Two classifiers are
stacked: one for an utterance given the earlier ones, and one for the dialogue, whose features include the first one's
probabilities. Both separate originals and the kinds of perturbation, and score dimensions (`classifiers.py`).

Everything is cross-fitted over inner folds, because statistics look perfect on the dialogues that they were counted on.
The judge has one part for each inner fold, learned without it, and its probabilities are the mean over the parts; only
the effect of length is learned once and from all. A training dialogue is described by statistics of the other inner
folds, and random utterances are drawn from its own. If a dialogue to be judged has an utterance that the judge learned
from, as chatbots that quote humans write, the part without this utterance's fold describes and judges it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dialeval.corpora.clusters import generator_for
from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.classifiers import (
    GROWTH,
    GROWTH_ALONE,
    Calibration,
    Dimensions,
    Labelled,
    Lengths,
    dialogue_features,
)
from dialeval.engines.embedded.features import ALONE, N_FEATURES, NAMES, Described, Reader
from dialeval.engines.embedded.interfaces import Judgement, Model
from dialeval.engines.embedded.texts import Batch, Floats, Integers, rounded
from dialeval.engines.embedded.training_examples import (
    KINDS,
    TRUE,
    Examples,
    make_examples,
    make_perturber,
)
from dialeval.engines.requests import Dialogue
from dialeval.text import Script, normalised

FALSE_ALARMS = 0.2
"""The share of human dialogues below the judge's threshold."""
UTTERANCE_FALSE_ALARMS = 0.05
"""The share of human utterances at or above the threshold of utterances."""
CHUNK = 512
"""Dialogues that are described together."""
MIN_DIALOGUES = 20
"""The least number of dialogues that a judge learns from."""
_IN_NONE = -1


class Judge(Model):
    """Separates human dialogues from others.

    Attributes:
        threshold: probability below which a dialogue counts as a machine's.
        utterance_threshold: probability from which on an utterance counts as a machine's.
        usual: mean of each feature over human utterances, and its standard deviation.

    Args:
        inner_folds: dialogues by fold, those that begin alike in the same one.
        readers: for each of these folds with a dialogue, its reader, which learned nothing from it.
        random_seed: of every draw.
    """

    def __init__(
        self, inner_folds: Mapping[int, Sequence[Dialogue]], readers: Mapping[int, Reader], random_seed: int
    ) -> None:
        self._readers = [*readers.values()]
        examples = [make_examples(inner_folds[number], reader, random_seed) for number, reader in readers.items()]
        described = [example.described for example in examples]
        self._selects = described[0].values.shape[1] > N_FEATURES
        rows, turns = zip(*map(_labelled_utterances, examples), strict=True)
        self._turns = Dimensions("turn", turns, GROWTH["turn"], random_seed, selected=self._selects)
        opinions = self._turns.probabilities([one.values for one in described])
        self._turns.learn_scales([opinion[row] for opinion, row in zip(opinions, rows, strict=True)], turns)
        alone = [one._replace(values=one.values[:, ALONE]) for one in turns]
        self._turns_alone = Dimensions("turn", alone, GROWTH_ALONE, random_seed)
        self._turns_alone.learn_scales(self._turns_alone.probabilities([one.values for one in alone]), alone)
        machine = [_machine(one, opinion) for one, opinion in zip(described, opinions, strict=True)]
        self._lengths = _learn_lengths([*map(dialogue_features, described, machine)], examples)
        fitting = [*map(self._fitting, described, opinions)]
        wholes = [
            Labelled(values, example.kind, example.weight)
            for values, example in zip(map(self._seen, described, opinions, fitting), examples, strict=True)
        ]
        self._dialogues = Dimensions("dialogue", wholes, GROWTH["dialogue"], random_seed, selected=self._selects)
        opinions = self._dialogues.probabilities([one.values for one in wholes])
        self._dialogues.learn_scales(opinions, wholes)
        self._part_of = _parts_of_utterances([inner_folds[number] for number in readers])

        human = np.concatenate(opinions)[:, TRUE]
        is_machine = np.concatenate([example.is_machine for example in examples])
        self._calibration = Calibration(human, is_machine, np.concatenate([example.weight for example in examples]))
        true = [example.described.beginning[example.utterance_label == 0] for example in examples]
        alarms = [opinion[row] for opinion, row in zip(machine, true, strict=True)]
        self.threshold = float(rounded(np.quantile(self._calibration(human[~is_machine]), FALSE_ALARMS)))
        self.utterance_threshold = float(rounded(np.quantile(np.concatenate(alarms), 1 - UTTERANCE_FALSE_ALARMS)))
        values = np.concatenate([one.values[row] for one, row in zip(described, true, strict=True)])
        self.usual = (rounded(values.mean(axis=0)), rounded(values.std(axis=0) + 1e-4))

    def judge(self, dialogues: Sequence[Dialogue]) -> list[Judgement]:
        """Judge dialogues of at least one utterance, each as if it were alone."""
        return [judgement for chunk in _chunks(dialogues) for judgement in self._judge_chunk(chunk)]

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Score the last utterance of each dialogue (`turn`), or each as a whole (`dialogue`).

        Returns:
            Scores between 0 and 1, dialogues by `DIMENSIONS[level]`.
        """
        rate = self._rate_turns if level == "turn" else self._rate_dialogues
        return np.concatenate([np.zeros((0, len(DIMENSIONS[level]))), *map(rate, _chunks(dialogues))])

    def verdict(self, protocol: str, judgements: Sequence[Judgement], evaluated: Sequence[int]) -> str:
        """Return a verdict in the response format of the prompts."""
        if protocol == "unieval":
            return unieval_answer(self, judgements[0], evaluated)
        return comparison_answer(self, judgements[0], judgements[1], protocol)

    def rarity(self, utterances: Sequence[str]) -> Floats:
        """Return the idf of the rarest word of each utterance."""
        return self._readers[0].rarity(utterances)

    def _judge_chunk(self, dialogues: Sequence[Dialogue]) -> list[Judgement]:
        described, opinions = self._read(dialogues)
        seen = self._dialogues.probabilities(self._see(described, opinions))
        human = self._calibration(np.mean(seen, axis=0)[:, TRUE])
        row = described[0].beginning
        machine = _machine(described[0], np.mean(opinions, axis=0))[row]
        values = np.mean([one.values for one in described], axis=0)[row]
        nearest = described[0].nearest[row]
        ends = np.cumsum([0, *map(len, dialogues)])
        return [
            Judgement(
                human=float(human[number]),
                machine_utterances=tuple(map(float, machine[start:end])),
                values=values[start:end],
                nearest=tuple(map(int, nearest[start:end])),
            )
            for number, (start, end) in enumerate(pairwise(ends))
        ]

    def _read(self, dialogues: Sequence[Dialogue]) -> tuple[list[Described], list[Floats]]:
        """Return for each part the described utterances, and its probabilities for each."""
        batch = Batch(dialogues)
        learned_by = self._learned_by(batch)
        described = self._describe(batch, learned_by)
        opinions = self._turns.probabilities([one.values for one in described])
        return described, _from_part_without(opinions, learned_by)

    def _learned_by(self, batch: Batch) -> Integers:
        """Return for each row the inner fold that holds its utterance."""
        folds = [self._part_of.get(normalised(text), _IN_NONE) for text in batch.texts.texts]
        return np.array(folds, dtype=np.int64)[batch.row]

    def _describe(self, batch: Batch, learned_by: Integers) -> list[Described]:
        described = [reader.describe(batch) for reader in self._readers]
        values = _from_part_without([one.values for one in described], learned_by)
        return [replace(one, values=value) for one, value in zip(described, values, strict=True)]

    def _see(self, described: Sequence[Described], opinions: Sequence[Floats]) -> list[Floats]:
        """Return each part's features of dialogues: dialogues by features."""
        fitting = self._fitting(described[0], np.mean(opinions, axis=0))
        return [self._seen(one, opinion, fitting) for one, opinion in zip(described, opinions, strict=True)]

    def _fitting(self, described: Described, opinion: Floats) -> Floats | None:
        """Return the log-odds of the geometric mean of the relevance of each dialogue's replies.

        Args:
            opinion: probabilities for each of their rows.

        Returns:
            A column; None without a model of true replies.
        """
        if not self._selects:
            return None
        n = np.bincount(described.dialogue)
        fitting = np.log(self._turns.fitting(opinion)) * (described.turn > 0)
        logs = np.bincount(described.dialogue, fitting[described.beginning], len(n))
        mean = np.where(n > 1, np.exp(logs / np.maximum(n - 1, 1)), 0.5)
        return np.asarray(np.log(mean / (1.0 - mean)), dtype=np.float64)[:, None]

    def _seen(self, described: Described, opinion: Floats, fitting: Floats | None) -> Floats:
        """Return one part's features of dialogues, and `fitting`."""
        table = self._lengths.corrected(*dialogue_features(described, _machine(described, opinion)))
        return table if fitting is None else np.column_stack([table, fitting])

    def _rate_turns(self, dialogues: Sequence[Dialogue]) -> Floats:
        batch = Batch(dialogues, only_ends=True)
        learned_by = self._learned_by(batch)
        values = [one.values for one in self._describe(batch, learned_by)]
        alone = np.array([len(dialogue) == 1 for dialogue in dialogues])
        scores = np.zeros((len(dialogues), len(DIMENSIONS["turn"])))
        for dimensions, rows, columns in (
            (self._turns, ~alone, slice(None)),
            (self._turns_alone, alone, ALONE),
        ):
            if rows.any():
                opinions = dimensions.probabilities([value[rows][:, columns] for value in values])
                scores[rows] = dimensions.scores(_from_part_without(opinions, learned_by[rows]))
        return scores

    def _rate_dialogues(self, dialogues: Sequence[Dialogue]) -> Floats:
        return self._dialogues.scores(self._dialogues.probabilities(self._see(*self._read(dialogues))))


def _labelled_utterances(example: Examples) -> tuple[Integers, Labelled]:
    """Return the rows of the utterances that the first classifier learns from, and these utterances."""
    described, used = example.described, example.utterance_label >= 0
    rows, dialogue = described.beginning[used], described.dialogue[used]
    kind = example.kind[dialogue] * example.utterance_label[used]
    return rows, Labelled(described.values[rows], kind, example.weight[dialogue])


def _machine(described: Described, opinion: Floats) -> Floats:
    """Return the probability that each utterance is a machine's; 0 for a first one."""
    return (1.0 - opinion[:, TRUE]) * (described.turn > 0)


def _learn_lengths(tables: Sequence[tuple[Floats, Integers]], examples: Sequence[Examples]) -> Lengths:
    is_true = ~np.concatenate([example.is_machine for example in examples])
    table, n = (np.concatenate(column)[is_true] for column in zip(*tables, strict=True))
    return Lengths(table, n)


def _parts_of_utterances(folds: Sequence[Sequence[Dialogue]]) -> dict[str, int]:
    """Return the number of the fold that each utterance is in, for utterances that are in one fold only."""
    found: dict[str, int] = {}
    for number, fold in enumerate(folds):
        # in the order of the dialogues: that of a set differs between processes, and so would the learned file
        for text in dict.fromkeys(normalised(utterance) for dialogue in fold for utterance in dialogue):
            found[text] = _IN_NONE if text in found else number
    return found


def _chunks(dialogues: Sequence[Dialogue]) -> Iterator[Sequence[Dialogue]]:
    if not all(dialogues):
        raise ValueError(f"dialogue {[*map(len, dialogues)].index(0)} (0-based) has no utterance to judge")
    for start in range(0, len(dialogues), CHUNK):
        yield dialogues[start : start + CHUNK]


def _from_part_without(by_part: Sequence[Floats], learned_by: Integers) -> list[Floats]:
    """Return each part's values, but for utterances of an inner fold those of the part without this fold."""
    result = [values.copy() for values in by_part]
    for part, values in enumerate(by_part):
        here = learned_by == part
        for other in result:
            other[here] = values[here]
    return result


# Verdicts in the answer format of language models, with a reason.

INDISTINGUISHABLE = {"arena": 0.03, "gteval": 0.0}
"""Difference of probabilities up to which two conversations are tied, by protocol."""
STRIKING = 1.0
"""Standard deviations from which on a feature is given as a reason."""
EXACT = 0.95
"""Cosine from which on an utterance is a repetition rather than similar."""

_REASONS: dict[str, tuple[float, str]] = {
    "repetition": (1, "utterance {n} says nearly the same as utterance {nearest}"),
    "length": (1, "utterance {n} is unusually long"),
    "length_change": (1, "utterance {n} is much longer than the ones before it"),
    "fluency": (-1, "the words of utterance {n} hardly form a sentence"),
    "worst_word": (-1, "utterance {n} has words in unusual places"),
    "opener_fit": (-1, "utterance {n} does not begin like a reply to utterance {last}"),
    "late_opening": (1, "utterance {n} sounds like the beginning of a dialogue"),
    "after_closing": (1, "utterance {n} continues after the dialogue had ended"),
    "specificity": (-1, "utterance {n} is an empty phrase"),
    "own_diversity": (-1, "utterance {n} repeats its own words"),
}
"""For each feature that may be a reason, the direction of a machine, and the words."""

_FIRST = "utterance 1 already reads as if a machine had written it"


def unieval_answer(judge: Judge, judgement: Judgement, evaluated: Sequence[int] = ()) -> str:
    """Return whether the dialogue is a machine's, and from which utterance on.

    Args:
        evaluated: 0-based numbers of the utterances that may be named; empty for all.
    """
    if judgement.human >= judge.threshold:
        reason = "the utterances follow from one another, and none stands out as a machine's" + _odds(judgement)
        return _lines(Choice="No", Index="None", Reason=reason)
    place = first_machine_utterance(judge, judgement, evaluated)
    return _lines(Choice="Yes", Index=str(place + 1), Reason=_against(judge, judgement, place))


def comparison_answer(judge: Judge, first: Judgement, second: Judgement, protocol: str) -> str:
    """Return which of two conversations is a machine's; the order of the two does not matter."""
    if abs(first.human - second.human) <= INDISTINGUISHABLE[protocol]:
        if first.human + second.human < 2 * judge.threshold:
            return _lines(Choice="Both", Reason="both read alike, and neither as people's" + _odds(first, second))
        return _lines(Choice="Neither", Reason="both read alike, and as people's" + _odds(first, second))
    number, worse = (1, first) if first.human < second.human else (2, second)
    reason = _against(judge, worse, first_machine_utterance(judge, worse))
    return _lines(Choice=f"Conversation {number}", Reason=f"in conversation {number}, {reason}")


def first_machine_utterance(judge: Judge, judgement: Judgement, evaluated: Sequence[int] = ()) -> int:
    """Return the 0-based number of the first utterance that counts as a machine's, else of the likeliest."""
    machine = np.array(judgement.machine_utterances)
    if evaluated:
        machine[[place for place in range(len(machine)) if place not in evaluated]] = -1.0
    suspected = np.flatnonzero(machine >= judge.utterance_threshold)
    return int(suspected[0]) if len(suspected) else int(np.argmax(machine))


def strongest_reason(judge: Judge, judgement: Judgement, place: int) -> str:
    """Return in words the feature in which an utterance differs most from human ones."""
    mean, deviation = judge.usual
    distance = (judgement.values[place] - mean) / deviation
    striking = [(direction * float(distance[NAMES.index(name)]), name) for name, (direction, _) in _REASONS.items()]
    strength, name = max(striking)
    if strength < STRIKING:
        return f"utterance {place + 1} has little to do with the utterances before it" if place else _FIRST
    back = judgement.nearest[place]
    if name == "repetition" and judgement.values[place][NAMES.index(name)] > EXACT:
        return f"utterance {place + 1} repeats utterance {place + 1 - back}"
    return _REASONS[name][1].format(n=place + 1, nearest=place + 1 - back, last=place)


def _lines(**parts: str) -> str:
    return "\n".join(f"{name}: {text}" for name, text in parts.items())


def _odds(*judgements: Judgement) -> str:
    return " (chance of a person: " + " and ".join(f"{judgement.human:.2f}" for judgement in judgements) + ")"


def _against(judge: Judge, judgement: Judgement, place: int) -> str:
    return strongest_reason(judge, judgement, place) + _odds(judgement)


# How well a judge separates held-out dialogues, by kind of perturbation.

MIN_UTTERANCES = 4
"""The least length of the dialogues of the report."""


@dataclass(frozen=True)
class ReportRow:
    """How well held-out dialogues were separated from perturbed ones of the same lengths.

    Attributes:
        perturbation: the type of perturbation, or `all`.
        n: number of perturbed dialogues.
        auc: chance that an original has a higher probability of humans than a perturbed dialogue.
        accuracy: mean of the shares of originals and of perturbed dialogues on the right side of the judge's threshold.
    """

    perturbation: str
    n: int
    auc: float
    accuracy: float


def held_out_report(
    judges: Mapping[tuple[Script, int], Judge],
    parts: Mapping[Script, Sequence[Sequence[Dialogue]]],
    random_seed: int,
) -> tuple[ReportRow, ...]:
    """Return a row for all perturbations and one for each kind, every fold judged by the judge learned without it."""
    true: list[tuple[float, bool]] = []
    perturbed: dict[str, list[tuple[float, bool]]] = {kind: [] for kind in KINDS}
    for (script, fold), judge in judges.items():
        dialogues = [dialogue for dialogue in parts[script][fold] if len(dialogue) >= MIN_UTTERANCES]
        if not dialogues:
            continue
        perturber = make_perturber(parts[script][fold], judge.rarity)
        copies = [
            copy
            for kind in KINDS
            for dialogue in dialogues
            if (copy := perturber.perturb(dialogue, kind, generator_for(random_seed, "report", kind, *dialogue)))
        ]
        judged = judge.judge([*dialogues, *(copy.utterances for copy in copies)])
        opinions = [(judgement.human, judgement.human >= judge.threshold) for judgement in judged]
        true += opinions[: len(dialogues)]
        for copy, opinion in zip(copies, opinions[len(dialogues) :], strict=True):
            perturbed[copy.kind].append(opinion)
    rows = [("all", [opinion for kind in KINDS for opinion in perturbed[kind]]), *perturbed.items()]
    return tuple(_row(kind, true, opinions) for kind, opinions in rows if opinions and true)


def _row(kind: str, true: Sequence[tuple[float, bool]], perturbed: Sequence[tuple[float, bool]]) -> ReportRow:
    from sklearn.metrics import roc_auc_score

    labels = [1] * len(true) + [0] * len(perturbed)
    auc = roc_auc_score(labels, [human for human, _ in [*true, *perturbed]])
    passed, caught = np.mean([human for _, human in true]), np.mean([not human for _, human in perturbed])
    accuracy = (passed + caught) / 2
    return ReportRow(perturbation=kind, n=len(perturbed), auc=float(rounded(auc)), accuracy=float(rounded(accuracy)))
