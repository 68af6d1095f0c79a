"""The design of a protocol's measures; judgements in groups and as arrays; lengths of the judged dialogues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from dialeval.config.botchat import Elo
from dialeval.config.protocol_settings import EACH_OTHER, OF_SAMPLES, RANKS, SELFCHAT, Cascade, Protocol
from dialeval.tables.dialogues import Form
from dialeval.tables.files import HUMAN, iterate_rows
from dialeval.tables.metaeval import ITEMS
from dialeval.text import is_word, surface_tokens

if TYPE_CHECKING:
    import pandas as pd

    from dialeval.config.configuration import Config

_EVERY = ("protocol", "judges", "systems", "criteria", "lengths", "confidence")
_ALSO: dict[str, tuple[str, ...]] = {
    "ratings": ("elo", "random_seed", "equal_pairs"),
    "win_rates": ("reference",),
    "bias": ("reference", "families", "both_orders", "resamples", "random_seed"),
    "differences": ("reference", "measures", "without_answers", "equal_pairs"),
    "judge_differences": ("reference", "measures", "derived_judges", "equal_pairs"),
    "variance_components": ("reference", "measures", "derived_judges", "resamples", "random_seed"),
    "rates": ("without_answers",),
    "checklist": ("without_answers",),
    "agreement": ("resamples", "random_seed"),
}
Row = dict[str, Any]
OUTCOMES = {"left": 1.0, "tie": 0.5, "right": 0.0}
Words = Mapping[tuple[str, str], Sequence[int]]
"""(system, case_id) -> words of its dialogue up to each utterance."""


class Design(BaseModel, defer_build=True):
    """The design of a protocol's judgements and of their measures.

    Attributes:
        protocol: its name.
        judges: the judges, in the order of the table.
        derived_judges: the judges that are no sample of judges: ensembles, cascades and rules.
        systems: who is judged, in the order of the table; systems that are judged and not named come after them.
        without_answers: the judges that give numbers alone: means of several judges' own.
        criteria: what is judged, in the order of the table; those that are judged and not named come after them.
        lengths: the N; none if dialogues are not cut.
        reference: the system, or `human`, that all others are shown beside; None where they are shown with each other.
        both_orders: whether pairs are shown in both orders.
        families: family of judges and systems; one without is a family of its own.
        measures: what is measured of judgements under the protocol, which says what differences are of.
        elo: settings of Bootstrap Elo, whose scale and resamples serve the other ratings too.
        confidence: nominal coverage of the intervals.
        resamples: resamples of the cases, where an interval is made by resampling.
        random_seed: seed of shuffles and resamples.
        equal_pairs: whether comparisons of a pair ended when it was settled, so that ratings must weigh pairs equally.
        cascade: the two judges, of which the second got a share of the requests; None where all judges got all.
        form: of the questions of a protocol with a cascade.
    """

    protocol: str
    judges: list[str]
    without_answers: list[str] = []
    derived_judges: list[str] = []
    systems: list[str] = []
    criteria: list[str] = []
    lengths: list[int] = []
    reference: str | None = None
    both_orders: bool = True
    families: dict[str, str] = {}
    measures: list[str] = []
    elo: Elo = Elo()
    confidence: float = 0.95
    resamples: int = 1000
    random_seed: int = 0
    equal_pairs: bool = False
    cascade: Cascade | None = None
    form: Form | None = None

    def needed_by(self, *measures: str) -> dict[str, Any]:
        """Return the settings that measures depend on, by name; changes of others do not re-run them."""
        also = {name for measure in measures for name in _ALSO.get(measure, ())}
        wanted = {*_EVERY, *also} - (set() if self.equal_pairs else {"equal_pairs"})
        wanted |= {"cascade", "form", "reference"} if self.cascade else set()
        return {name: value for name, value in self.model_dump(mode="json").items() if name in wanted}

    def of_measure(self, measure: str) -> Design:
        """Return the design with defaults for the settings that a measure does not depend on."""
        return Design(**self.needed_by(measure))

    def of_answers(self) -> Design:
        """Return the design without the judges that give no answers that could be counted."""
        return self.model_copy(update={"judges": [one for one in self.judges if one not in self.without_answers]})


def design_of(config: Config, name: str) -> Design:
    """Return the design of a configured protocol."""
    protocol = config.resolved_protocols()[name]
    opponent = protocol.data.opponent
    return Design(
        protocol=name,
        judges=config.judging(name),
        without_answers=config.ensembles_of(name) if protocol.form == "scale" else [],
        derived_judges=[one for one in config.judging(name) if one not in config.judges_of(name)],
        systems=_systems(config, protocol),
        criteria=protocol.criteria,
        lengths=protocol.n_utterances if protocol.form == "locate" else protocol.data.n_utterances,
        reference=None if protocol.form != "pair" or opponent == EACH_OTHER else opponent,
        both_orders=protocol.both_orders,
        families=config.families(),
        measures=[measure for measure in protocol.measured() if measure not in (RANKS, *OF_SAMPLES)],
        elo=config.elo,
        resamples=config.elo.resamples,
        random_seed=config.random_seed,
        equal_pairs=protocol.adaptive is not None,
        cascade=protocol.cascade,
        form=protocol.form if protocol.cascade else None,
    )


def _systems(config: Config, protocol: Protocol) -> list[str]:
    """Return the judged systems of self-chat; other sources have them in their items."""
    if SELFCHAT not in protocol.data.source:
        return []
    people = [HUMAN] if protocol.form in ("locate", "annotate") and not config.selfchat.scenarios else []
    return [*people, *config.chatbots]


def systems_of(judgements: pd.DataFrame, design: Design) -> list[str]:
    """Return the judged systems: the design's, then others by name; without the common opponent."""
    sides = [judgements[side] for side in ("left", "right") if side in judgements]
    found = {name for side in sides for name in side.dropna().unique()}
    others = sorted(found.difference([*design.systems, design.reference or ""]))
    return [*(name for name in design.systems if name != design.reference), *others]


