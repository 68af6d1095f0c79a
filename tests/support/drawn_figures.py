"""Every figure of the registry on small tables with some systems and judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import combinations, permutations
from typing import Any

import metaeval_example
import numpy as np
import pandas as pd
import robustness_example
import training_example

from dialeval.figures import registry
from dialeval.figures.panels import Panel
from dialeval.figures.plot import Missing, Plot
from dialeval.figures.registry import Drawing, Figure, drawings
from dialeval.stages.figures import DrawSettings
from dialeval.tables.catalogue import TABLES
from dialeval.tables.files import empty_table, to_table
from dialeval.tables.schema import Table

NAMES = [
    "GPT-4", "my-lab.dialogue-model-with-a-long-name-v1.5", "Claude-2", "retrieval_over_a_corpus", "LLaMA2-70B",
    "meta-llama/Llama-3.1-70B-Instruct", "Mixtral-8x7B-Instruct-v0.1", "Qwen-14B", "ChatGLM2-6B", "Baichuan2-13B",
    "Vicuna-13B", "InternLM-20B", "gpt-4o-mini-2024-07-18", "LLaMA2-7B",
]  # fmt: skip
JUDGES = ("gpt-4", "Qwen2.5-72B-Instruct")
TASKS = ("SF", "IC", "KRG", "CRG", "DI", "MRG", "PRG", "RC", "ED", "NLI", "DS", "OD")
OPTIONS: dict[str, Any] = {
    "interval": "90% confidence interval", "roster": ["human", *NAMES], "arena_min": 4, "n": [8], "protocol": ["mine"],
    "title": ["battles"],
}  # fmt: skip
PARTS = {name: part for name, part in vars(registry).items() if isinstance(part, tuple) and isinstance(part[0], Figure)}


def entries() -> Iterator[tuple[str, Drawing]]:
    """Yield every figure of the registry by part and name."""
    for part, figures in PARTS.items():
        for one in drawings(figures, OPTIONS):
            yield f"{part.lower()}/{one.name}", one


DRAWINGS = dict(entries())


def specification(name: str, tables: dict[str, pd.DataFrame], **options: Any) -> Plot | Missing:
    """Return what a figure draws of tables by their names; those that it lacks are empty."""
    one = DRAWINGS[name]
    module, _, function = one.draw.partition(".")
    draw = getattr(import_module(f"dialeval.figures.{module}"), function)
    found: Plot | Missing = draw(*(_of(tables, table) for table in one.tables), **{**one.options, **options})
    return found


def plot(name: str, tables: dict[str, pd.DataFrame], **options: Any) -> Plot:
    """Return the plot of a figure that is not missing."""
    found = specification(name, tables, **options)
    assert isinstance(found, Plot)
    return found


def panels(found: Plot) -> list[Any]:
    """Return the panels of a plot, from above."""
    return [panel for section in found.sections for panel in section.panels]


def titles(found: Plot) -> list[str]:
    """Return the titles of the panels of a plot."""
    return [panel.title for panel in panels(found)]


def rows(panel: Panel) -> list[str]:
    """Return the labels of the rows of a panel, from above."""
    return [row.label for row in panel.rows]  # type: ignore[attr-defined]


def settings(figures: Sequence[Figure], *names: str) -> DrawSettings:
    """Return the settings of the stage that draws the figures of these names."""
    wanted = [one.settings() for one in drawings(figures, OPTIONS) if one.name in names]
    return DrawSettings.model_validate({"drawings": wanted})


def schema_of(name: str) -> Table:
    """Return the schema of a table of a figure."""
    folder, _, measure = name.partition("/")
    return TABLES["battles/ratings" if folder == "battles" else name if name in TABLES else f"measures/{measure}"]


def _of(tables: dict[str, pd.DataFrame], name: str) -> pd.DataFrame:
    return tables[name] if name in tables else empty_table(schema_of(name)).to_pandas()


def frame(name: str, found: Sequence[dict[Any, Any]]) -> pd.DataFrame:
    """Return rows as the stage would read them, in the columns of the table."""
    kind = schema_of(name)
    known = [{column: row[column] for column in kind.schema.names if not pd.isna(row.get(column))} for row in found]
    table: pd.DataFrame = to_table(kind, known).to_pandas()
    return table


def all_tables(names: Sequence[str], judges: Sequence[str] = JUDGES[:1]) -> dict[str, pd.DataFrame]:
    """Return every table of the registry's figures, with some systems (or examinees, or judges) and some judges."""
    scorers = [(name, "rating" if place % 2 else "yes_no") for place, name in enumerate(names)]
    return {
        "botchat/seeds": frame("botchat/seeds", [{"n_utterances": n, "n_dialogues": 1200} for n in range(2, 40)]),
        "botchat/utterance_tokens": tokens(names),
        "unieval/pass_rates": pass_rates(names, judges),
        "unieval/pass_rates_at_gt_length": pass_rates(names, judges, (8,)),
        "arena/win_rates": win_rates(names, judges, 8),
        "arena/ratings": ratings(names, judges),
        "gteval/win_rates": against_human(names, judges),
        "mine/means": means(names, judges),
        "mine/rates": rates(names, judges),
        "mine/checklist": frame(
            "measures/checklist", pass_rates(names, judges, (4,)).drop(columns="n_utterances").to_dict("records")
        ),
        "mine/pass_rates": pass_rates(names, judges),
        "mine/win_rates": win_rates(names, judges, None),
        "mine/ratings": ratings(names, judges),
        "mine/bias": bias(judges),
        "battles/battles": battles(names),
        "labels/estimates": corrected(names, judges),
        **{name: table.to_pandas() for name, table in metaeval_example.tables().items()},
        "metaeval/averages": metaeval_example.averages(scorers).to_pandas(),
        "metaeval/correlations": metaeval_example.correlations(scorers).to_pandas(),
        "metaeval/matrices": metaeval_example.matrices(scorers).to_pandas(),
        "metaeval/dimension_ensemble": metaeval_example.dimension_ensemble(scorers).to_pandas(),
        "metaeval/ranking_agreement": metaeval_example.ranking_agreement().to_pandas(),
        "metaeval/ceilings": metaeval_example.ceilings(scorers).to_pandas(),
        **{name: table.to_pandas() for name, table in robustness_example.tables(scorers).items()},
        **{name: table.to_pandas() for name, table in training_example.tables(names).items()},
        "dialogbench/accuracy": accuracy(names),
        "dialogbench/domains": domains(names),
        "dialogbench/averages": averages(names),
        "dialogbench/positions": positions(names),
        "dialogbench/styles": styles(judges),
        "dialogbench/domain_counts": domain_counts(judges),
    }


