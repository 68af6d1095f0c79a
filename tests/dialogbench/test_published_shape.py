"""Twelve records in the published shape, one a task and every quirk of the format, go the whole way to the tables.

The records are hand-made: the published ones are not to be had. They lie as those do, one JSON object per line in files
that end in `.json`, whose names or whose field `task` tell the task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dialeval.dialogbench import items as dialogbench_items
from dialeval.dialogbench.items import TestItem
from dialeval.dialogbench.tasks import ABBREVIATIONS, task_of
from dialeval.dialogbench.writing import plan_filtering as plan_filter
from dialeval.prompts.rendering import Templates
from dialeval.stages import dialogbench, dialogbench_results
from dialeval.tables.catalogue import TABLES
from dialeval.tables.dialogbench import TEST_ITEMS
from dialeval.tables.dialogues import REQUESTS, RESPONSES
from dialeval.tables.files import read_table, to_table, write_table

RECORDS = Path(__file__).parent / "published_records"
Row = dict[str, Any]
RIGHT = {
    "SF": "at half past nine", "IC": "to repair the tap himself", "KRG": "They rest up there, asleep while they fly.",
    "CRG": "Water boils cooler at that height, so they need longer.", "DI": "Has it been so bright for long?",
    "MRG": "Then tell her about the two that she saved.",
    "PRG": "Keep your money, the old one will outlive us both.", "RC": "superior-subordinate", "ED": "disappointment",
    "NLI": "contradiction",
    "DS": "A knee clicks on stairs; a week without the bicycle and a visit on Monday are advised.",
    "OD": "offensive",
}  # fmt: skip
"""The right option of each record, as a reader of the records finds it."""


def items() -> dict[str, TestItem]:
    return {item.task: item for item in dialogbench_items.read(RECORDS, "en").items}


def test_every_record_is_an_item_of_its_task_and_what_is_none_is_counted() -> None:
    reading = dialogbench_items.read(RECORDS, "en")
    assert sorted(item.task for item in reading.items) == sorted(ABBREVIATIONS)
    assert {item.task: item.options[item.right] for item in reading.items} == RIGHT
    assert dict(reading.skipped) == {
        ("IC", "several_labels"): 1,
        ("MRG", "too_many_options"): 1,
        ("OD", "empty_option"): 1,
    }


def test_what_is_shown_beside_the_dialogue_is_read_whatever_its_shape() -> None:
    found = items()
    assert found["KRG"].extra["knowledge"] == "Swifts sleep on the wing.\nThey touch ground only to breed."
    assert found["ED"].emotions == ("joy", "disappointment")
    assert found["MRG"].utterances[-1] == "I have nobody else for Sunday."  # the blank reply behind it is none
    assert found["DI"].extra["response"] == "Since the elm came down, and not a day before."
    for item in found.values():
        assert (len(item.utterances) % 2 == 1) == task_of(item.task).open_ended
        assert all(item.extra[name] for name in task_of(item.task).shown)


def test_a_filter_gets_each_item_with_its_answer() -> None:
    prompts = {one.left: one.request.messages[0].content for one in plan_filter(items().values(), Templates())}
    assert set(prompts) == set(ABBREVIATIONS)
    assert all(RIGHT[task] in text for task, text in prompts.items())


def knows_all_but_emotions(row: Row, item: TestItem) -> Row:
    """Answers rightly in words that a model might use, and always the first letter of emotions and relations."""
    options = row["messages"][-1]["content"].split("\n")
    place = next(line[0] for line in options if line[2:].strip() == RIGHT[item.task])
    text = "A" if item.task in ("ED", "RC") else f"The answer is {place}."
    return {"text": text}


def prefers_the_second(row: Row, item: TestItem) -> Row:
    """Find B the most probable letter; of offence it is about to say something else."""
    mass = 1e-6 if item.task == "OD" else 0.99
    return {"label_logprobs": {"A": -3.0, "B": -0.1, "C": -3.0}, "label_mass": mass}


def likes_what_is_right_but_short(row: Row, item: TestItem) -> Row:
    """Find the right option likely by token, and the shortest one in total."""
    text = row["continuation"].strip()
    n_tokens = len(text)
    return {"logprob": -n_tokens * (0.5 if text == RIGHT[item.task] else 1.0), "n_tokens": n_tokens}


ANSWERS: Mapping[str, Callable[[Row, TestItem], Row]] = {
    "letter": knows_all_but_emotions,
    "choice": prefers_the_second,
    "perplexity": likes_what_is_right_but_short,
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Row]]:
    folder = tmp_path_factory.mktemp("published")
    published = {"theirs": {"path": str(RECORDS), "language": "en", "task": None}}
    reading = dialogbench.DialogbenchReadSettings(
        bundled=[], published=published, variants=["full"], limit=None, random_seed=3  # type: ignore[arg-type]
    )  # fmt: skip
    dialogbench.dialogbench_read(reading, [], folder / "items.parquet")
    shown = {
        row["item_id"]: TestItem.from_row(row) for row in read_table(folder / "items.parquet", TEST_ITEMS).to_pylist()
    }
    requests, responses_of, answers = [], [], []
    for method, answer in ANSWERS.items():
        planned = folder / f"dialogbench_{method}.parquet"
        examination = dialogbench.Examination(
            circular=method != "perplexity",
            presentation="history",
            max_tokens=256,
            presence_penalty=0.0,
            frequency_penalty=0.0,
        )
        settings = dialogbench.DialogbenchPlanSettings(examinations={method: examination})  # type: ignore[dict-item]
        dialogbench.dialogbench_plan(settings, folder / "items.parquet", [planned], Templates())
        nothing = dict.fromkeys(RESPONSES.schema.names) | {"key": "k", "status": "ok", "text": "", "reasoning": "",
                                                           "finish_reason": "stop"}  # fmt: skip
        responses = [
            nothing | {"request_id": row["request_id"]} | answer(row, shown[row["case_id"]])
            for row in read_table(planned, REQUESTS).to_pylist()
        ]
        requests.append(planned)
        responses_of.append(folder / "m" / planned.stem / "1-of-1.parquet")
        write_table(responses_of[-1], RESPONSES, to_table(RESPONSES, responses))
        answers.append(folder / "answers" / "m" / f"{method}.parquet")
    dialogbench.dialogbench_parse(folder / "items.parquet", requests, responses_of, answers)
    settings_of_tables = dialogbench_results.DialogbenchTablesSettings(
        confidence=0.95,
        ablations=[],
        groups={"chat": ["m"]},
        kinds={"m": "chat"},
        parts={},
        at_least=None,
        random_seed=0,
    )
    dialogbench_results.dialogbench_tables(
        settings_of_tables, folder / "items.parquet", answers, [], [], [], folder / "tables"
    )  # fmt: skip
    return lambda name: read_table(folder / f"tables/{name}.parquet", TABLES[f"dialogbench/{name}"]).to_pylist()


def accuracy_of(tables: Callable[[str], list[Row]], method: str) -> dict[str, float]:
    rows = [row for row in tables("accuracy") if row["method"] == method and row["scope"] == "task"]
    assert all(row["source"] == "theirs" and row["n"] == 1 for row in rows)
    return {row["name"]: row["accuracy"] for row in rows}


def test_letters_are_read_and_counted_by_task(tables: Callable[[str], list[Row]]) -> None:
    found = accuracy_of(tables, "letter")
    assert list(found) == list(ABBREVIATIONS)
    assert all(found[task] == 1.0 for task in ABBREVIATIONS if task not in ("ED", "RC"))
    whole = {row["task"]: row for row in tables("circular") if row["method"] == "letter"}
    assert (whole["ED"]["accuracy"], whole["ED"]["mean_accuracy"]) == (0.0, 0.25)  # A is right in one of four orders
    assert whole["Overall"]["accuracy"] == pytest.approx(10 / 12)
    assert {row["n_unparsed"] for row in whole.values()} == {0}


def test_every_item_stands_once_in_every_place(tables: Callable[[str], list[Row]]) -> None:
    rows = {(row["n_options"], row["letter"]): row for row in tables("positions") if row["method"] == "letter"}
    assert [rows[4, letter]["n"] for letter in "ABCD"] == [10] * 4
    assert [rows[4, letter]["accuracy"] for letter in "ABCD"] == [1.0, 0.8, 0.8, 0.8]
    assert (rows[3, "A"]["n"], rows[2, "A"]["n"], rows[2, "A"]["orders"]) == (1, 1, 2)
    assert rows[4, "A"]["n_chosen"] == 8 + 2 * 4


def test_choices_without_mass_and_options_by_token_and_in_total(tables: Callable[[str], list[Row]]) -> None:
    second = {row["task"]: row for row in tables("circular") if row["method"] == "choice"}
    assert second["NLI"]["mean_accuracy"] == pytest.approx(1 / 3)
    assert (second["OD"]["mean_accuracy"], second["OD"]["n_unparsed"]) == (0.0, 1)
    assert set(accuracy_of(tables, "perplexity").values()) == {1.0}
    total = accuracy_of(tables, "perplexity_total")
    assert total["OD"] == 1.0
    assert total["DS"] == 0.0  # the right summary is more than twice as long as the shortest


def test_the_papers_numbers_stand_beside_and_short_items_are_counted(tables: Callable[[str], list[Row]]) -> None:
    counted = {row["task"]: row for row in tables("items")}
    assert counted["OD"]["published_n"] == 802
    assert sum(row["n_short"] for row in counted.values()) == 12
    assert next(row for row in tables("overview") if row["model"] == "human")["SF"] == pytest.approx(0.98)
    kinds = {(row["group"], row["method"]) for row in tables("averages")}
    assert kinds == {("chat", method) for method in ("letter", "choice", "perplexity", "perplexity_total")}
