"""Every command that docs, configurations, comments and messages show runs, or is parsed where it cannot run.

Those of Snakemake are dry runs.
"""

from __future__ import annotations

import shutil
import tomllib

import pytest
from empty_data import with_data
from shown_commands import ROOT, Shown, shown_commands
from workspace import Workspace, new_workspace

from dialeval.cli.main import COMMANDS, parsed

pytestmark = pytest.mark.workflow
ALL = shown_commands()
NOT_RUN = {
    ("vllm",): "vLLM's own command, which needs a GPU",
    ("ollama",): "another program",
    ("docker",): "needs Docker; test_containers.py tries what the recipe does",
    ("sbatch",): "needs Slurm and Apptainer; test_containers.py tries what the recipe does",
    ("apptainer",): "needs Apptainer; test_containers.py tries what the recipe does",
    ("export",): "a shell's own command",
    ("cd",): "a shell's own command",
    ("source",): "a shell's own command",
    ("python", "docs/.site/build.py"): "builds the site; .ci/run does",
    ("python", "venv"): "Python's own module",
    ("python", "vllm."): "vLLM's own module, which needs vLLM",
    ("python", "dialeval.report.reference"): "writes files of the project; tests/reference calls what they are made of",
    ("snakemake", "profiles/slurm"): "needs the executor plugin that stands beside it",
    ("snakemake", "my.yaml"): "README.md; test_tutorials.py runs it",
    ("snakemake", "mine.yaml"): "docs/extending.md; test_extending.py runs it",
    ("snakemake", "mine-in-other-words.yaml"): "docs/extending.md; test_extending.py runs it",
    ("snakemake", "parrot.yaml"): "docs/extending.md; test_extending.py runs it",
    ("snakemake", "trained.yaml"): "docs/training.md; test_training.py runs it",
    ("snakemake", "judged.yaml"): "docs/training.md; test_training.py runs it",
    ("snakemake", "configs/train-tiny.yaml"): "needs torch; test_training.py runs it",
    ("snakemake", "--list-rules"): "plans nothing; test_rule_list.py runs it",
    ("python", "STAGE"): "stands for any stage; tests/provenance runs it with one",
    ("snakemake", "DialEval/"): "from another folder; test_elsewhere.py runs it",
    ("snakemake", "judging_"): "in another workflow; test_elsewhere.py runs it",
    ("snakemake", "conda"): "needs conda; test_environments.py runs it with a stand-in",
    ("snakemake", "--report"): "needs a finished run; test_runs.py runs it",
}
"""Commands that cannot run in this test, by their program and further words or what they begin with, and why."""
ELSEWHERE = {
    "annotation_pages": "configs/labels.yaml",
    "battles": "configs/battles.yaml",
    "download": "configs/metaeval.yaml",
    "training": "configs/xdial-train.yaml",
}
"""Targets that the default configuration has nothing for -> one that has."""
FOLDERS = ("FOLDER", "DATA_DIR", "DIR")
DATA = "public"
"""What stands in the place of these."""


TUTORIALS = ("docs/tutorial-transcripts.md", "docs/tutorial-labels.md")
"""Pages in whose folders `snakemake` is all there is to type; test_tutorials.py types what they show."""


def not_run(shown: Shown) -> bool:
    if shown.words[0] == "snakemake" and shown.place.startswith(TUTORIALS):
        return True
    return any(fits(shown, about) for about in NOT_RUN)


def fits(shown: Shown, about: tuple[str, ...]) -> bool:
    program, *others = shown.words
    return program == about[0] and all(any(other.startswith(word) for other in others) for word in about[1:])


def of(*programs: str) -> list[Shown]:
    return [shown for shown in ALL if shown.words[0] in programs and not not_run(shown)]


def dry_run(shown: Shown) -> list[str]:
    """Return a command of Snakemake as a dry run on our data, with what stands for the user's own replaced."""
    words = list(shown.words)
    for target, configuration in ELSEWHERE.items():
        if target in words and not any("--configfile" in word for word in words):
            words += ["--configfile", configuration]
    words = [DATA if word in FOLDERS else word for word in words]
    for folder in FOLDERS:
        words = [
            word.removesuffix(f"={folder}") + f"={DATA}" if word.endswith(f"={folder}") else word for word in words
        ]
    words = ["config.yaml" if word in ("my-config.yaml", "FILE") else word for word in words]
    settings = [] if any(word.startswith("data_dir=") for word in words) else [f"data_dir={DATA}"]
    if "--config" in words:
        place = words.index("--config") + 1
        words[place:place] = settings
    else:
        words += ["--config", *settings]
    return words if "--dry-run" in words else [*words, "--dry-run"]


def on_two_cores(words: list[str]) -> tuple[str, ...]:
    """Return a command with two cores in place of as many as it names, which plans the same."""
    place = words.index("--cores") + 1 if "--cores" in words else len(words)
    return (*words[:place], *(["2"] if place < len(words) else []), *words[place + 1 :])