def groups(judgements: pd.DataFrame, design: Design) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yield the judgements of each judge on each criterion at each length."""
    for columns, of_criterion in by_criterion(judgements, design):
        for length, rows in at_lengths(of_criterion, design):
            yield {**columns, **length}, rows


def by_criterion(judgements: pd.DataFrame, design: Design) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yield the judgements of each judge on each criterion, with the columns that say so."""
    found = sorted(judgements["criterion"].dropna().unique())
    criteria = [*(name for name in design.criteria if name in found), *(n for n in found if n not in design.criteria)]
    for judge in design.judges:
        of_judge = judgements[judgements["judge"] == judge]
        for criterion in criteria:
            columns = {"judge": judge, "criterion": criterion}
            yield columns, of_judge[of_judge["criterion"] == criterion]
        if not criteria:
            yield {"judge": judge, "criterion": None}, of_judge


def at_lengths(judgements: pd.DataFrame, design: Design) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Yield the judgements of dialogues at each length; all if the dialogues are not cut."""
    for n in lengths_of(design):
        yield {"n_utterances": n}, judgements if n is None else judgements[judgements["n_utterances"] == n]


def lengths_of(design: Design) -> list[int | None]:
    """Return the lengths of the design; None for uncut dialogues."""
    return [*design.lengths] or [None]


def cases(judgements: pd.DataFrame) -> pd.Series[str]:
    """Return the cluster of each judgement: its case, else its item."""
    case = judgements["case_id"].fillna("")
    return case.where(case != "", judgements["item_id"].fillna(""))


class Comparisons(NamedTuple):
    """Verdicts as arrays of shape [n].

    Attributes:
        left: number of the model shown first.
        right: number of the model shown second.
        outcome: 1 if left wins, 0.5 for a tie, 0 if right wins, NaN if the verdict is unparsed.
        cluster: number of the case, such as a seed.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outcome: NDArray[np.float64]
    cluster: NDArray[np.int64]

    def readable(self) -> Comparisons:
        """Return the comparisons whose verdict could be read."""
        known = ~np.isnan(self.outcome)
        return Comparisons(self.left[known], self.right[known], self.outcome[known], self.cluster[known])


def comparisons(verdicts: pd.DataFrame, models: Sequence[str]) -> Comparisons:
    """Return judgements of pairs as arrays; a model's number is its place in `models`."""
    code = {model: number for number, model in enumerate(models)}
    outcome = verdicts["outcome"].map(OUTCOMES).where(verdicts["status"] == "ok")
    return Comparisons(
        left=np.asarray(verdicts["left"].map(code), dtype=np.int64),
        right=np.asarray(verdicts["right"].map(code), dtype=np.int64),
        outcome=np.asarray(outcome, dtype=np.float64),
        cluster=cases(verdicts).factorize()[0].astype(np.int64),
    )


def dialogue_words(items: Iterable[Path]) -> dict[tuple[str, str], list[int]]:
    """Return the words of every system's dialogue up to each utterance, by system and case.

    In scripts without blanks every character counts as a word. A dialogue without any word counts as one word, so that
    lengths have ratios. A system with several dialogues on one case has no entry, since the shown dialogue is not
    known.

    Args:
        items: tables `items`.
    """
    words: dict[tuple[str, str], list[int]] = {}
    several: set[tuple[str, str]] = set()
    for path in items:
        for row in iterate_rows(path, ITEMS, ["system", "case_id", "utterances"]):
            key = (row["system"], row["case_id"])
            if not all(key) or key in several:
                continue
            if key in words:
                several.add(key)
                del words[key]
                continue
            counts = (sum(map(is_word, surface_tokens(text))) for text in row["utterances"])
            words[key] = [max(total, 1) for total in accumulate(counts)]
    return words


def words_shown(judgements: pd.DataFrame, side: Literal["left", "right"], words: Words) -> NDArray[np.float64]:
    """Return the words of the dialogue that was shown on a side, NaN where they are not known, shape [n]."""
    length = judgements["n_utterances"].fillna(0).to_numpy(dtype=np.int64)
    system, systems = judgements[side].factorize(use_na_sentinel=False)
    case, cases = judgements["case_id"].factorize(use_na_sentinel=False)
    dialogue = (system * max(len(cases), 1) + case) * (length.max(initial=0) + 1) + length
    _, first, place = np.unique(dialogue, return_index=True, return_inverse=True)
    counts = [_up_to(words.get((systems[system[row]], cases[case[row]])), int(length[row])) for row in first]
    return np.array(counts, dtype=np.float64)[place]


def _up_to(counts: Sequence[int] | None, n: int) -> float:
    """Return the words of the first n utterances, of all for 0."""
    if not counts:
        return float("nan")
    return float(counts[min(n or len(counts), len(counts)) - 1])
