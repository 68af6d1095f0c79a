"""The stored responses of one model under one protocol, and the file that a job writes.

A model has the folder `<digest of its identity>` (in earlier versions `<a name>-<digest>`; all folders with the digest
are read), with a folder for each protocol. Responses of other protocols serve as well, since a key covers all that can
change a response; they are read when the first key is not found.

Durability: `append` and `append_soon` return once the line is written, so that a killed process loses nothing. The file
is fsynced at least every `sync_seconds` and on close, which bounds the loss by a power failure.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import itertools
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from dialeval.engines.requests import Response, read_response
from dialeval.engines.store.answer_files import AnswerFiles, GrowingFiles, TurnWrites, body_of, line_of
from dialeval.engines.store.claims import Claims, OtherJob, is_at_work, may_be_written
from dialeval.errors import UserError
from dialeval.paths import open_no_link, refuse_links
from dialeval.text import counted

ANSWERS = ".jsonl"


class StoredAnswers:
    """The stored responses of one model, read-only; the index is in memory, texts are not.

    Args:
        directory: the folder of stores, `store_dir` of the configuration; it need not exist.
    """

    def __init__(self, directory: Path, *, identity: str, protocol: str) -> None:
        digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
        self.folder = directory / digest / protocol
        self._directory, self._digest, self._protocol = directory, digest, protocol
        self._own_protocol, self._other_protocols = AnswerFiles(), AnswerFiles()
        self._others_loaded = False
        self._unreadable: dict[str, str] = {}
        self._reported: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        folders = [model / self._protocol for model in self._model_folders()]
        files = (path for folder in folders for path in self._listed(folder, ANSWERS))
        self._own_protocol.load(files, grows=self._grows)
        self._report(self._own_protocol)
        return self

    def __exit__(self, *_: object) -> None:
        self._own_protocol.close()
        self._other_protocols.close()

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> Response | None:
        """Return the stored response, or None."""
        found = self._first_readable(self._own_protocol, key)
        if found is None:
            if not self._others_loaded:
                self._load_other_protocols()
            found = self._first_readable(self._other_protocols, key)
        return found

    def unreadable(self) -> dict[str, str]:
        """Return why files and folders could not be read, by their path."""
        return self._unreadable | self._own_protocol.unreadable | self._other_protocols.unreadable

    def _first_readable(self, files: AnswerFiles, key: str) -> Response | None:
        for path, body in files.find(key):
            try:
                response, repaired = read_response(body)
            except ValueError:
                files.count_corrupt(path)
                continue
            if repaired and (path, repaired) not in self._reported:
                self._reported.add((path, repaired))
                print(f"note: a response in {path} has {repaired}; the rest of it is used")
            return response
        return None

    def _load_other_protocols(self) -> None:
        others = [path for model in self._model_folders() for path in self._listed(model) if path.is_dir()]
        files = (path for of in others if of.name != self._protocol for path in self._listed(of, ANSWERS))
        self._other_protocols.load(files, grows=self._grows)
        self._others_loaded = True
        self._report(self._other_protocols)

    def _model_folders(self) -> list[Path]:
        """Return the folders of the model, the one of this version first."""
        earlier = [path for path in self._listed(self._directory) if path.name.endswith(f"-{self._digest}")]
        return [self.folder.parent, *earlier]

    def _listed(self, folder: Path, suffix: str = "") -> list[Path]:
        """Return the files of a folder; records an unreadable folder, which `Path.glob` would ignore."""
        try:
            return sorted(path for path in folder.iterdir() if path.name.endswith(suffix))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._unreadable[str(folder)] = error.strerror or str(error)
            return []

    def _grows(self, path: Path) -> bool:
        """Return whether a job may be writing into a file at this moment."""
        return may_be_written(path)

    def _report(self, files: AnswerFiles) -> None:
        for name, count in files.corrupt.items():
            print(
                f"note: {name} has {counted(count, 'corrupt line')}; the other lines are used, and the requests of "
                f"the corrupt lines are sent again"
            )
        for name, reason in (self._unreadable | files.unreadable).items():
            if (name, reason) not in self._reported:
                self._reported.add((name, reason))
                print(f"note: {name} cannot be read: {reason}")


NAMES = "names.txt"
"""File of a model's names, one per line, for people who look into the folder."""

