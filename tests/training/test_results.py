"""The record of trainings, on made-up scores of which it is known what was learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import training_example as example
from sklearn.metrics import roc_auc_score
from training_dialogues import dialogue, recipe, write

from dialeval.errors import UserError
from dialeval.tables.files import to_table, write_table
from dialeval.tables.training import (
    TRAINING_DATA,
    TRAINING_EXAMPLES,
    TRAINING_OVERLAP,
    TRAINING_RECORD,
    TRAINING_SAMPLES,
)
from dialeval.training.results import data_rows, record_rows, sample_rows
from dialeval.training.training_sets import training_rows


def record(examples: pa.Table, scores: pa.Table | None = None) -> dict[tuple[str, ...], dict[str, Any]]:
    """The rows by moment, language, criterion and kind."""
    rows = list(record_rows("judge", examples, example.scores(examples) if scores is None else scores, 0.95))
    to_table(TRAINING_RECORD, rows)
    found = {(row["moment"], row["language"], row["criterion"], row["kind"]): row for row in rows}
    assert len(found) == len(rows)
    return found


def test_learned_criteria_are_distinguished_from_others() -> None:
    found = record(example.examples())
    learned, random = found["after", "all", "relevance", "shuffled"], found["after", "all", "relevance", "random"]
    assert learned["gain_ci_low"] > 0
    assert learned["ci_low"] > 0.5
    assert random["gain_ci_low"] < 0 < random["gain_ci_high"]
    assert random["ci_low"] < 0.5 < random["ci_high"]
    assert (learned["n"], learned["n_clusters"], learned["training"]) == (40, 20, "turns")
    assert found["before", "all", "relevance", "shuffled"].get("gain") is None
    assert set(found) == {
        (moment, "all", criterion, kind)
        for moment in ("before", "after")
        for criterion, kind in (("all", "all"), ("relevance", "shuffled"), ("relevance", "random"))
    }


def test_one_kind_is_scikit_learns_auc_and_all_is_the_mean() -> None:
    examples = example.examples()
    scores = example.scores(examples)
    found = record(examples, scores)
    after = scores.filter(pc.equal(scores["moment"], "after")).to_pandas().set_index("example_id")["score"]
    kinds = {}
    for kind in example.KINDS:
        rows = examples.filter(pc.equal(examples["kind"], kind)).to_pandas().set_index("example_id")
        rows = rows[rows["part"] == "held_out"]
        kinds[kind] = roc_auc_score(rows["good"], after[rows.index])
        assert found["after", "all", "relevance", kind]["auc"] == pytest.approx(kinds[kind])
    assert found["after", "all", "all", "all"]["auc"] == pytest.approx(sum(kinds.values()) / 2)


def test_several_languages_criteria_and_sets_are_distinguished() -> None:
    first = example.examples(languages=("en", "zh"))
    second = example.examples("dialogues", criteria=("coherence", "informativeness"), kinds=("order",))
    found = record(pa.concat_tables([first, second]))
    assert found["after", "zh", "relevance", "shuffled"]["n"] == 40
    assert found["after", "all", "relevance", "shuffled"]["n"] == 80
    assert found["after", "all", "coherence", "all"]["training"] == "dialogues"
    assert found["after", "all", "all", "all"]["training"] == "dialogues, turns"
    assert ("after", "zh", "coherence", "all") not in found


def test_few_dialogues_and_no_dialogue_say_so() -> None:
    few = record(example.examples(n_dialogues=9))["after", "all", "all", "all"]
    assert (few["n_clusters"], few["ci_low"] != few["ci_low"], few["reason"]) == (
        3,
        True,
        "fewer than 5 dialogues give no interval",
    )
    examples = example.examples(n_dialogues=2)  # none is held out
    (row, other) = record(examples).values()
    assert {row["moment"], other["moment"]} == {"before", "after"}
    assert (row["n"], row["reason"]) == (0, "no pair of an original and a perturbed example")


def test_scores_of_another_run_are_refused() -> None:
    scores = example.scores(example.examples("others"))
    with pytest.raises(UserError, match=r"judge was scored on 'others/.*', which is not a held-out example"):
        record(example.examples(), scores)


def test_samples_show_what_differs_and_where_words_come_from() -> None:
    rows = list(sample_rows(example.examples(), 0))
    to_table(TRAINING_SAMPLES, rows)
    assert len(rows) == 2 * 3
    assert {row["kind"] for row in rows} == {*example.KINDS}
    number = rows[0]["pair_id"].split("/")[1].split("-")[1]
    assert (rows[0]["context"], rows[0]["positive"], rows[0]["negative"]) == (
        "A: Which number?",
        f"B: It is {number}.",
        f"B: {number} is it.",
    )


def test_samples_stay_the_same_where_others_are_added() -> None:
    small = {row["pair_id"] for row in sample_rows(example.examples(n_dialogues=40), 0)}
    large = {row["pair_id"] for row in sample_rows(example.examples(n_dialogues=60), 0)}
    drawn_anew = {pair for pair in large - small if int(pair.split("/")[1].split("-")[1]) < 40}
    assert not drawn_anew
    assert list(sample_rows(to_table(TRAINING_EXAMPLES, []), 0)) == []


# The table of counts adds up.


def test_counts_are_those_of_the_rows(tmp_path: Path) -> None:
    table = write(tmp_path / "home.parquet", [dialogue(number) for number in range(60)])
    examples = list(training_rows(recipe(), [table], {"home/d5", "home/d6"}, say=print))
    left_out = [
        {"training": "mine", "domain": "daily", "language": "en", "corpus": "home", "dialogue_id": name, "cluster": "c",
         "item_corpus": "rated", "item_id": "i"}
        for name in ("d5", "d6")
    ]  # fmt: skip
    write_table(tmp_path / "examples.parquet", TRAINING_EXAMPLES, to_table(TRAINING_EXAMPLES, examples))
    write_table(tmp_path / "overlap.parquet", TRAINING_OVERLAP, to_table(TRAINING_OVERLAP, left_out))
    rows = list(data_rows([tmp_path / "examples.parquet"], [tmp_path / "overlap.parquet"]))
    to_table(TRAINING_DATA, rows)
    of_all = {row["part"]: row for row in rows if row["kind"] == "all"}
    for part, row in of_all.items():
        own = [one for one in examples if one["part"] == part]
        assert (
            row["n_pairs"]
            == len(own) // 2
            == sum(one["n_pairs"] for one in rows if one["part"] == part and one["kind"] != "all")
        )
        assert row["n_dialogues"] == len({one["dialogue_id"] for one in own})
        assert row["n_clusters"] == len({one["cluster"] for one in own})
    assert sum(row["n_dialogues"] for row in of_all.values()) == 58
    assert {row["left_out"] for row in rows} == {2}
