"""Downloads public corpora from their repositories, with licences and checksums.

A file is written under another name and renamed once it is whole and its checksum is right, so that nothing half
written is ever found under its own name; a run that was cut short goes on where it was.

`public_sources.csv` has one row per file; `{1-886}` in a path stands for these numbers, each in a file of its own.
`local_path` lies under the data folder, one folder per origin. A file whose checksum is empty is checked only for
having arrived whole.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import os
import re
import shutil
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from dialeval.errors import UserError, nearest
from dialeval.text import counted

RAW_FILES = "https://raw.githubusercontent.com"
"""Serves the files of public GitHub repositories at a commit."""

Fetch = Callable[[str, BinaryIO], None]
"""Writes what is at a URL into an open file."""

_CHUNK = 1 << 20
_TIMEOUT_S = 60.0


def download(
    names: Iterable[str],
    data_dir: Path,
    mirror: Path | None = None,
    fetch: Fetch | None = None,
    *,
    base_url: str = RAW_FILES,
    notify: Callable[[str], None] = print,
) -> list[Path]:
    """Print the licences of corpora and fetch them.

    Args:
        names: of public corpora.
        data_dir: the data folder; files lie in it as `public_sources.csv` says.
        mirror: a folder that is laid out like the data folder and is copied from; None to use the network. It may lack
            files that were added to the registry later, as a data folder of before does; the last line names them.
        fetch: how a URL is fetched; None for plain HTTP.
        base_url: of the server of raw repository files.

    Returns:
        The files, present and checked.

    Raises:
        UserError: a name is unknown, a file cannot be had or written, or has a wrong checksum; whole files stay.
    """
    files = files_of(names)
    for line in licence_lines(files):
        notify(line)
    done: Counter[str] = Counter()
    absent: list[PublicFile] = []
    for file in files:
        target = data_dir / file.local_path
        if target.exists():
            _check_present(file, target)
            done["already there"] += 1
        elif mirror is not None and file.later and not (mirror / file.local_path).exists():
            absent.append(file)
        elif mirror is not None:
            _copy(file, mirror / file.local_path, target)
            done["copied"] += 1
        else:
            _download(file, file.url(base_url), target, fetch or fetch_url)
            done["fetched"] += 1
    left_out = set(absent)
    there = [file for file in files if file not in left_out]
    unchecked = sum(not file.sha256 for file in there)
    notify(
        ", ".join(f"{count} files {how}" for how, count in done.items())
        + f" in {data_dir}; {len(there) - unchecked} have the recorded checksum"
        + (f", {unchecked} have no recorded checksum" if unchecked else "")
    )
    if absent:
        notify(
            f"NOT COPIED: {len(absent)} files that are not in {mirror}, such as "
            f"{', '.join(str(file.local_path) for file in absent[:3])}; without a mirror, they are downloaded"
        )
    return [data_dir / file.local_path for file in there]


def licence_lines(files: Iterable[PublicFile]) -> list[str]:
    """Return a line for every repository and commit: where the files come from and under which licence."""
    counts = Counter((file.name, file.repository, file.commit, file.licence) for file in files)
    return [
        f"{name}: {counted(count, 'file')} of {repository} at {commit[:7]}; licence: {licence}"
        for (name, repository, commit, licence), count in counts.items()
    ]


def fetch_url(url: str, file: BinaryIO) -> None:
    """Download a URL into a file, over plain HTTP.

    Raises:
        OSError: the network or the server failed, or fewer bytes came than announced.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "dialeval"})
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:
        announced = response.headers.get("Content-Length")
        n_bytes = 0
        while chunk := response.read(_CHUNK):
            n_bytes += file.write(chunk)
    if announced is not None and n_bytes != int(announced):
        raise ConnectionError(f"the connection ended after {n_bytes} of {announced} bytes")


