"""The embedded judge: how likely people wrote a dialogue, its verdicts, and how well it does on held-back dialogues.

Learned by self-supervision: people's dialogues against the same ones spoiled (`damage.py`), at equal lengths. Two
classifiers are stacked: one for an utterance given what came before, and one for the dialogue, which sees what the
first one thinks of each utterance. Both tell the kinds of damage and what is true from each other, and what is true is
a person's; the same two score the last utterance of a dialogue, or all of it, on single dimensions (`dimensions.py`).

Everything is cross-fitted over inner folds, because statistics look perfect on what they were counted on. The judge has
one part for each inner fold, learned without it, and its opinion is the mean over the parts; only what length does to
a dialogue's features, a straight line, is learned once and from all. A training dialogue is described by statistics of
the other inner folds, and strange utterances are drawn from its own. When a dialogue to be judged has an utterance that
the judge learned from, as that of a chatbot that quotes people does, this utterance is described and judged by the part
that did not learn from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from dialeval.engines.embedded.interfaces import Judgement, Judging
from dialeval.engines.embedded.statistics import Floats, Integers
from dialeval.engines.embedded.texts import Batch
from dialeval.engines.embedded.training_examples import (
    KINDS,
    KINDS_OF_ONE,
    TRUE,
    Examples,
    Spoiler,
    make_examples,
    make_spoiler,
)
from dialeval.engines.requests import Dialogue
from dialeval.text import Script, normalised

FALSE_ALARMS = 0.2
"""The share of people's dialogues that the judge may take for a machine's: this puts its threshold."""
UTTERANCE_FALSE_ALARMS = 0.05
"""The same for utterances."""
CHUNK = 512
"""How many dialogues are described at once."""
MIN_DIALOGUES = 20
"""With fewer a judge learns nothing."""
_IN_NONE = -1


class Judge:
    """Tells people's dialogues from others.

    Attributes:
        threshold: probability below which a dialogue is thought to be a machine's.
        utterance_threshold: probability from which on an utterance is.
        usual: mean of each feature over people's utterances, and its standard deviation.

    Args:
        inner_folds: dialogues by fold, those that begin alike in the same one.
        reader: gives what describes utterances with what all inner folds but the given one taught.
        random_seed: of everything that is drawn.
    """

    def __init__(
        self,
        inner_folds: Mapping[int, Sequence[Dialogue]],
        reader: Callable[[int], Reader],
        random_seed: int,
    ) -> None:
        used = [number for number, fold in inner_folds.items() if fold]
        self._readers = [reader(number) for number in used]
        examples = [
            make_examples(inner_folds[number], reader, random_seed)
            for number, reader in zip(used, self._readers, strict=True)
        ]
        described = [example.described for example in examples]
        self._selects = described[0].values.shape[1] > N_FEATURES
        rows, turns = zip(*map(_taught_by, examples), strict=True)
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
        self._wholes = Dimensions("dialogue", wholes, GROWTH["dialogue"], random_seed, selected=self._selects)
        opinions = self._wholes.probabilities([one.values for one in wholes])
        self._wholes.learn_scales(opinions, wholes)
        self._part_of = _parts_of_utterances([inner_folds[number] for number in used])

        human = np.concatenate(opinions)[:, TRUE]
        is_machine = np.concatenate([example.is_machine for example in examples])
        self._calibration = Calibration(human, is_machine, np.concatenate([example.weight for example in examples]))
        true = [example.described.beginning[example.utterance_label == 0] for example in examples]
        alarms = [opinion[row] for opinion, row in zip(machine, true, strict=True)]
        self.threshold = float(np.quantile(self._calibration(human[~is_machine]), FALSE_ALARMS))
        self.utterance_threshold = float(np.quantile(np.concatenate(alarms), 1 - UTTERANCE_FALSE_ALARMS))
        values = np.concatenate([one.values[row] for one, row in zip(described, true, strict=True)])
        self.usual = (values.mean(axis=0), values.std(axis=0) + 1e-9)

    def judge(self, dialogues: Sequence[Dialogue]) -> list[Judgement]:
        """Judges dialogues of at least one utterance, each as if it were alone."""
        return [judgement for chunk in _chunks(dialogues) for judgement in self._judge_chunk(chunk)]

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Scores the last utterance of each dialogue (`turn`), or each as a whole (`dialogue`).

        Returns:
            Scores between 0 and 1, dialogues by `DIMENSIONS[level]`.
        """
        rate = self._rate_turns if level == "turn" else self._rate_wholes
        return np.concatenate([np.zeros((0, len(DIMENSIONS[level]))), *map(rate, _chunks(dialogues))])

    def verdict(self, protocol: str, judgements: Sequence[Judgement], judged: Sequence[int]) -> str:
        """Returns its opinion in the format that a language model is asked for."""
        if protocol == "unieval":
            return unieval_answer(self, judgements[0], judged)
        return comparison_answer(self, judgements[0], judgements[1], protocol)

    def rarity(self, utterances: Sequence[str]) -> Floats:
        """Returns the idf of the rarest word of each utterance."""
        return self._readers[0].rarity(utterances)

    def _judge_chunk(self, dialogues: Sequence[Dialogue]) -> list[Judgement]:
        described, opinions = self._read(dialogues)
        seen = self._wholes.probabilities(self._see(described, opinions))
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
        """Returns for each part the utterances described, and what it thinks of each."""
        batch = Batch(dialogues)
        learned_by = self._learned_by(batch)
        described = self._describe(batch, learned_by)
        opinions = self._turns.probabilities([one.values for one in described])
        return described, _without_the_learned(opinions, learned_by)

    def _learned_by(self, batch: Batch) -> Integers:
        """Returns for each row the fold that taught its utterance, which the part without that fold has not seen."""
        taught = [self._part_of.get(normalised(text), _IN_NONE) for text in batch.texts.texts]
        return np.array(taught, dtype=np.int64)[batch.row]

    def _describe(self, batch: Batch, learned_by: Integers) -> list[Described]:
        described = [reader.describe(batch) for reader in self._readers]
        values = _without_the_learned([one.values for one in described], learned_by)
        return [replace(one, values=value) for one, value in zip(described, values, strict=True)]

    def _see(self, described: Sequence[Described], opinions: Sequence[Floats]) -> list[Floats]:
        """Returns what each part sees of dialogues: dialogues by features."""
        fitting = self._fitting(described[0], np.mean(opinions, axis=0))
        return [self._seen(one, opinion, fitting) for one, opinion in zip(described, opinions, strict=True)]

    def _fitting(self, described: Described, opinion: Floats) -> Floats | None:
        """Returns log-odds for how well the replies of each dialogue fit on the (geometric) average.

        Args:
            described: all utterances.
            opinion: what is thought of each of their rows.

        Returns:
            A column; none where nothing but the kinds of damage is known.
        """
        if not self._selects:
            return None
        n = np.bincount(described.dialogue)
        fitting = np.log(self._turns.fitting(opinion)) * (described.turn > 0)
        logs = np.bincount(described.dialogue, fitting[described.beginning], len(n))
        mean = np.where(n > 1, np.exp(logs / np.maximum(n - 1, 1)), 0.5)
        return np.asarray(np.log(mean / (1.0 - mean)), dtype=np.float64)[:, None]

    def _seen(self, described: Described, opinion: Floats, fitting: Floats | None) -> Floats:
        """Returns what one part sees of dialogues, and how well their replies fit."""
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
                scores[rows] = dimensions.scores(_without_the_learned(opinions, learned_by[rows]))
        return scores

    def _rate_wholes(self, dialogues: Sequence[Dialogue]) -> Floats:
        return self._wholes.scores(self._wholes.probabilities(self._see(*self._read(dialogues))))


