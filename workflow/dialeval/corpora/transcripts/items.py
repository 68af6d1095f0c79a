"""Transcripts as items to be judged: names, systems, cases, references and context shown."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from dialeval.corpora.items import REFERENCE, Item
from dialeval.corpora.text_files import listed
from dialeval.corpora.transcripts.readers import AUTO, read
from dialeval.corpora.transcripts.transcript import JUDGED, OTHERS, HiddenType, Transcript, judged_of
from dialeval.errors import UserError
from dialeval.languages import LANGUAGES
from dialeval.text import counted, noted


class By(StrEnum):
    """How dialogues of one case are found."""

    AUTO = "auto"
    OPENING = "opening"
    NONE = "none"


def cases_of(transcripts: Sequence[Transcript], by: str) -> list[str]:
    """Return the case of each dialogue; empty where it has none. A system may have several dialogues on a case.

    `auto`: the file's `case_id`; else its `prompt`; else the dialogue's id, where dialogues of several systems have it
    or it has a reference. `opening`: the first utterance. `none`: nothing.
    """
    systems: defaultdict[str, set[str]] = defaultdict(set)
    for transcript in transcripts:
        systems[transcript.dialogue_id].add(transcript.system)
    return [_case(one, by, shared=len(systems[one.dialogue_id]) > 1) for one in transcripts]


def _case(transcript: Transcript, by: str, *, shared: bool) -> str:
    if by == By.OPENING:
        return _digest(transcript.utterances[0])
    if by == By.NONE:
        return ""
    if transcript.case_id:
        return transcript.case_id
    if transcript.prompt:
        return _digest(transcript.prompt)
    return transcript.dialogue_id if shared or transcript.reference[1] else ""


def _digest(text: str) -> str:
    """Return a text's beginning, for people, and its digest; blanks make no difference."""
    plain = " ".join(text.split())
    return f"{plain[:40].strip()} [{hashlib.sha256(plain.encode()).hexdigest()[:12]}]"


# Transcripts as items to be judged: whose each is, which speaker is the system, and which dialogues met one case.

_SHOWN_SYSTEMS = 20
_N_READ, _READ = 200, 1000
"""Dialogues, and characters of each, whose letters are compared with those of their language."""
_SHOWN_SPEAKERS, _SHOWN_UTTERANCES = 10, 4


@dataclass(frozen=True)
class Options:
    """The configuration of a source of transcripts.

    Attributes:
        reader: a kind of file, or `auto`.
        system: the system where the file does not name it.
        language: of dialogues that do not name theirs.
        evaluated_role: the speaker who is the system; None for a speaker with a name such as `assistant`.
        cases: a value of `By`.
        shown: types of hidden messages that judges see.
        columns: names of a table's columns, by field.
        limit: so many cases at most, or dialogues of each system where there are none; None for all.
    """

    reader: str = AUTO
    system: str | None = None
    language: str = "en"
    evaluated_role: str | None = None
    cases: str = By.AUTO
    shown: frozenset[HiddenType] = frozenset()
    columns: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None


class LeftOut(NamedTuple):
    """A dialogue that is no item, and why."""

    corpus: str
    language: str
    item_id: str
    reason: str


