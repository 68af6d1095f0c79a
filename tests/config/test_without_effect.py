"""A field that has no effect where it stands is refused with what it needs; where it has one it is taken."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import yaml
from config_example import BASE, changed

from dialeval.config import Config, load_config
from dialeval.config.loading import written
from dialeval.config.protocols import OF_FORMS, OF_PAIRS
from dialeval.config.section import Section
from dialeval.config.without_effect import CONDITIONS, idle_fields
from dialeval.errors import UserError
from dialeval.report.reference.configuration import SECTIONS

RATED = "metaeval.corpora.fed"
OPENAI, VLLM = "models.gpt", "models.local"
PUBLISHED = {"engine": "published"}
OWN = {"form": "scale", "data": {"source": "t"}, "judges": ["gpt"], "criteria": ["overall"]}
GRADED = {
    "models.paper": PUBLISHED | {"gteval": "g"}, "protocols.unieval": None, "protocols.arena": None,
    "protocols.rating": {"judges": ["gpt"]}, "protocols.yes_no": {"judges": ["gpt"]},
}  # fmt: skip
SHOWN = {"models.paper": PUBLISHED | {"dialogues": "d"}, "protocols.arena": None}
WRITER = "dialogbench.written.writer"

CASES: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
    ("mirror", "mirror", {}, {"public_corpora": ["fed"]}),
    ("contamination", True, {"chatbots": []}, {}),
    *(
        (
            f"{RATED}.{field}", value, {RATED: {"reader": "fed_turn", "path": "x"}},
            {RATED: {"reader": "severity_levels"}},
        )
        for field, value in {"dialogues": "bundled", "perturbations": ["utterance_replacement"], "steps": 3}.items()
    ),
    (f"{RATED}.optional", True, {RATED: {"reader": "severity_levels"}}, {RATED: {"reader": "fed_turn", "path": "x"}}),
    (f"{OPENAI}.batch_requests", 9, {}, {f"{OPENAI}.batch": True}),
    (f"{OPENAI}.batch_poll_seconds", 9, {}, {f"{OPENAI}.batch": True}),
    (f"{OPENAI}.top_logprobs", 5, {f"{OPENAI}.label_logprobs": "none"}, {f"{OPENAI}.label_logprobs": "top_logprobs"}),
    (f"{VLLM}.gpu_memory_utilization", 0.5, {f"{VLLM}.kv_cache_memory_bytes": 9}, {}),
    (f"{VLLM}.chat_template_options", {"a": 1}, {f"{VLLM}.chat_template": "none"}, {}),
    ("models.paper.concurrency", 2, {"models.paper": PUBLISHED}, {"models.paper": {"engine": "openai", "model": "m"}}),
    ("models.paper.resources", {"mem_mb": 900}, {"models.paper": PUBLISHED}, {"models.paper": {"engine": "nllb"}}),
    ("models.paper.column", "m", {"models.paper": PUBLISHED}, {"models.paper": PUBLISHED | {"dialogues": "d.tsv"}}),
    ("models.paper.judge_column", "m", {"models.paper": PUBLISHED}, {"models.paper": PUBLISHED | {"gteval": "g.tsv"}}),
    ("models.paper.names", {"a": "gpt"}, {"models.paper": PUBLISHED}, {"models.paper": PUBLISHED | {"gteval": "g"}}),
    ("selfchat.end", "BYE", {}, {"selfchat.partner": "gpt"}),
    ("transcripts.t.system", "bot", {"transcripts.t": {"path": "t", "reader": "folder"}, "protocols.own": OWN},
     {"transcripts.t": {"path": "t", "reader": "text"}, "protocols.own": OWN}),
    ("training.set.max_context", 3, *(
        {"training.set": {"level": level, "domains": {"d": ["bundled"]}}} for level in ("dialogue", "turn")
    )),
    *(
        (f"robustness.{field}", value, {"robustness": {"published": "f"}}, {"robustness": {"corpora": ["bundled"]}})
        for field, value in {
            "limit": 3, "wordnet": "package", "dialogue_draws": 2, "turn_draws": 2, "rewriter": "gpt",
            "severity_levels": {"steps": 3},
        }.items()
    ),
    ("robustness.rewritten", ["contradiction"], {"robustness": {"published": "f", "rewriter": "gpt"}},
     {"robustness": {"corpora": ["bundled"], "rewriter": "gpt"}}),
    ("robustness.rewriter_temperature", 0.1, {}, {"robustness.rewriter": "gpt"}),
    ("dialogbench.circular", True, {}, {"dialogbench.examine": {"choice": ["gpt"]}}),
    ("dialogbench.presentation", "text", {}, {"dialogbench.examine": {"letter": ["gpt"]}}),
    *(
        (f"dialogbench.{field}", 1, *({"dialogbench.examine": {method: ["gpt"]}} for method in ("choice", "letter")))
        for field in ("max_tokens", "presence_penalty", "frequency_penalty")
    ),
    ("dialogbench.written.corpus", "bundled", {WRITER: "gpt"}, {}),
    *(
        (f"dialogbench.written.{field}", 1, {}, {WRITER: "gpt"})
        for field in ("temperature", "max_tokens", "presence_penalty", "frequency_penalty")
    ),
    ("dialogbench.experts.at_least", 2, {"dialogbench.experts": {}}, {"dialogbench.experts": {"answers": "a.csv"}}),
    ("dialogbench.experts.simulated", ["e"], {"dialogbench.experts": {}}, {"dialogbench.experts": {"answers": "a"}}),
    ("protocols.own.n_utterances", [4], *(
        {"protocols.own": {"form": "locate", "data": {"source": "selfchat"}, "judges": ["gpt"], **more}}
        for more in ({"criteria": ["overall"]}, {})
    )),
    # by what another section says
    ("seeds.limit", 5, {"selfchat": {"partner": "gpt", "scenarios": {"path": "s.csv"}}, "protocols.gteval": None}, {}),
    ("seeds.arena_min_utterances", 5,
     {"selfchat": {"partner": "gpt", "scenarios": {"path": "s.csv"}}, "protocols.gteval": None}, {}),
    ("translate.bundled.context", 9, *(
        {"models.nllb": {"engine": "nllb"}, "translate.bundled": {"into": ["es"], "translator": name}}
        for name in ("nllb", "gpt")
    )),
    ("protocols.own.data.turns", "all", *(
        {"protocols.own": {"form": "scale", "data": {"source": "selfchat"}, "judges": ["gpt"], "criteria": [criterion]}}
        for criterion in ("coherence", "relevance")
    )),
    ("protocols.gteval.temperature", 0.5, {"judges": ["paper"], **GRADED}, {"judges": ["paper", "gpt"], **GRADED}),
    ("protocols.gteval.retry_unparsed", True, {"judges": ["paper"], **GRADED}, {"judges": ["paper", "gpt"], **GRADED}),
    ("selfchat.temperature", 0.5, {"chatbots": ["paper"], **SHOWN}, {"chatbots": ["paper", "gpt"], **SHOWN}),
    *(
        (f"protocols.failures.{field}", value, {"protocols.failures": {}}, {"protocols.failures": {"judges": ["gpt"]}})
        for field, value in {
            "temperature": 0.5, "max_tokens": 99, "retry_unparsed": True, "answers": "structured",
            "criteria": ["formal_tone"],
        }.items()
    ),
]  # fmt: skip
"""A field, a value, and changes of the example with which it has no effect, and with which it has one."""


def with_changes(changes: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    raw = copy.deepcopy(BASE)
    for path, other in {**changes, field: value}.items():
        raw = changed(path, copy.deepcopy(other), raw)
    return raw


@pytest.mark.parametrize(("field", "value", "without", "with_effect"), CASES)
def test_a_field_is_refused_where_it_has_no_effect_and_taken_where_it_has_one(
    field: str, value: Any, without: dict[str, Any], with_effect: dict[str, Any]
) -> None:
    with pytest.raises(UserError) as caught:
        load_config(with_changes(without, field, value), files_are_there=False)
    lines = [line for line in str(caught.value).splitlines() if line.startswith(f"  {field}: ")]
    assert lines
    assert "remove" in lines[0]
    load_config(with_changes(with_effect, field, value), files_are_there=False)


def test_every_condition_is_tried() -> None:
    tried = {re.sub(r".*\.", "", field) for field, *_ in CASES}
    assert {field for conditions in CONDITIONS.values() for one in conditions for field in one.fields} - {
        "limit"
    } <= tried


def test_every_field_with_a_place_has_a_condition() -> None:
    conditional = {(kind, field) for kind, all_of in CONDITIONS.items() for one in all_of for field in one.fields}
    of_forms = {*OF_FORMS, *OF_PAIRS, "turns", "length_share", "human_corpora"}  # rules look for failures in any case
    for _, section in SECTIONS:
        assert issubclass(section, Section)
        for name, field in section.model_fields.items():
            if re.match(r"For (locate|pair|rules|scale|severity_levels|turn)\b", field.description or ""):
                assert name in of_forms or any((kind, name) in conditional for kind in section.__mro__), name


def test_a_default_is_no_setting_and_a_run_that_is_repeated_is_not_limited() -> None:
    raw = changed(RATED, {"reader": "fed_turn", "path": "x"})
    config = load_config(raw, files_are_there=False)
    assert config.metaeval is not None
    again = load_config(yaml.safe_load(written(config)), files_are_there=False)
    assert isinstance(again, Config)
    assert again.metaeval is not None
    assert (again.metaeval.corpora["fed"].kept, again.metaeval.corpora["steps"].kept) == (None, 60)
    assert {"dialogues", "perturbations", "steps", "limit"} <= idle_fields(again.metaeval.corpora["fed"]).keys()
    limited = load_config(changed(f"{RATED}.limit", 40, raw), files_are_there=False)
    assert limited.metaeval is not None
    assert limited.metaeval.corpora["fed"].kept == 40
