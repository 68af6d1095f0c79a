"""Compact data of the page: numbers for names, a pool of distinct strings, groups of rows, and prompts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval import layout
from dialeval.engines.requests import Message
from dialeval.html_pages import pack
from dialeval.report.inputs import ReportInputs, Table
from dialeval.tables.files import HUMAN

Columns = dict[str, list[Any]]


class Names:
    """Numbers of systems and judges; a name that the run does not list gets the next number."""

    def __init__(self, inputs: ReportInputs) -> None:
        self.models = {model: place for place, model in enumerate((HUMAN, *inputs.chatbots))}
        self.judges = {judge: place for place, judge in enumerate(inputs.judges)}
        self.embedded = inputs.embedded
        for judge in sorted(pc.unique(inputs.verdicts["judge"]).to_pylist()):
            self.judge(judge)

    def model(self, name: str) -> int:
        """Return the number of a system."""
        return self.models.setdefault(name, len(self.models))

    def judge(self, name: str) -> int:
        """Return the number of a judge."""
        return self.judges.setdefault(name, len(self.judges))


class Pool:
    """Distinct strings."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """Return the place of a string, -1 for None."""
        return -1 if text is None else self._places.setdefault(text, len(self._places))

    def places(self, texts: Iterable[str | None]) -> list[int]:
        """Return the places of strings, as `place` does one by one: a page has millions of them."""
        wanted = list(texts)
        new = [text for text in dict.fromkeys(wanted) if text is not None and text not in self._places]
        self._places.update(zip(new, count(len(self._places)), strict=False))
        places: Mapping[Any, int] = self._places  # None is in it nowhere
        return [places.get(text, -1) for text in wanted]

    def strings(self) -> list[str]:
        """Return all strings by their places."""
        return list(self._places)


class Grouped:
    """A table's rows, group by group, in a fixed order within each; the first column of that order says which group."""

    def __init__(self, table: Table, order: list[str], large: list[str]) -> None:
        for name in large:  # so that sorting can join more than 2 GB of text
            table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.large_string()))
        self._table = table.sort_by([(name, "ascending") for name in order])
        counts = pc.value_counts(self._table[order[0]])
        sizes = sorted((entry["values"], entry["counts"]) for entry in counts.to_pylist())
        self._slices: dict[str, tuple[int, int]] = {}
        start = 0
        for group, size in sizes:
            self._slices[group] = (start, size)
            start += size

    def rows(self, group: str) -> Columns:
        """Return the columns of one group's rows."""
        columns: Columns = self._table.slice(*self._slices.get(group, (0, 0))).to_pydict()
        return columns


def zipped(rows: Columns, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yield the values of some columns, row by row."""
    return zip(*(rows[name] for name in names), strict=True)


# Prompts in the page: each line is stored once, since the prompts of a case share its dialogues.

MOST_BYTES = 15_000_000
"""What all prompts of a kind of cases may take in the page."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""A line with the line break that ends it, at no other character than a line feed."""


class Prompts:
    """The prompts of one case, or of a few."""

    def __init__(self) -> None:
        self._lines = Pool()
        self._places: dict[tuple[Message, ...], int] = {}

    def place(self, messages: Iterable[Message]) -> int:
        """Return the number of a prompt, -1 where nothing was sent."""
        whole = tuple(messages)
        return self._places.setdefault(whole, len(self._places)) if whole else -1

    def piece(self) -> dict[str, Any]:
        """Return the prompts: each a list of role and places of its lines, which joined give the content exactly."""
        prompts = [
            [[message.role, self._lines.places(_LINE.findall(message.content))] for message in messages]
            for messages in self._places
        ]
        return {"strings": self._lines.strings(), "prompts": prompts}

    def packed(self) -> str:
        """Return the prompts packed; nothing where nothing was sent."""
        return pack(self.piece()) if self._places else ""


def fitting_prompts(prompts: Sequence[str], budget: int) -> tuple[str, ...]:
    """Return the packed prompts of cases, in order; from the first that finds no room on they are empty lines.

    Args:
        prompts: of each case, packed.
        budget: bytes that they may take; never more than `MOST_BYTES`.
    """
    left = min(budget, MOST_BYTES) - len(prompts)  # every line ends in a line break
    if left < 0:
        return ()
    lines = [""] * len(prompts)
    for place, line in enumerate(prompts):
        if len(line) > left:
            break
        lines[place] = line
        left -= len(line)
    return tuple(lines)


def no_prompts(inputs: ReportInputs) -> str:
    """Return the text in place of prompts that are not in the page."""
    folder = layout.folder_of(layout.REQUESTS)
    return f"The request is not in this page, to limit its size; it is in {inputs.results_dir}/{folder}."
