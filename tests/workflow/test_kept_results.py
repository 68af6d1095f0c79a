"""Equal content is an equal file, and a stage that makes what it made before ends the chain: the rest is put back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from loaded_rules import BASE, loaded_rules
from workspace import Workspace, new_workspace

pytestmark = pytest.mark.workflow
TOLD = "--content={params.content:q}"
PUT_BACK = "restored the cached outputs"
ALWAYS = {"choose_tokenizer", "tabulate_usage"}
"""Stages that follow from more than a run knows."""
LIBRARIES = re.compile(rb"<summary>Library versions .*?</details>", re.DOTALL)
"""The page's list of what jobs imported: forks of a warm process have imported more than jobs of their own."""


def put_back(output: str) -> list[str]:
    return [line.split(":")[0] for line in output.splitlines() if PUT_BACK in line]


def made(workspace: Workspace) -> dict[str, bytes]:
    """Return all files that a run made, but for logs, what is kept, and the usage, which tells of one run's time."""
    results = workspace.folder / "results"
    return {
        str(path.relative_to(results)): LIBRARIES.sub(b"", path.read_bytes())
        for path in results.rglob("*")
        if path.is_file() and not _of_one_run(path.relative_to(results))
    }


def _of_one_run(path: Path) -> bool:
    return path.parts[0] in ("logs", "usage", "provenance", ".kept", ".progress", ".run.lock") or path.stem == "usage"


@pytest.mark.slow
def test_two_runs_from_scratch_give_the_same_bytes(
    undisturbed: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another folder, order, folder for temporary files, time zone, language and order of sets make no other file."""
    (tmp_path / "temporary").mkdir()
    elsewhere = {"TMPDIR": str(tmp_path / "temporary"), "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    for name, value in elsewhere.items():
        monkeypatch.setenv(name, value)
    other = new_workspace(tmp_path / "another folder")
    other.run(cores=1, warm=False)
    one, two = made(undisturbed), made(other)
    assert set(one) == set(two)
    assert {"report/index.html", "embedded/forest.learned", "figures/botchat/figure4_unieval.pdf"} <= set(one)
    assert [name for name in one if one[name] != two[name]] == []


def test_a_changed_line_that_changes_nothing_made_ends_there(undisturbed: Workspace, finished: Workspace) -> None:
    finished.edit(
        "workflow/dialeval/stages/corpora.py",
        "    print(reading.summary",
        "    unused = 1\n    print(reading.summary",
    )
    jobs = finished.would_run()
    assert jobs["answer"] == 3
    assert jobs["build_report"] == 1
    stored = finished.stored("*/*")
    output = finished.run()
    assert "dialogues with" in output, "the corpus is read"
    n_jobs = sum(n for rule, n in jobs.items() if rule not in ("all", "read_corpus", "tabulate_usage"))
    assert len(put_back(output)) == n_jobs
    assert not {"read_corpus", *ALWAYS} & set(put_back(output))
    assert finished.stored("*/*") == stored
    assert made(finished) == made(undisturbed)
    assert finished.would_run() == {}


def test_what_is_forced_is_made_anew_and_what_follows_is_put_back(finished: Workspace) -> None:
    output = finished.run("--forcerun", "measure_arena", "--until", "draw_botchat")
    assert "measure_arena" not in put_back(output)
    assert finished.would_run() == {}


def test_a_rule_whose_inputs_count_by_content_passes_the_digest_to_the_stage() -> None:
    """The base's command has the digest that `job` puts there; only the base and two further rules have their own."""
    rules = loaded_rules()
    taking = [rule for rule in rules.values() if "content" in rule.params]
    assert len(taking) > 10
    assert {rule.command for rule in taking} == {rules[BASE].command}