def _taught_by(example: Examples) -> tuple[Integers, Labelled]:
    """Returns the rows of the utterances that a judge of turns learns from, and these utterances."""
    described, used = example.described, example.utterance_label >= 0
    rows, dialogue = described.beginning[used], described.dialogue[used]
    kind = example.kind[dialogue] * example.utterance_label[used]
    return rows, Labelled(described.values[rows], kind, example.weight[dialogue])


def _machine(described: Described, opinion: Floats) -> Floats:
    """Returns how likely each utterance is a machine's, from what is thought of it; 0 for a first one."""
    return (1.0 - opinion[:, TRUE]) * (described.turn > 0)


def _learn_lengths(tables: Sequence[tuple[Floats, Integers]], examples: Sequence[Examples]) -> Lengths:
    is_true = ~np.concatenate([example.is_machine for example in examples])
    table, n = (np.concatenate(column)[is_true] for column in zip(*tables, strict=True))
    return Lengths(table, n)


def _parts_of_utterances(folds: Sequence[Sequence[Dialogue]]) -> dict[str, int]:
    """Returns the number of the fold that each utterance is in, for utterances that are in one fold only."""
    found: dict[str, int] = {}
    for number, fold in enumerate(folds):
        # in the order of the dialogues: that of a set is another in every process, and so would the learned file be
        for text in dict.fromkeys(normalised(utterance) for dialogue in fold for utterance in dialogue):
            found[text] = _IN_NONE if text in found else number
    return found


