"""The folder of a metric: what it holds, and what is said of one that does not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dialeval.engines.encoder.folder import folder_digest, load_network
from dialeval.engines.encoder.metric import Metric, read_metric
from dialeval.errors import UserError

pytestmark = pytest.mark.train


@pytest.fixture
def folder(metric_folder: Callable[..., Path], tmp_path: Path) -> Path:
    """A copy of a metric that a test may change."""
    return Path(shutil.copytree(metric_folder(adapter_size=4), tmp_path / "copy"))


def test_what_is_saved_is_what_is_loaded(folder: Path) -> None:
    import torch
    from safetensors.torch import load_file

    network, tokenizer, metric = load_network(folder)
    assert metric.experts == ("coherence", "engagingness", "informativeness")
    assert tokenizer("Hello")["input_ids"]
    state = network.state_dict()
    saved = {f"body.{name}": part for name, part in load_file(folder / "body.safetensors").items()}
    saved |= load_file(folder / "experts.safetensors")
    assert saved.keys() == state.keys()
    assert all(torch.equal(saved[name], part) for name, part in state.items())
    assert not network.training


def test_the_digest_follows_what_can_change_a_score_and_nothing_else(folder: Path) -> None:
    before = folder_digest(folder)
    (folder / "scores.parquet").write_bytes(b"a record")
    (folder / ".snakemake_timestamp").touch()
    content = json.loads((folder / "metric.json").read_text())
    (folder / "metric.json").write_text(json.dumps(content | {"versions": {"torch": "9"}, "body": "elsewhere"}))
    assert folder_digest(folder) == before
    assert folder_digest(Path(shutil.copytree(folder, folder.parent / "moved"))) == before
    (folder / "metric.json").write_text(json.dumps(content | {"max_tokens": 32}))
    assert folder_digest(folder) != before
    (folder / "metric.json").write_text(json.dumps(content))
    weights = (folder / "experts.safetensors").read_bytes()
    (folder / "experts.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    assert folder_digest(folder) != before


def test_a_folder_that_is_no_metric_is_refused_in_words(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no trained metric"):
        read_metric(tmp_path)
    (folder / "experts.safetensors").write_bytes(b"\x00" * 20)
    with pytest.raises(UserError, match="does not hold a whole metric"):
        load_network(folder)
    (folder / "experts.safetensors").unlink()
    with pytest.raises(UserError, match="does not hold a whole metric"):
        load_network(folder)
    content = json.loads((folder / "metric.json").read_text())
    for change, words in (
        ({"format": 7}, "its format is 7"),
        ({"level": "word"}, "its level is 'word'"),
        ({"experts": []}, "no experts"),
    ):
        (folder / "metric.json").write_text(json.dumps(content | change))
        with pytest.raises(UserError, match=words):
            read_metric(folder)
    (folder / "metric.json").write_text("{}")
    with pytest.raises(UserError, match="field 'format' is missing"):
        read_metric(folder)


def test_what_a_metric_says_of_itself_is_read_as_it_was_written(tmp_path: Path) -> None:
    metric = Metric("turn", ("relevance",), ("daily", "chat"), 128, 16, "xlm-roberta-base", "abc", (("torch", "2"),))
    (tmp_path / "metric.json").write_text(metric.to_json())
    assert read_metric(tmp_path) == metric
    assert metric.knows("turn", "relevance")
    assert not metric.knows("dialogue", "relevance")
    assert not metric.knows("turn", "overall")
