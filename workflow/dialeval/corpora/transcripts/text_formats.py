"""Plain text of dialogues, and exported chats of people: WhatsApp's and Slack's.

    Good morning . __eou__ Morning . __eou__

    1 your persona: I like tea.                           ParlAI: a 1 begins a dialogue; candidates follow the reply
    2 Good morning .<TAB>Morning .<TAB><TAB>Hello .|Morning .

    Ann: Good morning.
    Bob: Morning.

A blank line ends a dialogue, unless one stands after every utterance; a line without a name goes on with the one above.

    15/03/2024, 10:15 - Ann: Good morning.               WhatsApp: a file is a dialogue
    [{"type": "message", "user": "U1", "text": "Good morning.", "ts": "1710497700.0"}]      Slack: a thread is one
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any

from dialeval.corpora.json_records import optional_text
from dialeval.corpora.text_files import is_western, number_in, read_json, read_lines
from dialeval.corpora.transcripts.entries import SILENCE
from dialeval.corpora.transcripts.transcript import ROLES, EntryReading, Transcript, speaker_and_text
from dialeval.errors import UserError

_END = "__eou__"
_ENDING, _MARKDOWN = ".txt", ".md"
_TIME = re.compile(r"(?:\[(?:\d[\d:., /TZ-]*(?:[AaPp][Mm])?)\]|\(?\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\)?)\s*(?:-\s+)?")
"""What a line may begin with: `[10:15]`, `[2024-03-15 10:15:02]`, `00:01:12`."""
_HEADING = re.compile(r"#{1,6} |---+$")
_BRACKETED = re.compile(r"<[@+%&~ ]?(?P<speaker>[^<>\s]{1,40})>\s+(?P<text>\S.*)", re.DOTALL)
_BOLD = re.compile(r"(?:[-*] )?\*\*(?P<speaker>[^*:\n]{1,60}?)(?::\*\*|\*\*:)\s*(?P<text>\S.*)?", re.DOTALL)
_EXCHANGE = re.compile(
    r"(?P<number>\d{1,4}) (?:(?:your|partner's) persona: .*|(?P<text>[^\t]*)\t(?P<reply>[^\t]*)(?:\t.*)?)"
)
_Block = tuple[int, list[dict[str, str]]]
"""The line on which a dialogue begins, and its entries."""


def is_plain_text(path: Path) -> bool:
    """Return whether a file is such a text, by its first line."""
    is_markdown = path.suffix.lower() == _MARKDOWN
    lines = (line.strip().lstrip("\ufeff") for line in read_lines(path, western=is_western(path)))
    first = next((line for line in lines if line and not (is_markdown and _HEADING.match(line))), "")
    is_dialogue = _EXCHANGE.fullmatch(first) or isinstance(_spoken(first), dict)
    if _END in first and not first.startswith(("{", "[")):
        return True
    if is_markdown and is_dialogue:  # other texts have bold words, too
        spoken = [_spoken(line.strip()) for line in read_lines(path, western=is_western(path))]
        names = [one["speaker"].casefold() for one in spoken if isinstance(one, dict)]
        return len({*names}) > 1 and (len({*names}) < len(names) or not ROLES.isdisjoint(names))
    return path.suffix.lower() == _ENDING and bool(is_dialogue)


def _spoken(line: str) -> dict[str, str] | str:
    """Return a line as an entry with its speaker, without the time before it; as it is where none is named."""
    stamp = _TIME.match(line)
    rest = line[stamp.end() :] if stamp else line
    found = (_BRACKETED.fullmatch(rest) if stamp or rest.startswith("<") else None) or _BOLD.fullmatch(rest)
    if found:
        return {"speaker": found["speaker"].strip(), "text": found["text"] or ""}
    spoken = speaker_and_text(rest)
    return spoken if isinstance(spoken, dict) else line


def read_plain_text(path: Path, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the dialogues of a text, which have no ids."""
    lines = list(enumerate(read_lines(path, western=is_western(path)), start=1))
    if any(_END in line for _, line in lines):
        for number, line in lines:
            if line.strip():
                yield _dialogue(path, number, [{"text": text} for text in line.split(_END) if text.strip()], notes)
        return
    if lines and _EXCHANGE.fullmatch(lines[0][1].strip()):
        yield from (_dialogue(path, number, entries, notes) for number, entries in _exchanges(path, lines))
        return
    blocks = list(_blocks(path, lines))
    if len(blocks) > 1 and all(len(entries) == 1 for _, entries in blocks):
        notes[f"texts read as one dialogue, since a blank line follows every utterance, such as {path.name}"] += 1
        blocks = [(blocks[0][0], [entry for _, entries in blocks for entry in entries])]
    for number, entries in blocks:
        yield _dialogue(path, number, entries, notes)


