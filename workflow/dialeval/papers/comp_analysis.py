"""The printed numbers of comp-analysis.

All values of comp-analysis are Pearson correlations averaged over the paper's own corpora, but for those of Table 7,
which are Spearman correlations of judge rankings. They stand beside ours where a judge is one of the papers' systems:
the corpora at hand are rarely all of theirs, so that the two are to be compared with care.

Ratios are the printed ones, to three decimals. A strategy with two target dimensions has two rows, and the average of a
level is the mean of its eight rows.

Words are what blanks part. In FED-Turn the papers count each speaker's name as one more word, and the words of
comp-analysis' dialogues are of all dialogues of a corpus, of which it rates 500 at most.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from dialeval.papers import folded, printed_rows, xdial_eval

# Printed numbers (Tables 5 to 9)

FULL, HUMAN = "comp-analysis 5", "comp-analysis 6"
RANKINGS = "comp-analysis 7"
ENSEMBLE, DIRECT = "comp-analysis 8 ensemble", "comp-analysis 8 direct"
OF_MODELS, ITS_ENSEMBLE = "comp-analysis 9", "Ensemble"
PROPRIETARY = ("Palm-2 Bison", "ChatGPT")
"""The models of Table 5 that are no open ones, and so in no ensemble of Table 9."""
STATISTICS = ("pearson", "spearman")
"""The correlations that the papers print."""


def system_of(judge: str, published_as: Mapping[str, str]) -> str:
    """Return the papers' system that a judge is compared with; empty for none.

    Args:
        judge: its name in the configuration.
        published_as: by judge the configured published system, or empty for none. One that is not there is the model
            of its own name as it is, before any training.
    """
    if judge in published_as:
        return published_as[judge]
    return "" if folded(judge) in xdial_eval.trained() else judge


def systems() -> tuple[str, ...]:
    """Return the names of all systems of both papers."""
    named = (row["name"] for row in _rows() if row["table"] not in (RANKINGS, OF_MODELS))
    return tuple(dict.fromkeys((*named, *xdial_eval.labels())))


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
    """Return a system's published average over corpora, or None where the papers have none.

    Args:
        system: as in `system_of`; only letters and digits count, and their case does not.
        level: turn or dialogue.
        language: language code, or `average` for the mean over xDial-Eval's ten.
        dimension: a dimension, `average` for the mean over five, or `all` for xDial-Eval's one rating a corpus.
        raters: `full` or `human`.
        corpora: what the average is over. Over natural Chinese corpora the paper has one of its own (Table 15), and
            over some of them, or them and others, none.
        statistic: one of `STATISTICS`; comp-analysis has Pearson's alone.
    """
    if any(xdial_eval.is_chinese(corpus) for corpus in corpora):
        if language != "zh" or not xdial_eval.are_all_chinese(level, corpora):
            return None
        return xdial_eval.published_chinese(system, level, xdial_eval.AVERAGE, dimension, statistic)
    if dimension == "all":
        return xdial_eval.published_xdial(system, level, language, statistic)
    if statistic != "pearson":
        return None
    return published_correlation(FULL if raters == "full" else HUMAN, system, level, language, dimension)


def published_in_corpus(
    system: str, level: str, corpus: str, language: str, dimension: str, statistic: str = "pearson"
) -> float | None:
    """Return a system's published correlation on one corpus (xDial-Eval, Table 15), or None."""
    if language != "zh" or not xdial_eval.is_chinese(corpus):
        return None
    return xdial_eval.published_chinese(system, level, corpus, dimension, statistic)


def published_correlation(
    table: str, name: str, level: str, language: str = "en", dimension: str = "overall"
) -> float | None:
    """Return one number of comp-analysis about a judge (in Table 7, about a corpus), or None where there is none."""
    return _values().get((table, folded(name), level, language, dimension))


def published_ensemble(level: str, dimension: str, members: Collection[str] = ()) -> float | None:
    """Return the correlation of the ensemble of the best three open models (Table 9), or None.

    Args:
        level: turn or dialogue.
        dimension: a dimension, or `average` for the mean over five.
        members: the papers' systems that an ensemble of ours is of; it is like theirs if all are open models of
            Table 5.
    """
    if not _open_models().issuperset(map(folded, members)):
        return None
    return published_correlation(OF_MODELS, ITS_ENSEMBLE, level, dimension=dimension)


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
    return tuple(printed_rows("metaeval.csv"))