@pytest.fixture(scope="module")
def shown_in(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The workflow with all configurations, and stand-ins for the libraries that their models need."""
    workspace = new_workspace(tmp_path_factory.mktemp("shown") / "work")
    for name in ("configs", "benchmarks", "examples"):
        shutil.copytree(ROOT / name, workspace.folder / name)
    shutil.copy(ROOT / "config.yaml", workspace.folder / "config.yaml")
    workspace.pretend_models_can_run()
    with_data(workspace.folder / DATA)
    return workspace


FIRST_READ = ("README.md", "docs/first-results.md", "docs/running.md")


@pytest.mark.parametrize("first_read", [True, pytest.param(False, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])
def test_dry_runs_of_snakemakes_commands(shown_in: Workspace, first_read: bool) -> None:
    by_command: dict[tuple[str, ...], list[Shown]] = {}
    for shown in of("snakemake"):
        if (shown.place.rpartition(":")[0] in FIRST_READ) is first_read:
            by_command.setdefault(on_two_cores(dry_run(shown)), []).append(shown)
    results = [shown_in.outcome(*words) for words in by_command]
    failed = [
        f"{shown[0]}\n{output[-3000:]}"
        for shown, (status, output) in zip(by_command.values(), results, strict=True)
        if status != 0 or "Job stats" not in output
    ]
    assert not failed, "\n\n".join(failed)
    assert len(by_command) >= (2 if first_read else 30)


@pytest.mark.slow  # that they load is looked at in tests/config/test_corpora.py
def test_dry_runs_of_the_papers_models(shown_in: Workspace) -> None:
    names = ("botchat", "botchat-today", "dialogbench-models", "comp-analysis-models", "xdial-models")
    shown = [Shown("here", ("snakemake", "--cores", "8", "--configfile", f"configs/{name}.yaml")) for name in names]
    for name, one in zip(names, shown, strict=True):
        status, output = shown_in.outcome(*dry_run(one))
        assert status == 0, f"{name}\n{output[-3000:]}"
        assert "Job stats" in output, f"{name}\n{output[-3000:]}"


def test_a_run_says_how_many_cores_it_may_use() -> None:
    for shown in of("snakemake"):
        assert shown.in_own_folder or {"--cores", "--dry-run"} & set(shown.words), (
            f"{shown}: Snakemake asks for --cores"
        )


def test_a_target_behind_configfile_is_found_out(shown_in: Workspace) -> None:
    """The mistake that this test is for: several files may follow --configfile, so a target there is taken for one."""
    wrong = Shown("here", ("snakemake", "--cores", "8", "--configfile", "configs/api.yaml", "estimate"))
    status, output = shown_in.outcome(*dry_run(wrong))
    assert status != 0, output
    assert "No such file or directory: 'estimate'" in output


def test_pythons_commands_and_their_options(shown_in: Workspace) -> None:
    everything = of("python", "python3")
    for one in everything:
        if one.words[1] == "-c":
            compile(one.words[2], one.place, "exec")
    shown = [one for one in everything if one.words[1] != "-c"]
    for one in shown:
        program = one.words[: 3 if one.words[1] == "-m" else 2]
        status, output = shown_in.outcome(*program, "--help")
        assert status == 0, f"{one}\n{output[-3000:]}"
        for word in one.words[len(program) :]:
            assert not word.startswith("--") or word in output, f"{one}: there is no {word}"
    assert len(shown) > 4


def test_our_own_commands_and_their_options() -> None:
    shown = of("dialeval")
    for one in shown:
        words = list(one.words[1:])
        only_named = len(words) == 1 and words[0] in COMMANDS
        assert only_named or words == ["--help"] or parsed(words).command in COMMANDS, one
    assert {one.words[1] for one in shown if one.place.startswith("docs/")} >= set(COMMANDS)


def test_installations_name_what_there_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for shown in of("pip"):
        assert shown.words[1] in ("install", "uninstall", "check"), shown
        for word in shown.words[2:]:
            if word.startswith(".["):
                assert set(word[2:-1].split(",")) <= set(project["optional-dependencies"]), shown
            else:
                assert not word.startswith("./"), shown


def test_marks_of_tests_exist() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    marks = [mark.partition(":")[0] for mark in tool["pytest"]["ini_options"]["markers"]]
    for shown in of("pytest"):
        assert "-m" not in shown.words or shown.words[shown.words.index("-m") + 1] in marks, shown


def test_no_command_is_left_out() -> None:
    run = {"snakemake", "dialeval", "python", "python3", "pip", "pytest"}
    assert [str(shown) for shown in ALL if shown.words[0] not in run and not not_run(shown)] == []
    for about in NOT_RUN:
        assert any(fits(shown, about) for shown in ALL), f"{about} is shown nowhere"
