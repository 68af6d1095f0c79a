"""What is said of planned requests before they are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.config import OpenAIModel
from dialeval.engines.request import Message, Request
from dialeval.estimation.known_models import known_model
from dialeval.estimation.planned import estimate_planned
from dialeval.protocols.planning import Planned
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import TableWriter


@pytest.mark.parametrize(
    ("form", "kind", "words"),
    [
        ("pair", "chat", "a choice and a reason"),
        ("scale", "chat", "a line for each"),
        ("probability", "choice", "one token"),
    ],
)
def test_a_protocol_of_ones_own_is_answered_as_its_form_is(tmp_path: Path, form: str, kind: str, words: str) -> None:
    request = Request("better/1", form, kind, (Message("user", "Which?"),), labels=("Yes", "No"))  # type: ignore[arg-type]
    with TableWriter(tmp_path / "requests", REQUESTS) as table:
        table.write_all([Planned(request).to_row()])
    model = known_model("gpt", OpenAIModel(engine="openai", model="gpt"), {})
    (estimate,) = estimate_planned([model], "better", tmp_path / "requests", tmp_path / "store")
    assert words in estimate.assumed.source
