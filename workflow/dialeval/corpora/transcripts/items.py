"""Transcripts as items to be judged: whose each is, which speaker is the system, and which dialogues met one case."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.corpora.items import REFERENCE, Item
from dialeval.corpora.text_files import listed
from dialeval.corpora.transcripts.cases import By, cases_of
from dialeval.corpora.transcripts.judging import OTHERS, judged_of
from dialeval.corpora.transcripts.naming import named
from dialeval.corpora.transcripts.readers import AUTO, read
from dialeval.corpora.transcripts.references import References
from dialeval.corpora.transcripts.showing import aside_rows, showing
from dialeval.corpora.transcripts.transcript import JUDGED, AsideKind, Transcript
from dialeval.errors import UserError
from dialeval.text.counting import counted, noted

_SHOWN_SYSTEMS = 20


@dataclass(frozen=True)
class Options:
    """What the configuration says of a source.

    Attributes:
        reader: a kind of file, or `auto`.
        system: whose the dialogues are where the file does not say it.
        language: of dialogues that do not name theirs.
        judged: the speaker who is the system; None for whoever is called so.
        cases: a value of `By`.
        shown: kinds of asides that judges are shown.
        columns: names of a table's columns, by what they hold.
        limit: so many cases at most, or dialogues of each system where there are none; None for all.
    """

    reader: str = AUTO
    system: str | None = None
    language: str = "en"
    judged: str | None = None
    cases: str = By.AUTO
    shown: frozenset[AsideKind] = frozenset()
    columns: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None


class LeftOut(NamedTuple):
    """A dialogue that is no item, and why."""

    corpus: str
    language: str
    item_id: str
    reason: str


class _Judged(NamedTuple):
    """A dialogue that can be judged, with its id and the speaker who is the system."""

    transcript: Transcript
    item_id: str
    judged: str


@dataclass
class TranscriptItems:
    """What is judged, and what is told of the rest.

    Attributes:
        items: the dialogues, and then the references as dialogues of the system `reference`.
        asides: rows of the table `asides`.
        left_out: the dialogues that are no items.
        notes: lines for the log.
    """

    items: list[Item] = field(default_factory=list)
    asides: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_items(source: str, path: Path, options: Options) -> TranscriptItems:
    """Reads transcripts.

    Args:
        source: their name in the configuration.
        path: the file or folder.
        options: what the configuration says of them.

    Raises:
        UserError: the file, the place, the field, the value and the remedy.
    """
    counts: Counter[str] = Counter()
    found = named(list(read(path, options.reader, options.columns, counts)), path, options.system, counts)
    reading, references = TranscriptItems(), References()
    judged = _judged(source, path, found, options, reading, counts)
    cases = cases_of([one.transcript for one in judged], options.cases)
    systems = [one.transcript.system for one in judged]
    wanted = _within(options.limit, list(zip(cases, systems, strict=True)))
    for one, case, is_wanted in zip(judged, cases, wanted, strict=True):
        if not is_wanted:
            continue
        item = Item(
            corpus=source,
            item_id=one.item_id,
            language=one.transcript.language or options.language,
            level="dialogue",
            cluster=case or one.item_id,
            speakers=one.transcript.speakers,
            utterances=one.transcript.utterances,
            system=one.transcript.system,
            case_id=case,
            judged=one.judged,
        )
        reading.items.append(showing(item, one.transcript, options.shown))
        reading.asides += aside_rows(item, one.transcript)
        references.take(item, one.transcript)
    reading.items += references.items()
    _refuse_one_id_of_two(reading.items, path)
    counts["dialogues with their system's name in what is said; judges and annotators read it, no text is altered"] += (
        sum(names_its_system(item) for item in reading.items)
    )
    reading.notes = [*_summary(path, reading), *(noted(count, note) for note, count in (+counts).items())]
    return reading


def _judged(
    source: str,
    path: Path,
    found: Sequence[Transcript],
    options: Options,
    reading: TranscriptItems,
    counts: Counter[str],
) -> list[_Judged]:
    """Returns the dialogues in which the system says something; the others are left out.

    Raises:
        UserError: there is none.
    """
    silent = "the system says nothing" if options.judged is None else f"'{options.judged}' says nothing"
    kept = []
    for number, one in enumerate(found, start=1):
        counts["dialogues without an id, numbered row-1, row-2, ..."] += not one.dialogue_id
        item_id = f"{one.dialogue_id or f'row-{number}'}/{one.system}"
        judged = judged_of(one.speakers, one.system, options.judged, one.place)
        if judged is None or not one.utterances:
            reason = silent if one.utterances else "nothing is said"
            reading.left_out.append(LeftOut(source, one.language or options.language, item_id, reason))
            continue
        kept.append(_Judged(one, item_id, judged))
        if not judged:
            counts[
                "dialogues in which nobody is known as the system, so that all speakers are judged; `judged: NAME` "
                "says who it is"
            ] += 1
        elif judged != one.speakers[-1]:
            counts["dialogues that end with another speaker than the system"] += 1
    if found and not kept:
        speakers = listed(dict.fromkeys(name for one in found for name in one.speakers))
        raise UserError(
            f"{path}: none of {len(found)} dialogues can be judged ({_counted(reading.left_out)}); speakers there: "
            f"{speakers}; name the one who is the system with the field `judged`"
        )
    if not found:
        raise UserError(f"{path}: there is no dialogue in it")
    return kept


def names_its_system(item: Item) -> bool:
    """Returns whether the system's name stands as a word in an utterance; a role, such as `assistant`, is no name."""
    name = item.system.casefold()
    if len(name) < 2 or name in OTHERS.union(JUDGED, (REFERENCE,)):
        return False
    said = "\n".join(item.utterances).casefold()
    return name in said and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) is not None


