"""Meta-evaluation and robustness through the real snakemake: what is asked, and what is not asked again."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from workspace import Workspace, new_workspace

pytestmark = pytest.mark.workflow

TOPICS = (
    "bread",
    "rain",
    "the choir",
    "a broken lamp",
    "the ferry",
    "chess",
    "tomatoes",
    "the new bus",
    "paint",
    "bees",
)


def rated_lines(n: int, name: str = "i", first: str = "Tell me") -> str:
    """Dialogues whose people's rating grows with their length."""
    lines = []
    for number in range(n):
        topic = TOPICS[number % len(TOPICS)]
        turns = [f"{first} about {topic}, part {turn}." + " It matters to me." * (number % 7) for turn in range(4)]
        item = {"item_id": f"{name}{number}", "dialogue": turns}
        rating = {"value": 1 + number % 7, "scale": [1, 7]}
        lines.append(json.dumps(item | {"ratings": {"overall": rating, "coherence": rating}}))
    return "\n".join(lines) + "\n"


def settings(**changes: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "models": {
            "length": {"engine": "embedded", "method": "length"},
            "random": {"engine": "embedded", "method": "random"},
        },
        "chatbots": [],
        "judges": ["length"],
        "seeds": {"corpus": "bundled"},
        "protocols": {"rating": {}, "yes_no": {}},
        "metaeval": {
            "corpora": {
                "mine": {"reader": "rated_jsonl", "path": "mine.jsonl"},
                "steps": {"reader": "severity_levels", "limit": 6, "languages": ["en"]},
            },
            "resamples": 50,
        },
        "robustness": {"corpora": ["bundled"], "limit": 4, "dialogue_draws": 1, "severity_levels": {"limit": 2}},
        "data_dir": ".",
    }
    return parts | changes


def table(workspace: Workspace, path: str) -> list[dict[str, Any]]:
    return pq.read_table(workspace.folder / "results" / f"{path}.parquet").to_pylist()


def asked(workspace: Workspace, judge: str, protocol: str) -> int:
    usage = json.loads((workspace.folder / f"results/usage/{judge}/{protocol}-1-of-1.json").read_text("utf-8"))
    number: int = usage["asked"]
    return number


TABLES = ["metaeval", "robustness", "--omit-from", "draw_metaeval", "draw_robustness"]
"""The targets without their figures."""


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace in which judges were asked."""
    workspace = new_workspace(tmp_path_factory.mktemp("scored") / "work")
    (workspace.folder / "mine.jsonl").write_text(rated_lines(30), encoding="utf-8")
    workspace.configure(**settings())
    workspace.run(*TABLES)
    return workspace


def test_length_agrees_with_ratings_that_grow_with_length(scored: Workspace) -> None:
    rows = [row for row in table(scored, "tables/metaeval/correlations") if row["corpus"] == "mine"]
    assert {(row["method"], row["dimension"]) for row in rows} == {
        (method, dimension) for method in ("rating", "yes_no") for dimension in ("overall", "coherence")
    }
    assert all(row["spearman"] > 0.95 and row["n"] == 30 and row["n_missing"] == 0 for row in rows)
    kinds = {row["rater_kind"] for row in table(scored, "tables/metaeval/correlations") if row["corpus"] == "steps"}
    assert kinds == {"construction"}
    assert all(row["raters"] in ("human", "full") for row in table(scored, "tables/metaeval/averages"))
    assert (scored.folder / "results/tables/metaeval/averages.csv").exists()


def test_length_notices_content_reduction_and_not_order_shuffle(scored: Workspace) -> None:
    rows = [
        row
        for row in table(scored, "tables/robustness/thresholds")
        if row["method"] == "yes_no" and row["threshold"] == 0
    ]
    ratio = {row["perturbation"]: row["ratio"] for row in rows}
    assert ratio["order_shuffle"] == 0
    assert ratio["content_reduction"] == 1
    counts = {row["perturbation"]: row["n_pairs"] for row in table(scored, "tables/robustness/pairs")}
    assert len(counts) == 16
    assert all(not math.isnan(n) and n >= 0 for n in counts.values())


def test_nothing_runs_again(scored: Workspace) -> None:
    assert "Nothing to be done" in scored.run(*TABLES)


@pytest.mark.slow
def test_only_another_judge_gets_requests_and_another_corpus_only_about_its_items(
    scored: Workspace, tmp_path: Path
) -> None:
    workspace = scored.copy(tmp_path / "work")
    before = asked(workspace, "length", "yes_no")
    (workspace.folder / "more.jsonl").write_text(rated_lines(9, "more"), encoding="utf-8")
    more = settings()
    more["judges"] = ["length", "random"]
    more["metaeval"]["corpora"]["more"] = {"reader": "rated_jsonl", "path": "more.jsonl"}
    workspace.configure(**more)
    workspace.run("metaeval")
    # the texts of `more` are those of `mine`: nothing is asked of the judge that knows them
    assert asked(workspace, "length", "yes_no") == 0
    assert asked(workspace, "random", "yes_no") == before
    (workspace.folder / "more.jsonl").write_text(rated_lines(9, "more", "Say more"), encoding="utf-8")
    workspace.run("metaeval")
    assert asked(workspace, "length", "yes_no") == asked(workspace, "random", "yes_no") == 9 * 5
    assert asked(workspace, "length", "rating") == 9


@pytest.mark.slow
def test_ready_scores_stand_beside_the_judges(scored: Workspace, tmp_path: Path) -> None:
    workspace = scored.copy(tmp_path / "work")
    lines = ["corpus,item_id,dimension,value"] + [f"mine,i{n},overall,{n % 7 / 10}" for n in range(30)]
    (workspace.folder / "metric.csv").write_text("\n".join(lines), encoding="utf-8")
    more = settings()
    more["metaeval"]["score_files"] = {"metric": {"path": "metric.csv"}}
    workspace.configure(**more)
    assert "answer" not in workspace.would_run()
    workspace.run("metaeval")
    (row,) = [row for row in table(workspace, "tables/metaeval/correlations") if row["judge"] == "metric"]
    assert (row["method"], row["n"]) == ("file", 30)
    assert row["pearson"] == pytest.approx(1.0)
    (workspace.folder / "metric.csv").write_text("corpus,item_id,dimension,value\nmine,i99,overall,0.5\n")
    output = workspace.run("metaeval", ok=False)
    assert "metric.csv, line 2: corpus 'mine' has no item 'i99'" in output
    # the table that was there before is whole
    assert [row for row in table(workspace, "tables/metaeval/correlations") if row["judge"] == "metric"]


def test_public_corpora_come_from_a_mirror(workspace: Workspace) -> None:
    gpt = {"engine": "openai", "model": "gpt-4o", "api_key_env": "DIALEVAL_NO_SUCH_KEY"}  # nobody is asked
    more = settings(public_corpora=["botchat"], mirror="mirror", data_dir="data", judges=["length", "gpt"])
    workspace.configure(**more | {"models": more["models"] | {"gpt": gpt}})
    (workspace.folder / "mirror" / "botchat").mkdir(parents=True)
    output = workspace.run("download", ok=False)
    assert "licence: Apache-2.0" in output
    assert "MuTual_test.xlsx" in output
    assert not (workspace.folder / "data" / "botchat" / "MuTual_test.xlsx").exists()
