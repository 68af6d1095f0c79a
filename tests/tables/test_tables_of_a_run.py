"""The tables of a run, as others take them over: what is exported is what the run has."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import dialeval
from dialeval.cli.main import main
from dialeval.errors import UserError
from dialeval.report.export import chosen_tables, column_words, found_tables, outdated_files
from dialeval.tables.dialogbench import TEST_ITEMS
from dialeval.tables.dialogues import GENERATED, JUDGEMENTS, SEEDS, UTTERANCE_LENGTHS
from dialeval.tables.files import empty_table, to_table, write_table
from dialeval.tables.measures import ADAPTIVE_ROUNDS, RATINGS

LENGTHS = {"model": 'an "able" one', "mean": 12.5, "median": None, "p95": 30.0, "max": 41, "n": 7, "tokenizer": "words"}
SEED = {
    "seed_id": "s1", "corpus": "c", "language": "en", "utterances": ["Hi,\nyou", "日本 – ünï"], "n_human": 4,
    "for_arena": True, "for_gteval": False,
}  # fmt: skip
ITEM_EXTRA = {"persona": "a cook"}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of a run, of which some tables are there."""
    folder = tmp_path / "results"
    items = empty_table(TEST_ITEMS)
    values = {field.name: _any(field.type) for field in items.schema} | {"extra": list(ITEM_EXTRA.items())}
    for path, kind, table in (
        ("tables/botchat/utterance_lengths", UTTERANCE_LENGTHS, to_table(UTTERANCE_LENGTHS, [LENGTHS])),
        ("tables/arena/ratings", RATINGS, empty_table(RATINGS)),
        ("tables/dialogbench/items", SEEDS, empty_table(SEEDS)),
        ("seeds", SEEDS, to_table(SEEDS, [SEED])),
        ("dialogbench/items", TEST_ITEMS, pa.Table.from_pylist([values], schema=items.schema)),
        (".kept/x/seeds", SEEDS, empty_table(SEEDS)),
    ):
        write_table(folder / f"{path}.parquet", kind, table)
    pq.write_table(pa.table({"a": [1]}), folder / "foreign.parquet")
    return folder


def _any(kind: pa.DataType) -> object:
    if pa.types.is_string(kind):
        return "x"
    return [] if pa.types.is_nested(kind) else 1


def test_what_is_for_readers_comes_first_and_names_are_unique(results: Path) -> None:
    tables = found_tables(results)
    assert [(table.name, table.is_published) for table in tables] == [
        ("arena/ratings", True),
        ("botchat/utterance_lengths", True),
        ("dialogbench/items", True),
        ("stages/dialogbench/items", False),
        ("seeds", False),
    ]
    assert {table.name: table.rows for table in tables}["seeds"] == 1
    assert tables[0].kind.title == "arena: Ratings"


def test_tables_are_chosen_by_name_or_pattern(results: Path) -> None:
    tables = found_tables(results)
    assert [one.name for one in chosen_tables(tables, ["seeds", "*/ratings", "seeds"])] == ["seeds", "arena/ratings"]
    with pytest.raises(UserError, match="did you mean 'arena/ratings'"):
        chosen_tables(tables, ["arena/rating"])


def test_a_folder_without_a_run_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="run snakemake first"):
        found_tables(tmp_path)


def test_a_broken_file_is_reported(results: Path) -> None:
    (results / "seeds.parquet").write_bytes(b"PAR1")
    with pytest.raises(UserError, match=r"seeds\.parquet cannot be read"):
        found_tables(results)


def test_every_column_is_described() -> None:
    assert [name for name, _, _ in column_words(SEEDS)] == SEEDS.schema.names
    described = {name: (kind, words) for name, kind, words in column_words(UTTERANCE_LENGTHS)}
    assert described["max"][0] == "integer?"
    assert described["n"] == ("integer", "number of utterances")


