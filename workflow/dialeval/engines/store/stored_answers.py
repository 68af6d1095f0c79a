"""Reading what a model has answered: where its answers lie, and looking them up.

Where an answer lies follows from the model's identity alone. A model has the folder `<digest of its identity>`; stores
of earlier versions have `<a name of the model>-<digest>`, and all folders with the digest are read, whatever the name.
Below it is a folder for each protocol, which only says where to look first: the answers of the others serve as well,
since a key holds all that can change an answer. They are looked through when the first key is not found.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from dialeval.engines.request import Response, read_response
from dialeval.engines.store.files import AnswerFiles
from dialeval.engines.store.locks import may_be_written
from dialeval.text.counting import counted

ANSWERS = ".jsonl"


@dataclass
class LoadReport:
    """What was found in a store folder: whole responses, and damaged lines by file."""

    responses: int = 0
    damaged: dict[str, int] = field(default_factory=dict)


class StoredAnswers:
    """The stored answers of one model, those under one protocol at hand. Nothing is written.

    Memory holds an index and no texts.

    Args:
        directory: where stores lie, `store_dir` of the configuration. It need not exist.
        identity: the model's identity.
        protocol: the protocol.
    """

    _keeps_places = False

    def __init__(self, directory: Path, *, identity: str, protocol: str) -> None:
        digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
        self.folder = directory / digest / protocol
        self.report = LoadReport()
        self._directory, self._digest, self._protocol = directory, digest, protocol
        self._here, self._elsewhere = AnswerFiles(), AnswerFiles()
        self._looked_elsewhere = False
        self._hidden: dict[str, str] = {}
        self._noted: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        self._load()
        return self

    def __exit__(self, *_: object) -> None:
        self._here.close()
        self._elsewhere.close()

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> Response | None:
        """Returns the stored response, or None."""
        found = self._first_whole(self._here, key)
        if found is None:
            if not self._looked_elsewhere:
                self._look_elsewhere()
            found = self._first_whole(self._elsewhere, key)
        return found

    def unreadable(self) -> dict[str, str]:
        """Returns why files and folders could not be read, by their path."""
        return self._hidden | self._here.unreadable | self._elsewhere.unreadable

    def _model_folders(self) -> list[Path]:
        """Returns the folders of the model, the one of this version first."""
        earlier = [path for path in self._listed(self._directory) if path.name.endswith(f"-{self._digest}")]
        return [self.folder.parent, *earlier]

    def _load(self) -> None:
        folders = [model / self._protocol for model in self._model_folders()]
        files = (path for folder in folders for path in self._listed(folder, ANSWERS))
        self._here.load(files, keep=self._keeps_places, grows=self._grows)
        self.report = LoadReport(len(self._here), self._here.damaged)
        self._tell(self._here)

    def _look_elsewhere(self) -> None:
        others = [path for model in self._model_folders() for path in self._listed(model) if path.is_dir()]
        files = (path for of in others if of.name != self._protocol for path in self._listed(of, ANSWERS))
        self._elsewhere.load(files, keep=self._keeps_places, grows=self._grows)
        self._looked_elsewhere = True
        self._tell(self._elsewhere)

    def _grows(self, path: Path) -> bool:
        """Returns whether a job may be writing into a file at this moment."""
        return may_be_written(path)

    def _listed(self, folder: Path, suffix: str = "") -> list[Path]:
        """Returns what is in a folder; one that hides it is noted, which `Path.glob` would pass over in silence."""
        try:
            return sorted(path for path in folder.iterdir() if path.name.endswith(suffix))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._hidden[str(folder)] = error.strerror or str(error)
            return []

    def _first_whole(self, files: AnswerFiles, key: str) -> Response | None:
        for path, body in files.find(key):
            try:
                response, mended = read_response(body)
            except ValueError:
                files.count_damaged(path)
                continue
            if mended and (path, mended) not in self._noted:
                self._noted.add((path, mended))
                print(f"note: an answer in {path} has {mended}; the rest of it is used")
            return response
        return None

    def _tell(self, files: AnswerFiles) -> None:
        for name, count in files.damaged.items():
            print(
                f"note: {name} has {counted(count, 'damaged line')}; the rest is used and those requests are asked "
                "again"
            )
        for name, reason in (self._hidden | files.unreadable).items():
            if (name, reason) not in self._noted:
                self._noted.add((name, reason))
                print(f"note: {name} cannot be read: {reason}")
