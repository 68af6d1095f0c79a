"""Plain tables of battles: what is read, and every mistake in words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialeval.corpora.battles import Battles, read
from dialeval.errors import UserError

HEAD = "left,right,winner\n"
AB = ("a", "b", 1.0, 0)


def rows_of(battles: Battles) -> list[tuple[str, str, float, int]]:
    """Each battle as the names of the left and the right, what the left got, and the number of its cluster."""
    names = np.array(battles.models)
    columns = (names[battles.left], names[battles.right], battles.outcome, battles.cluster)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "mine.csv"


@pytest.mark.parametrize(
    ("text", "columns", "battles"),
    [
        (HEAD + "a,b,left\n\nb,a,tie\n", {}, [("a", "b", 1.0, 0), ("b", "a", 0.5, 1)]),
        ('\ufeffid,left , right,label,prompt\n1,"a",b,Left,p\n2,"a, b ""c""",b, RIGHT ,p\r\n', {"cluster": "prompt"},
         [("a", "b", 1.0, 0), ('a, b "c"', "b", 0.0, 0)]),
        ("model_a,model_b,winner,vote\na,b,no,left\n", {"left": "model_a", "right": "model_b", "winner": "vote"}, [AB]),
        ("winner,loser\na,b\n", {"left": "winner", "right": "loser"}, [AB]),
        ("model_a,model_b,winner,left\na,b,model_a,12\n", {}, [AB]),
        ('left,right,winner,"why; how; when; who"\na,b,left,so\n', {}, [AB]),
        ("sep=,\nleft,right,winner,why\na,b,left,so\n", {}, [AB]),
        ('{"left": "a", "right": "b", "winner": "left", "votes": [{"label": "x", "winner": "b"}]}', {}, [AB]),
        *(
            (f"model_a,model_b,winner\na,b,{word}\n", {}, [("a", "b", 0.5, 0)])
            for word in ("both_bad", "bothbad", "Both bad", "tie(bothbad)", "tie (bothbad)")
        ),
    ],
)  # fmt: skip
def test_the_battles_of_a_table(table: Path, text: str, columns: dict[str, str], battles: list[Any]) -> None:
    table.write_text(text, encoding="utf-8")
    assert rows_of(read(table, **columns)) == battles


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["the file is empty"]),
        (HEAD, ["no battle"]),
        ("left,right,who\na,b,left\n", ["no column 'winner'", "columns: left, right, who", "field 'winner'"]),
        ("l;r;winner\na;b;left\n", ["no column 'left'", "columns: l, r, winner"]),
        ("l|r|winner\na|b|left\n", ["no column 'left'", "columns: l|r|winner", "separated by commas"]),
        ("left,left,right,winner\na,a,b,tie\n", ["several columns 'left'"]),
        (HEAD + "a,b,left\na,b,model_a\n", ["line 3", "'winner' is 'model_a'", "left, right, tie or the"]),
        (HEAD + "a,b,\n", ["line 2", "''", "left, right, tie or the"]),
        (HEAD + "a,a,left\n", ["line 2", "'a' is compared with itself"]),
        (HEAD + "a, ,left\n", ["line 2", "'right' is empty"]),
        (HEAD + "a,b,left,c\n", ["line 2", "4 fields", "header has 3", "double quotes"]),
        (HEAD + 'a,"b,left\n', ["line 2", "not readable as CSV", "quotes"]),
    ],
)
def test_a_mistake_is_reported_with_place_value_and_remedy(table: Path, text: str, words: list[str]) -> None:
    table.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read(table)
    for word in [str(table), *words]:
        assert word in str(caught.value)


def test_a_cluster_must_be_there_and_filled(table: Path) -> None:
    table.write_text("left,right,winner,prompt\na,b,left,\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 2: column 'prompt' is empty"):
        read(table, cluster="prompt")
    with pytest.raises(UserError, match="no column 'seed'"):
        read(table, cluster="seed")


def test_a_file_that_is_not_utf8_or_not_there(table: Path) -> None:
    table.write_bytes(HEAD.encode() + "привет,b,left\n".encode("cp1251"))
    with pytest.raises(UserError, match="line 2: not UTF-8"):
        read(table)
    with pytest.raises(UserError, match="cannot be read"):
        read(table.with_name("absent.csv"))


@pytest.mark.parametrize(
    ("name", "n", "models", "ties", "prompts"), [("crowd", 8931, 59, 3471, 13), ("gpt3", 3236, 70, 313, 19)]
)
def test_the_public_tables(real_data: Path, name: str, n: int, models: int, ties: int, prompts: int) -> None:
    battles = read(real_data / "battles" / f"{name}-comparisons.csv", cluster="prompt")
    assert len(battles) == n
    assert len(battles.models) == models
    assert np.count_nonzero(battles.outcome == 0.5) == ties
    assert (battles.n_clusters, len(np.unique(battles.cluster))) == (prompts, prompts)


