"""ChatSEEDs and scenarios, and chatbots' dialogues on them as items.

JSON Lines, one object a line, or CSV with a header:

    {"scenario_id": "kettle", "opening": "Hi, my kettle broke.", "persona": "a busy nurse", "goal": "her money back"}

`scenario_id` is needed, and one at least of the others; `language` is that of the talk. Further columns are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from dialeval.corpora.dialogues import are_two_in_turn, speakers_of
from dialeval.corpora.items import Item
from dialeval.corpora.json_records import name_of, optional_text, required
from dialeval.corpora.rated_sources import speakers_in_turn
from dialeval.corpora.text_files import read_columns, read_json_lines
from dialeval.errors import UserError
from dialeval.tables.dialogues import GENERATED, SCENARIOS, SEED_LENGTHS, SEEDS
from dialeval.tables.files import HUMAN, iterate_rows, to_table

SEED_LENGTH = 2


def seed_table(utterances: pa.Table, *, arena_min_utterances: int, limit: int | None) -> pa.Table:
    """Returns the table `seeds`, one row per human dialogue of the seeds' corpus, in its order.

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
            f"corpora.{corpus}: none of {len(texts)} dialogues has a ChatSEED, that is two first utterances by two "
            f"speakers; check the field `speaker` of the dialogues"
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
    """Returns the ids of the dialogues whose first two utterances are not two speakers'."""
    return [
        dialogue_id
        for dialogue_id, speakers in speakers_of(utterances).items()
        if not are_two_in_turn(speakers[:SEED_LENGTH])
    ]


def dialogues_of(utterances: pa.Table) -> dict[str, tuple[str, ...]]:
    """Returns the texts of each dialogue of a table `utterances`, by dialogue_id, in the table's order."""
    texts: dict[str, list[str]] = {}
    columns = utterances.select(["dialogue_id", "turn", "text"]).to_pydict()
    for dialogue_id, turn, text in zip(columns["dialogue_id"], columns["turn"], columns["text"], strict=True):
        dialogue = texts.setdefault(dialogue_id, [])
        if turn != len(dialogue):
            raise UserError(f"dialogue '{dialogue_id}': turn {turn} follows turn {len(dialogue) - 1}; rows are missing")
        dialogue.append(text)
    return {dialogue_id: tuple(dialogue) for dialogue_id, dialogue in texts.items()}


def length_distribution(seeds: pa.Table) -> pa.Table:
    """Returns the table `botchat/seeds`: human dialogues by number of utterances (Figure 2)."""
    counts = Counter(seeds["n_human"].to_pylist())
    return to_table(SEED_LENGTHS, [{"n_utterances": n, "n_dialogues": counts[n]} for n in sorted(counts)])


# Dialogues on ChatSEEDs as items to be judged: the human one of every seed, and what each chatbot made of it.

SOURCE = "selfchat"
"""Names these items in every table, as corpora and transcripts are named in the configuration."""
USER, CHATBOT = "user", "chatbot"
"""Who speaks in a talk with a simulated user."""


def human_items(utterances: pa.Table, seeds: pa.Table, *, partnered: bool = False) -> Iterator[Item]:
    """Yields the human dialogue of every seed, its speakers named as in their corpus; scenarios have none.

    Args:
        utterances: the table `utterances` of the seeds' corpus.
        seeds: the table `seeds`.
        partnered: whether chatbots talk with a simulated user; of people then the one who answers first is judged.
    """
    texts, speakers = dialogues_of(utterances), speakers_of(utterances)
    for seed_id, language in _languages(seeds).items():
        if seed_id in texts:
            judged = speakers[seed_id][1] if partnered else ""
            yield _item(seed_id, HUMAN, language, speakers[seed_id], texts[seed_id], judged)


def chatbot_items(generated: Iterable[Path], seeds: pa.Table, *, partnered: bool = False) -> Iterator[Item]:
    """Yields every dialogue of tables `generated`, one after the other, without holding a table in memory.

    A chatbot that talks to itself plays two speakers in turn, A and B; in talk with a simulated user, who begins, only
    its own side is judged.

    Args:
        generated: one table per chatbot, each with the utterances of a dialogue next to each other.
        seeds: the table `seeds`.
        partnered: whether chatbots talk with a simulated user.
    """
    languages = _languages(seeds)
    for path in generated:
        rows = iterate_rows(path, GENERATED, ["chatbot", "seed_id", "text"])
        for (chatbot, seed_id), dialogue in groupby(rows, key=lambda row: (row["chatbot"], row["seed_id"])):
            utterances = tuple(row["text"] for row in dialogue)
            yield chatbot_item(seed_id, chatbot, languages[seed_id], utterances, partnered=partnered)


def chatbot_item(
    seed_id: str, chatbot: str, language: str, utterances: tuple[str, ...], *, partnered: bool = False
) -> Item:
    """Returns a chatbot's dialogue on a seed, with itself or with a simulated user."""
    names = (USER, CHATBOT) if partnered else ("A", "B")
    speakers = speakers_in_turn(len(utterances), *names)
    return _item(seed_id, chatbot, language, speakers, utterances, CHATBOT if partnered else "")


def _languages(seeds: pa.Table) -> dict[str, str]:
    return dict(zip(seeds["seed_id"].to_pylist(), seeds["language"].to_pylist(), strict=True))


def _item(
    seed_id: str, system: str, language: str, speakers: tuple[str, ...], texts: tuple[str, ...], judged: str
) -> Item:
    item_id = f"{seed_id}/{system}"
    return Item(SOURCE, item_id, language, "dialogue", seed_id, speakers, texts, system, seed_id, judged)


# Which utterances of a dialogue are its system's own, and so are judged one by one.


def judged_places(item: Item, n_seed_utterances: int) -> tuple[int, ...]:
    """Returns the places, from 1, of the judged system's own utterances: none of a ChatSEED or a partner.

    Args:
        item: a dialogue.
        n_seed_utterances: utterances of a ChatSEED, which people wrote and with which dialogues of chatbots begin.
            People's own dialogues are judged from the same place on; transcripts begin with no ChatSEED.
    """
    first = n_seed_utterances if item.corpus == SOURCE else 0
    return tuple(
        place
        for place, speaker in enumerate(item.speakers, start=1)
        if place > first and (not item.judged or speaker == item.judged)
    )


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
    """Reads a table of scenarios.

    Args:
        path: a .csv file, or else JSON Lines.
        limit: keep only the first so many.
        opened: whether every scenario needs an opening.

    Raises:
        UserError: invalid data; the message has the file, the line and the remedy.
    """
    places: dict[str, str] = {}
    scenarios = []
    for where, record in _records(path):
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
        raise UserError(f"{path} has no scenarios")
    return scenarios[:limit]


def scenario_table(scenarios: list[Scenario]) -> pa.Table:
    """Returns the table `scenarios`."""
    return to_table(SCENARIOS, [{**vars(scenario), "more": list(scenario.more.items())} for scenario in scenarios])


def scenarios_of(path: Path) -> dict[str, Scenario]:
    """Returns the scenarios of a table `scenarios`, by scenario_id."""
    return {row["scenario_id"]: Scenario(**row | {"more": dict(row["more"])}) for row in iterate_rows(path, SCENARIOS)}


def seeds_of(scenarios: list[Scenario]) -> pa.Table:
    """Returns the table `seeds` of scenarios: openings without a human dialogue."""
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


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields each record with its place."""
    if path.suffix.lower() == ".csv":
        yield from ((f"{path}, line {number}", row) for number, row in read_columns(path))
    else:
        yield from ((line.where, line.record) for line in read_json_lines(path))
