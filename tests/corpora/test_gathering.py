"""Items that are gathered until it is known which depend on each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.corpora.gathering import Gathering, before_response
from dialeval.corpora.items import Rating
from dialeval.errors import UserError

PATH = Path("x.json")


def rating(item_id: str) -> list[Rating]:
    return [Rating("c", item_id, "overall", "human", "people", None, 3.0, 1, 1.0, 5.0)]


def test_clusters_are_by_context_unless_the_file_says_them() -> None:
    gathering = Gathering("c", PATH, "turn")
    for item_id, texts, cluster in (
        ("a", ["hi", "yo"], ""), ("b", ["hi", "no"], ""), ("d", ["hi", "so"], "talk"), ("e", ["ho", "so"], ""),
    ):  # fmt: skip
        gathering.take(item_id, f"x.json, record {item_id}", before_response(texts), rating(item_id), cluster)
    items = gathering.checked().items
    assert [(item.item_id, item.cluster) for item in items] == [("a", "a"), ("b", "a"), ("d", "talk"), ("e", "e")]
    assert {item.speakers for item in items} == {("human", "chatbot")}


def test_dialogues_are_one_cluster_where_they_are_the_same() -> None:
    gathering = Gathering("c", PATH, "dialogue")
    for item_id, last in (("a", "yo"), ("b", "no"), ("d", "yo")):
        gathering.take(item_id, "x.json", before_response(["hi", last]), rating(item_id))
    assert [item.cluster for item in gathering.checked().items] == ["a", "b", "a"]


def test_nothing_rated_or_said_is_left_out_and_the_same_id_refused() -> None:
    gathering = Gathering("c", PATH, "turn")
    gathering.take("a", "x.json, record 1", before_response(["hi", "yo"]), [])
    gathering.take("b", "x.json, record 2", before_response(["", "yo"]), rating("b"))
    gathering.take("d", "x.json, record 3", [], rating("d"))
    assert gathering.reading.left_out == {
        ("en", "a"): "records without a rating", ("en", "b"): "records with an empty utterance",
        ("en", "d"): "records with an empty utterance",
    }  # fmt: skip
    gathering.take("e", "x.json, record 4", before_response(["yo"]), rating("e"))
    gathering.take("e", "x.json, record 5", before_response(["yo"]), rating("e"))
    with pytest.raises(UserError, match="x.json, record 5: the id 'e' is used before, at record 4"):
        gathering.checked()
