"""Human dialogues: their speakers, checks and plain JSON Lines format, and the ChatSEEDs and scenarios of self-chat.

    {"dialogue_id": "kitchen-1", "language": "en",
     "utterances": [{"speaker": "A", "text": "Is there any milk?"}, {"speaker": "B", "text": "Behind the jam."}]}

`language` is optional; other fields are ignored. Blank lines are skipped. Ids and speakers are texts or whole numbers.
Utterances may be plain texts, of two speakers in turn. The objects may also be a list, or the rows of a Parquet file.

Scenarios are JSON Lines, one object a line, or CSV with a header:

    {"scenario_id": "kettle", "opening": "Hi, my kettle broke.", "persona": "a busy nurse", "goal": "her money back"}

`scenario_id` is needed, and one at least of the others; `language` is that of the talk. Further columns are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from dialeval.corpora.json_records import RecordFields, name_of, optional_text, records_of, required
from dialeval.corpora.text_files import JsonLine, read_columns, read_json_lines
from dialeval.errors import UserError, nearest
from dialeval.tables.dialogues import SCENARIOS, SEED_LENGTHS, SEEDS, UTTERANCES
from dialeval.tables.files import iterate_rows, to_table
from dialeval.text import counted, noted


class Utterance(NamedTuple):
    """An utterance of one speaker."""

    speaker: str
    text: str


@dataclass(frozen=True)
class HumanDialogue:
    """One dialogue between people.

    Attributes:
        dialogue_id: readable and unique within its corpus.
        utterances: in order; two or more.
        language: language code.
        place: where in the source it stands, for messages.
    """

    dialogue_id: str
    utterances: tuple[Utterance, ...]
    language: str
    place: str


@dataclass
class Reading:
    """The result of a reader: the dialogues, and counts of left-out records by reason."""

    source: str
    dialogues: list[HumanDialogue] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """Return one line: counts of read and left-out records, with reasons."""
        n_utterances = sum(len(dialogue.utterances) for dialogue in self.dialogues)
        line = (
            f"{self.source}: {counted(len(self.dialogues), 'dialogue')} with {counted(n_utterances, 'utterance')} read"
        )
        if self.skipped:
            reasons = "; ".join(f"{count} {reason}" for reason, count in self.skipped.most_common())
            line += f", {sum(self.skipped.values())} records left out ({reasons})"
        return line


def check(reading: Reading) -> Reading:
    """Refuse a reading that no later stage could use.

    Raises:
        UserError: no dialogue at all, a repeated id, an empty utterance, or fewer than two utterances, each with its
            place in the source.
    """
    if not reading.dialogues:
        raise UserError(f"{reading.source} has no dialogues; add some, or correct the path")
    first_place: dict[str, str] = {}
    for dialogue in reading.dialogues:
        name = f"{reading.source}, {dialogue.place}: dialogue '{dialogue.dialogue_id:.60}'"
        if not dialogue.dialogue_id:
            raise UserError(f"{reading.source}, {dialogue.place}: the dialogue has no id; give every dialogue an id")
        if dialogue.dialogue_id in first_place:
            where = first_place[dialogue.dialogue_id]
            raise UserError(f"{name} repeats the id of {where}; ids must be unique")
        first_place[dialogue.dialogue_id] = dialogue.place
        if len(dialogue.utterances) < 2:
            raise UserError(
                f"{name} has {counted(len(dialogue.utterances), 'utterance')}; a ChatSEED needs two: "
                "add utterances or remove the dialogue"
            )
        for number, utterance in enumerate(dialogue.utterances, start=1):
            if not utterance.text.strip():
                raise UserError(f"{name}: utterance {number} is empty; add its text or remove the dialogue")
    return reading


def utterance_table(corpus: str, reading: Reading) -> pa.Table:
    """Return the table `utterances` of a corpus, one row per utterance."""
    rows = [
        {
            "corpus": corpus,
            "dialogue_id": dialogue.dialogue_id,
            "turn": turn,
            "speaker": utterance.speaker,
            "text": utterance.text,
            "language": dialogue.language,
        }
        for dialogue in reading.dialogues
        for turn, utterance in enumerate(dialogue.utterances)
    ]
    return to_table(UTTERANCES, rows)


# Who speaks in a dialogue, and which dialogues are two speakers in turn, as self-chat and GTEval need them.

_SHOWN = 10


def speakers_of(utterances: pa.Table) -> dict[str, tuple[str, ...]]:
    """Return the speakers of each dialogue of a table `utterances`, by dialogue_id, in the table's order."""
    speakers: dict[str, list[str]] = {}
    columns = utterances.select(["dialogue_id", "speaker"]).to_pydict()
    for dialogue_id, speaker in zip(columns["dialogue_id"], columns["speaker"], strict=True):
        speakers.setdefault(dialogue_id, []).append(speaker)
    return {dialogue_id: tuple(names) for dialogue_id, names in speakers.items()}