@dataclass
class TranscriptItems:
    """The items of transcripts, their hidden messages, left-out dialogues and notes.

    Attributes:
        items: the dialogues, and then the references as dialogues of the system `reference`.
        hidden_messages: rows of the table `hidden_messages`.
        left_out: the dialogues that are no items.
        notes: lines for the log.
    """

    items: list[Item] = field(default_factory=list)
    hidden_messages: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_items(source: str, path: Path, options: Options) -> TranscriptItems:
    """Read transcripts.

    Args:
        source: their name in the configuration.
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
        reading.hidden_messages += hidden_rows(item, one.transcript)
        references.take(item, one.transcript)
    if others := _other_languages(reading.items):
        counts[
            f"dialogues not in the letters of their language, {', '.join(others)}; set `language` of this entry"
        ] += sum(others.values())
    reading.items += references.items()
    _refuse_one_id_of_two(reading.items, path)
    counts[
        (
            "dialogues in which an utterance contains the system's name; judges and annotators see it, since no "
            "text is changed"
        )
    ] += sum(names_its_system(item) for item in reading.items)
    reading.notes = [*_summary(path, reading), *(noted(count, note) for note, count in (+counts).items())]
    return reading


def _other_languages(items: Sequence[Item]) -> Counter[str]:
    """Return how many of the first dialogues cannot be in their language, by language; empty if a few only."""
    first = [item for item in items[:_N_READ] if item.language in LANGUAGES]
    others = [item for item in first if not LANGUAGES[item.language].may_be_in(" ".join(item.utterances)[:_READ])]
    return Counter(item.language for item in others) if 2 * len(others) > len(first) else Counter()


def names_its_system(item: Item) -> bool:
    """Return whether an utterance holds the system's name as a word; a role, such as `assistant`, is no name."""
    name = item.system.casefold()
    if len(name) < 2 or name in OTHERS.union(JUDGED, (REFERENCE,)):
        return False
    text = "\n".join(item.utterances).casefold()
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _judged(
    source: str,
    path: Path,
    found: Sequence[Transcript],
    options: Options,
    reading: TranscriptItems,
    counts: Counter[str],
) -> list[_Judged]:
    """Return the dialogues with an utterance of the system; the others are left out."""
    silent = (
        "without an utterance of the system"
        if options.evaluated_role is None
        else f"'{options.evaluated_role}' has no utterance"
    )
    kept = []
    for number, one in enumerate(found, start=1):
        counts["dialogues without an id, numbered row-1, row-2, ..."] += not one.dialogue_id
        item_id = f"{one.dialogue_id or f'row-{number}'}/{one.system}"
        judged = judged_of(one.speakers, one.system, options.evaluated_role, one.place)
        if judged is None or not one.utterances:
            reason = silent if one.utterances else "nothing is said"
            reading.left_out.append(LeftOut(source, one.language or options.language, item_id, reason))
            continue
        kept.append(_Judged(one, item_id, judged))
        if not judged:
            counts[
                "dialogues whose system is not among the speakers, so all speakers are judged; set `evaluated_role` "
                "to the system's speaker"
            ] += 1
        elif judged != one.speakers[-1]:
            counts["dialogues whose last utterance is not the system's"] += 1
    if found and not kept:
        speakers = listed(dict.fromkeys(name for one in found for name in one.speakers))
        raise UserError(
            f"{path}: none of {len(found)} dialogues can be judged ({_counted(reading.left_out)}); their speakers: "
            f"{speakers}; set `evaluated_role` to the system's speaker"
        )
    if not found:
        passed_over = "; ".join(noted(count, note) for note, count in (+counts).items())
        raise UserError(
            f"{path} has no dialogues"
            + (f" ({passed_over})" if passed_over else "")
            + "; add some, or correct the path"
        )
    return kept


class _Judged(NamedTuple):
    """A dialogue that can be judged, with its id and the speaker who is the system."""

    transcript: Transcript
    item_id: str
    judged: str


def _counted(left_out: Sequence[LeftOut]) -> str:
    return "; ".join(f"in {count} {why}" for why, count in Counter(one.reason for one in left_out).most_common())


def _within(limit: int | None, cases: Sequence[tuple[str, str]]) -> list[bool]:
    """Return which dialogues are of the first cases, or the first without a case of their system."""
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
            raise UserError(f"{path}: '{item_id:.100}' could be two dialogues; remove the / from their ids or systems")


