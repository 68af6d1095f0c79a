"""What the report reads from a run's files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from pydantic import BaseModel

from dialeval import layout
from dialeval.errors import UserError
from dialeval.prompts.rendering import PromptSet, template_folders, with_references
from dialeval.provenance.fingerprints import templates_reached
from dialeval.provenance.records import commit_of, records_behind, versions_of
from dialeval.report.about import About, count_statuses, roles_of, sampling_of
from dialeval.report.exchanges import Answerer, Answering, ExchangeSource, in_files
from dialeval.tables.catalogue import table_named
from dialeval.tables.dialogues import REQUESTS, RESPONSES, USAGE
from dialeval.tables.files import read_name, read_table
from dialeval.tables.measures import FOLDER


def read_about(
    results: Path,
    shown: Sequence[Path],
    judgements: Iterable[Path],
    usage: Iterable[Path],
    configuration: Path,
    random_seed: int,
    stage_functions: Callable[[str], list[str]],
    environment: Mapping[str, str] = os.environ,
    test_answers: Iterable[Path] = (),
) -> About:
    """Return the facts about a run.

    Args:
        results: results folder of the run.
        shown: the files that the page shows; the page describes their inputs.
        judgements: tables `judgements`.
        usage: the table `usage`, or none.
        configuration: record of the configuration; it may be missing.
        random_seed: seed of all randomness.
        stage_functions: gives the functions of a job's stages as `module:function`.
        environment: of this process; SOURCE_DATE_EPOCH, in seconds, stands for the time that it is.
        test_answers: tables of what models answered to test questions.
    """
    records = records_behind(results, shown)
    text = configuration.read_text(encoding="utf-8") if configuration.is_file() else ""
    content = yaml.safe_load(text) or {}
    prompt_set, folder = _prompts_of(records)
    return About(
        version=", ".join(sorted({str(record["version"]) for record in records if "version" in record})) or "not known",
        commit=commit_of(),
        date=_date(environment),
        configuration=text,
        place=str(configuration),
        random_seed=random_seed,
        models=content.get("models") or {},
        roles=roles_of(content),
        sampling=sampling_of(records),
        prompts=_templates(records, prompt_set, folder, stage_functions),
        prompt_set=f"{prompt_set}, and those in {folder}" if folder else prompt_set,
        libraries=versions_of(records),
        usage=tuple(row for path in usage for row in read_table(path, USAGE).to_pylist()),
        verdicts=count_statuses(_columns(judgements, "judge", "protocol", "status")),
        answers=count_statuses(_columns(test_answers, "model", "method", "status")),
    )


def _columns(paths: Iterable[Path], *names: str) -> Iterator[tuple[Any, ...]]:
    """Yield the values of some columns of tables, row by row."""
    for path in paths:
        table = pq.read_table(path, columns=list(names))
        yield from zip(*(table[name].to_pylist() for name in names), strict=True)


def _prompts_of(records: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """Return prompt set and template folder of the last of some jobs."""
    prompt_sets = [str(record["prompts"]) for record in records if record.get("prompts")]
    prompt_set, _, folder = (prompt_sets[-1] if prompt_sets else "ours:").partition(":")
    return prompt_set, folder


def _templates(
    records: Iterable[Mapping[str, Any]], prompt_set: str, folder: str, stage_functions: Callable[[str], list[str]]
) -> dict[str, str]:
    """Return the templates that jobs rendered, with their includes: named in code, or by a protocol."""
    functions = sorted({name for record in records if record.get("stage") for name in stage_functions(record["stage"])})
    protocols = (record.get("settings", {}).get("protocol") for record in records)
    named = {str(one["template"]) for one in protocols if isinstance(one, dict) and one.get("template")}
    folders = template_folders(Path(folder) if folder else None, cast(PromptSet, prompt_set))
    found = with_references({*named, *templates_reached(functions)}, folders)
    return {name: found[name].decode("utf-8", "replace") for name in sorted(found)}


def _date(environment: Mapping[str, str]) -> str:
    epoch = environment.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return now.date().isoformat()


# Paths of the tables of requests and responses of a run.


class Answers(BaseModel, defer_build=True):
    """The requests of a run.

    Attributes:
        models: by name.
        together: cascades, with the judges whose answers theirs are, the one that is heard first in front.
    """

    models: dict[str, Answering] = {}
    together: dict[str, tuple[str, ...]] = {}


def exchanges_of_run(results: Path, answers: Answers) -> ExchangeSource:
    """Return a function that looks up requests and responses in a results folder."""
    protocols = sorted({protocol for model in answers.models.values() for protocol in model.shards})
    return ExchangeSource(
        in_files([results / layout.REQUESTS.format(protocol=protocol) for protocol in protocols], REQUESTS),
        {name: _answerer(results, name, model) for name, model in answers.models.items() if model.shards},
        answers.together,
    )


def _answerer(results: Path, name: str, model: Answering) -> Answerer:
    first = [
        results / layout.RESPONSES.format(judge=name, protocol=protocol, shard=shard, shards=shards)
        for protocol, shards in model.shards.items()
        for shard in range(1, shards + 1)
    ]
    retries, retried = (
        [results / path.format(judge=name, protocol=protocol) for protocol in model.again]
        for path in (layout.RETRIES, layout.RETRIED)
    )
    return Answerer(in_files([*first, *retried], RESPONSES), in_files(retries, REQUESTS), model)


# Tables of a run, read from their files by the names under which the report knows them.


def tables_by_name(paths: Iterable[Path]) -> dict[str, pa.Table]:
    """Return tables by the name of their kind, those of the same one after the other.

    Raises:
        UserError: a file is none of our tables.
    """
    found: dict[str, list[pa.Table]] = {}
    for path in paths:
        name = read_name(path)
        if name.startswith(f"{FOLDER}/"):  # a measure's is known by the protocol in whose folder it lies
            name = f"{path.parent.name}/{path.stem}"
        kind = table_named(name)
        if kind is None:
            raise UserError(f"{path} has no table name in its metadata; delete it and run the same command again")
        found.setdefault(name, []).append(read_table(path, kind).replace_schema_metadata())
    return {name: pa.concat_tables(parts) for name, parts in found.items()}
