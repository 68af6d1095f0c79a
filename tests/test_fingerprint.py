"""A fingerprint changes with behaviour, and with nothing else."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "workflow" / "dialeval"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the library that a test may change."""
    shutil.copytree(SOURCE, tmp_path / "dialeval", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "dialeval"


def fingerprints(package: Path) -> ModuleType:
    """The module, loaded anew from the copy."""
    spec = importlib.util.spec_from_file_location("fingerprint_copy", package / "fingerprint.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fingerprint_copy"] = module
    spec.loader.exec_module(module)
    return module


def stages(package: Path) -> dict[str, str]:
    module = fingerprints(package)
    names = sorted(path.stem for path in (package / "stages").glob("*.py") if path.stem not in ("__init__", "command"))
    return {name: module.fingerprint(f"dialeval.stages.{name}") for name in names}


def changed(package: Path, file: str, old: str, new: str) -> set[str]:
    """Returns the stages whose fingerprint a change of one file changes.

    The estimate is left out: it reaches what all protocols plan, and always runs anew.
    """
    before = stages(package)
    path = package / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    after = stages(package)
    return {name for name in before if before[name] != after[name]} - {"estimate"}


def test_comments_docstrings_and_layout_change_nothing(package: Path) -> None:
    path = package / "protocols" / "arena.py"
    before = stages(package)
    text = path.read_text(encoding="utf-8")
    text = text.replace('"""BotChat Arena', '"""Another docstring: BotChat Arena', 1) + "\n\n# a comment at the end\n"
    path.write_text(
        text.replace("    for n in lengths:\n", "    # a comment\n\n    for n in lengths:\n"), encoding="utf-8"
    )
    assert stages(package) == before


def test_elo_concerns_the_ratings_alone(package: Path) -> None:
    touched = changed(package, "stats/elo.py", "shuffles: int = 1000", "shuffles: int = 1001")
    assert touched == {"arena_ratings", "rate_battles"}


def test_a_template_concerns_its_protocol_alone(package: Path) -> None:
    assert changed(package, "prompts/unieval.j2", "Turing test", "Turing  test") == {"unieval_plan"}
    assert changed(package, "prompts/arena.j2", "Turing test", "Turing  test") == {"arena_plan"}


def test_a_parser_does_not_concern_its_plan(package: Path) -> None:
    assert changed(package, "forms/detect.py", 'if verdict.choice == "No":', 'if "No" == verdict.choice:') == {
        "unieval_parse",
        "again_plan",  # what cannot be read is asked once more
    }
    touched = changed(package, "forms/verdict_text.py", "if len(choices) > 1 or", "if len(choices) >= 2 or")
    assert touched == {"unieval_parse", "pairwise_parse", "again_plan"}


def test_published_numbers_concern_their_tables(package: Path) -> None:
    touched = changed(package, "published/botchat.csv", "30.5", "30.6")
    assert {"arena_ratings", "gteval_rates", "unieval_rates", "utterance_lengths"} <= touched
    assert not touched & {"arena_plan", "answer", "selfchat"}


def test_bundled_dialogues_concern_reading_alone(package: Path) -> None:
    assert changed(package, "corpora/bundled/english.jsonl", "en-001", "en-000") == {"read_corpus"}


def test_another_folder_of_prompts_counts(package: Path, tmp_path: Path) -> None:
    module = fingerprints(package)
    ours = module.fingerprint("dialeval.stages.unieval_plan")
    folder = tmp_path / "prompts"
    folder.mkdir()
    assert module.fingerprint("dialeval.stages.unieval_plan", folder) == ours
    (folder / "unieval.j2").write_text("Other words.")
    assert module.fingerprint("dialeval.stages.unieval_plan", folder) != ours
    assert module.fingerprint("dialeval.stages.arena_plan", folder) == module.fingerprint("dialeval.stages.arena_plan")


def test_a_module_used_as_a_value_counts_whole(package: Path) -> None:
    (package / "stages" / "odd.py").write_text("from dialeval.stats import elo\nprint(elo)\n")
    before = stages(package)["odd"]
    changed(package, "stats/elo.py", "shuffles: int = 1000", "shuffles: int = 1001")
    assert stages(package)["odd"] != before


def test_relative_imports_are_refused(package: Path) -> None:
    (package / "stages" / "odd.py").write_text("from . import command\n")
    with pytest.raises(ValueError, match="imports relatively"):
        stages(package)
