"""Imputed annotations through the real snakemake: the repeats of a judge are the reference for unrated items."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from page_links import whole
from workspace import Workspace, new_workspace

approx = partial(pytest.approx, rel=1e-12, abs=1e-12, nan_ok=True)
pytestmark = [pytest.mark.workflow, pytest.mark.slow]

N, REPEATS = 20, 3
TOPICS = ("bread", "rain", "the choir", "a broken lamp", "the ferry")


def rated_lines() -> str:
    """Dialogues of which people rated overall, three of them each, and half a model rated diversity, too."""
    lines = []
    for n in range(N):
        turns = [f"Tell me about {TOPICS[n % 5]}, part {turn}." + " It matters to me." * (n % 7) for turn in range(4)]
        by_model = {"values": [1 + n % 5, 1 + n % 4], "rater_kind": "model", "rater": "theirs", "scale": [1, 5]}
        ratings = {"overall": [1 + n % 7, 1 + n % 6, 1 + n % 7]} | ({"diversity": by_model} if n % 2 else {})
        lines.append(json.dumps({"item_id": f"i{n}", "dialogue": turns, "ratings": ratings, "scale": [1, 7]}))
    return "\n".join(lines) + "\n"


def settings(fill: str | None) -> dict[str, Any]:
    metaeval: dict[str, Any] = {
        "corpora": {
            "mine": {"reader": "rated_jsonl", "path": "mine.jsonl"},
            "steps": {"reader": "severity_levels", "limit": 4, "languages": ["en"]},
        },
        "resamples": 50,
    }
    return {
        "models": {
            "length": {"engine": "embedded", "method": "length"},
            "random": {"engine": "embedded", "method": "random"},
        },
        "ensembles": {"both": ["length", "random"]},
        "chatbots": [],
        "judges": ["length", "random"],
        "protocols": {"rating": {"repeats": REPEATS, "temperature": 0.7}, "yes_no": {}},
        "metaeval": metaeval | ({"imputer": fill} if fill else {}),
        "data_dir": ".",
    }


def table(workspace: Workspace, path: str) -> list[dict[str, Any]]:
    return pq.read_table(workspace.folder / "results" / f"{path}.parquet").to_pylist()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace in which judges were asked, and nothing was filled in."""
    workspace = new_workspace(tmp_path_factory.mktemp("judged") / "work")
    (workspace.folder / "mine.jsonl").write_text(rated_lines(), encoding="utf-8")
    workspace.configure(**settings(None))
    workspace.run("metaeval")
    return workspace


@pytest.fixture(scope="module")
def filled(judged: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The same, with a judge that fills in."""
    workspace = judged.copy(tmp_path_factory.mktemp("filled") / "work")
    workspace.configure(**settings("length"))
    jobs = workspace.would_run("metaeval")
    assert jobs["impute_ratings"] == 1
    assert not {"plan", "answer", "parse", "read_rated", "learn_embedded"} & {*jobs}  # nobody is asked
    workspace.run("metaeval", "report")
    return workspace


def test_rounds_and_means_on_unrated_items(filled: Workspace) -> None:
    rows = table(filled, "imputed_ratings/length")
    assert {row["dimension"] for row in rows} == {"coherence", "engagingness", "informativeness"}
    assert {(row["corpus"], row["rater_kind"], row["rater"]) for row in rows} == {("mine", "model", "length")}
    judged = table(filled, "judgements/length/rating")
    expected = {
        (row["item_id"], row["criterion"], row["repeat"]): row["value"] for row in judged if row["corpus"] == "mine"
    }
    singles = [row for row in rows if row["round"] is not None]
    assert len(singles) == 3 * N * REPEATS
    assert all(expected[row["item_id"], row["dimension"], row["round"]] == row["value"] for row in singles)
    log = (filled.folder / "results/logs/imputed_ratings/length.log").read_text("utf-8")
    assert f"mine: coherence, without human ratings, is imputed by length on {N} items" in log
    assert not {row["rater"] for row in table(filled, "ratings/mine")} & {"length"}


def test_tables_mark_it_and_spare_the_judge_and_its_ensemble(filled: Workspace, judged: Workspace) -> None:
    rows = table(filled, "tables/metaeval/correlations")
    on_filled = [row for row in rows if row["imputed_by"]]
    assert {row["imputed_by"] for row in on_filled} == {"length"}
    assert {row["judge"] for row in on_filled} == {"random"}
    assert {row["rater_kind"] for row in on_filled} == {"model"}
    before = table(judged, "tables/metaeval/correlations")
    others = [row for row in rows if not row["imputed_by"]]
    assert len(others) == len(before)
    for row, was in zip(others, before, strict=True):  # sums of several judges at once round by how many they are
        assert row == {name: approx(value) if isinstance(value, float) else value for name, value in was.items()}
    assert not {"length", "both"} & {
        name for row in table(filled, "tables/metaeval/judge_pairs") if row["imputed_by"]
        for name in (row["judge"], row["other_judge"])
    }  # fmt: skip
    (corpus,) = [row for row in table(filled, "tables/metaeval/corpora") if row["corpus"] == "mine"]
    assert corpus["imputed_dimensions"] == "coherence, engagingness, informativeness"
    assert (corpus["human_dimensions"], corpus["model_dimensions"]) == ("overall", "diversity")
    page = filled.folder / "results/report/index.html"
    assert "imputed dimensions" in whole(page.read_text("utf-8"))


def test_the_judge_is_set_against_people_and_its_repeats_against_each_other(filled: Workspace) -> None:
    (ranked,) = [
        row for row in table(filled, "tables/metaeval/ranking_agreement") if row["second_rater"] == "length"
    ]  # fmt: skip
    assert (ranked["dimension"], ranked["reason"]) == ("overall", "only 1 judge has both correlations; 3 are needed")
    repeats = table(filled, "tables/metaeval/repeat_agreement")
    assert {(row["judge"], row["method"], row["n_rounds"]) for row in repeats} == {
        (judge, "rating", REPEATS) for judge in ("length", "random")
    }


def test_ceilings_stand_beside_the_correlations(filled: Workspace) -> None:
    rows = table(filled, "tables/metaeval/ceilings")
    of_people = [row for row in rows if (row["rater_kind"], row["dimension"]) == ("human", "overall")]
    assert {row["judge"] for row in of_people} == {"length", "random", "both"}
    assert all(row["n_raters"] == pytest.approx(3) and row["ceiling"] > 0.5 for row in of_people)
    pearson = {
        (row["judge"], row["method"]): row["pearson"]
        for row in table(filled, "tables/metaeval/correlations")
        if (row["rater_kind"], row["corpus"]) == ("human", "mine")
    }
    assert all(row["pearson"] == pearson[row["judge"], row["method"]] for row in of_people)
    repeated = [row["n_repeats"] for row in of_people if row["method"] == "rating" and row["judge"] != "both"]
    assert repeated == [pytest.approx(REPEATS)] * 2
    assert (filled.folder / "results/figures/metaeval/ceilings.svg").exists()


def test_nothing_runs_again_and_another_judge_sends_no_request(filled: Workspace, tmp_path: Path) -> None:
    assert "Nothing to be done" in filled.run("metaeval")
    workspace = filled.copy(tmp_path / "work")
    workspace.configure(**settings("random"))
    jobs = workspace.would_run("metaeval")
    assert "answer" not in jobs
    assert jobs["impute_ratings"] == 1
