"""A rated corpus and a plain one in further languages, through an endpoint that counts."""

from __future__ import annotations

import csv
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from workspace import SMALL, Workspace

pytestmark = pytest.mark.workflow
UTTERANCE = re.compile(r"ends with <chat_end>:\n[A-Z]: (.*)<chat_end>")
RATED = {"reader": "rated_jsonl", "path": "rated.jsonl"}
LINES = """\
{"item_id": "t1", "context": ["Do you like tea?"], "response": "Yes, with milk.", "cluster": "d1", "scale": [1, 5], "ratings": {"relevance": 5}}
{"item_id": "t2", "context": ["Do you like tea?"], "response": "The bus is late.", "cluster": "d1", "scale": [1, 5], "ratings": {"relevance": 2}}
{"item_id": "t3", "context": ["Where is <name>?"], "response": "BROKEN", "scale": [1, 5], "ratings": {"relevance": 1}}
{"item_id": "t4", "context": ["It rains."], "response": "Take an umbrella.", "scale": [1, 5], "ratings": {"relevance": 4}}
"""  # noqa: E501


def translator(call: Call) -> Reply:
    """Says something in the target's letters; of one utterance it writes two lines."""
    if "adequacy: " in call.text:
        return Reply(completion("adequacy: 4"))
    found = UTTERANCE.search(call.text)
    assert found, call.text
    if found[1] == "BROKEN":
        return Reply(completion("one\ntwo"))
    marks = " ".join(re.findall("<name>", found[1]))
    words = " ".join(f"mot{len(word)}" for word in found[1].split())
    return Reply(completion(f"{words} {marks}".strip()))


def configure(workspace: Workspace, url: str, into: list[str], chat: dict[str, Any] | None = None, **more: Any) -> None:
    (workspace.folder / "data").mkdir(exist_ok=True)
    (workspace.folder / "data/rated.jsonl").write_text(LINES, encoding="utf-8")
    model = {"engine": "openai", "model": "m", "base_url": url, "api_key_env": None} | (chat or {})
    length = {"engine": "embedded", "method": "length", "folds": 2}
    raw = {
        "models": {"chat": model, "length": length},
        "chatbots": [],
        "judges": ["length"],
        "protocols": {"yes_no": {}},
        "data_dir": "data",
        "metaeval": {"corpora": {"mine": RATED}, "resamples": 20},
        "translate": {"mine": {"into": into, "translator": "chat"} | more},
    }
    workspace.configure(**{name: raw.get(name) for name in SMALL if name in raw} | raw)


