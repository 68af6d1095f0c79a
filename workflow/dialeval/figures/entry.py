"""What a figure's entry is, and the pictures that are drawn of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        name: of its files.
        tables: what it is drawn from, `<folder>/<table>` as under `tables` among the results.
        draw: `<module>.<function>` in this package; the function is given the tables in order.
        title: its heading.
        caption: what it shows, in a sentence or two.
        options: what else the function is given by name, such as `interval`, in words for the axis.
        order: `<module>.<function>` that puts the rows in one order for all figures of a part, from all their tables;
            `draw` is given it as `order`. Empty where a figure has no such rows.
        per: an option, such as `n`, of which every value has a picture of its own; the value stands for `{n}` in name,
            tables, title and caption. Empty where there is one picture.
    """

    name: str
    tables: tuple[str, ...]
    draw: str
    title: str
    caption: str
    options: tuple[str, ...] = ()
    order: str = ""
    per: str = ""

    def drawings(self, options: Mapping[str, Any]) -> list[Drawing]:
        """Returns what is drawn of it: one picture, or one for every value of `per`."""
        given = {name: options[name] for name in self.options}
        values = [{self.per: value} for value in options[self.per]] if self.per else [{}]
        return [
            Drawing(
                self.name.format(**value),
                tuple(table.format(**value) for table in self.tables),
                self.draw,
                self.title.format(**value),
                self.caption.format(**value),
                given | value,
                self.order,
            )
            for value in values
        ]


@dataclass(frozen=True)
class Drawing:
    """One picture of a figure, with the options that its function is given; see `Figure`."""

    name: str
    tables: tuple[str, ...]
    draw: str
    title: str
    caption: str
    options: Mapping[str, Any]
    order: str = ""

    @property
    def modules(self) -> list[str]:
        """The modules whose code draws it and orders its rows."""
        named = [name.partition(".")[0] for name in (self.draw, self.order)]
        return [f"dialeval.figures.{name}" for name in named if name]

    def settings(self) -> dict[str, Any]:
        """Returns what the stage that draws it must know: all but what is said about it."""
        return {
            "name": self.name,
            "tables": self.tables,
            "draw": self.draw,
            "options": dict(self.options),
            "order": self.order,
        }


def drawings(
    figures: Iterable[Figure], options: Mapping[str, Any], tables: Iterable[str] | None = None
) -> list[Drawing]:
    """Returns the pictures of figures, as far as a run has the tables that they are drawn from; None: it has all."""
    found = [one for figure in figures for one in figure.drawings(options)]
    at_hand = None if tables is None else set(tables)
    return [one for one in found if at_hand is None or at_hand.issuperset(one.tables)]
