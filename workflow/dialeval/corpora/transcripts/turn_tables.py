"""Tables with a row for each utterance: CSV, with commas or semicolons, text with TABs, a workbook, or JSON objects.

    dialogue_id,system,speaker,text
    7,alpha,user,I want my money back.
    7,alpha,assistant,I can see to that.

Rows of a dialogue stand in the order of the utterances, next to each other or not; a column `turn` orders them. A
column may be a path within cells that hold JSON, such as `meta.bot`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.corpora.json_records import name_of, text_of, value_at
from dialeval.corpora.spreadsheets import COMMA, rows_of
from dialeval.corpora.text_files import JsonLine, listed, number_in, parse_json
from dialeval.corpora.transcripts.entries import CASE_FIELDS, code_of
from dialeval.corpora.transcripts.transcript import JUDGED, SYSTEM_ROLES, EntryReading, Transcript
from dialeval.errors import UserError

_BARE_NAMES = ("conversation", "dialogue", "dialog", "chat", "id")
"""Names of a dialogue's id in a table; in an object, they are of other fields."""
COMMON: dict[str, tuple[str, ...]] = {
    "dialogue_id": (
        "dialogue_id", "dialog_id", "conversation_id", "conv_id", "chat_id", "session_id", "thread_id", "session",
        "ticket_id", "call_id", "dialogue_number", "conversation_number", *_BARE_NAMES,
    ),
    "system": ("system", "model", "chatbot", "bot", "system_name", "model_name"),
    "case_id": (*CASE_FIELDS, "case"),
    "turn": (
        "turn", "turn_id", "turn_index", "turn_number", "turn_no", "utterance_id", "utterance_index",
        "utterance_number", "message_index", "message_number", "index", "turn_idx", "utterance_idx",
    ),
    "time": (
        "timestamp", "timestamp_ms", "created_at", "created_time", "create_time", "datetime", "date_time", "sent_at",
        "sent_time", "message_time", "time", "ts", "date",
    ),
    "speaker": (
        "speaker", "role", "from", "author", "sender", "speaker_role", "speaker_name", "sender_type", "sender_name",
        "who", "speaker_id", "speaker_idx", "author_type", "author_role", "author_name", "participant_role",
        "participant",
    ),
    "text": ("text", "content", "utterance", "message", "message_text", "utterance_text", "value", "body"),
    "language": ("language", "lang"),
}  # fmt: skip
"""Names that columns commonly have, the surer ones first; `Turn #` and `conversationId` are known as well."""
NEEDED = ("dialogue_id", "text")
_LONGEST_NAME = 5  # words of a column's name


class Row(NamedTuple):
    """One utterance of a table: its place, and its cells by content."""

    place: str
    cells: dict[str, str]


def read_turns(path: Path, notes: Counter[str], columns: Mapping[str, str]) -> Iterator[Transcript]:
    """Yield the dialogues of a table, in the order in which they begin.

    Args:
        columns: the names of columns that are not called as they commonly are.
    """
    rows = rows_of(path, notes)
    _, header = next(rows, (1, []))
    header = [name.strip() for name in header]
    places = places_of(path, header, columns)
    note_columns(path, header, places, notes)

    def cells() -> Iterator[Row]:
        for line, row in rows:
            where = f"{path}, line {line}"
            if len(row) != len(header):
                raise UserError(
                    f"{where}: {len(row)} cells, but the header has {len(header)}; put a text with the separator, "
                    f"quotes or line breaks into double quotes"
                )
            found = {what: _inner(row[place].strip(), inner, where) for what, (place, inner) in places.items()}
            yield Row(f"line {line}", found)

    yield from dialogues_of_rows(path, cells(), named_columns(header, places), notes)


# Customer Support on Twitter: a row for each tweet, which names the one that it answers.

_OF_TWEETS = frozenset({"tweet_id", "author_id", "inbound", "text", "in_response_to_tweet_id"})


class _Tweet(NamedTuple):
    """A tweet in the order of time: when it was written, its line and id, the one that it answers, and its words."""

    time: float
    line: int
    own: str
    above: str
    author: str
    is_customer: bool
    text: str


