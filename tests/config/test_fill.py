"""Who fills in what nobody rated: every way to name it wrongly, found before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.config import load_config
from dialeval.config.fill import partial_to
from dialeval.errors import UserError

REPEATED = {"repeats": 5, "temperature": 0.7}


def raw(fill: str | None = "gpt", **changes: Any) -> dict[str, Any]:
    metaeval = {
        "corpora": {"mine": {"reader": "rated_jsonl", "path": "mine.jsonl"}},
        "score_files": {"metric": {"path": "m.csv"}},
        "fill": fill,
    }
    parts: dict[str, Any] = {
        "models": {
            "gpt": {"engine": "openai", "model": "gpt"},
            "length": {"engine": "embedded", "method": "length"},
        },
        "judges": ["gpt", "length"],
        "protocols": {"rating": REPEATED},
        "metaeval": metaeval,
    }
    return parts | changes


def test_the_judge_and_the_ensembles_that_it_is_in_are_partial() -> None:
    ensembles = {"both": ["gpt", "length"], "without": ["length", "metric"]}
    assert partial_to(load_config(raw(ensembles=ensembles), files_are_there=False)) == ["gpt", "both"]
    assert partial_to(load_config(raw(None), files_are_there=False)) == []


@pytest.mark.parametrize(
    ("fill", "changes", "words"),
    [
        ("gtp", {}, "metaeval.fill: 'gtp' is not a model of this configuration; did you mean 'gpt'?"),
        ("metric", {}, "'metric' is a file of ready scores, which has no repeats of its own"),
        ("both", {"ensembles": {"both": ["gpt", "length"]}}, "'both' is an ensemble, which has no repeats of its own"),
        ("gpt", {"protocols": {"yes_no": {}}}, "rating: {judges: [gpt], repeats: 5, temperature: 0.7}"),
        (
            "gpt",
            {"protocols": {"rating": REPEATED | {"judges": ["length"]}}},
            "'gpt' is not asked to rate; put it under protocols.rating.judges (length)",
        ),
        ("gpt", {"protocols": {"rating": {}}}, "set protocols.rating.repeats to 2 or more"),
        (
            "gpt",
            {"metaeval": {"corpora": {"steps": {"reader": "ladder"}}, "fill": "gpt"}},
            "every corpus is a ladder, whose reference is known by construction",
        ),
    ],
)
def test_mistakes_are_told_with_their_remedy(fill: str, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as told:
        load_config(raw(fill, **changes), files_are_there=False)
    assert words in str(told.value)
