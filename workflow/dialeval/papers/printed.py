"""Printed values of the papers that can be computed again: what a paper prints, and what comes out here."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

Source = Literal["data", "rows"]
COLUMNS = ("paper", "item", "what", "source", "printed", "ours", "equal", "why")
RECORD = Path(__file__).parent / "printed_values.csv"
_SPARE = 1e-9  # for what binary fractions lose
_STORED = {  # files of `published`, and whose rows of them where several papers share one
    "BotChat": (("botchat", ""),),
    "DialogBench": (("dialogbench", ""),),
    "comp-analysis": (("metaeval", ""), ("robustness", ""), ("rated_corpora", "comp-analysis")),
    "xDial-Eval": (("xdial", ""), ("xdial_chinese", ""), ("translation", ""), ("rated_corpora", "xdial-eval")),
}
_NO_RESULTS = {"table", "theta", "people"}


@dataclass(frozen=True)
class PrintedValue:
    """A value that a paper prints.

    Attributes:
        paper, item: where it stands.
        what: row and column, in words.
        source: what it is computed of: public `data`, or the printed `rows` that it is the mean or the sum of.
        printed: the value.
        decimals: to which it is printed.
        ours: what comes out here, not rounded.
        why: why the two differ; empty where they do not, or where it is not known.
        at_least: whether the paper says no more than that the value is beyond the printed one.
    """

    paper: str
    item: str
    what: str
    source: Source
    printed: float
    decimals: int
    ours: float
    why: str = ""
    at_least: bool = False

    @property
    def is_equal(self) -> bool:
        """Whether ours, rounded, can be the printed value: a mean of printed rows is off by a last digit at most."""
        if self.at_least:
            return self.ours >= self.printed
        last_digit = 10.0**-self.decimals if self.decimals or self.source == "data" else 0.0
        allowed = last_digit if self.source == "rows" else last_digit / 2
        return abs(self.ours - self.printed) <= allowed + _SPARE

    def as_row(self) -> dict[str, str]:
        """Returns the value as a row of the record; ours has one digit more than the printed one."""
        return {
            "paper": self.paper,
            "item": self.item,
            "what": self.what,
            "source": self.source,
            "printed": f"{'>' if self.at_least else ''}{self.printed:.{self.decimals}f}",
            "ours": f"{self.ours:.{self.decimals + 1}f}",
            "equal": "yes" if self.is_equal else "no",
            "why": self.why,
        }


def write_record(values: Iterable[PrintedValue], path: Path = RECORD) -> None:
    """Writes values as the record that the docs are made of."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(value.as_row() for value in values)


def read_record(path: Path = RECORD) -> list[dict[str, str]]:
    """Returns the rows of the record."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def n_stored(paper: str) -> int:
    """Returns how many values that a paper prints the project holds, to stand beside a run's."""
    return sum(_n_numbers(name, own) for name, own in _STORED[paper])


def _n_numbers(name: str, own: str) -> int:
    text = files("dialeval.published").joinpath(f"{name}.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if not own or row["paper"] == own]
    return sum(_is_number(value) for row in rows for column, value in row.items() if column not in _NO_RESULTS)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