def quality(names: Sequence[str], name: str) -> float:
    """Return a number in 0..1, larger for systems that stand earlier in the list."""
    return 0.95 if name == "human" else 0.9 - 0.8 * list(names).index(name) / len(names)


def tokens(names: Sequence[str]) -> pd.DataFrame:
    """Return lengths of utterances, log-normal."""
    draw = np.random.default_rng(1)
    return frame(
        "botchat/utterance_tokens",
        [
            {"model": name, "seed_id": f"s{place}", "turn": 2, "tokens": int(length), "tokenizer": "cl100k_base"}
            for name in ["human", *names]
            for place, length in enumerate(draw.lognormal(3, 0.5, 60))
        ],
    )


def pass_rates(names: Sequence[str], judges: Sequence[str], sizes: Sequence[int] = (4, 8, 12, 16)) -> pd.DataFrame:
    """Return rates that fall with N, with published numbers at N = 8."""
    return frame(
        "measures/pass_rates",
        [
            {"judge": judge, "system": name, "n_utterances": n, "estimate": value, "ci_low": max(value - 0.06, 0),
             "ci_high": min(value + 0.06, 1), "n": 250, "n_clusters": 250, "n_unparsed": 1,
             "published": value if n == 8 else None}
            for judge in judges for name in ["human", *names] for n in sizes
            for value in [quality(names, name) ** (n / 4)]
        ],
    )  # fmt: skip


def win_rates(names: Sequence[str], judges: Sequence[str], n: int | None) -> pd.DataFrame:
    """Return rates of all pairs in both directions."""
    return frame(
        "measures/win_rates",
        [
            {"judge": judge, "n_utterances": n, "system": one, "opponent": other, "win": 0.55, "tie": 0.1, "lose": 0.35,
             "unparsed": 0.0, "win_or_tie": 0.65, "estimate": 0.6, "ci_low": 0.5, "ci_high": 0.7, "n": 500,
             "n_clusters": 250}
            for judge in judges for one, other in permutations([*names, "x"], 2)
        ],
    )  # fmt: skip


