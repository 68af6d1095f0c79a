"""The configuration's page, and its JSON schema.

Both come from the field descriptions in `dialeval.config`; a test keeps them in step.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from dialeval.config import public as config
from dialeval.config.corpora import Memorization
from dialeval.config.protocol_settings import Adaptive, Cascade
from dialeval.config.section import JobResources
from dialeval.paths import PROJECT

SCHEMA = PROJECT / "workflow" / "schemas" / "config.schema.json"
DOCS = PROJECT / "docs" / "configuration.md"
SECTIONS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("The top level", config.Config),
    *((f"`models.<name>` with `engine: {engine}`", model) for engine, model in config.ENGINES.items()),
    ("`models.<name>.resources`", JobResources),
    ("`corpora.<name>`", config.Corpus),
    ("`seeds`", config.Seeds),
    ("`selfchat`", config.Selfchat),
    ("`selfchat.scenarios`", config.Scenarios),
    ("`memorization`", Memorization),
    ("`protocols.unieval`", config.UniEval),
    ("`protocols.arena`", config.Arena),
    ("`protocols.gteval`", config.GTEval),
    ("`protocols.rating`", config.Rating),
    ("`protocols.yes_no`", config.YesNo),
    ("`protocols.failures`", config.Failures),
    ("`protocols.failures.data`", config.FailureData),
    ("`protocols.<name>`, of your own", config.Protocol),
    ("`protocols.<name>.data`", config.JudgedData),
    ("`protocols.<name>.adaptive`", Adaptive),
    ("`protocols.<name>.cascade`", Cascade),
    ("`criteria.<name>`", config.OwnCriterion),
    ("`criteria.<name>.translations.<language>`", config.OwnWords),
    ("`transcripts.<name>`", config.Transcripts),
    ("`transcripts.<name>.show`", config.Shown),
    ("`transcripts.<name>.columns`", config.Columns),
    ("`labels`", config.Labels),
    ("`training.<name>`", config.TrainingSet),
    ("`models.<name>.train` with `engine: encoder`", config.EncoderTraining),
    ("`models.<name>.lora` with `engine: vllm`", config.LoraTraining),
    ("`translate.<corpus>`", config.Translation),
    ("`translate.<corpus>.quality`", config.TranslationQuality),
    ("`metaeval`", config.MetaEval),
    ("`metaeval.corpora.<name>`", config.RatedCorpus),
    ("`metaeval.score_files.<name>`", config.ScoreFile),
    ("`robustness`", config.Robustness),
    ("`robustness.severity_levels`", config.SeverityLevels),
    ("`dialogbench`", config.DialogBench),
    ("`dialogbench.published.<name>`", config.PublishedItems),
    ("`dialogbench.written`", config.WrittenItems),
    ("`dialogbench.examine`", config.Examine),
    ("`dialogbench.experts`", config.Experts),
    ("`battles.<name>`", config.Battles),
    ("`elo`", config.Elo),
    ("`answering`", config.Answering),
    ("`prompts`", config.Prompts),
    ("`tokens`", config.Tokens),
)
SHARED: dict[str, tuple[type[BaseModel], ...]] = {
    "`models.<name>`, all engines": tuple(config.ENGINES.values()),
    "`protocols.unieval`, `protocols.arena` and `protocols.gteval`": (config.UniEval, config.Arena, config.GTEval),
    "`models.<name>.train` and `models.<name>.lora`": (config.EncoderTraining, config.LoraTraining),
}
"""Headings of the fields that sections have in common."""
_TABLE = "| field | default | meaning |\n|---|---|---|"
HEAD = """# Configuration

One YAML file describes a run: `config.yaml`, or the file given with `--configfile`, which replaces it. `--config
data_dir=FOLDER` changes one top-level field. DialEval checks the file before it runs anything and reports all
errors: the field, its value and the remedy. A field without an effect, such as `steps` of a
corpus whose reader is not `severity_levels`, is an error. An unused section, such as `selfchat` without chatbots, is
no error.

Fields without a default are required, unless their description names an exception. Fields that several sections share
have a table before these sections. This page is generated from `workflow/dialeval/config/`.
"""


def schema_text() -> str:
    """Return the JSON schema of the configuration."""
    schema = config.Config.model_json_schema()
    own = config.Protocol.model_json_schema()  # values of names that are no fields are not in a section's own schema
    schema["$defs"] = dict(sorted((schema["$defs"] | own.pop("$defs") | {"Protocol": own}).items()))
    schema["$defs"]["Protocols"]["additionalProperties"] = {"$ref": "#/$defs/Protocol"}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def docs_text() -> str:
    """Return the reference page: a table of fields for every section, and one of the fields that sections share."""
    parts = [HEAD]
    shared: dict[type[BaseModel], list[str]] = {}
    for title, section in SECTIONS:
        for name, sections in SHARED.items():
            if section is sections[0]:
                common = [row for row in _rows(section) if all(row in _rows(one) for one in sections)]
                shared |= dict.fromkeys(sections, common)
                parts.append(f"\n## {name}\n\n{_TABLE}")
                parts += common
        parts.append(f"\n## {title}\n")
        if section.__doc__ and section is not config.Config:
            parts.append(inspect.cleandoc(section.__doc__) + "\n")
        own = [row for row in _rows(section) if row not in shared.get(section, [])]
        parts += [_TABLE, *own] if own else ["All its fields are above."]
    return "\n".join(parts) + "\n"


def _rows(section: type[BaseModel]) -> list[str]:
    return [_row(name, field) for name, field in section.model_fields.items() if name != "engine"]


def _row(name: str, field: Any) -> str:
    description = field.description or f"See `{name}` below."
    return f"| `{name}` | {_default(field.default)} | {description} |"


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return ""
    if isinstance(value, BaseModel):
        return "as below"
    if isinstance(value, Path):
        return f"`{value}`"
    return f"`{json.dumps(value, ensure_ascii=False)}`"
