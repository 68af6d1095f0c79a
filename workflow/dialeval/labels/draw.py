"""Which units are labelled, a stratified random sample, and their inclusion probabilities.

Each stratum is ordered by a hash, and the first n units are drawn; a larger n draws further units of the same order.
Drawn units stay drawn. Later units, such as those of a new system, form a stratum of their own, so that all units of a
stratum have the same inclusion probability.

Under `active` each unit has its own, by the judge's predicted error (Zrnic and Candes 2024). The order is that of a
priority sample (Duffield, Lund and Thorup 2007): uniform numbers divided by relative probabilities. Given the sample
size, the inclusion probability is known exactly: the relative probability times the priority of the first unit that is
not drawn, at most 1.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from typing import Any, Literal

from dialeval.criteria import NO, Level
from dialeval.errors import UserError
from dialeval.labels.ledger import ACTIVE, Entry, Ledger, digest, priority, uniform
from dialeval.labels.units import Unit, identity_columns, keyed
from dialeval.tables.dialogues import Form

SamplingDesign = Literal["random", "cases", "score", "uncertainty", "active"]
UNSURE = 0.3
"""Share of a system's units in the stratum of the least certain judgements, under `sampling_design: uncertainty`."""
HALF = 0.5
"""Share of the sample from this stratum, the rest being proportional to size; under `active`, the share by predicted
error, the rest being uniform."""
PRIOR = 4
"""Scores with the mean variance that are added to the scores of a unit, under `active`."""
_THIRDS = ("low scores", "middle scores", "high scores")
_SURE = ("least sure", "surer")
_PAIRS, _CASES = "pairs", "cases"


@dataclass(frozen=True)
class Design:
    """How a sample is drawn.

    Attributes:
        protocol: its name.
        random_seed: seed of the first draw; later draws take the ledger's.
        n: number of units of each system, of pairs in all, or of cases (as many as have n pairs).
        by: the sampling design.
        scores: by identity, the judge's score, its uncertainty or its predicted error.
    """

    protocol: str
    random_seed: int
    n: int
    by: SamplingDesign
    scores: Mapping[tuple[object, ...], float] = field(default_factory=dict)


def draw(units: Iterable[Unit], ledger: Ledger, design: Design) -> list[Entry]:
    """Return the rows that the draw adds to a ledger.

    Args:
        units: all present units.
        ledger: the sampling record so far.
        design: how units are drawn.

    Raises:
        UserError: the ledger has another sampling design.
    """
    if ledger.by() not in ("", design.by):
        raise UserError(
            f"{ledger.path} was drawn with sampling_design {ledger.by()}, and labels.sampling_design is now "
            f"{design.by}. A drawn sample keeps its inclusion probabilities: set labels.sampling_design to "
            f"{ledger.by()}, or set labels.path to "
            "another folder for a new sample"
        )
    draws = draw_ids(ledger, design)
    now = keyed(units, draws)
    fresh: defaultdict[tuple[Level, str], dict[str, Unit]] = defaultdict(dict)
    for key, unit in now.items():
        if key not in ledger.entries:
            fresh[unit.level, _group(unit, design)][key] = unit
    entries = {key: entry for key, entry in ledger.entries.items() if key in now}
    taken = {entry.stratum for entry in ledger.entries.values()}
    for (level, group), new in fresh.items():
        for name, keys in _strata(group, new, design).items():
            stratum = _unused(f"{name}, responses" if level == "turn" else name, taken)
            taken.add(stratum)
            relative = _relative_probabilities({key: new[key] for key in keys}, design)
            places = _places(keys, new, draws[level], design)
            if design.by == ACTIVE:
                order = sorted(keys, key=lambda key: (priority(key, relative[key]), key))
                places = {key: place for place, key in enumerate(order, start=1)}
            for key, place in places.items():
                entries[key] = Entry(
                    draws[level], design.by, key, new[key].identity, stratum, place, False, relative[key]
                )
    drawn = _drawn(entries, design)
    after = {key: replace(entry, drawn=True) if key in drawn else entry for key, entry in entries.items()}
    return [entry for key, entry in after.items() if entry != ledger.entries.get(key)]


def draw_ids(ledger: Ledger, design: Design) -> dict[Level, str]:
    """Return the ids of the samples of both levels: the recorded ones, or new ones from the random seed."""
    levels: tuple[Level, ...] = ("turn", "dialogue")
    named = {level: digest(design.random_seed, design.protocol, level)[:12] for level in levels}
    return {level: f"d{digest}" for level, digest in named.items()} | ledger.draws()


