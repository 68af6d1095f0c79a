"""Tables of means, rates, checklists and pass rates, and of the dialogues that show a criterion most clearly."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from dialeval.corpora.items import REFERENCE
from dialeval.criteria import FAILURES_BY_RULE, NO_FAILURE
from dialeval.measures.design import Design, Row, by_criterion, cases, lengths_of, systems_of
from dialeval.measures.item_values import at_human_length, item_values, long_enough, passed
from dialeval.papers.botchat import published_number
from dialeval.stats.clustered import clustered_mean, clustered_proportion
from dialeval.stats.rates import pass_rates as rates_by_group
from dialeval.tables.files import HUMAN, iterate_rows
from dialeval.tables.metaeval import ITEMS

# Tables of means, rates, checklists and pass rates: estimates of each system, by judge, criterion and length.

COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "n_utterances", "criterion", "choice", "value",
    "scale_min", "scale_max", "status",
)  # fmt: skip
"""Columns of the table `judgements` that means, rates, checklists and the agreement of judges need."""
PASS_COLUMNS = (
    "judge", "case_id", "item_id", "left", "n_utterances", "criterion", "choice", "place", "status"
)  # fmt: skip
"""Columns of the table `judgements` that pass rates need."""


def mean_rows(measure: str, judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table of means: the mean score, or the proportion of items, of each system.

    - `means`: the mean score on each criterion.
    - `rates`: the proportion of items with each answer; for yes-no questions, with yes. Unparsed items count in
      the denominator.
    - `checklist`: the mean share of yes. An item with an unparsed answer to any question has no share and counts as
      missing.

    Args:
        measure: the table's name.
    """
    systems = systems_of(judgements, design)
    rows = []
    for found in item_values(measure, judgements, design, {}):
        low, high = (0.0, 1.0) if measure == "checklist" else map(found.columns.get, ("scale_min", "scale_max"))
        scale = None if low is None or high is None else (low, high)
        for system, value, has_item in zip(systems, found.value, found.has_item, strict=True):
            known = ~np.isnan(value)
            n_missing = int((has_item & ~known).sum())
            if found.is_score:
                estimate = clustered_mean(value[known], found.cluster[known], scale=scale, confidence=design.confidence)
                n: Row = {"n": int(known.sum()), "n_missing": n_missing}
            else:
                successes, cluster = np.nan_to_num(value[has_item]), found.cluster[has_item]
                estimate = clustered_proportion(successes, cluster, confidence=design.confidence)
                n = {"n": int(has_item.sum()), "n_unparsed": n_missing}
            about = {**found.group, "system": system}
            rows.append({**about, **estimate.limits(), **n, **estimate.columns(), **found.columns})
    return rows


