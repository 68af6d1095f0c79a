"""Changes between two runs: configuration, settings of jobs, prompts, data, code and libraries.

A plan keeps whole prompts and not the template. What a prompt is about stands beside it, and is taken out; of what is
left a line counts as the prompt's where several cases have it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dialeval import layout
from dialeval.config.files import WRITTEN_DOWN
from dialeval.errors import UserError
from dialeval.provenance.records import versions_of
from dialeval.report.comparison.runs import Run
from dialeval.tables.dialogues import REQUESTS
from dialeval.tables.files import OTHER_VERSION, chosen_rows, count_rows

Row = dict[str, Any]
_PLACES = ("results_dir", "store_dir")
"""Fields that change nothing in a result."""
LOOKED_AT = 240
"""Requests of a plan, taken evenly."""
SEVERAL = 3
"""Cases that must have a line; all, where there are fewer."""
ABOUT = "…"
_SHORTEST = 8
"""Characters of a text that is taken out: shorter ones are words that prompts have, too."""
_NUMBER = re.compile(r"\d+")


def changes(a: Run, b: Run) -> list[Row]:
    """Return the rows of the table `comparison/changes`.

    Settings of jobs are compared where not both runs have written down their configuration: they are its parts. Of
    jobs only those are compared that both runs have.
    """
    first, second = _configuration(a), _configuration(b)
    ours, theirs = a.records(), b.records()
    common = [(name, ours[name], theirs[name]) for name in ours if name in theirs]
    if not common:
        for run, records in ((a, ours), (b, theirs)):
            if not records:
                run.add_note(f"{run.folder} has no records of its jobs, so changed settings are unknown")
    rows = []
    if first is not None and second is not None:
        rows += list(_between("configuration", "", first, second))
    else:
        rows += list(_of_jobs("settings", common, _settings))
    rows += list(_of_jobs("data", common, _data))
    rows += _prompts(a, b)
    rows += list(_of_jobs("code", common, lambda record: {record.get("stage", ""): record.get("code", "")}))
    loaded = _with_loaded_libraries(common, ours, theirs)
    rows += list(_of_jobs("libraries", loaded, lambda record: record["libraries"]))
    rows += list(_of_jobs("version", common, lambda record: {"dialeval": record.get("version", "")}))
    return rows


def _configuration(run: Run) -> dict[str, str] | None:
    path = run.folder / WRITTEN_DOWN
    if not path.is_file():
        return None
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        run.add_note(f"{path} cannot be read: {error}")
        return None
    return {place: text for place, text in flat(content or {}).items() if place not in _PLACES}


def flat(value: Any, place: str = "") -> dict[str, str]:
    """Return the value at each place of nested settings, as JSON; a list of plain values is one value."""
    if isinstance(value, Mapping) and value:
        parts = [(f"{place}.{name}" if place else str(name), part) for name, part in value.items()]
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        parts = [(f"{place}[{number}]", part) for number, part in enumerate(value, start=1)]
    else:
        return {place: json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)}
    return {where: text for name, part in parts for where, text in flat(part, name).items()}


def _between(kind: str, prefix: str, first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[Row]:
    for place in dict.fromkeys([*first, *second]):
        before, after = first.get(place, ""), second.get(place, "")
        if before != after:
            yield {"kind": kind, "place": prefix + place, "value_a": before, "value_b": after, "n_jobs": 0}


def _of_jobs(kind: str, common: Iterable[tuple[str, Row, Row]], part_of: Any) -> Iterator[Row]:
    """Yield the differences between the records of the same jobs, each once with its number of jobs."""
    found: dict[tuple[str, str, str], int] = defaultdict(int)
    for _, first, second in common:
        for row in _between(kind, "", part_of(first), part_of(second)):
            found[row["place"], row["value_a"], row["value_b"]] += 1
    for (place, before, after), n_jobs in found.items():
        yield {"kind": kind, "place": place, "value_a": before, "value_b": after, "n_jobs": n_jobs}


def _with_loaded_libraries(
    common: list[tuple[str, Row, Row]], ours: Mapping[str, Row], theirs: Mapping[str, Row]
) -> Iterator[tuple[str, Row, Row]]:
    """Yield the records of the same jobs, each with its run's version of a library that only the other job loaded.

    Jobs of one process share its libraries, so a job can have more of them than the same job in a process of its own.
    """
    of_a, of_b = versions_of(ours.values()), versions_of(theirs.values())
    for name, first, second in common:
        before, after = first.get("libraries", {}), second.get("libraries", {})
        yield (
            name,
            {"libraries": {**_versions_in(after, of_a), **before}},
            {"libraries": {**_versions_in(before, of_b), **after}},
        )


def _versions_in(libraries: Mapping[str, str], versions: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    known = {name: versions[name] for name in libraries if name in versions}
    return {name: libraries[name] if libraries[name] in found else found[-1] for name, found in known.items()}


def _settings(record: Row) -> dict[str, str]:
    """Return the settings of a job, those of its model under the model's name."""
    settings = record.get("settings", {})
    name = settings.get("name", "")
    found = {}
    for place, text in flat(settings).items():
        of_model = place == "model" or place.startswith("model.")
        found[f"models.{name}{place.removeprefix('model')}" if of_model and name else place] = text
    return found


