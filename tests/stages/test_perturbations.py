"""The stage that has a model damage items, against a real endpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion

from dialeval.config import Answering, OpenAIModel
from dialeval.prompts.rendering import Templates
from dialeval.stages import perturbations
from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import read_table, to_table, write_table
from dialeval.tables.metaeval import ITEMS
from dialeval.tables.robustness import PAIRS


def utterances() -> list[dict[str, Any]]:
    texts = ["Is the Rhine far?", "Ten minutes on foot from Basel.", "Then we walk.", "Mr Meier will meet us in Basel."]
    about = {"corpus": "mine", "dialogue_id": "d1", "language": "en"}
    return [about | {"turn": n, "speaker": "AB"[n % 2], "text": text} for n, text in enumerate(texts)]


def test_rewritten_items_and_rejected_ones_are_distinguished(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        prompt = call.body["messages"][-1]["content"]
        text = "2. It is some way.\n4. Fine." if "2. chatbot" in prompt else "Response: no no no no no no"
        return Reply(body=completion(text))

    write_table(tmp_path / "corpus", UTTERANCES, to_table(UTTERANCES, utterances()))
    with LoopbackEndpoint(script) as endpoint:
        settings = perturbations.RewriteItemsSettings(
            name="writer",
            model=OpenAIModel(engine="openai", model="writer", base_url=endpoint.url, api_key_env=None),
            answering=Answering(),
            strategies=["generic_utterance", "content_reduction"],
            limit=None,
            dialogue_draws=2,
            turn_draws=1,
            temperature=0.7,
            random_seed=0,
        )
        paths = {name: tmp_path / name for name in ("items", "pairs", "usage")}
        perturbations.rewrite_items(
            settings,
            [tmp_path / "corpus"],
            [],
            [],
            [],
            tmp_path / "store",
            **paths,
            templates=Templates(),
        )
    rows = read_table(tmp_path / "pairs", PAIRS).to_pylist()
    assert [(row["perturbation"], row["draw"], row["generator"]) for row in rows] == [
        ("generic_utterance", 0, "model"),
        ("generic_utterance", 1, "model"),
        ("content_reduction", 0, "model"),
        ("content_reduction", 1, "model"),
    ]
    accepted = [row for row in rows if row["status"] == "ok"]
    assert accepted
    items = {row["item_id"]: row for row in read_table(tmp_path / "items", ITEMS).to_pylist()}
    assert set(items) == {row["item_id"] for row in accepted}
    assert all(item["utterances"][0] == "Is the Rhine far?" for item in items.values())
    assert json.loads((tmp_path / "usage").read_text("utf-8"))["asked"] >= len(rows)