def against_human(names: Sequence[str], judges: Sequence[str]) -> pd.DataFrame:
    """Return rates against the human dialogue."""
    return frame(
        "measures/win_rates",
        [
            {"judge": judge, "system": name, "opponent": "human", "win": 0.4, "tie": 0.1, "lose": 0.48,
             "unparsed": 0.02, "win_or_tie": 0.5, "win_or_tie_ci_low": 0.45, "win_or_tie_ci_high": 0.55,
             "estimate": 0.45,
             "ci_low": 0.4, "ci_high": 0.5, "n": 500, "n_clusters": 250, "published": 0.52}
            for judge in judges for name in names
        ],
    )  # fmt: skip


def ratings(names: Sequence[str], judges: Sequence[str]) -> pd.DataFrame:
    """Return ratings of which the last is not identifiable."""
    found: list[dict[str, Any]] = []
    for judge in judges:
        for n in (8, 16):
            for name in names:
                row: dict[str, Any] = {"judge": judge, "n_utterances": n, "system": name, "n": 500, "n_clusters": 250}
                for place, method in enumerate(("estimate", "bradley_terry", "davidson")):
                    value = 500 + 1000 * quality(names, name) + 20 * place
                    low, high = ("ci_low", "ci_high") if not place else (f"{method}_ci_low", f"{method}_ci_high")
                    row |= {method: value, low: value - 40, high: value + 40}
                if name == names[-1] and len(names) > 1:
                    row |= {"davidson": -4371.0, "davidson_ci_low": None, "davidson_ci_high": None}
                    row["note"] = (
                        "loses every comparison: not identifiable (never scores): the data do not bound the rating "
                        "from below"
                    )
                found.append(row | {"n_unparsed": 0})
    return frame("measures/ratings", found)


def battles(names: Sequence[str]) -> pd.DataFrame:
    """Return the ratings of a table of battles."""
    renamed = ratings(names, JUDGES[:1]).query("n_utterances == 8").drop(columns="published")
    columns = {"estimate": "elo", "n": "n_comparisons"}
    return frame("battles/battles", renamed.rename(columns=columns).to_dict("records"))


def means(names: Sequence[str], judges: Sequence[str]) -> pd.DataFrame:
    """Return means of two criteria."""
    return frame(
        "measures/means",
        [
            {"judge": judge, "criterion": criterion, "system": name, "estimate": 5 * quality(names, name),
             "ci_low": 5 * quality(names, name) - 0.3, "ci_high": 5 * quality(names, name) + 0.3, "n": 40,
             "n_clusters": 40,
             "n_missing": 1}
            for judge in judges for criterion in ("empathy", "goal_reached") for name in names
        ],
    )  # fmt: skip


def rates(names: Sequence[str], judges: Sequence[str]) -> pd.DataFrame:
    """Return shares of two labels of one criterion."""
    table = pass_rates(names, judges, (4,)).drop(columns=["published", "n_utterances"]).to_dict("records")
    labels = [row | {"criterion": "tone", "label": label} for label in ("friendly", "rude") for row in table]
    return frame("measures/rates", labels)


def bias(judges: Sequence[str]) -> pd.DataFrame:
    """Return every measure of bias at two lengths, and the agreement of all pairs of judges."""
    found: list[dict[str, Any]] = []
    for n in (8, 16):
        about = {"n_utterances": n, "ci_low": 0.3, "ci_high": 0.5, "estimate": 0.4, "n": 10, "n_clusters": 10}
        measures = (
            "unparsed",
            "order_inconsistency",
            "first_position_win_rate",
            "longer_win_rate",
            "retest_inconsistency",
            "length_slope",
            "self_preference",
        )
        found += [about | {"judge": judge, "measure": name} for judge in judges for name in measures]
        pairs = [about | {"judge": a, "other_judge": b, "measure": "kappa"} for a, b in combinations(judges, 2)]
        found += [*pairs, *([about | {"judge": "all judges", "measure": "alpha"}] if pairs else [])]
    return frame("mine/bias", found)


def corrected(names: Sequence[str], judges: Sequence[str]) -> pd.DataFrame:
    """Return human-corrected means and win rates, against all and in pairs, and a difference."""
    found: list[dict[str, Any]] = []
    for judge in judges:
        for name in names:
            row: dict[str, Any] = {"protocol": "felt", "system": name, "judge": judge, "annotators": "people",
                                   "target": "new", "n_labelled": 12, "n_labelled_seeds": 9, "n_total": 80}  # fmt: skip
            for column, low, high in (
                ("estimate", "ci_low", "ci_high"), ("human_only", "human_only_ci_low", "human_only_ci_high"),
                ("judge_only", "judge_only_ci_low", "judge_only_ci_high"),
            ):  # fmt: skip
                row |= {column: quality(names, name), low: quality(names, name) - 0.1, high: quality(names, name) + 0.1}
            found += [
                row | {"measure": "mean", "criterion": "warm"},
                row | {"measure": "mean difference", "criterion": "warm", "opponent": "x"},
                row | {"measure": "win_rate"},
                row | {"measure": "win_rate", "opponent": "x"},
            ]
    return frame("labels/estimates", found)


