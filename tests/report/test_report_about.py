"""The page's part about the run itself: what it was made with, what it cost, what failed, how to make it again."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import report_example as example

from dialeval.provenance.records import commit_of, records_behind, versions_of
from dialeval.report.about import About, count_statuses, roles_of, sampling_of
from dialeval.report.page import build_report
from dialeval.report.run_files import read_about
from dialeval.stages import stage_functions
from dialeval.tables.dialogues import JUDGEMENTS, USAGE
from dialeval.tables.files import to_table, write_table

USED = {
    "model": "clerk", "protocol": "arena", "requests": 1200, "model_calls": 3, "cached": 1197, "input_tokens": 50_000,
    "output_tokens": 700, "reasoning_tokens": None, "cost": 0.125, "spent": 0.25, "spent_unconfirmed": 0.0,
    "failures": "too_long: 2; refused: 1", "remarks": "", "seconds": 4.0,
}  # fmt: skip


def record(stage: str, made: str, read: tuple[str, ...] = (), **other: object) -> dict[str, object]:
    return {"stage": stage, "outputs": {made: "d"}, "inputs": {"of": dict.fromkeys(read, "d")}, **other}


def write_records(results: Path, *records: dict[str, object]) -> None:
    for one in records:
        (name,) = one["outputs"]  # type: ignore[misc]
        path = results / "provenance" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(one), encoding="utf-8")


def test_records_are_followed_back_and_no_further(tmp_path: Path) -> None:
    write_records(
        tmp_path,
        record("plan_pair", "requests/arena.parquet", libraries={"python": "3.11"}),
        record(
            "answer", "responses/a.parquet", ("requests/arena.parquet",), libraries={"torch": "2", "python": "3.12"}
        ),
        record("parse_pair", "judgements/a.parquet", ("responses/a.parquet", "/elsewhere/own.csv")),
        record("draw", "figures/other.svg", libraries={"matplotlib": "3"}),
    )
    found = records_behind(tmp_path, [tmp_path / "judgements/a.parquet"])
    assert [one["stage"] for one in found] == ["parse_pair", "plan_pair", "answer"]  # by the names of their files
    assert versions_of(found) == {"python": ("3.11", "3.12"), "torch": ("2",)}
    assert records_behind(tmp_path, [tmp_path / "nothing.csv"]) == []


def test_sampling_is_that_of_the_jobs_that_planned() -> None:
    pair = {"temperature": 0.7, "max_tokens": 9, "form": "pair"}
    records = [
        record("plan_pair", "x", settings={"name": "arena", "protocol": pair}),
        record("selfchat", "y", settings={"selfchat": {"temperature": 0.0, "max_tokens": 1024, "end": "[END]"}}),
        record("draw", "z", settings={"protocol": "arena"}),
        record("dialogbench_read+dialogbench_plan", "i", settings={"examinations": {
            "letter": {"max_tokens": 9, "circular": True}, "choice": {"max_tokens": 9}}}),
        record("answer", "r", settings={"protocol": "dialogbench_letter"}),
    ]  # fmt: skip
    assert sampling_of(records) == {
        "arena": {"temperature": 0.7, "max_tokens": 9},
        "selfchat": {"temperature": 0.0, "max_tokens": 1024},
        "dialogbench_letter": {"max_tokens": 9},
    }


def test_what_failed_is_reported_in_a_sentence() -> None:
    assert About("1", "d").troubles == "No request failed."
    verdicts = count_statuses([*[("a", "p", "ok")] * 2990, *[("b", "p", "unparsed")] * 2, *[("b", "p", "ok")] * 8])
    about = About("1", "d", usage=(USED,), verdicts=verdicts)
    assert about.troubles == "3 requests failed; 2 of 3,000 verdicts could not be parsed."
    assert about.tables[-1].rows == (("b, p", "2 of 10", "unparsed: 2"),)
    tested = replace(about, answers={("m", "letter"): Counter(ok=6, unparsed=1)})
    assert tested.troubles.endswith("2 of 3,000 verdicts and 1 of 7 answers to test questions could not be parsed.")
    assert tested.tables[-1].rows == (("m, letter", "1 of 7", "unparsed: 1"),)
    none = About("1", "d", verdicts={("a", "p"): Counter(ok=3000)})
    assert none.troubles == "No request failed, and all of 3,000 verdicts could be parsed."


def test_the_command_that_makes_a_run_again_can_be_typed_where_folders_have_spaces() -> None:
    assert (
        About("1", "d", place="results of mine/configuration.yaml").typed_place
        == "'results of mine/configuration.yaml'"
    )
    assert About("1", "d").typed_place == "results/configuration.yaml"


def test_a_run_is_summarised_from_its_files(tmp_path: Path) -> None:
    write_records(
        tmp_path,
        record(
            "plan_pair", "requests/arena.parquet", libraries={"python": "3.11"}, prompts="ours:", version="0.2.0",
            settings={"name": "arena", "protocol": {"template": "arena.j2", "temperature": 0.0}},
        ),
        record("parse_pair", "judgements/clerk/arena.parquet", ("requests/arena.parquet",), version="0.1.0"),
    )  # fmt: skip
    judged, usage = tmp_path / "judgements/clerk/arena.parquet", tmp_path / "usage.parquet"
    judged.parent.mkdir(parents=True)
    write_table(
        judged, JUDGEMENTS, to_table(JUDGEMENTS, [example.verdict("arena", "MT-1", "able", "weak", status="unparsed")])
    )
    write_table(usage, USAGE, to_table(USAGE, [USED]))
    configuration = tmp_path / "configuration.yaml"
    text = "models:\n  clerk: {engine: vllm, model: org/m}\nchatbots: [able]\njudges: [clerk]\n"
    configuration.write_text(text, encoding="utf-8")
    about = read_about(
        tmp_path, [judged], [judged], [usage], configuration, 7, stage_functions, {"SOURCE_DATE_EPOCH": "86400"}
    )
    assert (about.version, about.date, about.random_seed) == ("0.1.0, 0.2.0", "1970-01-02", 7)
    assert about.configuration == text
    assert "gteval.j2" not in about.prompts
    assert "Conversation 1" in about.prompts["arena.j2"]
    assert about.libraries == {"python": ("3.11",)}
    assert about.verdicts == {("clerk", "arena"): {"unparsed": 1}}
    page = build_report(example.inputs(about=about))
    for words in ("About this run", "org/m", "not pinned", "50,000", "0.125", "too_long: 2", "unparsed: 1", "1 of 1",
                  f"--configfile {configuration}", "engine: vllm", "{{ end_mark }}", "1970-01-02"):  # fmt: skip
        assert words in page, words
    assert build_report(example.inputs(about=about)) == page
    assert 'id="about"' not in build_report(example.inputs())


def test_without_what_a_run_writes_down_the_page_says_so(tmp_path: Path) -> None:
    about = read_about(tmp_path, [], [], [], tmp_path / "configuration.yaml", 0, stage_functions)
    page = build_report(example.inputs(about=about))
    assert "The run has no record of its configuration." in page


def test_markup_in_names_and_prompts_is_text() -> None:
    about = About("1", "d", models={example.HOSTILE: {"engine": "openai", "model": example.ODD}}, configuration="<b>",
                  prompts={"a.j2": example.HOSTILE})  # fmt: skip
    page = build_report(example.inputs(about=about))
    assert example.HOSTILE not in page
    assert "<b>bold" not in page


def test_roles_are_those_of_the_configuration() -> None:
    assert roles_of({"chatbots": ["a", "b"], "judges": ["b"]}) == {"a": ("chatbot",), "b": ("chatbot", "judge")}
    assert roles_of({}) == {}


def test_a_commit_is_that_of_the_checkout_and_of_no_other(tmp_path: Path) -> None:
    package = tmp_path / "workflow" / "dialeval"
    package.mkdir(parents=True)
    (package / "a.py").write_text("1\n")
    assert commit_of(package) == ""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@x"]
    try:
        subprocess.run([*git, "init", "-q"], check=True)
    except FileNotFoundError:
        pytest.skip("no git on the PATH")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    commit = commit_of(package)
    assert len(commit) == 40
    (package / "a.py").write_text("2\n")
    assert commit_of(package) == f"{commit}, changed"
    inside = tmp_path / "venv" / "lib" / "dialeval"  # installed within somebody's own checkout
    inside.mkdir(parents=True)
    assert commit_of(inside) == ""
