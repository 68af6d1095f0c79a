"""A configuration file that is no YAML, or does not mean what it seems to, is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.config import read_config_file
from dialeval.config.files import check_files, check_module, configuration_file
from dialeval.errors import UserError

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["is empty", "models, or battles"]),
        (b"# nothing but a comment\n", ["is empty"]),
        (b"{}", ["is empty"]),
        (b"- a\n- b\n", ["holds a list"]),
        (b"models\n", ["holds a str"]),
        (b"models:\n\tx: 1\n", ["line 2", "TAB", "spaces"]),
        (b"models: {a: [}\n", ["line 1", "not readable YAML"]),
        (b"models: 1\n---\nmodels: 2\n", ["line 2", "a second document"]),
        (b"# h\xe9\nmodels: {}\n", ["line 1", "UTF-8"]),
        (b"\xff\xfem\x00", ["line 1", "UTF-8"]),
        (b"models: {}\nx: \x07\n", ["not readable YAML"]),
        (b"models: {}\na: &a\n  b: *a\n", ["line 2", "'a.b' contains itself"]),
        (b"models: {}\na: &a [*a]\n", ["line 2", "'a' contains itself"]),
        (LAUGHS.encode(), ["more than 100000 entries"]),
        (b"models: " + b"[" * 5000 + b"]" * 5000, ["nested too deeply"]),
        (b'{"models": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", ["nested too deeply"]),
        (b"models: {a: 1, b: 2,\n  a: 3}\nmodels: 4\n", ["line 2: 'models.a'", "line 3: 'models' occurs twice"]),
        (b'{"models": {"a": 1, "a": 2}}', ["'a' occurs twice"]),
        (b'\t{"models": {"a": 1}, "models": 2}', ["'models' occurs twice"]),
        (b"random_seed: " + b"9" * 5000, ["line 1: 'random_seed'", "put it in quotes"]),
        (b"models:\n  a: 2024-13-45\n", ["line 2: 'models.a'", "'2024-13-45'", "put it in quotes"]),
        (b"models: !!python/object:os.system {}\n", ["not readable YAML"]),
        (b"models: !mine x\n", ["'models'", "put it in quotes"]),
        (b"? [a, b]\n: 1\n", ["line 1", "used as a name"]),
        (b'models: {a: "\\ud800"}\n', ["'models.a'", "half of a surrogate pair"]),
    ],
)
def test_what_is_wrong_with_a_file_is_reported(tmp_path: Path, content: bytes, words: list[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_config_file(path)
    message = str(caught.value)
    assert "mine.yaml" in message
    assert all(word in message for word in words), message
    assert len(message) < 600


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "no.yaml", tmp_path):
        with pytest.raises(UserError, match="cannot be read"):
            read_config_file(path)


def test_json_with_tabs_and_yaml_with_aliases_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text('{\n\t"models": {"a": {"x": 1}}\n}', encoding="utf-8")
    assert read_config_file(path) == {"models": {"a": {"x": 1}}}
    path.write_text("models:\n  a: &a {x: 1, y: 2}\n  b: {<<: *a, y: 3}\n", encoding="utf-8-sig")
    assert read_config_file(path) == {"models": {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}}


# Where the configuration of a run comes from.


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


def test_a_run_without_a_configuration_ends_with_the_way_to_name_one(here: Path) -> None:
    with pytest.raises(UserError, match=rf"neither {here} nor {here} has a config.yaml; .* --configfile"):
        configuration_file(here, here)


def test_every_file_is_checked(here: Path) -> None:
    (here / "empty.yaml").touch()
    (here / "knot.yaml").write_text("a: &a [*a]\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        check_files([Path("knot.yaml"), Path("empty.yaml"), Path("no.yaml")])
    for words in ("knot.yaml, line 1: 'a' contains itself", "empty.yaml is empty", "no.yaml cannot be read"):
        assert words in str(caught.value)


def test_a_module_gives_a_configuration_and_leaves_paths_alone() -> None:
    check_module({"models": {}}, None)
    with pytest.raises(UserError, match="add `config:`"):
        check_module({}, None)
    with pytest.raises(UserError, match="`results_dir: judged/results` and `store_dir: judged/store`"):
        check_module({"models": {}}, "judged/")
    with pytest.raises(UserError, match="`results_dir: FOLDER/results`"):
        check_module({"models": {}}, "")