def _dialogue(
    path: Path, number: int, entries: list[dict[str, str]], notes: Counter[str], dialogue_id: str = ""
) -> Transcript:
    reading = EntryReading(notes, prompts_by_role=False)
    for entry in entries:
        reading.add_utterance(entry.get("speaker", ""), entry["text"])
    return reading.transcript(f"{path}, line {number}", dialogue_id=dialogue_id)


def _exchanges(path: Path, lines: list[tuple[int, str]]) -> Iterator[_Block]:
    """Yield the dialogues of numbered lines; personas are left out."""
    dialogues: list[_Block] = []
    for number, line in lines:
        exchange = _EXCHANGE.fullmatch(line.strip())
        if exchange is None and line.strip():
            raise UserError(f"{path}, line {number}: no number before {line.strip()!r:.40}; write `1 Hi<TAB>Hello`")
        if exchange and exchange["number"] == "1":
            dialogues.append((number, []))
        if exchange and exchange["text"] and dialogues:
            said = [(who, exchange[part]) for who, part in (("A", "text"), ("B", "reply")) if exchange[part]]
            dialogues[-1][1].extend({"speaker": who, "text": text} for who, text in said if text != SILENCE)
    yield from dialogues


def _blocks(path: Path, lines: list[tuple[int, str]]) -> Iterator[_Block]:
    """Yield blocks of utterances between blank lines."""
    entries: list[dict[str, str]] = []
    begun, is_after_blank = 0, False
    for number, line in lines:
        text = line.strip()
        if not entries and path.suffix.lower() == _MARKDOWN and _HEADING.match(text):
            continue
        spoken = _spoken(text)
        if isinstance(spoken, dict):
            if is_after_blank and entries:
                yield begun, entries
                entries = []
            begun = begun if entries else number
            entries.append(spoken)
        elif text:
            if not entries:
                raise UserError(f"{path}, line {number}: no speaker before {text!r:.40}; write `Ann: ...`")
            entries[-1]["text"] += f"\n{text}"
        is_after_blank = not text
    if entries:
        yield begun, entries


# Subtitles, and transcripts of meetings in their format.

_CUE = re.compile(r"(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s+-->\s+(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}.*")
_VOICE = re.compile(r"<v(?:\.[^ >]*)? (?P<speaker>[^>]+)>")
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)


def is_subtitles(path: Path) -> bool:
    """Return whether a file is subtitles, by its first lines."""
    lines = (line.strip().lstrip("\ufeff") for line in read_lines(path, western=is_western(path)))
    first = list(islice(filter(None, lines), 2))
    is_numbered = len(first) == 2 and first[0].isdecimal() and _CUE.fullmatch(first[1]) is not None
    return is_numbered or any(line == "WEBVTT" or line.startswith("WEBVTT ") for line in first[:1])