def exported(results: Path, name: str, path: Path) -> list[dict[str, str]]:
    assert main(["tables", name, "--results", str(results), "--csv", str(path)]) == 0
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_says_what_the_table_says(results: Path, tmp_path: Path) -> None:
    (row,) = exported(results, "botchat/utterance_lengths", tmp_path / "one.csv")
    assert row["model"] == 'an "able" one'
    assert (float(row["mean"]), row["median"], int(row["max"])) == (12.5, "", 41)
    (row,) = exported(results, "seeds", tmp_path / "two.csv")
    assert json.loads(row["utterances"]) == SEED["utterances"]
    (row,) = exported(results, "stages/dialogbench/items", tmp_path / "three.csv")
    assert json.loads(row["extra"]) == ITEM_EXTRA


def test_a_name_that_looks_like_a_formula_is_escaped(results: Path, tmp_path: Path) -> None:
    path = results / "tables/botchat/utterance_lengths.parquet"
    write_table(path, UTTERANCE_LENGTHS, to_table(UTTERANCE_LENGTHS, [{**LENGTHS, "model": "=cmd|'/c calc'!A1"}]))
    (row,) = exported(results, "botchat/utterance_lengths", tmp_path / "one.csv")
    assert row["model"] == "'=cmd|'/c calc'!A1"


def test_a_data_set_has_a_subset_for_each_table_and_the_same_rows(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    assert main(["export", "hub", "*", "--results", str(results), "--to", str(folder)]) == 0
    _, header, page = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    subsets = {one["config_name"]: one["data_files"] for one in yaml.safe_load(header)["configs"]}
    assert set(subsets) == {"botchat-utterance_lengths", "seeds", "test_items"}, "those with rows"
    files = {name: folder / split["path"][0] for name, (split,) in subsets.items()}
    assert pq.read_table(files["seeds"]).to_pylist() == [SEED]
    assert pq.read_table(files["test_items"])["extra"].to_pylist() == [[{"name": "persona", "value": "a cook"}]]
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.parquet")} == {
        str(path.relative_to(folder)) for path in files.values()
    }
    assert "| `seeds` | 1 | ChatSEED |" in page
    assert "Licence" in page