def is_of_tweets(header: Iterable[str]) -> bool:
    """Return whether a table has the columns of one with tweets."""
    return {name.strip() for name in header} >= _OF_TWEETS


def read_tweets(path: Path, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the threads of tweets, of which each but the first answers another one; each customer has a dialogue.

    The system is the account that answers. Threads without one, or without a customer, are left out.
    """
    tweets = {tweet.own: tweet for tweet in _tweets(path, notes)}
    answers: dict[str, list[_Tweet]] = {}
    for tweet in tweets.values():
        answers.setdefault(tweet.above, []).append(tweet)
    n_read = 0
    for first in tweets.values():
        if first.above in tweets:
            continue
        waiting, thread = [first], []
        while waiting:  # an answer comes after what it answers, whatever its time says
            thread.append(heappop(waiting))
            for below in answers.get(thread[-1].own, []):
                heappush(waiting, below)
        n_read += len(thread)
        customers = dict.fromkeys(tweet.author for tweet in thread if tweet.is_customer)
        if len(customers) > 1:
            notes["threads with several customers, read as one dialogue for each customer"] += 1
        if not customers or all(tweet.is_customer for tweet in thread):
            notes["threads of one side, without an answer or without a customer, left out"] += 1
            continue
        for customer in customers:
            kept = thread if len(customers) == 1 else _with_one(thread, tweets, customer)
            desks = Counter(tweet.author for tweet in kept if not tweet.is_customer)
            if not desks:
                notes["threads of one side, without an answer or without a customer, left out"] += 1
                continue
            where = f"{path}, line {first.line}"
            name = first.own if len(customers) == 1 else f"{first.own}-{customer}"
            reading = EntryReading(notes, prompts_by_role=False)
            for tweet in kept:
                reading.add_utterance(tweet.author, tweet.text)
            yield reading.transcript(where, dialogue_id=name, system=desks.most_common(1)[0][0])
    notes["tweets that answer each other in a circle, left out"] += len(tweets) - n_read


def _tweets(path: Path, notes: Counter[str]) -> Iterator[_Tweet]:
    rows = rows_of(path, notes)
    _, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    known: set[str] = set()
    for line, row in rows:
        where = f"{path}, line {line}"
        if len(row) != len(names):
            raise UserError(f"{where}: {len(row)} cells, but {len(names)} columns; check the quotes of this row")
        cells = dict(zip(names, map(str.strip, row), strict=True))
        own, above = (cells[name].removesuffix(".0") for name in ("tweet_id", "in_response_to_tweet_id"))
        if cells["inbound"].casefold() not in ("true", "false"):
            raise UserError(f"{where}: 'inbound' is {cells['inbound']!r:.40}; it must be True or False")
        if not own or not cells["author_id"] or own in known:
            raise UserError(f"{where}: tweet {own!r:.40} of {cells['author_id']!r:.40} needs an author and its own id")
        known.add(own)
        time = time_of(cells.get("created_at", ""))
        is_customer = cells["inbound"].casefold() == "true"
        time = 0.0 if math.isnan(time) else time
        yield _Tweet(time, line, own, above, cells["author_id"], is_customer, cells["text"])


def _with_one(thread: Sequence[_Tweet], tweets: Mapping[str, _Tweet], customer: str) -> list[_Tweet]:
    """Return the tweets of one customer, those that they answer, and the company's that answer them."""
    kept: set[str] = set()
    asked: dict[str, str] = {}  # tweet -> the customer whom it or what it answers is of
    for tweet in thread:
        asked[tweet.own] = tweet.author if tweet.is_customer else asked.get(tweet.above, "")
        if asked[tweet.own] != customer:
            continue
        above: str = tweet.own
        while above in tweets and above not in kept:
            kept.add(above)
            above = tweets[above].above
    return [tweet for tweet in thread if tweet.own in kept and (tweet.author == customer or not tweet.is_customer)]


def read_json_turns(
    path: Path, lines: Sequence[JsonLine], notes: Counter[str], columns: Mapping[str, str]
) -> Iterator[Transcript]:
    """Yield the dialogues of objects that are an utterance each; see `read_turns`."""
    lines = _in_order_of_replies(lines)
    header = list(dict.fromkeys(name for line in lines for name in line.record))
    places = places_of(path, header, columns, [line.record for line in lines])
    note_columns(path, header, places, notes)
    paths = named_columns(header, places)

    def cells() -> Iterator[Row]:
        for line in lines:
            values = {what: value_at(line.record, name) for what, name in paths.items()}
            yield Row(
                line.where.removeprefix(f"{path}, "),
                {
                    what: "" if value is None else _cell(value, what, paths[what], line.where)
                    for what, value in values.items()
                },
            )

    yield from dialogues_of_rows(path, cells(), paths, notes)


def _in_order_of_replies(lines: Sequence[JsonLine]) -> Sequence[JsonLine]:
    """Return utterances in the order of their `reply-to`, if no utterance has two replies (ConvoKit)."""
    names = [f"{line.record.get('id')}" for line in lines]
    answered = [f"{line.record.get('reply-to', line.record.get('reply_to'))}" for line in lines]
    known = {*names} - {"None"}
    following = {before: place for place, before in enumerate(answered) if before in known}
    if len(known) < len(lines) or len(following) < sum(before in known for before in answered):
        return lines
    order: list[int] = []
    for first, before in enumerate(answered):
        place = None if before in known else first
        while place is not None:
            order.append(place)
            place = following.get(names[place])
    return [lines[place] for place in order] if len(order) == len(lines) else lines


def dialogues_of_rows(
    path: Path, rows: Iterable[Row], names: Mapping[str, str], notes: Counter[str]
) -> Iterator[Transcript]:
    """Yield the dialogues of a table with a row for each utterance.

    Args:
        names: the names of the columns by content.
    """
    if "speaker" not in names:
        notes["tables without a recognized column of speakers, read as two alternating speakers, A and B"] += 1
    dialogues: dict[tuple[str, str], _Rows] = {}
    apart: set[tuple[str, str]] = set()
    for number, (place, cells) in enumerate(rows):
        where = f"{path}, {place}"
        if not cells["dialogue_id"]:
            raise UserError(f"{where}: column '{names['dialogue_id']}' is empty; every row needs its dialogue")
        if not cells.get("speaker", "unsaid"):
            raise UserError(f"{where}: column '{names['speaker']}' is empty; name the speaker of every row")
        key = (cells.get("system", ""), cells["dialogue_id"])
        about = (cells.get("case_id", ""), cells.get("language", ""))
        known = dialogues.setdefault(key, _Rows(place, *about, last_row=number))
        if about != (known.case_id, known.language):
            raise UserError(
                f"{where}: the case or language of dialogue '{key[1]:.60}' ({listed(about)}) differs from that in "
                f"{known.place} ({listed((known.case_id, known.language))}). A dialogue has one case and one "
                f"language: correct the row, or rename a column with another meaning"
            )
        if number - known.last_row > 1:
            apart.add(key)
        known.last_row = number
        turn = _turn(cells["turn"], where, names["turn"]) if "turn" in names else time_of(cells.get("time", ""))
        text = cells["text"]
        if COMMA in text:
            notes[f"texts in which {COMMA}, as EmpatheticDialogues writes it, is read as a comma"] += 1
            text = text.replace(COMMA, ",")
        known.rows.append((turn, place, cells.get("speaker", ""), text))
    if words(names["dialogue_id"]) == "id" and 1 < sum(len(one.rows) for one in dialogues.values()) == len(dialogues):
        raise UserError(
            f"{path}: '{names['dialogue_id']}' differs in every row, so each dialogue would have one utterance; "
            "name the column of the dialogue under `columns: {dialogue_id: NAME}`, or add one"
        )
    if apart:
        ordered = next((f"by {what}" for what in ("turn", "time") if what in names), "")
        order = ordered or "in the file's order, since no column of turn numbers is recognized"
        notes[f"dialogues whose rows are not successive, joined {order}"] += len(apart)
    speakers_there = {speaker.casefold() for found in dialogues.values() for _, _, speaker, _ in found.rows}
    prompts = names.get("speaker", "").rpartition(".")[2].casefold() == "role" and bool(
        speakers_there & {*JUDGED} - SYSTEM_ROLES  # else `system` is who talks with the user
    )
    for (system, dialogue_id), found in dialogues.items():
        where = f"{path}, {found.place}"
        reading = EntryReading(notes, prompts_by_role=prompts)
        rows_in_order = _in_order(found.rows, dialogue_id, path) if "turn" in names else _by_time(found.rows, notes)
        for _, _, speaker, text in rows_in_order:
            reading.add_utterance(speaker, text)
        language = code_of(found.language)
        yield reading.transcript(
            where, dialogue_id=dialogue_id, system=system, case_id=found.case_id, language=language
        )


def places_of(
    path: Path, header: list[str], columns: Mapping[str, str], records: Sequence[dict[str, Any]] = ()
) -> dict[str, tuple[int, str]]:
    """Return the numbers of the columns by their content, each with the path within its cells, or empty.

    Args:
        columns: the names that the configuration gives, by content.
        records: the rows as objects; a path must lead to a value in one of them.

    Raises:
        UserError: columns that are needed or named are not there, or two could be meant; the message names them all.
    """
    guessed = ["" if name in columns.values() else name for name in header]
    spelled, in_words = [name.casefold() for name in guessed], [words(name) for name in guessed]
    places: dict[str, tuple[int, str]] = {}
    missing: dict[str, str] = {}
    for what, common in COMMON.items():
        named, inner = columns.get(what), ""
        if named is not None:
            found = [place for place, name in enumerate(header) if name == named]
            if not found:
                head = max((name for name in header if name and named.startswith(f"{name}.")), key=len, default="")
                inner = named[len(head) + 1 :]
                there = not records or any(value_at(record, named) is not None for record in records)
                found = [place for place, name in enumerate(header) if name == head] if head and there else []
        else:
            wanted = next((name for name in common if name in spelled or name in in_words), "")
            names = spelled if wanted in spelled else in_words
            found = [place for place, name in enumerate(names) if name == wanted] if wanted else []
        if len(found) > 1:
            raise UserError(f"{path}: there are several columns '{header[found[0]]:.60}'; rename one")
        if found:
            places[what] = (found[0], inner)
        elif named is not None:
            missing[what] = f"no column '{named:.60}'"
        elif what in NEEDED:
            missing[what] = f"no column with the {what.replace('_', ' ')}"
    unread = [name for n, name in enumerate(header) if name and n not in {place for place, _ in places.values()}]
    if "speaker" not in places and len(unread) > len(missing):  # one of them may name the speaker
        missing.setdefault("speaker", "no column with the speaker")
    if missing:
        wanted = ", ".join(f"{what}: NAME" for what in missing)
        remedy = f"name the right {'one' if len(missing) == 1 else 'ones'} under `columns: {{{wanted}}}`"
        if [*missing] == ["speaker"] and "speaker" not in columns and unread:
            remedy += "; if the speakers alternate and no column names them, remove the other columns"
        if "text" in missing and "text" not in columns:
            remedy += ", or `{prompt: NAME, response: NAME}` if each row has a reply"
        if any(not name or name[0].isdigit() or len(name.split()) > _LONGEST_NAME for name in header):
            remedy = f"if the first line is not a header, add one, such as dialogue_id, speaker, text; else {remedy}"
        raise UserError(f"{path}: {', '.join(missing.values())}; its columns: {listed(header)}; {remedy}")
    if len(set(places.values())) < len(places):
        twice = next(place for place in places.values() if list(places.values()).count(place) > 1)
        raise UserError(f"{path}: the column '{header[twice[0]]:.60}' is named twice; name each column once")
    return places


def is_turn(record: Mapping[str, Any]) -> bool:
    """Return whether an object is an utterance with its dialogue, speaker and text, by the names of its fields."""
    names = {words(name) for name in record} - {*_BARE_NAMES}
    return all(any(name in names for name in COMMON[what]) for what in (*NEEDED, "speaker"))


def has_texts(header: Iterable[str]) -> bool:
    """Return whether a table has a column that is called as those of utterances commonly are."""
    return not {*COMMON["text"]}.isdisjoint(map(words, header))


def named_columns(header: Sequence[str], places: Mapping[str, tuple[int, str]]) -> dict[str, str]:
    """Return the columns' names by content, with the path within a cell after a dot."""
    return {what: f"{header[place]}.{inner}" if inner else header[place] for what, (place, inner) in places.items()}


def note_columns(path: Path, header: Sequence[str], places: Mapping[str, tuple[int, str]], notes: Counter[str]) -> None:
    """Note the meaning of each column that is read, and the unused columns."""
    read = (what if what == name else f"{what} from {name}" for what, name in named_columns(header, places).items())
    notes[f"columns of {path.name} read: {', '.join(read)}"] += len(places)
    used = {place for place, _ in places.values()}
    if passed_over := [name for place, name in enumerate(header) if name and place not in used]:
        notes[f"columns of {path.name} skipped: {listed(passed_over)}"] += len(passed_over)


def _cell(value: Any, what: str, name: str, where: str) -> str:
    """Return a value of an object as a cell."""
    if what == "text":
        return text_of(value, name, where)
    if what == "time":
        return f"{value}"
    return f"{value}" if what == "turn" and isinstance(value, float) else name_of(value, name, where)


def _inner(cell: str, path: str, where: str) -> str:
    """Return the value at a path within a cell that holds JSON; empty where there is none."""
    if not path or not cell:
        return cell
    value = value_at(parse_json(cell, where), path)
    return "" if value is None else str(value).strip()


@dataclass
class _Rows:
    """The rows of one dialogue as they come."""

    place: str
    case_id: str
    language: str
    rows: list[tuple[float, str, str, str]] = field(default_factory=list)
    last_row: int = 0


def _turn(cell: str, where: str, column: str) -> float:
    number = number_in(cell)
    if number is None or number != number:
        raise UserError(
            f"{where}: column '{column}' is {cell!r:.40}, which is not a number; number the turns, or rename it"
        )
    return number


def _in_order(
    rows: list[tuple[float, str, str, str]], dialogue_id: str, path: Path
) -> list[tuple[float, str, str, str]]:
    """Return the rows of a dialogue by turn, within a turn in the file's order."""
    ordered = sorted(rows, key=lambda row: row[0])
    places: dict[tuple[float, str, str], str] = {}
    for turn, place, speaker, text in ordered if ordered[-1][0] > ordered[0][0] else ():
        other = places.setdefault((turn, speaker, text), place)
        if other != place:
            raise UserError(
                f"{path}, {place}: the same row as {other} (turn {turn:g} of dialogue '{dialogue_id:.60}'). A system "
                f"can have a dialogue only once: remove one of the two dialogues, or change its id"
            )
    return ordered


_TWITTERS_TIME = "%a %b %d %H:%M:%S %z %Y"


def time_of(cell: str) -> float:
    """Return a time in seconds; NaN where the cell holds none that can be read."""
    if (number := number_in(cell)) is not None:
        return number
    with suppress(ValueError):
        return _seconds(datetime.fromisoformat(cell.strip()))
    with suppress(ValueError):
        return _seconds(datetime.strptime(cell.strip(), _TWITTERS_TIME))
    return math.nan


def _seconds(time: datetime) -> float:
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _by_time(rows: list[tuple[float, str, str, str]], notes: Counter[str]) -> list[tuple[float, str, str, str]]:
    """Return the rows of a dialogue by their times, if each has one; rows of one time stay in the file's order."""
    times = [row[0] for row in rows]
    if any(time != time for time in times) or times == sorted(times):
        return rows
    notes["dialogues whose rows are not in the order of their times, ordered by these"] += 1
    if times == sorted(times, reverse=True):
        rows = rows[::-1]
    return sorted(rows, key=lambda row: row[0])


@lru_cache(maxsize=4096)
def words(name: str) -> str:
    """Return a column's name as `COMMON` writes it: `Conversation ID`, `conversationId` as conversation_id."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace("#", " number "))
    return re.sub(r"[^a-z0-9]+", "_", apart.casefold()).strip("_")
