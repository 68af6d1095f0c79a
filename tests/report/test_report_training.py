"""The page's part on training: what was learned, how, and examples of it to read."""

from __future__ import annotations

import training_example as example
from page_links import packed_tables
from report_example import inputs

from dialeval.report.inputs import Figure
from dialeval.report.page import build_report
from dialeval.tables.files import to_table
from dialeval.tables.training import TRAINING_SAMPLES
from dialeval.training.results import sample_rows


def test_record_curve_and_samples_are_shown_in_a_part_of_their_own() -> None:
    samples = to_table(TRAINING_SAMPLES, sample_rows(example.examples(), 0))
    figure = Figure("What judges learned", "AUC.", "<svg/>", "training")
    page = build_report(inputs(tables={**example.tables(), "training/samples": samples}, figures=(figure,)))
    part = page[page.index('id="training"') :]
    assert "Did the trained judges learn?" in part
    assert part.index("What judges learned") < part.index("AUC on held-out dialogues")
    for heading in ("Training", "Did the trained judges learn?", "Samples of training pairs"):
        assert heading in part
    assert "A: Which number?" in packed_tables(page)["table-training-samples"]


def test_without_training_there_is_no_such_part() -> None:
    assert 'id="training"' not in build_report(inputs())
