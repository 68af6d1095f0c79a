"""Stages that tabulate DialogBench: items, accuracies, domains, positions, rotations, styles, ablations, experts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.dialogbench.accuracy import (
    Answer,
    Row,
    ablation_differences,
    ablation_rows,
    accuracy_differences,
    accuracy_rows,
    average_rows,
    domain_rows,
    grouped,
    human_rows,
)
from dialeval.dialogbench.briefs import BASIC, FULL, WITHOUT_STYLES
from dialeval.dialogbench.experts import read_expert_answers
from dialeval.dialogbench.items import TestItem, read_items
from dialeval.dialogbench.result_tables import (
    METHOD,
    PEOPLE,
    SIMULATED,
    agreement_rows,
    circular_rows,
    domain_count_rows,
    expert_rows,
    item_rows,
    joint_answers,
    overview_rows,
    position_rows,
    style_rows,
)
from dialeval.dialogbench.writing import Attempt
from dialeval.dialogbench.written_items import counts
from dialeval.errors import UserError, nearest
from dialeval.measures.differences import with_adjusted_p
from dialeval.tables.dialogbench import (
    ABLATIONS,
    ACCURACY,
    AGREEMENT,
    AVERAGES,
    CIRCULAR,
    DIALOGBENCH_DIFFERENCES,
    DOMAIN_COUNTS,
    DOMAINS,
    EXPERT_ANSWERS,
    EXPERTS,
    FILTER_COUNTS,
    ITEM_COUNTS,
    ITEM_DESCRIPTIONS,
    OVERVIEW,
    POSITIONS,
    STYLES,
    TEST_ANSWERS,
    TEST_ITEMS,
    WRITTEN_ITEMS,
)
from dialeval.tables.files import iterate_rows, read_tables, to_table, write_rows, write_table
from dialeval.text import counted

WRITTEN = "written"
"""The source of items that were written for this run."""


class DialogbenchTablesSettings(BaseModel, defer_build=True):
    """Confidence of the intervals, compared ablations, and examined models.

    `groups` are examined models by kind and by tag, `kinds` the kind of each that has one, `parts` what those had to do
    with the written items that wrote or filtered them.
    """

    confidence: float
    ablations: list[str]
    groups: dict[str, list[str]]
    kinds: dict[str, str]
    parts: dict[str, str]
    at_least: int | None
    random_seed: int


def dialogbench_tables(
    settings: DialogbenchTablesSettings,
    items: Path,
    answers: list[Path],
    written: list[Path],
    descriptions: list[Path],
    experts: list[Path],
    folder: Path,
) -> None:
    """Write the tables `dialogbench/*` into a folder, each as Parquet and as CSV."""
    every = read_tables(answers, TEST_ANSWERS).to_pylist()
    full = [answer for answer in every if answer["variant"] == "full"]
    of_experts = read_tables(experts, EXPERT_ANSWERS).to_pylist()
    people = joint_answers(of_experts, settings.at_least)
    variants = _variants(every, settings.ablations)
    accuracy = _with_model_types(_by_source(accuracy_rows, full + people, settings.confidence), settings) + _people(
        full
    )
    averages = [
        {**about, **row}
        for about, group in grouped(full, "source")
        for row in average_rows(group, settings.groups, settings.confidence)
    ]
    described = dict(_by_variant(read_tables(descriptions, ITEM_DESCRIPTIONS).to_pylist()))
    for table, rows in (
        (ITEM_COUNTS, _items(items)),
        (ACCURACY, accuracy),
        (OVERVIEW, overview_rows(accuracy, averages)),
        (AVERAGES, averages),
        (DOMAINS, _with_model_types(_by_source(domain_rows, full + people, settings.confidence), settings)),
        (POSITIONS, _by_source(position_rows, full, settings.confidence)),
        (CIRCULAR, _by_source(circular_rows, full, settings.confidence)),
        (EXPERTS, expert_rows(of_experts, settings.confidence)),
        (AGREEMENT, agreement_rows(of_experts, settings.confidence, settings.random_seed)),
        (STYLES, style_rows(described, settings.confidence)),
        (DOMAIN_COUNTS, domain_count_rows(described, settings.confidence)),
        (ABLATIONS, ablation_rows(variants, settings.confidence)),
        (DIALOGBENCH_DIFFERENCES, _differences(full + people, variants, settings.confidence)),
        (FILTER_COUNTS, _counts(written)),
    ):
        write_rows(folder, table, rows)


def _differences(full: list[Answer], variants: dict[str, list[Answer]], confidence: float) -> list[Row]:
    return with_adjusted_p([*accuracy_differences(full, confidence), *ablation_differences(variants, confidence)])


def _items(path: Path) -> list[Row]:
    found: dict[str, list[TestItem]] = {}
    for row in iterate_rows(path, TEST_ITEMS):
        if row["variant"] == "full":
            found.setdefault(row["source"], []).append(TestItem.from_row(row))
    return [{"source": source, **row} for source, own in found.items() for row in item_rows(own)]


def _by_source(
    rows_of: Callable[[Iterable[Answer], float], list[Row]], answers: list[dict[str, Any]], confidence: float
) -> list[Row]:
    return [{**about, **row} for about, group in grouped(answers, "source") for row in rows_of(group, confidence)]


def _with_model_types(rows: list[Row], settings: DialogbenchTablesSettings) -> list[Row]:
    """Return the rows with the model's kind, and its part in the items where they were written for this run."""
    return [
        {
            **row,
            "kind": PEOPLE if row["method"] == METHOD else settings.kinds.get(row["model"]),
            "part": settings.parts.get(row["model"]) if row["source"] == WRITTEN else None,
        }
        for row in rows
    ]


