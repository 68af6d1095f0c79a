"""A fingerprint changes with behaviour, and with nothing else."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from dialeval import stages as all_stages
from dialeval.config import EmbeddedModel, OpenAIModel, VllmModel
from dialeval.errors import UserError
from dialeval.provenance import fingerprints as fingerprints_content
from dialeval.provenance.fingerprints import SMALL, WITHOUT_EFFECT, content_digest, kept
from dialeval.stages import stage_function

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "workflow" / "dialeval"
STAGES = sorted(stage for names in all_stages.STAGES.values() for stage in names)
Change = Callable[[str, str, str], set[str]]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the library."""
    folder = tmp_path_factory.mktemp("library") / "dialeval"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("*.pyc"))  # what is kept of read sources goes along
    return folder


@pytest.fixture
def package(copied: Path) -> Iterator[Path]:
    """The copy, which a test may change; afterwards it is what it was."""
    yield copied
    for path in copied.rglob("*"):
        ours = SOURCE / path.relative_to(copied)
        if path.is_file() and "__pycache__" not in path.parts:
            if not ours.exists():
                path.unlink()
            elif _stamp(path) != _stamp(ours):
                shutil.copy2(ours, path)


def _stamp(path: Path) -> tuple[int, int]:
    """What a copy has of a file, and what is written later has not: its size and its time."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


@pytest.fixture(scope="module")
def unchanged(copied: Path) -> dict[str, str]:
    """The fingerprints of all stages before any change."""
    return stages(copied)


@pytest.fixture(scope="module")
def unchanged_jobs(copied: Path) -> dict[tuple[str, str], str]:
    """The fingerprints of all stages that ask, by model, before any change."""
    return jobs(copied)


def fingerprints(package: Path) -> ModuleType:
    """The module, loaded anew from the copy."""
    spec = importlib.util.spec_from_file_location("fingerprint_copy", package / "provenance" / "fingerprints.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fingerprint_copy"] = module
    spec.loader.exec_module(module)
    return module


def stages(package: Path) -> dict[str, str]:
    module = fingerprints(package)
    return {name: module.fingerprint(stage_function(name)) for name in STAGES}


@pytest.fixture
def changed(package: Path, unchanged: dict[str, str]) -> Change:
    """Change one file and return the stages whose fingerprints that changes.

    The estimate is left out: it reaches what all protocols plan, and always runs anew.
    """

    def change(file: str, old: str, new: str) -> set[str]:
        path = package / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        after = stages(package)
        return {name for name in unchanged if unchanged[name] != after[name]} - {"estimate"}

    return change


def test_comments_docstrings_and_layout_change_nothing(package: Path, unchanged: dict[str, str]) -> None:
    path = package / "protocols" / "pair.py"
    text = path.read_text(encoding="utf-8")
    text = text.replace('"""The form', '"""Another docstring: the form', 1) + "\n\n# a comment at the end\n"
    path.write_text(
        text.replace("    for n in of.n_utterances", "    # a comment\n\n    for n in of.n_utterances"),
        encoding="utf-8",
    )
    assert stages(package) == unchanged


def library(folder: Path, **modules: str) -> str:
    """Return the fingerprint of `work.stage` in a library of the given modules."""
    (folder / "provenance").mkdir(parents=True)
    for name in ("fingerprints.py", "source_statements.py"):
        shutil.copyfile(SOURCE / "provenance" / name, folder / "provenance" / name)
    (folder / "prompts").mkdir()
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    found: str = fingerprints(folder).fingerprint("dialeval.work:stage")
    return found


RATE = "def rate(x):\n    return x * K\n"
SPREAD = "def spread(x):\n    return rate(x) - rate(-x)\n"
IN_TWO = {
    "work": "from dialeval.elo import rate\ndef stage(x):\n    return rate(x)\n",
    "elo": "K = 32\n" + RATE,
}


@pytest.mark.parametrize(
    "moved",
    [
        {"work": "K = 32\n" + RATE + "def stage(x):\n    return rate(x)\n"},
        {"work": IN_TWO["work"], "elo": "from dialeval.k import K\n" + RATE, "k": "K = 32\n"},
        {"work": "from dialeval import elo\ndef stage(x):\n    return elo.rate(x)\n", "elo": IN_TWO["elo"]},
        {"work": "def stage(x):\n    from dialeval.elo import rate\n    return rate(x)\n", "elo": IN_TWO["elo"]},
        {"work": IN_TWO["work"] + "def other_stage(x):\n    return 1\n", "elo": IN_TWO["elo"] + SPREAD},
        {"work": IN_TWO["work"], "elo": "if TYPE_CHECKING:\n    from dialeval.work import stage\n" + IN_TWO["elo"]},
    ],
    ids=["merged", "split", "by its module", "imported inside", "beside others", "for types alone"],
)  # fmt: skip
def test_code_that_moves_to_another_module_is_the_same(tmp_path: Path, moved: dict[str, str]) -> None:
    assert library(tmp_path / "before", **IN_TWO) == library(tmp_path / "after", **moved)


def test_functions_of_one_name_in_two_modules_are_two(tmp_path: Path) -> None:
    work = "from dialeval import a, b\ndef stage(x):\n    return a.rate(x) - b.rate(x)\n"
    one, other = "def rate(x):\n    return x\n", "def rate(x):\n    return 2 * x\n"
    through = "from dialeval.{0} import rate\ndef {0}_rate(x):\n    return rate(x)\n"
    assert library(tmp_path / "5", work=work, a=one, b=other) != library(tmp_path / "6", work=work, a=other, b=one)
    calls = "from dialeval.c import a_rate\nfrom dialeval.d import b_rate\n"
    calls += "def stage(x):\n    return a_rate(x) - b_rate(x)\n"
    passed_on = {"work": calls, "c": through.format("a"), "d": through.format("b")}
    assert library(tmp_path / "1", work=work, a=one, b=other) != library(tmp_path / "2", work=work, a=one, b=one)
    assert library(tmp_path / "3", **passed_on, a=one, b=other) != library(tmp_path / "4", **passed_on, a=other, b=one)


def test_elo_concerns_ratings_and_their_differences_which_are_made_with_them(changed: Change) -> None:
    touched = changed("stats/elo.py", "shuffles: int = 1000", "shuffles: int = 1001")
    assert touched == {"measure_ratings", "rate_battles"}


def test_a_parser_does_not_concern_its_plan(changed: Change) -> None:
    assert changed("protocols/locate.py", 'if verdict.choice == "No":', 'if "No" == verdict.choice:') == {
        "parse_locate",
        "plan_retries",  # what cannot be read is asked once more
    }


def test_published_numbers_concern_their_tables(changed: Change) -> None:
    touched = changed("papers/botchat.csv", "30.5", "30.6")
    assert {"measure_ratings", "measure_win_rates", "measure_pass_rates", "utterance_lengths"} <= touched
    assert not touched & {"plan_pair", "answer", "selfchat"}


def test_bundled_dialogues_concern_reading_alone(changed: Change) -> None:
    assert changed("corpora/bundled/english.jsonl", "en-001", "en-000") == {"read_corpus"}


NEW_TABLE = 'NEW = Table("botchat/new", schema(n=INT), row="nothing")\n'


REPORTS = {"build_report", "build_status_page", "summarise", "compare_runs"}
"""Stages that tell of every table."""


def test_a_new_table_concerns_those_alone_who_read_every_table(changed: Change) -> None:
    assert changed("tables/dialogues.py", "# fmt: on", f"# fmt: on\n{NEW_TABLE}") == REPORTS


@pytest.mark.parametrize("name", ["usage", "botchat/seeds", "metaeval/matrices", "robustness/score_drops"])
def test_a_tables_columns_concern_those_who_name_it(changed: Change, package: Path, name: str) -> None:
    (file,) = (path for path in (package / "tables").glob("*.py") if f'"{name}", schema(' in path.read_text())
    touched = changed(f"tables/{file.name}", f'"{name}", schema(', f'"{name}", schema(extra=INT, ')
    assert touched > REPORTS
    assert len(touched - REPORTS) <= 2  # who writes it and who draws it


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (
            "tables/dialogues.py",
            "of the utterance in its dialogue, from 0",
            "of the utterance in its dialogue, counted from 0",
        ),
        ("tables/schema.py", "what is compared", "what one compares"),
        ("config/endpoints.py", "Maximum number of concurrent requests of a job.", "Concurrent requests."),
    ],
)
def test_descriptions_of_tables_and_fields_concern_the_report_alone(
    changed: Change, file: str, old: str, new: str
) -> None:
    assert changed(file, old, new) <= REPORTS


SAID = [
    ("__init__.py", "0.1.0", "0.2.0"),
    ("errors.py", "did you mean", "do you mean"),
    ("jobs/progress.py", "cached", "restored"),
    ("stages/command.py", "stopped; responses are stored", "ended; responses are stored"),
    ("engines/answering.py", "requests have no response", "requests got no response"),
    ("stages/answering.py", "these were not sent", "none was sent"),
    ("config/endpoints.py", "a budget needs price_input", "budgets need price_input"),
]


def test_progress_messages_concern_no_stage(package: Path, unchanged: dict[str, str]) -> None:
    for file, old, new in SAID:
        text = (package / file).read_text(encoding="utf-8")
        assert old in text, file
        (package / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert stages(package) == unchanged


def test_what_is_computed_for_a_remark_and_what_a_failure_rests_on_count(changed: Change) -> None:
    assert "answer" in changed("stages/answering.py", "if unsupported:", "if unsupported > 1:")
    assert "answer" in changed("engines/answering.py", "if not failed or failed <=", "if not failed or failed <")


def test_why_a_vocabulary_is_not_there_stands_in_a_table(changed: Change) -> None:
    touched = changed("engines/cl100k.py", "was not downloaded in time", "came too late")
    assert touched == {"choose_tokenizer", "utterance_lengths"}


SPEAKS = sorted(
    path
    for name in WITHOUT_EFFECT
    for place in [SOURCE.parent.joinpath(*name.split("."))]
    for path in (place.glob("*.py") if place.is_dir() else [place.with_suffix(".py")])
)


@pytest.mark.parametrize("path", SPEAKS, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_what_only_speaks_to_people_reads_nothing_else_of_ours(path: Path) -> None:
    imported = {
        str(node.module) for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
    }
    assert {name for name in imported if name.startswith("dialeval") and not name.startswith(WITHOUT_EFFECT)} == set()


WORDS_PASSED_ON = {
    "dialeval.config.files",  # into another error
    "dialeval.corpora.json_records",  # into another error
    "dialeval.engines.answering",  # ends the stage with more words
    "dialeval.engines.cl100k",  # into another error, a `VocabularyUnavailable`, which a table repeats
    "dialeval.engines.store.response_store",  # raised again, to whoever waits for the claim
    "dialeval.engines.store.answer_files",  # raised again, to whoever waits for the write
    "dialeval.labels.reading",  # into another error
    "dialeval.labels.exports",  # into a fault, of which that one is made
    "dialeval.provenance.stale_files",  # ends the command
    "dialeval.report.terminal_summary",  # into a note in the terminal
}
ANEW = ("estimate", "compare_runs")  # run whenever they are asked for
CATCHES = re.compile(r"\b(UserError|BudgetUsedUp)\b")


def test_the_words_of_an_error_that_a_stage_catches_enter_no_table(package: Path) -> None:
    module = fingerprints(package)
    stages = [stage_function(name) for name in STAGES if name not in ANEW]
    reached = {definition.module for stage in stages for definition in module._reach(stage)[0]}
    caught = {
        name
        for name in reached
        for node in ast.walk(ast.parse(module._path(name).read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and node.name and CATCHES.search(ast.unparse(node.type or node))
    }
    assert caught == WORDS_PASSED_ON, "see source_statements.MESSAGES before a message is passed on"


RENDERED = {
    "adequacy.j2": {"plan_adequacy"},
    "arena.j2": set(),  # what a protocol names counts for that alone, see below
    "complete.j2": {"plan_completion"},
    "retry_unparsed.j2": {"plan_retries"},
    "locate.j2": {"plan_locate"},
    "annotate.j2": set(),
    "dialogbench_classify.j2": {"dialogbench_classify"},
    "dialogbench_filter": {"dialogbench_filter"},
    "dialogbench_perplexity": {"dialogbench_plan"},
    "dialogbench_question": {"dialogbench_plan"},
    "dialogbench_write": {"dialogbench_write"},
    "gteval.j2": set(),
    "pair.j2": set(),
    "partner.j2": {"selfchat"},
    "perturb_": {"rewrite_items"},
    "rating_": {"plan_scale", "answer_items"},
    "selfchat.j2": {"selfchat"},
    "structured_answer.j2": {"plan_locate", "plan_annotate", "plan_pair", "plan_scale"},
    "translate.j2": {"plan_translation", "plan_back_translation"},
    "unieval.j2": set(),
    "yes_no_": {"plan_probability", "answer_items", "train_lora"},
}
"""Beginnings of templates' names -> who renders them."""


