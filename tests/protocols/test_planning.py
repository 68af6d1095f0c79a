"""Requests go into tables and come back; shards share them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.engines.requests import Message, Request, Sampling
from dialeval.errors import UserError
from dialeval.protocols.planned_requests import Planned, answered, in_shard, request_from_row, with_statuses_printed
from dialeval.tables.dialogues import REQUESTS, RESPONSES
from dialeval.tables.files import TableWriter, iterate_rows, to_table, write_table

REQUEST = Request(
    "r1", "unieval", "choice", (Message("system", "s"), Message("user", "u\tü\n")),
    Sampling(0.7, 0.9, 5, 3, ("\n", "x")), ("Yes", "No"), "c", (("a", "b"), ("c",)), 2,
)  # fmt: skip


def test_a_request_comes_back_as_it_was(tmp_path: Path) -> None:
    planned = [Planned(REQUEST, "s", "m", "n", 8), Planned(Request("r2", "unieval", "chat", ()), "s", "m")]
    with TableWriter(tmp_path / "r", REQUESTS) as table:
        table.write_all(item.to_row() for item in planned)
    assert [request_from_row(row) for row in iterate_rows(tmp_path / "r", REQUESTS)] == [p.request for p in planned]


def test_shards_part_and_a_name_stays_in_its_shard() -> None:
    names = [f"arena/8/MT-{n}/a/b" for n in range(500)]
    for shards in (1, 2, 3, 7):
        of = [[shard for shard in range(1, shards + 1) if in_shard(name, shard, shards)] for name in names]
        assert all(len(found) == 1 for found in of)
        assert len({found[0] for found in of}) == shards


def response(name: str) -> dict[str, object]:
    return {"request_id": name, "key": "0", "status": "ok", "text": name, "reasoning": "", "finish_reason": "stop"}


def test_answers_of_shards_are_joined_by_id(tmp_path: Path) -> None:
    names = [f"r{n}" for n in range(20)]
    with TableWriter(tmp_path / "q", REQUESTS) as table:
        table.write_all(Planned(Request(name, "p", "chat", ()), "s", "m").to_row() for name in names)
    paths = []
    for shard in (1, 2, 3):
        paths.append(tmp_path / f"a{shard}")
        mine = [response(name) for name in names if in_shard(name, shard, 3)]
        write_table(paths[-1], RESPONSES, to_table(RESPONSES, mine))
    joined = [(row["request_id"], answer["text"]) for row, answer in answered(tmp_path / "q", paths)]
    assert joined == [(name, name) for name in names]
    with pytest.raises(UserError, match="no row for request"):
        list(answered(tmp_path / "q", paths[:2]))


# Stages that read answers say how many they could not read, and why.


def test_what_could_not_be_read_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"status": status} for status in ("ok", "low_mass", "ok", "truncated", "ok", "low_mass")]
    assert list(with_statuses_printed(rows, "gpt")) == rows
    assert capsys.readouterr().out == "responses of gpt: 3 ok, 2 low_mass, 1 truncated\n"
    assert len(list(with_statuses_printed(rows[:1], "gpt"))) == 1
    assert capsys.readouterr().out == ""
