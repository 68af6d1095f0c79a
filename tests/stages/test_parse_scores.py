"""Scores that are read from answers bear the name of their protocol, whatever name engines know it by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dialeval.config.protocol_settings import JudgedData, Protocol
from dialeval.corpora.items import Item
from dialeval.prompts.rendering import Templates
from dialeval.protocols import forms
from dialeval.protocols.item_prompts import ParseSettings
from dialeval.protocols.planned_requests import write_requests
from dialeval.stages import judging
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, RESPONSES
from dialeval.tables.files import read_table, to_table, write_table

ITEM = Item("support", "a1", "en", "turn", "c1", ("user", "agent"), ("Where is it?", "On its way."), system="v1")


@pytest.mark.parametrize(
    ("parse", "form"), [(judging.parse_probability, "probability"), (judging.parse_scale, "scale")]
)
def test_a_judgement_bears_the_name_of_its_protocol(parse: Callable[..., None], form: str, tmp_path: Path) -> None:
    requests, responses, judgements = (tmp_path / f"{part}.parquet" for part in ("requests", "responses", "judgements"))
    protocol = Protocol(form=form, data=JudgedData(source=["support"]))
    settings = ParseSettings(name="felt", protocol=protocol, shipped=False, criteria=[], judge="gpt")
    write_requests(requests, forms.plan(settings.question(), [ITEM], Templates()))
    refused = {"key": "k", "status": "refused", "text": "", "reasoning": "", "finish_reason": ""}
    asked = read_table(requests, REQUESTS)["request_id"].to_pylist()
    answers = to_table(RESPONSES, [{"request_id": request_id, **refused} for request_id in asked])
    write_table(responses, RESPONSES, answers)
    parse(settings, requests, [responses], [], judgements)
    rows = read_table(judgements, JUDGEMENTS).to_pylist()
    assert {(row["protocol"], row["status"]) for row in rows} == {("felt", "refused")}
