"""Two runs are compared as two judges, or two models, of one run are: by run in place of by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from two_runs import BARE, write_record

from dialeval.report.comparison.numbers import PAIRED, compared_numbers
from dialeval.report.comparison.runs import open_run
from dialeval.stages import dialogbench_results, metaeval
from dialeval.tables.dialogbench import TEST_ANSWERS, TEST_ITEMS
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table, write_table
from dialeval.tables.metaeval import ITEMS, RATINGS
from dialeval.tables.robustness import PAIRS
from dialeval.tables.schema import Table

Row = dict[str, Any]
N = 30


def _write(folder: Path, name: str, kind: Table, rows: list[Row]) -> Path:
    path = folder / name
    write_table(path, kind, to_table(kind, rows))
    return path


def _read(path: Path) -> list[Row]:
    rows: list[Row] = pq.read_table(path).to_pylist()
    return rows


def _compared(tmp_path: Path) -> list[Row]:
    a, b = open_run(tmp_path / "a"), open_run(tmp_path / "b")
    rows = compared_numbers(a, b)
    assert a.problems == b.problems == []
    assert {row["how"] for row in rows} == {PAIRED}
    return rows


def _scored(judge: str, criterion: str, values: dict[str, float]) -> list[Row]:
    return [
        BARE
        | {
            "judge": judge, "protocol": "yes_no", "request_id": f"yes_no/{item}/{criterion}", "corpus": "mine",
            "item_id": item, "criterion": criterion, "value": value, "scale_min": 0.0, "scale_max": 1.0,
        }
        for item, value in values.items()
    ]  # fmt: skip


def _noticed(folder: Path, scores: dict[str, dict[str, float]]) -> Path:
    """Write the tables of robustness under some judges' scores, and return the folder."""
    pairs = [
        {
            "corpus": "mine", "language": "en", "level": "dialogue", "cluster": f"d{number // 2}",
            "perturbation": "order_shuffle", "generator": "rule", "draw": number % 2, "severity": 1,
            "original_id": f"d{number // 2}", "item_id": f"d{number // 2}/shuffled/{number}",
            "unchanged": False, "status": "ok",
        }
        for number in range(N)
    ]  # fmt: skip
    judged = [row for judge, values in scores.items() for row in _scored(judge, "coherence", values)]
    paths = [_write(folder, "perturbed/by_rule.pairs.parquet", PAIRS, pairs)]
    paths += [_write(folder, "judgements/all/yes_no.parquet", JUDGEMENTS, judged)]
    settings = metaeval.RobustnessSettings(thresholds=[0.1], confidence=0.95)
    metaeval.robustness(settings, paths[:1], paths[1:], folder / "tables" / "robustness")
    inputs = {"pairs": {"perturbed/by_rule.pairs.parquet": "x"}, "judgements": {"judgements/all/yes_no.parquet": "x"}}
    write_record(folder, "tables/robustness/robustness.parquet", settings.model_dump(), **inputs)
    return folder