def _group(unit: Unit, design: Design) -> str:
    """Return the group that n applies to: a system, all pairs, or all cases."""
    if design.by == "cases":
        return _CASES
    return _PAIRS if unit.opponent else unit.system


def _strata(group: str, units: Mapping[str, Unit], design: Design) -> dict[str, list[str]]:
    """Return the keys of new units by stratum."""
    if design.by in ("random", "cases", ACTIVE):
        return {group: list(units)}
    ranked = sorted(units, key=lambda key: (_score(units[key], design), digest("rank", key)))
    if design.by == "score":
        cuts = [round(len(ranked) * part / len(_THIRDS)) for part in range(len(_THIRDS) + 1)]
        parts = {f"{group}, {name}": ranked[cuts[number] : cuts[number + 1]] for number, name in enumerate(_THIRDS)}
    else:
        surer = len(ranked) - math.ceil(UNSURE * len(ranked))
        parts = dict(zip((f"{group}, {name}" for name in _SURE), (ranked[surer:], ranked[:surer]), strict=True))
    return {name: keys for name, keys in parts.items() if keys}


def _score(unit: Unit, design: Design) -> float:
    """Return the score that a unit is ranked by; one that the judge did not give comes first."""
    return design.scores.get(unit.identity[:-1], -math.inf)


def _relative_probabilities(units: Mapping[str, Unit], design: Design) -> dict[str, float]:
    """Return the inclusion probability of each unit relative to their mean: half uniform, half by predicted error.

    A unit without a predicted error has the mean one. If all are 0, the draw is uniform.
    """
    known = {key: design.scores[unit.identity[:-1]] for key, unit in units.items()
             if design.by == ACTIVE and unit.identity[:-1] in design.scores}  # fmt: skip
    mean = statistics.fmean(known.values()) if known else 0.0
    ratio = {key: error / mean for key, error in known.items()} if mean > 0.0 else {}
    return {key: float(f"{1.0 - HALF + HALF * ratio.get(key, 1.0):.6g}") for key in units}


def _unused(name: str, taken: set[str]) -> str:
    number = 1
    while (stratum := name if number == 1 else f"{name} ({number})") in taken:
        number += 1
    return stratum


def _places(keys: Sequence[str], units: Mapping[str, Unit], draw_id: str, design: Design) -> dict[str, int]:
    """Return the place of each unit in its stratum's random order.

    Any number of first pairs is spread evenly over every two systems: of the N cases of two systems in random order,
    the case of rank r (from 0) has position (r + u) / N with a uniform u. All are equally likely to be first.
    """
    if design.by == "cases":
        cases = {key: _case(units[key]) for key in keys}
        order = sorted(set(cases.values()), key=lambda case: digest(draw_id, "case", case))
        place_of = {case: place for place, case in enumerate(order, start=1)}
        return {key: place_of[case] for key, case in cases.items()}
    hashed = sorted(keys, key=lambda key: digest("place", key))
    pairs: defaultdict[tuple[str, str, int | None], list[str]] = defaultdict(list)
    for key in hashed:
        unit = units[key]
        pairs[(unit.system, unit.opponent, unit.n_utterances) if unit.opponent else ("", "", None)].append(key)
    position = {
        key: (number + uniform("turn", key)) / len(of) for of in pairs.values() for number, key in enumerate(of)
    }
    return {key: place for place, key in enumerate(sorted(hashed, key=position.__getitem__), start=1)}


def _case(unit: Unit) -> str:
    return unit.case_id or f"{unit.corpus}/{unit.item_id}"


def _drawn(entries: Mapping[str, Entry], design: Design) -> set[str]:
    """Return the keys of the units that are drawn: the first of each stratum, and those that were drawn before."""
    strata: defaultdict[tuple[Level, str], list[Entry]] = defaultdict(list)
    for entry in entries.values():
        strata[entry.level, entry.stratum].append(entry)
    drawn = {entry.key for entry in entries.values() if entry.drawn}
    for group in _groups(strata, design):
        parts = [strata[name] for name in group]
        places = [sorted({entry.place for entry in part}) for part in parts]
        n = design.n
        if design.by == "cases" and parts[0][0].identity[4]:  # n is of pairs, of which a case has several
            n = math.ceil(n * sum(map(len, places)) / sum(map(len, parts)))
        quotas = apportion(n, _weights(group, list(map(len, places)), design), list(map(len, places)))
        for part, order, quota in zip(parts, places, quotas, strict=True):
            chosen = set(order[:quota])
            drawn |= {entry.key for entry in part if entry.place in chosen}
    return drawn


