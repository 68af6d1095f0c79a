"""What each kind of change runs again: exactly what may come out otherwise, and what needs that.

A row is a change and the jobs that it concerns themselves, by rule and wildcards or by pattern; what follows from these
in the graph is worked out, and a dry run over a workspace that looks finished must list exactly that.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from mutations import Mutation, code, nothing, settings, touched, written
from once import once
from planned import PlannedJob, planned, pretend_to_finish
from wide_configuration import make_wide
from workspace import Workspace, new_workspace

pytestmark = pytest.mark.workflow

TELLING = [
    Mutation("cores, threads and memory", nothing, arguments=("--cores", "7", "--default-resources", "mem_mb=1234")),
    Mutation("another folder for temporary files", nothing, environment={"TMPDIR": "cache"}),
    Mutation("Elo's k", settings("elo.k", 16), ("measure */ratings", "measure */differences", "rate_battles mine")),
    Mutation(
        "a constant of Elo",
        code("stats/elo.py", "shuffles: int = 1000", "shuffles: int = 1001"),
        ("measure */ratings", "measure */differences", "rate_battles mine"),
    ),
    Mutation(
        "a constant that is reached through what was learned alone",
        code("engines/embedded/ngram.py", "TOPIC_BOOST = 4.0", "TOPIC_BOOST = 5.0"),
        ("learn_embedded ngram", "examine ngram/*"),
    ),
    Mutation(
        "an older copy of other transcripts",
        written("data/support.jsonl", "parcel", "letter", age=1e8),
        ("read_transcripts support",),
    ),
]
"""Rows that are always tried."""

OTHERS = [
    Mutation("time stamps of code", touched("workflow/dialeval/stats/*.py")),
    Mutation("a comment", code("stats/elo.py", "def bootstrap_elo(", "# a comment\ndef bootstrap_elo(")),
    Mutation("a docstring", code("forms/detect.py", '"""Where and what?', '"""What and where?')),
    Mutation("the version", code("__init__.py", "0.1.0", "0.2.0")),
    Mutation("a message of all stages", code("stages/command.py", "what was answered is stored", "answers are stored")),
    Mutation("what likely names are offered", code("errors.py", "did you mean", "do you mean")),
    Mutation("words of the progress", code("progress.py", "from the store", "out of the store")),
    Mutation("time stamps of transcripts", touched("data/*.jsonl")),
    Mutation(
        "a constant of one chatbot",
        code("engines/embedded/stock_replies.py", "FIRST_IS_LIKELIER = 4.0", "FIRST_IS_LIKELIER = 3.0"),
        ("learn_embedded generic", "generate_dialogues generic"),
    ),
    Mutation(
        "a constant of the judge that learns",
        code("engines/embedded/verdicts.py", "STRIKING = 1.0", "STRIKING = 1.1"),
        ("learn_embedded forest", "answer forest/*", "examine forest/*", "filter_items"),
    ),
    Mutation(
        "how dialogues are made ready to learn from",
        code(
            "engines/embedded/learning.py",
            "if len(cleaned := _clean(dialogue)) >= 2",
            "if len(cleaned := _clean(dialogue)) >= 3",
        ),
        ("learn_embedded *",),
    ),
    Mutation(
        "an older copy of other scores", written("data/mine.csv", "value", "values", age=1e8), ("read_scores mine",)
    ),
    Mutation("an older table of battles", written("data/battles.csv", "a,b", "b,a", age=1e8), ("rate_battles mine",)),
    Mutation(
        "older labels", written("labels/quality-simulated-1.csv", "simulated", "simulated ", age=1e8), ("read_labels",)
    ),
]
"""Rows that are tried with the slow tests."""


def finish(folder: Path) -> None:
    """Makes a workspace of the wide configuration that looks finished."""
    workspace = new_workspace(folder)
    make_wide(workspace)
    pretend_to_finish(workspace)


@pytest.fixture(scope="session")
def looks_finished(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace of the wide configuration in which everything looks made; not to be changed."""
    return Workspace(once(tmp_path_factory, "looks_finished", finish))


@pytest.fixture(scope="session")
def graph(looks_finished: Workspace) -> dict[str, PlannedJob]:
    """All jobs of that workspace by name."""
    return {job.name: job for job in planned(looks_finished, "--forceall")}


def check(
    mutation: Mutation, workspace: Workspace, graph: dict[str, PlannedJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Makes a change and asks a dry run what it would do."""
    for name, value in mutation.environment.items():
        monkeypatch.setenv(name, value)
    mutation.change(workspace)
    now = {job.name: job for job in planned(workspace, *mutation.arguments)}
    expected = mutation.expected([*(graph | now).values()])
    wrong = {name: now[name].reason for name in now.keys() - expected}
    assert not wrong, "ran without need"
    assert not expected - now.keys(), "did not run"


@pytest.mark.parametrize("mutation", TELLING, ids=lambda mutation: mutation.name)
def test_only_what_changed_runs_again(
    mutation: Mutation,
    looks_finished: Workspace,
    graph: dict[str, PlannedJob],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check(mutation, looks_finished.copy(tmp_path / "work"), graph, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", OTHERS, ids=lambda mutation: mutation.name)
def test_only_what_changed_runs_again_in_further_cases(
    mutation: Mutation,
    looks_finished: Workspace,
    graph: dict[str, PlannedJob],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check(mutation, looks_finished.copy(tmp_path / "work"), graph, monkeypatch)