def test_a_template_concerns_those_alone_who_render_it(package: Path, unchanged: dict[str, str]) -> None:
    module = fingerprints(package)
    for path in sorted((package / "prompts").glob("*.j2")):
        path.write_text(path.read_text(encoding="utf-8") + "More.", encoding="utf-8")
        after = {name: module.fingerprint(stage_function(name)) for name in unchanged}
        touched = {name for name in unchanged if unchanged[name] != after[name]} - {"estimate"}
        (expected,) = (stages for beginning, stages in RENDERED.items() if path.name.startswith(beginning))
        assert touched == expected, path.name
        shutil.copyfile(SOURCE / "prompts" / path.name, path)


def test_another_folder_of_prompts_counts_by_its_texts_wherever_it_lies(package: Path, tmp_path: Path) -> None:
    module = fingerprints(package)

    def of(stage: str, folder: Path | None = None) -> str:
        result: str = module.fingerprint(stage_function(stage), prompts_directory=folder)
        return result

    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    assert of("plan_locate", first) == of("plan_locate")
    (first / "other.j2").write_text("Nobody renders it.")
    assert of("plan_locate", first) == of("plan_locate")
    (first / "locate.j2").write_text("Other words.")
    with_its_own = of("plan_locate", first)
    assert with_its_own != of("plan_locate")
    assert of("plan_pair", first) == of("plan_pair")
    first.rename(second)
    assert of("plan_locate", second) == with_its_own