def _groups(strata: Mapping[tuple[Level, str], Sequence[Entry]], design: Design) -> list[list[tuple[Level, str]]]:
    """Return the strata that share one n, in the order of their names.

    Strata of cases do where they have a system in common: new cases take part of the n, a new system has its own.
    """
    groups: dict[tuple[Level, str], list[tuple[Level, str]]] = {}
    systems: dict[tuple[Level, str], set[str]] = {}
    for name in sorted(strata):
        level, there = name[0], {entry.system for entry in strata[name]}
        pair = bool(strata[name][0].identity[4])
        if design.by != "cases":
            group = (level, _PAIRS if pair else strata[name][0].system)
        else:
            alike = (of for of in groups if of[0] == level and (pair or there & systems[of]))
            group = next(alike, name)
        groups.setdefault(group, []).append(name)
        systems[group] = systems.get(group, set()) | there
    return list(groups.values())


def _weights(group: Sequence[tuple[Level, str]], sizes: Sequence[int], design: Design) -> list[float]:
    """Return the strata's weights: their sizes, and half of all to those where the judge is least sure."""
    total = sum(sizes)
    shares = [size / total for size in sizes]
    if design.by != "uncertainty":
        return shares
    unsure = [size if f", {_SURE[0]}" in name else 0 for (_, name), size in zip(group, sizes, strict=True)]
    return [(1 - HALF) * share + HALF * own / (sum(unsure) or 1) for share, own in zip(shares, unsure, strict=True)]


# Sample sizes of the strata; a larger sample contains every smaller one.


def apportion(n: int, weights: Sequence[float], sizes: Sequence[int]) -> list[int]:
    """Return how many of `n` fall to each part, by Sainte-Lague's divisors, none getting more than it has.

    One after the other goes to the part with the largest weight / (2 seats + 1); so with one more no part gets fewer
    (house-monotone). Of parts that are equal the first comes first.

    Args:
        n: how many in all; more than there are is all that there are.
        weights: of the parts; one of weight 0 gets none.
        sizes: how many each part has.
    """
    seats = [0] * len(sizes)
    waiting = [(-weight, part) for part, weight in enumerate(weights) if weight > 0 and sizes[part] > 0]
    heapify(waiting)
    for _ in range(min(n, sum(sizes))):
        if not waiting:
            break
        _, part = heappop(waiting)
        seats[part] += 1
        if seats[part] < sizes[part]:
            heappush(waiting, (-weights[part] / (2 * seats[part] + 1), part))
    return seats


# Rows of the table of draws, inclusion probabilities, and a judge's score or uncertainty of each unit.

_POINTS = {"left": 1.0, "tie": 0.5, "right": 0.0}
_About = tuple[str, str, str, str, str, int | None]


def draw_rows(protocol: str, units: Iterable[Unit], ledger: Ledger) -> list[dict[str, Any]]:
    """Return the rows of the table, in the order of the ledger.

    The inclusion probability of a unit is the drawn share of its stratum, among present units; under `active` its own.

    Args:
        protocol: its name.
        units: all present units.
        ledger: the sampling record.
    """
    there = keyed(units, ledger.draws())
    entries = [entry for key, entry in ledger.entries.items() if key in there]
    probability = inclusion_probabilities(entries)
    rows = []
    for entry in entries:
        rows.append(
            {
                "protocol": protocol,
                **identity_columns(entry.identity),
                "level": entry.level,
                "draw": entry.draw,
                "key": entry.key,
                "stratum": entry.stratum,
                "place": entry.place,
                "probability": probability[entry.key],
                "drawn": entry.drawn,
            }
        )
    return rows


