"""Every recipe of docs/extending.md, followed as it stands, in its order and in one folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq
import pytest
from loopback_endpoint import Asked, LoopbackEndpoint, Reply, completion
from recipes import follow, recipes
from workspace import ROOT, Workspace, new_workspace

pytestmark = pytest.mark.workflow
RECIPES = recipes(ROOT / "docs" / "extending.md")
ENGINE, TABLE, PROMPTS = RECIPES


def judge(asked: Asked) -> Reply:
    return Reply(completion("Choice: A"))


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
        yield Followed(new_workspace(tmp_path_factory.mktemp("recipes") / "work"), endpoint, {})


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


def test_other_prompts_are_planned_again(followed: Followed) -> None:
    assert not followed.up_to(PROMPTS)
    jobs = followed.workspace.would_run("results/dialogues/polly.parquet", "--configfile", "mine-in-other-words.yaml")
    assert jobs == {"generate_dialogues": 1}
