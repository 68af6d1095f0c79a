"""Learning an embedded model from dialogues; `learned_file` keeps what was learned.

For every fold one model is learned without it, for every kind of script on its own: words and single characters have
other statistics.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dialeval.engines.embedded.abilities import Chatbot, Chooser, Model, Rater
from dialeval.engines.embedded.baselines import Length, Overlap, Perplexity
from dialeval.engines.embedded.evaluation import ReportRow, held_back_report
from dialeval.engines.embedded.judge import MIN_DIALOGUES, Judge
from dialeval.engines.embedded.ngram import Ngram
from dialeval.engines.embedded.retrieval import Retrieval
from dialeval.engines.embedded.statistics import Floats, Statistics
from dialeval.engines.embedded.stock_replies import Generic, Random
from dialeval.engines.request import Dialogue
from dialeval.errors import UserError, nearest
from dialeval.text.folds import DEFAULT_FOLDS, fold_of, split, without
from dialeval.text.tokens import Script, by_script, script_of

VERSION = 2
"""Raised by hand when the same dialogues lead to other answers than before."""


class Method(NamedTuple):
    """A kind of embedded model: the protocols that it answers, and what it does."""

    serves: frozenset[str]
    description: str


_CHATS = frozenset({"selfchat", "multiple_choice"})
_RATES = frozenset({"rating", "yes_no"})
_JUDGES = frozenset({"unieval", "arena", "gteval", "multiple_choice"}) | _RATES
METHODS = MappingProxyType(
    {
        "retrieval": Method(_CHATS, "selects a person's reply from the most similar place (TF-IDF)"),
        "ngram": Method(_CHATS, "writes word by word from Kneser-Ney trigrams, with the last utterance as topic"),
        "random": Method(_CHATS | _RATES, "says an utterance drawn at random from people's dialogues; rates at random"),
        "generic": Method(_CHATS, "says stock replies in turn, whatever was said; always takes the first option"),
        "forest": Method(_JUDGES, "tells people's dialogues from spoiled ones by randomised trees"),
        "length": Method(_RATES, "rates by the number of words"),
        "overlap": Method(_RATES, "rates by the share of words that were said before"),
        "perplexity": Method(_RATES, "rates by how likely the words are (Kneser-Ney trigrams)"),
    }
)

_LEARNERS: dict[str, Callable[[Sequence[Dialogue], int], Model]] = {
    "retrieval": lambda dialogues, random_seed: Retrieval(dialogues),
    "ngram": Ngram,
    "random": Random,
    "generic": lambda dialogues, random_seed: Generic(),
    "length": lambda dialogues, random_seed: Length(),
    "overlap": lambda dialogues, random_seed: Overlap(),
    "perplexity": lambda dialogues, random_seed: Perplexity(dialogues),
}
_LEARN_NOTHING = frozenset({"generic", "length", "overlap"})


@dataclass(frozen=True)
class Learned:
    """A model learned once without each fold.

    Attributes:
        method: one of `METHODS`.
        folds: number of folds.
        digest: hexadecimal; over method, settings, training texts and `VERSION`.
        models: by kind of script and left-out fold.
        report: of a judge, how well it tells held-back dialogues from spoiled ones, by damage.
    """

    method: str
    folds: int
    digest: str
    models: dict[tuple[Script, int], Model]
    report: tuple[ReportRow, ...] = field(default=())

    @property
    def serves(self) -> frozenset[str]:
        """The protocols that it answers."""
        return METHODS[self.method].serves

    def chatbot_for(self, dialogue: Sequence[str]) -> Chatbot:
        """Returns the chatbot that learned nothing from dialogues that begin as this one does."""
        model = self.models[self._key(dialogue)]
        if isinstance(model, Chatbot):
            return model
        raise UserError(f"embedded method '{self.method}' cannot chat; methods that can: {able_to('selfchat')}")

    def judge_for(self, dialogue: Sequence[str]) -> Judge:
        """Returns the judge that learned nothing from dialogues that begin as this one does."""
        model = self.models[self._key(dialogue)]
        if isinstance(model, Judge):
            return model
        raise UserError(f"embedded method '{self.method}' cannot judge; methods that can: {able_to('unieval')}")

    def rater_for(self, dialogue: Sequence[str]) -> Rater:
        """Returns what scores on dimensions and learned nothing from dialogues that begin as this one does."""
        model = self.models[self._key(dialogue)]
        if isinstance(model, Rater):
            return model
        raise UserError(f"embedded method '{self.method}' cannot rate; methods that can: {able_to('rating')}")

    def chooser_for(self, dialogue: Sequence[str]) -> Chooser | Judge:
        """Returns what chooses between options and learned nothing from dialogues that begin as this one does."""
        model = self.models[self._key(dialogue)]
        if isinstance(model, Chooser | Judge):
            return model
        able = able_to("multiple_choice")
        raise UserError(f"embedded method '{self.method}' cannot choose between options; methods that can: {able}")

    def _key(self, dialogue: Sequence[str]) -> tuple[Script, int]:
        """Returns script and fold; a script that was not learned is answered for by the other one."""
        fold = fold_of(dialogue, self.folds)
        key = (script_of(dialogue), fold)
        return key if key in self.models else next(known for known in self.models if known[1] == fold)


def learn(method: str, dialogues: Sequence[Dialogue], *, random_seed: int, folds: int = DEFAULT_FOLDS) -> Learned:
    """Learns a model once without each fold of the dialogues; their order does not matter.

    Args:
        method: one of `METHODS`.
        dialogues: people's dialogues; those with fewer than two utterances teach nothing and are left out.
        random_seed: of everything that is drawn, in learning and in answering.
        folds: number of folds.

    Raises:
        UserError: the method is unknown, or there are too few dialogues to learn it from.
    """
    if method not in METHODS:
        raise UserError(f"unknown embedded method '{method}'; {nearest(method, METHODS)}")
    is_judge = method == "forest"
    if folds < (3 if is_judge else 2):
        raise UserError(f"{folds} folds are too few to learn '{method}'; use {DEFAULT_FOLDS}")
    usable = sorted({cleaned for dialogue in dialogues if len(cleaned := _clean(dialogue)) >= 2})
    groups = {script: split(group, folds) for script, group in by_script(usable).items()}
    enough = {script: parts for script, parts in groups.items() if _suffice(parts, is_judge)}
    if not enough and method not in _LEARN_NOTHING:
        raise UserError(
            f"{len(usable)} different dialogues of two or more utterances are too few to learn '{method}' from; "
            f"add dialogues that begin differently (a judge needs {MIN_DIALOGUES} besides those of any one fold)"
        )
    report: tuple[ReportRow, ...] = ()
    models: dict[tuple[Script, int], Model]
    if is_judge:
        judges = {
            (script, fold): judge
            for script, parts in enough.items()
            for fold, judge in enumerate(learn_judges(parts, random_seed))
        }
        report = held_back_report(judges, enough, random_seed)
        models = dict(judges)
    else:
        models = {
            (script, fold): _LEARNERS[method](without(parts, fold), random_seed)
            for script, parts in (enough or {"spaced": [[]] * folds}).items()
            for fold in range(folds)
        }
    digest = _digest(method, usable, random_seed, folds)
    return Learned(method=method, folds=folds, digest=digest, models=models, report=report)


def learn_judges(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Judge]:
    """Returns for each fold the judge learned without it; statistics without the same two folds are counted once."""
    counted: dict[tuple[int, int], Statistics] = {}

    def statistics(*left_out: int) -> Statistics:
        key = (min(left_out), max(left_out))
        if key not in counted:
            counted[key] = Statistics(without(parts, *key))
        return counted[key]

    return [
        Judge(
            {other: parts[other] for other in range(len(parts)) if other != fold},
            partial(statistics, fold),
            random_seed,
        )
        for fold in range(len(parts))
    ]


def human_probability(learned: Learned, dialogues: Sequence[Dialogue]) -> Floats:
    """Returns for each dialogue the probability that people alone wrote it, from the judge that never saw it."""
    by_judge: dict[int, tuple[Judge, list[int]]] = {}
    for number, dialogue in enumerate(dialogues):
        judge = learned.judge_for(dialogue)
        by_judge.setdefault(id(judge), (judge, []))[1].append(number)
    human = np.zeros(len(dialogues))
    for judge, numbers in by_judge.values():
        human[numbers] = [judgement.human for judgement in judge.judge([dialogues[number] for number in numbers])]
    return human


def _clean(dialogue: Sequence[str]) -> Dialogue:
    """Returns the dialogue without blanks around utterances and without empty ones; nothing, if it begins with one."""
    if not dialogue or not dialogue[0].strip():
        return ()
    return tuple(stripped for utterance in dialogue if (stripped := utterance.strip()))


def _suffice(parts: Sequence[Sequence[Dialogue]], is_judge: bool) -> bool:
    """Says whether enough is left to learn from without any one of the folds."""
    needed = MIN_DIALOGUES if is_judge else 1
    if is_judge and sum(1 for part in parts if part) < 3:
        return False
    return all(len(without(parts, fold)) >= needed for fold in range(len(parts)))


def able_to(protocol: str) -> str:
    """Returns the names of the methods that answer a protocol, for a sentence."""
    return ", ".join(name for name, method in METHODS.items() if protocol in method.serves)


def _digest(method: str, dialogues: Sequence[Dialogue], random_seed: int, folds: int) -> str:
    content = {"method": method, "random_seed": random_seed, "folds": folds, "version": VERSION, "texts": dialogues}
    canonical = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