@pytest.mark.parametrize(
    "refers",
    ["{% include 'part.j2' %}", "{%- import 'part.j2' as part %}", "{% from 'part.j2' import x %}",
     "{% extends 'part.j2' %}", "{% include name %}"],
)  # fmt: skip
def test_what_a_template_is_made_of_counts(package: Path, tmp_path: Path, refers: str) -> None:
    module = fingerprints(package)

    def of(stage: str) -> str:
        result: str = module.fingerprint(stage_function(stage), prompts_directory=tmp_path)
        return result

    (tmp_path / "locate.j2").write_text(refers)
    (tmp_path / "part.j2").write_text("{% include 'deeper.j2' %}")
    (tmp_path / "deeper.j2").write_text("{% set x = 1 %}")
    before, arena = of("plan_locate"), of("plan_pair")
    (tmp_path / "deeper.j2").write_text("{% set x = 2 %}")
    assert of("plan_locate") != before
    assert of("plan_pair") == arena


def test_a_template_that_settings_name_counts_for_them(package: Path, tmp_path: Path) -> None:
    module = fingerprints(package)

    def of(*names: str) -> str:
        result: str = module.fingerprint(stage_function("answer"), templates=names, prompts_directory=tmp_path)
        return result

    (tmp_path / "helpful.j2").write_text("Which is more helpful?")
    before, without = of("helpful.j2"), of()
    assert before != without
    (tmp_path / "helpful.j2").write_text("Which one helps more?")
    assert of("helpful.j2") != before
    assert of() == without