def accuracy(names: Sequence[str], tasks: Sequence[str] = TASKS) -> pd.DataFrame:
    """Return the accuracy of every model in bundled and written items, and of the paper's people."""
    n = {"bundled": 50, "written": 8, "paper": 500}
    return frame(
        "dialogbench/accuracy",
        [
            {"source": source, "model": name, "method": "letter", "language": "en", "scope": scope, "name": task,
             "accuracy": value, "ci_low": value - 0.1, "ci_high": min(value + 0.1, 1), "n": n[source], "n_unparsed": 0,
             "n_clusters": n[source], "chance": 0.25}
            for source, models in (("bundled", names), ("written", names), ("paper", ["human"])) for name in models
            for value in [quality(names, name)]
            for scope, task in (*(("task", task) for task in tasks), ("overall", "overall"))
        ],
    )  # fmt: skip


def domains(names: Sequence[str]) -> pd.DataFrame:
    """Return accuracies in two groups of domains; one domain has two items."""
    shown = [("daily life", "Film", 8), ("daily life", "Music", 2), ("daily life", "mean", 10),
             ("professional knowledge", "Physics", 8), ("professional knowledge", "mean", 8)]  # fmt: skip
    return frame(
        "dialogbench/domains",
        [
            {"source": "bundled", "model": name, "method": "letter", "language": "en", "group": group, "domain": domain,
             "accuracy": quality(names, name), "n": n, "n_unparsed": 0, "n_clusters": n}
            for name in names for group, domain, n in shown
        ],
    )  # fmt: skip


def averages(names: Sequence[str]) -> pd.DataFrame:
    """Return means of kinds of models in two groups of domains."""
    shown = [("domain", "Film"), ("domain", "Music"), ("domains", "daily life"), ("domain", "Physics"),
             ("domains", "professional knowledge")]  # fmt: skip
    return frame(
        "dialogbench/averages",
        [
            {"source": "bundled", "group": kind, "method": "letter", "language": "en", "scope": scope, "name": name,
             "n_models": len(names), "models": "", "accuracy": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 8,
             "n_unparsed": 0,
             "n_clusters": 8, "chance": 0.25, "published": 0.55}
            for kind in ("base", "chat") for scope, name in shown
        ],
    )  # fmt: skip


def positions(names: Sequence[str], shares: Sequence[float] = (0.4, 0.3, 0.2, 0.1)) -> pd.DataFrame:
    """Return how often each of four letters is chosen."""
    return frame(
        "dialogbench/positions",
        [
            {"source": "bundled", "model": name, "method": "letter", "language": "en", "n_options": len(shares),
             "orders": 1, "letter": letter, "accuracy": 0.5, "n": 8, "n_unparsed": 0, "n_clusters": 8, "n_chosen": 2,
             "share_chosen": share, "p_uniform": 0.0001}
            for name in names for letter, share in zip("ABCD", shares, strict=False)
        ],
    )  # fmt: skip


def styles(judges: Sequence[str]) -> pd.DataFrame:
    """Return styles of both speakers under two procedures."""
    return frame(
        "dialogbench/styles",
        [
            {"variant": variant, "judge": judge, "language": "en", "speaker": speaker, "style": style, "n": 10,
             "share": share, "n_unparsed": 2}
            for variant in ("full", "-styles") for judge in judges for speaker in (1, 2)
            for style, share in (("friendly", 0.5), ("neutral", 0.47), ("unfriendly", 0.03))
        ],
    )  # fmt: skip


def domain_counts(judges: Sequence[str]) -> pd.DataFrame:
    """Return shares of three domains under three procedures."""
    return frame(
        "dialogbench/domain_counts",
        [
            {"variant": variant, "judge": judge, "language": "en", "domain": domain, "n": 4, "share": 0.3,
                "ci_low": 0.2,
             "ci_high": 0.4, "n_unparsed": 0}
            for variant in ("full", "-styles", "-domains") for judge in judges for domain in ("Film", "Music", "other")
        ],
    )  # fmt: skip
