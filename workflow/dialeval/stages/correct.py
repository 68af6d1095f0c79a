"""Corrects what judges say by people's labels: numbers of systems, and which of these are told apart."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dialeval.aggregation.differences import corrected
from dialeval.aggregation.labels.corrected import corrected_numbers
from dialeval.aggregation.labels.design import LabelledDesign, Terms
from dialeval.aggregation.labels.planned import PLAN_COLUMNS, with_unasked
from dialeval.aggregation.labels.things import JUDGEMENT_COLUMNS
from dialeval.schemas.labels import CORRECTED, DIFFERENCES, LABELS
from dialeval.schemas.shared import REQUESTS
from dialeval.stages.measuring import read_judgements
from dialeval.tables import read_table, to_table, write_for_people


class Settings(Terms):
    """How numbers are corrected, and the protocols under which people labelled, in the order of the table."""

    protocols: list[LabelledDesign]


def stage(
    settings: Settings,
    labels: Path,
    judgements: list[Path],
    planned: list[Path],
    table: Path,
    csv: Path,
    differences: Path,
    differences_csv: Path,
) -> None:
    """Writes the tables `corrected` and `differences`; a protocol under which nobody labelled has no rows.

    Of protocols under which not everything was asked `planned` are the tables `requests`, called as the protocols are.
    """
    plans = {path.stem: read_table(path, REQUESTS, PLAN_COLUMNS).to_pandas() for path in planned}
    said: pd.DataFrame = read_table(labels, LABELS).to_pandas()
    by_judges = read_judgements(judgements, JUDGEMENT_COLUMNS)
    numbers, compared = [], []
    for design in settings.protocols:
        judged = by_judges[by_judges["protocol"] == design.protocol]
        if design.protocol in plans:
            judged = with_unasked(judged, plans[design.protocol])
        rows, pairs = corrected_numbers(judged, said, design, settings)
        numbers += rows
        compared += pairs
    write_for_people(table, csv, CORRECTED, to_table(CORRECTED, numbers))
    tests = to_table(DIFFERENCES, corrected(compared))
    write_for_people(differences, differences_csv, DIFFERENCES, tests)
