"""What jobs are told beside their settings, since it changes no answer: requests at once, tries, allowed failures.

The run tells it by its environment, which every process of the run sets that reads the Snakefile, on a cluster's nodes
too. So other values re-run nothing. A stage that someone starts by hand may be given the same fields in its settings,
which come first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

VARIABLE = "DIALEVAL_RUNNING"


def announce(
    models: Mapping[str, Mapping[str, Any]],
    answering: Mapping[str, Any],
    environment: MutableMapping[str, str] = os.environ,
) -> None:
    """Lets all jobs of this run know it.

    Args:
        models: how the jobs of each model run, by field, where it is not by default.
        answering: what happens when requests fail.
        environment: of this process.
    """
    said = {"models": {name: fields for name, fields in models.items() if fields}, "answering": answering}
    environment[VARIABLE] = json.dumps(said, sort_keys=True)


def with_how_jobs_run(
    settings: dict[str, Any], fields: Iterable[str], environment: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """Returns the settings of a stage with what they leave out of how its job runs.

    Args:
        settings: of the stage; `name` is the model's under `model`, `selfchat.partner` that under `partner`.
        fields: the names of all settings that the stage has.
        environment: of this process; outside a run it says nothing, and what is left out is as by default.
    """
    said = json.loads(environment.get(VARIABLE, "{}"))
    models = said.get("models", {})
    names = {"model": settings.get("name"), "partner": (settings.get("selfchat") or {}).get("partner")}
    filled = dict(settings)
    for part, name in names.items():
        if isinstance(settings.get(part), dict):
            filled[part] = {**models.get(name, {}), **settings[part]}
    if "answering" in fields:
        filled.setdefault("answering", said.get("answering", {}))
    return filled