def inclusion_probabilities(entries: Sequence[Entry], labelled: Collection[str] | None = None) -> dict[str, float]:
    """Return the inclusion probability of each unit by key: the share of its stratum that was drawn.

    Under `active` it is the unit's own. Given the priorities of the other units, a unit is drawn if its priority is
    below the n-th smallest of theirs; its relative probability times that number, at most 1, is the chance of this.

    Args:
        entries: present units of a ledger.
        labelled: keys of the drawn units with a label, a random part of those that were drawn; None for all.
    """
    strata: defaultdict[tuple[Level, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        strata[entry.level, entry.stratum].append(entry)
    found: dict[str, float] = {}
    for units in strata.values():
        drawn = [entry for entry in units if entry.drawn]
        n = len(drawn) if labelled is None else sum(entry.key in labelled for entry in units)
        if units[0].by != ACTIVE or not drawn:
            found |= dict.fromkeys((entry.key for entry in units), n / len(units))
            continue
        last = max(entry.priority for entry in drawn)
        beyond = min((entry.priority for entry in units if not entry.drawn), default=math.inf)
        for entry in units:
            own = entry.relative_probability * (beyond if entry.drawn else last)
            found[entry.key] = min(1.0, own) * (n / len(drawn))
    return found


def judged_scores(
    rows: Iterable[Mapping[str, Any]], form: Form, by: Literal["score", "uncertainty"]
) -> dict[tuple[object, ...], float]:
    """Return a judge's score or uncertainty of every judged unit, by corpus, item, case, systems and length.

    The score is from 0 to 1: the position on the scale, the probability of Yes, 1 for a No in the form `locate`, and of
    a pair the share of orders in which the alphabetically first system wins. The uncertainty is the standard deviation
    over repeats of a scale, and otherwise the closeness of the score to 0.5. Several criteria are averaged.

    Args:
        rows: of the table `judgements`, of one judge and protocol.
        form: form of the protocol.
        by: score or uncertainty.
    """
    spread = by == "uncertainty" and form == "scale"
    found: defaultdict[_About, list[float]] = defaultdict(list)
    for (about, _), scores in _by_unit(rows, form).items():
        given = [score for _, score in scores]
        score = statistics.pstdev(given) if spread else statistics.fmean(given)
        found[about].append(-abs(score - 0.5) if by == "uncertainty" and not spread else score)
    return {about: statistics.fmean(each) for about, each in found.items()}


def predicted_errors(rows: Iterable[Mapping[str, Any]], form: Form) -> dict[tuple[object, ...], float]:
    """Return the standard deviation of the judge's error that is predicted for every unit, as `judged_scores` does.

    It is sqrt(p (1 - p)) of the mean probability of Yes. Otherwise it is the standard deviation of a unit's scores over
    repeats, orders and judges, without the judges' mean scores. Few scores of a unit hardly show their spread, so as
    many as `PRIOR` with the mean variance of all units are added. Several criteria are averaged.

    Args:
        rows: of the table `judgements`, of one protocol and any judges.
        form: form of the protocol.
    """
    by_unit = _by_unit(rows, form)
    found: defaultdict[_About, list[float]] = defaultdict(list)
    if form == "probability":
        for (about, _), scores in by_unit.items():
            p = min(max(statistics.fmean(score for _, score in scores), 0.0), 1.0)
            found[about].append(math.sqrt(p * (1.0 - p)))
        return {about: statistics.fmean(each) for about, each in found.items()}
    of_judge: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for (_, criterion), scores in by_unit.items():
        for judge, score in scores:
            of_judge[judge, criterion].append(score)
    means = {of: statistics.fmean(scores) for of, scores in of_judge.items()}
    squares: defaultdict[str, dict[_About, tuple[float, int]]] = defaultdict(dict)
    for (about, criterion), scores in by_unit.items():
        given = [score - means[judge, criterion] for judge, score in scores]
        squares[criterion][about] = statistics.pvariance(given) * len(given), len(given) - 1
    for of_units in squares.values():
        freedom = sum(n for _, n in of_units.values())
        mean = sum(square for square, _ in of_units.values()) / max(freedom, 1)
        for about, (square, n) in of_units.items():
            found[about].append(math.sqrt((PRIOR * mean + square) / (PRIOR + n)))
    return {about: statistics.fmean(each) for about, each in found.items()}


def _by_unit(rows: Iterable[Mapping[str, Any]], form: Form) -> dict[tuple[_About, str], list[tuple[str, float]]]:
    """Return the judges with their scores by unit and criterion."""
    found: defaultdict[tuple[_About, str], list[tuple[str, float]]] = defaultdict(list)
    for row in rows:
        score = _score_judged(row, form)
        if row["status"] == "ok" and score is not None:
            found[_about(row), row["criterion"] or ""].append((row["judge"], score))
    return found


def _about(row: Mapping[str, Any]) -> _About:
    if row["right"]:
        left, right = sorted((row["left"], row["right"]))
        return "", "", row["case_id"] or "", left, right, row["n_utterances"]
    return row["corpus"] or "", row["item_id"] or "", row["case_id"] or "", row["left"] or "", "", row["n_utterances"]


def _score_judged(row: Mapping[str, Any], form: Form) -> float | None:
    if form == "pair":
        points = _POINTS.get(row["outcome"] or "")
        return points if points is None or row["left"] <= row["right"] else 1 - points
    if form == "locate":
        return None if row["choice"] is None else float(row["choice"] == NO)
    if row["value"] is None or row["scale_max"] == row["scale_min"]:
        return None
    score: float = (row["value"] - row["scale_min"]) / (row["scale_max"] - row["scale_min"])
    return score
