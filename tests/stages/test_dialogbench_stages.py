"""DialogBench's stages on small tables: sources, limits and variants of items, and answers by source and variant."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from dialogbench_examples import item, record

from dialeval.dialogbench.items import TestItem
from dialeval.dialogbench.writing import Attempt
from dialeval.dialogbench.written_items import Outcome
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planned_requests import request_from_row
from dialeval.stages import dialogbench, dialogbench_results
from dialeval.stats.clustered import clustered_proportion
from dialeval.tables.catalogue import TABLES
from dialeval.tables.dialogbench import TEST_ANSWERS, TEST_ITEMS, WRITTEN_ITEMS
from dialeval.tables.dialogues import REQUESTS
from dialeval.tables.files import TableWriter, read_table, to_table, write_table


def write_items(path: Path) -> None:
    """Write three written items: one for each variant."""

    def attempt(name: str, procedure: str, reasons: tuple[str, ...] = ()) -> Attempt:
        found = item(item_id=f"en/IC/{name}", origin="w")
        return Attempt(procedure, 0, Outcome(found.item_id, "IC", "Film", "en", "ok", found, reasons, reasons))

    attempts = [attempt("a", "full"), attempt("b", "full", ("filtered_out",)), attempt("c", "-styles")]
    attempts.append(attempt("d", "full", ("too_few_turns",)))
    with TableWriter(path, WRITTEN_ITEMS) as table:
        table.write_all(one.to_row() for one in attempts)


def read(tmp_path: Path, written: list[Path], **changes: Any) -> list[dict[str, Any]]:
    settings: dict[str, Any] = {"bundled": [], "published": {}, "variants": ["full"], "limit": None, "random_seed": 0}
    dialogbench.dialogbench_read(
        dialogbench.DialogbenchReadSettings(**settings | changes), written, tmp_path / "items.parquet"
    )
    return read_table(tmp_path / "items.parquet", TEST_ITEMS).to_pylist()


def test_items_of_all_sources_have_names_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps(record(id="IC-1")), json.dumps(record(id="IC-1", label="E"))]
    (tmp_path / "intent_first.json").write_text("\n".join(lines), encoding="utf-8")
    write_items(tmp_path / "written.parquet")
    published = {"paper-zh": {"path": str(tmp_path / "intent_first.json"), "language": "zh", "task": None}}
    rows = read(tmp_path, [tmp_path / "written.parquet"], bundled=["en", "zh"], published=published)
    assert len({row["item_id"] for row in rows}) == len(rows) == 48 + 12 + 1 + 1
    assert rows[0]["item_id"].startswith("bundled/en/")
    assert [row["item_id"] for row in rows[-2:]] == ["paper-zh/IC-1", "written/en/IC/a"]
    output = capsys.readouterr().out
    assert "1 IC label_outside_options" in output
    assert "test items: 60 bundled, 1 paper-zh, 1 written" in output


def test_the_right_options_place_is_drawn_and_the_option_stays_the_right_one(tmp_path: Path) -> None:
    rows = read(tmp_path, [], bundled=["en"])
    others = read(tmp_path, [], bundled=["en"], random_seed=1)
    assert any(one["label"] != other["label"] for one, other in zip(rows, others, strict=True))
    for one, other in zip(rows, others, strict=True):
        first, second = TestItem.from_row(one), TestItem.from_row(other)
        assert first.options[first.right] == second.options[second.right]
        assert sorted(first.options) == sorted(second.options)


def test_a_limit_holds_for_each_task(tmp_path: Path) -> None:
    assert len(read(tmp_path, [], bundled=["en", "zh"], limit=2)) == 24 + 12


def test_variants_are_distinguished(tmp_path: Path) -> None:
    write_items(tmp_path / "written.parquet")
    rows = read(tmp_path, [tmp_path / "written.parquet"], variants=["full", "-styles", "-filter"])
    assert [(row["item_id"][-1], row["variant"]) for row in rows] == [("a", "full"), ("b", "-filter"), ("c", "-styles")]
    assert [row["item_id"][-1] for row in read(tmp_path, [tmp_path / "written.parquet"])] == ["a"]


def test_requests_carry_the_items_names(tmp_path: Path) -> None:
    rows = read(tmp_path, [], bundled=["en"], limit=1)
    letter = dialogbench.Examination(
        circular=True, presentation="history", max_tokens=9, presence_penalty=0.6, frequency_penalty=0.0
    )
    once = letter.model_copy(update={"circular": False})
    settings = dialogbench.DialogbenchPlanSettings(examinations={"choice": once, "letter": letter})
    planned = [tmp_path / "dialogbench_letter.parquet", tmp_path / "dialogbench_choice.parquet"]
    dialogbench.dialogbench_plan(settings, tmp_path / "items.parquet", planned, Templates())
    requests, chosen = (read_table(path, REQUESTS).to_pylist() for path in planned)
    assert len(chosen) == len(rows)
    assert len(requests) == 10 * 4 + 3 + 2
    assert {request["case_id"] for request in requests} == {row["item_id"] for row in rows}
    assert {(request["max_tokens"], request["presence_penalty"]) for request in requests} == {(9, 0.6)}
    assert {request_from_row(request).sampling.presence_penalty for request in requests} == {0.6}


def answer(source: str, variant: str, correct: bool, number: int) -> dict[str, Any]:
    return {
        "source": source,
        "variant": variant,
        "model": "m",
        "method": "letter",
        "item_id": f"{source}/{number}",
        "cluster": f"{source}/{number}",
        "task": "IC",
        "domain": "Film",
        "language": "en",
        "rotation": 0,
        "n_options": 4,
        "label": "A",
        "choice": "A" if correct else "B",
        "correct": correct,
        "status": "ok",
    }


def tables_of(
    tmp_path: Path, answers: list[dict[str, Any]], ablations: list[str], experts: list[Path] | None = None
) -> Path:
    read(tmp_path, [], bundled=["en"])
    write_items(tmp_path / "written.parquet")
    write_table(tmp_path / "answers.parquet", TEST_ANSWERS, to_table(TEST_ANSWERS, answers))
    dialogbench_results.dialogbench_tables(
        dialogbench_results.DialogbenchTablesSettings(
            confidence=0.9,
            ablations=ablations,
            groups={"chat": ["m"], "own": ["m"]},
            kinds={"m": "chat"},
            parts={"m": "filtered"},
            at_least=None,
            random_seed=0,
        ),
        tmp_path / "items.parquet",
        [tmp_path / "answers.parquet"],
        [tmp_path / "written.parquet"],
        [],
        experts or [],
        tmp_path / "tables",
    )
    return tmp_path / "tables"


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return read_table(folder / f"{name}.parquet", TABLES[f"dialogbench/{name}"]).to_pylist()


def test_sources_are_never_mixed_and_ablations_stand_apart(tmp_path: Path) -> None:
    answers = [answer("bundled", "full", True, 1), answer("bundled", "full", True, 2)]
    answers += [answer("written", "full", True, 3), answer("written", "full", False, 4)]
    answers += [answer("written", "-filter", False, 5), answer("written", "-styles", True, 6)]
    folder = tables_of(tmp_path, answers, ["styles", "filter"])
    overall = {row["source"]: row for row in rows_of(folder, "accuracy") if row["scope"] == "overall"}
    assert (overall["bundled"]["accuracy"], overall["written"]["accuracy"]) == (1.0, 0.5)
    assert overall["written"]["n"] == 2
    assert overall["paper"]["accuracy"] == pytest.approx(0.925)
    assert overall["paper"]["ci_low"] is None
    assert [overall[name]["part"] for name in ("bundled", "written", "paper")] == [None, "filtered", None]
    assert [overall[name]["kind"] for name in ("bundled", "written", "paper")] == ["chat", "chat", "people"]
    assert overall["written"]["chance"] == 0.25
    wide = rows_of(folder, "overview")
    assert [(row["source"], row["type"], row["model"], row["IC"], row["SF"]) for row in wide] == [
        ("paper", "people", "human", 0.96, 0.98),
        ("bundled", "chat", "m", 1.0, None),
        ("bundled", "chat", "average", 1.0, None),
        ("written", "chat", "m", 0.5, None),
        ("written", "chat", "average", 0.5, None),
    ]
    averages = {(row["source"], row["group"], row["name"]): row for row in rows_of(folder, "averages")}
    assert averages["written", "own", "IC"]["accuracy"] == averages["written", "chat", "Film"]["accuracy"] == 0.5
    assert averages["written", "chat", "Overall"]["published"] == pytest.approx(0.6238)
    assert averages["written", "own", "Overall"]["published"] is None
    ablations = {row["variant"]: row for row in rows_of(folder, "ablations") if row["scope"] == "overall"}
    assert {name: (row["accuracy"], row["n"]) for name, row in ablations.items()} == {
        "full": (0.5, 2),
        "-styles": (1.0, 1),
        "-filter": (pytest.approx(1 / 3), 3),
    }
    assert ablations["-filter"]["difference"] == pytest.approx(1 / 3 - 1 / 2)
    counts = [(row["variant"], row["reason"], row["n"]) for row in rows_of(folder, "filter_counts")]
    assert counts == [
        ("full", "accepted_short", 1),
        ("full", "filtered_out", 1),
        ("full", "too_few_turns", 1),
        ("-styles", "accepted_short", 1),
    ]


def test_the_confidence_is_that_of_the_configuration(tmp_path: Path) -> None:
    folder = tables_of(tmp_path, [answer("bundled", "full", n < 5, n) for n in range(10)], [])
    (row,) = [row for row in rows_of(folder, "accuracy") if row["scope"] == "task" and row["source"] == "bundled"]
    expected = clustered_proportion([1.0] * 5 + [0.0] * 5, range(10), confidence=0.9)
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(expected.ci_low), pytest.approx(expected.ci_high))
    assert row["ci_low"] > clustered_proportion([1.0] * 5 + [0.0] * 5, range(10)).ci_low


def test_without_answers_the_tables_are_empty_but_there(tmp_path: Path) -> None:
    folder = tables_of(tmp_path, [], [])
    assert rows_of(folder, "accuracy") == rows_of(folder, "circular") == rows_of(folder, "ablations") == []
    assert sum(row["n"] for row in rows_of(folder, "items")) == 48


def test_experts_answers_go_from_the_sheet_to_a_row_beside_the_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = tmp_path / "items.parquet"
    rows = read(tmp_path, [], bundled=["en"])
    right = {row["item_id"]: row["label"] for row in rows}
    settings = dialogbench.DialogbenchSheetSettings(per_task=1, random_seed=0)
    dialogbench.dialogbench_sheet(settings, items, tmp_path / "sheet.csv", tmp_path / "sheet.digest")
    with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        asked = list(csv.DictReader(file))
    filled = [{**row, "answer": right[row["item"]], "expert": name} for name in ("ann", "bo") for row in asked]
    filled[0]["answer"] = "B" if right[asked[0]["item"]] == "A" else "A"
    with (tmp_path / "filled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(asked[0]))
        writer.writeheader()
        writer.writerows(filled)
    told = dialogbench_results.DialogbenchExpertsSettings(simulated=["bo"])
    dialogbench_results.dialogbench_experts(told, items, tmp_path / "filled.csv", tmp_path / "experts.parquet")
    assert "24 answers of 2 experts to 12 items; left blank: 0 rows" in capsys.readouterr().out
    folder = tables_of(tmp_path, [], [], [tmp_path / "experts.parquet"])
    overall = {row["source"]: row for row in rows_of(folder, "accuracy") if row["scope"] == "overall"}
    assert overall["bundled"]["model"] == "people (simulated)"
    assert (overall["bundled"]["kind"], overall["bundled"]["n"]) == ("people", 12)
    assert overall["bundled"]["accuracy"] == pytest.approx(11 / 12)  # two of two are more than half
    each = {row["expert"]: row["accuracy"] for row in rows_of(folder, "experts") if row["task"] == "Overall"}
    assert each == {"ann": pytest.approx(11 / 12), "bo (simulated)": 1.0}
    (agreement,) = [row for row in rows_of(folder, "agreement") if row["task"] == "Overall"]
    assert agreement["agreement"] == pytest.approx(11 / 12)
    assert [row["type"] for row in rows_of(folder, "overview")] == ["people"]
    with pytest.raises(UserError, match="filled.csv has no answers of expert 'bob'; did you mean 'bo'"):
        dialogbench_results.dialogbench_experts(
            dialogbench_results.DialogbenchExpertsSettings(simulated=["bob"]),
            items,
            tmp_path / "filled.csv",
            tmp_path / "e.parquet",
        )