ARENA = [
    {"model_a": "heron", "model_b": "reed", "winner": "model_a", "turn": 1, "conversation_a": [{"role": "user"}]},
    {"model_a": "reed", "model_b": "heron", "winner": "tie (bothbad)", "turn": 2},
    {"winner": "model_b", "model_b": "sedge", "model_a": "reed"},
]
"""Votes as Chatbot Arena publishes them; fields that nobody asks for come and go."""
VOTES = [("heron", "reed", 1.0, 0), ("reed", "heron", 0.5, 1), ("reed", "sedge", 0.0, 2)]


def as_table(delimiter: str, encoding: str = "utf-8") -> bytes:
    rows = (
        ["model_a", "model_b", "winner"],
        *([row[name] for name in ("model_a", "model_b", "winner")] for row in ARENA),
    )
    return "\r\n".join(delimiter.join(map(str, row)) for row in rows).encode(encoding)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("votes.json", json.dumps(ARENA).encode()),
        ("votes.json", json.dumps({"votes": ARENA}, indent=1).encode()),
        ("votes.json", "\n".join(map(json.dumps, ARENA)).encode()),
        ("votes.jsonl.gz", gzip.compress("\n".join(map(json.dumps, ARENA)).encode(), mtime=0)),
        ("votes.csv", as_table(",")),
        ("votes.csv", as_table(";", "utf-8-sig")),
        ("votes.tsv", as_table("\t", "utf-16")),
    ],
)
def test_arenas_votes_are_read_however_they_were_saved(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert rows_of(read(tmp_path / name)) == VOTES


def test_votes_in_parquet_and_in_a_workbook(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ARENA), tmp_path / "votes.parquet")
    book = openpyxl.Workbook()
    for line in as_table(";").decode().split("\r\n"):
        book.active.append(line.split(";"))
    book.save(tmp_path / "votes.xlsx")
    assert rows_of(read(tmp_path / "votes.parquet")) == rows_of(read(tmp_path / "votes.xlsx")) == VOTES


def test_letters_of_a_western_spreadsheet_are_read_and_noted(table: Path) -> None:
    table.write_bytes((HEAD + "möwe,reed,left\n").encode("cp1252"))
    found = read(table)
    assert found.models == ["möwe", "reed"]
    assert any("read as Windows-1252, such as mine.csv" in note for note in found.notes)


def test_words_for_winners_have_their_documented_meaning(table: Path) -> None:
    table.write_text("model_1,model_2,verdict\na,b,A\nb,a,[[C]]\na,c,error\nc,b,\n", encoding="utf-8")
    words = {"A": "left", "[[C]]": "tie", "error": "skip", "": "skip"}
    found = read(table, winner="verdict", outcomes=words)
    assert rows_of(found) == [("a", "b", 1.0, 0), ("b", "a", 0.5, 1)]
    assert sum(found.notes.values()) == 2
    with pytest.raises(
        UserError,
        match=r"line 4: column 'verdict' is 'error', which is not a winner; write left, right, tie",
    ):
        read(table, winner="verdict", outcomes={"A": "left", "[[C]]": "tie"})
    with pytest.raises(UserError, match="csv has no battles, except the 4 that `outcomes` skips"):
        read(table, winner="verdict", outcomes=dict.fromkeys(["A", *words], "skip"))


def test_numbers_for_winners_are_those_of_json_and_of_tables(tmp_path: Path) -> None:
    preferences = [1, 2, 1.5, 0, None, 1.0]
    lines = [json.dumps({"left": "a", "right": "b", "winner": number}) for number in preferences]
    (tmp_path / "p.jsonl").write_text("\n".join(lines), encoding="utf-8")
    cells = "".join(f"a,b,{'' if number is None else number}\n" for number in preferences)
    (tmp_path / "p.csv").write_text(HEAD + cells, encoding="utf-8")
    words = {"1": "left", "2": "right", "1.5": "tie", "0": "tie", "": "skip"}
    for name in ("p.jsonl", "p.csv"):
        assert read(tmp_path / name, outcomes=words).outcome.tolist() == [1.0, 0.0, 0.5, 0.5, 1.0]


