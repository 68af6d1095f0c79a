"""The printed numbers of xDial-Eval.

A model is in the paper under one name up to three times: as it is, tuned on English data, and tuned on data in ten
languages. Each is a system of its own here, and only those without training go by the bare name:

    LLaMA-2-7B                  as it is (Tables 5 and 17)
    LLaMA-2-7B (English)        tuned on English data (Tables 4 and 16)
    LLaMA-2-7B (multilingual)   tuned on ten languages (Tables 5, 15 and 17)
    LLaMA-2-7B + PoE            the mean of two metrics that were tuned on ten languages (Tables 5, 15 and 17)

The figures stand as printed, with what is odd in them. In Table 17 the dialogue row of LLaMA-2-7B (multilingual)
repeats that of LLaMA-7B (multilingual), and the average of LLaMA-7B + PoE, .439, is not the mean of its row, .436. In
Table 16 Alpaca-7B (English) has .029 for Korean, where its Pearson correlation is .221; its average agrees with the
.029. Averages are of unrounded numbers, so that they differ from means of the printed ones in the last place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from dialeval.languages import PAPER_ORDER
from dialeval.papers import folded, printed_rows

# Printed numbers (Tables 4, 5, 15, 16, 17)

ENGLISH, MULTILINGUAL = "English", "multilingual"
"""What a system was trained on."""
LANGUAGES = PAPER_ORDER
AVERAGE = "average"
TABLE_OF_CHINESE = "15"
"""The table of corpora that were written in Chinese."""
CHINESE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"turn": ("ECM-Turn", "LCCC-Turn", "HC-Turn"), "dialogue": ("LCCC-Dial", "HC-Dial")}
)
"""The natural Chinese corpora of Table 15, by level; a corpus of the user's is one of them if it has its name."""
_ABOUT = ("table", "statistic", "level", "training", "system")
CORRELATED = {"turn": "relevance", "dialogue": "coherence"}
"""What the paper asks about, by level; in Table 15 people rated it, elsewhere often another criterion."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table, as printed.

    Attributes:
        table: number of the table.
        statistic: pearson or spearman.
        level: turn or dialogue.
        training: `English`, `multilingual`, or empty for a model without fine-tuning.
        system: the name as printed; an ensemble's has a plus sign, the language model first.
        values: correlations by language or corpus, and their average.
    """

    table: str
    statistic: str
    level: str
    training: str
    system: str
    values: Mapping[str, float]

    @property
    def label(self) -> str:
        """Return the system's name, which includes its training."""
        return f"{self.system} ({self.training})" if self.training and "+" not in self.system else self.system


def published_xdial(system: str, level: str, language: str, statistic: str) -> float | None:
    """Return a system's printed correlation on the translated corpora, or None.

    Args:
        system: its name, as in `labels`; only letters and digits count, and their case does not.
        level: turn or dialogue.
        language: language code, or `average` for the mean over the ten.
        statistic: pearson or spearman.
    """
    return _values().get((folded(system), level, language, statistic))


def published_chinese(system: str, level: str, corpus: str, dimension: str, statistic: str) -> float | None:
    """Return a system's printed correlation on a natural Chinese corpus, or None.

    Args:
        system: its name, as for `published_xdial`.
        level: turn or dialogue.
        corpus: one of `CHINESE`, of which letters and digits count, or `average` for the mean over the level's.
        dimension: what people rated; the paper has relevance of responses and coherence of dialogues.
        statistic: pearson or spearman.
    """
    if dimension != CORRELATED.get(level):
        return None
    return _values_in_chinese().get((folded(system), level, folded(corpus), statistic))


def is_chinese(corpus: str) -> bool:
    """Return whether a corpus has the name of one of Table 15's."""
    return any(folded(corpus) == folded(name) for names in CHINESE.values() for name in names)


def are_all_chinese(level: str, corpora: Collection[str]) -> bool:
    """Return whether corpora are those that Table 15 averages over at a level."""
    return {folded(name) for name in corpora} == {folded(name) for name in CHINESE.get(level, ())}


@cache
def labels() -> tuple[str, ...]:
    """Return the names of all systems, in the paper's order."""
    return tuple(dict.fromkeys(row.label for row in rows()))


@cache
def trained() -> frozenset[str]:
    """Return the folded names of the systems that were tuned, or are ensembles: no model has them by its own name."""
    return frozenset(folded(row.label) for row in rows() if row.training)


def training_of(system: str) -> str:
    """Return a system's `Row.training`; empty without fine-tuning, or if unknown."""
    return next((row.training for row in rows() if folded(row.label) == folded(system)), "")


def is_ensemble(system: str) -> bool:
    """Return whether a system is an ensemble."""
    return any("+" in row.system for row in rows() if folded(row.label) == folded(system))


@cache
def rows() -> tuple[Row, ...]:
    """Return all rows, Table 15's last."""
    return (*_read("xdial.csv"), *_read("xdial_chinese.csv"))


@cache
def _values() -> Mapping[tuple[str, str, str, str], float]:
    return MappingProxyType(
        {
            (folded(row.label), row.level, language, row.statistic): value
            for row in rows()
            for language, value in row.values.items()
            if row.table != TABLE_OF_CHINESE
        }
    )


@cache
def _values_in_chinese() -> Mapping[tuple[str, str, str, str], float]:
    return MappingProxyType(
        {
            (folded(row.label), row.level, folded(corpus), row.statistic): value
            for row in rows()
            for corpus, value in row.values.items()
            if row.table == TABLE_OF_CHINESE
        }
    )


def _read(file: str) -> Iterator[Row]:
    for row in printed_rows(file):
        values = {name: float(value) for name, value in row.items() if value and name not in _ABOUT}
        yield Row(**{name: row[name] for name in _ABOUT}, values=MappingProxyType(values))


# Printed quality of translations (Table 2)


@cache
def published_quality() -> Mapping[str, Mapping[str, float]]:
    """Return language -> metric -> value; BLEU from 0 to 100, `adequacy` (GPT-4's) and `people` from 1 to 5."""
    return MappingProxyType(
        {
            row["language"]: MappingProxyType({name: float(row[name]) for name in row if name != "language"})
            for row in printed_rows("translation.csv")
        }
    )
