"""Whole runs: the same whatever the number of cores and shards, and clear where there is little to show."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path

import pytest
import yaml
from page_links import cases_at, links_in
from workspace import SMALL, Workspace

from dialeval.config.running import Answering

pytestmark = pytest.mark.workflow


def read_csv(workspace: Workspace, name: str) -> list[dict[str, str]]:
    text = (workspace.folder / "results/tables" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def test_what_a_run_leaves(undisturbed: Workspace) -> None:
    names = set(undisturbed.tables())
    for table in ("botchat/seeds", "botchat/utterance_lengths", "unieval/pass_rates", "unieval/differences",
                  "unieval/pass_rates_at_gt_length", "arena/ratings", "arena/win_rates", "arena/bias",
                  "arena/differences", "gteval/win_rates", "gteval/bias", "gteval/differences",
                  "unieval/ranks", "arena/ranks", "gteval/ranks"):  # fmt: skip
        assert {f"tables/{table}.parquet", f"tables/{table}.csv"} <= names
    for figure in ("figure2_seed_lengths", "figure3_utterance_lengths", "figure4_unieval", "figure5_arena_n8",
                   "figure6_gteval", "figure7_unieval_at_gt_length", "table2_arena_ratings"):  # fmt: skip
        assert {f"figures/botchat/{figure}.svg", f"figures/botchat/{figure}.pdf"} <= names
    page = (undisturbed.folder / "results/report/index.html").read_text(encoding="utf-8")
    written = yaml.safe_load((undisturbed.folder / "results/configuration.yaml").read_text(encoding="utf-8"))
    assert (written["chatbots"], written["seeds"]["limit"], written["answering"]) == (
        sorted(SMALL["chatbots"]), 12, Answering().model_dump()
    )  # fmt: skip
    assert "forest" in page
    empty = [link for link in links_in(page) if not cases_at(page, link)]
    assert not empty, "every number leads to its cases"
    judges = {row["system"] for row in read_csv(undisturbed, "unieval/pass_rates")}
    assert judges == {"human", "random", "generic"}


@pytest.mark.slow
def test_shards_change_no_dialogue_and_no_number(undisturbed: Workspace, finished: Workspace) -> None:
    models = {name: {**model, "shards": 2} for name, model in SMALL["models"].items()}
    finished.configure(models=models)
    shutil.rmtree(finished.folder / "store")  # all is answered again
    finished.run()
    one, other = undisturbed.tables(), finished.tables()
    assert "responses/forest/arena/2-of-2.parquet" in other.keys() - one.keys()
    compared = {name for name in one if name.endswith((".csv", ".svg"))}
    compared |= {f"dialogues/{name}.parquet" for name in SMALL["chatbots"]}
    for name in compared:
        assert one[name] == other[name], name


@pytest.mark.slow
def test_lengths_of_human_dialogues_cost_no_selfchat(workspace: Workspace) -> None:
    planned = workspace.run("--dry-run", "results/tables/botchat/seeds.csv", "--quiet", "host")
    jobs = re.findall(r"^(?:localrule |rule )?(\w+) +1$", planned, re.MULTILINE)
    assert set(jobs) == {"extract_seeds", "read_corpus"}


def test_one_chatbot_alone(finished: Workspace) -> None:
    finished.configure(chatbots=["random"])
    finished.run()
    (short, long) = read_csv(finished, "arena/ratings")
    assert (short["n_utterances"], long["n_utterances"]) == ("4", "8")
    for row in (short, long):
        assert (row["estimate"], row["ci_low"], row["n"]) == ("", "", "0")
        assert row["note"]
    assert read_csv(finished, "arena/win_rates") == []


def test_without_a_judge_there_are_lengths_and_dialogues(finished: Workspace) -> None:
    finished.configure(judges=[])
    finished.run()
    assert len(read_csv(finished, "botchat/utterance_lengths")) == 3


def test_snakemakes_own_report(finished: Workspace) -> None:
    finished.run("--report", "report.html")
    text = (finished.folder / "report.html").read_text(encoding="utf-8")
    for words in ("Human dialogues by length", "figure4_unieval", "UniEval pass rate by length"):
        assert words in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"judges": ["forrest"]}, "'forrest' is not a model of this configuration; did you mean 'forest'?"),
        ({"elo": {"kk": 3}}, "elo.kk: there is no such field"),
        ({"corpora": {"bundled": {"reader": "jsonl", "path": "no.jsonl"}}}, "no.jsonl does not exist"),
    ],
)
def test_a_mistake_in_the_configuration_stops_before_any_job(
    workspace: Workspace, changes: dict[str, object], words: str
) -> None:
    workspace.configure(**changes)
    output = workspace.run(ok=False)
    assert words in output
    assert "Traceback" not in output
    assert not (workspace.folder / "results" / "corpora").exists()


def test_a_second_run_at_the_same_time_is_refused(finished: Workspace) -> None:
    from dialeval.jobs import lifecycle

    lifecycle.lock_results(finished.folder / "results")
    finished.configure(elo={**SMALL["elo"], "k": 16})
    assert "Job stats" in finished.run("--dry-run"), "looking is possible"
    locks = finished.folder / ".snakemake" / "locks"  # as a run without our profile leaves there
    locks.mkdir(parents=True, exist_ok=True)
    (locks / "0.output.lock").write_text("results/seeds.parquet\n", encoding="utf-8")
    for profile in ([], ["--workflow-profile", "none"]):
        output = finished.run(*profile, ok=False)
        assert "another run (process" in output
        assert "--config results_dir=" in output, "what to do"
        assert "Directory cannot be locked" not in output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("judges: [forest]\n", ["models: this field is needed", "replaces config.yaml"]),
        ("servers: {a: b}\n", ["servers: there is no such field", "models: this field is needed"]),
        ("models: &m {a: [*m]}\n", ["'models.a' contains itself"]),
    ],
)
def test_a_configuration_that_is_given_stands_alone(workspace: Workspace, content: str, words: list[str]) -> None:
    (workspace.folder / "mine.yaml").write_text(content, encoding="utf-8")
    output = workspace.run("--dry-run", "--configfile", "mine.yaml", ok=False)
    assert all(word in output for word in words), output
    assert "Job stats" not in output
    assert "Traceback" not in output


def test_a_configuration_that_a_profile_gives_stands_alone_and_one_field_does_not(workspace: Workspace) -> None:
    (workspace.folder / "mine.yaml").write_text("judges: [forest]\n", encoding="utf-8")
    profile = workspace.folder / "mine"
    profile.mkdir()
    (profile / "config.yaml").write_text("configfile: mine.yaml\n", encoding="utf-8")
    assert "models: this field is needed" in workspace.run("--dry-run", "--profile", "mine", ok=False)
    assert "Job stats" in workspace.run("--dry-run", "--config", "random_seed=3")


def test_dialogues_of_ones_own(workspace: Workspace) -> None:
    lines = [
        f'{{"dialogue_id": "d{n}", "utterances": [' + ", ".join(
            f'{{"speaker": "{"AB"[t % 2]}", "text": "Sentence {t} of talk {n}, \\t with a tab."}}' for t in range(5)
        ) + "]}"
        for n in range(4)
    ]  # fmt: skip
    (workspace.folder / "mine.jsonl").write_text("\n".join(lines), encoding="utf-8")
    corpora = {**SMALL["corpora"], "mine": {"reader": "jsonl", "path": str(workspace.folder / "mine.jsonl")}}
    workspace.configure(corpora=corpora, seeds={"corpus": "mine"}, chatbots=["generic"], judges=[])
    output = workspace.run()
    assert "4 dialogues with 20 utterances read" in output
    assert read_csv(workspace, "botchat/seeds") == [{"n_utterances": "5", "n_dialogues": "4"}]


@pytest.mark.slow
def test_mutual_as_published(workspace: Workspace, real_data: Path) -> None:
    corpora = {
        **SMALL["corpora"],
        "mutual": {"reader": "botchat_workbook", "path": "botchat/MuTual_test.xlsx"},
    }
    workspace.configure(
        corpora=corpora, data_dir=str(real_data), seeds={"corpus": "mutual"}, chatbots=["generic"], judges=[]
    )
    workspace.run()
    counts = {int(row["n_utterances"]): int(row["n_dialogues"]) for row in read_csv(workspace, "botchat/seeds")}
    assert sum(counts.values()) == 547
    assert sum(count for n, count in counts.items() if n >= 4) == 222