def _check_present(file: PublicFile, target: Path) -> None:
    if not target.is_file():
        raise UserError(f"{target} is not a file; move it away and run the same command again")
    if file.sha256 and _sha256(target) != file.sha256:
        raise UserError(
            f"{target} exists, but its checksum is not the recorded one of {file.repository} at {file.commit[:7]}; "
            f"move it away and run the same command again to get the original"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(file: PublicFile, source: Path, target: Path) -> None:
    with _written(file, target, f"{source}, from the mirror,") as out:
        try:
            content = source.open("rb")
        except OSError as error:
            raise UserError(
                f"{source} cannot be read: {error.strerror or error}; the mirror must have the structure of the "
                f"data folder. Without a mirror, files are downloaded"
            ) from error
        with content:
            while chunk := content.read(_CHUNK):
                out.write(chunk)


@contextmanager
def _written(file: PublicFile, target: Path, origin: str) -> Iterator[BinaryIO]:
    """Open a file that gets its name only when its block ends well and its checksum is right."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if file.sha256 and (found := _sha256(part)) != file.sha256:
            raise UserError(
                f"{origin} has the checksum {found[:12]}..., not {file.sha256[:12]}... as recorded: the file has "
                f"another version, or was corrupted in transfer, and is not stored; run the same command again"
            )
        part.replace(target)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "make room there" if full else "check the permissions of the data folder"
        raise UserError(
            f"{target} cannot be written: {error.strerror or error}; {remedy} and run the same command again"
        ) from error
    finally:
        with suppress(OSError):  # what went wrong before is what the user must hear of
            part.unlink()


def _download(file: PublicFile, url: str, target: Path, fetch: Fetch) -> None:
    with _written(file, target, url) as out:
        try:
            fetch(url, out)
        except urllib.error.HTTPError as error:
            raise UserError(_refused(file, url, error)) from error
        except (OSError, HTTPException) as error:
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            reason = getattr(error, "reason", None) or error
            raise UserError(
                f"{url} cannot be fetched: {reason}; run the same command again with a network connection "
                f"(downloaded files are kept), or set `mirror` to a folder with the files"
            ) from error


def _refused(file: PublicFile, url: str, error: urllib.error.HTTPError) -> str:
    if error.code == 404:
        return (
            f"{url} does not exist (404); {file.repository} was moved, made private or rewritten: get "
            f"{file.origin_path} from its authors and put it at {file.local_path} in the data folder, or set `mirror`"
        )
    return (
        f"{url} cannot be fetched: the server returns {error.code} ({error.reason}); run the same command again "
        f"later, or set `mirror` to a folder with the files"
    )


# Where the public corpora are: repository, commit, licence, and the checksum of every file.

SOURCES = Path(__file__).with_name("public_sources.csv")
_NUMBERS = re.compile(r"\{(\d+)-(\d+)\}")


@dataclass(frozen=True)
class PublicFile:
    """One file of a public corpus.

    Attributes:
        name: of the corpus.
        repository: owner and name at its origin.
        commit: the full hash.
        licence: the licence of its repository, in our words.
        origin_path: in the repository.
        local_path: under the data folder.
        sha256: of its content; empty where it is not known.
        later: whether it was added to the registry later, so that data folders of before do not have it.
    """

    name: str
    repository: str
    commit: str
    licence: str
    origin_path: str
    local_path: str
    sha256: str
    later: bool = False

    def url(self, base_url: str) -> str:
        """Return where the file can be fetched, under a server of raw repository files."""
        return f"{base_url.rstrip('/')}/{self.repository}/{self.commit}/{quote(self.origin_path)}"


def public_corpora() -> dict[str, tuple[PublicFile, ...]]:
    """Return the files of every public corpus, by its name."""
    with SOURCES.open(encoding="utf-8", newline="") as file:
        files = [one for row in csv.DictReader(file) for one in _files(row)]
    return {name: tuple(one for one in files if one.name == name) for name in dict.fromkeys(one.name for one in files)}


def files_of(names: Iterable[str]) -> list[PublicFile]:
    """Return the files of some corpora.

    Raises:
        UserError: a name is unknown, or there is none.
    """
    corpora = public_corpora()
    wanted = list(dict.fromkeys(names))
    if not wanted:
        raise UserError(f"no public corpus is named; choose from: {', '.join(corpora)}")
    for name in wanted:
        if name not in corpora:
            raise UserError(f"'{name}' is not a public corpus; {nearest(name, corpora)}")
    return [file for name in wanted for file in corpora[name]]


def _files(row: Mapping[str, str]) -> Iterator[PublicFile]:
    """Yield the file of a row of the registry, or those of its numbers."""
    numbers = _NUMBERS.search(row["origin_path"])
    if numbers is None:
        yield _file(row)
        return
    for number in range(int(numbers[1]), int(numbers[2]) + 1):
        paths = {name: _NUMBERS.sub(str(number), row[name]) for name in ("origin_path", "local_path")}
        yield _file({**row, **paths})


def _file(row: Mapping[str, str]) -> PublicFile:
    return PublicFile(
        name=row["name"],
        repository=row["repository"],
        commit=row["commit"],
        licence=row["licence"],
        origin_path=row["origin_path"],
        local_path=row["local_path"],
        sha256=row["sha256"],
        later=row["later"] == "yes",
    )


# Data sets of the Hugging Face Hub.

_ADDRESS = re.compile(r"hf:/+(?:datasets/)?(?!datasets/)([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([^/]+))?(?:/(.+))?")
_ROWS = (".parquet", ".jsonl", ".json", ".csv")


def is_on_hub(address: str) -> bool:
    """Return whether a text is the address of a data set, `hf://datasets/OWNER/NAME[@REVISION][/FILE]`."""
    return _ADDRESS.fullmatch(address) is not None


def fetch_data_set(address: str, folder: Path) -> Path:
    """Fetch a data set of the Hugging Face Hub at the commit of its revision.

    Args:
        address: `hf://datasets/OWNER/NAME[@REVISION][/FILE]`.
        folder: the data set gets a folder in it, named by its id and the commit.

    Returns:
        The file, or the folder of a data set in Parquet.

    Raises:
        UserError: `huggingface_hub` is not installed, the hub has no such data set, revision or file, or several files.
    """
    found = _ADDRESS.fullmatch(address)
    assert found is not None
    name, revision, file = found.groups()
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise UserError(f"{address}: this needs huggingface_hub; run: pip install 'dialeval[hub]'") from error
    hub = HfApi()
    try:
        about = hub.dataset_info(name, revision=revision)
        files = [one.rfilename for one in about.siblings or () if one.rfilename.endswith(_ROWS)]
        shards = [one for one in files if re.fullmatch(r"(data/)?[^/]+-\d{5}-of-\d{5}\.parquet", one)]
        wanted = [file] if file else shards or files
        if (file and file not in files) or (len(wanted) != 1 and not shards):
            raise UserError(
                f"{address}: name one of its files, hf://datasets/{name}@{about.sha}/FILE; files with rows: "
                f"{', '.join(files[:8]) or 'none'}"
            )
        target = folder / f"{name.replace('/', '--')}@{about.sha}"
        for one in wanted:
            hub.hf_hub_download(name, one, repo_type="dataset", revision=about.sha, local_dir=target)
        shutil.rmtree(target / ".cache", ignore_errors=True)
    except UserError:
        raise
    except Exception as error:  # of the network, the hub or the disk, by several libraries
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            f"{address} cannot be fetched: {reason:.300}; check the id, the revision and the connection; private data "
            "sets need HF_TOKEN"
        ) from error
    return target / wanted[0] if wanted != shards else target
