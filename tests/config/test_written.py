"""The configuration that is written down beside the results: whole, readable again, without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dialeval.config.loading import load_config
from dialeval.config.reading import WRITTEN_DOWN
from dialeval.config.whole import Config
from dialeval.config.written import HIDDEN, write_configuration, written

ROOT = Path(__file__).parents[2]
CONFIGURATIONS = [ROOT / "config.yaml", *sorted((ROOT / "configs").glob("*.yaml"))]
KEY = "zQ9-not-of-any-known-shape"


def of_file(path: Path) -> Config:
    return load_config(yaml.safe_load(path.read_text(encoding="utf-8")), files_are_there=False)


def with_endpoint(**fields: object) -> Config:
    model = {"engine": "openai", "model": "m", "api_key_env": "MY_KEY", **fields}
    return load_config({"models": {"m": model}, "chatbots": ["m"], "corpora": {"b": {"reader": "bundled"}},
                        "seeds": {"corpus": "b"}})  # fmt: skip


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.stem)
def test_what_is_written_is_the_same_configuration_and_stays_as_it_is(path: Path) -> None:
    config = of_file(path)
    text = written(config)
    again = load_config(yaml.safe_load(text), files_are_there=False)
    assert again == config
    assert written(again) == text


def test_defaults_and_what_changes_no_answer_are_written_too() -> None:
    content = yaml.safe_load(written(with_endpoint(family="fam", tags=["small"])))
    assert content["models"]["m"]["family"] == "fam"
    assert content["models"]["m"]["tags"] == ["small"]
    assert content["models"]["m"]["max_tries"] == 8
    assert content["selfchat"]["temperature"] == 0.0
    assert content["random_seed"] == 0
    assert "organisation" not in content["models"]["m"]


def test_a_key_is_written_nowhere_but_its_variables_name_is() -> None:
    config = with_endpoint(headers={"X-Note": f"see {KEY}"}, headers_env={"X-Key": "OTHER"})
    text = written(config, {"MY_KEY": KEY, "OTHER": "another-one"})
    assert KEY not in text
    assert yaml.safe_load(text)["models"]["m"]["headers"] == {"X-Note": HIDDEN}
    assert yaml.safe_load(text)["models"]["m"]["api_key_env"] == "MY_KEY"
    assert KEY in written(config, {})  # what no variable holds and looks like no key is no secret that we can know


def test_what_looks_like_a_key_is_hidden() -> None:
    assert "gsk_abcdefghijk" not in written(with_endpoint(headers={"X-Note": "gsk_abcdefghijk"}), {})
    assert "hf_abcdefghijk" not in written(with_endpoint(headers={"X-Note": "hf_abcdefghijk"}), {})
    assert "hf-internal-testing/tiny" in written(with_endpoint(model="hf-internal-testing/tiny"), {})  # no key


def test_a_file_that_says_the_same_is_left_alone(tmp_path: Path) -> None:
    config = with_endpoint().model_copy(update={"results_dir": tmp_path})
    write_configuration(config)
    before = (tmp_path / WRITTEN_DOWN).stat()
    write_configuration(config)
    assert (tmp_path / WRITTEN_DOWN).stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in tmp_path.iterdir()] == [WRITTEN_DOWN]
    write_configuration(config.model_copy(update={"random_seed": 7}))
    assert yaml.safe_load((tmp_path / WRITTEN_DOWN).read_text(encoding="utf-8"))["random_seed"] == 7
