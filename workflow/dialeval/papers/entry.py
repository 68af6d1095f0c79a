"""What an entry of a paper's contents is: one table, figure or appendix, and what stands for it here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Need = Literal["keys", "weights", "workbook", "download", "withdrawn", "unpublished", "people"]

NEEDS: Mapping[Need, str] = MappingProxyType(
    {
        "keys": "an account with a model's maker, and money",
        "weights": "open weights, and a GPU that holds them",
        "workbook": "a public file that is fetched by hand (the configuration says which)",
        "download": "public files, which the target `download` fetches",
        "withdrawn": "for the paper's own numbers, models that their makers have withdrawn",
        "unpublished": "for the paper's own numbers, data that was never published or is gone",
        "people": "people who answer or rate",
    }
)
"""What an item may need that a fresh copy of this project does not bring, in words."""


@dataclass(frozen=True)
class Item:
    """A table, figure or appendix of a paper.

    Attributes:
        number: as the paper counts: `Table 5`.
        shows: what it shows, in our words.
        tables: which of our tables show the same, `<folder>/<table>`.
        figures: which of our figures do, `<folder>/<file>` without suffix; `{n}` and `{protocol}` stand for any.
        stands: files of this project where what is no result stands: a prompt, a definition, a list of models.
        config: the configuration that makes the paper's numbers; empty where the item is no result.
        target: what Snakemake is asked for; empty where the run without a target makes it.
        needs: what that run needs that cannot come with the project.
        remark: where ours differs from the paper's.
        why_not: why there is nothing, in a line; empty where there is.
    """

    number: str
    shows: str
    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()
    config: str = ""
    target: str = ""
    needs: tuple[Need, ...] = ()
    remark: str = ""
    why_not: str = ""

    @property
    def is_result(self) -> bool:
        """Whether a run makes it."""
        return bool(self.tables or self.figures)

    def files(self) -> tuple[str, ...]:
        """Returns the files below the results that show it, tables first."""
        tables = tuple(f"tables/{name}.csv" for name in self.tables)
        return tables + tuple(f"figures/{name}.svg" for name in self.figures)


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: short, as everything here calls it.
        title: its title.
        address: where it can be read.
        items: its tables and figures, in the order of their numbers, then what else it defines.
    """

    name: str
    title: str
    address: str
    items: tuple[Item, ...]
