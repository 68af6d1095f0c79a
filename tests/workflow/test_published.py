"""Published dialogues and answers run through the real workflow, and give the paper's numbers."""

from __future__ import annotations

import csv
import io
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from page_prompts import prompts_in
from workspace import ROOT, Workspace, new_workspace

from dialeval.corpora import botchat
from dialeval.papers.botchat import find_model

pytestmark = pytest.mark.workflow
N = 8
HUMAN_LENGTHS = {"d0": 2, "d1": 4, "d2": 5, "d3": 9}


def human(seed: str) -> list[str]:
    return [f'Line {turn} of {seed}, "quoted"\tand so on.' for turn in range(HUMAN_LENGTHS[seed])]


def generated(model: str, seed: list[str], n: int) -> list[str]:
    return [*seed[:2], *(f"{model} says {turn}" for turn in range(2, n))]


def read_csv(workspace: Workspace, name: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the rows of a table by system, and by N where it has one."""
    text = (workspace.folder / "results/tables" / f"{name}.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text))
    return {tuple(row[key] for key in ("system", "n_utterances") if row.get(key)): row for row in rows}


def write_tsv(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, sep="\t", index=False)


def unieval_rows() -> list[dict[str, str]]:
    texts = {
        ("f", "d0"): "Choice: Yes\nIndex: 5\nReason: too \"smooth\"",
        ("f", "d1"): "Choice: Yes\nReason: all of it",
        ("f", "d2"): "Choice: No\nIndex: None\nReason: fine",
    }  # fmt: skip
    texts |= {("second", seed): "Choice: Yes\nIndex: 3" for seed in HUMAN_LENGTHS}
    texts |= {("GT", seed): "Choice: No" for seed in HUMAN_LENGTHS}
    texts[("unheard", "d0")] = "Choice: No"
    return [{"model": m, "qidx": s, "index": f"{s};{m}", "gpt4": text} for (m, s), text in texts.items()]


def gteval_rows() -> list[dict[str, str]]:
    texts = {(seed, "f", "GT"): "Choice: Conversation 2\nReason: 1 is human" for seed in ("d1", "d2", "d3")}
    texts |= {(seed, "GT", "f"): "Choice: Both" for seed in ("d1", "d2", "d3")}
    texts |= {(seed, "second", "GT"): "Choice: Conversation 1" for seed in ("d1", "d2", "d3")}
    texts |= {("d1", "GT", "second"): "Choice: Conversation 2", ("d2", "GT", "second"): "I cannot say."}
    texts[("d3", "GT", "second")] = "EM"
    return [
        {"cmp_index": f"{seed};{a};{b}", "A": a, "B": b, "conversation1": conversation(a, seed),
         "conversation2": conversation(b, seed), "gpt4": text}
        for (seed, a, b), text in texts.items()
    ]  # fmt: skip


def conversation(name: str, seed: str) -> str:
    return json.dumps(human(seed) if name == "GT" else generated(name, human(seed), N))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, str]:
    """A finished run on four seeds, two published chatbots and their judge, and what it printed."""
    workspace = new_workspace(tmp_path_factory.mktemp("published") / "work")
    data = workspace.folder / "data"
    write_tsv(
        data / "convs.tsv",
        [
            {"index": seed, "nround": HUMAN_LENGTHS[seed]}
            | {name: json.dumps(generated(name, human(seed), N + 2)) for name in ("f", "second")}
            for seed in HUMAN_LENGTHS
        ],
    )
    write_tsv(data / "UniEval.tsv", unieval_rows())
    write_tsv(data / "GTEval.tsv", gteval_rows())
    with (data / "human.jsonl").open("w", encoding="utf-8") as file:
        for seed in HUMAN_LENGTHS:
            utterances = [{"speaker": "AB"[turn % 2], "text": text} for turn, text in enumerate(human(seed))]
            file.write(json.dumps({"dialogue_id": seed, "utterances": utterances}) + "\n")
    judge = {"engine": "published", "unieval": "UniEval.tsv", "gteval": "GTEval.tsv", "names": {"f": "first"}}
    workspace.configure(
        data_dir="data",
        models={
            "first": {"engine": "published", "dialogues": "convs.tsv", "column": "f"},
            "second": {"engine": "published", "dialogues": "convs.tsv"},
            "authors-judge": judge,
        },
        chatbots=["first", "second"],
        judges=["authors-judge"],
        corpora={"own": {"reader": "jsonl", "path": "human.jsonl"}},
        seeds={"corpus": "own"},
        protocols={"unieval": {"n_utterances": [4, 8]}, "gteval": {}},
    )
    return workspace, workspace.run()


def test_published_answers_become_tables_and_a_report(small: tuple[Workspace, str]) -> None:
    workspace, output = small
    rates = read_csv(workspace, "unieval/pass_rates")
    assert [(rates[key]["estimate"], rates[key]["n_unparsed"]) for key in (("first", "4"), ("first", "8"))] == [
        ("0.5", "2"),  # index 5, no index, No, and an answer that the file lacks
        ("0.25", "2"),
    ]
    assert (rates["second", "4"]["estimate"], rates["human", "4"]["estimate"]) == ("0", "1")
    gteval = read_csv(workspace, "gteval/win_rates")
    assert [float(gteval[("first",)][column]) for column in ("win", "tie", "lose", "unparsed")] == [0.5, 0.5, 0, 0]
    assert [float(gteval[("second",)][column]) for column in ("win", "tie", "lose")] == [0, 0, pytest.approx(4 / 6)]
    assert float(gteval[("second",)]["unparsed"]) == pytest.approx(2 / 6)
    for words in (
        "convs.tsv, column f: 4 dialogues of first",
        "1 response 'Choice: Yes' without an index: unparsed here; the authors count them as passed",
        "1 request without a published response: missing",
        "1 response on models that are not chatbots of this run",
        "1 pair that are identical in the file (EM) and differ in this run: missing",
    ):
        assert words in output
    assert "another text" not in output
    page = (workspace.folder / "results/report/index.html").read_text(encoding="utf-8")
    assert "authors-judge" in page
    assert not prompts_in(page), "the authors asked in prompts of their own"
    assert list(workspace.folder.glob("store/**/*.jsonl")) == []


def test_only_what_an_edited_file_concerns_runs_again(small: tuple[Workspace, str], tmp_path: Path) -> None:
    workspace = small[0].copy(tmp_path / "work")
    assert workspace.would_run() == {}
    rows = gteval_rows()
    write_tsv(workspace.folder / "data/GTEval.tsv", [{**row, "gpt4": "Choice: Neither"} for row in rows])
    jobs = workspace.would_run()
    assert (jobs["import_answers"], jobs["parse"]) == (1, 1)
    assert {name for name in jobs if name.startswith("measure_")} == {"measure_gteval"}
    assert not {"import_dialogues", "plan"} & set(jobs)


def test_a_wrong_cell_is_reported(small: tuple[Workspace, str], tmp_path: Path) -> None:
    table = pd.read_csv(small[0].folder / "data/convs.tsv", sep="\t")
    table.loc[2, "second"] = "no list"
    table.to_csv(tmp_path / "convs.tsv", sep="\t", index=False)
    settings = json.dumps({"name": "second", "column": "second", "n_utterances": N})
    command = [sys.executable, "-m", "dialeval.stages", "import_dialogues", "--settings", settings]
    command += ["--seeds", str(small[0].folder / "results/seeds.parquet")]
    command += ["--published", "convs.tsv", "--generated", "second.parquet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error in import_dialogues: convs.tsv, row 4, column second: not valid JSON" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "second.parquet").exists()


def answer_texts(counts: dict[str, str], n: int, rng: random.Random) -> Callable[[bool], str]:
    """Return a function that deals out a model's published outcomes; its argument: is the model shown first?."""
    outcomes = [word for word in ("win", "both", "neither", "lose") for _ in range(int(counts[word]))]
    assert len(outcomes) == n
    rng.shuffle(outcomes)

    def text(shown_first: bool) -> str:
        outcome = outcomes.pop()
        if outcome in ("both", "neither"):  # in the authors' words both are good, or neither is
            return f"Choice: {'Neither' if outcome == 'both' else 'Both'}\nReason: alike"
        is_ai = 1 if (outcome == "lose") == shown_first else 2
        return f'Choice: Conversation {is_ai}\nReason: "stiff"'

    return text


@pytest.mark.slow
def test_the_published_counts_give_the_papers_rates(tmp_path: Path, real_data: Path) -> None:
    source = real_data / "botchat"
    workspace = new_workspace(tmp_path / "work")
    folder = workspace.folder / "data/botchat"
    folder.mkdir(parents=True)
    (folder / "MuTual_test.xlsx").symlink_to(source / "MuTual_test.xlsx")
    raw = yaml.safe_load((ROOT / "configs/botchat-published.yaml").read_text(encoding="utf-8"))
    workspace.configure(**{**raw, "results_dir": "results", "protocols": {"gteval": {}}})
    names = raw["models"]["GPT-4"]["names"]
    people = {
        item.dialogue_id: [utterance.text for utterance in item.utterances]
        for item in botchat.read_botchat_workbook(source / "MuTual_test.xlsx", "en").dialogues
    }
    write_tsv(
        folder / "MuTualTest-convs.tsv",
        [
            {"index": seed, "nround": len(texts)}
            | {model: json.dumps(generated(model, texts, 16)) for model in names.values()}
            for seed, texts in people.items()
        ],
    )
    with (source / "gteval_counts.csv").open(encoding="utf-8") as file:
        counts = {row["model"]: row for row in csv.DictReader(file)}
    rng = random.Random(0)
    rows = []
    for name, model in names.items():
        text = answer_texts(counts[name], 444, rng)
        for seed, texts in people.items():
            if len(texts) < 4:
                continue
            shown = {"GT": json.dumps(texts), name: json.dumps(generated(model, texts, 16))}
            rows += [
                {"cmp_index": f"{seed};{a};{b}", "A": a, "B": b, "conversation1": shown[a], "conversation2": shown[b],
                 "gpt4": text(a == name)}
                for a, b in ((name, "GT"), ("GT", name))
            ]  # fmt: skip
    assert len(rows) == 6216
    write_tsv(folder / "GTEval.tsv", rows)

    output = workspace.run("results/tables/gteval/win_rates.csv")
    assert "6,216 answers, for 6,216 requests" in output
    assert "another text" not in output
    gteval = read_csv(workspace, "gteval/win_rates")
    with (source / "lb.csv").open(encoding="utf-8-sig") as file:
        leaderboard = {row["Model"]: float(row["Win_Tie_Rate"]) for row in csv.DictReader(file)}
    on_leaderboard = {found.name: rate for name, rate in leaderboard.items() if (found := find_model(name))}
    assert len(gteval) == len(on_leaderboard) == 14
    for name, model in names.items():
        ours, theirs = gteval[(model,)], counts[name]
        n_not_bad = int(theirs["win"]) + int(theirs["both"])
        assert float(ours["win_or_tie"]) == pytest.approx(n_not_bad / 444, abs=1e-12)
        assert round(100 * float(ours["win_or_tie"]), 1) == float(theirs["notbad_pct"]) == on_leaderboard[model]
        assert float(ours["win"]) == pytest.approx(int(theirs["win"]) / 444, abs=1e-12)
        assert (ours["n"], float(ours["unparsed"])) == ("444", 0)
        assert float(ours["published"]) == pytest.approx(on_leaderboard[model] / 100)