def test_robustness(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    items = [f"d{number}" for number in range(N // 2)] + [f"d{number // 2}/shuffled/{number}" for number in range(N)]
    one, two = ({item: float(rng.random()) for item in items} for _ in range(2))
    _noticed(tmp_path / "a", {"judge": one})
    _noticed(tmp_path / "b", {"judge": two})
    both = _noticed(tmp_path / "both", {"one": one, "two": two})
    within = [row for row in _read(both / "tables/robustness/differences.parquet") if row["table"] == "robustness"]
    (row,), (known,) = _compared(tmp_path), within
    assert (known["system"], known["opponent"]) == ("one (yes_no)", "two (yes_no)")
    assert row["difference"] == pytest.approx(-known["difference"])
    assert (row["ci_low"], row["ci_high"], row["p"]) == pytest.approx((-known["ci_high"], -known["ci_low"], known["p"]))
    assert (row["n"], row["n_clusters"]) == (N, N // 2)


def _agreeing(folder: Path, scores: dict[str, dict[str, float]], ratings: dict[str, float]) -> Path:
    """Write the tables of a meta-evaluation under some judges' scores, and return the folder."""
    items = [
        {
            "corpus": "mine", "item_id": item, "language": "en", "level": "dialogue", "cluster": item,
            "speakers": ["A"], "utterances": ["hi"], "system": "", "case_id": "", "judged": "",
        }
        for item in ratings
    ]  # fmt: skip
    rated = [
        {
            "corpus": "mine", "item_id": item, "dimension": "overall", "rater_kind": "human", "rater": "mean",
            "n_raters": 3, "value": value, "scale_min": 1.0, "scale_max": 5.0,
        }
        for item, value in ratings.items()
    ]  # fmt: skip
    judged = [row for judge, values in scores.items() for row in _scored(judge, "overall", values)]
    paths = [
        [_write(folder, f"{option}.parquet", kind, rows)]
        for option, kind, rows in (
            ("items", ITEMS, items),
            ("ratings", RATINGS, rated),
            ("judgements/x", JUDGEMENTS, judged),
        )
    ]
    settings = metaeval.CorrelateSettings(
        resamples=200, confidence=0.95, random_seed=0, benchmarks={"mine": "mine"}, published_as={}
    )
    metaeval.correlate(settings, paths[0], paths[1], [], paths[2], folder / "tables" / "metaeval")
    inputs = {name: {f"{name}.parquet": "x"} for name in ("items", "ratings")}
    write_record(
        folder, "tables/metaeval/correlations.parquet", settings.model_dump(),
        **inputs, judgements={"judgements/x.parquet": "y"},
    )  # fmt: skip
    return folder


def test_correlations_with_people(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    truth = {f"i{number}": float(rng.normal()) for number in range(N)}
    one, two = (
        {item: float(np.clip(0.5 + 0.2 * value + error * rng.normal(), 0, 1)) for item, value in truth.items()}
        for error in (0.05, 0.4)
    )
    _agreeing(tmp_path / "a", {"judge": one}, truth)
    _agreeing(tmp_path / "b", {"judge": two}, truth)
    both = _agreeing(tmp_path / "both", {"one": one, "two": two}, truth)
    (known,) = _read(both / "tables/metaeval/judge_pairs.parquet")
    (row,) = _compared(tmp_path)
    assert (known["judge"], known["other_judge"]) == ("one", "two")
    assert row["difference"] == pytest.approx(-known["difference"])
    assert (row["ci_low"], row["ci_high"], row["p"]) == pytest.approx(
        (-known["difference_ci_high"], -known["difference_ci_low"], known["p"])
    )
    assert (row["measure"], row["system"], row["n"]) == ("pearson", "judge (yes_no)", N)


def _examined(folder: Path, answers: dict[str, list[bool]]) -> Path:
    """Write DialogBench's tables under some models' answers, and return the folder."""
    tasks = ["SF", "IC", "ED"]
    items = [
        {
            "source": "mine", "variant": "full", "item_id": f"i{number}", "task": tasks[number % 3], "domain": "Travel",
            "language": "en", "speaker1_personality": "", "speaker2_personality": "", "speaker1_emotion": "",
            "speaker2_emotion": "", "utterances": ["hi"], "question": "?", "extra": {}, "options": ["a", "b"],
            "label": "A", "analysis": "", "origin": "",
        }
        for number in range(N)
    ]  # fmt: skip
    rows = [
        {
            "source": "mine", "variant": "full", "model": model, "method": "letter", "item_id": f"i{number}",
            "cluster": f"i{number // 2}", "task": tasks[number % 3], "domain": "Travel", "language": "en",
            "rotation": 0, "n_options": 2, "label": "A", "choice": "A" if right else "B",
            "correct": right, "status": "ok",
        }
        for model, given in answers.items()
        for number, right in enumerate(given)
    ]  # fmt: skip
    made = "dialogbench/answers/m/letter.parquet"
    paths = [_write(folder, "items.parquet", TEST_ITEMS, items), _write(folder, made, TEST_ANSWERS, rows)]
    settings = dialogbench_results.DialogbenchTablesSettings(
        confidence=0.95, ablations=[], groups={}, kinds={}, parts={}, at_least=None, random_seed=0
    )
    dialogbench_results.dialogbench_tables(settings, paths[0], paths[1:], [], [], [], folder / "tables" / "dialogbench")
    write_record(folder, "tables/dialogbench/accuracy.parquet", settings.model_dump(), beside=[made])
    return folder


def test_accuracies(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    one, two = ([bool(right) for right in rng.random(N) < share] for share in (0.4, 0.8))
    _examined(tmp_path / "a", {"model": one})
    _examined(tmp_path / "b", {"model": two})
    both = _examined(tmp_path / "both", {"one": one, "two": two})
    known = {row["scope"].rpartition(", ")[2]: row for row in _read(both / "tables/dialogbench/differences.parquet")}
    rows = {row["scope"].rpartition(", ")[2]: row for row in _compared(tmp_path)}
    assert {"SF", "IC", "ED", "Overall"} <= rows.keys() <= known.keys()
    for name, row in rows.items():
        assert row["difference"] == pytest.approx(-known[name]["difference"])
        ends = -known[name]["ci_high"], -known[name]["ci_low"], known[name]["p"]
        assert (row["ci_low"], row["ci_high"], row["p"]) == pytest.approx(ends)