def test_nothing_is_overwritten_and_one_table_fits_in_a_csv(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine").touch()
    assert main(["export", "hub", "--results", str(results), "--to", str(tmp_path / "set")]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert main(["tables", "--results", str(results), "--csv", str(tmp_path / "x.csv")]) == 1
    assert "not 3 tables; name one" in capsys.readouterr().err


def test_tables_without_rows_are_no_data_set(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "hub", "arena/*", "--results", str(results), "--to", str(tmp_path / "set")]) == 1
    assert "all of these tables are empty" in capsys.readouterr().err


def test_the_list_is_of_what_is_for_readers(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", str(results)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "arena/ratings", "botchat/utterance_lengths", "dialogbench/items",
    ]  # fmt: skip
    assert main(["tables", "seeds", "--results", str(results), "--columns"]) == 0
    described = capsys.readouterr().out
    assert described.startswith("seeds: one row per ChatSEED\n")
    assert "utterances of the human dialogue" in described


def test_tables_with_other_columns_are_of_another_version(results: Path) -> None:
    (results / "provenance").mkdir()
    rounds = results / "rounds/gpt/closer.parquet"
    rounds.parent.mkdir(parents=True)
    write_table(rounds, ADAPTIVE_ROUNDS, to_table(ADAPTIVE_ROUNDS, []))
    assert outdated_files(results, lambda _: False) == {}
    seeds = pq.read_table(results / "seeds.parquet")
    pq.write_table(seeds.drop_columns(["for_gteval"]), results / "seeds.parquet")
    unknown = seeds.replace_schema_metadata({"dialeval": json.dumps({"table": "a table of that time"})})
    pq.write_table(unknown, results / "tables/old.parquet")
    (results / "cut.parquet").write_bytes(b"PAR1")
    (results / "linked.parquet").symlink_to(results / "seeds.parquet")
    assert outdated_files(results, lambda _: True) == {
        results / "seeds.parquet": "missing columns: for_gteval",
        results / "tables/old.parquet": "this version has no such table",
    }


def test_without_any_record_all_files_are_of_another_version(results: Path) -> None:
    (results / "usage.json").write_text("{}")
    assert outdated_files(results, lambda _: True) == {}
    outdated = outdated_files(results, lambda _: False)
    assert outdated[results / "usage.json"] == outdated[results / "seeds.parquet"] == "no record of its job"
    assert not [path for path in outdated if ".kept" in path.parts]
    foreign = results.parent / "another's"
    foreign.mkdir()
    pq.write_table(pa.table({"a": [1]}), foreign / "foreign.parquet")
    assert [outdated_files(folder, lambda _: False) for folder in (foreign, results.parent / "none")] == [{}, {}]


def test_a_run_in_python_gives_its_tables_as_data_frames(results: Path) -> None:
    run = dialeval.load(results)
    assert list(run.tables)[:2] == ["arena/ratings", "botchat/utterance_lengths"]
    lengths = run["botchat/utterance_lengths"]
    assert lengths.loc[0, "model"] == LENGTHS["model"]
    assert lengths.loc[0, "mean"] == 12.5
    assert run["stages/dialogbench/items"].loc[0, "extra"] == ITEM_EXTRA
    assert run.columns("seeds")["corpus"] == {name: words for name, _, words in column_words(SEEDS)}["corpus"]
    with pytest.raises(dialeval.UserError, match="did you mean 'arena/ratings'"):
        run["arena/rating"]
    with pytest.raises(dialeval.UserError, match="arena/ratings and botchat/utterance_lengths.*different columns"):
        run["*/*"]


def test_a_notebook_shows_the_summary_of_a_run(results: Path) -> None:
    run = dialeval.load(results)
    assert str(results) in run._repr_markdown_()  # not finished: which run it is
    with pytest.raises(dialeval.UserError, match="Run `snakemake` to finish it"):
        _ = run.summary
    (results / "summary.md").write_text("## Arena\n", encoding="utf-8")
    (results / "figures" / "arena").mkdir(parents=True)
    (results / "figures" / "arena" / "elo.svg").touch()
    assert run._repr_markdown_() == "## Arena\n"
    assert run.figures == {"arena/elo": results / "figures" / "arena" / "elo.svg"}


def test_cases_show_the_dialogues_up_to_the_length_that_was_judged(results: Path) -> None:
    said = {"origin": "model", "dropped": 0, "finish_reason": "stop"}
    turns = [{"chatbot": "able", "seed_id": SEED["seed_id"], "turn": n, "text": f"turn {n}", **said} for n in range(4)]
    write_table(results / "dialogues/able.parquet", GENERATED, to_table(GENERATED, turns))
    judged = {"judge": "clerk", "protocol": "gteval", "request_id": "r", "repeat": 0, "reason": "", "status": "ok"}
    judged |= {"case_id": SEED["seed_id"], "corpus": None, "item_id": None}
    rows = [
        judged | {"left": "able", "right": "human", "n_utterances": 3},
        judged | {"left": "able", "right": None, "n_utterances": None},
        judged | {"left": "unknown", "right": "able", "n_utterances": 1},
    ]
    write_table(results / "judgements/clerk/gteval.parquet", JUDGEMENTS, to_table(JUDGEMENTS, rows))
    cases = dialeval.load(results).cases("gteval")
    human = "\n".join(f"{'AB'[n % 2]}: {text}" for n, text in enumerate(SEED["utterances"][:3]))
    assert cases["left_dialogue"].tolist()[:2] == [
        "A: turn 0\nB: turn 1\nA: turn 2",
        "A: turn 0\nB: turn 1\nA: turn 2\nB: turn 3",
    ]
    assert cases["right_dialogue"].tolist()[0] == human
    assert cases["right_dialogue"].tolist()[2] == "A: turn 0"
    assert cases["left_dialogue"].isna().tolist() == [False, False, True]
    assert cases["right_dialogue"].isna().tolist() == [False, True, False]


def test_a_folder_without_tables_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(dialeval.UserError, match="run snakemake first"):
        dialeval.load(tmp_path)


def test_the_package_names_what_it_exports() -> None:
    assert {"load", "Run", "compare", "load_config", "UserError"} <= set(dir(dialeval))
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        _ = dialeval.laod  # type: ignore[attr-defined]