def _chunks(dialogues: Sequence[Dialogue]) -> Iterator[Sequence[Dialogue]]:
    if not all(dialogues):
        raise ValueError(f"dialogue {[*map(len, dialogues)].index(0)} (0-based) has no utterance to judge")
    for start in range(0, len(dialogues), CHUNK):
        yield dialogues[start : start + CHUNK]


def _without_the_learned(by_part: Sequence[Floats], learned_by: Integers) -> list[Floats]:
    """Returns what each part says, but for utterances that a fold taught what the part without that fold says."""
    result = [values.copy() for values in by_part]
    for part, values in enumerate(by_part):
        here = learned_by == part
        for other in result:
            other[here] = values[here]
    return result


# What the judge says: its opinion in the answer format that language models are asked for, with a reason in words.

INDISTINGUISHABLE = {"arena": 0.03, "gteval": 0.0}
"""Difference of probabilities up to which two conversations are alike, by protocol."""
STRIKING = 1.0
"""From how many standard deviations on a feature is worth naming."""
EXACT = 0.95
"""Cosine from which on an utterance repeats another, rather than resembling it."""

_REASONS: dict[str, tuple[float, str]] = {
    "repetition": (1, "utterance {n} says nearly the same as utterance {nearest}"),
    "length": (1, "utterance {n} is unusually long"),
    "length_change": (1, "utterance {n} is much longer than the ones before it"),
    "fluency": (-1, "the words of utterance {n} hardly form a sentence"),
    "worst_word": (-1, "utterance {n} has words where nobody would put them"),
    "opener_fit": (-1, "utterance {n} does not begin like a reply to utterance {last}"),
    "late_opening": (1, "utterance {n} sounds like the beginning of a dialogue"),
    "after_closing": (1, "utterance {n} goes on after the dialogue had come to its end"),
    "specificity": (-1, "utterance {n} is an empty phrase"),
    "own_diversity": (-1, "utterance {n} says its own words over and over"),
}
"""For each feature worth naming, the direction in which it speaks for a machine, and the words."""

_FIRST = "utterance 1 already reads as if a machine had written it"


def unieval_answer(judge: Judging, judgement: Judgement, judged: Sequence[int] = ()) -> str:
    """Returns the answer to: is the dialogue a machine's, and from which utterance on?

    Args:
        judge: the judge.
        judgement: what it thinks.
        judged: numbers (0-based) of the utterances of the one who is judged; none for all.
    """
    if judgement.human >= judge.threshold:
        return _lines(Choice="No", Index="None", Reason=_in_favour(judgement))
    place = first_machine_utterance(judge, judgement, judged)
    return _lines(Choice="Yes", Index=str(place + 1), Reason=_against(judge, judgement, place))


