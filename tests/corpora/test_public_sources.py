"""The registry of public corpora."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePosixPath

import pytest

from dialeval.corpora.public_sources import files_of, public_corpora
from dialeval.corpora.robustness_sets import SETS
from dialeval.errors import UserError

CUT = {
    f"turn_{name}ratings.json"
    for name in ("", "relevance_", "specificity_", "interesting_", "understandability_", "overall_")
}
"""Of these only parts were at hand when the registry was made, so that their checksums are not known."""


def test_every_file_is_pinned_and_stays_in_its_folder() -> None:
    corpora = public_corpora()
    assert set(corpora) == {"botchat", "comp-analysis", "xdial-eval", "dialogbench", "mutual"}
    every = [file for files in corpora.values() for file in files]
    assert len({file.local_path for file in every}) == len(every)
    for file in every:
        assert re.fullmatch(r"[0-9a-f]{40}", file.commit)
        assert file.licence
        path = PurePosixPath(file.local_path)
        assert path.parts[0] == file.name
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert (file.sha256 == "") == (path.name in CUT or file.later)
        assert not file.sha256 or re.fullmatch(r"[0-9a-f]{64}", file.sha256)


def test_the_address_is_repository_commit_and_path() -> None:
    (file,) = files_of(["botchat"])
    url = file.url("https://host.example/")
    assert url == f"https://host.example/open-compass/BotChat/{file.commit}/data/MuTual_test.xlsx"


@pytest.mark.parametrize(
    ("names", "words"),
    [(["comp-analysys"], "did you mean 'comp-analysis'"), ([], "no public corpus is named; known: botchat")],
)
def test_an_unknown_name_is_told(names: list[str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        files_of(names)


def test_the_public_files_have_the_checksums_on_record(real_data: Path) -> None:
    for files in public_corpora().values():
        for file in files:
            path = real_data / file.local_path
            assert path.is_file() or file.later
            if file.sha256:
                assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256


def test_the_sets_that_the_readers_take_are_all_offered() -> None:
    paths = {file.local_path: file for files in public_corpora().values() for file in files}
    folder = "comp-analysis/robustness_data"
    assert not [path for published in SETS.values() for path in published.files if f"{folder}/{path}" not in paths]
    turns = {
        f"comp-analysis/turn_level_texts{'_268be7c' if old else ''}/{name}_text.txt"
        for name, old in (("topical-usr", 0), ("persona-zhao", 0), ("dailydialog-gupta", 1), ("empathetic-grade", 1))
    }
    dialogues = {
        f"comp-analysis/dialog_level_texts/{name}{kind}"
        for name in ("heval", "reliable")
        for kind in ("-dial_text.txt", "_gpt4_annotations.json")
    }
    xdial = {f"xdial-eval/data/turn/{name}.csv" for name in ("persona-zhao", "dailydialog-gupta", "empathetic-grade")}
    others = {
        "comp-analysis/turn_level_texts_268be7c/dstc10-topical_clean_text.txt",
        "xdial-eval/data/dial/conture-dial.csv",
    }
    assert turns | dialogues | xdial | others <= set(paths)
    old = paths["comp-analysis/turn_level_texts_268be7c/empathetic-grade_text.txt"]
    assert (old.commit[:7], old.origin_path) == ("268be7c", "turn_level_texts/empathetic-grade_text.txt")


def test_numbered_files_are_written_as_one_row() -> None:
    files = files_of(["mutual"])
    assert len(files) == 2 * 886
    assert files[9].origin_path == "data/mutual/dev/dev_10.txt"
    assert files[-1].local_path == "mutual/test/test_886.txt"
    assert {(file.licence, file.sha256, file.later) for file in files} == {("none stated", "", True)}
