"""Planning, answering from the store and parsing 100,000 UniEval requests, by the stages of the workflow.

Dialogues of 16 utterances are made of words drawn at random; the answers are in the store before the clock starts.
Each stage is a process of its own, as in a run. The yardstick, in the same run: hashing every prompt and reading every
answer with `json`, which any way of doing this must do. Takes 1 min.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from dialeval.config import OpenAIModel
from dialeval.config.protocols import shipped
from dialeval.corpora.items import Item, item_rows
from dialeval.engines.openai_api.wire_format import openai_identity
from dialeval.engines.requests import Response, request_key
from dialeval.engines.store import ResponseStore
from dialeval.protocols.planned_requests import request_from_row
from dialeval.tables import dialogues as shared
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import TableWriter, count_rows, iterate_rows
from dialeval.tables.metaeval import ITEMS
from gates import Gates, arguments
from stage_runs import run_stage

SEEDS, UTTERANCES = 1000, 16
MODEL = {"engine": "openai", "model": "gpt-4o-2024-11-20", "base_url": "http://127.0.0.1:1/v1", "api_key_env": None}
VERDICTS = (
    "Choice: No\nIndex: None\nReason: Both speakers stay on the subject, are brief and answer each other as people do.",
    "Choice: Yes\nIndex: 5\nReason: Utterance 5 offers help in the manner of an assistant and does not answer.",
    "I cannot tell from so little.",
)


def dialogues(systems: int) -> Iterator[Item]:
    """Yield dialogues of people and of chatbots, as many of each."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8))) for _ in range(3000)]
    for system in range(systems):
        for seed in range(SEEDS):
            said = tuple(" ".join(rng.choices(words, k=23)) for _ in range(UTTERANCES))
            about = (f"S-{seed}/bot{system}", "en", "dialogue", f"S-{seed}", ("A", "B") * (UTTERANCES // 2), said)
            yield Item("selfchat", *about, system=f"bot{system}", case_id=f"S-{seed}")


def fill_store(requests: Path, store: Path) -> float:
    """Store an answer to every request, and return how long the yardstick takes for them."""
    identity = openai_identity(OpenAIModel.model_validate(MODEL))
    seconds = 0.0
    with ResponseStore(store, identity=identity, name="judge", protocol="unieval", writer="benchmark") as kept:
        for number, row in enumerate(iterate_rows(requests, shared.REQUESTS)):
            text = VERDICTS[2 if number % 50 == 0 else number % 2]
            response = Response(text, prompt_tokens=700, completion_tokens=30)
            kept.append(request_key(request_from_row(row), identity), response)
            start = time.perf_counter()
            hashlib.sha256(row["messages"][0]["content"].encode()).hexdigest()
            json.loads(response.to_json())
            seconds += time.perf_counter() - start
    return seconds


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--profile", action="store_true", help="write STAGE.prof for each stage")
    options = parser.parse_args()
    gates = Gates(__file__, options)
    unieval = {"name": "unieval", "shipped": True, "protocol": shipped("unieval").model_dump(mode="json")}
    run = partial(run_stage, profile=options.profile)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        items, requests, responses, judgements = (
            folder / f"{name}.parquet" for name in ("items", "requests", "responses", "judgements")
        )
        with TableWriter(items, ITEMS) as table:
            table.write_all(item_rows(dialogues(max(2, options.requests // SEEDS))), group_size=512)
        plan = run("plan_locate", unieval, items=items, damaged=[], pairs=[], requests=requests)
        yardstick = fill_store(requests, folder / "store")
        settings = {"name": "judge", "protocol": "unieval", "model": MODEL, "answering": {}}
        answer = run(
            "answer", settings,
            requests=requests, learned=[], store=folder / "store", responses=responses, usage=folder / "usage.json",
        )  # fmt: skip
        parse = run(
            "parse_locate", unieval | {"judge": "judge"},
            requests=requests, responses=[responses], again=[], judgements=judgements,
        )  # fmt: skip
        n = count_rows(judgements, JUDGEMENTS)
    for name, taken in (("planned", plan), ("answered from the store", answer), ("parsed", parse)):
        gates.told(f"{n:,} requests {name}", taken.cpu, unit="CPU s", note=f"{taken.megabytes:.0f} MB")
    all_of_it = [plan, answer, parse]
    seconds = sum(taken.cpu for taken in all_of_it)
    gates.at_most("together", seconds, 60.0, unit="CPU s")
    gates.told("the same", seconds / yardstick, unit="x", against="hashing prompts and reading answers alone")
    gates.at_most("memory at most", max(taken.megabytes for taken in all_of_it), 1500.0, unit="MB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