# Printed robustness (Tables 10 to 12)

AVERAGE = "average"
JUDGES = ("Palm-2 Bison", "ChatGPT", "Tulu-13B", "Chimera-13B", "Baize-13B", "WizardLM-13B", "L2-Chat-13B")
"""The judges of Table 12, as the paper prints them."""


@dataclass(frozen=True, slots=True)
class PublishedRobustness:
    """One row of Table 12.

    Attributes:
        level: turn or dialogue.
        strategy: name of the strategy, or `average`.
        dimension: the dimension that was scored; empty for an average.
        theta: drop above which a perturbation counts as noticed; None for an average.
        n_pairs: pairs behind the ratios; None for an average.
        ratios: judge -> robustness ratio.
        note: a remark on the row; empty without one.
    """

    level: str
    strategy: str
    dimension: str
    theta: float | None
    n_pairs: int | None
    ratios: Mapping[str, float]
    note: str


def find_ratio(judge: str, strategy: str, dimension: str) -> float | None:
    """Return a judge's published ratio, or None where the paper has none.

    Args:
        judge: any of its names; only letters and digits count, and their case does not.
    """
    return _of_judge(find_ratios(strategy, dimension) or {}, judge)


def find_ratios(strategy: str, dimension: str) -> Mapping[str, float] | None:
    """Return judge -> published ratio of a strategy and dimension, or None if the paper has no such row."""
    rows = published_robustness()
    found = next((row for row in rows if (row.strategy, row.dimension) == (strategy, dimension)), None)
    return None if found is None or found.strategy == AVERAGE else found.ratios


def find_average(judge: str, level: str) -> float | None:
    """Return a judge's published average over the strategies of a level, or None where the paper has none."""
    rows = (row for row in published_robustness() if (row.strategy, row.level) == (AVERAGE, level))
    return _of_judge(next(rows).ratios, judge)


def find_n_pairs(strategy: str) -> int | None:
    """Return how many pairs of a strategy the paper has, or None for a strategy that is not in it."""
    return next((row.n_pairs for row in published_robustness() if row.strategy == strategy), None)


@cache
def published_robustness() -> tuple[PublishedRobustness, ...]:
    """Return the rows of Table 12 in the paper's order, each level closed by its average."""
    return tuple(_row(row) for row in printed_rows("robustness.csv"))


def _of_judge(ratios: Mapping[str, float], judge: str) -> float | None:
    wanted = folded(judge)
    return next((ratio for name, ratio in ratios.items() if folded(name) == wanted), None)


def _row(row: Mapping[str, str]) -> PublishedRobustness:
    return PublishedRobustness(
        level=row["level"],
        strategy=row["strategy"],
        dimension=row["dimension"],
        theta=float(row["theta"]) if row["theta"] else None,
        n_pairs=int(row["n_pairs"]) if row["n_pairs"] else None,
        ratios=MappingProxyType({judge: float(row[judge]) for judge in JUDGES}),
        note=row["note"],
    )


# Printed corpora (Table 1)

COLUMNS = ("n_items", "n_utterances", "words_context", "words_response", "words_utterance", "n_dimensions")
_XDIAL, _COMP = "xdial-eval", "comp-analysis"
_PREFIX = "xdial"
_NOTHING: Mapping[str, float | None] = MappingProxyType(dict.fromkeys(COLUMNS))


def published_corpus(name: str, level: str) -> Mapping[str, float | None]:
    """Return the printed values of a corpus by column of `COLUMNS`, or None.

    Args:
        name: the corpus as the configuration calls it; letters and digits count, and their case does not. One that
            begins with xDial is xDial-Eval's, any other is comp-analysis' if that has it, or else xDial-Eval's.
        level: turn or dialogue.
    """
    plain = folded(name)
    own = plain.removeprefix(_PREFIX)
    papers = (_XDIAL,) if own != plain else (_COMP, _XDIAL)
    return next((found for paper in papers if (found := _rows_rated_corpora().get((paper, level, own)))), _NOTHING)


@cache
def _rows_rated_corpora() -> Mapping[tuple[str, str, str], Mapping[str, float | None]]:
    return MappingProxyType(
        {
            (row["paper"], row["level"], folded(name)): {
                column: float(row[column]) if row[column] else None for column in COLUMNS
            }
            for row in printed_rows("rated_corpora.csv")
            for name in row["names"].split(";")
        }
    )