def comparison_answer(judge: Judging, first: Judgement, second: Judgement, protocol: str) -> str:
    """Returns the answer to: which of two conversations is a machine's? Exchanged, the answer is exchanged, too."""
    if abs(first.human - second.human) <= INDISTINGUISHABLE[protocol]:
        if first.human + second.human < 2 * judge.threshold:
            return _lines(Choice="Both", Reason="both read alike, and neither as people's" + _odds(first, second))
        return _lines(Choice="Neither", Reason="both read alike, and as people's" + _odds(first, second))
    number, worse = (1, first) if first.human < second.human else (2, second)
    reason = _against(judge, worse, first_machine_utterance(judge, worse))
    return _lines(Choice=f"Conversation {number}", Reason=f"in conversation {number}, {reason}")


def first_machine_utterance(judge: Judging, judgement: Judgement, judged: Sequence[int] = ()) -> int:
    """Returns the 0-based number of the first utterance thought to be a machine's, else of the likeliest."""
    machine = np.array(judgement.machine_utterances)
    if judged:
        machine[[place for place in range(len(machine)) if place not in judged]] = -1.0
    suspected = np.flatnonzero(machine >= judge.utterance_threshold)
    return int(suspected[0]) if len(suspected) else int(np.argmax(machine))


def strongest_reason(judge: Judging, judgement: Judgement, place: int) -> str:
    """Returns in words what is most unlike people about an utterance."""
    mean, deviation = judge.usual
    distance = (judgement.values[place] - mean) / deviation
    striking = [(direction * float(distance[NAMES.index(name)]), name) for name, (direction, _) in _REASONS.items()]
    strength, name = max(striking)
    if strength < STRIKING:
        return f"utterance {place + 1} has little to do with what was said before it" if place else _FIRST
    back = judgement.nearest[place]
    if name == "repetition" and judgement.values[place][NAMES.index(name)] > EXACT:
        return f"utterance {place + 1} repeats utterance {place + 1 - back}"
    return _REASONS[name][1].format(n=place + 1, nearest=place + 1 - back, last=place)


def _lines(**parts: str) -> str:
    return "\n".join(f"{name}: {text}" for name, text in parts.items())


def _in_favour(judgement: Judgement) -> str:
    return "the utterances follow from one another, and none stands out as a machine's" + _odds(judgement)


def _odds(*judgements: Judgement) -> str:
    return " (chance of a person: " + " and ".join(f"{judgement.human:.2f}" for judgement in judgements) + ")"


def _against(judge: Judging, judgement: Judgement, place: int) -> str:
    return strongest_reason(judge, judgement, place) + _odds(judgement)


# How well a judge does on dialogues it never saw, for each kind of damage.

MIN_UTTERANCES = 4
"""Shorter dialogues are not reported on."""


@dataclass(frozen=True)
class ReportRow:
    """How well held-back dialogues were told from spoiled ones of the same lengths.

    Attributes:
        perturbation: the kind of perturbation, or `all`.
        n: number of spoiled dialogues.
        auc: chance that a true dialogue is thought likelier a person's than a spoiled one.
        accuracy: mean of the shares of true and of spoiled dialogues on the right side of the judge's threshold.
    """

    perturbation: str
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


def _opinions(judge: Judge, dialogues: Sequence[Dialogue]) -> list[tuple[float, bool]]:
    """Returns for each dialogue how likely people wrote it, and whether the judge says so."""
    return [(judgement.human, judgement.human >= judge.threshold) for judgement in judge.judge(dialogues)]


def _row(kind: str, true: Sequence[tuple[float, bool]], spoiled: Sequence[tuple[float, bool]]) -> ReportRow:
    from sklearn.metrics import roc_auc_score

    labels = [1] * len(true) + [0] * len(spoiled)
    auc = roc_auc_score(labels, [human for human, _ in [*true, *spoiled]])
    passed, caught = np.mean([said for _, said in true]), np.mean([not said for _, said in spoiled])
    return ReportRow(perturbation=kind, n=len(spoiled), auc=float(auc), accuracy=float((passed + caught) / 2))


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