def read_subtitles(path: Path, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the dialogue of a file; successive texts of one speaker are one utterance.

    Raises:
        UserError: the file has no speakers.
    """
    entries: list[dict[str, str]] = []
    begun = 1
    is_text, is_new = False, True
    for number, line in enumerate(read_lines(path, western=is_western(path)), start=1):
        text = line.strip()
        if _CUE.fullmatch(text):
            is_text, is_new = True, True
            begun = begun if entries else number
        elif not text:
            is_text = False
        elif is_text:
            voice = _VOICE.match(text)
            plain = unescape(_TAG.sub("", text)).strip()
            spoken = {"speaker": voice["speaker"].strip(), "text": plain} if voice else speaker_and_text(plain)
            if not isinstance(spoken, dict):
                if not entries:
                    raise UserError(
                        f"{path}, line {number}: no speaker in the subtitle {plain!r:.40}; write `Ann: ...`, or make a "
                        f"table with the columns dialogue_id, speaker and text"
                    )
                entries[-1]["text"] += f" {plain}"
            elif is_new and entries and entries[-1]["speaker"] == spoken["speaker"]:
                entries[-1]["text"] += f" {spoken['text']}"
            else:
                entries.append(spoken)
            is_new = False
    yield _dialogue(path, begun, entries, notes, path.stem)


# WhatsApp: the text of an exported chat.

_STAMP = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?"
_WHATSAPP = re.compile(rf"[\u200e\ufeff]*(?:\[{_STAMP}\]|{_STAMP} [-–]) (?P<rest>.*)", re.DOTALL)
_SENDER = re.compile(r"(?P<speaker>[^:]{1,80}): (?P<text>.*)", re.DOTALL)


def is_whatsapp(path: Path) -> bool:
    """Return whether a text begins as a chat that WhatsApp exports."""
    first = next((line for line in read_lines(path, western=is_western(path)) if line.strip()), "")
    return _WHATSAPP.fullmatch(first.rstrip("\r\n")) is not None


def whatsapp_files(path: Path) -> list[Path]:
    """Return the chats that a path names: itself, or the texts in a folder, by name."""
    return [file for file in sorted(path.glob(f"*{_ENDING}")) if is_whatsapp(file)] if path.is_dir() else [path]


def read_whatsapp(path: Path, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield a dialogue for each chat; messages of WhatsApp itself, which have no sender, are passed over."""
    for file in whatsapp_files(path):
        entries: list[dict[str, str]] = []
        for number, line in enumerate(read_lines(file, western=is_western(file)), start=1):
            stamped = _WHATSAPP.fullmatch(line.rstrip("\r\n"))
            sent = _SENDER.fullmatch(stamped["rest"].lstrip("\u200e")) if stamped else None
            if sent:
                entries.append({"speaker": sent["speaker"].strip(), "text": sent["text"].lstrip("\u200e")})
            elif stamped:
                notes["messages of WhatsApp itself, skipped"] += 1
            elif entries:
                entries[-1]["text"] += f"\n{line.rstrip()}"
            elif line.strip():
                raise UserError(
                    f"{file}, line {number}: {line.strip()!r:.40} does not begin with date, time and sender like a "
                    f"message of WhatsApp; export the chat again, without media"
                )
        yield _dialogue(file, 1, entries, notes, file.stem)


# Slack: an exported workspace, a channel's folder, or the file of a day.

_USERS, _CHANNELS = "users.json", "channels.json"
_ABOUT_SLACK = (_USERS, _CHANNELS, "dms.json", "groups.json", "mpims.json", "integration_logs.json", "canvases.json")
_SPOKEN_SUBTYPES = (None, "bot_message", "thread_broadcast", "file_share", "me_message")
_LINK = re.compile(r"<(?:@(?P<user>\w+)(?:\|[^>]*)?|(?P<target>[^>|]+)(?:\|(?P<label>[^>]+))?)>")


def is_slack(path: Path) -> bool:
    """Return whether a folder is an exported workspace or a channel of one."""
    if any((path / name).is_file() for name in (_USERS, _CHANNELS)):
        return True
    days = any(re.fullmatch(r"\d{4}-\d\d-\d\d", file.stem) for file in path.glob("*.json"))
    return days and (path.parent / _USERS).is_file()


def slack_files(path: Path) -> list[Path]:
    """Return the files of messages that a path names, by channel and day."""
    files = path.rglob("*.json") if path.is_dir() else [path]
    return sorted(file for file in files if file.name not in _ABOUT_SLACK)


def slack_sources(path: Path) -> list[Path]:
    """Return the files of messages and of users that a path names."""
    return [*slack_files(path), *_users_files(path)]


def _users_files(path: Path) -> list[Path]:
    files = (folder / _USERS for folder in (path, path.parent, path.parent.parent))
    return [file for file in files if file.is_file()][:1]


def read_slack(path: Path, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the threads, and for each channel and day the messages outside of threads.

    The system is the app that answers. In a workspace with apps, threads without one are passed over.
    """
    people, bots = _slack_users(path)
    threads: dict[str, list[tuple[float, int, str, str, str]]] = {}
    for file in slack_files(path):
        channel = file.parent.name
        messages = read_json(file)
        for number, message in enumerate(messages if isinstance(messages, list) else [messages], start=1):
            where = f"{file}, record {number}"
            time = number_in(f"{message.get('ts')}") if isinstance(message, dict) else None
            if time is None:
                raise UserError(f"{where}: a message of Slack needs its time as text in 'ts'; export the channel again")
            if message.get("type") != "message" or message.get("subtype") not in _SPOKEN_SUBTYPES:
                notes["messages of Slack itself, such as joins, skipped"] += 1
                continue
            speaker = _slack_sender(message, people, bots)
            text = _slack_text(optional_text(message, "text", where), people)
            thread = message.get("thread_ts")
            key = f"{channel}-{thread}" if thread else f"{channel}-{file.stem}"
            threads.setdefault(key, []).append((time, number, where, speaker, text))
    has_bots = any(speaker in bots for parts in threads.values() for *_, speaker, _ in parts)
    for key, parts in threads.items():
        parts.sort()
        answering = [speaker for *_, speaker, _ in parts if speaker in bots]
        if has_bots and not answering:
            notes["threads without an app, skipped"] += 1
            continue
        reading = EntryReading(notes, prompts_by_role=False)
        for *_, speaker, text in parts:
            reading.add_utterance(speaker, text)
        yield reading.transcript(parts[0][2], dialogue_id=key, system=answering[0] if answering else "")


def _slack_users(path: Path) -> tuple[dict[str, str], set[str]]:
    """Return the names of users by id, and the names of apps."""
    file = next(iter(_users_files(path)), None)
    listed_users = read_json(file) if file else []
    if not isinstance(listed_users, list):
        raise UserError(f"{file}: there must be a list of users; export the workspace again")
    users = [user for user in listed_users if isinstance(user, dict)]
    names = {f"{user.get('id')}": _name_in(user, "real_name", "name") or f"{user.get('id')}" for user in users}
    return names, {names[f"{user.get('id')}"] for user in users if user.get("is_bot") is True}


def _slack_sender(message: dict[str, Any], people: Mapping[str, str], bots: set[str]) -> str:
    profile = message.get("bot_profile") or message.get("user_profile")
    named = _name_in(profile, "name", "real_name") if isinstance(profile, dict) else ""
    user = f"{message.get('user') or message.get('bot_id') or 'unknown'}"
    name = people.get(user) or named or _name_in(message, "username") or user
    if message.get("bot_id"):
        bots.add(name)
    return name


def _name_in(record: dict[str, Any], *fields: str) -> str:
    values = (record.get(name) for name in fields)
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def _slack_text(text: str, people: Mapping[str, str]) -> str:
    """Return a text with the names of users and the labels of links in place of Slack's marks."""
    return unescape(
        _LINK.sub(lambda m: f"@{people.get(m['user'], m['user'])}" if m["user"] else m["label"] or m["target"], text)
    )