def _summary(path: Path, reading: TranscriptItems) -> Iterator[str]:
    """Yield lines for the log: read and left-out dialogues, and cases that systems share."""
    systems = Counter(item.system for item in reading.items)
    each = ", ".join(f"{name} {count}" for name, count in list(systems.items())[:_SHOWN_SYSTEMS])
    n = sum(len(item.utterances) for item in reading.items)
    yield (
        f"{path}: {counted(len(reading.items), 'dialogue')} with {counted(n, 'utterance')} of "
        f"{counted(len(systems), 'system')} ({each})"
    )
    if reading.left_out:
        yield f"{counted(len(reading.left_out), 'dialogue')} left out ({_counted(reading.left_out)})"
    if reading.hidden_messages:
        counts = Counter(row["kind"] for row in reading.hidden_messages)
        yield "kept apart from the utterances: " + ", ".join(f"{count} {kind}" for kind, count in counts.items())
    yield from _speakers(reading.items)
    met: defaultdict[str, set[str]] = defaultdict(set)
    for item in reading.items:
        met[item.case_id].add(item.system)
    met.pop("", None)
    shared = sum(len(names) > 1 for names in met.values())
    everywhere = sum(len(names) == len(systems) for names in met.values())
    without = sum(not item.case_id for item in reading.items)
    among = f": {shared:,} shared by several systems, {everywhere:,} by all" if len(systems) > 1 else ""
    yield f"{counted(len(met), 'case')}{among}; without a case: {counted(without, 'dialogue')}"


def _speakers(items: Sequence[Item]) -> Iterator[str]:
    """Yield lines for the log: which speakers are judged, and the beginning of a dialogue."""
    spoken: Counter[tuple[str, bool]] = Counter()
    for item in items:
        spoken.update((speaker, item.judged in ("", speaker)) for speaker in item.speakers)
    if not spoken:
        return
    for is_judged, role in ((True, "judged"), (False, "not judged")):
        found = [(speaker, n) for (speaker, judged), n in spoken.most_common() if judged == is_judged]
        if found:
            more = ", ..." if len(found) > _SHOWN_SPEAKERS else ""
            yield (
                f"{role}: "
                + ", ".join(f"{name:.40} {n:,}" for name, n in found[:_SHOWN_SPEAKERS])
                + more
                + " (utterances)"
            )
    first = items[0]
    turns = zip(first.speakers[:_SHOWN_UTTERANCES], first.utterances, strict=False)
    texts = [f"{speaker:.40}: {shorten(text, 60, placeholder=' ...') or text[:60]}" for speaker, text in turns]
    yield f"example {first.item_id:.80}: " + " | ".join(texts) + (" | ..." if len(first.speakers) > len(texts) else "")


# What transcripts are called: every dialogue by its id, once for each system.

LONGEST_SYSTEM, LONGEST_ID = 80, 160
"""Characters."""
_SHOWN_PLACES = 5


def named(found: Sequence[Transcript], path: Path, system: str | None, notes: Counter[str]) -> list[Transcript]:
    """Return dialogues with their systems, and names on one line without double blanks.

    Of equal dialogues, as in votes of several annotators on one answer, only one is kept.

    Args:
        system: the system where the file does not name it.

    Raises:
        UserError: one does not say whose it is, has a name that is too long or holds a control character, or is there
            twice for one system in different words; with the places.
    """
    if found and not any(one.utterances for one in found):
        raise UserError(
            f"{path} has no dialogues: none of its {counted(len(found), 'object')} has an utterance; correct the path "
            f"or the reader"
        )
    without = [
        _short(one, path) for one in found if one.utterances and not (one.system or one.model) and system is None
    ]
    if without:
        raise UserError(
            f"{path}: {len(without)} of {len(found)} dialogues have no system ({_places(without)}); give each the "
            "field `system` (in ShareGPT and messages: `model`), or name their system in the configuration: `system: "
            "NAME` of this entry"
        )
    every = [_one_line(replace(one, system=one.system or system or one.model)) for one in found]
    first: dict[Transcript, Transcript] = {}
    known = [one for one in every if not one.dialogue_id or first.setdefault(replace(one, place=""), one) is one]
    notes["dialogues that repeat an earlier one of the same id word for word, skipped"] += len(every) - len(known)
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in known:
        if one.dialogue_id:
            places[one.system, one.dialogue_id].append(_short(one, path))
    twice = {key: where for key, where in places.items() if len(where) > 1}
    for (whose, dialogue_id), where in twice.items():
        more = f", and {len(twice) - 1} other ids occur more than once" if len(twice) > 1 else ""
        raise UserError(
            f"{path}: dialogue '{dialogue_id:.60}' of system '{whose}' occurs {len(where)} times, at {_places(where)}"
            f"{more}, with different texts. Ids must be unique within a system: remove the repeated dialogues, or "
            f"give them other ids"
        )
    return known