def _within(limit: int | None, cases: Sequence[tuple[str, str]]) -> list[bool]:
    """Returns which dialogues are of the first cases, or the first without a case of their system."""
    chosen = set(list(dict.fromkeys(case for case, _ in cases if case))[:limit])
    alone: Counter[str] = Counter()
    wanted = []
    for case, system in cases:
        alone[system] += not case
        wanted.append(case in chosen if case else limit is None or alone[system] <= limit)
    return wanted


def _refuse_one_id_of_two(items: Sequence[Item], path: Path) -> None:
    for item_id, count in Counter(item.item_id for item in items).most_common(1):
        if count > 1:
            raise UserError(f"{path}: '{item_id:.100}' could be two dialogues; take the / out of their ids or systems")


def _counted(left_out: Sequence[LeftOut]) -> str:
    return "; ".join(f"in {count} {why}" for why, count in Counter(one.reason for one in left_out).most_common())


def _summary(path: Path, reading: TranscriptItems) -> Iterator[str]:
    """Yields what was read, what was left out, and how far the systems met the same cases."""
    systems = Counter(item.system for item in reading.items)
    each = ", ".join(f"{name} {count}" for name, count in list(systems.items())[:_SHOWN_SYSTEMS])
    n = sum(len(item.utterances) for item in reading.items)
    yield (
        f"{path}: {counted(len(reading.items), 'dialogue')} with {counted(n, 'utterance')} of "
        f"{counted(len(systems), 'system')} read: {each}"
    )
    if reading.left_out:
        yield f"{counted(len(reading.left_out), 'dialogue')} left out ({_counted(reading.left_out)})"
    if reading.asides:
        kinds = Counter(row["kind"] for row in reading.asides)
        yield "kept apart from what was said: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    met: defaultdict[str, set[str]] = defaultdict(set)
    for item in reading.items:
        met[item.case_id].add(item.system)
    met.pop("", None)
    shared = sum(len(names) > 1 for names in met.values())
    everywhere = sum(len(names) == len(systems) for names in met.values())
    without = sum(not item.case_id for item in reading.items)
    yield (
        f"{counted(len(met), 'case')}, {shared:,} of them of several systems, {everywhere:,} of all; without one: "
        f"{counted(without, 'dialogue')}"
    )