def test_a_module_used_as_a_value_counts_whole(package: Path) -> None:
    odd = package / "stages" / "odd.py"
    odd.write_text("from dialeval.stats import elo\nprint(elo)\n")
    before = fingerprints(package).fingerprint("dialeval.stages.odd")
    elo = package / "stats" / "elo.py"
    elo.write_text(elo.read_text().replace("shuffles: int = 1000", "shuffles: int = 1001"))
    assert fingerprints(package).fingerprint("dialeval.stages.odd") != before


def test_relative_imports_are_refused(package: Path) -> None:
    (package / "stages" / "odd.py").write_text("from . import command\n")
    with pytest.raises(ValueError, match="imports relatively"):
        fingerprints(package).fingerprint("dialeval.stages.odd")


MODELS: dict[str, EmbeddedModel | OpenAIModel | VllmModel] = {
    "forest": EmbeddedModel(engine="embedded", method="forest"),
    "random": EmbeddedModel(engine="embedded", method="random"),
    "behind an endpoint": OpenAIModel(engine="openai", model="m"),
    "in vLLM": VllmModel(engine="vllm", model="m"),
}
ASKING = ("answer", "answer_items", "selfchat", "rewrite_items", "dialogbench_write", "dialogbench_filter")


def jobs(package: Path) -> dict[tuple[str, str], str]:
    """The fingerprints of all stages that ask, by the model that they ask."""
    module = fingerprints(package)
    return {
        (name, stage): module.fingerprint(stage_function(stage), *model.modules)
        for name, model in MODELS.items()
        for stage in ASKING
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "asked"),
    [
        ("engines/vllm_engine/engine.py", 'finish_reason="stop" if ended', 'finish_reason="end" if ended', {"in vLLM"}),
        ("engines/openai_api/wire_format.py", 'finish == "length"', 'finish == "long"', {"behind an endpoint"}),
        ("engines/embedded/engine.py", "concurrency: int = 256", "concurrency: int = 255", {"forest", "random"}),
        ("engines/embedded/judge.py", "FALSE_ALARMS = 0.2", "FALSE_ALARMS = 0.3", {"forest"}),
        ("engines/embedded/judge.py", "STRIKING = 1.0", "STRIKING = 1.1", {"forest"}),
        ("engines/embedded/methods.py", "(Random,)", "(Random, int)", {"random"}),
        (
            "config/models.py",
            '"generic": Method(',
            '"new": Method(_CHATS, "new"),\n"generic": Method(',
            set(),
        ),
    ],
)
def test_an_engine_concerns_the_jobs_of_its_models_alone(
    package: Path, unchanged_jobs: dict[tuple[str, str], str], file: str, old: str, new: str, asked: set[str]
) -> None:
    before, path = unchanged_jobs, package / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    after = jobs(package)
    assert {job for job in before if before[job] != after[job]} == {(name, stage) for name in asked for stage in ASKING}