def pass_rates(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `pass_rates`: the share of dialogues that pass at each N (BotChat, Figure 4).

    Intervals are clustered by case, on which a system has one dialogue, or several repeats. A dialogue counts at N only
    if it has N utterances or more. An unparsed verdict stays in the denominator.
    """
    systems = systems_of(judgements, design)
    rows = []
    for about, of_criterion in by_criterion(judgements, design):
        for n in lengths_of(design):
            for row in _pass_rows(*long_enough(of_criterion, n), systems, design.confidence):
                published = published_number(design.protocol, "pass_rates", row["system"], n)
                rows.append({**about, "n_utterances": n, **row, "published": published})
    return rows


def pass_rates_at_gt_length(judgements: pd.DataFrame, design: Design, human_lengths: dict[str, int]) -> list[Row]:
    """Return the rows of a table `pass_rates_at_gt_length`: the share of dialogues that pass at human length.

    A dialogue passes if no AI utterance is seen within the length of the human dialogue of its case (BotChat, Figure
    7).

    Args:
        human_lengths: number of utterances of the human dialogue of each case that has a long enough one.
    """
    systems = systems_of(judgements, design)
    return [
        {**about, **row}
        for about, of_criterion in by_criterion(judgements, design)
        for row in _pass_rows(*at_human_length(of_criterion, human_lengths), systems, design.confidence)
    ]


def _pass_rows(
    judgements: pd.DataFrame, limits: pd.Series[int], systems: Sequence[str], confidence: float
) -> list[Row]:
    """Return a row of pass rates for each system; `limits` is the N of each judgement."""
    code = {system: number for number, system in enumerate(systems)}
    rates = rates_by_group(
        passed(judgements, limits),
        [code[system] for system in judgements["left"]],
        len(systems),
        cluster=pd.factorize(cases(judgements))[0],
        confidence=confidence,
    )
    return [
        {
            "system": system,
            **rates.rate.one(number).limits(),
            "n": int(rates.n[number]),
            "n_unparsed": int(rates.unparsed[number]),
            **rates.rate.columns(number),
        }
        for number, system in enumerate(systems)
    ]


# Examples: the dialogues that show a kind most clearly.

EXAMPLE_COLUMNS = (
    "judge", "case_id", "corpus", "language", "item_id", "left", "criterion", "choice", "places", "status"
)  # fmt: skip
"""Columns of the table `judgements` that examples need."""
MAX_EXAMPLES = 5
"""Examples of one kind."""
_LONGEST, _LONGEST_BEFORE = 400, 160
_KEY = ("corpus", "language", "item_id")
Key = tuple[str, str, str]
"""Corpus, language and id of a dialogue."""


def examples(judgements: pd.DataFrame, design: Design, items: Iterable[Path]) -> list[Row]:
    """Return the rows of a table `examples`: at most `MAX_EXAMPLES` of each kind, the clearest first.

    Dialogues are sorted by the number of judges that see the kind (rules count as one), then by the number of judges
    that agree on an utterance, then by the number of utterances that show it. Hashes of their names decide ties. A
    system has a second example only after every system that shows the kind has one.

    Args:
        items: tables `items` with the dialogues.
    """
    found = _seen(judgements)
    order = [name for name in dict.fromkeys([*design.criteria, *found]) if name in found]
    chosen = {criterion: _chosen(criterion, found[criterion]) for criterion in order}
    texts = _texts(items, {key for keys in chosen.values() for key in keys})
    return [
        _row(criterion, rank, key, found[criterion][key], texts[key])
        for criterion, keys in chosen.items()
        for rank, key in enumerate((key for key in keys if key in texts), start=1)
    ]


def _seen(judgements: pd.DataFrame) -> dict[str, dict[Key, _Seen]]:
    found: dict[str, dict[Key, _Seen]] = {}
    yes = judgements[(judgements["choice"] == "Yes") & (judgements["status"] == "ok")]
    yes = yes[~yes["left"].isin([HUMAN, REFERENCE])]
    columns = (yes[name].tolist() for name in ("criterion", *_KEY, "left", "case_id", "judge", "places"))
    for criterion, corpus, language, item_id, system, case_id, judge, places in zip(*columns, strict=True):
        case = "" if pd.isna(case_id) else case_id
        one = found.setdefault(criterion, {}).setdefault((corpus, language, item_id), _Seen(system, case))
        one.judges[judge] = None
        one.places.update([] if places is None else map(int, places))
    if NO_FAILURE in found:  # a dialogue in which no rule finds anything is no example
        found[NO_FAILURE] = {
            key: one for key, one in found[NO_FAILURE].items() if set(one.judges) != {FAILURES_BY_RULE}
        }
    return found


@dataclass
class _Seen:
    """Judges and utterances that show one kind in one dialogue.

    Attributes:
        system, case_id: whose it is, and on which case.
        judges: who saw it.
        places: how many times an utterance was named.
    """

    system: str
    case_id: str
    judges: dict[str, None] = field(default_factory=dict)
    places: Counter[int] = field(default_factory=Counter)

    @property
    def clearest(self) -> int | None:
        """Return the utterance that most judges name, of several the first."""
        return min(self.places, key=lambda place: (-self.places[place], place), default=None)


def _chosen(criterion: str, seen: Mapping[Key, _Seen]) -> list[Key]:
    def clearness(key: Key) -> tuple[int, int, int, str]:
        one = seen[key]
        digest = hashlib.sha256("\x1f".join([criterion, *key]).encode()).hexdigest()
        return -len(one.judges), -max(one.places.values(), default=0), -len(one.places), digest

    ordered = sorted(seen, key=clearness)
    of_system: Counter[str] = Counter()
    turns = {}
    for key in ordered:
        turns[key] = of_system[seen[key].system]
        of_system[seen[key].system] += 1
    return sorted(ordered, key=turns.__getitem__)[:MAX_EXAMPLES]


def _texts(items: Iterable[Path], wanted: set[Key]) -> dict[Key, Sequence[str]]:
    texts: dict[Key, Sequence[str]] = {}
    for path in items:
        for row in iterate_rows(path, ITEMS, ["corpus", "language", "item_id", "utterances"]):
            key = (row["corpus"], row["language"], row["item_id"])
            if key in wanted:
                texts[key] = row["utterances"]
    return texts


def _row(criterion: str, rank: int, key: Key, seen: _Seen, utterances: Sequence[str]) -> Row:
    place = seen.clearest
    if place is None:
        text, previous = _clipped(" / ".join(utterances), _LONGEST), ""
    else:
        text = _clipped(utterances[place - 1], _LONGEST)
        previous = _clipped(utterances[place - 2], _LONGEST_BEFORE) if place > 1 else ""
    return {
        "criterion": criterion,
        "rank": rank,
        "system": seen.system,
        "corpus": key[0],
        "item_id": key[2],
        "case_id": seen.case_id or None,
        "flagged_by": ", ".join(seen.judges),
        "utterance": place,
        "n_flagged_utterances": len(seen.places),
        "text": text,
        "before": previous,
    }


def _clipped(text: str, most: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
