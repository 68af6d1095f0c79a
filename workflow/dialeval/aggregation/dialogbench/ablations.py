"""What leaving out a part of the procedure changes (DialogBench, Table 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dialeval.aggregation.answer_rates import Answer, Row
from dialeval.aggregation.dialogbench.accuracy import accuracy_rows
from dialeval.published.dialogbench import published_ablation


def ablation_rows(variants: Mapping[str, Iterable[Answer]], confidence: float = 0.95) -> list[Row]:
    """Returns accuracy by variant, and by how much it differs from the full procedure (Table 4).

    Args:
        variants: answers by variant: `full`, and `-styles` or `-filter`.
    """
    by_variant = {name: accuracy_rows(answers, confidence) for name, answers in variants.items()}
    full = {_about(row): row["accuracy"] for row in by_variant.get("full", [])}
    rows: list[Row] = []
    for variant, found in by_variant.items():
        for row in found:
            if row["scope"] == "dimension":
                continue
            reference = full.get(_about(row))
            published = published_ablation(variant, row["name"]) if row["language"] == "zh" else None
            rows.append(
                {
                    "variant": variant,
                    **{name: value for name, value in row.items() if name != "published"},
                    "difference": None if reference is None else row["accuracy"] - reference,
                    "published_gpt4": published,
                }
            )
    return rows


def _about(row: Answer) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("model", "method", "language", "scope", "name"))
