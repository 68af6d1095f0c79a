"""Dialogues on ChatSEEDs become items, one chatbot after the other."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from dialeval.corpora.items import item_rows, iterate_items
from dialeval.corpora.seeds import seed_table
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.schemas.shared import UTTERANCES
from dialeval.stages.selfchat import SelfchatItemsSettings, selfchat_items
from dialeval.tables import TableWriter, to_table, write_table

NOBODY = {"prompt_tokens": None, "completion_tokens": None, "dropped": 0, "finish_reason": ""}


def _write(folder: Path, chatbots: list[str], n_seeds: int, n_utterances: int = 4) -> list[Path]:
    """Writes the human dialogues, the seeds and one table per chatbot."""
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
