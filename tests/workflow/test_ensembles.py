"""Named ensembles through the real snakemake: the mean of their members in every table, and nobody asked for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from page_links import whole
from scipy.stats import pearsonr
from workspace import Workspace, new_workspace

pytestmark = pytest.mark.workflow

N = 24
MEMBERS = ["length", "overlap"]


def rated_lines() -> str:
    """Dialogues that people rated, each a little longer and more repetitive than the one before."""
    lines = []
    for n in range(N):
        turns = [f"What of {'blue ' * (n % 5)}bread {turn}?" + " Yes." * (n * turn % 7) for turn in range(4)]
        rating = {"value": 1 + (n * 5) % 7, "scale": [1, 7]}
        lines.append(json.dumps({"item_id": f"i{n}", "dialogue": turns, "ratings": {"overall": rating}}))
    return "\n".join(lines)


def transcripts() -> str:
    texts = {"terse": "No.", "wordy": "That is a long answer, and it goes on about {case} for a while."}
    return "\n".join(
        json.dumps(
            {
                "dialogue_id": f"{system}-{case}",
                "system": system,
                "case_id": f"case {case}",
                "utterances": [
                    {"role": "user", "content": f"Tell me about {case}"},
                    {"role": "assistant", "content": text.format(case=case)},
                ],
            }
        )
        for system, text in texts.items()
        for case in range(5)
    )


def settings(members: list[str] | None = None) -> dict[str, Any]:
    named = {"ensembles": {"both": members, "with-file": ["length", "metric"]}} if members else {}
    return {
        "models": {name: {"engine": "embedded", "method": name} for name in ("length", "overlap", "random")},
        "chatbots": [],
        "judges": ["length", "overlap", "random"],
        "protocols": {
            "rating": {"judges": ["length"]},
            "yes_no": {},
            "likely": {"form": "probability", "data": {"source": "support"}, "criteria": ["overall"]},
        },
        "transcripts": {"support": {"path": "support.jsonl"}},
        "metaeval": {
            "corpora": {"mine": {"reader": "rated_jsonl", "path": "mine.jsonl"}},
            "score_files": {"metric": {"path": "metric.csv", "scale_max": 100}},
            "resamples": 50,
            "ensemble_size": 3,
        },
        "robustness": {"corpora": ["bundled"], "limit": 4, "dialogue_draws": 1, "turn_draws": 1},
        "data_dir": ".",
        **named,
    }


def table(workspace: Workspace, path: str) -> list[dict[str, Any]]:
    return pq.read_table(workspace.folder / "results" / f"{path}.parquet").to_pylist()


def scores(workspace: Workspace, path: str, criterion: str = "overall") -> dict[str, float]:
    rows = [row for row in table(workspace, f"judgements/{path}") if row["criterion"] == criterion]
    return {row["item_id"]: (row["value"] - row["scale_min"]) / (row["scale_max"] - row["scale_min"]) for row in rows}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace in which judges were asked, and no ensemble was named."""
    workspace = new_workspace(tmp_path_factory.mktemp("judged") / "work")
    (workspace.folder / "mine.jsonl").write_text(rated_lines(), encoding="utf-8")
    (workspace.folder / "support.jsonl").write_text(transcripts(), encoding="utf-8")
    rows = [f"mine,i{n},overall,{n * 37 % 101}" for n in range(N)]
    (workspace.folder / "metric.csv").write_text("\n".join(["corpus,item_id,dimension,value", *rows]), encoding="utf-8")
    workspace.configure(**settings())
    tables = ("metaeval/correlations", "robustness/robustness", "likely/means")
    workspace.run(*(f"results/tables/{name}.parquet" for name in tables))
    return workspace


@pytest.fixture(scope="module")
def named(judged: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The same, with ensembles."""
    workspace = judged.copy(tmp_path_factory.mktemp("named") / "work")
    workspace.configure(**settings(MEMBERS))
    jobs = workspace.would_run()
    assert jobs["ensemble_judgements"] == 4  # each under two protocols
    assert not {"plan", "answer", "parse", "read_scores", "learn_embedded", "perturb_items"} & {*jobs}
    workspace.run()
    return workspace


def test_it_correlates_as_numpys_mean_of_its_members_does(named: Workspace) -> None:
    ratings = {row["item_id"]: row["value"] for row in table(named, "ratings/mine")}
    rows = table(named, "tables/metaeval/correlations")
    for ensemble, members in {
        "both": ["length/yes_no", "overlap/yes_no"],
        "with-file": ["length/yes_no", "metric/file"],
    }.items():
        own = [scores(named, path) for path in members]
        mean = np.mean([[of[item] for item in ratings] for of in own], axis=0)
        (row,) = [
            row for row in rows
            if (row["judge"], row["method"], row["dimension"]) == (ensemble, "yes_no", "overall")
        ]  # fmt: skip
        assert row["pearson"] == pytest.approx(pearsonr(mean, list(ratings.values())).statistic, abs=1e-9)
        assert (row["n"], row["n_missing"]) == (N, 0)
    methods = {(row["judge"], row["method"]) for row in rows}
    assert {("with-file", "yes_no"), ("with-file", "rating"), ("both", "yes_no")} <= methods
    assert ("both", "rating") not in methods  # not all members rate


def test_it_is_a_judge_of_systems_and_of_damage(named: Workspace) -> None:
    means = {(row["judge"], row["system"]): row for row in table(named, "tables/likely/means")}
    for system in ("terse", "wordy"):
        one, other, both = (means[judge, system]["estimate"] for judge in (*MEMBERS, "both"))
        assert both == pytest.approx((one + other) / 2)
    assert {row["judge"] for row in table(named, "tables/likely/differences")} == {*MEMBERS, "random", "both"}
    (trust,) = [row for row in table(named, "tables/likely/judge_validity") if row["judge"] == "both"]
    assert (trust["method"], trust["n"]) == ("yes_no", N)
    noticed = {row["judge"] for row in table(named, "tables/robustness/robustness") if row["n"]}
    assert noticed == {*MEMBERS, "random", "both"}  # of damaged items a file knows nothing


def test_it_is_no_member_of_the_best_judges_and_counts_in_no_bill(named: Workspace) -> None:
    members = {name for row in table(named, "tables/metaeval/model_ensemble") for name in row["members"].split(", ")}
    assert not any(name.startswith(("both", "with-file")) for name in members)
    assert {row["model"] for row in table(named, "tables/usage")} == {*MEMBERS, "random"}


def test_the_page_names_it_among_the_judges_with_its_members(named: Workspace) -> None:
    page = (named.folder / "results/report/index.html").read_text(encoding="utf-8")
    assert "Judge both is an ensemble: the mean of the scores of length and overlap, each mapped to [0, 1]." in page
    assert "both (yes_no)" in whole(page)


def test_other_members_are_another_mean_and_nothing_else(named: Workspace, tmp_path: Path) -> None:
    assert "Nothing to be done" in named.run()
    workspace = named.copy(tmp_path / "work")
    workspace.configure(**settings(["overlap", "random"]))
    jobs = workspace.would_run()
    assert jobs["ensemble_judgements"] == 2
    assert not {"plan", "answer", "parse", "read_scores"} & {*jobs}