def identities(package: Path) -> dict[str, str]:
    """The fingerprints of the code that is part of a model's identity, by the engine that it answers with."""
    module, found = fingerprints(package), {}
    for path in [*sorted((package / "engines").rglob("*.py")), package / "dialogbench" / "embedded_writer.py"]:
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.endswith("fingerprint"):
                code = [one.value for one in call.args if isinstance(one, ast.Constant)]
                found[path.relative_to(package).as_posix()] = module.fingerprint(*code)
    return found


NLLB, ENCODER, EMBEDDED = "engines/nllb.py", "engines/encoder/engine.py", "engines/embedded/engine.py"
BY_RULE = {EMBEDDED, "dialogbench/embedded_writer.py"}


@pytest.fixture(scope="module")
def unchanged_identities(copied: Path) -> dict[str, str]:
    """The fingerprints in models' identities before any change."""
    return identities(copied)


@pytest.mark.parametrize(
    ("file", "old", "new", "answering_anew"),
    [
        # The protocol of engines and the store are named in annotations alone, and change no answer.
        ("engines/requests.py", "    reads_subject: bool\n", "    reads_subject: bool\n    is_local: bool\n", set()),
        ("engines/store/response_store.py", 'ANSWERS = ".jsonl"', 'ANSWERS = ".lines"', set()),
        ("engines/store/answer_files.py", "_MOST_OPEN = 64", "_MOST_OPEN = 65", set()),
        ("engines/store/claims.py", "_IDLE_SECONDS = 60.0", "_IDLE_SECONDS = 61.0", set()),
        ("engines/answering.py", "self.progress = progress", "self.progress = None", set()),
        ("engines/nllb.py", "num_beams=self._model.beams", "num_beams=1", {NLLB}),
        ("engines/nllb.py", "one_line(text)", "text", {NLLB}),
        ("languages.py", "zho_Hans", "zho_Hant", {NLLB}),
        ("engines/installation.py", "place: -lengths", "place: lengths", {NLLB, ENCODER}),
        ("engines/encoder/metric.py", "EDGE = 1e-9", "EDGE = 1e-8", {ENCODER}),
        ("engines/embedded/engine.py", "concurrency: int = 256", "concurrency: int = 255", {EMBEDDED}),
        ("corpora/clusters.py", "DEFAULT_FOLDS = ", "DEFAULT_FOLDS = 1 + ", BY_RULE),
        ("engines/requests.py", 'finish_reason: str = "stop"', 'finish_reason: str = "end"', {NLLB, *BY_RULE}),
    ],
)  # fmt: skip
def test_a_model_answers_anew_where_code_changed_that_computes_its_answers(
    package: Path, unchanged_identities: dict[str, str], file: str, old: str, new: str, answering_anew: set[str]
) -> None:
    path = package / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    after = identities(package)
    assert set(after) == {NLLB, ENCODER, *BY_RULE}
    assert {name for name, code in unchanged_identities.items() if after[name] != code} == answering_anew


