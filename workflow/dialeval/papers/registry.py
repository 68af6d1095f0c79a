"""The papers in order: how to cite them, their tables and figures, and the targets that reproduce these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

import yaml
from pydantic import BaseModel

Need = Literal["keys", "weights", "workbook", "download", "withdrawn", "unpublished", "people"]

NEEDS: Mapping[Need, str] = MappingProxyType(
    {
        "keys": "an API key of a model provider",
        "weights": "open weights, and a GPU that is large enough",
        "workbook": "BotChat's public workbook of human dialogues; the target download fetches it",
        "download": "public files, which the target download fetches",
        "withdrawn": "for the paper's numbers: models that their providers have withdrawn",
        "unpublished": "for the paper's numbers: data that is not public",
        "people": "human annotators or experts",
    }
)
"""Requirements of an item beyond a fresh copy of this project -> their description."""


class Citation(BaseModel, frozen=True):
    """A paper to cite.

    Attributes:
        key: its key in BibTeX.
        authors: `Given Family`, in order.
        year: of publication.
        title: its title.
        venue: where it was published.
        arxiv: its number there.
        published_in: what the venue is, which decides the kind of the BibTeX entry.
        volume: of a journal.
    """

    key: str
    authors: tuple[str, ...]
    year: int
    title: str
    venue: str
    arxiv: str
    published_in: Literal["proceedings", "journal", "preprint"] = "proceedings"
    volume: str = ""

    @property
    def address(self) -> str:
        """Where it can be read."""
        return f"https://arxiv.org/abs/{self.arxiv}"

    @property
    def text(self) -> str:
        """The reference in words."""
        *others, last = self.authors
        names = f"{', '.join(others)} and {last}" if others else last
        return f"{names} ({self.year}). {self.title}. {f'{self.venue} {self.volume}'.strip()}. arXiv:{self.arxiv}"

    @property
    def bibtex(self) -> str:
        """The reference as an entry of BibTeX."""
        kind, venue = {
            "proceedings": ("inproceedings", {"booktitle": self.venue}),
            "journal": ("article", {"journal": self.venue, "volume": self.volume}),
            "preprint": ("misc", {}),
        }[self.published_in]
        fields = {
            "author": " and ".join(self.authors),
            "year": str(self.year),
            "title": "{" + self.title + "}",
            **venue,
            "eprint": self.arxiv,
            "archiveprefix": "arXiv",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
        return "\n".join([f"@{kind}{{{self.key},", *lines, "}"])


class Item(BaseModel, frozen=True):
    """A table, figure or appendix of a paper.

    Attributes:
        number: as the paper counts: `Table 5`.
        shows: its content, in our words.
        tables: which of our tables show the same, `<folder>/<table>`.
        figures: which of our figures do, `<folder>/<file>` without suffix; `{n}` and `{protocol}` stand for any.
        where: what a row of these tables has, by column, that shows it: one of some values, or, of none, any at all. A
            run whose tables have no such row does not show the item; a table without the column needs no such row.
        beside: tables that a run has besides where it shows the item, such as those of what it trained.
        defined_in: files of this project with an item that is no result: a prompt, a definition, a list of models.
        config: the configuration that makes the paper's numbers; empty where the item is no result.
        target: Snakemake's target; empty for the default one.
        needs: what that run needs that cannot come with the project.
        remark: where ours differs from the paper's.
        why_not: why it is not reproduced, in a line; empty if it is.
    """

    number: str
    shows: str
    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    defined_in: tuple[str, ...] = ()
    config: str = ""
    target: str = ""
    needs: tuple[Need, ...] = ()
    remark: str = ""
    why_not: str = ""
    where: Mapping[str, tuple[str, ...]] = {}
    beside: tuple[str, ...] = ()

    @property
    def is_result(self) -> bool:
        """Whether a run makes it."""
        return bool(self.tables or self.figures)

    @property
    def made_by(self) -> str:
        """The configuration and the Snakemake target that reproduce the item, in words."""
        return f"{self.config} (target {self.target})" if self.target else self.config

    def files(self) -> tuple[str, ...]:
        """Return the files below the results that show it, tables first."""
        tables = tuple(f"tables/{name}.csv" for name in self.tables)
        return tables + tuple(f"figures/{name}.svg" for name in self.figures)

    def is_drawn_in(self, figure: str) -> bool:
        """Return whether a figure of a run, `<folder>/<file>`, shows it."""
        patterns = [re.sub(r"\\{\w+\\}", "[^/]+", re.escape(name)) for name in self.figures]
        return any(re.fullmatch(pattern, figure) for pattern in patterns)


class Paper(BaseModel, frozen=True):
    """A paper: its short name, its citation, and its tables and figures by number, then what else it defines."""

    name: str
    citation: Citation
    items: tuple[Item, ...]


_READ = yaml.safe_load(files("dialeval.papers").joinpath("papers.yaml").read_text(encoding="utf-8"))
PAPERS = tuple(Paper.model_validate(paper) for paper in _READ["papers"])
_BY_NAME = {paper.name: paper.citation for paper in PAPERS}
_METHODS = tuple(Citation.model_validate(method) for method in _READ["methods"])
_OF_PARTS: Mapping[str, tuple[Citation, ...]] = MappingProxyType(
    {
        "botchat": (_BY_NAME["BotChat"],),
        "labels": _METHODS,
        "metaeval": (_BY_NAME["comp-analysis"], _BY_NAME["xDial-Eval"]),
        "training": (_BY_NAME["xDial-Eval"],),
        "translation": (_BY_NAME["xDial-Eval"],),
        "robustness": (_BY_NAME["comp-analysis"],),
        "dialogbench": (_BY_NAME["DialogBench"],),
    }
)


def to_cite(part: str) -> tuple[Citation, ...]:
    """Return the citations of a part of the report; empty for a source of transcripts."""
    return _OF_PARTS.get(part, ())
