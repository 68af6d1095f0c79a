"""What was set otherwise in the second run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as some
from two_runs import write_record

from dialeval.report.comparison.runs import open_run
from dialeval.report.comparison.settings import changes, flat, prompts_of
from dialeval.tables.dialogues import REQUESTS
from dialeval.tables.files import to_table, write_table

VALUES = some.recursive(some.none() | some.booleans() | some.integers() | some.text(), some.lists, max_leaves=4)


def _write_plan(folder: Path, template: str, cases: dict[str, list[str]], protocol: str = "felt") -> None:
    """Write a plan whose prompts are a template with the dialogue in it."""
    rows = [
        {
            "request_id": f"{protocol}/{case}", "protocol": protocol, "kind": "chat", "labels": [], "answer_schema": "",
            "messages": [{"role": "user", "content": template.format("\n".join(f"A: {text}" for text in said))}],
            "continuation": "", "temperature": 0.0, "top_p": 1.0, "max_tokens": 1, "stop": [], "presence_penalty": 0.0,
            "frequency_penalty": 0.0, "repeat": 0, "subject": [said], "case_id": case,
        }
        for case, said in cases.items()
    ]  # fmt: skip
    write_table(folder / "requests" / f"{protocol}.parquet", REQUESTS, to_table(REQUESTS, rows))


def _changes(tmp_path: Path) -> list[tuple[Any, ...]]:
    rows = changes(open_run(tmp_path / "a"), open_run(tmp_path / "b"))
    return [(row["kind"], row["place"], row["value_a"], row["value_b"], row["n_jobs"]) for row in rows]


def test_settings_libraries_and_data_of_the_same_jobs(tmp_path: Path) -> None:
    for name, temperature, seed, digest, numpy in (("a", 0.0, 1, "x", "2.0"), ("b", 0.7, 2, "y", "2.1")):
        for made in ("responses/gpt/arena.parquet", "responses/gpt/unieval.parquet"):
            settings = {"name": "gpt", "model": {"temperature": temperature, "engine": "openai"}, "random_seed": seed}
            files = {"../data/mine.csv": digest, "requests/arena.parquet": name}
            write_record(tmp_path / name, made, settings, libraries={"numpy": numpy}, requests=files)
    assert _changes(tmp_path) == [
        ("settings", "models.gpt.temperature", "0.0", "0.7", 2),
        ("settings", "random_seed", "1", "2", 2),
        ("data", "../data/mine.csv", "x", "y", 2),  # what the run itself made is no change of its own
        ("libraries", "numpy", "2.0", "2.1", 2),
    ]


def test_a_library_that_only_one_of_the_same_jobs_loaded_is_no_change(tmp_path: Path) -> None:
    for name, more in (("a", {}), ("b", {"scipy": "1.17"})):  # in b, two jobs share a process and so its libraries
        write_record(tmp_path / name, "seeds.parquet", {}, libraries={"numpy": "2.0", **more})
        write_record(tmp_path / name, "tables/usage.parquet", {}, libraries={"numpy": "2.0", "scipy": "1.17"})
    assert _changes(tmp_path) == []
    write_record(tmp_path / "b", "seeds.parquet", {}, libraries={"numpy": "2.0", "scipy": "1.18", "torch": "3"})
    assert _changes(tmp_path) == [("libraries", "scipy", "1.17", "1.18", 1), ("libraries", "torch", "", "3", 1)]


def test_the_written_configuration_leads(tmp_path: Path) -> None:
    for name, judge in (("a", "one"), ("b", "two")):
        write_record(tmp_path / name, "seeds.parquet", {"judge": judge})
        text = f"judges: [{judge}]\nresults_dir: {name}\nelo: {{k: 32}}\n"
        (tmp_path / name / "configuration.yaml").write_text(text, encoding="utf-8")
    assert _changes(tmp_path) == [("configuration", "judges", '["one"]', '["two"]', 0)]


def test_a_configuration_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    for name in "ab":
        write_record(tmp_path / name, "seeds.parquet", {})
        (tmp_path / name / "configuration.yaml").write_text("a: [", encoding="utf-8")
    run = open_run(tmp_path / "a")
    assert changes(run, open_run(tmp_path / "b")) == []
    assert "configuration.yaml cannot be read" in run.problems[0]


def test_prompts_are_compared_without_what_they_are_about(tmp_path: Path) -> None:
    template = "Read this.\n{}\nHow warm is it?\nAnswer:"
    for name, words in (("a", template), ("b", template.replace("warm", "kind"))):
        said = {f"c{number}": [f"{name} says {number} things", "Yes.", "Yes."] for number in range(6)}
        _write_plan(tmp_path / name, words, said)
        _write_plan(tmp_path / name, template, said, "other")  # only the dialogues differ
        write_record(tmp_path / name, "seeds.parquet", {})
    ((kind, place, before, after, _),) = _changes(tmp_path)
    assert (kind, place) == ("prompts", "felt")
    assert before == "user: Read this.\nuser: A: …\nuser: How warm is it?\nuser: Answer:"
    assert after == before.replace("warm", "kind")


def test_a_plan_of_one_case_still_has_its_words(tmp_path: Path) -> None:
    _write_plan(tmp_path, "Judge:\n{}", {"c": ["something that was said"]})
    (tmp_path / "tables").mkdir()
    assert prompts_of(open_run(tmp_path), tmp_path / "requests" / "felt.parquet") == "user: Judge:\nuser: A: …"


@given(some.dictionaries(some.text("abc", min_size=1), VALUES, max_size=4))
def test_the_same_settings_are_the_same_whatever_their_order(settings: dict[str, Any]) -> None:
    turned = dict(reversed(settings.items()))
    assert flat(settings) == flat(turned)
    other = settings | {"a": "something else"}
    assert (flat(other) == flat(settings)) == (other == settings)
