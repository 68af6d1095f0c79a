"""Folders that `dialeval init` makes: Snakemake runs there, whether the library is a project's or a wheel's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections import Counter
from pathlib import Path

import pytest
import yaml
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from pandas import read_csv
from workspace import ROOT, SMALL, Workspace

from dialeval.cli.init import Model, Wish, make_folder
from dialeval.cli.main import main

pytestmark = pytest.mark.workflow


@pytest.fixture
def own(tmp_path: Path) -> Workspace:
    """A folder of one's own beside the project that the tests run."""
    folder = tmp_path / "own"
    make_folder(folder, Wish())
    (folder / "workflow").symlink_to(Path(os.environ["WORKSPACE_PROJECT"]) / "workflow")  # where the library is found
    return Workspace(folder)


def test_snakemake_alone_plans_the_default_run_and_the_profile_names_the_cores(own: Workspace) -> None:
    planned = own.start("--dry-run", cores=None, warm=True).communicate(timeout=300)[0]
    assert "Using workflow specific profile profiles/default" in planned
    assert re.search(r"^build_report +1$", planned, re.MULTILINE), planned


def test_a_library_that_is_not_there_is_reported(tmp_path: Path) -> None:
    make_folder(tmp_path, Wish(chatbots=[Model("random")], judges=[Model("forest")]))
    hidden = tmp_path / "hidden" / "dialeval"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('not here')")
    snakemake = str(Path(sys.executable).parent / "snakemake")
    environment = os.environ | {"PYTHONPATH": str(hidden.parent)}
    ran = subprocess.run(
        [snakemake, "--dry-run"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "dialeval is not installed for the Python that runs this snakemake" in ran.stdout


STUTTER = "Well, well, well."


def reply(call: Call) -> Reply:
    """Talks, as `swift` by saying the same again and again, and judges that whoever does so is the machine."""
    model, text = call.body["model"], call.text
    if model == "maker/swift":
        return Reply(completion(STUTTER))
    if model == "maker/able":
        return Reply(completion(f"And what did you do after that, number {len(call.body['messages'])}?"))
    if "two written conversations" not in text:
        shown = text.rsplit("Now judge this conversation", 1)[1].split("Conversation:")[1]
        return Reply(
            completion("Choice: Yes\nIndex: 3\nReason: it stutters." if STUTTER in shown else "Choice: No\nIndex: None")
        )
    first, second = text.rsplit("Conversation 1:\n", 1)[1].split("Conversation 2:\n")
    stutters = [STUTTER in first, STUTTER in second]
    chosen = {(True, False): "Conversation 1", (False, True): "Conversation 2"}.get(tuple(stutters), "Neither")
    return Reply(completion(f"Choice: {chosen}\nReason: it stutters."))


@pytest.mark.slow
def test_from_an_endpoint_to_a_judged_leaderboard_of_two_chatbots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What docs/command.md shows, as it is typed, but for the installation."""
    monkeypatch.setenv("MY_KEY", "secret-0123456789")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    with LoopbackEndpoint(reply) as endpoint:
        models = ["--chatbot", "able=maker/able", "--chatbot", "swift=maker/swift", "--judge", "clerk=maker/clerk"]
        assert main(["init", "study", "--base-url", endpoint.url, "--api-key-env", "MY_KEY", *models]) == 0
        folder = tmp_path / "study"
        (folder / "workflow").symlink_to(Path(os.environ["WORKSPACE_PROJECT"]) / "workflow")
        process = Workspace(folder).start(cores=None, warm=True)
        output = process.communicate(timeout=280)[0]
        assert process.returncode == 0, output
        calls = Counter(call.body["model"] for call, _ in endpoint.log)
    # 20 seeds: 14 utterances of each; judged are 3 dialogues, a pair at 2 lengths and 2 with people, in both orders
    assert calls == {"maker/able": 280, "maker/swift": 280, "maker/clerk": 20 * (3 + 2 * 2 + 2 * 2)}
    ratings = read_csv(folder / "results" / "tables" / "arena" / "ratings.csv").query("n_utterances == 16")
    at_16 = ratings.set_index("system")
    assert at_16.loc["able", "bradley_terry_penalised"] > at_16.loc["swift", "bradley_terry_penalised"]
    assert at_16["estimate"].isna().all(), "able wins every comparison: Elo is not identifiable"
    assert at_16["note"].str.contains("every comparison").all()
    monkeypatch.chdir(folder)
    capsys.readouterr()
    assert main(["summary"]) == 0
    told = capsys.readouterr().out
    assert told.index("able") < told.index("swift")
    assert not any(b"secret-0123456789" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def build_wheel(folder: Path) -> Path:
    """Return a wheel of the project's files, built as pip builds it."""
    project = folder / "project"
    shutil.copytree(
        ROOT,
        project,
        ignore=shutil.ignore_patterns(".git", "tests", "benchmarks", "__pycache__", "*.egg-info", "build"),
    )
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(project)]
    subprocess.run(command, check=True)
    shutil.rmtree(project)
    (wheel,) = folder.glob("dialeval-*.whl")
    return wheel


@pytest.mark.slow
def test_a_wheel_runs_in_an_environment_without_the_project(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path / "wheels")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for path in (*ROOT.glob("rules/**/*"), *ROOT.glob("envs/*"), *ROOT.glob("configs/**/*"), ROOT / "Snakefile"):
        assert path.is_dir() or f"dialeval/shipped/{path.relative_to(ROOT)}" in names, path
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    site = Path(
        subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip()
    )
    (site / "needs.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")  # what it needs, and not the project
    pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]
    subprocess.run([*pip, wheel], check=True)
    snakemake = [python, "-m", "snakemake"]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.check_output([python, "-m", "dialeval", "init", "own"], cwd=tmp_path, env=clean, text=True)
    assert "made own/Snakefile" in said
    own = tmp_path / "own"
    (own / "config.yaml").write_text(yaml.safe_dump(SMALL))
    ran = subprocess.run(snakemake, cwd=own, env=clean, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (own / "results" / "report" / "index.html").is_file()
    again = subprocess.run(  # by the project, which lies elsewhere
        [sys.executable, "-m", "snakemake"],
        cwd=own,
        env=clean | {"PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Nothing to be done" in again.stderr
