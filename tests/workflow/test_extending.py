"""Every recipe of docs/extending.md, followed as it stands, in its order and in one folder."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq
import pytest
from loopback_endpoint import Call, LoopbackEndpoint, Reply, completion
from page_links import whole
from recipes import follow, recipes
from workspace import ROOT, Workspace, new_workspace

pytestmark = pytest.mark.workflow
RECIPES = recipes(ROOT / "docs" / "extending.md")
OWN_PROMPT, CRITERION, ENGINE, TABLE, PROMPTS = RECIPES
LIKED = ("harbour", "mosaic", "kiosk")
DATA = ROOT / "configs" / "transcripts" / "support.jsonl"


def judge(call: Call) -> Reply:
    """Find the system called harbour the most helpful and the kindest, and kiosk the least."""
    text = call.text
    if "Choice: " in text and "Dialogue A:" in text:
        place = {name: text.find(name) for name in SAID}
        first, second = sorted((at, name) for name, at in place.items() if at >= 0)
        better = "A" if LIKED.index(SAID[first[1]]) < LIKED.index(SAID[second[1]]) else "B"
        return Reply(completion(f"Choice: {better}\nReason: It helps."))
    (system,) = [system for words, system in SAID.items() if words in text]
    name = re.findall(r"^(\w+) - ", text, re.MULTILINE)[-1]
    return Reply(completion(f"{name} - {VALUES[name][LIKED.index(system)]}"))


DIALOGUES = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
SAID = {dialogue["utterances"][1]["text"]: dialogue["system"] for dialogue in DIALOGUES}
VALUES = {"empathy": ("7", "4", "2"), "clarity": ("good", "good", "poor")}


@dataclass
class Followed:
    """A folder in which the recipes are followed, and what the endpoint was asked at each."""

    workspace: Workspace
    endpoint: LoopbackEndpoint
    done: dict[str, Counter[str]]

    def up_to(self, title: str) -> Counter[str]:
        """Follows the recipes up to one, and returns how often each text was asked at it."""
        for name, recipe in RECIPES.items():
            if name not in self.done:
                before, self.done[name] = len(self.endpoint.log), Counter()
                follow(recipe, self.workspace.folder, {"http://localhost:8000/v1": self.endpoint.url})
                for program, *words in recipe.commands:
                    assert program == "snakemake"
                    self.workspace.run(*words)
                self.done[name] = Counter(call.text for call, _ in self.endpoint.log[before:])
            if name == title:
                break
        return self.done[title]

    def table(self, path: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = pq.read_table(self.workspace.folder / f"results/tables/{path}.parquet").to_pylist()
        return rows


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Followed]:
    with LoopbackEndpoint(judge) as endpoint:
        workspace = new_workspace(tmp_path_factory.mktemp("recipes") / "work")
        workspace.own_library()
        (workspace.folder / "configs" / "transcripts").mkdir(parents=True)
        shutil.copy(DATA, workspace.folder / "configs" / "transcripts")
        yield Followed(workspace, endpoint, {})


def by_system(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {row["system"]: row["estimate"] for row in rows}


def test_a_protocol_with_a_prompt_of_its_own(followed: Followed) -> None:
    calls = followed.up_to(OWN_PROMPT)
    # 12 cases of 3 systems: 3 pairs in two orders, and each dialogue alone for one criterion
    assert (sum(calls.values()), max(calls.values())) == (12 * 3 * 2 + 36, 1)
    assert by_system(followed.table("felt/means")) == {"harbour": 7, "mosaic": 4, "kiosk": 2}
    ratings = {row["system"]: (row["estimate"], row["note"]) for row in followed.table("helpful/ratings")}
    assert all(rating is None and "not identifiable" in note for rating, note in ratings.values())
    wins = {(row["system"], row["opponent"]): row["win"] for row in followed.table("helpful/win_rates")}
    assert wins["harbour", "kiosk"] == wins["harbour", "mosaic"] == wins["mosaic", "kiosk"] == 1
    page = whole((followed.workspace.folder / "results/report/index.html").read_text(encoding="utf-8"))
    assert all(word in page for word in ("harbour", "helpful", "empathy"))


def test_one_more_criterion_requests_only_itself(followed: Followed) -> None:
    calls = followed.up_to(CRITERION)
    assert sum(calls.values()) == 36
    assert all("clarity" in text and "empathy" not in text for text in calls)
    rows = followed.table("felt/means")
    assert by_system([row for row in rows if row["criterion"] == "empathy"]) == {"harbour": 7, "mosaic": 4, "kiosk": 2}
    clarity = by_system([row for row in rows if row["criterion"] == "clarity"])
    assert clarity["harbour"] == clarity["mosaic"] > clarity["kiosk"]


@pytest.mark.slow
def test_an_engine_is_a_package_and_an_entry(followed: Followed) -> None:
    assert not followed.up_to(ENGINE)
    (row,) = [row for row in followed.table("usage") if row["protocol"] == "selfchat"]
    assert (row["model"], row["model_calls"]) == ("polly", 4 * (6 - 2))
    lengths = {row["model"]: row["mean"] for row in followed.table("botchat/utterance_lengths")}
    assert lengths["polly"] > 0


def test_a_table_is_a_module(followed: Followed) -> None:
    assert not followed.up_to(TABLE)
    ((row),) = followed.table("questions")
    assert row["corpus"] == "bundled"
    assert row["n_questions"] > 0


@pytest.mark.slow
def test_other_prompts_are_planned_again(followed: Followed) -> None:
    assert not followed.up_to(PROMPTS)
    jobs = followed.workspace.would_run("results/dialogues/polly.parquet", "--configfile", "mine-in-other-words.yaml")
    assert jobs == {"generate_dialogues": 1}
