"""The stages that read a user's files: what they say, and that a bad file takes nothing away that was there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.robustness_sets import SETS
from dialeval.errors import UserError
from dialeval.stages import corpora, perturbations
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import read_table, to_table, write_table
from dialeval.tables.metaeval import ITEMS, LEFT_OUT_ITEMS, RATINGS
from dialeval.tables.robustness import PAIRS

RATED = [
    {"item_id": "a", "response": "Yes.", "ratings": {"overall": 4}, "scale": [1, 5]},
    {"item_id": "b", "response": "No.", "ratings": {"overall": 2}, "scale": [1, 5]},
    {"item_id": "c", "response": "Perhaps."},
]
HEADER = "corpus,item_id,dimension,value\n"


@pytest.fixture
def rated(tmp_path: Path) -> dict[str, Path]:
    """The tables of a rated corpus of two items, and a third that nobody rated."""
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in RATED))
    settings = corpora.ReadRatedSettings(
        name="mine", reader="rated_jsonl", path=tmp_path / "mine.jsonl", languages=None
    )
    paths = {name: tmp_path / f"{name}.parquet" for name in ("items", "ratings", "left_out")}
    corpora.read_rated(settings, **paths)
    return paths


def test_a_limit_keeps_whole_dialogues_the_same_in_every_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"item_id": f"{dialogue}/{turn}", "cluster": f"d{dialogue}", "language": language, "context": ["Hi."],
         "response": f"Yes {turn}.", "ratings": {"overall": 4}, "scale": [1, 5]}
        for language in ("en", "zh") for dialogue in range(9) for turn in range(3)
    ]  # fmt: skip
    path = tmp_path / "mine.jsonl"
    paths = {name: tmp_path / f"{name}.parquet" for name in ("items", "ratings", "left_out")}

    def read(limit: int | None, seed: int = 0, order: int = 1) -> dict[str, list[dict[str, Any]]]:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines[::order]), encoding="utf-8")
        settings = corpora.ReadRatedSettings(
            name="mine", reader="rated_jsonl", path=path, languages=None, limit=limit, random_seed=seed
        )
        corpora.read_rated(settings, **paths)
        schemas = {"items": ITEMS, "ratings": RATINGS, "left_out": LEFT_OUT_ITEMS}
        return {name: read_table(paths[name], schema).to_pylist() for name, schema in schemas.items()}

    found = read(4)
    kept = {
        language: {row["cluster"] for row in found["items"] if row["language"] == language} for language in ("en", "zh")
    }
    assert kept["en"] == kept["zh"]
    assert len(kept["en"]) == 4
    assert len(found["items"]) == 4 * 3 * 2
    assert {row["item_id"] for row in found["ratings"]} == {row["item_id"] for row in found["items"]}
    assert len(found["left_out"]) == 5 * 3 * 2
    assert "30 records left out (30 not among the 4 dialogues of `limit`)" in capsys.readouterr().out
    assert {row["cluster"] for row in read(4, order=-1)["items"]} == kept["en"]
    assert {row["cluster"] for row in read(5)["items"]} > kept["en"]
    assert {row["cluster"] for row in read(4, seed=1)["items"]} != kept["en"]
    assert len(read(100)["items"]) == len(read(None)["items"]) == len(lines)


def scores(folder: Path, rated: dict[str, Path], text: str) -> Path:
    (folder / "metric.csv").write_text(HEADER + text)
    settings = corpora.ReadScoresSettings(name="metric", scale_min=0, scale_max=1)
    paths = {name: [path] for name, path in rated.items()}
    corpora.read_scores(settings, folder / "metric.csv", **paths, judgements=folder / "s.parquet")
    return folder / "s.parquet"


def test_scores_of_unrated_items_are_passed_over_with_a_word(
    tmp_path: Path, rated: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = scores(tmp_path, rated, "mine,a,overall,.5\nmine,b,relevance,.5\nmine,c,overall,.5\n")
    assert [row["item_id"] for row in read_table(path, JUDGEMENTS).to_pylist()] == ["a", "b"]
    output = capsys.readouterr().out
    assert "2 scores read" in output
    assert "1 score of corpus 'mine' skipped, since their items were left out (lines without a rating)" in output
    assert "1 score of corpus 'mine' on relevance, which has no ratings" in output


def test_a_misspelt_dimension_is_refused_and_what_was_there_stays(tmp_path: Path, rated: dict[str, Path]) -> None:
    before = scores(tmp_path, rated, "mine,a,overall,.5\n").read_bytes()
    with pytest.raises(UserError) as caught:
        scores(tmp_path, rated, "mine,a,overall,.5\nmine,b,overal,.5\n")
    for word in ("metric.csv, line 3", "no dimension 'overal'", "relevance, specificity", "did you mean 'overall'?"):
        assert word in str(caught.value)
    assert (tmp_path / "s.parquet").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "bad", ['{"dialogue_id": null, "utterances": []}', '{"dialogue_id": "\\ud800"}', "[" * 100_000]
)
def test_a_bad_file_leaves_the_table_of_before(tmp_path: Path, bad: str) -> None:
    utterances = [{"speaker": who, "text": "Hi."} for who in "AB"]
    path, table = tmp_path / "mine.jsonl", tmp_path / "t.parquet"
    path.write_text(json.dumps({"dialogue_id": "d", "utterances": utterances}))
    settings = corpora.ReadCorpusSettings(name="mine", reader="jsonl", path=path, language="en")
    corpora.read_corpus(settings, table)
    before = table.read_bytes()
    path.write_text(path.read_text() + "\n" + bad)
    with pytest.raises(UserError, match=r"mine\.jsonl, line 2"):
        corpora.read_corpus(settings, table)
    assert table.read_bytes() == before


def test_strategies_say_which_published_sets_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("repetition", "contradiction"):
        for path, response in ((SETS[name].original, "B."), (SETS[name].perturbed, "B, B.")):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(f"r-0\tA\t{response}\n")

    def strategies(named: list[str] | None) -> set[str]:
        settings = perturbations.PerturbItemsSettings(
            strategies=named,
            limit=None,
            dialogue_draws=1,
            turn_draws=1,
            ladder_strategies=[],
            ladder_steps=2,
            ladder_limit=None,
            published=tmp_path,
            random_seed=0,
        )
        paths = {"items": tmp_path / "items", "pairs": tmp_path / "pairs"}
        perturbations.perturb_items(settings, [], [], [], **paths)
        return {row["perturbation"] for row in read_table(tmp_path / "pairs", PAIRS).to_pylist()}

    assert strategies(["repetition"]) == {"repetition"}
    assert "does not have" not in capsys.readouterr().out
    assert strategies(None) == {"repetition", "contradiction"}
    assert "does not have these published sets, so they are skipped: random_response" in capsys.readouterr().out
    with pytest.raises(UserError, match=r"dullness-original_text\.txt cannot be read"):
        strategies(["dullness"])


def test_a_table_of_left_out_items_may_be_empty(tmp_path: Path) -> None:
    write_table(tmp_path / "l", LEFT_OUT_ITEMS, to_table(LEFT_OUT_ITEMS, []))
    assert read_table(tmp_path / "l", LEFT_OUT_ITEMS).num_rows == 0
