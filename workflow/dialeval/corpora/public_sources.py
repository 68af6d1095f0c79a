"""Where the public corpora are: repository, commit, licence, and the checksum of every file.

`public_sources.csv` has one row per file; `{1-886}` in a path stands for these numbers, each in a file of its own.
`local_path` lies under the data folder, one folder per origin. A file whose checksum is empty is checked only for
having arrived whole.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dialeval.errors import UserError, nearest

_REGISTRY = Path(__file__).with_name("public_sources.csv")
_NUMBERS = re.compile(r"\{(\d+)-(\d+)\}")


@dataclass(frozen=True)
class PublicFile:
    """One file of a public corpus.

    Attributes:
        name: of the corpus.
        repository: owner and name at its origin.
        commit: the whole hash.
        licence: what its repository says, in our words.
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
        """Returns where the file can be fetched, under a server of raw repository files."""
        return f"{base_url.rstrip('/')}/{self.repository}/{self.commit}/{quote(self.origin_path)}"


def public_corpora() -> dict[str, tuple[PublicFile, ...]]:
    """Returns the files of every public corpus, by its name."""
    with _REGISTRY.open(encoding="utf-8", newline="") as file:
        files = [one for row in csv.DictReader(file) for one in _files(row)]
    return {name: tuple(one for one in files if one.name == name) for name in dict.fromkeys(one.name for one in files)}


def files_of(names: Iterable[str]) -> list[PublicFile]:
    """Returns the files of some corpora.

    Raises:
        UserError: a name is unknown, or there is none.
    """
    corpora = public_corpora()
    wanted = list(dict.fromkeys(names))
    if not wanted:
        raise UserError(f"no public corpus is named; known: {', '.join(corpora)}")
    for name in wanted:
        if name not in corpora:
            raise UserError(f"there is no public corpus '{name}'; {nearest(name, corpora)}")
    return [file for name in wanted for file in corpora[name]]


def _files(row: Mapping[str, str]) -> Iterator[PublicFile]:
    """Yields the file of a row of the registry, or those of its numbers."""
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
