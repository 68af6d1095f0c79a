"""Every printed value of the papers that public data, or the papers' own rows, give: ours beside theirs."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from pathlib import Path

import pytest
from scipy.stats import pearsonr

from dialeval.errors import UserError
from dialeval.report.reference import printed_values
from dialeval.report.reference.printed_values import (
    PrintedValue,
    n_stored,
    read_record,
    values_from_data,
    values_from_rows,
    write_record,
)

RECORD = read_record()


@pytest.fixture(scope="module")
def of_data(real_data: Path) -> list[PrintedValue]:
    return values_from_data(real_data)


def different(values: list[PrintedValue]) -> dict[str, str]:
    return {f"{value.paper}, {value.item}, {value.what}": value.why for value in values if not value.is_equal}


def test_every_value_of_the_record_comes_out_of_the_public_data(of_data: list[PrintedValue]) -> None:
    found = [value.as_row() for value in of_data]
    recorded = [row for row in RECORD if row["source"] == "data"]
    assert len(recorded) > 120
    assert [row for row in recorded if row not in found] == [], (
        "run: python -m dialeval.report.reference.printed_values DATA_DIR"
    )


def test_what_the_public_data_do_not_give_is_named_with_its_reason(of_data: list[PrintedValue]) -> None:
    named = {(value.item, value.what) for value in of_data if not value.is_equal}
    assert named == set(printed_values.WHY_FROM_DATA)
    assert all(different(of_data).values())


def test_every_average_and_sum_follows_from_its_rows_but_for_those_that_are_named() -> None:
    values = values_from_rows()
    assert [value.as_row() for value in values] == [row for row in RECORD if row["source"] == "rows"]
    assert {(value.paper, value.item, value.what) for value in values if not value.is_equal} == set(
        printed_values.WHY_FROM_ROWS
    )


def test_the_record_has_every_average_of_the_tables() -> None:
    counts = {
        item: sum(row["source"] == "rows" and (row["paper"], row["item"]) == item for row in RECORD)
        for item in dict.fromkeys((row["paper"], row["item"]) for row in RECORD)
    }
    assert {item: n for item, n in counts.items() if n} == {
        # 26 models, people and two means over models, overall; and the columns of the latter
        ("DialogBench", "Table 2"): 29 + 2 * 13,
        ("DialogBench", "Table 3"): 29 + 2 * 13,
        ("DialogBench", "Table 4"): 3,
        ("DialogBench", "Table 7"): 2 * (14 + 11),
        ("comp-analysis", "Table 5"): 60,
        ("comp-analysis", "Table 6"): 12,
        ("comp-analysis", "Table 9"): 6,
        ("comp-analysis", "Table 12"): 14,
        ("xDial-Eval", "Table 1"): 2,
        ("xDial-Eval", "Table 2"): 6,
        ("xDial-Eval", "Table 4"): 10,
        ("xDial-Eval", "Table 16"): 10,
        ("xDial-Eval", "Table 5"): 48,
        ("xDial-Eval", "Table 17"): 48,
        ("xDial-Eval", "Table 15"): 44,
    }


def value(printed: float, decimals: int, ours: float, source: str = "data", **other: bool) -> PrintedValue:
    return PrintedValue("a", "b", "c", "rows" if source == "rows" else "data", printed, decimals, ours, **other)


@pytest.mark.parametrize(
    ("one", "is_equal"),
    [
        (value(0.62, 3, 0.6154), False),
        (value(0.615, 3, 0.6154), True),
        (value(0.615, 3, 0.61549999), True),
        (value(0.615, 3, 0.6156), False),
        (value(7.4, 1, 7.45), True),  # a half can go either way
        (value(222, 0, 222), True),
        (value(222, 0, 221), False),
        (value(0.5, 2, 0.509, "rows"), True),  # every row is off by up to a half of the last place, and the mean again
        (value(0.5, 2, 0.511, "rows"), False),
        (value(14930, 0, 14931, "rows"), False),  # sums of whole numbers are exact
        (value(0.65, 2, 0.7, at_least=True), True),
        (value(0.65, 2, 0.64, at_least=True), False),
    ],
)
def test_equal_is_what_rounds_to_the_printed_value(one: PrintedValue, is_equal: bool) -> None:
    assert one.is_equal is is_equal


def test_gpt4s_row_is_scipys_correlation_of_the_files(real_data: Path) -> None:
    folder = real_data / "comp-analysis" / "dialog_level_texts"
    rounds = json.loads((folder / "fed_gpt4_annotations.json").read_text(encoding="utf-8"))
    people = json.loads((folder / "fed_human_annotations.json").read_text(encoding="utf-8"))
    names = {"coherence": ("coh", "Coherent"), "informativeness": ("inf", "Informative")}
    for dimension, (short, long) in names.items():
        by_model = [sum(values) / 5 for values in zip(*(rounds[f"{short}_{n}"] for n in range(1, 6)), strict=True)]
        by_people = [sum(row["annotations"][long]) / len(row["annotations"][long]) for row in people]
        (row,) = [row for row in RECORD if row["what"] == f"GPT-4 on FED-Dial: {dimension}"]
        assert row["ours"] == f"{pearsonr(by_model, by_people)[0]:.4f}"


def test_the_reasons_hold_where_they_can_be_computed(real_data: Path) -> None:
    lines = (real_data / "comp-analysis/turn_level_texts/fed-turn_text.txt").read_text(encoding="utf-8").split("\n")
    rows = [[text.split() for text in line.split("\t")[1:]] for line in lines if line]
    context = sum(len(words) + 1 for row in rows for words in row[:-1]) / len(rows)
    assert (round(context, 1), round(sum(len(row[-1]) + 1 for row in rows) / len(rows), 1)) == (87.3, 13.3)
    text = files("dialeval.papers").joinpath("rated_corpora.csv").read_text(encoding="utf-8")
    corpora = [row for row in csv.DictReader(text.splitlines()) if row["level"] == "dialogue"]
    for comp, xdial in zip(corpora[:6], corpora[6:], strict=True):
        product = float(xdial["n_utterances"]) * float(xdial["words_utterance"])
        assert product == pytest.approx(float(comp["words_response"]), abs=0.051), comp["names"]


@pytest.fixture
def counts_alone(tmp_path: Path) -> Path:
    """A folder with nothing but made-up verdicts."""
    counts = "model,win,both,neither,lose\n" + "".join(f"{name},1,2,3,4\n" for name in printed_values._WIN_OR_TIE)
    (tmp_path / "botchat").mkdir()
    (tmp_path / "botchat" / "gteval_counts.csv").write_text(counts, encoding="utf-8")
    return tmp_path


def test_files_that_are_not_there_are_passed_over(counts_alone: Path) -> None:
    assert [one.ours for one in values_from_data(counts_alone)] == [60.0] * 14 + [10.0, 40.0]


def test_a_folder_without_any_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="download"):
        values_from_data(tmp_path)


def test_the_command_writes_the_record(counts_alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed_values.main([str(counts_alone)], counts_alone / "record.csv")
    written = read_record(counts_alone / "record.csv")
    of_rows = [row for row in RECORD if row["source"] == "rows"]
    assert written[16:] == of_rows
    equal = sum(row["equal"] == "yes" for row in written)
    *others, last = capsys.readouterr().out.splitlines()
    assert last.startswith(f"{equal} of {len(written)} published values are reproduced; all are in {counts_alone}")
    different = [row for row in written if row["equal"] == "no"]
    assert len(others) == len(different) > 0
    assert f"{different[0]['what']}: printed {different[0]['printed']}, here {different[0]['ours']}" in others[0]


def test_the_record_reads_as_it_was_written(tmp_path: Path) -> None:
    one = PrintedValue("a", "Table 1", "x, with a comma", "data", 0.65, 2, 0.7, at_least=True)
    write_record([one], tmp_path / "record.csv")
    assert read_record(tmp_path / "record.csv") == [one.as_row()]
    assert (one.as_row()["printed"], one.as_row()["ours"], one.as_row()["equal"]) == (">0.65", "0.700", "yes")


def test_kept_values_are_counted() -> None:
    assert n_stored("BotChat") == 14 * 6
    assert n_stored("DialogBench") == 1125
