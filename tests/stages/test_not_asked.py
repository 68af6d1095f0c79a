"""What a judge was not trained for is neither asked nor counted nor judged, and the table says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted import ScriptedEngine

from dialeval.config import Answering, EncoderModel
from dialeval.config.protocols import shipped
from dialeval.engines.requests import AnswerFailure, Message, Request, Response, Sampling
from dialeval.prompts.rendering import Templates
from dialeval.protocols.item_prompts import ParseSettings
from dialeval.protocols.planned_requests import Planned
from dialeval.stages import answering, judging
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, RESPONSES
from dialeval.tables.files import TableWriter, read_table

SETTINGS = {"answer": answering.AnswerSettings, "answer_items": answering.AnswerItemsSettings}
CRITERIA = {"coherence": "dialogue", "diversity": "dialogue", "relevance": "turn"}


class Trained(ScriptedEngine):
    """A metric of coherence; it fails at what it is asked besides."""

    def takes(self, request: Request) -> bool:
        return request.subject[1] == ("dialogue", "coherence")

    async def answer(self, request: Request) -> Response:
        await super().answer(request)
        if not self.takes(request):
            raise AnswerFailure("unsupported", "it was asked")
        return Response("Yes", label_logprobs={"Yes": -0.1, "No": -2.35}, label_mass=1.0)


def plan(path: Path, number: int = 4) -> Path:
    with TableWriter(path, REQUESTS) as table:
        table.write_all(
            Planned(
                Request(
                    f"yes_no/c/en/{item}/{criterion}", "yes_no", "choice", (Message("user", f"{item} {criterion}?"),),
                    Sampling(max_tokens=1), ("Yes", "No"), subject=(("hello", "hi"), (level, criterion), ()),
                ),
                corpus="c", language="en", item_id=str(item), part=criterion,
            ).to_row()
            for item in range(number)
            for criterion, level in CRITERIA.items()
        )  # fmt: skip
    return path


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("stage", ["answer", "answer_items"])
def test_what_is_not_taken_is_left_out_of_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shards: int, stage: str
) -> None:
    engine = Trained()
    monkeypatch.setattr(answering, "open_engine", lambda *_: engine)
    requests = plan(tmp_path / "requests.parquet")
    parts, usage = [], []
    for shard in range(1, shards + 1):
        settings = SETTINGS[stage](
            name="fined", protocol="yes_no", model=EncoderModel(engine="encoder", weights=Path("w")),
            answering=Answering(), shard=shard, shards=shards,
        )  # fmt: skip
        parts.append(tmp_path / f"{shard}.parquet")
        record = tmp_path / f"{shard}.json"
        more = {"templates": Templates()} if stage == "answer_items" else {}
        getattr(answering, stage)(settings, requests, [], tmp_path / "store", parts[-1], record, **more)
        usage.append(json.loads(record.read_text()))
    assert sum(engine.calls.values()) == 4
    rows = [row for part in parts for row in read_table(part, RESPONSES).to_pylist()]
    assert {row["status"] for row in rows if row["request_id"].endswith("coherence")} == {"ok"}
    assert {row["status"] for row in rows if not row["request_id"].endswith("coherence")} == {"not_asked"}
    assert sum(record["requests"] for record in usage) == 4
    assert not any(record["failures"] for record in usage)
    assert "fined was not trained for" in capsys.readouterr().out

    judgements = tmp_path / "judgements.parquet"
    reading = ParseSettings(judge="fined", name="yes_no", protocol=shipped("yes_no"))
    judging.parse_probability(reading, requests, parts, [], judgements)
    found = read_table(judgements, JUDGEMENTS).to_pylist()
    assert [(row["item_id"], row["criterion"], row["status"]) for row in found] == [
        (str(item), "coherence", "ok") for item in range(4)
    ]
