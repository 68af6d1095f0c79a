"""What `snakemake --list-rules` says of each rule."""

from __future__ import annotations

import re

import pytest
from loaded_rules import loaded_rules
from workspace import Workspace

pytestmark = pytest.mark.workflow
LISTED = re.compile(r"(\w+) \((.+)\)")


def test_every_rule_says_in_a_sentence_of_its_own_what_it_does(workspace: Workspace) -> None:
    lines = [line for line in workspace.run("--list-rules").splitlines() if not line.startswith("Using ")]
    names = {line.split()[0] for line in lines}
    assert {name for name in names ^ {*loaded_rules()} if not name.startswith("measure_")} == set()
    said: dict[str, str] = {}
    for line in lines:
        match = LISTED.fullmatch(line)
        assert match, f"{line}: a rule without a description"
        name, sentence = match.groups()
        assert re.fullmatch(r"[A-Z][^.?!]+\.", sentence), f"{name}: {sentence}"
        kind = re.sub(r"^measure_.+", "measure_PROTOCOL", name)  # a rule for each protocol
        assert said.setdefault(sentence, kind) == kind, f"{name} says what {said[sentence]} says"
