"""Where the configuration of a run comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.config.origin import check_files, check_module, configuration_file
from dialeval.errors import UserError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "config.yaml").touch()
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_the_folder_of_the_run_comes_before_the_project(here: Path) -> None:
    project = here.parent / "project"
    found, words = configuration_file(here, project)
    assert found == project / "config.yaml"
    assert str(found) in words
    assert f"{here} has no config.yaml" in words
    (here / "config").mkdir()
    (here / "config" / "config.yaml").touch()
    assert configuration_file(here, project) == (Path("config/config.yaml"), "")
    (here / "config.yaml").touch()
    assert configuration_file(here, project) == (Path("config.yaml"), "")


def test_a_run_without_any_configuration_is_told_how_to_name_one(here: Path) -> None:
    with pytest.raises(UserError, match=rf"no config.yaml in {here}, nor in {here}; .* --configfile"):
        configuration_file(here, here)


def test_every_file_is_checked(here: Path) -> None:
    (here / "empty.yaml").touch()
    (here / "knot.yaml").write_text("a: &a [*a]\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        check_files([Path("knot.yaml"), Path("empty.yaml"), Path("no.yaml")])
    for words in ("knot.yaml, line 1: 'a' holds itself", "empty.yaml is empty", "no.yaml cannot be read"):
        assert words in str(caught.value)


def test_a_module_gives_a_configuration_and_leaves_paths_alone() -> None:
    check_module({"models": {}}, None)
    with pytest.raises(UserError, match="add `config:`"):
        check_module({}, None)
    with pytest.raises(UserError, match="`results_dir: judged/results` and `store_dir: judged/store`"):
        check_module({"models": {}}, "judged/")
    with pytest.raises(UserError, match="`results_dir: FOLDER/results`"):
        check_module({"models": {}}, "")
