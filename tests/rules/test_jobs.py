"""What Snakemake compares of a job, and the options of its command."""

from __future__ import annotations

import inspect
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from dialeval import rules
from dialeval.config.configuration import Config
from dialeval.errors import UserError
from dialeval.jobs.process_setup import with_run_settings
from dialeval.layout.run import Layout
from dialeval.rules.dialogues import Corpora, Selfchat
from dialeval.rules.jobs import Bound, Directives, Sources, StageJob, by_digest, canonical
from dialeval.rules.judging import Judging
from dialeval.rules.measures import FigureRules, Measures
from dialeval.stages import stage_functions

API = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}
RAW: dict[str, Any] = {
    "results_dir": "out",
    "models": {"bot": {"engine": "embedded", "method": "random"}, "cheap": API | {"shards": 2}, "dear": API},
    "chatbots": ["bot"],
    "judges": ["cheap", "dear"],
    "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
    "seeds": {"corpus": "bundled"},
    "protocols": {
        "rating": {},
        "again": {"form": "scale", "data": {"source": ["selfchat"]}, "criteria": ["overall"], "retry_unparsed": True},
    },
    "ensembles": {"both": ["cheap", "dear"]},
    "robustness": {"corpora": ["bundled"]},
}
COMPARED_WITH_FILES = {"input", "output", "threads", "resources"}
"""A parameter whose function has such an argument is not compared with the last run."""


class Files(dict[str, Any]):
    """Inputs or outputs of a job: iterating gives the paths, `keys` the names."""

    def __init__(self, *unnamed: str, **named: Any) -> None:
        super().__init__(named)
        self.unnamed = unnamed

    def __iter__(self) -> Iterator[str]:
        yield from self.unnamed
        for value in self.values():
            yield from [value] if isinstance(value, str) else value


@pytest.fixture(scope="module")
def layout() -> Layout:
    return Layout(Config.model_validate(RAW))


@pytest.fixture(scope="module")
def directives(layout: Layout) -> Directives:
    return Directives(layout.config, lambda function, *arguments: function(*arguments))


