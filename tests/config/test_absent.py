"""Rated corpora that may be absent, and the configurations that are shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialeval.config import load_config, read_config_file
from dialeval.config.absent import absent_corpora, told, without_absent
from dialeval.errors import UserError

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))


def raw(folder: Path, **changes: Any) -> dict[str, Any]:
    (folder / "here.jsonl").touch()
    corpora = {
        name: {"reader": "rated_jsonl", "path": f"{name}.jsonl", "optional": True} for name in ("here", "gone", "away")
    }
    parts: dict[str, Any] = {
        "data_dir": str(folder),
        "models": {"forest": {"engine": "embedded", "method": "forest"}},
        "judges": ["forest"],
        "protocols": {"yes_no": {}},
        "metaeval": {"corpora": corpora},
    }
    return parts | changes


def test_what_is_absent_is_left_out_and_told(tmp_path: Path) -> None:
    whole = load_config(raw(tmp_path))
    config = without_absent(whole)
    assert config.metaeval is not None
    assert list(config.metaeval.corpora) == ["here"]
    first, second = told(config, whole)
    assert first.startswith(f"note: metaeval.corpora.gone is left out: {tmp_path / 'gone.jsonl'} is not there; correct")
    assert "metaeval.corpora.away" in second
    assert without_absent(config) is config
    assert list(told(config, config)) == []


def test_the_remedy_for_public_corpora_is_the_download(tmp_path: Path) -> None:
    whole = load_config(raw(tmp_path, public_corpora=["comp-analysis"]))
    assert all("`snakemake --cores 1 download`" in line for line in told(without_absent(whole), whole))


def test_a_corpus_that_is_needed_must_be_there(tmp_path: Path) -> None:
    corpora = raw(tmp_path)["metaeval"]["corpora"] | {"needed": {"reader": "rated_jsonl", "path": "needed.jsonl"}}
    with pytest.raises(UserError, match=r"metaeval.corpora.needed.path: .*needed.jsonl does not exist"):
        load_config(raw(tmp_path, metaeval={"corpora": corpora}))


def test_a_corpus_that_a_protocol_names_is_needed_though_it_is_optional(tmp_path: Path) -> None:
    protocols = {"yes_no": {}, "felt": {"form": "probability", "of": {"source": "gone"}, "criteria": ["overall"]}}
    with pytest.raises(UserError, match=r"metaeval.corpora.gone.path: .* does not exist") as caught:
        load_config(raw(tmp_path, protocols=protocols))
    assert "away" not in str(caught.value)


def test_something_must_be_left(tmp_path: Path) -> None:
    corpora = {"gone": {"reader": "rated_jsonl", "path": "gone.jsonl", "optional": True}}
    config = load_config(raw(tmp_path, metaeval={"corpora": corpora}))
    with pytest.raises(UserError, match=r"metaeval.corpora: none is there; correct its path or `data_dir`"):
        without_absent(config)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_shipped_configuration_loads(path: Path) -> None:
    config = load_config(read_config_file(path), files_are_there=False)
    assert config.models or config.battles


def test_the_configurations_of_the_papers_models_say_what_kind_each_is() -> None:
    for name in ("botchat", "botchat-today", "dialogbench-models", "comp-analysis-models", "xdial-models"):
        config = load_config(read_config_file(ROOT / "configs" / f"{name}.yaml"), files_are_there=False)
        assert [model for model, one in config.models.items() if one.kind is None] == []


@pytest.mark.parametrize(("name", "corpora"), [("metaeval", 29), ("comp-analysis-models", 12), ("xdial-models", 19)])
def test_absent_public_corpora_are_left_out(name: str, corpora: int, real_data: Path) -> None:
    raw = read_config_file(ROOT / "configs" / f"{name}.yaml") | {"data_dir": str(real_data)}
    config = load_config(raw, files_are_there=False)
    assert config.metaeval is not None
    assert len(config.metaeval.corpora) == corpora
    assert 0 < len(absent_corpora(config)) < corpora