def test_the_winner_may_be_one_of_three_columns(table: Path) -> None:
    head = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    table.write_text(head + "1,a,b,1,0,0\n2,b,a,0.0,0.0,1.0\n3,a,c,0,1,0\n", encoding="utf-8")
    assert rows_of(read(table)) == [("a", "b", 1.0, 0), ("b", "a", 0.5, 1), ("a", "c", 0.0, 2)]
    table.write_text(head + "1,a,b,1,0,1\n", encoding="utf-8")
    with pytest.raises(
        UserError, match="line 2: one of the three columns of the winner must be 1 and the others 0, not 1, 0, 1"
    ):
        read(table)
    table.write_text(head + "1,a,b,0.3,0.3,0.4\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 2: one of the three columns"):
        read(table)


def test_mt_benchs_judgements_are_battles(tmp_path: Path) -> None:
    path = tmp_path / "judgments.jsonl"
    lines = [
        '{"question_id": 81, "model_a": "alpha", "model_b": "beta, tuned", "winner": "model_a", "turn": 1}',
        "",
        '{"question_id": 81, "model_a": "beta, tuned", "model_b": "alpha", "winner": "model_b", "turn": 1}',
        '{"turn": 2, "winner": "tie (inconsistent)", "question_id": 82, "model_a": "alpha", "model_b": "beta, tuned"}',
        '{"question_id": 82, "model_a": "alpha", "model_b": "beta, tuned", "winner": "beta, tuned", "turn": 2}',
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    battles = read(path, left="model_a", right="model_b", cluster="question_id")
    assert [(left, outcome, cluster) for left, _, outcome, cluster in rows_of(battles)] == [
        ("alpha", 1.0, 0),
        ("beta, tuned", 0.0, 0),
        ("alpha", 0.5, 1),
        ("alpha", 0.0, 1),
    ]
    path.write_text("\n".join([*lines, '{"question_id": 83, "model_a": "alpha", "winner": "tie"}']), encoding="utf-8")
    with pytest.raises(UserError, match="line 6: the field 'model_b' of the first line is missing"):
        read(path, left="model_a", right="model_b")
    path.write_text(lines[0].replace('"model_a",', '"error",'), encoding="utf-8")
    with pytest.raises(UserError, match="'error', which is not a winner"):
        read(path, left="model_a", right="model_b")


def test_a_winner_in_both_orders_is_a_tie_where_they_differ(tmp_path: Path) -> None:
    winners = [
        ("model_1", "model_1"),
        ("model_1", "model_2"),
        ("tie", "model_2"),
        ("tie", "tie"),
        ("model_2", "model_2"),
    ]
    record = {"question_id": 81, "model_1": "heron", "model_2": "reed", "judge": ["owl", "pair"]}
    lines = [json.dumps(record | {"g1_winner": one, "g2_winner": two}) for one, two in [*winners, ("error", "tie")]]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read(path, outcomes={"error": "skip"})
    assert found.outcome.tolist() == [1.0, 0.5, 0.5, 0.5, 0.0]
    with pytest.raises(UserError, match="line 6: column 'g1_winner' is 'error', which is not a winner"):
        read(path)


def test_a_path_leads_into_nested_objects(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    vote = {"model_a": "heron", "model_b": "reed", "vote": {"winner": "model_b", "by": {"id": 7}}}
    path.write_text(json.dumps(vote) + "\n" + json.dumps({**vote, "vote": {"by": {"id": 8}}}), encoding="utf-8")
    with pytest.raises(UserError, match="line 2: the field 'vote.winner' of the first line is missing"):
        read(path, winner="vote.winner", cluster="vote.by.id")
    path.write_text(json.dumps(vote), encoding="utf-8")
    assert rows_of(read(path, winner="vote.winner", cluster="vote.by.id")) == [("heron", "reed", 0.0, 0)]


def test_a_row_that_repeats_another_is_read_as_it_would_be_alone(tmp_path: Path) -> None:
    """What a row says is looked up where another has said it; in JSON, 1 and true would be found as one."""
    path = tmp_path / "mine.jsonl"
    line = '{"left": 1, "right": "b", "winner": "left"}'
    path.write_text("\n".join([line, line]), encoding="utf-8")
    assert rows_of(read(path)) == [("1", "b", 1.0, 0), ("1", "b", 1.0, 1)]
    for value in ("true", "1.5", "[]"):
        path.write_text("\n".join([line, line.replace("1", value)]), encoding="utf-8")
        with pytest.raises(UserError, match="line 2: 'left' is .*; it must be a text or a whole number"):
            read(path)


def test_battles_that_are_all_passed_over_are_reported_to_be(table: Path) -> None:
    table.write_text("left,right,winner\nheron,reed,unsure\n", encoding="utf-8")
    with pytest.raises(UserError, match="no battles, except the 1 that `outcomes` skips; correct `outcomes`"):
        read(table, outcomes={"unsure": "skip"})
