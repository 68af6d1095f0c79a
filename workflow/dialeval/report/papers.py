"""The page's part "Papers": which tables and figures of the papers the run made, and what stands for the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.papers.entry import Item, Paper
from dialeval.papers.registry import PAPERS
from dialeval.report.drawn import address_of, why_empty
from dialeval.report.inputs import ReportInputs, Table
from dialeval.schemas.every import table_named

TEMPLATE = "papers.html.j2"


@dataclass(frozen=True)
class Place:
    """Where something is: on the page at an address, or, without one, in a file."""

    label: str
    address: str = ""


@dataclass(frozen=True)
class ItemOnPage:
    """An item of a paper with what the run has of it.

    Attributes:
        item: the item.
        is_made: whether the run made it.
        places: the run's tables and figures that show it, or else the project's files where it stands.
        instead: what would make it, why nothing does, or why its figure is not drawn; empty where it is there.
    """

    item: Item
    is_made: bool
    places: tuple[Place, ...]
    instead: str


@dataclass(frozen=True)
class PaperOnPage:
    """A paper with its items."""

    paper: Paper
    items: tuple[ItemOnPage, ...]

    @property
    def n_made(self) -> int:
        """How many of its items the run made."""
        return sum(one.is_made for one in self.items)

    @property
    def n_results(self) -> int:
        """How many of its items a run can make."""
        return sum(one.item.is_result for one in self.items)


def papers_on_page(inputs: ReportInputs) -> tuple[PaperOnPage, ...]:
    """Returns all papers, or none if the run made no item of any."""
    papers = tuple(PaperOnPage(paper, tuple(_on_page(item, inputs) for item in paper.items)) for paper in PAPERS)
    return papers if any(paper.n_made for paper in papers) else ()


def _on_page(item: Item, inputs: ReportInputs) -> ItemOnPage:
    tables = [name for name in item.tables if _shows(inputs.tables.get(name), item)]
    if tables and all(len(inputs.tables.get(name, ())) for name in item.beside):
        figures = [figure for figure in inputs.figures if item.is_drawn_in(figure.name)]
        drawn = [Place(figure.title, address_of(figure)) for figure in figures if not why_empty(figure)]
        return ItemOnPage(item, True, (*drawn, *_tables(tables)), " ".join(map(why_empty, figures)).strip())
    stands = tuple(Place(file) for file in item.stands)
    if item.why_not:
        return ItemOnPage(item, False, stands, f"Not made: {item.why_not}.")
    return ItemOnPage(item, False, stands, f"Not by this run; {item.made_by} makes it." if item.is_result else "")


def _shows(table: Table | None, item: Item) -> bool:
    """Returns whether a table has a row that shows an item."""
    if table is None or not len(table):
        return False
    fits = None
    for column, values in item.where.items():
        if column not in table.column_names:
            continue
        cells = table[column].cast("string")
        of_column = pc.is_in(cells, pa.array(values)) if values else pc.greater(pc.utf8_length(cells), 0)
        fits = of_column if fits is None else pc.and_(fits, of_column)
    return fits is None or bool(pc.any(fits, min_count=0).as_py())


def _tables(names: list[str]) -> Iterator[Place]:
    """Yields where tables are: on the page if it shows them."""
    for name in names:
        kind = table_named(name)
        if kind is not None and kind.shown:
            yield Place(kind.title, f"table-{name.replace('/', '-')}")
        else:
            yield Place(f"tables/{name}.csv")
