"""The table of counts adds up."""

from __future__ import annotations

from pathlib import Path

from training_dialogues import dialogue, recipe, write

from dialeval.schemas.training import TRAINING_DATA, TRAINING_EXAMPLES, TRAINING_OVERLAP
from dialeval.tables import to_table, write_table
from dialeval.training.pairs.counting import data_rows
from dialeval.training.pairs.data import training_rows


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
