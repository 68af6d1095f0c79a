"""Ready scores of a user's metric: joined by key, refused with the row where they do not fit."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.score_files import RatedCorpora, rated_corpora, read_score_file
from dialeval.corpora.transcripts.eval_logs import read_scores
from dialeval.errors import UserError

FED = RatedCorpora(
    levels={"fed": "dialogue"},
    items={("fed", "en", "FED-1"), ("fed", "en", "FED, 2"), ("fed", "zh", "FED-1")},
    rated={"fed": {"coherence", "overall", "depth"}},
    left_out={("fed", "en", "FED-3"): "dialogues without a rating"},
)


def read(folder: Path, text: str, notes: Counter[str] | None = None) -> list[dict[str, Any]]:
    path = folder / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return list(read_score_file(path, "mine", (0.0, 1.0), FED, Counter() if notes is None else notes))


def test_scores_are_read_with_their_keys(tmp_path: Path) -> None:
    rows = ["fed,FED-1,overall,0.5,zh", 'fed,"FED, 2",overall,,en', "fed,FED-1,overall,nan,"]
    first, second, third = read(tmp_path, "\n".join(["corpus,item_id,dimension,value,language", *rows]))
    assert (first["judge"], first["protocol"], first["language"], first["value"]) == ("mine", "file", "zh", 0.5)
    assert (second["item_id"], second["value"], second["status"]) == ("FED, 2", None, "missing")
    assert (third["language"], third["status"]) == ("en", "missing")


def test_an_id_may_be_copied_from_a_csv_file_of_ours(tmp_path: Path) -> None:
    about = replace(FED, items={("fed", "en", "=1"), ("fed", "en", "'+1")})
    path = tmp_path / "mine.csv"
    path.write_text("corpus,item_id,dimension,value\nfed,'=1,overall,0.5\nfed,'+1,overall,1\n", encoding="utf-8")
    rows = read_score_file(path, "mine", (0.0, 1.0), about, Counter())
    assert [(row["item_id"], row["value"]) for row in rows] == [("=1", 0.5), ("'+1", 1.0)]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("fad,FED-1,overall,0.5", "corpus 'fad'"),
        ("fed,FED-9,overall,0.5", "no item 'FED-9' in language 'en'"),
        ("fed,FED-1,overall,good", "'good' is not a number"),
        ("fed,FED-1,overall,1.5", "outside the scale 0 to 1"),
        ("fed,FED-1,overall", "line 3: 3 cells, but 4 columns"),
        ("fed,FED-1,coherence,0.1", "'coherence', in line 2"),
        ("fed,FED-1,cohrence,0.1", "no dimension 'cohrence'"),
        ("fed,FED-1,cohrence,0.1", "did you mean 'coherence'?"),
        ("fed,FED-1,relevance,0.1", "known: coherence, depth, diversity, engagingness, informativeness, overall"),
        ("fed,FED-9,overall,0.5", "its ids are such as 'FED, 2'"),
        ("fed,FED-1,overall,1_0", "'1_0' is not a number"),
        ("fed,FED-1,overall,inf", "'inf' is not a number"),
    ],
)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(UserError, match="line 3") as caught:
        read(tmp_path, f"corpus,item_id,dimension,value\nfed,FED-1,coherence,0.5\n{row}\n")
    assert words in str(caught.value)


def test_a_missing_column_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="column 'dimension' is missing; its columns: corpus, item_id, value"):
        read(tmp_path, "corpus,item_id,value\n")


def test_an_empty_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="column 'corpus' is missing; its columns: none"):
        read(tmp_path, "")


def test_an_unrated_item_is_skipped_and_counted(tmp_path: Path) -> None:
    notes: Counter[str] = Counter()
    rows = ["fed,FED-3,overall,0.5", "fed,FED-1,depth,0.5", "fed,FED-1,diversity,0.5"]
    found = read(tmp_path, "\n".join(["corpus,item_id,dimension,value", *rows]), notes)
    assert [row["criterion"] for row in found] == ["depth", "diversity"]
    assert notes == {
        "of corpus 'fed' skipped, since their items were left out (dialogues without a rating)": 1,
        "of corpus 'fed' on diversity, which has no ratings: used in ensembles only": 1,
    }


def test_an_item_in_another_language_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no item 'FED, 2' in language 'zh'; the corpus has it in en"):
        read(tmp_path, 'corpus,item_id,dimension,value,language\nfed,"FED, 2",overall,0.5,zh\n')


@pytest.mark.parametrize("repeat", ["9" * 5000, "-1", "1.5", "²", "3000000000"])
def test_a_repeat_that_no_table_can_hold_is_reported(tmp_path: Path, repeat: str) -> None:
    with pytest.raises(UserError, match="line 2: repeat '.*' is not a whole number below 1000000"):
        read(tmp_path, f"corpus,item_id,dimension,value,repeat\nfed,FED-1,overall,0.5,{repeat}\n")


@pytest.mark.parametrize("column", ["value", "language"])
def test_a_column_that_is_there_twice_is_reported(tmp_path: Path, column: str) -> None:
    with pytest.raises(UserError, match=f"mine.csv: the column '{column}' occurs more than once"):
        read(tmp_path, f"corpus,item_id,dimension,value,language,{column}\n")


def test_what_is_compared_with_ratings_on_another_dimension_counts_as_rated() -> None:
    items = {"corpus": ["fed"], "language": ["en"], "item_id": ["FED-1"], "level": ["dialogue"]}
    left_out: dict[str, list[Any]] = {"corpus": [], "language": [], "item_id": [], "reason": []}
    rated = {"corpus": ["fed"], "dimension": ["overall"]}
    assert rated_corpora(items, rated, left_out).rated == {"fed": {"overall"}}
    joined = {"fed": {"coherence": "overall"}}
    assert rated_corpora(items, rated, left_out, joined).rated == {"fed": {"overall", "coherence"}}


LOG = Path(__file__).parent / "transcripts" / "exports" / "inspect.eval"


def test_scores_of_an_inspect_log_are_a_judge(tmp_path: Path) -> None:
    about = RatedCorpora(
        {"desk": "dialogue"}, {("desk", "en", "hours"), ("desk", "en", "birds")}, {"desk": {"includes"}}
    )
    notes: Counter[str] = Counter()
    rows = list(read_score_file(LOG, "inspect", (0.0, 1.0), about, notes))
    assert [(row["item_id"], row["repeat"], row["criterion"], row["value"]) for row in rows] == [
        ("birds", 0, "includes", 0.0), ("birds", 1, "includes", 0.0),
        ("hours", 0, "includes", 1.0), ("hours", 1, "includes", 1.0),
    ]  # fmt: skip
    assert notes["of scorer 'politeness' skipped, since its name is not a dimension of corpus 'desk'"] == 4
    polite = replace(about, rated={"desk": {"politeness"}})
    assert [row["value"] for row in read_score_file(LOG, "inspect", (1.0, 5.0), polite, Counter())] == [
        2.0,
        2.0,
        4.0,
        4.0,
    ]
    with pytest.raises(UserError, match="sample 1, politeness: value 2 is outside the scale 0 to 1"):
        list(read_score_file(LOG, "inspect", (0.0, 1.0), polite, Counter()))
    with pytest.raises(UserError, match="corpus 'desk' has no item 'birds'.*its ids are such as 'hours'"):
        list(read_score_file(LOG, "x", (0.0, 1.0), replace(about, items={("desk", "en", "hours")}), Counter()))
    with pytest.raises(UserError, match="sample 1, includes: give the sample's corpus as metadata 'corpus': desk, fed"):
        list(
            read_score_file(LOG, "x", (0.0, 1.0), replace(about, levels={"desk": "dialogue", "fed": "turn"}), Counter())
        )


def test_a_model_that_graded_in_inspect_is_an_imported_judge(tmp_path: Path) -> None:
    items = {("desk", "en", name) for name in ("one", "two", "three")}
    about = RatedCorpora({"desk": "dialogue"}, items, {"desk": {"overall"}})
    notes: Counter[str] = Counter()
    path = LOG.with_name("inspect_graded.eval")
    rows = list(read_score_file(path, "grader", (0.0, 1.0), about, notes, {"model_graded_qa": "overall"}))
    found = {(row["item_id"], row["repeat"]): (row["value"], row["status"]) for row in rows}
    assert found == {
        ("one", 0): (1.0, "ok"), ("one", 1): (0.0, "ok"), ("two", 0): (0.5, "ok"), ("two", 1): (1.0, "ok"),
        ("three", 0): (0.0, "ok"), ("three", 1): (None, "unparsed"),
    }  # fmt: skip
    assert {row["criterion"] for row in rows} == {"overall"}
    assert next(row["reason"] for row in rows if row["status"] == "unparsed").endswith("I would rather not.")
    assert notes == {"of scorer 'model_graded_qa' by the judge mockllm/grader": 6}
    notes.clear()
    assert not list(read_score_file(path, "grader", (0.0, 1.0), about, notes))
    assert notes["of scorer 'model_graded_qa' skipped, since its name is not a dimension of corpus 'desk'"] == 6


@pytest.mark.parametrize(
    ("about", "judge"),
    [
        ({}, "lab/evaluated"),
        ({"model_roles": {"grader": {"model": "lab/role"}}}, "lab/role"),
        ({"scorers": [{"name": "qa", "options": {"model": ["lab/a", {"model": "lab/b"}]}}]}, "lab/a, lab/b"),
        ({"scorers": [{"name": "other", "options": {"model": "lab/a"}}]}, "lab/evaluated"),
        ({"scorers": 7, "model_roles": 7}, "lab/evaluated"),
    ],
)
def test_the_judge_of_a_log_is_the_scorers_model_or_the_grader_or_the_evaluated_one(
    tmp_path: Path, about: dict[str, Any], judge: str
) -> None:
    score = {"value": "I", "explanation": "Grade not found in model output: Hm.", "metadata": {"grading": []}}
    sample = {"id": "one", "epoch": 1, "scores": {"qa": score, "includes": {"value": "C", "explanation": "x"}}}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "lab/evaluated", **about}, "status": "success"}))
        archive.writestr("samples/one_epoch_1.json", json.dumps(sample))
    first, second = read_scores(tmp_path / "log.eval", Counter())
    assert (first.judge, first.value, first.reason) == (judge, "", score["explanation"])
    assert (second.judge, second.value, second.reason) == ("", "1", "")