def rows(workspace: Workspace, name: str) -> list[dict[str, str]]:
    with (workspace.folder / f"results/tables/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


TABLES = [f"results/tables/{name}.csv" for name in ("metaeval/correlations", "translation/corpora", "usage")]


def test_a_further_language_requests_its_translations_and_scores_alone(workspace: Workspace) -> None:
    with LoopbackEndpoint(translator) as endpoint:
        configure(workspace, endpoint.url, ["fr"])
        workspace.run("estimate")
        assert not endpoint.log
        estimated = {
            row["protocol"]: int(row["model_calls"]) for row in rows(workspace, "estimate") if row["model"] == "chat"
        }
        workspace.run(*TABLES)
        # the first utterance of t1 and t2 is asked about once
        assert len(endpoint.log) == estimated["translate-mine-fr"] == 7
        configure(workspace, endpoint.url, ["fr", "es"])
        would = workspace.would_run("metaeval")
        assert would["answer"] == 2, "the translator's for es, and the judge's"
        assert would["plan_translation"] == would["join_translation"] == 1
        workspace.run(*TABLES)
        assert len(endpoint.log) == 14
    counts = Counter((row["language"], row["status"]) for row in rows(workspace, "translation/corpora"))
    assert counts == {("fr", "ok"): 1, ("fr", "lines"): 1, ("es", "ok"): 1, ("es", "lines"): 1}
    assert {row["n_left_out"] for row in rows(workspace, "translation/corpora")} == {"1"}
    items = pq.read_table(workspace.folder / "results/translations/mine/es.parquet").to_pylist()
    assert [item["item_id"] for item in items] == ["t1", "t2", "t4"]
    read = {(row["language"], row["n_items"]): row["translated_by"] for row in rows(workspace, "metaeval/corpora")}
    assert read == {("en", "4"): "", ("fr", "3"): "chat", ("es", "3"): "chat"}
    correlated = {row["language"] for row in rows(workspace, "metaeval/correlations")}
    assert correlated == {"en", "fr", "es"}
    used = {row["protocol"]: row["model_calls"] for row in rows(workspace, "usage") if row["model"] == "chat"}
    assert used == {"translate-mine-fr": "7", "translate-mine-es": "7"}


@pytest.mark.slow
def test_a_sample_is_translated_back_and_judged_and_people_add_theirs(workspace: Workspace) -> None:
    quality = {"sample": 3, "back": "chat", "judges": ["chat"]}
    with LoopbackEndpoint(translator) as endpoint:
        configure(workspace, endpoint.url, ["fr"], quality=quality)
        said = workspace.run("estimate")
        assert "requests to chat about samples of the translations (at most 6)" in said
        assert not endpoint.log
        workspace.run("results/tables/translation/quality.csv")
        assert len(endpoint.log) == 7 + 3 + 3
        configure(workspace, endpoint.url, ["fr"], quality=quality | {"sample": 4})
        workspace.run("results/tables/translation/quality.csv")
        assert len(endpoint.log) == 13 + 2, "one utterance more is translated back and judged"
        configure(workspace, endpoint.url, ["fr"], quality=quality)
        workspace.run("results/tables/translation/quality.csv")
        assert len(endpoint.log) == 15
        sample = workspace.folder / "results/translations/mine/fr.sample.csv"
        lines = sample.read_text(encoding="utf-8-sig").splitlines()
        rated = [lines[0] + ",rating", *(f"{line},{3 + number}" for number, line in enumerate(lines[1:]))]
        (workspace.folder / "data/people.csv").write_text("\n".join(rated), encoding="utf-8")
        configure(workspace, endpoint.url, ["fr"], quality=quality | {"ratings": "people.csv"})
        workspace.run("results/tables/translation/quality.csv")
        assert len(endpoint.log) == 15, "people's ratings ask nothing"
    found = {row["metric"]: row for row in rows(workspace, "translation/quality")}
    assert (found["adequacy"]["value"], found["adequacy"]["produced_by"], found["adequacy"]["published"]) == (
        "4",
        "chat",
        "4.59",
    )
    assert float(found["people"]["value"]) == 4
    assert found["bleu"]["value"] or "sacrebleu is not installed" in found["bleu"]["reason"]


COMET = """
download_model = str
class Model:
    def predict(self, samples, **options):
        return type("Prediction", (), {"scores": [0.5 + 0.1 * len(one["src"].split()) for one in samples]})
load_from_checkpoint = lambda path: Model()
"""
BERT_SCORE = """
class Numbers(list):
    tolist = lambda self: list(self)
score = lambda cands, refs, **options: (None, None, Numbers(0.75 for _ in cands))
"""


@pytest.mark.slow
def test_metrics_of_another_environment_are_computed_by_a_script_of_its_own(workspace: Workspace) -> None:
    """Their packages are stand-ins: what is tried is what passes between them and the table."""
    quality = {"sample": 4, "back": "chat", "metrics": ["cometkiwi22", "bertscore"]}
    with LoopbackEndpoint(translator) as endpoint:
        configure(workspace, endpoint.url, ["fr"], quality=quality)
        said = workspace.run("results/tables/translation/quality.csv", "--keep-going", ok=False)
        assert "error in cometkiwi22: cometkiwi22 needs unbabel-comet, which is not installed here" in said
        assert "error in bertscore: bertscore needs bert-score" in said
        library = workspace.own_library()
        cuda = "class cuda:\n    is_available = staticmethod(lambda: False)\n"
        for name, text in (("comet", COMET), ("torch", cuda), ("bert_score", BERT_SCORE)):
            (library / f"{name}.py").write_text(text, encoding="utf-8")
        n_calls = len(endpoint.log)
        workspace.run("results/tables/translation/quality.csv", warm=False)
        assert len(endpoint.log) == n_calls
    found = {row["metric"]: row for row in rows(workspace, "translation/quality")}
    assert (found["bertscore"]["value"], found["bertscore"]["n"]) == ("0.75", "4")
    sample = pq.read_table(workspace.folder / "results/translations/mine/fr.sample.parquet").to_pylist()
    mean = sum(0.5 + 0.1 * len(row["source"].split()) for row in sample) / 4
    assert float(found["cometkiwi22"]["value"]) == pytest.approx(mean, abs=1e-3)
    assert found["cometkiwi22"]["produced_by"] == "Unbabel/wmt22-cometkiwi-da"
    assert float(found["cometkiwi22"]["published"]) == 0.842


def remembering(seen: list[str], seconds: float = 0) -> Callable[[Call], Reply]:
    def answer(call: Call) -> Reply:
        seen.append(call.text)
        time.sleep(seconds)
        return translator(call)

    return answer


def test_another_context_requests_only_utterances_with_other_context(workspace: Workspace) -> None:
    seen: list[str] = []
    with LoopbackEndpoint(remembering(seen)) as endpoint:
        for context in (4, 0, 4):
            configure(workspace, endpoint.url, ["fr"], context=context)
            workspace.run("results/tables/translation/corpora.csv")
    # the three that begin a dialogue have nothing before them, now as then
    assert len(seen) == len(set(seen)) == 7 + 4


def test_a_changed_file_requests_only_its_new_items(workspace: Workspace) -> None:
    seen: list[str] = []
    more = LINES.splitlines()[1].replace('"t2"', '"t5"').replace("The bus is late.", "No.")
    with LoopbackEndpoint(remembering(seen)) as endpoint:
        configure(workspace, endpoint.url, ["fr"])
        workspace.run("results/tables/translation/corpora.csv")
        (workspace.folder / "data/rated.jsonl").write_text(f"{LINES}{more}\n", encoding="utf-8")
        workspace.run("results/tables/translation/corpora.csv")
    assert len(seen) == len(set(seen)) == 7 + 1


@pytest.mark.slow
def test_after_kill_9_no_request_is_sent_twice_and_shards_send_as_many(workspace: Workspace) -> None:
    seen: list[str] = []
    with LoopbackEndpoint(remembering(seen, 0.3)) as endpoint:
        configure(workspace, endpoint.url, ["fr"], chat={"concurrency": 1})
        workspace.interrupt_when(lambda: len(seen) >= 3, signal.SIGKILL)
        assert 3 <= len(seen) < 7
        for shards in (1, 3):
            configure(workspace, endpoint.url, ["fr"], chat={"concurrency": 1, "shards": shards})
            workspace.run("results/tables/translation/corpora.csv")
            assert len(set(seen)) == 7
            assert len(seen) <= 8, "what was on its way at the kill, and nothing else"