def _short(transcript: Transcript, path: Path) -> str:
    return transcript.place.removeprefix(f"{path}, ")


def _places(places: Sequence[str]) -> str:
    return "; ".join(places[:_SHOWN_PLACES]) + ("; ..." if len(places) > _SHOWN_PLACES else "")


def _one_line(transcript: Transcript) -> Transcript:
    names: dict[str, Any] = {}
    for what, longest in (("system", LONGEST_SYSTEM), ("dialogue_id", LONGEST_ID), ("case_id", LONGEST_ID)):
        name = " ".join(getattr(transcript, what).split())
        if len(name) > longest:
            words = f"has {len(name)} characters ({name:.40}...); write a name of at most {longest}"
            raise UserError(f"{transcript.place}: '{what}' {words}")
        if any(unicodedata.category(mark) == "Cc" for mark in name):
            raise UserError(f"{transcript.place}: '{what}' is {name!r:.60}, with a control character; remove it")
        names[what] = name
    return replace(transcript, **names)


# How a case should have gone: a reference is a dialogue of the system `reference`, to compare others with.


class References:
    """The references of all cases, each once, though every system's dialogue may repeat it."""

    def __init__(self) -> None:
        self._of_cases: dict[str, tuple[Item, str]] = {}

    def take(self, item: Item, transcript: Transcript) -> None:
        """Take the reference of a dialogue, if it has one.

        Raises:
            UserError: it is another one than that of a dialogue on the same case, or its system is called so, too.
        """
        speakers, utterances = transcript.reference
        if not utterances:
            return
        if item.system == REFERENCE:
            words = f"'{REFERENCE}' is the name of the references and cannot be a system; rename the system"
            raise UserError(f"{transcript.place}: {words}")
        case_id = item.case_id or item.item_id
        reference = replace(
            item,
            item_id=f"{case_id}/{REFERENCE}",
            system=REFERENCE,
            speakers=speakers,
            utterances=utterances,
            judged=judged_of(speakers, REFERENCE, item.judged or None, transcript.place) or "",
        )
        known, place = self._of_cases.setdefault(case_id, (reference, transcript.place))
        if (known.speakers, known.utterances) != (speakers, utterances):
            raise UserError(
                f"{transcript.place}: the reference of case '{case_id:.60}' differs from that at {place}. Give each "
                f"case one reference; if the systems' dialogues differ before the last utterance, give the reference "
                f"as a list of utterances"
            )

    def items(self) -> list[Item]:
        """Return the references as items."""
        return [item for item, _ in self._of_cases.values()]


# Hidden messages of a transcript: kept in a table, and shown to judges if configured.

_MARKS: dict[HiddenType, str] = {
    "system": "[system prompt]", "tool_call": "[tool call]", "tool_result": "[tool result]", "reasoning": "[thinking]"
}  # fmt: skip
"""Marks of hidden messages that judges are shown."""


def showing(item: Item, transcript: Transcript, shown: Set[HiddenType]) -> Item:
    """Return an item with the shown hidden messages among its utterances, each with a mark.

    Args:
        transcript: what stood beside it.
        shown: types of hidden messages; a tool call is the system's, the others have no speaker.
    """
    hidden_messages = [hidden for hidden in transcript.hidden_messages if hidden.kind in shown]
    if not hidden_messages:
        return item
    lines = [(number, 1, *text) for number, text in enumerate(zip(item.speakers, item.utterances, strict=True))]
    for hidden in hidden_messages:
        speaker = item.judged if hidden.kind == "tool_call" and item.judged else hidden.kind
        lines.append((hidden.before, 0, speaker, f"{_MARKS[hidden.kind]} {hidden.text}"))
    lines.sort(key=lambda line: line[:2])
    return replace(
        item, speakers=tuple(speaker for *_, speaker, _ in lines), utterances=tuple(text for *_, text in lines)
    )


def hidden_rows(item: Item, transcript: Transcript) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `hidden_messages` for an item."""
    about = {"corpus": item.corpus, "item_id": item.item_id, "language": item.language}
    for hidden in transcript.hidden_messages:
        yield {**about, **hidden._asdict()}
