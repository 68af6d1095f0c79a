"""What was set otherwise in the second run: configuration, settings of jobs, data, prompts, code and libraries."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from dialeval.comparison.prompt_lines import asked_otherwise, prompts_of
from dialeval.comparison.runs import Run
from dialeval.config.reading import WRITTEN_DOWN

Row = dict[str, Any]
_PLACES = ("results_dir", "store_dir")
"""Fields that change nothing in a result."""


def changes(a: Run, b: Run) -> list[Row]:
    """Returns the rows of the table `comparison/changes`.

    Settings of jobs are compared where not both runs have written down their configuration: they are its parts. Of
    jobs only those are compared that both runs have.
    """
    first, second = _configuration(a), _configuration(b)
    ours, theirs = a.records(), b.records()
    common = [(name, ours[name], theirs[name]) for name in ours if name in theirs]
    if not common:
        for run, records in ((a, ours), (b, theirs)):
            if not records:
                run.tell(f"{run.folder} has no records of its jobs: what was set otherwise is not known from them")
    rows = []
    if first is not None and second is not None:
        rows += list(_between("configuration", "", first, second))
    else:
        rows += list(_of_jobs("settings", common, _settings))
    rows += list(_of_jobs("data", common, _data))
    rows += _prompts(a, b)
    rows += list(_of_jobs("code", common, lambda record: {record.get("stage", ""): record.get("code", "")}))
    rows += list(_of_jobs("libraries", common, lambda record: record.get("libraries", {})))
    rows += list(_of_jobs("version", common, lambda record: {"dialeval": record.get("version", "")}))
    return rows


def flat(value: Any, place: str = "") -> dict[str, str]:
    """Returns what stands at each place of nested settings, as JSON; a list of plain values is one."""
    if isinstance(value, Mapping) and value:
        parts = [(f"{place}.{name}" if place else str(name), part) for name, part in value.items()]
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        parts = [(f"{place}[{number}]", part) for number, part in enumerate(value, start=1)]
    else:
        return {place: json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)}
    return {where: text for name, part in parts for where, text in flat(part, name).items()}


def _configuration(run: Run) -> dict[str, str] | None:
    path = run.folder / WRITTEN_DOWN
    if not path.is_file():
        return None
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        run.tell(f"{path} cannot be read: {error}")
        return None
    return {place: text for place, text in flat(content or {}).items() if place not in _PLACES}


def _between(kind: str, prefix: str, first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[Row]:
    for place in dict.fromkeys([*first, *second]):
        before, after = first.get(place, ""), second.get(place, "")
        if before != after:
            yield {"kind": kind, "place": prefix + place, "value_a": before, "value_b": after, "n_jobs": 0}


def _of_jobs(kind: str, common: list[tuple[str, Row, Row]], told: Any) -> Iterator[Row]:
    """Yields what is another between the records of the same jobs, each change once with the number of its jobs."""
    found: dict[tuple[str, str, str], int] = defaultdict(int)
    for _, first, second in common:
        for row in _between(kind, "", told(first), told(second)):
            found[row["place"], row["value_a"], row["value_b"]] += 1
    for (place, before, after), n_jobs in found.items():
        yield {"kind": kind, "place": place, "value_a": before, "value_b": after, "n_jobs": n_jobs}


def _settings(record: Row) -> dict[str, str]:
    """Returns the settings of a job, those of its model under the model's name."""
    settings = record.get("settings", {})
    name = settings.get("name", "")
    found = {}
    for place, text in flat(settings).items():
        of_model = place == "model" or place.startswith("model.")
        found[f"models.{name}{place.removeprefix('model')}" if of_model and name else place] = text
    return found


def _data(record: Row) -> dict[str, str]:
    """Returns the digests of what a job read from outside the results, and of what its model loads."""
    outside = {
        path: digest
        for files in record.get("inputs", {}).values()
        for path, digest in files.items()
        if path.startswith(("..", "/"))
    }
    content = record.get("content", "")
    return outside | ({f"files of {record.get('stage', 'a job')}": content} if content else {})


def _prompts(a: Run, b: Run) -> list[Row]:
    rows = []
    for path in sorted((a.folder / "requests").rglob("*.parquet")):
        name = path.relative_to(a.folder / "requests")
        other = b.folder / "requests" / name
        if not other.is_file():
            continue
        before, after = prompts_of(a, path), prompts_of(b, other)
        if before is not None and after is not None and asked_otherwise(before, after):
            place = name.with_suffix("").as_posix()
            rows.append({"kind": "prompts", "place": place, "value_a": before, "value_b": after, "n_jobs": 0})
    return rows