def test_stages_that_answer_reach_no_engine(package: Path) -> None:
    module = fingerprints(package)
    for stage in ASKING:
        definitions, _ = module._reach(stage_function(stage))
        kinds = {
            ".".join(one.module.split(".")[2:3]) for one in definitions if one.module.startswith("dialeval.engines.")
        }
        assert not kinds & {"vllm_engine", "openai_api", "embedded"}, stage


def test_a_new_embedded_method_is_a_constant_that_changes_no_other_fingerprint(
    package: Path, unchanged: dict[str, str], unchanged_jobs: dict[tuple[str, str], str]
) -> None:
    with (package / "engines/embedded/methods.py").open("a", encoding="utf-8") as file:
        file.write("\n\nNEW = Learner(each_without_its_fold(Random), (Random,))\n")
    assert stages(package) == unchanged
    assert jobs(package) == unchanged_jobs


def test_no_module_of_ours_takes_names_from_the_whole_configuration() -> None:
    """Its names are looked up when they are asked for, which fingerprints do not follow; and a job would load all."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "dialeval.config":
                assert [one.name for one in node.names] == ["public"], path


# A digest of the user's files changes with their content, whatever their time stamps say, and costs little.

LARGE = SMALL + 1


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dialeval" / "contents"


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets every file count as left alone for long enough."""
    monkeypatch.setattr(fingerprints_content, "SETTLED", -1.0)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read, as they are."""
    names: list[str] = []
    whole = fingerprints_content._read

    def noted(path: Path) -> str:
        names.append(path.name)
        return whole(path)

    monkeypatch.setattr(fingerprints_content, "_read", noted)
    return names


def made(path: Path, text: str, size: int, *, age: float = 0.0) -> Path:
    """Return a file of a size that is filled with a text and whose time stamp is so many seconds old."""
    path.write_bytes((text.encode() * (size // len(text) + 1))[:size])
    at = time.time() - age
    os.utime(path, (at, at))
    return path


REPLACED: dict[str, Callable[[Path, Path], object]] = {
    "cp -p": lambda new, old: shutil.copy2(new, old),
    "mv": lambda new, old: new.replace(old),
    "rsync -a": lambda new, old: (shutil.copy2(new, new.with_suffix(".part")), new.with_suffix(".part").replace(old)),
    "written in place, with its time stamp set back": lambda new, old: (
        (stamp := old.stat()),
        old.write_bytes(new.read_bytes()),
        os.utime(old, ns=(stamp.st_atime_ns, stamp.st_mtime_ns)),
    ),
}


@pytest.mark.usefixtures("cache")
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("size", [10, LARGE])
@pytest.mark.parametrize("way", REPLACED)
def test_other_content_is_noticed_however_it_comes(way: str, size: int, tmp_path: Path) -> None:
    old, new = made(tmp_path / "old", "first", size), made(tmp_path / "new", "other", size, age=1e6)
    before, other = content_digest([old]), content_digest([new])
    assert content_digest([old]) == before
    REPLACED[way](new, old)
    assert content_digest([old]) == other != before


@pytest.mark.usefixtures("cache")
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("size", [10, LARGE])
def test_neither_time_stamps_nor_names_count(size: int, tmp_path: Path) -> None:
    old = made(tmp_path / "old", "text", size)
    before = content_digest([old])
    os.utime(old)
    assert content_digest([old]) == before
    assert content_digest([old.rename(tmp_path / "new")]) == before


@pytest.mark.usefixtures("cache")
def test_order_and_bounds_of_files_count(tmp_path: Path) -> None:
    one, two, both = (made(tmp_path / name, name, len(name)) for name in ("a", "b", "ab"))
    digests = {content_digest(files) for files in ([one, two], [two, one], [both], [one], [one, one])}
    assert len(digests) == 5
    assert content_digest([]) == ""


@pytest.mark.usefixtures("cache")
@pytest.mark.usefixtures("settled")
def test_a_large_file_is_read_once(tmp_path: Path, read: list[str]) -> None:
    files = [made(tmp_path / "large", "x", LARGE), made(tmp_path / "small", "x", SMALL)]
    assert content_digest(files) == content_digest(files)
    assert sorted(read) == ["large", "small", "small"]
    os.utime(files[0])
    content_digest(files)
    assert sorted(read).count("large") == 2


@pytest.mark.usefixtures("cache")
def test_a_file_that_may_still_change_within_one_tick_is_read_again(tmp_path: Path, read: list[str]) -> None:
    file = made(tmp_path / "large", "x", LARGE)  # a moment ago
    content_digest([file])
    content_digest([file])
    assert read == ["large", "large"]


@pytest.mark.usefixtures("cache")
@pytest.mark.usefixtures("settled")
def test_a_file_that_changes_while_it_is_read_is_not_kept(tmp_path: Path) -> None:
    file = made(tmp_path / "large", "x", LARGE)

    def changing() -> str:
        made(file, "y", LARGE)
        return "of neither"

    assert kept("file", [file], changing) == "of neither"
    assert kept("file", [file], lambda: "of the second") == "of the second"
    assert kept("file", [file], lambda: "asked in vain") == "of the second"
    assert kept("another kind", [file], lambda: "of another kind") == "of another kind"


@pytest.mark.usefixtures("cache")
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("damage", ["", "{}", "[1]", '{"seen": null, "digest": 1}', "half a l"])
def test_what_is_kept_may_be_damaged_or_gone(damage: str, tmp_path: Path, cache: Path, read: list[str]) -> None:
    file = made(tmp_path / "large", "x", LARGE)
    before = content_digest([file])
    (place,) = cache.iterdir()
    place.write_text(damage)
    assert content_digest([file]) == before
    shutil.rmtree(cache)
    assert content_digest([file]) == before
    assert len(read) == 3


@pytest.mark.usefixtures("cache")
@pytest.mark.usefixtures("settled")
def test_where_nothing_can_be_kept_it_is_read_again(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path / "large", "x", LARGE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    assert content_digest([file]) == content_digest([file])
    assert len(read) == 2


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("size", [10, LARGE])
def test_another_process_finds_the_same(size: int, tmp_path: Path) -> None:
    file = made(tmp_path / "file", "x", size)
    script = "import sys; from pathlib import Path; from dialeval.provenance.fingerprints import content_digest as of; "
    script += "print(of([Path(sys.argv[1])]), 'numpy' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=True
    ).stdout
    assert output.split() == [content_digest([file]), "False"]


@pytest.mark.usefixtures("cache")
def test_what_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.csv cannot be read: No such file"):
        content_digest([tmp_path / "absent.csv"])


@pytest.mark.usefixtures("cache")
def test_a_folder_in_the_place_of_a_file_is_left_to_who_reads_it(tmp_path: Path) -> None:
    file = made(tmp_path / "a.csv", "x", 10)
    assert content_digest([tmp_path]) not in ("", content_digest([file]))
