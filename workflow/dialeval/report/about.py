"""The page's part "About this run", and the status page of an unfinished run."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from dialeval.jobs.progress import SoFar
from dialeval.tables.catalogue import table_named
from dialeval.text import counted

_SAMPLING = ("temperature", "top_p", "max_tokens", "repeats", "presence_penalty", "frequency_penalty")
_OF_MODEL = ("send_temperature", "send_seed", "reasoning_effort", "dtype", "precision", "quantization", "extra_body")
_ROLES = {"chatbots": "chatbot", "judges": "judge"}
Statuses: TypeAlias = Mapping[tuple[str, str], Counter[str]]


@dataclass(frozen=True)
class About:
    """Facts about a run.

    Attributes:
        version: version of DialEval that wrote the results.
        commit: commit of its checkout; empty outside a checkout.
        date: date of the page, as YYYY-MM-DD.
        configuration: recorded configuration of the run, as YAML; empty without a record.
        place: path of the recorded configuration, as the page shows it.
        random_seed: seed of all randomness.
        models: configured fields of each model, by its name.
        roles: roles of each model, such as chatbot.
        sampling: sampling settings by protocol.
        prompts: text of each rendered template, by its name.
        prompt_set: name of the set of prompts, and the folder that replaces some.
        libraries: versions that jobs computed with, by library.
        usage: rows of the table `usage`.
        verdicts: number of verdicts by status, by (judge, protocol).
        answers: number of answers to test questions by status, by (model, method).
    """

    version: str
    date: str
    commit: str = ""
    configuration: str = ""
    place: str = "results/configuration.yaml"
    random_seed: int = 0
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sampling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    prompt_set: str = "ours"
    libraries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usage: tuple[Mapping[str, Any], ...] = ()
    verdicts: Statuses = field(default_factory=dict)
    answers: Statuses = field(default_factory=dict)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the facts."""
        commit = [("Commit", self.commit)] if self.commit else []
        return (
            ("DialEval", self.version),
            *commit,
            ("Page created on", self.date),
            ("Random seed", str(self.random_seed)),
            ("Prompt set", self.prompt_set),
        )

    @property
    def typed_place(self) -> str:
        """Path of the configuration, quoted for a shell."""
        return shlex.quote(self.place)

    @property
    def tables(self) -> tuple[AboutTable, ...]:
        """The tables of the part that have a row."""
        troubles = (
            _troubles("Unparsed verdicts", "Judge, protocol", self.verdicts),
            _troubles("Unparsed answers to questions", "Model, method", self.answers),
        )
        made = (_models(self), _sampled(self), _usage(self.usage), *troubles, _libraries(self.libraries))
        return tuple(table for table in made if table.rows)

    @property
    def troubles(self) -> str:
        """The sentence on failed requests and unparsed responses."""
        failed = sum(sum(_counts(row["failures"]).values()) for row in self.usage)
        first = f"{counted(failed, 'request')} failed" if failed else "No request failed"
        there = []
        for statuses, noun, of_what in ((self.verdicts, "verdict", ""), (self.answers, "answer", " to test questions")):
            if n := sum(map(Counter.total, statuses.values())):
                there.append((sum(map(_n_unparsed, statuses.values())), counted(n, noun) + of_what))
        if not there:
            return f"{first}."
        if not any(unparsed for unparsed, _ in there):
            return f"{first}, and all of {' and '.join(words for _, words in there)} could be parsed."
        return f"{first}; {' and '.join(f'{unparsed:,} of {words}' for unparsed, words in there)} could not be parsed."


@dataclass(frozen=True)
class AboutTable:
    """A small table of texts: its title, headings, and rows whose first entry names them.

    `address` is the beginning of the id of its CSV text; empty if the page has none.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: str = ""
    address: str = ""


def roles_of(configuration: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the roles of each model in a configuration."""
    found: dict[str, tuple[str, ...]] = {}
    for section, words in _ROLES.items():
        for name in configuration.get(section) or ():
            found[name] = (*found.get(name, ()), words)
    return found


