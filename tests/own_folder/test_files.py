"""What a folder of one's own holds, and that nothing in it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from workspace import ROOT

from dialeval.errors import UserError
from dialeval.own_folder.configuration import Model, Wish
from dialeval.own_folder.files import make_folder
from dialeval.project import PROJECT, check_can_be_installed, check_name

FILES = {"config.yaml", "Snakefile", "profiles/default/config.yaml", "README.md", ".gitignore"}


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    folder = tmp_path / "studies" / "one"
    assert {str(path) for path in make_folder(folder, Wish())} == FILES
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == FILES


def test_snakemake_reads_there_what_it_reads_in_the_project(tmp_path: Path) -> None:
    make_folder(tmp_path, Wish())
    ours = yaml.safe_load((ROOT / "profiles" / "default" / "config.yaml").read_text())
    assert yaml.safe_load((tmp_path / "profiles" / "default" / "config.yaml").read_text()) == ours | {"cores": "all"}


@pytest.mark.parametrize("name", ["Snakefile", "config.yaml", "profiles/default/config.yaml"])
def test_nothing_is_overwritten_and_nothing_half_made(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(UserError, match=f"{name} already") as told:
        make_folder(tmp_path, Wish())
    assert "name another folder" in str(told.value)
    assert [path.read_text() for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


def test_a_project_of_the_users_keeps_its_page_and_what_git_passes_over(tmp_path: Path) -> None:
    for name in ("README.md", ".gitignore"):
        (tmp_path / name).write_text("mine")
    made = make_folder(tmp_path, Wish())
    assert {str(path) for path in made} == {"config.yaml", "Snakefile", "profiles/default/config.yaml"}
    assert [(tmp_path / name).read_text() for name in ("README.md", ".gitignore")] == ["mine", "mine"]


def test_what_else_lies_there_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    make_folder(tmp_path, Wish())
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_wish_that_cannot_be_met_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        make_folder(tmp_path / "new", Wish(chatbots=[Model("a", "b")]))
    assert not (tmp_path / "new").exists()


def test_a_file_in_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        make_folder(tmp_path / "file" / "folder", Wish())


def test_environments_of_jobs_need_the_project(tmp_path: Path) -> None:
    assert PROJECT.samefile(ROOT)
    check_can_be_installed(PROJECT)
    with pytest.raises(UserError, match="--sdm"):
        check_can_be_installed(tmp_path)


def test_a_project_whose_folder_snakemake_cannot_read_is_told(tmp_path: Path) -> None:
    check_name(PROJECT)
    with pytest.raises(UserError, match="braces Snakemake takes for a wildcard; rename or move that folder"):
        check_name(tmp_path / "{mine}" / "DialEval")


def test_only_who_asks_an_endpoint_is_told_of_a_key(tmp_path: Path) -> None:
    chatbots = [Model("retrieval"), Model("ngram")]
    make_folder(tmp_path / "offline", Wish(chatbots=chatbots, judges=[Model("forest")]))
    make_folder(tmp_path / "asking", Wish(chatbots=chatbots, judges=[Model("gpt", "gpt-4o-2024-11-20")]))
    assert "export OPENAI" not in (tmp_path / "offline" / "README.md").read_text()
    assert "export OPENAI_API_KEY" in (tmp_path / "asking" / "README.md").read_text()
