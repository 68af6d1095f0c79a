"""Transcripts in the configuration: alone, with mistakes, and under names that others have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from config_example import BASE

from dialeval.config import Transcripts, load_config
from dialeval.errors import UserError

ALONE: dict[str, Any] = {
    "models": {"forest": {"engine": "embedded", "method": "forest"}},
    "judges": ["forest"],
    "transcripts": {"support": {"path": "support.jsonl"}},
    "protocols": {"human_like": {"form": "detect", "of": {"source": "support"}}},
}


def load(changes: dict[str, Any], *, there: bool = False) -> Any:
    return load_config(ALONE | changes, files_are_there=there)


def test_transcripts_need_neither_chatbots_nor_seeds_nor_corpora() -> None:
    config = load({})
    assert not config.talks()
    assert config.transcripts_path("support") == Path("data/support.jsonl")
    assert config.used_corpora() == ["bundled"]  # what the judge learns from


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"transcripts": {"support": {}}}, ["transcripts.support.path", "needed and missing"]),
        ({"transcripts": {"support": {"path": "a", "reader": "xml"}}}, ["transcripts.support.reader", "sharegpt"]),
        ({"transcripts": {"support": {"path": "a", "show": {"tools": True}}}}, ["transcripts.support.show.tools"]),
        (
            {"transcripts": {"support": {"path": "a", "reader": "jsonl", "columns": {"text": "t"}}}},
            ["transcripts.support", "columns are of tables", "set reader: csv"],
        ),
        ({"transcripts": {"support": {"path": "a", "limit": 0}}}, ["transcripts.support.limit"]),
        (
            {"transcripts": {name: {"path": "a"} for name in ("support", "other")}},
            ["transcripts.other: nobody is asked about 'other'", "{form: scale, of: {source: other}"],
        ),
        (
            {"transcripts": {name: {"path": "a"} for name in ("support", "Support")}},
            ["'support' and 'Support' differ only in case"],
        ),
        (
            {
                "transcripts": {"selfchat": {"path": "a"}},
                "protocols": {"one": {"form": "detect", "of": {"source": "selfchat"}}},
            },
            ["'selfchat' names the chatbots' dialogues"],
        ),
    ],
)
def test_a_mistake_is_told_with_its_field(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load(changes)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_names_of_corpora_are_taken() -> None:
    one = {"form": "scale", "of": {"source": "steps"}, "criteria": ["overall"], "judges": ["gpt"]}
    changes = {"protocols": {"one": one}, "transcripts": {"steps": {"path": "a"}}}
    with pytest.raises(UserError, match="'steps' is a name under metaeval.corpora, too"):
        load_config(BASE | changes, files_are_there=False)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"transcripts.support.path: .*nowhere.jsonl does not exist"):
        load({"transcripts": {"support": {"path": str(tmp_path / "nowhere.jsonl")}}}, there=True)


def test_what_is_shown_is_by_kind() -> None:
    shown = Transcripts.model_validate({"path": "a", "show": {"tool_calls": True}}).options()
    assert shown["shown"] == ["tool_call", "tool_result"]
    assert shown["columns"] == {}
    assert "path" not in shown
