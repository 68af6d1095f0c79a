"""What comp-analysis prints (Tables 5 to 9), and what of it and of xDial-Eval stands beside a judge of ours.

All values of comp-analysis are Pearson correlations averaged over the paper's own corpora, but for those of Table 7,
which are Spearman correlations of judge rankings. They stand beside ours where a judge is one of the papers' systems:
the corpora at hand are rarely all of theirs, so that the two are to be compared with care.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from dialeval.published import xdial
from dialeval.published.names import folded

FULL, HUMAN = "comp-analysis 5", "comp-analysis 6"
RANKINGS = "comp-analysis 7"
ENSEMBLE, DIRECT = "comp-analysis 8 ensemble", "comp-analysis 8 direct"
OF_MODELS, ITS_ENSEMBLE = "comp-analysis 9", "Ensemble"
PROPRIETARY = ("Palm-2 Bison", "ChatGPT")
"""The models of Table 5 that are no open ones, and so in no ensemble of Table 9."""
STATISTICS = ("pearson", "spearman")
"""The correlations that the papers print."""


def system_of(judge: str, published_as: Mapping[str, str]) -> str:
    """Returns the papers' system that a judge is compared with; empty for none.

    Args:
        judge: its name in the configuration.
        published_as: by judge the system that it is said to be, or empty for none. One that is not there is the model
            of its own name as it is, before any training.
    """
    if judge in published_as:
        return published_as[judge]
    return "" if folded(judge) in xdial.trained() else judge


def systems() -> tuple[str, ...]:
    """Returns the names of all systems of both papers."""
    named = (row["name"] for row in _rows() if row["table"] not in (RANKINGS, OF_MODELS))
    return tuple(dict.fromkeys((*named, *xdial.labels())))


def published_average(
    system: str,
    level: str,
    language: str,
    dimension: str,
    raters: str,
    *,
    corpora: Collection[str] = (),
    statistic: str = "pearson",
) -> float | None:
    """Returns a system's published average over corpora, or None where the papers have none.

    Args:
        system: as of `system_of`; only letters and digits count, and their case does not.
        level: turn or dialogue.
        language: language code, or `average` for the mean over xDial-Eval's ten.
        dimension: a dimension, `average` for the mean over five, or `all` for xDial-Eval's one rating a corpus.
        raters: `full` or `human`.
        corpora: what the average is over. Over natural Chinese corpora the paper has one of its own (Table 15), and
            over some of them, or them and others, none.
        statistic: one of `STATISTICS`; comp-analysis has Pearson's alone.
    """
    if any(xdial.is_chinese(corpus) for corpus in corpora):
        if language != "zh" or not xdial.are_all_chinese(level, corpora):
            return None
        return xdial.published_chinese(system, level, xdial.AVERAGE, dimension, statistic)
    if dimension == "all":
        return xdial.published(system, level, language, statistic)
    if statistic != "pearson":
        return None
    return published(FULL if raters == "full" else HUMAN, system, level, language, dimension)


def published_in_corpus(
    system: str, level: str, corpus: str, language: str, dimension: str, statistic: str = "pearson"
) -> float | None:
    """Returns a system's published correlation on one corpus (xDial-Eval, Table 15), or None for nothing."""
    if language != "zh" or not xdial.is_chinese(corpus):
        return None
    return xdial.published_chinese(system, level, corpus, dimension, statistic)


def published(table: str, name: str, level: str, language: str = "en", dimension: str = "overall") -> float | None:
    """Returns one number of comp-analysis about a judge (in Table 7, about a corpus), or None where there is none."""
    return _values().get((table, folded(name), level, language, dimension))


def published_ensemble(level: str, dimension: str, members: Collection[str] = ()) -> float | None:
    """Returns what the ensemble of the best three open models reached (Table 9), or None for nothing.

    Args:
        level: turn or dialogue.
        dimension: a dimension, or `average` for the mean over five.
        members: the papers' systems that an ensemble of ours is of; it is like theirs if all are open models of
            Table 5.
    """
    if not _open_models().issuperset(map(folded, members)):
        return None
    return published(OF_MODELS, ITS_ENSEMBLE, level, dimension=dimension)


@cache
def _open_models() -> frozenset[str]:
    proprietary = {folded(name) for name in PROPRIETARY}
    return frozenset(folded(row["name"]) for row in _rows() if row["table"] == FULL) - proprietary


@cache
def _values() -> Mapping[tuple[str, str, str, str, str], float]:
    return MappingProxyType(
        {
            (row["table"], folded(row["name"]), row["level"], row["language"], row["dimension"]): float(row["value"])
            for row in _rows()
        }
    )


@cache
def _rows() -> tuple[Mapping[str, str], ...]:
    text = files("dialeval.published").joinpath("metaeval.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