def options(command: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    values: list[str] = found.setdefault("", [])
    for word in shlex.split(command):
        if word.startswith("--"):
            name, is_given, value = word[2:].partition("=")
            values = found[name] = [value] if is_given else []
        else:
            values.append(word)
    return found


def test_equal_settings_are_equal_texts() -> None:
    assert canonical({"b": 1, "a": "ü"}) == canonical({"a": "ü", "b": 1}) == '{"a": "ü", "b": 1}'


def test_what_snakemake_compares_takes_wildcards_alone(directives: Directives, layout: Layout) -> None:
    params = directives.job(Judging(layout, Sources(layout.config)).answer, "stage", "content", store=True)
    assert set(params) == {"settings", "code", "stage", "content", "command"}
    arguments = {name: set(inspect.signature(one).parameters) for name, one in params.items()}
    assert arguments.pop("command") & COMPARED_WITH_FILES
    assert all(not names & COMPARED_WITH_FILES for names in arguments.values())
    told = {"judge": "dear", "protocol": "again", "shard": "1", "shards": "1"}
    assert params["stage"](told) == "answer_items"
    assert json.loads(params["settings"](told))["retries_unparsed"] is True
    assert params["content"](told) == ""


def test_options_bear_the_names_of_inputs_and_outputs(directives: Directives) -> None:
    params = directives.job(
        lambda: StageJob("stage", {}), untold=["csv"], learned=["c"], page=lambda wildcards: "p", always_anew=True
    )
    read = Files("unnamed", items_=["a b", "c"], learned=["a", "b"], pairs=[])
    command = params["command"]({}, read, Files(table="t", csv="x", ratings=[]))
    assert options(command) == {
        "": ["stage"], "always-anew": [], "items": ["a b", "c"], "learned": ["a", "b", "c"], "pairs": [],
        "table": ["t"], "page": ["p"],
    }  # fmt: skip
    assert params["page"]({}) == "p"


def test_a_stage_that_names_its_files_gets_their_folder(directives: Directives) -> None:
    params = directives.job(lambda: StageJob("stage", {}), in_folder=True)
    command = params["command"]({}, Files(), Files("out/a folder/one.csv", "out/a folder/two.csv"))
    assert options(command) == {"": ["stage"], "folder": ["out/a folder"]}


def test_the_digest_is_passed_where_it_is_compared(directives: Directives, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("a")
    params = directives.job(lambda: StageJob("stage", {}, reads=[file]), "content")
    before = params["content"]({})
    assert options(params["command"]({}, Files(), Files()))["content"] == [before]
    file.write_text("b")
    assert directives.job(lambda: StageJob("stage", {}, reads=[file]), "content")["content"]({}) != before


def test_functions_are_called_with_the_wildcards_that_they_name(directives: Directives, layout: Layout) -> None:
    paths = Bound(layout, directives)
    told = {"judge": "cheap", "protocol": "rating", "shard": "2"}
    assert paths.responses(told) == layout.responses("cheap", "rating")
    assert paths.REQUESTS == layout.REQUESTS
    assert directives.by_wildcards(lambda judge, part="none": f"{judge} {part}")(told) == "cheap none"


def test_a_mistake_of_the_users_is_reported(layout: Layout) -> None:
    def in_words(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except UserError as error:
            raise RuntimeError(f"in words: {error}") from None

    def mistaken() -> StageJob:
        raise UserError("nothing is there")

    directives = Directives(layout.config, in_words)
    for called in (directives.by_wildcards(mistaken), directives.job(mistaken)["settings"]):
        with pytest.raises(RuntimeError, match="in words: nothing is there"):
            called({})


def test_trained_weights_count_by_their_digest() -> None:
    marked = by_digest(["out/trained/j", "out/trained/j.digest", "other"])
    assert [bool(getattr(path, "flags", {}).get("ancient")) for path in marked] == [True, False, False]


def test_a_caption_is_not_compared(layout: Layout, directives: Directives, tmp_path: Path) -> None:
    params = FigureRules(Measures(layout, Sources(layout)), directives).part("botchat")
    assert set(inspect.signature(params["captions"]).parameters) & COMPARED_WITH_FILES
    (tmp_path / "a_b.svg").write_text("<svg><title>Wins &amp; ties</title></svg>")
    assert params["captions"](None, [str(tmp_path / "a_b.svg"), str(tmp_path / "none.svg")]) == [("Wins & ties", "")]


@pytest.mark.parametrize(
    "described",
    [
        lambda of: Judging(*of).plan("again"),
        lambda of: Judging(*of).plan("rating"),
        lambda of: Judging(*of).parse("dear", "again"),
        lambda of: Judging(*of).answer("dear", "again", "1", "2"),
        lambda of: Judging(*of).answer("dear", "rating"),
        lambda of: Judging(*of).answer_retries("dear", "again"),
        lambda of: Judging(*of).plan_retries("again"),
        lambda of: Judging(*of).ensemble_judgements("both", "again"),
        lambda of: Selfchat(*of).generate_dialogues("bot"),
        lambda of: Corpora(*of).read_corpus("bundled"),
        lambda of: Measures(*of).measure("again"),
    ],
)
def test_a_stage_has_a_field_for_each_of_its_settings(layout: Layout, described: Callable[..., StageJob]) -> None:
    job = described((layout, Sources(layout.config)))
    settings, known = json.loads(canonical(job.settings)), set()
    for stage in stage_functions(job.stage):
        module, _, function = stage.partition(":")
        kind = get_type_hints(getattr(import_module(module), function))["settings"]
        kind.model_validate(with_run_settings(settings, kind.model_fields))
        known |= kind.model_fields.keys()
    assert settings.keys() <= known


def test_what_rules_import_loads_no_frames() -> None:
    """Every start of Snakemake would take a tenth longer."""
    modules = ", ".join(sorted(path.stem for path in Path(rules.__file__).parent.glob("[a-z]*.py")))
    code = f"import sys; from dialeval.rules import {modules}; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
