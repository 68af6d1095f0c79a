"""Reading what a model has answered: where its answers lie, and looking them up.

Where an answer lies follows from the model's identity alone. A model has the folder `<digest of its identity>`; stores
of earlier versions have `<a name of the model>-<digest>`, and all folders with the digest are read, whatever the name.
Below it is a folder for each protocol, which only says where to look first: the answers of the others serve as well,
since a key holds all that can change an answer. They are looked through when the first key is not found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from dialeval.engines.answer_files import AnswerFiles
from dialeval.engines.request import Response, read_response


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

    def __init__(self, directory: Path, *, identity: str, protocol: str) -> None:
        digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
        self.folder = directory / digest / protocol
        self.report = LoadReport()
        self._directory, self._digest, self._protocol = directory, digest, protocol
        self._here, self._elsewhere = AnswerFiles(), AnswerFiles()
        self._looked_elsewhere = False
        self._noted: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        self._load()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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

    def everything(self) -> Iterator[tuple[str, Response]]:
        """Yields key and response of all answers under every protocol; of several to one key, all."""
        if not self._looked_elsewhere:
            self._look_elsewhere()
        for files in (self._here, self._elsewhere):
            for key, body in files.everything():
                try:
                    yield key, read_response(body)[0]
                except ValueError:
                    continue

    def folders(self) -> list[Path]:
        """Returns the folders in which answers under the protocol may lie, the present one first."""
        return [model / self._protocol for model in self._model_folders()]

    def unreadable(self) -> dict[str, str]:
        """Returns why files could not be read, by file."""
        return self._here.unreadable | self._elsewhere.unreadable

    def _model_folders(self) -> list[Path]:
        return [self._directory / self._digest, *sorted(self._directory.glob(f"*-{self._digest}"))]

    def _load(self) -> None:
        self._here.load(path for folder in self.folders() for path in sorted(folder.glob("*.jsonl")))
        self.report = LoadReport(len(self._here), self._here.damaged)
        self._tell(self._here)

    def _look_elsewhere(self) -> None:
        here = set(self.folders())
        found = [path for model in self._model_folders() for path in sorted(model.glob("*/*.jsonl"))]
        self._elsewhere.load(path for path in found if path.parent not in here)
        self._looked_elsewhere = True
        self._tell(self._elsewhere)

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
            print(f"note: {name} has {count} damaged line(s); the rest is used and those requests are asked again")
        for name, reason in files.unreadable.items():
            print(f"note: {name} cannot be read: {reason}")