_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def run_of(results: Path, shards: int) -> str:
    """Return the name of a run: the folder with the responses of all its shards and no others, and their number."""
    return f"results in {results.resolve()}, shards: {shards}"


class ResponseStore(StoredAnswers):
    """The stored responses of one model under one protocol, and the file of the present job.

    Args:
        directory: the folder of stores, `store_dir` of the configuration.
        name: the model's readable name, for people who look into the folder.
        writer: distinguishes jobs of the same model and protocol (a shard); a second job of a name waits for the first.
        run: jobs of the same run share no request (shards of a table); an empty text is a run of its own.
        sync_seconds: longest time between two fsyncs while answers arrive.
    """

    def __init__(
        self,
        directory: Path,
        *,
        identity: str,
        name: str,
        protocol: str,
        writer: str = "job",
        run: str = "",
        sync_seconds: float = 1.0,
    ) -> None:
        super().__init__(directory, identity=identity, protocol=protocol)
        self.written = 0
        self._name, self._writer = name, writer
        self._sync_seconds = sync_seconds
        self._claims = Claims(self.folder, writer, run, self._read_answers, self._is_read)
        self._others = GrowingFiles()
        self._to_claim: dict[asyncio.Future[bool], str] = {}
        self._read_only: OSError | None = None
        self._own: dict[bytes, tuple[int, int]] = {}
        self._output: int | None = None
        self._output_size = 0
        self._lines = TurnWrites(self._write)
        self._last_sync = 0.0

    def __enter__(self) -> Self:
        try:
            refuse_links(self.folder / NAMES, self._directory)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._claims.acquire()  # before reading: jobs may store answers during this wait
            self._refresh_listing()
            self._note_name()
            return super().__enter__()
        except UserError:
            self._claims.release()
            raise
        except OSError as error:
            self._claims.release()
            if error.errno not in _READ_ONLY:
                raise self._unusable(error) from error
            self._read_only = error
            print(f"note: {self.folder} is read-only: its responses are used, and no new requests are sent", flush=True)
            return super().__enter__()

    def __exit__(self, *raised: object) -> None:
        try:
            self._lines.flush()
            self.sync()
        finally:
            if self._output is not None:
                os.close(self._output)
                self._output = None
            super().__exit__(*raised)
            self._claims.release()

    def __len__(self) -> int:
        """Return the number of responses under the protocol."""
        return len(self._own_protocol) + len(self._own)

    def get(self, key: str) -> Response | None:
        """Return the stored response, or None.

        Raises:
            UserError: it may be in an unreadable file, and would be paid for twice.
        """
        place = self._own.get(bytes.fromhex(key))
        if place is not None:
            self._lines.flush()
            assert self._output is not None
            body = body_of(os.pread(self._output, place[1], place[0]))
            if body is not None:
                return Response.from_json(body)
        found = super().get(key)
        if found is None:
            found = self._answer_of_others(key)
        if found is None and (unreadable := self.unreadable()):
            files = "\n".join(f"  {path}: {reason}" for path, reason in unreadable.items())
            raise UserError(
                f"files that may contain paid responses cannot be read:\n{files}\nRestore the permission to read "
                f"them. If they are lost, move them away, and DialEval sends their requests again"
            )
        return found

    async def claim(self, key: str) -> bool:
        """Claim a request that the store lacks, and return whether this job must send it.

        Otherwise another job sends it, or has just stored its response. Claims of one turn of the loop go together.
        """
        if not self._to_claim:
            asyncio.get_running_loop().call_soon(self._claim_of_this_turn)
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._to_claim[future] = key
        return await future

    def claim_all(self, keys: Sequence[str]) -> list[bool]:
        """Claim requests that the store lacks, and return for each whether this job must send it.

        Raises:
            UserError: the store cannot be used.
        """
        if self._read_only is not None and keys:
            raise self._unusable(self._read_only)
        try:
            return self._claims.claim(keys)
        except OSError as error:
            raise self._unusable(error) from error

    def give_up(self, key: str) -> None:
        """Release the claim on a request without a response."""
        self._claims.give_up(key)

    def append(self, key: str, response: Response) -> None:
        """Store a response, which survives a kill of this process once the call returns.

        Raises:
            UserError: the disk is full or not writable.
        """
        line = line_of(key, response.to_json().encode())
        self._lines.flush()
        self._write(line)
        self._note_place(key, len(line))

    async def append_soon(self, key: str, response: Response) -> None:
        """Store a response as `append` does, in one write with all others of this turn of the event loop.

        Raises:
            UserError: the disk is full or not writable.
        """
        line = line_of(key, response.to_json().encode())
        self._lines.add(line)
        self._note_place(key, len(line))
        await self._lines.written()

    def sync(self) -> None:
        """Flush stored responses to the disk."""
        if self._output is not None:
            os.fsync(self._output)
            self._last_sync = time.monotonic()

    def writer_file(self, suffix: str) -> Path:
        """Return the path of a file of this job's writer, for other content than responses."""
        return self.folder / f"{self._writer}.{suffix}"

    def abandoned_files(self, suffix: str) -> list[Path]:
        """Return such files of this model's writers, under any protocol, whose jobs have ended."""
        own = self.writer_file(suffix)
        protocols = [path for model in self._model_folders() for path in self._listed(model) if path.is_dir()]
        found = [path for protocol in protocols for path in self._listed(protocol, f".{suffix}")]
        return [path for path in found if path != own and not is_at_work(path.parent, path.stem)]

    def _answer_of_others(self, key: str) -> Response | None:
        body = self._others.get(key)
        with suppress(ValueError):
            return None if body is None else read_response(body)[0]
        return None

    def _claim_of_this_turn(self) -> None:
        waiting, self._to_claim = self._to_claim, {}
        try:
            found = self.claim_all(list(waiting.values()))
        except UserError as error:
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for future, is_own in zip(waiting, found, strict=True):
            if not future.done():
                future.set_result(is_own)

    def _unusable(self, error: OSError) -> UserError:
        return UserError(
            f"the response store at {self.folder} cannot be used: {error.strerror or error}; check `store_dir` in "
            f"the configuration, and the permissions and free space of that disk"
        )

    def _write(self, rest: bytes) -> None:
        try:
            if self._output is None:
                self._open_output()
            assert self._output is not None
            while rest:
                rest = rest[os.write(self._output, rest) :]
            if time.monotonic() - self._last_sync > self._sync_seconds:
                self.sync()
        except OSError as error:
            raise UserError(
                f"a response could not be stored in {self.folder}: {error.strerror or error}; free some space or "
                "choose another `store_dir`, then run the same command again; stored responses are kept"
            ) from error

    def _open_output(self) -> None:
        for number in itertools.count():
            path = self.folder / f"{self._writer}-{number:05d}{ANSWERS}"
            try:
                self._output = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
            except FileExistsError:
                continue
            self._last_sync = time.monotonic()
            return

    def _note_place(self, key: str, length: int) -> None:
        self._own[bytes.fromhex(key)] = self._output_size, length
        self._output_size += length
        self.written += 1

    def _read_answers(self, job: OtherJob) -> None:
        """Read the new answers of another job."""
        self.sync()  # on a network file system, for jobs that wait for this one
        files = self._listed(job.folder, ANSWERS)
        self._others.read_on(path for path in files if path.stem.rpartition("-")[0] == job.writer)

    def _is_read(self, key: str) -> bool:
        return self._answer_of_others(key) is not None

    def _refresh_listing(self) -> None:
        """Refresh the listing that a network file system caches, so that no response is paid for twice."""
        mark = self.folder / f".{self._writer}.{os.urandom(4).hex()}.anew"
        os.close(open_no_link(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        mark.unlink()

    def _note_name(self) -> None:
        path = self.folder.parent / NAMES
        known = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        name = " ".join(self._name.split())
        if name not in known:
            descriptor = open_no_link(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, f"{name}\n".encode(errors="replace"))
            os.close(descriptor)

    def _grows(self, path: Path) -> bool:
        # an earlier job of this name, which this job has now, wrote its files
        is_own = path.parent == self.folder and path.name.startswith(f"{self._writer}-")
        return not is_own and super()._grows(path)
