"""What the configuration of translations refuses, in words."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from dialeval.config.translation import TranslationQuality


def test_a_metric_has_what_it_compares_with() -> None:
    assert TranslationQuality(metrics=["bertscore"], back="m").metrics == ["bertscore"]
    assert TranslationQuality(metrics=["cometkiwi22"]).back is None
    with pytest.raises(ValidationError, match="bertscore compares the source with what is translated back; name a"):
        TranslationQuality(metrics=["bertscore"])


def test_a_metric_is_either_computed_or_read() -> None:
    raw = {"metrics": ["cometkiwi22"], "scores": {"cometkiwi22": "comet.csv"}}
    with pytest.raises(ValidationError, match="cometkiwi22: either of metrics, which is computed, or of scores"):
        TranslationQuality.model_validate(raw)
