"""What was paid before anybody kept a ledger: the tokens of the stored answers, at the prices of today."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dialeval.engines.request import Response, read_response
from dialeval.engines.spending.entries import SUFFIX, Entry, Sums, close_file
from dialeval.engines.spending.terms import ModelTerms
from dialeval.engines.store.places import KEY_LENGTH, body_of
from dialeval.whole_files import refuse_links


def take_in(folder: Path, digest: str, terms: ModelTerms) -> None:
    """Begins a model's part of the ledger with what its stored answers have cost, unless it has begun.

    Answers that do not say their tokens cannot be counted; how many they are is printed. The ledger's lock must be
    held.

    Args:
        folder: the ledger's folder in the store.
        digest: the model.
        terms: its prices.
    """
    refuse_links(folder / digest / SUFFIX, folder.parent)
    if (folder / digest).is_dir():
        return
    by_protocol: dict[str, Sums] = {}
    n_silent = 0
    for protocol, answer in _answers(folder.parent, digest):
        n_input, n_output = answer.prompt_tokens, answer.completion_tokens
        if n_input is not None and n_output is not None:
            cost = terms.cost(n_input, n_output)
            by_protocol.setdefault(protocol, Sums()).add(cost, n_input, n_output, confirmed=True)
        else:
            n_silent += 1
    for protocol, sums in by_protocol.items():
        about = {"name": terms.name, "protocol": protocol, "earlier": True}
        close_file(folder / digest / f"earlier-{protocol}.{SUFFIX}", Entry(digest, about, sums))
    (folder / digest).mkdir(parents=True, exist_ok=True)
    if by_protocol:
        spent = sum(sums.spent for sums in by_protocol.values())
        print(f"note: the stored answers of model '{terms.name}' have cost {spent:.6g} so far, at the prices of now")
    if n_silent:
        print(f"note: {n_silent} stored answers of model '{terms.name}' do not say their tokens; their cost is unknown")


def _answers(store: Path, digest: str) -> Iterator[tuple[str, Response]]:
    """Yields protocol and content of every stored answer of a model, of several to one request the first."""
    seen: set[bytes] = set()
    for path in sorted([*store.glob(f"{digest}/*/*.jsonl"), *store.glob(f"*-{digest}/*/*.jsonl")]):
        with path.open("rb") as file:
            for line in file:
                key, body = line[:KEY_LENGTH], body_of(line)
                if key in seen or body is None:
                    continue
                try:
                    answer, _ = read_response(body)
                except ValueError:
                    continue
                seen.add(key)
                yield path.parent.name, answer