def sampling_of(records: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return how each protocol was sampled, by the settings of the jobs that planned or sent requests."""
    found: dict[str, dict[str, Any]] = {}
    planned: dict[str, dict[str, Any]] = {}
    answered: set[str] = set()
    for record in records:
        settings, stage = record.get("settings", {}), record.get("stage", "")
        if stage == "selfchat":
            found["selfchat"] = _fields(settings.get("selfchat", {}))
        elif stage.startswith("plan_") and isinstance(settings.get("protocol"), dict):
            found[settings["name"]] = _fields(settings["protocol"])
        elif "dialogbench_plan" in stage.split("+"):
            planned = {f"dialogbench_{method}": _fields(own) for method, own in settings["examinations"].items()}
        elif stage == "answer":
            answered.add(settings["protocol"])
    return found | {protocol: fields for protocol, fields in planned.items() if protocol in answered}


def count_statuses(rows: Iterable[tuple[str, str, str]]) -> Statuses:
    """Return the counts by status of some rows of names, here judge and protocol, and status."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for (judge, protocol, status), n in Counter(rows).items():
        counts.setdefault((judge, protocol), Counter())[status] = n
    return counts


def _n_unparsed(statuses: Counter[str]) -> int:
    return statuses.total() - statuses["ok"]


def _fields(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in _SAMPLING if settings.get(name) is not None}


def _models(about: About) -> AboutTable:
    rows = []
    for name, model in about.models.items():
        what = model.get("model") or model.get("method") or ""
        own = [f"{key}: {model[key]}" for key in _OF_MODEL if model.get(key)]
        pinned = "" if model.get("engine") not in ("vllm", "encoder", "nllb") else model.get("revision") or "not pinned"
        does = " and ".join(about.roles.get(name, ())) or ", ".join(
            str(row["protocol"]) for row in about.usage if row["model"] == name
        )
        rows.append(
            (name, does, model.get("engine", ""), str(what), str(pinned),
             model.get("base_url", ""), ", ".join(own))
        )  # fmt: skip
    columns = ("Name", "Role", "Engine", "Model", "Revision", "Endpoint", "Settings")
    return _without_empty(AboutTable("Models", columns, tuple(rows)))


def _sampled(about: About) -> AboutTable:
    names = [name for name in _SAMPLING if any(name in fields for fields in about.sampling.values())]
    rows = tuple(
        (protocol, *(f"{fields[name]:g}" if name in fields else "–" for name in names))
        for protocol, fields in about.sampling.items()
    )
    return AboutTable("Sampling", ("Protocol", *(name.replace("_", " ") for name in names)), rows)


def _usage(usage: Iterable[Mapping[str, Any]]) -> AboutTable:
    """Return the usage of all responses that the run uses, sent or cached."""
    rows = tuple(
        (
            f"{row['model']}, {row['protocol']}",
            *(_number(row[name]) for name in ("requests", "input_tokens", "output_tokens", "reasoning_tokens")),
            _money(row["cost"]),
            _money(row["spent"]),
            ", ".join(f"{kind}: {n:,}" for kind, n in _counts(row["failures"]).items()),
        )
        for row in usage
    )
    columns = (
        "Model, protocol",
        "Requests",
        "Tokens in",
        "Tokens out",
        "Reasoning tokens",
        "Cost",
        "Spent",
        "Failed",
    )
    words = (
        "Cost: of all responses in use, by the configured prices. Spent: according to the ledger of the store, "
        "over all runs."
    )
    table = _without_empty(AboutTable("Usage and cost", columns, rows, words, "table-usage"))
    return table if "Cost" in table.columns else replace(table, words="")


def _troubles(title: str, whose: str, statuses: Statuses) -> AboutTable:
    rows = tuple(
        (
            f"{judge}, {protocol}",
            f"{_n_unparsed(counts):,} of {counts.total():,}",
            ", ".join(f"{status}: {n:,}" for status, n in sorted(counts.items()) if status != "ok"),
        )
        for (judge, protocol), counts in sorted(statuses.items())
        if _n_unparsed(counts)
    )
    return AboutTable(title, (whose, "Unparsed", "By status"), rows)


def _libraries(libraries: Mapping[str, tuple[str, ...]]) -> AboutTable:
    rows = tuple((name, ", ".join(versions)) for name, versions in libraries.items())
    return AboutTable("Library versions", ("Library", "Version"), rows)


def _without_empty(table: AboutTable) -> AboutTable:
    """Return a table without empty columns."""
    kept = [place for place in range(len(table.columns)) if not place or any(row[place] for row in table.rows)]
    columns, rows = tuple(table.columns[place] for place in kept), tuple(
        tuple(row[place] or "–" for place in kept) for row in table.rows
    )  # fmt: skip
    return AboutTable(table.title, columns, rows, table.words, table.address)


def _counts(text: str | None) -> dict[str, int]:
    """Return the counts by kind that the table of usage writes as `kind: n; kind: n`."""
    pairs = (part.rsplit(":", 1) for part in (text or "").split(";") if ":" in part)
    return {kind.strip(): int(n) for kind, n in pairs}


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _money(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


# The status of a run: progress of requests, and missing results.

MISSING = {
    "dialogues": "Dialogues of", "verdicts": "Verdicts", "scores": "Scores", "tables": "Tables", "figures": "Figures"
}  # fmt: skip
"""Headings of missing results by kind of file. Other files are intermediate and not named."""


@dataclass(frozen=True)
class RunStatus:
    """Status of a run.

    Attributes:
        at: time of the status, as the page shows it.
        is_running: whether a run is active.
        asking: jobs of the last run that call models.
        missing: missing results: heading and names.
        n_missing, n_wanted: number of missing input files of the page, and of all its input files.
    """

    at: str
    is_running: bool
    asking: tuple[JobProgress, ...] = ()
    missing: tuple[tuple[str, tuple[str, ...]], ...] = ()
    n_missing: int = 0
    n_wanted: int = 0

    @property
    def title(self) -> str:
        """The heading."""
        if self.is_running:
            return "This run is in progress"
        return "This run is not finished" if self.n_missing else "This run is finished"

    @property
    def words(self) -> str:
        """The sentence on how many of the report's input files exist."""
        n_found = self.n_wanted - self.n_missing
        return f"At {self.at}, {n_found:,} of the report's {counted(self.n_wanted, 'input file')} exist."


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job that calls a model.

    Attributes:
        title: protocol and model of the requests.
        counts: number of finished requests, in words.
        share: finished requests in percent; None if their total is not known.
        state: `answering`, `done` or `stopped`, with the number of failures.
    """

    title: str
    counts: str
    share: int | None
    state: str


def run_status_of(
    wanted: Mapping[str, Iterable[Path]], progress: Mapping[str, Iterable[SoFar]], *, is_running: bool, at: str
) -> RunStatus:
    """Return the status of a run.

    Args:
        wanted: input files of the finished page, by kind.
        progress: progress of the jobs of the last run that call models, by their names.
        is_running: whether a run is active.
        at: time of the status.
    """
    files = {kind: [Path(path) for path in paths] for kind, paths in wanted.items()}
    lacking = {kind: [path for path in paths if not path.exists()] for kind, paths in files.items()}
    missing = {words: tuple(_name(kind, path) for path in lacking.get(kind, ())) for kind, words in MISSING.items()}
    asking = tuple(_progress_of(one, is_running=is_running) for jobs in progress.values() for one in jobs)
    return RunStatus(
        at=at,
        is_running=is_running,
        asking=asking,
        missing=tuple((words, names) for words, names in missing.items() if names),
        n_missing=sum(map(len, lacking.values())),
        n_wanted=sum(map(len, files.values())),
    )


def _name(kind: str, path: Path) -> str:
    """Return the displayed name of a missing file: a table's title, else the path."""
    place = f"{path.parent.name}/{path.stem}"
    if kind == "tables" and (table := table_named(place)) is not None:
        return f"{table.title} ({place})" if table.title else place
    return path.stem if kind == "dialogues" else place


def _progress_of(one: SoFar, *, is_running: bool) -> JobProgress:
    of_all = f" of {one.total:,}" if one.total is not None else ""
    failed = f", {one.failed:,} failed" if one.failed else ""
    state = "done" if one.state == "done" else "answering" if is_running else "stopped"
    share = None if one.total is None else 100 if not one.total else min(100, 100 * one.done // one.total)
    return JobProgress(one.title, f"{one.done:,}{of_all} {one.unit}", share, state + failed)
