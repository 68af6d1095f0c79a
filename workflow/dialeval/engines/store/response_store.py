"""The stored responses of one model under one protocol, and who may write them.

Where an answer lies follows from the model's identity alone. A model has the folder `<digest of its identity>`; stores
of earlier versions have `<a name of the model>-<digest>`, and all folders with the digest are read, whatever the name.
Below it is a folder for each protocol, which only says where to look first: the answers of the others serve as well,
since a key holds all that can change an answer. They are looked through when the first key is not found.

A request that two jobs have in common is paid for once: one job claims it, the other waits for its answer and asks its
own requests meanwhile. The locks are the kernel's (`flock`) and die with their process, however it ends.

    <model>/claims                      a line for each job and for each request that it asks; locked for moments
    <model>/<protocol>/<writer>.lock    held by the one job that writes under that name

Durability: `append` and `append_soon` hand each line to the operating system before they return, so killing the process
loses nothing; `sync_seconds` bounds what a power failure can take (the file is fsynced at least that often, and on
close).
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

from dialeval.engines.requests import Response, read_response
from dialeval.engines.store.answer_files import AnswerFiles, GrowingFiles, TurnWrites, body_of, line_of
from dialeval.errors import UserError
from dialeval.text import counted
from dialeval.whole_files import open_no_link, refuse_links

# Reading what a model has answered: where its answers lie, and looking them up.

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


# Which job asks which request, where several jobs ask one model at the same time, of one run or of several.

CLAIMS = "claims"
_STILL = 60.0
"""Seconds without a change after which nobody is taken to be writing, where locks cannot tell."""
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class OtherJob(NamedTuple):
    """A job that asks the same model: the store folder that it writes into, its name there, and its `run`."""

    folder: Path
    writer: str
    run: str


class Claims:
    """The name of one job in a store, and the requests that it asks.

    Args:
        folder: the store folder of the job, which exists; the folder of the model is its parent.
        writer: the job's name in the folder.
        run: jobs of the same run share no request; an empty text is a run of its own.
        read_answers: reads what another job has stored by now.
        is_read: returns whether the answer to a key was read so.
    """

    def __init__(
        self,
        folder: Path,
        writer: str,
        run: str,
        read_answers: Callable[[OtherJob], None],
        is_read: Callable[[str], bool],
    ) -> None:
        self._folder, self._writer, self._run = folder, writer, run
        self._read_answers, self._is_read = read_answers, is_read
        self._name_lock: int | None = None
        self._file: int | None = None
        self._place = 0
        self._jobs: dict[str, OtherJob] = {}
        self._replaced: set[str] = set()
        self._claimed: dict[str, str] = {}
        self._given_up: list[str] = []
        self._number = ""

    def acquire(self) -> None:
        """Takes the job's name, waiting while another job has it, and announces the job to the others."""
        try:
            self._take_name()
            self._file = _opened(self._folder.parent / CLAIMS)
            with self._locked():
                self._empty_if_alone()
                self._number = str(len(self._jobs))
                self._append([f"job {self._number} {json.dumps([self._folder.name, self._writer, self._run])}"])
        except UserError:
            self.release()
            raise
        except OSError as error:
            self.release()
            if error.errno not in _NO_LOCKS:
                raise
            print(f"note: {self._folder} has no file locks ({error.strerror}); do not run this job twice at once")

    def release(self) -> None:
        """Gives the name back; claims without an answer are void from now on."""
        if self._file is not None:
            with suppress(OSError), self._locked():
                self._empty_if_alone()
            os.close(self._file)
        if self._name_lock is not None:
            os.close(self._name_lock)
        self._file = self._name_lock = None

    def claim(self, keys: Sequence[str]) -> list[bool]:
        """Claims requests and returns for each whether this job is to ask it.

        Another job asks the others, or has asked them; what it has stored by now was read.
        """
        if self._file is None:  # no locks here, as was said
            return [True] * len(keys)
        with self._locked():
            taken = self._taken(keys)
            own = [key for key in dict.fromkeys(keys) if key not in taken]
            for key in own:
                self._claimed.pop(key, None)
            free = [f"free {self._number} {key}" for key in self._given_up]
            self._append([*free, *(f"{self._number} {key}" for key in own)])
            self._given_up.clear()
        return [key not in taken for key in keys]

    def give_up(self, key: str) -> None:
        """Lets other jobs ask a request that this one has claimed and got no answer to."""
        self._given_up.append(key)

    def _taken(self, keys: Sequence[str]) -> set[str]:
        """Returns the keys that another job asks or has stored an answer to."""
        owners = {key: self._claimed[key] for key in keys if key in self._claimed}
        at_work = {number for number in set(owners.values()) if self._is_at_work(number)}
        for number in set(owners.values()):  # after that was found out: it may end in between
            self._read_answers(self._jobs[number])
        return {key for key, number in owners.items() if number in at_work or self._is_read(key)}

    def _is_at_work(self, number: str) -> bool:
        return number not in self._replaced and is_at_work(*self._jobs[number][:2])

    @contextmanager
    def _locked(self) -> Iterator[None]:
        assert self._file is not None
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            self._read_on()
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _empty_if_alone(self) -> None:
        assert self._file is not None
        others = {job[:2] for job in self._jobs.values()} - {(self._folder, self._writer)}
        if not any(is_at_work(folder, writer) for folder, writer in others):
            os.ftruncate(self._file, 0)
            self._place = 0
            self._jobs.clear()
            self._replaced.clear()
            self._claimed.clear()

    def _append(self, lines: Sequence[str]) -> None:
        assert self._file is not None
        if not lines:
            return
        rest = "".join(f"{line}\n" for line in lines).encode()
        if os.fstat(self._file).st_size > self._place:  # a job was killed within a line
            rest = b"\n" + rest
        while rest:
            rest = rest[os.write(self._file, rest) :]
        self._place = os.fstat(self._file).st_size

    def _read_on(self) -> None:
        assert self._file is not None
        size = os.fstat(self._file).st_size
        content = os.pread(self._file, size - self._place, self._place) if size > self._place else b""
        whole = content[: content.rfind(b"\n") + 1]
        self._place += len(whole)
        for line in whole.decode("utf-8", "replace").splitlines():
            match line.split(" ", 2):
                case ["job", number, about]:
                    self._note_job(number, about)
                case ["free", number, key] if self._claimed.get(key) == number:
                    del self._claimed[key]
                case [number, key] if number in self._jobs and not self._shares_none(self._jobs[number]):
                    self._claimed[key] = number

    def _note_job(self, number: str, about: str) -> None:
        with suppress(ValueError, TypeError):  # a line that is not whole
            place, writer, run = json.loads(about)
            job = OtherJob(self._folder.parent / place, writer, run)
            same = [known for known, one in self._jobs.items() if one[:2] == job[:2]]
            self._replaced.update(same)
            self._jobs[number] = job

    def _shares_none(self, job: OtherJob) -> bool:
        return job[:2] == (self._folder, self._writer) or bool(self._run and job.run == self._run)

    def _take_name(self) -> None:
        self._name_lock = _opened(self._folder / f"{self._writer}.lock")
        try:
            fcntl.flock(self._name_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting: another job is answering into {self._folder} as {self._writer}", flush=True)
            fcntl.flock(self._name_lock, fcntl.LOCK_EX)


def is_at_work(folder: Path, writer: str) -> bool:
    """Returns whether a job of another process writes under a name."""
    return _is_held(folder / f"{writer}.lock") is True


def may_be_written(answers: Path) -> bool:
    """Returns whether a job of another process may be writing into a file of answers, `<writer>-<number>.jsonl`.

    On a file system without locks that is said of files that changed within the last minute.
    """
    writer, _, number = answers.stem.rpartition("-")
    held = _is_held(answers.with_name(f"{writer}.lock"))
    if held is None:
        return abs(time.time() - answers.stat().st_mtime) < _STILL
    return held and not (
        number.isdigit() and answers.with_name(f"{writer}-{int(number) + 1:05d}{answers.suffix}").exists()
    )


def _is_held(lock: Path) -> bool | None:
    """Returns whether another process holds a lock; None where the file system has no locks."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        return None if error.errno in _NO_LOCKS else False
    finally:
        os.close(descriptor)
    return False


def _opened(path: Path) -> int:
    return open_no_link(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)


# The stored responses of one model under one protocol, and the file that the present job writes.

NAMES = "names.txt"
"""The names that a model had, one a line: for people, who cannot read digests."""


_ONLY_READ = (errno.EROFS, errno.EACCES, errno.EPERM)


def run_of(results: Path, shards: int) -> str:
    """Returns what distinguishes a table of requests that jobs share out: where its answers go, in how many shards.

    Args:
        results: the folder that holds the answers of all shards and no others.
        shards: the number of shards.
    """
    return f"results in {results.resolve()}, shards: {shards}"


class ResponseStore(StoredAnswers):
    """The stored responses of one model under one protocol, and the file of the present job.

    Args:
        directory: where stores lie, `store_dir` of the configuration.
        identity: the model's identity; each identity has a folder of its own.
        name: the model's readable name, for people who look into the folder.
        protocol: the protocol, a folder below.
        writer: distinguishes jobs that answer for the same model and protocol (a shard); one job at a time may write
            under one name, a second waits for it.
        run: jobs of the same run share no request (shards of a table); an empty text is a run of its own.
        sync_seconds: longest time between two fsyncs while answers arrive.
    """

    _keeps_places = True

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
        self._claims = Claims(self.folder, writer, run, self._read_answers, self._is_of_others)
        self._others = GrowingFiles()
        self._to_claim: dict[asyncio.Future[bool], str] = {}
        self._only_read: OSError | None = None
        self._own: dict[bytes, tuple[int, int]] = {}
        self._output: int | None = None
        self._output_size = 0
        self._lines = TurnWrites(self._write)
        self._last_sync = 0.0

    def __enter__(self) -> Self:
        try:
            refuse_links(self.folder / NAMES, self._directory)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._claims.acquire()  # whoever waits here reads afterwards what was stored meanwhile
            self._list_anew()
            self._note_name()
            return super().__enter__()
        except UserError:
            self._claims.release()
            raise
        except OSError as error:
            self._claims.release()
            if error.errno not in _ONLY_READ:
                raise self._unusable(error) from error
            self._only_read = error
            print(f"note: {self.folder} can only be read: its answers are used, and nothing new is asked", flush=True)
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
        """Returns the number of answers under the protocol."""
        return self.report.responses + len(self._own)

    def get(self, key: str) -> Response | None:
        """Returns the stored response, or None.

        Raises:
            UserError: there is none, but it may lie in a file that cannot be read: it would be paid for twice.
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
            found = self._of_others(key)
        if found is None and (unreadable := self.unreadable()):
            files = "\n".join(f"  {path}: {reason}" for path, reason in unreadable.items())
            raise UserError(
                f"answers that were paid for may lie in files that cannot be read:\n{files}\nGive back the right to "
                "read them, or move them away if they are lost: their requests are then asked again"
            )
        return found

    async def claim(self, key: str) -> bool:
        """Returns whether this job is to ask a request that the store lacks.

        Otherwise another job asks it, or has just stored its answer. Claims of one turn of the event loop go together.
        """
        if not self._to_claim:
            asyncio.get_running_loop().call_soon(self._claim_of_this_turn)
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._to_claim[future] = key
        return await future

    def claim_all(self, keys: Sequence[str]) -> list[bool]:
        """Returns for each request that the store lacks what `claim` does.

        Raises:
            UserError: the store cannot be used.
        """
        if self._only_read is not None and keys:
            raise self._unusable(self._only_read)
        try:
            return self._claims.claim(keys)
        except OSError as error:
            raise self._unusable(error) from error

    def give_up(self, key: str) -> None:
        """Lets other jobs ask a request that this one got no answer to."""
        self._claims.give_up(key)

    def append(self, key: str, response: Response) -> None:
        """Stores an answer; it survives a kill of this process once the call returns.

        Raises:
            UserError: the disk is full or not writable.
        """
        line = line_of(key, response.to_json().encode())
        self._lines.flush()
        self._write(line)
        self._note_place(key, len(line))

    async def append_soon(self, key: str, response: Response) -> None:
        """Stores an answer as `append` does, in one write with all that come in this turn of the event loop.

        Raises:
            UserError: the disk is full or not writable.
        """
        line = line_of(key, response.to_json().encode())
        self._lines.add(line)
        self._note_place(key, len(line))
        await self._lines.written()

    def sync(self) -> None:
        """Makes what was stored survive a power failure."""
        if self._output is not None:
            os.fsync(self._output)
            self._last_sync = time.monotonic()

    def beside(self, suffix: str) -> Path:
        """Returns the path of a file of this job's writer that lies beside its answers and holds none."""
        return self.folder / f"{self._writer}.{suffix}"

    def left_beside(self, suffix: str) -> list[Path]:
        """Returns such files of other writers of this model, under whatever protocol, that are not at work."""
        own = self.beside(suffix)
        protocols = [path for model in self._model_folders() for path in self._listed(model) if path.is_dir()]
        found = [path for protocol in protocols for path in self._listed(protocol, f".{suffix}")]
        return [path for path in found if path != own and not is_at_work(path.parent, path.stem)]

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

    def _read_answers(self, job: OtherJob) -> None:
        """Reads what another job has stored by now."""
        self.sync()  # on a network file system whoever waits for this job sees its answers, too
        files = self._listed(job.folder, ANSWERS)
        self._others.read_on(path for path in files if path.stem.rpartition("-")[0] == job.writer)

    def _of_others(self, key: str) -> Response | None:
        body = self._others.get(key)
        with suppress(ValueError):
            return None if body is None else read_response(body)[0]
        return None

    def _is_of_others(self, key: str) -> bool:
        return self._of_others(key) is not None

    def _unusable(self, error: OSError) -> UserError:
        return UserError(
            f"the response store at {self.folder} cannot be used: {error.strerror or error}; "
            "check `store_dir` in the configuration and the rights and space of that disk"
        )

    def _grows(self, path: Path) -> bool:
        # a file of an earlier job under this job's name: nobody else has that name now
        is_own = path.parent == self.folder and path.name.startswith(f"{self._writer}-")
        return not is_own and super()._grows(path)

    def _list_anew(self) -> None:
        """Has a file system that remembers what lay in the folder look again, so that nothing is paid twice."""
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

    def _note_place(self, key: str, length: int) -> None:
        self._own[bytes.fromhex(key)] = self._output_size, length
        self._output_size += length
        self.written += 1

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
                f"an answer could not be stored in {self.folder}: {error.strerror or error}; free some space or "
                "choose another `store_dir`, then run the same command again: what is stored is kept"
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