def _data(record: Row) -> dict[str, str]:
    """Return the digests of a job's inputs outside the results, and of its model's files."""
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
    ours, theirs = (run.folder / layout.folder_of(layout.REQUESTS) for run in (a, b))
    for path in sorted(ours.rglob("*.parquet")):
        name = path.relative_to(ours)
        other = theirs / name
        if not other.is_file():
            continue
        before, after = prompts_of(a, path), prompts_of(b, other)
        if before is not None and after is not None and changed_prompts(before, after):
            place = name.with_suffix("").as_posix()
            rows.append({"kind": "prompts", "place": place, "value_a": before, "value_b": after, "n_jobs": 0})
    return rows


def prompts_of(run: Run, path: Path) -> str | None:
    """Return the words of a plan's prompts, one form after the other; None where the plan cannot be read.

    Args:
        run: whose plan it is.
        path: the table `requests`.
    """
    try:
        n = count_rows(path, REQUESTS)
        chosen = np.zeros(n, dtype=np.bool_)
        if n:
            chosen[np.unique(np.linspace(0, n - 1, LOOKED_AT).astype(np.int64))] = True
        rows = list(chosen_rows(path, REQUESTS, chosen))
    except UserError as error:
        run.add_note(str(error).replace("; delete it and run the same command again", "").replace(OTHER_VERSION, ""))
        return None
    lines = [(_case(row), _lines(row)) for row in rows]
    cases: dict[str, set[str]] = defaultdict(set)
    for case, words in lines:
        for line in words:
            cases[line].add(case)
    enough = min(SEVERAL, len({case for case, _ in lines}))
    forms = {tuple(line for line in words if len(cases[line]) >= enough) for _, words in lines}
    longest = [form for form in forms if not any(set(form) < set(other) for other in forms)]
    return "\n\n".join("\n".join(form) for form in sorted(longest))


def _case(row: dict[str, Any]) -> str:
    return str(row["case_id"] or row["item_id"] or row["request_id"])


def _lines(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the distinct lines of a prompt in order, without the item's own text."""
    about = sorted({text for part in row["subject"] for text in part if text}, key=len, reverse=True)
    found: list[str] = []
    for message in row["messages"]:
        content = message["content"]
        for text in about:
            if len(text) >= _SHORTEST:
                content = content.replace(text, ABOUT)
            else:  # "Yes." stands in prompts, too: it is taken out where it is all that somebody says
                content = re.sub(rf"(?m)(^|: |\. ){re.escape(text)}(?=<|$)", rf"\g<1>{ABOUT}", content)
        found += [f"{message['role']}: {line}".rstrip() for line in content.split("\n")]
    return tuple(dict.fromkeys(found))


def changed_prompts(before: str, after: str) -> bool:
    """Return whether prompts have other words in one of two runs.

    A form that only one run has, and that differs from one of both runs in numbers alone, comes from its cases: more
    dialogues have more lengths, which prompts name.

    Args:
        before, after: what `prompts_of` gave.
    """
    one, other = (set(words.split("\n\n")) for words in (before, after))
    known = {_NUMBER.sub("0", form) for form in one & other}
    return any(_NUMBER.sub("0", form) not in known for form in one ^ other)
