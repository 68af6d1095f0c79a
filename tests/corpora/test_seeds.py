"""ChatSEEDs are the first two utterances."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from dialeval.corpora.dialogues import (
    Scenario,
    dialogues_of,
    length_distribution,
    not_seeds,
    read_scenarios,
    scenario_table,
    scenarios_of,
    seed_table,
    seeds_of,
)
from dialeval.corpora.items import item_rows, iterate_items
from dialeval.errors import UserError
from dialeval.stages.selfchat import SelfchatItemsSettings, selfchat_items
from dialeval.tables.dialogues import GENERATED, SCENARIOS, SEEDS, UTTERANCES
from dialeval.tables.files import TableWriter, to_table, write_table

# ChatSEEDs are the first two utterances.


def utterances(**lengths: int) -> list[dict[str, object]]:
    return [
        {"corpus": "c", "dialogue_id": name, "turn": t, "speaker": "AB"[t % 2], "text": f"{name}{t}", "language": "en"}
        for name, length in lengths.items()
        for t in range(length)
    ]


def test_seeds_keep_order_and_know_whom_they_serve() -> None:
    table = seed_table(to_table(UTTERANCES, utterances(b=3, a=5, c=4)), arena_min_utterances=4, limit=None)
    assert table.select(["seed_id", "utterances", "n_human", "for_arena"]).to_pylist() == [
        {"seed_id": "b", "utterances": ["b0", "b1"], "n_human": 3, "for_arena": False},
        {"seed_id": "a", "utterances": ["a0", "a1"], "n_human": 5, "for_arena": True},
        {"seed_id": "c", "utterances": ["c0", "c1"], "n_human": 4, "for_arena": True},
    ]
    assert length_distribution(table).to_pydict() == {"n_utterances": [3, 4, 5], "n_dialogues": [1, 1, 1]}


def test_a_limit_keeps_the_first() -> None:
    table = seed_table(to_table(UTTERANCES, utterances(b=3, a=5)), arena_min_utterances=4, limit=1)
    assert table["seed_id"].to_pylist() == ["b"]


def test_a_seed_is_reported_by_two_and_gteval_needs_two_in_turn_to_the_end() -> None:
    rows = [
        {"corpus": "c", "dialogue_id": name, "turn": t, "speaker": s, "text": f"{name}{t}", "language": "en"}
        for name, speakers in {"turns": "ABAB", "twice": "AABB", "three": "ABCA", "later": "ABBA"}.items()
        for t, s in enumerate(speakers)
    ]
    table = to_table(UTTERANCES, rows)
    seeds = seed_table(table, arena_min_utterances=4, limit=None).to_pylist()
    assert [(row["seed_id"], row["for_arena"], row["for_gteval"]) for row in seeds] == [
        ("turns", True, True),
        ("three", True, False),
        ("later", True, False),
    ]
    assert not_seeds(table) == ["twice"]
    with pytest.raises(UserError, match="none of 1 dialogues begins with a ChatSEED"):
        seed_table(table.filter([row["dialogue_id"] == "twice" for row in rows]), arena_min_utterances=4, limit=None)


def test_missing_turns_are_reported() -> None:
    rows = utterances(a=4)
    del rows[2]
    with pytest.raises(UserError, match="'a': turn 3 follows turn 1"):
        dialogues_of(to_table(UTTERANCES, rows))


# Dialogues on ChatSEEDs become items, one chatbot after the other.

NOBODY = {"prompt_tokens": None, "completion_tokens": None, "dropped": 0, "finish_reason": ""}


def _write(folder: Path, chatbots: list[str], n_seeds: int, n_utterances: int = 4) -> list[Path]:
    """Write the human dialogues, the seeds and one table per chatbot."""
    human = [
        {"corpus": "kitchen", "dialogue_id": f"d{seed}", "turn": turn, "speaker": who, "text": f"{seed} {turn}",
         "language": "de" if seed == 1 else "en"}
        for seed in range(n_seeds)
        for turn, who in enumerate(("Ann", "Bob", "Bob", "Cy"))
    ]  # fmt: skip
    utterances = to_table(UTTERANCES, human)
    write_table(folder / "human", UTTERANCES, utterances)
    seeds = seed_table(utterances, arena_min_utterances=4, limit=None)
    write_table(folder / "seeds", SEEDS, seeds)
    for chatbot in chatbots:
        with TableWriter(folder / chatbot, GENERATED) as table:
            table.write_all(
                {"chatbot": chatbot, "seed_id": seed_id, "turn": turn, "origin": "seed" if turn < 2 else "model",
                 "text": f"{chatbot} {seed_id} {turn}", **NOBODY}
                for seed_id in seeds["seed_id"].to_pylist()
                for turn in range(n_utterances)
            )  # fmt: skip
    return [folder / "human", folder / "seeds", *(folder / chatbot for chatbot in chatbots)]


def test_every_dialogue_is_an_item_on_its_seed(tmp_path: Path) -> None:
    human, seeds, *generated = _write(tmp_path, ["one", "two"], n_seeds=3)
    selfchat_items(SelfchatItemsSettings(), human, seeds, generated, tmp_path / "items")
    items = list(iterate_items(tmp_path / "items"))
    assert [item.item_id for item in items] == [f"d{n}/{who}" for who in ("human", "one", "two") for n in range(3)]
    assert {(item.corpus, item.level, item.judged) for item in items} == {("selfchat", "dialogue", "")}
    assert all(item.case_id == item.cluster == item.item_id.split("/")[0] for item in items)
    assert [item.language for item in items] == ["en", "de", "en"] * 3
    person, chatbot = items[1], items[4]
    assert (person.system, person.speakers, person.utterances[3]) == ("human", ("Ann", "Bob", "Bob", "Cy"), "1 3")
    assert (chatbot.system, chatbot.speakers) == ("one", ("A", "B", "A", "B"))
    assert chatbot.utterances == tuple(f"one d1 {turn}" for turn in range(4))


def test_in_talk_with_a_user_only_the_chatbots_side_is_judged(tmp_path: Path) -> None:
    human, seeds, *generated = _write(tmp_path, ["one"], n_seeds=2)
    selfchat_items(SelfchatItemsSettings(partnered=True), human, seeds, generated, tmp_path / "items")
    person, _, chatbot, _ = iterate_items(tmp_path / "items")
    assert (person.speakers, person.judged) == (("Ann", "Bob", "Bob", "Cy"), "Bob")
    assert (chatbot.speakers, chatbot.judged) == (("user", "chatbot", "user", "chatbot"), "chatbot")
    write_table(human, UTTERANCES, to_table(UTTERANCES, []))  # behind scenarios there are no people
    selfchat_items(SelfchatItemsSettings(partnered=True), human, seeds, generated, tmp_path / "items")
    assert [item.system for item in iterate_items(tmp_path / "items")] == ["one", "one"]


def test_a_dialogue_that_could_not_be_had_is_no_item(tmp_path: Path) -> None:
    human, seeds, empty = _write(tmp_path, ["one"], n_seeds=2)
    write_table(empty, GENERATED, to_table(GENERATED, []))
    selfchat_items(SelfchatItemsSettings(), human, seeds, [empty], tmp_path / "items")
    assert [item.system for item in iterate_items(tmp_path / "items")] == ["human", "human"]


def test_more_chatbots_take_no_more_memory(tmp_path: Path) -> None:
    peaks = []
    for n in (4, 16):
        folder = tmp_path / str(n)
        human, seeds, *generated = _write(folder, [f"bot{i}" for i in range(n)], n_seeds=200, n_utterances=16)
        tracemalloc.start()
        selfchat_items(SelfchatItemsSettings(), human, seeds, generated, folder / "items")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0], peaks
    assert list(item_rows(iterate_items(folder / "items")))[-1]["item_id"] == "d199/bot15"


# Scenarios of a user's: two formats, and every mistake with its place.

CSV = 'scenario_id,opening,goal,channel\nkettle,"My kettle broke, again.",her money back,phone\n\n7,,company,\n'
JSON = (
    '{"scenario_id": "kettle", "opening": "My kettle broke, again.", "goal": "her money back", "channel": "phone"}\n'
    '{"scenario_id": 7, "goal": "company", "channel": ""}\n'
)
READ = [
    Scenario("kettle", "My kettle broke, again.", goal="her money back", more={"channel": "phone"}),
    Scenario("7", goal="company", more={"channel": ""}),
]


def written(folder: Path, text: str, suffix: str = "jsonl") -> Path:
    path = folder / f"scenarios.{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("suffix", "text"), [("csv", CSV), ("jsonl", JSON), ("CSV", CSV)])
def test_both_formats_say_the_same(tmp_path: Path, suffix: str, text: str) -> None:
    path = written(tmp_path, text, suffix)
    assert read_scenarios(path) == READ
    assert read_scenarios(path, limit=1) == READ[:1]


def test_a_table_gives_back_what_was_written(tmp_path: Path) -> None:
    write_table(tmp_path / "t.parquet", SCENARIOS, scenario_table(READ))
    assert list(scenarios_of(tmp_path / "t.parquet").values()) == READ
    seeds = seeds_of(READ).to_pylist()
    assert [(row["seed_id"], row["utterances"]) for row in seeds] == [
        ("kettle", ["My kettle broke, again."]), ("7", []),
    ]  # fmt: skip
    assert not any(row["for_gteval"] for row in seeds)


@pytest.mark.parametrize(
    ("suffix", "text", "words"),
    [
        ("jsonl", '{"opening": "a"}', "line 1: the field 'scenario_id' is missing; present: opening"),
        ("jsonl", '{"scenario_id": "a", "goal": "x"}\n{"scenario_id": "a", "goal": "y"}',
         "line 2: scenario 'a' already occurs at"),
        ("jsonl", '{"scenario_id": "a"}', "scenario 'a' is empty; fill in 'opening', 'persona' or 'goal'"),
        ("jsonl", '{"scenario_id": "a", "goal": 3}', "line 1: 'goal' is 3; it must be a text"),
        ("jsonl", '{"scenario_id": null, "goal": "x"}', "'scenario_id' is null"),
        ("csv", "scenario_id,goal\n,x\n", "line 2: 'scenario_id' is empty"),
        ("csv", "scenario_id,goal\na,x,y\n", "line 2: 3 cells, but 2 columns"),
        ("csv", "scenario_id,goal,goal\na,x,y\n",
         "the column 'goal' occurs more than once; its columns: scenario_id, goal, goal"),
        ("csv", "scenario_id,goal\n", "has no scenarios"),
        ("jsonl", "", "has no scenarios"),
    ],
)  # fmt: skip
def test_mistakes_have_their_place(tmp_path: Path, suffix: str, text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        read_scenarios(written(tmp_path, text, suffix))
    assert words in str(caught.value)


def test_an_embedded_partner_needs_openings(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 4: scenario '7' has no 'opening', and the partner is an embedded model"):
        read_scenarios(written(tmp_path, CSV, "csv"), opened=True)
