"""Every recipe of docs/extending.md, followed as it stands, in its order and in one folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq
import pytest
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion
from page_links import whole
from recipes import follow, recipes
from workspace import ROOT, Workspace, new_workspace

pytestmark = pytest.mark.workflow
RECIPES = recipes(ROOT / "docs" / "extending.md")
TRANSCRIPTS, CRITERION, ENGINE, TABLE, PROMPTS = RECIPES
LIKED = ("north", "west", "south")


def judge(asked: Asked) -> Reply:
    """Finds the system called north the most helpful and the kindest, and south the least."""
    text = asked.text
    if "Choice: " in text and "Dialogue A:" in text:
        place = {name: text.find(name) for name in SAID}
        first, second = sorted((at, name) for name, at in place.items() if at >= 0)
        better = "A" if LIKED.index(SAID[first[1]]) < LIKED.index(SAID[second[1]]) else "B"
        return Reply(completion(f"Choice: {better}\nReason: It helps."))
    if "Index:" in text:
        return Reply(completion("Choice: No\nIndex: None\nReason: People talk so."))
    (system,) = [system for words, system in SAID.items() if words in text]
    name = re.findall(r"^(\w+) - ", text, re.MULTILINE)[-1]
    return Reply(completion(f"{name} - {VALUES[name][LIKED.index(system)]}"))


SAID = {
    words: system
    for system, said in {
        "north": ("I am sorry to hear that", "That must be annoying", "Oh no. Is it still warm"),
        "west": ("Give me its number", "Which of the two shall I cancel", "Two screws hold it"),
        "south": ("Parcels are at times late", "Bills are sent monthly", "See page nine"),
    }.items()
    for words in said
}
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
                self.done[name] = Counter(asked.text for asked, _ in self.endpoint.log[before:])
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
        yield Followed(workspace, endpoint, {})


def by_system(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {row["system"]: row["estimate"] for row in rows}


def test_transcripts_of_three_systems_are_judged_three_ways(followed: Followed) -> None:
    asked = followed.up_to(TRANSCRIPTS)
    # 3 cases of 3 systems: 3 pairs in two orders, each alone for one criterion, each alone for whether an AI took part
    assert (sum(asked.values()), max(asked.values())) == (3 * 3 * 2 + 9 + 9, 1)
    assert by_system(followed.table("felt/means")) == {"north": 7, "west": 4, "south": 2}
    assert set(by_system(followed.table("machine/pass_rates")).values()) == {1}
    ratings = {row["system"]: (row["estimate"], row["note"]) for row in followed.table("helpful/ratings")}
    assert all(rating is None and "not identifiable" in note for rating, note in ratings.values())
    wins = {(row["system"], row["opponent"]): row["win"] for row in followed.table("helpful/win_rates")}
    assert wins["north", "south"] == wins["north", "west"] == wins["west", "south"] == 1
    page = whole((followed.workspace.folder / "results/report/index.html").read_text(encoding="utf-8"))
    assert all(word in page for word in ("north", "helpful", "empathy"))


def test_one_more_criterion_asks_only_for_itself(followed: Followed) -> None:
    asked = followed.up_to(CRITERION)
    assert sum(asked.values()) == 9
    assert all("clarity" in text and "empathy" not in text for text in asked)
    rows = followed.table("felt/means")
    assert by_system([row for row in rows if row["criterion"] == "empathy"]) == {"north": 7, "west": 4, "south": 2}
    clarity = by_system([row for row in rows if row["criterion"] == "clarity"])
    assert clarity["north"] == clarity["west"] > clarity["south"]


@pytest.mark.slow
def test_an_engine_is_a_package_and_an_entry(followed: Followed) -> None:
    assert not followed.up_to(ENGINE)
    (row,) = [row for row in followed.table("usage") if row["protocol"] == "selfchat"]
    assert (row["model"], row["asked"]) == ("polly", 4 * (6 - 2))
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
