"""Targets that are asked for without their section of the configuration say which one that is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from wide_configuration import WIDE
from workspace import ROOT, SMALL

from dialeval.config.whole import Config
from dialeval.errors import UserError
from dialeval.readiness.target_sections import NEEDS, Need, is_named, refuse_without_section

RULES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("rules/*.smk")))
BATTLES: dict[str, Any] = {"battles": {"mine": {"path": "mine.csv"}}}
BY_RULES: dict[str, Any] = {
    "transcripts": {"support": {"path": "support.jsonl"}},
    "protocols": {"failures": {"of": {"source": "support"}}},
}
WITHOUT = {"battles": SMALL}
"""Configurations that have no such section; for all other targets one of battles alone."""


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: need.targets[0])
def test_every_target_says_what_it_needs(need: Need) -> None:
    without = Config.model_validate(WITHOUT.get(need.targets[0], BATTLES))
    for target in need.targets:
        assert re.search(rf"^(rule|use rule \w+ as) {target}( with)?:$", RULES, re.M)
        with pytest.raises(UserError, match=f"^{target}: the configuration "):
            refuse_without_section(without, target.__eq__)
    assert (ROOT / re.findall(r"docs/\w+\.md", need.words)[-1]).is_file()


def test_what_is_configured_is_refused_nobody() -> None:
    translate = {"steps": {"by": "large", "into": ["zh"], "quality": {"back": "large"}}}
    training = {"turns": {"level": "turn", "domains": {"daily": ["bundled"]}}}
    everything = Config.model_validate({**WIDE, "translate": translate, "training": training} | BATTLES)
    refuse_without_section(everything, lambda target: True)
    for small, targets in (
        (SMALL, {"all", "report", "live", "botchat"}),
        (BATTLES, {"all", "battles", "tidy"}),
        (BY_RULES, {"all", "report", "live"}),
    ):
        refuse_without_section(Config.model_validate(small), targets.__contains__)


def test_folders_and_profiles_may_be_called_as_targets_are() -> None:
    assert is_named("label", ["snakemake", "--cores", "2", "label"])
    assert is_named("label", ["snakemake", "-d", "label", "label"])
    assert is_named("label", ["snakemake", "--until", "label"])
    assert not is_named("label", ["snakemake", "--directory", "label", "battles"])
    assert not is_named("label", ["snakemake", "--omit-from", "label", "--config", "labels=label"])
