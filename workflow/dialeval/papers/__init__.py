"""The four papers: their tables and figures, and the targets that reproduce them.

An item of a paper has a status here; `registry` has all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Need = Literal["keys", "weights", "workbook", "download", "withdrawn", "unpublished", "people"]

NEEDS: Mapping[Need, str] = MappingProxyType(
    {
        "keys": "an API key of a model provider",
        "weights": "open weights, and a GPU that is large enough",
        "workbook": "a public file: the target download fetches it, or you copy it (see the configuration)",
        "download": "public files, which the target download fetches",
        "withdrawn": "for the paper's numbers: models that their providers have withdrawn",
        "unpublished": "for the paper's numbers: data that is not public",
        "people": "human annotators or experts",
    }
)
"""Requirements of an item beyond a fresh copy of this project -> their description."""
OWN_WORDS = "In our own words (`prompts: {set: papers}`); docs/prompts.md lists the differences."


@dataclass(frozen=True)
class Item:
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
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
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
        """Returns the files below the results that show it, tables first."""
        tables = tuple(f"tables/{name}.csv" for name in self.tables)
        return tables + tuple(f"figures/{name}.svg" for name in self.figures)

    def is_drawn_in(self, figure: str) -> bool:
        """Returns whether a figure of a run, `<folder>/<file>`, shows it."""
        patterns = [re.sub(r"\\{\w+\\}", "[^/]+", re.escape(name)) for name in self.figures]
        return any(re.fullmatch(pattern, figure) for pattern in patterns)


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: short name.
        title: its title.
        address: where it can be read.
        items: its tables and figures, in the order of their numbers, then what else it defines.
    """

    name: str
    title: str
    address: str
    items: tuple[Item, ...]


def prompts(*names: str, folder: str = "prompts/papers") -> tuple[str, ...]:
    """Returns the paths of prompt templates by their names, for `Item.defined_in`."""
    return tuple(f"workflow/dialeval/{folder}/{name}.j2" for name in names)


ALIASES = {
    "gpt35turbo": "chatgpt",
    "gpt40613": "gpt4",
    "textbison001": "palm2bison",
    "llama2chat13b": "l2chat13b",
    "chimerainstchat13b": "chimera13b",
    "baizev213b": "baize13b",
    "wizardlm13bv12": "wizardlm13b",
}


def folded(name: str) -> str:
    """Returns the letters and digits of a name in one case, with one name for every model of comp-analysis."""
    plain = "".join(character for character in name.casefold() if character.isalnum())
    return ALIASES.get(plain, plain)
