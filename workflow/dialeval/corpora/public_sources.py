"""Where the public corpora are: repository, commit, licence, and the checksum of every file.

`public_sources.csv` has one row per file. `local_path` lies under the data folder, one folder per origin. A file whose
checksum is empty is checked only for having arrived whole.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from dialeval.errors import UserError, nearest

_REGISTRY = Path(__file__).with_name("public_sources.csv")


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
    """

    name: str
    repository: str
    commit: str
    licence: str
    origin_path: str
    local_path: str
    sha256: str

    def url(self, base_url: str) -> str:
        """Returns where the file can be fetched, under a server of raw repository files."""
        return f"{base_url.rstrip('/')}/{self.repository}/{self.commit}/{quote(self.origin_path)}"


def public_corpora() -> dict[str, tuple[PublicFile, ...]]:
    """Returns the files of every public corpus, by its name."""
    with _REGISTRY.open(encoding="utf-8", newline="") as file:
        files = [PublicFile(**row) for row in csv.DictReader(file)]
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