def are_two_in_turn(speakers: Sequence[str]) -> bool:
    """Return whether exactly two speakers alternate."""
    return len(set(speakers)) == 2 and all(one != other for one, other in pairwise(speakers))


def left_out(what: str, dialogue_ids: Sequence[str], why: str) -> str:
    """Return a line for the log that names the left-out dialogues and the reason."""
    return f"{noted(len(dialogue_ids), what)} left out, {why}: {_names(dialogue_ids)}"


def _names(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - _SHOWN
    return ", ".join(islice(names, _SHOWN)) + (f" and {more} more" if more > 0 else "")


# The plain format for anyone's dialogues: JSON Lines, one dialogue per line.

_FIELD = "utterances"


def read_json_lines_dialogues(path: Path, language: str) -> Reading:
    """Read a JSON Lines file.

    Args:
        language: language of the dialogues that do not name theirs.
    """
    reading = Reading(str(path))
    for line in records_of(path, RecordFields([_FIELD])):
        reading.dialogues.append(_dialogue(line, path, language))
    return check(reading)


def _dialogue(line: JsonLine, path: Path, language: str) -> HumanDialogue:
    where = line.where
    dialogue_id = name_of(required(line.record, "dialogue_id", where), "dialogue_id", where)
    entries = required(line.record, _FIELD, where)
    if not isinstance(entries, list):
        raise UserError(
            f"{where}: 'utterances' must be a list of objects with 'speaker' and 'text', not {entries!r:.60}"
        )
    utterances = tuple(_utterance(item, i, where) for i, item in enumerate(entries, start=1))
    own_language = optional_text(line.record, "language", where) or language
    return HumanDialogue(dialogue_id, utterances, own_language, where.removeprefix(f"{path}, "))


def _utterance(item: Any, number: int, where: str) -> Utterance:
    if isinstance(item, str):
        return Utterance("AB"[(number - 1) % 2], item.strip())
    if not isinstance(item, dict) or not isinstance(item.get("text"), str) or "speaker" not in item:
        raise UserError(
            f"{where}: utterance {number} must be a text or an object with 'speaker' and 'text', not {item!r:.60}"
        )
    speaker = name_of(item["speaker"], "speaker", f"{where}, utterance {number}")
    if not speaker:
        raise UserError(f"{where}, utterance {number}: 'speaker' is empty; name who speaks")
    return Utterance(speaker, item["text"].strip())


# Our own small corpus of everyday dialogues; see bundled/LICENSE.md.

BUNDLED = {"en": "bundled/english.jsonl", "zh": "bundled/chinese.jsonl"}


def bundled_dialogues(language: str) -> Reading:
    """Read the bundled dialogues of one language.

    Raises:
        UserError: there is none in that language.
    """
    if language not in BUNDLED:
        raise UserError(f"the bundled corpus has no language '{language}'; {nearest(language, BUNDLED)}")
    with resources.as_file(resources.files("dialeval.corpora") / BUNDLED[language]) as path:
        reading = read_json_lines_dialogues(path, language)
    reading.source = f"bundled ({language})"
    return reading


# The seeds of a corpus: the first two utterances of each dialogue.

SEED_LENGTH = 2


def seed_table(utterances: pa.Table, *, arena_min_utterances: int, limit: int | None) -> pa.Table:
    """Return the table `seeds`, one row per human dialogue of the seeds' corpus, in its order.

    A dialogue whose first two utterances are one person's gives no seed (`not_seeds` names these): a chatbot that goes
    on with it plays two speakers in turn. Where more than two people speak, or one twice in a row, later on, the
    dialogue is a seed but does not serve GTEval, whose other side is always two in turn.

    Args:
        utterances: the table `utterances` of that corpus.
        arena_min_utterances: human utterances that a seed needs to serve Arena and GTEval.
        limit: keep only the first so many.

    Raises:
        UserError: no dialogue gives a seed.
    """
    texts, speakers = dialogues_of(utterances), speakers_of(utterances)
    without_seed = set(not_seeds(utterances))
    if len(without_seed) == len(texts):
        corpus = next(iter(utterances["corpus"].to_pylist()), "")
        raise UserError(
            f"corpora.{corpus}: none of {len(texts)} dialogues begins with a ChatSEED (two utterances by two "
            f"speakers); check the field `speaker` of the dialogues"
        )
    about: dict[str, dict[str, str]] = {}
    for row in utterances.select(["dialogue_id", "corpus", "language"]).to_pylist():
        about.setdefault(row["dialogue_id"], row)
    rows = [
        {
            "seed_id": dialogue_id,
            "corpus": about[dialogue_id]["corpus"],
            "language": about[dialogue_id]["language"],
            "utterances": list(dialogue[:SEED_LENGTH]),
            "n_human": len(dialogue),
            "for_arena": len(dialogue) >= arena_min_utterances,
            "for_gteval": len(dialogue) >= arena_min_utterances and are_two_in_turn(speakers[dialogue_id]),
        }
        for dialogue_id, dialogue in texts.items()
        if dialogue_id not in without_seed
    ]
    return to_table(SEEDS, rows[:limit])


def not_seeds(utterances: pa.Table) -> list[str]:
    """Return the ids of the dialogues whose first two utterances are not two speakers'."""
    return [
        dialogue_id
        for dialogue_id, speakers in speakers_of(utterances).items()
        if not are_two_in_turn(speakers[:SEED_LENGTH])
    ]


def dialogues_of(utterances: pa.Table) -> dict[str, tuple[str, ...]]:
    """Return the texts of each dialogue of a table `utterances`, by dialogue_id, in the table's order."""
    texts: dict[str, list[str]] = {}
    columns = utterances.select(["dialogue_id", "turn", "text"]).to_pydict()
    for dialogue_id, turn, text in zip(columns["dialogue_id"], columns["turn"], columns["text"], strict=True):
        dialogue = texts.setdefault(dialogue_id, [])
        if turn != len(dialogue):
            raise UserError(
                f"dialogue '{dialogue_id}': turn {turn} follows turn {len(dialogue) - 1}, so rows are missing; delete "
                f"the table, and run the same command again"
            )
        dialogue.append(text)
    return {dialogue_id: tuple(dialogue) for dialogue_id, dialogue in texts.items()}


def length_distribution(seeds: pa.Table) -> pa.Table:
    """Return the table `botchat/seeds`: human dialogues by number of utterances (Figure 2)."""
    counts = Counter(seeds["n_human"].to_pylist())
    return to_table(SEED_LENGTHS, [{"n_utterances": n, "n_dialogues": counts[n]} for n in sorted(counts)])


# Scenarios: the persona, goal and opening of a simulated user.

TEXTS = ("opening", "persona", "goal", "language")


@dataclass(frozen=True)
class Scenario:
    """The role of a simulated user.

    Attributes:
        scenario_id: readable and unique within its table.
        opening: its first utterance; empty where its model writes it.
        persona: who it is.
        goal: its goal.
        language: language code.
        more: the further columns.
    """

    scenario_id: str
    opening: str = ""
    persona: str = ""
    goal: str = ""
    language: str = "en"
    more: Mapping[str, str] = field(default_factory=dict)


def read_scenarios(path: Path, *, limit: int | None = None, opened: bool = False) -> list[Scenario]:
    """Read a table of scenarios.

    Args:
        path: a .csv file, or else JSON Lines.
        limit: keep only the first so many.
        opened: whether every scenario needs an opening.
    """
    places: dict[str, str] = {}
    scenarios = []
    for where, record in _scenario_records(path):
        scenario_id = name_of(required(record, "scenario_id", where), "scenario_id", where)
        if not scenario_id:
            raise UserError(f"{where}: 'scenario_id' is empty; give every scenario its own id")
        if scenario_id in places:
            raise UserError(
                f"{where}: scenario '{scenario_id:.60}' already occurs at {places[scenario_id]}; ids must be unique"
            )
        places[scenario_id] = where
        texts = {name: optional_text(record, name, where) for name in TEXTS}
        if not (texts["opening"] or texts["persona"] or texts["goal"]):
            raise UserError(f"{where}: scenario '{scenario_id:.60}' is empty; fill in 'opening', 'persona' or 'goal'")
        if opened and not texts["opening"]:
            raise UserError(
                f"{where}: scenario '{scenario_id:.60}' has no 'opening', and the partner is an embedded model, "
                "which cannot speak first; write the user's first utterance"
            )
        more = {name: str(value) for name, value in record.items() if name not in ("scenario_id", *TEXTS)}
        scenarios.append(Scenario(scenario_id, **texts | {"language": texts["language"] or "en"}, more=more))
    if not scenarios:
        raise UserError(f"{path} has no scenarios; add some, or correct the path")
    return scenarios[:limit]


def scenario_table(scenarios: list[Scenario]) -> pa.Table:
    """Return the table `scenarios`."""
    return to_table(SCENARIOS, [{**vars(scenario), "more": list(scenario.more.items())} for scenario in scenarios])


def scenarios_of(path: Path) -> dict[str, Scenario]:
    """Return the scenarios of a table `scenarios`, by scenario_id."""
    return {row["scenario_id"]: Scenario(**row | {"more": dict(row["more"])}) for row in iterate_rows(path, SCENARIOS)}


def seeds_of(scenarios: list[Scenario]) -> pa.Table:
    """Return the table `seeds` of scenarios: openings without a human dialogue."""
    rows = [
        {
            "seed_id": scenario.scenario_id,
            "corpus": "scenarios",
            "language": scenario.language,
            "utterances": [scenario.opening] if scenario.opening else [],
            "n_human": 0,
            "for_arena": True,
            "for_gteval": False,
        }
        for scenario in scenarios
    ]
    return to_table(SEEDS, rows)


def _scenario_records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each record with its place."""
    if path.suffix.lower() == ".csv":
        yield from ((f"{path}, line {number}", row) for number, row in read_columns(path))
    else:
        yield from ((line.where, line.record) for line in read_json_lines(path))