def _people(answers: list[dict[str, Any]]) -> list[Row]:
    languages = sorted({answer["language"] for answer in answers})
    return [{"source": "paper", "kind": PEOPLE, "part": None, **row} for row in human_rows(languages)]


def _variants(answers: list[dict[str, Any]], ablations: list[str]) -> dict[str, list[Answer]]:
    """Return the answers to written items by procedure, if there is one besides the full procedure."""
    if not ablations:
        return {}
    of = dict(_by_variant(answer for answer in answers if answer["source"] == WRITTEN))
    variants = {"full": of.get("full", [])}
    if "styles" in ablations:
        variants["-styles"] = of.get("-styles", [])
    if "filter" in ablations:
        variants["-filter"] = [*of.get("full", []), *of.get("-filter", [])]
    return variants


def _by_variant(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[Answer]]]:
    return [(about["variant"], group) for about, group in grouped(rows, "variant")]


def _counts(written: list[Path]) -> list[Row]:
    attempts = [Attempt.from_row(row) for path in written for row in iterate_rows(path, WRITTEN_ITEMS)]
    return [
        {"variant": variant, **row}
        for variant in (FULL, WITHOUT_STYLES, BASIC)
        for row in counts(one.outcome for one in attempts if one.procedure == variant)
    ]


class DialogbenchExpertsSettings(BaseModel, defer_build=True):
    """Which experts are a simulation."""

    simulated: list[str]


def dialogbench_experts(settings: DialogbenchExpertsSettings, items: Path, file: Path, answers: Path) -> None:
    """Write the table `expert_answers` of an answered sheet."""
    item_of, origin_of = read_items(items)
    reading = read_expert_answers(
        file, {name: one for name, one in item_of.items() if origin_of[name]["variant"] == "full"}
    )
    experts = dict.fromkeys(one.expert for one in reading.answers)
    for name in settings.simulated:
        if name not in experts:
            raise UserError(
                f"dialogbench.experts.simulated: {file} has no answers of expert '{name}'; {nearest(name, experts)}"
            )
    rows = []
    for one in reading.answers:
        item = item_of[one.item_id]
        rows.append(
            {
                "source": origin_of[one.item_id]["source"],
                "cluster": origin_of[one.item_id]["cluster"],
                "item_id": one.item_id,
                "task": item.task,
                "domain": item.domain,
                "language": item.language,
                "n_options": len(item.options),
                "expert": one.expert + SIMULATED * (one.expert in settings.simulated),
                "label": item.label,
                "choice": one.choice,
            }
        )
    write_table(answers, EXPERT_ANSWERS, to_table(EXPERT_ANSWERS, rows))
    n_items = len({one.item_id for one in reading.answers})
    print(
        f"{counted(len(rows), 'answer')} of {counted(len(experts), 'expert')} to {counted(n_items, 'item')}; "
        f"left blank: {counted(reading.blank, 'row')}"
    )
    if reading.moved:
        print(f"{reading.moved} letters were mapped by the text of their options, which have new positions")
