"""What docs/criteria.md shows is what is taken, and what is asked."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from judged_dialogues import shipped_question

from dialeval.config import load_config
from dialeval.corpora.items import Item
from dialeval.prompts.rendering import Templates
from dialeval.protocols import scores

DOCS = (Path(__file__).parents[1] / "docs" / "criteria.md").read_text(encoding="utf-8")
ITEM = Item("mine", "1", "en", "dialogue", "1", ("human", "chatbot"), ("I failed.", "That hurts. What happened?"))


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)
    assert found
    return found[1]


def test_the_example_can_be_used() -> None:
    raw = yaml.safe_load(block("yaml")) | {
        "models": {"m": {"engine": "openai", "model": "m"}},
        "chatbots": ["m"],
        "judges": ["m"],
        "corpora": {"bundled": {"reader": "bundled"}},
        "seeds": {"corpus": "bundled"},
    }
    config = load_config(raw)
    empathy, tact, safe = (config.criteria[name].criterion(name) for name in ("empathy", "tact", "safe"))
    (asked,) = scores.plan_scale(shipped_question("rating"), [ITEM], Templates(), lambda item: [[empathy]])
    assert block("text").strip() in asked.request.messages[0].content
    values = [tuple(scores.values_of(one).items()) for one in (empathy, tact, safe)]
    yes_no = (("Yes", 1.0), ("No", 0.0))
    assert values == [yes_no, (("1", 1.0), ("2", 2.0), ("3", 3.0)), yes_no]
